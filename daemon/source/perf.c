// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The source for machines on which no module may be loaded: the kernel's own SPE driver. Each CPU
 * has an event of the PMU "arm_spe_N", with an AUX area.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "codec/registers.h"
#include "perf-aux.h"
#include "perf-pmu.h"
#include "util/time.h"

/*
 * Time between two checks for hotplug. If a CPU delivers no window for this time, its current
 * window is closed.
 */
#define FLUSH_NS 1000000000ULL
/* PMSIRR_EL1.INTERVAL has bits 31:8 of the period, in operations; the driver clears the others. */
#define INTERVAL_MASK  0xffffff00ULL
#define INTERVAL_MIN   256
/*
 * The kernel wakes the reader when an AUX area contains the records of 250 ms. A record is assumed
 * to have RECORD_SIZE bytes.
 */
#define RECORD_SIZE   64
#define WATERMARK_MIN 4096

/**
 * struct perf_missing_event - a CPU without an event
 * @since: start of the blind time that is not reported yet, ns; 0: the CPU has an event, is
 *	offline, or should not sample
 * @cause: why the CPU is blind
 * @offline: the CPU was offline at the last attempt to open an event
 */
struct perf_missing_event {
	u64 since;
	enum source_blind cause;
	bool offline;
};

struct perf_source {
	struct source source;
	struct source_config config;
	struct perf_host host;
	struct perf_pmu pmus[PERF_PMU_MAX];
	int pmu_count;
	int epoll;
	int timer;
	bool running;
	u64 checked_ns; /* time of the last check_cpu_hotplug() */
	struct source_tune *tunes; /* indexed by CPU; scale 0: not tuned */
	struct perf_missing_event *missing; /* indexed by CPU */
	u32 count; /* entries of each array: one more than the highest CPU with an SPU */
	struct perf_aux cpus[];
};

static struct perf_source *to_perf_source(struct source *source)
{
	return (struct perf_source *)source;
}

static struct perf_pmu *find_pmu(struct perf_source *p, u32 cpu)
{
	for (int i = 0; i < p->pmu_count && source_config_includes_cpu(&p->config, cpu); i++)
		if (cpu_list_has(&p->pmus[i].cpus, cpu))
			return &p->pmus[i];
	return NULL;
}

/* Return MIDR_EL1 of a CPU; 0 if the kernel does not provide it. */
static u64 read_midr(const struct perf_source *p, u32 cpu)
{
	char path[256], text[32] = "";
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/cpu%u/regs/identification/midr_el1", p->host.cpus, cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? strtoull(text, NULL, 16) : 0;
}

static u32 compute_area_size(const struct source_config *config)
{
	return config->ring_size ? config->ring_size : PERF_AUX_AREA_SIZE;
}

/* Return the bytes of kernel memory for the ring and the AUX area of one CPU. */
static u64 compute_cpu_locked_bytes(const struct source_config *config)
{
	return compute_area_size(config) + (u64)perf_aux_ring_size(compute_area_size(config));
}

static u32 compute_watermark(const struct source_config *config)
{
	u32 max = compute_area_size(config) / 4;
	u64 bytes = 250000000ULL / config->interval_ns * RECORD_SIZE;

	if (bytes < WATERMARK_MIN)
		return WATERMARK_MIN;
	return bytes > max ? max : (u32)bytes;
}

static int set_options(const struct perf_pmu *pmu, const struct source_config *c,
		       union perf_pmu_attr *attr)
{
	int r = perf_pmu_set_attr(pmu, PERF_PMU_TS_ENABLE, 1, attr);

	if (r >= 0)
		r = perf_pmu_set_attr(pmu, PERF_PMU_PA_ENABLE, c->physical, attr);
	return r < 0 ? r : perf_pmu_set_attr(pmu, PERF_PMU_JITTER, c->jitter, attr);
}

/*
 * Set the operation types and mask bits @pmsfcr. If they are not supported, return false and do not
 * change @attr.
 */
