// SPDX-License-Identifier: LGPL-2.1-or-later
#include "program-table.h"

#include <errno.h>
#include <stdlib.h>

#include "maps.h"

/** struct program_key - the start of the key of a program; the path of the executable follows */
struct program_key {
	u32 container;
	u32 container_generation;
	u32 process;
	u32 cpu;
	u32 code_binary;
	u32 reserved;
	u64 code_offset;
};

int program_table_new(u32 capacity, u64 bytes, struct program_table **ret_table)
{
	struct program_table *t = calloc(1, sizeof(*t));

	if (!t || id_table_init(&t->ids, capacity, bytes) < 0) {
		free(t);
		return -ENOMEM;
	}
	*ret_table = t;
	return 0;
}

struct program_table *program_table_free(struct program_table *table)
{
	if (table) {
		id_table_deinit(&table->ids);
		free(table);
	}
	return NULL;
}

u32 program_table_find_or_add(struct program_table *table, const struct program_identity *program)
{
	const struct program_key key = {
		.container = program->container,
		.container_generation = program->container_generation,
		.process = program->process,
		.cpu = program->cpu,
		.code_binary = program->code_binary,
		.code_offset = program->code_offset,
	};
	size_t length = strnlen(program->executable, BINARY_PATH_SIZE);
	const char *executable = length < BINARY_PATH_SIZE ? program->executable : BINARY_UNNAMED;
	u8 bytes[sizeof(key) + BINARY_PATH_SIZE];
	u32 size = (u32)(sizeof(key) + strlen(executable) + 1);

	memcpy(bytes, &key, sizeof(key));
	memcpy(bytes + sizeof(key), executable, strlen(executable) + 1);
	return id_table_find_or_add(&table->ids, bytes, size, bytes, size);
}

bool program_table_find_by_id(struct program_table *table, u32 id,
			      struct program_identity *ret_program)
{
	const u8 *bytes = id_table_get_value(&table->ids, id);
	struct program_key key;

	if (id == PROGRAM_OTHER) {
		*ret_program = (struct program_identity){ .executable = "(other)" };
		return true;
	}
	if (!bytes)
		return false;
	memcpy(&key, bytes, sizeof(key));
	*ret_program = (struct program_identity){
		.container = key.container,
		.container_generation = key.container_generation,
		.executable = (const char *)bytes + sizeof(key),
		.process = key.process,
		.cpu = key.cpu,
		.code_binary = key.code_binary,
		.code_offset = key.code_offset,
	};
	return true;
}

void program_table_save(struct program_table *table, struct serializer *to)
{
	struct program_identity p;

	for (u32 id = 0; (id = id_table_get_next(&table->ids, id));) {
		if (!program_table_find_by_id(table, id, &p))
			continue;
		serialize_u64(to, id);
		serialize_u64(to, p.container);
		serialize_u64(to, p.container_generation);
		serialize_string(to, p.executable);
	}
	serialize_u64(to, 0);
}

struct program_loader {
	struct program_table *table;
	const struct attribute_translation *translation;
};

static u32 program_deserialize(void *ctx, struct deserializer *from, u32 id)
{
	const struct program_loader *l = ctx;
	char executable[BINARY_PATH_SIZE];
	struct program_identity p = { .executable = executable };
	u32 container = (u32)deserialize_u64_below(from, 1ULL << 32);
	u32 generation = (u32)deserialize_u64_below(from, 1ULL << 32);

	(void)id;
	deserialize_string(from, executable, sizeof(executable));
	p.container = attribute_remap_container(l->translation, container, generation,
						&p.container_generation);
	if (p.container == ATTRIBUTE_NONE) {
		p.container = 0;
		p.container_generation = 0;
	}
	return from->bad ? PROGRAM_OTHER : program_table_find_or_add(l->table, &p);
}

int program_table_load(struct program_table *table, struct deserializer *from,
		       const struct attribute_translation *translation, u32 **ret_ids,
		       u32 *ret_count)
{
	struct program_loader loader = { .table = table, .translation = translation };

	return id_table_load(from, program_deserialize, &loader, ret_ids, ret_count);
}
