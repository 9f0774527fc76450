// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the emulated source on the machine that runs the test. All instructions of a child are
 * known, which shows whether TIDs and PCs are correct.
 */
#include "test.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "codec/record.h"
#include "codec/registers.h"
#include "source/emulated-models.h"
#include "source/emulated-spu.h"
#include "source/source.h"
#include "util/cpu-list.h"

#define INTERVAL_NS 1000000
#define CPUS	    CPU_LIST_MAX

/* All code that the child executes is in a separate section, so that its bounds are known. */
extern const char __start_spin_text[], __stop_spin_text[];

__attribute__((noinline, noreturn, section("spin_text"))) static void spin_forever(void)
{
	for (volatile unsigned long turns = 0;; turns++)
		;
}

static u64 get_clock_ns(clockid_t id)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(id, &ts), 0);
	return (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
}

/*
 * The results and errors of a run. The sink records them here, because an assertion must not fail
 * in it.
 */
struct seen_windows {
	pid_t child;
	u64 windows;
	u64 written;
	u64 decoded;
	u64 suspect;
	u64 kinds[SPE_KINDS];
	u64 physical; /* number of records with a physical address, of loads and stores only */
	u64 atomic_loads; /* number of atomic loads, which a filter also treats as stores */
	u64 kernel;
	u64 child_inside;
	u64 child_outside;
	u64 child_time; /* number of timestamps of the child outside of their window */
	u64 armed_ns;
	u64 blind_ns;
	u64 blind_by[SOURCE_BLINDS];
	u64 blind_at_start; /* blind time before the first window of each CPU, ns */
	u64 end_ns[CPUS];
	u64 broken_time; /* number of windows that do not start at the end of the previous one */
	u64 broken_header;
	u64 faulted;
};

static void count_seen_sample(struct seen_windows *seen, const struct source_window *window,
			      const struct spe_sample *sample)
{
	u64 pc = spe_address_va(sample->address[SPE_ADDRESS_PC]);
	u8 el = spe_address_el(sample->address[SPE_ADDRESS_PC]);

	seen->kinds[spe_sample_kind(sample)]++;
	seen->atomic_loads +=
		spe_sample_kind(sample) == SPE_KIND_LOAD &&
		spe_op_format(sample->op_class, sample->op_subclass) == SPE_OP_FORMAT_LS_EXTENDED &&
		sample->op_subclass & SPE_OP_AT;
	seen->physical += spe_sample_has(sample, SPE_HAS_ADDRESS(SPE_ADDRESS_PA));
	seen->kernel += el == 1;
	if (!spe_sample_has(sample, SPE_HAS_CONTEXT(SPE_CONTEXT_EL1)) ||
	    sample->context[SPE_CONTEXT_EL1] != (u32)seen->child)
		return;
	if (sample->timestamp + INTERVAL_NS < window->start_ns ||
	    sample->timestamp > window->end_ns)
		seen->child_time++;
	if (el)
		return;
	if (pc >= (u64)(uintptr_t)__start_spin_text && pc < (u64)(uintptr_t)__stop_spin_text)
		seen->child_inside++;
	else
		seen->child_outside++;
}

static void count_seen_window(void *ctx, const struct source_window *window)
{
	const struct spe_decoder_config config = { window->max_record, window->align };
	struct seen_windows *seen = ctx;
	struct spe_decoder decoder;
	struct spe_sample sample;
	struct spe_range range;
	enum spe_decode_result r;

	seen->windows++;
	seen->written += window->written;
	if (window->backend != BACKEND_EMULATED || window->tid != -1 || !window->pmsver ||
	    window->cpu >= CPUS || window->clock.mult != 1 || window->end_ns < window->start_ns) {
		seen->broken_header++;
		return;
	}
	if (!seen->end_ns[window->cpu])
		seen->blind_at_start += window->blind_ns;
	else if (seen->end_ns[window->cpu] + window->blind_ns != window->start_ns)
		seen->broken_time++;
	seen->end_ns[window->cpu] = window->end_ns;
	seen->armed_ns += window->end_ns - window->start_ns;
	seen->blind_ns += window->blind_ns;
	source_blind_add_window(seen->blind_by, window);
	seen->faulted += !!(window->flags & WINDOW_FAULTED);

	spe_decoder_init(&decoder, &config, window->data, window->len);
	while ((r = spe_decoder_next(&decoder, &sample, &range)) != SPE_DECODE_END) {
		if (r == SPE_DECODE_SAMPLE)
			count_seen_sample(seen, window, &sample);
	}
	seen->decoded += decoder.ledger.records;
	seen->suspect += decoder.ledger.suspect;
}

