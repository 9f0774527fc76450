// SPDX-License-Identifier: LGPL-2.1-or-later
#include "input.h"

#include <stdio.h>

#include "message.h"
#include "profile/profile-read.h"
#include "tasks/task-event.h"
#include "text.h"

/*
 * Maximum number of processes of a recording, and bytes of their mappings. All task events precede
 * the samples, so each process and each program that it executes needs an entry until the end. The
 * second limit exists as a few bytes of a hostile recording can fork thousands of mappings.
 */
#define PROCESSES (1U << 18)
#define MAP_MIB	  256ULL

/* memory of symbols, and maximum time for reading the symbols of one file */
#define SYMBOLS_BUDGET (64ULL << 20)
#define SYMBOLS_MS     60000

/*
 * A sink in front of the profile's, which drops windows of CPUs that are not selected; no ledger
 * includes these
 */
struct selection {
	struct source_sink sink;
	const struct cpu_list *cpus;
	u64 start_ns; /* start of the first window; 0: unknown */
	u64 end_ns; /* end of the last window */
	u8 backend;
	bool explained; /* whether a window is flagged as truncated or suspect */
};

static void select_window(void *ctx, const struct source_window *window)
{
	struct selection *selection = ctx;

	/* A window that only reports lost bytes does not contain its backend. */
	if (window->backend)
		selection->backend = window->backend;
	selection->explained |= window->flags & (WINDOW_TRUNCATED | WINDOW_SUSPECT);
	if (selection->cpus && !cpu_list_has(selection->cpus, window->cpu))
		return;
	if (window->start_ns && (!selection->start_ns || window->start_ns < selection->start_ns))
		selection->start_ns = window->start_ns;
	if (window->end_ns > selection->end_ns)
		selection->end_ns = window->end_ns;
	selection->sink.window(selection->sink.ctx, window);
}

static void select_task(void *ctx, const struct task_event *event)
{
	const struct selection *selection = ctx;

	selection->sink.task(selection->sink.ctx, event);
}

/*
 * Decide whether suspect bytes mean a damaged recording. They do unless a window is flagged:
 * hardware leaves such bytes at the end of a truncated window, and a suspect window has no valid
 * byte.
 */
static int input_suspect(struct input *input, const char *path, bool explained)
{
	char suspect[TEXT_NUMBER], bytes[TEXT_NUMBER];
	int r = STATUS_OK;
	struct view view;

	if (profile_view(input->profile, NULL, false, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1, &view))
		return STATUS_FAILED;
	if (view.header.suspect) {
		message_print("%s: %s%s of %s record bytes parse as no record; they are counted as "
			      "suspect",
			      path, explained ? "" : "damaged: ",
			      text_count(suspect, view.header.suspect),
			      text_count(bytes, view.header.bytes));
		r = explained ? STATUS_OK : STATUS_DAMAGED;
	}
	view_clear(&view);
	return r;
}

/* Report tables of the attributor that were too small for the recording. */
static void input_check_tables(const struct input *input, const char *path)
{
	char count[TEXT_NUMBER], capacity[TEXT_NUMBER];
	struct attributor_stats stats;

	attributor_get_stats(input->attributor, &stats);
	if (stats.processes_evicted)
		message_print(
			"%s: %s processes were evicted from the full process table (%s entries); "
			"their samples are unattributed",
			path, text_count(count, stats.processes_evicted),
			text_count(capacity, PROCESSES));
	if (stats.mappings_dropped)
		message_print("%s: %s mappings were dropped because all mappings exceed %llu MiB; "
			      "samples in them have no binary",
			      path, text_count(count, stats.mappings_dropped), MAP_MIB);
}

static int input_replay(struct input *input, const char *path, const struct cpu_list *cpus)
{
	struct selection selection = { .sink = profile_sink(input->profile), .cpus = cpus };
	const struct source_sink sink = { .window = select_window,
					  .task = select_task,
					  .ctx = &selection };
	struct recording_error error = { .offset = RECORDING_NO_OFFSET };
	struct recording *recording = NULL;
	int r;

	r = recording_open(path, &recording, &error);
	if (r < 0)
		return message_fail_recording(path, r, &error);
	input->format = recording_format(recording);
	r = recording_replay(recording, &sink, &error);
	recording_take_functions(recording, &input->functions);
	recording_free(recording);
	input->backend = selection.backend;
	if (selection.start_ns)
		input->duration_ns = selection.end_ns - selection.start_ns;
	if (r < 0)
		return message_fail_replay(path, r, &error);
	input_check_tables(input, path);
	return input_suspect(input, path, selection.explained);
}

int input_load(const char *path, const struct cpu_list *cpus, u64 midr, const struct filter *filter,
	       struct input *ret_input)
{
	return input_load_watched(path, cpus, midr, filter, NULL, ret_input);
}

int input_load_watched(const char *path, const struct cpu_list *cpus, u64 midr,
		       const struct filter *filter, const struct input_watch *watch,
		       struct input *ret_input)
{
	struct attributor_config tasks = { .processes = PROCESSES, .map_bytes = MAP_MIB << 20 };
	struct profile_config config = {
		.by_program = true,
		.midr = midr,
		.filter = filter,
	};
	int r;

	*ret_input = (struct input){ 0 };
	r = attributor_new(&tasks, &ret_input->attributor);
	if (r == 0)
		r = profile_new(&config, ret_input->attributor, &ret_input->profile);
	if (r < 0)
		return message_fail(STATUS_FAILED, "%s: %s", path, strerror(-r));
	if (watch)
		watch->begin(ret_input, watch->ctx);
	return input_replay(ret_input, path, cpus);
}

const char *input_name(const char *path)
{
	const char *slash;

	if (!path || strcmp(path, "-") == 0)
		return NULL;
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Queries of the table block, as a report is printed once, with all names. */
int input_symbols(const struct input *input, struct symbols **ret_symbols)
{
	const struct symbols_config config = {
		.budget = SYMBOLS_BUDGET,
		.wait_ms = SYMBOLS_MS,
		.kernel = &input->functions,
	};

	return symbols_new(&config, ret_symbols);
}

/* Set what the profile does not know. */
static void header_complete(const struct input *input, struct view_header *header)
{
	struct attributor_stats stats;

	if (!header->ledgers_unknown)
		header->duration_ns = input->duration_ns;
	snprintf(header->source, sizeof(header->source), "recording");
	attributor_get_stats(input->attributor, &stats);
	header->processes_evicted = stats.processes_evicted;
	header->mappings_dropped = stats.mappings_dropped;
}

void input_header(const struct input *input, struct symbols *symbols,
		  struct view_header *ret_header)
{
	struct symbols_stats stats;

	*ret_header = *profile_header(input->profile);
	ret_header->by_program = true;
	symbols_stats(symbols, &stats);
	ret_header->names_pending = stats.pending;
	snprintf(ret_header->names_reason, sizeof(ret_header->names_reason), "%s", stats.reason);
	header_complete(input, ret_header);
}

int input_view(struct input *input, enum view_group group, enum view_sort sort, u32 limit,
	       struct view *ret_view)
{
	struct symbols *symbols = NULL;
	struct view view = { 0 };
	int r = input_symbols(input, &symbols);

	if (r < 0)
		return r;
	r = profile_view(input->profile, symbols, false, group, sort, limit, &view);
	symbols_free(symbols);
	if (r < 0)
		return r;
	header_complete(input, &view.header);
	*ret_view = view;
	return 0;
}

void input_deinit(struct input *input)
{
	profile_free(input->profile);
	attributor_free(input->attributor);
	symtab_clear(&input->functions);
	*input = (struct input){ 0 };
}
