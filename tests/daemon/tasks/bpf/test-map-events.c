// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compare executable mappings as BPF reports them with /proc/PID/maps: files below mounts and other
 * roots, stacked file systems, files without a name.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attribution/procfs.h"
#include "tasks/bpf/mapping-bpf.h"
#include "tasks/bpf/task-bpf.h"
#include "tasks/task-event.h"

#define PAGES 3

static char folder[] = "/tmp/speprof-XXXXXX";

/* The mappings that are reported for one process */
struct seen_mappings {
	struct task_bpf *bpf;
	pid_t pid;
	u32 count;
	struct task_event events[64];
	char names[64][2048];
};

static void record_event(void *ctx, const struct task_event *e)
{
	struct seen_mappings *s = ctx;

	if (e->type != TASK_MMAP || e->pid != s->pid || s->count >= ARRAY_SIZE(s->events))
		return;
	s->events[s->count] = *e;
	snprintf(s->names[s->count++], sizeof(s->names[0]), "%s", e->name);
}

static void read_events(struct seen_mappings *s)
{
	const struct task_sink sink = { .task = record_event, .ctx = s };

	task_bpf_begin_read(s->bpf);
	while (task_bpf_get_next_time(s->bpf) != TASK_BPF_NOTHING)
		task_bpf_deliver_next(s->bpf, &sink);
	task_bpf_end_read(s->bpf);
}

static struct seen_mappings *open_seen_mappings(void)
{
	struct seen_mappings *s = calloc(1, sizeof(*s));
	char reason[TASK_BPF_REASON] = "";

	assert_non_null(s);
	if (task_bpf_new(0, &s->bpf, reason) < 0) {
		print_message("%s\n", reason);
		free(s);
		skip();
	}
	if (!task_bpf_reports_maps(s->bpf)) {
		print_message("this kernel lets BPF see no mappings\n");
		task_bpf_free(s->bpf);
		free(s);
		skip();
	}
	return s;
}

static void close_seen_mappings(struct seen_mappings *s)
{
	task_bpf_free(s->bpf);
	free(s);
}

/* The fields of a line of /proc/PID/maps. */
struct maps_line {
	u64 start;
	struct procfs_map map;
	char path[2048];
	bool found;
};

static bool maps_line_store(void *ctx, const struct procfs_map *map)
{
	struct maps_line *line = ctx;

	if (map->start != line->start)
		return true;
	line->map = *map;
	snprintf(line->path, sizeof(line->path), "%s", map->path);
	line->found = true;
	return false;
}

static bool maps_line_read(pid_t pid, u64 start, struct maps_line *line)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	    task = procfs_open_task(proc, pid);
	struct procfs_maps_cost cost;

	*line = (struct maps_line){ .start = start };
	assert_true(task >= 0);
	assert_int_equal(procfs_read_maps(task, 0, maps_line_store, line, &cost), 0);
	close(task);
	close(proc);
	return line->found;
}

/*
 * Start a process that maps, from its second page on, the file that @open_it opens. It waits until
 * it is killed. Return: the address.
 */
