// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the task events that the kernel reports, how the attributor applies them, and how many
 * samples of many short-lived processes are attributed.
 */
#include "test.h"
#include "held-clock.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attribution/attributor.h"
#include "engine/worker.h"
#include "tasks/bpf/task-bpf.h"
#include "tasks/task-event.h"
#include "tasks/task-events.h"

/* A PID above every possible pid_max, so that /proc never contains it */
#define FAKE_PID (INT32_MAX - 100)

static u64 get_clock_ns(clockid_t id)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(id, &ts), 0);
	return (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
}

static struct attributor *make_live_attributor(u32 processes)
{
	const struct attributor_config config = { .live = true, .processes = processes };
	struct attributor *a;

	assert_int_equal(attributor_new(&config, &a), 0);
	return a;
}

static void report_event(struct attributor *a, u8 type, s32 pid, s32 tid, s32 parent,
			 const char *name)
{
	const struct task_event event = {
		.type = type,
		.name = name,
		.exec = type == TASK_COMM,
		.last = pid == tid,
		.time_ns = get_clock_ns(CLOCK_MONOTONIC),
		.pid = pid,
		.tid = tid,
		.parent_pid = parent,
		.start = 0x400000,
		.size = 0x1000,
		.inode = 7,
		.device = 8,
	};

	held_clock_advance(1000);
	attributor_apply_event(a, &event);
}

static const struct attribute_process *find_process_of(struct attributor *a, s32 tid)
{
	return attributor_get_process(a, attributor_find_process(a, tid));
}

/* A process starts and exits before its first sample is read. */
static void test_process_exits_before_first_sample(void **state)
{
	struct attributor *a = make_live_attributor(0);
	struct attribute_location location;
	u32 self = attributor_find_process(a, getpid()), index;

	(void)state;
	report_event(a, TASK_FORK, FAKE_PID, FAKE_PID, getpid(), "");
	report_event(a, TASK_COMM, FAKE_PID, FAKE_PID, -1, "evil\033[2J");
	report_event(a, TASK_MMAP, FAKE_PID, FAKE_PID, -1, "/bin/gone");
	report_event(a, TASK_FORK, FAKE_PID, FAKE_PID + 1, FAKE_PID, "");
	report_event(a, TASK_EXIT, FAKE_PID, FAKE_PID + 1, FAKE_PID, "");
	report_event(a, TASK_EXIT, FAKE_PID, FAKE_PID, getpid(), "");
	index = attributor_find_process(a, FAKE_PID);
	assert_int_not_equal(index, ATTRIBUTE_NONE);
	assert_int_equal(attributor_find_process(a, FAKE_PID + 1), index);
	assert_string_equal(attributor_get_process(a, index)->comm, "evil\\x1b[2J");
	assert_int_equal(attributor_get_process(a, index)->container,
			 attributor_get_process(a, self)->container);
	assert_true(attributor_locate_pc(a, index, 0x400010, false, &location));
	assert_string_equal(location.binary, "/bin/gone");
	assert_int_equal(location.inode, 7);
	assert_int_equal(location.device, 8);
	/* The maps of the former program must not be used. */
	assert_false(attributor_locate_pc(a, index,
					  (u64)(uintptr_t)test_process_exits_before_first_sample,
					  false, &location));
	attributor_free(a);
}

/* A fork without exec has the name and the maps of the parent. */
static void test_fork_inherits_name_and_maps(void **state)
{
	struct attributor *a = make_live_attributor(0);
	struct attribute_location location;
	u32 index;

	(void)state;
	report_event(a, TASK_FORK, FAKE_PID, FAKE_PID, getpid(), "");
	index = attributor_find_process(a, FAKE_PID);
	assert_int_not_equal(index, attributor_find_process(a, getpid()));
	assert_string_equal(attributor_get_process(a, index)->comm,
			    find_process_of(a, getpid())->comm);
	assert_true(attributor_locate_pc(a, index, (u64)(uintptr_t)test_fork_inherits_name_and_maps,
					 false, &location));
	attributor_free(a);
}

