/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counters of a recording over time: slices of equal length with samples, latencies, losses and
 * blind time. The recording is read once more for them, because a profile does not count by time.
 */
#ifndef SPEPROF_PAGE_TIME_H
#define SPEPROF_PAGE_TIME_H

#include "lib/input.h"
#include "query/query-result.h"
#include "util/histogram.h"

/* Entries of &page_time.ledger. If the recording is long enough, at least half are used. */
#define TIME_SLICES_MAX 120

/*
 * Maximum number of programs with separate slices; the last entry counts all other programs
 * together.
 */
#define TIME_PROGRAMS_MAX 64

/**
 * struct time_slice - the samples of a program in one slice
 * @latency: total latencies of the samples; &histogram.max is not set
 * @untimed: number of samples without a total latency
 */
struct time_slice {
	struct histogram latency;
	u64 untimed;
};

/**
 * struct time_program - one program over time
 * @container, @program: names as in &struct query_row; "" in the last entry, which stands for all
 * other programs
 * @slice: TIME_SLICES_MAX elements
 */
struct time_program {
	char container[sizeof(((struct query_row *)0)->container)];
	char program[sizeof(((struct query_row *)0)->program)];
	struct time_slice *slice;
};

/**
 * struct time_ledger - the windows of all CPUs in one slice
 * @armed_ns, @blind_ns: time in which sampling was armed, and time in which it was enabled but not
 * armed
 * @lost_bytes: bytes of records that were lost, counted at the start of the window that reports
 * them
 */
struct time_ledger {
	u64 armed_ns;
	u64 blind_ns;
	u64 lost_bytes;
};

/**
 * struct page_time - a recording over time
 * @slice_ns: length of a slice; 0: the recording has no times
 * @first: number of the first slice, which starts at @first * @slice_ns
 * @slices: number of slices, at most TIME_SLICES_MAX
 * @ledger: ledgers, indexed by slice
 * @program: the programs; @programs is their number
 * @known: cache of programs, indexed by 1 + process of the attributor; 0: samples without one;
 * private
 * @known_count: private
 * @cells: private
 * @profile: private
 * @error: private
 */
struct page_time {
	u64 slice_ns;
	u64 first;
	u32 slices;
	struct time_ledger ledger[TIME_SLICES_MAX];
	struct time_program program[TIME_PROGRAMS_MAX];
	u32 programs;
	struct process_program_cache *known;
	u32 known_count;
	struct profile_cells cells;
	struct profile *profile;
	int error;
};

/**
 * page_time_read() - read a recording again
 * @path: file name of the recording
 * @cpus, @midr, @filter: as of input_load()
 * @input: result of input_load() with the same arguments
 * @ret_time: the caller ends it by page_time_deinit(), also on failure
 *
 * Damage of the recording is no error, because input_load() has reported it.
 *
 * Return: 0; -ENOMEM if memory cannot be allocated; another negative errno if the file cannot be
 * read a second time.
 */
int page_time_read(const char *path, const struct cpu_list *cpus, u64 midr,
		   const struct filter *filter, struct input_recording *input,
		   struct page_time *ret_time);

/**
 * page_time_get_slice() - return the slice of a time; a missing slice is added
 * @time: slices, which become longer if there would be more than TIME_SLICES_MAX of them
 * @ns: the time in nanoseconds, not 0
 *
 * Return: index of the slice.
 */
u32 page_time_get_slice(struct page_time *time, u64 ns);

/** page_time_deinit() - free the memory */
void page_time_deinit(struct page_time *time);

#endif
