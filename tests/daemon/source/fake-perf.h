/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A simulated kernel for the source "perf": sysfs is a directory, and each event is a memfd that
 * contains the ring and the AUX area
 */
#ifndef SPEPROF_FAKE_PERF_H
#define SPEPROF_FAKE_PERF_H

#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "source/perf-aux.h"
#include "source/perf-pmu.h"

#define CPUS 4

/* The kernel's state of an event */
struct fake_event {
	struct perf_event_attr attr;
	u64 config3; /* config3, which the attribute of this build does not have */
	u64 config4;
	struct perf_event_mmap_page *control;
	u8 *ring;
	u8 *area;
	u32 open_count;
	u32 enables;
	u32 disables;
	u64 ran_ns;
	bool runs;
	int fd;
};

static struct {
	char folder[64];
	char devices[80];
	char cpus[80];
	struct fake_event events[CPUS];
	int refuse;
	u64 no_config; /* bits of config, config1 and config3 that the driver does not support */
	u64 no_config1;
	u64 no_config3;
	bool no_period; /* PERF_EVENT_IOC_PERIOD fails */
	bool no_enable; /* whether PERF_EVENT_IOC_ENABLE fails, except for CPU 0 */
} kernel;

static void spu_write_window(struct fake_event *e, u8 first, u64 size, u64 flags, u64 time);

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

static int fake_open(const struct perf_event_attr *attr, u32 cpu)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = page + perf_aux_ring_size(PERF_AUX_AREA_SIZE) + PERF_AUX_AREA_SIZE;
	struct fake_event *e = &kernel.events[cpu];
	u8 *map;
	int fd;

	if (kernel.refuse)
		return -kernel.refuse;
	if (attr->config & kernel.no_config || attr->config1 & kernel.no_config1 ||
	    (attr->size >= 136 && ((const u64 *)attr)[16] & kernel.no_config3))
		return -EOPNOTSUPP;
	fd = memfd_create("event", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	if (e->control)
		munmap(e->control, size);
	*e = (struct fake_event){
		.attr = *attr,
		.config3 = attr->size >= 136 ? ((const u64 *)attr)[16] : 0,
		.config4 = attr->size >= 144 ? ((const u64 *)attr)[17] : 0,
		.control = (void *)map,
		.ring = map + page,
		.area = map + page + perf_aux_ring_size(PERF_AUX_AREA_SIZE),
		.open_count = e->open_count + 1,
		.runs = true,
		.fd = fd,
	};
	return fd;
}

static int fake_enable(int fd, bool on)
{
	for (u32 i = 0; i < CPUS; i++) {
		if (kernel.events[i].fd != fd || !kernel.events[i].open_count)
			continue;
		if (on && i && kernel.no_enable)
			return -EIO;
		if (on)
			kernel.events[i].enables++;
		else
			kernel.events[i].disables++;
		return 0;
	}
	return -EBADF;
}

/* The driver stops the SPU, which has written data until then, and starts it again. */
static int fake_set_period(int fd, u64 period)
{
	for (u32 i = 0; i < CPUS; i++) {
		if (kernel.events[i].fd != fd || !kernel.events[i].open_count)
			continue;
		if (kernel.no_period)
			return -EOPNOTSUPP;
		spu_write_window(&kernel.events[i], 9, 64, 0, now_ns());
		kernel.events[i].attr.sample_period = period;
		return 0;
	}
	return -EBADF;
}

static int fake_add_to_epoll(int epoll, int fd)
{
	return epoll >= 0 && fd >= 0 ? 0 : -EBADF;
}

/* Return the time for which the event ran; each call returns a larger value. */
static u64 fake_read_ran_ns(int fd)
{
	for (u32 i = 0; i < CPUS; i++)
		if (kernel.events[i].fd == fd && kernel.events[i].open_count)
			return kernel.events[i].ran_ns += kernel.events[i].runs;
	return 0;
}

static const struct perf_host host = {
	.devices = kernel.devices,
	.cpus = kernel.cpus,
	.open = fake_open,
	.enable = fake_enable,
	.period = fake_set_period,
	.watch = fake_add_to_epoll,
	.ran_ns = fake_read_ran_ns,
};

