// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test sessions of cgroups: which records are in which ring, and the events when cgroups change. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kcgroup.h"

#define BOTH_LEVELS (SPEPROF_SAMPLE_USER | SPEPROF_SAMPLE_KERNEL)

/* Read until @records more were read; fail after a time limit. */
static void view_read_records(struct kview *view, uint64_t records)
{
	uint64_t want = view->tally.ledger.records + records;
	unsigned int i;

	for (i = 0; i < 400 && view->tally.ledger.records < want; i++) {
		ksleep_ms(20);
		kring_read_windows(&view->ring, &view->tally);
	}
	check(view->tally.ledger.records >= want, "%llu of %llu",
	      (unsigned long long)view->tally.ledger.records, (unsigned long long)want);
}

/* Read and discard all samples so far. */
static void view_clear_seen(struct kview *view)
{
	check(!ioctl(view->ring.fd, SPEPROF_RING_FLUSH, 0), "%s", strerror(errno));
	kring_read_windows(&view->ring, &view->tally);
	memset(view->tally.seen, 0, KTEST_TIDS);
}

static uint64_t read_enabled_ns(const struct kring *ring)
{
	struct speprof_ring_stats stats = kring_read_stats(ring);
	unsigned int state;
	uint64_t ns = 0;

	for (state = SPEPROF_RING_ARMED; state < SPEPROF_RING_STATES; state++)
		ns += stats.state_ns[state];
	return ns;
}

/* ---- Arguments ----------------------------------------------------------------- */

/* Check that a change with one descriptor fails with @error. */
static void check_change_is_refused(int session, struct speprof_cgroups change, int fd, int error)
{
	int32_t fds[SPEPROF_CGROUPS_MAX + 1] = { fd };

	if (!change.fds)
		change.fds = (uintptr_t)fds;
	check_errno(ioctl(session, SPEPROF_SESSION_CGROUPS, &change), error);
}

static void descriptors_are_checked(int session, const struct kcgroup *a, const struct kcgroup *b)
{
	const struct speprof_cgroups add = { .size = sizeof(add),
					     .op = SPEPROF_CGROUPS_ADD,
					     .count = 1 };
	struct kcgroup twice[2] = { *a, *a }, both[2] = { *a, *b }, gone;

	check_change_is_refused(session, add, -1, EBADF);
	check_change_is_refused(session, add, INT32_MAX, EBADF);
	check_change_is_refused(session, add, INT32_MIN, EBADF);
	check_change_is_refused(session, add, session, ENOTDIR);
	check_change_is_refused(session, add, open("/", O_RDONLY | O_DIRECTORY), ENOTDIR);
	check_change_is_refused(session, add, open("/sys/fs/cgroup/cgroup.procs", O_RDONLY),
				ENOTDIR);
	kcgroup_make(&gone, "gone");
	check(!rmdir(gone.path));
	check_change_is_refused(session, add, gone.fd, ENODEV);
	check_errno(ksession_change_cgroups(session, SPEPROF_CGROUPS_ADD, twice, 2), EEXIST);
	check_errno(ksession_change_cgroups(session, SPEPROF_CGROUPS_REMOVE, both, 2), ENOENT);
}

static void fields_are_checked(int session, const struct kcgroup *a)
{
	const struct {
		struct speprof_cgroups change;
		int error;
	} rows[] = {
		{ { .op = 0, .count = 1 }, EINVAL },
		{ { .op = SPEPROF_CGROUPS_REPLACE + 1, .count = 1 }, EINVAL },
		{ { .op = SPEPROF_CGROUPS_ADD, .count = SPEPROF_CGROUPS_MAX + 1 }, ENOSPC },
		{ { .op = SPEPROF_CGROUPS_ADD, .count = UINT32_MAX }, ENOSPC },
		{ { .op = SPEPROF_CGROUPS_ADD, .count = 0 }, EINVAL },
		{ { .op = SPEPROF_CGROUPS_ADD, .count = 1, .reserved = 1 }, EINVAL },
		{ { .op = SPEPROF_CGROUPS_ADD, .count = 1, .fds = 8 }, EFAULT },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct speprof_cgroups change = rows[i].change;

		change.size = sizeof(change);
		check_change_is_refused(session, change, a->fd, rows[i].error);
	}
}

