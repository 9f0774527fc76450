// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"
#include "held-clock.h"

#include "attribution/attributor-internal.h"
#include "attribution/procfs.h"
#include "tasks/task-event.h"
#include "util/hash.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct attributor *make_attributor(bool live, u32 processes, u32 threads, u32 containers)
{
	const struct attributor_config config = { live, processes, threads, containers };
	struct attributor *a;

	assert_int_equal(attributor_new(&config, &a), 0);
	return a;
}

static const struct attribute_process *get_process(struct attributor *a, s32 tid)
{
	return attributor_get_process(a, attributor_find_process(a, tid));
}

static struct attributor_stats get_stats(const struct attributor *a)
{
	struct attributor_stats st;

	attributor_get_stats(a, &st);
	return st;
}

static void sleep_ms(long ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* A child that writes to a pipe when it is ready, and then waits for a byte */
struct child_process {
	pid_t pid;
	int ready;
	int go;
};

static struct child_process start_child_process(void (*body)(int ready, int go))
{
	struct child_process c;
	int ready[2], go[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		close(go[1]);
		body(ready[1], go[0]);
		_exit(0);
	}
	close(ready[1]);
	close(go[0]);
	c.ready = ready[0];
	c.go = go[1];
	assert_int_equal(read(c.ready, &byte, 1), 1);
	return c;
}

static void end_child_process(struct child_process *c)
{
	kill(c->pid, SIGKILL);
	close(c->go);
	waitpid(c->pid, NULL, 0);
	close(c->ready);
}

static void wait_for_go(int ready, int go)
{
	char byte = 0;

	if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) < 0)
		_exit(1);
}

static void run_named_child(int ready, int go)
{
	prctl(PR_SET_NAME, "evil\033[2J) R 1");
	wait_for_go(ready, go);
	prctl(PR_SET_NAME, "renamed");
	wait_for_go(ready, go);
}

static void test_own_process_is_found(void **state)
{
	struct attributor *a = make_attributor(true, 0, 0, 0);
	u32 index = attributor_find_process(a, getpid());
	struct attribute_location location;
	const struct attribute_process *p = attributor_get_process(a, index);

	(void)state;
	assert_non_null(p);
	assert_int_equal(p->pid, getpid());
	assert_string_equal(p->comm, "test-attributor");
	assert_non_null(attributor_get_container(a, p->container));
	assert_true(attributor_locate_pc(a, index, (u64)(uintptr_t)test_own_process_is_found, false,
					 &location));
	assert_non_null(strstr(location.binary, "test-attributor"));
	assert_true(location.inode);
	assert_false(attributor_locate_pc(a, index, 8, false, &location));
	assert_true(attributor_locate_pc(a, index, ~0ULL << 40, true, &location));
	assert_string_equal(location.binary, "[kernel]");
	assert_int_equal(attributor_find_process(a, getpid()), index);
	assert_int_equal(get_stats(a).lookups, 1);
	attributor_free(a);
}

static void test_idle_task_is_swapper(void **state)
{
	struct attributor *a = make_attributor(true, 0, 0, 0);
	struct attribute_location location;
	u32 index = attributor_find_process(a, 0);

	(void)state;
	assert_string_equal(attributor_get_process(a, index)->comm, "swapper");
	assert_int_equal(attributor_get_process(a, index)->pid, 0);
	assert_int_equal(attributor_get_process(a, index)->container, 0);
	assert_string_equal(attributor_get_container(a, 0)->name, "");
	assert_false(attributor_locate_pc(a, index, 0x1000, false, &location));
	assert_int_equal(attributor_find_process(a, -1), ATTRIBUTE_NONE);
	attributor_refresh(a);
	assert_int_equal(attributor_find_process(a, 0), index);
	assert_int_equal(get_stats(a).lookups, 0);
	attributor_free(a);
}

/* Outside of a container kthreadd has PID 2; in a container it is not visible. */
static void test_kernel_thread(void **state)
{
	struct attributor *a = make_attributor(true, 0, 0, 0);
	const struct attribute_process *p = get_process(a, 2);

	(void)state;
	if (!p || strcmp(p->comm, "kthreadd")) {
		attributor_free(a);
		skip();
	}
	assert_int_equal(p->container, 0);
	attributor_refresh(a);
	assert_ptr_equal(get_process(a, 2), p);
	attributor_free(a);
}

