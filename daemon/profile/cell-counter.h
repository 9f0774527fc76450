/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the samples of a profile by program and location. A struct cell_counter finds the cell of
 * each sample, and adds the sample to the table of cells. The path of a sample is
 *
 *	task --> program		cell_counter_find_program(), once for each change of a task
 *	PC   --> binary and offset	the cache of mappings
 *	both --> cell			a batch of samples, which the table of cells counts
 *
 * One thread owns a struct cell_counter. The counters of several threads may share the tables of
 * ids.
 */
#ifndef SPEPROF_CELL_COUNTER_H
#define SPEPROF_CELL_COUNTER_H

#include "attribution/program-table.h"
#include "cell-table.h"
#include "mapping-cache.h"

/**
 * struct cell_id_tables - the ids of programs and binaries; all counters of a profile share them
 * @programs: table of the ids of programs
 * @binaries: table of the ids of binaries
 */
struct cell_id_tables {
	struct program_table *programs;
	struct binary_table *binaries;
};

/* Average size of the path of a program or binary in bytes. */
#define CELL_PATH_BYTES 192

/**
 * cell_id_tables_init() - allocate empty tables of ids
 * @capacity: maximum number of programs, and of binaries; 0 for the default (262144)
 * @bytes: limit of the memory of paths in each table, bytes; 0: no limit
 * @ret_names: the tables; call cell_id_tables_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int cell_id_tables_init(u32 capacity, u64 bytes, struct cell_id_tables *ret_names);

/**
 * cell_id_tables_assign() - assign ids to the programs and binaries of a recording, in a fixed
 * order
 * @names: the tables, empty
 * @attributor: the attributor, after the last task event
 *
 * Binaries without a build id get their ids later, with their first samples.
 */
void cell_id_tables_assign(struct cell_id_tables *names, const struct attributor *attributor);

/** cell_id_tables_deinit() - free the tables; @names may be all zeros */
void cell_id_tables_deinit(struct cell_id_tables *names);

/*
 * Properties, in addition to the program, by which a recording separates cells. Each has one bit.
 */
#define CELL_SPLIT_PROCESS 1U
#define CELL_SPLIT_CPU	   2U

/*
 * The location of a cell is that of the data, not that of the code: the binary that has the data,
 * and the offset as for symbols_get_data(). Data without a binary has CELL_UNMAPPED, and &enum
 * cell_data as its offset. The program of a cell includes the instruction of a load or store.
 */
#define CELL_BY_DATA 4U

/** enum cell_data - data without a binary, in cells CELL_BY_DATA */
enum cell_data {
	CELL_DATA_NONE, /* the sample has no address of data */
	CELL_DATA_KERNEL, /* an address of the kernel */
	CELL_DATA_OTHER, /* memory below the code of all files, or of no known process */
};

/* Entries of &cell_counter.access, which serve the instructions that are sampled most. */
#define ACCESS_PROGRAMS 1024

/**
 * struct access_program - the program with an instruction
 * @owner, @offset: the cell of the instruction, without CELL_BY_DATA
 * @id: the id of the program that includes the instruction; 0: the entry is free
 */
struct access_program {
	u64 owner;
	u64 offset;
	u32 id;
};

/**
 * struct cell_counter - the counter of one thread
 * @attributor, @names: borrowed
 * @table: the cells
 * @mappings: the cache of mappings
 * @code: with CELL_BY_DATA: the cache of mappings of code, while @mappings has those of data
 * @access: with CELL_BY_DATA: programs of instructions, ACCESS_PROGRAMS entries
 * @batch: the samples that are not in the table yet
 * @interval: result of cell_table_get_interval() for the samples that follow
 * @split: CELL_SPLIT_* and CELL_BY_DATA; set by cell_counter_set_split()
 * @cpu: the CPU of the samples that follow, if @split has CELL_SPLIT_CPU
 * @keeps_addresses: each unmapped PC has its own cell; else all unmapped PCs of a program share one
 *	cell
 */
struct cell_counter {
	const struct attributor *attributor;
	const struct cell_id_tables *names;
	struct cell_table *table;
	struct mapping_cache *mappings;
	struct mapping_cache *code;
	struct access_program *access;
	struct cell_batch *batch;
	u8 interval;
	u8 split;
	u32 cpu;
	bool keeps_addresses;
};

/**
 * struct task_program - the program of a task, and the data from which it was determined
 * @process: mapping_make_process_id() of its process
 * @version: attributor_get_map_version() of the process
 * @container, @container_generation: its container
 * @cpu: &cell_counter.cpu when the program was determined
 * @program: id of the program; CELL_NO_PROGRAM without a process
 * @known: whether the other fields are set
 * @waits: the executable is unknown so far, so @program identifies only the name of the process
 */
struct task_program {
	u64 process;
	u64 version;
	u32 container;
	u32 container_generation;
	u32 cpu;
	u32 program;
	bool known;
	bool waits;
};

