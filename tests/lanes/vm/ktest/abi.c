// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the arguments of every command, valid and invalid, and the permissions that they need. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktest.h"

#define CAPABILITY_PERFMON 38

static void device_describes_itself(void)
{
	struct speprof_device_info info = { .size = sizeof(info) };
	struct speprof_cpu_info cpu = { .size = sizeof(cpu) };
	int device = kdevice_open();

	check(!ioctl(device, SPEPROF_DEVICE_INFO, &info));
	check(info.abi_version == SPEPROF_ABI_VERSION);
	check(info.size == sizeof(info));
	check(info.cpus >= kcount_cpus() && info.spus >= kcount_cpus());
	check(info.modes & 1 << SPEPROF_MODE_STREAM);
	check(info.page_size == (uint32_t)sysconf(_SC_PAGESIZE));
	check(info.min_ring_size <= info.max_ring_size);

	check(!ioctl(device, SPEPROF_CPU_INFO, &cpu));
	check(cpu.backend == SPEPROF_BACKEND_EMULATED || cpu.backend == SPEPROF_BACKEND_HARDWARE);
	check(cpu.flags == (SPEPROF_CPU_ONLINE | SPEPROF_CPU_CONTEXT));
	check(cpu.pmsver >= 1);
	check(cpu.record_align >= 1 && cpu.record_align <= SPE_MAX_RECORD);
	check(cpu.record_max >= 16 && cpu.record_max <= SPE_MAX_RECORD);
	check(cpu.interval_min >= 256 && cpu.interval_max == 0xffffff00);
	check(cpu.events && cpu.tick_hz >= 1000000);
	/* The SPU model counts time in nanoseconds. */
	check(cpu.backend == SPEPROF_BACKEND_HARDWARE || cpu.tick_hz == 1000000000);
	cpu.cpu = info.cpus;
	check_errno(ioctl(device, SPEPROF_CPU_INFO, &cpu), EINVAL);
	cpu.cpu = UINT32_MAX;
	check_errno(ioctl(device, SPEPROF_CPU_INFO, &cpu), EINVAL);
}

/*
 * Test each wrong size of a structure, and the larger sizes of future versions. @first: size of the
 * first version
 */
static void command_checks_size(int fd, unsigned long command, const void *good, uint32_t first,
				uint32_t size)
{
	uint8_t *longer = calloc(1, 1 << 16);
	uint32_t n;

	for (n = 0; n < first; n++) {
		memcpy(longer, good, size);
		memcpy(longer, &n, sizeof(n));
		check_errno(ioctl(fd, command, longer), EINVAL);
	}
	n = size + 8;
	memcpy(longer, good, size);
	memcpy(longer, &n, sizeof(n));
	longer[size + 7] = 1;
	check_errno(ioctl(fd, command, longer), E2BIG);
	n = 1 << 16;
	memcpy(longer, &n, sizeof(n));
	check_errno(ioctl(fd, command, longer), E2BIG);
	n = UINT32_MAX;
	memcpy(longer, &n, sizeof(n));
	check_errno(ioctl(fd, command, longer), E2BIG);
	check_errno(ioctl(fd, command, NULL), EFAULT);
	check_errno(ioctl(fd, command, (void *)8), EFAULT);
	check_errno(ioctl(fd, command, (void *)0xffff800000000000UL), EFAULT);
	free(longer);
}

