/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays on the heap that grow by doubling, and the comparison of numbers for sorting them. */
#ifndef SPEPROF_ARRAY_H
#define SPEPROF_ARRAY_H

#include <stdlib.h>

#include "codec/env.h"

/**
 * array_reserve() - ensure that an array has memory for a number of elements
 * @array: the array; NULL if it is empty
 * @capacity: number of elements that @array has memory for; updated
 * @needed: number of elements that it must have memory for, at least 1
 * @size: size of an element, bytes
 * @max: maximum number of elements
 *
 * Return: the array, which may have moved; NULL if @needed exceeds @max, or if memory cannot be
 * allocated. @array and @capacity are then unchanged.
 */
static inline void *array_reserve(void *array, u32 *capacity, u32 needed, size_t size, u32 max)
{
	u64 more = *capacity ? *capacity : 64;
	void *grown;

	if (needed <= *capacity)
		return array;
	while (more < needed)
		more *= 2;
	if (more > max)
		more = max;
	grown = needed <= max ? reallocarray(array, more, size) : NULL;
	if (grown)
		*capacity = (u32)more;
	return grown;
}

/** compare_u64() - return -1, 0 or 1: @x is smaller than @y, equal or larger */
static inline int compare_u64(u64 x, u64 y)
{
	return (x > y) - (x < y);
}

#endif
