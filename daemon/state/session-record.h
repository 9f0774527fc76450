/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What stands in a checkpoint beside figures: how each of it is written, and read again. Whatever
 * changes here is another CHECKPOINT_VERSION. Of the worker's thread.
 */
#ifndef SPEPROF_SESSION_RECORD_H
#define SPEPROF_SESSION_RECORD_H

#include "checkpoint.h"

/**
 * struct source_record - a source as it was
 * @backend: &enum backend
 * @positions: up to where its rings were drained, @count of them
 * @trouble: of all its parts
 */
struct source_record {
	u8 backend;
	struct source_position *positions;
	u32 count;
	struct source_trouble trouble;
};

/**
 * struct session_record - of a session, what is not in its profile
 * @cgroups: NULL-terminated
 * @since_ns: since it was started
 * @ran_ns, @epoch, @cost_ns: as struct session has them, the last up to then
 * @buffer: of its flight recorder, bytes; 0 for none
 * @own: it had a source of its own, and is not the machine's; then the following are there
 * @sampling: what that was asked for, without filters, cgroups and models
 * @of_cgroups: the module sampled the tasks of @cgroups alone
 */
struct session_record {
	char name[SESSION_NAME_SIZE];
	char expression[SESSION_TEXT];
	char *cgroups[SESSION_CGROUPS + 1];
	bool running;
	u64 since_ns;
	u64 ran_ns;
	u64 epoch;
	u64 cost_ns;
	u64 buffer;
	bool own;
	struct source_config sampling;
	bool of_cgroups;
	struct source_record source;
};

/** source_record_save(), source_record_load() - @ret->positions is the caller's to free, also where it fails */
void source_record_save(const struct source *source, struct serializer *to);
int source_record_load(struct deserializer *from, struct source_record *ret);

/** configured_record_save(), configured_record_load() - what the bus may have set otherwise */
void configured_record_save(const struct checkpoint_configured *configured, struct serializer *to);
void configured_record_load(struct deserializer *from, struct checkpoint_configured *ret);

/** session_record_save() - @session as of @now_ns, which is to run again if it @runs; its profile is to follow */
void session_record_save(const struct session *session, bool runs, u64 now_ns,
			 struct serializer *to);

/** session_record_load() - session_record_clear() is to follow, also where it fails */
int session_record_load(struct deserializer *from, struct session_record *ret);
void session_record_clear(struct session_record *record);

#endif
