// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Count generated recordings with one thread and with several, and compare every byte of the
 * command's output. The recordings have exec, fork, reused PIDs, dlopen, generated code, moves
 * between cgroups, context switches, lost bytes, and damaged bytes.
 *
 * The build with -fsanitize=thread (parallel-count-threads) also detects data races.
 */
#include "test.h"

#include "lib/parallel-count.h"
#include "lib/progress.h"
#include "lib/rows.h"
#include "output/pprof.h"
#include "output/profile-json.h"
#include "output/query-json.h"
#include "profile/profile-read.h"
#include "query/query-result.h"
#include "recording/recorder.h"
#include "tasks/task-event.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* With -fsanitize=thread, a recording takes several seconds. */
#ifdef __SANITIZE_THREAD__
#define SEEDS 1
#define MANY  3
#else
#define SEEDS 2
#define MANY  16
#endif

#define STEPS	 300
#define RECORDS	 60
#define TASKS	 12
#define FIRST	 100 /* PID */
#define CPUS	 4
#define PROGRAMS 5
#define CODE	 0x400000ULL
#define LIBRARY	 0x7f0000000000ULL
#define SIZE	 0x10000ULL

/** struct recording_maker - generates one recording; @time: ns */
struct recording_maker {
	u64 random;
	u64 time;
	struct source_sink sink;
};

static u64 draw_below(struct recording_maker *m, u64 below)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (m->random >> 11) % below;
}

static s32 draw_pid(struct recording_maker *m)
{
	return FIRST + (s32)draw_below(m, TASKS);
}

static void put_event(struct recording_maker *m, const struct task_event *event)
{
	struct task_event e = *event;

	m->time += draw_below(m, 400);
	e.time_ns = m->time;
	e.tid = e.tid ? e.tid : e.pid;
	m->sink.task(m->sink.ctx, &e);
}

/* Files with one build id have several paths, as in the root directories of containers. */
static void put_mapping(struct recording_maker *m, s32 pid, u64 start, const char *folder,
			u64 number)
{
	u8 build_id[20] = { (u8)(number + 1) };
	bool known = draw_below(m, 4);
	char path[64];

	snprintf(path, sizeof(path), "/%s%u/file-%u", folder, (unsigned int)draw_below(m, 3),
		 (unsigned int)number);
	put_event(m, &(struct task_event){
			     .type = TASK_MMAP,
			     .pid = pid,
			     .name = path,
			     .start = start,
			     .size = SIZE,
			     .offset = 0x1000 * draw_below(m, 2),
			     .inode = number,
			     .build_id = known ? build_id : NULL,
			     .build_id_size = known ? sizeof(build_id) : 0,
		     });
}

static void put_exec(struct recording_maker *m, s32 pid)
{
	u64 program = draw_below(m, PROGRAMS);
	char name[16];

	snprintf(name, sizeof(name), "program-%u", (unsigned int)program);
	put_event(m, &(struct task_event){
			     .type = TASK_COMM, .pid = pid, .name = name, .exec = true });
	put_mapping(m, pid, CODE, "bin", program);
}

static void put_task(struct recording_maker *m)
{
	s32 pid = draw_pid(m);
	char group[32];

	switch (draw_below(m, 8)) {
	case 0:
		put_exec(m, pid);
		break;
	case 1:
		put_event(m, &(struct task_event){ .type = TASK_FORK,
						   .pid = pid,
						   .parent_pid = draw_pid(m),
						   .name = "" });
		break;
	case 2:
		put_event(m, &(struct task_event){ .type = TASK_EXIT, .pid = pid, .name = "" });
		break;
	case 3:
		put_mapping(m, pid, LIBRARY + SIZE * draw_below(m, 3), "lib",
			    PROGRAMS + draw_below(m, 4));
		break;
	case 4: /* generated code */
		put_event(m, &(struct task_event){ .type = TASK_MMAP,
						   .pid = pid,
						   .name = "//anon",
						   .start = LIBRARY + SIZE * draw_below(m, 3),
						   .size = SIZE });
		break;
	case 5:
		snprintf(group, sizeof(group), "/group-%u", (unsigned int)draw_below(m, 3));
		put_event(m,
			  &(struct task_event){ .type = TASK_CGROUP, .pid = pid, .name = group });
		break;
	default:
		put_event(m, &(struct task_event){ .type = TASK_SWITCH,
						   .pid = -1,
						   .tid = draw_below(m, 9) ? pid : -1,
						   .cpu = (u32)draw_below(m, CPUS),
						   .name = "" });
	}
}

