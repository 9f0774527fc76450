// SPDX-License-Identifier: LGPL-2.1-or-later
/* All files of a configuration, the later ones over those before. */
#include "ini.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACE 512

struct files {
	ini_file_fn read;
	void *ctx;
	char *ret_path;
	size_t size;
};

static int read_one(const struct files *files, const char *path, bool must)
{
	int r = files->read(files->ctx, path);

	if (r == -ENOENT && !must)
		return 0;
	if (r < 0)
		snprintf(files->ret_path, files->size, "%s", path);
	return r;
}

/* In the order of their names; what glob() cannot read is not there. */
static int read_drop_ins(const struct files *files, const char *path)
{
	char pattern[PLACE];
	glob_t found = { 0 };
	int r = 0;

	snprintf(pattern, sizeof(pattern), "%s.d/*.conf", path);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && r >= 0; i++)
		r = read_one(files, found.gl_pathv[i], true);
	globfree(&found);
	return r;
}

int ini_read_files(const char *path, bool must, const char *credential, ini_file_fn read, void *ctx,
		   char *ret_path, size_t size)
{
	const struct files files = { .read = read, .ctx = ctx, .ret_path = ret_path, .size = size };
	const char *credentials = getenv("CREDENTIALS_DIRECTORY");
	char place[PLACE];
	int r = read_one(&files, path, must);

	if (r >= 0)
		r = read_drop_ins(&files, path);
	if (r >= 0 && credentials) {
		snprintf(place, sizeof(place), "%s/%s", credentials, credential);
		r = read_one(&files, place, false);
	}
	return r;
}
