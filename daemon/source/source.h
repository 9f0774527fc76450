/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sources: where windows of records come from. The module's rings, a stock
 * kernel's AUX area, the SPU emulated in process, a recording: each hands its
 * windows, and what it knows of tasks, to one sink.
 */
#ifndef SPEPROF_SOURCE_H
#define SPEPROF_SOURCE_H

#include "codec/record.h"
#include "codec/registers.h"

/* Who wrote the records; stands beside every figure that is shown. */
enum backend {
	BACKEND_UNKNOWN,	/* a recording that does not say */
	BACKEND_HARDWARE,
	BACKEND_EMULATED,	/* process, PC and time true, the rest modelled */
};

/* What an SPU's interval counter counts (PMSIDR_EL1.ArchInst): sums never mix them. */
enum sample_unit {
	UNIT_UNKNOWN,
	UNIT_MICRO_OPS,
	UNIT_INSTRUCTIONS,
	UNITS,
};

/**
 * sample_unit_common() - the one unit that all of a sum is weighed in
 * @weight: by unit, &enum sample_unit and what later versions add
 * @count: places of @weight
 *
 * Return: a unit, or @count if there are several, none or an unknown one: then only numbers of
 * samples can be compared.
 */
static inline unsigned int sample_unit_common(const u64 *weight, unsigned int count)
{
	unsigned int unit = count;

	for (unsigned int i = 0; i < count; i++) {
		if (!weight[i])
			continue;
		if (unit != count)
			return count;
		unit = i;
	}
	return unit == UNIT_UNKNOWN ? count : unit;
}

/* Why sampling was enabled and no window armed, as far as a source tells causes apart. */
enum source_blind {
	SOURCE_BLIND_UNKNOWN,
	SOURCE_BLIND_FULL,	/* no room in a ring or an area, until it was read */
	SOURCE_BLIND_HANDLING,	/* an event was being handled, or the program changed */
	SOURCE_BLIND_THROTTLE,
	SOURCE_BLIND_HANDOVER,	/* another session had the SPU */
	SOURCE_BLIND_FAULT,	/* the SPU, or its driver, stopped for one */
	SOURCE_BLIND_RESTART,	/* the daemon was being restarted, or its source replaced */
	SOURCE_BLIND_HOTPLUG,	/* the CPU was gone for a moment and nobody told */
	SOURCE_BLINDS,
};

#define WINDOW_TRUNCATED	(1U << 0)	/* the last record may be cut */
#define WINDOW_PARTIAL		(1U << 1)	/* drained before it was full */
#define WINDOW_COLLIDED		(1U << 2)
#define WINDOW_FAULTED		(1U << 3)
#define WINDOW_SUSPECT		(1U << 4)	/* no byte of it may count (D17.8.4.4) */
/* perf's PARTIAL: records are missing. Above all flags of the ABI, since recordings hold both. */
#define WINDOW_GAPS		(1U << 16)

/**
 * struct tick_clock - Timestamp packets to nanoseconds of the source's clock
 * @zero: ns at tick 0, modulo 2^64
 * @mult: ns = @zero + (ticks * @mult >> @shift); 0 if the clock is unknown
 * @shift: see @mult
 */
struct tick_clock {
	u64 zero;
	u32 mult;
	u32 shift;
};

/**
 * struct source_window - bytes that an SPU wrote, with what is known of them
 * @data: the records; valid during the sink's call only
 * @len: bytes of them, what PMBPTR advanced
 * @midr: MIDR_EL1 of the CPU, 0 if unknown
 * @start_ns, @end_ns: when it was armed and drained, 0 if unknown
 * @armed_ns: how long of that the SPU was enabled, 0: all of it
 * @blind_ns: time before it in which sampling was enabled and no window armed
 * @blind_by: what is known of its causes: ns by &enum source_blind; UNKNOWN is the rest
 * @lost_bytes: bytes known to be lost before it
 * @written: records the SPU wrote into it, or WINDOW_WRITTEN_UNKNOWN: only the
 *	emulated SPU counts them
 * @interval: mean operations between samples (D17.3.4), 0 if unknown
 * @cpu: the CPU
 * @tid: the only task it can belong to (per-thread recordings), or -1
 * @flags: WINDOW_*
 * @align, @max_record: in bytes, 0 if unknown
 * @pmsver: ID_AA64DFR0_EL1.PMSVer, 0 if unknown
 * @backend: &enum backend
 * @unit: &enum sample_unit, of @interval
 * @clock: of its Timestamp packets
 * @clock_skew_ns: by how much @clock, an anchor at the window's start, and the source's clock
 *	had parted when the window was handed over; 0 if unknown
 * @decoder: the walk through a window that comes in parts, one call each, at @data: the
 *	sink goes on with it. NULL of a window that is there as a whole
 * @size: of a window in parts, what they all come to, unless the file shrinks
 *
 * What is said of a window is said with each of its parts, and is to be counted once:
 * with the last, of which &spe_decoder.open is false.
 */
