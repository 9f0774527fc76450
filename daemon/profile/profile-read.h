/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read access to the counters of a profile, for the code that publishes them. Call all functions
 * from the profile's own thread. Returned pointers are valid until the next window, or until the
 * next call of a function that may change the profile.
 *
 *	profile_flush(profile);
 *	machine = profile_get_machine_counters(profile);
 *	for (u32 i = 0; i < profile_get_container_bound(profile); i++)
 *		counters = profile_get_container_counters(profile, i);
 */
#ifndef SPEPROF_PROFILE_READ_H
#define SPEPROF_PROFILE_READ_H

#include "cache-lines.h"
#include "counters.h"
#include "history.h"
#include "hot-pages.h"
#include "minute-log.h"
#include "profile.h"

/**
 * profile_flush() - move all pending counts into the counters that the functions below return
 *
 * The function can be called at any time, and does not change the sums of the counters.
 */
void profile_flush(struct profile *profile);

/** view_row_set_counters() - set the counters of a row of a view */
void view_row_set_counters(struct view_row *row, const struct profile_counters *counters);

/** profile_get_header() - return the ledgers, as in &struct view_header */
const struct view_header *profile_get_header(const struct profile *profile);

/** profile_get_machine_counters() - return the counters of all samples */
const struct profile_counters *profile_get_machine_counters(const struct profile *profile);

/**
 * profile_count_false_sharing() - return the number of samples of lines with false sharing
 *
 * A sample counts if line_classify_sharing() of its line is LINE_FALSE when the sample arrives.
 */
u64 profile_count_false_sharing(const struct profile *profile);

/** profile_get_container_bound() - return the upper bound (exclusive) of container indices */
u32 profile_get_container_bound(const struct profile *profile);

/**
 * profile_get_container_counters() - return the counters since the start of one container
 * @index: index of attributor_get_container(), below profile_get_container_bound(). Index 0 has the
 *	samples of processes in no container. It does not have samples without a process:
 *	profile_get_unattributed_counters() returns these
 *
 * Return: the counters, or NULL if the container does not exist or has no sample.
 */
const struct profile_counters *profile_get_container_counters(const struct profile *profile,
							      u32 index);

/** profile_get_unattributed_counters() - return the counters of the samples without a process */
const struct profile_counters *profile_get_unattributed_counters(const struct profile *profile);

/**
 * profile_sum_process_counters() - get the counters of one process
 * @index: index of attributor_get_process(), below profile_get_process_bound()
 * @ret_counters: counters of all its samples, in all containers in which it ran
 *
 * Return: whether the process has samples.
 */
bool profile_sum_process_counters(const struct profile *profile, u32 index,
				  struct profile_counters *ret_counters);

/** profile_get_process_bound() - return the upper bound (exclusive) of process indices */
u32 profile_get_process_bound(const struct profile *profile);

/**
 * profile_get_history_sum() - return the counters of a period. Index and generation in the
 * attributor identify containers and processes
 * @span: the period; not VIEW_SPAN_START
 * @now_ns: current time on the windows' clock; 0 if unknown
 *
 * Return: the counters, valid until the next window; NULL if the profile has no history.
 */
const struct history_slot *profile_get_history_sum(struct profile *profile, enum view_span span,
						   u64 now_ns);

/**
 * profile_enable_minute_log() - start to count for profile_get_minute_log()
 * @profile: a profile that has a history and counts by program
 *
 * Return: 0; -EOPNOTSUPP if the profile has no history; -ENOMEM if memory cannot be allocated.
 */
int profile_enable_minute_log(struct profile *profile);

/**
 * profile_get_minute_log() - return the counters since profile_clear_minute_log()
 * @now_ns: current time on the windows' clock; 0 if unknown
 *
 * The samples of the last HISTORY_SLOT_NS are not included; they are part of the next minute.
 *
 * Return: the log, valid until the next window; NULL if profile_enable_minute_log() was not called.
 */
const struct minute_log *profile_get_minute_log(struct profile *profile, u64 now_ns);

/**
 * profile_get_last_minute_log() - return the counters since profile_clear_minute_log(), with the
 * samples of the last HISTORY_SLOT_NS
 * @now_ns: as for profile_get_minute_log()
 *
 * The open slot ends early. Call it when no further minute follows.
 *
 * Return: as profile_get_minute_log().
 */
const struct minute_log *profile_get_last_minute_log(struct profile *profile, u64 now_ns);

/** profile_clear_minute_log() - start the next minute */
void profile_clear_minute_log(struct profile *profile);

/**
 * profile_get_hot_lines(), profile_get_hot_pages() - return the tables of hot cache lines, and of
 * pages and nodes
 *
 *	for (e = NULL; (e = topk_next(&lines->table, e));)
 *		line = (const struct hot_line *)e;
 */
const struct hot_lines *profile_get_hot_lines(const struct profile *profile);
const struct hot_pages *profile_get_hot_pages(const struct profile *profile);

/**
 * profile_get_raised_line() - call hot_lines_get_raised() with the lock of the lines, which other
 * threads may change
 */
bool profile_get_raised_line(const struct profile *profile, u64 *seen, u64 *missed,
			     struct line_key *ret_key);

#endif
