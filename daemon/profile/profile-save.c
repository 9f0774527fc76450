// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile-save.h"

#include "profile-internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* Members of the header that counting a window increases. Views compute the other members. */
static const size_t ledgers[] = {
	offsetof(struct view_header, records),	      offsetof(struct view_header, bytes),
	offsetof(struct view_header, decoded),	      offsetof(struct view_header, padding),
	offsetof(struct view_header, suspect),	      offsetof(struct view_header, lost),
	offsetof(struct view_header, written),	      offsetof(struct view_header, filtered),
	offsetof(struct view_header, evicted),	      offsetof(struct view_header, enabled_ns),
	offsetof(struct view_header, unweighed),      offsetof(struct view_header, evicted_weight),
	offsetof(struct view_header, truncated),      offsetof(struct view_header, gaps),
	offsetof(struct view_header, unhandled_ns),
};

static u64 *header_get_ledger(struct view_header *header, size_t i)
{
	return (u64 *)((char *)header + ledgers[i]);
}

static void counters_save(const struct profile_counters *counters, struct serializer *to)
{
	serialize_u64(to, counters->samples);
	serialize_array(to, counters->weight, ARRAY_SIZE(counters->weight));
	serialize_array(to, (const u64 *)&counters->counts, SAMPLE_COUNTS);
	for (size_t i = 0; i < ARRAY_SIZE(counters->latency); i++) {
		const struct histogram *h = &counters->latency[i];

		serialize_u64(to, h->sum);
		serialize_u64(to, h->max);
		serialize_array(to, h->bucket, ARRAY_SIZE(h->bucket));
	}
}

/*
 * Load counters. The total of a histogram is not saved: profile_flush() computes it from the
 * buckets.
 */
static void counters_load(struct deserializer *from, struct profile_counters *ret)
{
	*ret = (struct profile_counters){ .samples = deserialize_u64(from) };
	deserialize_array(from, ret->weight, ARRAY_SIZE(ret->weight));
	deserialize_array(from, (u64 *)&ret->counts, SAMPLE_COUNTS);
	for (size_t i = 0; i < ARRAY_SIZE(ret->latency); i++) {
		struct histogram *h = &ret->latency[i];

		h->sum = deserialize_u64(from);
		h->max = (u32)deserialize_u64_below(from, 1ULL << 32);
		deserialize_array(from, h->bucket, ARRAY_SIZE(h->bucket));
	}
}

static void contexts_save(const struct profile *p, struct serializer *to)
{
	for (unsigned int i = 0; i < PROFILE_CONTEXTS; i++) {
		u32 used = 0;

		for (u32 k = 0; k < p->context_size[i]; k++)
			used += p->contexts[i][k].count != 0;
		serialize_u64(to, used);
		for (u32 k = 0; k < p->context_size[i]; k++) {
			if (!p->contexts[i][k].count)
				continue;
			serialize_u64(to, p->contexts[i][k].value);
			serialize_u64(to, p->contexts[i][k].count);
		}
	}
	serialize_u64(to, p->context_overflow);
}

static void contexts_load(struct profile *p, struct deserializer *from)
{
	for (unsigned int i = 0; i < PROFILE_CONTEXTS; i++) {
		u32 used = (u32)deserialize_u64_below(from, 1ULL << 32);

		while (used-- && !from->bad) {
			u32 value = (u32)deserialize_u64_below(from, 1ULL << 32);
			u64 count = deserialize_u64(from);

			if (count)
				profile_count_context(p, i, value, count);
		}
	}
	p->context_overflow += deserialize_u64(from);
}

static void machine_save(struct profile *p, struct serializer *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(ledgers); i++)
		serialize_u64(to, *header_get_ledger(&p->header, i));
	serialize_array(to, p->header.blind_by, SOURCE_BLINDS);
	serialize_u64(to, p->header.backend);
	serialize_array(to, p->kinds, ARRAY_SIZE(p->kinds));
	serialize_u64(to, p->simd);
	serialize_array(to, p->events, ARRAY_SIZE(p->events));
	serialize_array(to, p->sources, PROFILE_SOURCES);
	serialize_array(to, p->levels, ARRAY_SIZE(p->levels));
	serialize_array(to, p->origins, ARRAY_SIZE(p->origins));
	serialize_u64(to, p->false_sharing);
	contexts_save(p, to);
	counters_save(&p->unattributed, to);
	counters_save(&p->overflow, to);
}

static void machine_load(struct profile *p, struct deserializer *from)
{
	for (size_t i = 0; i < ARRAY_SIZE(ledgers); i++)
		*header_get_ledger(&p->header, i) = deserialize_u64(from);
	deserialize_array(from, p->header.blind_by, SOURCE_BLINDS);
	p->header.blind_ns = 0;
	for (unsigned int i = 0; i < SOURCE_BLINDS; i++)
		p->header.blind_ns += p->header.blind_by[i];
	p->header.backend = (u8)deserialize_u64_below(from, BACKEND_EMULATED + 1);
	deserialize_array(from, p->kinds, ARRAY_SIZE(p->kinds));
	p->simd = deserialize_u64(from);
	deserialize_array(from, p->events, ARRAY_SIZE(p->events));
	deserialize_array(from, p->sources, PROFILE_SOURCES);
	p->source_end = PROFILE_SOURCES;
	deserialize_array(from, p->levels, ARRAY_SIZE(p->levels));
	deserialize_array(from, p->origins, ARRAY_SIZE(p->origins));
	p->false_sharing = deserialize_u64(from);
	contexts_load(p, from);
	counters_load(from, &p->unattributed);
	counters_load(from, &p->overflow);
}

static bool tally_has_samples(const struct process_tally *entry)
{
	return tally_get_samples(entry) != 0;
}

