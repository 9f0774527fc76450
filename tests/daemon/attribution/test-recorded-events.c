// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test which task a sample belongs to if TIDs are reused, and processes execute programs and move,
 * while a recording runs: from a perf.data with events in any order to the rows.
 */
#include "test.h"

#include "attribution/timeline.h"
#include "gen/perfgen.h"
#include "profile/profile.h"
#include "recording/recording.h"
#include "daemon/symbols/elf-load.h"
#include "tasks/task-event.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A tick of the counter is 16 ns. Tick 0 is at 1000 ns. */
#define TICK_SHIFT 10
#define TICK_MULT  (16 << 10)
#define TICK_ZERO  1000
#define TICKS(ns)  (((ns)-TICK_ZERO) / 16)

#define NO_CONTEXT 0
#define AT_END	   0

#define MANY 10000 /* processes */

static struct perfgen gen;
static char temp_path[64];
static int temp_fd;

struct written_sample {
	s32 tid; /* NO_CONTEXT: the record has no Context packet */
	u64 time;
};

/* Write one AUXTRACE of CPU @cpu, with a record for each of @samples. */
static void put_samples(const struct written_sample *samples, size_t n, u32 cpu)
{
	static u8 buf[64 * 64];
	size_t len = 0;
	int r;

	for (size_t i = 0; i < n; i++) {
		struct spe_sample s = {
			.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP |
				   (samples[i].time ? SPE_HAS_TIMESTAMP : 0) |
				   (samples[i].tid ? SPE_HAS_CONTEXT(0) : 0),
			.address = { 0x400100 },
			.events = 2,
			.events_size = 1,
			.timestamp = TICKS(samples[i].time),
			.context = { (u32)samples[i].tid },
		};

		r = spe_record_encode(&s, buf + len, sizeof(buf) - len);
		assert_true(r > 0);
		len += (size_t)r;
	}
	perfgen_put_aux(&gen, 0, len, 0, -1, (s32)cpu);
	perfgen_put_auxtrace(&gen, 0, buf, len, -1, (s32)cpu);
}

struct written_event {
	enum { FORK, EXIT, COMM, EXEC, IN, OUT, START, ROUND } type;
	u64 time;
	s32 pid;
	s32 tid;
	s32 parent;
	const char *name;
};

static void put_task_event(const struct written_event *t)
{
	static const u32 types[] = {
		[FORK] = PERF_RECORD_FORK,
		[EXIT] = PERF_RECORD_EXIT,
		[COMM] = PERF_RECORD_COMM,
		[EXEC] = PERF_RECORD_COMM,
		[IN] = PERF_RECORD_SWITCH,
		[OUT] = PERF_RECORD_SWITCH,
		[ROUND] = 68,
		[START] = PERF_RECORD_ITRACE_START,
	};

	perfgen_begin_record(&gen, types[t->type],
			     t->type == EXEC ? PERF_RECORD_MISC_COMM_EXEC :
			     t->type == OUT  ? PERF_RECORD_MISC_SWITCH_OUT :
					       0);
	if (t->type == FORK || t->type == EXIT) {
		perfgen_put_u32(&gen, (u32)t->pid);
		perfgen_put_u32(&gen, (u32)t->parent);
		perfgen_put_u32(&gen, (u32)t->tid);
		perfgen_put_u32(&gen, (u32)t->parent);
		perfgen_put_u64(&gen, t->time);
	} else if (t->type == COMM || t->type == EXEC || t->type == START) {
		perfgen_put_u32(&gen, (u32)t->pid);
		perfgen_put_u32(&gen, (u32)t->tid);
	}
	if (t->name)
		perfgen_put_string(&gen, t->name);
	if (t->type != ROUND)
		perfgen_put_trailer(&gen, t->tid, t->time, 1);
	perfgen_end_record(&gen);
}

/*
 * Events in order of time: PID 60 is reused, and TID 61 is first a thread of PID 60, later a
 * process.
 */
