/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Save the checkpoint in a file while the module is reloaded. Normally the service manager keeps
 * the checkpoint while the unit is restarted, and drops it when the unit is stopped. "speprof
 * module reload" has to stop the unit, as the descriptors that the service manager keeps also hold
 * references to the module. So it first creates an empty file "checkpoint" in the unit's
 * RuntimeDirectory=: the daemon that stops fills the file, and the next daemon restores its
 * counters from it.
 */
#ifndef SPEPROF_CHECKPOINT_FILE_H
#define SPEPROF_CHECKPOINT_FILE_H

#include "checkpoint-slots.h"

/**
 * checkpoint_file_save() - write the checkpoint to the file, if the file exists
 * @checkpoint: the checkpoint; not changed
 *
 * Without the file nothing is saved, and counters end when the unit stops. A failure is logged, and
 * leaves the file empty.
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

/** checkpoint_file_remove() - remove the file, when the service manager has the checkpoint */
void checkpoint_file_remove(void);

#endif
