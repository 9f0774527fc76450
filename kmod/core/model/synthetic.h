/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Synthetic programs: an operation source that counts every operation it executes. Tests compare
 * these counts with what was sampled, decoded and aggregated. The programs are loops over a
 * modelled memory hierarchy. The same seed gives the same operations.
 */
#ifndef SPE_CORE_SYNTHETIC_H
#define SPE_CORE_SYNTHETIC_H

#include "codec/env.h"
#include "codec/record.h"
#include "spu.h"

enum spe_program {
	SPE_PROGRAM_CHASE,	/* loads from each line of the working set in random order */
	SPE_PROGRAM_STREAM,	/* reads and writes in sequence, prefetched within pages */
	SPE_PROGRAM_RANDOM,	/* loads from random addresses, often without a TLB entry */
	SPE_PROGRAM_BRANCHY,	/* conditional branches on random data */
	SPE_PROGRAM_SHARED_LINE,/* two CPUs write one cache line */
	SPE_PROGRAM_GATHER,	/* SVE gather loads, some partly predicated (FEAT_SPEv1p1) */
	SPE_PROGRAM_MEMCPY,	/* Memory Copy by FEAT_MOPS, half source and half destination */
	SPE_PROGRAM_MIX,	/* a loop of all programs but those with two CPUs */
	SPE_PROGRAM_SHARED_WORD,/* two CPUs write the same word of a cache line */
	SPE_PROGRAMS,
};

/*
 * Sizes of the modelled caches in bytes. Data that is not in a cache comes from the next larger
 * cache.
 */
#define SPE_SYNTHETIC_L1D    (64ULL << 10)
#define SPE_SYNTHETIC_L2     (1ULL << 20)
#define SPE_SYNTHETIC_SYSTEM (32ULL << 20)
#define SPE_SYNTHETIC_LINE   64

/**
 * struct spe_synthetic_config - a program and its parameters
 * @program: &enum spe_program
 * @cpu: 0 or 1: the CPU of the programs with two CPUs
 * @mispredicted: number of data-dependent branches that are mispredicted, out of 256
 * @el: Exception level, 0-2
 * @context: CONTEXTIDR_EL1 and CONTEXTIDR_EL2
 * @pc: virtual address of the program's first instruction
 * @va: virtual address of the program's data, a multiple of the page size
 * @working_set: size of the data in bytes, a power of two, 4 KiB to 1 GiB
 * @line_owner: for the programs with two CPUs: the CPU that has the shared cache line; the
 * configurations of both CPUs must point to the same variable. NULL for other programs
 * @seed: seed of random numbers; any value
 */
struct spe_synthetic_config {
	u8 program;
	u8 cpu;
	u8 mispredicted;
	u8 el;
	u32 context;
	u64 pc;
	u64 va;
	u64 working_set;
	u8 *line_owner;
	u64 seed;
};

/**
 * struct spe_synthetic_counts - counts everything that a program has executed
 * @operations: all operations
 * @kind: number of operations, indexed by &enum spe_op_kind
 * @simd: SVE operations
 * @event: number of operations with the event, indexed by the bit of the event
 * @source: number of loads, indexed by the value of the Data Source packet
 * @cycles: sum of the total latencies of all operations
 */
struct spe_synthetic_counts {
	u64 operations;
	u64 kind[SPE_KINDS];
	u64 simd;
	u64 event[32];
	u64 source[16];
	u64 cycles;
};

/*
 * struct spe_synthetic_program - a running program; @truth may be read, all other fields are
 * private
 */
struct spe_synthetic_program {
	struct spe_synthetic_counts truth;
	struct spe_synthetic_config config;
	u64 random;
	u64 line;	/* the line that chase loads next */
	u64 cursor;	/* offset of sequential accesses */
	u64 now;	/* cycles since the start; the timestamp */
	u32 step;	/* the next instruction of the loop */
};

/**
 * spe_synthetic_init() - start a program
 * @synthetic: the program
 * @config: copied
 * @ret_reason: on failure, why @config is wrong, a static string; may be NULL
 *
 * Return: 0, or -EINVAL if a field of @config is out of range.
 */
int spe_synthetic_init(struct spe_synthetic_program *synthetic,
		       const struct spe_synthetic_config *config, const char **ret_reason);

/** spe_synthetic_execute_next() - execute the next operation, and count it in @synthetic->truth */
void spe_synthetic_execute_next(struct spe_synthetic_program *synthetic,
				struct spe_operation *ret_operation);

/**
 * spe_synthetic_get_loop_length() - return the number of instructions in the loop of @program, each
 * of 4 bytes
 */
u32 spe_synthetic_get_loop_length(enum spe_program program);

/** spe_program_name() - return the name of a program, a static string */
const char *spe_program_name(enum spe_program program);

/** spe_program_from_name() - find a program by its name; returns 0 or -ENOENT */
int spe_program_from_name(const char *name, enum spe_program *ret_program);

#endif
