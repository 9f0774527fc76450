// SPDX-License-Identifier: LGPL-2.1-or-later
#include "secrets.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "credential.h"

static int fail(char *why, size_t size, const char *receiver, const char *name, const char *text)
{
	snprintf(why, size, "credential %s-%s: %s", receiver, name, text);
	return -EINVAL;
}

static int read_text(const char *receiver, const char *name, char **ret, char *why, size_t size)
{
	char full[64];
	int r;

	snprintf(full, sizeof(full), "%s-%s", receiver, name);
	r = credential_read(full, ret);
	if (r >= 0)
		return 0;
	return fail(why, size, receiver, name,
		    r == -EBADMSG ? "should be 1 byte to 64 KiB of text" : strerror(-r));
}

/* What says how a request is to be read is not for others to say. */
static bool is_own(const char *line, size_t n)
{
	static const char *const own[] = {
		"Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host",
		"Transfer-Encoding", "X-Prometheus-Remote-Write-Version",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(own); i++)
		if (strlen(own[i]) == n && !strncasecmp(own[i], line, n))
			return true;
	return false;
}

/* "Name: value", of what a name may have, and no control character that would begin another. */
static bool is_header(const char *line)
{
	size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

	if (!n || line[n] != ':' || is_own(line, n) || strlen(line) > 4096)
		return false;
	n++;
	n += strspn(line + n, " ");
	return line[n] && credential_is_line(line + n);
}

static int read_headers(struct secrets *s, const char *receiver, char *why, size_t size)
{
	char *rest, *line;
	int r = read_text(receiver, "headers", &s->text, why, size);

	if (r < 0 || !s->text)
		return r;
	rest = s->text;
	while ((line = strsep(&rest, "\n"))) {
		line[strcspn(line, "\r")] = 0;
		if (!*line)
			continue;
		if (!is_header(line) || s->header_count == SECRETS_HEADERS)
			return fail(why, size, receiver, "headers",
				    "should be at most 16 lines of \"Name: value\", and none of how a "
				    "request is to be read");
		if (s->token && !strncasecmp(line, "Authorization:", 14))
			return fail(why, size, receiver, "headers",
				    "should have no Authorization beside the token");
		s->headers[s->header_count++] = line;
	}
	return 0;
}

int secrets_read(struct secrets *ret_secrets, const char *receiver, char *ret_why, size_t size)
{
	struct secrets *s = ret_secrets;
	char name[64];
	int r;

	*s = (struct secrets){ 0 };
	r = read_text(receiver, "token", &s->token, ret_why, size);
	if (r >= 0 && s->token && !credential_is_line(s->token))
		r = fail(ret_why, size, receiver, "token", "should be one line");
	if (r >= 0)
		r = read_headers(s, receiver, ret_why, size);
	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "%s-certificate", receiver);
	credential_path(name, s->certificate, sizeof(s->certificate));
	snprintf(name, sizeof(name), "%s-key", receiver);
	credential_path(name, s->key, sizeof(s->key));
	if (!*s->certificate != !*s->key)
		return fail(ret_why, size, receiver, "certificate",
			    "should be there with its key, or neither");
	return 0;
}

void secrets_clear(struct secrets *secrets)
{
	free(secrets->token);
	free(secrets->text);
	*secrets = (struct secrets){ 0 };
}
