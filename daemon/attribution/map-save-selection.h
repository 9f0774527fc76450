/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Select the mappings to save in a checkpoint with a limited size. */
#ifndef SPEPROF_MAP_SAVE_SELECTION_H
#define SPEPROF_MAP_SAVE_SELECTION_H

#include "attributor-internal.h"

/**
 * struct map_selection - the selected files
 * @binary: the files that the selected processes map, indexed by &mapped_binary.number; @binaries
 * entries. &process_table_entry.maps_saved marks these processes
 * @bytes: serialized size of these files and mappings, without their counts
 * @limit: limit of @bytes
 * @unselected: number of mappings that did not fit
 */
struct map_selection {
	struct mapped_binary **binary;
	u32 binaries;
	u64 bytes;
	u64 limit;
	u64 unselected;
};

/**
 * map_selection_choose() - select mappings with a total serialized size of at most @limit bytes
 * @ret_selection: the result; free it with map_selection_deinit()
 *
 * It sets &process_table_entry.maps_saved and &mapped_binary.number. If memory cannot be allocated,
 * it selects nothing; the checkpoint still has all counters.
 */
void map_selection_choose(struct attributor *a, u64 limit, struct map_selection *ret_selection);

/** map_selection_deinit() - free the memory of @selection */
void map_selection_deinit(struct map_selection *selection);

#endif
