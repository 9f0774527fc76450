// SPDX-License-Identifier: LGPL-2.1-or-later
/* The source that reads the rings of a session of /dev/speprof. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "codec/registers.h"
#include "module-cgroups.h"
#include "module-ring.h"
#include "ring-watch.h"

/*
 * Space for the records of some seconds at the default rate, so that a late reader loses nothing.
 */
#define RING_SIZE      (256 * 1024)
#define EVENT_SLOTS    64
#define MAX_LATENCY_MS 250

/**
 * struct module_source - a session of the module
 * @device: /dev/speprof
 * @session: the session
 * @watch: waits for the rings
 * @ring_fds: the descriptors in @watch
 * @rings: the rings, in order of their CPUs
 * @infos: descriptions of the CPUs, indexed by ring
 * @tunes: settings of single CPUs, indexed by ring; scale 0: not tuned
 * @stats: the last statistics, indexed by ring; size 0: not read yet
 * @ring_count: number of rings
 * @partition: see &struct source_config
 * @partitions: see &struct source_config
 * @interval_min: the smallest interval that all SPUs accept, in operations
 * @interval_max: the largest interval that all SPUs accept, in operations
 */
struct module_source {
	struct source source;
	int device;
	int session;
	struct ring_watch watch;
	int *ring_fds;
	struct module_ring *rings;
	struct speprof_cpu_info *infos;
	struct source_tune *tunes;
	struct speprof_ring_stats *stats;
	u32 ring_count;
	u32 partition;
	u32 partitions;
	u64 interval_min;
	u64 interval_max;
};

static struct module_source *to_module_source(struct source *source)
{
	return (struct module_source *)source;
}

/* Return the index of the ring of @cpu; -ENOENT if the session has no such ring. */
static int find_ring(const struct module_source *m, u32 cpu)
{
	for (u32 i = 0; i < m->ring_count; i++)
		if (m->rings[i].cpu == cpu)
			return (int)i;
	return -ENOENT;
}

static int watch_rings(struct module_source *m, bool uring)
{
	int r;

	m->ring_fds = calloc(m->ring_count, sizeof(*m->ring_fds));
	if (!m->ring_fds)
		return -ENOMEM;
	for (u32 i = 0; i < m->ring_count; i++)
		m->ring_fds[i] = m->rings[i].fd;
	r = ring_watch_init(&m->watch, m->ring_fds, m->ring_count, uring);
	m->source.method = m->watch.uring ? "io_uring" : "epoll";
	return r;
}

static int module_start(struct source *source)
{
	return ioctl(to_module_source(source)->session, SPEPROF_SESSION_START, 0) < 0 ? -errno : 0;
}

static void module_stop(struct source *source)
{
	(void)!ioctl(to_module_source(source)->session, SPEPROF_SESSION_STOP, 0);
}

static int module_get_fd(struct source *source)
{
	struct module_source *m = to_module_source(source);

	return ring_watch_fd(&m->watch);
}

static int module_drain(struct source *source, const struct source_sink *sink)
{
	struct module_source *m = to_module_source(source);
	int r, ring_error;

	/*
	 * Clear the notification before reading the rings, so that data which the module writes
	 * during the read notifies the reader again.
	 */
	r = ring_watch_clear(&m->watch);
	for (u32 i = 0; i < m->ring_count; i++) {
		ring_error = module_ring_drain(&m->rings[i], sink, &source->health);
		if (ring_error < 0)
			r = ring_error;
	}
	return r < 0 ? r : 0;
}

static u32 pmsfcr_get_types(u64 filter)
{
	return (filter & SPE_PMSFCR_B ? SPEPROF_TYPE_BRANCH : 0) |
	       (filter & SPE_PMSFCR_LD ? SPEPROF_TYPE_LOAD : 0) |
	       (filter & SPE_PMSFCR_ST ? SPEPROF_TYPE_STORE : 0);
}

