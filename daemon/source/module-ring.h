/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mapped ring of one CPU in a session of /dev/speprof. One thread reads the ring: it drains
 * windows and events, and releases their space.
 */
#ifndef SPEPROF_MODULE_RING_H
#define SPEPROF_MODULE_RING_H

#include <linux/speprof.h>

#include "source.h"

/**
 * struct module_ring - a mapped ring
 * @fd: descriptor of the ring
 * @cpu: number of the CPU
 * @event_slots: entries of @events
 * @control: the control page, shared with the module
 * @events: the event queue, written by the module
 * @data: the windows, written by the module
 * @control_bytes: size of the mapping @control
 * @event_bytes: size of the mapping @events
 * @data_bytes: size of the mapping @data
 * @tail: bytes that were drained; at least the tail in @control, which counts the released bytes
 * @event_tail: events that were drained; at least the event tail in @control
 * @damaged_bytes: bytes that were skipped because the header of a window was invalid
 * @lost_bytes: bytes that an earlier process drained and released, but did not save, because it
 *	exited before its next checkpoint. The next drain reports them
 * @stopped_ns: start of the blind time that is not reported yet, if a fault stopped the CPU,
 * CLOCK_MONOTONIC; 0: not stopped
 * @reported_early_ns: blind time that was reported while the CPU was stopped. The blind time of the
 *	next window includes this time again, so module_ring_drain() subtracts it
 * @deferred: module_ring_drain() does not release the bytes that it drained
 * @spills: module_ring_drain() releases a ring that retains SOURCE_RETAINED_SPILL or more
 * @stopped: a fault stopped the SPU
 * @backend: &enum sample_backend of the last window
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
	u64 damaged_bytes;
	u64 lost_bytes;
	u64 stopped_ns;
	u64 reported_early_ns;
	bool deferred;
	bool spills;
	bool stopped;
	u8 backend;
};

/**
 * module_explain_abi_mismatch() - return a sentence for users if the module has another ABI than
 * this program; NULL if @abi is supported
 */
const char *module_explain_abi_mismatch(u32 abi);

/**
 * module_ring_init() - open and map a ring
 * @ring: the ring
 * @session: descriptor of the session
 * @cpu: the CPU
 *
 * Return: 0; -ENOENT if @cpu is not part of the session; -EPROTO if the control page is invalid;
 * another negative errno of open() or mmap().
 */
int module_ring_init(struct module_ring *ring, int session, u32 cpu);

/** module_ring_deinit() - unmap and close a ring */
void module_ring_deinit(struct module_ring *ring);

/**
 * module_ring_drain() - deliver all published windows and events
 * @ring: the ring; unless it is deferred, its space is released
 * @sink: receives the windows
 * @health: counts the events
 *
 * Return: 0; -EBADMSG if the header of a window is invalid. All published bytes are then skipped,
 * reported as lost, and counted in &module_ring.damaged_bytes.
 */
int module_ring_drain(struct module_ring *ring, const struct source_sink *sink,
		      struct source_health *health);

/**
 * module_ring_release() - free the space of all drained windows and events; restarts the SPU if the
 * ring was full
 */
void module_ring_release(struct module_ring *ring);

/**
 * module_ring_resume() - continue at the position where another process stopped
 * @ring: the ring
 * @at: the position
 *
 * The module may have overwritten a position below the released tail. If the ring spills, this is
 * no error: the ring continues at the released tail, and the bytes between are reported as lost.
 *
 * Return: 0; -ESTALE if no window of this ring starts at @at; the ring is unchanged.
 */
int module_ring_resume(struct module_ring *ring, const struct source_position *at);

/** module_ring_is_offline() - return true if the session samples and the CPU is offline */
bool module_ring_is_offline(const struct module_ring *ring);

/**
 * module_ring_get_retained_permille() - return the share of the ring that is drained but not
 * released, in permille; 1000 if the SPU waits because the ring is full
 */
u32 module_ring_get_retained_permille(const struct module_ring *ring);

#endif
