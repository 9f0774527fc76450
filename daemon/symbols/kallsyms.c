// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Size of the buffer for lines of /proc/kallsyms. */
#define LINES_SIZE 65536

/* Parse "ADDRESS TYPE NAME[\t[MODULE]]", with types as in nm(1). */
static void line_parse(char *line, size_t len, struct symtab *table, bool *seen)
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

/*
 * Parse the complete lines of @buf, and move the rest to its front; returns the length of the rest.
 */
static size_t lines_parse(char *buf, size_t len, struct symtab *table, bool *seen)
{
	char *line = buf, *end;

	while ((end = memchr(line, '\n', len - (size_t)(line - buf)))) {
		*end = '\0';
		line_parse(line, (size_t)(end - line), table, seen);
		line = end + 1;
	}
	len -= (size_t)(line - buf);
	memmove(buf, line, len);
	return len;
}

/* Read with read(), because the sandbox denies system calls that stdio makes. */
int kallsyms_load(int fd, struct symtab *table)
{
	static char buf[LINES_SIZE];
	size_t rest = 0;
	bool seen = false;
	ssize_t n;
	int r = 0;

	while ((n = read(fd, buf + rest, sizeof(buf) - rest)) > 0) {
		rest = lines_parse(buf, rest + (size_t)n, table, &seen);
		/* Drop a line that fills the whole buffer: no valid line is that long. */
		if (rest == sizeof(buf))
			rest = 0;
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
		symtab_sort(table);
	return r;
}
