// SPDX-License-Identifier: LGPL-2.1-or-later
/* Create cgroups with tasks in them, and sessions that sample them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kcgroup.h"

#define CGROUPS "/sys/fs/cgroup"

/* ---- Cgroups ---------------------------------------------------------------- */

void kcgroup_make(struct kcgroup *cgroup, const char *name)
{
	snprintf(cgroup->path, sizeof(cgroup->path), CGROUPS "/ktest-%d-%s", getpgrp(), name);
	check(!mkdir(cgroup->path, 0755), "%s: %s", cgroup->path, strerror(errno));
	cgroup->fd = open(cgroup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	check(cgroup->fd >= 0, "%s", strerror(errno));
}

static void kcgroup_make_file_path(const struct kcgroup *cgroup, const char *name, char *ret_path)
{
	snprintf(ret_path, 160, "%s/%s", cgroup->path, name);
}

void kcgroup_remove(struct kcgroup *cgroup)
{
	char path[160];
	unsigned int i;

	kcgroup_make_file_path(cgroup, "cgroup.kill", path);
	/* A threaded cgroup can only contain processes of its parent. */
	check(kfile_write(path, "1") || errno == EOPNOTSUPP, "%s", strerror(errno));
	for (i = 0; rmdir(cgroup->path); i++) {
		check(errno == EBUSY && i < 500, "%s: %s", cgroup->path, strerror(errno));
		ksleep_ms(10);
	}
	close(cgroup->fd);
}

uint64_t kcgroup_read_id(const struct kcgroup *cgroup)
{
	struct stat stat;

	check(!fstat(cgroup->fd, &stat));
	return stat.st_ino;
}

bool kcgroup_move(const struct kcgroup *cgroup, pid_t pid)
{
	char path[160], text[16];

	kcgroup_make_file_path(cgroup, "cgroup.procs", path);
	snprintf(text, sizeof(text), "%d", pid);
	return kfile_write(path, text);
}

uint64_t kcgroup_read_usage_us(const struct kcgroup *cgroup)
{
	unsigned long long usage = 0;
	char path[160];
	FILE *file;

	kcgroup_make_file_path(cgroup, "cpu.stat", path);
	file = fopen(path, "re");
	check(file && fscanf(file, "usage_usec %llu", &usage) == 1, "%s", path);
	fclose(file);
	return usage;
}

/* ---- Workers ----------------------------------------------------------------- */

static uint8_t *groups_by_tid;

uint8_t *kwork_get_groups(void)
{
	groups_by_tid = mmap(NULL, KTEST_TIDS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			     -1, 0);
	check(groups_by_tid != MAP_FAILED);
	return groups_by_tid;
}

static void announce_groups(uint8_t groups)
{
	long tid = syscall(SYS_gettid);

	__atomic_fetch_or(&groups_by_tid[tid], groups, __ATOMIC_RELAXED);
}

static void work_for_us(uint64_t us)
{
	uint64_t end = kclock_ns() + us * 1000;

	while (kclock_ns() < end)
		;
}

static void work_burn_and_sleep(void)
{
	for (;;) {
		work_for_us(300);
		usleep(200);
	}
}

static void work_fork(uint8_t groups)
{
	for (;;) {
		pid_t child = fork();

		if (!child) {
			announce_groups(groups);
			work_for_us(2000);
			_exit(0);
		}
		/* The child may not have started yet. */
		if (child > 0)
			__atomic_fetch_or(&groups_by_tid[child], groups, __ATOMIC_RELAXED);
		work_for_us(500);
		waitpid(child, NULL, 0);
	}
}

static void *run_worker_thread(void *arg)
{
	announce_groups(*(uint8_t *)arg);
	work_burn_and_sleep();
	return NULL;
}

static void run_worker_threads(uint8_t groups)
{
	static uint8_t shared_groups;
	pthread_t thread;
	unsigned int i;

	shared_groups = groups;
	for (i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, run_worker_thread, &shared_groups))
			_exit(1);
	work_burn_and_sleep();
}

static void run_worker(enum kwork what, uint8_t groups)
{
	switch (what) {
	case KWORK_BURN:
		for (volatile unsigned long n = 0;; n++)
			;
	case KWORK_SLEEP:
		work_burn_and_sleep();
		break;
	case KWORK_FORK:
		work_fork(groups);
		break;
	case KWORK_THREADS:
		run_worker_threads(groups);
		break;
	}
}