static void structures_may_grow(void)
{
	struct {
		struct speprof_device_info info;
		uint8_t future[64];
	} longer = { .info.size = sizeof(longer) };
	struct speprof_device_info info = { .size = sizeof(info) };
	struct speprof_cpu_info cpu = { .size = sizeof(cpu) };
	struct speprof_session_config config = kmake_session_config();
	struct speprof_sampling sampling = kmake_sampling();
	struct speprof_ring_open open = { .size = sizeof(open) };
	struct speprof_ring_stats stats = { .size = sizeof(stats) };
	int device = kdevice_open();
	int session = ksession_new(&config);
	struct kring ring;

	kring_open(session, 0, &ring);
	command_checks_size(device, SPEPROF_DEVICE_INFO, &info, sizeof(info), sizeof(info));
	command_checks_size(device, SPEPROF_CPU_INFO, &cpu, sizeof(cpu), sizeof(cpu));
	command_checks_size(device, SPEPROF_SESSION_NEW, &config,
			    offsetof(struct speprof_session_config, cgroups), sizeof(config));
	command_checks_size(session, SPEPROF_SESSION_SAMPLE, &sampling,
			    offsetof(struct speprof_sampling, sources_not), sizeof(sampling));
	command_checks_size(session, SPEPROF_RING_OPEN, &open, sizeof(open), sizeof(open));
	command_checks_size(ring.fd, SPEPROF_RING_STATS, &stats,
			    offsetof(struct speprof_ring_stats, throttles), sizeof(stats));

	/* The module must not write fields that the first version does not have. */
	stats.size = offsetof(struct speprof_ring_stats, throttles);
	stats.throttles = 77;
	check(!ioctl(ring.fd, SPEPROF_RING_STATS, &stats));
	check(stats.throttles == 77 && stats.size == sizeof(stats));

	/* An older program requests only the filters that it knows. */
	sampling.size = offsetof(struct speprof_sampling, sources_not);
	sampling.sources_not = ~0ULL;
	check(!ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling));

	check(!ioctl(device, SPEPROF_DEVICE_INFO, &longer));
	check(longer.info.size == sizeof(longer.info) && longer.info.abi_version);
}

static void unknown_commands_are_enotty(void)
{
	struct speprof_session_config config = kmake_session_config();
	int device = kdevice_open();
	int session = ksession_new(&config);
	struct kring ring;

	kring_open(session, 0, &ring);
	check_errno(ioctl(device, SPEPROF_SESSION_START, 0), ENOTTY);
	check_errno(ioctl(session, SPEPROF_RING_KICK, 0), ENOTTY);
	check_errno(ioctl(ring.fd, SPEPROF_DEVICE_INFO, 0), ENOTTY);
	check_errno(ioctl(device, _IO(SPEPROF_IOC_MAGIC, 0xff), 0), ENOTTY);
	check_errno(ioctl(session, SPEPROF_SESSION_START, 1), EINVAL);
	check_errno(ioctl(session, SPEPROF_SESSION_STOP, 1), EINVAL);
	check_errno(ioctl(ring.fd, SPEPROF_RING_KICK, 1), EINVAL);
	check_errno(ioctl(ring.fd, SPEPROF_RING_FLUSH, 1), EINVAL);
	check_errno(ioctl(ring.fd, SPEPROF_RING_ADVANCE, NULL), EFAULT);
	check_errno(read(device, &config, sizeof(config)), EINVAL);
	check_errno(read(session, &config, sizeof(config)), EINVAL);
	check_errno(lseek(ring.fd, 0, SEEK_SET), ESPIPE);
}

#define CONFIG_BAD(field, value, error)                                       \
	do {                                                                  \
		struct speprof_session_config bad = kmake_session_config();   \
		bad.field = (value);                                          \
		check_errno(ioctl(device, SPEPROF_SESSION_NEW, &bad), error); \
	} while (0)

static void configurations_are_checked(void)
{
	struct speprof_session_config config = kmake_session_config();
	int device = kdevice_open();
	uint8_t mask[64] = { 0 };
	int session;

	CONFIG_BAD(mode, 2, EINVAL);
	CONFIG_BAD(rights, 1U << 5, EINVAL);
	CONFIG_BAD(rights, ~0U, EINVAL);
	CONFIG_BAD(ring_size, 0, EINVAL);
	CONFIG_BAD(ring_size, 4096, EINVAL);
	CONFIG_BAD(ring_size, (1 << 20) + 4096, EINVAL);
	CONFIG_BAD(ring_size, 1ULL << 40, EINVAL);
	CONFIG_BAD(ring_size, UINT64_MAX, EINVAL);
	CONFIG_BAD(event_slots, 0, EINVAL);
	CONFIG_BAD(event_slots, 8, EINVAL);
	CONFIG_BAD(event_slots, 65, EINVAL);
	CONFIG_BAD(event_slots, 1U << 31, EINVAL);
	CONFIG_BAD(max_latency_ms, 60001, EINVAL);
	CONFIG_BAD(watermark, (1 << 19) + 1, EINVAL);
	CONFIG_BAD(watermark, UINT64_MAX, EINVAL);
	CONFIG_BAD(cpus, (uintptr_t)mask, EINVAL);
	CONFIG_BAD(cpus_size, 8, EINVAL);

	config.cpus = (uintptr_t)mask;
	config.cpus_size = sizeof(mask);
	check_errno(ioctl(device, SPEPROF_SESSION_NEW, &config), EINVAL);
	mask[63] = 0x80;
	check_errno(ioctl(device, SPEPROF_SESSION_NEW, &config), EINVAL);
	config.cpus_size = UINT32_MAX;
	check_errno(ioctl(device, SPEPROF_SESSION_NEW, &config), EINVAL);
	config.cpus_size = 1;
	config.cpus = 8;
	check_errno(ioctl(device, SPEPROF_SESSION_NEW, &config), EFAULT);

	/* Select one CPU with the shortest possible mask. */
	mask[0] = 1;
	config.cpus = (uintptr_t)mask;
	session = ioctl(device, SPEPROF_SESSION_NEW, &config);
	check(session >= 0);
	check(fcntl(session, F_GETFD) & FD_CLOEXEC);
	struct speprof_ring_open open = { .size = sizeof(open), .cpu = 1 };
	check_errno(ioctl(session, SPEPROF_RING_OPEN, &open), ENOENT);
	open.cpu = UINT32_MAX;
	check_errno(ioctl(session, SPEPROF_RING_OPEN, &open), ENOENT);
	open.cpu = 0;
	open.flags = 2;
	check_errno(ioctl(session, SPEPROF_RING_OPEN, &open), EINVAL);
}

