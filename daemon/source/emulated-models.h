/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which operation model stands for which task: "comm=profile" pairs of the
 * configuration, and a bounded cache of what /proc says of TIDs.
 */
#ifndef SPEPROF_EMULATED_MODELS_H
#define SPEPROF_EMULATED_MODELS_H

#include "codec/env.h"
#include "model/opmodel.h"

struct models;

/**
 * models_new() - read pairs
 * @text: "comm=profile" pairs that white space parts; "" or NULL for none
 * @ret_reason: why -EINVAL, one static sentence
 */
int models_new(const char *text, struct models **ret_models, const char **ret_reason);

struct models *models_free(struct models *models);

/**
 * models_of_task() - the profile for a task
 * @tid: as /proc here shows it
 * @now_ns: for expiry: a name is believed for a second, as a TID is used again
 *	and a task may rename itself
 *
 * What no pair names, or is gone, is SPE_PROFILE_MIXED.
 */
enum spe_profile models_of_task(struct models *models, s32 tid, u64 now_ns);

#endif