/* A change that is refused must not have any effect. */
static void refused_changes_have_no_effect(int session, const struct kcgroup *a,
					   const struct kcgroup *b)
{
	check(!ksession_change_cgroups(session, SPEPROF_CGROUPS_ADD, a, 1), "%s", strerror(errno));
	check_errno(ksession_change_cgroups(session, SPEPROF_CGROUPS_ADD, a, 1), EEXIST);
	check_errno(ksession_change_cgroups(session, SPEPROF_CGROUPS_REMOVE, b, 1), ENOENT);
	check(!ksession_change_cgroups(session, SPEPROF_CGROUPS_REPLACE, b, 1));
	check(!ksession_change_cgroups(session, SPEPROF_CGROUPS_REMOVE, b, 1));
	check(!ksession_change_cgroups(session, SPEPROF_CGROUPS_REPLACE, NULL, 0));
}

/*
 * Test that SPEPROF_SESSION_OF_CGROUPS and the right to change cgroups can only be set when a
 * session is created.
 */
static void flags_are_checked(const struct kcgroup *a)
{
	struct speprof_session_config config = kmake_session_config();
	int session, device = kdevice_open();

	config.cgroups_count = 1;
	check_errno(ioctl(device, SPEPROF_SESSION_NEW, &config), EINVAL);
	config.flags = SPEPROF_SESSION_OF_CGROUPS;
	check_errno(ioctl(device, SPEPROF_SESSION_NEW, &config), EINVAL);
	config.flags = 2;
	config.cgroups_count = 0;
	check_errno(ioctl(device, SPEPROF_SESSION_NEW, &config), EINVAL);
	config.flags = 0;
	session = ksession_new(&config);
	check_errno(ksession_change_cgroups(session, SPEPROF_CGROUPS_ADD, a, 1), EPERM);
	close(session);
	config.rights |= SPEPROF_RIGHT_CGROUPS;
	session = ksession_new(&config);
	check_errno(ksession_change_cgroups(session, SPEPROF_CGROUPS_ADD, a, 1), EOPNOTSUPP);
	close(session);
	close(device);
}

static void cgroup_arguments_are_checked(void)
{
	struct kcgroup a, b;
	int session;

	kcgroup_make(&a, "a");
	kcgroup_make(&b, "b");
	session = ksession_new_of_cgroups(kmake_session_config(), NULL, 0);
	descriptors_are_checked(session, &a, &b);
	fields_are_checked(session, &a);
	refused_changes_have_no_effect(session, &a, &b);
	close(session);
	flags_are_checked(&a);
	kcgroup_remove(&a);
	kcgroup_remove(&b);
}

/* The module must be built for a kernel with other arguments of the tracepoints. */
static void sessions_of_cgroups_are_refused(void)
{
	struct speprof_session_config config = kmake_session_config();
	int device = kdevice_open();

	config.rights |= SPEPROF_RIGHT_CGROUPS;
	config.flags = SPEPROF_SESSION_OF_CGROUPS;
	check_errno(ioctl(device, SPEPROF_SESSION_NEW, &config), EOPNOTSUPP);
	config.flags = 0;
	close(ksession_new(&config));
	close(device);
}

static void sets_are_full_at_their_maximum(void)
{
	struct kcgroup cgroups[SPEPROF_CGROUPS_MAX + 1];
	int session = ksession_new_of_cgroups(kmake_session_config(), NULL, 0);
	char name[16];
	int i;

	for (i = 0; i <= SPEPROF_CGROUPS_MAX; i++) {
		snprintf(name, sizeof(name), "max%d", i);
		kcgroup_make(&cgroups[i], name);
		if (i < SPEPROF_CGROUPS_MAX)
			check(!ksession_change_cgroups(session, SPEPROF_CGROUPS_ADD, &cgroups[i],
						       1));
	}
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	check_errno(ksession_change_cgroups(session, SPEPROF_CGROUPS_ADD, &cgroups[i - 1], 1),
		    ENOSPC);
	check(!ksession_change_cgroups(session, SPEPROF_CGROUPS_REMOVE, &cgroups[7], 1));
	check(!ksession_change_cgroups(session, SPEPROF_CGROUPS_ADD, &cgroups[i - 1], 1));
	while (i--)
		kcgroup_remove(&cgroups[i]);
}

