// SPDX-License-Identifier: LGPL-2.1-or-later
/* Hot lines, hot pages and the traffic between nodes, kept over a restart. */
#include "profile-internal.h"

/* So that weights, which add up, never run over. */
#define WEIGHT_END (1ULL << 60)

#define TRAFFIC_WORDS \
	((NODES_MAX + 1) * (NODES_MAX + 1) * (sizeof(struct node_traffic) / sizeof(u64)))
static_assert(sizeof(struct node_traffic) == 3 * sizeof(u64), "they are words");

enum line_owner { OWNER_PHYSICAL, OWNER_KERNEL, OWNER_PROCESS, OWNERS };

static void line_owner_save(u64 owner, struct blob_writer *to)
{
	if (owner == LINE_PHYSICAL || owner == LINE_KERNEL) {
		blob_put(to, owner == LINE_PHYSICAL ? OWNER_PHYSICAL : OWNER_KERNEL);
		return;
	}
	blob_put(to, OWNER_PROCESS);
	profile_owner_save(owner, to);
}

static bool line_owner_load(struct blob_reader *from, const struct attribute_translation *t,
			    u64 *ret_owner)
{
	enum line_owner kind = blob_get_below(from, OWNERS);

	if (kind == OWNER_PROCESS)
		return profile_owner_load(from, t, ret_owner);
	*ret_owner = kind == OWNER_PHYSICAL ? LINE_PHYSICAL : LINE_KERNEL;
	return true;
}

static void sharer_save(const struct line_sharer *s, struct blob_writer *to)
{
	blob_put(to, s->samples);
	if (!s->samples)
		return;
	blob_put(to, s->stores);
	blob_put(to, s->place);
	profile_owner_save(s->owner, to);
	blob_put(to, s->cpu);
	blob_put(to, s->offset);
}

/* One whose process is gone leaves its place free. */
static void sharer_load(struct blob_reader *from, const struct attribute_translation *t,
			struct line_sharer *ret)
{
	struct line_sharer s = { .samples = (u32)blob_get_below(from, 1ULL << 32) };

	*ret = (struct line_sharer){ 0 };
	if (!s.samples)
		return;
	s.stores = (u32)blob_get_below(from, (u64)s.samples + 1);
	s.place = blob_get(from);
	if (profile_owner_load(from, t, &s.owner)) {
		s.cpu = (u16)blob_get_below(from, 1U << 16);
		s.offset = (u8)blob_get_below(from, LINE_SIZE);
		*ret = s;
		return;
	}
	blob_get_below(from, 1U << 16);
	blob_get_below(from, LINE_SIZE);
}

static void line_save(const struct hot_line *l, struct blob_writer *to)
{
	u64 thread[LINE_SIZE];

	blob_put(to, l->head.key[0]);
	line_owner_save(l->head.key[1], to);
	blob_put(to, l->head.weight);
	blob_put(to, l->samples);
	blob_put(to, l->stores);
	blob_put(to, l->snooped);
	blob_put(to, l->latency_sum);
	blob_put(to, l->turns);
	blob_put(to, l->clashes);
	blob_put(to, l->stored);
	blob_put_array(to, l->cpus, ARRAY_SIZE(l->cpus));
	blob_put(to, l->last);
	for (unsigned int i = 0; i < LINE_SIZE; i++)
		thread[i] = l->thread[i];
	blob_put_array(to, thread, LINE_SIZE);
	for (unsigned int i = 0; i < LINE_SHARERS; i++)
		sharer_save(&l->sharer[i], to);
}

