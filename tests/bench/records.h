/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records for benchmarks: the SPU model makes them from modelled operations, 64 bytes each as on
 * Neoverse cores. Their PCs are spread over a program of RECORDS_PCS instructions.
 */
#ifndef SPEPROF_BENCH_RECORDS_H
#define SPEPROF_BENCH_RECORDS_H

#include "model/opmodel.h"
#include "model/spu.h"

#define RECORDS_STRIDE 64
#define RECORDS_PCS    100000	/* number of instructions of a task */
#define RECORDS_PC     0x400000ULL
#define RECORDS_TID    1000
#define RECORDS_TIDS   64

/* Offsets of the payloads in a record. */
#define RECORDS_AT_PC	   1
#define RECORDS_AT_CONTEXT 10

/** struct record_generator - a generator of records; its fields are private to records.c */
struct record_generator {
	struct spe_spu spu;
	struct spe_operation_model model;
	u64 random;
	u64 time;
	u8 *at;
};

void record_generator_init(struct record_generator *records, u64 seed);

/** record_generator_fill() - write @count records to @buf, RECORDS_STRIDE bytes each */
void record_generator_fill(struct record_generator *records, u8 *buf, u32 count);

/**
 * record_generator_scatter_pcs() - replace the PCs of @count records at @buf by those of @pcs
 * instructions
 */
void record_generator_scatter_pcs(struct record_generator *records, u8 *buf, u32 count, u32 pcs);

#endif
