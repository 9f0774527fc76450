// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the build ids of a perf.data: when perf record ends, it writes a table with the build ids
 * of all mapped files. The table is needed for mappings without a build id in their records.
 */
#include "perfdata.h"
#include "tasks/task-event.h"

#include <stdlib.h>

#define ENTRY_ID   12
#define ENTRY_SIZE 32 /* length of the build id, if misc has MISC_SIZE */
#define ENTRY_NAME 36
#define MISC_SIZE  (1U << 15) /* PERF_RECORD_MISC_BUILD_ID_SIZE */

static int name_compare(const void *a, const void *b)
{
	const struct perfdata_build_id *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void build_id_add(struct perfdata_reader *perf, const u8 *id, u8 size, const char *name)
{
	struct perfdata_build_ids *ids = &perf->build_ids;
	struct perfdata_build_id *entry;
	size_t len = strlen(name) + 1;

	if (ids->count == PERFDATA_MAX_BUILD_IDS || len > PERFDATA_MAX_NAMES - ids->bytes)
		return;
	if (!ids->entries)
		ids->entries = malloc(PERFDATA_MAX_BUILD_IDS * sizeof(*ids->entries));
	if (!ids->entries)
		return;
	entry = &ids->entries[ids->count];
	*entry = (struct perfdata_build_id){ .name = strdup(name), .size = size };
	if (!entry->name)
		return;
	memcpy(entry->id, id, size);
	ids->count++;
	ids->bytes += (u32)len;
	ids->sorted = false;
}

/* Parse an entry within @available bytes; returns its size, or 0 if it is invalid. */
static u32 parse_build_id_entry(struct perfdata_reader *perf, const u8 *p, size_t available)
{
	u32 size = available >= ENTRY_NAME ? perfdata_get16(perf, p + 6) : 0;
	u8 id_size = BUILD_ID_MAX_BYTES;

	if (size <= ENTRY_NAME || size > available || !memchr(p + ENTRY_NAME, 0, size - ENTRY_NAME))
		return 0;
	if (perfdata_get16(perf, p + 4) & MISC_SIZE)
		id_size = p[ENTRY_SIZE];
	if (id_size && id_size <= BUILD_ID_MAX_BYTES)
		build_id_add(perf, p + ENTRY_ID, id_size, (const char *)p + ENTRY_NAME);
	return size;
}

void perfdata_parse_build_id(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	if (!parse_build_id_entry(perf, record->data, record->size))
		recording_set_damage(
			perf->recording, record->offset,
			"BUILD_ID record: %u bytes hold no build id and NUL-terminated "
			"name",
			record->size);
}

void perfdata_read_build_ids(struct perfdata_reader *perf, u64 offset, u64 size)
{
	u64 at = offset, end = offset + size;
	size_t len;
	const u8 *p;
	u32 n;

	for (; at < end; at += n) {
		p = recording_peek(perf->recording, at, UINT16_MAX, &len);
		n = parse_build_id_entry(perf, p, len < end - at ? len : (size_t)(end - at));
		if (!n) {
			recording_set_damage(
				perf->recording, at,
				"perf.data: feature BUILD_ID: an entry holds no build id "
				"and NUL-terminated name");
			return;
		}
	}
}

void perfdata_set_build_id(struct perfdata_reader *perf, struct task_event *event)
{
	struct perfdata_build_ids *ids = &perf->build_ids;
	struct perfdata_build_id key, *found;

	if (event->build_id_size || !ids->count)
		return;
	if (!ids->sorted)
		qsort(ids->entries, ids->count, sizeof(*ids->entries), name_compare);
	ids->sorted = true;
	/* The cast is safe: name_compare() does not modify the key. */
	key.name = (char *)(uintptr_t)event->name;
	found = bsearch(&key, ids->entries, ids->count, sizeof(*ids->entries), name_compare);
	if (!found)
		return;
	event->build_id = found->id;
	event->build_id_size = found->size;
}

void perfdata_free_build_ids(struct perfdata_reader *perf)
{
	struct perfdata_build_ids *ids = &perf->build_ids;

	for (u32 i = 0; i < ids->count; i++)
		free(ids->entries[i].name);
	free(ids->entries);
}