static void test_unknown_tid(void **state)
{
	struct attributor *a = make_attributor(true, 0, 0, 0);

	(void)state;
	/* Use PIDs above every possible pid_max. */
	for (int i = 0; i < 1000; i++)
		assert_int_equal(attributor_find_process(a, INT32_MAX - 1), ATTRIBUTE_NONE);
	assert_int_equal(get_stats(a).lookups, 1);
	assert_int_equal(get_stats(a).unresolved, 1);
	held_clock_advance(1100000000);
	assert_int_equal(attributor_find_process(a, INT32_MAX - 1), ATTRIBUTE_NONE);
	assert_int_equal(get_stats(a).lookups, 2);
	assert_int_equal(get_stats(a).unresolved, 1);
	attributor_free(a);
}

static void test_hostile_name(void **state)
{
	struct attributor *a = make_attributor(true, 0, 0, 0);
	struct child_process c = start_child_process(run_named_child);
	u32 index = attributor_find_process(a, c.pid);
	char byte = 0;

	(void)state;
	assert_string_equal(attributor_get_process(a, index)->comm, "evil\\x1b[2J) R 1");
	/* A process that changes its name is still the same process. */
	assert_int_equal(write(c.go, &byte, 1), 1);
	assert_int_equal(read(c.ready, &byte, 1), 1);
	attributor_refresh(a);
	assert_int_equal(attributor_find_process(a, c.pid), index);
	assert_string_equal(attributor_get_process(a, index)->comm, "renamed");
	end_child_process(&c);
	attributor_free(a);
}

static void test_exited_process_is_kept(void **state)
{
	struct attributor *a = make_attributor(true, 0, 0, 0);
	struct child_process c = start_child_process(wait_for_go);
	u32 index = attributor_find_process(a, c.pid);
	u32 generation = attributor_get_process(a, index)->generation;
	struct attribute_location location;

	(void)state;
	end_child_process(&c);
	attributor_refresh(a);
	/*
	 * Late samples of an exited process still belong to it, and its mappings are still known.
	 */
	for (int i = 0; i < 100; i++)
		assert_int_equal(attributor_find_process(a, c.pid), index);
	assert_int_equal(attributor_get_process(a, index)->generation, generation);
	assert_true(attributor_locate_pc(a, index, (u64)(uintptr_t)test_exited_process_is_kept,
					 false, &location));
	assert_true(get_stats(a).lookups <= 3);
	attributor_free(a);
}

/* Check that the known facts about a process remain valid while it is a zombie. */
static void test_zombie_stays_known(void **state)
{
	struct attributor *a = make_attributor(true, 0, 0, 0);
	struct child_process c = start_child_process(wait_for_go);
	u32 index = attributor_find_process(a, c.pid);
	struct attribute_location location;
	siginfo_t info;

	(void)state;
	kill(c.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)c.pid, &info, WEXITED | WNOWAIT), 0);
	for (int i = 0; i < 3; i++) {
		attributor_refresh(a);
		assert_int_equal(attributor_find_process(a, c.pid), index);
	}
	assert_true(attributor_locate_pc(a, index, (u64)(uintptr_t)test_zombie_stays_known, false,
					 &location));
	end_child_process(&c);
	attributor_free(a);
}

static void *report_tid_and_wait(void *arg)
{
	int *fds = arg;
	s32 tid = (s32)syscall(SYS_gettid);

	if (write(fds[0], &tid, sizeof(tid)) != sizeof(tid) || read(fds[1], &tid, 1) < 0)
		_exit(1);
	return NULL;
}

/* The main thread exits before the other threads. */
static void exit_leader_first(int ready, int go)
{
	static int fds[2];
	pthread_t thread;
	char byte = 0;

	fds[0] = ready;
	fds[1] = go;
	if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1 ||
	    pthread_create(&thread, NULL, report_tid_and_wait, fds))
		_exit(1);
	pthread_exit(NULL);
}

/* The number of mappings of @pid in a recording that contain the function exit_leader_first() */
struct code_mapping_count {
	s32 pid;
	u32 maps;
};

static void count_code_mapping(void *ctx, const struct task_event *event)
{
	struct code_mapping_count *count = ctx;
	u64 at = (u64)(uintptr_t)exit_leader_first;

	count->maps += event->type == TASK_MMAP && event->pid == count->pid && event->start <= at &&
		       at - event->start < event->size;
}

