// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Run the tests, each in a process of its own, and print a line for each. usage: ktest [NAME...].
 * It needs root, speprof.ko and either speprof_emu.ko or, loaded before speprof.ko,
 * speprof_trap.ko.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ktest.h"
#include "codec/registers.h"

/* A test that runs longer than this many seconds is considered hung, on any machine. */
#define TEST_SECONDS 300
/* A ring that does not reach a state within this number of seconds is considered hung. */
#define WAIT_SECONDS 60

int kdevice_open(void)
{
	int fd = open(SPEPROF_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	check(fd >= 0, "%s", strerror(errno));
	return fd;
}

struct speprof_cpu_info kcpu_query_info(unsigned int cpu)
{
	struct speprof_cpu_info info = { .size = sizeof(info), .cpu = cpu };
	int device = kdevice_open();

	check(!ioctl(device, SPEPROF_CPU_INFO, &info), "%s", strerror(errno));
	close(device);
	return info;
}

uint64_t kget_interval(unsigned int cpu, const struct speprof_sampling *sampling)
{
	bool adds = sampling->flags & SPEPROF_SAMPLE_JITTER &&
		    !(kcpu_query_info(cpu).pmsidr & SPE_PMSIDR_ERND);

	return sampling->interval / 256 * 256 + (adds ? 128 : 1);
}

double kget_ops_per_ns(void)
{
	static const char *const paths[] = { "/sys/module/speprof_emu/parameters/ops_per_us",
					     "/sys/module/speprof_trap/parameters/ops_per_us" };
	unsigned int ops = 0;

	for (unsigned int i = 0; !ops && i < ARRAY_SIZE(paths); i++) {
		FILE *file = fopen(paths[i], "re");

		if (!file)
			continue;
		check(fscanf(file, "%u", &ops) == 1, "%s", paths[i]);
		fclose(file);
	}
	return ops / 1000.0;
}

uint32_t kget_backend(void)
{
	static uint32_t backend;

	if (!backend)
		backend = kcpu_query_info(0).backend;
	return backend;
}

bool kwindows_have_counts(void)
{
	return kget_backend() == SPEPROF_BACKEND_EMULATED;
}

unsigned int kcount_cpus(void)
{
	return (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
}

struct speprof_session_config kmake_session_config(void)
{
	return (struct speprof_session_config){
		.size = sizeof(struct speprof_session_config),
		.mode = SPEPROF_MODE_STREAM,
		.rights = SPEPROF_RIGHT_KERNEL | SPEPROF_RIGHT_CONTEXT |
			  SPEPROF_RIGHT_PHYSICAL_ADDRESS | SPEPROF_RIGHT_PHYSICAL_TIME,
		.ring_size = 1 << 20,
		.event_slots = 64,
		.max_latency_ms = 20,
		.watermark = 64 << 10,
	};
}

struct speprof_sampling kmake_sampling(void)
{
	return (struct speprof_sampling){
		.size = sizeof(struct speprof_sampling),
		.flags = SPEPROF_SAMPLE_USER | SPEPROF_SAMPLE_KERNEL | SPEPROF_SAMPLE_JITTER,
		.interval = KTEST_INTERVAL,
		.collect = SPEPROF_COLLECT_TIMESTAMP | SPEPROF_COLLECT_CONTEXT,
	};
}

int ksession_new(const struct speprof_session_config *config)
{
	struct speprof_sampling sampling = kmake_sampling();
	int device = kdevice_open();
	int session = ioctl(device, SPEPROF_SESSION_NEW, config);

	check(session >= 0, "%s", strerror(errno));
	check(!ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling), "%s", strerror(errno));
	close(device);
	return session;
}

void kring_open(int session, unsigned int cpu, struct kring *ret_ring)
{
	struct kring ring = {
		.cpu = cpu,
		.open = { .size = sizeof(ring.open), .cpu = cpu, .flags = SPEPROF_RING_NONBLOCK },
	};

	ring.fd = ioctl(session, SPEPROF_RING_OPEN, &ring.open);
	check(ring.fd >= 0, "%s", strerror(errno));
	ring.control = mmap(NULL, ring.open.control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			    ring.fd, SPEPROF_MMAP_CONTROL);
	check(ring.control != MAP_FAILED, "%s", strerror(errno));
	ring.events = mmap(NULL, ring.open.event_bytes, PROT_READ, MAP_SHARED, ring.fd,
			   SPEPROF_MMAP_EVENTS);
	check(ring.events != MAP_FAILED, "%s", strerror(errno));
	ring.data = mmap(NULL, ring.open.data_bytes, PROT_READ, MAP_SHARED, ring.fd,
			 SPEPROF_MMAP_DATA);
	check(ring.data != MAP_FAILED, "%s", strerror(errno));
	check(ring.control->magic == SPEPROF_CONTROL_MAGIC);
	check(ring.control->size >= sizeof(struct speprof_control));
	check(ring.control->cpu == cpu);
	check(ring.control->data_bytes == ring.open.data_bytes);
	check(ring.control->event_slots == ring.open.event_slots);
	*ret_ring = ring;
}

void kring_close(struct kring *ring)
{
	munmap(ring->control, ring->open.control_bytes);
	munmap((void *)ring->events, ring->open.event_bytes);
	munmap((void *)ring->data, ring->open.data_bytes);
	close(ring->fd);
}

struct speprof_ring_stats kring_read_stats(const struct kring *ring)
{
	struct speprof_ring_stats stats = { .size = sizeof(stats) };

	check(!ioctl(ring->fd, SPEPROF_RING_STATS, &stats), "%s", strerror(errno));
	check(stats.size == sizeof(stats));
	return stats;
}

static void add_ledger(struct spe_ledger *to, const struct spe_ledger *from)
{
	to->records += from->records;
	to->decoded += from->decoded;
	to->padding += from->padding;
	to->suspect += from->suspect;
	to->suspect_ranges += from->suspect_ranges;
	to->partial += from->partial;
}

static void check_sample(const struct speprof_window *window, const struct spe_sample *sample,
			 struct ktally *tally)
{
	check(sample->present & SPE_HAS_ADDRESS(SPE_ADDRESS_PC));
	if (spe_address_el(sample->address[SPE_ADDRESS_PC]) == 0)
		tally->user++;
	if (sample->present & SPE_HAS_SOURCE)
		tally->sources[sample->source & 63]++;
	else
		tally->sourceless++;
	/* The Exception level of the kernel decides which of the two contexts is written. */
	for (int i = SPE_CONTEXT_EL1; i <= SPE_CONTEXT_EL2; i++) {
		if (!(sample->present & SPE_HAS_CONTEXT(i)))
			continue;
		if (sample->context[i] == tally->tid)
			tally->of_tid++;
		if (!tally->seen)
			continue;
		check(sample->context[i] < KTEST_TIDS, "TID %#x", sample->context[i]);
		tally->seen[sample->context[i]] = 1;
	}
	if (sample->present & SPE_HAS_TIMESTAMP) {
		uint64_t ticks = sample->timestamp - window->start_ticks;

		check(sample->timestamp >= window->start_ticks);
		/*
		 * Both counts are rounded down, so N ticks may stand for little more than N - 1
		 * whole ticks.
		 */
		check((ticks ? ticks - 1 : 0) * (1e9 / (double)window->tick_hz) <=
		      (double)(window->end_ns - window->start_ns));
	}
}

static void check_records(const struct speprof_window *window, const uint8_t *bytes,
			  struct ktally *tally)
{
	struct spe_decoder_config config = {
		.max_size = 1U << SPE_FIELD_GET(SPE_PMSIDR_MAXSIZE, window->pmsidr),
		.align = 1U << SPE_FIELD_GET(SPE_PMBIDR_ALIGN, window->pmbidr),
	};
	struct spe_decoder decoder;
	struct spe_sample sample;
	enum spe_decode_result got;

	spe_decoder_init(&decoder, &config, bytes, window->data_size);
	while ((got = spe_decoder_next(&decoder, &sample, NULL)) != SPE_DECODE_END)
		if (got == SPE_DECODE_SAMPLE)
			check_sample(window, &sample, tally);
	check(decoder.ledger.decoded + decoder.ledger.padding + decoder.ledger.suspect ==
	      window->data_size);
	tally->counted += kwindows_have_counts() ? window->records : decoder.ledger.records;
	add_ledger(&tally->ledger, &decoder.ledger);
}

static void check_window(const struct speprof_window *window, unsigned int cpu, uint64_t left)
{
	check(window->header_size >= sizeof(*window) && !(window->header_size % 64));
	check(window->data_offset >= window->header_size);
	check(window->data_offset <= window->span);
	check(window->data_size && window->data_size <= window->span - window->data_offset);
	check(window->span <= left);
	check(window->cpu == cpu);
	check(window->backend == kget_backend());
	check(window->clock == SPEPROF_CLOCK_MONOTONIC);
	check(window->start_ns <= window->end_ns && window->end_ns <= kclock_ns());
	check(window->generation && window->interval > 256);
	check(!(window->flags & SPEPROF_WINDOW_COUNTED) == !kwindows_have_counts());
}

static uint64_t blind_share_to_ns(uint64_t ns, uint32_t share)
{
	return (uint64_t)(((unsigned __int128)ns * share + UINT32_MAX) >> 32);
}

static void add_window(const struct speprof_window *window, struct ktally *tally)
{
	tally->windows++;
	tally->data_bytes += window->data_size;
	tally->header_bytes += window->span - window->data_size;
	tally->armed_ns += window->armed_ns;
	tally->blind_ns += window->blind_ns;
	check(window->flags & SPEPROF_WINDOW_CAUSES);
	for (unsigned int i = 0; i < SPEPROF_BLINDS; i++)
		tally->blind_by[i] += blind_share_to_ns(window->blind_ns, window->blind_share[i]);
	tally->parked_ns += window->parked_ns;
	check(window->start_ns >= tally->end_ns);
	/* The times of windows are contiguous, to the nanosecond. */
	if (tally->end_ns && !tally->gaps)
		check(window->end_ns - tally->end_ns ==
		      window->armed_ns + window->blind_ns + window->parked_ns);
	tally->end_ns = window->end_ns;
	tally->flags |= window->flags;
	tally->generation = window->generation;
	tally->interval = window->interval;
	tally->suspect_windows += !!(window->flags & SPEPROF_WINDOW_SUSPECT);
}

void kwindows_check(const uint8_t *bytes, uint64_t size, unsigned int cpu, struct ktally *tally)
{
	while (size) {
		struct speprof_window window = { 0 };

		check(size >= SPEPROF_WINDOW_SKIP_SIZE);
		memcpy(&window, bytes, SPEPROF_WINDOW_SKIP_SIZE);
		check(window.magic == SPEPROF_WINDOW_MAGIC, "%#x", window.magic);
		check(window.seq == tally->next_seq++, "%llu", (unsigned long long)window.seq);
		check(window.span && !(window.span % SPEPROF_WINDOW_ALIGN) && window.span <= size);
		if (window.kind == SPEPROF_WINDOW_SKIP) {
			tally->skips++;
			tally->skip_bytes += window.span;
		} else {
			check(window.kind == SPEPROF_WINDOW_RECORDS);
			memcpy(&window, bytes, sizeof(window));
			check_window(&window, cpu, size);
			add_window(&window, tally);
			check_records(&window, bytes + window.data_offset, tally);
		}
		bytes += window.span;
		size -= window.span;
	}
}

void kring_read_windows(struct kring *ring, struct ktally *tally)
{
	uint64_t head = __atomic_load_n(&ring->control->head, __ATOMIC_ACQUIRE);

	check(head >= ring->tail && head - ring->tail <= ring->open.data_bytes);
	while (ring->tail != head) {
		uint64_t offset = ring->tail & (ring->open.data_bytes - 1);
		uint64_t run = ring->open.data_bytes - offset;

		if (run > head - ring->tail)
			run = head - ring->tail;
		kwindows_check(ring->data + offset, run, ring->cpu, tally);
		ring->tail += run;
	}
	__atomic_store_n(&ring->control->tail, ring->tail, __ATOMIC_RELEASE);
}

const struct speprof_event *kring_next_event(struct kring *ring)
{
	uint64_t head = __atomic_load_n(&ring->control->event_head, __ATOMIC_ACQUIRE);
	const struct speprof_event *event;

	if (ring->event_tail == head)
		return NULL;
	event = &ring->events[ring->event_tail & (ring->open.event_slots - 1)];
	check(event->seq == ring->event_tail);
	check(event->cpu == ring->cpu);
	ring->event_tail++;
	__atomic_store_n(&ring->control->event_tail, ring->event_tail, __ATOMIC_RELEASE);
	return event;
}

void ktally_check(const struct kring *ring, const struct ktally *tally)
{
	static const uint32_t states[SPEPROF_BLINDS] = {
		[SPEPROF_BLIND_FULL] = SPEPROF_RING_FULL,
		[SPEPROF_BLIND_FAULTED] = SPEPROF_RING_FAULTED,
		[SPEPROF_BLIND_THROTTLED] = SPEPROF_RING_THROTTLED,
		[SPEPROF_BLIND_HANDOVER] = SPEPROF_RING_HANDOVER,
	};
	struct speprof_ring_stats stats = kring_read_stats(ring);
	uint64_t blind = stats.state_ns[SPEPROF_RING_HANDLING] +
			 stats.state_ns[SPEPROF_RING_FULL] + stats.state_ns[SPEPROF_RING_FAULTED] +
			 stats.state_ns[SPEPROF_RING_THROTTLED] +
			 stats.state_ns[SPEPROF_RING_HANDOVER];

	check(stats.state == SPEPROF_RING_IDLE);
	check(stats.head == ring->tail && stats.tail == ring->tail);
	check(stats.windows == tally->windows);
	check(stats.skips == tally->skips);
	check(stats.skip_bytes == tally->skip_bytes);
	check(stats.data_bytes == tally->data_bytes);
	check(stats.header_bytes == tally->header_bytes);
	check(stats.head == stats.data_bytes + stats.header_bytes + stats.skip_bytes);
	check(tally->ledger.decoded + tally->ledger.padding + tally->ledger.suspect ==
	      tally->data_bytes);
	check(stats.records == (kwindows_have_counts() ? tally->counted : 0));
	/* Time after the last window with records is in no window. */
	check(tally->armed_ns <= stats.state_ns[SPEPROF_RING_ARMED]);
	check(tally->blind_ns <= blind);
	/* The rounding error is a nanosecond for each four seconds of a window's blind time. */
	for (unsigned int i = 0; i < SPEPROF_BLINDS; i++) {
		uint64_t slack = tally->windows + (blind >> 32);

		check(tally->blind_by[i] <= stats.state_ns[states[i]] + slack, "cause %u", i);
		check(tally->blind_by[i] + (blind - tally->blind_ns) + slack >=
			      stats.state_ns[states[i]], "cause %u", i);
	}
	check(tally->parked_ns <= stats.parked_ns);
}

/* Fork. Return: the child's PID, and in the child 0; the child runs on @cpu. */
static pid_t fork_child(unsigned int cpu)
{
	pid_t pid = fork();
	cpu_set_t set;

	check(pid >= 0);
	if (pid)
		return pid;
	/* An inherited descriptor would keep a session open, so close all. */
	close_range(3, ~0U, 0);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
	return 0;
}

pid_t kstart_spinning(unsigned int cpu)
{
	pid_t pid = fork_child(cpu);

	for (volatile unsigned long n = 0; !pid; n++)
		;
	return pid;
}

pid_t kstart_in_kernel(unsigned int cpu)
{
	pid_t pid = fork_child(cpu);
	char bytes[4096];
	int fd;

	while (!pid) {
		fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
		if (fd < 0 || read(fd, bytes, sizeof(bytes)) < 0)
			_exit(1);
		close(fd);
	}
	return pid;
}

void kchild_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void ksleep_ms(unsigned int ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
}

uint64_t kclock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool kfile_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

bool kcpu_set_online(unsigned int cpu, bool on)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	return kfile_write(path, on ? "1" : "0");
}