/* Check that all SPUs of the session have @features of PMSIDR_EL1. */
static bool all_spus_have_features(const struct module_source *m, u64 features)
{
	for (u32 i = 0; i < m->ring_count; i++)
		if (~m->infos[i].pmsidr & features)
			return false;
	return true;
}

/*
 * Check that the records of all CPUs have the TID of their task. An older module does not report
 * this.
 */
static bool all_cpus_have_context(const struct module_source *m)
{
	for (u32 i = 0; i < m->ring_count; i++)
		if (!(m->infos[i].flags & SPEPROF_CPU_CONTEXT))
			return false;
	return true;
}

/*
 * Configure the session. Retry without the filters that the module or an SPU does not support, the
 * newest feature first.
 */
static int apply_sampling(struct module_source *m, struct speprof_sampling *sampling)
{
	if (ioctl(m->session, SPEPROF_SESSION_SAMPLE, sampling) >= 0)
		return 0;
	if (errno == E2BIG && m->source.filters_sources) {
		m->source.filters_sources = false;
		sampling->sources_not = 0;
		if (ioctl(m->session, SPEPROF_SESSION_SAMPLE, sampling) >= 0)
			return 0;
	}
	if (errno == EOPNOTSUPP && m->source.filters_not) {
		m->source.filters_not = false;
		sampling->events_not = 0;
		if (ioctl(m->session, SPEPROF_SESSION_SAMPLE, sampling) >= 0)
			return 0;
	}
	if (errno != EOPNOTSUPP || !m->source.filters)
		return -errno;
	m->source.filters = false;
	sampling->types = 0;
	sampling->events = 0;
	sampling->min_latency = 0;
	return ioctl(m->session, SPEPROF_SESSION_SAMPLE, sampling) < 0 ? -errno : 0;
}

static int set_sampling(struct module_source *m, const struct source_config *config, u64 interval,
			const char **ret_reason)
{
	struct speprof_sampling sampling = {
		.size = sizeof(sampling),
		.flags = (config->user ? SPEPROF_SAMPLE_USER : 0) |
			 (config->kernel ? SPEPROF_SAMPLE_KERNEL : 0) |
			 (config->jitter ? SPEPROF_SAMPLE_JITTER : 0),
		.interval = interval,
		.collect =
			SPEPROF_COLLECT_TIMESTAMP |
			(m->source.contexts == SOURCE_CONTEXTS_ALL ? SPEPROF_COLLECT_CONTEXT : 0) |
			(config->physical ? SPEPROF_COLLECT_PHYSICAL_ADDRESS : 0),
		.types = pmsfcr_get_types(config->filter_types),
		.events = config->filter_events,
		.events_not = config->filter_events_not,
		.min_latency = config->filter_latency,
		.sources_not =
			all_spus_have_features(m, SPE_PMSIDR_FDS) ? config->filter_sources_not : 0,
	};
	int r;

	m->source.filters = source_config_has_base_filter(config);
	m->source.filters_not = sampling.events_not;
	m->source.filters_sources = sampling.sources_not;
	r = apply_sampling(m, &sampling);
	if (r < 0)
		*ret_reason = r == -EAGAIN ?
				      "the module limits how often the sampling of a session may "
				      "change: try again in a second" :
				      "the module refused the sampling configuration";
	return r;
}

/*
 * Set the cgroups. A session is created either for selected cgroups or for all tasks, and cannot
 * change between the two.
 */
static int set_cgroups(struct module_source *m, const struct source_config *config,
		       const char **ret_reason)
{
	char *const *paths = config->cgroups;
	struct module_cgroups cgroups;
	int r;

	if (!m->source.cgroups)
		return 0;
	if (!paths || !*paths) {
		*ret_reason = "a session that was created for cgroups needs at least one";
		return -EOPNOTSUPP;
	}
	r = module_cgroups_open(paths, config->skip_missing_cgroups, &cgroups, ret_reason);
	if (r < 0)
		return r;
	r = module_cgroups_replace(m->session, &cgroups);
	if (r < 0)
		*ret_reason = r == -EAGAIN     ? "the module limits how often cgroups may change: "
						 "retry in a second" :
			      r == -EBUSY      ? "another session samples one of the cgroups" :
			      r == -EOPNOTSUPP ? "the session was not created for cgroups" :
						 "the module refused the cgroups";
	module_cgroups_close(&cgroups);
	return r;
}

