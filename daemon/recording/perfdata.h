/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf.data: a header, a stream of records with the AUX bytes between them, and
 * features behind it (tools/perf/Documentation/perf.data-file-format.txt of
 * Linux). Written by another machine, so in either byte order.
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
	PERFDATA_TYPES = 90, /* none is known from here on */
};

#define PERFDATA_HEADER	       8 /* of each record */
#define PERFDATA_AUXTRACE_SIZE 48

/**
 * struct perfdata_record - one record of the stream
 * @offset: of its header in the file
 * @end: of the bytes that belong to it in the file, AUX bytes too
 * @data: its bytes, header first
 * @size: how many
 */
struct perfdata_record {
	u64 offset;
	u64 end;
	const u8 *data;
	u32 size;
	u32 type;
	u16 misc;
};

/* What the trailer of a kernel record says (perf_event_open(2), sample_id_all). */
struct perfdata_id {
	u64 time;
	s32 tid;
	s32 cpu; /* -1: not recorded */
};

/* An AUX record: a stretch of AUX bytes of one buffer that was filled at once. */
struct perfdata_aux {
	u64 offset;
	u64 size;
	u64 time;
	s32 buffer; /* CPU, or ~TID of a buffer without one */
	s32 tid; /* that ran when the SPU was stopped */
	u32 flags; /* WINDOW_* */
};

/* An event of perf_event_open(2): what the trailers of its records hold. */
struct perfdata_event {
	u64 id;
	u64 mask;
};

/* A record about tasks, until those that are earlier have been read. */
struct perfdata_queued {
	u64 time;
	u64 place; /* offset << 16 | size */
};

/* Waiting records kept, 16 bytes each; then the earlier half goes on. */
#define PERFDATA_MAX_QUEUED (1U << 18)

/**
 * struct perfdata_order - records of several CPUs, sorted by time
 * @latest: of the times so far; @round: at the last FINISHED_ROUND
 * @record: one of them, read again
 */
struct perfdata_order {
	struct perfdata_queued *queue;
	u8 *record;
	u64 latest;
	u64 round;
	u32 count;
	u32 room;
};

#define BUILD_ID_MAX_BYTES     20
/* Files mapped, 40 bytes each, and the bytes of their names. */
#define PERFDATA_MAX_BUILD_IDS 8192
#define PERFDATA_MAX_NAMES     (1U << 20)

struct perfdata_build_id {
	char *name;
	u8 id[BUILD_ID_MAX_BYTES];
	u8 size;
};

struct perfdata_build_ids {
	struct perfdata_build_id *entries;
	u32 count;
	u32 bytes; /* of names */
	bool sorted;
};

struct perfdata_cpu {
	u32 cpu;
	u64 midr;
};

/* More CPUs than any machine has; what a hostile file can make us keep. */
#define PERFDATA_MAX_CPUS 8192
/* Each event has an id for each CPU. */
#define PERFDATA_MAX_EVENTS 65536
/* AUX records kept, 40 bytes each; windows behind them are not cut at them. */
#define PERFDATA_MAX_AUX (1U << 18)

/**
 * struct perfdata - a perf.data during a replay
 * @swap: its byte order is not this machine's
 * @pipe: written to a pipe: no sections, the stream follows the magic
 * @data, @data_end: the stream's place in the file
 * @features, @feature_bits: where the table of features is, and which there are
 * @attr_offset, @attr_bytes, @attr_size: the attributes, and the size of each
 * @id_mask: sample_type bits of the first attribute that are in trailers
 * @last_mask: those of the last one
 * @masks_differ: those of @events count
 * @attrs: attributes seen
 * @other_clock: events are timed by another clock than samples
 * @of_threads: buffers are of one thread each, on whichever CPU it runs
 * @is_spe: an AUXTRACE_INFO said so
 * @foreign: the kind of trace of another one, 0 for none
 */