/* ---- Which sessions exclude each other ------------------------------------------ */

static void sessions_exclude_each_other(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct kcgroup a, b, below;
	int all, of_a, of_b, of_below;

	kcgroup_make(&a, "a");
	kcgroup_make(&b, "b");
	kcgroup_make(&below, "a/below");
	all = ksession_new(&config);
	of_a = ksession_new_of_cgroups(config, &a, 1);
	of_b = ksession_new_of_cgroups(config, &b, 1);
	of_below = ksession_new_of_cgroups(config, &below, 1);

	/* A session of the whole machine and a session of a cgroup exclude each other. */
	check(!ioctl(of_a, SPEPROF_SESSION_START, 0));
	check_errno(ioctl(all, SPEPROF_SESSION_START, 0), EBUSY);
	check(!ioctl(of_b, SPEPROF_SESSION_START, 0), "%s", strerror(errno));
	check_errno(ioctl(of_below, SPEPROF_SESSION_START, 0), EBUSY);
	/*
	 * A change of the set that conflicts with another session is refused, and leaves the set
	 * unchanged.
	 */
	check_errno(ksession_change_cgroups(of_b, SPEPROF_CGROUPS_ADD, &below, 1), EBUSY);
	check_errno(ksession_change_cgroups(of_b, SPEPROF_CGROUPS_ADD, &a, 1), EBUSY);
	check_errno(ksession_change_cgroups(of_b, SPEPROF_CGROUPS_REMOVE, &a, 1), ENOENT);
	/*
	 * One session may select a cgroup and one below it. After the outer cgroup was removed,
	 * another session still cannot select the inner one.
	 */
	check(!ksession_change_cgroups(of_a, SPEPROF_CGROUPS_ADD, &below, 1));
	check(!ksession_change_cgroups(of_a, SPEPROF_CGROUPS_REMOVE, &a, 1));
	check_errno(ioctl(of_below, SPEPROF_SESSION_START, 0), EBUSY);
	check(!ioctl(of_a, SPEPROF_SESSION_STOP, 0));
	check(!ioctl(of_below, SPEPROF_SESSION_START, 0));
	check_errno(ioctl(of_a, SPEPROF_SESSION_START, 0), EBUSY);
	check(!ioctl(of_below, SPEPROF_SESSION_STOP, 0));
	check(!ioctl(of_b, SPEPROF_SESSION_STOP, 0));
	check(!ioctl(all, SPEPROF_SESSION_START, 0));
	check_errno(ioctl(of_b, SPEPROF_SESSION_START, 0), EBUSY);
	close(all);

	/* Sessions of different CPUs do not exclude each other. */
	if (kcount_cpus() > 1) {
		uint8_t first = 1, second = 2;

		config.cpus_size = 1;
		config.cpus = (uintptr_t)&first;
		all = ksession_new(&config);
		config.cpus = (uintptr_t)&second;
		close(of_a);
		of_a = ksession_new_of_cgroups(config, &a, 1);
		check(!ioctl(all, SPEPROF_SESSION_START, 0));
		check(!ioctl(of_a, SPEPROF_SESSION_START, 0), "%s", strerror(errno));
		close(all);
	}
	close(of_a);
	close(of_b);
	close(of_below);
	kcgroup_remove(&below);
	kcgroup_remove(&a);
	kcgroup_remove(&b);
}

/* ---- Which session gets a record --------------------------------------------------- */

/* CPU time of the tasks of a cgroup, read before and after the enabled time of a ring */
struct cpu_time_spent {
	uint64_t used_before;
	uint64_t enabled;
	uint64_t used_after;
};

