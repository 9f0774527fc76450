/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ranks of the names of programs and binaries: the position of a name in alphabetical order. Ids
 * with equal names have equal ranks, and the order of ranks does not depend on the order of ids.
 */
#ifndef SPEPROF_QUERY_NAMES_H
#define SPEPROF_QUERY_NAMES_H

#include "query-cells.h"

/**
 * struct query_ranks - the ranks of names, indexed by id; the first rank is 1
 * @at: the ranks, @count of them; 0 for ids without a cell
 */
struct query_ranks {
	u32 *at;
	u32 count;
};

/**
 * struct query_names - the names of all programs and binaries with cells
 * @tables: tables of the ids
 * @container, @executable: indexed by the id of a program. Executables with equal paths have the
 *	same rank
 * @comm: names of processes, indexed by the id of a program, in a recording that distinguishes
 *	processes
 * @path, @build_id: indexed by the id of a binary
 */
struct query_names {
	const struct profile_cells *tables;
	struct query_ranks container;
	struct query_ranks executable;
	struct query_ranks comm;
	struct query_ranks path;
	struct query_ranks build_id;
};

/**
 * query_names_init() - compute the ranks
 * @cells: borrowed
 * @ret_names: the ranks; call query_names_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int query_names_init(const struct query_cells *cells, struct query_names *ret_names);

/** query_names_deinit() - free the memory; @names may be all zeros */
void query_names_deinit(struct query_names *names);

/** query_get_rank() - return the rank of an id; 0 for an id without a cell */
static inline u32 query_get_rank(const struct query_ranks *ranks, u32 id)
{
	return id < ranks->count ? ranks->at[id] : 0;
}

/**
 * query_get_container() - return the container of a program
 * @program: id of the program; CELL_NO_PROGRAM is valid
 *
 * Return: NULL for no container.
 */
const struct attribute_container *query_get_container(const struct profile_cells *cells,
						      u32 program);

/** query_get_container_name() - return the name of the container of a program; "-" for none */
const char *query_get_container_name(const struct profile_cells *cells, u32 program);

/**
 * query_get_executable() - return the path of a program, not escaped; "[unattributed]" for
 * CELL_NO_PROGRAM
 */
const char *query_get_executable(const struct profile_cells *cells, u32 program);

/** query_program_is_unattributed() - return whether @program has samples without a process */
bool query_program_is_unattributed(const struct profile_cells *cells, u32 program);

/**
 * query_get_process() - return the process of a program of a recording
 *
 * Return: NULL if the recording does not distinguish processes, or the samples have no process.
 */
const struct attribute_process *query_get_process(const struct profile_cells *cells, u32 program);

/**
 * query_get_cpu_plus_one() - return the CPU of a program of a recording, plus 1; 0 if it is
 * unknown
 */
u32 query_get_cpu_plus_one(const struct profile_cells *cells, u32 program);

/**
 * query_base_name() - return the last part of an absolute path; @path itself if it is not absolute
 * or ends with "/"
 */
const char *query_base_name(const char *path);

/** query_name_matches() - return whether @name is equal to @glob, or matches the pattern @glob */
bool query_name_matches(const char *glob, const char *name);

#endif
