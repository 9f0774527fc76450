/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The history's thread: it writes the store once a minute, and answers queries for other threads.
 * Only this thread waits for the disk.
 */
#ifndef SPEPROF_HISTORY_WRITER_H
#define SPEPROF_HISTORY_WRITER_H

#include "engine/worker.h"
#include "store.h"

/*
 * Memory of the thread in bytes: a fixed amount for SQLite, a minute and names, and an amount for
 * each container of a minute.
 */
#define HISTORY_MEMORY_BYTES	(4ULL << 20)
#define HISTORY_CONTAINER_BYTES 3584ULL

/* Maximum of &history_writer.waiting, the number of queries that wait for the writer's thread. */
#define HISTORY_QUERIES_MAX 16
/* A query that takes longer fails. */
#define HISTORY_QUERY_TIMEOUT_NS 10000000000ULL

struct history_writer;

/**
 * struct history_writer_config - the configuration of a writer
 * @worker: the worker, borrowed
 * @path: name of the database
 * @bytes: limit of the size of the database with its write-ahead log, at least HISTORY_BYTES_MIN
 */
struct history_writer_config {
	struct worker *worker;
	const char *path;
	u64 bytes;
};

/**
 * history_writer_new() - start the thread
 * @config: the configuration; strings are copied
 * @ret_writer: the writer; free it with history_writer_free()
 *
 * The thread opens the database. A failure is logged, and the thread tries again each minute.
 *
 * Return: 0; -EOPNOTSUPP: the machine's session counts no minutes; -ENOMEM: memory could not be
 * allocated; -EAGAIN: the thread could not be started.
 */
int history_writer_new(const struct history_writer_config *config,
		       struct history_writer **ret_writer);

/**
 * history_writer_stop() - end the current minute: the thread collects its counters and writes them
 * @writer: may be NULL
 *
 * The function waits at most two seconds until the counters are collected, and does not wait for
 * the disk. Queued queries fail with -ECANCELED. Call it before a checkpoint, so that the history
 * on disk has all samples that the checkpoint has.
 */
void history_writer_stop(struct history_writer *writer);

/**
 * history_writer_free() - write the unfinished minute, and end the thread
 * @writer: may be NULL
 *
 * The function waits for the disk. Call it before worker_free().
 *
 * Return: NULL.
 */
struct history_writer *history_writer_free(struct history_writer *writer);

/**
 * struct history_request - a query for the thread
 * @query: selects the rows; the thread sets its deadline
 * @timeline: true for a timeline, false for a view
 * @group: as for history_store_create_view() or history_store_create_timeline()
 * @sort, @limit: as for these functions
 * @step_us: as for history_store_create_timeline()
 * @done: called on the history's thread when the result is set; afterwards the caller owns the
 *	request again
 * @ctx: argument of @done
 * @result: 0 or negative errno
 * @view, @coverage, @points: the result; the caller clears it
 * @next: private
 */
struct history_request {
	struct history_query query;
	bool timeline;
	enum view_group group;
	enum view_sort sort;
	u32 limit;
	s64 step_us;
	void (*done)(struct history_request *request);
	void *ctx;
	int result;
	struct view view;
	struct history_coverage coverage;
	struct history_timeline points;
	struct history_request *next;
};

/**
 * history_writer_submit() - pass a query to the thread
 * @request: valid until &history_request.done was called
 *
 * Return: 0; -EBUSY if HISTORY_QUERIES_MAX queries are waiting.
 */
int history_writer_submit(struct history_writer *writer, struct history_request *request);

#endif