static struct cpu_time_spent read_time_spent(const struct kcgroup *cgroup, const struct kring *ring)
{
	struct cpu_time_spent spent = { .used_before = kcgroup_read_usage_us(cgroup) * 1000 };

	spent.enabled = read_enabled_ns(ring);
	spent.used_after = kcgroup_read_usage_us(cgroup) * 1000;
	return spent;
}

/*
 * Check that enabled time is the time of the tasks, including that of the scheduler. Reads are
 * delayed in a guest that gets little CPU time.
 */
static void check_time_spent(const struct cpu_time_spent *from, const struct cpu_time_spent *to)
{
	uint64_t enabled = to->enabled - from->enabled;
	uint64_t least = to->used_before - from->used_after;
	uint64_t most = to->used_after - from->used_before;

	check(enabled <= most + most / 4 + 50000000 && least <= enabled + enabled / 4 + 50000000,
	      "enabled %llu ns, used %llu to %llu ns", (unsigned long long)enabled,
	      (unsigned long long)least, (unsigned long long)most);
}

static void only_tasks_of_cgroup_are_sampled(void)
{
	uint8_t *groups = kwork_get_groups();
	unsigned int cpu, last = kcount_cpus() - 1;

	for (cpu = 0; cpu <= last; cpu += last ? last : 1) {
		struct speprof_ring_stats stats;
		struct kcgroup in, out;
		struct cpu_time_spent from, to;
		struct kview view;

		kcgroup_make(&in, "in");
		kcgroup_make(&out, "out");
		kwork_start(&in, cpu, KWORK_BURN, 1);
		kwork_start(&in, cpu, KWORK_SLEEP, 1);
		kwork_start(&out, cpu, KWORK_BURN, 2);
		kwork_start(&out, cpu, KWORK_SLEEP, 2);
		kview_begin(&view, &in, cpu, BOTH_LEVELS, KTEST_INTERVAL);
		from = read_time_spent(&in, &view.ring);
		view_read_records(&view, 1000);
		to = read_time_spent(&in, &view.ring);
		check_time_spent(&from, &to);
		stats = kring_read_stats(&view.ring);
		check(stats.parked_ns && stats.entries);
		/*
		 * Windows stay open when tasks are switched. A full window closes by an interrupt,
		 * and a guest that gets little CPU time has many of them between two switches.
		 */
		check(stats.windows <= stats.interrupts + stats.entries / 2,
		      "%llu windows, %llu interrupts, %llu entries",
		      (unsigned long long)stats.windows, (unsigned long long)stats.interrupts,
		      (unsigned long long)stats.entries);
		kview_end(&view, groups, 1);
		kcgroup_remove(&in);
		kcgroup_remove(&out);
	}
}

static void sessions_share_a_cpu(void)
{
	static const uint64_t intervals[] = { KTEST_INTERVAL, KTEST_INTERVAL / 4 * 5,
					      KTEST_INTERVAL * 2 };
	static const char *const names[] = { "a", "b", "c" };
	uint8_t *groups = kwork_get_groups();
	struct kcgroup cgroups[3], out;
	struct kview views[3];
	unsigned int cpu, i, round, last = kcount_cpus() - 1;

	for (cpu = 0; cpu <= last; cpu += last ? last : 1) {
		kcgroup_make(&out, "out");
		kwork_start(&out, cpu, KWORK_SLEEP, 0);
		for (i = 0; i < 3; i++) {
			kcgroup_make(&cgroups[i], names[i]);
			kwork_start(&cgroups[i], cpu, KWORK_BURN, (uint8_t)(1 << i));
			kwork_start(&cgroups[i], cpu, KWORK_SLEEP, (uint8_t)(1 << i));
			kwork_start(&cgroups[i], cpu, KWORK_FORK, (uint8_t)(1 << i));
			kwork_start(&cgroups[i], cpu, KWORK_THREADS, (uint8_t)(1 << i));
		}
		for (i = 0; i < 3; i++)
			kview_begin(&views[i], &cgroups[i], cpu,
				    i == 1 ? SPEPROF_SAMPLE_USER : BOTH_LEVELS, intervals[i]);
		for (round = 0; round < 3; round++)
			for (i = 0; i < 3; i++)
				view_read_records(&views[i], 60);
		for (i = 0; i < 3; i++) {
			struct speprof_ring_stats stats = kring_read_stats(&views[i].ring);

			check(views[i].tally.interval == intervals[i] / 256 * 256 + 1);
			check(stats.handovers > 10 && stats.handovers <= stats.entries);
			check(!views[i].tally.suspect_windows && !views[i].tally.ledger.suspect);
			if (i == 1)
				check(views[i].tally.user == views[i].tally.ledger.records);
		}
		for (i = 0; i < 3; i++) {
			kview_end(&views[i], groups, (uint8_t)(1 << i));
			kcgroup_remove(&cgroups[i]);
		}
		kcgroup_remove(&out);
	}
}

