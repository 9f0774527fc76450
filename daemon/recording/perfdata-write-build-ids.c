// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Collects the build ids of mapped files for the feature BUILD_ID of a perf.data, which identifies
 * files by path. If files with different build ids had the same path, no build id is written for
 * that path, because each would be wrong for some samples.
 */
#include "recorder-internal.h"
#include "tasks/task-event.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#define RECORD_BUILD_ID 67 /* PERF_RECORD_HEADER_BUILD_ID */
#define MISC_SIZE	(1U << 15) /* PERF_RECORD_MISC_BUILD_ID_SIZE: the entry has its ID's size */
#define PERF_HOST_PID	(-1) /* perf's PID of the host, in contrast to a guest */
#define NAME_ALIGN	64
#define NAME_MAX_SIZE	4096

/*
 * An entry of the feature BUILD_ID. The path follows the entry, padded with zeros to a multiple of
 * NAME_ALIGN bytes.
 */
struct build_id_entry {
	u32 type;
	u16 misc;
	u16 size;
	s32 pid;
	u8 id[BUILD_ID_MAX_BYTES];
	u8 id_size;
	u8 reserved[3];
};

static_assert(sizeof(struct build_id_entry) == 36, "the size of perf's structure");

static struct recorder_build_id *build_id_find(struct recorder *recorder, const char *path)
{
	for (u32 i = 0; i < recorder->build_id_count; i++)
		if (!strcmp(recorder->build_ids[i].path, path))
			return &recorder->build_ids[i];
	return NULL;
}

void recorder_add_build_id(struct recorder *recorder, const struct task_event *event)
{
	struct recorder_build_id *build;

	if (!event->build_id_size || event->build_id_size > BUILD_ID_MAX_BYTES ||
	    strlen(event->name) >= NAME_MAX_SIZE)
		return;
	build = build_id_find(recorder, event->name);
	if (build) {
		build->ambiguous |= build->size != event->build_id_size ||
				    memcmp(build->id, event->build_id, build->size) != 0;
		return;
	}
	if (recorder->build_id_count == RECORDER_BUILD_IDS)
		return;
	if (!recorder->build_ids)
		recorder->build_ids = calloc(RECORDER_BUILD_IDS, sizeof(*recorder->build_ids));
	if (!recorder->build_ids)
		return;
	build = &recorder->build_ids[recorder->build_id_count];
	build->path = strdup(event->name);
	if (!build->path)
		return;
	build->size = event->build_id_size;
	memcpy(build->id, event->build_id, build->size);
	recorder->build_id_count++;
}

void recorder_write_build_ids(struct recorder *recorder)
{
	for (u32 i = 0; i < recorder->build_id_count; i++) {
		const struct recorder_build_id *build = &recorder->build_ids[i];
		char path[NAME_MAX_SIZE + NAME_ALIGN] = { 0 };
		size_t len = (strlen(build->path) + NAME_ALIGN) & ~(NAME_ALIGN - 1UL);
		struct build_id_entry entry = {
			.type = RECORD_BUILD_ID,
			.misc = PERF_RECORD_MISC_USER | MISC_SIZE,
			.size = (u16)(sizeof(entry) + len),
			.pid = PERF_HOST_PID,
			.id_size = build->size,
		};

		if (build->ambiguous)
			continue;
		memcpy(entry.id, build->id, build->size);
		strcpy(path, build->path);
		recorder_write(recorder, &entry, sizeof(entry));
		recorder_write(recorder, path, len);
	}
}

void recorder_free_build_ids(struct recorder *recorder)
{
	for (u32 i = 0; i < recorder->build_id_count; i++)
		free(recorder->build_ids[i].path);
	free(recorder->build_ids);
}
