// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test sessions of cgroups while everything changes: tasks and cgroups are created, moved and
 * removed, sets, filters and CPUs change, and processes that own sessions are killed. No record may
 * be in the ring of another session, and counters must add up.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kcgroup.h"

#define STRESS_MS 6000
#define CPUS_MAX 8

/* bits for the groups of a TID */
#define OF_A 1
#define OF_B 2
#define OF_C 4

struct stressed_session {
	int session;
	uint8_t groups;
	struct kring rings[CPUS_MAX];
	struct ktally tallies[CPUS_MAX];
};

struct cgroup_stress {
	struct kcgroup a, b, c, out;
	struct stressed_session in_a, in_b;
	pid_t movers[3];
	unsigned int cpus;
	uint64_t end;
};

static bool is_running(const struct cgroup_stress *stress)
{
	return kclock_ns() < stress->end;
}

/* Move running tasks from a to b and to a cgroup without a session. */
static void *stress_move_tasks(void *arg)
{
	struct cgroup_stress *stress = arg;
	const struct kcgroup *const ways[] = { &stress->a, &stress->b, &stress->out };
	unsigned int n;

	for (n = 0; is_running(stress); n++) {
		check(kcgroup_move(ways[n / 3 % 3], stress->movers[n % 3]), "%s", strerror(errno));
		ksleep_ms(2);
	}
	return NULL;
}

/* Create and remove cgroups below a, in the set of its session. */
static void *stress_make_cgroups(void *arg)
{
	struct cgroup_stress *stress = arg;

	while (is_running(stress)) {
		struct kcgroup below;
		pid_t pid;

		kcgroup_make(&below, "a/below");
		pid = kwork_start(&below, stress->cpus - 1, KWORK_SLEEP, OF_A);
		check(!ksession_change_cgroups(stress->in_a.session, SPEPROF_CGROUPS_ADD, &below,
					       1));
		ksleep_ms(15);
		kill(pid, SIGKILL);
		check(waitpid(pid, NULL, 0) == pid);
		kcgroup_remove(&below);
	}
	return NULL;
}

static void *stress_change_sets(void *arg)
{
	struct cgroup_stress *stress = arg;
	const struct kcgroup both[] = { stress->b, stress->c };

	while (is_running(stress)) {
		/* Adding a, which belongs to the other session, fails and has no effect. */
		check_errno(ksession_change_cgroups(stress->in_b.session, SPEPROF_CGROUPS_ADD,
						    &stress->a, 1),
			    EBUSY);
		check(!ksession_change_cgroups(stress->in_b.session, SPEPROF_CGROUPS_ADD,
					       &stress->c, 1));
		ksleep_ms(5);
		check(!ksession_change_cgroups(stress->in_b.session, SPEPROF_CGROUPS_REMOVE,
					       &stress->b, 1));
		ksleep_ms(5);
		check(!ksession_change_cgroups(stress->in_b.session, SPEPROF_CGROUPS_REPLACE, both,
					       2));
		ksleep_ms(5);
		check(!ksession_change_cgroups(stress->in_b.session, SPEPROF_CGROUPS_REMOVE,
					       &stress->c, 1));
		check(!ioctl(stress->in_b.session, SPEPROF_SESSION_STOP, 0));
		check(!ioctl(stress->in_b.session, SPEPROF_SESSION_START, 0));
	}
	return NULL;
}

static void *stress_change_sampling(void *arg)
{
	struct cgroup_stress *stress = arg;
	struct speprof_sampling sampling = kmake_sampling();

	while (is_running(stress)) {
		sampling.flags ^= SPEPROF_SAMPLE_KERNEL;
		sampling.interval = KTEST_INTERVAL + (sampling.interval + 256) % 2048;
		check(!ioctl(stress->in_a.session, SPEPROF_SESSION_SAMPLE, &sampling));
		ksleep_ms(7);
	}
	return NULL;
}

static void *stress_hotplug(void *arg)
{
	struct cgroup_stress *stress = arg;
	bool on = false;

	while (is_running(stress)) {
		kcpu_set_online(stress->cpus - 1, on);
		on = !on;
		ksleep_ms(60);
	}
	kcpu_set_online(stress->cpus - 1, true);
	return NULL;
}

/* Create a process that has a session, and kill it at a random time. */
static void *stress_kill_session_owner(void *arg)
{
	struct cgroup_stress *stress = arg;

	while (is_running(stress)) {
		pid_t owner = fork();

		if (!owner) {
			int session =
				ksession_new_of_cgroups(kmake_session_config(), &stress->out, 1);

			ioctl(session, SPEPROF_SESSION_START, 0);
			for (;;)
				ksession_change_cgroups(session, SPEPROF_CGROUPS_REPLACE,
							&stress->out, 1);
		}
		ksleep_ms(25);
		kill(owner, SIGKILL);
		check(waitpid(owner, NULL, 0) == owner);
	}
	return NULL;
}

