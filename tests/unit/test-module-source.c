// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the source asks of the module: open(2) and ioctl(2) are this program's, a session is a
 * number and a ring a memfd.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/speprof.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "source.h"

#define CPUS	 6
#define SPUS	 (CPUS - 1) /* CPU 0 has none */
#define PAGE	 65536
#define EVENTS	 64
#define DEVICE	 1000
#define SESSION	 1001
#define RING_END 256

/* What the module was asked for. */
static struct {
	struct speprof_session_config session;
	struct speprof_sampling sampling;
	u32 rings[RING_END]; /* their CPU, by descriptor; CPU 0: none */
	u32 stats;
	u32 infos;
} module;

/* As meson has all programs built: for large files. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event);

int __wrap_open64(const char *path, int flags, ...)
{
	return strcmp(path, SPEPROF_DEVICE_PATH) ? __real_open64(path, flags) : DEVICE;
}

int __wrap_close(int fd)
{
	if (fd >= 0 && fd < RING_END)
		module.rings[fd] = 0;
	return fd == DEVICE || fd == SESSION ? 0 : __real_close(fd);
}

/* A memfd cannot be polled. */
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	(void)op;
	(void)event;
	return epoll >= 0 && fd >= 0 ? 0 : -1;
}

static int ring_open(struct speprof_ring_open *open)
{
	const struct speprof_control control = { .magic = SPEPROF_CONTROL_MAGIC };
	int fd = memfd_create("ring", MFD_CLOEXEC);

	assert_in_range(fd, 0, RING_END - 1);
	assert_int_equal(ftruncate(fd, SPEPROF_MMAP_DATA + PAGE), 0);
	assert_int_equal(pwrite(fd, &control, sizeof(control), 0), sizeof(control));
	open->control_bytes = PAGE;
	open->event_bytes = PAGE;
	open->data_bytes = PAGE;
	open->event_slots = EVENTS;
	module.rings[fd] = open->cpu;
	return fd;
}

static int cpu_info(struct speprof_cpu_info *info)
{
	module.infos++;
	info->backend = info->cpu ? SPEPROF_BACKEND_HARDWARE : SPEPROF_BACKEND_NONE;
	info->midr = 0x410fd0c0;
	info->interval_max = 1 << 24;
	return 0;
}

static int sample(const struct speprof_sampling *sampling)
{
	const u32 rights = module.session.rights;

	if ((sampling->collect & SPEPROF_COLLECT_PHYSICAL_ADDRESS &&
	     !(rights & SPEPROF_RIGHT_PHYSICAL_ADDRESS)) ||
	    (sampling->collect & SPEPROF_COLLECT_CONTEXT && !(rights & SPEPROF_RIGHT_CONTEXT))) {
		errno = EPERM;
		return -1;
	}
	module.sampling = *sampling;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct speprof_ring_stats *stats;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	switch (request) {
	case SPEPROF_DEVICE_INFO:
		*(struct speprof_device_info *)arg = (struct speprof_device_info){
			.size = sizeof(struct speprof_device_info),
			.abi_version = SPEPROF_ABI_VERSION,
			.cpus = CPUS,
			.spus = SPUS,
		};
		return DEVICE;
	case SPEPROF_CPU_INFO:
		return cpu_info(arg);
	case SPEPROF_SESSION_NEW:
		module.session = *(const struct speprof_session_config *)arg;
		return SESSION;
	case SPEPROF_SESSION_SAMPLE:
		return sample(arg);
	case SPEPROF_RING_OPEN:
		return ring_open(arg);
	case SPEPROF_RING_STATS:
		module.stats++;
		assert_true(fd < RING_END && module.rings[fd]);
		stats = arg;
		stats->state = SPEPROF_RING_ARMED;
		stats->state_ns[SPEPROF_RING_ARMED] = module.rings[fd];
		return 0;
	default:
		return __real_ioctl(fd, request, arg);
	}
}

static const struct source_config plain = {
	.interval_ns = 1000000, .kernel = true, .user = true, .models = ""
};

static struct source *open_module(const struct source_config *config)
{
	struct source *source = NULL;
	const char *reason = "";

	if (source_module_new(config, false, &source, &reason) < 0)
		fail_msg("%s", reason);
	return source;
}

static void test_collect(void **state)
{
	static const struct {
		bool no_context;
		bool physical;
		u32 collect;
		u32 rights;
	} rows[] = {
		{ false, false, SPEPROF_COLLECT_CONTEXT, SPEPROF_RIGHT_CONTEXT },
		{ true, false, 0, 0 },
		{ false, true, SPEPROF_COLLECT_CONTEXT | SPEPROF_COLLECT_PHYSICAL_ADDRESS,
		  SPEPROF_RIGHT_CONTEXT | SPEPROF_RIGHT_PHYSICAL_ADDRESS },
		{ true, true, SPEPROF_COLLECT_PHYSICAL_ADDRESS, SPEPROF_RIGHT_PHYSICAL_ADDRESS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source_config config = plain;
		struct source *source;

		test_row("row %zu", i);
		config.no_context = rows[i].no_context;
		config.physical = rows[i].physical;
		source = open_module(&config);
		assert_row(module.sampling.collect ==
			   (SPEPROF_COLLECT_TIMESTAMP | rows[i].collect));
		assert_row(module.session.rights == (SPEPROF_RIGHT_KERNEL | rows[i].rights));
		source->ops->free(source);
	}
}

/* One that was kept without the right stays without. */
static void test_adopted(void **state)
{
	struct source_config config = plain;
	struct source *source = open_module(&config);
	const char *reason = "";

	(void)state;
	source->ops->free(source);
	config.physical = true;
	assert_int_equal(source_module_adopt(&config, false, SESSION, &source, &reason), -EPERM);
	config.physical = false;
	assert_int_equal(source_module_adopt(&config, false, SESSION, &source, &reason), 0);
	source->ops->free(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collect),
		cmocka_unit_test(test_adopted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