static u64 clamp_interval(const struct module_source *m, u64 interval)
{
	if (interval < m->interval_min)
		return m->interval_min;
	return interval > m->interval_max ? m->interval_max : interval;
}

static u64 get_ring_interval(const struct module_source *m, u32 ring)
{
	u64 scale = m->tunes[ring].scale ? m->tunes[ring].scale : SOURCE_TUNE_ONE;

	return clamp_interval(m, m->source.interval_ns * scale / SOURCE_TUNE_ONE);
}

static int tune_ring(struct module_source *m, u32 ring)
{
	const struct source_tune *t = &m->tunes[ring];
	struct speprof_tune tune = {
		.size = sizeof(tune),
		.cpu = t->cpu,
		.interval = get_ring_interval(m, ring),
		.throttle_interrupts = t->interrupts,
		.throttle_bytes = t->bytes,
	};

	if (!t->scale || ioctl(m->session, SPEPROF_SESSION_TUNE, &tune) >= 0)
		return 0;
	/* An older module has no SPEPROF_SESSION_TUNE. */
	return errno == ENOTTY ? -EOPNOTSUPP : -errno;
}

static int module_tune(struct source *source, const struct source_tune *tune)
{
	struct module_source *m = to_module_source(source);
	int ring = find_ring(m, tune->cpu), r;
	struct source_tune before;

	if (ring < 0)
		return ring;
	before = m->tunes[ring];
	m->tunes[ring] = *tune;
	r = tune_ring(m, (u32)ring);
	if (r < 0)
		m->tunes[ring] = before;
	return r;
}

static int module_configure(struct source *source, const struct source_config *config,
			    const char **ret_reason)
{
	struct module_source *m = to_module_source(source);
	u64 interval = clamp_interval(m, config->interval_ns);
	const struct source before = *source;
	int r;

	r = set_cgroups(m, config, ret_reason);
	if (r < 0)
		return r;
	r = set_sampling(m, config, interval, ret_reason);
	if (r < 0) {
		source->filters = before.filters;
		source->filters_not = before.filters_not;
		source->filters_sources = before.filters_sources;
		return r;
	}
	source->interval_ns = interval;
	/*
	 * SPEPROF_SESSION_SAMPLE has reset the intervals of all CPUs, so set them again. A CPU that
	 * refuses its own interval keeps the common one.
	 */
	for (u32 i = 0; i < m->ring_count; i++)
		if (tune_ring(m, i) < 0)
			m->tunes[i].scale = 0;
	return 0;
}

/*
 * SPEPROF_RING_STATS interrupts the CPU, so the module limits its rate. If the limit is exceeded,
 * use the last statistics, which are at most some 10 ms old.
 */
static int read_ring_stats(const struct module_source *m, u32 ring,
			   struct speprof_ring_stats *ret_stats)
{
	struct speprof_ring_stats stats = { .size = sizeof(stats) };
	int r = ioctl(m->rings[ring].fd, SPEPROF_RING_STATS, &stats) < 0 ? -errno : 0;

	if (r < 0 && (r != -EAGAIN || !m->stats[ring].size))
		return r;
	if (r >= 0)
		m->stats[ring] = stats;
	*ret_stats = m->stats[ring];
	return 0;
}

