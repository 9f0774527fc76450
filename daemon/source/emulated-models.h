/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operation model of each task: "comm=profile" pairs from the configuration, and a bounded
 * cache of the names of tasks in /proc.
 */
#ifndef SPEPROF_EMULATED_MODELS_H
#define SPEPROF_EMULATED_MODELS_H

#include "codec/env.h"
#include "model/opmodel.h"

struct emulated_models;

/**
 * emulated_models_new() - parse the pairs
 * @text: "comm=profile" pairs, separated by white space; "" or NULL: none
 * @ret_models: the models
 * @ret_reason: on failure, a static sentence with the reason
 *
 * Return: 0; -EINVAL if a pair is invalid; -ENOMEM.
 */
int emulated_models_new(const char *text, struct emulated_models **ret_models,
			const char **ret_reason);

/** emulated_models_free() - free @models, which may be NULL; returns NULL */
struct emulated_models *emulated_models_free(struct emulated_models *models);

/**
 * emulated_models_find_profile() - find the profile of a task
 * @models: the models
 * @tid: the TID in the PID namespace of this process
 * @now_ns: current time; a name is cached for 1 s, because TIDs are reused and tasks rename
 *	themselves
 *
 * Return: the profile; SPE_PROFILE_MIXED if no pair has the name, or the task has exited.
 */
enum spe_profile emulated_models_find_profile(struct emulated_models *models, s32 tid, u64 now_ns);

#endif
