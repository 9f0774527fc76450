// SPDX-License-Identifier: LGPL-2.1-or-later
/* Implement struct cost_driver for both drivers, and the clock. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cost.h"

/* ---- The clock --------------------------------------------------------------- */

#define TRAP "/sys/module/speprof_trap/parameters/"

void cost_pin_process(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	check(!sched_setaffinity(0, sizeof(set), &set));
}

/*
 * Return the time of an access without its emulation: the exception, and the path to
 * speprof_trap.ko.
 */
static uint64_t measure_exception_ns(void)
{
	static uint64_t known;
	unsigned long long ns = 0;
	FILE *file;

	if (known)
		return known;
	file = fopen(TRAP "exception_ns", "re");
	if (!file)
		return 0;
	check(fscanf(file, "%llu", &ns) == 1 && ns);
	fclose(file);
	known = ns;
	return known;
}

static void read_access_counters(struct cost_mark *mark)
{
	/* Measure this first, because the measurement itself accesses registers. */
	uint64_t exception = measure_exception_ns();
	FILE *file = fopen(TRAP "stats", "re");
	unsigned long long records, accesses, ns;
	char line[512];

	*mark = (struct cost_mark){ 0 };
	if (!file)
		return;
	/* The first line of the parameter is about CPU 0. */
	check(fgets(line, sizeof(line), file) && strstr(line, " accesses="));
	check(sscanf(strstr(line, " written="), " written=%llu", &records) == 1);
	check(sscanf(strstr(line, " accesses="), " accesses=%llu access_ns=%llu", &accesses, &ns) == 2);
	fclose(file);
	mark->records = records;
	mark->accesses = accesses;
	mark->access_ns = ns + accesses * exception;
}

struct cost_mark cost_mark_begin(void)
{
	struct cost_mark mark;

	read_access_counters(&mark);
	mark.ns = kclock_ns();
	return mark;
}

struct sampling_cost cost_since_mark(const struct cost_mark *mark, double count)
{
	uint64_t ns = kclock_ns() - mark->ns;
	struct cost_mark now;

	read_access_counters(&now);
	return (struct sampling_cost){
		.ns = ((double)ns - (double)(now.access_ns - mark->access_ns)) / count,
		.accesses = (double)(now.accesses - mark->accesses) / count,
		.records = (double)(now.records - mark->records) / count,
	};
}

/* ---- speprof.ko ----------------------------------------------------------------- */

static uint64_t module_count_windows(const struct cost_source *source)
{
	return kring_read_stats(&source->ring).windows;
}

static int module_open(const struct cost_request *request, struct cost_source *ret_source)
{
	struct speprof_session_config config = kmake_session_config();
	struct speprof_sampling sampling = kmake_sampling();
	int session;

	*ret_source = (struct cost_source){ .windows = module_count_windows };
	config.max_latency_ms = 0;
	config.watermark = request->watermark;
	sampling.flags = SPEPROF_SAMPLE_USER | (request->kernel ? SPEPROF_SAMPLE_KERNEL : 0);
	sampling.interval = request->interval;
	session = request->cgroup ? ksession_new_of_cgroups(config, request->cgroup, 1) :
				    ksession_new(&config);
	check(!ioctl(session, SPEPROF_SESSION_SAMPLE, &sampling), "%s", strerror(errno));
	kring_open(session, 0, &ret_source->ring);
	check(!ioctl(session, SPEPROF_SESSION_START, 0), "%s", strerror(errno));
	ret_source->fd = ret_source->ring.fd;
	ret_source->head = &ret_source->ring.control->head;
	ret_source->tail = &ret_source->ring.control->tail;
	ret_source->session = session;
	return 0;
}

static void module_close(struct cost_source *source)
{
	kring_close(&source->ring);
	close(source->session);
}

const struct cost_driver cost_ours = { module_open, module_close };

/* ---- arm_spe_pmu ----------------------------------------------------------------- */

#define PMU "/sys/bus/event_source/devices/arm_spe_0/"
#define DATA_PAGES 16
#define AUX_BYTES (1U << 20)

/* Each window is one PERF_RECORD_AUX. The few other records at the start do not matter. */
static uint64_t perf_count_windows(const struct cost_source *source)
{
	const struct perf_event_mmap_page *page = source->page;

	return page->data_head / 32;
}

static unsigned int read_pmu_type(void)
{
	FILE *file = fopen(PMU "type", "re");
	unsigned int type = 0;

	check(file && fscanf(file, "%u", &type) == 1, "arm_spe_pmu is not there");
	fclose(file);
	return type;
}

static int perf_open(const struct cost_request *request, struct cost_source *ret_source)
{
	struct perf_event_attr attr = {
		.type = read_pmu_type(),
		.size = sizeof(attr),
		.config = 1, /* ts_enable */
		.sample_period = request->interval,
		.exclude_kernel = !request->kernel,
		.exclude_hv = !request->kernel,
		.aux_watermark = request->watermark,
	};
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page;
	void *aux;
	int fd;

	fd = (int)syscall(SYS_perf_event_open, &attr, request->cgroup ? request->cgroup->fd : -1, 0, -1,
			  PERF_FLAG_FD_CLOEXEC | (request->cgroup ? PERF_FLAG_PID_CGROUP : 0));
	if (fd < 0 && errno == EBUSY)
		return -EBUSY;
	check(fd >= 0, "%s", strerror(errno));
	page = mmap(NULL, (1 + DATA_PAGES) * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(page != MAP_FAILED, "%s", strerror(errno));
	page->aux_offset = (1 + DATA_PAGES) * page_size;
	page->aux_size = AUX_BYTES;
	aux = mmap(NULL, AUX_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)page->aux_offset);
	check(aux != MAP_FAILED, "%s", strerror(errno));
	*ret_source = (struct cost_source){
		.fd = fd,
		.head = (volatile __u64 *)&page->aux_head,
		.tail = (volatile __u64 *)&page->aux_tail,
		.windows = perf_count_windows,
		.page = page,
		.aux = aux,
	};
	return 0;
}

static void perf_close(struct cost_source *source)
{
	munmap(source->aux, AUX_BYTES);
	munmap(source->page, (1 + DATA_PAGES) * (size_t)sysconf(_SC_PAGESIZE));
	close(source->fd);
}

const struct cost_driver cost_perf = { perf_open, perf_close };