static void test_reused_ids(void **state)
{
	struct attributor *a = make_live_attributor(0);
	u32 first, second;

	(void)state;
	report_event(a, TASK_FORK, FAKE_PID, FAKE_PID, getpid(), "");
	report_event(a, TASK_COMM, FAKE_PID, FAKE_PID, -1, "first");
	first = attributor_find_process(a, FAKE_PID);
	report_event(a, TASK_EXIT, FAKE_PID, FAKE_PID, getpid(), "");
	assert_int_equal(attributor_find_process(a, FAKE_PID), first);
	report_event(a, TASK_FORK, FAKE_PID, FAKE_PID, getpid(), "");
	second = attributor_find_process(a, FAKE_PID);
	assert_int_not_equal(second, first);
	assert_string_equal(attributor_get_process(a, first)->comm, "first");
	/* A lost exit event makes no difference. */
	report_event(a, TASK_FORK, FAKE_PID, FAKE_PID, getpid(), "");
	assert_int_not_equal(attributor_find_process(a, FAKE_PID), second);
	/* The TID is used again by a thread of another process. */
	report_event(a, TASK_EXIT, FAKE_PID, FAKE_PID, getpid(), "");
	report_event(a, TASK_FORK, getpid(), FAKE_PID, getpid(), "");
	assert_int_equal(attributor_find_process(a, FAKE_PID),
			 attributor_find_process(a, getpid()));
	/*
	 * If the parent is unknown the task is unknown, and is not the former task with this TID.
	 */
	report_event(a, TASK_FORK, FAKE_PID, FAKE_PID, FAKE_PID - 1, "");
	assert_int_equal(attributor_find_process(a, FAKE_PID), ATTRIBUTE_NONE);
	attributor_free(a);
}

/* Samples from before an exec stay with the former program. */
static void test_exec_separates_programs(void **state)
{
	struct attributor *a = make_live_attributor(0);
	u32 before, after;

	(void)state;
	report_event(a, TASK_FORK, FAKE_PID, FAKE_PID, getpid(), "");
	report_event(a, TASK_COMM, FAKE_PID, FAKE_PID, -1, "sh");
	before = attributor_find_process(a, FAKE_PID);
	report_event(a, TASK_COMM, FAKE_PID, FAKE_PID, -1, "cc1");
	after = attributor_find_process(a, FAKE_PID);
	assert_int_not_equal(before, after);
	assert_string_equal(attributor_get_process(a, before)->comm, "sh");
	assert_string_equal(attributor_get_process(a, after)->comm, "cc1");
	attributor_free(a);
}

/* Events from before /proc was read do not change the process that /proc shows. */
static void test_old_events_have_no_effect(void **state)
{
	const u64 before = get_clock_ns(CLOCK_MONOTONIC);
	struct attributor *a = make_live_attributor(0);
	u32 index;
	struct task_event event = {
		.type = TASK_COMM,
		.name = "old",
		.exec = true,
		.time_ns = before,
		.pid = getpid(),
		.tid = getpid(),
	};

	(void)state;
	held_clock_advance(1000000);
	index = attributor_find_process(a, getpid());
	attributor_apply_event(a, &event);
	event.type = TASK_EXIT;
	attributor_apply_event(a, &event);
	event.type = TASK_FORK;
	event.parent_pid = getppid();
	attributor_apply_event(a, &event);
	assert_int_equal(attributor_find_process(a, getpid()), index);
	assert_string_equal(attributor_get_process(a, index)->comm, "test-task-event");
	attributor_free(a);
}

/*
 * A fork from before /proc was read shows since when the process has its PID: earlier samples of
 * the PID are of an unknown process. A new thread shows nothing.
 */
static void test_old_fork_limits_samples(void **state)
{
	const u64 before = get_clock_ns(CLOCK_MONOTONIC);
	struct attributor *a = make_live_attributor(0);
	struct attribute_span span;
	u32 index;
	struct task_event event = {
		.type = TASK_FORK,
		.name = "",
		.time_ns = before + 500000000,
		.pid = getpid(),
		.tid = getpid(),
		.parent_pid = getpid(),
	};

	(void)state;
	held_clock_advance(1000000000);
	index = attributor_find_process(a, getpid());
	attributor_apply_event(a, &event);
	assert_int_equal(attributor_find_process_at(a, getpid(), before, &span), index);
	event.parent_pid = getppid();
	attributor_apply_event(a, &event);
	assert_int_equal(attributor_find_process_at(a, getpid(), before, &span), ATTRIBUTE_NONE);
	assert_int_equal(attributor_find_process_at(a, getpid(), event.time_ns, &span), index);
	/* The fork of a former owner of the PID, which is older, changes nothing. */
	event.time_ns = before;
	attributor_apply_event(a, &event);
	assert_int_equal(attributor_find_process_at(a, getpid(), before, &span), ATTRIBUTE_NONE);
	attributor_free(a);
}

