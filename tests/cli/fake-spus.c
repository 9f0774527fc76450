// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A library for LD_PRELOAD: /dev/speprof has two SPUs that fail at their first write. Each reports
 * one suspect window, as after an External abort, and does not sample until STOP, which resets its
 * ring as in speprof.ko.
 */
#include <fcntl.h>
#include <linux/speprof.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPUS	    2
#define AREA	    65536
#define EVENT_SLOTS 64
#define RECORDS	    64 /* bytes */
#define ARMED_NS    1000000
#define ABORT	    ((0x24ULL << 26) | (1ULL << 17) | 0x10)

struct spu {
	int fd;
	int memory;
	struct speprof_control *control;
	struct speprof_event *events;
	struct speprof_window *window;
};

static struct spu spus[SPUS];
static int device = -1, session = -1;

static void *real_mmap(void *addr, size_t len, int protection, int flags, int fd, off64_t offset)
{
	return (void *)syscall(SYS_mmap, addr, len, protection, flags, fd, offset);
}

static struct spu *find_spu(int fd)
{
	for (int i = 0; i < SPUS; i++)
		if (fd > 0 && spus[i].fd == fd)
			return &spus[i];
	return NULL;
}

static void *spu_map(const struct spu *spu, off64_t offset)
{
	return real_mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_SHARED, spu->memory, offset);
}

static int ring_open(struct speprof_ring_open *ring)
{
	struct spu *spu = &spus[ring->cpu];

	spu->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	spu->memory = memfd_create("ring", MFD_CLOEXEC);
	if (spu->fd < 0 || spu->memory < 0 || ftruncate(spu->memory, SPEPROF_MMAP_DATA + AREA) < 0)
		return -1;
	spu->control = spu_map(spu, SPEPROF_MMAP_CONTROL);
	spu->events = spu_map(spu, SPEPROF_MMAP_EVENTS);
	spu->window = spu_map(spu, SPEPROF_MMAP_DATA);
	spu->control->magic = SPEPROF_CONTROL_MAGIC;
	ring->control_bytes = ring->event_bytes = ring->data_bytes = AREA;
	ring->event_slots = EVENT_SLOTS;
	return spu->fd;
}

static int spu_die(struct spu *spu, unsigned int cpu)
{
	const unsigned long long ready = 1;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	*spu->window = (struct speprof_window){
		.magic = SPEPROF_WINDOW_MAGIC,
		.header_size = sizeof(*spu->window),
		.kind = SPEPROF_WINDOW_RECORDS,
		.span = sizeof(*spu->window) + RECORDS,
		.data_size = RECORDS,
		.data_offset = sizeof(*spu->window),
		.flags = SPEPROF_WINDOW_FAULTED | SPEPROF_WINDOW_SUSPECT | SPEPROF_WINDOW_CAUSES,
		.cpu = cpu,
		.backend = SPEPROF_BACKEND_HARDWARE,
		.pmsver = 2,
		.clock = SPEPROF_CLOCK_MONOTONIC,
		.start_ns = 1000000000,
		.end_ns = 1000000000 + ARMED_NS,
		.armed_ns = ARMED_NS,
	};
	spu->events[0] = (struct speprof_event){
		.type = SPEPROF_EVENT_SYNDROME,
		.time_ns = (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec,
		.cpu = cpu,
		.syndrome = SPEPROF_SYNDROME_EXTERNAL_ASYNC,
		.action = SPEPROF_ACTION_STOP_CPU,
		.arg0 = ABORT,
	};
	spu->control->state = SPEPROF_RING_FAULTED;
	__atomic_store_n(&spu->control->head, spu->window->span, __ATOMIC_RELEASE);
	__atomic_store_n(&spu->control->event_head, 1, __ATOMIC_RELEASE);
	return write(spu->fd, &ready, sizeof(ready)) < 0 ? -1 : 0;
}

static int get_device_info(struct speprof_device_info *info)
{
	info->abi_version = SPEPROF_ABI_VERSION;
	info->cpus = SPUS;
	info->spus = SPUS;
	return 0;
}

static int get_cpu_info(struct speprof_cpu_info *info)
{
	info->backend = SPEPROF_BACKEND_HARDWARE;
	info->pmsver = 2;
	info->interval_max = 1 << 24;
	return 0;
}

static int handle_ioctl(unsigned long request, void *argument)
{
	switch (request) {
	case SPEPROF_DEVICE_INFO:
		return get_device_info(argument);
	case SPEPROF_CPU_INFO:
		return get_cpu_info(argument);
	case SPEPROF_SESSION_NEW:
		session = eventfd(0, EFD_CLOEXEC);
		return session;
	case SPEPROF_RING_OPEN:
		return ring_open(argument);
	case SPEPROF_SESSION_START:
		for (unsigned int i = 0; i < SPUS; i++)
			if (spu_die(&spus[i], i) < 0)
				return -1;
		return 0;
	case SPEPROF_SESSION_STOP:
		for (unsigned int i = 0; i < SPUS; i++)
			spus[i].control->state = SPEPROF_RING_IDLE;
		return 0;
	default:
		return 0;
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (_IOC_TYPE(request) == SPEPROF_IOC_MAGIC &&
	    (fd == device || fd == session || find_spu(fd)))
		return handle_ioctl(request, argument);
	return (int)syscall(SYS_ioctl, fd, request, argument);
}

int open64(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, int) : 0;
	va_end(args);
	if (strcmp(path, SPEPROF_DEVICE_PATH))
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	device = eventfd(0, EFD_CLOEXEC);
	return device;
}

void *mmap64(void *addr, size_t len, int protection, int flags, int fd, off64_t offset)
{
	const struct spu *spu = find_spu(fd);

	return real_mmap(addr, len, protection, flags, spu ? spu->memory : fd, offset);
}