/* Tasks of all cgroups below the selected one are sampled, and so are single threads. */
static void descendants_and_threads_are_sampled(void)
{
	uint8_t *groups = kwork_get_groups();
	struct kcgroup top, below, threads;
	struct kview view;
	pid_t deep, many;
	char path[160];

	kcgroup_make(&top, "top");
	kcgroup_make(&below, "top/below");
	kcgroup_make(&threads, "top/below/threads");
	deep = kwork_start(&below, 0, KWORK_SLEEP, 1);
	kview_begin(&view, &top, 0, BOTH_LEVELS, KTEST_INTERVAL);
	view_read_records(&view, 100);
	check(view.tally.seen[deep]);
	kview_end(&view, groups, 1);

	/* A thread may be in another cgroup than its process. */
	many = kwork_start(&below, 0, KWORK_THREADS, 0);
	/* Threads that the process creates after its move would be created in that cgroup. */
	while (kwork_count_threads(many) < 3)
		ksleep_ms(5);
	snprintf(path, sizeof(path), "%s/cgroup.type", threads.path);
	check(kfile_write(path, "threaded"), "%s", strerror(errno));
	snprintf(path, sizeof(path), "%s/cgroup.threads", threads.path);
	char text[16];
	snprintf(text, sizeof(text), "%d", many);
	check(kfile_write(path, text), "%s", strerror(errno));
	memset(groups, 0, KTEST_TIDS);
	groups[many] = 1;
	kview_begin(&view, &threads, 0, BOTH_LEVELS, KTEST_INTERVAL);
	view_read_records(&view, 100);
	check(view.tally.seen[many]);
	kview_end(&view, groups, 1);
	kill(many, SIGKILL);
	kcgroup_remove(&threads);
	kcgroup_remove(&below);
	kcgroup_remove(&top);
}

/* ---- Changes ------------------------------------------------------------------------ */

static void tasks_move_between_cgroups(void)
{
	unsigned int cpu = kcount_cpus() - 1, i;
	uint8_t *groups = kwork_get_groups();
	struct kcgroup a, b, out;
	struct kview in_a, in_b;
	pid_t mover;

	kcgroup_make(&a, "a");
	kcgroup_make(&b, "b");
	kcgroup_make(&out, "out");
	kwork_start(&a, cpu, KWORK_SLEEP, 1);
	kwork_start(&b, cpu, KWORK_SLEEP, 2);
	mover = kwork_start(&a, cpu, KWORK_BURN, 3);
	kview_begin(&in_a, &a, cpu, BOTH_LEVELS, KTEST_INTERVAL);
	kview_begin(&in_b, &b, cpu, BOTH_LEVELS, KTEST_INTERVAL);
	for (i = 0; i < 10; i++) {
		/*
		 * The task runs all the time, so the move takes effect with or without a context
		 * switch.
		 */
		check(kcgroup_move(&b, mover));
		ksleep_ms(5);
		view_clear_seen(&in_a);
		view_clear_seen(&in_b);
		view_read_records(&in_b, 50);
		check(in_b.tally.seen[mover]);
		kring_read_windows(&in_a.ring, &in_a.tally);
		check(!in_a.tally.seen[mover]);
		check(kcgroup_move(&out, mover));
		ksleep_ms(5);
		view_clear_seen(&in_a);
		view_clear_seen(&in_b);
		view_read_records(&in_b, 5);
		kring_read_windows(&in_a.ring, &in_a.tally);
		check(!in_a.tally.seen[mover] && !in_b.tally.seen[mover]);
		check(kcgroup_move(&a, mover));
		ksleep_ms(5);
		view_clear_seen(&in_a);
		view_clear_seen(&in_b);
		view_read_records(&in_a, 50);
		check(in_a.tally.seen[mover]);
		kring_read_windows(&in_b.ring, &in_b.tally);
		check(!in_b.tally.seen[mover]);
	}
	kview_end(&in_a, groups, 1);
	kview_end(&in_b, groups, 2);
	kcgroup_remove(&a);
	kcgroup_remove(&b);
	kcgroup_remove(&out);
}

