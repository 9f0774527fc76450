// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test CPU hotplug, hostile values in control pages, kill -9 and module unloading at the same time:
 * counters add up, and the kernel log reports no problem.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktest.h"

#define STRESS_MS 3000

static void cpu_goes_offline_and_returns(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_cpu_info info = { .size = sizeof(info), .cpu = 1 };
	unsigned int cpu = 1, i;
	struct ktally tally = { .gaps = true };
	struct kring ring;
	cpu_set_t set;
	int session;
	pid_t child;

	check(kcount_cpus() > 1);
	session = ksession_new(&config);
	kring_open(session, cpu, &ring);
	child = kstart_spinning(cpu);
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	for (i = 0; i < 5; i++) {
		uint64_t head;

		ksleep_ms(50);
		check(kcpu_set_online(cpu, false));
		check(ring.control->state == SPEPROF_RING_OFFLINE);
		check_errno(ioctl(ring.fd, SPEPROF_RING_KICK, 0), ENXIO);
		check_errno(ioctl(ring.fd, SPEPROF_RING_FLUSH, 0), ENXIO);
		check(!ioctl(kdevice_open(), SPEPROF_CPU_INFO, &info));
		check(info.flags == (SPEPROF_CPU_BUSY | SPEPROF_CPU_CONTEXT) &&
		      info.backend == kget_backend());
		head = ring.control->head;
		kring_read_windows(&ring, &tally);
		check(ring.tail == head && kring_read_stats(&ring).head == head);
		check(kcpu_set_online(cpu, true));
		check(kwait_state(&ring, SPEPROF_RING_ARMED));
	}
	/* The session is stopped, started and reprogrammed while the CPU is offline. */
	struct speprof_sampling sampling = kmake_sampling();

	check(kcpu_set_online(cpu, false));
	check(!ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling));
	check(!ioctl(session, SPEPROF_SESSION_STOP, 0));
	check(ring.control->state == SPEPROF_RING_IDLE);
	check_errno(ioctl(ring.fd, SPEPROF_RING_KICK, 0), ENXIO);
	check_errno(ioctl(ring.fd, SPEPROF_RING_FLUSH, 0), ENXIO);
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	check(ring.control->state == SPEPROF_RING_OFFLINE);
	check(kcpu_set_online(cpu, true));
	check(kwait_state(&ring, SPEPROF_RING_ARMED));
	/* The child was moved off the CPU, and is not moved back automatically. */
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	check(!sched_setaffinity(child, sizeof(set), &set));
	for (i = 0; i < 500 && tally.generation != 2; i++) {
		ksleep_ms(20);
		kring_read_windows(&ring, &tally);
	}
	check(tally.generation == 2);
	check(!ioctl(session, SPEPROF_SESSION_STOP, 0));
	kring_read_windows(&ring, &tally);
	ktally_check(&ring, &tally);
	kchild_end(child);
}

static void session_ends_while_cpu_is_offline(void)
{
	struct speprof_session_config config = kmake_session_config();
	int session = ksession_new(&config);

	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	check(kcpu_set_online(1, false));
	close(session);
	session = ksession_new(&config);
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	check(kcpu_set_online(1, true));
	ksleep_ms(20);
	close(session);
}

/* The session of a reader that is killed is removed completely. */
static void killed_reader_leaves_nothing(void)
{
	struct speprof_session_config config = kmake_session_config();
	unsigned int i;

	for (i = 0; i < 10; i++) {
		struct speprof_cpu_info info = { .size = sizeof(info) };
		pid_t child = fork();

		if (!child) {
			int session = ksession_new(&config);
			struct kring ring;

			kring_open(session, 0, &ring);
			if (ioctl(session, SPEPROF_SESSION_START, 0))
				_exit(1);
			for (;;)
				ioctl(ring.fd, SPEPROF_RING_FLUSH, 0);
		}
		ksleep_ms(30);
		kill(child, SIGKILL);
		check(waitpid(child, NULL, 0) == child);
		check(!ioctl(kdevice_open(), SPEPROF_CPU_INFO, &info));
		check(!(info.flags & SPEPROF_CPU_BUSY));
	}
}

static void modules_stay_while_used(void)
{
	struct speprof_session_config config = kmake_session_config();
	int session = ksession_new(&config);
	int device = kdevice_open();

	if (kget_backend() == SPEPROF_BACKEND_EMULATED)
		check_errno(syscall(SYS_delete_module, "speprof_emu", O_NONBLOCK), EAGAIN);
	check_errno(syscall(SYS_delete_module, "speprof", O_NONBLOCK), EAGAIN);
	close(device);
	close(session);
}

