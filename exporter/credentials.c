// SPDX-License-Identifier: LGPL-2.1-or-later
#include "credentials.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Maximum size of a credential in bytes. */
#define CREDENTIAL_SIZE 65536

/*
 * Get the path of a credential; @ret_path is "" if systemd passes no credentials. Return: 0;
 * -ENAMETOOLONG if the path does not fit.
 */
static int get_credential_path(const char *name, char *ret_path, size_t size)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");

	*ret_path = 0;
	if (folder && snprintf(ret_path, size, "%s/speprof-exporter.%s", folder, name) >= (int)size)
		return -ENAMETOOLONG;
	return 0;
}

int credential_read(const char *name, char **ret_text)
{
	char path[512], *text;
	size_t n;
	FILE *f;
	int r = get_credential_path(name, path, sizeof(path));

	*ret_text = NULL;
	if (r < 0 || !*path)
		return r;
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? 0 : -errno;
	text = malloc(CREDENTIAL_SIZE + 1);
	n = text ? fread(text, 1, CREDENTIAL_SIZE + 1, f) : 0;
	fclose(f);
	if (!text)
		return -ENOMEM;
	while (n && n <= CREDENTIAL_SIZE && isspace((unsigned char)text[n - 1]))
		n--;
	if (!n || n > CREDENTIAL_SIZE || memchr(text, 0, n)) {
		free(text);
		return -EBADMSG;
	}
	text[n] = 0;
	*ret_text = text;
	return 0;
}

bool credential_is_one_line(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

/* Find the file of a receiver's credential; @ret_path is "" if there is no such credential. */
static void find_credential_file(const char *receiver, const char *name, char *ret_path,
				 size_t size)
{
	char full[64];

	snprintf(full, sizeof(full), "%s-%s", receiver, name);
	if (get_credential_path(full, ret_path, size) < 0 || access(ret_path, F_OK) < 0)
		*ret_path = 0;
}

static int set_error(char *why, size_t size, const char *receiver, const char *name,
		     const char *text)
{
	snprintf(why, size, "credential %s-%s: %s", receiver, name, text);
	return -EINVAL;
}

static int read_receiver_credential(const char *receiver, const char *name, char **ret, char *why,
				    size_t size)
{
	char full[64];
	int r;

	snprintf(full, sizeof(full), "%s-%s", receiver, name);
	r = credential_read(full, ret);
	if (r >= 0)
		return 0;
	return set_error(why, size, receiver, name,
			 r == -EBADMSG ? "should be 1 byte to 64 KiB of text" : strerror(-r));
}

/*
 * Return whether the header describes the format of the request, which only the exporter may set.
 */
static bool is_reserved(const char *line, size_t n)
{
	static const char *const reserved[] = {
		"Connection",
		"Content-Encoding",
		"Content-Length",
		"Content-Type",
		"Expect",
		"Host",
		"Transfer-Encoding",
		"X-Prometheus-Remote-Write-Version",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(reserved); i++)
		if (strlen(reserved[i]) == n && !strncasecmp(reserved[i], line, n))
			return true;
	return false;
}

/*
 * Check that @line is "Name: value" with a valid name and no control character, which would begin
 * another header.
 */
static bool is_valid_header(const char *line)
{
	size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

	if (!n || line[n] != ':' || is_reserved(line, n) || strlen(line) > 4096)
		return false;
	n++;
	n += strspn(line + n, " ");
	return line[n] && credential_is_one_line(line + n);
}

static int read_headers(struct receiver_credentials *s, const char *receiver, char *why,
			size_t size)
{
	char *rest, *line;
	int r = read_receiver_credential(receiver, "headers", &s->text, why, size);

	if (r < 0 || !s->text)
		return r;
	rest = s->text;
	while ((line = strsep(&rest, "\n"))) {
		line[strcspn(line, "\r")] = 0;
		if (!*line)
			continue;
		if (!is_valid_header(line) || s->header_count == CREDENTIALS_HEADERS)
			return set_error(
				why, size, receiver, "headers",
				"should be at most 16 lines of \"Name: value\", without Host, "
				"Content-Type and others that the exporter sets");
		if (s->token && !strncasecmp(line, "Authorization:", 14))
			return set_error(why, size, receiver, "headers",
					 "should have no Authorization, because there is a token");
		s->headers[s->header_count++] = line;
	}
	return 0;
}

int receiver_credentials_read(struct receiver_credentials *ret_credentials, const char *receiver,
			      char *ret_why, size_t size)
{
	struct receiver_credentials *s = ret_credentials;
	int r;

	*s = (struct receiver_credentials){ 0 };
	r = read_receiver_credential(receiver, "token", &s->token, ret_why, size);
	if (r >= 0 && s->token && !credential_is_one_line(s->token))
		r = set_error(ret_why, size, receiver, "token", "should be one line");
	if (r >= 0)
		r = read_headers(s, receiver, ret_why, size);
	if (r < 0)
		return r;
	find_credential_file(receiver, "certificate", s->certificate, sizeof(s->certificate));
	find_credential_file(receiver, "key", s->key, sizeof(s->key));
	if (!*s->certificate != !*s->key)
		return set_error(ret_why, size, receiver, "certificate",
				 "should come with its key: both are needed, or neither");
	return 0;
}

void receiver_credentials_clear(struct receiver_credentials *credentials)
{
	free(credentials->token);
	free(credentials->text);
	*credentials = (struct receiver_credentials){ 0 };
}
