// SPDX-License-Identifier: LGPL-2.1-or-later
#include "details.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const origins[SAMPLE_ORIGINS] = { "remote", "snooped", "peer", "modified",
						     "by_source" };

static const char *get_kind_name(u32 kind)
{
	const char *name = sample_kind_name(kind);

	return name ? name : "none";
}

/** struct details_writer - a JSON object that is being written */
struct details_writer {
	char *to;
	size_t size;
	size_t used;
};

static void details_put(struct details_writer *d, const char *kind, const char *name, u64 value)
{
	if (!value || d->used >= d->size - 2)
		return;
	d->used += (size_t)snprintf(d->to + d->used, d->size - d->used, "%c\"%s%s\":%" PRIu64,
				    d->used ? ',' : '{', kind, name, value);
}

static void put_number(struct details_writer *d, const char *kind, u32 number, u64 value)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", number);
	details_put(d, kind, name, value);
}

void details_write(const struct profile_counters *f, char *to)
{
	struct details_writer d = { .to = to, .size = DETAILS_SIZE };

	for (u32 i = 0; i < SPE_KINDS; i++)
		details_put(&d, "op.", get_kind_name(i), f->counts.kind[i]);
	details_put(&d, "", "simd", f->counts.simd);
	details_put(&d, "", "mispredicted", f->counts.mispredicted);
	details_put(&d, "", "latency_sum", f->latency[PROFILE_TOTAL].sum);
	details_put(&d, "", "issue_sum", f->latency[PROFILE_ISSUE].sum);
	details_put(&d, "", "translation_sum", f->latency[PROFILE_TRANSLATION].sum);
	for (u32 i = 0; i < SAMPLE_EVENTS; i++)
		put_number(&d, "event.", i, f->counts.event[i]);
	for (u32 i = 0; i < SPE_LEVELS; i++)
		details_put(&d, "level.", spe_level_name(i), f->counts.level[i]);
	for (u32 i = 0; i < SAMPLE_ORIGINS; i++)
		details_put(&d, "origin.", origins[i], f->counts.origin[i]);
	for (u32 i = 0; i < HISTOGRAM_BUCKETS; i++)
		put_number(&d, "latency.", histogram_get_upper_bound(i),
			   f->latency[PROFILE_TOTAL].bucket[i]);
	strcpy(to + d.used, d.used ? "}" : "{}");
}

void details_write_latencies(const u64 bucket[static HISTOGRAM_BUCKETS], char *to)
{
	struct details_writer d = { .to = to, .size = DETAILS_LATENCIES_SIZE };

	for (u32 i = 0; i < HISTOGRAM_BUCKETS; i++)
		put_number(&d, "", histogram_get_upper_bound(i), bucket[i]);
	strcpy(to + d.used, d.used ? "}" : "{}");
}

/* Return the rest of @key after the prefix @kind; NULL if @key does not begin with @kind. */
static const char *key_skip_prefix(const char *key, const char *kind)
{
	return strncmp(key, kind, strlen(kind)) == 0 ? key + strlen(kind) : NULL;
}

static u32 parse_number_below(const char *text, u32 limit)
{
	unsigned long n = strtoul(text, NULL, 10);

	return n < limit ? (u32)n : limit;
}

static void add_latency(const char *key, u64 value, struct histogram *to)
{
	u32 upper = parse_number_below(key, UINT16_MAX);
	unsigned int bucket = histogram_get_bucket((u16)upper);

	to->bucket[bucket] += value;
	if (histogram_get_upper_bound(bucket) > to->max)
		to->max = histogram_get_upper_bound(bucket);
}

/* Add @value to the counter of @key, which has the form KIND.NAME. */
static void add_prefixed_value(const char *key, u64 value, struct profile_counters *to)
{
	const char *name;
	u32 n;

	for (u32 i = 0; (name = key_skip_prefix(key, "op.")) && i < SPE_KINDS; i++)
		to->counts.kind[i] += strcmp(name, get_kind_name(i)) ? 0 : value;
	for (u32 i = 0; (name = key_skip_prefix(key, "level.")) && i < SPE_LEVELS; i++)
		to->counts.level[i] += strcmp(name, spe_level_name(i)) ? 0 : value;
	for (u32 i = 0; (name = key_skip_prefix(key, "origin.")) && i < SAMPLE_ORIGINS; i++)
		to->counts.origin[i] += strcmp(name, origins[i]) ? 0 : value;
	name = key_skip_prefix(key, "event.");
	n = name ? parse_number_below(name, SAMPLE_EVENTS) : SAMPLE_EVENTS;
	if (n < SAMPLE_EVENTS)
		to->counts.event[n] += value;
	name = key_skip_prefix(key, "latency.");
	if (name)
		add_latency(name, value, &to->latency[PROFILE_TOTAL]);
}

static void add_value(const char *key, u64 value, struct profile_counters *to)
{
	if (!strcmp(key, "simd"))
		to->counts.simd += value;
	else if (!strcmp(key, "mispredicted"))
		to->counts.mispredicted += value;
	else if (!strcmp(key, "latency_sum"))
		to->latency[PROFILE_TOTAL].sum += value;
	else if (!strcmp(key, "issue_sum"))
		to->latency[PROFILE_ISSUE].sum += value;
	else if (!strcmp(key, "translation_sum"))
		to->latency[PROFILE_TRANSLATION].sum += value;
	else
		add_prefixed_value(key, value, to);
}

/*
 * Read a key and its value, which follow the brace or comma at *@text. Return false at the end of
 * the object.
 */
static bool read_entry(const char **text, char key[static 48], u64 *ret_value)
{
	int n = 0;

	if (**text != '{' && **text != ',')
		return false;
	if (sscanf(*text + 1, "\"%47[a-z0-9_.]\":%" SCNu64 "%n", key, ret_value, &n) != 2 || !n)
		return false;
	*text += 1 + n;
	return true;
}

void details_add(const char *text, struct profile_counters *to)
{
	char key[48];
	u64 value;

	while (read_entry(&text, key, &value))
		add_value(key, value, to);
}

void details_add_latencies(const char *text, struct histogram *to)
{
	char key[48];
	u64 value;

	while (read_entry(&text, key, &value)) {
		add_latency(key, value, to);
		to->count += value;
	}
}
