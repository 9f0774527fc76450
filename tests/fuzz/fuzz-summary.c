// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fuzz the path from a recording through tasks, maps, decoder and tables to the summary and the
 * views: each byte of a window is in its ledger, and each sample in a row.
 */
#include "fuzz.h"

#include "lib/parallel-count.h"
#include "output/profile-json.h"
#include "recording/recording.h"
#include "tasks/task-event.h"

#include <sys/mman.h>
#include <unistd.h>

struct counting_sink {
	struct source_sink sink;
	u64 bytes;
};

static void on_window(void *ctx, const struct source_window *window)
{
	struct counting_sink *counted = ctx;

	counted->bytes += window->len;
	counted->sink.window(counted->sink.ctx, window);
}

static void on_task(void *ctx, const struct task_event *event)
{
	struct counting_sink *counted = ctx;

	counted->sink.task(counted->sink.ctx, event);
}

/*
 * The rows of every group have all samples, with two exceptions. Containers lack samples without a
 * process. Processes lack samples if another process reused their entry.
 */
static void check_views(struct profile *profile)
{
	for (enum view_group group = 0; group < VIEW_GROUPS; group++) {
		struct view view;
		u64 samples = 0;

		fuzz_assert(!profile_create_view(profile, NULL, false, group, VIEW_SORT_SAMPLES, 0,
						 &view));
		for (u32 i = 0; i < view.count; i++)
			samples += view.rows[i].samples;
		if (group == VIEW_CONTAINER)
			samples += view.header.unattributed;
		fuzz_assert(group == VIEW_PROCESS ? samples <= view.header.records :
						    samples == view.header.records);
		view_clear(&view);
	}
}

static void summarize_recording(struct recording *recording)
{
	const struct attributor_config tasks = { .processes = 16, .threads = 64, .containers = 8 };
	const struct profile_config config = { .contexts = 64 };
	struct attributor *attributor = NULL;
	struct profile *profile = NULL;
	struct recording_error error;
	struct counting_sink counted = { .bytes = 0 };
	struct source_sink sink = { .window = on_window, .task = on_task, .ctx = &counted };
	char *text = NULL, want[64];

	fuzz_assert(!attributor_new(&tasks, &attributor));
	fuzz_assert(!profile_new(&config, attributor, &profile));
	counted.sink = profile_make_sink(profile);
	recording_replay(recording, &sink, &error);
	fuzz_assert(!profile_summary_json(profile, "recording", true, &text));
	snprintf(want, sizeof(want), "\"bytes\":%llu,", (unsigned long long)counted.bytes);
	fuzz_assert(strstr(text, want));
	free(text);
	check_views(profile);
	profile_free(profile);
	attributor_free(attributor);
}

/* Count the recording with @threads threads. Return its summary as text, which the caller frees. */
static char *summarize_with_threads(struct recording *recording, u32 threads)
{
	const struct attributor_config tasks = { .processes = 16, .threads = 64, .containers = 8 };
	struct count_request request = {
		.config = { .contexts = 64, .skip_memory = true },
		.threads = threads,
	};
	struct recording_error error;
	struct count_result result;
	char *text = NULL;

	fuzz_assert(!attributor_new(&tasks, &request.attributor));
	fuzz_assert(!profile_new(&request.config, request.attributor, &request.profile));
	parallel_count_samples(recording, &request, &result, &error);
	fuzz_assert(!profile_summary_json(request.profile, "recording", true, &text));
	check_views(request.profile);
	profile_free(request.profile);
	attributor_free(request.attributor);
	return text;
}

/* Check that the summary does not depend on the number of threads. */
static void compare_thread_counts(struct recording *recording)
{
	char *one = summarize_with_threads(recording, 1),
	     *three = summarize_with_threads(recording, 3);

	fuzz_assert(!strcmp(one, three));
	free(one);
	free(three);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording_error error;
	struct recording *recording;
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		fuzz_assert(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	fuzz_assert(!ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
	if (recording_open(path, &recording, &error) < 0)
		return 0;
	summarize_recording(recording);
	compare_thread_counts(recording);
	recording_free(recording);
	return 0;
}
