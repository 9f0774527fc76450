// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test counting by program, from task events to cells. A simulated machine forks and executes
 * programs, reuses PIDs, loads and replaces libraries, and generates code. It records the program,
 * the binary and the offset of each sample. Every cell must have exactly these samples.
 */
#include "test.h"

#include "attribution/program-table.h"
#include "profile/mapping-cache.h"
#include "tasks/task-event.h"

#include <stdlib.h>
#include <string.h>

#define PIDS	   40
#define PROGRAMS   6
#define LIBRARIES  5
#define CONTAINERS 3
#define REGIONS	   6 /* addresses at which libraries are loaded */
#define EVENTS	   20000
#define SAMPLES	   60000
#define FIRST_PID  100

#define EXECUTABLE_AT 0x400000ULL
#define LIBRARY_AT    0x7f0000000000ULL
#define JIT_AT	      0x7e0000000000ULL
#define CODE_SIZE     0x80000ULL /* two blocks of the cache */
#define KERNEL_AT     0xffff800008000000ULL

static u64 random_state = 88172645463325252ULL;

static u64 draw_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static u32 draw_below(u32 below)
{
	return (u32)(draw_random() % below);
}

/**
 * struct simulated_process - state of a PID in the simulation
 * @number: number of the process and its image; it changes after each fork and exec
 * @library: indexed by region: 1 + the number of the library that is mapped there; 0: none
 * @jit: whether the process has generated code
 */
struct simulated_process {
	bool living;
	u32 number;
	u32 program;
	u32 container;
	u32 library[REGIONS];
	bool jit;
};

/** struct simulated_sample - a sample and its binary; @memory_of: process of JIT code */
struct simulated_sample {
	u64 time_ns;
	u64 pc;
	s32 pid;
	bool kernel;
	u32 program;
	u32 container;
	char binary[32];
	u32 memory_of;
	u64 offset;
};

struct simulation {
	struct simulated_process process[PIDS];
	struct task_event events[EVENTS];
	char names[EVENTS][32];
	u32 event_count;
	struct simulated_sample samples[SAMPLES];
	u32 sample_count;
	u32 numbers;
	u64 now_ns;
};

static struct task_event *event_add(struct simulation *sim, u8 type, u32 i, const char *name)
{
	struct task_event *e = &sim->events[sim->event_count];

	assert_in_range(sim->event_count, 0, EVENTS - 1);
	snprintf(sim->names[sim->event_count], sizeof(sim->names[0]), "%s", name);
	*e = (struct task_event){
		.type = type,
		.time_ns = sim->now_ns += 1000,
		.pid = (s32)(FIRST_PID + i),
		.tid = (s32)(FIRST_PID + i),
		.name = sim->names[sim->event_count++],
	};
	sim->now_ns += 1000;
	return e;
}

static void map_add(struct simulation *sim, u32 i, const char *name, u64 start, u64 offset)
{
	struct task_event *e = event_add(sim, TASK_MMAP, i, name);

	e->start = start;
	e->size = CODE_SIZE;
	e->offset = offset;
}

static void do_exec(struct simulation *sim, u32 i)
{
	struct simulated_process *p = &sim->process[i];
	char name[32];

	p->number = ++sim->numbers;
	p->program = draw_below(PROGRAMS);
	p->jit = false;
	memset(p->library, 0, sizeof(p->library));
	snprintf(name, sizeof(name), "p%u", p->program);
	event_add(sim, TASK_COMM, i, name)->exec = true;
	snprintf(name, sizeof(name), "/usr/bin/p%u", p->program);
	map_add(sim, i, name, EXECUTABLE_AT, 0x1000);
}

/* Fork a process. It may get the PID of an exited process, but not of a living process. */
static void do_fork(struct simulation *sim, u32 i)
{
	u32 parent = draw_below(PIDS);
	struct task_event *e;

	if (sim->process[i].living || !sim->process[parent].living)
		return;
	e = event_add(sim, TASK_FORK, i, "");
	e->parent_pid = (s32)(FIRST_PID + parent);
	sim->process[i] = sim->process[parent];
	sim->process[i].number = ++sim->numbers;
}

/*
 * Load a library, also over the mapping of another library, or of an earlier version of its code.
 */
static void do_load_library(struct simulation *sim, u32 i)
{
	struct simulated_process *p = &sim->process[i];
	u32 region = draw_below(REGIONS), library = draw_below(LIBRARIES);
	char name[32];

	p->library[region] = library + 1;
	snprintf(name, sizeof(name), "/usr/lib/l%u.so", library);
	map_add(sim, i, name, LIBRARY_AT + region * CODE_SIZE, 0x2000);
}

