/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The records in a checkpoint that are not tables: sources, settings and sessions. Every change
 * here needs a new CHECKPOINT_VERSION.
 *
 * Context: the worker's thread.
 */
#ifndef SPEPROF_SESSION_RECORD_H
#define SPEPROF_SESSION_RECORD_H

#include "checkpoint.h"

/**
 * struct source_record - saved state of a source
 * @backend: &enum sample_backend
 * @positions: position up to which each ring was drained; allocated
 * @count: number of entries of @positions
 * @health: counters of all partitions of the source
 */
struct source_record {
	u8 backend;
	struct source_position *positions;
	u32 count;
	struct source_health health;
};

/**
 * struct session_record - saved state of a session, without its profile
 * @name: name of the session
 * @expression: its filter expression
 * @cgroups: cgroups of its rule; NULL-terminated, allocated
 * @running: true if it sampled
 * @since_ns: time for which it had been running when it was saved
 * @ran_ns: as in &struct session
 * @epoch: as in struct session
 * @cost_ns: CPU time of the daemon since the last reset
 * @buffer: size of its flight recorder in bytes; 0: none
 * @own: true if it has its own source and is not the machine's session. The members below are valid
 * only if @own is true
 * @sampling: options of the session's own source, without filters, cgroups and models
 * @of_cgroups: true if the module sampled only the tasks of @cgroups
 * @source: state of the session's own source
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

/** source_record_save() - write the state of @source */
void source_record_save(const struct source *source, struct serializer *to);

/**
 * source_record_load() - read the state of a source. The caller frees &source_record.positions,
 * also on failure. Return: 0; -EBADMSG if the bytes are invalid; -ENOMEM
 */
int source_record_load(struct deserializer *from, struct source_record *ret);

/** settings_record_save() - write settings that the bus may change */
void settings_record_save(const struct checkpoint_settings *configured, struct serializer *to);

/** settings_record_load() - read settings; on failure @from->bad is set */
void settings_record_load(struct deserializer *from, struct checkpoint_settings *ret);

/**
 * session_record_save() - write the state of a session; the caller must write its profile after it
 * @session: the session
 * @runs: true if the session has to be started when it is restored
 * @now_ns: CLOCK_MONOTONIC
 * @to: serializer of the checkpoint
 */
void session_record_save(const struct session *session, bool runs, u64 now_ns,
			 struct serializer *to);

/**
 * session_record_load() - read the state of a session
 *
 * The caller calls session_record_clear(), also on failure.
 */
int session_record_load(struct deserializer *from, struct session_record *ret);

/** session_record_clear() - free the memory that session_record_load() allocated */
void session_record_clear(struct session_record *record);

#endif