static int module_describe_cpu(struct source *source, u32 cpu, struct source_cpu *ret_cpu)
{
	static const char *const states[] = {
		[SPEPROF_RING_IDLE] = "stopped",	[SPEPROF_RING_OFFLINE] = "offline",
		[SPEPROF_RING_ARMED] = "sampling",	[SPEPROF_RING_HANDLING] = "sampling",
		[SPEPROF_RING_FULL] = "full",		[SPEPROF_RING_FAULTED] = "faulted",
		[SPEPROF_RING_THROTTLED] = "throttled", [SPEPROF_RING_HANDOVER] = "waiting",
		[SPEPROF_RING_PARKED] = "parked",
	};
	struct module_source *m = to_module_source(source);
	const struct speprof_cpu_info *info;
	struct speprof_ring_stats stats;
	int ring = find_ring(m, cpu), r;

	if (ring < 0)
		return ring;
	r = read_ring_stats(m, (u32)ring, &stats);
	if (r < 0)
		return r;
	info = &m->infos[ring];
	*ret_cpu = (struct source_cpu){
		.cpu = cpu,
		.midr = info->midr,
		.pmsver = (u8)info->pmsver,
		/* The ABI of the module has no mask bits of types. */
		.filters = source_filters_from_pmsidr(info->pmsidr & ~SPE_PMSIDR_EFT),
		.filter_events = info->events,
		.interval_min = info->interval_min,
		.interval_ns = get_ring_interval(m, (u32)ring),
		.throttle_interrupts = m->tunes[ring].interrupts,
		.throttle_bytes = m->tunes[ring].bytes,
		.state = stats.state < ARRAY_SIZE(states) ? states[stats.state] : "unknown",
		.has_time_ledger = true,
		.armed_ns = stats.state_ns[SPEPROF_RING_ARMED],
		.blind_ns = {
			[SOURCE_BLIND_FULL] = stats.state_ns[SPEPROF_RING_FULL],
			[SOURCE_BLIND_HANDLING] = stats.state_ns[SPEPROF_RING_HANDLING],
			[SOURCE_BLIND_THROTTLE] = stats.state_ns[SPEPROF_RING_THROTTLED],
			[SOURCE_BLIND_HANDOVER] = stats.state_ns[SPEPROF_RING_HANDOVER],
			[SOURCE_BLIND_FAULT] = stats.state_ns[SPEPROF_RING_FAULTED],
		},
	};
	return 0;
}

static void module_free(struct source *source)
{
	struct module_source *m = to_module_source(source);

	ring_watch_deinit(&m->watch);
	free(m->ring_fds);
	for (u32 i = 0; i < m->ring_count; i++)
		module_ring_deinit(&m->rings[i]);
	free(m->rings);
	free(m->infos);
	free(m->tunes);
	free(m->stats);
	if (m->session >= 0)
		close(m->session);
	if (m->device >= 0)
		close(m->device);
	free(m);
}

static int module_get_session_fd(const struct source *source)
{
	return ((const struct module_source *)source)->session;
}

static void module_defer_release(struct source *source, bool spill)
{
	struct module_source *m = to_module_source(source);

	for (u32 i = 0; i < m->ring_count; i++) {
		m->rings[i].deferred = true;
		m->rings[i].spills = spill;
	}
}

static u32 module_get_positions(const struct source *source, struct source_position *ret,
				u32 capacity)
{
	const struct module_source *m = (const struct module_source *)source;
	u32 n;

	for (n = 0; n < m->ring_count && n < capacity; n++)
		ret[n] = (struct source_position){
			.tail = m->rings[n].tail,
			.event_tail = m->rings[n].event_tail,
			.reported_early_ns = m->rings[n].reported_early_ns,
			.cpu = m->rings[n].cpu,
			.offline = module_ring_is_offline(&m->rings[n]),
		};
	return n;
}

/*
 * Resume at stored positions. If one position is invalid, all positions belong to another session
 * of the module: all rings then start at their current tail.
 */
static int module_resume(struct source *source, const struct source_position *positions, u32 count)
{
	struct module_source *m = to_module_source(source);
	int r = count == m->ring_count ? 0 : -ESTALE;

	for (u32 i = 0; i < count && !r; i++) {
		int ring = find_ring(m, positions[i].cpu);

		r = ring < 0 ? -ESTALE : module_ring_resume(&m->rings[ring], &positions[i]);
	}
	for (u32 i = 0; i < m->ring_count && r; i++) {
		m->rings[i].tail = m->rings[i].control->tail;
		m->rings[i].event_tail = m->rings[i].control->event_tail;
		m->rings[i].reported_early_ns = 0;
		m->rings[i].lost_bytes = 0;
	}
	return r;
}

