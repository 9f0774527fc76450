/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Synthetic programs: an operation source whose every operation is known, so
 * that a test can hold what was sampled, decoded and aggregated against the
 * truth. Loops over a modelled memory hierarchy, seeded and reproducible.
 */
#ifndef SPE_CORE_SYNTHETIC_H
#define SPE_CORE_SYNTHETIC_H

#include "codec/env.h"
#include "codec/record.h"
#include "spu.h"

enum spe_program {
	SPE_PROGRAM_CHASE,	/* each line of the working set once a lap, in random order */
	SPE_PROGRAM_STREAM,	/* reads and writes in sequence, prefetched within pages */
	SPE_PROGRAM_RANDOM,	/* loads from anywhere in the working set, often without a TLB entry */
	SPE_PROGRAM_BRANCHY,	/* conditional branches on random data */
	SPE_PROGRAM_SHARED_LINE,/* two CPUs write one cache line */
	SPE_PROGRAM_GATHER,	/* SVE gather loads, some partly predicated (FEAT_SPEv1p1) */
	SPE_PROGRAM_MEMCPY,	/* Memory Copy by FEAT_MOPS, source and destination alike often */
	SPE_PROGRAM_MIX,	/* a loop of all but the shared line */
	SPE_PROGRAM_SHARED_WORD,/* two CPUs write the same word of one */
	SPE_PROGRAMS,
};

/* Sizes of the modelled caches, bytes; what is not resident in one comes from the next. */
#define SPE_SYNTHETIC_L1D    (64ULL << 10)
#define SPE_SYNTHETIC_L2     (1ULL << 20)
#define SPE_SYNTHETIC_SYSTEM (32ULL << 20)
#define SPE_SYNTHETIC_LINE   64

/**
 * struct spe_synthetic_config - which program, and where
 * @program: &enum spe_program
 * @cpu: 0 or 1: which of two CPUs the program runs on; of the shared line only
 * @mispredicted: share of the data-dependent branches that are mispredicted, of 256
 * @el: Exception level, 0-2
 * @context: what it has as CONTEXTIDR_EL1 and CONTEXTIDR_EL2
 * @pc: virtual address of its first instruction
 * @va: virtual address of its data, a multiple of the page size
 * @working_set: bytes of data, a power of two, 4 KiB to 1 GiB
 * @line_owner: for the shared line and word: the CPU that has it, the same variable for both; else
 *	NULL
 * @seed: any value
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
 * struct spe_truth - everything that a program has executed
 * @operations: how many
 * @kind: of them by &enum spe_op_kind
 * @simd: those that were SVE
 * @event: by event number
 * @source: loads by Data Source
 * @cycles: sum of their total latencies
 */
struct spe_truth {
	u64 operations;
	u64 kind[SPE_KINDS];
	u64 simd;
	u64 event[32];
	u64 source[16];
	u64 cycles;
};

/** struct spe_synthetic - a running program; @truth may be read, the rest is private */
struct spe_synthetic {
	struct spe_truth truth;
	struct spe_synthetic_config config;
	u64 random;
	u64 line;	/* of the chase */
	u64 cursor;	/* of what goes in sequence */
	u64 now;	/* cycles, and the timestamp */
	u32 step;	/* the next instruction of the loop */
};

/**
 * spe_synthetic_init() - the program's start
 * @config: copied
 * @ret_reason: why -EINVAL, a static string; may be NULL
 *
 * Return: 0 or -EINVAL.
 */
int spe_synthetic_init(struct spe_synthetic *synthetic, const struct spe_synthetic_config *config,
		       const char **ret_reason);

/** spe_synthetic_next() - executes the next operation, into @ret_operation and the truth */
void spe_synthetic_next(struct spe_synthetic *synthetic, struct spe_operation *ret_operation);

/** spe_synthetic_length() - instructions of @program's loop; PCs are 4 bytes apart */
u32 spe_synthetic_length(enum spe_program program);

/** spe_program_name() - the program's name, for command lines and messages */
const char *spe_program_name(enum spe_program program);

/** spe_program_from_name() - the program called @name; 0, or -ENOENT */
int spe_program_from_name(const char *name, enum spe_program *ret_program);

#endif