static bool set_type_filters(const struct perf_pmu *pmu, u64 pmsfcr, union perf_pmu_attr *attr)
{
	static const struct {
		u64 bit;
		enum perf_pmu_setting setting;
	} types[] = {
		{ SPE_PMSFCR_B, PERF_PMU_BRANCH_FILTER },
		{ SPE_PMSFCR_LD, PERF_PMU_LOAD_FILTER },
		{ SPE_PMSFCR_ST, PERF_PMU_STORE_FILTER },
		{ SPE_PMSFCR_FP, PERF_PMU_FLOAT_FILTER },
		{ SPE_PMSFCR_SIMD, PERF_PMU_SIMD_FILTER },
		{ SPE_PMSFCR_BM, PERF_PMU_BRANCH_FILTER_MASK },
		{ SPE_PMSFCR_LDM, PERF_PMU_LOAD_FILTER_MASK },
		{ SPE_PMSFCR_STM, PERF_PMU_STORE_FILTER_MASK },
		{ SPE_PMSFCR_FPM, PERF_PMU_FLOAT_FILTER_MASK },
		{ SPE_PMSFCR_SIMDM, PERF_PMU_SIMD_FILTER_MASK },
	};
	union perf_pmu_attr filtered = *attr;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (perf_pmu_set_attr(pmu, types[i].setting, !!(pmsfcr & types[i].bit), &filtered) <
		    0)
			return false;
	*attr = filtered;
	return true;
}

/* Set the filters that FEAT_SPE defines: all of them, or none if one is unsupported. */
static bool set_base_filters(const struct perf_pmu *pmu, const struct source_config *c,
			     union perf_pmu_attr *attr)
{
	union perf_pmu_attr filtered = *attr;

	if (pmu->refused & SOURCE_FILTERS_TYPES ||
	    !set_type_filters(pmu, c->filter_types, &filtered) ||
	    perf_pmu_set_attr(pmu, PERF_PMU_EVENT_FILTER, c->filter_events, &filtered) < 0 ||
	    perf_pmu_set_attr(pmu, PERF_PMU_MIN_LATENCY, c->filter_latency, &filtered) < 0)
		return false;
	*attr = filtered;
	return true;
}

/*
 * Set filter_types together with filter_masked. If they are not supported, return false and do not
 * change @attr.
 */
static bool set_masked_types(const struct perf_pmu *pmu, const struct source_config *c,
			     union perf_pmu_attr *attr)
{
	return !(pmu->refused & SOURCE_FILTERS_MASKED) &&
	       set_type_filters(pmu, source_filter_to_pmsfcr(c), attr);
}

static bool set_unless_refused(const struct perf_pmu *pmu, enum perf_pmu_setting setting, u8 filter,
			       u64 value, union perf_pmu_attr *attr)
{
	return !(pmu->refused & filter) && perf_pmu_set_attr(pmu, setting, value, attr) >= 0;
}

/*
 * Assume that all PMUs support the filters of @c. set_filters() clears the members of filters that
 * a PMU does not support.
 */
static void assume_all_filters(struct source *source, const struct source_config *c)
{
	source->filters = source_config_has_base_filter(c);
	source->filters_not = c->filter_events_not;
	source->filters_sources = c->filter_sources_not;
	source->filters_masked = c->filter_masked;
}

/* Set the filters. Those that only newer kernels and SPUs support are set one by one. */
static void set_filters(const struct perf_pmu *pmu, const struct source_config *c,
			union perf_pmu_attr *attr, struct source *source)
{
	struct source_config base = *c;

	if (c->filter_masked && set_masked_types(pmu, c, attr))
		base.filter_types = 0;
	else
		source->filters_masked = false;
	if (!set_base_filters(pmu, &base, attr))
		source->filters = false;
	if (!set_unless_refused(pmu, PERF_PMU_INV_EVENT_FILTER, SOURCE_FILTERS_EVENTS_NOT,
				c->filter_events_not, attr))
		source->filters_not = false;
	if (!set_unless_refused(pmu, PERF_PMU_INV_DATA_SRC_FILTER, SOURCE_FILTERS_SOURCES,
				c->filter_sources_not, attr))
		source->filters_sources = false;
}

/*
 * Handle EOPNOTSUPP: the driver refused an event although format/ has all of its settings. format/
 * does not show if the SPU has a filter, nor the events by which it can filter. Of the filters that
 * @c uses and that are not marked yet, mark as refused the one that the architecture added last.
 *
 * Return: false if there is none.
 */