static u64 start_mapping_child(pid_t *ret_pid, int (*open_it)(void))
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = MAP_FAILED;
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	*ret_pid = fork();
	assert_true(*ret_pid >= 0);
	if (!*ret_pid) {
		int fd = open_it();

		if (fd >= 0)
			at = mmap(NULL, PAGES * page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
				  (off_t)page);
		if (write(pipes[1], &at, sizeof(at)) != sizeof(at))
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(pipes[0], &at, sizeof(at)), sizeof(at));
	close(pipes[0]);
	close(pipes[1]);
	return at == MAP_FAILED ? 0 : (u64)(uintptr_t)at;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static const char *make_path_in_folder(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* Create a file of some pages with @name in the directory. */
static int make_file(const char *name)
{
	int fd = open(make_path_in_folder(name), O_RDWR | O_CREAT | O_CLOEXEC, 0755);

	if (fd >= 0 && ftruncate(fd, (PAGES + 2) * sysconf(_SC_PAGESIZE)) < 0)
		return -1;
	return fd;
}

static int open_plain_file(void)
{
	return make_file("with\nbreak and \\ \xff");
}

static int open_deleted_file(void)
{
	int fd = make_file("deleted");

	unlink(make_path_in_folder("deleted"));
	return fd;
}

static int open_memfd(void)
{
	int fd = memfd_create("nameless", MFD_CLOEXEC);

	return fd >= 0 && !ftruncate(fd, (PAGES + 2) * sysconf(_SC_PAGESIZE)) ? fd : -1;
}

/* Enter a private mount namespace. Return: whether that is permitted. */
static bool enter_private_mounts(void)
{
	return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static int open_file_below_mount(void)
{
	char lower[64];
	int fd;

	mkdir(make_path_in_folder("lower"), 0755);
	fd = make_file("lower/file");
	if (fd < 0 || close(fd) || !enter_private_mounts())
		return -1;
	mkdir(make_path_in_folder("bound"), 0755);
	if (mount("none", make_path_in_folder("bound"), "tmpfs", 0, NULL) < 0 ||
	    mkdir(make_path_in_folder("bound/in"), 0755) < 0)
		return -1;
	snprintf(lower, sizeof(lower), "%s/lower", folder);
	if (mount(lower, make_path_in_folder("bound/in"), NULL, MS_BIND, NULL) < 0)
		return -1;
	return open(make_path_in_folder("bound/in/file"), O_RDONLY | O_CLOEXEC);
}

static int open_overlay_file(void)
{
	char options[PATH_MAX * 3];
	int fd;

	mkdir(make_path_in_folder("lower"), 0755);
	fd = make_file("lower/file");
	if (fd < 0 || close(fd) || !enter_private_mounts())
		return -1;
	mkdir(make_path_in_folder("stack"), 0755);
	if (mount("none", make_path_in_folder("stack"), "tmpfs", 0, NULL) < 0)
		return -1;
	mkdir(make_path_in_folder("stack/upper"), 0755);
	mkdir(make_path_in_folder("stack/work"), 0755);
	mkdir(make_path_in_folder("stack/seen"), 0755);
	snprintf(options, sizeof(options),
		 "lowerdir=%s/lower,upperdir=%s/stack/upper,workdir=%s/stack/work", folder, folder,
		 folder);
	if (mount("none", make_path_in_folder("stack/seen"), "overlay", 0, options) < 0)
		return -1;
	return open(make_path_in_folder("stack/seen/file"), O_RDONLY | O_CLOEXEC);
}

static int open_deep_file(void)
{
	char name[201];

	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	if (chdir(folder) < 0)
		return -1;
	for (int i = 0; i < 8; i++)
		if (mkdir(name, 0755) < 0 || chdir(name) < 0)
			return -1;
	return open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0755);
}

/* Return the index of the event of the mapping at @start; the number of events if there is none. */
static u32 find_mapping(const struct seen_mappings *s, u64 start)
{
	u32 i;

	for (i = 0; i < s->count && s->events[i].start != start; i++)
		;
	return i;
}

/* Check that the event of the mapping at @start agrees with the line of that mapping in /proc. */
static void check_mapping(struct seen_mappings *s, u64 start, const struct maps_line *line)
{
	u32 i = find_mapping(s, start);

	assert_true(i < s->count);
	assert_int_equal(s->events[i].start + s->events[i].size, line->map.end);
	assert_int_equal(s->events[i].offset, line->map.offset);
	assert_int_equal(s->events[i].inode, line->map.inode);
	assert_int_equal(s->events[i].device, line->map.device);
	assert_string_equal(s->names[i], line->path);
}

/*
 * Start a child that maps what @open_it opens, and read the event of that mapping. If mappings of
 * other processes fill the ring first, start another child. If the kernel never reports the
 * mapping, the test times out.
 */
static u64 see_mapping_of_child(struct seen_mappings *s, int (*open_it)(void))
{
	for (;;) {
		u64 start = start_mapping_child(&s->pid, open_it);

		s->count = 0;
		read_events(s);
		if (!start || find_mapping(s, start) < s->count)
			return start;
		end_child(s->pid);
	}
}

static void test_paths_equal_proc_maps(void **state)
{
	static int (*const opens[])(void) = { open_plain_file, open_deleted_file, open_memfd,
					      open_file_below_mount, open_overlay_file };
	static const char *const names[] = { "plain", "deleted", "memfd", "mounted", "stacked" };
	struct seen_mappings *s = open_seen_mappings();
	struct maps_line line;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(opens); i++) {
		u64 start = see_mapping_of_child(s, opens[i]);

		if (start) {
			assert_true(maps_line_read(s->pid, start, &line));
			print_message("%s: %s\n", names[i], line.path);
			check_mapping(s, start, &line);
		} else {
			print_message("%s: not here\n", names[i]);
		}
		end_child(s->pid);
		/* Any user can create the first three files. Mounts need root. */
		assert_true(start || i >= 3);
	}
	close_seen_mappings(s);
}

