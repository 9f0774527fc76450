/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of perf.data: a header, a stream of records with AUX bytes between them, and features
 * after the stream (tools/perf/Documentation/perf.data-file-format.txt of Linux). The file may come
 * from another machine, in either byte order. Its content is untrusted, so the limits below bound
 * the memory for it.
 */
#ifndef SPEPROF_PERFDATA_H
#define SPEPROF_PERFDATA_H

#include "recording-internal.h"
#include "tasks/task-event.h"

/* Record types of the file format that the kernel's header does not list. */
enum perfdata_type {
	PERFDATA_ATTR = 64,
	PERFDATA_TRACING_DATA = 66,
	PERFDATA_BUILD_ID = 67,
	PERFDATA_FINISHED_ROUND = 68,
	PERFDATA_AUXTRACE_INFO = 70,
	PERFDATA_AUXTRACE = 71,
	PERFDATA_TIME_CONV = 79,
	PERFDATA_FEATURE = 80,
	PERFDATA_COMPRESSED = 81,
	PERFDATA_FINISHED_INIT = 82,
	PERFDATA_COMPRESSED2 = 83,
	PERFDATA_TYPES = 90, /* larger types are unknown */
};

#define PERFDATA_HEADER_SIZE   8 /* size of &struct perf_event_header */
#define PERFDATA_AUXTRACE_SIZE 48 /* size of an AUXTRACE record without the AUX bytes that follow */

/**
 * struct perfdata_record - one record of the stream
 * @offset: offset of the record in the file
 * @end: offset of the next record. AUX bytes of this record, if any, precede it
 * @data: the bytes of the record, beginning with its header; valid until the next recording_peek()
 * @size: length of @data, bytes
 * @type: PERF_RECORD_* or &enum perfdata_type
 * @misc: PERF_RECORD_MISC_*
 */
struct perfdata_record {
	u64 offset;
	u64 end;
	const u8 *data;
	u32 size;
	u32 type;
	u16 misc;
};

/**
 * struct perfdata_trailer - the fields after a kernel record (perf_event_open(2), sample_id_all)
 * @time: ns on the events' clock; 0 if the trailer lacks it
 * @tid, @cpu: -1 if the trailer lacks them
 */
struct perfdata_trailer {
	u64 time;
	s32 tid;
	s32 cpu;
};

/**
 * struct perfdata_aux - an AUX record: one AUX transaction, a range of one AUX buffer
 * @offset, @size: the range, in bytes since the buffer was created
 * @time: when the transaction ended, ns on the events' clock
 * @buffer: CPU of the buffer; ~TID of a buffer that follows one thread
 * @tid: the thread that ran when the transaction ended; -1 if unknown
 * @flags: WINDOW_*
 */
struct perfdata_aux {
	u64 offset;
	u64 size;
	u64 time;
	s32 buffer;
	s32 tid;
	u32 flags;
};

/* An event of perf_event_open(2), and the sample_type bits of the fields in its trailers. */
struct perfdata_event {
	u64 id;
	u64 mask;
};

/* A task record that waits until all records with an earlier time have been read. */
struct perfdata_queued_task {
	u64 time;
	u64 location; /* offset in the file << 16 | size */
};

/*
 * Capacity of the queue; a record takes 16 bytes. When the queue is full, the earlier half of its
 * records is passed to the sink.
 */
#define PERFDATA_MAX_QUEUED (1U << 18)

/**
 * struct perfdata_task_queue - state of sorting the task records of several CPUs by time
 * @queue: @count records that wait, with memory for @capacity
 * @record: buffer for one record. A queued record is read from the file again when it is passed to
 * the sink
 * @latest: latest time of all records so far, ns
 * @round: value of @latest at the last FINISHED_ROUND record
 */
struct perfdata_task_queue {
	struct perfdata_queued_task *queue;
	u8 *record;
	u64 latest;
	u64 round;
	u32 count;
	u32 capacity;
};

#define BUILD_ID_MAX_BYTES 20
/* Maximum number of files with a build id, and bytes of their names. */
#define PERFDATA_MAX_BUILD_IDS 8192
#define PERFDATA_MAX_NAMES     (1U << 20)

