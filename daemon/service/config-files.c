// SPDX-License-Identifier: LGPL-2.1-or-later
/* All files of a configuration, the later ones over those before. */
#include "config.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#define CREDENTIAL "speprofd.conf"

static int read_one(struct config *config, const char *path, bool must, struct config_error *error)
{
	int r = config_read(config, path, error);

	if (r == -ENOENT && !must)
		return 0;
	if (r < 0)
		snprintf(error->file, sizeof(error->file), "%s", path);
	return r;
}

/* In the order of their names; what glob() cannot read is not there. */
static int read_drop_ins(struct config *config, const char *path, struct config_error *error)
{
	char pattern[CONFIG_PLACE];
	glob_t found = { 0 };
	int r = 0;

	snprintf(pattern, sizeof(pattern), "%s.d/*.conf", path);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && r >= 0; i++)
		r = read_one(config, found.gl_pathv[i], true, error);
	globfree(&found);
	return r;
}

int config_read_all(struct config *config, const char *path, bool must,
		    struct config_error *ret_error)
{
	const char *credentials = getenv("CREDENTIALS_DIRECTORY");
	char credential[CONFIG_PLACE];
	struct config read = *config;
	int r = read_one(&read, path, must, ret_error);

	if (r >= 0)
		r = read_drop_ins(&read, path, ret_error);
	if (r >= 0 && credentials) {
		snprintf(credential, sizeof(credential), "%s/" CREDENTIAL, credentials);
		r = read_one(&read, credential, false, ret_error);
	}
	if (r >= 0)
		*config = read;
	return r;
}
