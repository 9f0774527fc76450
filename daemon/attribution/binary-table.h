/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table that assigns ids to binaries: files, kernel modules and memory from which code is mapped.
 * An id needs four bytes in the key of a cell. It is stable until id_table_sweep() frees it.
 *
 * A file is identified by its build id, or by device, inode and path if it has no build id. So two
 * containers with the same image share its binaries. Memory without a file, such as JIT code,
 * belongs to one process.
 *
 * Locking: the table has a lock, so any thread may call the functions.
 */
#ifndef SPEPROF_BINARY_TABLE_H
#define SPEPROF_BINARY_TABLE_H

#include "id-table.h"
#include "util/serialize.h"

/**
 * struct binary_table - the table
 * @ids: the ids; use id_table_mark(), id_table_sweep() and id_table_get_stats() on it
 */
struct binary_table {
	struct id_table ids;
};

/* the id of all binaries that do not fit into the table */
#define BINARY_OTHER ID_OTHER

/**
 * struct binary_identity - the properties that identify a binary
 * @path: path in the mount namespace of a process, "[kernel]", "[anon]" ...; raw bytes
 * @inode, @device: numbers of the file, 0 if unknown
 * @build_id: build ID, @build_id_size bytes, at most BUILD_ID_MAX (maps.h)
 * @process: for memory without a file: a number of its process that is never reused; else 0
 */
struct binary_identity {
	const char *path;
	u64 inode;
	u32 device;
	const u8 *build_id;
	u8 build_id_size;
	u64 process;
};

/**
 * binary_table_new() - allocate an empty table
 * @capacity: maximum number of binaries
 * @bytes: limit of the memory of their keys and paths
 * @ret_table: the table; free it with binary_table_free()
 *
 * Return: 0 or -ENOMEM.
 */
int binary_table_new(u32 capacity, u64 bytes, struct binary_table **ret_table);

/** binary_table_free() - free a table, which may be NULL; returns NULL */
struct binary_table *binary_table_free(struct binary_table *table);

/**
 * binary_table_find_or_add() - return the id of a binary, a new one if it has none
 *
 * Return: the id, at least 1; BINARY_OTHER if the table is full.
 */
u32 binary_table_find_or_add(struct binary_table *table, const struct binary_identity *binary);

/**
 * binary_table_find_by_id() - get the binary with an id
 * @ret_binary: its pointers are valid until id_table_sweep()
 *
 * The path is the one with which the binary was added. BINARY_OTHER has the path "(other)".
 *
 * Return: whether the id is in use.
 */
bool binary_table_find_by_id(struct binary_table *table, u32 id,
			     struct binary_identity *ret_binary);

/** binary_table_save() - serialize all binaries with their ids */
void binary_table_save(struct binary_table *table, struct serializer *to);

/**
 * binary_table_load() - add serialized binaries
 * @table: the table; binaries that it already has keep their ids
 * @from: the bytes of binary_table_save(), which may be hostile
 * @ret_ids: current ids, indexed by saved id, for &struct cell_translation; free() it
 * @ret_count: number of entries
 *
 * Memory without a file belongs to a process, which may have exited since. So restored memory gets
 * a process number that no process has: the highest bit is set.
 *
 * Return: 0; -EBADMSG if the bytes are invalid; -ENOMEM if memory cannot be allocated.
 */
int binary_table_load(struct binary_table *table, struct deserializer *from, u32 **ret_ids,
		      u32 *ret_count);

#endif
