// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The main function of speprof-exporter, which exports speprofd's metrics. It uses the network and
 * has no privileges.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "config.h"
#include "credentials.h"
#include "exporter.h"
#include "http.h"
#include "listener.h"
#include "log.h"
#include "speprof-version.h"
#include "util/page-token.h"

#define DEFAULT_CONFIG "/etc/speprof/speprof-exporter.conf"

/*
 * Whether counters of an emulated SPU are exported. Only the program that is built for the tests
 * sets it to true.
 */
#ifndef EXPORT_EMULATED
#define EXPORT_EMULATED false
#endif

/* The command line, and the resulting configuration */
struct exporter_options {
	const char *config_path;
	const char *bus_address;
	const char *snapshot;
	struct exporter_config config;
};

/* Credentials of the HTTP server; NULL: not configured */
struct server_credentials {
	char *certificate;
	char *key;
	char *token;
	char *page_token;
};

static void print_usage(FILE *to)
{
	fputs("speprof-exporter - export what speprofd samples to a fleet's monitoring\n\n"
	      "  --config FILE            read FILE instead of " DEFAULT_CONFIG "\n"
	      "  --set SECTION.KEY=VALUE  override a setting of the file\n"
	      "  --bus ADDRESS            query the daemon on a private bus instead of the "
	      "system's\n"
	      "  --snapshot FILE          read the metrics from FILE, each interval, instead of "
	      "the daemon\n"
	      "  --version                print the version\n"
	      "  --help                   print this\n",
	      to);
}

static int set_override(struct exporter_config *config, const char *text)
{
	struct exporter_config_error error = { 0 };
	const char *dot = strchr(text, '.'), *equals = strchr(text, '=');
	char section[32], key[160];

	if (!dot || !equals || dot > equals || (size_t)(dot - text) >= sizeof(section) ||
	    (size_t)(equals - dot) > sizeof(key)) {
		exporter_log(SD_ERR, "--set %.100s: should be SECTION.KEY=VALUE", text);
		return EX_USAGE;
	}
	memcpy(section, text, (size_t)(dot - text));
	section[dot - text] = 0;
	memcpy(key, dot + 1, (size_t)(equals - dot - 1));
	key[equals - dot - 1] = 0;
	if (exporter_config_set(config, section, key, equals + 1, &error) < 0) {
		exporter_log(SD_ERR, "--set: %s", error.text);
		return EX_USAGE;
	}
	return 0;
}

static int read_config(struct exporter_options *o, bool named)
{
	struct exporter_config_error error = { 0 };
	int r = exporter_config_read_all(&o->config, o->config_path, named, &error);

	if (r >= 0)
		return 0;
	if (error.line)
		exporter_log(SD_ERR, "%s:%u: %s", error.file, error.line, error.text);
	else
		exporter_log(SD_ERR, "%s: %s", error.file, error.text);
	return r == -EINVAL ? EX_CONFIG : EX_NOINPUT;
}

enum { OPT_CONFIG = 256, OPT_SET, OPT_BUS, OPT_SNAPSHOT, OPT_VERSION, OPT_HELP };

static const struct option long_options[] = {
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "set", required_argument, NULL, OPT_SET },
	{ "bus", required_argument, NULL, OPT_BUS },
	{ "snapshot", required_argument, NULL, OPT_SNAPSHOT },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

static int parse_option(struct exporter_options *o, int c)
{
	switch (c) {
	case OPT_CONFIG:
		o->config_path = optarg;
		return 0;
	case OPT_BUS:
		o->bus_address = optarg;
		return 0;
	case OPT_SNAPSHOT:
		o->snapshot = optarg;
		return 0;
	case OPT_SET:
		return 0;
	case OPT_VERSION:
		puts("speprof-exporter " SPEPROF_VERSION);
		exit(0);
	case OPT_HELP:
		print_usage(stdout);
		exit(0);
	}
	return EX_USAGE;
}

