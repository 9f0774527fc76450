/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flight recorder: which windows of a ring are overwritten next, which a snapshot has
 * claimed, and how the writer goes around those.
 *
 * Positions are free-running counts of bytes. What is written stands in chunks: runs of windows
 * that begin a 64th of the ring apart, or with a window that is longer. A chunk is overwritten,
 * and claimed, as a whole: so no decision takes longer than the count of chunks, however
 * small the windows are, and none rests on what stands in the ring's memory.
 *
 * A claim pins memory, not positions: in every lap that follows the writer meets its image, the
 * same bytes one or more laps later, and skips it. The header that says so stands before
 * the image, which is why the writer always stays SPE_FLIGHT_GAP away from one.
 */
#ifndef SPE_CORE_FLIGHT_H
#define SPE_CORE_FLIGHT_H

#include "codec/env.h"
#include "window.h"

#define SPE_FLIGHT_CHUNKS 128
#define SPE_FLIGHT_CLAIMS 8
#define SPE_FLIGHT_GAP	  64

/**
 * struct spe_flight_chunk - a run of windows
 * @start: the header of its first window
 * @skip: bytes that were skipped before it
 * @bytes: the SPU's bytes in it
 * @records: records in it
 * @kept: a snapshot has claimed it, so it was handed out
 */
struct spe_flight_chunk {
	u64 start;
	u64 skip;
	u64 bytes;
	u64 records;
	bool kept;
};

/**
 * struct spe_flight_claim - a snapshot
 * @owner: whose; 0: nobody's
 */
struct spe_flight_claim {
	u64 owner;
	u64 start;
	u64 end;
};

/**
 * struct spe_flight - the state of one ring
 * @size: of the ring, a power of two
 * @oldest: all from here to @head is there
 * @head: end of what is written
 * @overwritten_bytes: the SPU's bytes that nobody claimed before they were overwritten
 * @overwritten_records: likewise
 * @claimed_bytes: the SPU's bytes in chunks that some snapshot claimed, each counted once
 * @claimed_records: likewise
 * @first: of @count chunks in @chunks, which is a ring
 */
struct spe_flight {
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

/** spe_flight_init() - nothing written yet */
void spe_flight_init(struct spe_flight *flight, u64 size);

/**
 * spe_flight_next() - the next window
 * @ring: as for spe_window_next(), its head and tail aside
 *
 * Whatever is not claimed may be overwritten, but for the last chunk.
 *
 * Return: 0, or -ENOSPC: claims leave no room.
 */
int spe_flight_next(const struct spe_flight *flight, const struct spe_ring_state *ring,
		    struct spe_window *ret_window);

/** spe_flight_evict() - drop what a window up to @limit overwrites; moves @oldest */
void spe_flight_evict(struct spe_flight *flight, u64 limit);

/**
 * spe_flight_add() - a window was written, from the head before on
 * @skip: what it skipped
 * @head: its end
 */
void spe_flight_add(struct spe_flight *flight, u64 skip, u64 head, u64 bytes, u64 records);

/**
 * spe_flight_claim() - a snapshot of the newest chunks
 * @owner: not 0, holds none yet
 * @want: bytes of the ring at most
 * @limit: of the window being written; the head if there is none
 *
 * Return: 0; -EBUSY: @owner holds one; -ENOSPC: as many are held as can be; -ENODATA: no chunk is
 * small enough, or nothing is written.
 */
int spe_flight_claim(struct spe_flight *flight, u64 owner, u64 want, u64 limit, u64 *ret_start);

/** spe_flight_release() - 0, or -ENOENT if @owner holds none */
int spe_flight_release(struct spe_flight *flight, u64 owner);

/** spe_flight_holds() - whether @owner has a claim */
bool spe_flight_holds(const struct spe_flight *flight, u64 owner);

#endif
