// SPDX-License-Identifier: LGPL-2.1-or-later
#include "diff-words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Maximum number of rows that a line names: those that contribute most to the change. */
#define LINE_ROWS_MAX 2
/* A row is not named if its part of the change is smaller than this. */
#define PART_MIN 0.2

/**
 * struct words_context - what is described
 * @sums_only: a side is a period, which has only sums of latencies and not those of loads: describe
 *	DRAM and the 99th percentile, because the mean load latency is not known
 */
struct words_context {
	const struct diff *diff;
	bool containers;
	bool sums_only;
	void (*place)(void *ctx, const struct diff_row *row, char *to, size_t size);
	void *ctx;
};

static double mean_of(const struct histogram *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}

/* Copy the name of the container of a row, which is the first line of its key. */
static void copy_container_name(const struct diff_row *row, char *to, size_t size)
{
	snprintf(to, size, "%.*s", (int)strcspn(row->key, "\n"), row->key);
}

/*
 * Add up the rows of each container: the loads with the sum of their latencies, or if those are not
 * known, all operations with the number of accesses to DRAM.
 */
static int add_rows_by_container(const struct words_context *w, struct diff *to)
{
	char container[256];
	int r = 0;

	for (u32 i = 0; i < diff_get_row_count(w->diff); i++) {
		const struct diff_row *row = diff_get_row(w->diff, i);

		copy_container_name(row, container, sizeof(container));
		for (enum diff_side side = 0; side < DIFF_SIDES && r == 0; side++) {
			struct diff_counts counts = row->side[side];

			if (!w->sums_only)
				counts.latency = counts.load_latency;
			counts.value = w->sums_only ? counts.dram : counts.latency.sum;
			r = diff_add_row(to, side, container, 0, &counts);
		}
	}
	return r;
}

/* Get the quotient that a line describes: sum and number of load latencies, or DRAM of memory. */
static void get_quotient(const struct words_context *w, const struct diff_counts *counts,
			 double *ret_sum, double *ret_count)
{
	*ret_sum = (double)(w->sums_only ? counts->dram : counts->load_latency.sum);
	*ret_count = (double)(w->sums_only ? counts->memory : counts->load_latency.count);
}

/*
 * Return how much a row contributes to the change of its container: of the mean in cycles, or of
 * the share of DRAM, 0 to 1.
 */
static double compute_change_part(const struct words_context *w, const struct diff_row *container,
				  const struct diff_row *row)
{
	enum diff_measure measure = w->sums_only ? DIFF_DRAM : DIFF_MEAN;
	double before = container->value[DIFF_BEFORE][measure], part[DIFF_SIDES];

	for (enum diff_side side = 0; side < DIFF_SIDES; side++) {
		double sum, count, all_sum, all_count;

		get_quotient(w, &row->side[side], &sum, &count);
		get_quotient(w, &container->side[side], &all_sum, &all_count);
		part[side] = all_count > 0 ? (sum - before * count) / all_count : 0;
	}
	return part[DIFF_AFTER] - part[DIFF_BEFORE];
}

static bool row_exceeds_chance(const struct diff_row *row)
{
	for (enum diff_measure m = 0; m < DIFF_MEASURES; m++)
		if (row->exceeds[m])
			return true;
	return false;
}

/* Return the row with the largest part below @below among the rows with a change beyond chance. */
static const struct diff_row *find_largest_part(const struct words_context *w,
						const struct diff_row *container, double sign,
						double below, double *ret_part)
{
	const struct diff_row *largest = NULL;
	char name[256];

	*ret_part = 0;
	for (u32 i = 0; i < diff_get_row_count(w->diff); i++) {
		const struct diff_row *row = diff_get_row(w->diff, i);
		double part = sign * compute_change_part(w, container, row);

		copy_container_name(row, name, sizeof(name));
		if (strcmp(name, container->key) != 0 || !row_exceeds_chance(row) ||
		    part >= below || part <= *ret_part)
			continue;
		*ret_part = part;
		largest = row;
	}
	return largest;
}

