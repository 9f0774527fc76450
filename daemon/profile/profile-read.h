/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a profile has counted, for those who publish it. All of it by the profile's own
 * thread: what is pointed to is valid until the next window, or the next call but
 * for those that only read.
 *
 *	profile_flush(profile);
 *	machine = profile_machine(profile);
 *	for (u32 i = 0; i < profile_container_room(profile); i++)
 *		figures = profile_container(profile, i);
 */
#ifndef SPEPROF_PROFILE_READ_H
#define SPEPROF_PROFILE_READ_H

#include "cache-lines.h"
#include "counters.h"
#include "history.h"
#include "hot-pages.h"
#include "profile.h"

/** profile_flush() - bring all that follows up to date; changes nothing of what is counted */
void profile_flush(struct profile *profile);

/** profile_header() - ledgers, as in &struct view_header */
const struct view_header *profile_header(const struct profile *profile);

/** profile_machine() - all samples */
const struct counters *profile_machine(const struct profile *profile);

/** profile_container_room() - indices of containers are below this */
u32 profile_container_room(const struct profile *profile);

/**
 * profile_container() - figures since the start of what attributor_container() has at @index
 *
 * 0 is "in no container"; samples without a process are in none of them
 * (profile_unattributed()).
 *
 * Return: NULL where there is no container, or no sample of it.
 */
const struct counters *profile_container(const struct profile *profile, u32 index);

/** profile_unattributed() - figures of samples without a process */
const struct counters *profile_unattributed(const struct profile *profile);

/**
 * profile_process() - figures of what attributor_process() has at @index
 * @ret_counters: of all samples, whichever containers it was in
 *
 * Return: whether there are any.
 */
bool profile_process(const struct profile *profile, u32 index, struct counters *ret_counters);
u32 profile_process_room(const struct profile *profile);

/**
 * profile_history() - the window @span, not VIEW_SPAN_START; NULL if none are kept
 *
 * Rows by index and generation of the attributor. Valid until the next window.
 */
const struct history_slot *profile_history(struct profile *profile, enum view_span span,
					   u64 now_ns);

/**
 * profile_lines(), profile_pages() - the tables of hot cache lines, and of pages and nodes
 *
 *	for (e = NULL; (e = topk_next(&lines->table, e));)
 *		line = (const struct hot_line *)e;
 */
const struct lines *profile_lines(const struct profile *profile);
const struct pages *profile_pages(const struct profile *profile);

#endif
