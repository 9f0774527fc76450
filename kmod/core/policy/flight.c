// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The flight recorder. Only differences of positions are compared, which are correct even if a
 * position wraps at 64 bits.
 */
#include "flight.h"

static struct spe_flight_chunk *flight_get_chunk(struct spe_flight_recorder *flight, u32 n)
{
	return &flight->chunks[(flight->first + n) % SPE_FLIGHT_CHUNKS];
}

void spe_flight_init(struct spe_flight_recorder *flight, u64 size)
{
	memset(flight, 0, sizeof(*flight));
	flight->size = size;
}
SPE_EXPORT(spe_flight_init);

/* ---- Windows and chunks --------------------------------------------------- */

static void flight_drop_oldest(struct spe_flight_recorder *flight)
{
	const struct spe_flight_chunk *chunk = flight_get_chunk(flight, 0);

	if (!chunk->was_claimed) {
		flight->overwritten_bytes += chunk->bytes;
		flight->overwritten_records += chunk->records;
	}
	flight->first = (flight->first + 1) % SPE_FLIGHT_CHUNKS;
	flight->count--;
	flight->oldest = flight->count ? flight_get_chunk(flight, 0)->start : flight->head;
}

void spe_flight_evict_chunks(struct spe_flight_recorder *flight, u64 limit)
{
	while (flight->count && limit - flight->oldest > flight->size)
		flight_drop_oldest(flight);
}
SPE_EXPORT(spe_flight_evict_chunks);

/*
 * Return true if another window may be added to the chunk. A claimed chunk must not grow, so that
 * either all or none of its bytes are claimed. A chunk must also not grow across the memory of a
 * snapshot, because with the skipped bytes it would be too large to claim.
 */
static bool chunk_may_grow(const struct spe_flight_recorder *flight,
			   const struct spe_flight_chunk *chunk, u64 skip)
{
	return !chunk->was_claimed && flight->head + skip - chunk->start < flight->size / 64;
}

void spe_flight_add_window(struct spe_flight_recorder *flight, u64 skip, u64 head, u64 bytes,
			   u64 records)
{
	struct spe_flight_chunk *chunk = NULL;

	if (flight->count)
		chunk = flight_get_chunk(flight, flight->count - 1);
	if (!chunk || !chunk_may_grow(flight, chunk, skip)) {
		if (flight->count == SPE_FLIGHT_CHUNKS)
			flight_drop_oldest(flight);
		chunk = flight_get_chunk(flight, flight->count++);
		*chunk = (struct spe_flight_chunk){ .start = flight->head + skip, .skip = skip };
		if (flight->count == 1)
			flight->oldest = chunk->start;
	}
	chunk->bytes += bytes;
	chunk->records += records;
	flight->head = head;
}
SPE_EXPORT(spe_flight_add_window);

/* ---- Claims --------------------------------------------------------------- */

/*
 * Find the claimed bytes at @from, or the first ones after @from. Return false if there is no
 * claim.
 */
static bool find_claimed_bytes(const struct spe_flight_recorder *flight, u64 from, u64 *ret_start,
			       u64 *ret_end)
{
	u64 nearest = 0;
	bool found = false;
	u32 i;

	for (i = 0; i < SPE_FLIGHT_CLAIMS; i++) {
		const struct spe_flight_claim *claim = &flight->claims[i];
		u64 length = claim->end - claim->start;
		u64 past = (from - claim->start) & (flight->size - 1);
		u64 away = past < length ? 0 : flight->size - past;

		if (!claim->owner || (found && away >= nearest))
			continue;
		found = true;
		nearest = away;
		*ret_start = past < length ? from : from + away;
		*ret_end = past < length ? from - past + length : from + away + length;
	}
	return found;
}

/*
 * Return the position at which the writer must stop: one lap after the newest chunk, which includes
 * the bytes that were skipped before it.
 */