static const struct written_event events[] = {
	{ COMM, 0, 50, 50, 0, "shell" },     { FORK, 2000, 60, 60, 50, NULL },
	{ EXEC, 3000, 60, 60, 0, "first" },  { FORK, 3500, 60, 61, 60, NULL },
	{ EXIT, 3900, 60, 61, 60, NULL },    { EXIT, 4000, 60, 60, 50, NULL },
	{ FORK, 5000, 60, 60, 50, NULL },    { EXEC, 6000, 60, 60, 0, "second" },
	{ FORK, 7000, 61, 61, 50, NULL },    { EXEC, 7500, 61, 61, 0, "third" },
	{ EXEC, 8000, 61, 61, 0, "fourth" },
};

static const struct written_sample samples[] = {
	{ 60, 1600 }, { 50, 1600 }, { 60, 2500 }, { 60, 3020 },	 { 60, 3500 }, { 61, 3600 },
	{ 61, 2600 }, { 60, 5500 }, { 60, 6020 }, { 60, 6700 },	 { 60, 9000 }, { 61, 7200 },
	{ 61, 7700 }, { 61, 7900 }, { 61, 9000 }, { 61, 99000 }, { 0, 9000 },
};

struct expected_row {
	s32 pid;
	const char *name;
	u64 samples;
};

/* The correct rows: TID 60 at 1600 and TID 61 at 2600 did not exist, and one sample has no task. */
static const struct expected_row timed_rows[] = {
	{ 50, "shell", 1 }, { 60, "shell", 2 }, { 60, "first", 3 },  { 60, "second", 3 },
	{ 61, "shell", 1 }, { 61, "third", 2 }, { 61, "fourth", 2 },
};

/* The expected rows if there is no clock: all samples of a TID belong to its last process. */
static const struct expected_row last_rows[] = {
	{ 50, "shell", 1 },
	{ 60, "second", 8 },
	{ 61, "fourth", 7 },
};

struct replayed_recording {
	struct attributor *attributor;
	struct profile *profile;
	struct symbols_cache *symbols;
	struct view view;
};

static void replay_recording(enum view_group group, struct replayed_recording *ret)
{
	const struct symbols_config names = { .wait_ms = 60000 };
	const struct attributor_config config = { .live = false };
	struct recording_error error = { .text = "" };
	struct recording *recording;
	struct source_sink sink;

	assert_int_equal(ftruncate(temp_fd, 0), 0);
	assert_int_equal(pwrite(temp_fd, gen.buf, gen.len, 0), gen.len);
	assert_int_equal(attributor_new(&config, &ret->attributor), 0);
	assert_int_equal(profile_new(NULL, ret->attributor, &ret->profile), 0);
	assert_int_equal(symbols_new(&names, &ret->symbols), 0);
	sink = profile_make_sink(ret->profile);
	assert_int_equal(recording_open(temp_path, &recording, &error), 0);
	assert_int_equal(recording_replay(recording, &sink, &error), 0);
	recording_free(recording);
	assert_int_equal(profile_create_view(ret->profile, ret->symbols, false, group,
					     VIEW_SORT_SAMPLES, 0, &ret->view),
			 0);
}

static void replayed_recording_free(struct replayed_recording *r)
{
	view_clear(&r->view);
	symbols_free(r->symbols);
	profile_free(r->profile);
	attributor_free(r->attributor);
}

static void check_rows(const struct expected_row *rows, size_t n, u64 unattributed)
{
	struct replayed_recording r;

	replay_recording(VIEW_PROCESS, &r);
	assert_row(r.view.header.unattributed == unattributed);
	for (size_t i = 0; i < n; i++) {
		u64 found = 0;

		for (u32 k = 0; k < r.view.count; k++)
			if (r.view.rows[k].pid == rows[i].pid &&
			    !strcmp(r.view.rows[k].process, rows[i].name))
				found += r.view.rows[k].samples;
		if (found != rows[i].samples)
			print_error("%d %s: %llu samples, want %llu\n", rows[i].pid, rows[i].name,
				    (unsigned long long)found, (unsigned long long)rows[i].samples);
		assert_row(found == rows[i].samples);
	}
	replayed_recording_free(&r);
}

/* Check the function of the only sample. */
static void check_function(const char *want)
{
	struct replayed_recording r;

	replay_recording(VIEW_FUNCTION, &r);
	assert_row(r.view.count == 1);
	if (strcmp(r.view.rows[0].function, want))
		print_error("\"%s\", want \"%s\"\n", r.view.rows[0].function, want);
	assert_row(!strcmp(r.view.rows[0].function, want));
	replayed_recording_free(&r);
}

