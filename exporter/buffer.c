// SPDX-License-Identifier: LGPL-2.1-or-later
#include "buffer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Allocate memory for @size more bytes and a NUL. */
static bool buffer_reserve(struct buffer *b, size_t size)
{
	size_t capacity = b->capacity ? b->capacity : 4096;
	char *data;

	if (b->error)
		return false;
	if (b->bound && size >= b->bound - b->size) {
		b->error = -E2BIG;
		return false;
	}
	if (b->capacity - b->size > size)
		return true;
	while (capacity - b->size <= size)
		capacity *= 2;
	data = realloc(b->data, capacity);
	if (!data) {
		b->error = -ENOMEM;
		return false;
	}
	b->data = data;
	b->capacity = capacity;
	return true;
}

void buffer_add(struct buffer *buffer, const char *text, size_t size)
{
	if (!buffer_reserve(buffer, size))
		return;
	memcpy(buffer->data + buffer->size, text, size);
	buffer->size += size;
	buffer->data[buffer->size] = 0;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (n >= 0)
		buffer_add(buffer, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

void buffer_deinit(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}

char *buffer_shrink_allocation(char *data, size_t size)
{
	char *fitting = realloc(data, size ? size : 1);

	return fitting ? fitting : data;
}