/* Wait until the main thread of @pid has exited. Its other threads may continue. */
static void wait_for_zombie(pid_t pid)
{
	char path[32], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'Z') {
		FILE *f = fopen(path, "re");

		assert_non_null(f);
		assert_int_equal(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
		fclose(f);
		sleep_ms(1);
	}
}

static void test_leader_exits_before_threads(void **state)
{
	struct attributor *a = make_attributor(true, 0, 0, 0);
	struct attributor *second = make_attributor(true, 0, 0, 0);
	struct child_process c = start_child_process(exit_leader_first);
	struct code_mapping_count count = { .pid = c.pid };
	const struct source_sink sink = { .task = count_code_mapping, .ctx = &count };
	u32 index = attributor_find_process(a, c.pid);
	struct attribute_location location;
	char byte = 0;
	s32 tid;

	(void)state;
	assert_int_equal(write(c.go, &byte, 1), 1);
	assert_int_equal(read(c.ready, &tid, sizeof(tid)), sizeof(tid));
	wait_for_zombie(c.pid);
	for (int i = 0; i < 3; i++) {
		attributor_refresh(a);
		assert_int_equal(attributor_find_process(a, tid), index);
	}
	assert_true(attributor_locate_pc(a, index, (u64)(uintptr_t)exit_leader_first, false,
					 &location));
	/*
	 * The second attributor gets the first event of the process now, so it reads the maps of
	 * the thread.
	 */
	index = attributor_find_process(second, tid);
	assert_int_equal(attributor_get_process(second, index)->pid, c.pid);
	assert_true(attributor_locate_pc(second, index, (u64)(uintptr_t)exit_leader_first, false,
					 &location));
	/* The recording also reports the mapping, exactly once. */
	assert_int_equal(procfs_scan_tasks(&sink, 1), 0);
	assert_int_equal(count.maps, 1);
	end_child_process(&c);
	attributor_free(a);
	attributor_free(second);
}

static void exec_shell(int ready, int go)
{
	wait_for_go(ready, go);
	execl("/bin/sleep", "sleep", "100", (char *)NULL);
}

static void test_exec_makes_new_entry(void **state)
{
	struct attributor *a = make_attributor(true, 0, 0, 0);
	struct child_process c = start_child_process(exec_shell);
	u32 before = attributor_find_process(a, c.pid), after = before;
	struct attribute_location location;
	char byte = 0;

	(void)state;
	assert_string_equal(attributor_get_process(a, before)->comm, "test-attributor");
	assert_int_equal(write(c.go, &byte, 1), 1);
	/*
	 * After exec the process gets another entry: samples of the old program keep their name and
	 * mappings.
	 */
	while (after == before) {
		sleep_ms(10);
		attributor_refresh(a);
		after = attributor_find_process(a, c.pid);
	}
	assert_string_equal(attributor_get_process(a, after)->comm, "sleep");
	assert_int_equal(attributor_get_process(a, after)->pid, c.pid);
	assert_string_equal(attributor_get_process(a, before)->comm, "test-attributor");
	assert_true(attributor_locate_pc(a, before, (u64)(uintptr_t)test_exec_makes_new_entry,
					 false, &location));
	assert_non_null(strstr(location.binary, "test-attributor"));
	end_child_process(&c);
	attributor_free(a);
}

/*
 * Start a child with the PID of an exited process. Return: false if this machine does not allow it.
 */
static bool start_child_with_pid(pid_t pid, struct child_process *ret_child)
{
	for (int i = 0; i < 50; i++) {
		FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "we");
		bool written;

		if (!f)
			return false;
		written = fprintf(f, "%d", pid - 1) > 0;
		if (fclose(f) || !written)
			return false;
		*ret_child = start_child_process(run_named_child);
		if (ret_child->pid == pid)
			return true;
		end_child_process(ret_child);
	}
	return false;
}

/*
 * A process that reuses a PID inherits nothing from the former process, with and without a refresh.
 */