#define SAMPLING_BAD(field, value, error)                                         \
	do {                                                                      \
		struct speprof_sampling bad = kmake_sampling();                   \
		bad.field = (value);                                              \
		check_errno(ioctl(session, SPEPROF_SESSION_SAMPLE, &bad), error); \
	} while (0)

static void samplings_are_checked(void)
{
	struct speprof_session_config config = kmake_session_config();
	int session = ksession_new(&config);
	struct speprof_cpu_info cpu = { .size = sizeof(cpu) };

	check(!ioctl(kdevice_open(), SPEPROF_CPU_INFO, &cpu));
	SAMPLING_BAD(flags, 0, EINVAL);
	SAMPLING_BAD(flags, SPEPROF_SAMPLE_JITTER, EINVAL);
	SAMPLING_BAD(flags, SPEPROF_SAMPLE_USER | 1U << 3, EINVAL);
	SAMPLING_BAD(collect, 1U << 4, EINVAL);
	SAMPLING_BAD(collect, SPEPROF_COLLECT_PHYSICAL_TIME, EINVAL);
	SAMPLING_BAD(types, 1U << 3, EINVAL);
	SAMPLING_BAD(reserved, 1, EINVAL);
	SAMPLING_BAD(interval, 0, ERANGE);
	SAMPLING_BAD(interval, cpu.interval_min - 1, ERANGE);
	SAMPLING_BAD(interval, cpu.interval_max + 1, ERANGE);
	SAMPLING_BAD(interval, UINT64_MAX, ERANGE);
	SAMPLING_BAD(min_latency, 0x10000, ERANGE);
	SAMPLING_BAD(events, ~cpu.events, EOPNOTSUPP);
	SAMPLING_BAD(events_not, ~cpu.events, EOPNOTSUPP);
	/* PMSIDR_EL1.FDS */
	if (!(cpu.pmsidr & 1U << 7))
		SAMPLING_BAD(sources_not, 1, EOPNOTSUPP);
}

static void rights_limit_the_session(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_sampling sampling = kmake_sampling();
	int session;

	config.rights = 0;
	session = ioctl(kdevice_open(), SPEPROF_SESSION_NEW, &config);
	check(session >= 0);
	SAMPLING_BAD(flags, SPEPROF_SAMPLE_KERNEL, EPERM);
	SAMPLING_BAD(flags, SPEPROF_SAMPLE_USER, EPERM);
	sampling.flags = SPEPROF_SAMPLE_USER;
	sampling.collect = SPEPROF_COLLECT_TIMESTAMP;
	check(!ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling));
	sampling.collect |= SPEPROF_COLLECT_PHYSICAL_TIME;
	check_errno(ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling), EPERM);
	sampling.collect = SPEPROF_COLLECT_PHYSICAL_ADDRESS;
	check_errno(ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling), EPERM);
}

/* Change to UID 65534, with CAP_PERFMON or without any capability. */
static void drop_privileges(bool perfmon)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	check(!prctl(PR_SET_KEEPCAPS, 1));
	check(!setresuid(65534, 65534, 65534));
	if (perfmon)
		data[CAPABILITY_PERFMON / 32].permitted = data[CAPABILITY_PERFMON / 32].effective =
			1U << CAPABILITY_PERFMON % 32;
	check(!syscall(SYS_capset, &header, data));
}

