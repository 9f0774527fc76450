// SPDX-License-Identifier: LGPL-2.1-or-later
#include "edge-recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/message.h"
#include "lib/sample-location.h"
#include "util/array.h"

/* Bytes of an instruction of A64 */
#define INSTRUCTION_BYTES 4

static bool is_same_file(const struct edge_file *file, const struct attribute_location *location)
{
	return file->build_id_size == location->build_id_size &&
	       (!file->build_id_size ||
		memcmp(file->build_id, location->build_id, file->build_id_size) == 0) &&
	       (file->build_id_size || file->inode == location->inode) &&
	       strcmp(file->path, location->binary) == 0;
}

static int file_add(struct edge_recording *edges, const struct attribute_location *location)
{
	struct edge_file *grown = array_reserve(edges->file, &edges->capacity, edges->files + 1,
						sizeof(*grown), EDGE_FILES_MAX);

	if (!grown)
		return -ENOMEM;
	edges->file = grown;
	grown += edges->files;
	*grown = (struct edge_file){
		.path = strdup(location->binary),
		.build_id_size = location->build_id_size,
		.inode = location->inode,
	};
	if (!grown->path)
		return -ENOMEM;
	if (location->build_id_size)
		memcpy(grown->build_id, location->build_id, location->build_id_size);
	edges->files++;
	return 0;
}

/* Set *ret_file to the number of the file of a location. Return 0 or -ENOMEM. */
static int find_file(struct edge_recording *edges, const struct attribute_location *location,
		     u32 *ret_file)
{
	u32 i = edges->last;
	int r;

	if (i >= edges->files || !is_same_file(&edges->file[i], location))
		for (i = 0; i < edges->files && !is_same_file(&edges->file[i], location);)
			i++;
	if (i == EDGE_FILES_MAX) {
		*ret_file = EDGE_NO_FILE;
		return 0;
	}
	if (i == edges->files) {
		r = file_add(edges, location);
		if (r < 0)
			return r;
	}
	edges->last = i;
	*ret_file = i;
	return 0;
}

/* Find the file and the offset of an address of a sample; EDGE_NO_FILE and 0 if it is unknown. */
static int find_point(struct edge_recording *edges, const struct profile_sample *sample,
		      unsigned int address, u32 *ret_file, u64 *ret_offset)
{
	struct attribute_location location;
	u32 file = EDGE_NO_FILE;
	int r = 0;

	if (sample_find_location(edges->attributor, sample, sample->sample->address[address],
				 &location))
		r = find_file(edges, &location, &file);
	if (r < 0)
		return r;
	*ret_file = file;
	*ret_offset = file == EDGE_NO_FILE ? 0 : location.offset;
	return 0;
}

/*
 * Count the instructions from the target of the previous branch up to the sampled branch. The
 * target is that of another context if the kernel interrupted the program in between, so ignore a
 * run that is not in one file, or not ascending.
 */
static int count_run(struct edge_recording *edges, const struct profile_sample *profiled,
		     const struct edge_key *branch, u64 weight)
{
	struct edge_key key = { .kind = EDGE_RUN,
				.to_file = branch->from_file,
				.to = branch->from };
	int r;

	if (!spe_sample_has(profiled->sample, SPE_HAS_ADDRESS(SPE_ADDRESS_PREV_TARGET)) ||
	    branch->kind != EDGE_TAKEN)
		return 0;
	r = find_point(edges, profiled, SPE_ADDRESS_PREV_TARGET, &key.from_file, &key.from);
	if (r < 0 || key.from_file != key.to_file || key.from > key.to)
		return r;
	edges->runs++;
	return edge_table_add(&edges->table, &key, weight, 0);
}

static int count_branch(struct edge_recording *edges, const struct profile_sample *profiled,
			struct edge_key *key, u64 weight)
{
	bool wrong = spe_sample_has_event(profiled->sample, SPE_EVENT_MISPREDICTED);
	int r = find_point(edges, profiled, SPE_ADDRESS_PC, &key->from_file, &key->from);

	if (r < 0)
		return r;
	if (key->kind == EDGE_TAKEN) {
		r = find_point(edges, profiled, SPE_ADDRESS_TARGET, &key->to_file, &key->to);
	} else {
		key->to_file = key->from_file;
		key->to = key->from + INSTRUCTION_BYTES;
	}
	/* Ignore an edge with neither end in a known file: no compiler can use it. */
	if (r < 0 || (key->from_file == EDGE_NO_FILE && key->to_file == EDGE_NO_FILE))
		return r;
	edges->samples++;
	if (key->from_file != EDGE_NO_FILE) {
		edges->file[key->from_file].samples++;
		edges->file[key->from_file].taken += key->kind == EDGE_TAKEN ? weight : 0;
	}
	return edge_table_add(&edges->table, key, weight, wrong ? weight : 0);
}

