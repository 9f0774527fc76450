/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A profile's tables, for the files that aggregate into and read from it. */
#ifndef SPEPROF_PROFILE_INTERNAL_H
#define SPEPROF_PROFILE_INTERNAL_H

#include "attribution/attributor-save.h"
#include "cache-lines.h"
#include "codec/data-source.h"
#include "codec/layout.h"
#include "hot-pages.h"
#include "location-table.h"
#include "profile-read.h"
#include "sample-class.h"
#include "task-counters.h"

#include <pthread.h>

#define CONTEXTS (sizeof(((struct spe_sample *)0)->context) / sizeof(u32))

struct context_count {
	u32 value;
	u64 count;
};

/* In struct task_slot.key: what tells whose a sample is, above its value. */
enum task_key_kind {
	TASK_KEY_CONTEXT_EL1,
	TASK_KEY_CONTEXT_EL2,
	TASK_KEY_WINDOW,
	TASK_KEY_NONE,
};

#define TASK_SLOT_BITS 8

/**
 * struct task_slot - whose samples with some context are
 * @key: &enum task_key_kind << 32 | value
 * @epoch: of the profile, when it was asked for; another one now: it must be again
 * @span: the times for which the answer holds
 * @owner, @salt: as in struct location_key; in the same epoch, as @sum is
 * @entry, @sum: where they count, but for what follows: of a process, else as it says
 * @ones, @latency_sum, @latency_max, @bucket, @samples: since it was flushed: what their
 *	traits were, their latencies, and how many
 * @waits: a query to /proc is under way: samples wait while there is capacity
 */
struct task_slot {
	u64 key;
	u64 epoch;
	struct attribute_span span;
	u64 owner;
	u64 salt;
	struct process_tally *entry;
	struct counters *sum;
	sample_class_lanes ones[SAMPLE_CLASS_LANES];
	latency_lanes latency_sum;
	latency_lanes latency_max;
	u8 bucket[PROFILE_LATENCIES][HISTOGRAM_BUCKETS + 1];
	u32 samples;
	bool waits;
};

/*
 * Samples on their way into the table of locations. What a sample touches there is
 * in no cache, mostly: it is asked for in two steps, and written once it is there,
 * while the samples behind it are decoded.
 */
#define PIPELINE_SLOTS 32 /* a power of two */
#define PIPELINE_FETCH 8 /* steps after which a set's tags are there */
#define PIPELINE_ADD   24 /* and the entry */

/**
 * struct pipeline_sample
 * @entry: the one it is most likely for, once that was looked for; NULL: none
 */
struct pipeline_sample {
	struct sample_facts facts;
	struct location_key key;
	const struct location *entry;
};

struct pipeline {
	u64 count; /* samples that went in */
	struct pipeline_sample sample[PIPELINE_SLOTS];
};

/* Values that a Data Source packet may have. */
#define PROFILE_SOURCES 65536

/* Samples of a window that are more than counted, at most; more than a run has. */
#define PENDING 512

/**
 * struct pending - one of them
 * @owner, @key: as of its struct task_slot, which may be another's by now
 * @raw, @layout: its record, and which layout it had
 * @flags, @origin: of its traits
 */
struct pending {
	u64 owner;
	u64 key;
	const u8 *raw;
	u8 layout;
	u8 flags;
	u8 origin;
};

/* Samples that wait until /proc has identified their task, at most: a full ring of 64 KiB. */
#define WAITING 1024

/**
 * struct waiting_sample - one of them, with the facts of its window
 * @raw: the record
 * @task, @time_ns: arguments of profile_resolve_task()
 * @sources: of the core's Data Source packets
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
};

/* Counters have 12 bits, on most cores: buckets of such values are looked up. */
#define BUCKET_VALUES 4096

/* Tables of data sources that windows came with. */
#define ENCODINGS 16

/**
 * struct profile_commons - what all shards of a profile have together
 * @lock: held for the samples of one window that are pending, 512 at the most
 * @lines, @pages: who meets in one is told by samples of all CPUs, in their order
 * @observers: change only while no shard is fed
 */
