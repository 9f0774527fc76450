/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From one configuration to another while sampling goes on. */
#ifndef SPEPROF_RELOAD_H
#define SPEPROF_RELOAD_H

#include "config.h"
#include "worker.h"

/**
 * reload_apply() - have the machine's session sample by @to
 * @from: what is in force; afterwards as far as it is
 *
 * Filter, rate, jitter and levels change between two windows, all or none of them. What
 * only a restart changes is told and left.
 *
 * Return: 0, or why not, which is told.
 */
int reload_apply(struct config *from, const struct config *to, struct worker *worker);

#endif
