/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which source it is: what the configuration allows, and what there is. */
#ifndef SPEPROF_SOURCE_OPEN_H
#define SPEPROF_SOURCE_OPEN_H

#include "config/config.h"
#include "source/source.h"

/**
 * struct source_open_result - what is to be told of an attempt
 * @status: of sysexits.h, for a service that ends because of it
 * @text: why there is no source; or why it is not a better one; "" for nothing to tell
 */
struct source_open_result {
	int status;
	char text[512];
};

/** source_open_kinds() - which sources source_open() may come to use, MEMORY_* of budget.h */
u32 source_open_kinds(const struct config *config);

/** source_sampling() - what to sample, as the configuration has it; filters aside */
struct source_config source_sampling(const struct config *config);

/**
 * source_open() - the source that @config chooses; an emulated SPU only where it is allowed
 * @sampling: borrowed strings must outlive the source
 * @ret_result: in any case
 *
 * Return: 0; negative errno: -EPERM and -EACCES for no right, -EINVAL for what the
 * configuration does not allow, others where there is none.
 */
int source_open(const struct config *config, const struct source_config *sampling,
		struct source **ret_source, struct source_open_result *ret_result);

/**
 * source_open_kept() - likewise of sessions that another process of this service began
 * @sessions: their descriptors by part, SOURCE_PARTS of them, -1 for none; they stay the caller's but where it succeeds
 *
 * Return: 0; -EOPNOTSUPP where the configuration wants another kind of source, or other parts; negative
 * errno with @ret_result's text: then it is of no use, and source_open() makes a new one.
 */
int source_open_kept(const struct config *config, const struct source_config *sampling,
		     int *sessions, struct source **ret_source,
		     struct source_open_result *ret_result);

#endif
