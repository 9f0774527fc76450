/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of a profile, for the files that count samples and read the counters. */
#ifndef SPEPROF_PROFILE_INTERNAL_H
#define SPEPROF_PROFILE_INTERNAL_H

#include "attribution/attributor-save.h"
#include "cache-lines.h"
#include "cell-counter.h"
#include "codec/data-source.h"
#include "filter/task-filter.h"
#include "hot-pages.h"
#include "location-key.h"
#include "profile-cells.h"
#include "profile-read.h"
#include "sample-class.h"
#include "sample-stage.h"
#include "task-counters.h"

#include <pthread.h>

#define PROFILE_CONTEXTS (sizeof(((struct spe_sample *)0)->context) / sizeof(u32))

struct context_count {
	u32 value;
	u64 count;
};

/* One latency per lane, by &enum profile_latency; the last lane is 0. */
typedef u32 latency_lanes __attribute__((vector_size(16)));

/**
 * struct task_slot - cached counters of the samples of one task
 * @key: &resolved_task.task
 * @version: &resolved_task.version with which the slot was filled. The slot is invalid for another
 *	version; 0: invalid
 * @owner: location_owner_make() of the process
 * @program: program of the task
 * @entry, @sum: entry of the process, and counters. A flush adds the samples below to them
 * @ones, @latency_sum, @latency_max, @bucket, @samples: counters since the last flush: sums of
 *	&sample_class.ones, the latencies and the number of samples
 */
struct task_slot {
	u64 key;
	u64 version;
	u64 owner;
	struct task_program program;
	struct process_tally *entry;
	struct profile_counters *sum;
	sample_class_lanes ones[SAMPLE_CLASS_LANES];
	latency_lanes latency_sum;
	latency_lanes latency_max;
	u8 bucket[PROFILE_LATENCIES][HISTOGRAM_BUCKETS + 1];
	u32 samples;
};

/**
 * struct task_verdict - result of the filter for the samples of a task; @version:
 * &resolved_task.version of the task, 0 for no result
 */
struct task_verdict {
	u64 version;
	enum filter_verdict verdict;
};

/* Flag in &class_verdict.key: the entry is in use. No key of a sample class has this bit. */
#define CLASS_VERDICT_KNOWN (1ULL << 63)

/**
 * struct class_verdict - result of the filter for all samples of a class
 * @events, @key: as in &struct sample_class, and CLASS_VERDICT_KNOWN in @key
 */
struct class_verdict {
	u64 events;
	u64 key;
	enum filter_verdict verdict;
};

/* Number of possible values of a Data Source packet; entries of &profile.sources. */
#define PROFILE_SOURCES 65536

/*
 * Maximum number of pending samples: samples that are also counted in lines, pages or contexts. It
 * exceeds the number of samples in a run (SPE_RUN).
 */
#define PENDING_SAMPLES_MAX 512

/**
 * struct pending_sample - a sample that is also counted in cache lines, pages or contexts
 * @owner, @key: copied from the task slot of the sample, which another task may use before the
 *	sample is counted
 * @raw, @layout: the record of the sample, and the index of the record's layout
 * @flags, @origin: as in its sample class
 */
struct pending_sample {
	u64 owner;
	u64 key;
	const u8 *raw;
	u8 layout;
	u8 flags;
	u8 origin;
};

/* Entries of &profile.waiting, which wait for /proc: the records of a full ring of 64 KiB. */
#define WAITING_SAMPLES_MAX 1024
/*
 * Maximum number of waiting samples that wait for a mapping. A process that unmaps its code
 * could otherwise fill the queue.
 */
#define WAITING_MAPPED_MAX (WAITING_SAMPLES_MAX / 2)
/* Timeout of a sample that waits for its mapping, nanoseconds. */
#define WAITING_TIMEOUT_NS 1000000000ULL

/**
 * struct waiting_sample - a sample that waits for /proc, with properties of its window
 * @raw: the record
 * @task, @time_ns: arguments of stage_find_task()
 * @sources: the core's table of data sources
 * @cpu: the CPU that took the sample
 * @interval, @unit: as in &struct source_window
 * @written: the number of records that were written for the window is known
 * @since_ns: 0 if the sample waits for its task. If it waits for a mapping or executable: a read of
 *	/proc that begins at this time or later finds the mapping or executable
 * @until_ns: if @since_ns is not 0: time at which the sample is counted as unmapped
 * @version: if @since_ns is not 0: version of the mappings of the process in which the mapping or
 *	executable was missing
 * @owner: if @since_ns is not 0: &resolved_task.owner
 */
