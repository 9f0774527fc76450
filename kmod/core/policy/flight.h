/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flight recorder: determines which windows of a ring are overwritten next, which windows
 * snapshots have claimed, and how the writer skips the claimed windows.
 *
 * Positions count bytes since the ring was made. Windows are grouped in chunks: a window is added
 * to the newest chunk until that chunk covers a 64th of the ring, and the next window begins a new
 * chunk. Chunks are overwritten and claimed as a whole. The cost of a decision is therefore limited
 * by the number of chunks, even if windows are small. No decision reads the memory of the ring,
 * which the SPU may have overwritten.
 *
 * A claim protects memory. One or more laps later, the same bytes belong to other positions; the
 * writer skips these positions when it reaches them. The header of the skip lies before the claimed
 * bytes, so the writer always leaves SPE_FLIGHT_GAP bytes free before the claimed bytes.
 */
#ifndef SPE_CORE_FLIGHT_H
#define SPE_CORE_FLIGHT_H

#include "codec/env.h"
#include "window.h"

#define SPE_FLIGHT_CHUNKS 128
#define SPE_FLIGHT_CLAIMS 8
#define SPE_FLIGHT_GAP	  64

/**
 * struct spe_flight_chunk - consecutive windows that are overwritten and claimed together
 * @start: position of the header of the first window
 * @skip: bytes that were skipped before the header of the first window
 * @bytes: bytes that the SPU wrote in the chunk
 * @records: records in the chunk
 * @was_claimed: whether a snapshot has claimed the chunk, now or earlier
 */
struct spe_flight_chunk {
	u64 start;
	u64 skip;
	u64 bytes;
	u64 records;
	bool was_claimed;
};

/**
 * struct spe_flight_claim - the claim of a snapshot
 * @owner: identifies the owner of the snapshot; 0: the slot is free
 * @start: position of the first claimed byte
 * @end: position after the last claimed byte
 */
struct spe_flight_claim {
	u64 owner;
	u64 start;
	u64 end;
};

/**
 * struct spe_flight_recorder - the state of a flight recorder's ring
 * @size: size of the ring in bytes: a power of two
 * @oldest: position of the oldest byte that is not overwritten
 * @head: position after the last window
 * @overwritten_bytes: bytes of the SPU that were overwritten and never claimed
 * @overwritten_records: records that were overwritten and never claimed
 * @claimed_bytes: bytes of the SPU in chunks that a snapshot claimed; each byte counts once
 * @claimed_records: records in chunks that a snapshot claimed; each record counts once
 * @first: index of the oldest chunk in @chunks
 * @count: number of chunks
 * @chunks: the chunks, as a ring buffer
 * @claims: the claims
 */
struct spe_flight_recorder {
	u64 size;
	u64 oldest;
	u64 head;
	u64 overwritten_bytes;
	u64 overwritten_records;
	u64 claimed_bytes;
	u64 claimed_records;
	u32 first;
	u32 count;
	struct spe_flight_chunk chunks[SPE_FLIGHT_CHUNKS];
	struct spe_flight_claim claims[SPE_FLIGHT_CLAIMS];
};

/**
 * spe_flight_init() - begin with an empty ring
 * @flight: the state
 * @size: size of the ring in bytes: a power of two
 */
void spe_flight_init(struct spe_flight_recorder *flight, u64 size);

/**
 * spe_flight_place_window() - place the next window
 * @flight: the state; not changed
 * @ring: as for spe_window_place(); head and tail are ignored
 * @ret_window: the window; undefined on failure
 *
 * The window may overwrite everything except claims and the newest chunk.
 *
 * Return: 0, or -ENOSPC if the claims leave no space for a window of two records.
 */
int spe_flight_place_window(const struct spe_flight_recorder *flight,
			    const struct spe_ring_state *ring,
			    struct spe_window_position *ret_window);

/**
 * spe_flight_evict_chunks() - drop the chunks that the next window overwrites, and move
 * @flight->oldest
 * @flight: the state
 * @limit: limit of the window, from spe_flight_place_window()
 */
void spe_flight_evict_chunks(struct spe_flight_recorder *flight, u64 limit);

/**
 * spe_flight_add_window() - add a window that was written
 * @flight: the state
 * @skip: bytes that were skipped before the header of the window
 * @head: position after the window
 * @bytes: bytes that the SPU wrote
 * @records: number of records in it
 */
void spe_flight_add_window(struct spe_flight_recorder *flight, u64 skip, u64 head, u64 bytes,
			   u64 records);

/**
 * spe_flight_claim() - claim the newest chunks
 * @flight: the state
 * @owner: identifies the owner of the claim; not 0
 * @want: maximum number of bytes to claim
 * @limit: limit of the window that is being written; the head if there is none
 * @ret_start: position of the first claimed byte; the claim ends at @flight->head
 *
 * Return: 0; -EBUSY if @owner has a claim; -ENOSPC if there are SPE_FLIGHT_CLAIMS claims; -ENODATA
 * if nothing was written, or the newest chunk is larger than @want.
 */
int spe_flight_claim(struct spe_flight_recorder *flight, u64 owner, u64 want, u64 limit,
		     u64 *ret_start);

/**
 * spe_flight_release() - release a claim
 * @flight: the state
 * @owner: as for spe_flight_claim()
 *
 * Return: 0, or -ENOENT if @owner has no claim.
 */
int spe_flight_release(struct spe_flight_recorder *flight, u64 owner);

/** spe_flight_has_claim() - check whether @owner has a claim */
bool spe_flight_has_claim(const struct spe_flight_recorder *flight, u64 owner);

#endif