static u64 flight_get_bound(const struct spe_flight_recorder *flight)
{
	u32 last = (flight->first + flight->count - 1) % SPE_FLIGHT_CHUNKS;
	const struct spe_flight_chunk *chunk = &flight->chunks[last];

	return (flight->count ? chunk->start - chunk->skip : flight->head) + flight->size;
}

int spe_flight_place_window(const struct spe_flight_recorder *flight,
			    const struct spe_ring_state *ring,
			    struct spe_window_position *ret_window)
{
	u64 space = flight_get_bound(flight) - flight->head;
	struct spe_ring_state view = *ring;
	struct spe_window_position window;
	u64 done = 0;

	view.size = flight->size;
	while (done < space) {
		u64 from = flight->head + done;
		u64 start = 0, end = 0;
		bool claimed = find_claimed_bytes(flight, from, &start, &end);
		u64 free = space - done;

		if (claimed && start - from < SPE_FLIGHT_GAP)
			free = 0;
		else if (claimed && start - from - SPE_FLIGHT_GAP < free)
			free = start - from - SPE_FLIGHT_GAP;
		view.head = from;
		view.tail = from + free - flight->size;
		if (free && !spe_window_place(&view, &window)) {
			window.skip += done;
			*ret_window = window;
			return 0;
		}
		if (!claimed)
			break;
		done = end - flight->head;
	}
	return -ENOSPC;
}
SPE_EXPORT(spe_flight_place_window);

/* Return the index of @owner's claim; SPE_FLIGHT_CLAIMS if there is none. */
static u32 find_claim_slot(const struct spe_flight_recorder *flight, u64 owner)
{
	u32 i = 0;

	while (i < SPE_FLIGHT_CLAIMS && flight->claims[i].owner != owner)
		i++;
	return i;
}

static struct spe_flight_claim *find_claim(struct spe_flight_recorder *flight, u64 owner)
{
	u32 i = find_claim_slot(flight, owner);

	return i < SPE_FLIGHT_CLAIMS ? &flight->claims[i] : NULL;
}

static void chunks_mark_claimed(struct spe_flight_recorder *flight, u32 from)
{
	u32 n;

	for (n = from; n < flight->count; n++) {
		struct spe_flight_chunk *chunk = flight_get_chunk(flight, n);

		if (chunk->was_claimed)
			continue;
		chunk->was_claimed = true;
		flight->claimed_bytes += chunk->bytes;
		flight->claimed_records += chunk->records;
	}
}

int spe_flight_claim(struct spe_flight_recorder *flight, u64 owner, u64 want, u64 limit,
		     u64 *ret_start)
{
	struct spe_flight_claim *claim;
	u32 n;

	if (find_claim(flight, owner))
		return -EBUSY;
	claim = find_claim(flight, 0);
	if (!claim)
		return -ENOSPC;
	/* The window that is being written must leave space for the header of the skip. */
	for (n = 0; n < flight->count; n++) {
		u64 start = flight_get_chunk(flight, n)->start;

		if (flight->head - start <= want && limit - start + SPE_FLIGHT_GAP <= flight->size)
			break;
	}
	if (n == flight->count)
		return -ENODATA;
	*claim = (struct spe_flight_claim){
		.owner = owner,
		.start = flight_get_chunk(flight, n)->start,
		.end = flight->head,
	};
	chunks_mark_claimed(flight, n);
	*ret_start = claim->start;
	return 0;
}
SPE_EXPORT(spe_flight_claim);

int spe_flight_release(struct spe_flight_recorder *flight, u64 owner)
{
	struct spe_flight_claim *claim = find_claim(flight, owner);

	if (!claim)
		return -ENOENT;
	*claim = (struct spe_flight_claim){ 0 };
	return 0;
}
SPE_EXPORT(spe_flight_release);

bool spe_flight_has_claim(const struct spe_flight_recorder *flight, u64 owner)
{
	return find_claim_slot(flight, owner) < SPE_FLIGHT_CLAIMS;
}
SPE_EXPORT(spe_flight_has_claim);
