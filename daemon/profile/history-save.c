// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Serialization of the history of 10 s, a minute and ten minutes for the checkpoint: the closed
 * slots, and the counters of the open slot so far. The time in which no daemon ran counts for the
 * open slot.
 */
#include "profile-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "util/time.h"

static void words_save(const u32 *words, size_t count, struct serializer *to)
{
	u64 wide[HISTOGRAM_BUCKETS > SAMPLE_COUNTS ? HISTOGRAM_BUCKETS : SAMPLE_COUNTS];

	for (size_t i = 0; i < count; i++)
		wide[i] = words[i];
	serialize_array(to, wide, count);
}

static void words_load(struct deserializer *from, u32 *words, size_t count)
{
	u64 wide[HISTOGRAM_BUCKETS > SAMPLE_COUNTS ? HISTOGRAM_BUCKETS : SAMPLE_COUNTS];

	deserialize_array(from, wide, count);
	for (size_t i = 0; i < count; i++) {
		from->bad |= wide[i] > UINT32_MAX;
		words[i] = (u32)wide[i];
	}
}

static void counters_save(const struct history_counters *f, struct serializer *to)
{
	serialize_u64(to, f->samples);
	serialize_array(to, f->weight, ARRAY_SIZE(f->weight));
	serialize_array(to, f->latency_sum, ARRAY_SIZE(f->latency_sum));
	words_save(f->count, ARRAY_SIZE(f->count), to);
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		words_save(f->bucket[i], ARRAY_SIZE(f->bucket[i]), to);
}

static void counters_load(struct deserializer *from, struct history_counters *ret)
{
	ret->samples = (u32)deserialize_u64_below(from, 1ULL << 32);
	deserialize_array(from, ret->weight, ARRAY_SIZE(ret->weight));
	deserialize_array(from, ret->latency_sum, ARRAY_SIZE(ret->latency_sum));
	words_load(from, ret->count, ARRAY_SIZE(ret->count));
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++)
		words_load(from, ret->bucket[i], ARRAY_SIZE(ret->bucket[i]));
}

static void history_rows_save(const struct history_row *rows, u32 count, struct serializer *to)
{
	serialize_u64(to, count);
	for (u32 i = 0; i < count; i++) {
		const u64 counts[] = { rows[i].latency_sum, rows[i].weight, rows[i].samples,
				       rows[i].memory,	    rows[i].dram,   rows[i].remote,
				       rows[i].branches,    rows[i].mispredicted };

		profile_owner_save(rows[i].owner, to);
		serialize_u64(to, rows[i].place);
		serialize_array(to, counts, ARRAY_SIZE(counts));
	}
}

/** struct history_translations - the current entries of saved tasks and cells */
struct history_translations {
	const struct attribute_translation *tasks;
	const struct cell_translation *cells;
};

/*
 * Read the owner of a row, and translate it to the current ids. Return false if the owner no longer
 * exists.
 */
static bool row_owner_load(struct deserializer *from, const struct history_translations *t,
			   bool locations, u64 *ret_owner)
{
	u32 program, binary;

	if (!locations)
		return profile_owner_load(from, t->tasks, ret_owner);
	program = (u32)deserialize_u64_below(from, 1ULL << 32);
	binary = (u32)deserialize_u64_below(from, 1ULL << 32);
	*ret_owner = cell_owner_translate(t->cells, cell_owner_make(program, binary));
	return true;
}

/* Read rows, but skip a row if its owner no longer exists. Return the number of rows in @rows. */
static u32 history_rows_load(struct deserializer *from, const struct history_translations *t,
			     bool locations, struct history_row *rows)
{
	u32 count = (u32)deserialize_u64_below(from, HISTORY_ROWS + 1), restored = 0;
	u64 counts[8], owner;

	while (count-- && !from->bad) {
		bool owned = row_owner_load(from, t, locations, &owner);

		rows[restored] = (struct history_row){ .owner = owner, .place = deserialize_u64(from) };
		deserialize_array(from, counts, ARRAY_SIZE(counts));
		for (unsigned int i = 2; i < ARRAY_SIZE(counts); i++)
			from->bad |= counts[i] > UINT32_MAX;
		rows[restored].latency_sum = counts[0];
		rows[restored].weight = counts[1];
		rows[restored].samples = (u32)counts[2];
		rows[restored].memory = (u32)counts[3];
		rows[restored].dram = (u32)counts[4];
		rows[restored].remote = (u32)counts[5];
		rows[restored].branches = (u32)counts[6];
		rows[restored].mispredicted = (u32)counts[7];
		restored += owned;
	}
	return restored;
}