/*
 * The cache of mappings uses at most 1/CELL_CACHE_SHARE of the budget of the cells, in addition to
 * this budget.
 */
#define CELL_CACHE_SHARE 8

/**
 * cell_counter_get_cache_bits() - return the argument bits of mapping_cache_new() for cells that
 * use @bytes
 */
unsigned int cell_counter_get_cache_bits(u64 bytes);

/**
 * cell_counter_init() - allocate an empty table and cache
 * @bytes: memory budget of the cells; 0: the table grows, evicts nothing, and counts each unmapped
 *	PC in a separate cell
 * @sample_class, @attributor, @names: borrowed; must outlive the counter
 * @ret_counter: the counter; call cell_counter_deinit()
 *
 * Return: 0; -EINVAL if the budget is too small; -ENOMEM if memory cannot be allocated.
 */
int cell_counter_init(u64 bytes, struct sample_class_catalog *sample_class,
		      const struct attributor *attributor, const struct cell_id_tables *names,
		      struct cell_counter *ret_counter);

/**
 * cell_counter_set_split() - set &cell_counter.split, before the first sample
 *
 * Return: 0 or -ENOMEM.
 */
int cell_counter_set_split(struct cell_counter *counter, u8 split);

/** cell_counter_deinit() - free the memory; @counter may be all zeros */
void cell_counter_deinit(struct cell_counter *counter);

/** cell_counter_clear() - remove all samples; call cell_counter_set_interval() afterwards */
void cell_counter_clear(struct cell_counter *counter);

/** cell_counter_set_interval() - set interval and &enum sample_unit of the samples that follow */
void cell_counter_set_interval(struct cell_counter *counter, u32 interval, u8 unit);

/**
 * cell_counter_flush() - count all samples that cell_counter_add() added; call it before reading
 * the table
 */
void cell_counter_flush(struct cell_counter *counter);

/**
 * cell_counter_find_program() - set @task to the program of a process
 * @process: the process; NULL for samples without a process
 * @index: index of the process in the attributor; ATTRIBUTE_NONE for none
 * @task: the previous result, which stays if nothing has changed; all zeros is valid
 *
 * Context: the caller holds its reader lock of the attributor.
 */
void cell_counter_find_program(struct cell_counter *counter,
			       const struct attribute_process *process, u32 index,
			       struct task_program *task);

/**
 * cell_counter_find() - find the cell of a sample
 * @task: program of the sample, from cell_counter_find_program()
 * @pc, @kernel, @time_ns: as for mapping_cache_find()
 * @ret_pc: the result
 *
 * Context: the caller holds its reader lock of the attributor, and has called mapping_cache_sync()
 * while it held the lock.
 *
 * Return: false if the executable of the task or the mapping of the PC is unknown. Then the caller
 * queues the sample until /proc has been read, or calls cell_counter_get_unmapped().
 */
static inline __attribute__((__always_inline__)) bool
cell_counter_find(struct cell_counter *counter, const struct task_program *task, u64 pc,
		  bool kernel, u64 time_ns, struct mapped_pc *ret_pc)
{
	return __builtin_expect(!task->waits, 1) &&
	       mapping_cache_find(counter->mappings, task->process, task->program, pc, kernel,
				  time_ns, ret_pc);
}

/**
 * cell_counter_get_unmapped() - get the cell of a sample that does not wait any longer
 *
 * The parameters and the context are those of cell_counter_find().
 */
void cell_counter_get_unmapped(struct cell_counter *counter, const struct task_program *task,
			       u64 pc, bool kernel, u64 time_ns, struct mapped_pc *ret_pc);

/**
 * cell_counter_get_data() - get the cell of the data of a sample, in a counter with CELL_BY_DATA
 * @sample: the sample
 * @pc, @kernel: its instruction, as for mapping_cache_find()
 *
 * The other parameters and the context are those of cell_counter_find().
 */
void cell_counter_get_data(struct cell_counter *counter, const struct task_program *task,
			   const struct spe_sample *sample, u64 pc, bool kernel, u64 time_ns,
			   struct mapped_pc *ret_pc);

/**
 * cell_counter_add() - count a sample
 * @at: the cell of the sample
 * @sample: the sample, packed by cell_sample_pack()
 */
static inline __attribute__((__always_inline__)) void
cell_counter_add(struct cell_counter *counter, const struct mapped_pc *at, u64 sample)
{
	struct cell_batch *b = counter->batch;
	u32 i = b->count++;

	b->hash[i] = at->hash;
	b->offset[i] = at->offset;
	b->owner[i] = at->owner;
	b->sample[i] = sample;
	b->interval[i] = counter->interval;
	if (b->count < CELL_BATCH)
		return;
	cell_table_add_batch(counter->table);
	counter->batch = cell_table_get_batch(counter->table);
}

#endif
