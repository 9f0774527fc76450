// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include "speprof-version.h"
#include "util/escape.h"
#include "util/log.h"

#define DEFAULT_CONFIG "/etc/speprof/speprofd.conf"

static void print_usage(FILE *to)
{
	fputs("speprofd - profile this machine with the Arm Statistical Profiling Extension\n\n"
	      "  --config FILE    read FILE instead of " DEFAULT_CONFIG ", and FILE.d/*.conf\n"
	      "  --set KEY=VALUE  override a setting of the files\n"
	      "  --bus ADDRESS    serve on a private bus instead of the system's\n"
	      "  --version        print the version\n"
	      "  --help           print this\n",
	      to);
}

static int set_override(struct config *config, const char *text)
{
	struct config_error error;
	char key[64];
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || (size_t)(equals - text) >= sizeof(key)) {
		log_line(LOG_ERR, "--set %s: should be KEY=VALUE", text);
		return EX_USAGE;
	}
	memcpy(key, text, (size_t)(equals - text));
	key[equals - text] = 0;
	if (config_set_setting(config, key, equals + 1, &error) < 0) {
		log_line(LOG_ERR, "--set: %s", error.text);
		return EX_USAGE;
	}
	return 0;
}

static int read_config(struct daemon_options *o, bool named, char ret_why[static RELOAD_REASON])
{
	char why[RELOAD_REASON], field[CONFIG_LOCATION + 32];
	struct config_error error;
	const char *const fields[] = { field, NULL };
	int r = config_read_files(&o->config, o->config_path, named, &error);

	if (r >= 0)
		return 0;
	snprintf(field, sizeof(field), "SPEPROF_FILE=%s", error.file);
	if (error.line)
		snprintf(why, sizeof(why), "%s:%u: %s", error.file, error.line, error.text);
	else
		snprintf(why, sizeof(why), "%s: %s", error.file, error.text);
	/*
	 * The line becomes a property on the bus, which must be UTF-8; a file may contain any
	 * bytes.
	 */
	escape_string(ret_why, RELOAD_REASON, why);
	log_write(LOG_ERR, LOG_ID_CONFIG, fields, "%s", ret_why);
	return r == -EINVAL ? EX_CONFIG : EX_NOINPUT;
}

enum { OPT_CONFIG = 256, OPT_SET, OPT_BUS, OPT_VERSION, OPT_HELP };

static const struct option long_options[] = {
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "set", required_argument, NULL, OPT_SET },
	{ "bus", required_argument, NULL, OPT_BUS },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

static int parse_argv(int argc, char **argv, struct daemon_options *o)
{
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		switch (c) {
		case OPT_CONFIG:
			o->config_path = optarg;
			break;
		case OPT_BUS:
			o->bus_address = optarg;
			break;
		case OPT_SET:
			break;
		case OPT_VERSION:
			puts("speprofd " SPEPROF_VERSION);
			exit(0);
		case OPT_HELP:
			print_usage(stdout);
			exit(0);
		default:
			return EX_USAGE;
		}
	}
	if (optind < argc) {
		log_line(LOG_ERR, "%s: no such argument; see --help", argv[optind]);
		return EX_USAGE;
	}
	return 0;
}

/*
 * Parse the options twice, so that --set overrides the files at any position on the command line.
 */
int options_parse(int argc, char **argv, struct daemon_options *ret_options,
		  char ret_why[static RELOAD_REASON])
{
	struct daemon_options o = { .config = CONFIG_DEFAULT };
	int c, r = parse_argv(argc, argv, &o);

	if (!r) {
		bool named = o.config_path != NULL;

		if (!named)
			o.config_path = DEFAULT_CONFIG;
		r = read_config(&o, named, ret_why);
	}
	optind = 1;
	while (!r && (c = getopt_long(argc, argv, "", long_options, NULL)) >= 0)
		if (c == OPT_SET && optarg)
			r = set_override(&o.config, optarg);
	if (!r)
		*ret_options = o;
	return r;
}
