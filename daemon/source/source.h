/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface of sample sources. A source delivers windows of SPE records and, if it has them,
 * task events to one sink. Sources are the rings of the kernel module, the AUX areas of perf
 * events, an SPU that is emulated in this process, and recordings.
 */
#ifndef SPEPROF_SOURCE_H
#define SPEPROF_SOURCE_H

#include "codec/record.h"
#include "codec/registers.h"

/* The kind of SPU that wrote the records. Every view shows it beside its numbers. */
enum sample_backend {
	BACKEND_UNKNOWN, /* a recording without this information */
	BACKEND_HARDWARE,
	BACKEND_EMULATED, /* process, PC and time are real, all else is modelled */
};

/*
 * The unit of the interval counter of an SPU (PMSIDR_EL1.ArchInst). Numbers of two units are never
 * added up.
 */
enum sample_unit {
	UNIT_UNKNOWN,
	UNIT_MICRO_OPS,
	UNIT_INSTRUCTIONS,
	UNITS,
};

/**
 * sample_unit_find_common() - find the unit of all counted weights
 * @weight: the weight that was counted in each unit, indexed by &enum sample_unit; a later
 *	version may have more units than this one
 * @count: entries of @weight
 *
 * Return: the unit, if all weights were counted in one known unit. Otherwise @count: only numbers
 * of samples can be compared then.
 */
static inline unsigned int sample_unit_find_common(const u64 *weight, unsigned int count)
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

/*
 * The cause of blind time, in which sampling was enabled, but no window was armed. A source that
 * cannot distinguish the causes uses SOURCE_BLIND_UNKNOWN.
 */
enum source_blind {
	SOURCE_BLIND_UNKNOWN,
	SOURCE_BLIND_FULL,	/* the ring or the AUX area was full, until it was read */
	SOURCE_BLIND_HANDLING,	/* an event was handled, or the registers were reprogrammed */
	SOURCE_BLIND_THROTTLE,
	SOURCE_BLIND_HANDOVER,	/* another session, or another user of perf, had the SPU */
	SOURCE_BLIND_FAULT,	/* a fault had stopped the SPU or its driver */
	SOURCE_BLIND_RESTART,	/* the daemon was restarted, or it replaced the source */
	SOURCE_BLIND_HOTPLUG,	/* the CPU was offline between two checks */
	SOURCE_BLINDS,
};

#define WINDOW_TRUNCATED	(1U << 0)	/* the last record may be incomplete */
#define WINDOW_PARTIAL		(1U << 1)	/* closed before it was full */
#define WINDOW_COLLIDED		(1U << 2)	/* samples collided (PMBSR_EL1.COLL) */
#define WINDOW_FAULTED		(1U << 3)	/* closed by a fault */
#define WINDOW_SUSPECT		(1U << 4)	/* its bytes cannot be trusted (D17.8.4.4) */
/*
 * Records are missing: PERF_AUX_FLAG_PARTIAL. The value is above those of all flags of the
 * module's ABI, because recordings contain both.
 */
#define WINDOW_GAPS		(1U << 16)

/**
 * struct timestamp_clock - conversion of Timestamp packets to nanoseconds of the source's clock
 * @zero: ns at tick 0, modulo 2^64
 * @mult: multiplier in ns = @zero + (ticks * @mult >> @shift); 0: the conversion is unknown
 * @shift: right shift in the same formula
 */
struct timestamp_clock {
	u64 zero;
	u32 mult;
	u32 shift;
};

