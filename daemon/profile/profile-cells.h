/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cells of a profile, and the tables of their ids. Call all functions from the profile's own
 * thread.
 */
#ifndef SPEPROF_PROFILE_CELLS_H
#define SPEPROF_PROFILE_CELLS_H

#include "attribution/binary-table.h"
#include "attribution/program-table.h"
#include "cell-table.h"
#include "profile.h"

/**
 * struct profile_cells - the tables of a profile, borrowed
 * @table: the cells, flushed
 * @sample_class: the classes of the samples in the cells
 * @programs, @binaries: tables of the ids in the cells
 * @attributor: the attributor with the containers of the programs
 */
struct profile_cells {
	const struct cell_table *table;
	const struct sample_class_catalog *sample_class;
	struct program_table *programs;
	struct binary_table *binaries;
	struct attributor *attributor;
};

/**
 * profile_get_cells() - flush the counters of a profile, and get its tables
 * @profile: the profile
 * @ret_cells: the tables, valid until the next window
 */
void profile_get_cells(struct profile *profile, struct profile_cells *ret_cells);

/**
 * struct cell_location - the location of a cell
 * @at: location in the binary
 * @pid: a living process that maps the binary; 0 if none is known, or in a recording
 * @hidden: true if @at.offset was set to 0, because it would be an address of a process that has
 *	exited
 */
struct cell_location {
	struct attribute_location at;
	s32 pid;
	bool hidden;
};

/**
 * profile_locate_cell() - find the location of a cell in its binary
 * @live: as in profile_create_view(). If it is true, addresses in memory without a file are
 *	replaced with offsets in the mapping, because addresses are confidential
 *
 * Call profile_update_pids() first, if @live is set.
 *
 * Return: false if the mapping of the cell was not known, or if @row has evicted samples.
 */
bool profile_locate_cell(const struct profile *profile, const struct cell_row *row, bool live,
			 struct cell_location *ret_place);

/**
 * profile_find_program() - return the program of a process
 * @profile: the profile
 * @process: index of the process in the attributor; ATTRIBUTE_NONE for none
 *
 * Return: the id of the program for which samples of the process count; CELL_NO_PROGRAM if there is
 * none.
 */
u32 profile_find_program(struct profile *profile, u32 process);

/** profile_update_pids() - find a living process of each program, for profile_locate_cell() */
void profile_update_pids(struct profile *profile);

#endif