static void sets_change_while_sampling(void)
{
	uint8_t *groups = kwork_get_groups();
	struct speprof_sampling sampling = kmake_sampling();
	struct kcgroup a, b;
	struct kview view;
	pid_t in_a, in_b;
	unsigned int i;

	kcgroup_make(&a, "a");
	kcgroup_make(&b, "b");
	in_a = kwork_start(&a, 0, KWORK_SLEEP, 1);
	in_b = kwork_start(&b, 0, KWORK_SLEEP, 1);
	kview_begin(&view, &a, 0, BOTH_LEVELS, KTEST_INTERVAL);
	for (i = 0; i < 5; i++) {
		view_clear_seen(&view);
		view_read_records(&view, 50);
		check(view.tally.seen[in_a] && !view.tally.seen[in_b]);
		check(!ksession_change_cgroups(view.session, SPEPROF_CGROUPS_ADD, &b, 1));
		/* Filters can be changed in any state of the ring. */
		sampling.interval = KTEST_INTERVAL + 256 * i;
		check(!ioctl(view.session, SPEPROF_SESSION_SAMPLE, &sampling));
		view_clear_seen(&view);
		view_read_records(&view, 500);
		check(view.tally.seen[in_a] && view.tally.seen[in_b]);
		check(!ksession_change_cgroups(view.session, SPEPROF_CGROUPS_REMOVE, &a, 1));
		view_clear_seen(&view);
		view_read_records(&view, 50);
		check(!view.tally.seen[in_a] && view.tally.seen[in_b]);
		check(!ksession_change_cgroups(view.session, SPEPROF_CGROUPS_REPLACE, NULL, 0));
		view_clear_seen(&view);
		uint64_t records = view.tally.ledger.records;
		ksleep_ms(60);
		check(kwait_state(&view.ring, SPEPROF_RING_PARKED));
		kring_read_windows(&view.ring, &view.tally);
		check(view.tally.ledger.records == records);
		check(!ksession_change_cgroups(view.session, SPEPROF_CGROUPS_REPLACE, &a, 1));
	}
	kview_end(&view, groups, 1);
	kcgroup_remove(&a);
	kcgroup_remove(&b);
}

static void check_cgroup_event(struct kring *ring, uint64_t id, uint32_t left)
{
	const struct speprof_event *event;
	unsigned int i;

	for (i = 0; !(event = kring_next_event(ring)) && i < 500; i++)
		ksleep_ms(2);
	check(event && event->type == SPEPROF_EVENT_CGROUP, "%u", event ? event->type : 0);
	check(event->arg0 == id && event->arg1 == (1ULL << 32 | left), "%#llx %#llx",
	      (unsigned long long)event->arg0, (unsigned long long)event->arg1);
}