static int open_file_in_other_root(void)
{
	int fd;

	mkdir(make_path_in_folder("root"), 0755);
	fd = make_file("root/file");
	if (fd < 0 || close(fd) || chroot(make_path_in_folder("root")) < 0 || chdir("/") < 0)
		return -1;
	return open("/file", O_RDONLY | O_CLOEXEC);
}

/* Paths are relative to the root directory of the process, where its files are opened. */
static void test_path_is_relative_to_root(void **state)
{
	struct seen_mappings *s = open_seen_mappings();
	u64 start = see_mapping_of_child(s, open_file_in_other_root);

	(void)state;
	end_child(s->pid);
	if (start)
		assert_string_equal(s->names[find_mapping(s, start)], "/file");
	close_seen_mappings(s);
	if (!start)
		skip();
}

/* A path that is too deep is not reported: the daemon reads /proc instead. */
static void test_too_deep_path_is_not_reported(void **state)
{
	u64 start, lost;

	(void)state;
	do {
		struct seen_mappings *s = open_seen_mappings();

		start = start_mapping_child(&s->pid, open_deep_file);
		assert_true(start);
		read_events(s);
		end_child(s->pid);
		assert_int_equal(find_mapping(s, start), s->count);
		lost = task_bpf_take_lost_count(s->bpf);
		close_seen_mappings(s);
		/* Repeat if task events of other processes overflowed the ring. */
	} while (lost);
}

/* Start a shell, and return when it runs: then the dynamic linker has mapped its libraries. */
static pid_t start_shell(void)
{
	char byte;
	int out[2];
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", "echo; kill -STOP $$", NULL);
		_exit(1);
	}
	close(out[1]);
	assert_int_equal(read(out[0], &byte, 1), 1);
	close(out[0]);
	return pid;
}

/* All mappings of a program are reported, including the vDSO. */
static void test_exec_reports_all_mappings(void **state)
{
	struct seen_mappings *s = open_seen_mappings();
	bool vdso = false;
	struct maps_line line;

	(void)state;
	/* Repeat if other processes filled the ring before the mappings of this one. */
	while (!vdso || s->count < 3) {
		vdso = false;
		s->count = 0;
		s->pid = start_shell();
		read_events(s);
		for (u32 i = 0; i < s->count; i++) {
			if (!maps_line_read(s->pid, s->events[i].start, &line))
				continue;
			check_mapping(s, s->events[i].start, &line);
			vdso |= !strcmp(line.path, "[vdso]");
		}
		end_child(s->pid);
	}
	close_seen_mappings(s);
}

/* Move this process to the cgroup @name below the root of cgroup v2, if that is mounted. */
static void join_cgroup(const char *name)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/fs/cgroup/%s/cgroup.procs", name);
	f = fopen(path, "we");
	if (f) {
		fputs("0", f);
		fclose(f);
	}
}

/* Run a process of user @uid in @cgroup that maps and unmaps executable memory @times times. */
static pid_t start_flooding_child(uid_t uid, const char *cgroup, u32 times)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	pid_t pid = fork();
	int fd, status;

	assert_true(pid >= 0);
	if (!pid) {
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		join_cgroup(cgroup);
		if (fd < 0 || setresuid(uid, uid, uid) < 0)
			_exit(1);
		for (u32 i = 0; i < times; i++) {
			void *at = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

			if (at == MAP_FAILED || munmap(at, page) < 0)
				_exit(1);
		}
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return pid;
}

/* The number of events reported for two processes */
struct lost_mappings {
	pid_t pid[2];
	u64 count[2];
	u32 tasks[2]; /* number of forks and exits */
	u64 of_unknown; /* number of lost mappings of unknown processes */
};

static void count_lost_event(void *ctx, const struct task_event *e)
{
	struct lost_mappings *lost = ctx;

	lost->of_unknown += e->type == TASK_LOST_MAPS && !e->pid ? e->size : 0;
	for (u32 i = 0; i < 2; i++) {
		if (e->pid != lost->pid[i])
			continue;
		lost->count[i] += e->type == TASK_LOST_MAPS ? e->size : 0;
		lost->tasks[i] += e->type == TASK_FORK || e->type == TASK_EXIT;
	}
}

/*
 * Count the records of @pid. Return at least one, because a record that another CPU is writing may
 * delay the others.
 */
static u32 count_ring_records(struct event_ring *ring, pid_t pid)
{
	u32 count = 0;

	while (!count) {
		event_ring_scan(ring);
		while (event_ring_get_next_time(ring) != EVENT_RING_NOTHING) {
			const struct map_record *r = event_ring_pop(ring);

			count += r->pid == pid;
		}
		event_ring_release(ring);
	}
	return count;
}