pid_t kwork_start(const struct kcgroup *cgroup, unsigned int cpu, enum kwork what, uint8_t groups)
{
	int gate[2];
	pid_t pid;
	char go;

	check(!pipe(gate));
	pid = fork();
	check(pid >= 0);
	if (!pid) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		/* The worker starts only after it was moved into its cgroup. */
		if (sched_setaffinity(0, sizeof(set), &set) || read(gate[0], &go, 1) != 1)
			_exit(1);
		close_range(3, ~0U, 0);
		run_worker(what, groups);
		_exit(0);
	}
	groups_by_tid[pid] |= groups;
	check(kcgroup_move(cgroup, pid), "%s", strerror(errno));
	check(write(gate[1], "", 1) == 1);
	close(gate[0]);
	close(gate[1]);
	return pid;
}

unsigned int kwork_count_threads(pid_t pid)
{
	unsigned int threads = 0;
	char path[80];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	check(tasks, "%s: %s", path, strerror(errno));
	for (struct dirent *task; (task = readdir(tasks));)
		threads += task->d_name[0] != '.';
	closedir(tasks);
	return threads;
}

/* ---- Sessions ---------------------------------------------------------------- */

static void get_cgroup_fds(const struct kcgroup *cgroups, unsigned int count, int32_t *ret_fds)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		ret_fds[i] = cgroups[i].fd;
}

int ksession_new_of_cgroups(struct speprof_session_config config, const struct kcgroup *cgroups,
			    unsigned int count)
{
	int32_t fds[16];

	check(count <= ARRAY_SIZE(fds));
	get_cgroup_fds(cgroups, count, fds);
	config.rights |= SPEPROF_RIGHT_CGROUPS;
	config.flags = SPEPROF_SESSION_OF_CGROUPS;
	config.cgroups = count ? (uintptr_t)fds : 0;
	config.cgroups_count = count;
	return ksession_new(&config);
}

int ksession_change_cgroups(int session, uint32_t op, const struct kcgroup *cgroups,
			    unsigned int count)
{
	int32_t fds[16];
	struct speprof_cgroups change = {
		.size = sizeof(change), .op = op, .fds = count ? (uintptr_t)fds : 0, .count = count,
	};

	check(count <= ARRAY_SIZE(fds));
	get_cgroup_fds(cgroups, count, fds);
	return ioctl(session, SPEPROF_SESSION_CGROUPS, &change);
}

void kview_begin(struct kview *view, const struct kcgroup *cgroup, unsigned int cpu,
		 uint32_t flags, uint64_t interval)
{
	struct speprof_sampling sampling = kmake_sampling();

	*view = (struct kview){ .session = ksession_new_of_cgroups(kmake_session_config(), cgroup,
								   1) };
	view->tally.seen = calloc(KTEST_TIDS, 1);
	sampling.flags = flags;
	sampling.interval = interval;
	check(!ioctl(view->session, SPEPROF_SESSION_SAMPLE, &sampling), "%s", strerror(errno));
	kring_open(view->session, cpu, &view->ring);
	check(!ioctl(view->session, SPEPROF_SESSION_START, 0), "%s", strerror(errno));
}

/*
 * Return whether @group becomes nonzero in time: a task that is sampled while it returns from
 * fork() registers its group a moment later.
 */
static bool wait_for_announcement(const uint8_t *group)
{
	unsigned int i;

	for (i = 0; i < 2000 && !__atomic_load_n(group, __ATOMIC_RELAXED); i++)
		ksleep_ms(1);
	return i < 2000;
}

void kview_check(const struct kview *view, const uint8_t *groups, uint8_t group)
{
	uint32_t tid;

	for (tid = 0; tid < KTEST_TIDS; tid++)
		check(!view->tally.seen[tid] ||
			      (wait_for_announcement(&groups[tid]) && groups[tid] & group),
		      "TID %u is not of group %#x but of %#x", tid, group, groups[tid]);
}

void kview_end(struct kview *view, const uint8_t *groups, uint8_t group)
{
	check(!ioctl(view->session, SPEPROF_SESSION_STOP, 0));
	kring_read_windows(&view->ring, &view->tally);
	ktally_check(&view->ring, &view->tally);
	check(view->tally.ledger.records == view->tally.counted);
	kview_check(view, groups, group);
	kring_close(&view->ring);
	close(view->session);
	free(view->tally.seen);
}
