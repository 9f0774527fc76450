/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Save the checkpoint in a file while the module is reloaded. Normally the service manager holds
 * the checkpoint while the unit is restarted, and closes it when the unit is stopped. "speprof
 * module reload" must stop the unit, because the descriptors in the service manager hold references
 * to the module. So the command first creates an empty file "checkpoint" in the unit's
 * RuntimeDirectory=. The stopping daemon writes the checkpoint to this file, and the next daemon
 * restores the counters from the file.
 */
#ifndef SPEPROF_CHECKPOINT_FILE_H
#define SPEPROF_CHECKPOINT_FILE_H

#include "checkpoint-slots.h"

/**
 * checkpoint_file_save() - write the checkpoint to the file, if the file exists
 * @checkpoint: the checkpoint; not changed
 *
 * If the file does not exist, nothing is saved, and the counters are lost when the unit stops.
 * After a failure, which is logged, the file is empty.
 */
void checkpoint_file_save(const struct checkpoint_slots *checkpoint);

/**
 * checkpoint_file_load() - copy the file to a memfd
 * @ret_fd: descriptor for checkpoint_slots_adopt(); the caller closes it
 *
 * If the file cannot be used, the reason is logged. The file stays until checkpoint_file_remove(),
 * so that a daemon that fails to start loses nothing.
 *
 * Return: 0, or a negative errno; -ENOENT or -ENODATA if nothing was saved.
 */
int checkpoint_file_load(int *ret_fd);

/**
 * checkpoint_file_remove() - remove the file; call it after the service manager has stored the
 * checkpoint
 */
void checkpoint_file_remove(void);

#endif