struct source_window {
	const u8 *data;
	size_t len;
	struct spe_decoder *decoder;
	u64 size;
	u64 midr;
	u64 start_ns;
	u64 end_ns;
	u64 armed_ns;
	u64 blind_ns;
	u64 blind_by[SOURCE_BLINDS];
	u64 lost_bytes;
	u64 written;
	u32 interval;
	u32 cpu;
	s32 tid;
	u32 flags;
	u32 align;
	u32 max_record;
	u8 pmsver;
	u8 backend;
	u8 unit;
	struct tick_clock clock;
	u32 clock_skew_ns;
};

#define WINDOW_WRITTEN_UNKNOWN UINT64_MAX

/** source_window_untimed() - whether @window was armed and does not say for how long */
static inline bool source_window_untimed(const struct source_window *window)
{
	return (window->len || window->decoder || window->end_ns) && !window->armed_ns &&
	       (!window->start_ns || !window->end_ns);
}

/** source_window_armed() - how long the SPU was enabled for @window, in ns; 0 if unknown */
static inline u64 source_window_armed(const struct source_window *window)
{
	if (window->armed_ns)
		return window->armed_ns;
	return window->start_ns && window->end_ns ? window->end_ns - window->start_ns : 0;
}

/** source_blind_add() - the blind time of @window to sums by cause, which come to its sum */
static inline void source_blind_add(u64 by[static SOURCE_BLINDS],
				    const struct source_window *window)
{
	u64 rest = window->blind_ns, part;

	for (unsigned int i = SOURCE_BLIND_UNKNOWN + 1; i < SOURCE_BLINDS; i++) {
		part = window->blind_by[i] < rest ? window->blind_by[i] : rest;
		by[i] += part;
		rest -= part;
	}
	by[SOURCE_BLIND_UNKNOWN] += rest;
}

/** source_window_decoder() - the walk through @window: its own, or @local from its start on */
static inline struct spe_decoder *source_window_decoder(const struct source_window *window,
							struct spe_decoder *local)
{
	const struct spe_decoder_config config = {
		.max_size = window->max_record,
		.align = window->align,
	};

	if (window->decoder)
		return window->decoder;
	spe_decoder_init(local, &config, window->data, window->len);
	return local;
}

struct task_event;

/**
 * struct source_sink - who takes what a source brings
 * @window: a window, in order of its CPU's time
 * @task: a task event; NULL if they are not wanted
 */
struct source_sink {
	void (*window)(void *ctx, const struct source_window *window);
	void (*task)(void *ctx, const struct task_event *event);
	void *ctx;
};

/**
 * struct source_config - what to sample
 * @interval_ns: mean time between samples of a busy CPU, in ns
 * @ring_size: of the module's rings, or perf's AUX areas, bytes, a power of two; 0 for 256 KiB.
 *	A source keeps those it was made with
 * @jitter: perturb the interval at random (PMSIRR.RND)
 * @kernel, @user: Exception levels
 * @no_context: records do not say whose they are (PMSCR.CX is 0)
 * @physical: records have physical addresses (PMSCR.PA); of a session of the module fixed when
 *	it is made: one that began without cannot
 * @filter_*: what the SPU may leave out, as PMSFCR, PMSEVFR, PMSNEVFR and PMSLATFR have it, and
 *	PMSDSFR inverted; 0 for none. Where it cannot, it samples all, and &source.filters says so;
 *	of PMSNEVFR and PMSDSFR, which later SPUs alone have, by themselves
 * @cgroups: sample only what runs in or below these, paths, NULL-terminated; NULL for
 *	everything. Where it cannot, it samples all, and &source.cgroups says so
 * @cgroups_known: they are those that it, or the one before it, was asked for: what is no longer
 *	there is left out, where it would be refused
 * @part, @parts: only CPUs whose number modulo @parts is @part; 0 for all
 * @models: for emulation, profiles by process name, "comm=profile" pairs that
 *	a space parts; "" for none
 */
