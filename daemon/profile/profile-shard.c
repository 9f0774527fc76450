// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile-shard.h"

#include "profile-internal.h"

/* Merge into @to the members of @from that counting a window changes. */
static void header_merge(struct view_header *to, const struct view_header *from)
{
	to->records += from->records;
	to->bytes += from->bytes;
	to->decoded += from->decoded;
	to->padding += from->padding;
	to->suspect += from->suspect;
	to->lost += from->lost;
	to->truncated += from->truncated;
	to->gaps += from->gaps;
	to->ledgers_unknown |= from->ledgers_unknown;
	to->filtered += from->filtered;
	to->evicted += from->evicted;
	to->unweighed += from->unweighed;
	to->evicted_weight += from->evicted_weight;
	to->blind_ns += from->blind_ns;
	to->enabled_ns += from->enabled_ns;
	to->unhandled_ns += from->unhandled_ns;
	for (unsigned int i = 0; i < SOURCE_BLINDS; i++)
		to->blind_by[i] += from->blind_by[i];
	if (from->backend > to->backend)
		to->backend = from->backend;
	if (from->written == WINDOW_WRITTEN_UNKNOWN)
		to->written = WINDOW_WRITTEN_UNKNOWN;
	else if (to->written != WINDOW_WRITTEN_UNKNOWN)
		to->written += from->written;
}

static void counts_merge(u64 *to, const u64 *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += from[i];
}

static void machine_merge(struct profile *to, const struct profile *from)
{
	header_merge(&to->header, &from->header);
	counts_merge(to->kinds, from->kinds, ARRAY_SIZE(to->kinds));
	counts_merge(to->events, from->events, ARRAY_SIZE(to->events));
	counts_merge(to->sources, from->sources, from->source_end);
	to->source_end = from->source_end > to->source_end ? from->source_end : to->source_end;
	counts_merge(to->levels, from->levels, ARRAY_SIZE(to->levels));
	counts_merge(to->origins, from->origins, ARRAY_SIZE(to->origins));
	to->sample_class.full |= from->sample_class.full;
	to->encodings_full |= from->encodings_full;
	to->simd += from->simd;
	to->false_sharing += from->false_sharing;
	to->context_overflow += from->context_overflow;
	for (unsigned int i = 0; i < PROFILE_CONTEXTS; i++)
		for (u32 k = 0; k < from->context_size[i]; k++)
			if (from->contexts[i][k].count)
				profile_count_context(to, i, from->contexts[i][k].value,
						      from->contexts[i][k].count);
	counters_merge(&to->unattributed, &from->unattributed);
	counters_merge(&to->overflow, &from->overflow);
}

/*
 * Merge the cells without the reader lock, so that writers of the attributor need not wait. Merging
 * cells does not read the attributor.
 */
static void cells_merge(struct profile *to, struct profile *from, struct attribute_reader *reader)
{
	cell_counter_flush(&to->cells);
	if (reader)
		attribute_read_end(reader);
	cell_table_merge(to->cells.table, from->cells.table);
	if (reader)
		attribute_read_begin(reader);
	/* The merge may have reused the index of the current interval for another interval. */
	cell_counter_set_interval(&to->cells, to->interval, to->unit);
}

void profile_set_reader(struct profile *shard, struct attribute_reader *reader)
{
	shard->reader = reader;
}

bool profile_has_counts(const struct profile *shard)
{
	return shard->began_ns || shard->header.enabled_ns || shard->header.bytes;
}

static void shard_merge(struct profile *whole, struct profile *shard,
			struct attribute_reader *reader)
{
	/*
	 * The functions below must use @reader, because this thread holds the attributor's reader
	 * lock with it.
	 */
	shard->reader = whole->reader = reader;
	profile_retry_waiting_samples(shard);
	profile_move_waiting_samples(whole, shard);
	profile_flush_caches(shard);
	history_note_window(&whole->history, shard->began_ns, shard->ended_ns);
	machine_merge(whole, shard);
	for (u32 i = 0; i < shard->exited_count; i++)
		profile_merge_exited(whole, i, &shard->exited[i]);
	for (u32 i = 0; i < shard->process_count; i++) {
		profile_merge_process(whole, i, &shard->processes[i]);
		attribute_read_yield(reader);
	}
	cells_merge(whole, shard, reader);
}

void profile_merge_shard(struct profile *whole, struct profile *shard,
			 struct attribute_reader *reader)
{
	shard_merge(whole, shard, reader);
	profile_clear_own_counters(shard);
}

struct profile *profile_merge_and_free_shard(struct profile *to, struct profile *shard)
{
	shard_merge(to, shard, NULL);
	if (shard->began_ns && (!to->began_ns || shard->began_ns < to->began_ns))
		to->began_ns = shard->began_ns;
	if (shard->ended_ns > to->ended_ns)
		to->ended_ns = shard->ended_ns;
	return profile_free(shard);
}

bool profile_history_is_due(const struct profile *whole, u64 now_ns)
{
	return history_slot_has_ended(&whole->history, now_ns);
}

void profile_advance_history(struct profile *whole, u64 now_ns)
{
	if (history_slot_has_ended(&whole->history, now_ns))
		profile_close_slot(whole, now_ns);
}
