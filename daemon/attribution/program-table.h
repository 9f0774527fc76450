/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table that assigns ids to programs. A program is an executable in a container: all processes of
 * the container that execute the same file belong to it. An id needs four bytes in the key of a
 * cell. It is stable until id_table_sweep() frees it.
 *
 * Locking: the table has a lock, so any thread may call the functions.
 */
#ifndef SPEPROF_PROGRAM_TABLE_H
#define SPEPROF_PROGRAM_TABLE_H

#include "attributor-save.h"
#include "id-table.h"
#include "util/serialize.h"

/**
 * struct program_table - the table
 * @ids: the ids; use id_table_mark(), id_table_sweep() and id_table_get_stats() on it
 */
struct program_table {
	struct id_table ids;
};

/* the id of all programs that do not fit into the table */
#define PROGRAM_OTHER ID_OTHER

/**
 * struct program_identity - the properties that identify a program
 * @container: index of its container in the attributor
 * @container_generation: generation of the entry of the container
 * @executable: path in the mount namespace of the container, or a name
 *	(attributor_get_executable()); raw bytes
 * @process: PROGRAM_ANY; in a recording that distinguishes processes: index of the process in the
 *	attributor plus 1, or PROGRAM_NONE for samples without a process
 * @cpu: PROGRAM_ANY; in a recording that distinguishes CPUs: number of the CPU plus 1
 * @code_binary, @code_offset: 0; in a recording that distinguishes instructions: binary
 *	(binary-table.h) of an instruction that accesses data, and its offset in the binary
 */
struct program_identity {
	u32 container;
	u32 container_generation;
	const char *executable;
	u32 process;
	u32 cpu;
	u32 code_binary;
	u64 code_offset;
};

/* value of &program_identity.process and .cpu: processes or CPUs are not distinguished */
#define PROGRAM_ANY 0

/* value of &program_identity.process for samples without a process */
#define PROGRAM_NONE UINT32_MAX

/**
 * program_table_new() - allocate an empty table
 * @capacity: maximum number of programs
 * @bytes: limit of the memory of their keys and paths
 * @ret_table: the table; free it with program_table_free()
 *
 * Return: 0 or -ENOMEM.
 */
int program_table_new(u32 capacity, u64 bytes, struct program_table **ret_table);

/** program_table_free() - free a table, which may be NULL; returns NULL */
struct program_table *program_table_free(struct program_table *table);

/**
 * program_table_find_or_add() - return the id of a program, a new one if it has none
 *
 * Return: the id, at least 1; PROGRAM_OTHER if the table is full.
 */
u32 program_table_find_or_add(struct program_table *table, const struct program_identity *program);

/**
 * program_table_find_by_id() - get the program with an id
 * @ret_program: its pointers are valid until id_table_sweep()
 *
 * PROGRAM_OTHER has the executable "(other)", in no container.
 *
 * Return: whether the id is in use.
 */
bool program_table_find_by_id(struct program_table *table, u32 id,
			      struct program_identity *ret_program);

/** program_table_save() - serialize all programs with their ids */
void program_table_save(struct program_table *table, struct serializer *to);

/**
 * program_table_load() - add serialized programs
 * @table: the table
 * @from: the bytes of program_table_save(), which may be hostile
 * @translation: the current indices of containers. If the container of a program no longer exists,
 *	the program gets index 0, which means no container
 * @ret_ids: current ids, indexed by saved id, for &struct cell_translation; free() it
 * @ret_count: number of entries
 *
 * Return: 0; -EBADMSG if the bytes are invalid; -ENOMEM if memory cannot be allocated.
 */
int program_table_load(struct program_table *table, struct deserializer *from,
		       const struct attribute_translation *translation, u32 **ret_ids,
		       u32 *ret_count);

#endif