static struct spe_sample make_random_sample(struct recording_maker *m)
{
	static const u64 areas[] = { CODE, LIBRARY, LIBRARY + SIZE, LIBRARY + 2 * SIZE, 0x1000 };
	struct spe_sample s = {
		.present = SPE_HAS_ADDRESS(SPE_ADDRESS_PC) | SPE_HAS_EVENTS | SPE_HAS_OP |
			   SPE_HAS_TIMESTAMP | SPE_HAS_COUNTER(SPE_COUNTER_TOTAL),
		.address = { [SPE_ADDRESS_PC] = areas[draw_below(m, 5)] +
						4 * draw_below(m, draw_below(m, 4) ? 8 : 500) },
		.op_class = (u8)draw_below(m, 3),
		.events = 2 | draw_below(m, 8) << 5,
		.events_size = 2,
		.timestamp = m->time - draw_below(m, 2000) % (m->time + 1),
	};

	/* An address of the kernel, executed at EL1 */
	if (!draw_below(m, 6))
		s.address[SPE_ADDRESS_PC] = 0xa0ff800000000000ULL | draw_below(m, 64) << 2;
	if (s.op_class == SPE_OP_LOAD_STORE) {
		s.op_subclass = (u8)draw_below(m, 2);
		s.present |= SPE_HAS_ADDRESS(SPE_ADDRESS_VA);
		s.address[SPE_ADDRESS_VA] = 0x7000000 + 8 * draw_below(m, 256);
		s.events |= draw_below(m, 2) << 3;
	}
	if (draw_below(m, 2))
		s.present |= SPE_HAS_COUNTER(SPE_COUNTER_ISSUE);
	for (unsigned int i = 0; i < 2; i++)
		s.counter[i] = (u16)(draw_below(m, 4096) >> draw_below(m, 12));
	if (draw_below(m, 3)) {
		s.present |= SPE_HAS_CONTEXT(SPE_CONTEXT_EL1);
		s.context[SPE_CONTEXT_EL1] = (u32)draw_pid(m) + !draw_below(m, 20) * 1000;
	}
	return s;
}

static void put_window(struct recording_maker *m, u32 records,
		       struct spe_sample (*sample)(struct recording_maker *m))
{
	static u8 bytes[RECORDS * 64];
	struct source_window window = {
		.data = bytes,
		.midr = draw_below(m, 2) ? 0x410fd0c0 : 0x410fd490,
		.start_ns = m->time,
		.lost_bytes = draw_below(m, 10) ? 0 : 64,
		.blind_ns = draw_below(m, 100),
		.written = WINDOW_WRITTEN_UNKNOWN,
		.interval = draw_below(m, 4) ? 1024 : 4096,
		.unit = UNIT_INSTRUCTIONS,
		.cpu = (u32)draw_below(m, CPUS),
		.tid = -1,
		.flags = draw_below(m, 12) ? 0 : WINDOW_TRUNCATED,
		.backend = BACKEND_EMULATED,
		/* One tick of the counter is one nanosecond. */
		.clock = { .mult = 1U << 10, .shift = 10 },
	};

	for (u32 i = 0; i < records; i++) {
		struct spe_sample s;
		int n;

		m->time += draw_below(m, 50);
		s = sample(m);
		n = spe_record_encode(&s, bytes + window.len, sizeof(bytes) - window.len);
		assert_true(n > 0);
		window.len += (size_t)n;
	}
	window.end_ns = m->time;
	m->sink.window(m->sink.ctx, &window);
}

