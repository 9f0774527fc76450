/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Change the configuration while sampling continues. */
#ifndef SPEPROF_RELOAD_H
#define SPEPROF_RELOAD_H

#include "config/config.h"
#include "config/reload-status.h"
#include "engine/worker.h"

/**
 * reload_apply() - use another configuration without a restart
 * @from: the configuration in use; the settings that change are updated
 * @to: the configuration of the files
 * @worker: its sessions use the new lists of containers; the machine's session also uses the new
 * filter, rate, jitter and Exception levels
 * @ret: the result
 *
 * These settings change between two windows, all of them or none. Settings that need a restart are
 * logged and named in @ret, and do not change.
 *
 * Context: the main thread. Return: 0; a negative errno if a setting cannot be changed, with the
 * reason logged and in @ret.
 */
int reload_apply(struct config *from, const struct config *to, struct worker *worker,
		 struct reload_status *ret);

#endif
