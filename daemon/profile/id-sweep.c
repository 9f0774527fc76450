// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Frees the ids of programs and binaries that neither a cell nor the history uses. Without a sweep,
 * the tables of ids would become full, because each new container adds programs.
 */
#include "profile-shard.h"

#include "profile-internal.h"

#include <errno.h>
#include <stdlib.h>

/* Minimum time between two sweeps, because each sweep reads all cells and clears the caches. */
#define SWEEP_NS 10000000000ULL

/**
 * struct id_sweep - the state of a sweep
 * @names: the tables of ids
 * @programs: indexed by id: whether a cell or a row of the history has the program
 * @count: number of entries of @programs
 */
struct id_sweep {
	struct cell_id_tables *names;
	bool *programs;
	u32 count;
};

static void mark_owner(const struct id_sweep *s, u64 owner)
{
	u32 program = (u32)(owner >> 32);

	id_table_mark(&s->names->binaries->ids, (u32)owner);
	id_table_mark(&s->names->programs->ids, program);
	if (program < s->count)
		s->programs[program] = true;
}

static void mark_cells(const struct id_sweep *s, struct profile *p)
{
	struct cell_cursor cursor = { 0 };
	struct cell_row row;

	cell_counter_flush(&p->cells);
	while (cell_table_next(p->cells.table, &cursor, &row))
		if (!row.evicted)
			mark_owner(s, cell_owner_make(row.program, row.binary));
}

static void mark_slot(const struct id_sweep *s, const struct history_slot *slot)
{
	for (u32 i = 0; slot && i < slot->locations; i++)
		mark_owner(s, slot->place[i].owner);
}

static void mark_minute_log(const struct id_sweep *s, const struct minute_log *log)
{
	for (u32 i = 0; log && i < MINUTE_LOCATIONS; i++)
		if (log->location[i].samples)
			mark_owner(s, log->location[i].owner);
	for (u32 i = 0; log && i < log->programs; i++) {
		u32 program = (u32)(log->program[i].owner >> 32);

		id_table_mark(&s->names->programs->ids, program);
		if (program < s->count)
			s->programs[program] = true;
	}
}

static void mark_history(const struct id_sweep *s, const struct recent_history *h)
{
	for (unsigned int i = 0; i < HISTORY_RINGS; i++)
		for (u32 k = 0; h->machine_mark && k < h->ring[i].slots; k++)
			mark_slot(s, &h->ring[i].slot[k]);
	mark_slot(s, h->open_slot_saved);
	mark_minute_log(s, h->minute);
}

/*
 * Move the evicted samples of programs without other samples to "(other)". Clear the caches,
 * because they contain ids that may be reused.
 */
static void evict_unused_programs(const struct id_sweep *s, struct profile *p)
{
	for (u32 id = 0; (id = id_table_get_next(&s->names->programs->ids, id));)
		if (!s->programs[id])
			cell_table_move_evicted(p->cells.table, id, PROGRAM_OTHER);
	mapping_cache_clear(p->cells.mappings);
	for (size_t i = 0; i < ARRAY_SIZE(p->task_slot); i++) {
		p->task_slot[i].version = 0;
		p->task_slot[i].program = (struct task_program){ 0 };
	}
}

bool profile_ids_are_full(const struct profile *whole, u64 now_ns)
{
	const struct profile_shared_data *shared_data = whole->shared_data;

	return now_ns - shared_data->swept_ns >= SWEEP_NS &&
	       (id_table_is_nearly_full(&shared_data->names.programs->ids) ||
		id_table_is_nearly_full(&shared_data->names.binaries->ids));
}

int profile_sweep_ids(struct profile *whole, struct profile *const *shards, u32 count, u64 now_ns)
{
	struct cell_id_tables *names = &whole->shared_data->names;
	struct id_sweep s = { .names = names };
	struct id_table_stats stats;

	id_table_get_stats(&names->programs->ids, &stats);
	s.count = stats.capacity + 1;
	s.programs = calloc(s.count, sizeof(*s.programs));
	if (!s.programs)
		return -ENOMEM;
	whole->shared_data->swept_ns = now_ns;
	id_table_clear_marks(&names->programs->ids);
	id_table_clear_marks(&names->binaries->ids);
	mark_cells(&s, whole);
	mark_history(&s, &whole->history);
	for (u32 i = 0; i < count; i++)
		mark_cells(&s, shards[i]);
	evict_unused_programs(&s, whole);
	for (u32 i = 0; i < count; i++)
		evict_unused_programs(&s, shards[i]);
	id_table_sweep(&names->programs->ids);
	id_table_sweep(&names->binaries->ids);
	free(s.programs);
	return 0;
}
