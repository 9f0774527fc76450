// SPDX-License-Identifier: LGPL-2.1-or-later
#include "binary-table.h"

#include <errno.h>
#include <stdlib.h>

#include "maps.h"

/* flag of &binary_identity.process: the memory was restored from a checkpoint */
#define PROCESS_RESTORED (1ULL << 63)

/* The first byte of a key, which is the kind of property that identifies the binary */
enum binary_key_kind {
	KEY_BUILD_ID = 1,
	KEY_FILE,
	KEY_MEMORY,
};

/** struct binary_value - the stored properties of a binary; the path follows, with its NUL */
struct binary_value {
	u64 inode;
	u64 process;
	u32 device;
	u8 build_id_size;
	u8 build_id[BUILD_ID_MAX];
};

/* a size that is sufficient for the longest key or value */
#define BINARY_BYTES (64 + BINARY_PATH_SIZE)

int binary_table_new(u32 capacity, u64 bytes, struct binary_table **ret_table)
{
	struct binary_table *t = calloc(1, sizeof(*t));

	if (!t || id_table_init(&t->ids, capacity, bytes) < 0) {
		free(t);
		return -ENOMEM;
	}
	*ret_table = t;
	return 0;
}

struct binary_table *binary_table_free(struct binary_table *table)
{
	if (table) {
		id_table_deinit(&table->ids);
		free(table);
	}
	return NULL;
}

static const char *binary_get_path(const struct binary_identity *binary)
{
	return strnlen(binary->path, BINARY_PATH_SIZE) < BINARY_PATH_SIZE ? binary->path :
									    BINARY_UNNAMED;
}

static bool has_build_id(const struct binary_identity *binary)
{
	return binary->build_id && binary->build_id_size && binary->build_id_size <= BUILD_ID_MAX;
}

static u32 buffer_append(u8 *to, u32 at, const void *bytes, size_t size)
{
	memcpy(to + at, bytes, size);
	return at + (u32)size;
}

static u32 binary_encode_key(const struct binary_identity *binary, u8 key[static BINARY_BYTES])
{
	const char *path = binary_get_path(binary);
	u32 size = 1;

	if (binary->process) {
		key[0] = KEY_MEMORY;
		size = buffer_append(key, size, &binary->process, sizeof(binary->process));
		return buffer_append(key, size, path, strlen(path));
	}
	if (has_build_id(binary)) {
		key[0] = KEY_BUILD_ID;
		return buffer_append(key, size, binary->build_id, binary->build_id_size);
	}
	key[0] = KEY_FILE;
	size = buffer_append(key, size, &binary->device, sizeof(binary->device));
	size = buffer_append(key, size, &binary->inode, sizeof(binary->inode));
	return buffer_append(key, size, path, strlen(path));
}

u32 binary_table_find_or_add(struct binary_table *table, const struct binary_identity *binary)
{
	struct binary_value value = {
		.inode = binary->inode,
		.process = binary->process,
		.device = binary->device,
	};
	const char *path = binary_get_path(binary);
	u8 key[BINARY_BYTES], bytes[BINARY_BYTES];
	u32 size;

	if (has_build_id(binary)) {
		value.build_id_size = binary->build_id_size;
		memcpy(value.build_id, binary->build_id, binary->build_id_size);
	}
	size = buffer_append(bytes, 0, &value, sizeof(value));
	size = buffer_append(bytes, size, path, strlen(path) + 1);
	return id_table_find_or_add(&table->ids, key, binary_encode_key(binary, key), bytes, size);
}

static_assert(sizeof(struct binary_value) + BINARY_PATH_SIZE <= BINARY_BYTES, "a value fits");

bool binary_table_find_by_id(struct binary_table *table, u32 id, struct binary_identity *ret_binary)
{
	const u8 *bytes = id_table_get_value(&table->ids, id);
	struct binary_value value;

	if (id == BINARY_OTHER) {
		*ret_binary = (struct binary_identity){ .path = "(other)" };
		return true;
	}
	if (!bytes)
		return false;
	memcpy(&value, bytes, sizeof(value));
	*ret_binary = (struct binary_identity){
		.path = (const char *)bytes + sizeof(value),
		.inode = value.inode,
		.device = value.device,
		.build_id = bytes + offsetof(struct binary_value, build_id),
		.build_id_size = value.build_id_size,
		.process = value.process,
	};
	return true;
}

void binary_table_save(struct binary_table *table, struct serializer *to)
{
	struct binary_identity b;

	for (u32 id = 0; (id = id_table_get_next(&table->ids, id));) {
		if (!binary_table_find_by_id(table, id, &b))
			continue;
		serialize_u64(to, id);
		serialize_u64(to, b.inode);
		serialize_u64(to, b.device);
		serialize_u64(to, b.process != 0);
		serialize_bytes(to, b.build_id, b.build_id_size);
		serialize_string(to, b.path);
	}
	serialize_u64(to, 0);
}

static u32 binary_deserialize(void *table, struct deserializer *from, u32 id)
{
	u8 build_id[BUILD_ID_MAX];
	char path[BINARY_PATH_SIZE];
	struct binary_identity b = { .path = path, .build_id = build_id };

	b.inode = deserialize_u64(from);
	b.device = (u32)deserialize_u64_below(from, 1ULL << 32);
	b.process = deserialize_u64_below(from, 2) ? PROCESS_RESTORED | id : 0;
	b.build_id_size = (u8)deserialize_bytes(from, build_id, sizeof(build_id));
	deserialize_string(from, path, sizeof(path));
	return from->bad ? BINARY_OTHER : binary_table_find_or_add(table, &b);
}

int binary_table_load(struct binary_table *table, struct deserializer *from, u32 **ret_ids,
		      u32 *ret_count)
{
	return id_table_load(from, binary_deserialize, table, ret_ids, ret_count);
}