/**
 * struct source_window - bytes that one SPU wrote between two management events
 * @data: the records; valid during the call of the sink only
 * @len: bytes at @data
 * @decoder: NULL for a window that is delivered in one call. A window that is delivered in
 *	several chunks, one call each, has its decoder here, positioned at @data; the sink
 *	continues with it
 * @size: size of all chunks together in bytes; a truncated file contains fewer bytes
 * @midr: MIDR_EL1 of the CPU; 0: unknown
 * @start_ns: when the window was armed; 0: unknown
 * @end_ns: when the window was closed; 0: unknown
 * @armed_ns: time between @start_ns and @end_ns for which the SPU was enabled; 0: all of it
 * @blind_ns: blind time before the window: sampling was enabled, but no window was armed
 * @blind_by: @blind_ns, indexed by cause, &enum source_blind; if the sum is smaller than @blind_ns,
 * the difference has an unknown cause
 * @lost_bytes: bytes before the window that are known to be lost
 * @written: records that the SPU wrote into the window; WINDOW_WRITTEN_UNKNOWN unless the SPU
 *	is emulated
 * @interval: mean number of operations between two samples (D17.3.4); 0: unknown
 * @cpu: number of the CPU
 * @tid: the only task that was sampled, in recordings of one thread; -1: any task
 * @flags: set of WINDOW_*
 * @align: alignment of records (PMBIDR_EL1.Align), in bytes; 0: unknown
 * @max_record: size of the largest record (PMSIDR_EL1.MaxSize), in bytes; 0: unknown
 * @pmsver: ID_AA64DFR0_EL1.PMSVer; 0: unknown
 * @backend: &enum sample_backend
 * @unit: the unit of @interval, &enum sample_unit
 * @interrupted: the SPU stopped by itself (PMBSR.S is 1), and its interrupt closed the window
 *	later. False: it did not, or the source does not report it
 * @clock: converts the Timestamp packets of this window
 * @clock_skew_ns: difference between @clock, which was set at the start of the window, and the
 *	source's clock when the window was delivered; 0: unknown
 *
 * Every chunk of a window repeats the members that describe the whole window. They count once:
 * with the last chunk, for which &spe_decoder.open is false.
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
	bool interrupted;
	struct timestamp_clock clock;
	u32 clock_skew_ns;
};

#define WINDOW_WRITTEN_UNKNOWN UINT64_MAX

/**
 * source_window_is_untimed() - return true if the time for which the window was armed is unknown
 */
static inline bool source_window_is_untimed(const struct source_window *window)
{
	return (window->len || window->decoder || window->end_ns) && !window->armed_ns &&
	       (!window->start_ns || !window->end_ns);
}

/**
 * source_window_get_armed_ns() - return the time for which the SPU was enabled, in ns; 0: unknown
 */
static inline u64 source_window_get_armed_ns(const struct source_window *window)
{
	if (window->armed_ns)
		return window->armed_ns;
	return window->start_ns && window->end_ns ? window->end_ns - window->start_ns : 0;
}

/**
 * source_blind_add_window() - add the blind time before a window to the sums of its causes
 * @by: the sums, in ns, indexed by &enum source_blind
 * @window: its causes may add up to more or less than its blind time; exactly
 * &source_window.blind_ns is added
 */
static inline void source_blind_add_window(u64 by[static SOURCE_BLINDS],
					   const struct source_window *window)
{
	u64 rest = window->blind_ns, ns;

	for (unsigned int i = SOURCE_BLIND_UNKNOWN + 1; i < SOURCE_BLINDS; i++) {
		ns = window->blind_by[i] < rest ? window->blind_by[i] : rest;
		by[i] += ns;
		rest -= ns;
	}
	by[SOURCE_BLIND_UNKNOWN] += rest;
}

/**
 * source_window_get_decoder() - get the decoder of a window
 * @window: the window, or a chunk of it
 * @local: a decoder, initialized at the start of @window if @window->decoder is NULL
 *
 * Return: the decoder of @window, or @local.
 */