static void module_release_rings(struct source *source)
{
	struct module_source *m = to_module_source(source);

	for (u32 i = 0; i < m->ring_count; i++)
		module_ring_release(&m->rings[i]);
}

static u32 module_get_retained_permille(const struct source *source)
{
	const struct module_source *m = (const struct module_source *)source;
	u32 max = 0, retained;

	for (u32 i = 0; i < m->ring_count; i++) {
		retained = module_ring_get_retained_permille(&m->rings[i]);
		if (retained > max)
			max = retained;
	}
	return max;
}

static u32 module_read_costs(const struct source *source, struct source_cost *ret, u32 capacity)
{
	const struct module_source *m = (const struct module_source *)source;
	u32 n = 0;

	for (u32 i = 0; i < m->ring_count && n < capacity; i++) {
		struct speprof_ring_stats stats;

		if (read_ring_stats(m, i, &stats) < 0)
			continue;
		ret[n++] = (struct source_cost){
			.handling_ns = stats.state_ns[SPEPROF_RING_HANDLING] +
				       stats.state_ns[SPEPROF_RING_HANDOVER],
			.interrupts = stats.interrupts,
			.cpu = m->rings[i].cpu,
		};
	}
	return n;
}

/*
 * Count CPUs with an SPU that was added after the session was created: a session of the module
 * cannot sample them.
 */
static u32 module_count_unsampled_cpus(const struct source *source)
{
	const struct module_source *m = (const struct module_source *)source;
	const struct source_config own = {
		.partition = m->partition,
		.partitions = m->partitions,
	};
	struct speprof_device_info info = { .size = sizeof(info) };
	u32 n = 0;

	if (ioctl(m->device, SPEPROF_DEVICE_INFO, &info) < 0 || info.spus <= m->ring_count)
		return 0;
	for (u32 cpu = 0; cpu < info.cpus; cpu++) {
		struct speprof_cpu_info c = { .size = sizeof(c), .cpu = cpu };

		if (source_config_includes_cpu(&own, cpu) && find_ring(m, cpu) < 0 &&
		    ioctl(m->device, SPEPROF_CPU_INFO, &c) >= 0)
			n += c.backend != SPEPROF_BACKEND_NONE;
	}
	return n;
}

static const struct source_persist_ops module_persist_ops = {
	.session = module_get_session_fd,
	.defer = module_defer_release,
	.positions = module_get_positions,
	.resume = module_resume,
	.release = module_release_rings,
	.retained = module_get_retained_permille,
};

static const struct source_ops module_ops = {
	.name = "module",
	.start = module_start,
	.fd = module_get_fd,
	.drain = module_drain,
	.stop = module_stop,
	.free = module_free,
	.cpu = module_describe_cpu,
	.configure = module_configure,
	.tune = module_tune,
	.costs = module_read_costs,
	.unsampled = module_count_unsampled_cpus,
	.persist = &module_persist_ops,
};

static int open_device(struct module_source *m, struct speprof_device_info *info,
		       const char **ret_reason)
{
	/*
	 * The module checks CAP_PERFMON when a session is created; write permission is not needed.
	 */
	m->device = open(SPEPROF_DEVICE_PATH, O_RDONLY | O_CLOEXEC);
	if (m->device < 0) {
		*ret_reason =
			errno == ENOENT ? "the module speprof is not loaded (no /dev/speprof)" :
			errno == EACCES || errno == EPERM ? "no permission to open /dev/speprof" :
							    "/dev/speprof could not be opened";
		return -errno;
	}
	*info = (struct speprof_device_info){ .size = sizeof(*info) };
	if (ioctl(m->device, SPEPROF_DEVICE_INFO, info) < 0) {
		*ret_reason = "/dev/speprof is not the device of the module speprof";
		return -errno;
	}
	*ret_reason = module_explain_abi_mismatch(info->abi_version);
	if (*ret_reason)
		return -EPROTO;
	if (!info->spus) {
		*ret_reason = "the module speprof is loaded but no CPU has an SPU: run \"speprof "
			      "doctor\"";
		return -ENODEV;
	}
	return 0;
}

