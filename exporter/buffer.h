/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A buffer for text that grows. After an error all calls do nothing, so that callers check the
 * error once, at the end.
 */
#ifndef SPEPROF_BUFFER_H
#define SPEPROF_BUFFER_H

#include "codec/env.h"

/**
 * struct buffer - text that grows; all zero: empty and without a limit
 * @data: allocated, with a NUL after the text; NULL while it is empty
 * @size: bytes of the text
 * @capacity: allocated bytes
 * @bound: the text stays smaller than this number of bytes; 0: no limit
 * @error: 0; -E2BIG if the text reached @bound; -ENOMEM if memory could not be allocated
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
 * @text: bytes to copy
 * @size: number of bytes
 */
void buffer_add(struct buffer *buffer, const char *text, size_t size);

/**
 * buffer_printf() - append formatted text
 * @buffer: the buffer
 * @format: as for printf(3); the text is cut at 511 bytes
 */
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * buffer_deinit() - release the memory
 * @buffer: zeroed
 */
void buffer_deinit(struct buffer *buffer);

/**
 * buffer_shrink_allocation() - shrink an allocation to the bytes that are used
 * @data: allocated
 * @size: number of used bytes
 *
 * A queue counts a request by its size, so the request should not use more memory than that.
 *
 * Return: the allocation, which replaces @data.
 */
char *buffer_shrink_allocation(char *data, size_t size);

#endif
