// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof page: print the URL of the page that speprof-exporter serves, with its token. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/message.h"
#include "util/page-token.h"
#include "verb.h"

/* where systemd reads the credential of the exporter, and where its socket listens on TCP */
#define DEFAULT_TOKEN "/etc/credstore/speprof-exporter.page-token"
#define DEFAULT_URL   "http://localhost:9763"

#define HOST_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.:[]"

/* Return whether @host, of @size bytes with or without a port, is a name of the loopback. */
static bool is_loopback(const char *host, size_t size)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t length = strlen(names[i]);

		if (size >= length && strncmp(host, names[i], length) == 0 &&
		    (size == length || host[length] == ':'))
			return true;
	}
	return false;
}

/* Check that @url has only a scheme, a host and perhaps a port. Return an &enum verb_exit_status. */
static int check_url(const char *url)
{
	bool encrypted = strncmp(url, "https://", strlen("https://")) == 0;
	const char *host = url + strlen(encrypted ? "https://" : "http://");
	size_t size;

	if (!encrypted && strncmp(url, "http://", strlen("http://")) != 0)
		host = "";
	size = strspn(host, HOST_CHARACTERS);
	if (!size || size > 255 || (host[size] && strcmp(host + size, "/") != 0))
		return message_fail(STATUS_USAGE,
				    "page: \"%.300s\": should be https://HOST:PORT, or "
				    "http://localhost:PORT",
				    url);
	if (!encrypted && !is_loopback(host, size))
		return message_fail(STATUS_USAGE,
				    "page: \"%.300s\": http would send the token to another "
				    "machine without encryption; should be https://HOST:PORT",
				    url);
	return STATUS_OK;
}

/* Read the token without white space at its end. Return an &enum verb_exit_status. */
static int read_token(const char *path, char token[PAGE_TOKEN_MAX + 2])
{
	FILE *file = fopen(path, "re");
	size_t size;

	if (!file && errno == ENOENT)
		return message_fail(STATUS_NO_FILE,
				    "page: %s: no such file; speprof-exporter(8), PAGE, shows how "
				    "to make the token",
				    path);
	if (!file && errno == EACCES)
		return message_fail(
			STATUS_NO_RIGHT,
			"page: %s: you may not read the token; run \"sudo speprof page\"", path);
	if (!file)
		return message_fail(STATUS_UNREADABLE, "page: %s: %s", path, strerror(errno));
	size = fread(token, 1, PAGE_TOKEN_MAX + 1, file);
	if (ferror(file)) {
		fclose(file);
		return message_fail(STATUS_UNREADABLE, "page: %s: cannot be read", path);
	}
	fclose(file);
	while (size && strchr(" \t\r\n", token[size - 1]))
		size--;
	token[size] = '\0';
	if (strlen(token) != size || !page_token_is_valid(token))
		return message_fail(STATUS_UNREADABLE, "page: %s: should be " PAGE_TOKEN_RULE,
				    path);
	return STATUS_OK;
}

/*
 * Print a note if no program listens at a checked URL of the loopback. By default the exporter has
 * only a Unix socket, which browsers cannot use.
 */
static void note_closed_port(const char *url)
{
	const char *port = strrchr(url, ':');
	unsigned long number = strchr(port, ']') ? 0 : strtoul(port + 1, NULL, 10);
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in v4 = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd6 = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	v4.sin_port = v6.sin6_port = htons(number && number <= UINT16_MAX ? (u16)number : 80);
	if (connect(fd, (struct sockaddr *)&v4, sizeof(v4)) < 0 && errno == ECONNREFUSED &&
	    connect(fd6, (struct sockaddr *)&v6, sizeof(v6)) < 0)
		message_print("page: nothing listens on port %u of this machine; add "
			      "\"ListenStream=127.0.0.1:%u\" to speprof-exporter.socket "
			      "(speprof-exporter(8), PAGE)",
			      ntohs(v4.sin_port), ntohs(v4.sin_port));
	if (fd >= 0)
		close(fd);
	if (fd6 >= 0)
		close(fd6);
}

int page_run(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "token", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	const char *path = DEFAULT_TOKEN, *url = DEFAULT_URL;
	char token[PAGE_TOKEN_MAX + 2];
	int option, status;
	size_t size;

	while ((option = getopt_long(argc, argv, ":", long_options, NULL)) >= 0) {
		if (option != 't')
			return message_fail(STATUS_USAGE,
					    option == ':' ? "page: option \"%s\" needs a value" :
							    "page: has no option \"%s\"; try "
							    "\"speprof help page\"",
					    argv[optind - 1]);
		path = optarg;
	}
	if (optind < argc)
		url = argv[optind++];
	if (optind < argc)
		return message_fail(STATUS_USAGE, "page: \"%s\": only one URL can be given",
				    argv[optind]);
	status = check_url(url);
	if (!status)
		status = read_token(path, token);
	if (status)
		return status;
	if (strncmp(url, "http://", strlen("http://")) == 0)
		note_closed_port(url);
	size = strlen(url);
	printf("%.*s/page/#token=%s\n", (int)(url[size - 1] == '/' ? size - 1 : size), url, token);
	return STATUS_OK;
}
