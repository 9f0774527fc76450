/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From one configuration to another while sampling goes on. */
#ifndef SPEPROF_RELOAD_H
#define SPEPROF_RELOAD_H

#include "config/config.h"
#include "config/reload-status.h"
#include "engine/worker.h"

/**
 * reload_apply() - have the machine's session sample by @to, and all sessions count by its lists
 * @from: what is in force; afterwards as far as it is
 * @ret: what became of it
 *
 * Filter, lists of containers, rate, jitter and levels change between two windows, all or none of
 * them. What only a restart changes is told and left.
 *
 * Return: 0, or why not, which is told.
 */
int reload_apply(struct config *from, const struct config *to, struct worker *worker,
		 struct reload_status *ret);

#endif
