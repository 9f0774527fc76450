// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which build of each file was mapped, for the feature BUILD_ID of a perf.data: it knows
 * files by path alone. A path at which two builds were has none: either would be wrong
 * for some samples.
 */
#include "recorder-internal.h"
#include "tasks/task-event.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#define RECORD_BUILD_ID 67 /* PERF_RECORD_HEADER_BUILD_ID */
#define MISC_SIZE	(1U << 15) /* PERF_RECORD_MISC_BUILD_ID_SIZE: @size is one */
#define HOST		(-1)
#define NAME_ALIGN	64
#define NAME_LONGEST	4096

/* An entry of the feature; the path follows, padded with zeros. */
struct build_id_entry {
	u32 type;
	u16 misc;
	u16 size;
	s32 pid;
	u8 id[BUILD_ID_MAX_BYTES];
	u8 id_size;
	u8 reserved[3];
};

static_assert(sizeof(struct build_id_entry) == 36, "as perf has it");

static struct recorder_build *build_find(struct recorder *recorder, const char *path)
{
	for (u32 i = 0; i < recorder->build_count; i++)
		if (!strcmp(recorder->builds[i].path, path))
			return &recorder->builds[i];
	return NULL;
}

void recorder_build_add(struct recorder *recorder, const struct task_event *event)
{
	struct recorder_build *build;

	if (!event->build_id_size || event->build_id_size > BUILD_ID_MAX_BYTES ||
	    strlen(event->name) >= NAME_LONGEST)
		return;
	build = build_find(recorder, event->name);
	if (build) {
		build->two |= build->size != event->build_id_size ||
			      memcmp(build->id, event->build_id, build->size) != 0;
		return;
	}
	if (recorder->build_count == RECORDER_BUILDS)
		return;
	if (!recorder->builds)
		recorder->builds = calloc(RECORDER_BUILDS, sizeof(*recorder->builds));
	if (!recorder->builds)
		return;
	build = &recorder->builds[recorder->build_count];
	build->path = strdup(event->name);
	if (!build->path)
		return;
	build->size = event->build_id_size;
	memcpy(build->id, event->build_id, build->size);
	recorder->build_count++;
}

void recorder_builds_write(struct recorder *recorder)
{
	for (u32 i = 0; i < recorder->build_count; i++) {
		const struct recorder_build *build = &recorder->builds[i];
		char path[NAME_LONGEST + NAME_ALIGN] = { 0 };
		size_t len = (strlen(build->path) + NAME_ALIGN) & ~(NAME_ALIGN - 1UL);
		struct build_id_entry entry = {
			.type = RECORD_BUILD_ID,
			.misc = PERF_RECORD_MISC_USER | MISC_SIZE,
			.size = (u16)(sizeof(entry) + len),
			.pid = HOST,
			.id_size = build->size,
		};

		if (build->two)
			continue;
		memcpy(entry.id, build->id, build->size);
		strcpy(path, build->path);
		recorder_write(recorder, &entry, sizeof(entry));
		recorder_write(recorder, path, len);
	}
}

void recorder_builds_free(struct recorder *recorder)
{
	for (u32 i = 0; i < recorder->build_count; i++)
		free(recorder->builds[i].path);
	free(recorder->builds);
}
