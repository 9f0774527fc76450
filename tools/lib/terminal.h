/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The terminal: its size and its colours */
#ifndef SPEPROF_TERMINAL_H
#define SPEPROF_TERMINAL_H

#include <stdio.h>

#include "codec/env.h"

/** enum term_style - the meaning of a colour */
enum term_style {
	TERM_PLAIN,
	TERM_STRONG, /* headings */
	TERM_FAINT, /* hints */
	TERM_WARN, /* something needs attention: modelled values, stopped sampling */
	TERM_BAD, /* something was lost */
	TERM_WARM, /* a row with a large share of the sort measure */
	TERM_HOT, /* a row with most of the sort measure */
	TERM_INKS,
};

/** term_print() - print @text to @out, in the colour of @ink if @colour is set */
void term_print(FILE *out, bool colour, enum term_style ink, const char *text);

/**
 * term_uses_colour() - return whether to print colours to standard output
 *
 * True if standard output is a terminal, NO_COLOR is not set, and TERM is not "dumb".
 */
bool term_uses_colour(void);

/**
 * term_get_size() - get the size of standard output
 * @ret_width: columns of the terminal; if it is no terminal, the value of COLUMNS, or 0 if that is
 * not set
 * @ret_height: lines; 0 if it is no terminal
 */
void term_get_size(size_t *ret_width, size_t *ret_height);

#endif
