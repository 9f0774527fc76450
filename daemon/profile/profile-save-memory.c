// SPDX-License-Identifier: LGPL-2.1-or-later
/* Serialization of hot lines, hot pages and the traffic between nodes for the checkpoint. */
#include "profile-internal.h"

/* Upper limit (exclusive) of restored weights, so that their sum cannot overflow. */
#define WEIGHT_END (1ULL << 60)

#define TRAFFIC_WORDS \
	((NODES_MAX + 1) * (NODES_MAX + 1) * (sizeof(struct node_traffic) / sizeof(u64)))
static_assert(sizeof(struct node_traffic) == 3 * sizeof(u64), "they are words");

enum line_owner_kind { OWNER_PHYSICAL, OWNER_KERNEL, OWNER_PROCESS, OWNERS };

static void line_owner_save(u64 owner, struct serializer *to)
{
	if (owner == LINE_PHYSICAL || owner == LINE_KERNEL) {
		serialize_u64(to, owner == LINE_PHYSICAL ? OWNER_PHYSICAL : OWNER_KERNEL);
		return;
	}
	serialize_u64(to, OWNER_PROCESS);
	profile_owner_save(owner, to);
}

static bool line_owner_load(struct deserializer *from, const struct attribute_translation *t,
			    u64 *ret_owner)
{
	enum line_owner_kind kind = deserialize_u64_below(from, OWNERS);

	if (kind == OWNER_PROCESS)
		return profile_owner_load(from, t, ret_owner);
	*ret_owner = kind == OWNER_PHYSICAL ? LINE_PHYSICAL : LINE_KERNEL;
	return true;
}

static void sharer_save(const struct line_sharer *s, struct serializer *to)
{
	serialize_u64(to, s->samples);
	if (!s->samples)
		return;
	serialize_u64(to, s->stores);
	serialize_u64(to, s->place);
	profile_owner_save(s->owner, to);
	serialize_u64(to, s->cpu);
	serialize_u64(to, s->offset);
}

/* Load a sharer. If the process of the sharer no longer exists, the entry stays free. */
static void sharer_load(struct deserializer *from, const struct attribute_translation *t,
			struct line_sharer *ret)
{
	struct line_sharer s = { .samples = (u32)deserialize_u64_below(from, 1ULL << 32) };

	*ret = (struct line_sharer){ 0 };
	if (!s.samples)
		return;
	s.stores = (u32)deserialize_u64_below(from, (u64)s.samples + 1);
	s.place = deserialize_u64(from);
	if (profile_owner_load(from, t, &s.owner)) {
		s.cpu = (u16)deserialize_u64_below(from, 1U << 16);
		s.offset = (u8)deserialize_u64_below(from, LINE_SIZE_MAX);
		*ret = s;
		return;
	}
	deserialize_u64_below(from, 1U << 16);
	deserialize_u64_below(from, LINE_SIZE_MAX);
}

static void line_save(const struct hot_line *l, struct serializer *to)
{
	u64 thread[LINE_OFFSETS];

	serialize_u64(to, l->head.key[0]);
	line_owner_save(l->head.key[1], to);
	serialize_u64(to, l->head.weight);
	serialize_u64(to, l->samples);
	serialize_u64(to, l->stores);
	serialize_u64(to, l->snooped);
	serialize_u64(to, l->latency_sum);
	serialize_u64(to, l->turns);
	serialize_u64(to, l->clashes);
	serialize_u64(to, l->stored);
	serialize_array(to, l->cpus, ARRAY_SIZE(l->cpus));
	serialize_u64(to, l->last);
	for (unsigned int i = 0; i < LINE_OFFSETS; i++)
		thread[i] = l->thread[i];
	serialize_array(to, thread, LINE_OFFSETS);
	for (unsigned int i = 0; i < LINE_SHARERS; i++)
		sharer_save(&l->sharer[i], to);
}

/*
 * Load a line, and add it if @add is true. Reject a line with 0 samples, because views divide by
 * that number. Reject a line in which the count of a kind of samples exceeds the number of samples.
 */
static void line_load(struct profile *p, struct deserializer *from,
		      const struct attribute_translation *t, bool add)
{
	struct hot_line l = { .head.key[0] = deserialize_u64(from) }, *entry;
	u64 thread[LINE_OFFSETS];
	bool owned = line_owner_load(from, t, &l.head.key[1]);

	l.head.weight = deserialize_u64_below(from, WEIGHT_END);
	l.samples = deserialize_u64_below(from, WEIGHT_END);
	l.stores = deserialize_u64_below(from, l.samples + 1);
	l.snooped = deserialize_u64_below(from, l.samples + 1);
	l.latency_sum = deserialize_u64_below(from, WEIGHT_END);
	l.turns = deserialize_u64_below(from, l.samples + 1);
	l.clashes = deserialize_u64_below(from, l.samples + 1);
	l.stored = deserialize_u64(from);
	deserialize_array(from, l.cpus, ARRAY_SIZE(l.cpus));
	l.last = (u16)deserialize_u64_below(from, 1U << 16);
	deserialize_array(from, thread, LINE_OFFSETS);
	for (unsigned int i = 0; i < LINE_OFFSETS; i++) {
		from->bad |= thread[i] > UINT16_MAX;
		l.thread[i] = (u16)thread[i];
	}
	for (unsigned int i = 0; i < LINE_SHARERS; i++)
		sharer_load(from, t, &l.sharer[i]);
	from->bad |= !l.samples || !l.head.weight;
	if (from->bad || !owned || !add)
		return;
	entry = (struct hot_line *)topk_add(&p->shared_data->lines.table, l.head.key[0],
					    l.head.key[1], 1);
	/*
	 * In a smaller table, the entry may replace another entry. It then inherits the weight of
	 * that entry.
	 */
	l.head.weight += entry->head.weight - 1;
	/* The line was raised before the checkpoint, or will be raised after further samples. */
	if (line_classify_sharing(&l) == LINE_FALSE)
		l.false_samples =
			(u8)(l.samples < LINE_RAISE_SAMPLES ? l.samples : LINE_RAISE_SAMPLES);
	*entry = l;
}