static inline struct spe_decoder *source_window_get_decoder(const struct source_window *window,
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
 * struct source_sink - the receiver of windows and task events
 * @window: called for each window; the windows of one CPU come in order of time
 * @task: called for each task event; NULL: task events are ignored
 * @ctx: first argument of both
 */
struct source_sink {
	void (*window)(void *ctx, const struct source_window *window);
	void (*task)(void *ctx, const struct task_event *event);
	void *ctx;
};

/**
 * struct source_config - what to sample
 * @interval_ns: mean time between two samples of a busy CPU
 * @ring_size: size in bytes of each ring of the module, or of each AUX area of perf, a power of
 *	two; 0: 256 KiB. A source cannot change the size of existing rings
 * @jitter: perturb the interval at random (PMSIRR_EL1.RND)
 * @kernel: sample EL1, and EL2 if the kernel runs at EL2
 * @user: sample EL0
 * @no_context: records contain no context packets (PMSCR_EL1.CX is 0)
 * @physical: records contain physical addresses (PMSCR_EL1.PA). A session of the module must get
 *	the right to physical addresses when it is created
 * @filter_types: operation types to sample: SPE_PMSFCR_B, _LD, _ST; 0: all
 * @filter_events: events that a record must have, as PMSEVFR_EL1; 0: no filter
 * @filter_events_not: events that a record must not have, as PMSNEVFR_EL1 (FEAT_SPEv1p2)
 * @filter_sources_not: data sources to leave out, as the inverse of PMSDSFR_EL1 (FEAT_SPE_FDS)
 * @filter_masked: operation types that a record must have or must not have, as PMSFCR_EL1: each
 *	type by its mask bit SPE_PMSFCR_BM, _LDM, _STM, _FPM or _SIMDM, with the bit of the type if
 *	the record must have it (FEAT_SPE_EFT)
 * @filter_latency: minimum total latency of a record, as PMSLATFR_EL1.MINLAT; 0: no filter
 * @cgroups: paths; sample only tasks in or below these cgroups; NULL-terminated. NULL: all tasks
 * @skip_missing_cgroups: ignore paths that no longer exist; otherwise they are an error
 * @partition: sample only the CPUs with this number modulo @partitions
 * @partitions: 0 or 1: sample all CPUs
 * @models: for the emulated SPU: "comm=profile" pairs, separated by white space; "": none
 *
 * If a source cannot filter in hardware, it samples everything. These members show its filters:
 * &source.filters, &source.filters_not, &source.filters_sources, &source.filters_masked and
 * &source.cgroups.
 */
struct source_config {
	u64 interval_ns;
	u32 ring_size;
	bool jitter;
	bool kernel;
	bool user;
	bool no_context;
	bool physical;
	u64 filter_types;
	u64 filter_events;
	u64 filter_events_not;
	u64 filter_sources_not;
	u64 filter_masked;
	u32 filter_latency;
	char *const *cgroups;
	bool skip_missing_cgroups;
	u32 partition;
	u32 partitions;
	const char *models;
};

/**
 * source_config_includes_cpu() - return true if a source with @config samples @cpu
 *
 * The number of the CPU alone decides, so a CPU that comes online again is in the same partition.
 */
static inline bool source_config_includes_cpu(const struct source_config *config, u32 cpu)
{
	return config->partitions < 2 || cpu % config->partitions == config->partition;
}

/** source_config_has_base_filter() - return true if @config has a filter that FEAT_SPE defines */
static inline bool source_config_has_base_filter(const struct source_config *config)
{
	return config->filter_types || config->filter_events || config->filter_latency;
}

/* Distance in bits from the bit of a type in PMSFCR_EL1 to the mask bit of that type. */
#define SOURCE_TYPE_MASK_SHIFT 32

/**
 * source_filter_to_pmsfcr() - combine filter_types and filter_masked of @config to bits of
 * PMSFCR_EL1
 *
 * PMSFCR_EL1 has one bit for each type. Without its mask bit (FEAT_SPE_EFT), a type is one of
 * several alternatives, of which a record must have at least one. With the mask bit, the type is
 * required if its bit is 1, and excluded if its bit is 0. An excluded type is no alternative. If a
 * required type is also in filter_types, each record that has the required type meets filter_types,
 * so no alternatives are set.
 *
 * Return: the types and their mask bits; 0: no filter.
 */
static inline u64 source_filter_to_pmsfcr(const struct source_config *config)
{
	u64 masks = config->filter_masked >> SOURCE_TYPE_MASK_SHIFT;
	u64 required = config->filter_masked & masks;

	if (config->filter_types & required)
		return config->filter_masked;
	return config->filter_masked | (config->filter_types & ~masks);
}

/** source_filter_copy() - copy only the hardware filters from @from to @to */
static inline void source_filter_copy(struct source_config *to, const struct source_config *from)
{
	to->filter_types = from->filter_types;
	to->filter_events = from->filter_events;
	to->filter_events_not = from->filter_events_not;
	to->filter_sources_not = from->filter_sources_not;
	to->filter_masked = from->filter_masked;
	to->filter_latency = from->filter_latency;
}

/** source_filter_same() - return true if @a and @b have the same hardware filters */
static inline bool source_filter_same(const struct source_config *a, const struct source_config *b)
{
	return a->filter_types == b->filter_types && a->filter_events == b->filter_events &&
	       a->filter_events_not == b->filter_events_not &&
	       a->filter_sources_not == b->filter_sources_not &&
	       a->filter_masked == b->filter_masked && a->filter_latency == b->filter_latency;
}

struct source;

/**
 * struct source_position - the position up to which the ring of one CPU was drained
 * @tail: bytes that were drained since the ring was created
 * @event_tail: events that were drained since the ring was created
 * @reported_early_ns: blind time that was reported already, and that the blind time of the next
 *	window includes again
 * @cpu: number of the CPU
 * @offline: the CPU is offline; the session samples it once it is online
 */
struct source_position {
	u64 tail;
	u64 event_tail;
	u64 reported_early_ns;
	u32 cpu;
	bool offline;
};

/**
 * struct source_cost - the time that one CPU has spent on its SPU
 * @handling_ns: in management interrupts and in the handover between sessions
 * @interrupts: management interrupts
 * @cpu: number of the CPU
 */
struct source_cost {
	u64 handling_ns;
	u64 interrupts;
	u32 cpu;
};

/* The value of &source_tune.scale for the configured interval. */
#define SOURCE_TUNE_ONE 1024

/**
 * struct source_tune - the settings that may differ between CPUs
 * @scale: factor of the CPU's interval, in units of 1 / SOURCE_TUNE_ONE
 * @interrupts: limit of the CPU's management interrupts a second; 0: no limit
 * @bytes: limit of the bytes that the CPU's SPU writes in a second; 0: no limit
 * @cpu: number of the CPU
 */
struct source_tune {
	u64 scale;
	u64 interrupts;
	u64 bytes;
	u32 cpu;
};

/*
 * Share of a ring, in permille, that may be drained but not released. Above MAX a checkpoint is
 * due; above SPILL the space is released without one.
 */
#define SOURCE_RETAINED_MAX   400
#define SOURCE_RETAINED_SPILL 700

/**
 * struct source_persist_ops - operations of a source with rings that can outlive this process
 * @session: the descriptor that keeps the rings alive in another process; owned by the source. NULL
 *	for a partitioned source: each partition has its own descriptor
 * @defer: from now on, only @release frees the space of drained records, so that the next process
 * can drain them again. If its argument spill is true, &source_ops.drain also frees the space of a
 * ring that retains SOURCE_RETAINED_SPILL or more; the next process then reports those bytes as
 * lost
 * @positions: write the positions of at most @capacity rings to @ret; returns their number
 * @resume: continue from the positions at which another process stopped. -ESTALE if one of them is
 *	not between the released tail and the head of this session's ring; all rings then continue
 *	at their released tail. After @defer with spill, a position before the tail is valid: the
 *	next drain reports the bytes between the position and the tail as lost
 * @release: free the space of all drained windows and events
 * @retained: the largest share of a ring that is drained but not released, in permille; 1000 if a
 *	full ring waits for space. The thread that drains calls it; NULL for a partitioned source
 */
struct source_persist_ops {
	int (*session)(const struct source *source);
	void (*defer)(struct source *source, bool spill);
	u32 (*positions)(const struct source *source, struct source_position *ret, u32 capacity);
	int (*resume)(struct source *source, const struct source_position *positions, u32 count);
	void (*release)(struct source *source);
	u32 (*retained)(const struct source *source);
};

/* The kinds of filters that an SPU can have. */
#define SOURCE_FILTERS_TYPES	  (1U << 0)
#define SOURCE_FILTERS_LATENCY	  (1U << 1)
#define SOURCE_FILTERS_EVENTS	  (1U << 2)
#define SOURCE_FILTERS_EVENTS_NOT (1U << 3)
#define SOURCE_FILTERS_SOURCES	  (1U << 4)
#define SOURCE_FILTERS_MASKED	  (1U << 5)

/** source_filters_from_pmsidr() - return the SOURCE_FILTERS_* that @pmsidr, PMSIDR_EL1, supports */
static inline u8 source_filters_from_pmsidr(u64 pmsidr)
{
	return (u8)((pmsidr & SPE_PMSIDR_FT ? SOURCE_FILTERS_TYPES : 0) |
		    (pmsidr & SPE_PMSIDR_FL ? SOURCE_FILTERS_LATENCY : 0) |
		    (pmsidr & SPE_PMSIDR_FE ? SOURCE_FILTERS_EVENTS : 0) |
		    (pmsidr & SPE_PMSIDR_FNE ? SOURCE_FILTERS_EVENTS_NOT : 0) |
		    (pmsidr & SPE_PMSIDR_FDS ? SOURCE_FILTERS_SOURCES : 0) |
		    (pmsidr & SPE_PMSIDR_EFT ? SOURCE_FILTERS_MASKED : 0));
}

/**
 * struct source_cpu - a CPU that a source samples whenever it is online
 * @cpu: number of the CPU
 * @midr: MIDR_EL1; 0: unknown
 * @pmsver: ID_AA64DFR0_EL1.PMSVer; 0: unknown
 * @filters: the filters of its SPU that this source can set, SOURCE_FILTERS_*
 * @filter_events: the events for which this source can set a filter of its SPU, as PMSEVFR_EL1; 0:
 * unknown
 * @interval_min: the smallest interval that the SPU accepts, in operations; 0: unknown
 * @interval_ns: the interval in force
 * @throttle_interrupts: limit of interrupts a second, see &struct source_tune
 * @throttle_bytes: limit of bytes a second, see &struct source_tune
 * @state: static word for users: "sampling", "stopped", "offline", "full", "faulted", ...
 * @has_time_ledger: the source measures @armed_ns and @blind_ns itself
 * @armed_ns: time with an armed window, ns since the source was created
 * @blind_ns: blind time since the source was created, ns, indexed by cause
 */
struct source_cpu {
	u32 cpu;
	u64 midr;
	u8 pmsver;
	u8 filters;
	u64 filter_events;
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
 * struct source_ops - the operations of a live source; recordings have no such operations
 * @name: for users: "module", "perf", "emulated"
 * @start: enable sampling on all CPUs that are online
 * @fd: return the descriptor that becomes readable when @drain may have something to deliver; owned
 * by the source
 * @drain: deliver everything that is available to @sink; never blocks
 * @stop: disable sampling; one more @drain may follow
 * @free: destroy the source; the sink is not called any more
 * @cpu: describe the CPU with the number @cpu; -ENOENT if the source does not sample it. NULL: the
 *	source cannot describe its CPUs
 * @configure: use another &struct source_config from now on; sampling may be enabled or not. The
 * caller has drained the source. A failure changes nothing and sets @ret_reason to a static
 * sentence. The models of the emulated SPU cannot change. NULL: unsupported
 * @tune: change the settings of one CPU; @configure does not reset these settings. The caller has
 *	drained the source. -EOPNOTSUPP if all CPUs share one interval; -ENOENT if the source does
 *	not sample the CPU. NULL: unsupported
 * @costs: write the costs of at most @capacity CPUs to @ret; returns their number. NULL: the
 *	source does not measure them
 * @unsampled: return the number of CPUs with an SPU that was added after the source was created;
 * only a new source would sample them. NULL: the source adds such CPUs itself
 * @persist: operations for rings that outlive this process; NULL: records that are not drained are
 * lost when this process exits
 *
 * Locking: one thread at a time. The drain thread of the source calls @fd, @drain and
 * &source_persist_ops.retained; the worker's thread calls all operations, while the drain thread
 * does not drain (engine/drain-threads.h).
 * Return: if not stated otherwise, 0 or a negative errno.
 */
struct source_ops {
	const char *name;
	int (*start)(struct source *source);
	int (*fd)(struct source *source);
	int (*drain)(struct source *source, const struct source_sink *sink);
	void (*stop)(struct source *source);
	void (*free)(struct source *source);
	int (*cpu)(struct source *source, u32 cpu, struct source_cpu *ret_cpu);
	int (*configure)(struct source *source, const struct source_config *config,
			 const char **ret_reason);
	int (*tune)(struct source *source, const struct source_tune *tune);
	u32 (*costs)(const struct source *source, struct source_cost *ret, u32 capacity);
	u32 (*unsampled)(const struct source *source);
	const struct source_persist_ops *persist;
};

/**
 * struct source_health - failures of the SPUs, and of the transport of their records
 * @faults: management events other than a full buffer (D17.8), since the source was created
 * @throttles: number of times that the module throttled an SPU
 * @unread: number of times that an SPU stopped, or that perf lost the PERF_RECORD_AUX of its
 * window, because a ring or an AUX area was not read
 * @cpus_stopped: number of CPUs that should sample now but cannot, because a fault stopped them, or
 * because they have no perf event
 * @no_event_reason: why one of @cpus_stopped has no perf event, for users; "": all have one
 * @last: the last fault, for users; "": there was none
 */
struct source_health {
	u64 faults;
	u64 throttles;
	u64 unread;
	u32 cpus_stopped;
	char no_event_reason[96];
	char last[96];
};

/**
 * source_health_describe() - return why a CPU cannot sample now; if all CPUs can sample, the last
 * fault
 */
static inline const char *source_health_describe(const struct source_health *health)
{
	return *health->no_event_reason ? health->no_event_reason : health->last;
}

/**
 * enum source_contexts - the records that have a Context packet with the TID of their task
 * @SOURCE_CONTEXTS_UNKNOWN: unknown, because no record was read yet
 * @SOURCE_CONTEXTS_NONE: no record
 * @SOURCE_CONTEXTS_ALL: every record
 *
 * An SPU writes that packet into the records of all operations or of none (D17.6.9, D18.2.2), so
 * reading one record suffices.
 */
enum source_contexts {
	SOURCE_CONTEXTS_UNKNOWN,
	SOURCE_CONTEXTS_NONE,
	SOURCE_CONTEXTS_ALL,
};

/**
 * struct source - the first member of each kind of source
 * @ops: the operations of this kind of source
 * @method: how records are read, for users: "io_uring", "epoll", "AUX areas"
 * @cpus: CPUs that are sampled now
 * @cpu_end: one more than the highest number for which &source_ops.cpu may succeed; 0: unsupported
 * @partitions: number of partitions (partitioned.h); 0: the source is not partitioned
 * @partition: @partitions sources, each of which a separate thread may drain
 * @backend: &enum sample_backend
 * @filters: the SPU applies filter_types, filter_events and filter_latency
 * @filters_not: the SPU applies filter_events_not
 * @filters_sources: the SPU applies filter_sources_not
 * @filters_masked: the SPU applies filter_masked
 * @cgroups: only tasks in or below &source_config.cgroups are sampled
 * @contexts: &enum source_contexts; read it by source_get_contexts()
 * @reason: the limits of this source, and why no better one is used, for users; "": it has no
 * limits
 * @interval_ns: the interval in force
 * @locked_bytes: kernel memory of the source's rings and AUX areas
 * @health: written by the thread that drains
 */
struct source {
	const struct source_ops *ops;
	const char *method;
	u32 cpus;
	u32 cpu_end;
	u32 partitions;
	struct source **partition;
	u8 backend;
	bool filters;
	bool filters_not;
	bool filters_sources;
	bool filters_masked;
	bool cgroups;
	u8 contexts;
	char reason[256];
	u64 interval_ns;
	u64 locked_bytes;
	struct source_health health;
};

/**
 * source_get_contexts() - return if the records of a source have the TID of their task
 * @source: the source
 *
 * All partitions use the same driver, so the first partition that has read a record decides.
 *
 * Context: any thread that may use the source; the threads that drain it may run.
 */
static inline enum source_contexts source_get_contexts(const struct source *source)
{
	u8 contexts = __atomic_load_n(&source->contexts, __ATOMIC_RELAXED);

	for (u32 i = 0; i < source->partitions && contexts == SOURCE_CONTEXTS_UNKNOWN; i++)
		contexts = __atomic_load_n(&source->partition[i]->contexts, __ATOMIC_RELAXED);
	return (enum source_contexts)contexts;
}

/**
 * source_next_cpu() - describe the next CPU of a source, in order of their numbers
 * @source: the source
 * @cpu: the lowest number to consider
 * @ret_cpu: the description
 *
 * Return: false if there is no further CPU.
 */
static inline bool source_next_cpu(struct source *source, u32 cpu, struct source_cpu *ret_cpu)
{
	for (; cpu < source->cpu_end; cpu++)
		if (source->ops->cpu(source, cpu, ret_cpu) >= 0)
			return true;
	return false;
}

/**
 * source_emulated_new() - create a source that emulates an SPU for each CPU in this process
 * @config: what to sample
 * @ret_source: the new source, stopped
 * @ret_reason: on failure, a static sentence with the reason
 *
 * Each SPU is driven by the CPU clock of perf_event_open(2).
 *
 * Return: 0; -EINVAL for an invalid @config; the negative errno of perf_event_open(), mmap() or
 * epoll.
 */
int source_emulated_new(const struct source_config *config, struct source **ret_source,
			const char **ret_reason);

/**
 * source_module_new() - create a session of the module and map its rings
 * @config: what to sample
 * @uring: wait for the rings by io_uring if it is permitted, otherwise by epoll
 * @ret_source: the new source, stopped
 * @ret_reason: on failure, a static sentence with the reason
 *
 * Return: 0; -ENOENT if the module is not loaded; -EPROTO if it has another ABI; -ENODEV if no
 * CPU has an SPU; another negative errno.
 */
int source_module_new(const struct source_config *config, bool uring, struct source **ret_source,
		      const char **ret_reason);

/**
 * source_module_adopt() - create a source from a session that another process created
 * @config: what to sample from now on; &source_config.cgroups must be set if the session was
 *	created for cgroups, and only then
 * @uring: as for source_module_new()
 * @session: descriptor of the session; owned by the source on success
 * @ret_source: the new source; it samples if the session did
 * @ret_reason: on failure, a static sentence with the reason
 *
 * The source drains from the released tail of each ring, unless &source_persist_ops.resume sets
 * other positions. Space is freed by &source_persist_ops.release only, as after
 * &source_persist_ops.defer.
 *
 * Return: 0; -EPERM if @config needs rights that the session does not have; -EOPNOTSUPP if only one
 * of @config and the session has cgroups; -ENOTTY if @session is no session of the module.
 */
int source_module_adopt(const struct source_config *config, bool uring, int session,
			struct source **ret_source, const char **ret_reason);

/**
 * source_module_query_contexts() - check if the records of the module's SPUs have the TID of their
 * task
 * @ret_named: true if &source.contexts of a source of the module would be SOURCE_CONTEXTS_ALL
 *
 * Return: 0; a negative errno if the module cannot be used, or has no SPU.
 */
int source_module_query_contexts(bool *ret_named);

/**
 * source_module_stop_session() - stop a session that no source will drain; the caller closes
 * @session
 */
void source_module_stop_session(int session);

struct perf_host;

/**
 * source_perf_new() - create a source from the SPE driver of the running kernel
 * @config: what to sample
 * @ret_source: the new source, stopped
 * @ret_reason: on failure, a static sentence with the reason
 *
 * Return: 0; -ENOENT if the kernel drives no SPU; -ENODEV if no CPU with an SPU is online; the
 * negative errno of perf_event_open(), mmap() or epoll.
 */
int source_perf_new(const struct source_config *config, struct source **ret_source,
		    const char **ret_reason);

/**
 * source_perf_new_with_host() - source_perf_new() with the system calls of @host, which is copied
 */
int source_perf_new_with_host(const struct perf_host *host, const struct source_config *config,
			      struct source **ret_source, const char **ret_reason);

#endif
