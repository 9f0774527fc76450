// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cell-counter.h"

#include <errno.h>
#include <stdlib.h>

/* Default capacity: the maximum number of processes of a recording. */
#define IDS_DEFAULT (1U << 18)

int cell_id_tables_init(u32 capacity, u64 bytes, struct cell_id_tables *ret_names)
{
	struct cell_id_tables names = { 0 };

	capacity = capacity ? capacity : IDS_DEFAULT;
	bytes = bytes ? bytes : UINT64_MAX;
	if (program_table_new(capacity, bytes, &names.programs) < 0 ||
	    binary_table_new(capacity, bytes, &names.binaries) < 0) {
		cell_id_tables_deinit(&names);
		return -ENOMEM;
	}
	*ret_names = names;
	return 0;
}

void cell_id_tables_deinit(struct cell_id_tables *names)
{
	names->programs = program_table_free(names->programs);
	names->binaries = binary_table_free(names->binaries);
}

unsigned int cell_counter_get_cache_bits(u64 bytes)
{
	unsigned int bits = MAPPING_CACHE_BITS_MIN;

	while (bits < MAPPING_CACHE_BITS_MAX &&
	       (!bytes || sizeof(struct mapping_entry) << (bits + 1) <= bytes / CELL_CACHE_SHARE))
		bits++;
	return bits;
}

static void binary_assign_id(void *ctx, const struct attribute_mapping *m)
{
	const struct cell_id_tables *names = ctx;
	const struct binary_identity binary = {
		.path = m->binary,
		.inode = m->inode,
		.device = m->device,
		.build_id = m->build_id,
		.build_id_size = m->build_id_size,
	};

	binary_table_find_or_add(names->binaries, &binary);
}

/* Return the id of a program. @process, @cpu: as in &struct program_identity */
static u32 program_get_id(const struct cell_id_tables *names, const struct attributor *attributor,
			  u32 index, u32 process, u32 cpu)
{
	const struct attribute_process *p = attributor_get_process(attributor, index);
	const struct attribute_container *c = attributor_get_container(attributor, p->container);
	const struct program_identity program = {
		.container = p->container,
		.container_generation = c ? c->generation : 0,
		.executable = attributor_get_executable(attributor, index),
		.process = process,
		.cpu = cpu,
	};

	return program_table_find_or_add(names->programs, &program);
}

void cell_id_tables_assign(struct cell_id_tables *names, const struct attributor *attributor)
{
	for (u32 i = 0; attributor_get_process(attributor, i); i++)
		program_get_id(names, attributor, i, PROGRAM_ANY, PROGRAM_ANY);
	attributor_for_each_binary(attributor, binary_assign_id, names);
}

int cell_counter_init(u64 bytes, struct sample_class_catalog *sample_class,
		      const struct attributor *attributor, const struct cell_id_tables *names,
		      struct cell_counter *ret_counter)
{
	const struct cell_table_config config = { .bytes = bytes, .sample_class = sample_class };
	struct cell_counter counter = { .attributor = attributor,
					.names = names,
					.keeps_addresses = !bytes };
	int r;

	r = cell_table_new(&config, &counter.table);
	if (r < 0)
		return r;
	r = mapping_cache_new(attributor, names->binaries, counter.table,
			      cell_counter_get_cache_bits(bytes), &counter.mappings);
	if (r < 0) {
		cell_counter_deinit(&counter);
		return r;
	}
	cell_counter_set_interval(&counter, 0, UNIT_UNKNOWN);
	*ret_counter = counter;
	return 0;
}

void cell_counter_deinit(struct cell_counter *counter)
{
	counter->table = cell_table_free(counter->table);
	counter->mappings = mapping_cache_free(counter->mappings);
	counter->code = mapping_cache_free(counter->code);
	free(counter->access);
	counter->access = NULL;
}

void cell_counter_clear(struct cell_counter *counter)
{
	cell_table_clear(counter->table);
	counter->batch = cell_table_get_batch(counter->table);
}

void cell_counter_flush(struct cell_counter *counter)
{
	cell_table_add_batch(counter->table);
	cell_table_flush(counter->table);
	counter->batch = cell_table_get_batch(counter->table);
}

void cell_counter_set_interval(struct cell_counter *counter, u32 interval, u8 unit)
{
	/*
	 * Start a new batch, because cell_table_get_interval() may only be called while the batch
	 * is empty.
	 */
	cell_table_add_batch(counter->table);
	counter->interval = cell_table_get_interval(counter->table, interval, unit);
	counter->batch = cell_table_get_batch(counter->table);
}

/* Return the program of samples without a process. */
static u32 program_get_unattributed(const struct cell_counter *counter, u32 cpu)
{
	const struct program_identity none = { .executable = "[unattributed]",
					       .process = PROGRAM_NONE,
					       .cpu = cpu };

	return cpu == PROGRAM_ANY ? CELL_NO_PROGRAM :
				    program_table_find_or_add(counter->names->programs, &none);
}

