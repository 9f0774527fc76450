// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Place windows in a ring. The ring is page-aligned and its size is a power of two, so a position
 * has the alignment of its address.
 */
#include "window.h"

/* Headers and records must not share cache lines. */
#define WINDOW_ALIGN 64ULL

static u64 align_up(u64 value, u64 align)
{
	return (value + align - 1) & ~(align - 1);
}

static u64 align_down(u64 value, u64 align)
{
	return value & ~(align - 1);
}

/*
 * Place a window at or after @from, in the lap that ends at @end. The window must have space for
 * two records; otherwise every record would cause a buffer full event (D17.8.2).
 */
static bool window_place_in_lap(const struct spe_ring_state *ring, u64 from, u64 end,
				struct spe_window_position *ret_window)
{
	u64 align = ring->align > WINDOW_ALIGN ? ring->align : WINDOW_ALIGN;
	u64 header = align_up(ring->header, WINDOW_ALIGN);
	u64 need = 2 * (u64)ring->max_record;
	u64 bound = align_up(need, SPE_LIMIT_GRANULE);
	u64 start, limit;

	if (ring->max_window > bound)
		bound = ring->max_window;

	start = align_up(align_up(from, WINDOW_ALIGN) + header, align);
	limit = end;
	if (ring->max_window && align_down(start + bound, SPE_LIMIT_GRANULE) < end) {
		limit = align_down(start + bound, SPE_LIMIT_GRANULE);
		/*
		 * Begin at a granule if rounding the limit down to a granule would leave too little
		 * space.
		 */
		if (limit - start < need) {
			start = limit;
			limit += align_down(bound, SPE_LIMIT_GRANULE);
			if (limit > end)
				limit = end;
		}
	}
	if (start >= limit || limit - start < need)
		return false;

	*ret_window = (struct spe_window_position){
		.skip = start - header - ring->head,
		.header = start - header,
		.start = start,
		.limit = limit,
	};
	return true;
}

int spe_window_place(const struct spe_ring_state *ring, struct spe_window_position *ret_window)
{
	u64 lap = align_down(ring->head, ring->size) + ring->size;
	u64 free_end;

	/* If the tail is beyond the head, the difference wraps around and exceeds the size, too. */
	if (ring->head - ring->tail > ring->size)
		return -ENOSPC;

	free_end = align_down(ring->tail + ring->size, SPE_LIMIT_GRANULE);
	if (window_place_in_lap(ring, ring->head, free_end < lap ? free_end : lap, ret_window))
		return 0;
	/*
	 * If the tail is in the same lap as the head, the next lap is free from its start to the
	 * tail.
	 */
	if (free_end > lap && window_place_in_lap(ring, lap, free_end, ret_window))
		return 0;
	return -ENOSPC;
}
SPE_EXPORT(spe_window_place);
