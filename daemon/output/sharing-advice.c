// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sharing-advice.h"

#include <stdio.h>

/* Size of a name from side_write_name(). */
#define NAME_SIZE 300

/* Write what a side accesses: a field and its type, a variable, or an offset. */
static void side_write_name(const struct sharing_side *side, char to[static NAME_SIZE])
{
	if (!*side->field)
		snprintf(to, NAME_SIZE, "offset +%u", side->offset);
	else if (*side->type)
		snprintf(to, NAME_SIZE, "%.128s of %.128s", side->field, side->type);
	else
		snprintf(to, NAME_SIZE, "%.128s", side->field);
}

/* Return the most frequent side at another offset than @side, with stores if possible, or NULL. */
static const struct sharing_side *find_other_side(const struct sharing_side *side,
						  const struct sharing_side *sides, u32 count)
{
	const struct sharing_side *found = NULL;

	for (u32 i = 0; i < count; i++)
		if (sides[i].offset != side->offset && (!found || (!found->stores && sides[i].stores)))
			found = &sides[i];
	return found;
}

/* Return the most frequent side with stores, or NULL. */
static const struct sharing_side *find_writer(const struct sharing_side *sides, u32 count)
{
	for (u32 i = 0; i < count; i++)
		if (sides[i].stores)
			return &sides[i];
	return NULL;
}

/* Return whether another CPU also stores to the offset of @writer. */
static bool has_other_writer(const struct sharing_side *writer, const struct sharing_side *sides,
			     u32 count)
{
	for (u32 i = 0; i < count; i++)
		if (sides[i].stores && sides[i].offset == writer->offset &&
		    sides[i].cpu != writer->cpu)
			return true;
	return false;
}

static void write_false_advice(const struct sharing_side *writer, u32 line_size,
			       const struct sharing_side *sides, u32 count, char *to)
{
	const struct sharing_side *other = find_other_side(writer, sides, count);
	char name[NAME_SIZE], other_name[NAME_SIZE];

	if (!other)
		return;
	side_write_name(writer, name);
	side_write_name(other, other_name);
	if (*writer->field && !strcmp(name, other_name))
		snprintf(to, SHARING_ADVICE_SIZE,
			 "Each CPU uses its own %s: align the elements to %u bytes, or allocate "
			 "them for each CPU or thread.",
			 name, line_size);
	else if (other->stores)
		snprintf(to, SHARING_ADVICE_SIZE,
			 "Different CPUs write %s and %s: put them into different lines of %u "
			 "bytes, or keep a copy for each CPU.",
			 name, other_name, line_size);
	else
		snprintf(to, SHARING_ADVICE_SIZE,
			 "Each store to %s takes the line from the readers of %s: put them into "
			 "different lines of %u bytes.",
			 name, other_name, line_size);
}

static void write_true_advice(const struct sharing_side *writer, const struct sharing_side *sides,
			      u32 count, char *to)
{
	char name[NAME_SIZE];

	side_write_name(writer, name);
	if (has_other_writer(writer, sides, count))
		snprintf(to, SHARING_ADVICE_SIZE,
			 "Several CPUs write %s: give each CPU or thread a copy, and combine the "
			 "copies when they are read. Alignment does not help.",
			 name);
	else
		snprintf(to, SHARING_ADVICE_SIZE,
			 "One CPU writes %s, and others read it: write it less often, or let the "
			 "readers keep a copy. Alignment does not help.",
			 name);
}

void sharing_write_advice(enum line_sharing sharing, u32 line_size,
			  const struct sharing_side *sides, u32 count,
			  char ret_text[static SHARING_ADVICE_SIZE])
{
	const struct sharing_side *writer = find_writer(sides, count);

	*ret_text = 0;
	if (sharing == LINE_READ)
		snprintf(ret_text, SHARING_ADVICE_SIZE,
			 "No store was sampled: a line that is only read costs nothing.");
	else if (sharing == LINE_FALSE && writer)
		write_false_advice(writer, line_size, sides, count, ret_text);
	else if (sharing == LINE_TRUE && writer)
		write_true_advice(writer, sides, count, ret_text);
}