static struct source_config make_default_config(void)
{
	return (struct source_config){
		.interval_ns = INTERVAL_NS,
		.jitter = true,
		.kernel = true,
		.user = true,
		.models = "",
	};
}

static struct source *source_or_skip(const struct source_config *config)
{
	struct source *source = NULL;
	const char *reason = NULL;
	int r;

	r = source_emulated_new(config, &source, &reason);
	if (r == -EACCES || r == -EPERM || r == -ENOSYS) {
		assert_non_null(reason);
		print_message("%s\n", reason);
		skip();
	}
	assert_int_equal(r, 0);
	return source;
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		spin_forever();
	}
	return pid;
}

/*
 * Sample until a busy child has used @ns of CPU time and at least four windows were read. Return:
 * the CPU time of the child.
 */
static u64 run_source(struct source *source, u64 ns, struct seen_windows *seen)
{
	const struct source_sink sink = { .window = count_seen_window, .ctx = seen };
	struct pollfd poll_fd = { .fd = source->ops->fd(source), .events = POLLIN };
	u64 child, windows = seen->windows;
	clockid_t id;

	seen->child = start_child();
	assert_int_equal(clock_getcpuclockid(seen->child, &id), 0);
	/* Wait until the child spins, and the work of fork() is done. */
	while (get_clock_ns(id) < 20000000)
		usleep(1000);

	assert_int_equal(source->ops->start(source), 0);
	child = get_clock_ns(id);
	while (get_clock_ns(id) - child < ns || seen->windows < windows + 4) {
		assert_int_equal(poll(&poll_fd, 1, -1), 1);
		assert_int_equal(source->ops->drain(source, &sink), 0);
	}
	child = get_clock_ns(id) - child;
	source->ops->stop(source);
	assert_int_equal(source->ops->start(source), -EBUSY);
	assert_int_equal(source->ops->drain(source, &sink), 0);
	assert_int_equal(kill(seen->child, SIGKILL), 0);
	assert_int_equal(waitpid(seen->child, NULL, 0), seen->child);
	return child;
}

static void check_ledgers(const struct seen_windows *seen)
{
	assert_int_equal(seen->broken_header, 0);
	assert_int_equal(seen->broken_time, 0);
	assert_int_equal(seen->suspect, 0);
	assert_int_equal(seen->written, seen->decoded);
	assert_true(seen->decoded > 0);
}

static void test_tids_and_pcs_are_correct(void **state)
{
	const struct source_config config = make_default_config();
	struct source *source = source_or_skip(&config);
	struct seen_windows seen = { 0 };
	u64 child_ns;

	(void)state;
	child_ns = run_source(source, 500000000, &seen);
	check_ledgers(&seen);
	assert_true(seen.child_inside > 0);
	assert_int_equal(seen.child_outside, 0);
	assert_int_equal(seen.child_time, 0);
	assert_true(source->interval_ns > INTERVAL_NS - 512);
	assert_true(source->interval_ns < INTERVAL_NS + 512);
	/* The machine may delay ticks, so the test does not check their number per CPU time. */
	print_message("child %llu samples in %llu us of a CPU; windows %llu, blind %llu us\n",
		      (unsigned long long)seen.child_inside, (unsigned long long)child_ns / 1000,
		      (unsigned long long)seen.windows, (unsigned long long)seen.blind_ns / 1000);
	source->ops->free(source);
}

static void test_time_between_runs_is_not_blind(void **state)
{
	const struct source_config config = make_default_config();
	struct source *source = source_or_skip(&config);
	struct seen_windows seen = { 0 };

	(void)state;
	run_source(source, 50000000, &seen);
	/* The time between the runs is not blind, because sampling was disabled. */
	memset(seen.end_ns, 0, sizeof(seen.end_ns));
	run_source(source, 50000000, &seen);
	check_ledgers(&seen);
	/* On a busy machine the kernel may throttle ticks, or a ring may be full, but only later. */
	assert_int_equal(seen.blind_at_start, 0);
	source->ops->free(source);
}