static void stressed_session_begin(struct cgroup_stress *stress, struct stressed_session *side,
				   const struct kcgroup *cgroup, uint8_t groups)
{
	struct speprof_session_config config = kmake_session_config();
	unsigned int cpu;

	config.ring_size = 256 << 10;
	config.max_latency_ms = 5;
	side->session = ksession_new_of_cgroups(config, cgroup, 1);
	side->groups = groups;
	for (cpu = 0; cpu < stress->cpus; cpu++) {
		kring_open(side->session, cpu, &side->rings[cpu]);
		side->tallies[cpu].gaps = true;
		side->tallies[cpu].seen = calloc(KTEST_TIDS, 1);
	}
	check(!ioctl(side->session, SPEPROF_SESSION_START, 0));
}

static void stressed_session_read(struct cgroup_stress *stress, struct stressed_session *side)
{
	unsigned int cpu;

	for (cpu = 0; cpu < stress->cpus; cpu++) {
		kring_read_windows(&side->rings[cpu], &side->tallies[cpu]);
		while (kring_next_event(&side->rings[cpu]))
			;
	}
}

static uint64_t stressed_session_end(struct cgroup_stress *stress, struct stressed_session *side,
				     const uint8_t *groups)
{
	uint64_t records = 0;
	unsigned int cpu;

	check(!ioctl(side->session, SPEPROF_SESSION_STOP, 0));
	stressed_session_read(stress, side);
	for (cpu = 0; cpu < stress->cpus; cpu++) {
		struct kview view = { .tally = side->tallies[cpu] };

		ktally_check(&side->rings[cpu], &view.tally);
		check(view.tally.ledger.records == view.tally.counted);
		kview_check(&view, groups, side->groups);
		records += view.tally.ledger.records;
		kring_close(&side->rings[cpu]);
		free(view.tally.seen);
	}
	close(side->session);
	return records;
}

static void workers_start(struct cgroup_stress *stress)
{
	unsigned int cpu = stress->cpus - 1;

	stress->movers[0] = kwork_start(&stress->a, cpu, KWORK_BURN, OF_A | OF_B);
	stress->movers[1] = kwork_start(&stress->a, 0, KWORK_SLEEP, OF_A | OF_B);
	stress->movers[2] = kwork_start(&stress->b, cpu, KWORK_FORK, OF_A | OF_B);
	kwork_start(&stress->a, cpu, KWORK_FORK, OF_A);
	kwork_start(&stress->a, 0, KWORK_SLEEP, OF_A);
	kwork_start(&stress->b, cpu, KWORK_THREADS, OF_B);
	kwork_start(&stress->b, 0, KWORK_SLEEP, OF_B);
	kwork_start(&stress->c, 0, KWORK_SLEEP, OF_C);
	kwork_start(&stress->out, cpu, KWORK_SLEEP, 0);
	kwork_start(&stress->out, 0, KWORK_THREADS, 0);
}

static void cgroups_under_stress(void)
{
	static void *(*const parts[])(void *) = { stress_move_tasks,  stress_make_cgroups,
						  stress_change_sets, stress_change_sampling,
						  stress_hotplug,     stress_kill_session_owner };
	struct cgroup_stress stress = { .cpus = kcount_cpus() < CPUS_MAX ? kcount_cpus() :
									   CPUS_MAX };
	uint8_t *groups = kwork_get_groups();
	pthread_t threads[ARRAY_SIZE(parts)];
	size_t i;

	kcgroup_make(&stress.a, "a");
	kcgroup_make(&stress.b, "b");
	kcgroup_make(&stress.c, "c");
	kcgroup_make(&stress.out, "out");
	workers_start(&stress);
	stressed_session_begin(&stress, &stress.in_a, &stress.a, OF_A);
	stressed_session_begin(&stress, &stress.in_b, &stress.b, OF_B | OF_C);
	stress.end = kclock_ns() + STRESS_MS * 1000000ULL;
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		check(!pthread_create(&threads[i], NULL, parts[i], &stress));
	while (is_running(&stress)) {
		stressed_session_read(&stress, &stress.in_a);
		stressed_session_read(&stress, &stress.in_b);
		ksleep_ms(5);
	}
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		pthread_join(threads[i], NULL);
	check(stressed_session_end(&stress, &stress.in_a, groups) > 100);
	check(stressed_session_end(&stress, &stress.in_b, groups) > 100);
	kcgroup_remove(&stress.a);
	kcgroup_remove(&stress.b);
	kcgroup_remove(&stress.c);
	kcgroup_remove(&stress.out);
}

const struct ktest ktests_cgroup_stress[] = {
	{ "cgroups-under-stress", cgroups_under_stress },
	{ 0 },
};
