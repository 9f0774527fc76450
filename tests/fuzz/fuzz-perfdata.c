// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fuzz the reader of perf.data: it opens or refuses any file. Two replays are equal, deliver no
 * byte twice, and describe errors in a sentence.
 */
#include "fuzz.h"

#include "codec/record.h"
#include "recording/recording.h"
#include "tasks/task-event.h"

#include <sys/mman.h>
#include <unistd.h>

struct replay_counts {
	u64 bytes;
	u64 records;
	u64 tasks;
	u64 sum;
};

static void on_window(void *ctx, const struct source_window *window)
{
	struct replay_counts *seen = ctx;
	struct spe_decoder local, *decoder = source_window_get_decoder(window, &local);
	const u64 before = decoder->ledger.records;
	struct spe_sample sample;
	enum spe_decode_result r;

	fuzz_assert(window->clock.shift < 64);
	seen->sum +=
		window->flags + window->cpu + window->midr + (u32)window->tid + window->interval;
	do
		r = spe_decoder_next(decoder, &sample, NULL);
	while (r != SPE_DECODE_END && r != SPE_DECODE_MORE);
	fuzz_assert(decoder->open == (r == SPE_DECODE_MORE));
	seen->bytes += decoder->pos;
	seen->records += decoder->ledger.records - before;
}

static void on_task(void *ctx, const struct task_event *event)
{
	struct replay_counts *seen = ctx;

	fuzz_assert(event->type <= TASK_SWITCH);
	fuzz_assert(!event->build_id == !event->build_id_size && event->build_id_size <= 20);
	seen->tasks++;
	seen->sum += strlen(event->name) + event->time_ns + event->start + (u32)event->pid;
	for (u8 i = 0; i < event->build_id_size; i++)
		seen->sum += event->build_id[i];
}

static int replay_recording(struct recording *recording, struct replay_counts *ret_seen)
{
	const struct source_sink sink = { .window = on_window, .task = on_task, .ctx = ret_seen };
	struct recording_error error = { .text = "" };
	int r;

	*ret_seen = (struct replay_counts){ 0 };
	r = recording_replay(recording, &sink, &error);
	fuzz_assert(r == 0 || r == -EBADMSG || r == -ENOMSG);
	fuzz_assert(!r == !error.text[0]);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording_error error = { .text = "" };
	struct recording *recording;
	struct replay_counts first, second;
	static char path[64];
	static int fd = -1;
	int r;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		fuzz_assert(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	fuzz_assert(!ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
	r = recording_open(path, &recording, &error);
	if (r < 0) {
		fuzz_assert(r == (size ? -EBADMSG : -ENODATA));
		fuzz_assert(error.text[0]);
		return 0;
	}
	r = replay_recording(recording, &first);
	fuzz_assert(replay_recording(recording, &second) == r);
	fuzz_assert(!memcmp(&first, &second, sizeof(first)));
	fuzz_assert(first.bytes <= size);
	fuzz_assert(recording_get_format(recording) != RECORDING_RAW || first.bytes == size);
	recording_free(recording);
	return 0;
}
