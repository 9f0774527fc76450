// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/profile-cells.h"
#include "profile/profile-read.h"
#include "util/array.h"
#include "util/escape.h"
#include "util/time.h"

/**
 * struct collected_line - a location with the keys of its source line, or the sum of all locations
 * of that line (after lines_merge())
 * @program: index of the program in the minute
 * @row: the location
 * @function, @source: symbols_get_function_key() and symbols_get_line_key(); 0 if unknown
 * @known: a symbol was found
 * @sums: the counters
 * @latency: as in &struct minute_location
 */
struct collected_line {
	u32 program;
	const struct history_row *row;
	u64 function;
	u64 source;
	bool known;
	struct minute_sums sums;
	u64 latency[HISTOGRAM_BUCKETS];
};

/**
 * struct minute_collection - a minute that is being filled
 * @row_of: indexed by container index of the attributor: row in the minute, plus 1; 0: none
 * @containers: entries of @row_of
 */
struct minute_collection {
	struct worker_state *state;
	struct profile *profile;
	const struct minute_log *log;
	struct profile_cells cells;
	struct minute_counters *minute;
	u32 containers;
	u32 *row_of;
};

/*
 * Return the index of the row of a container. If the container has no row, add one without samples.
 * Return MINUTE_NONE if memory cannot be allocated.
 */
static u32 find_or_add_container(struct minute_collection *c, u32 index, u32 generation)
{
	struct attributor *attributor = c->state->attributor;
	const struct attribute_container *container = attributor_get_container(attributor, index);
	struct minute_container *row;

	if (!container || container->generation != generation || index >= c->containers) {
		index = attributor_get_other_container(attributor);
		container = attributor_get_container(attributor, index);
	}
	if (c->row_of[index])
		return c->row_of[index] - 1;
	row = &c->minute->container[c->minute->containers];
	row->cgroup = strdup(index ? container->cgroup : "");
	if (!row->cgroup)
		return MINUTE_NONE;
	snprintf(row->name, sizeof(row->name), "%s",
		 index && *container->name ? container->name : "-");
	snprintf(row->runtime, sizeof(row->runtime), "%s", container->runtime);
	snprintf(row->path, sizeof(row->path), "%s", container->path);
	c->row_of[index] = ++c->minute->containers;
	return c->row_of[index] - 1;
}

static int collect_containers(struct minute_collection *c)
{
	for (u32 i = 0; i < c->log->containers; i++) {
		const struct history_container *from = &c->log->container[i];
		u32 row = find_or_add_container(c, from->index, from->generation);
		struct profile_counters counters;

		if (row == MINUTE_NONE)
			return -ENOMEM;
		history_counters_expand(&from->counters, &counters);
		counters_merge(&c->minute->container[row].counters, &counters);
	}
	return 0;
}

static struct minute_sums make_minute_sums(const struct history_row *row)
{
	return (struct minute_sums){
		.samples = row->samples,
		.operations = row->weight,
		.latency = row->latency_sum,
		.memory = row->memory,
		.dram = row->dram,
		.remote = row->remote,
		.branches = row->branches,
		.mispredicted = row->mispredicted,
	};
}

static int collect_programs(struct minute_collection *c)
{
	for (u32 i = 0; i < c->log->programs; i++) {
		const struct history_row *from = &c->log->program[i];
		struct minute_program *to = &c->minute->program[i];
		u32 id = (u32)(from->owner >> 32);
		struct program_identity program;

		to->container = MINUTE_NONE;
		to->sums = make_minute_sums(from);
		c->minute->programs++;
		if (id == CELL_NO_PROGRAM ||
		    !program_table_find_by_id(c->cells.programs, id, &program)) {
			strcpy(to->executable, "[unattributed]");
			continue;
		}
		to->container =
			find_or_add_container(c, program.container, program.container_generation);
		if (to->container == MINUTE_NONE)
			return -ENOMEM;
		escape_string(to->executable, sizeof(to->executable), program.executable);
	}
	return 0;
}

static bool locate_row(const struct minute_collection *c, const struct history_row *row,
		       struct cell_location *ret_place)
{
	const struct cell_row cell = {
		.program = (u32)(row->owner >> 32),
		.binary = (u32)row->owner,
		.offset = row->place,
	};

	return profile_locate_cell(c->profile, &cell, true, ret_place);
}

/*
 * Find the function and the source line of a location, and request names that are not resolved yet.
 */
