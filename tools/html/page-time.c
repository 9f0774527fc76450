// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page-time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/profile-read.h"
#include "query/query-names.h"
#include "recording/recording.h"
#include "util/escape.h"

/* Length of a slice at the start; it is doubled if there would be too many slices. */
#define SLICE_NS 1000000ULL

/* The program of a process: its index in &page_time.program plus 1; 0: not looked up yet. */
struct process_program_cache {
	u32 generation;
	u32 program;
};

static void slice_add(struct time_slice *to, const struct time_slice *from)
{
	histogram_merge(&to->latency, &from->latency);
	to->untimed += from->untimed;
}

static void ledger_add(struct time_ledger *to, const struct time_ledger *from)
{
	to->armed_ns += from->armed_ns;
	to->blind_ns += from->blind_ns;
	to->lost_bytes += from->lost_bytes;
}

/* Make slices twice as long. Those with the numbers 2n and 2n + 1 become the slice n. */
static void slices_merge_pairs(struct page_time *t)
{
	u64 first = t->first / 2;
	u32 slices = 0;

	for (u32 i = 0; i < t->slices; i++) {
		u32 to = (u32)((t->first + i) / 2 - first);

		slices = to + 1;
		if (to == i)
			continue;
		ledger_add(&t->ledger[to], &t->ledger[i]);
		t->ledger[i] = (struct time_ledger){ 0 };
		for (u32 k = 0; k < t->programs; k++) {
			slice_add(&t->program[k].slice[to], &t->program[k].slice[i]);
			t->program[k].slice[i] = (struct time_slice){ 0 };
		}
	}
	t->first = first;
	t->slices = slices;
	t->slice_ns *= 2;
}

/* Add @count empty slices before the first one. */
static void slices_prepend(struct page_time *t, u32 count)
{
	size_t kept = t->slices;

	memmove(&t->ledger[count], t->ledger, kept * sizeof(*t->ledger));
	memset(t->ledger, 0, count * sizeof(*t->ledger));
	for (u32 k = 0; k < t->programs; k++) {
		struct time_slice *slice = t->program[k].slice;

		memmove(&slice[count], slice, kept * sizeof(*slice));
		memset(slice, 0, count * sizeof(*slice));
	}
	t->first -= count;
	t->slices += count;
}

u32 page_time_get_slice(struct page_time *time, u64 ns)
{
	u64 number;

	if (!time->slices) {
		time->slice_ns = SLICE_NS;
		time->first = ns / SLICE_NS;
		time->slices = 1;
	}
	for (;;) {
		u64 low = time->first, high = time->first + time->slices - 1;

		number = ns / time->slice_ns;
		low = number < low ? number : low;
		high = number > high ? number : high;
		if (high - low < TIME_SLICES_MAX)
			break;
		slices_merge_pairs(time);
	}
	if (number < time->first)
		slices_prepend(time, (u32)(time->first - number));
	if (number - time->first >= time->slices)
		time->slices = (u32)(number - time->first) + 1;
	return (u32)(number - time->first);
}

/*
 * Find the entry of a program with the names of @wanted, or add it. The last entry is for all
 * programs without a separate entry.
 */
static int program_find_or_add(struct page_time *t, const struct time_program *wanted,
			       u32 *ret_index)
{
	struct time_program *p = t->program, *last = &t->program[TIME_PROGRAMS_MAX - 1];

	while (p < t->program + t->programs && p != last &&
	       (strcmp(p->container, wanted->container) || strcmp(p->program, wanted->program)))
		p++;
	*ret_index = (u32)(p - t->program);
	if (*ret_index < t->programs)
		return 0;
	if (p != last)
		*p = *wanted;
	p->slice = calloc(TIME_SLICES_MAX, sizeof(*p->slice));
	if (!p->slice)
		return -ENOMEM;
	t->programs++;
	return 0;
}

/* Return the entry that caches the program of a process; NULL if memory cannot be allocated. */
static struct process_program_cache *get_process_cache(struct page_time *t, u32 process)
{
	u32 count = process + 256;
	struct process_program_cache *grown;

	if (process >= t->known_count) {
		grown = reallocarray(t->known, count, sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + t->known_count, 0, (count - t->known_count) * sizeof(*grown));
		t->known = grown;
		t->known_count = count;
	}
	return &t->known[process];
}

/* Set the container and the escaped executable name of @process, as in the rows of a page. */
static void set_program_names(const struct page_time *t, u32 process,
			      struct time_program *ret_program)
{
	u32 id = profile_find_program(t->profile, process);

	*ret_program = (struct time_program){ 0 };
	snprintf(ret_program->container, sizeof(ret_program->container), "%s",
		 query_get_container_name(&t->cells, id));
	escape_string(ret_program->program, sizeof(ret_program->program),
		      query_base_name(query_get_executable(&t->cells, id)));
}

