/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read build IDs of mapped files while a recording is made: when the recording is read, another
 * file may be at that path. Events have device and inode, or a build ID, but not both, so the build
 * IDs are read from the files.
 */
#ifndef SPEPROF_RECORD_BUILD_IDS_H
#define SPEPROF_RECORD_BUILD_IDS_H

#include "source/source.h"

struct record_build_ids;

/**
 * record_build_ids_new() - add build IDs to mapping events
 * @sink: receives all events; copied
 * @ret_builds: the caller frees it by record_build_ids_free()
 *
 * Return: 0 or -ENOMEM.
 */
int record_build_ids_new(const struct source_sink *sink, struct record_build_ids **ret_builds);
/** record_build_ids_free() - free @builds, or do nothing for NULL; returns NULL */
struct record_build_ids *record_build_ids_free(struct record_build_ids *builds);

/** record_build_ids_get_sink() - return the sink that adds build IDs; valid as long as @builds */
struct source_sink record_build_ids_get_sink(struct record_build_ids *builds);

#endif
