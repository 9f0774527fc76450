/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The service manager keeps the checkpoint while the unit is restarted, and drops it when the unit is
 * stopped. "speprof module reload" has to stop the unit, since what the service manager keeps also
 * holds the module. So it creates an empty file "checkpoint" in the unit's RuntimeDirectory= first:
 * the daemon that stops fills the file, and the next one restores its counters from it.
 */
#ifndef SPEPROF_CHECKPOINT_FILE_H
#define SPEPROF_CHECKPOINT_FILE_H

#include "checkpoint-slots.h"

/**
 * checkpoint_file_save() - write the checkpoint into the file, if the file exists
 * @checkpoint: is not changed
 *
 * Without the file nothing is saved: counters end with a stop. A failure is logged, and leaves the
 * file empty.
 */
void checkpoint_file_save(const struct checkpoint_slots *checkpoint);

/**
 * checkpoint_file_load() - make a memfd of the file
 * @ret_fd: for checkpoint_slots_adopt(); the caller closes it
 *
 * A file that cannot be used is logged. The file stays until checkpoint_file_remove(), so that a
 * daemon that fails to start loses nothing.
 *
 * Return: 0, or a negative errno; -ENOENT or -ENODATA if nothing was saved.
 */
int checkpoint_file_load(int *ret_fd);

/** checkpoint_file_remove() - remove the file: the service manager has the checkpoint by now */
void checkpoint_file_remove(void);

#endif
