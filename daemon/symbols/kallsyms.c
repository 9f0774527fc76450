// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kallsyms.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

int kallsyms_load(int fd, struct symtab *table)
{
	/* A stream of its own, so that closing it leaves @fd. */
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *f = own < 0 ? NULL : fdopen(own, "r");
	char line[1024];
	bool seen = false;
	int r = 0;

	if (!f) {
		r = -errno;
		if (own >= 0)
			close(own);
		return r;
	}
	while (fgets(line, sizeof(line), f)) {
		size_t len = strcspn(line, "\n");

		line[len] = '\0';
		line_take(line, len, table, &seen);
	}
	if (ferror(f))
		r = -EIO;
	else if (!seen)
		r = -EACCES;
	else if (table->dropped)
		r = -EFBIG;
	fclose(f);
	if (r < 0)
		symtab_clear(table);
	else
		symtab_finish(table);
	return r;
}
