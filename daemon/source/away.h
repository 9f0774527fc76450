/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source of nothing: it stands where a module's was while that one is exchanged. */
#ifndef SPEPROF_AWAY_H
#define SPEPROF_AWAY_H

#include "source.h"

/**
 * source_away_new() - all that @was samples is blind time from @since_ns on
 * @was: asked for its CPUs, and may be freed afterwards
 * @since_ns: CLOCK_MONOTONIC; counts once it is started
 *
 * It has the CPUs, the interval and the troubles of @was, and &source.away. What it is
 * configured for it forgets: whoever puts a source in its place knows that anyway.
 */
int source_away_new(struct source *was, u64 since_ns, struct source **ret_source);

#endif