static const char *describe_level(enum spe_level level)
{
	static const char *const names[SPE_LEVELS] = {
		[SPE_LEVEL_UNKNOWN] = "an unknown level",
		[SPE_LEVEL_L1] = "L1",
		[SPE_LEVEL_L2] = "L2",
		[SPE_LEVEL_L3] = "L3",
		[SPE_LEVEL_SYSTEM_CACHE] = "the system cache",
		[SPE_LEVEL_PEER_CORE] = "a peer core",
		[SPE_LEVEL_LOCAL_CLUSTER] = "the local cluster",
		[SPE_LEVEL_PEER_CLUSTER] = "a peer cluster",
		[SPE_LEVEL_LOCAL_CHIP] = "the local chip",
		[SPE_LEVEL_REMOTE_CACHE] = "a remote cache",
		[SPE_LEVEL_DRAM] = "DRAM",
		[SPE_LEVEL_DEVICE] = "a device",
		[SPE_LEVEL_RECENT] = "lines just fetched",
		[SPE_LEVEL_LLC] = "the last level cache",
		[SPE_LEVEL_BEYOND_L1] = "beyond L1",
		[SPE_LEVEL_BEYOND_L2] = "beyond L2",
		[SPE_LEVEL_BEYOND_LLC] = "DRAM",
	};

	return names[level];
}

/* Return the share of a row in the loads of its container. */
static double load_share(const struct diff_row *container, const struct diff_row *row,
			 enum diff_side side)
{
	u64 loads = container->side[side].loads;

	return loads ? (double)row->side[side].loads / (double)loads : 0;
}

/* Describe what changed in a row: the levels, or the number of loads, or else their latency. */
static void reason_write(const struct diff_row *container, const struct diff_row *row, char *to,
			 size_t size)
{
	double before = load_share(container, row, DIFF_BEFORE);
	double after = load_share(container, row, DIFF_AFTER);
	enum spe_level from, target;

	if (diff_find_level_move(row, &from, &target))
		snprintf(to, size, ": its loads moved from %s to %s", describe_level(from),
			 describe_level(target));
	else if (row->exceeds[DIFF_SHARE] && fabs(after - before) >= 0.01)
		snprintf(to, size, ": its share of the loads %s from %.1f to %.1f %%",
			 after > before ? "rose" : "fell", 100 * before, 100 * after);
	else
		snprintf(to, size, ": its loads take %.1f cycles instead of %.1f",
			 mean_of(&row->side[DIFF_AFTER].load_latency),
			 mean_of(&row->side[DIFF_BEFORE].load_latency));
}

/*
 * Append the rows that contribute most to the change of a container.
 * @points: factor that converts a contribution to points: percents of the mean, or of the share
 */
static size_t rows_write(const struct words_context *w, const struct diff_row *container,
			 double change, double points, char *to, size_t size)
{
	double sign = change < 0 ? -1 : 1, below = INFINITY, part;
	size_t length = 0;

	for (u32 i = 0; i < LINE_ROWS_MAX && length < size; i++) {
		const struct diff_row *row = find_largest_part(w, container, sign, below, &part);
		char place[400], reason[200] = "";

		if (!row || part < PART_MIN * fabs(change))
			break;
		w->place(w->ctx, row, place, sizeof(place));
		if (!w->sums_only)
			reason_write(container, row, reason, sizeof(reason));
		length +=
			(size_t)snprintf(to + length, size - length, "; %.0f points of it in %s%s",
					 points * part, place, reason);
		below = part;
	}
	return length;
}

static void line_write(const struct words_context *w, const struct diff_row *container, char *to,
		       size_t size)
{
	double before = container->value[DIFF_BEFORE][DIFF_MEAN];
	double after = container->value[DIFF_AFTER][DIFF_MEAN];
	size_t length;

	length = (size_t)snprintf(to, size, "mean load latency %+.0f %% (%.1f to %.1f cycles)",
				  100 * (after - before) / before, before, after);
	rows_write(w, container, after - before, 100 / before, to + length, size - length);
}