static void do_generate_code(struct simulation *sim, u32 i)
{
	sim->process[i].jit = true;
	map_add(sim, i, "//anon", JIT_AT, 0);
}

static void do_exit(struct simulation *sim, u32 i)
{
	event_add(sim, TASK_EXIT, i, "")->last = true;
	sim->process[i].living = false;
}

static void do_take_sample(struct simulation *sim, u32 i)
{
	const struct simulated_process *p = &sim->process[i];
	u32 kind = draw_below(10), region = draw_below(REGIONS);
	u64 at = 4 * draw_below(64) + (draw_below(2) ? CODE_SIZE / 2 : 0);
	struct simulated_sample *s = &sim->samples[sim->sample_count];

	assert_in_range(sim->sample_count, 0, SAMPLES - 1);
	*s = (struct simulated_sample){
		.time_ns = sim->now_ns += 10,
		.pid = (s32)(FIRST_PID + i),
		.program = p->program,
		.container = p->container,
	};
	if (kind == 0) {
		s->kernel = true;
		s->pc = s->offset = KERNEL_AT + at;
		snprintf(s->binary, sizeof(s->binary), "[kernel]");
	} else if (kind < 4 && p->jit) {
		s->pc = s->offset = JIT_AT + at;
		s->memory_of = p->number;
		snprintf(s->binary, sizeof(s->binary), "//anon");
	} else if (kind < 8 && p->library[region]) {
		s->pc = LIBRARY_AT + region * CODE_SIZE + at;
		s->offset = 0x2000 + at;
		snprintf(s->binary, sizeof(s->binary), "/usr/lib/l%u.so", p->library[region] - 1);
	} else {
		s->pc = EXECUTABLE_AT + at;
		s->offset = 0x1000 + at;
		snprintf(s->binary, sizeof(s->binary), "/usr/bin/p%u", p->program);
	}
	sim->sample_count++;
}

static struct simulation *simulate_machine(void)
{
	struct simulation *sim = calloc(1, sizeof(*sim));
	char name[32];

	assert_non_null(sim);
	sim->now_ns = 1000000;
	for (u32 i = 0; i < CONTAINERS; i++) {
		sim->process[i].living = true;
		sim->process[i].container = i;
		do_exec(sim, i);
		snprintf(name, sizeof(name), "/c%u", i);
		event_add(sim, TASK_CGROUP, i, name);
	}
	while (sim->event_count < EVENTS - 10 && sim->sample_count < SAMPLES) {
		u32 i = draw_below(PIDS), action = draw_below(100);

		if (action < 8)
			do_fork(sim, i);
		if (action < 8 || !sim->process[i].living)
			continue;
		/* In a recording, at most 64 programs of one process are distinguished. */
		if (action < 12 && i >= CONTAINERS)
			do_exec(sim, i);
		else if (action < 22)
			do_load_library(sim, i);
		else if (action < 24)
			do_generate_code(sim, i);
		else if (action < 26 && i >= CONTAINERS)
			do_exit(sim, i);
		else
			do_take_sample(sim, i);
	}
	return sim;
}

/**
 * struct counting_machine - the profile that counts the samples of a simulation, and its
 * attributor
 */
struct counting_machine {
	struct attributor *attributor;
	struct program_table *programs;
	struct binary_table *binaries;
	struct sample_class_catalog catalog;
	struct cell_table *table;
	struct mapping_cache *cache;
	u16 sample_class;
};

static void machine_init(struct counting_machine *m)
{
	struct cell_table_config config = { .sample_class = &m->catalog };
	u64 key = sample_class_make_key(SPE_HAS_EVENTS | SPE_HAS_OP, SPE_OP_BRANCH, 0, 0, 0);

	memset(m, 0, sizeof(*m));
	assert_int_equal(attributor_new(NULL, &m->attributor), 0);
	assert_int_equal(program_table_new(100, 1 << 20, &m->programs), 0);
	assert_int_equal(binary_table_new(4096, 1 << 20, &m->binaries), 0);
	assert_int_equal(sample_class_init(&m->catalog), 0);
	assert_int_equal(cell_table_new(&config, &m->table), 0);
	assert_int_equal(mapping_cache_new(m->attributor, m->binaries, m->table,
					   MAPPING_CACHE_BITS_MAX, &m->cache),
			 0);
	m->sample_class = sample_class_find(&m->catalog, 2, key, NULL);
}

static void machine_deinit(struct counting_machine *m)
{
	mapping_cache_free(m->cache);
	cell_table_free(m->table);
	sample_class_deinit(&m->catalog);
	binary_table_free(m->binaries);
	program_table_free(m->programs);
	attributor_free(m->attributor);
}