/* Count an instruction, unless it was executed speculatively and was not retired. */
static int count_instruction(struct edge_recording *edges, const struct profile_sample *profiled)
{
	struct edge_key key = { .kind = EDGE_EXECUTED, .to_file = EDGE_NO_FILE };
	int r;

	if (!spe_sample_has(profiled->sample, SPE_HAS_ADDRESS(SPE_ADDRESS_PC)) ||
	    !spe_sample_has_event(profiled->sample, SPE_EVENT_RETIRED))
		return 0;
	r = find_point(edges, profiled, SPE_ADDRESS_PC, &key.from_file, &key.from);
	if (r < 0 || key.from_file == EDGE_NO_FILE)
		return r;
	return edge_table_add(&edges->table, &key, profiled->window->interval ?: 1, 0);
}

void edge_recording_count(struct edge_recording *edges, const struct profile_sample *profiled)
{
	const u64 needed = SPE_HAS_ADDRESS(SPE_ADDRESS_PC) | SPE_HAS_ADDRESS(SPE_ADDRESS_TARGET);
	const struct spe_sample *sample = profiled->sample;
	u64 weight = profiled->window->interval ?: 1;
	struct edge_key key = {
		/* A branch that is not taken may have a target, too (D17.6.3). */
		.kind = spe_sample_has_event(sample, SPE_EVENT_NOT_TAKEN) ? EDGE_NOT_TAKEN :
									    EDGE_TAKEN,
	};
	int r;

	if (edges->instructions && !edges->error)
		edges->error = count_instruction(edges, profiled);
	if (edges->error || spe_sample_kind(sample) != SPE_KIND_BRANCH ||
	    !spe_sample_has(sample,
			    key.kind == EDGE_TAKEN ? needed : SPE_HAS_ADDRESS(SPE_ADDRESS_PC)))
		return;
	edges->unweighted += !profiled->window->interval;
	r = count_branch(edges, profiled, &key, weight);
	if (r == 0 && key.from_file != EDGE_NO_FILE)
		r = count_run(edges, profiled, &key, weight);
	edges->error = r;
}

static void count_sample(void *ctx, const struct profile_sample *sample)
{
	edge_recording_count(ctx, sample);
}

/**
 * struct edge_loading - the arguments of watch_profile()
 * @input: has the attributor after input_load() has created it
 */
struct edge_loading {
	struct edge_recording *edges;
	struct input_recording *input;
	struct profile_observer observer;
};

static int watch_profile(void *ctx, struct profile *profile)
{
	struct edge_loading *loading = ctx;

	loading->edges->attributor = loading->input->attributor;
	loading->observer =
		(struct profile_observer){ .sample = count_sample, .ctx = loading->edges };
	profile_add_observer(profile, &loading->observer);
	return 0;
}

int edge_recording_load(const struct input_request *request, bool instructions,
			struct edge_recording *ret_edges)
{
	struct input_recording input;
	struct edge_loading loading = { .edges = ret_edges, .input = &input };
	struct input_request watched = *request;
	int status;

	*ret_edges =
		(struct edge_recording){ .table.max = EDGES_MAX, .instructions = instructions };
	/* All samples are counted in one table, so by one thread. */
	watched.threads = 1;
	watched.watch = watch_profile;
	watched.ctx = &loading;
	status = input_load(&watched, &input);
	if (loading.observer.profile)
		profile_remove_observer(&loading.observer);
	ret_edges->backend = input.backend;
	ret_edges->hardware = input.hardware;
	ret_edges->duration_ns = input.duration_ns;
	input_deinit(&input);
	ret_edges->attributor = NULL;
	if ((status == STATUS_OK || status == STATUS_DAMAGED) && ret_edges->error)
		status = message_fail(STATUS_FAILED, "%s: %s", request->path,
				      strerror(-ret_edges->error));
	edge_table_sort(&ret_edges->table);
	return status;
}

bool edge_file_format_build_id(const struct edge_file *file, char to[static 2 * BUILD_ID_MAX + 1])
{
	*to = '\0';
	for (u32 i = 0; i < file->build_id_size; i++)
		snprintf(to + 2 * i, 3, "%02x", file->build_id[i]);
	return file->build_id_size;
}

void edge_recording_clear(struct edge_recording *edges)
{
	for (u32 i = 0; i < edges->files; i++)
		free(edges->file[i].path);
	free(edges->file);
	edge_table_clear(&edges->table);
	*edges = (struct edge_recording){ .file = NULL };
}