/* After a loss all tasks are looked up in /proc again. Tasks that are not in /proc stay known. */
static void test_loss_looks_up_all_tasks(void **state)
{
	const struct task_event lost = { .type = TASK_LOST, .size = 5 };
	struct attributor *a = make_live_attributor(0);
	struct attributor_stats before, after;
	u32 self = attributor_find_process(a, getpid()), fake;

	(void)state;
	report_event(a, TASK_FORK, FAKE_PID, FAKE_PID, getpid(), "");
	fake = attributor_find_process(a, FAKE_PID);
	attributor_get_stats(a, &before);
	attributor_apply_event(a, &lost);
	assert_int_equal(attributor_find_process(a, getpid()), self);
	assert_int_equal(attributor_find_process(a, FAKE_PID), fake);
	attributor_get_stats(a, &after);
	assert_int_equal(after.lookups - before.lookups, 2);
	assert_int_equal(after.events_lost, 5);
	attributor_free(a);
}

/* If there are more processes than entries, those with samples stay the longest. */
static void test_sampled_processes_stay_longest(void **state)
{
	struct attributor *a = make_live_attributor(64);
	struct attributor_stats stats;
	u32 sampled;

	(void)state;
	attributor_find_process(a, getpid());
	report_event(a, TASK_FORK, FAKE_PID, FAKE_PID, getpid(), "");
	sampled = attributor_find_process(a, FAKE_PID);
	report_event(a, TASK_EXIT, FAKE_PID, FAKE_PID, getpid(), "");
	for (s32 i = 1; i < 5000; i++) {
		report_event(a, TASK_FORK, FAKE_PID - i, FAKE_PID - i, getpid(), "");
		if (i == 40)
			assert_int_equal(attributor_get_process(a, sampled)->pid, FAKE_PID);
		report_event(a, TASK_EXIT, FAKE_PID - i, FAKE_PID - i, getpid(), "");
	}
	assert_int_not_equal(attributor_find_process(a, FAKE_PID - 4999), ATTRIBUTE_NONE);
	attributor_get_stats(a, &stats);
	assert_true(stats.processes_evicted > 0);
	assert_true(stats.memory < 4 << 20);
	attributor_free(a);
}

/* The source of task events, and whether the Context packet is missing in records */
struct event_origin {
	enum task_events_kind kind;
	bool no_context;
};

/* The events of one child */
struct seen_child_events {
	pid_t child;
	u64 time_ns;
	u64 backwards; /* number of events of the child that are older than the previous one */
	u64 lost;
	char order[64]; /* f(ork) e(xec) m(map) x(exit) */
	char name[16];
};

static void record_event(void *ctx, const struct task_event *event)
{
	static const char letters[] = {
		[TASK_COMM] = 'e', [TASK_FORK] = 'f', [TASK_EXIT] = 'x', [TASK_MMAP] = 'm'
	};
	struct seen_child_events *seen = ctx;
	size_t n = strlen(seen->order);

	/* Ignore processes that existed when the events were opened. */
	if (event->type == TASK_SEED || event->type == TASK_SEEDED)
		return;
	/* Ignore losses that other tests caused. */
	if (event->type == TASK_LOST_MAPS)
		return;
	if (event->type == TASK_LOST)
		seen->lost += event->size;
	if (event->type == TASK_LOST || event->pid != seen->child || n + 1 >= sizeof(seen->order))
		return;
	seen->backwards += event->time_ns < seen->time_ns;
	seen->time_ns = event->time_ns;
	if (event->type == TASK_COMM && event->exec)
		snprintf(seen->name, sizeof(seen->name), "%s", event->name);
	seen->order[n] = letters[event->type];
}

