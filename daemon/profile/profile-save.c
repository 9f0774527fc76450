// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile-save.h"

#include "profile-internal.h"

#include <errno.h>
#include <stddef.h>

/* Of the header what is summed up over windows; the rest is asked for when it is shown. */
static const size_t ledgers[] = {
	offsetof(struct view_header, records),	offsetof(struct view_header, bytes),
	offsetof(struct view_header, decoded),	offsetof(struct view_header, padding),
	offsetof(struct view_header, suspect),	offsetof(struct view_header, lost),
	offsetof(struct view_header, dropped),	offsetof(struct view_header, written),
	offsetof(struct view_header, filtered), offsetof(struct view_header, evicted),
	offsetof(struct view_header, blind_ns), offsetof(struct view_header, enabled_ns),
};

static u64 *ledger_of(struct view_header *header, size_t i)
{
	return (u64 *)((char *)header + ledgers[i]);
}

static void tally_save(const struct tally *tally, struct blob_writer *to)
{
	blob_put(to, tally->samples);
	blob_put(to, tally->latency_sum);
	blob_put(to, tally->max);
	blob_put_array(to, tally->count, ARRAY_SIZE(tally->count));
	blob_put_array(to, tally->bucket, ARRAY_SIZE(tally->bucket));
}

static void tally_load(struct blob_reader *from, struct tally *ret)
{
	ret->samples = blob_get(from);
	ret->latency_sum = blob_get(from);
	ret->max = (u32)blob_get_below(from, 1ULL << 32);
	blob_get_array(from, ret->count, ARRAY_SIZE(ret->count));
	blob_get_array(from, ret->bucket, ARRAY_SIZE(ret->bucket));
}

static void figures_save(const struct figures *figures, struct blob_writer *to)
{
	blob_put(to, figures->samples);
	blob_put_array(to, figures->weight, ARRAY_SIZE(figures->weight));
	blob_put_array(to, (const u64 *)&figures->counts, FIGURE_COUNTS);
	for (size_t i = 0; i < ARRAY_SIZE(figures->latency); i++) {
		const struct histogram *h = &figures->latency[i];

		blob_put(to, h->sum);
		blob_put(to, h->max);
		blob_put_array(to, h->bucket, ARRAY_SIZE(h->bucket));
	}
}

/* Counts of histograms are their buckets' sum, added up by profile_settle(). */
static void figures_load(struct blob_reader *from, struct figures *ret)
{
	*ret = (struct figures){ .samples = blob_get(from) };
	blob_get_array(from, ret->weight, ARRAY_SIZE(ret->weight));
	blob_get_array(from, (u64 *)&ret->counts, FIGURE_COUNTS);
	for (size_t i = 0; i < ARRAY_SIZE(ret->latency); i++) {
		struct histogram *h = &ret->latency[i];

		h->sum = blob_get(from);
		h->max = (u32)blob_get_below(from, 1ULL << 32);
		blob_get_array(from, h->bucket, ARRAY_SIZE(h->bucket));
	}
}

static void contexts_save(const struct profile *p, struct blob_writer *to)
{
	for (unsigned int i = 0; i < CONTEXTS; i++) {
		u32 used = 0;

		for (u32 k = 0; k < p->context_slots; k++)
			used += p->contexts[i][k].count != 0;
		blob_put(to, used);
		for (u32 k = 0; k < p->context_slots; k++) {
			if (!p->contexts[i][k].count)
				continue;
			blob_put(to, p->contexts[i][k].value);
			blob_put(to, p->contexts[i][k].count);
		}
	}
	blob_put(to, p->context_overflow);
}

static void contexts_load(struct profile *p, struct blob_reader *from)
{
	for (unsigned int i = 0; i < CONTEXTS; i++) {
		u32 used = (u32)blob_get_below(from, 1ULL << 32);

		while (used-- && !from->bad) {
			u32 value = (u32)blob_get_below(from, 1ULL << 32);
			u64 count = blob_get(from);

			if (count)
				profile_context(p, i, value, count);
		}
	}
	p->context_overflow += blob_get(from);
}

