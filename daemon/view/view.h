/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views of a profile, in the same form for recordings, D-Bus and JSON. The daemon fills a view from
 * its profile, and the tools print it.
 */
#ifndef SPEPROF_VIEW_H
#define SPEPROF_VIEW_H

#include "codec/data-source.h"
#include "codec/env.h"
#include "source/source.h"

enum view_group {
	VIEW_FUNCTION, /* container, process or program, function */
	VIEW_PROCESS, /* container, process */
	VIEW_CONTAINER,
	VIEW_LINE, /* container, process or program, function, source line */
	VIEW_PROGRAM, /* container, program */
	VIEW_BINARY,
	VIEW_GROUPS,
};

enum view_sort {
	VIEW_SORT_SAMPLES,
	VIEW_SORT_LATENCY, /* sum of total latency: where cycles are spent waiting */
	VIEW_SORT_DRAM,
	VIEW_SORT_REMOTE,
	VIEW_SORT_MEMORY,
	VIEW_SORT_LOADS,
	VIEW_SORT_STORES,
	VIEW_SORT_BRANCHES,
	VIEW_SORT_MISPREDICTED,
	VIEW_SORT_SIMD,
	VIEW_SORT_SNOOPED,
	VIEW_SORT_PEER,
	VIEW_SORT_MODIFIED,
	VIEW_SORT_L1, /* this and the following levels: accesses that the level served */
	VIEW_SORT_L2,
	VIEW_SORT_L3,
	VIEW_SORT_SYSTEM_CACHE,
	VIEW_SORT_LLC,
	VIEW_SORT_ISSUE, /* from here on: sums of latencies */
	VIEW_SORT_TRANSLATION,
	VIEW_SORT_P99, /* from here on: percentiles, which cannot be added up */
	VIEW_SORT_ISSUE_P99,
	VIEW_SORT_TRANSLATION_P99,
	VIEW_SORTS,
};

/* The period of a view: since the start, or the last 10 s, 1 min or 10 min. */
enum view_span {
	VIEW_SPAN_START,
	VIEW_SPAN_10S,
	VIEW_SPAN_1M,
	VIEW_SPAN_10M,
	VIEW_SPANS,
};

#define VIEW_EVENTS 32

/**
 * struct view_row - one line of a view
 * @samples: number of records attributed to the row
 * @memory: loads and stores among @samples
 * @dram: samples of @memory that no cache served (LLC miss, or data source DRAM)
 * @branches: branches among @samples
 * @mispredicted: mispredicted branches
 * @latency_sum: sum of total latencies, cycles
 * @p50, @p99: percentiles of total latency, cycles; 0 if no counter was recorded
 * @pid: process id; 0 for groups of several processes
 * @container: name; "-" for none. All strings are escaped
 * @process: name of the process; of the program if rows are by function, line or program
 * @function, @binary: names
 * @file, @line: position in the source, for VIEW_LINE; "" and 0 if unknown
 * @inlines: functions that are inlined at the heaviest location of the row, innermost first,
 * separated by newlines
 * @level: loads and stores, indexed by the &enum spe_level that served them; their sum is @memory
 * @remote: samples of @memory that accessed another chip, at any level
 * @loads, @stores: loads, and stores; their sum is @memory
 * @simd: SVE and SME operations
 * @snooped: samples of @memory that another cache served
 * @peer: samples of @snooped that the cache of another core served
 * @modified: samples of @snooped that found the line dirty in the other cache
 * @issue_sum, @issue_p50, @issue_p99: as for total latency; for functions the percentiles are
 *	rounded up to a power of two
 * @translation_sum, @translation_p50, @translation_p99: the same for translation latency
 * @weight: operations that the samples stand for, indexed by &enum sample_unit. For functions, if
 *	view_get_share_unit() is UNITS, they are estimated from the weight of the processes
 * @event: samples, indexed by the bit of the Events packet
 */
struct view_row {
	u64 samples;
	u64 memory;
	u64 dram;
	u64 branches;
	u64 mispredicted;
	u64 latency_sum;
	u32 p50;
	u32 p99;
	s32 pid;
	char container[128];
	char process[64];
	char function[128];
	char binary[128];
	char file[192];
	char inlines[256];
	u32 line;
	u64 level[SPE_LEVELS];
	u64 remote;
	u64 loads;
	u64 stores;
	u64 simd;
	u64 snooped;
	u64 peer;
	u64 modified;
	u64 issue_sum;
	u64 translation_sum;
	u32 issue_p50;
	u32 issue_p99;
	u32 translation_p50;
	u32 translation_p99;
	u64 weight[UNITS];
	u64 event[VIEW_EVENTS];
};