static void put_whole_recording(struct recording_maker *m)
{
	for (s32 pid = FIRST; pid < FIRST + TASKS / 2; pid++)
		put_exec(m, pid);
	for (u32 i = 0; i < STEPS; i++) {
		put_task(m);
		if (draw_below(m, 2))
			put_window(m, 1 + (u32)draw_below(m, RECORDS - 1), make_random_sample);
	}
}

/* Return a descriptor of a recording that @fill generates. */
static int make_recording(u64 seed, enum recorder_format format,
			  void (*fill)(struct recording_maker *m))
{
	const struct recorder_config config = {
		.format = format, .backend = BACKEND_EMULATED, .cpus = CPUS, .command = "test"
	};
	struct recording_maker m = { .random = seed * 0x9e3779b97f4a7c15ULL + 1, .time = 1000 };
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct recorder *recorder;

	assert_true(fd >= 0);
	assert_int_equal(recorder_new(fd, &config, &recorder), 0);
	m.sink = recorder_make_sink(recorder);
	fill(&m);
	assert_int_equal(recorder_finish(recorder), 0);
	recorder_free(recorder);
	return fd;
}

/* Change some bytes after the header of the file, or cut off its end. */
static void damage_recording(int fd, u64 seed)
{
	struct recording_maker m = { .random = seed + 77 };
	off_t size = lseek(fd, 0, SEEK_END);

	for (u32 i = 0; i < 4; i++) {
		u8 byte = (u8)draw_below(&m, 256);

		assert_int_equal(pwrite(fd, &byte, 1, 300 + (off_t)draw_below(&m, (u64)size - 300)),
				 1);
	}
	if (draw_below(&m, 2))
		assert_int_equal(ftruncate(fd, size - (off_t)draw_below(&m, (u64)size / 2)), 0);
}

/* No file of the recordings exists, so no function has a name. */
static struct symbols_cache *symbols;

/** struct counted_recording - a recording that was counted; @pprof: profiles, indexed by thread */
struct counted_recording {
	struct attributor *attributor;
	struct profile *profile;
	struct pprof *pprof[COUNT_THREADS_MAX];
	u32 pprofs;
};

static int observe_with_pprof(void *ctx, struct profile *profile)
{
	struct counted_recording *c = ctx;

	return pprof_new(profile, c->attributor, false, NULL, &c->pprof[c->pprofs++]);
}

static void count_recording(int fd, u32 threads, bool observe, FILE *out,
			    struct counted_recording *c)
{
	const struct attributor_config tasks = { .processes = 4096 };
	struct count_request request = {
		.config = { .skip_memory = true },
		.threads = threads,
		.watch = observe ? observe_with_pprof : NULL,
		.ctx = c,
	};
	struct recording_error error = { .offset = 0 };
	struct recording *recording;
	struct count_result result;
	char path[32];
	int r;

	*c = (struct counted_recording){ 0 };
	assert_int_equal(attributor_new(&tasks, &c->attributor), 0);
	assert_int_equal(profile_new(&request.config, c->attributor, &c->profile), 0);
	request.attributor = c->attributor;
	request.profile = c->profile;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(recording_open(path, &recording, NULL), 0);
	r = parallel_count_samples(recording, &request, &result, &error);
	fprintf(out, "%d %s %llu-%llu %u %u\n", r, error.text, (unsigned long long)result.start_ns,
		(unsigned long long)result.end_ns, result.backend, result.explained);
	recording_free(recording);
}

static void counted_recording_deinit(struct counted_recording *c)
{
	for (u32 i = 0; i < c->pprofs; i++)
		pprof_free(c->pprof[i]);
	profile_free(c->profile);
	attributor_free(c->attributor);
}