struct perfdata_build_id {
	char *name;
	u8 id[BUILD_ID_MAX_BYTES];
	u8 size;
};

/* Build ids by file name. */
struct perfdata_build_ids {
	struct perfdata_build_id *entries;
	u32 count;
	u32 bytes; /* total length of the names */
	bool sorted;
};

struct perfdata_cpu {
	u32 cpu;
	u64 midr;
};

/* More CPUs than any machine has. */
#define PERFDATA_MAX_CPUS 8192
/* Maximum number of event ids; each event has one for each CPU. */
#define PERFDATA_MAX_EVENTS 65536
/*
 * Maximum number of stored AUX records, 40 bytes each; AUX bytes without a stored AUX record are
 * delivered as one window.
 */
#define PERFDATA_MAX_AUX (1U << 18)

/**
 * struct perfdata_reader - the state of a replay
 * @swap: the byte order of the file is not this machine's
 * @pipe: perf wrote to a pipe: the stream follows the short header, and there are no sections
 * @data, @data_end: first byte of the stream, and the byte after it, as offsets in the file
 * @features: offset of the table of features
 * @feature_bits: bit N is set if feature N is in the table
 * @attr_offset, @attr_bytes, @attr_size: the attribute section, and the size of one entry
 * @id_mask: sample_type bits of the first attribute's fields that trailers contain
 * @last_mask: the same for the last attribute
 * @events: event ids in ascending order, with memory for @event_capacity
 * @attrs: number of attributes read
 * @masks_differ: the attributes have trailers with different fields, so the event id of a record
 * selects the mask
 * @other_clock: events and samples use different clocks (perf record -k)
 * @is_spe: an AUXTRACE_INFO record of SPE exists
 * @backend: &enum sample_backend; only files of speprof record contain the backend
 * @foreign_trace: type of the AUXTRACE_INFO record of another kind of trace; 0 for none
 * @interval: mean number of operations between samples; 0 if unknown
 * @clock: converts timestamps to the events' clock
 * @midr: MIDR_EL1 of every CPU without an entry in @cpus
 * @cpus: CPUs for which the file has metadata
 * @aux: AUX records, with memory for @aux_capacity; sorted by perfdata_aux_sort_and_emit_losses()
 * @aux_full: true if AUX records were dropped
 * @per_thread: true if each AUX buffer belongs to one thread, on any CPU
 * @order: task records that wait for their turn in the order of time
 * @build_ids: build ids of mapped files
 */
struct perfdata_reader {
	struct recording *recording;
	const struct source_sink *sink;
	bool swap;
	bool pipe;
	u64 data;
	u64 data_end;
	u64 features;
	u64 feature_bits[4];
	u64 attr_offset;
	u64 attr_bytes;
	u64 attr_size;
	u64 id_mask;
	u64 last_mask;
	struct perfdata_event *events;
	u32 n_events;
	u32 event_capacity;
	u32 attrs;
	bool masks_differ;
	bool other_clock;
	bool is_spe;
	u8 backend;
	u32 foreign_trace;
	u32 interval;
	struct timestamp_clock clock;
	u64 midr;
	struct perfdata_cpu *cpus;
	u32 n_cpus;
	struct perfdata_aux *aux;
	u32 n_aux;
	u32 aux_capacity;
	bool aux_full;
	bool per_thread;
	struct perfdata_task_queue order;
	struct perfdata_build_ids build_ids;
};

/* Read an integer in the byte order of the file, from any address. */
u16 perfdata_get16(const struct perfdata_reader *perf, const u8 *p);
u32 perfdata_get32(const struct perfdata_reader *perf, const u8 *p);
u64 perfdata_get64(const struct perfdata_reader *perf, const u8 *p);

/**
 * perfdata_check_size() - report damage if a record is too short
 * @size: size of the fields that the record must have, bytes, including the header
 * @name: name of the record's type
 *
 * Return: true if the record has all fields.
 */
bool perfdata_check_size(struct perfdata_reader *perf, const struct perfdata_record *record,
			 u32 size, const char *name);

/* perfdata-sample-id.c: trailers */

/** perfdata_add_attr() - add an attribute; perfdata_add_id() then adds its event ids */
void perfdata_add_attr(struct perfdata_reader *perf, u64 sample_type);

