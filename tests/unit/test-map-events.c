// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Executable memory as BPF tells of it, compared with what /proc/PID/maps says of the same
 * memory: files below mounts and roots, stacked file systems, files without a name.
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

#include "map-bpf.h"
#include "procfs.h"
#include "task-bpf.h"

#define PAGES 3

static char folder[] = "/tmp/speprof-XXXXXX";

/* What is told of one process, and what /proc says of it. */
struct seen {
	struct task_bpf *bpf;
	pid_t pid;
	u32 count;
	struct task_event events[64];
	char names[64][2048];
};

static void see(void *ctx, const struct task_event *e)
{
	struct seen *s = ctx;

	if (e->type != TASK_MMAP || e->pid != s->pid || s->count >= ARRAY_SIZE(s->events))
		return;
	s->events[s->count] = *e;
	snprintf(s->names[s->count++], sizeof(s->names[0]), "%s", e->name);
}

static void take(struct seen *s)
{
	const struct source_sink sink = { .task = see, .ctx = s };

	task_bpf_begin(s->bpf);
	while (task_bpf_next(s->bpf) != TASK_BPF_NOTHING)
		task_bpf_take(s->bpf, &sink);
	task_bpf_end(s->bpf);
}

static struct seen *open_seen(void)
{
	struct seen *s = calloc(1, sizeof(*s));
	char reason[TASK_BPF_REASON] = "";

	assert_non_null(s);
	if (task_bpf_new(0, &s->bpf, reason) < 0) {
		print_message("%s\n", reason);
		free(s);
		skip();
	}
	if (!task_bpf_tells_maps(s->bpf)) {
		print_message("this kernel lets BPF see no mappings\n");
		task_bpf_free(s->bpf);
		free(s);
		skip();
	}
	return s;
}

static void close_seen(struct seen *s)
{
	task_bpf_free(s->bpf);
	free(s);
}

/* One line of /proc: the mapping at a place. */
struct line {
	u64 start;
	struct procfs_map map;
	char path[2048];
	bool found;
};

static bool line_take(void *ctx, const struct procfs_map *map)
{
	struct line *line = ctx;

	if (map->start != line->start)
		return true;
	line->map = *map;
	snprintf(line->path, sizeof(line->path), "%s", map->path);
	line->found = true;
	return false;
}

static bool line_read(pid_t pid, u64 start, struct line *line)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), task = procfs_task(proc, pid);
	struct procfs_maps_cost cost;

	*line = (struct line){ .start = start };
	assert_true(task >= 0);
	assert_int_equal(procfs_maps(task, 0, line_take, line, &cost), 0);
	close(task);
	close(proc);
	return line->found;
}

