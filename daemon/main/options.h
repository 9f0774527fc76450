/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line, and what it reads: configuration, drop-ins, credential. */
#ifndef SPEPROF_OPTIONS_H
#define SPEPROF_OPTIONS_H

#include "config/config.h"
#include "config/reload-status.h"

/**
 * struct options - of one reading of them
 * @config_path: borrowed from the arguments
 * @bus_address: likewise; NULL for the system's
 */
struct options {
	const char *config_path;
	const char *bus_address;
	struct config config;
};

/**
 * options_parse() - read all of it; what is wrong is told, one line
 * @ret_why: that line, where it is about what the files say; else untouched
 *
 * As often as one likes: a reload reads the same files again.
 *
 * Return: 0 or an exit status of sysexits.h; does not return from --help and --version.
 */
int options_parse(int argc, char **argv, struct options *ret_options,
		  char ret_why[static RELOAD_REASON]);

#endif