bool kinject_rule(unsigned int cpu, const char *rule)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/kernel/debug/speprof_%s/cpu%u",
		 kget_backend() == SPEPROF_BACKEND_EMULATED ? "emu" : "trap", cpu);
	return kfile_write(path, rule);
}

void kinject_fault(unsigned int cpu, unsigned int ec, unsigned int mss)
{
	char text[64];

	snprintf(text, sizeof(text), "%#x:%#x", ec, mss);
	check(kinject_rule(cpu, text), "%s", strerror(errno));
}

void kset_parameter(const char *name, unsigned long value)
{
	char path[80], text[32];

	snprintf(path, sizeof(path), "/sys/module/speprof/parameters/%s", name);
	snprintf(text, sizeof(text), "%lu", value);
	check(kfile_write(path, text), "%s: %s", path, strerror(errno));
}

static void reset_parameters(void)
{
	kset_parameter("throttle_interrupts", 2000);
	kset_parameter("throttle_bytes", 64 << 20);
	kset_parameter("unread_ms", 60000);
	/*
	 * Remove the limit of commands, because tests call many in sequence. The test of the limit
	 * sets another value.
	 */
	kset_parameter("throttle_commands", 0);
}

bool kwait_state(const struct kring *ring, uint32_t state)
{
	uint64_t end = kclock_ns() + WAIT_SECONDS * 1000000000ULL;

	while (__atomic_load_n(&ring->control->state, __ATOMIC_ACQUIRE) != state) {
		if (kclock_ns() > end)
			return false;
		ksleep_ms(2);
	}
	return true;
}