/** enum memory_share - the users of the memory budget */
enum memory_share {
	MEMORY_FIXED, /* code, stacks, history, sample classes: fixed sizes */
	MEMORY_TABLES, /* tables of attribution and of the session "machine" */
	MEMORY_RINGS, /* rings and AUX areas of the source */
	MEMORY_TASKS, /* perf's rings for task events and context switches, BPF's ring and maps */
	MEMORY_NAMES, /* names of functions, and the tables to resolve them */
	MEMORY_CHECKPOINT, /* the checkpoint, which outlives the process */
	MEMORY_SESSIONS, /* sessions of D-Bus clients: tables and BufferSize */
	MEMORY_SHARES,
};

/** memory_share_name() - return the name of a user of the budget, such as "tables" or "rings" */
const char *memory_share_name(enum memory_share share);

/**
 * struct view_header - the state of the machine and the ledgers
 * @source: "emulated", "module", "perf" or "recording"; in the command also "history", the history on
 * disk, and "saved", a saved profile
 * @source_reason: why no better source is in use, and which features this one lacks; "" if it has
 * all
 * @tasks: source of task events: "bpf", "perf" or "proc"; "" for a recording
 * @tasks_reason: why no better source of task events is in use; "" if nothing is missing
 * @task_ids: how the task of a sample is identified: "records": by the thread ID in each record;
 * "bpf" or "perf": by context switches that BPF or perf reports; "none": it cannot be identified;
 * "": unknown until the first record, or for a recording
 * @switches: number of context switches that were recorded
 * @backend: &enum sample_backend
 * @running: sampling is running
 * @cpus: number of sampled CPUs
 * @duration_ns: enabled time, wall clock
 * @enabled_ns, @blind_ns: enabled and blind time, summed over CPUs; @enabled_ns is armed plus blind
 * time
 * @blind_by: @blind_ns, indexed by &enum source_blind
 * @unhandled_ns: upper bound of the part of the armed time in which an SPU had stopped, and its
 *	interrupt was not handled yet; only from the daemon, and 0 from sources that do not report it
 * @interval_ns: time between samples of a CPU, unless its interval was extended to limit the cost
 * @interval_longest_ns, @interval_mean_ns: maximum and mean over all CPUs of the time between
 * samples
 * @overhead: limit of the cost of sampling, in 1/100,000 of the machine; 0: no limit
 * @overhead_cost: the cost of sampling, in 1/100,000 of the machine, at least 1; 0: not measured
 * yet
 * @cpus_held: number of CPUs with an interval that was extended to limit the cost
 * @records: number of records
 * @bytes: bytes that PMBPTR advanced = @decoded + @padding + @suspect
 * @written: records written, WINDOW_WRITTEN_UNKNOWN if the SPU does not count them
 * @truncated: windows that lost their last data: PMBSR.DL, or perf's "AUX data lost"
 * @gaps: windows of perf in which records are missing
 * @ledgers_unknown: the source does not report when windows were armed, so @duration_ns,
 *	@enabled_ns, @blind_ns and @lost are unknown
 * @filtered: records that the filter rejected; they are not in @records
 * @unattributed: samples without a process
 * @names_pending: locations without a name yet; a later view has them
 * @names_reason: why names are missing; "" if nothing is wrong
 * @evicted: samples of locations that were evicted from the bounded tables
 * @processes_evicted, @mappings_dropped: number of processes and mappings of a recording that did
 *	not fit in the tables; 0 for a daemon: its metrics have them
 * @weight: operations that all samples stand for, indexed by &enum sample_unit; 0 from a daemon
 * that does not report them
 * @unweighed: samples with an unknown interval, which no weight includes
 * @unattributed_weight, @evicted_weight: weights of the samples in @unattributed and @evicted, in
 * the unit of view_get_share_unit()
 * @sort_whole: sum of view_get_sort_numerator() over all samples, for the sort order of the view
 * @cost_ns: CPU time of the daemon, without the kernel's cost of sampling; 0 in a view of a
 *	period
 * @memory: resident bytes of the daemon
 * @memory_locked: bytes of rings and maps in kernel memory, which @memory may include
 * @memory_budget: bytes that all growing tables were sized for; 0 without a budget
 * @memory_share: bytes of the budget, indexed by &enum memory_share
 * @faults, @throttles, @unread, @cpus_stopped: as in &struct source_health
 * @task_events_lost: task events that the kernel dropped because a ring was full
 * @mappings_lost: executable mappings that the kernel dropped, if they are counted separately
 * @fault: text of the last fault or read error; "" for none
 * @config_refused: why the configuration files are not in force; "" if they are
 * @config_waiting: names of the settings that take effect after a restart; "" for none
 */