static void begin_recording(bool big, bool pipe, bool clock)
{
	perfgen_begin(&gen, big, pipe, 1024);
	perfgen_put_auxtrace_info(&gen, 1, NULL, 0);
	if (clock)
		perfgen_put_time_conv(&gen, TICK_SHIFT, TICK_MULT, TICK_ZERO);
}

/*
 * Write events of two CPUs, those of one CPU after those of the other, with and without
 * FINISHED_ROUND.
 */
static void put_events(unsigned int order)
{
	static const struct written_event round = { .type = ROUND };
	const size_t n = ARRAY_SIZE(events);

	for (size_t i = 0; i < n; i++) {
		size_t at = i;

		if (order == 1) /* in reverse order */
			at = n - 1 - i;
		else if (order == 2) /* the events at odd positions first */
			at = i < (n + 1) / 2 ? 2 * i : 2 * (i - (n + 1) / 2) + 1;
		else if (order == 3) /* each pair swapped, and a round after each pair */
			at = (i ^ 1) < n ? i ^ 1 : i;
		put_task_event(&events[at]);
		if (order == 3 && i % 2)
			put_task_event(&round);
	}
}

static void test_time_decides_task(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 32; i++) {
		test_row("order %u, %s, %s, samples %s", i / 8, i & 1 ? "big-endian" : "little",
			 i & 2 ? "pipe" : "file", i & 4 ? "first" : "last");
		begin_recording(i & 1, i & 2, true);
		if (i & 4)
			put_samples(samples, ARRAY_SIZE(samples), 0);
		put_events(i / 8);
		if (!(i & 4))
			put_samples(samples, ARRAY_SIZE(samples), 0);
		perfgen_end(&gen);
		check_rows(timed_rows, ARRAY_SIZE(timed_rows), 3);
	}
}

/* Without TIME_CONV or without timestamps, all samples of a TID belong to its last process. */
static void test_no_clock_uses_last_process(void **state)
{
	struct written_sample untimed[ARRAY_SIZE(samples)];

	(void)state;
	begin_recording(false, false, false);
	put_events(0);
	put_samples(samples, ARRAY_SIZE(samples), 0);
	perfgen_end(&gen);
	check_rows(last_rows, ARRAY_SIZE(last_rows), 1);

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		untimed[i] = (struct written_sample){ samples[i].tid, AT_END };
	begin_recording(false, false, true);
	put_events(0);
	put_samples(untimed, ARRAY_SIZE(untimed), 0);
	perfgen_end(&gen);
	check_rows(last_rows, ARRAY_SIZE(last_rows), 1);
}

/*
 * If records have no Context packet, SWITCH and ITRACE_START determine the task of samples on their
 * CPU.
 */
static void test_switches_give_tasks(void **state)
{
	static const struct written_event switches[] = {
		{ IN, 5200, 60, 60, 0, NULL },	  { OUT, 5400, 60, 60, 0, NULL },
		{ START, 2200, 50, 50, 0, NULL }, { OUT, 2300, 50, 50, 0, NULL },
		{ IN, 2300, 60, 60, 0, NULL },	  { OUT, 3200, 60, 60, 0, NULL },
		{ IN, 8800, 0, 0, 0, NULL },
	};
	static const struct written_sample blind[] = {
		{ NO_CONTEXT, 2100 }, { NO_CONTEXT, 2220 }, { NO_CONTEXT, 2400 },
		{ NO_CONTEXT, 3100 }, { NO_CONTEXT, 4000 }, { NO_CONTEXT, 5300 },
		{ NO_CONTEXT, 6500 }, { NO_CONTEXT, 9000 }, { 60, 9000 },
	};
	static const struct expected_row rows[] = { { 50, "shell", 1 },
						    { 60, "shell", 2 },
						    { 60, "first", 1 },
						    { 60, "second", 1 },
						    { 0, "swapper", 1 } };

	(void)state;
	begin_recording(false, false, true);
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
		put_task_event(&switches[i]);
	put_events(0);
	put_samples(blind, ARRAY_SIZE(blind), 1);
	perfgen_end(&gen);
	test_row("switches of that CPU");
	check_rows(rows, ARRAY_SIZE(rows), 3);

	begin_recording(false, false, true);
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
		put_task_event(&switches[i]);
	put_events(0);
	put_samples(blind, ARRAY_SIZE(blind), 0);
	perfgen_end(&gen);
	test_row("switches of another CPU");
	check_rows(rows + 3, 1, 8);
}