void cell_counter_find_program(struct cell_counter *counter,
			       const struct attribute_process *process, u32 index,
			       struct task_program *task)
{
	const struct attribute_container *c;
	u32 cpu = counter->split & CELL_SPLIT_CPU ? counter->cpu + 1 : PROGRAM_ANY;
	struct task_program now = { .known = true, .cpu = cpu };

	if (!process) {
		now.process = mapping_make_process_id(ATTRIBUTE_NONE, 0);
		now.program = program_get_unattributed(counter, cpu);
		*task = now;
		return;
	}
	c = attributor_get_container(counter->attributor, process->container);
	now.process = mapping_make_process_id(index, process->generation);
	now.version = attributor_get_map_version(counter->attributor, index, false);
	now.container = process->container;
	now.container_generation = c ? c->generation : 0;
	now.waits = !attributor_has_final_executable(counter->attributor, index);
	if (task->known && task->waits == now.waits && task->process == now.process &&
	    task->version == now.version && task->cpu == cpu && task->container == now.container &&
	    task->container_generation == now.container_generation)
		return;
	now.program =
		program_get_id(counter->names, counter->attributor, index,
			       counter->split & CELL_SPLIT_PROCESS ? index + 1 : PROGRAM_ANY, cpu);
	*task = now;
}

void cell_counter_get_unmapped(struct cell_counter *counter, const struct task_program *task,
			       u64 pc, bool kernel, u64 time_ns, struct mapped_pc *ret_pc)
{
	if (!mapping_cache_find(counter->mappings, task->process, task->program, pc, kernel,
				time_ns, ret_pc))
		mapping_cache_get_unmapped(counter->mappings, task->program,
					   counter->keeps_addresses ? pc : 0, ret_pc);
}

int cell_counter_set_split(struct cell_counter *counter, u8 split)
{
	counter->split = split;
	if (!(split & CELL_BY_DATA))
		return 0;
	counter->mappings->data = true;
	counter->access = calloc(ACCESS_PROGRAMS, sizeof(*counter->access));
	return counter->access ? mapping_cache_new(counter->attributor, counter->names->binaries,
						   counter->table, cell_counter_get_cache_bits(0),
						   &counter->code) :
				 -ENOMEM;
}

/*
 * Return the id of a program with the instruction of a load or store, which may show the type of the
 * data. Return the id without it if the instruction is unknown or in the kernel, or if the table of
 * programs is full.
 */
static u32 program_get_with_access(struct cell_counter *counter, const struct task_program *task,
				   u64 pc, bool kernel, u64 time_ns)
{
	struct access_program *entry;
	struct program_identity program;
	struct mapped_pc at;
	u32 id;

	if (kernel || task->program == PROGRAM_OTHER ||
	    !mapping_cache_find(counter->code, task->process, task->program, pc, false, time_ns,
				&at))
		return task->program;
	entry = &counter->access[at.hash % ACCESS_PROGRAMS];
	if (entry->id && entry->owner == at.owner && entry->offset == at.offset)
		return entry->id;
	if (!program_table_find_by_id(counter->names->programs, task->program, &program))
		return task->program;
	program.code_binary = (u32)at.owner;
	program.code_offset = at.offset;
	id = program_table_find_or_add(counter->names->programs, &program);
	if (id == PROGRAM_OTHER)
		return task->program;
	*entry = (struct access_program){ .owner = at.owner, .offset = at.offset, .id = id };
	return id;
}

void cell_counter_get_data(struct cell_counter *counter, const struct task_program *task,
			   const struct spe_sample *sample, u64 pc, bool kernel, u64 time_ns,
			   struct mapped_pc *ret_pc)
{
	enum spe_op_kind op = spe_sample_kind(sample);
	u64 address = spe_address_va(sample->address[SPE_ADDRESS_VA]);
	enum cell_data kind = CELL_DATA_OTHER;
	u32 program = task->program;
	struct mapped_pc data;

	mapping_cache_sync(counter->code);
	if (op == SPE_KIND_LOAD || op == SPE_KIND_STORE)
		program = program_get_with_access(counter, task, pc, kernel, time_ns);
	if (!spe_sample_has(sample, SPE_HAS_ADDRESS(SPE_ADDRESS_VA)))
		kind = CELL_DATA_NONE;
	else if (address >> 63)
		kind = CELL_DATA_KERNEL;
	else if (mapping_cache_find(counter->mappings, task->process, task->program, address, false,
				    time_ns, &data)) {
		data.owner = cell_owner_make(program, (u32)data.owner);
		data.hash = cell_hash(cell_owner_hash(counter->table, data.owner), data.offset);
		*ret_pc = data;
		return;
	}
	mapping_cache_get_unmapped(counter->mappings, program, kind, ret_pc);
}
