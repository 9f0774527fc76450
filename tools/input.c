// SPDX-License-Identifier: LGPL-2.1-or-later
#include "input.h"

#include <stdio.h>

#include "say.h"
#include "text.h"

/* In front of the profile's sink: windows of other CPUs stay out of every ledger. */
struct filter {
	struct source_sink sink;
	const struct cpu_list *cpus;
};

static void filter_window(void *ctx, const struct source_window *window)
{
	const struct filter *filter = ctx;

	if (!filter->cpus || cpu_list_has(filter->cpus, window->cpu))
		filter->sink.window(filter->sink.ctx, window);
}

static void filter_task(void *ctx, const struct task_event *event)
{
	const struct filter *filter = ctx;

	filter->sink.task(filter->sink.ctx, event);
}

/* Suspect bytes are accounted for, so they are no damage that ends a script; but said. */
static void input_suspect(struct input *input, const char *path)
{
	char suspect[TEXT_FIGURE], bytes[TEXT_FIGURE];
	struct view view;

	if (profile_view(input->profile, NULL, false, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1, &view))
		return;
	if (view.header.suspect)
		say("%s: %s of %s record bytes parse as no record; they are counted as suspect",
		    path, text_count(suspect, view.header.suspect),
		    text_count(bytes, view.header.bytes));
	view_clear(&view);
}

static int input_replay(struct input *input, const char *path, const struct cpu_list *cpus)
{
	struct filter filter = { .sink = profile_sink(input->profile), .cpus = cpus };
	const struct source_sink sink = { .window = filter_window,
					  .task = filter_task,
					  .ctx = &filter };
	struct recording_error error = { .offset = RECORDING_NO_OFFSET };
	struct recording *recording = NULL;
	int r;

	r = recording_open(path, &recording, &error);
	if (r < 0)
		return say_recording(path, r, &error);
	input->format = recording_format(recording);
	r = recording_replay(recording, &sink, &error);
	recording_free(recording);
	if (r < 0)
		return say_replay(path, r, &error);
	input_suspect(input, path);
	return STATUS_OK;
}

int input_load(const char *path, const struct cpu_list *cpus, struct input *ret_input)
{
	struct attributor_config tasks = { .live = false };
	struct profile_config config = { 0 };
	int r;

	*ret_input = (struct input){ 0 };
	r = attributor_new(&tasks, &ret_input->attributor);
	if (r == 0)
		r = profile_new(&config, ret_input->attributor, &ret_input->profile);
	if (r < 0)
		return say_fail(STATUS_FAILED, "%s: %s", path, strerror(-r));
	return input_replay(ret_input, path, cpus);
}

int input_view(struct input *input, enum view_group group, enum view_sort sort, u32 limit,
	       struct view *ret_view)
{
	struct symbols *symbols = NULL;
	struct view view = { 0 };
	int r = symbols_new(0, &symbols);

	if (r < 0)
		return r;
	r = profile_view(input->profile, symbols, false, group, sort, limit, &view);
	symbols_free(symbols);
	if (r < 0)
		return r;
	snprintf(view.header.source, sizeof(view.header.source), "recording");
	*ret_view = view;
	return 0;
}

void input_deinit(struct input *input)
{
	profile_free(input->profile);
	attributor_free(input->attributor);
	*input = (struct input){ 0 };
}