static int find_sample_program(struct page_time *t, const struct profile_sample *sample,
			       u32 *ret_index)
{
	/* The first entry is for samples without a process. */
	u32 slot = sample->process == ATTRIBUTE_NONE ? 0 : sample->process + 1;
	struct process_program_cache *known = get_process_cache(t, slot);
	int r;

	if (!known)
		return -ENOMEM;
	if (!known->program || known->generation != sample->generation) {
		struct time_program wanted;

		set_program_names(t, sample->process, &wanted);
		r = program_find_or_add(t, &wanted, ret_index);
		if (r < 0)
			return r;
		known->program = *ret_index + 1;
		known->generation = sample->generation;
	}
	*ret_index = known->program - 1;
	return 0;
}

/* Return the time of a sample or, if it has none, the start of its window; 0: unknown. */
static u64 sample_time(const struct profile_sample *sample)
{
	const struct source_window *window = sample->window;
	const struct timestamp_clock *clock = &window->clock;
	u64 ns;

	if (!clock->mult || !spe_sample_has(sample->sample, SPE_HAS_TIMESTAMP))
		return window->start_ns;
	ns = clock->zero +
	     (u64)((unsigned __int128)sample->sample->timestamp * clock->mult >> clock->shift);
	/* Ignore a damaged time, which would make all slices long. */
	if (window->start_ns && window->end_ns && (ns < window->start_ns || ns > window->end_ns))
		return window->start_ns;
	return ns;
}

static void count_sample(void *ctx, const struct profile_sample *sample)
{
	struct page_time *t = ctx;
	u64 ns = sample_time(sample);
	struct time_slice *slice;
	u32 at, program;
	int r;

	if (!ns || t->error)
		return;
	r = find_sample_program(t, sample, &program);
	if (r < 0) {
		t->error = r;
		return;
	}
	at = page_time_get_slice(t, ns);
	slice = &t->program[program].slice[at];
	if (spe_sample_has(sample->sample, SPE_HAS_COUNTER(SPE_COUNTER_TOTAL)))
		histogram_add(&slice->latency, sample->sample->counter[SPE_COUNTER_TOTAL]);
	else
		slice->untimed++;
}

/* A sink that passes each event on to the profile's sink. */
struct time_sink {
	struct page_time *time;
	struct source_sink sink;
	const struct cpu_list *cpus;
};

/* Windows are short, so all of their time is counted in the slice of their start. */
static void count_window(void *ctx, const struct source_window *window)
{
	const struct time_sink *to = ctx;
	struct time_ledger *ledger;

	if (to->cpus && !cpu_list_has(to->cpus, window->cpu))
		return;
	to->sink.window(to->sink.ctx, window);
	/* All chunks of a window repeat the fields of the whole window, so count these once. */
	if (!window->start_ns || (window->decoder && window->decoder->open))
		return;
	ledger = &to->time->ledger[page_time_get_slice(to->time, window->start_ns)];
	ledger->armed_ns += source_window_get_armed_ns(window);
	ledger->blind_ns += window->blind_ns;
	ledger->lost_bytes += window->lost_bytes;
}

static int replay_recording(struct page_time *t, const char *path, const struct cpu_list *cpus,
			    struct profile *profile)
{
	struct time_sink to = { .time = t, .sink = profile_make_sink(profile), .cpus = cpus };
	const struct source_sink sink = { .window = count_window, .ctx = &to };
	struct recording *recording = NULL;
	int r = recording_open(path, &recording, NULL);

	if (r < 0)
		return r;
	r = recording_replay(recording, &sink, NULL);
	recording_free(recording);
	profile_flush(profile);
	return r == -EBADMSG ? 0 : r;
}

int page_time_read(const char *path, const struct cpu_list *cpus, u64 midr,
		   const struct filter *filter, struct input_recording *input,
		   struct page_time *ret_time)
{
	const struct profile_config config = { .midr = midr, .filter = filter };
	struct profile_observer observer = { .sample = count_sample, .ctx = ret_time };
	struct profile *profile = NULL;
	int r;

	*ret_time = (struct page_time){ .profile = input->profile };
	profile_get_cells(input->profile, &ret_time->cells);
	r = profile_new(&config, input->attributor, &profile);
	if (r < 0)
		return r;
	profile_add_observer(profile, &observer);
	r = replay_recording(ret_time, path, cpus, profile);
	profile_remove_observer(&observer);
	profile_free(profile);
	return r < 0 ? r : ret_time->error;
}

void page_time_deinit(struct page_time *time)
{
	for (u32 i = 0; i < time->programs; i++)
		free(time->program[i].slice);
	free(time->known);
	*time = (struct page_time){ 0 };
}