static void removed_cgroups_are_reported(void)
{
	uint8_t *groups = kwork_get_groups();
	struct kcgroup a, b;
	struct kview view;
	uint64_t id_a, id_b;

	kcgroup_make(&a, "a");
	kcgroup_make(&b, "b");
	id_a = kcgroup_read_id(&a);
	id_b = kcgroup_read_id(&b);
	kwork_start(&a, 0, KWORK_SLEEP, 1);
	kview_begin(&view, &a, 0, BOTH_LEVELS, KTEST_INTERVAL);
	check(!ksession_change_cgroups(view.session, SPEPROF_CGROUPS_ADD, &b, 1));
	view_read_records(&view, 100);
	kcgroup_remove(&a);
	check_cgroup_event(&view.ring, id_a, 1);
	/*
	 * The session continues with the remaining cgroup, then without cgroups, then with a new
	 * one.
	 */
	kwork_start(&b, 0, KWORK_SLEEP, 1);
	view_read_records(&view, 100);
	kcgroup_remove(&b);
	check_cgroup_event(&view.ring, id_b, 0);
	check(kwait_state(&view.ring, SPEPROF_RING_PARKED));
	kcgroup_make(&a, "a");
	kwork_start(&a, 0, KWORK_SLEEP, 1);
	check(!ksession_change_cgroups(view.session, SPEPROF_CGROUPS_ADD, &a, 1));
	view_read_records(&view, 100);
	kview_end(&view, groups, 1);
	kcgroup_remove(&a);
}

/* ---- Full, faulted, late ------------------------------------------------------------- */

static void full_rings_are_parked(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_ring_stats before, after;
	uint8_t *groups = kwork_get_groups();
	struct kview view = { .tally.seen = calloc(KTEST_TIDS, 1) };
	struct kcgroup in, out;

	kcgroup_make(&in, "in");
	kcgroup_make(&out, "out");
	kwork_start(&in, 0, KWORK_SLEEP, 1);
	kwork_start(&out, 0, KWORK_SLEEP, 2);
	config.ring_size = 64 << 10;
	config.watermark = 0;
	view.session = ksession_new_of_cgroups(config, &in, 1);
	kring_open(view.session, 0, &view.ring);
	check(!ioctl(view.session, SPEPROF_SESSION_START, 0));
	check(kwait_state(&view.ring, SPEPROF_RING_FULL));
	before = kring_read_stats(&view.ring);
	ksleep_ms(200);
	after = kring_read_stats(&view.ring);
	check(after.head == before.head && after.entries > before.entries);
	/* There is one FULL event, although the ring was parked many times. */
	check(after.event_head == 1);
	check(after.state_ns[SPEPROF_RING_FULL] > before.state_ns[SPEPROF_RING_FULL]);
	/* Read more records than the ring can hold at once. */
	view_read_records(&view, 2000);
	check(kring_read_stats(&view.ring).resumes);
	kview_end(&view, groups, 1);
	kcgroup_remove(&in);
	kcgroup_remove(&out);
}

/* Records of a session are published in time, even if its tasks sleep all the time. */
static void parked_windows_are_published_in_time(void)
{
	uint8_t *groups = kwork_get_groups();
	struct kcgroup in;
	struct kview view;
	pid_t pid;

	kcgroup_make(&in, "in");
	pid = kwork_start(&in, 0, KWORK_BURN, 1);
	kview_begin(&view, &in, 0, BOTH_LEVELS, KTEST_INTERVAL);
	view_read_records(&view, 100);
	check(!kill(pid, SIGSTOP));
	check(kwait_state(&view.ring, SPEPROF_RING_PARKED));
	/* Wait for twice the maximum latency, and longer because the machine may be slow. */
	ksleep_ms(300);
	uint64_t head = view.ring.control->head;
	check(!ioctl(view.ring.fd, SPEPROF_RING_FLUSH, 0));
	check(view.ring.control->head == head);
	check(!kill(pid, SIGCONT));
	view_read_records(&view, 100);
	kview_end(&view, groups, 1);
	kcgroup_remove(&in);
}

