/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which mappings a checkpoint has room for. */
#ifndef SPEPROF_MAP_SAVE_SELECTION_H
#define SPEPROF_MAP_SAVE_SELECTION_H

#include "attributor-internal.h"

/**
 * struct map_selection - what was chosen; of whom, &process.kept says
 * @binary: the files that they map, by &binary.number; @binaries of them
 * @bytes: that these files and mappings take in a blob, but for how many there are
 * @limit: of @bytes
 * @left: mappings that are not in it
 */
struct map_selection {
	struct binary **binary;
	u32 binaries;
	u64 bytes;
	u64 limit;
	u64 left;
};

/** map_selection_includes() - whether process @index is saved: samples asked for it */
bool map_selection_includes(const struct attributor *a, u32 index);

/** map_selection_choose() - at most @limit bytes; @ret_selection is to be freed by map_selection_deinit() */
void map_selection_choose(struct attributor *a, u64 limit, struct map_selection *ret_selection);
void map_selection_deinit(struct map_selection *selection);

#endif