static void tallies_save(const struct profile *p, struct serializer *to)
{
	static const struct profile_counters none;
	u32 count = 0;

	for (u32 i = 0; i < p->exited_count; i++)
		count += p->exited[i].sum != NULL;
	serialize_u64(to, count);
	for (u32 i = 0; i < p->exited_count; i++) {
		if (!p->exited[i].sum)
			continue;
		serialize_u64(to, i);
		serialize_u64(to, p->exited[i].generation);
		counters_save(p->exited[i].sum, to);
	}
	count = 0;
	for (u32 i = 0; i < p->process_count; i++)
		count += tally_has_samples(&p->processes[i]);
	serialize_u64(to, count);
	for (u32 i = 0; i < p->process_count; i++) {
		const struct process_tally *entry = &p->processes[i];

		if (!tally_has_samples(entry))
			continue;
		serialize_u64(to, i);
		serialize_u64(to, entry->generation);
		serialize_u64(to, entry->container);
		serialize_u64(to, entry->container_generation);
		counters_save(entry->sum ? entry->sum : &none, to);
		serialize_u64(to, entry->moved_from != NULL);
		if (entry->moved_from)
			counters_save(entry->moved_from, to);
	}
}

/* Return the container that counts the samples of a saved container, and its generation. */
static u32 container_index_load(struct profile *p, struct deserializer *from,
				const struct attribute_translation *t, u32 *ret_generation)
{
	u32 old = (u32)deserialize_u64_below(from, 1ULL << 32);
	u32 generation = (u32)deserialize_u64_below(from, 1ULL << 32);
	u32 index = attribute_remap_container(t, old, generation, ret_generation);

	if (index != ATTRIBUTE_NONE)
		return index;
	index = attributor_get_other_container(p->attributor);
	*ret_generation = attributor_get_container(p->attributor, index)->generation;
	return index;
}

static int exited_tallies_load(struct profile *p, struct deserializer *from,
			       const struct attribute_translation *t)
{
	u32 count = (u32)deserialize_u64_below(from, 1U << 20), index, generation;
	struct profile_counters sum;

	while (count-- && !from->bad) {
		index = container_index_load(p, from, t, &generation);
		counters_load(from, &sum);
		if (profile_restore_exited(p, index, generation, &sum) < 0)
			return -ENOMEM;
	}
	return from->bad ? -EBADMSG : 0;
}

static int process_tally_load(struct profile *p, struct deserializer *from,
			      const struct attribute_translation *t)
{
	u32 old = (u32)deserialize_u64_below(from, 1ULL << 32);
	u32 old_generation = (u32)deserialize_u64_below(from, 1ULL << 32);
	u32 generation = 0, index = attribute_remap_process(t, old, old_generation, &generation);
	struct profile_counters sum, moved_from;
	struct process_tally entry = { .generation = generation, .sum = &sum };

	entry.container = container_index_load(p, from, t, &entry.container_generation);
	counters_load(from, &sum);
	/*
	 * The samples before the last move of the process are already in the counters of its former
	 * containers.
	 */
	if (deserialize_u64_below(from, 2)) {
		counters_load(from, &moved_from);
		entry.moved_from = &moved_from;
	}
	if (from->bad)
		return -EBADMSG;
	if (index == ATTRIBUTE_NONE)
		return profile_restore_exited(p, entry.container, entry.container_generation, &sum);
	return profile_restore_process(p, index, &entry);
}

static int tallies_load(struct profile *p, struct deserializer *from,
			const struct attribute_translation *t)
{
	u32 count;
	int r = exited_tallies_load(p, from, t);

	count = (u32)deserialize_u64_below(from, 1U << 20);
	while (!r && count-- && !from->bad)
		r = process_tally_load(p, from, t);
	return r < 0 ? r : from->bad ? -EBADMSG : 0;
}

void profile_owner_save(u64 owner, struct serializer *to)
{
	serialize_u64(to, owner >> 32);
	serialize_u64(to, (u32)owner);
}

bool profile_owner_load(struct deserializer *from, const struct attribute_translation *t,
			u64 *ret_owner)
{
	u32 process = (u32)deserialize_u64_below(from, 1ULL << 32), now;
	u32 generation = (u32)deserialize_u64_below(from, 1ULL << 32);

	*ret_owner = location_owner_make(ATTRIBUTE_NONE, 0);
	if (process == ATTRIBUTE_NONE)
		return true;
	process = attribute_remap_process(t, process, generation, &now);
	if (process == ATTRIBUTE_NONE)
		return false;
	*ret_owner = location_owner_make(process, now);
	return true;
}

void profile_save(struct profile *profile, struct serializer *to)
{
	/*
	 * Count waiting samples now. The saved ring position is after their records, so a restarted
	 * daemon would not read them again.
	 */
	profile_finish_waiting_samples(profile);
	profile_flush(profile);
	machine_save(profile, to);
	tallies_save(profile, to);
	profile_cells_save(profile, to);
	pthread_mutex_lock(&profile->shared_data->lock);
	profile_hot_memory_save(profile, to);
	pthread_mutex_unlock(&profile->shared_data->lock);
	profile_history_save(profile, to);
}

int profile_load(struct profile *profile, struct deserializer *from,
		 const struct attribute_translation *translation)
{
	struct profile_id_translation ids = { 0 };
	int r;

	machine_load(profile, from);
	r = tallies_load(profile, from, translation);
	if (r >= 0)
		r = profile_cells_load(profile, from, translation, &ids);
	if (r >= 0) {
		profile_hot_memory_load(profile, from, translation);
		r = profile_history_load(profile, from, translation, &ids.translation);
	}
	profile_id_translation_deinit(&ids);
	return r;
}
