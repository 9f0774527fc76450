// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Serialization of the cells of a profile, with the programs and binaries that they refer to. The
 * ids are those of the process that saved the cells, so loading translates them to current ids.
 */
#include "profile-internal.h"

#include <errno.h>
#include <stdlib.h>

void profile_cells_save(struct profile *p, struct serializer *to)
{
	program_table_save(p->shared_data->names.programs, to);
	binary_table_save(p->shared_data->names.binaries, to);
	cell_table_save(p->cells.table, to);
}

void profile_id_translation_deinit(struct profile_id_translation *ids)
{
	free(ids->program);
	free(ids->binary);
}

static int id_translation_load(struct profile *p, struct deserializer *from,
			       const struct attribute_translation *t,
			       struct profile_id_translation *ids)
{
	struct cell_translation *cells = &ids->translation;
	int r;

	r = program_table_load(p->shared_data->names.programs, from, t, &ids->program,
			       &cells->programs);
	if (r < 0)
		return r;
	cells->program = ids->program;
	r = binary_table_load(p->shared_data->names.binaries, from, &ids->binary, &cells->binaries);
	cells->binary = ids->binary;
	return r;
}

int profile_cells_load(struct profile *p, struct deserializer *from,
		       const struct attribute_translation *t, struct profile_id_translation *ids)
{
	int r = id_translation_load(p, from, t, ids);

	if (r < 0)
		return r;
	r = cell_table_load(p->cells.table, from, &ids->translation);
	/* The table may have reused the index of the current interval for a saved interval. */
	cell_counter_set_interval(&p->cells, p->interval, p->unit);
	return r;
}
