// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Translates lists of containers and cgroups into an expression, so that one filter checks the
 * lists and the expression of the user.
 */
#include "filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void put_quoted(FILE *stream, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', stream);
		fputc(*text, stream);
	}
}

/* Write @text as a pattern that matches only @text: escape wildcards. */
static void put_literal(FILE *stream, const char *text)
{
	char escaped[3] = "";

	for (; *text; text++) {
		bool special = strchr("*?[\\", *text) != NULL;

		snprintf(escaped, sizeof(escaped), special ? "\\%c" : "%c", *text);
		put_quoted(stream, escaped);
	}
}

static void put_pattern(FILE *stream, const char *pattern)
{
	fputs("container =~ \"", stream);
	put_quoted(stream, pattern);
	fputc('"', stream);
}

static void put_cgroup(FILE *stream, const char *path)
{
	fputs("cgroup == \"", stream);
	put_quoted(stream, path);
	fputs("\" || cgroup =~ \"", stream);
	put_literal(stream, path);
	fputs(path[0] == '/' && !path[1] ? "*\"" : "/*\"", stream);
}

static void put_list(FILE *stream, const char **separator, const char *open, char *const *list,
		     void (*put)(FILE *stream, const char *text))
{
	if (!list || !*list)
		return;
	fprintf(stream, "%s%s", *separator, open);
	for (size_t i = 0; list[i]; i++) {
		if (i)
			fputs(" || ", stream);
		put(stream, list[i]);
	}
	fputc(')', stream);
	*separator = " && ";
}

int filter_compose(const struct filter_lists *lists, const char *expression, char **ret_text)
{
	const char *separator = "";
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return -ENOMEM;
	put_list(stream, &separator, "(", lists->containers, put_pattern);
	put_list(stream, &separator, "!(", lists->excluded, put_pattern);
	put_list(stream, &separator, "(", lists->cgroups, put_cgroup);
	if (expression && *expression)
		fprintf(stream, *separator ? "%s(%s)" : "%s%s", separator, expression);
	if (fclose(stream)) {
		free(text);
		return -ENOMEM;
	}
	*ret_text = text;
	return 0;
}
