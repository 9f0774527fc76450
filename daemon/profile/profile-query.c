// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile-query.h"

#include <errno.h>

#include "profile-internal.h"
#include "util/escape.h"

/* State of a query, and the sum of the matching rows. */
struct query_sum {
	struct profile *profile;
	struct symbols_cache *symbols;
	const struct profile_query *wanted;
	bool live;
	bool found;
	struct profile_counters counters;
};

enum view_group profile_query_get_group(const struct profile_query *wanted)
{
	if (wanted->function || wanted->binary)
		return VIEW_FUNCTION;
	if (wanted->process || wanted->pid_given)
		return VIEW_PROCESS;
	return wanted->container ? VIEW_CONTAINER : VIEW_GROUPS;
}

static bool name_is_wanted(const struct query_sum *s, const char *wanted, const char *what)
{
	if (!wanted || !strcmp(wanted, what))
		return true;
	return s->wanted->matches && s->wanted->matches(wanted, what);
}

static bool binary_is_wanted(const struct query_sum *s, const char *path)
{
	const char *wanted = s->wanted->binary, *base = strrchr(path, '/');

	return name_is_wanted(s, wanted, path) ||
	       (s->wanted->matches && base && base[1] && name_is_wanted(s, wanted, base + 1));
}

static bool container_has_name(const struct query_sum *s, const struct attribute_container *c,
			       u32 index)
{
	const char *wanted = s->wanted->container;
	struct view_row row;

	if (*wanted == '/')
		return c && index &&
		       (name_is_wanted(s, wanted, c->cgroup) || name_is_wanted(s, wanted, c->path));
	view_row_set_container(s->profile, &row, index);
	return name_is_wanted(s, wanted, row.container);
}

/*
 * Return whether a container matches. Call &profile_query.admits last, because it may need system
 * calls.
 */
static bool container_matches(const struct query_sum *s, u32 index)
{
	const struct profile_query *wanted = s->wanted;
	const struct attribute_container *c =
		attributor_get_container(s->profile->attributor, index);

	if (!wanted->container)
		return true;
	return container_has_name(s, c, index) &&
	       (!wanted->admits || (c && index && wanted->admits(wanted->ctx, c)));
}

static bool process_matches(const struct query_sum *s, u32 index)
{
	const struct attribute_process *process =
		attributor_get_process(s->profile->attributor, index);
	struct view_row row;

	if (s->wanted->pid_given && s->wanted->pid != (process ? process->pid : 0))
		return false;
	if (!container_matches(s, process ? process->container : ATTRIBUTE_NONE))
		return false;
	view_row_set_process(s->profile, &row, index);
	return name_is_wanted(s, s->wanted->process, row.process);
}

/*
 * Return whether a cell matches. Check the names of symbols last, because resolving them is
 * expensive.
 */
static bool cell_matches(const struct query_sum *s, const struct cell_row *cell)
{
	struct cell_location place;
	struct program_identity program;
	struct view_row row = { 0 };

	if (cell->evicted)
		return false;
	if (cell->program == CELL_NO_PROGRAM ||
	    !program_table_find_by_id(s->profile->shared_data->names.programs, cell->program,
				      &program))
		program = (struct program_identity){ .container = ATTRIBUTE_NONE };
	if (!container_matches(s, program.container))
		return false;
	view_row_set_program(s->profile, &row, cell->program);
	if (!name_is_wanted(s, s->wanted->process, row.process))
		return false;
	if (!profile_locate_cell(s->profile, cell, s->live, &place)) {
		symbols_name_unmapped(cell->offset, s->live, row.function, sizeof(row.function));
		return binary_is_wanted(s, "") &&
		       name_is_wanted(s, s->wanted->function, row.function);
	}
	escape_string(row.binary, sizeof(row.binary), place.at.binary);
	if (!binary_is_wanted(s, row.binary) || !s->wanted->function)
		return binary_is_wanted(s, row.binary);
	if (!symbols_get_function(s->symbols, place.pid, &place.at, s->live, row.function,
				  sizeof(row.function)) &&
	    place.hidden)
		memcpy(row.function, row.binary, sizeof(row.function));
	return name_is_wanted(s, s->wanted->function, row.function);
}

