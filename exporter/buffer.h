/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text that grows; a failure sticks and is asked for at the end. */
#ifndef SPEPROF_BUFFER_H
#define SPEPROF_BUFFER_H

#include "codec/env.h"

/** struct buffer - text that grows; @bound: bytes that it has room for, 0 for no end */
struct buffer {
	char *data;
	size_t size;
	size_t room;
	size_t bound;
	int error;
};

void buffer_add(struct buffer *buffer, const char *text, size_t size);
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void buffer_deinit(struct buffer *buffer);

/** buffer_fit() - @data, allocated, in room for @size bytes: what waits has none to spare */
char *buffer_fit(char *data, size_t size);

#endif
