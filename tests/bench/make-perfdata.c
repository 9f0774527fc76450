// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write a perf.data with any number of records, in the format of `perf record -e arm_spe_0//`:
 * tasks, their mappings, and alternating AUX data of several CPUs.
 * usage: make-perfdata RECORDS PROGRAM FILE [LOCATIONS]
 *
 * The tasks run PROGRAM. If that is a file of this machine, its build id is in the perf.data, which
 * needs the helper that SPEPROF_SYMBOLS names. LOCATIONS: number of instructions with samples.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attribution/maps.h"
#include "recording/recorder.h"
#include "records.h"
#include "symbols/symbols.h"
#include "tasks/task-event.h"

#define CPUS  4
#define CHUNK 8192 /* number of records in the AUX data of one AUXTRACE record */
#define MIDR  0x410fd0c0

/*
 * Read the build id of the program if it exists here, like perf record does. speprof finds names by
 * the build id. Returns its size; 0: the program does not exist here; or a negative errno.
 */
static int read_build_id(const char *program, u8 *id)
{
	const struct symbols_config config = { .wait_ms = 10000 };
	struct attribute_location location = { .binary = program };
	struct symbols_cache *symbols;
	struct stat st;
	u8 size;
	int r;

	if (stat(program, &st) < 0)
		return 0;
	r = symbols_new(&config, &symbols);
	if (r < 0)
		return r;
	location.inode = st.st_ino;
	size = symbols_get_build_id(symbols, 0, &location, id);
	symbols_free(symbols);
	return size ? size : -ENODATA;
}

static int write_tasks(const struct source_sink *sink, const char *program)
{
	u8 id[BUILD_ID_MAX];
	int size = read_build_id(program, id);

	if (size < 0) {
		fprintf(stderr,
			"make-perfdata: %s: cannot read its build id; should SPEPROF_SYMBOLS "
			"name the helper?\n",
			program);
		return size;
	}
	for (s32 tid = RECORDS_TID; tid < RECORDS_TID + RECORDS_TIDS; tid++) {
		struct task_event event = {
			.type = TASK_COMM,
			.name = "bench",
			.time_ns = 1,
			.pid = tid,
			.tid = tid,
		};

		sink->task(sink->ctx, &event);
		event.type = TASK_MMAP;
		event.name = program;
		event.start = RECORDS_PC & ~0xfffULL;
		event.size = (4 * RECORDS_PCS + 0xfff) & ~0xfffULL;
		event.offset = 0x28000;
		event.build_id = size ? id : NULL;
		event.build_id_size = (u8)size;
		sink->task(sink->ctx, &event);
	}
	return 0;
}

static void put_records(const struct source_sink *sink, u64 records, u32 locations)
{
	static u8 chunk[CHUNK * RECORDS_STRIDE];
	static struct record_generator maker;
	struct source_window window = {
		.data = chunk,
		.midr = MIDR,
		.tid = -1,
		.interval = 1024,
		.pmsver = 3,
		.written = WINDOW_WRITTEN_UNKNOWN,
		.backend = BACKEND_EMULATED,
		/* One tick of the counter is one nanosecond. */
		.clock = { .mult = 1U << 10, .shift = 10 },
	};
	u64 n;

	record_generator_init(&maker, 42);
	for (; records; records -= n) {
		n = records < CHUNK ? records : CHUNK;
		record_generator_fill(&maker, chunk, (u32)n);
		if (locations)
			record_generator_scatter_pcs(&maker, chunk, (u32)n, locations);
		window.len = (size_t)n * RECORDS_STRIDE;
		window.start_ns = window.end_ns;
		window.end_ns = maker.time;
		sink->window(sink->ctx, &window);
		window.cpu = (window.cpu + 1) % CPUS;
	}
}

int main(int argc, char **argv)
{
	const struct recorder_config config = {
		.format = RECORDER_PERF,
		.backend = BACKEND_EMULATED,
		.cpus = CPUS,
		.command = "make-perfdata",
	};
	u64 records = argc >= 4 ? strtoull(argv[1], NULL, 10) : 0;
	u32 locations = argc == 5 ? (u32)strtoul(argv[4], NULL, 10) : 0;
	struct recorder *recorder;
	struct source_sink sink;
	int fd, r;

	if (!records || argc > 5 || locations > RECORDS_PCS) {
		fprintf(stderr, "usage: make-perfdata RECORDS PROGRAM FILE [LOCATIONS]\n");
		return 2;
	}
	fd = open(argv[3], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	r = fd < 0 ? -errno : recorder_new(fd, &config, &recorder);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", argv[3], strerror(-r));
		return 1;
	}
	sink = recorder_make_sink(recorder);
	r = write_tasks(&sink, argv[2]);
	if (r >= 0) {
		put_records(&sink, records, locations);
		r = recorder_finish(recorder);
	}
	recorder_free(recorder);
	close(fd);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[3], strerror(-r));
	return r < 0;
}