static void send_event(struct attributor *a, const struct task_event *e)
{
	attributor_apply_event(a, e);
}

static u32 find_process(struct attributor *a, s32 tid, u64 time_ns)
{
	struct attribute_span span;

	return attributor_find_process_at(a, tid, time_ns, &span);
}

/*
 * A move between cgroups includes threads and keeps mappings. Earlier samples stay with the former
 * container.
 */
static void test_moves_between_cgroups(void **state)
{
	const struct attributor_config config = { .live = false };
	struct attribute_location location;
	struct attributor *a;
	u32 before, after;

	(void)state;
	assert_int_equal(attributor_new(&config, &a), 0);
	send_event(a,
		   &(struct task_event){
			   .type = TASK_COMM, .pid = 7, .tid = 7, .name = "web", .time_ns = 500 });
	send_event(a, &(struct task_event){ .type = TASK_MMAP,
					    .pid = 7,
					    .tid = 7,
					    .name = "/bin/web",
					    .start = 0x1000,
					    .size = 0x1000,
					    .time_ns = 500 });
	send_event(a, &(struct task_event){
			      .type = TASK_CGROUP, .pid = 7, .name = "/lxc/one", .time_ns = 600 });
	send_event(a, &(struct task_event){ .type = TASK_FORK,
					    .pid = 7,
					    .tid = 8,
					    .parent_pid = 7,
					    .name = "",
					    .time_ns = 700 });
	send_event(a, &(struct task_event){
			      .type = TASK_CGROUP, .pid = 7, .name = "/lxc/two", .time_ns = 900 });
	send_event(a, &(struct task_event){
			      .type = TASK_CGROUP, .pid = 7, .name = "/lxc/two", .time_ns = 950 });

	/*
	 * Before the first event with its container, a process counts as being in that container.
	 */
	before = find_process(a, 7, 100);
	assert_string_equal(
		attributor_get_container(a, attributor_get_process(a, before)->container)->name,
		"one");
	assert_int_equal(find_process(a, 7, 899), before);
	assert_int_equal(find_process(a, 8, 750), before);
	assert_int_equal(find_process(a, 8, 650), ATTRIBUTE_NONE);
	after = find_process(a, 7, 900);
	assert_int_not_equal(after, before);
	assert_int_equal(find_process(a, 8, 900), after);
	assert_int_equal(find_process(a, 7, ATTRIBUTE_AT_END - 1), after);
	assert_string_equal(
		attributor_get_container(a, attributor_get_process(a, after)->container)->name,
		"two");
	assert_string_equal(attributor_get_process(a, after)->comm, "web");
	assert_true(attributor_locate_pc(a, after, 0x1010, false, &location));
	assert_string_equal(location.binary, "/bin/web");
	attributor_free(a);
}

#define EXECS 1000

/* A process executes many programs, and moves in between. All samples of its main thread are found. */
static void test_many_execs(void **state)
{
	const struct attributor_config config = { .live = false };
	static const char *const cgroups[] = { "/lxc/one", "/lxc/two" };
	struct attributor_stats stats;
	struct attributor *a;

	(void)state;
	assert_int_equal(attributor_new(&config, &a), 0);
	for (u32 i = 0; i < EXECS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "step%u", i);
		send_event(a, &(struct task_event){ .type = TASK_COMM,
						    .pid = 7,
						    .tid = 7,
						    .exec = true,
						    .name = name,
						    .time_ns = 1000 + 100 * i });
		send_event(a, &(struct task_event){ .type = TASK_CGROUP,
						    .pid = 7,
						    .name = cgroups[i % 2],
						    .time_ns = 1050 + 100 * i });
	}
	for (u32 i = 0; i < EXECS; i++) {
		u32 index = find_process(a, 7, 1060 + 100 * i);
		const struct attribute_process *p;
		char name[16];

		snprintf(name, sizeof(name), "step%u", i);
		assert_int_not_equal(index, ATTRIBUTE_NONE);
		p = attributor_get_process(a, index);
		assert_string_equal(p->comm, name);
		assert_string_equal(attributor_get_container(a, p->container)->name,
				    i % 2 ? "two" : "one");
	}
	attributor_get_stats(a, &stats);
	assert_int_equal(stats.unresolved, 0);
	attributor_free(a);
}

