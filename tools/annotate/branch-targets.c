// SPDX-License-Identifier: LGPL-2.1-or-later
#include "branch-targets.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/sample-location.h"
#include "profile/profile-read.h"
#include "util/escape.h"

/**
 * struct target_counter - the second pass over a recording
 * @profile: applies the filter, and has the process of each sample
 * @cpus: as in &struct input_request
 * @error: first error, a negative errno
 */
struct target_counter {
	struct attributor *attributor;
	struct symbols_cache *symbols;
	struct listing *listing;
	struct profile *profile;
	const struct cpu_list *cpus;
	int error;
};

static int add_target(struct target_counter *counter, struct listing_line *line,
		      const struct attribute_location *location, const char *binary)
{
	struct listing_target *target;
	char function[512];

	if (line->targets == LISTING_TARGETS_MAX) {
		line->other_targets++;
		return 0;
	}
	target = reallocarray(line->target, line->targets + 1, sizeof(*target));
	if (!target)
		return -ENOMEM;
	line->target = target;
	if (!symbols_get_function(counter->symbols, 0, location, false, function,
				  sizeof(function)) &&
	    symbols_wait_configured(counter->symbols))
		symbols_get_function(counter->symbols, 0, location, false, function,
				     sizeof(function));
	target += line->targets++;
	*target = (struct listing_target){
		.binary = strdup(binary),
		.function = strdup(function),
		.offset = location->offset,
		.samples = 1,
	};
	return target->binary && target->function ? 0 : -ENOMEM;
}

static int count_target(struct target_counter *counter, struct listing_line *line,
			const struct attribute_location *location, const char *binary)
{
	for (u32 i = 0; i < line->targets; i++) {
		struct listing_target *target = &line->target[i];

		if (target->offset == location->offset && !strcmp(target->binary, binary)) {
			target->samples++;
			return 0;
		}
	}
	return add_target(counter, line, location, binary);
}

static void count_sample(void *ctx, const struct profile_sample *profiled)
{
	const u64 needed = SPE_HAS_ADDRESS(SPE_ADDRESS_PC) | SPE_HAS_ADDRESS(SPE_ADDRESS_TARGET);
	const struct spe_sample *sample = profiled->sample;
	struct attribute_location from, to;
	struct target_counter *counter = ctx;
	struct listing_line *line;
	char binary[256], target[256];

	/* A branch that is not taken may have a target, too (D17.6.3). */
	if (!spe_sample_has(sample, needed) || spe_sample_has_event(sample, SPE_EVENT_NOT_TAKEN) ||
	    counter->error)
		return;
	if (!sample_find_location(counter->attributor, profiled, sample->address[SPE_ADDRESS_PC],
				  &from))
		return;
	escape_string(binary, sizeof(binary), from.binary);
	line = listing_find_line(counter->listing, binary, from.offset);
	if (!line)
		return;
	if (!sample_find_location(counter->attributor, profiled,
				  sample->address[SPE_ADDRESS_TARGET], &to))
		to = (struct attribute_location){
			.binary = "[unmapped]",
			.offset = spe_address_va(sample->address[SPE_ADDRESS_TARGET]),
		};
	escape_string(target, sizeof(target), to.binary);
	counter->error = count_target(counter, line, &to, strcmp(target, binary) ? target : "");
}

static void count_window(void *ctx, const struct source_window *window)
{
	const struct target_counter *counter = ctx;

	if (!counter->cpus || cpu_list_has(counter->cpus, window->cpu))
		profile_add_window(counter->profile, window);
}

static int compare_targets(const void *a, const void *b)
{
	const struct listing_target *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static void sort_targets(struct listing *listing)
{
	for (u32 i = 0; i < listing->functions; i++) {
		struct listing_function *f = &listing->function[i];

		for (u32 k = 0; k < f->lines; k++)
			if (f->line[k].targets)
				qsort(f->line[k].target, f->line[k].targets,
				      sizeof(*f->line[k].target), compare_targets);
	}
}

/*
 * Read the windows of the recording. The attributor already has the task events from the first
 * pass.
 */
static int count_recording(struct target_counter *counter, const char *path)
{
	const struct source_sink sink = { .window = count_window, .ctx = counter };
	struct recording *recording = NULL;
	int r = recording_open(path, &recording, NULL);

	if (r < 0)
		return r;
	r = recording_replay(recording, &sink, NULL);
	recording_free(recording);
	profile_flush(counter->profile);
	/* Damage of the recording was already reported in the first pass. */
	return r == -EBADMSG ? 0 : r;
}

int branch_targets_count(const struct input_request *request, struct input_recording *input,
			 struct symbols_cache *symbols, struct listing *listing)
{
	const struct profile_config config = {
		.skip_memory = true,
		.midr = request->midr,
		.filter = request->filter,
	};
	struct target_counter counter = {
		.attributor = input->attributor,
		.symbols = symbols,
		.listing = listing,
		.cpus = request->cpus,
	};
	struct profile_observer observer = { .sample = count_sample, .ctx = &counter };
	int r = profile_new(&config, input->attributor, &counter.profile);

	if (r < 0)
		return r;
	profile_add_observer(counter.profile, &observer);
	r = count_recording(&counter, request->path);
	profile_remove_observer(&observer);
	profile_free(counter.profile);
	sort_targets(listing);
	return r < 0 ? r : counter.error;
}