/* ---- All at the same time -------------------------------------------------- */

struct session_stress {
	int session;
	struct kring ring;
	uint64_t end;
};

static bool is_running(const struct session_stress *stress)
{
	return kclock_ns() < stress->end;
}

static void *stress_start_stop(void *arg)
{
	struct session_stress *stress = arg;

	while (is_running(stress)) {
		ioctl(stress->session, SPEPROF_SESSION_STOP, 0);
		ioctl(stress->session, SPEPROF_SESSION_START, 0);
		ksleep_ms(7);
	}
	return NULL;
}

static void *stress_change_sampling(void *arg)
{
	struct session_stress *stress = arg;
	struct speprof_sampling sampling = kmake_sampling();

	while (is_running(stress)) {
		sampling.flags ^= SPEPROF_SAMPLE_JITTER;
		sampling.interval = KTEST_INTERVAL + sampling.interval % 7 * 256;
		ioctl(stress->session, SPEPROF_SESSION_SAMPLE, &sampling);
		ksleep_ms(3);
	}
	return NULL;
}

static void *stress_open_ring(void *arg)
{
	struct session_stress *stress = arg;
	uint8_t *bytes = malloc(1 << 16);

	while (is_running(stress)) {
		struct speprof_ring_stats stats = kring_read_stats(&stress->ring);
		struct speprof_advance advance = { stats.head, stats.event_head };

		ioctl(stress->ring.fd, SPEPROF_RING_FLUSH, 0);
		if (read(stress->ring.fd, bytes, 1 << 16) < 0 && errno != EAGAIN)
			check(0, "%s", strerror(errno));
		ioctl(stress->ring.fd, SPEPROF_RING_KICK, 0);
		ioctl(stress->ring.fd, SPEPROF_RING_ADVANCE, &advance);
	}
	free(bytes);
	return NULL;
}

static void *stress_scribble(void *arg)
{
	struct session_stress *stress = arg;
	uint64_t random = 88172645463325252ULL;

	while (is_running(stress)) {
		volatile uint64_t *word = (volatile uint64_t *)stress->ring.control;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		word[random % (sizeof(struct speprof_control) / 8)] = random;
	}
	return NULL;
}

static void *stress_hotplug(void *arg)
{
	struct session_stress *stress = arg;
	bool on = false;

	while (is_running(stress)) {
		kcpu_set_online(1, on);
		on = !on;
		ksleep_ms(40);
	}
	kcpu_set_online(1, true);
	return NULL;
}

static void counters_add_up_under_stress(void)
{
	static void *(*const parts[])(void *) = { stress_start_stop, stress_change_sampling,
						  stress_open_ring, stress_scribble,
						  stress_hotplug };
	struct speprof_session_config config = kmake_session_config();
	struct session_stress stress = { .end = kclock_ns() + STRESS_MS * 1000000ULL };
	const struct speprof_cpu_info info = kcpu_query_info(1);
	/* maximum size of a record with its alignment */
	uint64_t max_size =
		info.record_max > info.record_align ? info.record_max : info.record_align;
	pthread_t threads[ARRAY_SIZE(parts)];
	struct speprof_ring_stats stats;
	size_t i;

	config.ring_size = 64 << 10;
	config.watermark = 0;
	config.max_latency_ms = 5;
	stress.session = ksession_new(&config);
	kring_open(stress.session, 1, &stress.ring);
	check(!ioctl(stress.session, SPEPROF_SESSION_START, 0));
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		check(!pthread_create(&threads[i], NULL, parts[i], &stress));
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		pthread_join(threads[i], NULL);
	check(!ioctl(stress.session, SPEPROF_SESSION_STOP, 0));
	stats = kring_read_stats(&stress.ring);
	check(stats.state == SPEPROF_RING_IDLE);
	check(stats.head == stats.data_bytes + stats.header_bytes + stats.skip_bytes);
	check(stats.tail <= stats.head && stats.event_tail <= stats.event_head);
	check(!kwindows_have_counts() || (stats.records * info.record_align <= stats.data_bytes &&
					  stats.data_bytes <= stats.records * max_size));
	kring_close(&stress.ring);
}

const struct ktest ktests_stress[] = {
	{ "cpu-goes-offline-and-returns", cpu_goes_offline_and_returns },
	{ "session-ends-while-cpu-is-offline", session_ends_while_cpu_is_offline },
	{ "killed-reader-leaves-nothing", killed_reader_leaves_nothing },
	{ "modules-stay-while-used", modules_stay_while_used },
	{ "everything-at-once", counters_add_up_under_stress },
	{ 0 },
};