static void write_file(const char *folder, const char *file, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void make_folder(const char *folder, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

/* Make sysfs files in the format of the kernel (drivers/perf/arm_spe_pmu.c, Documentation/ABI). */
static void make_pmu(const char *name, const char *type, const char *cpus)
{
	static const char *const formats[][2] = {
		{ "ts_enable", "config:0\n" },	     { "pa_enable", "config:1\n" },
		{ "jitter", "config:16\n" },	     { "branch_filter", "config:32\n" },
		{ "load_filter", "config:33\n" },    { "store_filter", "config:34\n" },
		{ "event_filter", "config1:0-63\n" }, { "min_latency", "config2:0-11\n" },
	};
	char folder[160], format[200];

	make_folder(kernel.devices, name);
	snprintf(folder, sizeof(folder), "%s/%s", kernel.devices, name);
	write_file(folder, "type", type);
	write_file(folder, "cpumask", cpus);
	make_folder(folder, "format");
	make_folder(folder, "caps");
	write_file(folder, "caps/min_interval", "1024\n");
	write_file(folder, "caps/arch_inst", "1\n");
	snprintf(format, sizeof(format), "%s/format", folder);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		write_file(format, formats[i][0], formats[i][1]);
}

static int setup(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	strcpy(kernel.folder, "/tmp/speprof-perf-XXXXXX");
	assert_non_null(mkdtemp(kernel.folder));
	snprintf(kernel.devices, sizeof(kernel.devices), "%s/devices", kernel.folder);
	snprintf(kernel.cpus, sizeof(kernel.cpus), "%s/cpu", kernel.folder);
	make_folder(kernel.folder, "devices");
	make_folder(kernel.folder, "cpu");
	make_folder(kernel.devices, "breakpoint");
	write_file(kernel.cpus, "online", "0-3\n");
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	for (u32 i = 0; i < CPUS; i++)
		if (kernel.events[i].control)
			munmap(kernel.events[i].control, (size_t)sysconf(_SC_PAGESIZE) +
			       perf_aux_ring_size(PERF_AUX_AREA_SIZE) + PERF_AUX_AREA_SIZE);
	snprintf(command, sizeof(command), "rm -rf %s", kernel.folder);
	return system(command);
}

static const struct source_config plain = {
	.interval_ns = 1000000, .jitter = true, .kernel = true, .user = true,
};

static struct source *open_perf_source(const struct source_config *config)
{
	struct source *source = NULL;
	const char *reason = "";
	int r = source_perf_new_with_host(&host, config, &source, &reason);

	if (r < 0)
		fail_msg("%s (%d)", reason, r);
	/* The source has checked that it can open its events, and opens them at the start. */
	assert_int_equal(source->locked_bytes, 0);
	for (u32 i = 0; i < CPUS; i++)
		kernel.events[i].open_count = 0;
	return source;
}

/* Start a source for one kind of core, on @cpus. */
static struct source *start_perf_source(const char *cpus)
{
	struct source *source;

	make_pmu("arm_spe_0", "9\n", cpus);
	source = open_perf_source(&plain);
	assert_int_equal(source->ops->start(source), 0);
	return source;
}

/* ---- Actions of the kernel ------------------------------------------------- */

static void ring_write(struct fake_event *e, const void *record, size_t size)
{
	const u8 *from = record;
	u64 head = e->control->data_head;

	for (size_t i = 0; i < size; i++)
		e->ring[(head + i) % perf_aux_ring_size(PERF_AUX_AREA_SIZE)] = from[i];
	e->control->data_head = head + size;
}

struct aux_record {
	struct perf_event_header header;
	u64 offset;
	u64 size;
	u64 flags;
	u64 time;
};

static void aux_record_write(struct fake_event *e, u64 offset, u64 size, u64 flags, u64 time)
{
	const struct aux_record record = {
		.header = { .type = PERF_RECORD_AUX, .size = sizeof(record) },
		.offset = offset, .size = size, .flags = flags, .time = time,
	};

	ring_write(e, &record, sizeof(record));
}

/* Write @size bytes that count up from @first, as a window that is reported at @time. */
static void spu_write_window(struct fake_event *e, u8 first, u64 size, u64 flags, u64 time)
{
	u64 at = e->control->aux_head;

	for (u64 i = 0; i < size; i++)
		e->area[(at + i) % PERF_AUX_AREA_SIZE] = (u8)(first + i);
	e->control->aux_head = at + size;
	aux_record_write(e, at, size, flags, time);
}

#endif