/* @sizes: sizes of the rings; NULL: the daemon's sizes */
static struct task_events *open_events_with_sizes(enum task_events_kind kind,
						  const struct task_events_sizes *sizes)
{
	struct task_events *events = NULL;
	struct task_events_status status;
	int r = task_events_new(kind, sizes, &events, &status);

	if (r < 0)
		assert_int_equal(status.kind, TASK_EVENTS_PROC);
	if (status.kind != kind) {
		print_message("%s\n", status.reason);
		assert_true(strlen(status.reason) > 20);
		task_events_free(events);
		skip();
	}
	return events;
}

static struct task_events *open_events(enum task_events_kind kind)
{
	return open_events_with_sizes(kind, NULL);
}

static void run_program(const char *path)
{
	pid_t pid = fork();
	int status = -1;

	assert_true(pid >= 0);
	if (!pid) {
		execl(path, path, NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* /bin/true under a name that no other test on this machine uses */
struct program_alias {
	char folder[32];
	char path[64];
	char comm[16];
};

static struct program_alias program_alias_new(void)
{
	struct program_alias alias = { .folder = "/tmp/speprof-XXXXXX" };

	assert_non_null(mkdtemp(alias.folder));
	snprintf(alias.comm, sizeof(alias.comm), "s%d", getpid());
	snprintf(alias.path, sizeof(alias.path), "%s/%s", alias.folder, alias.comm);
	assert_int_equal(symlink("/bin/true", alias.path), 0);
	return alias;
}

static void program_alias_free(const struct program_alias *alias)
{
	unlink(alias->path);
	rmdir(alias->folder);
}

/*
 * Run a child and read its events. If events of other processes overflow a ring meanwhile,
 * @ret_seen->lost is not 0, and events of the child may be missing.
 */
static void read_child_events(enum task_events_kind kind, struct seen_child_events *ret_seen)
{
	struct task_events *events = open_events(kind);
	const struct task_sink sink = { .task = record_event, .ctx = ret_seen };
	u64 before = get_clock_ns(CLOCK_MONOTONIC);

	*ret_seen = (struct seen_child_events){ .child = fork() };
	if (!ret_seen->child) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	waitpid(ret_seen->child, NULL, 0);
	/* All events of the child are later than @before. */
	task_events_deliver(events, before, &sink);
	assert_string_equal(ret_seen->order, "");
	task_events_follow_hotplug(events);
	/* The exit event is the last one. A record that another CPU is writing may delay it. */
	while (!ret_seen->lost && !strchr(ret_seen->order, 'x'))
		task_events_deliver(events, 0, &sink);
	task_events_free(events);
}

static void test_events_of_child(void **state)
{
	const struct event_origin *origin = *state;
	struct seen_child_events seen;

	do
		read_child_events(origin->kind, &seen);
	while (seen.lost);
	assert_int_equal(strncmp(seen.order, "fem", 3), 0);
	assert_int_equal(seen.order[strlen(seen.order) - 1], 'x');
	assert_string_equal(seen.name, "true");
	assert_int_equal(seen.backwards, 0);
}

/* Run @program on each CPU that this process may use, so that each ring gets more events. */
static void run_on_each_cpu(const char *program)
{
	cpu_set_t all, one;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		for (int i = 0; i < 10; i++)
			run_program(program);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void test_ring_overflow_is_reported(void **state)
{
	const struct task_events_sizes sizes = { .side_band = (u32)sysconf(_SC_PAGESIZE) };
	struct task_events *events = open_events_with_sizes(TASK_EVENTS_PERF, &sizes);
	struct seen_child_events seen = { 0 };
	const struct task_sink sink = { .task = record_event, .ctx = &seen };

	(void)state;
	/*
	 * A ring of one page holds the events of a few processes. LOST comes with the next event
	 * that fits.
	 */
	run_on_each_cpu("/bin/true");
	task_events_deliver(events, 0, &sink);
	run_on_each_cpu("/bin/true");
	task_events_deliver(events, 0, &sink);
	assert_true(seen.lost > 0);
	task_events_free(events);
}

/* Count the reports of this process. */
static void count_tasks(void *ctx, const struct task_event *event)
{
	struct seen_child_events *seen = ctx;

	seen->lost += event->type == TASK_SEED && event->pid == seen->child;
}

static void test_full_bpf_ring(void **state)
{
	char reason[TASK_BPF_REASON];
	struct seen_child_events seen = { .child = getpid() };
	const struct task_sink sink = { .task = count_tasks, .ctx = &seen };
	struct task_bpf *bpf = NULL;
	u64 taken = 0;

	(void)state;
	if (task_bpf_new((size_t)sysconf(_SC_PAGESIZE), &bpf, reason) < 0) {
		print_message("%s\n", reason);
		skip();
	}
	for (int i = 0; i < 50; i++)
		run_program("/bin/true");
	assert_true(task_bpf_take_lost_count(bpf) > 50);
	/* The events that fit are complete and in order. */
	for (int i = 0; i < 2; i++) {
		u64 time = 0;

		/* A record that another CPU is writing hides those after it. */
		while (!taken) {
			task_bpf_begin_read(bpf);
			while (task_bpf_get_next_time(bpf) != TASK_BPF_NOTHING) {
				assert_true(task_bpf_get_next_time(bpf) >= time);
				time = task_bpf_get_next_time(bpf);
				task_bpf_deliver_next(bpf, &sink);
				taken++;
			}
			task_bpf_end_read(bpf);
		}
		/* The ring has free space now. */
		taken = 0;
		task_bpf_take_lost_count(bpf);
		run_program("/bin/true");
	}
	assert_int_equal(seen.lost, 0);
	assert_int_equal(task_bpf_report_all_tasks(bpf, &sink), 0);
	assert_int_equal(seen.lost, 1);
	task_bpf_free(bpf);
}

/* Context switches that were received for one CPU. */
struct seen_switches {
	u32 cpu;
	pid_t child;
	bool ran; /* whether the child ran on the CPU */
	bool stopped; /* whether another task ran after the child */
	u64 count;
};

static void count_seen_switch(void *ctx, const struct task_event *event)
{
	struct seen_switches *seen = ctx;

	if (event->type != TASK_SWITCH)
		return;
	seen->count++;
	if (event->cpu != seen->cpu)
		return;
	seen->ran |= event->tid == seen->child;
	seen->stopped |= seen->ran && event->tid != seen->child;
}

/*
 * Check that context switches for a recording are delivered among the other events until they are
 * stopped.
 */
static void test_record_switches(void **state)
{
	struct task_events *events = open_events(((const struct event_origin *)*state)->kind);
	struct seen_switches seen = { .cpu = (u32)sched_getcpu() };
	const struct task_sink sink = { .task = count_seen_switch, .ctx = &seen };
	const char *reason = "";
	cpu_set_t before, one;

	CPU_ZERO(&one);
	CPU_SET(seen.cpu, &one);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(task_events_start_switch_events(events, &reason), 0);
	seen.child = fork();
	assert_true(seen.child >= 0);
	if (!seen.child)
		_exit(0);
	waitpid(seen.child, NULL, 0);
	task_events_deliver(events, 0, &sink);
	assert_true(seen.ran && seen.stopped);
	task_events_stop_switches(events);
	seen.count = 0;
	run_program("/bin/true");
	task_events_deliver(events, 0, &sink);
	assert_int_equal(seen.count, 0);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	task_events_free(events);
}

/* number of short-lived processes in one round, and number of their samples to wait for */
#define STORM_LIVES   20
#define STORM_SAMPLES 100

/* The samples of short-lived processes */
struct storm_samples {
	u64 samples;
	u64 unattributed;
	u64 named; /* number of samples with the name of the program */
	u64 inside; /* number of these samples with the right container */
};

/*
 * @no_context: whether records do not contain their task. @follow: whether context switches are
 * followed, which needs a reason only if the source cannot determine it before its first record.
 */
static struct worker *start_worker(struct task_events *events, bool no_context, bool follow)
{
	const struct source_config config = {
		.interval_ns = 250000,
		.kernel = true,
		.user = true,
		.no_context = no_context,
		.models = "",
	};
	char reason_events[TASK_EVENTS_REASON];
	const struct task_events_status task_status = { 0 };
	struct session_config session = { .name = SESSION_MACHINE };
	struct filter_error error;
	struct worker *worker = NULL;
	struct source *source = NULL;
	const char *reason = "";

	if (source_emulated_new(&config, &source, &reason) < 0)
		skip();
	if (follow)
		assert_int_equal(task_events_start_switch_rings(events, reason_events), 0);
	assert_int_equal(shared_source_new(source, &config, &session.shared_source), 0);
	assert_int_equal(session_rule_new(NULL, NULL, NULL, &session.rule, &error), 0);
	assert_int_equal(worker_new(NULL, events, &task_status, &worker), 0);
	assert_int_equal(worker_call(worker, worker_add_session, &session), 0);
	assert_int_equal(worker_call(worker, worker_start_session, NULL), 0);
	return worker;
}

static struct storm_samples count_storm_samples(struct worker *worker, const char *comm,
						const char *container)
{
	struct worker_view_request view = { .group = VIEW_PROCESS, .limit = 10000 };
	struct storm_samples storm = { 0 };

	assert_int_equal(worker_call(worker, worker_make_view, &view), 0);
	storm.samples = view.view.header.records;
	storm.unattributed = view.view.header.unattributed;
	for (u32 i = 0; i < view.view.count; i++) {
		const struct view_row *row = &view.view.rows[i];

		if (strcmp(row->process, comm))
			continue;
		storm.named += row->samples;
		if (!strcmp(row->container, container))
			storm.inside += row->samples;
	}
	view_clear(&view.view);
	return storm;
}

/*
 * Find the mount point of cgroup v2, mounted alone or together with version 1; "" if it is not
 * mounted.
 */
static void find_cgroup_mount(char *path, size_t size)
{
	char line[512], at[256], type[32];
	FILE *f = fopen("/proc/self/mounts", "re");

	*path = '\0';
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %255s %31s", at, type) == 2 && !strcmp(type, "cgroup2"))
			snprintf(path, size, "%s", at);
	if (f)
		fclose(f);
}

/* A process that runs short-lived processes, in a separate cgroup if one can be created */
struct storm_process {
	struct program_alias alias;
	char cgroup[320];
	pid_t pid;
	int begin; /* a byte in this pipe starts STORM_LIVES processes */
	int end; /* a byte in this pipe reports that all of them have exited */
};

static int storm_run(const struct storm_process *p, int begin, int end)
{
	char path[400], byte = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", p->cgroup);
	f = *p->cgroup ? fopen(path, "we") : NULL;
	if (*p->cgroup && (!f || fprintf(f, "0") <= 0 || fclose(f)))
		return 1;
	while (write(end, &byte, 1) == 1 && read(begin, &byte, 1) == 1)
		for (int i = 0; i < STORM_LIVES; i++)
			run_program(p->alias.path);
	return 0;
}

/* Start the process. Return: false if it cannot enter its cgroup. */
static bool storm_start(struct storm_process *p)
{
	int begin[2], end[2];
	char byte;

	p->alias = program_alias_new();
	assert_int_equal(pipe(begin), 0);
	assert_int_equal(pipe(end), 0);
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (!p->pid) {
		close(begin[1]);
		close(end[0]);
		_exit(storm_run(p, begin[0], end[1]));
	}
	close(begin[0]);
	close(end[1]);
	p->begin = begin[1];
	p->end = end[0];
	return read(p->end, &byte, 1) == 1;
}

/* End the process, and remove its cgroup when its last child has exited. */
static void storm_end(struct storm_process *p)
{
	close(p->begin);
	close(p->end);
	waitpid(p->pid, NULL, 0);
	program_alias_free(&p->alias);
	for (int i = 0; *p->cgroup && i < 500 && rmdir(p->cgroup) < 0 && errno == EBUSY; i++)
		usleep(10000);
}

/*
 * Run the short-lived processes on the worker's thread, which therefore drains nothing: afterwards
 * none of them is in /proc.
 */
static int run_short_lived_processes(struct worker_state *state, void *arg)
{
	const struct storm_process *p = arg;
	char byte = 0;

	(void)state;
	assert_int_equal(write(p->begin, &byte, 1), 1);
	assert_int_equal(read(p->end, &byte, 1), 1);
	return 0;
}

/*
 * The processes have exited when their samples are read, so only events give their names and their
 * container.
 */
static void check_storm(const struct event_origin *origin, struct storm_process *p)
{
	struct worker *worker = start_worker(open_events(origin->kind), origin->no_context,
					     origin->no_context);
	const char *container = *p->cgroup ? strrchr(p->cgroup, '/') + 1 : "";
	struct storm_samples storm = { 0 };

	/* The worker notices at its next refresh that the process moved. */
	while ((*p->cgroup ? storm.inside : storm.named) < STORM_SAMPLES) {
		assert_int_equal(worker_call(worker, run_short_lived_processes, p), 0);
		storm = count_storm_samples(worker, p->alias.comm, container);
	}
	worker_free(worker);
	print_message("%lu samples, %lu unattributed, %lu of the program, %lu inside\n",
		      (unsigned long)storm.samples, (unsigned long)storm.unattributed,
		      (unsigned long)storm.named, (unsigned long)storm.inside);
}

static void test_samples_of_short_lived_processes(void **state)
{
	struct storm_process p = { 0 };

	task_events_free(open_events(((const struct event_origin *)*state)->kind));
	assert_true(storm_start(&p));
	check_storm(*state, &p);
	storm_end(&p);
}

/* Children inherit the container of their parent, which moved there before they started. */
static void test_short_lived_processes_in_cgroup(void **state)
{
	struct storm_process p = { 0 };
	char mount[256];
	bool moved;

	task_events_free(open_events(((const struct event_origin *)*state)->kind));
	find_cgroup_mount(mount, sizeof(mount));
	snprintf(p.cgroup, sizeof(p.cgroup), "%s/speprof-storm-%d", mount, getpid());
	if (!*mount || mkdir(p.cgroup, 0755) < 0)
		skip();
	moved = storm_start(&p);
	if (moved)
		check_storm(*state, &p);
	storm_end(&p);
	if (!moved)
		skip();
}

/* Switches are followed until a record shows that the kernel writes CONTEXTIDR. */
static void test_switches_end_with_context_packets(void **state)
{
	const struct event_origin *origin = *state;
	struct worker *worker;

	for (int no_context = 0; no_context < 2; no_context++) {
		struct task_events *events = open_events(origin->kind);
		struct worker_view_request view = { .group = VIEW_PROCESS, .limit = 1 };

		worker = start_worker(events, no_context, true);
		assert_int_equal(worker_call(worker, worker_make_view, &view), 0);
		assert_string_equal(view.view.header.task_ids,
				    no_context ? task_events_name(origin->kind) : "records");
		assert_int_equal(view.view.header.switches != 0, no_context);
		assert_int_equal(task_events_get_switch_kind(events),
				 no_context ? origin->kind : TASK_EVENTS_PROC);
		view_clear(&view.view);
		worker_free(worker);
	}
}

/* Time limits of the attributor must not expire on a slow machine. */
#define HELD(test) cmocka_unit_test_setup_teardown(test, held_clock_stop, held_clock_run)

/* Run a test once for each source of task events. */
#define WITH(test, kind)                                  \
	{                                                 \
#test ", " #kind, test, NULL, NULL, &kind \
	}

static struct event_origin perf = { TASK_EVENTS_PERF, false };
static struct event_origin bpf = { TASK_EVENTS_BPF, false };
static struct event_origin switches = { TASK_EVENTS_BPF, true };

int main(void)
{
	const struct CMUnitTest tests[] = {
		HELD(test_process_exits_before_first_sample),
		HELD(test_fork_inherits_name_and_maps),
		HELD(test_reused_ids),
		HELD(test_exec_separates_programs),
		HELD(test_old_events_have_no_effect),
		HELD(test_old_fork_limits_samples),
		HELD(test_loss_looks_up_all_tasks),
		HELD(test_sampled_processes_stay_longest),
		cmocka_unit_test(test_ring_overflow_is_reported),
		cmocka_unit_test(test_full_bpf_ring),
		WITH(test_events_of_child, perf),
		WITH(test_events_of_child, bpf),
		WITH(test_record_switches, perf),
		WITH(test_switches_end_with_context_packets, perf),
		WITH(test_switches_end_with_context_packets, bpf),
		WITH(test_samples_of_short_lived_processes, perf),
		WITH(test_samples_of_short_lived_processes, bpf),
		WITH(test_samples_of_short_lived_processes, switches),
		WITH(test_short_lived_processes_in_cgroup, perf),
		WITH(test_short_lived_processes_in_cgroup, bpf),
		WITH(test_short_lived_processes_in_cgroup, switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
