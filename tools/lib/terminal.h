/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The terminal: its size, its colours, and the raw mode of the live view, which ends with the
 * process, however that ends
 */
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

/**
 * term_raw() - switch to the alternate screen, and read keys one by one without echo
 *
 * A signal that ends the process, or a crash, restores the terminal first.
 *
 * Return: 0 or negative errno.
 */
int term_raw(void);

/** term_restore() - undo term_raw(); does nothing if that was not called */
void term_restore(void);

/**
 * term_key() - wait for a key
 * @timeout_ms: maximum time to wait, in milliseconds
 *
 * Return: the byte of the key, or TERM_KEY_UP, _DOWN and _OTHER for sequences; TERM_KEY_RESIZE if
 * the size of the terminal changed; 0 after the timeout; -EIO if the terminal was closed.
 */
int term_key(int timeout_ms);

#define TERM_KEY_UP	256
#define TERM_KEY_DOWN	257
#define TERM_KEY_OTHER	258
#define TERM_KEY_RESIZE 259

#endif