static u32 get_program_of_process(struct counting_machine *m, u32 index)
{
	const struct attribute_process *p = attributor_get_process(m->attributor, index);
	struct program_identity program = { .executable = attributor_get_executable(m->attributor,
										    index) };

	assert_non_null(p);
	program.container = p->container;
	program.container_generation =
		attributor_get_container(m->attributor, p->container)->generation;
	return program_table_find_or_add(m->programs, &program);
}

static void machine_count_sample(struct counting_machine *m, const struct simulated_sample *s)
{
	struct cell_batch *b = cell_table_get_batch(m->table);
	struct attribute_span span;
	struct mapped_pc pc;
	u32 index, program;

	index = attributor_find_process_at(m->attributor, s->pid, s->time_ns, &span);
	program = get_program_of_process(m, index);
	assert_true(mapping_cache_find(
		m->cache,
		mapping_make_process_id(index,
					attributor_get_process(m->attributor, index)->generation),
		program, s->pc, s->kernel, s->time_ns, &pc));
	b->owner[b->count] = pc.owner;
	b->offset[b->count] = pc.offset;
	b->hash[b->count] = pc.hash;
	b->sample[b->count] = cell_sample_pack(m->sample_class, 0, 0, 0);
	b->interval[b->count] = cell_table_get_interval(m->table, 1024, UNIT_INSTRUCTIONS);
	if (++b->count == CELL_BATCH)
		cell_table_add_batch(m->table);
}

/* A cell with the names of the simulation; @memory_of as in &struct simulated_sample. */
struct named_cell {
	u32 program;
	u32 container;
	char binary[32];
	u32 memory_of;
	u64 offset;
	u64 samples;
};

/* Compare all names except the process, which has another number in the table. */
static int compare_names_except_process(const void *a, const void *b)
{
	const struct named_cell *x = a, *y = b;

	if (x->program != y->program)
		return x->program < y->program ? -1 : 1;
	if (x->container != y->container)
		return x->container < y->container ? -1 : 1;
	if (strcmp(x->binary, y->binary) != 0)
		return strcmp(x->binary, y->binary);
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->samples > y->samples) - (x->samples < y->samples);
}

/* Compare all names. */
static int compare_all_names(const void *a, const void *b)
{
	const struct named_cell *x = a, *y = b;

	if (x->memory_of != y->memory_of)
		return x->memory_of < y->memory_of ? -1 : 1;
	return compare_names_except_process(a, b);
}

/* Fill @cells with the cells that the simulation expects, and return their number. */
static u32 fill_expected_cells(const struct simulation *sim, struct named_cell *cells)
{
	struct named_cell last = { 0 };
	u32 count = 0;

	for (u32 i = 0; i < sim->sample_count; i++) {
		const struct simulated_sample *s = &sim->samples[i];

		cells[i] = (struct named_cell){ .program = s->program,
						.container = s->container,
						.memory_of = s->memory_of,
						.offset = s->offset,
						.samples = 1 };
		memcpy(cells[i].binary, s->binary, sizeof(s->binary));
	}
	qsort(cells, sim->sample_count, sizeof(*cells), compare_all_names);
	for (u32 i = 0; i < sim->sample_count; i++) {
		if (count && !compare_all_names(&last, &cells[i])) {
			cells[count - 1].samples++;
			continue;
		}
		last = cells[i];
		cells[count++] = last;
	}
	qsort(cells, count, sizeof(*cells), compare_names_except_process);
	return count;
}

static u32 read_table_cells(struct counting_machine *m, struct named_cell *cells)
{
	struct cell_cursor cursor = { 0 };
	struct cell_row row;
	u32 count = 0;

	while (cell_table_next(m->table, &cursor, &row)) {
		struct program_identity program;
		struct binary_identity binary;
		struct named_cell *c = &cells[count++];

		assert_true(program_table_find_by_id(m->programs, row.program, &program));
		assert_true(binary_table_find_by_id(m->binaries, row.binary, &binary));
		*c = (struct named_cell){
			.program = (u32)(strrchr(program.executable, 'p')[1] - '0'),
			.container = (u32)(strchr(attributor_get_container(m->attributor,
									   program.container)
							  ->cgroup,
						  'c')[1] -
					   '0'),
			.memory_of = binary.process != 0,
			.offset = row.offset,
			.samples = cell_row_count_samples(m->table, &row),
		};
		snprintf(c->binary, sizeof(c->binary), "%s", binary.path);
		assert_false(row.evicted);
	}
	qsort(cells, count, sizeof(*cells), compare_names_except_process);
	return count;
}

