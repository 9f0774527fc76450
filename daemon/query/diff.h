/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares two sets of rows, before and after a change: matches the rows by name, and tests which
 * differences exceed chance.
 *
 *	diff_add(diff, DIFF_BEFORE, key, &counts);	(for each row of each side)
 *	diff_finish(diff);
 *	for (u32 i = 0; i < diff_count(diff); i++)
 *		row = diff_row(diff, i);
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

/* What is compared of a row. */
enum diff_measure {
	DIFF_SHARE, /* share of operations */
	DIFF_MEAN, /* mean total latency */
	DIFF_P99,
	DIFF_DRAM, /* share of loads and stores that DRAM served */
	DIFF_REMOTE, /* share of them that accessed another chip */
	DIFF_MEASURES,
};

/**
 * Rate of false alarms: if nothing differs, at most this is the probability that any difference is
 * marked; among the marked ones, this is the expected share of false ones.
 */
#define DIFF_RATE 0.05

/* Rows with fewer samples, of both sides together, are not tested. */
#define DIFF_SAMPLES_MIN 20

/**
 * struct diff_counts - what is compared of the samples of a row
 * @samples: number of samples
 * @operations: operations that they stand for; @samples if that is not known
 * @value: the measure that rows are sorted by, a sum
 * @memory: loads and stores; @dram, @remote: those of them
 * @loads: loads; @level: those by the level that served them
 * @latency: total latency of all samples
 * @load_latency: of the loads
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
};

/**
 * struct diff_row - a row
 * @key: its names
 * @side: its counts; zeros on a side that lacks it
 * @row: number of the row that was added, by side; UINT32_MAX for none
 * @value: by side and &enum diff_measure: shares are 0 to 1, others cycles
 * @chance: by measure, the probability of chance_of_counts() and others; 1 if it was not tested
 * @exceeds: whether the difference exceeds chance
 * @change: change of the sort measure, per operation of its side
 * @load_change: part of the change of the mean latency of all loads that is this row's, cycles
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
 * diff_add() - add a row to a side; rows with the same key are added up
 * @key: names that identify the row, copied
 * @row: &diff_row.row, if the key has none yet
 * @counts: copied
 *
 * Return: 0 or -ENOMEM.
 */
int diff_add(struct diff *diff, enum diff_side side, const char *key, u32 row,
	     const struct diff_counts *counts);

/**
 * diff_set_whole() - set the samples and operations that shares are of
 *
 * Without it they are those of all rows of the side.
 */
void diff_set_whole(struct diff *diff, enum diff_side side, u64 samples, u64 operations);

/**
 * diff_finish() - match the rows, test them, and sort them
 *
 * Rows with a difference that exceeds chance are the first ones, and within them those whose sort
 * measure changed most. The order is that of the keys if all else is equal.
 *
 * Return: 0 or -ENOMEM.
 */
int diff_finish(struct diff *diff);

/** diff_count() - return the number of rows */
u32 diff_count(const struct diff *diff);

/** diff_row() - return a row, by its number below diff_count() */
const struct diff_row *diff_row(const struct diff *diff, u32 index);

/**
 * struct diff_total - a side as a whole
 * @counts: all its rows together
 * @effective: effective number of samples: smaller than that of samples if their intervals differ
 */
struct diff_total {
	struct diff_counts counts;
	u64 effective;
};

/** diff_total() - return a side as a whole */
const struct diff_total *diff_total(const struct diff *diff, enum diff_side side);

/** diff_tests() - return the number of tests */
u32 diff_tests(const struct diff *diff);

/** diff_measure_name() - return the name of a measure, such as "share" */
const char *diff_measure_name(enum diff_measure measure);

/**
 * diff_level_move() - find the levels that the loads of a row moved between
 * @ret_from, @ret_to: the levels whose shares fell and rose most
 *
 * Levels of DRAM count as one, SPE_LEVEL_DRAM.
 *
 * Return: whether the change of both exceeds chance, and at least 2 % of the loads moved.
 */
bool diff_level_move(const struct diff_row *row, enum spe_level *ret_from, enum spe_level *ret_to);

#endif
