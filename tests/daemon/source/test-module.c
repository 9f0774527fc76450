// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the requests of the source to the module. This program replaces open(2) and ioctl(2): a
 * session is a number, and a ring is a memfd.
 */
#include "test.h"
#include "held-clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/speprof.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "codec/registers.h"
#include "dbus/property-cache.h"
#include "source/source.h"
#include "util/cgroup-mount.h"
#include "util/time.h"

#define CPUS	 193
#define SPUS	 (CPUS - 1) /* CPU 0 has no SPU */
#define PAGE	 65536
#define EVENTS	 64
#define DEVICE	 1000
#define SESSION	 1001
#define RING_END 256

/* The requests that the module received, and its answers */
static struct {
	struct speprof_session_config session;
	struct speprof_sampling sampling;
	u32 rings[RING_END]; /* CPU of each ring by descriptor; 0: no ring */
	u32 stats;
	bool limited; /* whether STATS fails with EAGAIN */
	u32 infos;
	bool no_context; /* whether the kernel does not write CONTEXTIDR */
	u32 cgroups; /* number of cgroups in the last request */
	u32 knows; /* supported filters: 1: by events; 2: also by events that must be 0 */
	u64 pmsidr; /* PMSIDR of all CPUs but the last */
	u64 other_pmsidr; /* PMSIDR of the last CPU */
	/* size of struct speprof_sampling that the module supports; 0: the size of this build */
	u32 sampling_size;
} module = { .knows = 3 };

/* The wrapped function is open64, because meson builds all programs with large file support. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event);
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

/* epoll does not support a memfd. */
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	int r = __real_epoll_ctl(epoll, op, fd, event);

	return r < 0 && errno == EPERM ? 0 : r;
}

static int answer_ring_open(struct speprof_ring_open *open)
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

static int answer_cpu_info(struct speprof_cpu_info *info)
{
	module.infos++;
	info->flags = SPEPROF_CPU_ONLINE | (module.no_context ? 0 : SPEPROF_CPU_CONTEXT);
	info->backend = info->cpu ? SPEPROF_BACKEND_HARDWARE : SPEPROF_BACKEND_NONE;
	info->midr = 0x410fd0c0;
	info->events = 0x8a;
	info->pmsidr = info->cpu == SPUS ? module.other_pmsidr : module.pmsidr;
	info->interval_max = 1 << 24;
	return 0;
}

/* Require that bytes of unknown fields are zero, as copy_struct_from_user() does. */
static bool has_unknown_fields(const struct speprof_sampling *sampling)
{
	const u8 *bytes = (const u8 *)sampling;

	for (u32 i = module.sampling_size; module.sampling_size && i < sampling->size; i++)
		if (bytes[i])
			return true;
	return false;
}