struct waiting_sample {
	u8 raw[SPE_LAYOUT_BYTES];
	u64 task;
	u64 time_ns;
	const struct spe_data_sources *sources;
	u32 cpu;
	u32 interval;
	u8 unit;
	bool written;
	u64 since_ns;
	u64 until_ns;
	u64 version;
	u64 owner;
};

/* Latency counters have 12 bits on most cores. &profile.bucket has the buckets of such values. */
#define BUCKET_VALUES 4096

/* Entries of &profile.encodings: the maximum number of different tables of data sources. */
#define ENCODINGS_MAX 16

/**
 * struct profile_shared_data - data that all shards of a profile share
 * @lock: protects @lines, @pages and the calls of observers; held while up to PENDING_SAMPLES_MAX
 *	pending samples are counted
 * @lines, @pages: hot cache lines and pages. All shards share them, because the users of a line or
 *	page are detected from the order of the samples of all CPUs
 * @observers: list of observers; it changes only while no shard is counting
 * @names: the ids of programs and binaries
 * @swept_ns: time of the last profile_sweep_ids()
 */
struct profile_shared_data {
	pthread_mutex_t lock;
	struct hot_lines lines;
	struct hot_pages pages;
	struct profile_observer *observers;
	struct cell_id_tables names;
	u64 swept_ns;
};

/**
 * struct profile - the tables and counters of one profile
 * @whole: for a shard: the profile into which the shard is merged, and which owns
 *	@shared_data; else NULL
 * @reader: reader lock slot of the attributor if several threads query it; else NULL
 * @began_ns, @ended_ns: for a shard: start of its first and end of its last window; 0 for none
 * @sample_class, @task_slot: caches with counts that profile_flush() adds to the counters below
 * @filter_latency, @filter_needs: filter_get_min_latency() and filter_needs() of @filter
 * @verdict: indexed by task_get_slot_index(); used only with FILTER_NEEDS_TASK
 * @class_verdict: indexed by sample_class_get_slot(); used only with FILTER_NEEDS_CLASS
 * @program_pid: indexed by id of a program: PID of a living process of the program; @program_pids
 *	entries
 * @cells: counter of samples by program and location
 * @stage: decodes windows for this profile, and for other profiles in the same call of
 *	profiles_add_window()
 * @interval, @unit: weight of the samples of the current window
 * @unattributed: counters of samples without a process
 * @overflow: counters of samples if no counters could be allocated for their process
 * @exited: indexed by container: samples of processes that exited or moved
 * @containers: indexed by container: all samples, including those of living processes
 * @tally: limit of the counters of processes, of @exited and of @containers
 * @waiting: @waiting_count samples that wait for /proc and are in no counter yet; allocated with
 *	the first of them
 * @waiting_mapped: number of samples in @waiting that wait for a mapping or executable
 * @waited: number of samples of the current window that wait for /proc
 * @false_sharing: number of samples of lines that were classified as LINE_FALSE when the sample
 *	arrived. It never decreases. Each shard counts its own samples, although all shards share
 *	the lines: so it covers the same samples as the other counters of the shard
 * @pending_flags: samples with one of these flags in their class are pending
 * @observer: for a shard: first element of the list of its observers
 * @bucket: histogram buckets, indexed by latency
 */
struct profile {
	struct task_slot task_slot[1 << TASK_SLOT_BITS];
	struct task_verdict verdict[1 << TASK_SLOT_BITS];
	struct class_verdict class_verdict[1 << SAMPLE_CLASS_GUESS_BITS];
	struct attributor *attributor;
	struct attribute_reader *reader;
	struct profile *whole;
	u64 midr; /* MIDR_EL1 for windows that do not have one */
	const struct filter *filter;
	u32 filter_latency;
	u8 filter_needs;
	struct profile_shared_data *shared_data;
	u64 began_ns;
	u64 ended_ns;
	struct sample_stage stage;
	struct sample_class_catalog sample_class;
	const struct spe_data_sources *encodings[ENCODINGS_MAX];
	s32 *program_pid;
	u32 program_pids;
	struct cell_counter cells;
	struct pending_sample pending[PENDING_SAMPLES_MAX]; /* empty between windows */
	struct recent_history history;
	struct process_tally *processes;
	struct container_tally *exited;
	struct profile_counters **containers; /* by index; NULL without a sample */
	struct tally_budget tally;
	struct profile_counters unattributed;
	struct profile_counters overflow;

