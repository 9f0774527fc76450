/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One CPU's ring of /dev/speprof, mapped: reads windows, gives room back. */
#ifndef SPEPROF_MODULE_RING_H
#define SPEPROF_MODULE_RING_H

#include <linux/speprof.h>

#include "source.h"

/**
 * struct module_ring - a mapped ring
 * @tail, @event_tail: up to where it was drained
 * @deferred: the module is told by module_ring_release() alone
 * @spills: and by who drains, before a ring is full
 * @lost: bytes that were drained for a process that did not come to save what it counted
 * @damaged: bytes skipped because a header did not hold what the ABI says
 * @stopped: a fault keeps it from sampling
 * @stopped_ns: since when it does, less what is booked of that; CLOCK_MONOTONIC, 0 if it does not
 * @ahead_ns: of that, what no window has told yet: the next one's is that less
 * @backend: of its last window, &enum backend
 */
struct module_ring {
	int fd;
	u32 cpu;
	u32 event_slots;
	struct speprof_control *control;
	const struct speprof_event *events;
	const u8 *data;
	u64 control_bytes;
	u64 event_bytes;
	u64 data_bytes;
	u64 tail;
	u64 event_tail;
	u64 damaged;
	u64 lost;
	u64 stopped_ns;
	u64 ahead_ns;
	bool deferred;
	bool spills;
	bool stopped;
	u8 backend;
};

/** module_mismatch() - which of the two to change for a module of @abi; NULL if they fit */
const char *module_mismatch(u32 abi);

/** module_ring_init() - open and map the ring of @cpu in @session */
int module_ring_init(struct module_ring *ring, int session, u32 cpu);
void module_ring_deinit(struct module_ring *ring);

/**
 * module_ring_drain() - hand all published windows to @sink, and unless @ring is deferred
 * release them
 * @health: what its events report is added to it
 *
 * Return: 0; -EBADMSG if a header made no sense: what was published is skipped
 * and counted in @damaged.
 */
int module_ring_drain(struct module_ring *ring, const struct source_sink *sink,
		      struct source_health *health);

/** module_ring_release() - free the room of what was drained; a ring that was full samples on */
void module_ring_release(struct module_ring *ring);

/**
 * module_ring_resume() - drain from @at on; -ESTALE if that is no window's place in this ring
 *
 * Of a ring that spills also from where room was given back to, if that is behind @at.
 */
int module_ring_resume(struct module_ring *ring, const struct source_position *at);

/** module_ring_offline() - it would sample if its CPU were there */
bool module_ring_offline(const struct module_ring *ring);

/** module_ring_retained() - as &source_persist_ops.held, of one ring */
u32 module_ring_retained(const struct module_ring *ring);

#endif