static int answer_set_sampling(const struct speprof_sampling *sampling)
{
	const u32 rights = module.session.rights;

	if (has_unknown_fields(sampling)) {
		errno = E2BIG;
		return -1;
	}
	if (sampling->sources_not && !(module.pmsidr & module.other_pmsidr & SPE_PMSIDR_FDS)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if ((sampling->collect & SPEPROF_COLLECT_PHYSICAL_ADDRESS &&
	     !(rights & SPEPROF_RIGHT_PHYSICAL_ADDRESS)) ||
	    (sampling->collect & SPEPROF_COLLECT_CONTEXT && !(rights & SPEPROF_RIGHT_CONTEXT))) {
		errno = EPERM;
		return -1;
	}
	if ((sampling->events && !(module.knows & 1)) ||
	    (sampling->events_not && !(module.knows & 2))) {
		errno = EOPNOTSUPP;
		return -1;
	}
	module.sampling = *sampling;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	const struct speprof_cgroups *cgroups;
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
		return answer_cpu_info(arg);
	case SPEPROF_SESSION_NEW:
		module.session = *(const struct speprof_session_config *)arg;
		return SESSION;
	case SPEPROF_SESSION_START:
	case SPEPROF_SESSION_STOP:
		return 0;
	case SPEPROF_SESSION_SAMPLE:
		return answer_set_sampling(arg);
	case SPEPROF_SESSION_CGROUPS:
		if (!(module.session.flags & SPEPROF_SESSION_OF_CGROUPS)) {
			errno = EOPNOTSUPP;
			return -1;
		}
		cgroups = arg;
		module.cgroups = cgroups->count;
		errno = !cgroups->fds != !cgroups->count ? EINVAL : 0;
		return errno ? -1 : 0;
	case SPEPROF_RING_OPEN:
		return answer_ring_open(arg);
	case SPEPROF_RING_STATS:
		module.stats++;
		assert_true(fd < RING_END && module.rings[fd]);
		if (module.limited) {
			errno = EAGAIN;
			return -1;
		}
		stats = arg;
		assert_int_equal(stats->size, sizeof(*stats));
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

static void test_collected_data_and_rights(void **state)
{
	static const struct {
		bool no_contextidr; /* the kernel does not write CONTEXTIDR */
		bool no_context; /* Contexts=no */
		bool physical;
		u32 collect;
		u32 rights;
	} rows[] = {
		{ false, false, false, SPEPROF_COLLECT_CONTEXT, SPEPROF_RIGHT_CONTEXT },
		{ false, true, false, 0, 0 },
		{ false, false, true, SPEPROF_COLLECT_CONTEXT | SPEPROF_COLLECT_PHYSICAL_ADDRESS,
		  SPEPROF_RIGHT_CONTEXT | SPEPROF_RIGHT_PHYSICAL_ADDRESS },
		{ false, true, true, SPEPROF_COLLECT_PHYSICAL_ADDRESS,
		  SPEPROF_RIGHT_PHYSICAL_ADDRESS },
		{ true, false, false, 0, SPEPROF_RIGHT_CONTEXT },
		{ true, true, false, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source_config config = plain;
		struct source *source;

		test_row("row %zu", i);
		module.no_context = rows[i].no_contextidr;
		config.no_context = rows[i].no_context;
		config.physical = rows[i].physical;
		source = open_module(&config);
		assert_row(source_get_contexts(source) ==
			   (rows[i].collect & SPEPROF_COLLECT_CONTEXT ? SOURCE_CONTEXTS_ALL :
									SOURCE_CONTEXTS_NONE));
		assert_row(module.sampling.collect ==
			   (SPEPROF_COLLECT_TIMESTAMP | rows[i].collect));
		assert_row(module.session.rights == (SPEPROF_RIGHT_KERNEL | rows[i].rights));
		source->ops->free(source);
	}
	module.no_context = false;
}

/*
 * An SPU without FEAT_SPEv1p2 writes records that should be filtered; the daemon then filters them.
 */
static void test_filters_by_spu_features(void **state)
{
	static const struct {
		u64 events;
		u64 events_not;
		u32 knows; /* 1: events, 2: events that must be 0 */
		bool filters;
		bool filters_not;
	} rows[] = {
		{ 0, 0, 3, false, false },   { 0x80, 8, 3, true, true },
		{ 0x80, 8, 1, true, false }, { 0x80, 8, 0, false, false },
		{ 0, 8, 3, false, true },    { 0, 8, 1, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source_config config = plain;
		struct source *source;

		test_row("row %zu", i);
		module.knows = rows[i].knows;
		config.filter_events = rows[i].events;
		config.filter_events_not = rows[i].events_not;
		source = open_module(&config);
		assert_row(source->filters == rows[i].filters);
		assert_row(source->filters_not == rows[i].filters_not);
		assert_row(module.sampling.events == (rows[i].filters ? rows[i].events : 0));
		assert_row(module.sampling.events_not ==
			   (rows[i].filters_not ? rows[i].events_not : 0));
		source->ops->free(source);
	}
	module.knows = 3;
}

/* The filter by data source is used if all SPUs have FEAT_SPE_FDS and the module supports it. */
static void test_data_source_filter(void **state)
{
	static const struct {
		u64 pmsidr;
		u64 other_pmsidr;
		u32 size; /* size of the module's structure */
		u64 events_not;
		u32 knows;
		bool filters_sources;
		bool filters_not;
	} rows[] = {
		{ SPE_PMSIDR_FDS, SPE_PMSIDR_FDS, 0, 0, 3, true, false },
		{ SPE_PMSIDR_FDS, SPE_PMSIDR_FDS, 0, 8, 3, true, true },
		/* A filter that is not supported does not disable another filter. */
		{ SPE_PMSIDR_FDS, SPE_PMSIDR_FDS, 0, 8, 1, true, false },
		{ SPE_PMSIDR_FDS, 0, 0, 8, 3, false, true },
		{ 0, 0, 0, 0, 3, false, false },
		{ SPE_PMSIDR_FDS, SPE_PMSIDR_FDS, 48, 8, 3, false, true },
		{ SPE_PMSIDR_FDS, SPE_PMSIDR_FDS, 48, 8, 1, false, false },
	};
	const u64 sources_not = ~SPE_BIT(14);

	(void)state;
	assert_int_equal(offsetof(struct speprof_sampling, sources_not), 48);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source_config config = plain;
		struct source *source;
		struct source_cpu cpu;

		test_row("row %zu", i);
		module.pmsidr = rows[i].pmsidr | SPE_PMSIDR_EFT;
		module.other_pmsidr = rows[i].other_pmsidr;
		module.sampling_size = rows[i].size;
		module.knows = rows[i].knows;
		config.filter_types = SPE_PMSFCR_LD;
		config.filter_events_not = rows[i].events_not;
		config.filter_sources_not = sources_not;
		source = open_module(&config);
		assert_row(source->filters && source->filters_sources == rows[i].filters_sources);
		assert_row(source->filters_not == rows[i].filters_not);
		assert_row(module.sampling.types == SPEPROF_TYPE_LOAD);
		assert_row(module.sampling.sources_not ==
			   (rows[i].filters_sources ? sources_not : 0));
		assert_row(!source->ops->cpu(source, 7, &cpu));
		assert_row(!(cpu.filters & SOURCE_FILTERS_SOURCES) == !rows[i].pmsidr);
		assert_row(!(cpu.filters & SOURCE_FILTERS_MASKED) && cpu.filter_events == 0x8a);
		source->ops->free(source);
	}
	module.pmsidr = module.other_pmsidr = module.sampling_size = 0;
	module.knows = 3;
}

/* A session that was stored without a permission is adopted without it. */
static void test_adopted_without_permission(void **state)
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

/*
 * When a session of cgroups is adopted, it stays a session of cgroups, without removed cgroups.
 * Another session does not become one.
 */
static void test_adopted_cgroups(void **state)
{
	char *const one[] = { (char *)"/", NULL };
	char *const two[] = { (char *)"/", (char *)"/speprof-never-there", NULL };
	char *const none[] = { (char *)"/speprof-never-there", NULL };
	struct source_config config = plain;
	struct source *source;
	const char *reason = "";
	int mount = cgroup_mount_open(O_RDONLY, NULL);

	(void)state;
	if (mount < 0)
		skip();
	close(mount);
	/* User emulation has no openat2. */
	if (syscall(SYS_openat2, AT_FDCWD, ".", NULL, 0) < 0 && errno == ENOSYS)
		skip();
	config.cgroups = one;
	source = open_module(&config);
	assert_true(source->cgroups && module.cgroups == 1);
	source->ops->free(source);
	config.cgroups = two;
	assert_int_equal(source_module_adopt(&config, false, SESSION, &source, &reason), -ENOENT);
	assert_string_equal(reason, "one of the cgroups does not exist");
	config.skip_missing_cgroups = true;
	assert_int_equal(source_module_adopt(&config, false, SESSION, &source, &reason), 0);
	assert_true(source->cgroups && module.cgroups == 1);
	config.cgroups = none;
	assert_int_equal(source->ops->configure(source, &config, &reason), 0);
	assert_int_equal(module.cgroups, 0);
	source->ops->free(source);
	source = open_module(&plain);
	source->ops->free(source);
	config.cgroups = one;
	assert_int_equal(source_module_adopt(&config, false, SESSION, &source, &reason),
			 -EOPNOTSUPP);
	assert_string_equal(reason, "the session was not created for cgroups");
}

/* Querying one CPU interrupts only that CPU. */
static void test_query_interrupts_one_cpu(void **state)
{
	struct source *source = open_module(&plain);
	struct source_cpu cpu;

	(void)state;
	module.stats = 0;
	module.infos = 0;
	assert_int_equal(source->ops->cpu(source, 77, &cpu), 0);
	assert_int_equal(cpu.cpu, 77);
	assert_int_equal(cpu.armed_ns, 77);
	assert_int_equal(cpu.midr, 0x410fd0c0);
	assert_string_equal(cpu.state, "sampling");
	assert_int_equal(source->ops->cpu(source, 0, &cpu), -ENOENT);
	assert_int_equal(source->ops->cpu(source, CPUS, &cpu), -ENOENT);
	assert_int_equal(source->ops->cpu(source, CPUS - 1, &cpu), 0);
	assert_int_equal(cpu.cpu, CPUS - 1);
	assert_int_equal(module.stats, 2);
	assert_int_equal(module.infos, 0);
	source->ops->free(source);
}

/* If the module rejects STATS because of its rate limit, the cached state of the CPU is used. */
static void test_rate_limited_state_is_cached(void **state)
{
	struct source *source = open_module(&plain);
	struct source_cost costs[SPUS];
	struct source_cpu cpu;

	(void)state;
	assert_int_equal(source->ops->cpu(source, 77, &cpu), 0);
	module.limited = true;
	cpu = (struct source_cpu){ 0 };
	assert_int_equal(source->ops->cpu(source, 77, &cpu), 0);
	assert_int_equal(cpu.armed_ns, 77);
	assert_string_equal(cpu.state, "sampling");
	assert_int_equal(source->ops->costs(source, costs, SPUS), 1);
	assert_int_equal(costs[0].cpu, 77);
	assert_int_equal(source->ops->cpu(source, 78, &cpu), -EAGAIN);
	module.limited = false;
	assert_int_equal(source->ops->costs(source, costs, SPUS), SPUS);
	source->ops->free(source);
}

static struct worker *start_worker(void)
{
	const struct task_events_status task_status = { 0 };
	struct session_config session = { .name = SESSION_MACHINE };
	struct worker *worker = NULL;
	struct filter_error error;

	assert_int_equal(shared_source_new(open_module(&plain), &plain, &session.shared_source), 0);
	assert_int_equal(session_rule_new(NULL, NULL, NULL, &session.rule, &error), 0);
	assert_int_equal(worker_new(NULL, NULL, &task_status, &worker), 0);
	assert_int_equal(worker_call(worker, worker_add_session, &session), 0);
	return worker;
}

/* Query the nine properties of each CPU, as GetManagedObjects does. */
static void query_all_properties(struct property_cache *cache, struct worker *worker)
{
	const struct cpu_properties *got;

	for (u32 cpu = 1; cpu < CPUS; cpu++) {
		for (int property = 0; property < 9; property++) {
			assert_int_equal(property_cache_get_cpu(cache, worker, cpu, &got), 0);
			assert_int_equal(got->cpu.cpu, cpu);
		}
	}
}

static void test_properties_are_cached(void **state)
{
	struct worker *worker = start_worker();
	struct property_cache cache = { 0 };
	const struct cpu_properties *got;

	(void)state;
	module.stats = 0;
	module.infos = 0;
	query_all_properties(&cache, worker);
	print_message("%u CPUs: %u ioctls\n", SPUS, module.stats + module.infos);
	assert_int_equal(module.infos, 0);
	assert_int_equal(module.stats, SPUS);
	/* A cached value expires after a change, and after some time. */
	module.stats = 0;
	property_cache_invalidate(&cache);
	assert_int_equal(property_cache_get_cpu(&cache, worker, 5, &got), 0);
	assert_int_equal(module.stats, 1);
	held_clock_advance(2 * PROPERTY_CACHE_NS);
	assert_int_equal(property_cache_get_cpu(&cache, worker, 5, &got), 0);
	assert_int_equal(module.stats, 2);
	assert_int_equal(property_cache_get_cpu(&cache, worker, 0, &got), -ENOENT);
	/* A query of a CPU that does not exist must not replace the cached value of another one. */
	assert_int_equal(property_cache_get_cpu(&cache, worker, 0, &got), -ENOENT);
	worker_free(worker);
}

static void test_machine_session_properties(void **state)
{
	struct worker *worker = start_worker();
	struct property_cache cache = { 0 };

	(void)state;
	assert_false(property_cache_get_machine(&cache, worker)->running);
	assert_int_equal(property_cache_get_machine(&cache, worker)->cpus, SPUS);
	assert_true(property_cache_has_session(&cache, worker, SESSION_MACHINE));
	assert_false(property_cache_has_session(&cache, worker, "other"));
	assert_false(property_cache_has_session(&cache, worker, ""));
	assert_int_equal(worker_call(worker, worker_start_session, NULL), 0);
	property_cache_invalidate(&cache);
	assert_true(property_cache_get_machine(&cache, worker)->running);
	worker_free(worker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collected_data_and_rights),
		cmocka_unit_test(test_filters_by_spu_features),
		cmocka_unit_test(test_data_source_filter),
		cmocka_unit_test(test_adopted_without_permission),
		cmocka_unit_test(test_adopted_cgroups),
		cmocka_unit_test(test_query_interrupts_one_cpu),
		cmocka_unit_test(test_rate_limited_state_is_cached),
		cmocka_unit_test_setup_teardown(test_properties_are_cached, held_clock_stop,
						held_clock_run),
		cmocka_unit_test(test_machine_session_properties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
