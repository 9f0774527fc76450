/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last windows of a session as they were, in memory of a fixed size: what to look at
 * once something has happened. Of any source; the oldest give way.
 */
#ifndef SPEPROF_FLIGHT_H
#define SPEPROF_FLIGHT_H

#include "source/source.h"

/* Bytes that a session may keep. */
#define FLIGHT_MIN (64UL << 10)
#define FLIGHT_MAX (64UL << 20)

struct flight;

/** flight_new() - @size bytes, of records and what is known of them */
int flight_new(size_t size, struct flight **ret_flight);
struct flight *flight_free(struct flight *flight);
size_t flight_size(const struct flight *flight);

/** flight_add() - keep @window; one that is larger than all of the memory is not kept */
void flight_add(struct flight *flight, const struct source_window *window);

/** flight_first_ns() - when the oldest window was armed, 0 if there is none */
u64 flight_first_ns(const struct flight *flight);

/**
 * flight_replay() - all windows, the oldest first
 *
 * What had to give way before the oldest one is among its @lost_bytes.
 */
void flight_replay(const struct flight *flight, const struct source_sink *sink);

/** flight_clear() - forget them */
void flight_clear(struct flight *flight);

#endif
