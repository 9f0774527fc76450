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

struct words_context {
	const struct diff *diff;
	bool containers;
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

/* Add up the loads of all rows of each container, with the sum of their latencies. */
static int add_loads_by_container(const struct diff *diff, struct diff *to)
{
	char container[256];
	int r = 0;

	for (u32 i = 0; i < diff_get_row_count(diff); i++) {
		const struct diff_row *row = diff_get_row(diff, i);

		copy_container_name(row, container, sizeof(container));
		for (enum diff_side side = 0; side < DIFF_SIDES && r == 0; side++) {
			struct diff_counts counts = row->side[side];

			counts.latency = counts.load_latency;
			counts.value = counts.latency.sum;
			r = diff_add_row(to, side, container, 0, &counts);
		}
	}
	return r;
}

/* Return how much a row contributes to the change of the mean of its container, in cycles. */
static double compute_change_part(const struct diff_row *container, const struct diff_row *row)
{
	double mean = container->value[DIFF_BEFORE][DIFF_MEAN], part[DIFF_SIDES];

	for (enum diff_side side = 0; side < DIFF_SIDES; side++) {
		const struct histogram *h = &row->side[side].load_latency;
		double loads = (double)container->side[side].load_latency.count;

		part[side] = loads > 0 ? ((double)h->sum - mean * (double)h->count) / loads : 0;
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
		double part = sign * compute_change_part(container, row);

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

static void line_write(const struct words_context *w, const struct diff_row *container, char *to,
		       size_t size)
{
	double before = container->value[DIFF_BEFORE][DIFF_MEAN];
	double after = container->value[DIFF_AFTER][DIFF_MEAN];
	double change = after - before, sign = change < 0 ? -1 : 1, below = INFINITY, part;
	size_t length;

	length = (size_t)snprintf(to, size, "%s%smean load latency %+.0f %% (%.1f to %.1f cycles)",
				  w->containers ? container->key : "", w->containers ? ": " : "",
				  100 * change / before, before, after);
	for (u32 i = 0; i < LINE_ROWS_MAX && length < size; i++) {
		const struct diff_row *row = find_largest_part(w, container, sign, below, &part);
		char place[400], reason[200];

		if (!row || part < PART_MIN * fabs(change))
			break;
		w->place(w->ctx, row, place, sizeof(place));
		reason_write(container, row, reason, sizeof(reason));
		length +=
			(size_t)snprintf(to + length, size - length, "; %.0f points of it in %s%s",
					 100 * part / before, place, reason);
		below = part;
	}
}

static u32 count_rows_exceeding_chance(const struct diff *diff)
{
	u32 marked = 0;

	for (u32 i = 0; i < diff_get_row_count(diff); i++)
		marked += row_exceeds_chance(diff_get_row(diff, i));
	return marked;
}

int diff_words_make(const struct diff *diff, bool containers,
		    void (*place)(void *ctx, const struct diff_row *row, char *to, size_t size),
		    void *ctx, struct diff_words *ret_words)
{
	const struct words_context w = { diff, containers, place, ctx };
	struct diff *loads;
	int r = diff_new(&loads);

	ret_words->count = 0;
	if (r == 0)
		r = add_loads_by_container(diff, loads);
	if (r == 0)
		r = diff_finish(loads);
	for (u32 i = 0; r == 0 && i < diff_get_row_count(loads); i++) {
		const struct diff_row *row = diff_get_row(loads, i);

		if (!row->exceeds[DIFF_MEAN] || ret_words->count == DIFF_WORDS_LINES - 1)
			continue;
		line_write(&w, row, ret_words->line[ret_words->count], sizeof(ret_words->line[0]));
		ret_words->count++;
	}
	if (r == 0 && !ret_words->count && !count_rows_exceeding_chance(diff))
		snprintf(ret_words->line[ret_words->count++], sizeof(ret_words->line[0]),
			 "No difference exceeds chance.");
	else if (r == 0 && !ret_words->count)
		snprintf(ret_words->line[ret_words->count++], sizeof(ret_words->line[0]),
			 "No change of the mean load latency exceeds chance; %u of %u rows have "
			 "another difference.",
			 count_rows_exceeding_chance(diff), diff_get_row_count(diff));
	diff_free(loads);
	return r;
}
