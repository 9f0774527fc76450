/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The exporter's counters as bytes, so that the next process goes on where this one ended:
 * what a container that is shown left in "other" is not in the daemon's snapshot.
 */
#ifndef SPEPROF_FOLD_KEEP_H
#define SPEPROF_FOLD_KEEP_H

#include "blob.h"
#include "fold.h"

/* Grows whenever what is written changes its meaning: what an other one wrote is refused. */
#define FOLD_VERSION 2

/**
 * fold_save() - all that fold_restore() needs
 * @emulated: an emulated SPU's figures may be in it, which not every exporter takes
 */
void fold_save(const struct fold *fold, bool emulated, struct blob_writer *to);

/**
 * fold_restore() - go on from what fold_save() wrote
 * @fold: as fold_init() left it; also on failure
 * @emulated: whether figures of one that might are taken
 *
 * Labels and patterns that are others now drop the groups: their series begin anew, at what
 * their containers grow by from the last snapshot on.
 *
 * Return: 0; -EBADMSG for what does not hold together; -ENODATA for nothing, or figures that
 * are not taken; -ENOMEM.
 */
int fold_restore(struct fold *fold, bool emulated, struct blob_reader *from);

#endif