static void test_filters_of_spu(void **state)
{
	static const struct {
		const char *name;
		u64 types;
		enum spe_op_kind kind;
	} rows[] = {
		{ "loads", SPE_PMSFCR_LD, SPE_KIND_LOAD },
		{ "stores", SPE_PMSFCR_ST, SPE_KIND_STORE },
		{ "branches", SPE_PMSFCR_B, SPE_KIND_BRANCH },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source_config config = make_default_config();
		struct seen_windows seen = { 0 };
		struct source *source;

		test_row("%s", rows[i].name);
		config.interval_ns = 100000;
		config.filter_types = rows[i].types;
		source = source_or_skip(&config);
		run_source(source, 100000000, &seen);
		assert_row(seen.written == seen.decoded);
		if (rows[i].kind == SPE_KIND_STORE)
			seen.kinds[SPE_KIND_STORE] += seen.atomic_loads;
		assert_row(seen.decoded == seen.kinds[rows[i].kind]);
		assert_row(seen.suspect == 0);
		source->ops->free(source);
	}
}

/*
 * Records have physical addresses only on request. Then each load and store has an address that the
 * model generates.
 */
static void test_user_only(void **state)
{
	struct source_config config = make_default_config();
	struct seen_windows seen = { 0 };
	struct source *source;

	(void)state;
	config.kernel = false;
	source = source_or_skip(&config);
	run_source(source, 100000000, &seen);
	check_ledgers(&seen);
	assert_int_equal(seen.kernel, 0);
	source->ops->free(source);
}

/*
 * If ticks are not read, the time of ticks that did not fit into the ring counts as blind, and is
 * not missing.
 */
static void test_loss_is_blind(void **state)
{
	struct source_config config = make_default_config();
	struct seen_windows seen = { 0 };
	const struct source_sink sink = { .window = count_seen_window, .ctx = &seen };
	struct source *source;
	u64 began, started, stopped;

	(void)state;
	/*
	 * The smallest ring is full after a fifth of a second. Ten times as many ticks would fill
	 * the largest ring, but handling them may take all CPU time of a virtual machine.
	 */
	config.interval_ns = 100000;
	config.ring_size = 64 << 10;
	source = source_or_skip(&config);
	seen.child = start_child();
	began = get_clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(source->ops->start(source), 0);
	started = get_clock_ns(CLOCK_MONOTONIC);
	/*
	 * The kernel may throttle the ticks, and the host may stop the machine for a while, so there
	 * is no limit of the time.
	 */
	while (!seen.blind_ns) {
		usleep(500000);
		source->ops->drain(source, &sink);
	}
	stopped = get_clock_ns(CLOCK_MONOTONIC);
	source->ops->stop(source);
	source->ops->drain(source, &sink);
	kill(seen.child, SIGKILL);
	waitpid(seen.child, NULL, 0);
	check_ledgers(&seen);
	print_message("blind %.2f s of %u x %.2f s, %llu samples\n", (double)seen.blind_ns / 1e9,
		      source->cpus, (double)(stopped - started) / 1e9,
		      (unsigned long long)seen.decoded);
	assert_true(seen.blind_ns > 0);
	assert_int_equal(seen.blind_by[SOURCE_BLIND_FULL] + seen.blind_by[SOURCE_BLIND_THROTTLE],
			 seen.blind_ns);
	assert_true(seen.armed_ns + seen.blind_ns >= source->cpus * (stopped - started));
	assert_true(seen.armed_ns + seen.blind_ns <=
		    source->cpus * (get_clock_ns(CLOCK_MONOTONIC) - began));
	source->ops->free(source);
}

static void set_cpu1_online(const char *value)
{
	FILE *file = fopen("/sys/devices/system/cpu/cpu1/online", "we");

	assert_non_null(file);
	fputs(value, file);
	assert_int_equal(fclose(file), 0);
}

static void pin_child(pid_t child)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(1, &set);
	assert_int_equal(sched_setaffinity(child, sizeof(set), &set), 0);
}

static void drain_for_ns(struct source *source, u64 ns, struct seen_windows *seen)
{
	const struct source_sink sink = { .window = count_seen_window, .ctx = seen };
	struct pollfd poll_fd = { .fd = source->ops->fd(source), .events = POLLIN };
	u64 start = get_clock_ns(CLOCK_MONOTONIC);

	while (get_clock_ns(CLOCK_MONOTONIC) - start < ns) {
		assert_int_equal(poll(&poll_fd, 1, -1), 1);
		assert_int_equal(source->ops->drain(source, &sink), 0);
	}
}

