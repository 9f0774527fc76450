// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads all files of a configuration; a later file overrides an earlier one. */
#include "config.h"

#include "util/ini.h"

#define CREDENTIAL "speprofd.conf"

struct reading {
	struct config config;
	struct config_error *error;
};

static int read_one(void *ctx, const char *path)
{
	struct reading *reading = ctx;

	return config_read(&reading->config, path, reading->error);
}

int config_read_all(struct config *config, const char *path, bool must,
		    struct config_error *ret_error)
{
	struct reading reading = { .config = *config, .error = ret_error };
	int r = ini_read_files(path, must, CREDENTIAL, read_one, &reading, ret_error->file,
			       sizeof(ret_error->file));

	if (r >= 0)
		*config = reading.config;
	return r;
}