/* Return a bit mask of the CPUs of the partition; NULL if memory cannot be allocated. */
static u8 *cpu_mask(const struct source_config *config, u32 cpus)
{
	u8 *mask = calloc(cpus / 8 + 1, 1);

	for (u32 cpu = 0; mask && cpu < cpus; cpu++)
		mask[cpu / 8] |= (u8)(source_config_includes_cpu(config, cpu) << cpu % 8);
	return mask;
}

static int open_session(struct module_source *m, const struct source_config *config,
			const struct speprof_device_info *info, const char **ret_reason)
{
	struct speprof_session_config session = {
		.size = sizeof(session),
		.mode = SPEPROF_MODE_STREAM,
		/*
		 * Always request SPEPROF_RIGHT_KERNEL, because module_configure() may enable kernel
		 * samples later.
		 */
		.rights = (config->no_context ? 0 : SPEPROF_RIGHT_CONTEXT) | SPEPROF_RIGHT_KERNEL |
			  (config->physical ? SPEPROF_RIGHT_PHYSICAL_ADDRESS : 0),
		.ring_size = config->ring_size ? config->ring_size : RING_SIZE,
		.event_slots = EVENT_SLOTS,
		.max_latency_ms = MAX_LATENCY_MS,
	};
	u8 *mask = config->partitions > 1 ? cpu_mask(config, info->cpus) : NULL;

	if (mask) {
		session.cpus = (u64)(uintptr_t)mask;
		session.cpus_size = info->cpus / 8 + 1;
	}
	if (session.ring_size < info->min_ring_size)
		session.ring_size = info->min_ring_size;
	/* The set of cgroups is empty until module_configure() replaces it. */
	if (m->source.cgroups) {
		session.rights |= SPEPROF_RIGHT_CGROUPS;
		session.flags |= SPEPROF_SESSION_OF_CGROUPS;
	}
	m->session = ioctl(m->device, SPEPROF_SESSION_NEW, &session);
	free(mask);
	if (m->session >= 0)
		return 0;
	*ret_reason = errno == EPERM ? "no permission to sample: CAP_PERFMON is needed, and kernel "
				       "lockdown must be off" :
		      errno == ENOMEM ? "out of memory for the rings: check RLIMIT_MEMLOCK" :
					"the module refused a session";
	return -errno;
}

/* Open the ring of @cpu if the CPU has an SPU and belongs to the session. */
static int open_ring(struct module_source *m, u32 cpu)
{
	struct speprof_cpu_info c = { .size = sizeof(c), .cpu = cpu };
	int r;

	if (ioctl(m->device, SPEPROF_CPU_INFO, &c) < 0 || c.backend == SPEPROF_BACKEND_NONE)
		return 0;
	r = module_ring_init(&m->rings[m->ring_count], m->session, cpu);
	/* The CPU got its SPU after the session was created, or is in another partition. */
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	m->source.locked_bytes += m->rings[m->ring_count].control_bytes +
				  m->rings[m->ring_count].event_bytes +
				  m->rings[m->ring_count].data_bytes;
	m->infos[m->ring_count++] = c;
	m->source.backend =
		c.backend == SPEPROF_BACKEND_EMULATED ? BACKEND_EMULATED : BACKEND_HARDWARE;
	if (m->interval_min < c.interval_min)
		m->interval_min = c.interval_min;
	if (m->interval_max > c.interval_max)
		m->interval_max = c.interval_max;
	return 0;
}

/*
 * Open the rings of all CPUs and configure the session. Intervals count operations: start as if
 * each took 1 ns, within the limits of all SPUs.
 */