/* Take a CPU offline and online again: once for seconds, and once between two polls. */
static void test_hotplug(void **state)
{
	const struct source_config config = make_default_config();
	static const useconds_t away_us[] = { 3000000, 10000 };
	struct source *source;
	struct seen_windows seen = { 0 };
	u64 before, rate, windows, tries;

	(void)state;
	/*
	 * Do not take CPUs offline on a machine in use: tests/lanes/vm/job-hotplug enables this
	 * test.
	 */
	if (!getenv("SPEPROF_TEST_HOTPLUG"))
		skip();
	source = source_or_skip(&config);
	seen.child = start_child();
	assert_int_equal(source->ops->start(source), 0);
	for (size_t i = 0; i < ARRAY_SIZE(away_us); i++) {
		test_row("away for %u us", away_us[i]);
		pin_child(seen.child);
		drain_for_ns(source, 500000000, &seen);
		rate = seen.child_inside;
		drain_for_ns(source, 1000000000, &seen);
		rate = seen.child_inside - rate;
		before = seen.blind_by[SOURCE_BLIND_HOTPLUG];
		windows = seen.windows;
		set_cpu1_online("0");
		if (away_us[i] > 1000000)
			drain_for_ns(source, away_us[i] * 1000ULL, &seen);
		else
			usleep(away_us[i]);
		set_cpu1_online("1");
		/*
		 * The source notices it after a second, on an idle CPU after two. A slow guest
		 * takes longer.
		 */
		tries = 0;
		do {
			drain_for_ns(source, 2500000000, &seen);
		} while (++tries < 10 && seen.blind_by[SOURCE_BLIND_HOTPLUG] == before);
		print_message("%s: blind %.2f s\n", test_row_name,
			      (double)(seen.blind_by[SOURCE_BLIND_HOTPLUG] - before) / 1e9);
		/* The dead event must not keep waking the reader. */
		assert_row(seen.windows - windows < 200 * tries);
		assert_row(seen.blind_by[SOURCE_BLIND_HOTPLUG] > before);
		assert_row(seen.blind_ns - before < 4000000000 + (tries - 1) * 2500000000);
		/* The CPU is sampled as fast as before, if the host lets the guest run. */
		pin_child(seen.child);
		before = seen.child_inside;
		for (tries = 0; tries < 10 && seen.child_inside - before <= rate / 2; tries++)
			drain_for_ns(source, 1000000000, &seen);
		print_message("child %llu samples in a second before, %llu after\n",
			      (unsigned long long)rate,
			      (unsigned long long)(seen.child_inside - before));
		assert_row(seen.child_inside - before > rate / 2);
	}
	/*
	 * Windows are contiguous except while the CPU is offline. Time offline counts as off after
	 * it was noticed; the second before it was noticed is blind.
	 */
	assert_true(seen.broken_time <= ARRAY_SIZE(away_us));
	assert_int_equal(seen.written, seen.decoded);
	source->ops->stop(source);
	kill(seen.child, SIGKILL);
	waitpid(seen.child, NULL, 0);
	source->ops->free(source);
}

