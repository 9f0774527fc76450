/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Build ids of what is mapped while a recording is made: where it is opened, another
 * file may have the path. Neither /proc nor the side band of perf has them beside the
 * inode, so the files are asked.
 */
#ifndef SPEPROF_RECORD_BUILDS_H
#define SPEPROF_RECORD_BUILDS_H

#include "source/source.h"

struct record_builds;

/** record_builds_new() - events for @sink will have the build ids of their files */
int record_builds_new(const struct source_sink *sink, struct record_builds **ret_builds);
struct record_builds *record_builds_free(struct record_builds *builds);

/** record_builds_sink() - hands everything on; valid as long as @builds */
struct source_sink record_builds_sink(struct record_builds *builds);

#endif
