// SPDX-License-Identifier: LGPL-2.1-or-later
#include "flight.h"

#include <errno.h>
#include <stdlib.h>

/* Alignment of entries, in bytes. */
#define ALIGN 16U

/**
 * struct flight_entry - header before a window's records; @size 0: continue at the start of the
 * memory
 */
struct flight_entry {
	size_t size; /* bytes including this header; a multiple of ALIGN */
	struct source_window window;
} __attribute__((aligned(ALIGN)));

static_assert(sizeof(struct flight_entry) % ALIGN == 0, "records are aligned");

/**
 * struct flight_recorder - a ring of entries, none of which straddles the end
 * @first: offset of the oldest entry
 * @next: offset for the next entry
 * @count: number of entries
 * @lost_bytes: bytes of records that were evicted or did not fit
 */
struct flight_recorder {
	size_t size;
	size_t first;
	size_t next;
	u32 count;
	u64 lost_bytes;
	u8 data[] __attribute__((aligned(ALIGN)));
};

int flight_recorder_new(size_t size, struct flight_recorder **ret_flight)
{
	struct flight_recorder *flight;

	if (size < FLIGHT_MIN || size > FLIGHT_MAX)
		return -ERANGE;
	size &= ~(size_t)(ALIGN - 1);
	flight = calloc(1, sizeof(*flight) + size);
	if (!flight)
		return -ENOMEM;
	flight->size = size;
	*ret_flight = flight;
	return 0;
}

struct flight_recorder *flight_recorder_free(struct flight_recorder *flight)
{
	free(flight);
	return NULL;
}

size_t flight_recorder_get_size(const struct flight_recorder *flight)
{
	return flight->size;
}

static struct flight_entry *get_entry(const struct flight_recorder *flight, size_t at)
{
	return (struct flight_entry *)(void *)(flight->data + at);
}

/* Return the offset of the entry at @at: @at itself, or 0 if the memory from @at on is unused. */
static size_t skip_unused_end(const struct flight_recorder *flight, size_t at)
{
	return flight->size - at < sizeof(struct flight_entry) || !get_entry(flight, at)->size ? 0 :
												 at;
}

static void drop_oldest_entry(struct flight_recorder *flight)
{
	const struct flight_entry *entry = get_entry(flight, flight->first);

	flight->lost_bytes += entry->window.len;
	flight->first += entry->size;
	flight->count--;
	if (flight->count)
		flight->first = skip_unused_end(flight, flight->first);
}

/*
 * Return whether @size bytes are free at &flight_recorder.next, before the end of the memory and
 * the oldest entry.
 */
static bool has_space_for(const struct flight_recorder *flight, size_t size)
{
	if (!flight->count)
		return true;
	if (flight->first < flight->next)
		return size <= flight->size - flight->next;
	return size <= flight->first - flight->next;
}

/*
 * Evict entries until @size bytes are free at &flight_recorder.next, or at the start if they do not
 * fit there.
 */
static void evict_entries(struct flight_recorder *flight, size_t size)
{
	if (!flight->count) {
		flight->first = 0;
		flight->next = 0;
	}
	if (size > flight->size - flight->next) {
		while (flight->count && flight->first >= flight->next)
			drop_oldest_entry(flight);
		if (flight->size - flight->next >= sizeof(struct flight_entry))
			get_entry(flight, flight->next)->size = 0;
		flight->next = 0;
		if (!flight->count)
			flight->first = 0;
	}
	while (flight->count && !has_space_for(flight, size) && flight->first >= flight->next)
		drop_oldest_entry(flight);
	if (!flight->count) {
		flight->first = 0;
		flight->next = 0;
	}
}

void flight_recorder_add_window(struct flight_recorder *flight, const struct source_window *window)
{
	size_t size;

	if (window->len > flight->size - sizeof(struct flight_entry) - ALIGN) {
		flight->lost_bytes += window->len;
		return;
	}
	size = (sizeof(struct flight_entry) + window->len + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	evict_entries(flight, size);
	*get_entry(flight, flight->next) = (struct flight_entry){ .size = size, .window = *window };
	memcpy(flight->data + flight->next + sizeof(struct flight_entry), window->data,
	       window->len);
	flight->next += size;
	flight->count++;
}

u64 flight_recorder_get_start_ns(const struct flight_recorder *flight)
{
	return flight->count ? get_entry(flight, flight->first)->window.start_ns : 0;
}

void flight_recorder_replay(const struct flight_recorder *flight, const struct source_sink *sink)
{
	size_t at = flight->first;
	u64 lost = flight->lost_bytes;

	for (u32 i = 0; i < flight->count; i++) {
		const struct flight_entry *entry;
		struct source_window window;

		if (i)
			at = skip_unused_end(flight, at);
		entry = get_entry(flight, at);
		window = entry->window;
		window.data = flight->data + at + sizeof(*entry);
		window.decoder = NULL;
		window.lost_bytes += lost;
		lost = 0;
		sink->window(sink->ctx, &window);
		at += entry->size;
	}
}

void flight_recorder_clear(struct flight_recorder *flight)
{
	flight->first = 0;
	flight->next = 0;
	flight->count = 0;
	flight->lost_bytes = 0;
}