static void line_identify(const struct minute_collection *c, const struct history_row *row,
			  struct collected_line *ret_line)
{
	struct symbols_cache *symbols = c->state->symbols;
	struct collected_line line = { .row = row, .sums = make_minute_sums(row) };
	const u32 *latency = c->log->latency[row - c->log->location].count;
	struct cell_location place;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		line.latency[i] = latency[i];

	if (locate_row(c, row, &place)) {
		symbols_get_line_key(symbols, place.pid, &place.at, true, &line.source);
		line.known = symbols_get_function_key(symbols, place.pid, &place.at, true,
						      &line.function);
		if (!line.known && symbols_address_is_public(&place.at, true))
			line.function = place.at.offset;
	}
	*ret_line = line;
}

static void line_merge(struct collected_line *to, const struct collected_line *more)
{
	minute_sums_add(&to->sums, &more->sums);
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		to->latency[i] += more->latency[i];
}

static int compare_lines(const void *a, const void *b)
{
	const struct collected_line *x = a, *y = b;
	int r = compare_u64(x->row->owner, y->row->owner);

	if (!r)
		r = (int)y->known - (int)x->known;
	if (!r)
		r = compare_u64(x->source, y->source);
	return r ? r : compare_u64(x->function, y->function);
}

static int compare_samples(const void *a, const void *b)
{
	const struct collected_line *x = a, *y = b;

	if (x->sums.samples != y->sums.samples)
		return x->sums.samples < y->sums.samples ? 1 : -1;
	return compare_lines(a, b);
}

/*
 * Add up the locations of each line, and sort the lines, the heaviest first. Return their number.
 */
static u32 lines_merge(struct collected_line *lines, u32 count)
{
	u32 n = 0;

	qsort(lines, count, sizeof(*lines), compare_lines);
	for (u32 i = 0; i < count; i++) {
		if (n && !compare_lines(&lines[n - 1], &lines[i]))
			line_merge(&lines[n - 1], &lines[i]);
		else
			lines[n++] = lines[i];
	}
	qsort(lines, n, sizeof(*lines), compare_samples);
	return n;
}

static void format_build_id(const struct attribute_location *at, char *to, size_t size)
{
	*to = 0;
	for (u32 i = 0; i < at->build_id_size && 2 * i + 2 < size; i++)
		snprintf(to + 2 * i, size - 2 * i, "%02x", at->build_id[i]);
}

static void location_fill_from_line(const struct minute_collection *c,
				    const struct collected_line *line, struct minute_location *to)
{
	struct symbols_cache *symbols = c->state->symbols;
	struct source_line source;
	struct cell_location place;

	to->program = line->program;
	to->sums = line->sums;
	memcpy(to->latency, line->latency, sizeof(to->latency));
	to->kernel = line->row->place >> 63;
	if (!locate_row(c, line->row, &place)) {
		strcpy(to->binary, "[unmapped]");
		symbols_name_unmapped(line->row->place, true, to->function, sizeof(to->function));
		return;
	}
	escape_string(to->binary, sizeof(to->binary), place.at.binary);
	format_build_id(&place.at, to->build_id, sizeof(to->build_id));
	if (!symbols_get_function(symbols, place.pid, &place.at, true, to->function,
				  sizeof(to->function)) &&
	    place.hidden)
		snprintf(to->function, sizeof(to->function), "%.*s", (int)sizeof(to->function) - 1,
			 to->binary);
	if (!symbols_get_source_line(symbols, place.pid, &place.at, true, &source))
		return;
	snprintf(to->file, sizeof(to->file), "%s", source.file);
	to->line = source.line;
}

/* Set the program index of each line. A program has the same index in the log and in the minute. */
static void lines_set_programs(const struct minute_collection *c, struct collected_line *lines,
			       u32 count)
{
	for (u32 i = 0; i < count; i++)
		lines[i].program = minute_log_find_program(c->log, lines[i].row);
}

static int collect_locations(struct minute_collection *c)
{
	struct collected_line *lines = calloc(MINUTE_LOCATIONS, sizeof(*lines));
	u64 whole = c->minute->machine.samples, heavier = 0;
	u32 count = 0;

	if (!lines)
		return -ENOMEM;
	for (u32 i = 0; i < MINUTE_LOCATIONS; i++)
		if (c->log->location[i].samples)
			line_identify(c, &c->log->location[i], &lines[count++]);
	count = lines_merge(lines, count);
	if (count > MINUTE_ROWS)
		count = MINUTE_ROWS;
	lines_set_programs(c, lines, count);
	c->minute->location = calloc(count ? count : 1, sizeof(*c->minute->location));
	for (u32 i = 0; c->minute->location && i < count; i++) {
		if (heavier * 100 >= MINUTE_PERCENT * whole)
			break;
		heavier += lines[i].sums.samples;
		location_fill_from_line(c, &lines[i], &c->minute->location[c->minute->locations++]);
	}
	free(lines);
	return c->minute->location ? 0 : -ENOMEM;
}