/* Describe the share of DRAM and the 99th percentile, those of them that exceed chance. */
static void sums_line_write(const struct words_context *w, const struct diff_row *container,
			    char *to, size_t size)
{
	const double *before = container->value[DIFF_BEFORE], *after = container->value[DIFF_AFTER];
	size_t length = 0;

	if (container->exceeds[DIFF_DRAM]) {
		length = (size_t)snprintf(to, size, "loads and stores from DRAM %.1f to %.1f %%",
					  100 * before[DIFF_DRAM], 100 * after[DIFF_DRAM]);
		length += rows_write(w, container, after[DIFF_DRAM] - before[DIFF_DRAM], 100,
				     to + length, size - length);
	}
	if (container->exceeds[DIFF_P99] && length < size)
		snprintf(to + length, size - length, "%sp99 latency %.0f to %.0f cycles",
			 length ? "; " : "", before[DIFF_P99], after[DIFF_P99]);
}

/* Return whether a container has a change that its line describes. */
static bool has_line(const struct words_context *w, const struct diff_row *container)
{
	return w->sums_only ? container->exceeds[DIFF_DRAM] || container->exceeds[DIFF_P99] :
			      container->exceeds[DIFF_MEAN];
}

/* Write the line of a container, after its name. */
static void container_write(const struct words_context *w, const struct diff_row *container,
			    char *to, size_t size)
{
	size_t length = 0;

	if (w->containers)
		length = (size_t)snprintf(to, size, "%s: ", container->key);
	if (w->sums_only)
		sums_line_write(w, container, to + length, size - length);
	else
		line_write(w, container, to + length, size - length);
}

static u32 count_rows_exceeding_chance(const struct diff *diff)
{
	u32 marked = 0;

	for (u32 i = 0; i < diff_get_row_count(diff); i++)
		marked += row_exceeds_chance(diff_get_row(diff, i));
	return marked;
}

/* Write the only line if no container has a line of its own. */
static void rest_write(const struct words_context *w, char *to, size_t size)
{
	u32 marked = count_rows_exceeding_chance(w->diff), rows = diff_get_row_count(w->diff);
	const char *untested = w->sums_only ? "The mean latency is not tested: a period has only "
					      "its sum." :
					      "";

	if (!marked)
		snprintf(to, size, "No difference exceeds chance.%s%s", *untested ? " " : "",
			 untested);
	else if (w->sums_only)
		snprintf(to, size, "%u of %u rows have a difference that exceeds chance. %s",
			 marked, rows, untested);
	else
		snprintf(to, size,
			 "No change of the mean load latency exceeds chance; %u of %u rows have "
			 "another difference.",
			 marked, rows);
}

int diff_words_make(const struct diff *diff, bool containers,
		    void (*place)(void *ctx, const struct diff_row *row, char *to, size_t size),
		    void *ctx, struct diff_words *ret_words)
{
	const struct words_context w = {
		.diff = diff,
		.containers = containers,
		.sums_only = diff_get_total(diff, DIFF_BEFORE)->counts.brief ||
			     diff_get_total(diff, DIFF_AFTER)->counts.brief,
		.place = place,
		.ctx = ctx,
	};
	struct diff *sums;
	int r = diff_new(&sums);

	ret_words->count = 0;
	if (r == 0)
		r = add_rows_by_container(&w, sums);
	if (r == 0)
		r = diff_finish(sums);
	for (u32 i = 0; r == 0 && i < diff_get_row_count(sums); i++) {
		const struct diff_row *row = diff_get_row(sums, i);

		if (!has_line(&w, row) || ret_words->count == DIFF_WORDS_LINES - 1)
			continue;
		container_write(&w, row, ret_words->line[ret_words->count],
				sizeof(ret_words->line[0]));
		ret_words->count++;
	}
	if (r == 0 && !ret_words->count)
		rest_write(&w, ret_words->line[ret_words->count++], sizeof(ret_words->line[0]));
	diff_free(sums);
	return r;
}
