/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Flight recorder: stores the undecoded bytes of the last windows of a session in memory of a fixed
 * size. A new window evicts the oldest ones.
 */
#ifndef SPEPROF_FLIGHT_H
#define SPEPROF_FLIGHT_H

#include "source/source.h"

/* Limits of the size of the buffer of a flight recorder, in bytes. */
#define FLIGHT_MIN (64UL << 10)
#define FLIGHT_MAX (64UL << 20)

struct flight_recorder;

/**
 * flight_recorder_new() - allocate a recorder
 * @size: bytes for windows and their headers, FLIGHT_MIN to FLIGHT_MAX
 * @ret_flight: freed by flight_recorder_free()
 *
 * Return: 0; -ERANGE if @size is outside of these limits; -ENOMEM if memory cannot be allocated.
 */
int flight_recorder_new(size_t size, struct flight_recorder **ret_flight);

/** flight_recorder_free() - free a recorder; NULL is allowed; returns NULL */
struct flight_recorder *flight_recorder_free(struct flight_recorder *flight);

/** flight_recorder_get_size() - return the size of the recorder in bytes */
size_t flight_recorder_get_size(const struct flight_recorder *flight);

/**
 * flight_recorder_add_window() - copy @window; a window that does not fit into the memory is
 * counted as lost
 */
void flight_recorder_add_window(struct flight_recorder *flight, const struct source_window *window);

/**
 * flight_recorder_get_start_ns() - return the time when the oldest window was armed; 0: there is no
 * window
 */
u64 flight_recorder_get_start_ns(const struct flight_recorder *flight);

/**
 * flight_recorder_replay() - pass all windows to @sink, the oldest first
 * @flight: the recorder, which is not changed
 * @sink: only &source_sink.window is called
 *
 * Bytes of evicted windows are added to &source_window.lost_bytes of the oldest window.
 */
void flight_recorder_replay(const struct flight_recorder *flight, const struct source_sink *sink);

/** flight_recorder_clear() - drop all windows */
void flight_recorder_clear(struct flight_recorder *flight);

#endif