static void print_queries(struct counted_recording *c, FILE *out)
{
	static const char *const groups[] = { "function", "line", "program,binary",
					      "container,instruction", "function,op,level,event" };
	const struct query_source source = { .profile = c->profile, .symbols = symbols };
	const struct view_header *header = profile_get_header(c->profile);

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct query query = { .recording = "recording", .limit = 40 };
		struct query_result *result = NULL;
		struct query_error error;
		struct query_rows rows;
		int r;

		assert_int_equal(query_parse_group(groups[i], &query, &error), 0);
		r = query_run(&source, &query, &result, &error);
		fprintf(out, "%d\n", r);
		if (r == 0)
			rows = query_rows_get(result);
		query_json_write(out, header, &query, r ? NULL : &rows);
		query_result_free(result);
	}
}

static void print_views(struct counted_recording *c, FILE *out)
{
	static const enum view_group groups[] = { VIEW_FUNCTION, VIEW_LINE,    VIEW_PROGRAM,
						  VIEW_BINARY,	 VIEW_PROCESS, VIEW_CONTAINER };
	static const enum view_sort sorts[] = { VIEW_SORT_SAMPLES, VIEW_SORT_LATENCY,
						VIEW_SORT_P99 };
	char *text;

	for (size_t i = 0; i < ARRAY_SIZE(groups) * ARRAY_SIZE(sorts); i++) {
		const struct options options = { .group = groups[i / ARRAY_SIZE(sorts)],
						 .sort = sorts[i % ARRAY_SIZE(sorts)] };
		struct view view;

		assert_int_equal(profile_create_view(c->profile, symbols, false, options.group,
						     options.sort, 40, &view),
				 0);
		rows_print_json(out, &view, &options);
		view_clear(&view);
	}
	print_queries(c, out);
	assert_int_equal(profile_summary_json(c->profile, "emulated", true, &text), 0);
	fputs(text, out);
	free(text);
}

/* Append the bytes of the pprof export. */
static void print_pprof(struct counted_recording *c, FILE *out)
{
	const struct pprof_metadata facts = { .backend = BACKEND_EMULATED };
	int fd = memfd_create("pprof", MFD_CLOEXEC);
	u8 bytes[4096];
	ssize_t n;

	for (u32 i = 1; i < c->pprofs; i++)
		assert_int_equal(pprof_merge(c->pprof[0], c->pprof[i]), 0);
	assert_true(fd >= 0);
	assert_int_equal(pprof_write(c->pprof[0], symbols, &facts, fd), 0);
	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		fwrite(bytes, 1, (size_t)n, out);
	close(fd);
}

/** struct output_text - output of the command; @records: number of records that were counted */
struct output_text {
	char *bytes;
	size_t size;
	u64 records;
	bool exact;
};

static struct output_text count_to_text(int fd, u32 threads)
{
	struct counted_recording c;
	struct output_text text = { 0 };
	FILE *out = open_memstream(&text.bytes, &text.size);
	struct view view;

	assert_non_null(out);
	count_recording(fd, threads, false, out, &c);
	text.exact = profile_is_exact(c.profile);
	print_views(&c, out);
	assert_int_equal(profile_create_view(c.profile, NULL, false, VIEW_CONTAINER,
					     VIEW_SORT_SAMPLES, 1, &view),
			 0);
	text.records = view.header.records;
	view_clear(&view);
	counted_recording_deinit(&c);
	count_recording(fd, threads, true, out, &c);
	/* If the header of a recording is damaged, no samples are counted or observed. */
	if (c.pprofs)
		print_pprof(&c, out);
	counted_recording_deinit(&c);
	fclose(out);
	return text;
}

static void assert_equal_texts(int fd, struct output_text *ret_one)
{
	static const u32 threads[] = { 2, 3, MANY };
	struct output_text one = count_to_text(fd, 1);

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		struct output_text many = count_to_text(fd, threads[i]);
		assert_row(many.size == one.size && !memcmp(many.bytes, one.bytes, one.size));
		free(many.bytes);
	}
	free(one.bytes);
	*ret_one = one;
}

