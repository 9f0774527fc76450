/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convert parts of a profile to JSON (Documentation/reference/json.md). */
#ifndef SPEPROF_PROFILE_JSON_H
#define SPEPROF_PROFILE_JSON_H

#include "profile/profile.h"

/**
 * profile_hot_memory_json() - write shared cache lines, pages and nodes as JSON
 * @profile: the profile
 * @symbols: resolver of function names
 * @live: true if the profiled processes may still run, as for profile_create_view()
 * @limit: maximum number of lines, and of pages; 0: all
 * @ret_text: the text, NUL-terminated; freed by the caller
 *
 * Return: 0 or -ENOMEM.
 */
int profile_hot_memory_json(struct profile *profile, struct symbols_cache *symbols, bool live,
			    u32 limit, char **ret_text);

/**
 * profile_summary_json() - write the summary of the whole profile as JSON
 * @profile: the profile, which is flushed first
 * @backend: "recording", "emulated" or "hardware"
 * @processes: true: add the processes
 * @ret_text: the text, NUL-terminated; freed by the caller
 *
 * Return: 0 or -ENOMEM.
 */
int profile_summary_json(struct profile *profile, const char *backend, bool processes,
			 char **ret_text);

#endif
