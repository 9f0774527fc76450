// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cache-lines.h"

/*
 * Weight that a snooped sample adds to the entry of its line. Other samples add 1, because only one
 * core may use the line.
 */
#define SNOOPED_WEIGHT 16

/*
 * A line counts as truly shared if at least one in TURNS_PER_CLASH turns was a clash. A few clashes
 * do not prove sharing: when a program starts, one thread may initialize memory that other threads
 * use later.
 */
#define TURNS_PER_CLASH 4

int hot_lines_init(struct hot_lines *lines, u32 capacity)
{
	lines->unsnooped_stores = 0;
	return topk_init(&lines->table, sizeof(struct hot_line), capacity);
}

void hot_lines_deinit(struct hot_lines *lines)
{
	topk_deinit(&lines->table);
}

void hot_lines_clear(struct hot_lines *lines)
{
	topk_clear(&lines->table);
}

static u16 thread_hash(u64 thread)
{
	return (u16)(thread * 0x9e3779b97f4a7c15ULL >> 48) | 1;
}

static void sharer_add(struct hot_line *line, const struct line_sample *s)
{
	struct line_sharer *slot = NULL;

	for (unsigned int i = 0; i < LINE_SHARERS; i++) {
		struct line_sharer *other = &line->sharer[i];

		if (other->samples && other->place == s->place && other->owner == s->pc_owner &&
		    other->cpu == s->cpu) {
			slot = other;
			break;
		}
		if (!slot || other->samples < slot->samples)
			slot = other;
	}
	if (slot->place != s->place || slot->owner != s->pc_owner || slot->cpu != s->cpu)
		slot->stores = 0;
	/*
	 * A new sharer inherits the number of samples of the sharer that it replaces, as in struct
	 * topk_table.
	 */
	slot->place = s->place;
	slot->owner = s->pc_owner;
	slot->cpu = (u16)s->cpu;
	slot->offset = s->address % LINE_SIZE;
	slot->samples += slot->samples < UINT32_MAX;
	slot->stores += s->store && slot->stores < slot->samples;
}

enum line_sharing hot_lines_add(struct hot_lines *lines, const struct line_sample *s)
{
	u64 address = s->address / LINE_SIZE, bit = 1ULL << s->address % LINE_SIZE;
	unsigned int offset = s->address % LINE_SIZE;
	u16 tag = thread_hash(s->thread);
	struct hot_line *line;

	line = (struct hot_line *)topk_add(&lines->table, address, s->owner,
					   s->snooped ? SNOOPED_WEIGHT : 1);
	line->samples++;
	line->stores += s->store;
	line->snooped += s->snooped;
	line->latency_sum += s->latency;
	line->turns += line->last && line->last != tag;
	if (s->store)
		line->stored |= bit;
	line->clashes += line->thread[offset] && line->thread[offset] != tag && line->stored & bit;
	line->thread[offset] = tag;
	line->last = tag;
	line->cpus[s->cpu % LINE_CPUS / 64] |= 1ULL << s->cpu % 64;
	sharer_add(line, s);
	return line_classify_sharing(line);
}

unsigned int line_count_cpus(const struct hot_line *line)
{
	unsigned int cpus = 0;

	for (size_t i = 0; i < ARRAY_SIZE(line->cpus); i++)
		cpus += (unsigned int)__builtin_popcountll(line->cpus[i]);
	return cpus;
}

enum line_sharing line_classify_sharing(const struct hot_line *line)
{
	if (!line->turns || line_count_cpus(line) < 2)
		return LINE_PRIVATE;
	if (!line->stores)
		return LINE_READ;
	return line->clashes * TURNS_PER_CLASH >= line->turns ? LINE_TRUE : LINE_FALSE;
}

const char *line_sharing_name(enum line_sharing sharing)
{
	static const char *const names[LINE_SHARINGS] = {
		[LINE_PRIVATE] = "private",
		[LINE_READ] = "read",
		[LINE_FALSE] = "false",
		[LINE_TRUE] = "true",
	};

	return names[sharing];
}