static void sessions_need_a_capability(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_device_info info = { .size = sizeof(info) };
	int device = kdevice_open();
	int session = ksession_new(&config);

	drop_privileges(false);
	check_errno(open(SPEPROF_DEVICE_PATH, O_RDWR), EACCES);
	check(!ioctl(device, SPEPROF_DEVICE_INFO, &info));
	check_errno(ioctl(device, SPEPROF_SESSION_NEW, &config), EPERM);
	/*
	 * Test that a descriptor permits the use of the session to a process without privileges.
	 */
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	check(!ioctl(session, SPEPROF_SESSION_STOP, 0));
}

/* Capabilities in a user namespace must not count as capabilities on the machine. */
static void namespaces_give_no_capability(void)
{
	struct speprof_session_config config = kmake_session_config();
	int device = kdevice_open();

	drop_privileges(false);
	check(!unshare(CLONE_NEWUSER), "%s", strerror(errno));
	check_errno(ioctl(device, SPEPROF_SESSION_NEW, &config), EPERM);
}

/*
 * Check the replies of a session with @rights to an unprivileged process that requests @sampling.
 */
static void check_unprivileged(uint32_t rights, const struct speprof_sampling *sampling, int error)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_sampling requested = *sampling;
	int session, status;
	pid_t child;

	config.rights = rights;
	session = ioctl(kdevice_open(), SPEPROF_SESSION_NEW, &config);
	check(session >= 0);
	child = fork();
	if (!child) {
		drop_privileges(false);
		if (error)
			check_errno(ioctl(session, SPEPROF_SESSION_SAMPLE, &requested), error);
		else
			check(!ioctl(session, SPEPROF_SESSION_SAMPLE, &requested), "%s",
			      strerror(errno));
		exit(0);
	}
	check(waitpid(child, &status, 0) == child && !status, "rights %#x", rights);
	close(session);
}

/*
 * Test that only the permissions of the process that created the session count, and that a later
 * user, whether root or not, does not change them.
 */
static void rights_are_those_of_creation(void)
{
	static const struct {
		uint32_t right;
		uint32_t flags;
		uint32_t collect;
	} needs[] = {
		{ 0, SPEPROF_SAMPLE_USER, SPEPROF_COLLECT_TIMESTAMP },
		{ SPEPROF_RIGHT_KERNEL, SPEPROF_SAMPLE_KERNEL, 0 },
		{ SPEPROF_RIGHT_CONTEXT, SPEPROF_SAMPLE_USER, SPEPROF_COLLECT_CONTEXT },
		{ SPEPROF_RIGHT_PHYSICAL_ADDRESS, SPEPROF_SAMPLE_USER,
		  SPEPROF_COLLECT_PHYSICAL_ADDRESS },
		{ SPEPROF_RIGHT_PHYSICAL_TIME, SPEPROF_SAMPLE_USER,
		  SPEPROF_COLLECT_TIMESTAMP | SPEPROF_COLLECT_PHYSICAL_TIME },
	};
	uint32_t all = kmake_session_config().rights;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(needs); i++) {
		struct speprof_sampling sampling = kmake_sampling();

		sampling.flags = needs[i].flags;
		sampling.collect = needs[i].collect;
		check_unprivileged(needs[i].right, &sampling, 0);
		check_unprivileged(all, &sampling, 0);
		check_unprivileged(all & ~needs[i].right, &sampling, needs[i].right ? EPERM : 0);
	}
}

/*
 * Lockdown cannot be undone, so this test must be the last one on a machine, and runs only on
 * request.
 */
static void lockdown_ends_new_sessions(void)
{
	struct speprof_session_config config = kmake_session_config();
	int session = ksession_new(&config);
	struct ktally tally = { 0 };
	struct kring ring;
	pid_t child;

	kring_open(session, 0, &ring);
	check(kfile_write("/sys/kernel/security/lockdown", "confidentiality"), "%s", strerror(errno));
	check_errno(ioctl(kdevice_open(), SPEPROF_SESSION_NEW, &config), EPERM);
	/* Sessions that exist before the lockdown retain their permissions. */
	child = kstart_spinning(0);
	check(!ioctl(session, SPEPROF_SESSION_START, 0));
	while (!tally.ledger.records) {
		ksleep_ms(20);
		kring_read_windows(&ring, &tally);
	}
	kchild_end(child);
}