static void faults_stop_one_session(void)
{
	uint8_t *groups = kwork_get_groups();
	struct kcgroup a, b;
	struct kview in_a, in_b;

	kcgroup_make(&a, "a");
	kcgroup_make(&b, "b");
	kwork_start(&a, 0, KWORK_SLEEP, 1);
	kview_begin(&in_a, &a, 0, BOTH_LEVELS, KTEST_INTERVAL);
	kview_begin(&in_b, &b, 0, BOTH_LEVELS, KTEST_INTERVAL);
	view_read_records(&in_a, 20);
	/* Inject a translation fault for the session that writes next; tasks of b run later. */
	kinject_fault(0, 0x24, 0x07);
	check(kwait_state(&in_a.ring, SPEPROF_RING_FAULTED));
	kwork_start(&b, 0, KWORK_SLEEP, 2);
	view_read_records(&in_b, 100);
	check(in_a.ring.control->state == SPEPROF_RING_FAULTED);
	check(!ioctl(in_a.session, SPEPROF_SESSION_STOP, 0));
	check(!ioctl(in_a.session, SPEPROF_SESSION_START, 0));
	in_a.tally.gaps = true;
	view_read_records(&in_a, 20);
	view_read_records(&in_b, 20);
	kview_end(&in_a, groups, 1);
	kview_end(&in_b, groups, 2);
	kcgroup_remove(&a);
	kcgroup_remove(&b);
}

/* ---- Descriptors ---------------------------------------------------------------------- */

static void fd_send(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec byte = { .iov_base = "", .iov_len = 1 };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	check(sendmsg(socket, &message, 0) == 1, "%s", strerror(errno));
}

static int fd_receive(int socket)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec vec = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &vec,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	int fd;

	check(recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/*
 * Test that a session continues, with its permissions, in another process that has the descriptor,
 * after the process that created it was killed.
 */
static void sessions_outlive_their_creator(void)
{
	struct speprof_cpu_info info = { .size = sizeof(info) };
	uint8_t *groups = kwork_get_groups();
	struct kcgroup a, b;
	struct kview view = { .tally.seen = calloc(KTEST_TIDS, 1) };
	int sockets[2];
	pid_t maker;

	kcgroup_make(&a, "a");
	kcgroup_make(&b, "b");
	kwork_start(&a, 0, KWORK_SLEEP, 1);
	kwork_start(&b, 0, KWORK_SLEEP, 1);
	check(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	maker = fork();
	if (!maker) {
		int session = ksession_new_of_cgroups(kmake_session_config(), &a, 1);

		check(!ioctl(session, SPEPROF_SESSION_START, 0));
		fd_send(sockets[1], session);
		pause();
	}
	view.session = fd_receive(sockets[0]);
	kring_open(view.session, 0, &view.ring);
	view_read_records(&view, 50);
	kill(maker, SIGKILL);
	check(waitpid(maker, NULL, 0) == maker);
	view_read_records(&view, 50);
	check(!ksession_change_cgroups(view.session, SPEPROF_CGROUPS_ADD, &b, 1));
	view_read_records(&view, 50);
	kview_end(&view, groups, 1);
	check(!ioctl(kdevice_open(), SPEPROF_CPU_INFO, &info));
	check(!(info.flags & SPEPROF_CPU_BUSY));
	kcgroup_remove(&a);
	kcgroup_remove(&b);
}

const struct ktest ktests_cgroup[] = {
	{ "cgroup-arguments-are-checked", cgroup_arguments_are_checked },
	{ "sessions-of-cgroups-are-refused", sessions_of_cgroups_are_refused, .on_request = true },
	{ "sets-are-full-at-their-maximum", sets_are_full_at_their_maximum },
	{ "sessions-exclude-each-other", sessions_exclude_each_other },
	{ "only-its-tasks-are-sampled", only_tasks_of_cgroup_are_sampled },
	{ "sessions-share-a-cpu", sessions_share_a_cpu },
	{ "cgroups-below-and-threads", descendants_and_threads_are_sampled },
	{ "tasks-move-between-cgroups", tasks_move_between_cgroups },
	{ "sets-change-while-sampling", sets_change_while_sampling },
	{ "removed-cgroups-are-reported", removed_cgroups_are_reported },
	{ "full-rings-are-parked-too", full_rings_are_parked },
	{ "parked-windows-are-not-late", parked_windows_are_published_in_time },
	{ "faults-stop-one-session", faults_stop_one_session },
	{ "sessions-outlive-their-maker", sessions_outlive_their_creator },
	{ 0 },
};