static void assert_cells(struct counting_machine *m, const struct simulation *sim)
{
	struct named_cell *want = calloc(SAMPLES, sizeof(*want));
	struct named_cell *got = calloc(SAMPLES, sizeof(*got));
	u32 count = fill_expected_cells(sim, want);

	assert_int_equal(read_table_cells(m, got), count);
	for (u32 i = 0; i < count; i++) {
		want[i].memory_of = want[i].memory_of != 0;
		test_row("cell %u: program %u, container %u, %s, offset %llx", i, want[i].program,
			 want[i].container, want[i].binary, (unsigned long long)want[i].offset);
		assert_row(got[i].program == want[i].program);
		assert_row(got[i].container == want[i].container);
		assert_row(!strcmp(got[i].binary, want[i].binary));
		assert_row(got[i].memory_of == want[i].memory_of);
		assert_row(got[i].offset == want[i].offset);
		assert_row(got[i].samples == want[i].samples);
	}
	free(want);
	free(got);
}

/* In a recording, all events are known before the first sample. */
static void test_events_before_samples(void **state)
{
	struct simulation *sim = simulate_machine();
	struct counting_machine m;

	(void)state;
	machine_init(&m);
	assert_in_range(sim->sample_count, 10000, SAMPLES);
	for (u32 i = 0; i < sim->event_count; i++)
		attributor_apply_event(m.attributor, &sim->events[i]);
	mapping_cache_sync(m.cache);
	for (u32 i = 0; i < sim->sample_count; i++)
		machine_count_sample(&m, &sim->samples[i]);
	cell_table_add_batch(m.table);
	cell_table_flush(m.table);
	assert_cells(&m, sim);
	machine_deinit(&m);
	free(sim);
}

/* If another process maps a file, the cached mappings of all other processes stay valid. */
static void map_in_other_process(struct counting_machine *m, u64 n)
{
	attributor_apply_event(m->attributor, &(struct task_event){ .type = TASK_MMAP,
								    .pid = 1,
								    .tid = 1,
								    .name = "/bin/init",
								    .start = 0x1000 * n,
								    .size = 0x1000 });
	mapping_cache_sync(m->cache);
}

/*
 * Events and samples arrive in chunks: the samples of a chunk follow all events of its time, and
 * those of several CPUs are not in order.
 */
static void test_events_and_samples_in_chunks(void **state)
{
	struct simulation *sim = simulate_machine();
	struct counting_machine m;
	u32 event = 0, end;

	(void)state;
	machine_init(&m);
	for (u32 i = 0; i < sim->sample_count; i = end) {
		u64 until = sim->samples[i].time_ns + 200000;

		for (; event < sim->event_count && sim->events[event].time_ns < until; event++)
			attributor_apply_event(m.attributor, &sim->events[event]);
		mapping_cache_sync(m.cache);
		for (end = i; end < sim->sample_count && sim->samples[end].time_ns < until; end++)
			;
		for (u32 k = end; k-- > i;) {
			machine_count_sample(&m, &sim->samples[k]);
			if (k % 16 == 0)
				map_in_other_process(&m, k + 1);
		}
	}
	cell_table_add_batch(m.table);
	cell_table_flush(m.table);
	assert_cells(&m, sim);
	assert_true(m.cache->stats.lookups < sim->sample_count / 2);
	machine_deinit(&m);
	free(sim);
}

/* All addresses without a mapping are in one cell of their program. */
static void test_unmapped_addresses_share_cell(void **state)
{
	struct mapped_pc pc, other;
	struct counting_machine m;
	u32 index;

	(void)state;
	machine_init(&m);
	attributor_apply_event(
		m.attributor,
		&(struct task_event){ .type = TASK_COMM, .pid = 7, .tid = 7, .name = "sh" });
	index = attributor_find_process(m.attributor, 7);
	assert_string_equal(attributor_get_executable(m.attributor, index), "sh");
	assert_string_equal(attributor_get_executable(m.attributor, 1000), "");
	assert_false(mapping_cache_find(m.cache, mapping_make_process_id(index, 1), 3, 0x1234,
					false, ATTRIBUTE_AT_END, &pc));
	assert_int_equal(m.cache->stats.unmapped, 1);
	mapping_cache_get_unmapped(m.cache, 3, 0, &pc);
	assert_int_equal(pc.owner, cell_owner_make(3, CELL_UNMAPPED));
	mapping_cache_get_unmapped(m.cache, 4, 0, &other);
	assert_int_not_equal(pc.hash, other.hash);
	/* The kernel is always mapped, also for samples without a process. */
	assert_true(mapping_cache_find(m.cache, mapping_make_process_id(ATTRIBUTE_NONE, 0),
				       CELL_NO_PROGRAM, KERNEL_AT, true, ATTRIBUTE_AT_END, &pc));
	assert_int_equal(pc.offset, KERNEL_AT);
	machine_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_before_samples),
		cmocka_unit_test(test_events_and_samples_in_chunks),
		cmocka_unit_test(test_unmapped_addresses_share_cell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