/* Parse the options twice: --set overrides the file, also if it is given before --config. */
static int parse_options(int argc, char **argv, struct exporter_options *o)
{
	bool named;
	int c, r = 0;

	while (!r && (c = getopt_long(argc, argv, "", long_options, NULL)) >= 0)
		r = parse_option(o, c);
	if (!r && optind < argc) {
		exporter_log(SD_ERR, "%s: no such argument; see --help", argv[optind]);
		r = EX_USAGE;
	}
	if (r)
		return r;
	named = o->config_path != NULL;
	if (!named)
		o->config_path = DEFAULT_CONFIG;
	r = read_config(o, named);
	optind = 1;
	while (!r && (c = getopt_long(argc, argv, "", long_options, NULL)) >= 0)
		if (c == OPT_SET && optarg)
			r = set_override(&o->config, optarg);
	return r;
}

static int read_server_credentials(struct server_credentials *s)
{
	const struct {
		const char *name;
		char **text;
	} all[] = {
		{ "tls-certificate", &s->certificate },
		{ "tls-key", &s->key },
		{ "token", &s->token },
		{ "page-token", &s->page_token },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(all); i++) {
		int r = credential_read(all[i].name, all[i].text);

		if (r < 0) {
			exporter_log(SD_ERR, "credential %s: %s", all[i].name,
				     r == -EBADMSG ? "should be 1 byte to 64 KiB of text" :
						     strerror(-r));
			return EX_CONFIG;
		}
	}
	if (s->token && (!credential_is_one_line(s->token) || strlen(s->token) > HTTP_TOKEN)) {
		exporter_log(SD_ERR, "credential token: should be one line of at most 8 KiB, or no "
				     "client can send it");
		return EX_CONFIG;
	}
	if (s->page_token && !page_token_is_valid(s->page_token)) {
		exporter_log(SD_ERR, "credential page-token: should be " PAGE_TOKEN_RULE);
		return EX_CONFIG;
	}
	if (!s->certificate != !s->key) {
		exporter_log(
			SD_ERR,
			"credentials tls-certificate and tls-key: should both be set, or neither");
		return EX_CONFIG;
	}
	return 0;
}

/*
 * Check that a socket serves metrics only to users who may get them on the bus: root and the group
 * speprof. A loopback socket without a token does not end the exporter: older versions permitted
 * such a socket, and pushes must continue after an upgrade. The server refuses requests on it,
 * except those for the page, which needs its own token.
 */
static int check_socket_access(int fd, enum socket_reach reach, const struct server_credentials *s)
{
	char name[LISTENER_NAME];

	listener_get_name(fd, name, sizeof(name));
	if (reach == LISTENER_NETWORK && !(s->certificate && s->token)) {
		exporter_log(
			SD_ERR,
			"%s: other machines can connect to it: the credentials tls-certificate, "
			"tls-key and token should be set",
			name);
		return EX_CONFIG;
	}
	if (reach == LISTENER_MACHINE && !s->token && !s->page_token)
		exporter_log(SD_WARNING,
			     "%s: all requests are refused, because every user of this machine "
			     "can connect to it: "
			     "scrape " EXPORTER_LISTEN
			     ", or set the credential token and send it: see "
			     "speprof-exporter(8), SCRAPING",
			     name);
	return 0;
}

static int serve_socket(struct exporter *exporter, const struct exporter_options *o,
			const struct server_credentials *credentials, int fd)
{
	struct http_config config = {
		.fd = fd,
		.reach = listener_get_reach(fd),
		.certificate = credentials->certificate,
		.key = credentials->key,
		.token = credentials->token,
		.page_token = credentials->page_token,
		.native = o->config.native,
	};
	const char *why = "";
	int r = check_socket_access(fd, config.reach, credentials);

	if (!r && exporter_serve_socket(exporter, &config, &why) < 0) {
		exporter_log(SD_ERR, "HTTP: %s", why);
		r = EX_CONFIG;
	}
	return r;
}

/*
 * Serve the listening sockets that systemd passed. Version 0.1 also stored a memfd with its
 * counters, which systemd passes after the upgrade; this function makes systemd drop it.
 */