/** perfdata_add_id() - add an event id of the last attribute; returns false if the table is full */
bool perfdata_add_id(struct perfdata_reader *perf, u64 id);

/** perfdata_read_trailer() - return the trailer of a record. A missing field has its default */
struct perfdata_trailer perfdata_read_trailer(const struct perfdata_reader *perf,
					      const struct perfdata_record *record);

/*
 * perfdata-info.c: attributes, features and metadata. Each function handles one record or section.
 */
void perfdata_read_attrs(struct perfdata_reader *perf);
void perfdata_read_features(struct perfdata_reader *perf);
void perfdata_parse_attr(struct perfdata_reader *perf, const struct perfdata_record *record);
void perfdata_parse_feature(struct perfdata_reader *perf, const struct perfdata_record *record);
void perfdata_parse_auxtrace_info(struct perfdata_reader *perf,
				  const struct perfdata_record *record);
void perfdata_parse_time_conv(struct perfdata_reader *perf, const struct perfdata_record *record);

/*
 * perfdata-build-id.c: build ids. If perf wrote to a pipe, they are records, else they are a
 * feature.
 */
void perfdata_parse_build_id(struct perfdata_reader *perf, const struct perfdata_record *record);
void perfdata_read_build_ids(struct perfdata_reader *perf, u64 offset, u64 size);
/**
 * perfdata_set_build_id() - set the build id of @event from the table; @event is a mapping without
 * a build id
 */
void perfdata_set_build_id(struct perfdata_reader *perf, struct task_event *event);
void perfdata_free_build_ids(struct perfdata_reader *perf);

/* perfdata-task.c: records about tasks (fork, exec, exit, mappings, cgroups, context switches) */

/** perfdata_record_is_task() - return true if the record describes a task event */
bool perfdata_record_is_task(const struct perfdata_record *record);

/** perfdata_task_check() - return true if a task record has all fields; otherwise report damage */
bool perfdata_task_check(struct perfdata_reader *perf, const struct perfdata_record *record);

/**
 * perfdata_task_get_time() - return the time of a task record that perfdata_task_check() accepted
 *
 * Return: nanoseconds; 0 if the record has no time, or if the time is from another clock than that
 * of the samples.
 */
u64 perfdata_task_get_time(const struct perfdata_reader *perf,
			   const struct perfdata_record *record);

/** perfdata_task_emit() - pass a task record that perfdata_task_check() accepted to the sink */
void perfdata_task_emit(struct perfdata_reader *perf, const struct perfdata_record *record);

/* perfdata-task-queue.c: passes task records to the sink in order of time */

/**
 * perfdata_task_queue_add() - queue a task record. If the queue is full, pass the earlier half of
 * it to the sink first
 */
void perfdata_task_queue_add(struct perfdata_reader *perf, const struct perfdata_record *record);

/**
 * perfdata_task_queue_end_round() - handle a FINISHED_ROUND record: pass the queued records to the
 * sink that are older than all records that follow
 */
void perfdata_task_queue_end_round(struct perfdata_reader *perf);

/** perfdata_task_queue_flush() - pass all queued records to the sink, and free the queue */
void perfdata_task_queue_flush(struct perfdata_reader *perf);

/* perfdata-aux.c: AUX records and AUX bytes */

/** perfdata_aux_add() - store an AUX record; called in the first pass */
void perfdata_aux_add(struct perfdata_reader *perf, const struct perfdata_record *record);

/**
 * perfdata_aux_detect_per_thread() - detect from an AUXTRACE record if buffers belong to threads
 */
void perfdata_aux_detect_per_thread(struct perfdata_reader *perf,
				    const struct perfdata_record *record);

/**
 * perfdata_aux_sort_and_emit_losses() - sort the AUX records, and pass the records without bytes to
 * the sink as losses
 */
void perfdata_aux_sort_and_emit_losses(struct perfdata_reader *perf);

/**
 * perfdata_auxtrace_emit() - pass the bytes of an AUXTRACE record to the sink; called in the second
 * pass
 */
void perfdata_auxtrace_emit(struct perfdata_reader *perf, const struct perfdata_record *record);

#endif