static void test_pid_reuse(void **state)
{
	struct attributor *a = make_attributor(true, 0, 0, 0);

	(void)state;
	for (int refresh = 0; refresh < 2; refresh++) {
		struct child_process c = start_child_process(wait_for_go), next = { 0 };
		u32 old = attributor_find_process(a, c.pid), index;

		end_child_process(&c);
		if (refresh)
			attributor_refresh(a);
		/*
		 * Start times have a resolution of 10 ms: processes that start within one tick look
		 * the same.
		 */
		sleep_ms(20);
		if (!start_child_with_pid(c.pid, &next)) {
			attributor_free(a);
			skip();
		}
		attributor_refresh(a);
		index = attributor_find_process(a, next.pid);
		assert_int_not_equal(index, old);
		assert_string_equal(attributor_get_process(a, index)->comm, "evil\\x1b[2J) R 1");
		assert_string_equal(attributor_get_process(a, old)->comm, "test-attributor");
		end_child_process(&next);
	}
	attributor_free(a);
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

static bool move_to_cgroup(const char *cgroup, pid_t pid)
{
	char path[512];
	FILE *f;
	bool written;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	f = fopen(path, "we");
	if (!f)
		return false;
	written = fprintf(f, "%d", pid) > 0;
	return !fclose(f) && written;
}

static void test_cgroup_move(void **state)
{
	struct attributor *a = make_attributor(true, 0, 0, 0);
	struct child_process c = start_child_process(wait_for_go);
	u32 before = attributor_find_process(a, c.pid), after;
	char mount[256], cgroup[320];
	bool moved;

	(void)state;
	find_cgroup_mount(mount, sizeof(mount));
	snprintf(cgroup, sizeof(cgroup), "%s/speprof-test-%d", mount, getpid());
	moved = *mount && !mkdir(cgroup, 0755) && move_to_cgroup(cgroup, c.pid);
	if (moved) {
		attributor_refresh(a);
		after = attributor_find_process(a, c.pid);
		assert_int_not_equal(after, before);
		assert_string_equal(
			attributor_get_container(a, attributor_get_process(a, after)->container)
				->name,
			strrchr(cgroup, '/') + 1);
		/* Samples from before the move stay with the former container. */
		assert_int_not_equal(attributor_get_process(a, before)->container,
				     attributor_get_process(a, after)->container);
	}
	end_child_process(&c);
	attributor_free(a);
	if (*mount)
		rmdir(cgroup);
	if (!moved)
		skip();
}

struct waiting_thread {
	pthread_t thread;
	pthread_barrier_t *barrier;
	s32 tid;
};

static void *waiting_thread_run(void *arg)
{
	struct waiting_thread *w = arg;

	w->tid = (s32)syscall(SYS_gettid);
	pthread_barrier_wait(w->barrier);
	pthread_barrier_wait(w->barrier);
	return NULL;
}

static void test_threads_share_process(void **state)
{
	struct attributor *a = make_attributor(true, 0, 0, 0);
	struct waiting_thread w[64];
	pthread_barrier_t barrier;
	u32 index, found;

	(void)state;
	pthread_barrier_init(&barrier, NULL, ARRAY_SIZE(w) + 1);
	for (size_t i = 0; i < ARRAY_SIZE(w); i++) {
		w[i].barrier = &barrier;
		assert_int_equal(pthread_create(&w[i].thread, NULL, waiting_thread_run, &w[i]), 0);
	}
	pthread_barrier_wait(&barrier);
	index = attributor_find_process(a, w[0].tid);
	assert_int_equal(attributor_get_process(a, index)->pid, getpid());
	for (size_t i = 0; i < ARRAY_SIZE(w); i++)
		assert_int_equal(attributor_find_process(a, w[i].tid), index);
	assert_int_equal(get_stats(a).lookups, ARRAY_SIZE(w));
	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < ARRAY_SIZE(w); i++)
		pthread_join(w[i].thread, NULL);
	pthread_barrier_destroy(&barrier);

	/* A bounded number of refreshes must find that all of them have exited. */
	for (int i = 0; i < 300; i++)
		attributor_refresh(a);
	for (size_t i = 0; i < ARRAY_SIZE(w); i++) {
		u64 before = get_stats(a).lookups;

		found = attributor_find_process(a, w[i].tid);
		assert_int_equal(found, index);
		assert_int_equal(get_stats(a).lookups, before + 1);
	}
	attributor_free(a);
}

/*
 * If tables have only a few entries, evictions are counted, and the remaining entries stay correct.
 */