static void test_any_recording(void **state)
{
	struct output_text text;
	int fd;

	(void)state;
	for (u64 seed = 0; seed < SEEDS; seed++) {
		for (u32 format = RECORDER_NATIVE; format <= RECORDER_PERF; format++) {
			test_row("seed %u, format %u", (unsigned int)seed, format);
			fd = make_recording(seed, format, put_whole_recording);
			assert_equal_texts(fd, &text);
			assert_row(text.records > STEPS && text.exact);
			damage_recording(fd, seed);
			assert_equal_texts(fd, &text);
			close(fd);
		}
	}
}

/* Make more combinations of events than a profile can number. */
static struct spe_sample make_next_combination(struct recording_maker *m)
{
	struct spe_sample s = make_random_sample(m);

	s.events = draw_below(m, 1 << 15);
	return s;
}

static void put_combinations(struct recording_maker *m)
{
	put_exec(m, FIRST);
	for (u32 i = 0; i < 700; i++)
		put_window(m, RECORDS, make_next_combination);
}

static void test_full_combination_table(void **state)
{
	int fd = make_recording(1, RECORDER_NATIVE, put_combinations);
	struct output_text text;

	(void)state;
	test_row("combinations");
	assert_equal_texts(fd, &text);
	assert_true(!text.exact);
	assert_int_equal(text.records, 700 * RECORDS);
	close(fd);
}

/* Write a recording without windows. */
static void put_exec_only(struct recording_maker *m)
{
	put_exec(m, FIRST);
}

/* Write a recording with fewer windows than there are threads. */
static void put_one_window(struct recording_maker *m)
{
	put_exec(m, FIRST);
	put_window(m, 3, make_random_sample);
}

static void test_fewer_windows_than_threads(void **state)
{
	int fd = make_recording(1, RECORDER_NATIVE, put_one_window);
	struct output_text text;

	(void)state;
	test_row("one window");
	assert_equal_texts(fd, &text);
	assert_int_equal(text.records, 3);
	close(fd);
	test_row("no window");
	fd = make_recording(1, RECORDER_NATIVE, put_exec_only);
	assert_equal_texts(fd, &text);
	assert_int_equal(text.records, 0);
	close(fd);
}

static void test_progress(void **state)
{
	struct progress progress = { 0 };
	char *text = NULL;
	size_t size = 0;

	(void)state;
	progress.out = open_memstream(&text, &size);
	assert_non_null(progress.out);
	progress_set(&progress, "counting samples", 1, 4);
	progress_show(&progress, 1999999999);
	progress_erase(&progress);
	fflush(progress.out);
	assert_int_equal(size, 0);
	progress_show(&progress, 2000000000);
	progress_set(&progress, "reading symbols", 0, 0);
	progress_show(&progress, 3100000000);
	progress_erase(&progress);
	progress_erase(&progress);
	fclose(progress.out);
	assert_string_equal(text, "\r\033[Kcounting samples: 25 %"
				  "\r\033[Kreading symbols: 3 s"
				  "\r\033[K");
	free(text);
}

static void test_progress_without_terminal(void **state)
{
	struct progress progress;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	progress_begin(&progress, out);
	progress_set(&progress, "counting samples", 1, 4);
	progress_end(&progress);
	fclose(out);
	assert_int_equal(size, 0);
	free(text);
}

static int group_setup(void **state)
{
	const struct symbols_config config = { .budget = 1 << 20, .wait_ms = 60000 };

	(void)state;
	return symbols_new(&config, &symbols);
}

static int group_teardown(void **state)
{
	(void)state;
	symbols_free(symbols);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_recording),
		cmocka_unit_test(test_full_combination_table),
		cmocka_unit_test(test_fewer_windows_than_threads),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_progress_without_terminal),
	};

	/*
	 * MALLOC_PERTURB_, which Meson sets, would write to all bytes of each thread's tables,
	 * which is slow.
	 */
	mallopt(M_PERTURB, 0);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