static void machine_save(struct profile *p, struct blob_writer *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(ledgers); i++)
		blob_put(to, *ledger_of(&p->header, i));
	blob_put(to, p->header.backend);
	blob_put_array(to, p->kinds, ARRAY_SIZE(p->kinds));
	blob_put(to, p->simd);
	blob_put_array(to, p->events, ARRAY_SIZE(p->events));
	blob_put_array(to, p->sources, PROFILE_SOURCES);
	blob_put_array(to, p->levels, ARRAY_SIZE(p->levels));
	blob_put_array(to, p->origins, ARRAY_SIZE(p->origins));
	contexts_save(p, to);
	figures_save(&p->nobody, to);
	figures_save(&p->elsewhere, to);
}

static void machine_load(struct profile *p, struct blob_reader *from)
{
	for (size_t i = 0; i < ARRAY_SIZE(ledgers); i++)
		*ledger_of(&p->header, i) = blob_get(from);
	p->header.backend = (u8)blob_get_below(from, BACKEND_EMULATED + 1);
	blob_get_array(from, p->kinds, ARRAY_SIZE(p->kinds));
	p->simd = blob_get(from);
	blob_get_array(from, p->events, ARRAY_SIZE(p->events));
	blob_get_array(from, p->sources, PROFILE_SOURCES);
	blob_get_array(from, p->levels, ARRAY_SIZE(p->levels));
	blob_get_array(from, p->origins, ARRAY_SIZE(p->origins));
	contexts_load(p, from);
	figures_load(from, &p->nobody);
	figures_load(from, &p->elsewhere);
}

static bool is_counted(const struct process_tally *entry)
{
	return entry->sum.samples || entry->before;
}

static void rows_save(const struct profile *p, struct blob_writer *to)
{
	u32 count = 0;

	for (u32 i = 0; i < p->gone_count; i++)
		count += p->gone[i].sum.samples != 0;
	blob_put(to, count);
	for (u32 i = 0; i < p->gone_count; i++) {
		if (!p->gone[i].sum.samples)
			continue;
		blob_put(to, i);
		blob_put(to, p->gone[i].generation);
		figures_save(&p->gone[i].sum, to);
	}
	count = 0;
	for (u32 i = 0; i < p->process_count; i++)
		count += is_counted(&p->processes[i]);
	blob_put(to, count);
	for (u32 i = 0; i < p->process_count; i++) {
		const struct process_tally *entry = &p->processes[i];

		if (!is_counted(entry))
			continue;
		blob_put(to, i);
		blob_put(to, entry->generation);
		blob_put(to, entry->container);
		blob_put(to, entry->container_generation);
		figures_save(&entry->sum, to);
		blob_put(to, entry->before != NULL);
		if (entry->before)
			figures_save(entry->before, to);
	}
}

/* A container by what was saved of it: where its figures belong now, and by which generation. */
static u32 container_load(struct profile *p, struct blob_reader *from,
			  const struct attribute_translation *t, u32 *ret_generation)
{
	u32 old = (u32)blob_get_below(from, 1ULL << 32);
	u32 generation = (u32)blob_get_below(from, 1ULL << 32);
	u32 index = attribute_moved_container(t, old, generation, ret_generation);

	if (index != ATTRIBUTE_NONE)
		return index;
	index = attributor_container_other(p->attributor);
	*ret_generation = attributor_container(p->attributor, index)->generation;
	return index;
}

static int gone_load(struct profile *p, struct blob_reader *from,
		     const struct attribute_translation *t)
{
	u32 count = (u32)blob_get_below(from, 1U << 20), index, generation;
	struct figures sum;

	while (count-- && !from->bad) {
		index = container_load(p, from, t, &generation);
		figures_load(from, &sum);
		if (profile_restore_gone(p, index, generation, &sum) < 0)
			return -ENOMEM;
	}
	return from->bad ? -EBADMSG : 0;
}