static void slot_save(const struct history_slot *slot, struct serializer *to)
{
	u64 ledger[HISTORY_LEDGERS];

	memcpy(ledger, &slot->ledger, sizeof(ledger));
	serialize_u64(to, slot->ns);
	serialize_array(to, ledger, ARRAY_SIZE(ledger));
	counters_save(&slot->machine, to);
	serialize_u64(to, slot->containers);
	for (u32 i = 0; i < slot->containers; i++) {
		serialize_u64(to, slot->container[i].index);
		serialize_u64(to, slot->container[i].generation);
		counters_save(&slot->container[i].counters, to);
	}
	history_rows_save(slot->process, slot->processes, to);
	history_rows_save(slot->place, slot->locations, to);
}

static void slot_load(struct deserializer *from, const struct history_translations *t,
		      struct history_slot *ret)
{
	u64 ledger[HISTORY_LEDGERS];
	u32 count;

	ret->ns = deserialize_u64(from);
	deserialize_array(from, ledger, ARRAY_SIZE(ledger));
	memcpy(&ret->ledger, ledger, sizeof(ledger));
	counters_load(from, &ret->machine);
	count = (u32)deserialize_u64_below(from, HISTORY_ROWS + 1);
	ret->containers = 0;
	while (count-- && !from->bad) {
		struct history_container *row = &ret->container[ret->containers];
		u32 index = (u32)deserialize_u64_below(from, 1ULL << 32);
		u32 generation = (u32)deserialize_u64_below(from, 1ULL << 32);

		row->index = attribute_remap_container(t->tasks, index, generation, &row->generation);
		counters_load(from, &row->counters);
		ret->containers += row->index != ATTRIBUTE_NONE;
	}
	ret->processes = history_rows_load(from, t, false, ret->process);
	ret->locations = history_rows_load(from, t, true, ret->place);
}

void profile_history_save(struct profile *profile, struct serializer *to)
{
	const struct recent_history *w = &profile->history;

	serialize_u64(to, w->machine_mark && w->begun);
	if (!w->machine_mark || !w->begun)
		return;
	serialize_u64(to, w->start_ns);
	/*
	 * The saved open slot has counters if this process loaded it and has closed no slot since
	 * then.
	 */
	slot_save(w->open_slot_saved, to);
	slot_save(profile_get_open_slot(profile), to);
	for (unsigned int i = 0; i < HISTORY_RINGS; i++) {
		serialize_u64(to, w->ring[i].next);
		for (u32 k = 0; k < w->ring[i].slots; k++)
			slot_save(&w->ring[i].slot[k], to);
	}
}

/*
 * Read the start of the open slot. Reject a start in the future, because the slot would not end
 * before that time.
 */
static u64 open_slot_load_start(struct deserializer *from)
{
	u64 start = deserialize_u64(from);

	from->bad |= start > time_now_ns();
	return start;
}

static void rings_load(struct profile *p, struct deserializer *from,
		       const struct history_translations *t, struct history_slot *spare)
{
	struct recent_history *w = &p->history;
	u32 next;

	for (unsigned int i = 0; i < HISTORY_RINGS; i++) {
		next = (u32)deserialize_u64_below(from, history_count_slots(i));
		if (w->machine_mark)
			w->ring[i].next = next;
		for (u32 k = 0; k < history_count_slots(i) && !from->bad; k++)
			slot_load(from, t, w->machine_mark ? &w->ring[i].slot[k] : spare);
	}
}

static void begun_history_load(struct profile *p, struct deserializer *from,
			       const struct history_translations *t, struct history_slot *spare)
{
	struct recent_history *w = &p->history;
	u64 start = open_slot_load_start(from);

	for (unsigned int i = 0; i < 2 && !from->bad; i++) {
		slot_load(from, t, spare);
		if (w->machine_mark)
			history_restore_open_slot(w, spare);
	}
	rings_load(p, from, t, spare);
	w->start_ns = start;
	w->begun = w->machine_mark != NULL;
}

int profile_history_load(struct profile *profile, struct deserializer *from,
			 const struct attribute_translation *translation,
			 const struct cell_translation *cells)
{
	const struct history_translations t = { .tasks = translation, .cells = cells };
	struct history_slot *spare = calloc(1, sizeof(*spare));

	if (!spare)
		return -ENOMEM;
	if (deserialize_u64_below(from, 2))
		begun_history_load(profile, from, &t, spare);
	free(spare);
	if (from->bad)
		return -EBADMSG;
	/* The restored totals belong to earlier slots, not to the open slot. */
	if (profile->history.machine_mark)
		profile_restart_open_slot(profile);
	return 0;
}