static bool run_test(const struct ktest *test)
{
	uint64_t start = kclock_ns();
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		/* Use a process group, so that the children of the test can be killed with it. */
		setpgid(0, 0);
		alarm(TEST_SECONDS);
		test->run();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("ktest: fork");
		return false;
	}
	kill(-pid, SIGKILL);
	if (!test->peer)
		reset_parameters();
	if (WIFSIGNALED(status))
		printf("FAIL %s: %s\n", test->name, strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		printf("FAIL %s\n", test->name);
	else
		printf("ok %s (%llu ms)\n", test->name,
		       (unsigned long long)(kclock_ns() - start) / 1000000);
	return !status;
}

static bool is_selected(const struct ktest *test, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], test->name))
			return true;
	return argc == 1 && !test->on_request && (!test->hardware || !kwindows_have_counts());
}

int main(int argc, char **argv)
{
	const struct ktest *const groups[] = { ktests_abi,    ktests_ring,   ktests_flight,
					       ktests_limit,  ktests_fault,  ktests_stress,
					       ktests_cgroup, ktests_cgroup_stress, ktests_cost,
					       ktests_windows_cost, ktests_hardware,
					       ktests_sources };
	unsigned int ran = 0, failed = 0;
	const struct ktest *test;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		for (test = groups[i]; test->name; test++) {
			/* Determine this once for all tests, while the device can be opened. */
			if (!is_selected(test, argc, argv))
				continue;
			check(test->peer || kget_backend() != SPEPROF_BACKEND_NONE);
			ran++;
			failed += !run_test(test);
		}
	}
	printf("%u tests, %u failed\n", ran, failed);
	return failed || !ran;
}