struct view_header {
	char source[16];
	char source_reason[256];
	char tasks[8];
	char tasks_reason[640];
	char task_ids[8];
	u64 switches;
	u8 backend;
	bool running;
	u32 cpus;
	u64 duration_ns;
	u64 enabled_ns;
	u64 blind_ns;
	u64 blind_by[SOURCE_BLINDS];
	u64 unhandled_ns;
	u64 interval_ns;
	u64 interval_longest_ns;
	u64 interval_mean_ns;
	u64 overhead_cost;
	u32 overhead;
	u32 cpus_held;
	u64 records;
	u64 bytes;
	u64 decoded;
	u64 padding;
	u64 suspect;
	u64 lost;
	u64 truncated;
	u64 gaps;
	bool ledgers_unknown;
	u64 written;
	u64 filtered;
	u64 unattributed;
	u64 names_pending;
	char names_reason[192];
	u64 evicted;
	u64 processes_evicted;
	u64 mappings_dropped;
	u64 weight[UNITS];
	u64 unweighed;
	u64 unattributed_weight;
	u64 evicted_weight;
	u64 sort_whole;
	u64 cost_ns;
	u64 memory;
	u64 memory_locked;
	u64 memory_budget;
	u64 memory_share[MEMORY_SHARES];
	u64 faults;
	u64 throttles;
	u64 unread;
	u64 task_events_lost;
	u64 mappings_lost;
	u32 cpus_stopped;
	char fault[96];
	char config_refused[896];
	char config_waiting[160];
};

/**
 * struct view - a header and rows
 * @header: the header
 * @count: number of @rows
 * @rows: the rows, in descending order of view_get_sort_key()
 * @latencies: for each row, a JSON object of the numbers of samples by total latency, from
 *	details_write_latencies(); NULL: not known
 */
struct view {
	struct view_header header;
	u32 count;
	struct view_row *rows;
	char **latencies;
};

/**
 * view_get_share_unit() - return the unit of the weights from which shares are computed
 *
 * Return: &enum sample_unit if all samples have that unit. UNITS if the interval or unit of some
 * samples is unknown, or if CPUs count in different units; shares are then computed from numbers of
 * samples.
 */
unsigned int view_get_share_unit(const struct view_header *header);

/**
 * view_is_live() - return true if a profile is the one that the daemon counts now: its source is not
 * "recording", "history" or "saved"
 */
bool view_is_live(const struct view_header *header);

/** view_unit_name() - return the JSON key of a unit; "samples" for UNITS */
const char *view_unit_name(unsigned int unit);

/**
 * view_get_share_numerator(), view_get_share_denominator() - return numerator and denominator of
 * the share of a row; @unit: view_get_share_unit()
 */
u64 view_get_share_numerator(const struct view_row *row, unsigned int unit);
u64 view_get_share_denominator(const struct view_header *header, unsigned int unit);

/**
 * view_get_sort_numerator() - return the numerator of a row's share of the sort key of all rows
 *
 * The denominator is &view_header.sort_whole. Percentiles have no sum. If rows are sorted by a
 * percentile, the share of samples is used instead.
 *
 * Return: view_get_sort_key(); for a percentile, view_get_share_numerator().
 */
u64 view_get_sort_numerator(const struct view_row *row, enum view_sort sort, unsigned int unit);

/** view_get_sort_key() - return the value that rows are sorted by, the largest first */
u64 view_get_sort_key(const struct view_row *row, enum view_sort sort, unsigned int unit);

/** view_clear() - free the rows and their latencies */
void view_clear(struct view *view);

/**
 * view_blind_name() - return the name of a cause of blind time, as D-Bus, JSON and metrics use it
 */
const char *view_blind_name(enum source_blind cause);

const char *view_group_name(enum view_group group);
const char *view_sort_name(enum view_sort sort);

/* Lists of all names, for error messages about an unknown name. */
#define VIEW_GROUP_LIST "function, line, process, container, program or binary"
#define VIEW_SORT_PERIOD_LIST                                                                \
	"samples, latency, dram, remote, memory, branches or mispredicted of processes and " \
	"functions"
#define VIEW_SORT_LIST                                                                             \
	"samples, latency, dram, remote, memory, loads, stores, branches, mispredicted, simd, "    \
	"snooped, peer, modified, l1, l2, l3, system_cache, llc, issue, translation, p99, "        \
	"issue_p99 or translation_p99"

/**
 * view_sort_is_supported() - return true if rows of @group in @span can be sorted by @sort
 *
 * Rows of a period have fewer counters than rows since the start.
 */
bool view_sort_is_supported(enum view_sort sort, enum view_span span, enum view_group group);

/**
 * view_sort_heading() - return the heading of the column with view_get_sort_key()
 *
 * Return: a static string; "" for VIEW_SORT_SAMPLES, because the share column shows samples.
 */
const char *view_sort_heading(enum view_sort sort);

/* The names of groups, sort orders and periods. The parsers return -EINVAL for an unknown name. */
const char *view_span_name(enum view_span span);
int view_span_parse(const char *name, enum view_span *ret_span);
int view_group_parse(const char *name, enum view_group *ret_group);
int view_sort_parse(const char *name, enum view_sort *ret_sort);

#endif