struct source_config {
	u64 interval_ns;
	u32 ring_size;
	bool jitter;
	bool kernel;
	bool user;
	bool no_context;
	bool physical;
	u64 filter_types;	/* SPE_PMSFCR_B, _LD, _ST */
	u64 filter_events;	/* PMSEVFR */
	u64 filter_events_not;	/* PMSNEVFR: FEAT_SPEv1p2 */
	u64 filter_sources_not;	/* ~PMSDSFR: FEAT_SPE_FDS */
	u32 filter_latency;	/* PMSLATFR.MINLAT */
	char *const *cgroups;
	bool cgroups_known;
	u32 part;
	u32 parts;
	const char *models;
};

/* A CPU's number alone says whose it is: where it comes back it is where it was. */
static inline bool source_owns_cpu(const struct source_config *config, u32 cpu)
{
	return config->parts < 2 || cpu % config->parts == config->part;
}

/** source_filters() - does @config ask for any filter that every SPU has? */
static inline bool source_filters(const struct source_config *config)
{
	return config->filter_types || config->filter_events || config->filter_latency;
}

/** source_filter_copy() - @from's filters, and nothing else of it */
static inline void source_filter_copy(struct source_config *to, const struct source_config *from)
{
	to->filter_types = from->filter_types;
	to->filter_events = from->filter_events;
	to->filter_events_not = from->filter_events_not;
	to->filter_sources_not = from->filter_sources_not;
	to->filter_latency = from->filter_latency;
}

/** source_filter_same() - do both have the same filters? */
static inline bool source_filter_same(const struct source_config *a, const struct source_config *b)
{
	return a->filter_types == b->filter_types && a->filter_events == b->filter_events &&
	       a->filter_events_not == b->filter_events_not &&
	       a->filter_sources_not == b->filter_sources_not &&
	       a->filter_latency == b->filter_latency;
}

struct source;

/**
 * struct source_position - up to where one CPU's ring was drained
 * @tail, @event_tail: counts since the ring was made, of bytes and of events
 * @ahead_ns: blind time that was handed over and that a window is yet to tell of
 * @offline: the CPU is, while it would be sampled
 */
struct source_position {
	u64 tail;
	u64 event_tail;
	u64 ahead_ns;
	u32 cpu;
	bool offline;
};

/** struct source_cost - what a CPU has spent on its SPU so far: in interrupts and switches, ns */
struct source_cost {
	u64 handling_ns;
	u64 interrupts;
	u32 cpu;
};

/* An interval as it is configured, for &source_tune.scale. */
#define SOURCE_TUNE_ONE 1024

/**
 * struct source_tune - what is one CPU's own of how it samples
 * @scale: by what its interval is multiplied, of SOURCE_TUNE_ONE
 * @interrupts, @bytes: that its SPU may come to in a second; 0: no bound
 */
struct source_tune {
	u64 scale;
	u64 interrupts;
	u64 bytes;
	u32 cpu;
};

/* Of a ring, in permille, what is held back until a checkpoint is due, or is waited for no longer. */
#define SOURCE_RETAINED_MAX   400
#define SOURCE_RETAINED_SPILL 700

/**
 * struct source_persist_ops - of a source whose rings outlive this process, if another has its
 * descriptor: what is drained can be kept there until its figures are safe
 * @session: the descriptor; the source's own. NULL of a source in parts, each of which has one
 * @defer: from now on room is given back by @release alone. With @spill also by who drains a ring
 *	that is held to SOURCE_RETAINED_SPILL: what another process does not find there is lost to it
 * @positions: of all CPUs, at most @capacity of them; returns how many
 * @resume: go on where another process was. -ESTALE if a position is none of this session's
 *	between what it gave back and what was written: then the source is as it was. Where rings
 *	spill it may be before that; what is between comes as lost with the next drain
 * @release: give room back for all that was drained
 * @retained: of the ring where most is drained and not released, the part, in permille; 1000
 *	where a ring waits for room. For who drains it; so NULL of a source in parts
 */
