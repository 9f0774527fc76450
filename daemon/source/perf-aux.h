/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An SPE event of perf on one CPU. The SPU writes records into the AUX area of the event, and the
 * kernel's driver describes each written range by a record in the ring of the event.
 */
#ifndef SPEPROF_PERF_AUX_H
#define SPEPROF_PERF_AUX_H

#include "perf-event.h"
#include "source.h"

/**
 * struct perf_host - the interface to the kernel, which tests replace
 * @devices: path of /sys/bus/event_source/devices
 * @cpus: path of /sys/devices/system/cpu
 * @open: perf_event_open()
 * @enable: PERF_EVENT_IOC_ENABLE or _DISABLE; 0 or negative errno
 * @period: PERF_EVENT_IOC_PERIOD; 0 or negative errno
 * @watch: EPOLL_CTL_ADD; 0 or negative errno
 * @ran_ns: perf_event_read_running_ns()
 */
struct perf_host {
	const char *devices;
	const char *cpus;
	int (*open)(const struct perf_event_attr *attr, u32 cpu);
	int (*enable)(int fd, bool on);
	int (*period)(int fd, u64 period);
	int (*watch)(int epoll, int fd);
	u64 (*ran_ns)(int fd);
};

/** perf_host_real - the running kernel */
extern const struct perf_host perf_host_real;

/**
 * struct perf_aux - the SPE event of one CPU; @fd, @cpu, @armed_from, @flushed_at and @stale are
 * public
 * @host: the interface to the kernel
 * @ring: the ring of the event
 * @area: the AUX area
 * @area_size: size of @area in bytes, a power of two
 * @scratch: a copy of the window that wraps around the end of @area, while it is delivered
 * @armed_from: end of the last window, or start of sampling, ns; the SPU may have written records
 * since then
 * @flushed_at: time of the last perf_aux_flush(), ns
 * @blind_ns: blind time that the next window reports
 * @blind_by: @blind_ns, indexed by cause
 * @lost_bytes: lost bytes that the next window reports
 * @ran_ns: running time of the event at the last perf_aux_is_dead()
 * @next_at: position in @area from which on windows have @next_interval
 * @next_interval: interval of those windows; 0: the interval does not change
 * @anchor: conversion of Timestamp packets, set when the last window was delivered
 * @health: counters of the source
 * @contexts: &source.contexts, set by the first record that is read
 * @window: the members that all windows have in common
 * @cpu: the CPU
 * @fd: the event; -1: closed
 * @record_lost: the ring was full, and the PERF_RECORD_AUX of at least one window was lost
 * @enabled: the event should sample; after a truncated window the driver has disabled it
 * @stale: the event has old settings; the source replaces it with a new one
 */
struct perf_aux {
	const struct perf_host *host;
	struct perf_ring ring;
	const u8 *area;
	u32 area_size;
	u8 *scratch;
	u64 armed_from;
	u64 flushed_at;
	u64 blind_ns;
	u64 blind_by[SOURCE_BLINDS];
	u64 lost_bytes;
	u64 ran_ns;
	u64 next_at;
	u32 next_interval;
	struct timestamp_clock anchor;
	struct source_health *health;
	u8 *contexts;
	struct source_window window;
	u32 cpu;
	int fd;
	bool record_lost;
	bool enabled;
	bool stale;
};

/* Default size of an AUX area: space for the records of 4 s at 1,000 samples a second. */
#define PERF_AUX_AREA_SIZE (256U << 10)

/** perf_aux_ring_size() - return the bytes of the ring for an AUX area of @area_size bytes */
static inline u32 perf_aux_ring_size(u32 area_size)
{
	return area_size / 4;
}

/**
 * perf_aux_open() - open an SPE event, disabled
 * @aux: zero, or closed; blind time and lost bytes of the closed event are reported with the
 *	first window of the new one
 * @host: the interface to the kernel
 * @attr: the attribute of the event
 * @cpu: the CPU
 * @area_size: size of the AUX area in bytes, a power of two
 * @window: the members that all windows have in common
 * @source: the source; the event updates its health and its contexts
 *
 * Return: 0; -ENODEV if the CPU is offline; the negative errno of perf_event_open() or mmap().
 */
int perf_aux_open(struct perf_aux *aux, const struct perf_host *host,
		  const struct perf_event_attr *attr, u32 cpu, u32 area_size,
		  const struct source_window *window, struct source *source);

/** perf_aux_close() - close the event; does nothing if it is closed */
void perf_aux_close(struct perf_aux *aux);

/** perf_aux_add_blind() - add @ns of blind time, which the next window reports */
void perf_aux_add_blind(struct perf_aux *aux, enum source_blind cause, u64 ns);

/**
 * perf_aux_report_pending() - deliver blind time and lost bytes in an empty window
 *
 * Call this function if no window may follow, or before perf_aux_start(): otherwise the next window
 * would count the blind time as a part of the time after the start.
 */
void perf_aux_report_pending(struct perf_aux *aux, const struct source_sink *sink);

/**
 * perf_aux_start() - enable the event; the time before is not counted as blind; returns 0 or
 * negative errno
 */
int perf_aux_start(struct perf_aux *aux);

/** perf_aux_stop() - disable the event; the kernel adds a record of the last window to the ring */
void perf_aux_stop(struct perf_aux *aux);

/**
 * perf_aux_drain() - deliver every window that the ring describes
 *
 * The driver disables the event if the AUX area is full or if records were lost. Unless
 * perf_aux_stop() stopped the event, this function enables the event again, and counts the time
 * between as blind.
 *
 * Return: the number of windows; -EBADMSG if the ring is corrupt. The windows in the ring are then
 * lost, and the event must be closed and opened again.
 */
int perf_aux_drain(struct perf_aux *aux, const struct source_sink *sink);

/**
 * perf_aux_flush() - close the current window and deliver it
 *
 * Disabling and enabling the event makes the driver report what the SPU has written. It also
 * restarts an SPU that a fault has stopped, which the driver reports in the kernel's log only.
 *
 * Return: as for perf_aux_drain().
 */
int perf_aux_flush(struct perf_aux *aux, const struct source_sink *sink);

/**
 * perf_aux_set_period() - change the period of the event
 * @aux: the event
 * @period: the new period, in operations
 * @interval: &source_window.interval of the windows from now on
 *
 * The driver closes the current window.
 *
 * Return: 0; -EAGAIN if the windows of the last change are not drained yet; another negative
 * errno of the driver.
 */
int perf_aux_set_period(struct perf_aux *aux, u64 period, u32 interval);

/**
 * perf_aux_is_dead() - check if the event has not run since the last call; see perf_event_is_dead()
 */
bool perf_aux_is_dead(struct perf_aux *aux);

#endif
