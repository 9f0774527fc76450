// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES_SIZE 65536

/* "ADDRESS TYPE NAME[\t[MODULE]]", as nm prints it. */
static void line_take(char *line, size_t len, struct symtab *table, bool *seen)
{
	char *at, *tab;
	u64 addr = strtoull(line, &at, 16);

	if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ' || !addr)
		return;
	*seen = true;
	tab = strchr(at + 3, '\t');
	if (tab)
		*tab = ' ';
	if (strchr("tTwW", at[1]))
		symtab_add(table, addr, 0, at + 3, len - (size_t)(at + 3 - line),
			   at[1] == 'T' ? SYMBOL_GLOBAL :
			   at[1] == 't' ? SYMBOL_LOCAL :
					  SYMBOL_WEAK);
	else
		symtab_add(table, addr, 0, "", 0, SYMBOL_BOUNDARY);
}

/* Lines of @buf up to the last that is whole; returns how many bytes are left over. */
static size_t lines_take(char *buf, size_t len, struct symtab *table, bool *seen)
{
	char *line = buf, *end;

	while ((end = memchr(line, '\n', len - (size_t)(line - buf)))) {
		*end = '\0';
		line_take(line, (size_t)(end - line), table, seen);
		line = end + 1;
	}
	len -= (size_t)(line - buf);
	memmove(buf, line, len);
	return len;
}

/* By read() alone: what stdio does besides is refused where this runs (sandbox.c). */
int kallsyms_load(int fd, struct symtab *table)
{
	static char buf[LINES_SIZE];
	size_t left = 0;
	bool seen = false;
	ssize_t n;
	int r = 0;

	while ((n = read(fd, buf + left, sizeof(buf) - left)) > 0) {
		left = lines_take(buf, left + (size_t)n, table, &seen);
		/* No line is that long. */
		if (left == sizeof(buf))
			left = 0;
	}
	if (n < 0)
		r = -errno;
	else if (!seen)
		r = -EACCES;
	else if (table->dropped)
		r = -EFBIG;
	if (r < 0)
		symtab_clear(table);
	else
		symtab_finish(table);
	return r;
}