static void query_sum_add(struct query_sum *s, const struct profile_counters *f)
{
	s->found = true;
	counters_merge(&s->counters, f);
}

static void add_matching_containers(struct query_sum *s)
{
	for (u32 i = 0; i < profile_get_container_bound(s->profile); i++) {
		const struct profile_counters *f = profile_get_container_counters(s->profile, i);

		if (f && container_matches(s, i))
			query_sum_add(s, f);
	}
}

static void add_matching_processes(struct query_sum *s)
{
	struct profile_counters f;

	for (u32 i = 0; i < profile_get_process_bound(s->profile); i++)
		if (process_matches(s, i) && profile_sum_process_counters(s->profile, i, &f))
			query_sum_add(s, &f);
	if (s->profile->header.unattributed && process_matches(s, ATTRIBUTE_NONE))
		query_sum_add(s, profile_get_unattributed_counters(s->profile));
}

static void add_matching_cells(struct query_sum *s)
{
	const struct cell_table *table = s->profile->cells.table;
	struct cell_cursor cursor = { 0 };
	struct cell_row row;

	s->found = false;
	s->counters = (struct profile_counters){ 0 };
	if (s->live)
		profile_update_pids(s->profile);
	while (cell_table_next(table, &cursor, &row)) {
		if (!cell_matches(s, &row))
			continue;
		s->found = true;
		cell_row_add_counters(table, &row, &s->counters);
	}
}

static int query_span(struct query_sum *s, enum view_span span, u64 now_ns)
{
	enum view_group group = profile_query_get_group(s->wanted);
	const struct history_slot *slot;
	struct profile_counters f;

	if (group == VIEW_PROCESS || group == VIEW_FUNCTION)
		return -EOPNOTSUPP;
	slot = profile_get_history_sum(s->profile, span, now_ns);
	if (!slot)
		return -EOPNOTSUPP;
	if (group == VIEW_GROUPS) {
		history_counters_expand(&slot->machine, &f);
		query_sum_add(s, &f);
	}
	for (u32 i = 0; i < slot->containers && group == VIEW_CONTAINER; i++) {
		const struct history_container *c = &slot->container[i];
		const struct attribute_container *now =
			attributor_get_container(s->profile->attributor, c->index);

		if (!now || now->generation != c->generation || !container_matches(s, c->index))
			continue;
		history_counters_expand(&c->counters, &f);
		query_sum_add(s, &f);
	}
	return 0;
}

static void query_since_start(struct query_sum *s)
{
	profile_flush(s->profile);
	switch (profile_query_get_group(s->wanted)) {
	case VIEW_FUNCTION:
		add_matching_cells(s);
		/* If names were resolved during the wait, search a second time. */
		if (symbols_wait_configured(s->symbols))
			add_matching_cells(s);
		break;
	case VIEW_PROCESS:
		add_matching_processes(s);
		break;
	case VIEW_CONTAINER:
		add_matching_containers(s);
		break;
	default:
		query_sum_add(s, profile_get_machine_counters(s->profile));
	}
}

int profile_query_counters(struct profile *profile, struct symbols_cache *symbols, bool live,
			   enum view_span span, u64 now_ns, const struct profile_query *wanted,
			   struct profile_counters *ret_counters)
{
	struct query_sum s = {
		.profile = profile, .symbols = symbols, .live = live, .wanted = wanted
	};
	int r = 0;

	if (span == VIEW_SPAN_START)
		query_since_start(&s);
	else
		r = query_span(&s, span, now_ns);
	if (r >= 0 && !s.found)
		r = -ENOENT;
	if (r < 0)
		return r;
	memset(s.counters.weight, 0, sizeof(s.counters.weight));
	*ret_counters = s.counters;
	return 0;
}
