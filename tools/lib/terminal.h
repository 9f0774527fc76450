/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The terminal: its size and its colours */
#ifndef SPEPROF_TERMINAL_H
#define SPEPROF_TERMINAL_H

#include <stdio.h>

#include "codec/env.h"

/** enum term_ink - the meaning of a colour */
enum term_ink {
	TERM_PLAIN,
	TERM_STRONG, /* headings */
	TERM_FAINT, /* hints */
	TERM_WARN, /* something needs attention: modelled values, stopped sampling */
	TERM_BAD, /* something was lost */
	TERM_WARM, /* a row with a large share of what rows are sorted by */
	TERM_HOT, /* a row with most of it */
	TERM_INKS,
};

/** term_ink() - print @text to @out, in the colour of @ink if @colour is set */
void term_ink(FILE *out, bool colour, enum term_ink ink, const char *text);

/**
 * term_colour() - return whether standard output shows colours
 *
 * It does if it is a terminal, without NO_COLOR or TERM=dumb.
 */
bool term_colour(void);

/**
 * term_size() - get the size of standard output
 * @ret_width: columns of the terminal; if it is no terminal, COLUMNS, or 0 without that
 * @ret_height: lines; 0 if it is no terminal
 */
void term_size(size_t *ret_width, size_t *ret_height);

#endif