struct source_persist_ops {
	int (*session)(const struct source *source);
	void (*defer)(struct source *source, bool spill);
	u32 (*positions)(const struct source *source, struct source_position *ret, u32 capacity);
	int (*resume)(struct source *source, const struct source_position *positions, u32 count);
	void (*release)(struct source *source);
	u32 (*retained)(const struct source *source);
};

/* What an SPU can filter for a source. */
#define SOURCE_FILTERS_TYPES	  (1U << 0)
#define SOURCE_FILTERS_LATENCY	  (1U << 1)
#define SOURCE_FILTERS_EVENTS	  (1U << 2)
#define SOURCE_FILTERS_EVENTS_NOT (1U << 3)
#define SOURCE_FILTERS_SOURCES	  (1U << 4)

/** source_filters_of() - by PMSIDR_EL1 */
static inline u8 source_filters_of(u64 pmsidr)
{
	return (u8)((pmsidr & SPE_PMSIDR_FT ? SOURCE_FILTERS_TYPES : 0) |
		    (pmsidr & SPE_PMSIDR_FL ? SOURCE_FILTERS_LATENCY : 0) |
		    (pmsidr & SPE_PMSIDR_FE ? SOURCE_FILTERS_EVENTS : 0) |
		    (pmsidr & SPE_PMSIDR_FNE ? SOURCE_FILTERS_EVENTS_NOT : 0) |
		    (pmsidr & SPE_PMSIDR_FDS ? SOURCE_FILTERS_SOURCES : 0));
}

/**
 * struct source_cpu - a CPU that a source samples, or would if it were online
 * @midr: MIDR_EL1, 0 if unknown
 * @pmsver: ID_AA64DFR0_EL1.PMSVer, 0 if unknown
 * @interval_min: the smallest interval it takes, in operations; 0 if unknown
 * @interval_ns: in force there
 * @throttle_interrupts, @throttle_bytes: as it was tuned
 * @state: a word: "sampling", "stopped", "offline", "full", "faulted", "throttled", ...
 * @filters: by what its SPU can filter for this source, SOURCE_FILTERS_*
 * @has_time_ledger: the source knows times itself: @armed_ns, @blind_ns
 */
struct source_cpu {
	u32 cpu;
	u64 midr;
	u8 pmsver;
	u8 filters;
	u64 interval_min;
	u64 interval_ns;
	u64 throttle_interrupts;
	u64 throttle_bytes;
	const char *state;
	bool has_time_ledger;
	u64 armed_ns;
	u64 blind_ns[SOURCE_BLINDS];
};

/**
 * struct source_ops - a live source; a recording is replayed at once instead
 * @start: enable sampling on all CPUs that are online
 * @fd: becomes readable when there may be something to drain; the source's own
 * @drain: hand over all that is there; never blocks
 * @stop: disable sampling; a last @drain may follow
 * @free: end it; the sink is not called any more
 * @cpu: the @index'th CPU, in order of their numbers; -ENOENT after the last. NULL: unknown
 * @cpu_by_id: the CPU of that number alone; -ENOENT: it is none of them. NULL where @cpu is
 * @configure: sample as another struct source_config says from now on, enabled or not; what
 *	was sampled before is drained by the caller. On failure it goes on as before, and
 *	@ret_reason is a static sentence. Models stay. NULL of what cannot change
 * @tune: from now on, and after each @configure; what was sampled before is drained by the
 *	caller. -EOPNOTSUPP where it has one interval for all; -ENOENT: no such CPU
 * @costs: of all CPUs, at most @capacity of them; returns how many. NULL where nobody measures
 * @unsampled: how many CPUs have an SPU and are none of its, as they came after it was made: another
 *	one would have them. NULL where those are followed
 * @persist: NULL where what was not drained goes with the process
 *
 * All are called from one thread, the worker's. Errors are negative errno.
 */