struct perfdata {
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
	u32 event_room;
	u32 attrs;
	bool masks_differ;
	bool other_clock;
	bool is_spe;
	u8 backend; /* speprof record says it, perf does not */
	u32 foreign;
	u32 interval;
	struct tick_clock clock;
	u64 midr; /* of every CPU without an entry in @cpus */
	struct perfdata_cpu *cpus;
	u32 n_cpus;
	struct perfdata_aux *aux;
	u32 n_aux;
	u32 aux_room;
	bool aux_full;
	bool of_threads;
	struct perfdata_order order;
	struct perfdata_build_ids build_ids;
};

u16 perfdata_get16(const struct perfdata *perf, const u8 *p);
u32 perfdata_get32(const struct perfdata *perf, const u8 *p);
u64 perfdata_get64(const struct perfdata *perf, const u8 *p);

/**
 * perfdata_need() - whether a record has its fixed fields, @size bytes of them
 *
 * If it has not, that is noted as damage: @name is what the record is called.
 */
bool perfdata_need(struct perfdata *perf, const struct perfdata_record *record, u32 size,
		   const char *name);

/* perfdata-sample-id.c: trailers; an attribute's mask first, then the ids of its events */
void perfdata_add_mask(struct perfdata *perf, u64 sample_type);
/** perfdata_add_id() - whether there was room for it */
bool perfdata_add_id(struct perfdata *perf, u64 id);

/** perfdata_id() - what the trailer of @record says */
struct perfdata_id perfdata_id(const struct perfdata *perf, const struct perfdata_record *record);

/* perfdata-info.c: what the recording says of itself */
void perfdata_read_attrs(struct perfdata *perf);
void perfdata_read_features(struct perfdata *perf);
void perfdata_attr_record(struct perfdata *perf, const struct perfdata_record *record);
void perfdata_feature_record(struct perfdata *perf, const struct perfdata_record *record);
void perfdata_auxtrace_info(struct perfdata *perf, const struct perfdata_record *record);
void perfdata_time_conv(struct perfdata *perf, const struct perfdata_record *record);

/* perfdata-build-id.c: a record of a pipe, the feature of a file */
void perfdata_build_id_record(struct perfdata *perf, const struct perfdata_record *record);
void perfdata_build_ids_read(struct perfdata *perf, u64 offset, u64 size);
/** perfdata_build_id() - that of a mapped file, if it is known and @event has none */
void perfdata_build_id(struct perfdata *perf, struct task_event *event);
void perfdata_build_ids_free(struct perfdata *perf);

/* perfdata-task.c: hands a record that is about tasks to the sink */
bool perfdata_is_task(const struct perfdata_record *record);
/** perfdata_task_whole() - whether such a record has its fields; the other two want that */
bool perfdata_task_whole(struct perfdata *perf, const struct perfdata_record *record);
/** perfdata_task_time() - of such a record, 0 if it says none on the clock of the samples */
u64 perfdata_task_time(const struct perfdata *perf, const struct perfdata_record *record);
void perfdata_task(struct perfdata *perf, const struct perfdata_record *record);

/* perfdata-task-order.c: the same, in order of time */
void perfdata_order_add(struct perfdata *perf, const struct perfdata_record *record);
/** perfdata_order_round() - a FINISHED_ROUND: what was before the last one is all here */
void perfdata_order_round(struct perfdata *perf);
void perfdata_order_end(struct perfdata *perf);

/* perfdata-aux.c: AUX records, and the bytes they are about */
void perfdata_aux_record(struct perfdata *perf, const struct perfdata_record *record);
/** perfdata_aux_buffer() - what kind of buffer an AUXTRACE record is of */
void perfdata_aux_buffer(struct perfdata *perf, const struct perfdata_record *record);
void perfdata_aux_sort(struct perfdata *perf);
void perfdata_auxtrace(struct perfdata *perf, const struct perfdata_record *record);

#endif
