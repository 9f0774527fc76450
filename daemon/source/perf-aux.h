/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An SPE event of perf on one CPU: the AUX area that the kernel's driver has the
 * SPU write, and the ring in which it says what was written.
 */
#ifndef SPEPROF_PERF_AUX_H
#define SPEPROF_PERF_AUX_H

#include "perf-ring.h"
#include "source.h"

/**
 * struct perf_host - the kernel, as far as a test has to stand in for it
 * @devices: /sys/bus/event_source/devices
 * @cpus: /sys/devices/system/cpu
 * @open: perf_event_open(2) for all tasks of a CPU: descriptor or negative errno
 * @enable: PERF_EVENT_IOC_ENABLE or _DISABLE: 0 or negative errno
 * @period: PERF_EVENT_IOC_PERIOD: 0 or negative errno
 * @watch: EPOLL_CTL_ADD: 0 or negative errno
 * @ran_ns: how long the event has been on its CPU, 0 if unknown
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

/** perf_host_real - this machine's */
extern const struct perf_host perf_host_real;

/**
 * struct perf_aux - of one CPU; private but for @fd, -1 while closed, and @cpu
 * @window: what is the same for each of its windows
 * @armed_from: since when the SPU may have been writing, ns
 * @flushed_at: when it was last asked for what there is, ns
 * @blind_ns: until the next window, how long it certainly was not
 * @blind_by: the same by cause
 * @ran_ns: what the kernel said at perf_aux_is_dead() of how long it ran
 * @anchor: the clock of its Timestamp packets, of when the last window was handed over
 * @health: of the source, where it is counted
 * @area_size: bytes of it
 * @scratch: a window that goes around the area's end, while it is handed over
 * @next_interval: of windows that begin at @next_at of the area or later; 0: as @window
 * @unreported: the ring had no room to tell of some window
 * @on: it is to sample
 * @stale: it was opened for settings that hold no more; the source's
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
	struct tick_clock anchor;
	struct source_health *health;
	struct source_window window;
	u32 cpu;
	int fd;
	bool unreported;
	bool on;
	bool stale;
};

/* Of the area, a power of two: at 1,000 samples a second 4 s of records. The ring is a quarter. */
#define PERF_AUX_AREA_SIZE (256U << 10)
#define PERF_AUX_AREA_LEAST (64U << 10)

/** perf_aux_ring_size() - of the ring that goes with an area of @area bytes */
static inline u32 perf_aux_ring_size(u32 area)
{
	return area / 4;
}

/**
 * perf_aux_open() - the event @attr on @cpu, disabled
 * @area_size: of the area, a power of two
 * @window: cpu, midr, interval ... of its windows
 * @health: where what goes wrong is counted
 *
 * What an event on the same CPU left in @aux to be told (time, bytes) is told with the first
 * window of this one.
 *
 * Return: 0; -ENODEV if the CPU is offline; the negative errno of perf or mmap.
 */
int perf_aux_open(struct perf_aux *aux, const struct perf_host *host,
		  const struct perf_event_attr *attr, u32 cpu, u32 area_size,
		  const struct source_window *window, struct source_health *health);

/** perf_aux_close() - may be called on a closed one */
void perf_aux_close(struct perf_aux *aux);

/** perf_aux_blind() - it was for @ns, and why */
void perf_aux_blind(struct perf_aux *aux, enum source_blind cause, u64 ns);

/**
 * perf_aux_report_pending() - hand over a window of no bytes with what the next one would have to tell
 *
 * Where there is none to come, or where it would be taken for the time after perf_aux_start().
 */
void perf_aux_report_pending(struct perf_aux *aux, const struct source_sink *sink);

/** perf_aux_start() - enable; that it was stopped until now is not blind */
int perf_aux_start(struct perf_aux *aux);

/** perf_aux_stop() - disable; the kernel says in the ring what the SPU wrote last */
void perf_aux_stop(struct perf_aux *aux);

/**
 * perf_aux_drain() - hand over every window that the ring tells of
 *
 * Where the driver has disabled the event (no room, records lost) it is enabled
 * again, unless it was stopped, and the time in between is blind.
 *
 * Return: windows handed over, or -EBADMSG if the ring cannot be walked: what it
 * told of is lost then, and the event is to be opened anew.
 */
int perf_aux_drain(struct perf_aux *aux, const struct source_sink *sink);

/**
 * perf_aux_flush() - make the driver tell what the SPU has written so far, and hand it over
 *
 * An SPU that a fault has stopped, of which the driver says nothing but in the kernel's log,
 * goes on from here.
 *
 * Return: as perf_aux_drain().
 */
int perf_aux_flush(struct perf_aux *aux, const struct source_sink *sink);

/**
 * perf_aux_period() - another period from now on; windows have @interval from there on
 *
 * The driver closes the window that is open. A second one before the first is drained is -EAGAIN.
 */
int perf_aux_period(struct perf_aux *aux, u64 period, u32 interval);

/**
 * perf_aux_is_dead() - whether the event has not been on its CPU since this was asked last
 *
 * The kernel takes events from a CPU that goes offline and does not put them back.
 */
bool perf_aux_is_dead(struct perf_aux *aux);

#endif
