/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text that grows. After an error all calls do nothing, so that callers check it once at the end. */
#ifndef SPEPROF_BUFFER_H
#define SPEPROF_BUFFER_H

#include "codec/env.h"

/**
 * struct buffer - text that grows; all zero for an empty one without a bound
 * @data: allocated, with a NUL behind the text; NULL while it is empty
 * @size: of the text, in bytes
 * @capacity: allocated bytes
 * @bound: the text stays smaller than this; 0 for no bound
 * @error: 0; -E2BIG at the bound; -ENOMEM
 */
struct buffer {
	char *data;
	size_t size;
	size_t capacity;
	size_t bound;
	int error;
};

/**
 * buffer_add() - append bytes
 * @buffer: the buffer
 * @text: copied
 * @size: of @text, in bytes
 */
void buffer_add(struct buffer *buffer, const char *text, size_t size);

/**
 * buffer_printf() - append formatted text
 * @buffer: the buffer
 * @format: as of printf(3); the text is cut at 511 bytes
 */
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * buffer_deinit() - release the memory
 * @buffer: zeroed
 */
void buffer_deinit(struct buffer *buffer);

/**
 * buffer_fit() - shrink an allocation to what is used
 * @data: allocated
 * @size: used bytes
 *
 * Data that waits in a queue should take no more memory than the queue counts.
 *
 * Return: the allocation, which replaces @data.
 */
char *buffer_fit(char *data, size_t size);

#endif