/* A process that maps what @open opens, at its second page, and waits until it is killed. */
static u64 child_map(pid_t *ret_pid, int (*open_it)(void))
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

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static const char *below(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* A file of some pages at @name below the folder. */
static int make(const char *name)
{
	int fd = open(below(name), O_RDWR | O_CREAT | O_CLOEXEC, 0755);

	if (fd >= 0 && ftruncate(fd, (PAGES + 2) * sysconf(_SC_PAGESIZE)) < 0)
		return -1;
	return fd;
}

static int open_plain(void)
{
	return make("with\nbreak and \\ \xff");
}

static int open_deleted(void)
{
	int fd = make("deleted");

	unlink(below("deleted"));
	return fd;
}

static int open_memfd(void)
{
	int fd = memfd_create("nameless", MFD_CLOEXEC);

	return fd >= 0 && !ftruncate(fd, (PAGES + 2) * sysconf(_SC_PAGESIZE)) ? fd : -1;
}

/* Mounts of its own, of which nobody else knows. */
static bool mounts_alone(void)
{
	return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static int open_mounted(void)
{
	char lower[64];
	int fd;

	mkdir(below("lower"), 0755);
	fd = make("lower/file");
	if (fd < 0 || close(fd) || !mounts_alone())
		return -1;
	mkdir(below("bound"), 0755);
	if (mount("none", below("bound"), "tmpfs", 0, NULL) < 0 ||
	    mkdir(below("bound/in"), 0755) < 0)
		return -1;
	snprintf(lower, sizeof(lower), "%s/lower", folder);
	if (mount(lower, below("bound/in"), NULL, MS_BIND, NULL) < 0)
		return -1;
	return open(below("bound/in/file"), O_RDONLY | O_CLOEXEC);
}

static int open_stacked(void)
{
	char options[PATH_MAX * 3];
	int fd;

	mkdir(below("lower"), 0755);
	fd = make("lower/file");
	if (fd < 0 || close(fd) || !mounts_alone())
		return -1;
	mkdir(below("stack"), 0755);
	if (mount("none", below("stack"), "tmpfs", 0, NULL) < 0)
		return -1;
	mkdir(below("stack/upper"), 0755);
	mkdir(below("stack/work"), 0755);
	mkdir(below("stack/seen"), 0755);
	snprintf(options, sizeof(options),
		 "lowerdir=%s/lower,upperdir=%s/stack/upper,workdir=%s/stack/work", folder, folder,
		 folder);
	if (mount("none", below("stack/seen"), "overlay", 0, options) < 0)
		return -1;
	return open(below("stack/seen/file"), O_RDONLY | O_CLOEXEC);
}

static int open_deep(void)
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

/* What is told is what /proc says. */
static void same(struct seen *s, u64 start, const struct line *line)
{
	u32 i;

	for (i = 0; i < s->count && s->events[i].start != start; i++)
		;
	assert_true(i < s->count);
	assert_int_equal(s->events[i].start + s->events[i].size, line->map.end);
	assert_int_equal(s->events[i].offset, line->map.offset);
	assert_int_equal(s->events[i].inode, line->map.inode);
	assert_int_equal(s->events[i].device, line->map.device);
	assert_string_equal(s->names[i], line->path);
}

static void test_files(void **state)
{
	static int (*const opens[])(void) = { open_plain, open_deleted, open_memfd, open_mounted,
					      open_stacked };
	static const char *const names[] = { "plain", "deleted", "memfd", "mounted", "stacked" };
	struct seen *s = open_seen();
	struct line line;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(opens); i++) {
		u64 start = child_map(&s->pid, opens[i]);

		s->count = 0;
		take(s);
		if (start) {
			assert_true(line_read(s->pid, start, &line));
			print_message("%s: %s\n", names[i], line.path);
			same(s, start, &line);
		} else {
			print_message("%s: not here\n", names[i]);
		}
		child_end(s->pid);
		/* Those are for everyone to make; mounts are root's. */
		assert_true(start || i >= 3);
	}
	close_seen(s);
}

static int open_rooted(void)
{
	int fd;

	mkdir(below("root"), 0755);
	fd = make("root/file");
	if (fd < 0 || close(fd) || chroot(below("root")) < 0 || chdir("/") < 0)
		return -1;
	return open("/file", O_RDONLY | O_CLOEXEC);
}

/* As its own root has it, which is where its files are looked for. */
static void test_root(void **state)
{
	struct seen *s = open_seen();
	u64 start = child_map(&s->pid, open_rooted);
	u32 i;

	(void)state;
	take(s);
	child_end(s->pid);
	for (i = 0; i < s->count && s->events[i].start != start; i++)
		;
	if (start) {
		assert_true(i < s->count);
		assert_string_equal(s->names[i], "/file");
	}
	close_seen(s);
	if (!start)
		skip();
}

/* A path without an end is not told: /proc is asked for it. */
static void test_deep(void **state)
{
	struct seen *s = open_seen();
	u64 start = child_map(&s->pid, open_deep);

	(void)state;
	assert_true(start);
	take(s);
	child_end(s->pid);
	for (u32 i = 0; i < s->count; i++)
		assert_int_not_equal(s->events[i].start, start);
	assert_int_equal(task_bpf_lost(s->bpf), 0);
	close_seen(s);
}

/* All of a program's, the kernel's own among them, before it has run. */
static void test_exec(void **state)
{
	struct seen *s = open_seen();
	bool vdso = false;
	struct line line;

	(void)state;
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (!s->pid) {
		execl("/bin/sleep", "sleep", "60", NULL);
		_exit(1);
	}
	/* Until it sleeps: a dynamic program has its libraries by then. */
	usleep(500000);
	take(s);
	assert_true(s->count >= 3);
	for (u32 i = 0; i < s->count; i++) {
		if (!line_read(s->pid, s->events[i].start, &line))
			continue;
		same(s, s->events[i].start, &line);
		vdso |= !strcmp(line.path, "[vdso]");
	}
	child_end(s->pid);
	close_seen(s);
	assert_true(vdso);
}

/* Move this process to the cgroup @name below the root of version 2, where that is mounted. */
static void cgroup_join(const char *name)
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

/* A process of user @uid, in @cgroup, that maps executable memory @times times, one at a time. */
static pid_t child_flood(uid_t uid, const char *cgroup, u32 times)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	pid_t pid = fork();
	int fd, status;

	assert_true(pid >= 0);
	if (!pid) {
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		cgroup_join(cgroup);
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

/* What is reported of two processes. */
struct lost {
	pid_t pid[2];
	u64 count[2];
	u32 tasks[2]; /* forks and exits */
};

static void see_lost(void *ctx, const struct task_event *e)
{
	struct lost *lost = ctx;

	for (u32 i = 0; i < 2; i++) {
		if (e->pid != lost->pid[i])
			continue;
		lost->count[i] += e->type == TASK_LOST_MAPS ? e->size : 0;
		lost->tasks[i] += e->type == TASK_FORK || e->type == TASK_EXIT;
	}
}

static u32 ring_count(struct event_ring *ring, pid_t pid)
{
	u32 count = 0;

	event_ring_scan(ring);
	while (event_ring_next(ring) != EVENT_RING_NOTHING) {
		const struct map_record *r = event_ring_take(ring);

		count += r->pid == pid;
	}
	event_ring_release(ring);
	return count;
}

/*
 * Who maps too much loses mappings of its own only, and the process is reported. The processes
 * are of two cgroups where these can be made, and of two users for where there are none.
 */
static void test_bucket(void **state)
{
	struct map_bpf *m = NULL;
	struct lost lost = { 0 };
	const struct source_sink sink = { .task = see_lost, .ctx = &lost };

	(void)state;
	close_seen(open_seen());
	mkdir("/sys/fs/cgroup/speprof-1", 0755);
	mkdir("/sys/fs/cgroup/speprof-2", 0755);
	/* A byte a second: the bucket of who maps for the first time is full, and then empty. */
	assert_int_equal(map_bpf_new(512U << 10, 1, true, &m), 0);
	lost.pid[0] = child_flood(4242, "speprof-1", 100);
	assert_int_equal(ring_count(map_bpf_ring(m), lost.pid[0]), 1);
	lost.pid[1] = child_flood(4243, "speprof-2", 1);
	assert_int_equal(ring_count(map_bpf_ring(m), lost.pid[1]), 1);
	rmdir("/sys/fs/cgroup/speprof-1");
	rmdir("/sys/fs/cgroup/speprof-2");
	/* The first call finds what was lost, the second reports it. */
	map_bpf_lost(m, UINT64_MAX, &sink);
	assert_int_equal(lost.count[0], 0);
	map_bpf_lost(m, UINT64_MAX, &sink);
	assert_int_equal(lost.count[0], 99);
	assert_int_equal(lost.count[1], 0);
	map_bpf_lost(m, UINT64_MAX, &sink);
	assert_int_equal(lost.count[0], 99);
	map_bpf_free(m);
}

/* Mappings that do not fit cost no task event. */
static void test_flood(void **state)
{
	struct lost lost = { 0 };
	const struct source_sink sink = { .task = see_lost, .ctx = &lost };
	char reason[TASK_BPF_REASON] = "";
	struct task_bpf *bpf;

	(void)state;
	close_seen(open_seen());
	assert_int_equal(task_bpf_new(4 * (size_t)sysconf(_SC_PAGESIZE), &bpf, reason), 0);
	assert_true(task_bpf_tells_maps(bpf));
	lost.pid[0] = child_flood(0, "", 5000);
	assert_int_equal(task_bpf_lost(bpf), 0);
	task_bpf_begin(bpf);
	while (task_bpf_next(bpf) != TASK_BPF_NOTHING)
		task_bpf_take(bpf, &sink);
	task_bpf_end(bpf);
	assert_int_equal(lost.tasks[0], 2);
	task_bpf_lost_maps(bpf, UINT64_MAX, &sink);
	task_bpf_lost_maps(bpf, UINT64_MAX, &sink);
	assert_true(lost.count[0] > 0);
	task_bpf_free(bpf);
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
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_bucket),
		cmocka_unit_test(test_flood),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
