// SPDX-License-Identifier: LGPL-2.1-or-later
#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "escape.h"

void say(const char *level, const char *format, ...)
{
	char text[512], line[600];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (n < 0)
		return;
	/* What receivers answer is in it: one line, whatever they say. */
	escape_string(line, sizeof(line), text);
	/* The journal reads the level; a terminal should not show it. */
	fprintf(stderr, "%sspeprof-exporter: %s\n", getenv("JOURNAL_STREAM") ? level : "", line);
}
