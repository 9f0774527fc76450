// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ini.h"

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/env.h"

static char *strip_whitespace(char *s)
{
	char *end = s + strlen(s);

	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

char *ini_split_line(char *line)
{
	char *value = strchr(line, '=');

	if (!value)
		return NULL;
	*value = '\0';
	strip_whitespace(line);
	return strip_whitespace(value + 1);
}

int ini_read(const char *path, ini_line_fn parse, void *ctx, unsigned int *ret_line)
{
	unsigned int number = 0;
	char *buffer = NULL, *line;
	size_t size = 0;
	FILE *f;
	int r = 0;

	*ret_line = 0;
	f = fopen(path, "re");
	if (!f)
		return -errno;
	errno = 0;
	while (!r && getline(&buffer, &size, f) >= 0) {
		number++;
		line = strip_whitespace(buffer);
		if (*line && *line != '#' && *line != ';')
			r = parse(ctx, line);
	}
	if (r < 0)
		*ret_line = number;
	else if (ferror(f))
		r = errno ? -errno : -EIO;
	free(buffer);
	fclose(f);
	return r;
}

/* Bytes of the path of a configuration file. */
#define PATH_SIZE 512

struct ini_file_reader {
	ini_file_fn read;
	void *ctx;
	char *ret_path;
	size_t size;
};

static int read_one_file(const struct ini_file_reader *files, const char *path, bool must)
{
	int r = files->read(files->ctx, path);

	if (r == -ENOENT && !must)
		return 0;
	if (r < 0)
		snprintf(files->ret_path, files->size, "%s", path);
	return r;
}

/* Read the drop-ins in the order of their names. A folder that cannot be read has none. */
static int read_drop_ins(const struct ini_file_reader *files, const char *path)
{
	char pattern[PATH_SIZE];
	glob_t found = { 0 };
	int r = 0;

	snprintf(pattern, sizeof(pattern), "%s.d/*.conf", path);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && r >= 0; i++)
		r = read_one_file(files, found.gl_pathv[i], true);
	globfree(&found);
	return r;
}

int ini_read_files(const char *path, bool must, const char *credential, ini_file_fn read, void *ctx,
		   char *ret_path, size_t size)
{
	const struct ini_file_reader files = {
		.read = read, .ctx = ctx, .ret_path = ret_path, .size = size
	};
	const char *credentials = getenv("CREDENTIALS_DIRECTORY");
	char credential_path[PATH_SIZE];
	int r = read_one_file(&files, path, must);

	if (r >= 0)
		r = read_drop_ins(&files, path);
	if (r >= 0 && credentials) {
		snprintf(credential_path, sizeof(credential_path), "%s/%s", credentials, credential);
		r = read_one_file(&files, credential_path, false);
	}
	return r;
}

int ini_parse_bool(const char *value, bool *ret)
{
	static const char *const words[][2] = {
		{ "no", "yes" },
		{ "false", "true" },
		{ "off", "on" },
		{ "0", "1" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++) {
		for (unsigned int b = 0; b < 2; b++) {
			if (strcmp(words[i][b], value))
				continue;
			*ret = b;
			return 0;
		}
	}
	return -EINVAL;
}
