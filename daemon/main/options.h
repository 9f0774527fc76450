/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read the options of the command line, and the configuration: files, drop-ins and credential. */
#ifndef SPEPROF_OPTIONS_H
#define SPEPROF_OPTIONS_H

#include "config/config.h"
#include "config/reload-status.h"

/**
 * struct daemon_options - options, and the resulting configuration
 * @config_path: the configuration file; points into the arguments
 * @bus_address: address of a private bus; points into the arguments; NULL: the system bus
 * @config: settings of the files; settings from --set override them
 */
struct daemon_options {
	const char *config_path;
	const char *bus_address;
	struct config config;
};

/**
 * options_parse() - read the options and the configuration
 * @argc: number of arguments of main()
 * @argv: arguments of main()
 * @ret_options: unchanged on failure
 * @ret_why: error in the files, one line; unchanged if only the options are wrong
 *
 * An error is logged in one line. A reload calls the function again, with the same arguments.
 *
 * Return: 0, or an exit status of sysexits.h. With --help and --version the process exits.
 */
int options_parse(int argc, char **argv, struct daemon_options *ret_options,
		  char ret_why[static RELOAD_REASON]);

#endif