static void test_small_tables_evict(void **state)
{
	struct attributor *a = make_attributor(true, 4, 8, 2);
	struct child_process c[12];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(c); i++)
		c[i] = start_child_process(wait_for_go);
	for (int round = 0; round < 20; round++)
		for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
			const struct attribute_process *p = get_process(a, c[i].pid);

			assert_non_null(p);
			assert_int_equal(p->pid, c[i].pid);
		}
	assert_true(get_stats(a).processes_evicted >= ARRAY_SIZE(c) - 3);
	assert_int_equal(attributor_get_process(a, 0)->pid, 0);
	for (size_t i = 0; i < ARRAY_SIZE(c); i++)
		end_child_process(&c[i]);
	attributor_free(a);
}

static u32 count_open_files(void)
{
	u32 n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/*
 * Children exit faster than they can be looked up: no memory leaks, and no process gets the data of
 * another one.
 */
static void test_short_lived_children(void **state)
{
	struct attributor *a = make_attributor(true, 64, 64, 4);
	u32 files = count_open_files();
	pid_t pids[800];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i])
			_exit(0);
		for (size_t k = i < 4 ? 0 : i - 4; k <= i; k++) {
			const struct attribute_process *p = get_process(a, pids[k]);

			assert_true(!p || p->pid == pids[k]);
		}
		if (i % 100 == 0)
			attributor_refresh(a);
		if (i >= 8)
			waitpid(pids[i - 8], NULL, 0);
	}
	while (wait(NULL) > 0)
		;
	assert_int_equal(count_open_files(), files);
	assert_int_equal(get_process(a, getpid())->pid, getpid());
	attributor_free(a);
}

/*
 * The oldest entry of an exited process is evicted first. Entries of living processes are not
 * evicted.
 */
static void test_exited_processes_are_evicted_first(void **state)
{
	struct attributor *a = make_attributor(true, 5, 0, 0);
	struct child_process c[4], more;
	u32 index[4];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		c[i] = start_child_process(wait_for_go);
		index[i] = attributor_find_process(a, c[i].pid);
	}
	end_child_process(&c[2]);
	attributor_refresh(a);
	end_child_process(&c[0]);
	attributor_refresh(a);
	more = start_child_process(wait_for_go);
	assert_int_equal(attributor_find_process(a, more.pid), index[2]);
	assert_int_equal(attributor_find_process(a, c[0].pid), index[0]);
	assert_int_equal(attributor_find_process(a, c[1].pid), index[1]);
	/* The entry now belongs to another process. */
	assert_int_equal(attributor_find_process(a, c[2].pid), ATTRIBUTE_NONE);
	end_child_process(&c[1]);
	end_child_process(&c[3]);
	end_child_process(&more);
	attributor_free(a);
}

static void send_event(struct attributor *a, struct task_event e)
{
	attributor_apply_event(a, &e);
}

static void test_events_change_tasks(void **state)
{
	struct attributor *a = make_attributor(false, 0, 0, 0);
	static const u8 id[20] = { 1, 2, 3 };
	struct attribute_location location;
	u32 parent, child;

	(void)state;
	send_event(a, (struct task_event){ .type = TASK_COMM, .pid = 10, .tid = 10, .name = "sh" });
	send_event(a, (struct task_event){ .type = TASK_MMAP,
					   .pid = 10,
					   .tid = 10,
					   .start = 0x1000,
					   .size = 0x3000,
					   .name = "/bin/sh",
					   .build_id = id,
					   .build_id_size = 20 });
	send_event(a, (struct task_event){
			      .type = TASK_FORK, .pid = 11, .tid = 11, .parent_pid = 10 });
	send_event(a, (struct task_event){
			      .type = TASK_FORK, .pid = 11, .tid = 12, .parent_pid = 11 });
	send_event(a, (struct task_event){ .type = TASK_MMAP,
					   .pid = 11,
					   .tid = 12,
					   .start = 0x2000,
					   .size = 0x1000,
					   .offset = 0x500,
					   .name = "/lib/x\033" });
	send_event(a, (struct task_event){ .type = TASK_EXIT, .pid = 11, .tid = 11 });
	send_event(a, (struct task_event){ .type = TASK_MMAP,
					   .pid = -1,
					   .tid = -1,
					   .start = 0xffff800000000000,
					   .size = 0x100000,
					   .name = "[kernel.kallsyms]_text" });
	send_event(a, (struct task_event){ .type = TASK_MMAP,
					   .pid = -1,
					   .tid = -1,
					   .start = 0xffff700000000000,
					   .size = 0x1000,
					   .name = "[nf_tables]" });
	parent = attributor_find_process(a, 10);
	child = attributor_find_process(a, 12);
	assert_int_equal(attributor_find_process(a, 11), child);
	assert_int_equal(attributor_get_process(a, child)->pid, 11);
	assert_string_equal(attributor_get_process(a, child)->comm, "sh");

	assert_true(attributor_locate_pc(a, child, 0x1010, false, &location));
	assert_string_equal(location.binary, "/bin/sh");
	assert_int_equal(location.build_id_size, 20);
	assert_memory_equal(location.build_id, id, 20);
	assert_true(attributor_locate_pc(a, child, 0x2010, false, &location));
	assert_string_equal(location.binary, "/lib/x\033");
	assert_int_equal(location.offset, 0x510);
	/* Another mapping replaced the middle of a mapping: the rest is still found. */
	assert_true(attributor_locate_pc(a, child, 0x3010, false, &location));
	assert_string_equal(location.binary, "/bin/sh");
	assert_int_equal(location.offset, 0x2010);
	assert_true(attributor_locate_pc(a, parent, 0x2010, false, &location));
	assert_string_equal(location.binary, "/bin/sh");

	assert_true(attributor_locate_pc(a, child, 0xffff800000000010, true, &location));
	assert_string_equal(location.binary, "[kernel]");
	assert_true(attributor_locate_pc(a, ATTRIBUTE_NONE, 0xffff700000000010, true, &location));
	assert_string_equal(location.binary, "[nf_tables]");
	assert_int_equal(attributor_find_process(a, getpid()), ATTRIBUTE_NONE);
	assert_int_equal(get_stats(a).lookups, 0);
	attributor_free(a);
}