/* Let two processes exceed their token buckets, and check which mappings each of them loses. */
static void check_bucket(struct lost_mappings *ret_lost)
{
	const struct task_sink sink = { .task = count_lost_event, .ctx = ret_lost };
	struct mapping_bpf *m = NULL;

	*ret_lost = (struct lost_mappings){ 0 };
	/*
	 * The rate is one byte a second: the first mapping of a cgroup or user empties its bucket.
	 */
	assert_int_equal(mapping_bpf_new(512U << 10, 1, true, &m), 0);
	ret_lost->pid[0] = start_flooding_child(4242, "speprof-1", 100);
	assert_int_equal(count_ring_records(mapping_bpf_get_ring(m), ret_lost->pid[0]), 1);
	ret_lost->pid[1] = start_flooding_child(4243, "speprof-2", 1);
	assert_int_equal(count_ring_records(mapping_bpf_get_ring(m), ret_lost->pid[1]), 1);
	/* The first call finds the losses, the second one reports them. */
	mapping_bpf_report_lost(m, UINT64_MAX, &sink);
	assert_int_equal(ret_lost->count[0], 0);
	mapping_bpf_report_lost(m, UINT64_MAX, &sink);
	if (!ret_lost->of_unknown)
		assert_int_equal(ret_lost->count[0], 99);
	assert_int_equal(ret_lost->count[1], 0);
	mapping_bpf_report_lost(m, UINT64_MAX, &sink);
	if (!ret_lost->of_unknown)
		assert_int_equal(ret_lost->count[0], 99);
	mapping_bpf_free(m);
}

/*
 * If a process maps too much, only its own mappings are lost, and the loss is reported. The
 * processes are in two cgroups if these can be created, else they belong to two users.
 */
static void test_flooding_process_loses_own_mappings(void **state)
{
	struct lost_mappings lost;

	(void)state;
	close_seen_mappings(open_seen_mappings());
	mkdir("/sys/fs/cgroup/speprof-1", 0755);
	mkdir("/sys/fs/cgroup/speprof-2", 0755);
	/*
	 * The kernel counts losses for a limited number of processes: repeat if others used all
	 * slots.
	 */
	do
		check_bucket(&lost);
	while (lost.of_unknown);
	rmdir("/sys/fs/cgroup/speprof-1");
	rmdir("/sys/fs/cgroup/speprof-2");
}

/* Map more than a ring holds. Return: the number of lost task events. */
static u64 flood_ring(struct lost_mappings *ret_lost)
{
	const struct task_sink sink = { .task = count_lost_event, .ctx = ret_lost };
	char reason[TASK_BPF_REASON] = "";
	struct task_bpf *bpf;
	u64 lost;

	*ret_lost = (struct lost_mappings){ 0 };
	assert_int_equal(task_bpf_new(16 * (size_t)sysconf(_SC_PAGESIZE), &bpf, reason), 0);
	assert_true(task_bpf_reports_maps(bpf));
	ret_lost->pid[0] = start_flooding_child(0, "", 1000);
	lost = task_bpf_take_lost_count(bpf);
	/* A record that another CPU is writing hides those after it. */
	while (!lost && ret_lost->tasks[0] < 2) {
		task_bpf_begin_read(bpf);
		while (task_bpf_get_next_time(bpf) != TASK_BPF_NOTHING)
			task_bpf_deliver_next(bpf, &sink);
		task_bpf_end_read(bpf);
	}
	task_bpf_report_lost_maps(bpf, UINT64_MAX, &sink);
	task_bpf_report_lost_maps(bpf, UINT64_MAX, &sink);
	task_bpf_free(bpf);
	return lost;
}

/* Mappings that do not fit into their ring must not cost a task event. */
static void test_mapping_flood_loses_no_task_event(void **state)
{
	struct lost_mappings lost;

	(void)state;
	close_seen_mappings(open_seen_mappings());
	/* Repeat if task events of other processes overflowed their ring. */
	while (flood_ring(&lost))
		;
	assert_int_equal(lost.tasks[0], 2);
	assert_true(lost.count[0] > 0 || lost.of_unknown > 0);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		execlp("rm", "rm", "-rf", folder, NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths_equal_proc_maps),
		cmocka_unit_test(test_path_is_relative_to_root),
		cmocka_unit_test(test_too_deep_path_is_not_reported),
		cmocka_unit_test(test_exec_reports_all_mappings),
		cmocka_unit_test(test_flooding_process_loses_own_mappings),
		cmocka_unit_test(test_mapping_flood_loses_no_task_event),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
