/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views: what is shown of a profile, the same from a recording, from the bus
 * and in JSON. The daemon fills one from a snapshot; the tools draw it.
 */
#ifndef SPEPROF_VIEW_H
#define SPEPROF_VIEW_H

#include "codec/data-source.h"
#include "codec/env.h"
#include "source/source.h"

enum view_group {
	VIEW_FUNCTION, /* container, process, function */
	VIEW_PROCESS, /* container, process */
	VIEW_CONTAINER,
	VIEW_LINE, /* container, process, function, source line */
	VIEW_GROUPS,
};

enum view_sort {
	VIEW_SORT_SAMPLES,
	VIEW_SORT_LATENCY, /* sum of total latency: where cycles wait */
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
	VIEW_SORT_L1, /* served by it, as the next ones */
	VIEW_SORT_L2,
	VIEW_SORT_L3,
	VIEW_SORT_SYSTEM_CACHE,
	VIEW_SORT_LLC,
	VIEW_SORT_ISSUE, /* from here on of latencies: sums */
	VIEW_SORT_TRANSLATION,
	VIEW_SORT_P99, /* from here on percentiles: those of parts do not add up to the whole's */
	VIEW_SORT_ISSUE_P99,
	VIEW_SORT_TRANSLATION_P99,
	VIEW_SORTS,
};

/* What a view is of: all since the start, or what came last. */
enum view_span {
	VIEW_SPAN_START,
	VIEW_SPAN_10S,
	VIEW_SPAN_1M,
	VIEW_SPAN_10M,
	VIEW_SPANS,
};

#define VIEW_EVENTS 32

/**
 * struct view_row - one line
 * @samples: records attributed to it
 * @memory: loads and stores among them
 * @dram: those of @memory that no cache served (LLC miss, or data source DRAM)
 * @mispredicted: branches
 * @latency_sum: cycles, total latency
 * @p50, @p99: total latency, cycles; 0 where no counter was recorded
 * @pid: 0 for groups of several
 * @container: "-" for none; all strings are escaped
 * @level: what served @memory, by &enum spe_level; their sum is @memory
 * @file, @line: in the source, for VIEW_LINE; "" and 0 where not known
 * @inlines: functions that are inlined at its heaviest place, innermost first, parted by
 *	newlines
 * @remote: those of @memory that accessed another chip, whichever level it was
 * @loads, @stores: which @memory is the sum of
 * @simd: SVE and SME operations
 * @snooped, @peer, @modified: those of @memory that came from another cache, from another
 *	core's, and were dirty there
 * @issue_*, @translation_*: as of total latency; of functions the percentiles are rounded up
 *	to a power of two
 * @weight: operations that the samples stand for, by &enum sample_unit; of functions, where
 *	there is no view_unit(), in proportion to their processes'
 * @event: by bit of the Events packet
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

/** enum memory_share - who the budget is shared by */
enum memory_share {
	MEMORY_FIXED, /* code, stacks, sub-windows, combinations of traits: what has one size */
	MEMORY_TABLES, /* of attribution and of the session "machine" */
	MEMORY_RINGS, /* the source's: rings, AUX areas */
	MEMORY_TASKS, /* task events' and context switches' rings of perf, BPF's ring and maps */
	MEMORY_NAMES, /* of functions, and what they are looked up by */
	MEMORY_CHECKPOINT, /* what outlives the process */
	MEMORY_SESSIONS, /* of the bus: tables and BufferSize */
	MEMORY_SHARES,
};

/** memory_share_name() - "tables", "rings" ... */
const char *memory_share_name(enum memory_share share);