static void memory_is_charged(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct rlimit limit = { 0 };
	int device = kdevice_open();
	unsigned int i;

	drop_privileges(true);
	limit.rlim_cur = limit.rlim_max = (rlim_t)config.ring_size * kcount_cpus();
	check(!setrlimit(RLIMIT_MEMLOCK, &limit));
	check_errno(ioctl(device, SPEPROF_SESSION_NEW, &config), ENOMEM);
	/*
	 * Half of each size is within the limit, and closing the session releases the memory each
	 * time.
	 */
	config.ring_size /= 2;
	config.watermark = 0;
	for (i = 0; i < 8; i++) {
		int first = ioctl(device, SPEPROF_SESSION_NEW, &config);

		check(first >= 0, "%u: %s", i, strerror(errno));
		check_errno(ioctl(device, SPEPROF_SESSION_NEW, &config), ENOMEM);
		close(first);
	}
}

static uint64_t read_cgroup_usage(void)
{
	FILE *file = fopen("/sys/fs/cgroup/ktest-charge/memory.current", "r");
	unsigned long long bytes = 0;

	check(file && fscanf(file, "%llu", &bytes) == 1, "%s", strerror(errno));
	fclose(file);
	return bytes;
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	check(file && fputs(text, file) >= 0 && !fclose(file), "%s: %s", path, strerror(errno));
}

/* Pages that a CPU charges in advance (MEMCG_CHARGE_BATCH), which rings may use */
#define CHARGED_AHEAD (64 * 4096)

/*
 * The memory of a session is charged to the process that creates it, as locked memory or to its
 * cgroup.
 */
static void memory_cgroup_is_charged(void)
{
	struct speprof_session_config config = kmake_session_config();
	uint64_t before, rings;
	int session, status;
	pid_t child;

	config.ring_size = 4 << 20;
	rings = config.ring_size * kcount_cpus();
	write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	check(!mkdir("/sys/fs/cgroup/ktest-charge", 0755), "%s", strerror(errno));
	child = fork();
	if (!child) {
		write_text("/sys/fs/cgroup/ktest-charge/cgroup.procs", "0");
		before = read_cgroup_usage();
		session = ksession_new(&config);
		check(read_cgroup_usage() + kcount_cpus() * CHARGED_AHEAD >= before + rings,
		      "%llu, %llu before", (unsigned long long)read_cgroup_usage(),
		      (unsigned long long)before);
		close(session);
		/* The process caches some pages after the session is closed, but no ring. */
		check(read_cgroup_usage() < before + rings / 2);
		_exit(0);
	}
	check(waitpid(child, &status, 0) == child);
	for (unsigned int i = 0; i < 100 && rmdir("/sys/fs/cgroup/ktest-charge"); i++)
		ksleep_ms(20);
	check(!status);
}

static void commands_need_an_order(void)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_sampling sampling = kmake_sampling();
	struct speprof_cpu_info cpu = { .size = sizeof(cpu) };
	int device = kdevice_open();
	int first = ioctl(device, SPEPROF_SESSION_NEW, &config);
	int second = ksession_new(&config);

	check(first >= 0);
	check_errno(ioctl(first, SPEPROF_SESSION_START, 0), ENODATA);
	check(!ioctl(first, SPEPROF_SESSION_STOP, 0));
	check(!ioctl(first, SPEPROF_SESSION_SAMPLE, &sampling));
	check(!ioctl(first, SPEPROF_SESSION_START, 0));
	check(!ioctl(first, SPEPROF_SESSION_START, 0));
	check_errno(ioctl(second, SPEPROF_SESSION_START, 0), EBUSY);
	check(!ioctl(device, SPEPROF_CPU_INFO, &cpu));
	check(cpu.flags == (SPEPROF_CPU_ONLINE | SPEPROF_CPU_BUSY | SPEPROF_CPU_CONTEXT));
	check(!ioctl(first, SPEPROF_SESSION_STOP, 0));
	check(!ioctl(second, SPEPROF_SESSION_START, 0));
	close(second);
	check(!ioctl(first, SPEPROF_SESSION_START, 0));
}