static bool mark_filter_refused(struct perf_pmu *pmu, const struct source_config *c)
{
	const struct {
		bool wanted;
		u8 filters;
	} groups[] = {
		{ c->filter_sources_not, SOURCE_FILTERS_SOURCES },
		{ c->filter_masked, SOURCE_FILTERS_MASKED },
		{ c->filter_events_not, SOURCE_FILTERS_EVENTS_NOT },
		{ source_config_has_base_filter(c),
		  SOURCE_FILTERS_TYPES | SOURCE_FILTERS_LATENCY | SOURCE_FILTERS_EVENTS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		if (!groups[i].wanted || pmu->refused & groups[i].filters)
			continue;
		pmu->refused |= groups[i].filters;
		return true;
	}
	return false;
}

/* Round the interval as the driver does, because the driver does not report the result. */
static u64 clamp_interval(u64 interval)
{
	if (interval < INTERVAL_MIN)
		interval = INTERVAL_MIN;
	return interval > INTERVAL_MASK ? INTERVAL_MASK : interval & INTERVAL_MASK;
}

static u64 get_cpu_interval(const struct perf_source *p, u32 cpu)
{
	u64 interval = p->source.interval_ns;

	if (p->tunes[cpu].scale)
		interval = interval * p->tunes[cpu].scale / SOURCE_TUNE_ONE;
	return clamp_interval(interval);
}

/* Return the mean interval if PMSIRR_EL1.INTERVAL has the upper 24 bits of the period (D17.3.4). */
static u32 mean_interval(const struct perf_source *p, const struct perf_pmu *pmu, u32 cpu)
{
	return (u32)get_cpu_interval(p, cpu) + (p->config.jitter && !pmu->ernd ? 128 : 1);
}

static int open_event(struct perf_source *p, u32 cpu)
{
	const struct perf_pmu *pmu = find_pmu(p, cpu);
	union perf_pmu_attr attr = { .attr = {
					     .size = sizeof(struct perf_event_attr),
					     .type = pmu->type,
					     .sample_period = get_cpu_interval(p, cpu),
					     .sample_type = PERF_SAMPLE_TIME,
					     .read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
					     .sample_id_all = 1,
					     .disabled = 1,
					     .exclude_kernel = !p->config.kernel,
					     .exclude_user = !p->config.user,
					     .exclude_hv = !p->config.kernel,
					     .exclude_guest = 1,
					     .watermark = 1,
					     .wakeup_watermark = 1,
					     .aux_watermark = compute_watermark(&p->config),
					     .use_clockid = 1,
					     .clockid = CLOCK_MONOTONIC,
				     } };
	const struct source_window window = {
		.midr = read_midr(p, cpu),
		.cpu = cpu,
		.tid = -1,
		.interval = mean_interval(p, pmu, cpu),
		.unit = pmu->unit,
		.written = WINDOW_WRITTEN_UNKNOWN,
		.backend = BACKEND_HARDWARE,
	};
	int r;

	r = set_options(pmu, &p->config, &attr);
	set_filters(pmu, &p->config, &attr, &p->source);
	if (r < 0)
		return r;
	return perf_aux_open(&p->cpus[cpu], &p->host, &attr.attr, cpu,
			     compute_area_size(&p->config), &window, &p->source);
}

/*
 * If the driver refuses a filter, retry without it: the SPU then writes more records, and the
 * daemon filters them.
 */
static int open_event_with_retries(struct perf_source *p, u32 cpu)
{
	int r;

	do
		r = open_event(p, cpu);
	while (r == -EOPNOTSUPP && mark_filter_refused(find_pmu(p, cpu), &p->config));
	if (r < 0)
		return r;
	r = p->host.watch(p->epoll, p->cpus[cpu].fd);
	if (r < 0)
		perf_aux_close(&p->cpus[cpu]);
	else
		p->source.locked_bytes += compute_cpu_locked_bytes(&p->config);
	return r;
}

static const char *explain_open_error(const struct source_config *config, int error)
{
	const char *physical;

	switch (error) {
	case EACCES:
	case EPERM:
		physical = config->physical ? perf_event_explain_physical_error() : NULL;
		return physical ? physical : perf_event_explain_open_error();
	case EOPNOTSUPP:
		return "the kernel's SPE driver does not support timestamps, jitter or physical "
		       "addresses";
	case EMFILE:
	case ENFILE:
		return "perf_event_open needs one descriptor for each CPU, and the limit of open "
		       "files is reached (RLIMIT_NOFILE)";
	case ENOMEM:
		return "out of memory for the AUX areas";
	default:
		return "the kernel's SPE driver refused an event";
	}
}

static void set_no_event_reason(struct perf_source *p, u32 cpu, int error)
{
	char *reason = p->source.health.no_event_reason;

	if (error == EBUSY)
		snprintf(reason, sizeof(p->source.health.no_event_reason),
			 "CPU %u: its SPU is in use, by perf record -e arm_spe_0// or another "
			 "session",
			 cpu);
	else
		snprintf(reason, sizeof(p->source.health.no_event_reason), "CPU %u: %s: %s", cpu,
			 explain_open_error(&p->config, error), strerror(error));
}

/* Open the event of a CPU that should be online. On failure the CPU is blind from @since on. */
static int open_online_cpu(struct perf_source *p, u32 cpu, u64 since)
{
	int r = open_event_with_retries(p, cpu);

	p->missing[cpu] = (struct perf_missing_event){ .offline = r == -ENODEV };
	if (r >= 0 || r == -ENODEV)
		return r;
	p->missing[cpu].since = since;
	p->missing[cpu].cause = r == -EBUSY ? SOURCE_BLIND_HANDOVER : SOURCE_BLIND_UNKNOWN;
	set_no_event_reason(p, cpu, -r);
	return r;
}

/* Report the blind time now, because a CPU without an event may never have another window. */
static void report_missing_time(struct perf_source *p, u32 cpu, u64 now,
				const struct source_sink *sink)
{
	struct perf_missing_event *missing = &p->missing[cpu];

	if (missing->since && p->running && now > missing->since) {
		perf_aux_add_blind(&p->cpus[cpu], missing->cause, now - missing->since);
		missing->since = now;
	}
	perf_aux_report_pending(&p->cpus[cpu], sink);
}

static void count_cpus(struct perf_source *p)
{
	u32 open = 0, missing = 0;

	for (u32 cpu = 0; cpu < p->count; cpu++) {
		open += p->cpus[cpu].fd >= 0;
		missing += p->missing[cpu].since != 0;
	}
	__atomic_store_n(&p->source.cpus, open, __ATOMIC_RELAXED);
	p->source.health.cpus_stopped = missing;
	if (!missing)
		*p->source.health.no_event_reason = '\0';
}

static void close_event(struct perf_source *p, struct perf_aux *aux)
{
	epoll_ctl(p->epoll, EPOLL_CTL_DEL, aux->fd, NULL);
	perf_aux_close(aux);
	p->source.locked_bytes -= compute_cpu_locked_bytes(&p->config);
}

static void close_events(struct perf_source *p)
{
	for (u32 cpu = 0; cpu < p->count; cpu++)
		if (p->cpus[cpu].fd >= 0)
			close_event(p, &p->cpus[cpu]);
}

/* Deliver the windows of the event, and close it. */
static void drain_and_close_event(struct perf_source *p, struct perf_aux *aux,
				  const struct source_sink *sink)
{
	perf_aux_drain(aux, sink);
	close_event(p, aux);
}

/*
 * Replace the event with a new one that has the current configuration. The CPU is blind from
 * @since, or from the end of its last window if that is later.
 */
static void reopen_cpu(struct perf_source *p, u32 cpu, u64 since, enum source_blind cause,
		       const struct source_sink *sink)
{
	struct perf_aux *aux = &p->cpus[cpu];
	u64 now;

	perf_aux_stop(aux);
	drain_and_close_event(p, aux, sink);
	now = time_now_ns();
	since = since > aux->armed_from ? since : aux->armed_from;
	perf_aux_add_blind(aux, cause, p->running && now > since ? now - since : 0);
	perf_aux_report_pending(aux, sink);
	if (open_online_cpu(p, cpu, now) >= 0 && p->running)
		perf_aux_start(aux);
}

/* Try again to open an event for a CPU that has none. */
static void retry_open_cpu(struct perf_source *p, u32 cpu, const struct source_sink *sink)
{
	u64 now = time_now_ns();

	report_missing_time(p, cpu, now, sink);
	if (open_online_cpu(p, cpu, now) >= 0)
		perf_aux_start(&p->cpus[cpu]);
}

/* Close the events of CPUs that went offline, and open events for those that came online. */
static void check_cpu_hotplug(struct perf_source *p, const struct source_sink *sink)
{
	struct cpu_list online = { 0 };
	char path[256];

	snprintf(path, sizeof(path), "%s/online", p->host.cpus);
	if (cpu_list_read(path, &online) < 0)
		return;
	for (u32 cpu = 0; cpu < p->count; cpu++) {
		struct perf_aux *aux = &p->cpus[cpu];

		if (!find_pmu(p, cpu))
			continue;
		if (!cpu_list_has(&online, cpu)) {
			if (aux->fd >= 0)
				drain_and_close_event(p, aux, sink);
			p->missing[cpu] = (struct perf_missing_event){ .offline = true };
			perf_aux_report_pending(aux, sink);
		} else if (aux->fd < 0) {
			retry_open_cpu(p, cpu, sink);
		} else if (perf_aux_is_dead(aux)) {
			reopen_cpu(p, cpu, 0, SOURCE_BLIND_HOTPLUG, sink);
		}
	}
	count_cpus(p);
}

/*
 * Set the period of the timer in ns; 0 stops it. The timer is needed because a CPU that writes few
 * records never reaches aux_watermark.
 */
static void set_timer(const struct perf_source *p, u64 ns)
{
	const struct timespec every = { .tv_sec = (time_t)(ns / 1000000000ULL),
					.tv_nsec = (long)(ns % 1000000000ULL) };

	timerfd_settime(p->timer, 0,
			&(struct itimerspec){ .it_value = every, .it_interval = every }, NULL);
}

/*
 * Open events for the CPUs that have none. check_cpu_hotplug() retries CPUs that are offline, and
 * CPUs with an SPU that is in use.
 */
static int open_cpus(struct perf_source *p, const char **ret_reason)
{
	u64 now = time_now_ns();
	int r;

	for (u32 cpu = 0; cpu < p->count; cpu++) {
		if (!find_pmu(p, cpu) || p->cpus[cpu].fd >= 0)
			continue;
		r = open_online_cpu(p, cpu, now);
		if (r < 0 && r != -ENODEV && r != -EBUSY) {
			*ret_reason = explain_open_error(&p->config, -r);
			return r;
		}
	}
	count_cpus(p);
	return 0;
}

static int start_cpus(struct perf_source *p)
{
	int r = 0;

	for (u32 cpu = 0; cpu < p->count && r >= 0; cpu++)
		if (p->cpus[cpu].fd >= 0)
			r = perf_aux_start(&p->cpus[cpu]);
	return r;
}

/*
 * An event uses its SPU exclusively even while it is disabled. So events are open only from the
 * start to the drain after the stop.
 */
static int perf_start(struct source *source)
{
	struct perf_source *p = to_perf_source(source);
	const char *reason;
	int r = open_cpus(p, &reason);

	if (r >= 0)
		r = start_cpus(p);
	if (r < 0)
		close_events(p);
	p->running = r >= 0;
	p->checked_ns = time_now_ns();
	set_timer(p, p->running ? FLUSH_NS : 0);
	return r;
}

static void perf_stop(struct source *source)
{
	struct perf_source *p = to_perf_source(source);
	u64 now = time_now_ns();

	for (u32 cpu = 0; cpu < p->count; cpu++) {
		struct perf_missing_event *missing = &p->missing[cpu];

		perf_aux_stop(&p->cpus[cpu]);
		if (missing->since && p->running && now > missing->since)
			perf_aux_add_blind(&p->cpus[cpu], missing->cause, now - missing->since);
		missing->since = 0;
	}
	p->source.health.cpus_stopped = 0;
	*p->source.health.no_event_reason = '\0';
	p->running = false;
	set_timer(p, 0);
}

static int perf_get_fd(struct source *source)
{
	return to_perf_source(source)->epoll;
}

static void clear_readiness(struct perf_source *p)
{
	struct epoll_event events[64];
	u64 expirations;

	(void)!epoll_wait(p->epoll, events, ARRAY_SIZE(events), 0);
	(void)!read(p->timer, &expirations, sizeof(expirations));
}

static bool has_elapsed(u64 since, u64 ns, u64 now)
{
	return now > since && now - since >= ns;
}

/*
 * Return true if the window of a CPU must be closed. Closing a window costs an interrupt, so it is
 * done only if the CPU delivered none for FLUSH_NS, and only once for each expiry of the timer.
 */
static bool needs_flush(const struct perf_aux *aux, u64 now)
{
	return has_elapsed(aux->armed_from, FLUSH_NS, now) &&
	       has_elapsed(aux->flushed_at, FLUSH_NS / 2, now);
}

static void drain_cpu(struct perf_source *p, u32 cpu, u64 now, const struct source_sink *sink)
{
	struct perf_aux *aux = &p->cpus[cpu];
	int r;

	if (aux->fd >= 0 && !p->running)
		drain_and_close_event(p, aux, sink);
	if (aux->fd < 0) {
		perf_aux_report_pending(aux, sink);
		return;
	}
	r = perf_aux_drain(aux, sink);
	if (r == 0 && needs_flush(aux, now))
		r = perf_aux_flush(aux, sink);
	/* The start of the blind time is unknown: see drop_undescribed_bytes() in perf-aux.c. */
	if (r < 0)
		reopen_cpu(p, cpu, 0, SOURCE_BLIND_HOTPLUG, sink);
	else if (aux->stale)
		reopen_cpu(p, cpu, time_now_ns(), SOURCE_BLIND_HANDLING, sink);
}

static int perf_drain(struct source *source, const struct source_sink *sink)
{
	struct perf_source *p = to_perf_source(source);
	u64 now = time_now_ns();

	clear_readiness(p);
	for (u32 cpu = 0; cpu < p->count; cpu++)
		drain_cpu(p, cpu, now, sink);
	if (p->running && now - p->checked_ns >= FLUSH_NS) {
		check_cpu_hotplug(p, sink);
		p->checked_ns = now;
	}
	return 0;
}

static int perf_describe_cpu(struct source *source, u32 cpu, struct source_cpu *ret_cpu)
{
	struct perf_source *p = to_perf_source(source);

	if (cpu >= p->count || !find_pmu(p, cpu))
		return -ENOENT;
	*ret_cpu = (struct source_cpu){
		.cpu = cpu,
		.midr = read_midr(p, cpu),
		.filters = perf_pmu_get_filters(find_pmu(p, cpu)),
		.filter_events = find_pmu(p, cpu)->events,
		.interval_min = find_pmu(p, cpu)->interval_min,
		.interval_ns = get_cpu_interval(p, cpu),
		.state = p->missing[cpu].since	 ? "waiting" :
			 p->missing[cpu].offline ? "offline" :
			 p->running		 ? "sampling" :
						   "stopped",
	};
	return 0;
}

static void perf_free(struct source *source)
{
	struct perf_source *p = to_perf_source(source);

	for (u32 cpu = 0; cpu < p->count; cpu++)
		perf_aux_close(&p->cpus[cpu]);
	if (p->timer >= 0)
		close(p->timer);
	if (p->epoll >= 0)
		close(p->epoll);
	free(p->missing);
	free(p->tunes);
	free(p);
}

/* If the driver cannot change the period of an event, open a new event. */
static int perf_tune(struct source *source, const struct source_tune *tune)
{
	struct perf_source *p = to_perf_source(source);
	const struct perf_pmu *pmu = find_pmu(p, tune->cpu);
	struct perf_aux *aux;
	u64 before;

	if (tune->cpu >= p->count || !pmu)
		return -ENOENT;
	aux = &p->cpus[tune->cpu];
	before = get_cpu_interval(p, tune->cpu);
	p->tunes[tune->cpu] = *tune;
	if (get_cpu_interval(p, tune->cpu) == before || aux->fd < 0)
		return 0;
	if (perf_aux_set_period(aux, get_cpu_interval(p, tune->cpu),
				mean_interval(p, pmu, tune->cpu)) < 0)
		aux->stale = true;
	return 0;
}

/*
 * Return the interval of a new source. Each operation is assumed to take 1 ns, as with the module.
 */
static u64 compute_initial_interval(const struct perf_pmu *pmus, int count,
				    const struct source_config *config)
{
	u64 interval = config->interval_ns;

	for (int i = 0; i < count; i++)
		if (interval < pmus[i].interval_min)
			interval = pmus[i].interval_min;
	return clamp_interval(interval);
}

/* The attributes of an open event cannot change, so the next drain replaces the events. */
static int perf_configure(struct source *source, const struct source_config *config,
			  const char **ret_reason __attribute__((unused)))
{
	struct perf_source *p = to_perf_source(source);
	union perf_pmu_attr attr = { 0 };
	u32 ring_size;

	/* Keep the ring size, because the size of existing AUX areas cannot change. */
	ring_size = p->config.ring_size;
	p->config = *config;
	p->config.ring_size = ring_size;
	source->interval_ns = compute_initial_interval(p->pmus, p->pmu_count, config);
	assume_all_filters(source, config);
	for (int i = 0; i < p->pmu_count; i++) {
		p->pmus[i].refused = 0;
		set_filters(&p->pmus[i], config, &attr, source);
	}
	for (u32 cpu = 0; cpu < p->count; cpu++)
		p->cpus[cpu].stale = true;
	return 0;
}

static const struct source_ops perf_ops = {
	.name = "perf",
	.start = perf_start,
	.fd = perf_get_fd,
	.drain = perf_drain,
	.stop = perf_stop,
	.free = perf_free,
	.cpu = perf_describe_cpu,
	.configure = perf_configure,
	.tune = perf_tune,
};

/* Check that events can be opened now, because perf_start() cannot return a reason. */
static int check_events_can_open(struct perf_source *p, const char **ret_reason)
{
	int r = open_cpus(p, ret_reason);

	close_events(p);
	if (r < 0)
		return r;
	/* A partition may have no CPU yet. */
	if (!p->source.cpus && !p->source.health.cpus_stopped && p->config.partitions < 2) {
		*ret_reason = "no CPU with an SPU is online";
		return -ENODEV;
	}
	return 0;
}

static struct perf_source *perf_new(const struct source_config *config,
				    const struct perf_host *host, const struct perf_pmu *pmus,
				    int count)
{
	struct source_tune *tunes;
	struct perf_source *p;
	struct perf_missing_event *missing;
	u32 cpus = 0, end;

	for (int i = 0; i < count; i++) {
		end = cpu_list_get_end(&pmus[i].cpus);
		cpus = end > cpus ? end : cpus;
	}
	p = calloc(1, sizeof(*p) + cpus * sizeof(p->cpus[0]));
	tunes = calloc(cpus + 1ULL, sizeof(*tunes));
	missing = calloc(cpus + 1ULL, sizeof(*missing));
	if (!p || !tunes || !missing) {
		free(p);
		free(tunes);
		free(missing);
		return NULL;
	}
	p->source = (struct source){
		.ops = &perf_ops,
		.method = "AUX areas",
		.backend = BACKEND_HARDWARE,
		.interval_ns = compute_initial_interval(pmus, count, config),
	};
	assume_all_filters(&p->source, config);
	p->config = *config;
	p->host = *host;
	memcpy(p->pmus, pmus, sizeof(p->pmus));
	p->pmu_count = count;
	p->count = cpus;
	p->source.cpu_end = cpus;
	p->tunes = tunes;
	p->missing = missing;
	for (u32 cpu = 0; cpu < cpus; cpu++)
		p->cpus[cpu].fd = -1;
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return p;
}

static int watch_timer(const struct perf_source *p)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (p->epoll < 0 || p->timer < 0)
		return -EMFILE;
	return epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->timer, &event) < 0 ? -errno : 0;
}