/**
 * struct view_header - the state of the machine and the ledgers
 * @backend: &enum backend
 * @source: "emulated", "module", "perf", "recording"
 * @source_reason: why not a better one, and what it lacks; "" if nothing is missing
 * @tasks: what tells of tasks: "bpf", "perf" or "proc"; "" of a recording
 * @tasks_reason: why nothing better does; "" if nothing is missing
 * @duration_ns: enabled time, wall clock
 * @enabled_ns, @blind_ns: summed over CPUs: @enabled_ns = armed + blind
 * @blind_by: @blind_ns by &enum source_blind
 * @bytes: what PMBPTR advanced = @decoded + @padding + @suspect + @dropped
 * @written: records written, WINDOW_WRITTEN_UNKNOWN where the SPU cannot tell
 * @truncated: windows at whose end data was lost: PMBSR.DL, or perf's "AUX data lost"
 * @gaps: windows of perf in which records are missing
 * @ledgers_unknown: the source does not say when windows were armed, so @duration_ns,
 *	@enabled_ns, @blind_ns and @lost are not known
 * @filtered: records that the filter left out; they are not in @records
 * @names_pending: places whose names are still being looked up; who asks again has them
 * @names_reason: why there are none; "" if nothing is wrong
 * @unattributed: samples without a process
 * @idle: samples of the idle task (TID 0)
 * @evicted: samples whose location was evicted from the bounded tables
 * @weight: operations that all samples stand for, by &enum sample_unit; 0 of a daemon that
 *	does not say
 * @unweighed: samples that were taken with an interval that is not known: they are in no weight
 * @unattributed_weight, @evicted_weight: as those samples', in view_unit()
 * @cost_ns: CPU time of the daemon, 0 of a window of time; what sampling costs in the kernel is not
 *	in it
 * @memory: resident bytes of the daemon
 * @interval_ns: between samples of a CPU that is not held back
 * @interval_longest_ns, @interval_mean_ns: of all CPUs
 * @cpus_held: how many have a longer one, for what they cost
 * @overhead, @overhead_cost: what sampling may cost, and does, of 100,000 parts of the machine; 0: no bound
 * @memory_locked: bytes of rings and maps in the kernel's memory, which may be in @memory too
 * @memory_budget: what all that may grow was sized for, 0 if nothing was
 * @memory_share: what each may take of that, by &enum memory_share
 * @faults, @throttles, @unread, @cpus_stopped: as &struct source_trouble has them
 * @task_events_lost: what the kernel had no room to tell of tasks
 * @mappings_lost: the same of executable mappings, where these are counted apart
 * @fault: the last of @faults, or of reading, for people; "" for none
 * @config_refused: why what the configuration's files say is not in force; "" if it is
 * @config_waiting: settings of theirs that wait for a restart, by name; "" for none
 */
struct view_header {
	char source[16];
	char source_reason[256];
	char tasks[8];
	char tasks_reason[384];
	u8 backend;
	bool running;
	u32 cpus;
	u64 duration_ns;
	u64 enabled_ns;
	u64 blind_ns;
	u64 blind_by[SOURCE_BLINDS];
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
	u64 dropped;
	u64 written;
	u64 filtered;
	u64 unattributed;
	u64 names_pending;
	char names_reason[192];
	u64 evicted;
	u64 weight[UNITS];
	u64 unweighed;
	u64 unattributed_weight;
	u64 evicted_weight;
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

/** struct view - a header and @count rows, heaviest first */
struct view {
	struct view_header header;
	u32 count;
	struct view_row *rows;
};

/**
 * view_unit() - the one unit that all samples are weighed in, so that shares are of weights
 *
 * Return: &enum sample_unit; UNITS where there is no such: the interval or the unit of some is
 * not known, or CPUs count different things. Shares are of samples then.
 */
unsigned int view_unit(const struct view_header *header);

/** view_unit_name() - as a key of JSON; "samples" for UNITS */
const char *view_unit_name(unsigned int unit);

/** view_part(), view_whole() - what a share is of; @unit: view_unit() */
u64 view_part(const struct view_row *row, unsigned int unit);
u64 view_whole(const struct view_header *header, unsigned int unit);

/** view_key() - what rows are ordered by, the largest first */
u64 view_key(const struct view_row *row, enum view_sort sort, unsigned int unit);

/** view_clear() - free the rows */
void view_clear(struct view *view);

/** view_blind_name() - a word, the same on the bus, in JSON and as a label of metrics */
const char *view_blind_name(enum source_blind cause);

const char *view_group_name(enum view_group group);
const char *view_sort_name(enum view_sort sort);

/** VIEW_GROUP_LIST, VIEW_SORT_LIST, VIEW_SORT_WINDOW_LIST - all names, for people who gave another */
#define VIEW_GROUP_LIST "function, line, process or container"
#define VIEW_SORT_WINDOW_LIST \
	"samples, latency, dram, remote, memory, branches or mispredicted of processes and functions"
#define VIEW_SORT_LIST                                                                             \
	"samples, latency, dram, remote, memory, loads, stores, branches, mispredicted, simd, "    \
	"snooped, peer, modified, l1, l2, l3, system_cache, llc, issue, translation, p99, "        \
	"issue_p99 or translation_p99"

/** view_sort_holds() - can rows by @group of @span be sorted so: of windows less is kept */
bool view_sort_holds(enum view_sort sort, enum view_span span, enum view_group group);

/** view_sort_heading() - of a column with view_key(); "" of VIEW_SORT_SAMPLES, which has a share */
const char *view_sort_heading(enum view_sort sort);

/** view_group_parse(), view_sort_parse() - by name; -EINVAL if there is none such */
const char *view_span_name(enum view_span span);
int view_span_parse(const char *name, enum view_span *ret_span);
int view_group_parse(const char *name, enum view_group *ret_group);
int view_sort_parse(const char *name, enum view_sort *ret_sort);

#endif