static void collect_machine(struct minute_collection *c, const struct session *machine)
{
	const struct history_ledger *ledger = &c->log->ledger;
	struct minute_counters *m = c->minute;
	unsigned int unit;

	history_counters_expand(&c->log->machine, &m->machine);
	unit = ledger->unweighed ? UNITS : sample_unit_find_common(m->machine.weight, UNITS);
	m->unit = view_unit_name(unit);
	m->backend = machine->shared_source->source->backend;
	m->unattributed = ledger->unattributed;
	m->unattributed_operations = ledger->unattributed_weight;
	m->evicted = ledger->evicted;
	m->evicted_operations = ledger->evicted_weight;
	m->enabled_ns = ledger->enabled_ns;
	for (unsigned int i = 0; i < SOURCE_BLINDS; i++)
		m->blind_ns += ledger->blind_by[i];
}

/* Allocate a row for each program and each container of the log. */
static int collection_allocate(struct minute_collection *c)
{
	u32 rows = c->log->containers + c->log->programs + 1;

	c->containers = attributor_get_container_limit(c->state->attributor);
	if (c->containers <= attributor_get_other_container(c->state->attributor))
		c->containers = attributor_get_other_container(c->state->attributor) + 1;
	c->row_of = calloc(c->containers, sizeof(*c->row_of));
	c->minute->container = calloc(rows, sizeof(*c->minute->container));
	c->minute->program = calloc(c->log->programs + 1, sizeof(*c->minute->program));
	return c->row_of && c->minute->container && c->minute->program ? 0 : -ENOMEM;
}

static int collect_into_minute(struct minute_collection *c, const struct session *machine)
{
	int r = collection_allocate(c);

	if (r < 0)
		return r;
	collect_machine(c, machine);
	profile_update_pids(c->profile);
	r = collect_containers(c);
	if (r >= 0)
		r = collect_programs(c);
	if (r >= 0)
		r = collect_locations(c);
	for (u32 i = 0; i < c->minute->containers; i++)
		counters_sum_histograms(&c->minute->container[i].counters);
	return r;
}

static int collection_begin(struct worker_state *state, bool last, struct minute_collection *ret)
{
	struct session *machine = worker_find_session(state, NULL);
	u64 now = machine->running ? time_now_ns() : 0;

	*ret = (struct minute_collection){ .state = state, .profile = machine->profile };
	worker_drain_session(state, machine);
	ret->log = last ? profile_get_last_minute_log(machine->profile, now) :
			  profile_get_minute_log(machine->profile, now);
	if (!ret->log)
		return -EOPNOTSUPP;
	profile_get_cells(machine->profile, &ret->cells);
	return 0;
}

static int collect_minute(struct worker_state *state, bool last, struct minute_counters *ret)
{
	struct minute_counters minute = { 0 };
	struct minute_collection c;
	int r = collection_begin(state, last, &c);

	if (r < 0)
		return r;
	c.minute = &minute;
	r = collect_into_minute(&c, worker_find_session(state, NULL));
	profile_clear_minute_log(c.profile);
	free(c.row_of);
	if (r < 0) {
		minute_deinit(&minute);
		return r;
	}
	*ret = minute;
	return 0;
}

int history_collect_minute(struct worker_state *state, void *arg)
{
	return collect_minute(state, false, arg);
}

int history_collect_last_minute(struct worker_state *state, void *arg)
{
	return collect_minute(state, true, arg);
}

int history_request_names(struct worker_state *state, void *arg __attribute__((unused)))
{
	struct minute_collection c;
	struct collected_line line;
	int r = collection_begin(state, false, &c);

	if (r < 0)
		return r;
	profile_update_pids(c.profile);
	for (u32 i = 0; i < MINUTE_LOCATIONS; i++)
		if (c.log->location[i].samples)
			line_identify(&c, &c.log->location[i], &line);
	return 0;
}

int history_start_minutes(struct worker_state *state, void *arg __attribute__((unused)))
{
	return profile_enable_minute_log(worker_find_session(state, NULL)->profile);
}
