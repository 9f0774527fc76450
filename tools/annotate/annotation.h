/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load the instructions of functions with their samples, for all places that show them. */
#ifndef SPEPROF_ANNOTATION_H
#define SPEPROF_ANNOTATION_H

#include "lib/profile-rows.h"
#include "listing.h"

/**
 * struct annotation - the functions
 * @rows: the rows, each an instruction
 * @listing: the functions; it uses @rows
 */
struct annotation {
	struct profile_rows rows;
	struct listing listing;
};

/**
 * annotation_load() - load functions of a profile
 * @verb: name of the verb, for errors
 * @options: which profile, how to read it, and which samples
 * @function: glob for the names of the functions
 * @targets: count the targets of branches, for which a recording is read a second time. Other
 *	profiles do not have targets
 * @ret_annotation: the functions; call annotation_deinit(), also on failure. With STATUS_OK and
 *	STATUS_DAMAGED it has all samples that were readable
 *
 * Return: &enum verb_exit_status; an error was printed. STATUS_STATE if no sample is selected.
 */
int annotation_load(const char *verb, const struct options *options, const char *function,
		    bool targets, struct annotation *ret_annotation);

/**
 * annotation_load_bus() - load functions of what the daemon has counted
 * @bus: a connection of bus_new(); bus_use_session() has selected the session
 * @period: the period
 * @select: the samples
 * @folders: where the files with the instructions are searched
 * @ret_annotation: the functions; call annotation_deinit(), also on failure
 * @ret_error: why there are none; "" if a call failed: the error is then that of @bus
 *
 * It prints nothing, and blocks until the daemon and the helpers that read files have replied.
 *
 * Return: &enum verb_exit_status. STATUS_STATE if no sample is selected.
 */
int annotation_load_bus(struct bus_connection *bus, enum view_span period,
			const struct query_select *select, const struct symbol_folders *folders,
			struct annotation *ret_annotation, struct query_error *ret_error);

/** annotation_is_modelled() - return whether an emulated SPU wrote the samples */
bool annotation_is_modelled(const struct annotation *annotation);

/** annotation_deinit() - free the functions */
void annotation_deinit(struct annotation *annotation);

#endif
