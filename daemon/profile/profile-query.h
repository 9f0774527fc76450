/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All figures of what is named as rows of views name it: the machine, containers, processes, functions. */
#ifndef SPEPROF_PROFILE_QUERY_H
#define SPEPROF_PROFILE_QUERY_H

#include "counters.h"
#include "profile.h"
#include "view/view.h"

/**
 * struct profile_query - fields of a row, as &struct view_row has them; NULL: whatever it is
 * @container: its name, or the path of its cgroup, which begins with "/", as it is or as it is shown
 * @pid: if @pid_given
 * @admits: whether @container may be this one; NULL: yes
 */
struct profile_query {
	const char *container;
	const char *process;
	const char *function;
	const char *binary;
	s32 pid;
	bool pid_given;
	bool (*admits)(void *ctx, const struct attribute_container *container);
	void *ctx;
};

/** profile_query_group() - whose rows are looked through; VIEW_GROUPS: the machine is wanted */
enum view_group profile_query_group(const struct profile_query *wanted);

/**
 * profile_query_counters() - the sum of all rows that are as @wanted says
 * @live: as in profile_view()
 * @now_ns: as in profile_history()
 * @ret_counters: without weights
 *
 * Of functions, latencies but the total have an octave a bucket.
 *
 * Return: 0; -ENOENT: there is none such, or its name is not known yet (symbols_stats()); -EOPNOTSUPP:
 * windows have no such figures of processes and functions, or none are kept.
 */
int profile_query_counters(struct profile *profile, struct symbols *symbols, bool live,
			   enum view_span span, u64 now_ns, const struct profile_query *wanted,
			   struct counters *ret_counters);

#endif
