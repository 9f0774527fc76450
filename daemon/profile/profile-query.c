// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile-query.h"

#include <errno.h>

#include "profile-internal.h"
#include "util/escape.h"

/* State of a query, and the sum of the matching rows. */
struct sum {
	struct profile *profile;
	struct symbols *symbols;
	const struct profile_query *wanted;
	bool live;
	bool found;
	struct counters counters;
};

enum view_group profile_query_group(const struct profile_query *wanted)
{
	if (wanted->function || wanted->binary)
		return VIEW_FUNCTION;
	if (wanted->process || wanted->pid_given)
		return VIEW_PROCESS;
	return wanted->container ? VIEW_CONTAINER : VIEW_GROUPS;
}

static bool name_equals(const char *wanted, const char *what)
{
	return !wanted || !strcmp(wanted, what);
}

static bool is_called(const struct sum *s, const struct attribute_container *c, u32 index)
{
	const char *wanted = s->wanted->container;
	struct view_row row;

	if (*wanted == '/')
		return c && index && attribute_container_has_path(c, wanted);
	view_row_set_container(s->profile, &row, index);
	return !strcmp(wanted, row.container);
}

/* Return whether a container matches. Call @admits last, because it needs system calls. */
static bool is_container(const struct sum *s, u32 index)
{
	const struct profile_query *wanted = s->wanted;
	const struct attribute_container *c =
		attributor_get_container(s->profile->attributor, index);

	if (!wanted->container)
		return true;
	return is_called(s, c, index) &&
	       (!wanted->admits || (c && index && wanted->admits(wanted->ctx, c)));
}

static bool is_process(const struct sum *s, u32 index)
{
	const struct attribute_process *process =
		attributor_get_process(s->profile->attributor, index);
	struct view_row row;

	if (s->wanted->pid_given && s->wanted->pid != (process ? process->pid : 0))
		return false;
	if (!is_container(s, process ? process->container : ATTRIBUTE_NONE))
		return false;
	view_row_set_process(s->profile, &row, index);
	return name_equals(s->wanted->process, row.process);
}

/* Check cheap conditions first: resolve names only if everything else matches. */
static bool is_cell(const struct sum *s, const struct cell_row *cell)
{
	struct cell_place place;
	struct program_identity program;
	struct view_row row = { 0 };

	if (cell->evicted)
		return false;
	if (cell->program == CELL_NO_PROGRAM ||
	    !program_table_find(s->profile->commons->names.programs, cell->program, &program))
		program = (struct program_identity){ .container = ATTRIBUTE_NONE };
	if (!is_container(s, program.container))
		return false;
	view_row_set_program(s->profile, &row, cell->program);
	if (!name_equals(s->wanted->process, row.process))
		return false;
	if (!profile_locate_cell(s->profile, cell, s->live, &place)) {
		symbols_name_unmapped(cell->offset, s->live, row.function, sizeof(row.function));
		return name_equals(s->wanted->binary, "") &&
		       name_equals(s->wanted->function, row.function);
	}
	escape_string(row.binary, sizeof(row.binary), place.at.binary);
	if (!name_equals(s->wanted->binary, row.binary) || !s->wanted->function)
		return name_equals(s->wanted->binary, row.binary);
	if (!symbols_function(s->symbols, place.pid, &place.at, s->live, row.function,
			      sizeof(row.function)) &&
	    place.hidden)
		memcpy(row.function, row.binary, sizeof(row.function));
	return name_equals(s->wanted->function, row.function);
}

static void sum_add(struct sum *s, const struct counters *f)
{
	s->found = true;
	counters_merge(&s->counters, f);
}

static void sum_containers(struct sum *s)
{
	for (u32 i = 0; i < profile_get_container_bound(s->profile); i++) {
		const struct counters *f = profile_container(s->profile, i);

		if (f && is_container(s, i))
			sum_add(s, f);
	}
}

static void sum_processes(struct sum *s)
{
	struct counters f;

	for (u32 i = 0; i < profile_get_process_bound(s->profile); i++)
		if (is_process(s, i) && profile_process(s->profile, i, &f))
			sum_add(s, &f);
	if (s->profile->header.unattributed && is_process(s, ATTRIBUTE_NONE))
		sum_add(s, profile_unattributed(s->profile));
}

static void sum_cells(struct sum *s)
{
	const struct cell_table *table = s->profile->cells.table;
	struct cell_cursor cursor = { 0 };
	struct cell_row row;

	s->found = false;
	s->counters = (struct counters){ 0 };
	if (s->live)
		profile_find_pids(s->profile);
	while (cell_table_next(table, &cursor, &row)) {
		if (!is_cell(s, &row))
			continue;
		s->found = true;
		cell_row_add(table, &row, CELL_ALL, &s->counters);
	}
}

static int sum_span(struct sum *s, enum view_span span, u64 now_ns)
{
	enum view_group group = profile_query_group(s->wanted);
	const struct history_slot *slot;
	struct counters f;

	if (group == VIEW_PROCESS || group == VIEW_FUNCTION)
		return -EOPNOTSUPP;
	slot = profile_history(s->profile, span, now_ns);
	if (!slot)
		return -EOPNOTSUPP;
	if (group == VIEW_GROUPS) {
		history_counters_get(&slot->machine, &f);
		sum_add(s, &f);
	}
	for (u32 i = 0; i < slot->containers && group == VIEW_CONTAINER; i++) {
		const struct history_container *c = &slot->container[i];
		const struct attribute_container *now =
			attributor_get_container(s->profile->attributor, c->index);

		if (!now || now->generation != c->generation || !is_container(s, c->index))
			continue;
		history_counters_get(&c->counters, &f);
		sum_add(s, &f);
	}
	return 0;
}

static void sum_start(struct sum *s)
{
	profile_flush(s->profile);
	switch (profile_query_group(s->wanted)) {
	case VIEW_FUNCTION:
		sum_cells(s);
		/* If waiting resolved some names, search a second time. */
		if (symbols_wait_default(s->symbols))
			sum_cells(s);
		break;
	case VIEW_PROCESS:
		sum_processes(s);
		break;
	case VIEW_CONTAINER:
		sum_containers(s);
		break;
	default:
		sum_add(s, profile_machine(s->profile));
	}
}

int profile_query_counters(struct profile *profile, struct symbols *symbols, bool live,
			   enum view_span span, u64 now_ns, const struct profile_query *wanted,
			   struct counters *ret_counters)
{
	struct sum s = { .profile = profile, .symbols = symbols, .live = live, .wanted = wanted };
	int r = 0;

	if (span == VIEW_SPAN_START)
		sum_start(&s);
	else
		r = sum_span(&s, span, now_ns);
	if (r >= 0 && !s.found)
		r = -ENOENT;
	if (r < 0)
		return r;
	memset(s.counters.weight, 0, sizeof(s.counters.weight));
	*ret_counters = s.counters;
	return 0;
}
