/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording, read into a profile.
 */
#ifndef SPEPROF_INPUT_H
#define SPEPROF_INPUT_H

#include "filter/filter.h"
#include "profile/profile.h"
#include "recording/recording.h"
#include "util/cpu-list.h"

/**
 * struct input - a recording's profile
 * @backend: &enum backend, as the recording says
 */
struct input {
	struct attributor *attributor;
	struct profile *profile;
	enum recording_format format;
	u64 duration_ns;
	u8 backend;
};

/**
 * input_load() - replay @path; what is wrong with it is said
 * @cpus: windows of these only, or NULL
 * @midr: MIDR_EL1 where the recording does not say, 0 if that is not known either
 * @filter: what counts, or NULL; stays the caller's until input_deinit()
 * @ret_input: always to be ended by input_deinit(); holds what was readable
 *	where STATUS_OK or STATUS_DAMAGED is returned
 *
 * Return: &enum status.
 */
int input_load(const char *path, const struct cpu_list *cpus, u64 midr, const struct filter *filter,
	       struct input *ret_input);

/** struct input_watch - who wants the profile before its first sample */
struct input_watch {
	void (*begin)(struct input *input, void *ctx);
	void *ctx;
};

/** input_load_watched() - as input_load(), with a look at the empty profile */
int input_load_watched(const char *path, const struct cpu_list *cpus, u64 midr,
		       const struct filter *filter, const struct input_watch *watch,
		       struct input *ret_input);

/** input_symbols() - names for a recording: who asks waits for them */
int input_symbols(struct symbols **ret_symbols);

/** input_view() - as profile_view(), and what only a recording's reader knows */
int input_view(struct input *input, enum view_group group, enum view_sort sort, u32 limit,
	       struct view *ret_view);

void input_deinit(struct input *input);

#endif