/* START @session from a process without capabilities. Return: errno. */
static int start_as_unprivileged_user(int session)
{
	pid_t child = fork();
	int status;

	if (!child) {
		drop_privileges(false);
		_exit(ioctl(session, SPEPROF_SESSION_START, 0) ? errno : 0);
	}
	check(waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/*
 * Test that a session does not block privileged sessions after its descriptor was passed to an
 * unprivileged process.
 */
static void passed_session_yields(void)
{
	struct speprof_session_config config = kmake_session_config();
	int handed = ksession_new(&config), host = ksession_new(&config);
	struct kring ring;

	kring_open(handed, 0, &ring);
	check(!start_as_unprivileged_user(handed));
	check(start_as_unprivileged_user(host) == EBUSY);
	check(!ioctl(host, SPEPROF_SESSION_START, 0), "%s", strerror(errno));
	check(kring_read_stats(&ring).state == SPEPROF_RING_IDLE);
	check(start_as_unprivileged_user(handed) == EBUSY);
	check_errno(ioctl(handed, SPEPROF_SESSION_START, 0), EBUSY);
	check(!ioctl(host, SPEPROF_SESSION_STOP, 0));
	check(!start_as_unprivileged_user(handed));
}

static void maps_are_bounded(void)
{
	struct speprof_session_config config = kmake_session_config();
	int session = ksession_new(&config);
	long page = sysconf(_SC_PAGESIZE);
	struct kring ring;
	size_t size;

	kring_open(session, 0, &ring);
	size = ring.open.data_bytes;

#define MAP(bytes, prot, flags, offset) \
	((long)mmap(NULL, (bytes), (prot), (flags), ring.fd, (off_t)(offset)))
	check_errno(MAP(size, PROT_READ | PROT_WRITE, MAP_SHARED, SPEPROF_MMAP_DATA), EPERM);
	check_errno(MAP(page, PROT_READ | PROT_WRITE, MAP_SHARED, SPEPROF_MMAP_EVENTS), EPERM);
	check_errno(MAP(page, PROT_READ | PROT_EXEC, MAP_SHARED, SPEPROF_MMAP_DATA), EPERM);
	check_errno(MAP(page, PROT_READ | PROT_EXEC, MAP_SHARED, SPEPROF_MMAP_CONTROL), EPERM);
	check_errno(MAP(size, PROT_READ, MAP_PRIVATE, SPEPROF_MMAP_DATA), EINVAL);
	check_errno(MAP(size + (size_t)page, PROT_READ, MAP_SHARED, SPEPROF_MMAP_DATA), ENXIO);
	check_errno(MAP(page, PROT_READ, MAP_SHARED, SPEPROF_MMAP_DATA + page), EINVAL);
	check_errno(MAP(page, PROT_READ, MAP_SHARED, 0x300000000ULL), EINVAL);
	check_errno(MAP(page, PROT_READ, MAP_SHARED, page), EINVAL);
	check_errno(MAP(ring.open.control_bytes + (size_t)page, PROT_READ, MAP_SHARED,
			SPEPROF_MMAP_CONTROL), ENXIO);
	check(MAP(page, PROT_READ, MAP_SHARED, SPEPROF_MMAP_DATA) > 0);
#undef MAP
	check_errno(mprotect((void *)ring.data, (size_t)page, PROT_READ | PROT_WRITE), EACCES);
	check_errno(mprotect((void *)ring.events, (size_t)page, PROT_WRITE), EACCES);
	check_errno((long)mremap((void *)ring.data, size, size * 2, MREMAP_MAYMOVE), EFAULT);
	check_errno((long)mmap(NULL, (size_t)page, PROT_READ, MAP_SHARED, session, 0), ENODEV);
}

const struct ktest ktests_abi[] = {
	{ "device-describes-itself", device_describes_itself },
	{ "structures-may-grow", structures_may_grow },
	{ "unknown-commands-are-enotty", unknown_commands_are_enotty },
	{ "configurations-are-checked", configurations_are_checked },
	{ "samplings-are-checked", samplings_are_checked },
	{ "rights-bind-the-session", rights_limit_the_session },
	{ "sessions-need-a-capability", sessions_need_a_capability },
	{ "namespaces-give-no-capability", namespaces_give_no_capability },
	{ "rights-are-those-of-creation", rights_are_those_of_creation },
	{ "lockdown-ends-new-sessions", lockdown_ends_new_sessions, .on_request = true },
	{ "memory-is-charged", memory_is_charged },
	{ "memory-cgroup-is-charged", memory_cgroup_is_charged },
	{ "order-of-commands", commands_need_an_order },
	{ "handed-out-session-yields", passed_session_yields },
	{ "maps-are-bounded", maps_are_bounded },
	{ 0 },
};