static int serve_passed_sockets(struct exporter *exporter, const struct exporter_options *o,
				const struct server_credentials *credentials, int *ret_count)
{
	int end = SD_LISTEN_FDS_START + sd_listen_fds(1), count = 0, r = 0;

	for (int fd = SD_LISTEN_FDS_START; fd < end && !r; fd++) {
		if (sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1) <= 0) {
			sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=speprof-exporter-state");
			close(fd);
			continue;
		}
		if (++count > EXPORTER_SERVERS) {
			exporter_log(SD_ERR,
				     "systemd passes more than %d sockets: the socket unit should "
				     "have fewer",
				     EXPORTER_SERVERS);
			return EX_CONFIG;
		}
		r = serve_socket(exporter, o, credentials, fd);
	}
	*ret_count = count;
	return r;
}

static int serve_all_sockets(struct exporter *exporter, const struct exporter_options *o,
			     const struct server_credentials *credentials)
{
	int count = 0, fd, r = serve_passed_sockets(exporter, o, credentials, &count);

	if (count > 0 || r || !*o->config.listen)
		return r;
	fd = listener_open(o->config.listen);
	if (fd < 0) {
		exporter_log(
			SD_ERR,
			fd == -EINVAL ?
				"Listen=%s: should be a path of at most 107 bytes, or ADDRESS:PORT "
				"with a numeric address" :
			fd == -EACCES ?
				"Listen=%s: %s; under systemd, restart speprof-exporter.socket, "
				"which opens it" :
				"Listen=%s: %s",
			o->config.listen, strerror(-fd));
		return fd == -EINVAL ? EX_CONFIG : EX_OSERR;
	}
	return serve_socket(exporter, o, credentials, fd);
}

static int create_event_loop(sd_event **ret_event)
{
	sigset_t mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	/* SIGPIPE would end the process at a write to a connection that the peer has closed. */
	signal(SIGPIPE, SIG_IGN);
	r = sd_event_default(ret_event);
	if (r >= 0)
		r = sd_event_add_signal(*ret_event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(*ret_event, NULL, SIGINT, NULL, NULL);
	if (r >= 0)
		r = sd_event_set_watchdog(*ret_event, 1);
	return r;
}

static int push_error_to_exit_status(int r)
{
	return r == -EINVAL ? EX_CONFIG : r < 0 ? EX_OSERR : 0;
}

static int exporter_run(const struct exporter_options *o,
			const struct server_credentials *credentials, sd_event *event)
{
	const struct exporter_config *config = &o->config;
	struct exporter *exporter = NULL;
	int r;

	if (exporter_new(config, EXPORT_EMULATED, event, &exporter) < 0) {
		exporter_log(SD_ERR, "the exporter could not be started");
		return EX_OSERR;
	}
	r = serve_all_sockets(exporter, o, credentials);
	if (!r)
		r = push_error_to_exit_status(exporter_start_pushes(exporter));
	if (!r && exporter_start_queries(exporter, o->bus_address, o->snapshot) < 0) {
		exporter_log(SD_ERR, "the exporter could not be started");
		r = EX_OSERR;
	}
	if (!r) {
		sd_notify(0, "READY=1");
		if (sd_event_loop(event) < 0)
			r = EX_OSERR;
		sd_notify(0, "STOPPING=1");
	}
	exporter_free(exporter);
	return r;
}

int main(int argc, char **argv)
{
	struct exporter_options o = { 0 };
	struct server_credentials credentials = { 0 };
	sd_event *event = NULL;
	int r;

	exporter_config_set_defaults(&o.config);
	r = parse_options(argc, argv, &o);
	if (!r)
		r = read_server_credentials(&credentials);
	if (!r && create_event_loop(&event) < 0) {
		exporter_log(SD_ERR, "the event loop could not be started");
		r = EX_OSERR;
	}
	if (!r)
		r = exporter_run(&o, &credentials, event);
	free(credentials.certificate);
	free(credentials.key);
	free(credentials.token);
	free(credentials.page_token);
	sd_event_unref(event);
	return r;
}