int source_perf_new_with_host(const struct perf_host *host, const struct source_config *config,
			      struct source **ret_source, const char **ret_reason)
{
	struct perf_pmu pmus[PERF_PMU_MAX] = { 0 };
	struct perf_source *p;
	int count, r;

	count = perf_pmu_read_all(host->devices, pmus);
	if (count <= 0) {
		*ret_reason = count ? "the description of arm_spe_0 in sysfs could not be read" :
				      "the kernel drives no SPU (no arm_spe_0 in sysfs)";
		return count ?: -ENOENT;
	}
	*ret_reason = "out of memory";
	p = perf_new(config, host, pmus, count);
	if (!p)
		return -ENOMEM;
	r = watch_timer(p);
	if (r >= 0)
		r = check_events_can_open(p, ret_reason);
	if (r < 0) {
		perf_free(&p->source);
		return r;
	}
	/* Documentation/howto/without-the-module.md explains these limits. */
	snprintf(p->source.reason, sizeof(p->source.reason),
		 "faults are reported in the kernel's log only, an SPU stops while its AUX area "
		 "is full, and hardware cannot filter by container");
	*ret_source = &p->source;
	return 0;
}

int source_perf_new(const struct source_config *config, struct source **ret_source,
		    const char **ret_reason)
{
	return source_perf_new_with_host(&perf_host_real, config, ret_source, ret_reason);
}
