// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fold-keep.h"

#include <errno.h>
#include <stdlib.h>

#include "data-source.h"
#include "escape.h"
#include "source.h"

/* Those of the last snapshot, and as many that are gone and have series still. */
#define GROUPS_MAX (2 * METRICS_CONTAINERS)

/* 2^64 operations are not weighed. */
#define WEIGHT_MAX (1ULL << 60)

#define TALLY_WORDS   (sizeof(struct metrics_tally) / sizeof(u64))
#define COUNTER_WORDS ((FOLD_AFTER_COUNTERS - FOLD_FIRST_COUNTER) / sizeof(u64))

static_assert(sizeof(struct metrics_tally) % sizeof(u64) == 0, "whole words");
static_assert(FOLD_FIRST_COUNTER % sizeof(u64) == 0, "aligned");

/* FNV-1a, with the NUL, so that texts do not run into each other. */
static u64 mix_text(u64 hash, const char *text)
{
	do
		hash = (hash ^ (u8)*text) * 0x100000001b3ULL;
	while (*text++);
	return hash;
}

/* What decides which groups there are, and who may be one. */
static u64 labels_hash(const struct labels *labels)
{
	u64 hash = 0xcbf29ce484222325ULL + labels->count;

	for (unsigned int i = 0; i < labels->count; i++) {
		hash = mix_text(hash, labels->rules[i].name);
		hash = mix_text(hash + labels->rules[i].fact, labels->rules[i].constant);
	}
	for (unsigned int i = 0; i < labels->allows; i++)
		hash = mix_text(hash + 1, labels->allow[i]);
	for (unsigned int i = 0; i < labels->denies; i++)
		hash = mix_text(hash + 2, labels->deny[i]);
	return hash;
}

static void machine_save(const struct metrics_machine *m, struct blob_writer *to)
{
	blob_put(to, m->epoch);
	blob_put(to, m->process);
	blob_put(to, m->age_ns);
	blob_put(to, m->backend);
	blob_put_array(to, (const u64 *)((const u8 *)m + FOLD_FIRST_COUNTER), COUNTER_WORDS);
	blob_put_array(to, (const u64 *)&m->all, TALLY_WORDS);
}

static void machine_restore(struct metrics_machine *m, struct blob_reader *from)
{
	m->epoch = blob_get(from);
	m->process = blob_get(from);
	m->age_ns = blob_get(from);
	m->backend = (u8)blob_get_below(from, 256);
	blob_get_array(from, (u64 *)((u8 *)m + FOLD_FIRST_COUNTER), COUNTER_WORDS);
	blob_get_array(from, (u64 *)&m->all, TALLY_WORDS);
}

static u64 weight_of(const struct fold_group *group)
{
	return group->weight < (double)WEIGHT_MAX ? (u64)group->weight : WEIGHT_MAX - 1;
}

static void group_save(const struct fold *fold, const struct fold_group *group,
		       struct blob_writer *to)
{
	for (unsigned int i = 0; i < fold->labels->count; i++)
		blob_put_string(to, group->set.value[i]);
	blob_put(to, weight_of(group));
	blob_put(to, group->levels);
	blob_put(to, group->kinds);
	blob_put(to, group->alive_ns);
	if (!group->sum)
		return;
	blob_put(to, group->start_ns);
	blob_put_array(to, (const u64 *)group->sum, TALLY_WORDS);
}

void fold_save(const struct fold *fold, bool emulated, struct blob_writer *to)
{
	u32 count = fold->count < GROUPS_MAX ? fold->count : GROUPS_MAX;

	blob_put(to, fold->any);
	if (!fold->any)
		return;
	blob_put(to, emulated);
	blob_put(to, fold->start_ns);
	blob_put(to, fold->taken_ns);
	blob_put(to, fold->unit);
	blob_put(to, fold->other_levels);
	machine_save(&fold->latest.machine, to);
	machine_save(&fold->machine, to);
	blob_put_array(to, (const u64 *)&fold->other, TALLY_WORDS);
	blob_put(to, fold->latest.count);
	for (u32 i = 0; i < fold->latest.count; i++) {
		blob_put(to, fold->latest.containers[i].id);
		blob_put_array(to, (const u64 *)&fold->latest.containers[i].tally, TALLY_WORDS);
	}
	blob_put(to, labels_hash(fold->labels));
	blob_put(to, count);
	blob_put(to, fold->shown < count ? fold->shown : count);
	for (u32 i = 0; i < count; i++)
		group_save(fold, &fold->groups[i], to);
}

