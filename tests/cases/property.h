/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random SPUs, controls and programs, checked against the text. */
#ifndef SPE_CASES_PROPERTY_H
#define SPE_CASES_PROPERTY_H

#include "check.h"

/**
 * struct property_sum - counters of what the runs covered; a test requires that none is too small
 */
struct property_sum {
	u64 operations;
	u64 records;
	u64 filtered;
	u64 events;
	u64 collisions;
};

/**
 * property_run() - test one SPU and a few hundred operations
 * @seed: seed of all random values. The left value of a failed check is the index of the operation
 * in the run
 * @sum: the function adds the counters of this run
 *
 * Operations are recorded if and only if Exception levels and filters allow it. Each record
 * describes its operation and contains nothing that the controls forbid (D17.6.9). No byte is
 * beyond the limit, and the counters of operations, records and bytes add up.
 */
void property_run(struct spe_check *check, u64 seed, struct property_sum *sum);

#endif
