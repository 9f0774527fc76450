// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perf-event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static size_t get_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int perf_event_open(const struct perf_event_attr *attr, u32 cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int read_paranoid_level(void)
{
	char text[16] = "";
	ssize_t n;
	int fd;

	fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? atoi(text) : -1;
}

/*
 * Check the effective capabilities of this process. They are valid in the user namespace of this
 * process, but the kernel may require them in the initial one. So the result true is no guarantee.
 */
static bool has_capability(unsigned int capability)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !syscall(SYS_capget, &head, data) &&
	       (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability));
}

const char *perf_event_explain_open_error(void)
{
#define REFUSED(level)                                                                          \
	"perf_event_open is refused: kernel.perf_event_paranoid is " level " and this process " \
	"does not have CAP_PERFMON; run as root or lower it to 0"
/* Levels 3 and 4 exist only with a patch of Debian; CAP_PERFMON does not suffice for them. */
#define REFUSED_ALWAYS(level)                                                                    \
	"perf_event_open is refused: kernel.perf_event_paranoid is " level ", which needs "      \
	"CAP_SYS_ADMIN; lower it to 2 for a process with CAP_PERFMON, as speprofd.service has, " \
	"otherwise to 0"
	int level = read_paranoid_level();

	if (has_capability(CAP_SYS_ADMIN) ||
	    (has_capability(CAP_PERFMON) && (level == 1 || level == 2)))
		return "perf_event_open is refused by a security policy, although this process has "
		       "the capability for it: check for a container's seccomp filter "
		       "(Podman's needs CAP_SYS_ADMIN), a user namespace, or an LSM";
	switch (level) {
	case 1:
		return REFUSED("1");
	case 2:
		return REFUSED("2");
	case 3:
		return REFUSED_ALWAYS("3");
	case 4:
		return REFUSED_ALWAYS("4");
	default:
		return "perf_event_open is refused by a security policy, although "
		       "kernel.perf_event_paranoid allows it: check for a seccomp filter or an LSM";
	}
#undef REFUSED_ALWAYS
#undef REFUSED
}

const char *perf_event_explain_physical_error(void)
{
	if (has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN))
		return NULL;
	return "physical addresses need CAP_PERFMON, which this process does not have";
}

u64 perf_event_read_running_ns(int fd)
{
	/* The fields that read_format selects: the count of the event, then its running time. */
	u64 values[2];

	return read(fd, values, sizeof(values)) == sizeof(values) ? values[1] : 0;
}

bool perf_event_is_dead(int fd, u64 *ran_ns)
{
	u64 before = *ran_ns;

	*ran_ns = perf_event_read_running_ns(fd);
	return before && *ran_ns == before;
}

int perf_ring_map(struct perf_ring *ring, int fd, u64 size)
{
	void *map = mmap(NULL, get_page_size() + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	*ring = (struct perf_ring){
		.control = map,
		.data = (const u8 *)map + get_page_size(),
		.size = size,
	};
	return 0;
}

int perf_ring_open(struct perf_ring *ring, const struct perf_event_attr *records, u32 cpu, u64 size)
{
	struct perf_event_attr attr = *records;
	int fd, r;

	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.sample_id_all = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = (u32)size / 2;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	fd = perf_event_open(&attr, cpu);
	if (fd < 0)
		return fd;
	r = perf_ring_map(ring, fd, size);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

void perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->control)
		munmap(ring->control, get_page_size() + ring->size);
	*ring = (struct perf_ring){ 0 };
}
