// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cache-lines.h"

#include <limits.h>
#include <stdio.h>

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
	lines->raised_count = 0;
	hot_lines_set_size(lines, LINE_SIZE_MIN);
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

void hot_lines_set_size(struct hot_lines *lines, u32 bytes)
{
	if (bytes >= LINE_SIZE_MIN && bytes <= LINE_SIZE_MAX && !(bytes & (bytes - 1)))
		lines->size_order = (u8)__builtin_ctz(bytes);
}

/*
 * Number of CPUs, from CPU 0 on, that are searched for caches. An offline CPU has no caches in
 * sysfs, and at least one of so many CPUs is usually online.
 */
#define CACHE_CPUS 8
/* Maximum number of caches of a CPU: two of level 1, then one of each level. */
#define CACHE_INDEXES 8

/* Return the line size of cache @index of a CPU; 0 if there is no such cache. */
static u32 cache_read_line_size(const char *sys, u32 cpu, u32 index)
{
	char path[PATH_MAX];
	unsigned int size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/cache/index%u/coherency_line_size",
		 sys, cpu, index);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%u", &size) != 1)
		size = 0;
	fclose(f);
	return size;
}

u32 hot_lines_read_size(const char *sys)
{
	u32 largest = 0;

	for (u32 cpu = 0; cpu < CACHE_CPUS && !largest; cpu++) {
		for (u32 index = 0; index < CACHE_INDEXES; index++) {
			u32 size = cache_read_line_size(sys, cpu, index);

			largest = size > largest ? size : largest;
		}
	}
	return largest;
}

static u16 thread_hash(u64 thread)
{
	return (u16)(thread * 0x9e3779b97f4a7c15ULL >> 48) | 1;
}

static void sharer_add(struct hot_line *line, const struct line_sample *s, u8 offset)
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
	slot->offset = offset;
	slot->samples += slot->samples < UINT32_MAX;
	slot->stores += s->store && slot->stores < slot->samples;
}

/* Count a sample with false sharing, and raise the line when it has enough of them. */
static void line_count_false(struct hot_lines *lines, struct hot_line *line)
{
	if (line->false_samples == LINE_RAISE_SAMPLES)
		return;
	if (++line->false_samples == LINE_RAISE_SAMPLES)
		lines->raised[lines->raised_count++ % LINES_RAISED] = (struct line_key){
			.address = line->head.key[0],
			.owner = line->head.key[1],
		};
}

enum line_sharing hot_lines_add(struct hot_lines *lines, const struct line_sample *s)
{
	u64 address = s->address >> lines->size_order;
	u8 byte = (u8)(s->address & (hot_lines_get_size(lines) - 1));
	unsigned int offset = byte * LINE_OFFSETS >> lines->size_order;
	u64 bit = 1ULL << offset;
	u16 tag = thread_hash(s->thread);
	enum line_sharing sharing;
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
	sharer_add(line, s, byte);
	sharing = line_classify_sharing(line);
	if (sharing == LINE_FALSE)
		line_count_false(lines, line);
	return sharing;
}

bool hot_lines_get_raised(const struct hot_lines *lines, u64 *seen, u64 *missed,
			  struct line_key *ret_key)
{
	if (*seen == lines->raised_count)
		return false;
	if (lines->raised_count - *seen > LINES_RAISED) {
		*missed += lines->raised_count - *seen - LINES_RAISED;
		*seen = lines->raised_count - LINES_RAISED;
	}
	*ret_key = lines->raised[(*seen)++ % LINES_RAISED];
	return true;
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
