// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lists of containers and cgroups as expressions: one language says whom to count. */
#include "filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void put_quoted(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', to);
		fputc(*text, to);
	}
}

/* What means something in a pattern stands for itself. */
static void put_literal(FILE *to, const char *text)
{
	char one[3] = "";

	for (; *text; text++) {
		bool special = strchr("*?[\\", *text) != NULL;

		snprintf(one, sizeof(one), special ? "\\%c" : "%c", *text);
		put_quoted(to, one);
	}
}

static void put_pattern(FILE *to, const char *pattern)
{
	fputs("container =~ \"", to);
	put_quoted(to, pattern);
	fputc('"', to);
}

static void put_cgroup(FILE *to, const char *path)
{
	fputs("cgroup == \"", to);
	put_quoted(to, path);
	fputs("\" || cgroup =~ \"", to);
	put_literal(to, path);
	fputs(path[0] == '/' && !path[1] ? "*\"" : "/*\"", to);
}

static void put_list(FILE *to, const char **joint, const char *open, char *const *list,
		     void (*put)(FILE *to, const char *text))
{
	if (!list || !*list)
		return;
	fprintf(to, "%s%s", *joint, open);
	for (size_t i = 0; list[i]; i++) {
		if (i)
			fputs(" || ", to);
		put(to, list[i]);
	}
	fputc(')', to);
	*joint = " && ";
}

int filter_compose(const struct filter_lists *lists, const char *expression, char **ret_text)
{
	const char *joint = "";
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return -ENOMEM;
	put_list(to, &joint, "(", lists->containers, put_pattern);
	put_list(to, &joint, "!(", lists->excluded, put_pattern);
	put_list(to, &joint, "(", lists->cgroups, put_cgroup);
	if (expression && *expression)
		fprintf(to, *joint ? "%s(%s)" : "%s%s", joint, expression);
	if (fclose(to)) {
		free(text);
		return -ENOMEM;
	}
	*ret_text = text;
	return 0;
}