static void test_invalid_settings_are_refused(void **state)
{
	static const struct {
		const char *name;
		struct source_config config;
		const char *reason;
	} rows[] = {
		{ "interval below", { .interval_ns = 9999, .user = true }, "interval" },
		{ "interval above", { .interval_ns = 4000000001ULL, .user = true }, "interval" },
		{ "no level", { .interval_ns = INTERVAL_NS }, "neither kernel nor user" },
		{ "type",
		  { .interval_ns = INTERVAL_NS, .user = true, .filter_types = SPE_PMSFCR_FP },
		  "branch, load and store" },
		{ "event",
		  { .interval_ns = INTERVAL_NS, .user = true, .filter_events = SPE_BIT(60) },
		  "event" },
		{ "latency",
		  { .interval_ns = INTERVAL_NS, .user = true, .filter_latency = 4096 },
		  "latency" },
		{ "pair",
		  { .interval_ns = INTERVAL_NS, .user = true, .models = "x" },
		  "comm=profile" },
		{ "profile",
		  { .interval_ns = INTERVAL_NS, .user = true, .models = "x=mixed y=fast" },
		  "profile should be mixed" },
		{ "comm",
		  { .interval_ns = INTERVAL_NS, .user = true, .models = "=mixed" },
		  "1 to 15" },
		{ "long comm",
		  { .interval_ns = INTERVAL_NS, .user = true, .models = "a23456789b123456=mixed" },
		  "1 to 15" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source *source = NULL;
		const char *reason = "";

		test_row("%s", rows[i].name);
		assert_row(source_emulated_new(&rows[i].config, &source, &reason) == -EINVAL);
		assert_row(!source);
		assert_row(strstr(reason, rows[i].reason));
	}
}

static void test_models_of_processes(void **state)
{
	struct emulated_models *models;
	const char *reason;
	char name[16];
	s32 self = getpid();

	(void)state;
	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	assert_int_equal(emulated_models_new(" one=stream\ttwo=branchy\n", &models, &reason), 0);
	assert_int_equal(prctl(PR_SET_NAME, "one"), 0);
	assert_int_equal(emulated_models_find_profile(models, self, 5), SPE_PROFILE_STREAM);
	/* The cached value is used for a second; then the value is read from /proc again. */
	assert_int_equal(prctl(PR_SET_NAME, "two"), 0);
	assert_int_equal(emulated_models_find_profile(models, self, 900000000), SPE_PROFILE_STREAM);
	assert_int_equal(emulated_models_find_profile(models, self, 1100000000),
			 SPE_PROFILE_BRANCHY);
	assert_int_equal(prctl(PR_SET_NAME, "three"), 0);
	assert_int_equal(emulated_models_find_profile(models, self, 3000000000), SPE_PROFILE_MIXED);
	assert_int_equal(emulated_models_find_profile(models, 0, 3000000000), SPE_PROFILE_MIXED);
	assert_int_equal(emulated_models_find_profile(models, -1, 3000000000), SPE_PROFILE_MIXED);
	emulated_models_free(models);
	prctl(PR_SET_NAME, name);
}

static void test_cpu_list(void **state)
{
	static const struct {
		const char *text;
		int result;
		u32 end;
		u64 low;
	} rows[] = {
		{ "0\n", 0, 1, 0x1 },
		{ "0-3,5", 0, 6, 0x2f },
		{ "", 0, 0, 0 },
		{ "62-64", 0, 65, 3ULL << 62 },
		{ "3-1", -EINVAL, 0, 0 },
		{ "a", -EINVAL, 0, 0 },
		{ "1-", -EINVAL, 0, 0 },
		{ "1 2", -EINVAL, 0, 0 },
		{ "8191", 0, 8192, 0 },
		{ "8192", -ERANGE, 0, 0 },
		{ "0-99999999999", -ERANGE, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cpu_list list = { 0 };

		test_row("\"%s\"", rows[i].text);
		assert_row(cpu_list_parse(rows[i].text, &list) == rows[i].result);
		assert_row(cpu_list_get_end(&list) == rows[i].end);
		assert_row(list.bits[0] == rows[i].low);
	}
}

/* An error of read() is the result: EISDIR for a directory. */
static void test_cpu_list_read_error(void **state)
{
	struct cpu_list list;

	(void)state;
	assert_int_equal(cpu_list_read("/", &list), -EISDIR);
	assert_int_equal(cpu_list_read("/no/such/file", &list), -ENOENT);
}

/* A driver for CPU 3, which is armed at @time and counts its windows in @seen */
struct spu_fixture {
	struct emulated_spu driver;
	struct spu_program program;
	struct seen_windows seen;
	struct source_sink sink;
	u64 time;
};

static void spu_fixture_start(struct spu_fixture *fixture, const struct source_config *config,
			      const struct spe_spu_config *spu)
{
	const char *reason = "";

	*fixture = (struct spu_fixture){ .time = 1000 };
	fixture->sink = (struct source_sink){ .window = count_seen_window, .ctx = &fixture->seen };
	assert_int_equal(spu_program_make(config, spu, &fixture->program, &reason), 0);
	assert_int_equal(emulated_spu_init(&fixture->driver, 3, spu, &fixture->program, &reason),
			 0);
	emulated_spu_enable(&fixture->driver, 0);
	emulated_spu_arm_window(&fixture->driver, fixture->time);
}

static void spu_fixture_sample(struct spu_fixture *fixture, struct spe_operation *operation)
{
	operation->timestamp = fixture->time += INTERVAL_NS;
	emulated_spu_sample(&fixture->driver, operation, &fixture->sink);
}

static void spu_fixture_take_samples(struct spu_fixture *fixture, unsigned int samples)
{
	struct spe_operation operation = {
		.pc = 0x1000,
		.events = SPE_BIT(SPE_EVENT_RETIRED),
		.op_class = SPE_OP_OTHER,
		.ns = true,
	};

	while (samples--)
		spu_fixture_sample(fixture, &operation);
}

static void spu_fixture_close_window(struct spu_fixture *fixture)
{
	emulated_spu_close_window(&fixture->driver, fixture->time, &fixture->sink);
}

/* Inject one fault, then take ten samples. */
static void spu_fixture_inject_fault(struct spu_fixture *fixture, u64 fault)
{
	emulated_spu_arm_window(&fixture->driver, fixture->time);
	spe_spu_inject_fault(&fixture->driver.spu, fault);
	spu_fixture_take_samples(fixture, 10);
	spu_fixture_close_window(fixture);
	check_ledgers(&fixture->seen);
}

/*
 * Test the driver alone: with a full buffer, a fault that would occur again, and one that would
 * not.
 */
static void test_driver_handles_faults(void **state)
{
	const struct source_config config = make_default_config();
	struct spu_fixture fixture;
	const struct seen_windows *seen = &fixture.seen;
	struct spe_spu_config spu;

	(void)state;
	spe_spu_config_default(&spu);
	spu_fixture_start(&fixture, &config, &spu);
	spu_fixture_take_samples(&fixture, 5000);
	assert_true(seen->windows >= 5000 * 64 / 32768);
	spu_fixture_close_window(&fixture);
	check_ledgers(seen);
	assert_int_equal(seen->decoded, 5000);
	assert_int_equal(seen->armed_ns, 5000ULL * INTERVAL_NS);

	/* An External abort costs one record, and sampling continues. */
	spu_fixture_inject_fault(&fixture,
				 spe_fault_make(SPE_PMBSR_EC_STAGE1, SPE_FSC_EXTERNAL_SYNC));
	assert_int_equal(seen->faulted, 1);
	assert_int_equal(seen->decoded, 5009);
	assert_int_equal(seen->blind_ns, 0);

	/* A translation fault would occur again, so the CPU is blind from then on. */
	spu_fixture_inject_fault(&fixture,
				 spe_fault_make(SPE_PMBSR_EC_STAGE1, SPE_FSC_TRANSLATION));
	assert_int_equal(seen->faulted, 2);
	assert_int_equal(seen->decoded, 5009);
	assert_int_equal(seen->blind_ns, 9ULL * INTERVAL_NS);
	assert_int_equal(seen->blind_by[SOURCE_BLIND_FAULT], 9ULL * INTERVAL_NS);
	emulated_spu_deinit(&fixture.driver);
}

/*
 * Filter by events that must be 0: an SPU with FEAT_SPEv1p2 does not write such records; other SPUs
 * do.
 */
static void test_inverted_event_filter(void **state)
{
	(void)state;
	for (int able = 0; able < 2; able++) {
		struct source_config config = make_default_config();
		struct spe_spu_config spu;
		struct spu_fixture fixture;

		config.filter_events_not = SPE_BIT(SPE_EVENT_RETIRED);
		spe_spu_config_default(&spu);
		if (able) {
			spu.pmsver = 3;
			spu.features |= SPE_PMSIDR_FNE;
		}
		spu_fixture_start(&fixture, &config, &spu);
		spu_fixture_take_samples(&fixture, 100);
		spu_fixture_close_window(&fixture);
		assert_int_equal(fixture.seen.decoded, able ? 0 : 100);
		emulated_spu_deinit(&fixture.driver);
	}
}

/*
 * Filter by data source: an SPU with FEAT_SPE_FDS does not write the filtered loads; other SPUs
 * write all.
 */
static void test_data_source_filter(void **state)
{
	(void)state;
	for (int able = 0; able < 2; able++) {
		struct spe_operation load = { .pc = 0x1000, .events = 2, .ns = true,
					      .op_class = SPE_OP_LOAD_STORE,
					      .valid = SPE_OPERATION_SOURCE };
		struct source_config config = make_default_config();
		struct spe_spu_config spu;
		struct spu_fixture fixture;

		config.filter_sources_not = ~SPE_BIT(14);
		spe_spu_config_default(&spu);
		if (able) {
			spu.pmsver = 5;
			spu.features |= SPE_PMSIDR_FDS;
		}
		spu_fixture_start(&fixture, &config, &spu);
		for (load.source = 0; load.source < 64; load.source++)
			spu_fixture_sample(&fixture, &load);
		spu_fixture_take_samples(&fixture, 100);
		spu_fixture_close_window(&fixture);
		assert_int_equal(fixture.seen.kinds[SPE_KIND_LOAD], able ? 1 : 64);
		assert_int_equal(fixture.seen.kinds[SPE_KIND_OTHER], 100);
		emulated_spu_deinit(&fixture.driver);
	}
}

/*
 * Filter by types that a record must have: an SPU with FEAT_SPE_EFT writes only loads that are
 * atomic; other SPUs write all loads.
 */
static void test_type_mask_filter(void **state)
{
	(void)state;
	for (int able = 0; able < 2; able++) {
		struct spe_operation load = { .pc = 0x1000, .events = 2, .ns = true,
					      .op_class = SPE_OP_LOAD_STORE };
		struct source_config config = make_default_config();
		struct spe_spu_config spu;
		struct spu_fixture fixture;

		config.filter_types = SPE_PMSFCR_LD;
		config.filter_masked = SPE_PMSFCR_ST | SPE_PMSFCR_STM;
		spe_spu_config_default(&spu);
		if (able)
			spu.features |= SPE_PMSIDR_EFT;
		spu_fixture_start(&fixture, &config, &spu);
		for (int i = 0; i < 10; i++) {
			load.op_subclass = i ? 0 : 6; /* the first operation is atomic */
			spu_fixture_sample(&fixture, &load);
		}
		spu_fixture_take_samples(&fixture, 100);
		spu_fixture_close_window(&fixture);
		assert_int_equal(fixture.seen.kinds[SPE_KIND_LOAD], able ? 1 : 10);
		assert_int_equal(fixture.seen.kinds[SPE_KIND_OTHER], 0);
		emulated_spu_deinit(&fixture.driver);
	}
}

/*
 * Records have physical addresses if and only if they are requested. The child runs code at many
 * locations, because the PC determines the kind of an instruction, and a short loop may contain no
 * load.
 */
static void test_physical_addresses_on_request(void **state)
{
	(void)state;
	for (int on = 0; on < 2; on++) {
		struct source_config config = make_default_config();
		struct spe_operation_model model;
		struct spe_spu_config spu;
		struct spu_fixture fixture;
		const struct seen_windows *seen = &fixture.seen;

		config.physical = on;
		spe_opmodel_init(&model, 1);
		spe_spu_config_default(&spu);
		spu_fixture_start(&fixture, &config, &spu);
		for (u64 pc = 0x1000; pc < 0x1000 + 400 * 4; pc += 4) {
			struct spe_operation operation = { .pc = pc, .ns = true };

			operation.timestamp = fixture.time + INTERVAL_NS;
			spe_opmodel_complete_operation(&model, SPE_PROFILE_MIXED, &operation);
			spu_fixture_sample(&fixture, &operation);
		}
		spu_fixture_close_window(&fixture);
		emulated_spu_deinit(&fixture.driver);
		check_ledgers(seen);
		assert_int_equal(seen->decoded, 400);
		assert_true(seen->kinds[SPE_KIND_LOAD] > 0 && seen->kinds[SPE_KIND_STORE] > 0);
		assert_int_equal(seen->physical,
				 on ? seen->kinds[SPE_KIND_LOAD] + seen->kinds[SPE_KIND_STORE] : 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_list),
		cmocka_unit_test(test_cpu_list_read_error),
		cmocka_unit_test(test_models_of_processes),
		cmocka_unit_test(test_invalid_settings_are_refused),
		cmocka_unit_test(test_driver_handles_faults),
		cmocka_unit_test(test_tids_and_pcs_are_correct),
		cmocka_unit_test(test_time_between_runs_is_not_blind),
		cmocka_unit_test(test_filters_of_spu),
		cmocka_unit_test(test_user_only),
		cmocka_unit_test(test_data_source_filter),
		cmocka_unit_test(test_type_mask_filter),
		cmocka_unit_test(test_loss_is_blind),
		cmocka_unit_test(test_hotplug),
		cmocka_unit_test(test_physical_addresses_on_request),
		cmocka_unit_test(test_inverted_event_filter),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("emulated", tests, NULL, NULL);
}
