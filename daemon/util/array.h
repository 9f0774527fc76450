/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays on the heap that grow by doubling. */
#ifndef SPEPROF_ARRAY_H
#define SPEPROF_ARRAY_H

#include <stdlib.h>

#include "codec/env.h"

/**
 * array_grow() - ensure that an array has a free element
 * @array: the array; NULL if it is empty
 * @capacity: number of elements that @array has memory for; updated
 * @count: number of elements in use
 * @size: size of an element, bytes
 * @max: maximum number of elements
 *
 * Return: the array, which may have moved; NULL if it is full or there is no memory. @array and
 * @capacity are then unchanged.
 */
static inline void *array_grow(void *array, u32 *capacity, u32 count, size_t size, u32 max)
{
	u32 more = *capacity > max / 2 ? max : *capacity ? *capacity * 2 : 64;
	void *grown;

	if (count < *capacity)
		return array;
	if (more > max)
		more = max;
	grown = count < max ? reallocarray(array, more, size) : NULL;
	if (grown)
		*capacity = more;
	return grown;
}

#endif
