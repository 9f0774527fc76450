/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays on the heap that grow by doubling, and sorted arrays: comparing numbers, and searching. */
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

/**
 * ARRAY_COUNT_LEADING() - count the first elements of an array that have a property, by binary search
 * @count: number of elements, at most 2^32-1
 * @index: name of a variable for @condition: the number of an element, of type u32
 * @condition: expression that is true if the element has the property. The array must be sorted such
 * that no element with the property follows one without it.
 *
 * Return: the number of elements with the property, which is also the number of the first element
 * without it; u32.
 */
/* A declared name cannot be in parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
#define ARRAY_COUNT_LEADING(count, index, condition)                 \
	__extension__({                                              \
		u32 _low = 0, _high = (count);                       \
		while (_low < _high) {                               \
			const u32 index = _low + (_high - _low) / 2; \
			if (condition)                               \
				_low = index + 1;                    \
			else                                         \
				_high = index;                       \
		}                                                    \
		_low;                                                \
	})
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
