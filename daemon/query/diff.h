/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compare two sets of rows, before and after a change: match the rows by name, and test which
 * differences exceed chance.
 *
 *	diff_add_row(diff, DIFF_BEFORE, key, &counts);	(for each row of each side)
 *	diff_finish(diff);
 *	for (u32 i = 0; i < diff_get_row_count(diff); i++)
 *		row = diff_get_row(diff, i);
 */
#ifndef SPEPROF_DIFF_H
#define SPEPROF_DIFF_H

#include "chance.h"
#include "profile/counters.h"

enum diff_side {
	DIFF_BEFORE,
	DIFF_AFTER,
	DIFF_SIDES,
};

/* The measures that are compared for each row. */
enum diff_measure {
	DIFF_SHARE, /* share of operations */
	DIFF_MEAN, /* mean total latency */
	DIFF_P99,
	DIFF_DRAM, /* share of loads and stores that DRAM served */
	DIFF_REMOTE, /* share of loads and stores that accessed another chip */
	DIFF_MEASURES,
};

/**
 * Rate of false alarms: if nothing differs, the probability that any difference is marked is at
 * most this. Among the marked differences, the expected share of false ones is at most this.
 */
#define DIFF_FALSE_ALARM_RATE 0.05

/* Rows with fewer samples on both sides together are not tested. */
#define DIFF_SAMPLES_MIN 20

/**
 * struct diff_counts - the counts of one row on one side
 * @samples: number of samples
 * @operations: number of operations that the samples represent; @samples if that is not known
 * @value: value of the sort measure, a sum
 * @memory: loads and stores; @dram, @remote: those that DRAM or another chip served
 * @loads: loads; @level: number of loads that each level served, indexed by &enum spe_level
 * @latency: total latency of all samples
 * @load_latency: total latency of the loads
 * @brief: of @latency only the number and the sum are known, so the mean is not tested
 * @known_latency: if @brief is true, the total latency of the samples of which it is known; the 99th
 *	percentile is that of these samples
 */
struct diff_counts {
	u64 samples;
	u64 operations;
	u64 value;
	u64 memory;
	u64 dram;
	u64 remote;
	u64 loads;
	u64 level[SPE_LEVELS];
	struct histogram latency;
	struct histogram load_latency;
	struct histogram known_latency;
	bool brief;
};

/**
 * struct diff_row - a row
 * @key: names that identify the row
 * @side: counts, indexed by &enum diff_side; zeros if that side has no such row
 * @row: argument @row of diff_add_row(), indexed by &enum diff_side; UINT32_MAX for none
 * @value: indexed by &enum diff_side and &enum diff_measure: shares are 0 to 1, other measures are
 *	cycles
 * @chance: indexed by &enum diff_measure: the probability that chance causes the difference
 *	(chance.h); 1 if it was not tested
 * @exceeds: indexed by &enum diff_measure: whether the difference exceeds chance
 * @change: change of &diff_counts.value per operation: the quotient of the side after minus the
 *	quotient of the side before
 * @load_change: how much this row contributes to the change of the mean load latency, cycles
 */
struct diff_row {
	const char *key;
	struct diff_counts side[DIFF_SIDES];
	u32 row[DIFF_SIDES];
	double value[DIFF_SIDES][DIFF_MEASURES];
	double chance[DIFF_MEASURES];
	bool exceeds[DIFF_MEASURES];
	double change;
	double load_change;
};

struct diff;

/** diff_new() - allocate an empty comparison; returns 0 or -ENOMEM */
int diff_new(struct diff **ret_diff);

/** diff_free() - free a comparison, which may be NULL; returns NULL */
struct diff *diff_free(struct diff *diff);

/**
 * diff_add_row() - add a row to a side; rows of one side with the same key are added up
 * @key: names that identify the row, copied
 * @row: a number of the caller's choice, which becomes &diff_row.row unless an earlier row of the
 *	side has the same key
 * @counts: copied
 *
 * Return: 0 or -ENOMEM.
 */
int diff_add_row(struct diff *diff, enum diff_side side, const char *key, u32 row,
		 const struct diff_counts *counts);

/**
 * diff_set_denominators() - set the denominators of shares
 * @side: the side
 * @samples, @operations: number of all samples and operations of the side
 *
 * Without this call, the denominators are the sums over all rows of the side.
 */
void diff_set_denominators(struct diff *diff, enum diff_side side, u64 samples, u64 operations);

/**
 * diff_finish() - match the rows, test them, and sort them
 *
 * Rows with a difference that exceeds chance come first. Rows with and without such a difference
 * are sorted by the absolute value of &diff_row.change, the largest first, then by key.
 *
 * Return: 0 or -ENOMEM.
 */
int diff_finish(struct diff *diff);

/** diff_get_row_count() - return the number of rows */
u32 diff_get_row_count(const struct diff *diff);

/** diff_get_row() - return row @index, which is below diff_get_row_count() */
const struct diff_row *diff_get_row(const struct diff *diff, u32 index);

/**
 * struct diff_total - sums over all rows of a side
 * @counts: sum of the counts of all rows
 * @effective: effective number of samples: the number of equally weighted samples with the same
 *	error. It is smaller than the number of samples if their intervals differ
 */
struct diff_total {
	struct diff_counts counts;
	u64 effective;
};

/** diff_get_total() - return the sums over all rows of a side */
const struct diff_total *diff_get_total(const struct diff *diff, enum diff_side side);

/** diff_get_test_count() - return the number of tests */
u32 diff_get_test_count(const struct diff *diff);

/** diff_get_known_latency() - return the latencies from which the 99th percentile is computed */
const struct histogram *diff_get_known_latency(const struct diff_counts *counts);

/** diff_measure_name() - return the name of a measure, such as "share" */
const char *diff_measure_name(enum diff_measure measure);

/**
 * diff_find_level_move() - find the level that serves fewer loads of a row than before, and the
 * level that serves more
 * @ret_from, @ret_to: the level that lost the most share, and the level that gained the most
 *
 * All levels of DRAM count as SPE_LEVEL_DRAM.
 *
 * Return: true if both changes exceed chance, and each is at least 2 % of the loads of the row.
 */
bool diff_find_level_move(const struct diff_row *row, enum spe_level *ret_from,
			  enum spe_level *ret_to);

#endif
