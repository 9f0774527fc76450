// SPDX-License-Identifier: LGPL-2.1-or-later
#include "row-names.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus-json.h"
#include "codec/payload.h"
#include "query/query-names.h"

static void copy_text(json_object *json, const char *key, char *to, size_t size)
{
	const char *text = json_text(json, key);

	snprintf(to, size, "%s", text ? text : "");
}

static u8 parse_op(const char *name)
{
	u8 kind = 0;

	while (kind < SPE_KINDS && sample_kind_name(kind) && strcmp(name, sample_kind_name(kind)))
		kind++;
	return kind < SPE_KINDS ? kind : SPE_KIND_NONE;
}

static u8 parse_level(const char *name)
{
	u8 level = 0;

	while (level < SPE_LEVELS && strcmp(name, spe_level_name(level)) != 0)
		level++;
	return level < SPE_LEVELS ? level : QUERY_NONE;
}

/* All events without a name are shown by one name, so any of them may be returned. */
static u8 parse_event(const char *name)
{
	u8 event = 0;

	while (event < SAMPLE_EVENTS && strcmp(name, spe_event_name(event) ?: "unnamed") != 0)
		event++;
	return event < SAMPLE_EVENTS ? event : QUERY_NONE;
}

void row_names_read(json_object *json, struct query_row *ret_row)
{
	struct query_row *row = ret_row;

	memset(row, 0, sizeof(*row));
	copy_text(json, "container", row->container, sizeof(row->container));
	copy_text(json, "program", row->program, sizeof(row->program));
	copy_text(json, "comm", row->comm, sizeof(row->comm));
	row->pid = (s32)json_number(json, "pid");
	row->cpu_known = json_get(json, "cpu") != NULL;
	row->cpu = (u32)json_number(json, "cpu");
	row->node_known = json_get(json, "node") != NULL;
	row->node = (u32)json_number(json, "node");
	copy_text(json, "binary", row->binary, sizeof(row->binary));
	copy_text(json, "build_id", row->build_id, sizeof(row->build_id));
	copy_text(json, "function", row->function, sizeof(row->function));
	copy_text(json, "type", row->type, sizeof(row->type));
	copy_text(json, "field", row->field, sizeof(row->field));
	copy_text(json, "file", row->file, sizeof(row->file));
	row->line = (u32)json_number(json, "line");
	row->instruction = strtoull(json_text(json, "instruction"), NULL, 16);
	row->evicted = !*json_text(json, "mode");
	row->kernel = !strcmp(json_text(json, "mode"), "kernel");
	row->op = parse_op(json_text(json, "op"));
	row->level = parse_level(json_text(json, "level"));
	row->event = parse_event(json_text(json, "event"));
}

bool row_names_unnamed(const struct query_row *row)
{
	const char *binary = query_base_name(row->binary);
	size_t size = strlen(binary);

	return size && strncmp(row->function, binary, size) == 0 &&
	       strncmp(row->function + size, "+0x", 3) == 0;
}
