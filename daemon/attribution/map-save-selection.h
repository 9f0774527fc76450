/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the mappings that fit in a checkpoint. */
#ifndef SPEPROF_MAP_SAVE_SELECTION_H
#define SPEPROF_MAP_SAVE_SELECTION_H

#include "attributor-internal.h"

/**
 * struct map_selection - the selected files; &process.kept marks the processes
 * @binary: the files that they map, by &binary.number; @binaries of them
 * @bytes: serialized size of these files and mappings, without their counts
 * @limit: limit of @bytes
 * @left: number of mappings that were not selected
 */
struct map_selection {
	struct binary **binary;
	u32 binaries;
	u64 bytes;
	u64 limit;
	u64 left;
};

/** map_selection_includes() - return whether process @index is saved: samples have used it */
bool map_selection_includes(const struct attributor *a, u32 index);

/**
 * map_selection_choose() - select mappings of at most @limit bytes
 *
 * @ret_selection: the result; free it with map_selection_deinit()
 */
void map_selection_choose(struct attributor *a, u64 limit, struct map_selection *ret_selection);
void map_selection_deinit(struct map_selection *selection);

#endif