struct source_ops {
	const char *name;
	int (*start)(struct source *source);
	int (*fd)(struct source *source);
	int (*drain)(struct source *source, const struct source_sink *sink);
	void (*stop)(struct source *source);
	void (*free)(struct source *source);
	int (*cpu)(struct source *source, u32 index, struct source_cpu *ret_cpu);
	int (*cpu_by_id)(struct source *source, u32 cpu, struct source_cpu *ret_cpu);
	int (*configure)(struct source *source, const struct source_config *config,
			 const char **ret_reason);
	int (*tune)(struct source *source, const struct source_tune *tune);
	u32 (*costs)(const struct source *source, struct source_cost *ret, u32 capacity);
	u32 (*unsampled)(const struct source *source);
	const struct source_persist_ops *persist;
};

/**
 * struct source_health - what went wrong in SPUs and on the way from them
 * @faults: management events other than a full buffer (D17.8), since the source was made
 * @throttles: times that the module held an SPU back
 * @unread: times that it stopped one because nobody read
 * @cpus_stopped: CPUs that should sample and do not, now: by a fault, or without an event
 * @no_event_reason: why one of those has no event, for people; "" where all have one
 * @last: the last fault, for people; "" for none
 */
struct source_health {
	u64 faults;
	u64 throttles;
	u64 unread;
	u32 cpus_stopped;
	char no_event_reason[96];
	char last[96];
};

/** source_health_text() - what keeps a CPU from sampling now or, if nothing does, the last fault */
static inline const char *source_health_text(const struct source_health *health)
{
	return *health->no_event_reason ? health->no_event_reason : health->last;
}

/**
 * struct source - embedded first in each kind of source
 * @part, @parts: of one in parts (partitioned.h), each of which a thread of its own may drain
 * @reason: why not a better one, and what this one lacks, for people; "" if nothing is missing
 */
struct source {
	const struct source_ops *ops;
	const char *by;		/* how it is read, for people: "io_uring", "epoll" */
	u32 cpus;		/* CPUs it samples */
	u32 parts;		/* 0 of one that is whole */
	struct source **part;
	u8 backend;		/* &enum backend */
	bool filters;		/* the SPU does what filter_* ask for, */
	bool filters_not;	/* and this of filter_events_not, */
	bool filters_sources;	/* and this of filter_sources_not */
	char reason[256];
	bool cgroups;		/* other cgroups' tasks are not sampled */
	u64 interval_ns;	/* in force */
	u64 locked;		/* bytes of its rings and areas, in the kernel's memory */
	struct source_health health;
	bool no_context;	/* as struct source_config has it */
};

/**
 * source_emulated_new() - the SPU model in this process, fed by perf_event_open
 * on the CPU clock
 * @ret_reason: on failure, one static sentence that says why
 */
int source_emulated_new(const struct source_config *config, struct source **ret_source,
			const char **ret_reason);

/**
 * source_module_new() - the rings of /dev/speprof
 * @uring: by io_uring, else by epoll
 * @ret_reason: as above
 */
int source_module_new(const struct source_config *config, bool uring, struct source **ret_source,
		      const char **ret_reason);

/**
 * source_module_adopt() - the rings of a session that another process began
 * @config: with cgroups if it was made with some
 * @session: its descriptor; the source's where it succeeds
 *
 * It samples by @config from then on, and goes on running if it ran. Drained from where
 * room was given back to, unless &source_persist_ops.resume says better; room is given back by
 * &source_persist_ops.release alone, as after &source_persist_ops.defer.
 *
 * Return: 0; -EPERM if @config asks for what the session was not made for, -EOPNOTSUPP if for
 * cgroups; -ENOTTY for what is no session.
 */
int source_module_adopt(const struct source_config *config, bool uring, int session,
			struct source **ret_source, const char **ret_reason);

/** source_module_end() - nobody is to read what @session samples: it samples no more; still the caller's */
void source_module_end(int session);

/**
 * source_perf_new() - the driver of a stock kernel, by AUX areas of perf events
 * @ret_reason: as above
 *
 * Return: 0; -ENOENT if the kernel drives no SPU.
 */
int source_perf_new(const struct source_config *config, struct source **ret_source,
		    const char **ret_reason);

#endif
