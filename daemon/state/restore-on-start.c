// SPDX-License-Identifier: LGPL-2.1-or-later
#include "restore-on-start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include "checkpoint-file.h"
#include "engine/source-open.h"
#include "util/log.h"

static void log_counters(const struct restore_request *restore)
{
	char records[64], version[64];
	const char *const fields[] = { records, version, NULL };

	snprintf(records, sizeof(records), "SPEPROF_RECORDS=%llu",
		 (unsigned long long)restore->records);
	snprintf(version, sizeof(version), "SPEPROF_FROM_VERSION=%s", restore->version);
	if (!restore->restored)
		log_write(LOG_WARNING, LOG_ID_REFUSED, NULL,
			  "the checkpoint is not used, and all counters start at zero: %s",
			  restore->reason);
	else if (restore->gap_ns)
		log_write(LOG_NOTICE, LOG_ID_RESUMED, fields,
			  "restored %llu records of speprofd %s; every CPU was blind for %llu "
			  "ms",
			  (unsigned long long)restore->records, restore->version,
			  (unsigned long long)restore->gap_ns / 1000000);
	else
		log_write(LOG_NOTICE, LOG_ID_RESUMED, fields,
			  "restored %llu records of speprofd %s, without a gap",
			  (unsigned long long)restore->records, restore->version);
}

static void log_restore_result(const struct restore_request *restore)
{
	log_counters(restore);
	if (*restore->settings)
		log_write(LOG_NOTICE, LOG_ID_RESUMED, NULL,
			  "settings of the session \"machine\" that were made on the bus are restored: %s",
			  restore->settings);
	if (*restore->overruled)
		log_write(
			LOG_WARNING, LOG_ID_REFUSED, NULL,
			"settings of the session \"machine\" that were made on the bus are dropped: %s",
			restore->overruled);
	for (u32 i = 0; i < restore->note_count; i++)
		log_write(restore->notes[i].warning ? LOG_WARNING : LOG_NOTICE,
			  restore->notes[i].warning ? LOG_ID_REFUSED : LOG_ID_RESUMED, NULL, "%s",
			  restore->notes[i].text);
}

/*
 * Implement restore_request.open: open a source with the options of the CreateSession call. This
 * runs on the worker's thread.
 */
static int open_own_source(void *ctx, const char *name, bool record, struct source_config *sampling,
			   struct source **ret_source, char ret_reason[static RESTORE_REASON_SIZE])
{
	const struct restore_on_start_args *t = ctx;
	struct stored_session *own = fd_store_find_session(t->stored, name);
	struct source_open_result result;
	int sessions[SOURCE_PARTITIONS_MAX], r;

	sampling->models = t->config->models;
	sampling->ring_size = MEMORY_RING_MIN;
	if (record) {
		if (!own || own->fd < 0)
			return -ENOENT;
		memset(sessions, -1, sizeof(sessions));
		sessions[0] = own->fd;
		r = source_open_adopted(t->config, sampling, sessions, ret_source, &result);
		own->fd = sessions[0];
		own->used = r >= 0;
	} else {
		if (own)
			fd_store_close_session(own);
		r = source_open(t->config, sampling, ret_source, &result);
	}
	if (r < 0)
		snprintf(ret_reason, RESTORE_REASON_SIZE, "%.*s", RESTORE_REASON_SIZE - 1,
			 result.text);
	return r;
}

/* Close the descriptors of sessions that the checkpoint does not contain. */
static void drop_unrestored_sessions(struct fd_store_contents *stored)
{
	for (u32 i = 0; i < stored->own_count; i++)
		if (stored->own[i].fd >= 0)
			log_write(
				LOG_WARNING, LOG_ID_REFUSED, NULL,
				"session \"%s\" is not restored: the checkpoint does not contain it",
				stored->own[i].name);
	fd_store_close_unused_sessions(stored);
}

/*
 * Clear &stored_session.used of the descriptors that no session uses, so that
 * drop_unrestored_sessions() removes them from the store. @arg: the struct fd_store_contents.
 */
static int mark_unused_sessions(struct worker_state *state, void *arg)
{
	struct fd_store_contents *stored = arg;

	for (u32 i = 0; i < stored->own_count; i++) {
		struct stored_session *own = &stored->own[i];
		const struct session *session = worker_find_session(state, own->name);

		own->used = own->used && session && !session->shared;
	}
	return 0;
}

static void checkpoint_restore(struct restore_on_start_args *t)
{
	struct restore_request restore = {
		.checkpoint = t->checkpoint,
		.config = t->config,
		.open = open_own_source,
		.ctx = t,
		.adopted = t->adopted,
	};
	struct config_container_lists lists;

	if (config_split_lists(t->config, &lists) < 0)
		return;
	restore.lists = &lists.lists;
	worker_call(t->worker, restore_run, &restore);
	config_container_lists_clear(&lists);
	if (restore.found)
		log_restore_result(&restore);
	t->stopped = restore.restored && restore.stopped;
	worker_call(t->worker, mark_unused_sessions, t->stored);
}

int restore_on_start_run(struct restore_on_start_args *t)
{
	const char *reason;

	/*
	 * Without a service manager that stores descriptors, no later process could use a
	 * checkpoint.
	 */
	if (!getenv("NOTIFY_SOCKET"))
		return 0;
	if (checkpoint_new(t->stored->checkpoint, &t->checkpoint, &reason) < 0) {
		log_line(LOG_WARNING,
			 "out of memory for a checkpoint: all counters start at zero after a restart");
		drop_unrestored_sessions(t->stored);
		/*
		 * Adopted rings release bytes only after a checkpoint. Without a checkpoint they
		 * would become full.
		 */
		return t->adopted ? EX_OSERR : 0;
	}
	t->stored->checkpoint = -1;
	if (reason) {
		log_write(LOG_WARNING, LOG_ID_REFUSED, NULL,
			  "the checkpoint is not used, and all counters start at zero: %s",
			  reason);
		fd_store_remove(FD_STORE_CHECKPOINT);
	}
	checkpoint_restore(t);
	drop_unrestored_sessions(t->stored);
	return 0;
}

/* Store the checkpoint and the descriptors of all sessions. @arg: the struct checkpoint. */
static int store_all_descriptors(struct worker_state *state, void *arg)
{
	struct session *session = NULL;

	while ((session = worker_get_next_session(state, session)))
		if (!session->shared && session->shared_source->source->ops->persist)
			fd_store_put_session(session->name, session->shared_source->source);
	fd_store_put(FD_STORE_CHECKPOINT, checkpoint_get_fd(arg));
	return 0;
}

void restore_on_start_store(struct restore_on_start_args *t)
{
	worker_call(t->worker, store_all_descriptors, t->checkpoint);
	checkpoint_file_remove();
}
