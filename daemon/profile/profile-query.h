/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queries for the counters of the machine, or of containers, processes or functions by name. */
#ifndef SPEPROF_PROFILE_QUERY_H
#define SPEPROF_PROFILE_QUERY_H

#include "counters.h"
#include "profile.h"
#include "view/view.h"

/**
 * struct profile_query - values that a row must match, as in &struct view_row; a member that is
 * NULL matches all rows
 * @container: name of the container, either unescaped or as views show it; or its cgroup path,
 *	which begins with "/"
 * @process, @function, @binary: names to match
 * @pid: process id to match, if @pid_given is true
 * @matches: callback that returns whether a name matches a pattern, which is @container, @process,
 *	@function or @binary; NULL: names must be equal. A binary also matches by the last part of its
 *	path
 * @admits: callback that returns whether the caller may see a container; NULL admits all
 * @ctx: argument of @admits
 */
struct profile_query {
	const char *container;
	const char *process;
	const char *function;
	const char *binary;
	s32 pid;
	bool pid_given;
	bool (*matches)(const char *pattern, const char *name);
	bool (*admits)(void *ctx, const struct attribute_container *container);
	void *ctx;
};

/**
 * profile_query_get_group() - return the kind of rows that @wanted selects; VIEW_GROUPS if @wanted
 * has no name, so that the query selects the whole machine
 */
enum view_group profile_query_get_group(const struct profile_query *wanted);

/**
 * profile_query_counters() - add up the counters of all rows that match a query
 * @profile: the profile; the caller runs on its thread
 * @symbols: resolver of function names
 * @live: as in profile_create_view()
 * @span: period, or VIEW_SPAN_START
 * @now_ns: as in profile_get_history_sum()
 * @wanted: the query
 * @ret_counters: the sum, without weights
 *
 * For functions, the issue and translation latency have one bucket per octave.
 *
 * Return: 0; -ENOENT if no row matches, or names are still being resolved (symbols_get_stats());
 * -EOPNOTSUPP if @span has no such counters of processes and functions, or the profile has no
 * history.
 */
int profile_query_counters(struct profile *profile, struct symbols_cache *symbols, bool live,
			   enum view_span span, u64 now_ns, const struct profile_query *wanted,
			   struct profile_counters *ret_counters);

#endif
