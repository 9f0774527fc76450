// SPDX-License-Identifier: LGPL-2.1-or-later
#include "served.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Where a huge page may begin. */
#define TABLE_ALIGN (2U << 20)

void served_merge(struct served *to, const struct served *from)
{
	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		to->level[i] += from->level[i];
	to->remote += from->remote;
}

void served_finish(struct served *served, u64 memory)
{
	for (unsigned int i = 0; i < SPE_LEVELS; i++)
		if (i != SPE_LEVEL_L1)
			memory -= served->level[i];
	served->level[SPE_LEVEL_L1] = memory;
}

static size_t table_size(const struct location_table *locations)
{
	return (size_t)locations->sets * LOCATION_WAYS * sizeof(struct served_place);
}

int served_table_init(struct served_table *table, const struct location_table *locations)
{
	size_t size = table_size(locations), align = size < TABLE_ALIGN ? 64 : TABLE_ALIGN;

	table->locations = locations;
	/* C11 wants a multiple of the alignment, and so does ASan. */
	table->places = aligned_alloc(align, (size + align - 1) & ~(align - 1));
	if (!table->places)
		return -ENOMEM;
	/* Places are far apart: fewer, larger pages are fewer walks. A hint, no more. */
	if (align == TABLE_ALIGN)
		(void)madvise(table->places, size, MADV_HUGEPAGE);
	served_table_clear(table);
	return 0;
}

void served_table_deinit(struct served_table *table)
{
	free(table->places);
	table->places = NULL;
}

void served_table_clear(struct served_table *table)
{
	memset(table->places, 0, table_size(table->locations));
}

void served_place_merge(struct served *to, const struct served_place *from, u64 dram)
{
	for (unsigned int i = 0; i < SERVED_COUNTS; i++)
		if (i != SPE_LEVEL_L1)
			to->level[i] += from->count[i];
	to->level[SPE_LEVEL_BEYOND_LLC] += dram - from->count[SPE_LEVEL_DRAM];
	to->remote += from->count[SPE_LEVEL_L1];
}