struct profile_commons {
	pthread_mutex_t lock;
	struct lines lines;
	struct pages pages;
	struct profile_observer *observers;
};

/**
 * struct profile
 * @whole: of a shard: what it is merged into, which has its commons; else NULL
 * @reader: of the attributor, where several threads ask it; else NULL
 * @began_ns, @ended_ns: of a shard, the times of its windows; 0 for none
 * @sample_class, @task_slot: memories of what samples were, with counts that the counters below
 *	have only once profile_flush() was called; as those of @containers, and
 *	unattributed samples
 * @pipeline: samples that @locations does not have yet: settling brings them there
 * @epoch: grows when @task_slot is to be asked for again
 * @changes: of the attributor, when it was asked the last time
 * @interval, @unit: of the window at hand: what its samples weigh
 * @excess: of a sample's facts: @interval less that of @locations
 * @nobody, @elsewhere: where samples count that have no process, and whose process
 *	there was no memory for
 * @exited: of containers, samples of processes that are no longer there
 * @containers: those, and of processes that are
 * @room: how many figures all of these may be
 * @waiting: allocated with the first of @waiting_count; they are in no counter yet
 * @waited: of the window at hand
 * @bucket: histogram buckets by value
 */
struct profile {
	struct pipeline pipeline;
	struct task_slot task_slot[1 << TASK_SLOT_BITS];
	struct attributor *attributor;
	struct attribute_reader *reader;
	struct profile *whole;
	u64 midr; /* where a window has none */
	const struct filter *filter;
	struct profile_commons *commons;
	u64 began_ns;
	u64 ended_ns;
	struct spe_layouts layouts;
	struct sample_class_catalog sample_class;
	const struct spe_data_sources *encodings[ENCODINGS];
	u64 epoch;
	u64 changes;
	struct location_table *locations;
	struct pending pending[PENDING]; /* empty between windows */
	struct history history;
	struct process_tally *processes;
	struct container_tally *exited;
	struct counters **containers; /* by index; NULL for those without a sample */
	struct tally_budget room;
	struct counters nobody;
	struct counters elsewhere;

	struct view_header header;
	u64 kinds[SPE_KINDS];
	u64 simd;
	u64 events[64];
	struct counters machine; /* as of profile_flush() */
	u64 *sources; /* by value, 65536 of them */
	u64 levels[SPE_LEVELS]; /* of loads and stores */
	u64 origins[SAMPLE_ORIGINS]; /* of them, by bit of SPE_ORIGIN_* */
	struct context_count *contexts[CONTEXTS];
	u64 context_overflow; /* values for which there was no room near theirs */
	u32 context_slots; /* of each; a power of two */
	u32 encoding_count;
	u32 process_count; /* capacities, grown to what the attributor uses */
	u32 exited_count;
	u32 container_count;
	u32 pending_count;
	u32 waiting_count;
	u32 waited;
	struct waiting_sample *waiting;
	u64 location_bytes; /* as in the configuration */
	u32 interval;
	u8 unit;
	u64 excess;
	u8 bucket[BUCKET_VALUES];
};

/** profile_insert_location_slow() - profile_insert_location() of one that is not where it most likely was */
void profile_insert_location_slow(struct profile *p, const struct pipeline_sample *w);

/** profile_insert_location() - sample @w of the way gets into the table of locations, or is evicted */
static inline void profile_insert_location(struct profile *p, const struct pipeline_sample *w)
{
	struct location *entry = (struct location *)w->entry;
	bool there = entry && entry->place == w->key.place && entry->owner == w->key.owner;

	if (__builtin_expect(there, 1))
		location_add(p->locations, entry, &w->facts);
	else
		profile_insert_location_slow(p, w);
}

/** profile_restore_exited() - count @sum to a container, as of no process of now; -ENOMEM */
int profile_restore_exited(struct profile *profile, u32 container, u32 generation,
			   const struct counters *sum);

/** profile_restore_process() - process @index has counted @entry; @moved_from is copied; -ENOMEM */
int profile_restore_process(struct profile *profile, u32 index, const struct process_tally *entry);

