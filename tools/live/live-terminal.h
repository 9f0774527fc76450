/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The terminal of the live view, based on ncurses. It is restored also if a signal ends the
 * process.
 */
#ifndef SPEPROF_LIVE_TERMINAL_H
#define SPEPROF_LIVE_TERMINAL_H

#include "live-screen.h"

/**
 * live_terminal_open() - switch to the alternate screen, and read keys one by one without echo
 * @ret_error: set on failure: one sentence, at most @size bytes
 *
 * An unknown terminal type is treated as xterm. With NO_COLOR, or on a terminal without colours,
 * only bold, faint and reversed text is used.
 *
 * Return: 0; -ENOTTY if the terminal cannot be used.
 */
int live_terminal_open(char *ret_error, size_t size);

/** live_terminal_close() - restore the terminal */
void live_terminal_close(void);

/** live_terminal_get_size() - set the size of @screen to that of the terminal */
void live_terminal_get_size(struct live_screen *screen);

/** live_terminal_show() - show @screen; only what changed is written to the terminal */
void live_terminal_show(const struct live_screen *screen);

/**
 * live_terminal_wait() - wait for a key or for a descriptor
 * @fd: a descriptor
 * @timeout_ms: maximum time to wait, in milliseconds; negative: forever
 *
 * A signal ends the wait, too.
 */
void live_terminal_wait(int fd, int timeout_ms);

/**
 * live_terminal_read_key() - return the next key that is available
 *
 * Return: a character or &enum live_key; LIVE_KEY_NONE if there is none, LIVE_KEY_CLOSED if the
 * terminal was closed.
 */
u32 live_terminal_read_key(void);

#endif