/*
 * If the table is full, samples of evicted processes are unattributed, and belong to no other
 * process.
 */
static void test_evicted_process_is_unattributed(void **state)
{
	const struct attributor_config config = { .processes = 4, .threads = 64 };
	struct attributor *a;
	u32 index;

	(void)state;
	assert_int_equal(attributor_new(&config, &a), 0);
	for (u32 i = 1; i <= 20; i++)
		send_event(a, &(struct task_event){ .type = TASK_FORK,
						    .pid = 100,
						    .tid = 100,
						    .parent_pid = 1,
						    .name = "",
						    .time_ns = 1000 * i });
	for (u32 i = 1; i <= 20; i++) {
		index = find_process(a, 100, 1000 * i + 500);
		assert_int_equal(index == ATTRIBUTE_NONE, i <= 18);
	}
	attributor_free(a);
}

/*
 * The recording of a build has thousands of processes, each of which executes a program. The
 * default table holds all of them, so that every sample belongs to its process.
 */
static void test_many_processes(void **state)
{
	const struct attributor_config config = { .live = false };
	struct attributor_stats stats;
	struct attributor *a;
	s32 pid;
	u32 index;

	(void)state;
	assert_int_equal(attributor_new(&config, &a), 0);
	for (u32 i = 0; i < MANY; i++) {
		pid = (s32)(100 + i);
		send_event(a, &(struct task_event){ .type = TASK_FORK,
						    .pid = pid,
						    .tid = pid,
						    .parent_pid = 1,
						    .name = "",
						    .time_ns = 1000 + 100 * i });
		send_event(a, &(struct task_event){ .type = TASK_COMM,
						    .pid = pid,
						    .tid = pid,
						    .exec = true,
						    .name = "cc1",
						    .time_ns = 1010 + 100 * i });
		send_event(a, &(struct task_event){ .type = TASK_EXIT,
						    .pid = pid,
						    .tid = pid,
						    .parent_pid = 1,
						    .name = "",
						    .time_ns = 1090 + 100 * i });
	}
	for (u32 i = 0; i < MANY; i++) {
		index = find_process(a, (s32)(100 + i), 1050 + 100 * i);
		assert_int_not_equal(index, ATTRIBUTE_NONE);
		assert_int_equal(attributor_get_process(a, index)->pid, 100 + i);
		assert_string_equal(attributor_get_process(a, index)->comm, "cc1");
	}
	attributor_get_stats(a, &stats);
	assert_int_equal(stats.processes_evicted, 0);
	attributor_free(a);
}

/*
 * Compare the timeline with a linear search, for any order of insertion. If entries have the same
 * time, the last one is used.
 */
static void test_timeline_equals_linear_search(void **state)
{
	struct {
		u32 key, value;
		u64 from;
	} entries[200];
	struct timeline t = { .max = 150 };
	const struct timeline_span *span;
	unsigned int seed = 3;
	u64 end = UINT64_MAX;

	(void)state;
	for (u32 i = 0; i < 200; i++) {
		entries[i].key = (u32)rand_r(&seed) % 9;
		entries[i].from = (u64)rand_r(&seed) % 400;
		entries[i].value = i;
		timeline_add(&t, entries[i].key, entries[i].from, i, i + 1);
		/* The capacity must be a power of two. */
		if (i >= 128 && entries[i].from < end)
			end = entries[i].from;
	}
	for (u32 n = 0; n < 100000; n++) {
		u32 key = (u32)rand_r(&seed) % 10, want = UINT32_MAX;
		u64 time = (u64)rand_r(&seed) % 420, best = 0;
		bool any = false;
		enum timeline_found found;

		for (u32 i = 0; i < 128; i++) {
			any |= entries[i].key == key;
			if (entries[i].key != key || entries[i].from > time ||
			    (want != UINT32_MAX && entries[i].from < best))
				continue;
			want = entries[i].value;
			best = entries[i].from;
		}
		found = timeline_find(&t, key, time, &span);
		test_row("key %u at %llu", key, (unsigned long long)time);
		if (time >= end) {
			assert_row(found == TIMELINE_TOO_EARLY);
			continue;
		}
		assert_row(found == (want != UINT32_MAX ? TIMELINE_FOUND :
				     any		? TIMELINE_TOO_EARLY :
							  TIMELINE_NO_KEY));
		if (found == TIMELINE_FOUND)
			assert_row(span->value == want && span->extra == want + 1);
	}
	timeline_deinit(&t);
}