/** profile_count_waiting() - count @w as a sample of @task_slot */
void profile_count_waiting(struct profile *profile, const struct waiting_sample *w,
			   struct task_slot *task_slot);

/** profile_task_slot_at() - whose a sample with @key at @time_ns is */
struct task_slot *profile_task_slot_at(struct profile *profile, u64 key, u64 time_ns);

/** profile_queue_sample() - keep @w until its task is known; false if the queue is full */
bool profile_queue_sample(struct profile *profile, const struct waiting_sample *w);

/** profile_retry_queued() - count those whose task is known by now */
void profile_retry_queued(struct profile *profile);

/** profile_move_queued() - those of @from wait in @to; those that do not fit are unattributed in @from */
void profile_move_queued(struct profile *to, struct profile *from);

/** profile_gather() - what is on its way into counters gets there; sums are not worked out */
void profile_gather(struct profile *profile);

/** profile_forget() - what was counted, but not what is in common */
void profile_forget(struct profile *profile);

/** profile_merge_exited(), profile_merge_process() - what a shard counted at @index */
void profile_merge_exited(struct profile *profile, u32 index, const struct container_tally *from);
void profile_merge_process(struct profile *profile, u32 index, const struct process_tally *from);

/** profile_close_slot() - a sub-window of &profile.windows has ended at @now_ns */
void profile_close_slot(struct profile *profile, u64 now_ns);

/**
 * profile_open_slot() - what the sub-window of now has counted so far, which goes on; valid until
 * the next sub-window or sum, and without what windows.carried has
 */
const struct history_slot *profile_open_slot(struct profile *profile);

/** profile_mark_slot() - the sub-window of now begins with what there is: after it was restored */
void profile_mark_slot(struct profile *profile);

/* Of whom figures are, in a checkpoint; profile-save.c. */
void profile_owner_save(u64 owner, struct serializer *to);
/** profile_owner_load() - false if there is nobody any more */
bool profile_owner_load(struct deserializer *from, const struct attribute_translation *translation,
			u64 *ret_owner);

/* profile-save-memory.c, history-save.c: parts of profile_save() and profile_load() */
void profile_hot_save(const struct profile *profile, struct serializer *to);
void profile_hot_load(struct profile *profile, struct deserializer *from,
		      const struct attribute_translation *translation);
void profile_history_save(struct profile *profile, struct serializer *to);
/** profile_history_load() - all else has been loaded; 0 or -ENOMEM */
int profile_history_load(struct profile *profile, struct deserializer *from,
			 const struct attribute_translation *translation);

/* Parts of views, for those who make rows of something else. */
void row_counters(struct view_row *row, const struct counters *counters);
void row_container(struct profile *profile, struct view_row *row, u32 index);
void row_process(struct profile *profile, struct view_row *row, u32 index);
/** row_location() - process, function and binary */
void row_location(struct profile *profile, struct symbols *symbols, bool live, struct view_row *row,
		  u64 place, u64 owner);
/** location_is_stale() - its process is gone from the attributor's table, and another has its place */
bool location_is_stale(const struct profile *profile, const struct location *location);
void rows_sort(struct view *view, enum view_sort sort, u32 limit);

/** profile_resolve_task() - @slot, by what @key says at @time_ns; not where it was valid already */
void profile_resolve_task(struct profile *profile, struct task_slot *slot, u64 key, u64 time_ns);

/** profile_set_weight() - samples from now on are of windows with @interval in @unit */
void profile_set_weight(struct profile *profile, u32 interval, u8 unit);

/** profile_flush_task_slot() - bring what @task_slot counted where it belongs */
void profile_flush_task_slot(struct profile *profile, struct task_slot *task_slot);

/** profile_sample_class() - where @events and @key are counted, which were not where it was guessed */
struct sample_class *profile_sample_class(struct profile *profile, u64 events, u64 key);

/** profile_encoding() - the index by which traits know @sources */
u32 profile_encoding(struct profile *profile, const struct spe_data_sources *sources);

/** profile_count_context() - @count samples had @value as context @index */
void profile_count_context(struct profile *profile, unsigned int index, u32 value, u64 count);

#endif
