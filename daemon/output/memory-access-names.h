/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of the users of hot cache lines and pages. */
#ifndef SPEPROF_MEMORY_ACCESS_NAMES_H
#define SPEPROF_MEMORY_ACCESS_NAMES_H

#include "symbols/symbols.h"

/* Size of the name of a function, bytes, as in &struct view_row. */
#define MEMORY_ACCESS_FUNCTION_SIZE 128

/**
 * struct memory_access_names - where the names come from
 * @attributor: the tasks of the profile
 * @symbols: resolver of function names; NULL: no symbol is known
 * @live: the processes may still run
 */
struct memory_access_names {
	struct attributor *attributor;
	struct symbols_cache *symbols;
	bool live;
};

/**
 * memory_access_find_process() - find a process
 * @names: where the names come from
 * @owner: result of location_owner_make()
 *
 * Return: the process; NULL if its entry was evicted, or if @owner is no process.
 */
const struct attribute_process *memory_access_find_process(const struct memory_access_names *names,
							   u64 owner);

/**
 * memory_access_get_container() - return the name of the container of @process, which may be NULL;
 * "-" if it has none
 */
const char *memory_access_get_container(const struct memory_access_names *names,
					const struct attribute_process *process);

/** memory_access_get_process() - return the name of @process, which may be NULL */
const char *memory_access_get_process(const struct attribute_process *process);

/**
 * memory_access_get_function() - get the function of an instruction
 * @names: where the names come from
 * @place: result of location_make_pc_key() of the instruction
 * @owner: result of location_owner_make() of its process
 * @name: receives the name as of symbols_get_function(), or the address, NUL-terminated
 * @ret_where: as for attributor_locate_pc(); its binary is "" if the instruction is in no known
 *	mapping
 *
 * Locking: as attributor_locate_pc().
 *
 * Return: true if a symbol was found.
 */
bool memory_access_get_function(const struct memory_access_names *names, u64 place, u64 owner,
				char name[static MEMORY_ACCESS_FUNCTION_SIZE],
				struct attribute_location *ret_where);

#endif
