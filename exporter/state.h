/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The exporter's counters in a memfd that the service manager keeps: whoever comes after a
 * restart, an upgrade or a crash goes on from the last snapshot. Without such a manager
 * there is none, and nothing is kept.
 */
#ifndef SPEPROF_STATE_H
#define SPEPROF_STATE_H

#include "fold.h"

/* In the service manager's store of descriptors. */
#define STATE_NAME "speprof-exporter-state"

/* Of counters, at most: two of these are in memory. 1,000 bytes a container are usual. */
#define STATE_SIZE (8UL << 20)

struct state;

/**
 * state_new()
 * @fd: of what the last process left, which is taken over; -1 for none
 * @ret_why: a static sentence, where that cannot be used; unchanged otherwise
 *
 * Return: 0; -ENODATA where there is no store; other negative errno.
 */
int state_new(int fd, struct state **ret_state, const char **ret_why);
struct state *state_free(struct state *state);

/**
 * state_restore() - go on from what was kept; @fold is as fold_init() left it
 * @ret_why: a static sentence, where there is something that cannot be used
 *
 * Return: 0; -ENODATA for nothing; other negative errno.
 */
int state_restore(struct state *state, struct fold *fold, bool emulated, const char **ret_why);

/**
 * state_save() - keep @fold as it is now
 * @state: NULL for none
 *
 * Return: 0; -ENOSPC the first time that it is too large: nothing is kept then.
 */
int state_save(struct state *state, const struct fold *fold, bool emulated);

#endif