static void test_events_exec(void **state)
{
	struct attributor *a = make_attributor(false, 0, 0, 0);
	struct attribute_location location;
	u32 index;

	(void)state;
	send_event(a, (struct task_event){ .type = TASK_MMAP,
					   .pid = 7,
					   .tid = 7,
					   .start = 0x1000,
					   .size = 0x1000,
					   .name = "/old" });
	assert_string_equal(get_process(a, 7)->comm, ":7");
	send_event(a, (struct task_event){
			      .type = TASK_COMM, .pid = 7, .tid = 7, .name = "new", .exec = true });
	index = attributor_find_process(a, 7);
	assert_string_equal(attributor_get_process(a, index)->comm, "new");
	assert_false(attributor_locate_pc(a, index, 0x1000, false, &location));
	send_event(a, (struct task_event){ .type = TASK_CGROUP, .pid = 7, .name = "/lxc/web" });
	assert_string_equal(attributor_get_container(a, get_process(a, 7)->container)->name, "web");
	attributor_free(a);
}

/* Replay a hostile recording: events with random fields, and tables with a few entries. */
static void test_events_hostile(void **state)
{
	static const char *const names[] = {
		"", "a", "/x", "[kernel]", "\xff\033", "/lxc/y", NULL
	};
	struct attributor *a = make_attributor(false, 16, 16, 3);
	unsigned int seed = 7;

	(void)state;
	for (unsigned int n = 0; n < 300000; n++) {
		const u64 edges[] = { 0, 1, 0x1000, UINT64_MAX, UINT64_MAX - 0xfff, 1ULL << 63 };
		struct attribute_location location;
		struct task_event e = {
			.type = (u8)(rand_r(&seed) % 7),
			.pid = rand_r(&seed) % 40 - 2,
			.tid = rand_r(&seed) % 40 - 2,
			.parent_pid = rand_r(&seed) % 40 - 2,
			.exec = rand_r(&seed) & 1,
			.name = names[(size_t)rand_r(&seed) % ARRAY_SIZE(names)],
			.start = edges[(size_t)rand_r(&seed) % 6] + (u64)(rand_r(&seed) % 64) * 256,
			.size = edges[(size_t)rand_r(&seed) % 6] + (u64)(rand_r(&seed) % 64) * 256,
			.offset = edges[(size_t)rand_r(&seed) % 6],
			.build_id = (const u8 *)names,
			.build_id_size = (u8)(rand_r(&seed) % 30),
		};
		u32 index;

		attributor_apply_event(a, &e);
		index = attributor_find_process(a, e.tid);
		attributor_locate_pc(a, index, e.start, n & 1, &location);
		if (index != ATTRIBUTE_NONE)
			assert_non_null(attributor_get_container(
				a, attributor_get_process(a, index)->container));
	}
	assert_true(get_stats(a).processes_evicted > 0);
	assert_true(get_stats(a).memory < 1 << 20);
	attributor_free(a);
}

