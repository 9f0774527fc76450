// SPDX-License-Identifier: LGPL-2.1-or-later
/* Count samples for pprof. */
#include "pprof-internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Initial number of entries of a table without a limit. */
#define ENTRIES_INITIAL 4096

static u64 hash_mix(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

static bool entry_has_same_key(const struct pprof_entry *a, const struct pprof_entry *b)
{
	return a->pc == b->pc && a->process == b->process && a->generation == b->generation &&
	       a->container == b->container && a->level == b->level && a->node == b->node &&
	       a->kernel == b->kernel && a->unit == b->unit &&
	       a->container_generation == b->container_generation;
}

/*
 * Return the entry of @key, or the free entry for @key if there is none. The table has at least one
 * free entry.
 */
static struct pprof_entry *entry_find_slot(const struct pprof *p, const struct pprof_entry *key)
{
	u64 hash = hash_mix(key->pc ^ hash_mix((u64)key->process << 32 | key->generation) ^
			    hash_mix((u64)key->container << 32 | (u32)key->unit << 16 |
				     (u32)key->level << 8 | key->node));
	u32 i = (u32)hash % p->limits.entries;

	while (p->entries[i].used && !entry_has_same_key(&p->entries[i], key))
		i = (i + 1) % p->limits.entries;
	return &p->entries[i];
}

static bool entries_grow(struct pprof *p)
{
	struct pprof_entry *old = p->entries;
	u32 count = p->limits.entries;

	if (count > UINT32_MAX / 2)
		return false;
	p->entries = calloc(2 * (size_t)count, sizeof(*p->entries));
	if (!p->entries) {
		p->entries = old;
		return false;
	}
	p->limits.entries = 2 * count;
	for (u32 i = 0; i < count; i++)
		if (old[i].used)
			*entry_find_slot(p, &old[i]) = old[i];
	free(old);
	return true;
}

/* Return the entry of @key; add it if it is missing. Return NULL if the table is full. */
static struct pprof_entry *entry_get_or_add(struct pprof *p, const struct pprof_entry *key)
{
	struct pprof_entry *e = entry_find_slot(p, key);

	if (e->used)
		return e;
	/* Use at most 7/8 of the table, so that searches stay short. */
	if (p->count >= p->limits.entries / 8 * 7) {
		if (!p->grows || !entries_grow(p))
			return NULL;
		e = entry_find_slot(p, key);
	}
	p->count++;
	*e = *key;
	e->used = true;
	return e;
}

static void entry_add_value(struct pprof_entry *e, enum pprof_value what, u64 amount, u64 interval)
{
	e->value[what] += amount;
	e->weighted[what] += amount * interval;
}

/* Count the levels of cache that the access missed, as far as @level shows it. */
static void entry_add_misses(struct pprof_entry *e, u8 level, u64 interval)
{
	bool l1 = level != SPE_LEVEL_L1 && level != SPE_LEVEL_UNKNOWN;
	bool l2 = l1 && level != SPE_LEVEL_L2 && level != SPE_LEVEL_RECENT &&
		  level != SPE_LEVEL_BEYOND_L1;

	entry_add_value(e, PPROF_L1_MISSES, l1, interval);
	entry_add_value(e, PPROF_L2_MISSES, l2, interval);
	entry_add_value(e, PPROF_LLC_MISSES,
			spe_level_is_dram(level) || level == SPE_LEVEL_REMOTE_CACHE, interval);
}

static void count_sample(void *ctx, const struct profile_sample *shown)
{
	const struct attribute_process *process;
	const struct attribute_container *container = NULL;
	const struct spe_sample *s = shown->sample;
	const u64 interval = shown->window->interval;
	struct pprof *p = ctx;
	struct pprof_entry *e, key = {
		.pc = spe_address_va(s->address[SPE_ADDRESS_PC]),
		.kernel = spe_address_el(s->address[SPE_ADDRESS_PC]) != 0,
		.process = shown->process,
		.generation = shown->generation,
		.container = ATTRIBUTE_NONE,
		.level = shown->memory ? shown->origin.level : SPE_LEVELS,
		.node = shown->window->cpu < sizeof(p->node) ? p->node[shown->window->cpu] :
							       PPROF_NO_NODE,
		.unit = shown->window->unit % UNITS,
	};

	process = attributor_get_process(p->attributor, shown->process);
	if (process) {
		key.container = process->container;
		container = attributor_get_container(p->attributor, process->container);
	}
	if (container)
		key.container_generation = container->generation;
	e = entry_get_or_add(p, &key);
	if (!e)
		e = &p->others[key.unit];
	entry_add_value(e, PPROF_SAMPLES, 1, interval);
	entry_add_value(e, PPROF_TOTAL, s->counter[SPE_COUNTER_TOTAL], interval);
	entry_add_value(e, PPROF_ISSUE, s->counter[SPE_COUNTER_ISSUE], interval);
	entry_add_value(e, PPROF_TRANSLATION, s->counter[SPE_COUNTER_TRANSLATION], interval);
	if (shown->memory)
		entry_add_misses(e, shown->origin.level, interval);
	p->no_interval |= !interval;
}

/* Read the NUMA node of a CPU: the directory /sys/devices/system/cpu/cpuN has a link nodeM. */
static void read_node(struct pprof *p, unsigned int cpu)
{
	struct dirent *entry;
	unsigned int node;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		if (sscanf(entry->d_name, "node%u", &node) == 1 && node < PPROF_NO_NODE)
			p->node[cpu] = (u8)node;
	if (folder)
		closedir(folder);
}

static void read_nodes(struct pprof *p)
{
	DIR *folder = opendir("/sys/devices/system/cpu");
	struct dirent *entry;
	unsigned int cpu;
	int end;

	while (folder && (entry = readdir(folder))) {
		end = 0;
		if (sscanf(entry->d_name, "cpu%u%n", &cpu, &end) == 1 && !entry->d_name[end] &&
		    cpu < sizeof(p->node))
			read_node(p, cpu);
	}
	if (folder)
		closedir(folder);
}

int pprof_new(struct profile *profile, struct attributor *attributor, bool live,
	      const struct pprof_limits *limits, struct pprof **ret_pprof)
{
	struct pprof *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->limits = limits ? *limits : (struct pprof_limits){ .entries = ENTRIES_INITIAL };
	p->grows = !limits;
	p->entries = calloc(p->limits.entries, sizeof(*p->entries));
	if (!p->entries) {
		free(p);
		return -ENOMEM;
	}
	p->attributor = attributor;
	p->live = live;
	for (unsigned int unit = 0; unit < UNITS; unit++)
		p->others[unit] = (struct pprof_entry){
			.process = ATTRIBUTE_NONE,
			.container = ATTRIBUTE_NONE,
			.level = SPE_LEVELS,
			.node = PPROF_NO_NODE,
			.unit = (u8)unit,
		};
	memset(p->node, PPROF_NO_NODE, sizeof(p->node));
	if (live)
		read_nodes(p);
	p->observer = (struct profile_observer){ .sample = count_sample, .ctx = p };
	profile_add_observer(profile, &p->observer);
	*ret_pprof = p;
	return 0;
}

struct pprof *pprof_free(struct pprof *pprof)
{
	if (pprof) {
		profile_remove_observer(&pprof->observer);
		free(pprof->entries);
		free(pprof);
	}
	return NULL;
}

static void entry_add_values(struct pprof_entry *to, const struct pprof_entry *from)
{
	for (unsigned int i = 0; i < PPROF_VALUES; i++) {
		to->value[i] += from->value[i];
		to->weighted[i] += from->weighted[i];
	}
}

int pprof_merge(struct pprof *to, const struct pprof *from)
{
	for (u32 i = 0; i < from->limits.entries; i++) {
		struct pprof_entry key = from->entries[i], *e;

		if (!key.used)
			continue;
		memset(key.value, 0, sizeof(key.value));
		memset(key.weighted, 0, sizeof(key.weighted));
		e = entry_get_or_add(to, &key);
		if (!e)
			return -ENOMEM;
		entry_add_values(e, &from->entries[i]);
	}
	for (unsigned int unit = 0; unit < UNITS; unit++)
		entry_add_values(&to->others[unit], &from->others[unit]);
	to->no_interval |= from->no_interval;
	return 0;
}

/* Compare two lists of numbers, the most significant number first. */
static int numbers_compare(const u64 *x, const u64 *y, size_t count)
{
	size_t i = 0;

	while (i + 1 < count && x[i] == y[i])
		i++;
	return (x[i] > y[i]) - (x[i] < y[i]);
}

static int entry_compare(const void *a, const void *b)
{
	const struct pprof_entry *x = a, *y = b;
	const u64 left[] = { !x->used, x->process, x->generation, x->kernel,   x->pc,
			     x->level, x->node,	   x->unit,	  x->container };
	const u64 right[] = { !y->used, y->process, y->generation, y->kernel,	y->pc,
			      y->level, y->node,    y->unit,	   y->container };

	return numbers_compare(left, right, ARRAY_SIZE(left));
}

void pprof_sort_entries(struct pprof *pprof)
{
	if (pprof->grows)
		qsort(pprof->entries, pprof->limits.entries, sizeof(*pprof->entries),
		      entry_compare);
}

u64 pprof_count_samples(const struct pprof *pprof, u64 *ret_others)
{
	u64 sum = 0;

	for (unsigned int unit = 0; unit < UNITS; unit++)
		sum += pprof->others[unit].value[PPROF_SAMPLES];
	*ret_others = sum;
	for (u32 i = 0; i < pprof->limits.entries; i++)
		sum += pprof->entries[i].value[PPROF_SAMPLES];
	return sum;
}