static int open_rings(struct module_source *m, const struct source_config *config,
		      const struct speprof_device_info *info, const char **ret_reason)
{
	int r = 0;

	m->interval_max = UINT64_MAX;
	m->rings = calloc(info->spus, sizeof(*m->rings));
	m->infos = calloc(info->spus, sizeof(*m->infos));
	m->tunes = calloc(info->spus, sizeof(*m->tunes));
	m->stats = calloc(info->spus, sizeof(*m->stats));
	if (!m->rings || !m->infos || !m->tunes || !m->stats)
		return -ENOMEM;
	for (u32 cpu = 0; cpu < info->cpus && m->ring_count < info->spus && !r; cpu++)
		r = open_ring(m, cpu);
	if (!r && !m->ring_count)
		r = -ENODEV;
	if (r < 0) {
		*ret_reason = "a ring of the module could not be mapped";
		return r;
	}
	m->source.cpus = m->ring_count;
	m->source.cpu_end = info->cpus;
	m->source.contexts = !config->no_context && all_cpus_have_context(m) ?
				     SOURCE_CONTEXTS_ALL :
				     SOURCE_CONTEXTS_NONE;
	return module_configure(&m->source, config, ret_reason);
}

/*
 * Open a session of the module. @session: descriptor of an existing session, which the caller still
 * owns on failure; -1: create a session.
 */
static int open_module_source(const struct source_config *config, bool uring, int session,
			      struct source **ret_source, const char **ret_reason)
{
	struct speprof_device_info info = { 0 };
	struct module_source *m;
	int r;

	*ret_reason = "out of memory";
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	*m = (struct module_source){
		.source.ops = &module_ops,
		.device = -1,
		.session = session,
		.partition = config->partition,
		.partitions = config->partitions,
		.source.cgroups = config->cgroups && *config->cgroups,
		.watch.epoll = -1,
	};
	r = open_device(m, &info, ret_reason);
	if (r >= 0 && session < 0)
		r = open_session(m, config, &info, ret_reason);
	if (r >= 0)
		r = open_rings(m, config, &info, ret_reason);
	if (r >= 0) {
		r = watch_rings(m, uring);
		if (r < 0)
			*ret_reason = "neither io_uring nor epoll can watch the rings";
	}
	if (r < 0) {
		if (session >= 0)
			m->session = -1;
		module_free(&m->source);
		return r;
	}
	*ret_source = &m->source;
	return 0;
}

int source_module_new(const struct source_config *config, bool uring, struct source **ret_source,
		      const char **ret_reason)
{
	return open_module_source(config, uring, -1, ret_source, ret_reason);
}

int source_module_adopt(const struct source_config *config, bool uring, int session,
			struct source **ret_source, const char **ret_reason)
{
	int r = open_module_source(config, uring, session, ret_source, ret_reason);

	/*
	 * Defer releases: a change of the filter drains the rings before the state is restored, and
	 * that drain must release nothing.
	 */
	if (r >= 0)
		module_defer_release(*ret_source, false);
	return r;
}

int source_module_query_contexts(bool *ret_named)
{
	struct module_source m = { .device = -1 };
	struct speprof_device_info info = { 0 };
	const char *reason;
	bool named = true;
	int r;

	r = open_device(&m, &info, &reason);
	for (u32 cpu = 0; r >= 0 && cpu < info.cpus; cpu++) {
		struct speprof_cpu_info c = { .size = sizeof(c), .cpu = cpu };

		if (ioctl(m.device, SPEPROF_CPU_INFO, &c) >= 0 &&
		    c.backend != SPEPROF_BACKEND_NONE)
			named &= !!(c.flags & SPEPROF_CPU_CONTEXT);
	}
	if (m.device >= 0)
		close(m.device);
	if (r < 0)
		return r;
	*ret_named = named;
	return 0;
}

void source_module_stop_session(int session)
{
	(void)!ioctl(session, SPEPROF_SESSION_STOP, 0);
}