/* Whoever is looked for by its id is found: they ascend. */
static int containers_restore(struct fold *fold, struct blob_reader *from)
{
	u32 count = (u32)blob_get_below(from, METRICS_CONTAINERS + 1);
	struct metrics_container *c;

	c = calloc(count + 1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	fold->latest.containers = c;
	for (u32 i = 0; i < count && !from->bad; i++) {
		c[i].id = blob_get(from);
		blob_get_array(from, (u64 *)&c[i].tally, TALLY_WORDS);
		if (i && c[i].id <= c[i - 1].id)
			from->bad = true;
	}
	fold->latest.count = count;
	return 0;
}

/* Labels are printable wherever they come from. */
static void label_restore(char *value, struct blob_reader *from)
{
	char raw[LABEL_SIZE];

	blob_get_string(from, raw, sizeof(raw));
	escape_string(value, LABEL_SIZE, raw);
	if (strcmp(value, raw))
		from->bad = true;
}

static int group_restore(const struct fold *fold, struct fold_group *group, bool shown,
			 struct blob_reader *from)
{
	for (unsigned int i = 0; i < fold->labels->count; i++)
		label_restore(group->set.value[i], from);
	group->hash = fold_set_hash(&group->set);
	group->weight = (double)blob_get_below(from, WEIGHT_MAX);
	group->levels = (u32)blob_get_below(from, 1ULL << (SPE_LEVELS + UNITS));
	group->kinds = (u32)blob_get_below(from, 1U << METRICS_LATENCIES) & fold->kinds;
	group->alive_ns = blob_get(from);
	if (!shown)
		return 0;
	group->start_ns = blob_get(from);
	group->sum = calloc(1, sizeof(*group->sum));
	if (!group->sum)
		return -ENOMEM;
	blob_get_array(from, (u64 *)group->sum, TALLY_WORDS);
	return 0;
}

static int compare_words(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Whether no two groups have the same labels, and none those that all others have. */
static int check_apart(const struct fold *fold, struct blob_reader *from)
{
	u64 *hashes = calloc(fold->count + 1, sizeof(*hashes));

	if (!hashes)
		return -ENOMEM;
	for (u32 i = 0; i < fold->count; i++)
		hashes[i] = fold->groups[i].hash;
	hashes[fold->count] = fold_set_hash(&fold->other_set);
	qsort(hashes, fold->count + 1, sizeof(*hashes), compare_words);
	for (u32 i = 0; i < fold->count; i++)
		if (hashes[i] == hashes[i + 1])
			from->bad = true;
	free(hashes);
	return 0;
}

static int groups_restore(struct fold *fold, struct blob_reader *from)
{
	u32 count, shown;
	int r;

	/* Last in the blob: what is not read of it does no harm. */
	if (blob_get(from) != labels_hash(fold->labels))
		return 0;
	count = (u32)blob_get_below(from, GROUPS_MAX + 1);
	shown = (u32)blob_get_below(from, (u64)count + 1);
	fold->groups = calloc(count + 1, sizeof(*fold->groups));
	if (!fold->groups)
		return -ENOMEM;
	fold->room = count + 1;
	for (u32 i = 0; i < count && !from->bad; i++) {
		fold->count = i + 1;
		r = group_restore(fold, &fold->groups[i], i < shown, from);
		if (r < 0)
			return r;
	}
	fold->shown = shown;
	return check_apart(fold, from);
}

static int restore(struct fold *fold, struct blob_reader *from)
{
	int r;

	fold->start_ns = blob_get(from);
	fold->taken_ns = blob_get(from);
	fold->unit = (unsigned int)blob_get_below(from, METRICS_UNITS + 1);
	fold->other_levels = (u32)blob_get_below(from, 1ULL << (SPE_LEVELS + UNITS));
	machine_restore(&fold->latest.machine, from);
	machine_restore(&fold->machine, from);
	blob_get_array(from, (u64 *)&fold->other, TALLY_WORDS);
	r = containers_restore(fold, from);
	if (r >= 0)
		r = groups_restore(fold, from);
	if (r >= 0 && from->bad)
		r = -EBADMSG;
	fold->any = true;
	return r;
}

int fold_restore(struct fold *fold, bool emulated, struct blob_reader *from)
{
	const struct labels *labels = fold->labels;
	u32 kinds = fold->kinds;
	bool any = blob_get_below(from, 2), modelled = any && blob_get_below(from, 2);
	int r;

	if (from->bad)
		return -EBADMSG;
	if (!any || (modelled && !emulated))
		return -ENODATA;
	r = restore(fold, from);
	if (r < 0) {
		fold_deinit(fold);
		fold_init(fold, labels, kinds);
	}
	return r;
}
