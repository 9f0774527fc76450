// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ini.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *strip(char *s)
{
	char *end = s + strlen(s);

	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

char *ini_split(char *line)
{
	char *value = strchr(line, '=');

	if (!value)
		return NULL;
	*value = '\0';
	strip(line);
	return strip(value + 1);
}

int ini_read(const char *path, ini_line_fn take, void *ctx, unsigned int *ret_line)
{
	unsigned int number = 0;
	char *buffer = NULL, *line;
	size_t room = 0;
	FILE *f;
	int r = 0;

	*ret_line = 0;
	f = fopen(path, "re");
	if (!f)
		return -errno;
	errno = 0;
	while (!r && getline(&buffer, &room, f) >= 0) {
		number++;
		line = strip(buffer);
		if (*line && *line != '#' && *line != ';')
			r = take(ctx, line);
	}
	if (r < 0)
		*ret_line = number;
	else if (ferror(f))
		r = errno ? -errno : -EIO;
	free(buffer);
	fclose(f);
	return r;
}
