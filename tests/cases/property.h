/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random SPUs, random controls and random programs, held against what the text says of them. */
#ifndef SPE_CASES_PROPERTY_H
#define SPE_CASES_PROPERTY_H

#include "check.h"

/** struct property_sum - what the runs have seen, so that "nothing failed" means something */
struct property_sum {
	u64 operations;
	u64 records;
	u64 filtered;
	u64 events;
	u64 collisions;
};

/**
 * property_run() - one SPU and a few hundred operations
 * @seed: of all that is random; a failure's @left is the operation's number in the run
 * @sum: added to
 *
 * What is recorded is exactly what the levels and filters allow; each record says what the
 * operation was and nothing that the controls forbid (D17.6.9); no byte passes the limit; the
 * ledgers of operations, records and bytes close.
 */
void property_run(struct spe_check *check, u64 seed, struct property_sum *sum);

#endif