/* What is shown is divided by samples, and parts are no more than the whole. */
static void line_load(struct profile *p, struct blob_reader *from,
		      const struct attribute_translation *t)
{
	struct hot_line l = { .head.key[0] = blob_get(from) }, *entry;
	u64 thread[LINE_SIZE];
	bool owned = line_owner_load(from, t, &l.head.key[1]);

	l.head.weight = blob_get_below(from, WEIGHT_END);
	l.samples = blob_get_below(from, WEIGHT_END);
	l.stores = blob_get_below(from, l.samples + 1);
	l.snooped = blob_get_below(from, l.samples + 1);
	l.latency_sum = blob_get_below(from, WEIGHT_END);
	l.turns = blob_get_below(from, l.samples + 1);
	l.clashes = blob_get_below(from, l.samples + 1);
	l.stored = blob_get(from);
	blob_get_array(from, l.cpus, ARRAY_SIZE(l.cpus));
	l.last = (u16)blob_get_below(from, 1U << 16);
	blob_get_array(from, thread, LINE_SIZE);
	for (unsigned int i = 0; i < LINE_SIZE; i++) {
		from->bad |= thread[i] > UINT16_MAX;
		l.thread[i] = (u16)thread[i];
	}
	for (unsigned int i = 0; i < LINE_SHARERS; i++)
		sharer_load(from, t, &l.sharer[i]);
	from->bad |= !l.samples || !l.head.weight;
	if (from->bad || !owned)
		return;
	entry = (struct hot_line *)heavy_add(&p->commons->lines.table, l.head.key[0], l.head.key[1], 1);
	/* In a smaller table it has the weight of what it replaces, too. */
	l.head.weight += entry->head.weight - 1;
	*entry = l;
}

static void page_save(const struct hot_page *g, struct blob_writer *to)
{
	blob_put(to, g->head.key[0]);
	blob_put(to, g->head.weight);
	blob_put(to, g->samples);
	blob_put(to, g->stores);
	blob_put(to, g->dram);
	blob_put(to, g->remote);
	blob_put(to, g->away);
	blob_put(to, g->latency_sum);
	profile_owner_save(g->owner, to);
	blob_put(to, g->place);
	blob_put(to, g->votes);
}

static void page_load(struct profile *p, struct blob_reader *from,
		      const struct attribute_translation *t)
{
	struct hot_page g = { .head.key[0] = blob_get(from) }, *entry;

	g.head.weight = blob_get_below(from, WEIGHT_END);
	g.samples = blob_get_below(from, WEIGHT_END);
	g.stores = blob_get_below(from, g.samples + 1);
	g.dram = blob_get_below(from, g.samples + 1);
	g.remote = blob_get_below(from, g.samples + 1);
	g.away = blob_get_below(from, g.samples + 1);
	g.latency_sum = blob_get_below(from, WEIGHT_END);
	/* Whose process is gone has no vote: somebody else uses it most from now on. */
	if (profile_owner_load(from, t, &g.owner)) {
		g.place = blob_get(from);
		g.votes = blob_get_below(from, g.samples + 1);
	} else {
		blob_get(from);
		blob_get(from);
	}
	from->bad |= !g.samples || !g.head.weight || g.head.key[0] >> (64 - PAGE_SHIFT);
	if (from->bad)
		return;
	entry = (struct hot_page *)heavy_add(&p->commons->pages.table, g.head.key[0], 0, 1);
	g.head.weight += entry->head.weight - 1;
	*entry = g;
}

static u32 used(const struct heavy_table *table)
{
	struct heavy *e = NULL;
	u32 count = 0;

	while ((e = heavy_next(table, e)))
		count++;
	return count;
}

void profile_hot_save(const struct profile *profile, struct blob_writer *to)
{
	struct heavy *e = NULL;

	blob_put(to, profile->commons->lines.knocks);
	blob_put(to, profile->commons->lines.table.evicted);
	blob_put(to, used(&profile->commons->lines.table));
	while ((e = heavy_next(&profile->commons->lines.table, e)))
		line_save((const struct hot_line *)e, to);
	blob_put(to, profile->commons->pages.table.evicted);
	blob_put(to, used(&profile->commons->pages.table));
	while ((e = heavy_next(&profile->commons->pages.table, e)))
		page_save((const struct hot_page *)e, to);
	blob_put_array(to, (const u64 *)profile->commons->pages.traffic, TRAFFIC_WORDS);
}

void profile_hot_load(struct profile *profile, struct blob_reader *from,
		      const struct attribute_translation *translation)
{
	u32 knocks = (u32)blob_get_below(from, 1ULL << 32), count;
	u64 evicted = blob_get(from);

	profile->commons->lines.knocks = knocks;
	count = (u32)blob_get_below(from, 1U << 24);
	while (count-- && !from->bad)
		line_load(profile, from, translation);
	profile->commons->lines.table.evicted += evicted;
	evicted = blob_get(from);
	count = (u32)blob_get_below(from, 1U << 24);
	while (count-- && !from->bad)
		page_load(profile, from, translation);
	profile->commons->pages.table.evicted += evicted;
	blob_get_array(from, (u64 *)profile->commons->pages.traffic, TRAFFIC_WORDS);
}