/* Find a function of this program. Return: its file offset. */
static u64 find_function(const struct elf_object *self, const char **ret_name)
{
	u64 vaddr;

	for (u64 offset = 0x1000; offset < 16 << 20; offset += 4) {
		*ret_name = elf_get_vaddr(self, offset, &vaddr) ?
				    symtab_find(&self->symbols, vaddr) :
				    NULL;
		if (*ret_name)
			return offset;
	}
	fail_msg("this program has no symbols");
	return 0;
}

static void put_mapping(const char *path, u64 offset)
{
	perfgen_begin_record(&gen, PERF_RECORD_MMAP, 0);
	perfgen_put_u32(&gen, 50);
	perfgen_put_u32(&gen, 50);
	perfgen_put_u64(&gen, 0x400000);
	perfgen_put_u64(&gen, 0x10000);
	perfgen_put_u64(&gen, offset - 0x100); /* the samples are at 0x400100 */
	perfgen_put_string(&gen, path);
	perfgen_put_trailer(&gen, 50, 0, 0);
	perfgen_end_record(&gen);
}

/* Names come from the mapped file if its build ID matches, otherwise there are none. */
static void test_names_need_matching_build_id(void **state)
{
	static const struct written_sample sampled[] = { { 50, 1600 } };
	struct elf_object self = { .symbols = { .limit = 4 << 20 } };
	char path[512] = "", want[640];
	const char *name;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	u64 offset;

	(void)state;
	assert_true(fd >= 0 && readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(elf_load(fd, &self), 0);
	close(fd);
	assert_int_equal(self.build_id_size, 20);
	offset = find_function(&self, &name);
	for (unsigned int i = 0; i < 16; i++) {
		bool recorded = i & 4, right = i & 8;
		u8 id[20];

		test_row("%s, %s, build id %s, %s", i & 1 ? "big-endian" : "little-endian",
			 i & 2 ? "pipe" : "file", recorded ? "recorded" : "not recorded",
			 right ? "right" : "wrong");
		memcpy(id, self.build_id, sizeof(id));
		id[19] ^= !right;
		begin_recording(i & 1, i & 2, true);
		if (recorded)
			perfgen_add_build_id(&gen, path, id);
		put_mapping(path, offset);
		put_samples(sampled, 1, 0);
		perfgen_end(&gen);
		snprintf(want, sizeof(want), "%s+0x%llx", strrchr(path, '/') + 1,
			 (unsigned long long)offset);
		if (recorded && right)
			snprintf(want, sizeof(want), "%s", name);
		else if (recorded)
			snprintf(want + strlen(want), 16, " [%02x%02x%02x%02x%02x%02x]", id[0],
				 id[1], id[2], id[3], id[4], id[5]);
		check_function(want);
	}
	symtab_clear(&self.symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_decides_task),
		cmocka_unit_test(test_no_clock_uses_last_process),
		cmocka_unit_test(test_switches_give_tasks),
		cmocka_unit_test(test_moves_between_cgroups),
		cmocka_unit_test(test_many_execs),
		cmocka_unit_test(test_names_need_matching_build_id),
		cmocka_unit_test(test_evicted_process_is_unattributed),
		cmocka_unit_test(test_timeline_equals_linear_search),
		cmocka_unit_test(test_many_processes),
	};

	temp_fd = memfd_create("tasks", MFD_CLOEXEC);
	snprintf(temp_path, sizeof(temp_path), "/proc/self/fd/%d", temp_fd);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