	struct view_header header;
	u64 kinds[SPE_KINDS];
	u64 simd;
	u64 events[64];
	struct profile_counters machine; /* updated by profile_flush() */
	u64 *sources; /* indexed by Data Source value; 65536 entries */
	u32 source_end; /* larger or equal values have no samples */
	u64 levels[SPE_LEVELS]; /* of loads and stores */
	u64 origins[SAMPLE_ORIGINS]; /* of loads and stores, indexed by bit of SPE_ORIGIN_* */
	u64 false_sharing;
	struct context_count *contexts[PROFILE_CONTEXTS];
	u64 context_overflow; /* samples without a slot: none near the hash was free */
	u32 context_slots; /* maximum size of each table; a power of two */
	u32 context_size[PROFILE_CONTEXTS]; /* current size of each table; 0 or a power of two */
	u32 context_used[PROFILE_CONTEXTS];
	u32 encoding_count;
	bool encodings_full; /* the first table stands for those that did not fit */
	u32 process_count; /* capacities, which grow with the indices in the attributor */
	u32 exited_count;
	u32 container_count;
	u32 pending_count;
	u32 waiting_count;
	u32 waiting_mapped;
	u32 waited;
	struct waiting_sample *waiting;
	u32 interval;
	u8 unit;
	u8 pending_flags;
	struct profile_observer *observer;
	u8 bucket[BUCKET_VALUES];
};

/**
 * profile_restore_exited() - add @sum to a container as samples of an exited process
 *
 * Return: 0 or -ENOMEM.
 */
int profile_restore_exited(struct profile *profile, u32 container, u32 generation,
			   const struct profile_counters *sum);

/**
 * profile_restore_process() - set the counters of process @index to @entry
 *
 * &process_tally.moved_from is copied.
 *
 * Return: 0 or -ENOMEM.
 */
int profile_restore_process(struct profile *profile, u32 index, const struct process_tally *entry);

/**
 * profile_count_waiting_sample() - count @w as a sample of the task of @answer
 * @may_wait: true if the sample may continue to wait for a mapping or executable
 *
 * Return: false if the sample continues to wait; @w was updated.
 */
bool profile_count_waiting_sample(struct profile *profile, struct waiting_sample *w,
				  const struct resolved_task *answer, bool may_wait);

/**
 * profile_wait_for_mapping() - make @w wait for its mapping or executable, which is read from /proc
 * @owner: &resolved_task.owner of its task
 *
 * Without background threads, the function reads /proc before it returns.
 *
 * Return: false if the sample need not wait any longer, because the mapping is known or cannot be
 * found.
 */
bool profile_wait_for_mapping(struct profile *profile, struct waiting_sample *w, u64 owner);

/** profile_fill_task_slot() - fill @slot for the task of @answer */
void profile_fill_task_slot(struct profile *profile, struct task_slot *slot,
			    const struct resolved_task *answer);

/**
 * profile_queue_sample() - copy @w to the queue of waiting samples; returns false if the queue is
 * full
 */
bool profile_queue_sample(struct profile *profile, const struct waiting_sample *w);

/** profile_retry_waiting_samples() - count the waiting samples that have a known task by now */
void profile_retry_waiting_samples(struct profile *profile);

/**
 * profile_move_waiting_samples() - move the waiting samples of @from to @to
 *
 * Samples that do not fit are counted as unattributed in @from.
 */
void profile_move_waiting_samples(struct profile *to, struct profile *from);

/**
 * profile_flush_caches() - flush the cached counts of samples, but do not compute the sums of the
 * containers and the machine
 */
void profile_flush_caches(struct profile *profile);

/**
 * profile_clear_own_counters() - clear the counters of @profile, but not the classes, the history
 * and the tables that shards share
 */
void profile_clear_own_counters(struct profile *profile);

/** profile_merge_exited(), profile_merge_process() - add entry @index of a shard to @profile */
void profile_merge_exited(struct profile *profile, u32 index, const struct container_tally *from);
void profile_merge_process(struct profile *profile, u32 index, const struct process_tally *from);

/** profile_close_slot() - close the open slot of &profile.history at @now_ns */
void profile_close_slot(struct profile *profile, u64 now_ns);

/**
 * profile_get_open_slot() - return the counters of the open slot so far, without closing it
 *
 * The result does not include &recent_history.open_slot_saved. The pointer is valid until the next
 * slot or sum.
 */
const struct history_slot *profile_get_open_slot(struct profile *profile);

/**
 * profile_restart_open_slot() - begin the open history slot at the current totals. Call it after
 * the totals were restored
 */
void profile_restart_open_slot(struct profile *profile);

