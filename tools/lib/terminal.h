/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The terminal: its size, its colours, and the raw mode of the live view, which
 * is undone however the process ends.
 */
#ifndef SPEPROF_TERMINAL_H
#define SPEPROF_TERMINAL_H

#include <stdio.h>

#include "codec/env.h"

enum term_ink {
	TERM_PLAIN,
	TERM_STRONG, /* headings */
	TERM_FAINT, /* hints */
	TERM_WARN, /* not the machine itself: modelled, stopped */
	TERM_BAD, /* something was lost */
};

/** term_ink() - print @text in @ink, if @colour */
void term_ink(FILE *out, bool colour, enum term_ink ink, const char *text);

/** term_colour() - whether standard output wants colours (NO_COLOR, TERM) */
bool term_colour(void);

/** term_size() - of standard output; 0 where that is no terminal and COLUMNS is not set */
void term_size(size_t *ret_width, size_t *ret_height);

/**
 * term_raw() - keys one by one, without echo, on the alternate screen
 *
 * Signals that end the process, and crashes, restore the terminal first.
 */
int term_raw(void);

/** term_restore() - undo term_raw(); does nothing without it */
void term_restore(void);

/**
 * term_key() - wait for a key, a change of size or @timeout_ms
 *
 * Return: the key's byte (arrow keys as TERM_KEY_*); 0 for the timeout;
 * TERM_KEY_RESIZE; -EIO if the terminal is gone.
 */
int term_key(int timeout_ms);

#define TERM_KEY_UP	256
#define TERM_KEY_DOWN	257
#define TERM_KEY_OTHER	258
#define TERM_KEY_RESIZE 259

#endif