/*
 * A container that does not fit into the table is counted, and does not get the name of another
 * one.
 */
static void test_full_container_table(void **state)
{
	struct attributor *a = make_attributor(false, 0, 0, 4);
	char name[32];

	(void)state;
	for (s32 i = 1; i <= 10; i++) {
		snprintf(name, sizeof(name), "/lxc/c%d", i);
		send_event(a, (struct task_event){
				      .type = TASK_COMM, .pid = i, .tid = i, .name = "x" });
		send_event(a, (struct task_event){ .type = TASK_CGROUP, .pid = i, .name = name });
		assert_string_equal(attributor_get_container(a, get_process(a, i)->container)->name,
				    i <= 2 ? name + 5 : "(other)");
	}
	assert_int_equal(attributor_get_container_limit(a), 4);
	assert_int_equal(get_stats(a).containers_overflow, 8);
	attributor_free(a);
}

static u64 get_container_id(struct attributor *a, s32 pid, const char *path)
{
	struct container_details details;

	send_event(a,
		   (struct task_event){ .type = TASK_COMM, .pid = pid, .tid = pid, .name = "x" });
	send_event(a, (struct task_event){ .type = TASK_CGROUP, .pid = pid, .name = path });
	attributor_get_container_details(a, get_process(a, pid)->container, &details);
	assert_int_equal(details.empty_ns, 0);
	assert_string_equal(details.pod->pod, "");
	return details.id;
}

/* A container is identified only by its path, which includes the end that is not displayed. */
static void test_container_ids(void **state)
{
	static const u64 key[] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	char one[400], two[400];

	(void)state;
	for (unsigned int round = 0; round < 2; round++) {
		struct attributor *a = make_attributor(false, 0, 0, 0);
		struct container_details details;

		/* The id of a container does not depend on its index in the table. */
		if (round)
			get_container_id(a, 4, "/lxc/before");
		/*
		 * The id depends only on key and path, so that every version of the daemon finds
		 * the same ids in restored statistics.
		 */
		get_container_id(a, 5, "/lxc/c");
		containers_set_id_key(a, key);
		assert_int_equal(get_container_id(a, 5, "/lxc/c"), siphash(key, "/lxc/c", 6));
		snprintf(one, sizeof(one), "/%0300d.slice/one.service", 0);
		snprintf(two, sizeof(two), "/%0300d.slice/two.service", 0);
		assert_int_not_equal(get_container_id(a, 6, one), get_container_id(a, 7, two));
		assert_string_equal(
			attributor_get_container(a, get_process(a, 6)->container)->path,
			attributor_get_container(a, get_process(a, 7)->container)->path);
		/*
		 * Entry 0 represents processes without a container, and containers without an
		 * entry.
		 */
		attributor_get_container_details(a, 0, &details);
		assert_int_equal(details.id, siphash(key, "", 0));
		attributor_get_container_details(a, attributor_get_other_container(a), &details);
		assert_int_not_equal(details.id, siphash(key, "", 0));
		attributor_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_process_is_found),
		cmocka_unit_test(test_idle_task_is_swapper),
		cmocka_unit_test(test_kernel_thread),
		cmocka_unit_test_setup_teardown(test_unknown_tid, held_clock_stop, held_clock_run),
		cmocka_unit_test(test_hostile_name),
		cmocka_unit_test(test_exited_process_is_kept),
		cmocka_unit_test(test_zombie_stays_known),
		cmocka_unit_test(test_leader_exits_before_threads),
		cmocka_unit_test(test_exec_makes_new_entry),
		cmocka_unit_test(test_pid_reuse),
		cmocka_unit_test(test_cgroup_move),
		cmocka_unit_test(test_threads_share_process),
		cmocka_unit_test(test_small_tables_evict),
		cmocka_unit_test(test_exited_processes_are_evicted_first),
		cmocka_unit_test(test_short_lived_children),
		cmocka_unit_test(test_events_change_tasks),
		cmocka_unit_test(test_events_exec),
		cmocka_unit_test(test_events_hostile),
		cmocka_unit_test(test_full_container_table),
		cmocka_unit_test(test_container_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