static void page_save(const struct hot_page *g, struct serializer *to)
{
	serialize_u64(to, g->head.key[0]);
	serialize_u64(to, g->head.weight);
	serialize_u64(to, g->samples);
	serialize_u64(to, g->stores);
	serialize_u64(to, g->dram);
	serialize_u64(to, g->remote);
	serialize_u64(to, g->from_other_node);
	serialize_u64(to, g->latency_sum);
	profile_owner_save(g->owner, to);
	serialize_u64(to, g->place);
	serialize_u64(to, g->votes);
}

static void page_load(struct profile *p, struct deserializer *from,
		      const struct attribute_translation *t)
{
	struct hot_page g = { .head.key[0] = deserialize_u64(from) }, *entry;

	g.head.weight = deserialize_u64_below(from, WEIGHT_END);
	g.samples = deserialize_u64_below(from, WEIGHT_END);
	g.stores = deserialize_u64_below(from, g.samples + 1);
	g.dram = deserialize_u64_below(from, g.samples + 1);
	g.remote = deserialize_u64_below(from, g.samples + 1);
	g.from_other_node = deserialize_u64_below(from, g.samples + 1);
	g.latency_sum = deserialize_u64_below(from, WEIGHT_END);
	/*
	 * The saved candidate for the location that uses the page most counts only if its process
	 * still exists. Otherwise the next location that a sample shows becomes the candidate.
	 */
	if (profile_owner_load(from, t, &g.owner)) {
		g.place = deserialize_u64(from);
		g.votes = deserialize_u64_below(from, g.samples + 1);
	} else {
		deserialize_u64(from);
		deserialize_u64(from);
	}
	from->bad |= !g.samples || !g.head.weight || g.head.key[0] >> (64 - HOT_PAGE_SHIFT);
	if (from->bad)
		return;
	entry = (struct hot_page *)topk_add(&p->shared_data->pages.table, g.head.key[0], 0, 1);
	g.head.weight += entry->head.weight - 1;
	*entry = g;
}

static u32 topk_count_used(const struct topk_table *table)
{
	struct topk_entry *e = NULL;
	u32 count = 0;

	while ((e = topk_next(table, e)))
		count++;
	return count;
}

void profile_hot_memory_save(const struct profile *profile, struct serializer *to)
{
	struct topk_entry *e = NULL;

	serialize_u64(to, hot_lines_get_size(&profile->shared_data->lines));
	serialize_u64(to, profile->shared_data->lines.unsnooped_stores);
	serialize_u64(to, profile->shared_data->lines.table.evicted);
	serialize_u64(to, topk_count_used(&profile->shared_data->lines.table));
	while ((e = topk_next(&profile->shared_data->lines.table, e)))
		line_save((const struct hot_line *)e, to);
	serialize_u64(to, profile->shared_data->pages.table.evicted);
	serialize_u64(to, topk_count_used(&profile->shared_data->pages.table));
	while ((e = topk_next(&profile->shared_data->pages.table, e)))
		page_save((const struct hot_page *)e, to);
	serialize_array(to, (const u64 *)profile->shared_data->pages.traffic, TRAFFIC_WORDS);
}

void profile_hot_memory_load(struct profile *profile, struct deserializer *from,
			     const struct attribute_translation *translation)
{
	u32 line_size = (u32)deserialize_u64_below(from, LINE_SIZE_MAX + 1), count;
	u32 unsnooped_stores = (u32)deserialize_u64_below(from, 1ULL << 32);
	/* A line of another size cannot be converted: it may be a part of a line, or several lines. */
	bool same_size = line_size == hot_lines_get_size(&profile->shared_data->lines);
	u64 evicted = deserialize_u64(from);

	profile->shared_data->lines.unsnooped_stores = unsnooped_stores;
	count = (u32)deserialize_u64_below(from, 1U << 24);
	if (!same_size)
		evicted += count;
	while (count-- && !from->bad)
		line_load(profile, from, translation, same_size);
	profile->shared_data->lines.table.evicted += evicted;
	evicted = deserialize_u64(from);
	count = (u32)deserialize_u64_below(from, 1U << 24);
	while (count-- && !from->bad)
		page_load(profile, from, translation);
	profile->shared_data->pages.table.evicted += evicted;
	deserialize_array(from, (u64 *)profile->shared_data->pages.traffic, TRAFFIC_WORDS);
}