/* profile-save.c: save the owner of counters in a checkpoint. */
void profile_owner_save(u64 owner, struct serializer *to);
/** profile_owner_load() - read an owner; returns false if the owner no longer exists */
bool profile_owner_load(struct deserializer *from, const struct attribute_translation *translation,
			u64 *ret_owner);

/* Steps of profile_save() and profile_load() (profile-save-memory.c, history-save.c). */
void profile_hot_memory_save(const struct profile *profile, struct serializer *to);
void profile_hot_memory_load(struct profile *profile, struct deserializer *from,
			     const struct attribute_translation *translation);
void profile_history_save(struct profile *profile, struct serializer *to);
/**
 * profile_history_load() - load the history; call it after all other parts are loaded
 * @cells: current ids of the programs and binaries in the history
 *
 * Return: 0; -EBADMSG if the bytes are invalid; -ENOMEM if memory cannot be allocated.
 */
int profile_history_load(struct profile *profile, struct deserializer *from,
			 const struct attribute_translation *translation,
			 const struct cell_translation *cells);

/**
 * struct profile_id_translation - the current ids of saved programs and binaries
 * @translation: the ids
 * @program, @binary: memory of the ids
 */
struct profile_id_translation {
	struct cell_translation translation;
	u32 *program;
	u32 *binary;
};

/* Steps of profile_save() and profile_load() for the cells. */
void profile_cells_save(struct profile *profile, struct serializer *to);
/**
 * profile_cells_load() - load programs, binaries and cells
 * @ids: all zeros; call profile_id_translation_deinit() also on failure
 *
 * Return: 0; -EBADMSG if the bytes are invalid; -ENOMEM if memory cannot be allocated.
 */
int profile_cells_load(struct profile *profile, struct deserializer *from,
		       const struct attribute_translation *translation,
		       struct profile_id_translation *ids);
void profile_id_translation_deinit(struct profile_id_translation *ids);

/* Fill parts of a view's rows. */
void view_row_set_container(struct profile *profile, struct view_row *row, u32 index);
void view_row_set_process(struct profile *profile, struct view_row *row, u32 index);
void view_sort_rows(struct view *view, enum view_sort sort, u32 limit);
/** view_copy_string() - copy a string, truncated to @size but never within a UTF-8 sequence */
void view_copy_string(char *to, size_t size, const char *from);
/** view_row_set_program() - set container and program of @row; CELL_NO_PROGRAM is valid */
void view_row_set_program(struct profile *profile, struct view_row *row, u32 program);
/** view_row_set_cell() - set the names of a row of @group to those of a cell */
void view_row_set_cell(struct profile *profile, struct symbols_cache *symbols, bool live,
		       enum view_group group, struct view_row *row, u64 offset, u64 owner);
/** view_row_set_evicted() - set the names of a row of @group to those of evicted samples */
void view_row_set_evicted(struct view_row *row, enum view_group group);
/**
 * view_header_set_pending_names() - set the number of missing names and the reason in @ret_header
 */
void view_header_set_pending_names(struct symbols_cache *symbols, struct view_header *ret_header);
/**
 * view_header_set_sort_whole() - set &view_header.sort_whole; @all: counters of all samples of the
 * view
 */
void view_header_set_sort_whole(const struct profile_counters *all, enum view_sort sort,
				struct view_header *header);
/**
 * counters_get_sort_key() - return the key of view_get_sort_key() for all orders except samples and
 * latency
 */
u64 counters_get_sort_key(const struct profile_counters *counters, enum view_sort sort);
/** profile_view_cells() - add those rows of profile_create_view() to @view that count cells */
int profile_view_cells(struct profile *profile, struct symbols_cache *symbols, bool live,
		       enum view_group group, enum view_sort sort, u32 limit, struct view *view);

/** profile_set_weight() - set the interval and unit of the samples that follow */
void profile_set_weight(struct profile *profile, u32 interval, u8 unit);

/** profile_flush_task_slot() - add the cached counters of @task_slot to the counters of its task */
void profile_flush_task_slot(struct profile *profile, struct task_slot *task_slot);

/**
 * profile_get_sample_class() - return the class of @events and @key if &sample_class_catalog.guess
 * has another class
 */
struct sample_class *profile_get_sample_class(struct profile *profile, u64 events, u64 key);

/** profile_get_encoding_index() - return the index of @sources in the keys of sample classes */
u32 profile_get_encoding_index(struct profile *profile, const struct spe_data_sources *sources);

/** profile_count_context() - count @count samples with @value as context @index */
void profile_count_context(struct profile *profile, unsigned int index, u32 value, u64 count);

#endif
