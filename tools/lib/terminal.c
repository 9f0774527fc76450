// SPDX-License-Identifier: LGPL-2.1-or-later
#include "terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ESC "\033"

void term_print(FILE *out, bool colour, enum term_style ink, const char *text)
{
	static const char *const codes[] = {
		[TERM_STRONG] = ESC "[1m",
		[TERM_FAINT] = ESC "[2m",
		[TERM_WARN] = ESC "[33m",
		[TERM_BAD] = ESC "[31m",
		[TERM_WARM] = ESC "[33m",
		[TERM_HOT] = ESC "[1;31m",
	};

	if (colour && ink != TERM_PLAIN)
		fprintf(out, "%s%s" ESC "[0m", codes[ink], text);
	else
		fputs(text, out);
}

bool term_uses_colour(void)
{
	const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no && *no) && kind && strcmp(kind, "dumb") != 0;
}

void term_get_size(size_t *ret_width, size_t *ret_height)
{
	const char *columns = getenv("COLUMNS");
	unsigned long given = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size = { 0 };
	bool tty = isatty(STDOUT_FILENO);

	if (tty)
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*ret_width = size.ws_col ? size.ws_col : tty ? 80 : 0;
	*ret_height = size.ws_row ? size.ws_row : tty ? 24 : 0;
	if (given && !size.ws_col)
		*ret_width = given;
}