static int process_load(struct profile *p, struct blob_reader *from,
			const struct attribute_translation *t)
{
	u32 old = (u32)blob_get_below(from, 1ULL << 32);
	u32 old_generation = (u32)blob_get_below(from, 1ULL << 32);
	u32 generation = 0, index = attribute_moved_process(t, old, old_generation, &generation);
	struct process_tally entry = { .generation = generation };
	struct figures before;

	entry.container = container_load(p, from, t, &entry.container_generation);
	figures_load(from, &entry.sum);
	/* Its containers have what it counted before. */
	if (blob_get_below(from, 2)) {
		figures_load(from, &before);
		entry.before = &before;
	}
	if (from->bad)
		return -EBADMSG;
	if (index == ATTRIBUTE_NONE)
		return profile_restore_gone(p, entry.container, entry.container_generation,
					    &entry.sum);
	return profile_restore_process(p, index, &entry);
}

static int rows_load(struct profile *p, struct blob_reader *from,
		     const struct attribute_translation *t)
{
	u32 count;
	int r = gone_load(p, from, t);

	count = (u32)blob_get_below(from, 1U << 20);
	while (!r && count-- && !from->bad)
		r = process_load(p, from, t);
	return r < 0 ? r : from->bad ? -EBADMSG : 0;
}

static void locations_save(struct profile *p, struct blob_writer *to)
{
	struct location *l = NULL;
	struct tally tally;
	u32 count = 0;

	while ((l = location_table_next(p->locations, l)))
		count++;
	blob_put(to, count);
	while ((l = location_table_next(p->locations, l))) {
		const struct served_place *place = served_place(&p->served, l);

		blob_put(to, l->place);
		blob_put(to, location_process(l));
		blob_put(to, location_generation(l));
		blob_put(to, l->weight);
		location_tally(p->locations, l, &tally);
		tally_save(&tally, to);
		for (unsigned int i = 0; i < SERVED_COUNTS; i++)
			blob_put(to, place->count[i]);
	}
}

/* Who has the place; false if there is nobody any more. */
static bool owner_load(struct blob_reader *from, const struct attribute_translation *t, u64 *ret)
{
	u32 process = (u32)blob_get_below(from, 1ULL << 32), now;
	u32 generation = (u32)blob_get_below(from, 1ULL << 32);

	*ret = location_owner(ATTRIBUTE_NONE, 0);
	if (process == ATTRIBUTE_NONE)
		return true;
	process = attribute_moved_process(t, process, generation, &now);
	if (process == ATTRIBUTE_NONE)
		return false;
	*ret = location_owner(process, now);
	return true;
}

static void location_load(struct profile *p, struct blob_reader *from,
			  const struct attribute_translation *t)
{
	u64 place = blob_get(from), owner;
	bool owned = owner_load(from, t, &owner);
	u32 weight = (u32)blob_get_below(from, 1ULL << 32);
	struct served_place served = { 0 };
	struct location_key key;
	struct location *entry;
	struct tally tally;

	tally_load(from, &tally);
	for (unsigned int i = 0; i < SERVED_COUNTS; i++)
		served.count[i] = (u32)blob_get_below(from, 1ULL << 32);
	if (from->bad)
		return;
	if (!owned) {
		p->header.evicted += tally.samples;
		return;
	}
	location_prepare(p->locations, place, owner, location_salt(p->locations, owner), &key);
	entry = location_get(p->locations, &key, &p->header.evicted);
	location_restore(p->locations, entry, &tally, weight);
	*served_place(&p->served, entry) = served;
}

void profile_save(struct profile *profile, struct blob_writer *to)
{
	profile_settle(profile);
	machine_save(profile, to);
	rows_save(profile, to);
	locations_save(profile, to);
}

int profile_load(struct profile *profile, struct blob_reader *from,
		 const struct attribute_translation *translation)
{
	u32 count;
	int r;

	machine_load(profile, from);
	r = rows_load(profile, from, translation);
	if (r < 0)
		return r;
	count = (u32)blob_get_below(from, 1U << 24);
	while (count-- && !from->bad)
		location_load(profile, from, translation);
	return from->bad ? -EBADMSG : 0;
}
