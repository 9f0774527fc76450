/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of the command line, and the configuration: files, drop-ins and credential. */
#ifndef SPEPROF_OPTIONS_H
#define SPEPROF_OPTIONS_H

#include "config/config.h"
#include "config/reload-status.h"

/**
 * struct options - options and the configuration that they lead to
 * @config_path: the file; borrowed from the arguments
 * @bus_address: of a private bus, borrowed from the arguments; NULL: the system bus
 * @config: read from the files, then overridden by --set
 */
struct options {
	const char *config_path;
	const char *bus_address;
	struct config config;
};

/**
 * options_parse() - read the options and the configuration
 * @argc: of main()
 * @argv: of main()
 * @ret_options: untouched on failure
 * @ret_why: what is wrong in the files, one line; untouched if only the options are wrong
 *
 * Logs one line about what is wrong. It may be called again: a reload reads the same files.
 *
 * Return: 0, or an exit status of sysexits.h. With --help and --version it exits.
 */
int options_parse(int argc, char **argv, struct options *ret_options,
		  char ret_why[static RELOAD_REASON]);

#endif
