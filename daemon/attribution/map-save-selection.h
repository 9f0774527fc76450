/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which mappings a checkpoint has room for. */
#ifndef SPEPROF_MAP_SAVE_SELECTION_H
#define SPEPROF_MAP_SAVE_SELECTION_H

#include "attributor-internal.h"

/**
 * struct map_keep - what was chosen; of whom, &process.kept says
 * @binary: the files that they map, by &binary.number; @binaries of them
 * @bytes: that these files and mappings take in a blob, but for how many there are
 * @limit: of @bytes
 * @left: mappings that are not in it
 */
struct map_keep {
	struct binary **binary;
	u32 binaries;
	u64 bytes;
	u64 limit;
	u64 left;
};

/** map_keep_wanted() - whether process @index is saved: samples asked for it */
bool map_keep_wanted(const struct attributor *a, u32 index);

/** map_keep_choose() - at most @limit bytes; @ret_keep is to be freed by map_keep_deinit() */
void map_keep_choose(struct attributor *a, u64 limit, struct map_keep *ret_keep);
void map_keep_deinit(struct map_keep *keep);

#endif
