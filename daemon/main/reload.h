/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Changes of the configuration while sampling continues. */
#ifndef SPEPROF_RELOAD_H
#define SPEPROF_RELOAD_H

#include "config/config.h"
#include "config/reload-status.h"
#include "engine/worker.h"

/**
 * reload_apply() - put another configuration into force without a restart
 * @from: the configuration in force; afterwards holds the settings that are in force then
 * @to: the configuration of the files
 * @worker: all its sessions count by the new lists of containers, and the machine's session
 *	samples by the new filter, rate, jitter and exception levels
 * @ret: the result
 *
 * These settings change between two windows, all of them or none. Settings that need a restart are
 * logged, named in @ret and left.
 *
 * Context: the main thread.
 * Return: 0, or negative errno with the reason logged and in @ret.
 */
int reload_apply(struct config *from, const struct config *to, struct worker *worker,
		 struct reload_status *ret);

#endif
