// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The source for machines without SPE: this process emulates an SPU for each CPU, and the CPU clock
 * drives it. The PC, mode, task and time of a sample are those that the tick interrupted; the
 * operation and its events are modelled.
 *
 * TIDs are those of the PID namespace of this process. A task outside of that namespace has no TID,
 * and its samples have no context.
 */
#include "source.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "cpu-clock.h"
#include "emulated-models.h"
#include "emulated-spu.h"
#include "util/cpu-list.h"
#include "util/time.h"

/* Interval between two drains, in ns. */
#define DRAIN_NS 250000000L

/* Interval between two checks for CPUs that went offline or came online, in ns. */
#define ONLINE_CHECK_NS 1000000000ULL

/**
 * struct emulated_source_cpu - a CPU and its emulated SPU
 * @clock: drives the SPU
 * @driver: the driver of the SPU; no buffer: the CPU was never online
 * @program: register values of the SPU
 * @tune: the settings of this CPU; scale 0: not tuned
 * @seen_ns: time of the last tick or drain
 * @ran_ns: running time of the clock at the last check
 * @throttled: the kernel has stopped the clock: the CPU is blind, not idle
 * @ticked: the clock has ticked since the last check
 */
struct emulated_source_cpu {
	struct cpu_clock clock;
	struct emulated_spu driver;
	struct spu_program program;
	struct source_tune tune;
	u64 seen_ns;
	u64 ran_ns;
	bool throttled;
	bool ticked;
};

enum emulated_state {
	EMULATED_IDLE,
	EMULATED_RUNNING,
	EMULATED_STOPPED, /* sampling has stopped, and the rings still contain ticks */
};

struct emulated_source {
	struct source source;
	enum emulated_state state;
	struct spe_spu_config spu;
	struct source_config config; /* copied at creation; its pointers are no longer valid */
	struct cpu_clock_config clock;
	struct emulated_models *models;
	struct spe_operation_model opmodel;
	u64 stop_ns;
	u64 check_ns;
	int epoll_fd;
	int timer_fd;
	u32 count; /* number of possible CPUs, and of entries in @cpus */
	struct emulated_source_cpu cpus[];
};

static struct emulated_source *to_emulated_source(struct source *source)
{
	return (struct emulated_source *)source;
}

/*
 * Compute the register values of a CPU; they differ from those of other CPUs only in the interval.
 */
static int cpu_compute_program(struct emulated_source *e, struct emulated_source_cpu *cpu,
			       const char **ret_reason)
{
	struct source_config config = e->config;

	if (cpu->tune.scale)
		config.interval_ns = config.interval_ns * cpu->tune.scale / SOURCE_TUNE_ONE;
	if (config.interval_ns > SPU_DRIVER_INTERVAL_MAX)
		config.interval_ns = SPU_DRIVER_INTERVAL_MAX;
	return spu_program_make(&config, &e->spu, &cpu->program, ret_reason);
}

static int cpu_open(struct emulated_source *e, u32 index, const char **ret_reason)
{
	struct emulated_source_cpu *cpu = &e->cpus[index];
	struct cpu_clock_config clock = e->clock;
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = index };
	int r;

	if (!cpu->driver.buffer) {
		r = cpu_compute_program(e, cpu, ret_reason);
		if (r >= 0)
			r = emulated_spu_init(&cpu->driver, index, &e->spu, &cpu->program,
					      ret_reason);
		if (r < 0)
			return r;
	}
	clock.period_ns = cpu->program.interval;
	r = cpu_clock_open(&cpu->clock, index, &clock, ret_reason);
	if (r < 0)
		return r;
	if (epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, cpu->clock.fd, &event) < 0) {
		r = -errno;
		*ret_reason = "a perf event cannot be polled";
		cpu_clock_close(&cpu->clock);
		return r;
	}
	e->source.locked_bytes += cpu->clock.ring.size;
	return 0;
}

/*
 * Remove the descriptor from epoll explicitly: close() does not remove it if a forked process still
 * has it.
 */
static void cpu_close(struct emulated_source *e, struct emulated_source_cpu *cpu)
{
	epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, cpu->clock.fd, NULL);
	e->source.locked_bytes -= cpu->clock.ring.size;
	cpu_clock_close(&cpu->clock);
}

static int cpu_start(struct emulated_source_cpu *cpu, u64 since_ns, enum source_blind cause)
{
	int r;

	r = cpu_clock_start(&cpu->clock);
	if (r < 0)
		return r;
	emulated_spu_enable(&cpu->driver, since_ns);
	emulated_spu_set_blind_cause(&cpu->driver, cause);
	cpu->seen_ns = time_now_ns();
	cpu->ran_ns = 0;
	cpu->throttled = false;
	cpu->ticked = true;
	emulated_spu_arm_window(&cpu->driver, cpu->seen_ns);
	return 0;
}

static void cpu_sample_tick(struct emulated_source *e, struct emulated_source_cpu *cpu,
			    const struct cpu_clock_event *tick, const struct source_sink *sink)
{
	enum spe_profile profile = SPE_PROFILE_MIXED;
	struct spe_operation operation = {
		.pc = tick->pc,
		.timestamp = tick->time_ns,
		.el = tick->el,
		.ns = true,
	};

	if (!emulated_spu_samples_el(&cpu->driver, tick->el))
		return;
	/*
	 * Models= describes the user code of a program. Samples in the kernel have the default
	 * model.
	 */
	if (!tick->el)
		profile = emulated_models_find_profile(e->models, tick->tid, tick->time_ns);
	if (tick->tid > 0) {
		operation.contextidr_el1 = (u32)tick->tid;
		operation.valid = SPE_OPERATION_CONTEXT1;
	}
	spe_opmodel_complete_operation(&e->opmodel, profile, &operation);
	emulated_spu_sample(&cpu->driver, &operation, sink);
}

/* Count the time from @from to @to as blind, because ticks of this time were lost. */
static void cpu_report_gap(struct emulated_source_cpu *cpu, u64 from, u64 to,
			   const struct source_sink *sink)
{
	emulated_spu_close_window(&cpu->driver, from, sink);
	emulated_spu_set_blind_cause(&cpu->driver, SOURCE_BLIND_FULL);
	emulated_spu_arm_window(&cpu->driver, to);
	cpu->seen_ns = to;
}

static void cpu_handle_event(struct emulated_source *e, struct emulated_source_cpu *cpu,
			     const struct cpu_clock_event *event, const struct source_sink *sink)
{
	switch (event->type) {
	case CPU_CLOCK_TICK:
		cpu_sample_tick(e, cpu, event, sink);
		cpu->ticked = true;
		break;
	case CPU_CLOCK_LOST:
		cpu_report_gap(cpu, cpu->seen_ns, event->time_ns, sink);
		break;
	case CPU_CLOCK_THROTTLE:
		emulated_spu_close_window(&cpu->driver, event->time_ns, sink);
		emulated_spu_set_blind_cause(&cpu->driver, SOURCE_BLIND_THROTTLE);
		cpu->throttled = true;
		break;
	case CPU_CLOCK_UNTHROTTLE:
		emulated_spu_arm_window(&cpu->driver, event->time_ns);
		cpu->throttled = false;
		break;
	}
	if (event->time_ns > cpu->seen_ns)
		cpu->seen_ns = event->time_ns;
}

/*
 * Drain the ring of @cpu, and close the window at @until_ns; 0: close it now, and arm the next one.
 */
static void cpu_drain(struct emulated_source *e, struct emulated_source_cpu *cpu, u64 until_ns,
		      const struct source_sink *sink)
{
	struct cpu_clock_event event;
	u64 end_ns = until_ns ? until_ns : time_now_ns();
	bool full = cpu_clock_begin_read(&cpu->clock);

	while (cpu_clock_read_event(&cpu->clock, &event))
		cpu_handle_event(e, cpu, &event, sink);
	cpu_clock_end_read(&cpu->clock);

	/* If the ring was full, ticks after the last event in the ring were lost. */
	if (full && !cpu->throttled)
		cpu_report_gap(cpu, cpu->seen_ns, until_ns ? until_ns : time_now_ns(), sink);
	/* The ring may contain a tick that is newer than end_ns. */
	if (end_ns < cpu->seen_ns)
		end_ns = cpu->seen_ns;
	emulated_spu_close_window(&cpu->driver, end_ns, sink);
	cpu->seen_ns = end_ns;
	if (until_ns)
		emulated_spu_disable(&cpu->driver);
	else if (!cpu->throttled)
		emulated_spu_arm_window(&cpu->driver, end_ns);
}

/*
 * Return true if the CPU went offline since the last check. Its event does not run any more then,
 * even if the CPU is online again. Reading the running time interrupts the CPU, so CPUs with a tick
 * are skipped.
 */
static bool cpu_went_offline(struct emulated_source_cpu *cpu, bool online)
{
	u64 before = cpu->ran_ns;

	if (online && cpu->ticked)
		return false;
	cpu->ran_ns = perf_event_read_running_ns(cpu->clock.fd);
	return !online || cpu->ran_ns == before;
}

static void check_online_cpus(struct emulated_source *e, u64 now_ns, const struct source_sink *sink)
{
	struct cpu_list online = { 0 };
	const char *reason;

	if (cpu_list_read_online(&online) < 0)
		return;
	for (u32 i = 0; i < e->count; i++) {
		struct emulated_source_cpu *cpu = &e->cpus[i];

		if (cpu->clock.fd >= 0 && cpu_went_offline(cpu, cpu_list_has(&online, i))) {
			/*
			 * It is unknown if the CPU was busy since its last tick, so this time is
			 * not counted as blind.
			 */
			emulated_spu_close_window(&cpu->driver, now_ns, sink);
			emulated_spu_disable(&cpu->driver);
			cpu_close(e, cpu);
		}
		if (cpu->clock.fd < 0 && source_config_includes_cpu(&e->config, i) &&
		    cpu_list_has(&online, i) && !cpu_open(e, i, &reason) &&
		    cpu_start(cpu, e->check_ns, SOURCE_BLIND_HOTPLUG) < 0)
			cpu_close(e, cpu);
		cpu->ticked = false;
	}
	e->check_ns = now_ns;
}

static int emulated_start(struct source *source)
{
	const struct itimerspec period = {
		.it_interval.tv_nsec = DRAIN_NS,
		.it_value.tv_nsec = DRAIN_NS,
	};
	struct emulated_source *e = to_emulated_source(source);
	int r;

	/* The ticks from before the stop must be drained first. */
	if (e->state != EMULATED_IDLE)
		return -EBUSY;
	if (timerfd_settime(e->timer_fd, 0, &period, NULL) < 0)
		return -errno;
	e->check_ns = time_now_ns();
	for (u32 i = 0; i < e->count; i++) {
		struct emulated_source_cpu *cpu = &e->cpus[i];

		if (cpu->clock.fd < 0)
			continue;
		r = cpu_start(cpu, 0, SOURCE_BLIND_HANDLING);
		/*
		 * The CPU just went offline. When it is online again, check_online_cpus() opens its
		 * clock.
		 */
		if (r < 0)
			cpu_close(e, cpu);
	}
	e->state = EMULATED_RUNNING;
	return 0;
}

static int emulated_get_fd(struct source *source)
{
	return to_emulated_source(source)->epoll_fd;
}

/*
 * Remove hung up events from epoll. The event of a CPU that went offline reports EPOLLHUP, so the
 * descriptor of the source would be readable until check_online_cpus() closes the event.
 */
static void ignore_hangups(struct emulated_source *e)
{
	struct epoll_event events[16];
	int n = epoll_wait(e->epoll_fd, events, ARRAY_SIZE(events), 0);

	for (int i = 0; i < n; i++) {
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(e->epoll_fd, EPOLL_CTL_DEL, e->cpus[events[i].data.u32].clock.fd,
				  NULL);
	}
}

static int emulated_drain(struct source *source, const struct source_sink *sink)
{
	struct emulated_source *e = to_emulated_source(source);
	bool stopped = e->state == EMULATED_STOPPED;
	u64 expirations, now_ns = time_now_ns();

	if (e->state == EMULATED_IDLE)
		return 0;
	if (read(e->timer_fd, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN)
		return -errno;
	ignore_hangups(e);
	for (u32 i = 0; i < e->count; i++) {
		if (e->cpus[i].clock.fd >= 0)
			cpu_drain(e, &e->cpus[i], stopped ? e->stop_ns : 0, sink);
	}
	if (stopped)
		e->state = EMULATED_IDLE;
	else if (now_ns - e->check_ns >= ONLINE_CHECK_NS)
		check_online_cpus(e, now_ns, sink);
	return 0;
}

static void emulated_stop(struct source *source)
{
	const struct itimerspec never = { 0 };
	struct emulated_source *e = to_emulated_source(source);

	if (e->state != EMULATED_RUNNING)
		return;
	for (u32 i = 0; i < e->count; i++) {
		if (e->cpus[i].clock.fd >= 0)
			cpu_clock_stop(&e->cpus[i].clock);
	}
	timerfd_settime(e->timer_fd, 0, &never, NULL);
	e->stop_ns = time_now_ns();
	e->state = EMULATED_STOPPED;
}

static void apply_config(struct emulated_source *e, const struct source_config *config,
			 const struct spu_program *program)
{
	e->config = *config;
	e->source.interval_ns = program->interval;
	e->source.filters = source_config_has_base_filter(config);
	e->source.filters_not = program->pmsfcr & SPE_PMSFCR_FNE;
	e->source.filters_sources = program->pmsfcr & SPE_PMSFCR_FDS;
	e->source.filters_masked = program->pmsfcr & SPU_PROGRAM_MASKS;
	e->clock = (struct cpu_clock_config){
		.period_ns = program->interval,
		.ring_max = config->ring_size,
		.kernel = config->kernel,
		.user = config->user,
	};
}

/* Replace the clock and the SPU of a CPU. The CPU has been blind since @since. */
static void cpu_reopen(struct emulated_source *e, u32 index, u64 since)
{
	struct emulated_source_cpu *cpu = &e->cpus[index];
	const char *reason;

	if (cpu->clock.fd < 0)
		return;
	cpu_close(e, cpu);
	emulated_spu_deinit(&cpu->driver);
	/* If the CPU just went offline, check_online_cpus() opens its clock later. */
	if (cpu_open(e, index, &reason) >= 0 && e->state == EMULATED_RUNNING &&
	    cpu_start(cpu, since, SOURCE_BLIND_HANDLING) < 0)
		cpu_close(e, cpu);
}

static int emulated_configure(struct source *source, const struct source_config *config,
			      const char **ret_reason)
{
	struct emulated_source *e = to_emulated_source(source);
	struct spu_program program;
	u64 since = time_now_ns();
	int r;

	r = spu_program_make(config, &e->spu, &program, ret_reason);
	if (r < 0)
		return r;
	apply_config(e, config, &program);
	for (u32 i = 0; i < e->count; i++)
		cpu_reopen(e, i, since);
	return 0;
}

static int emulated_tune(struct source *source, const struct source_tune *tune)
{
	struct emulated_source *e = to_emulated_source(source);
	u64 before;

	if (tune->cpu >= e->count || !e->cpus[tune->cpu].driver.buffer)
		return -ENOENT;
	before = e->cpus[tune->cpu].tune.scale;
	e->cpus[tune->cpu].tune = *tune;
	if (tune->scale != (before ? before : SOURCE_TUNE_ONE))
		cpu_reopen(e, tune->cpu, time_now_ns());
	return 0;
}

static int emulated_describe_cpu(struct source *source, u32 id, struct source_cpu *ret_cpu)
{
	struct emulated_source *e = to_emulated_source(source);
	const struct emulated_source_cpu *cpu;

	/* CPUs that were never online are not listed. */
	if (id >= e->count || !e->cpus[id].driver.buffer)
		return -ENOENT;
	cpu = &e->cpus[id];
	*ret_cpu = (struct source_cpu){
		.cpu = id,
		.interval_ns = cpu->program.interval,
		.pmsver = (u8)spe_spu_read(&cpu->driver.spu, SPE_REG_PMSVER),
		.filters =
			source_filters_from_pmsidr(spe_spu_read(&cpu->driver.spu, SPE_REG_PMSIDR)),
		.filter_events = cpu->driver.spu.config.sampled_events,
		.interval_min = SPU_DRIVER_INTERVAL_MIN,
		.state = cpu->clock.fd < 0	      ? "offline" :
			 e->state != EMULATED_RUNNING ? "stopped" :
			 cpu->throttled		      ? "throttled" :
							"sampling",
	};
	return 0;
}

static void emulated_free(struct source *source)
{
	struct emulated_source *e = to_emulated_source(source);

	if (!source)
		return;
	for (u32 i = 0; i < e->count; i++) {
		cpu_clock_close(&e->cpus[i].clock);
		emulated_spu_deinit(&e->cpus[i].driver);
	}
	if (e->timer_fd >= 0)
		close(e->timer_fd);
	if (e->epoll_fd >= 0)
		close(e->epoll_fd);
	emulated_models_free(e->models);
	free(e);
}

static const struct source_ops emulated_ops = {
	.name = "emulated",
	.start = emulated_start,
	.fd = emulated_get_fd,
	.drain = emulated_drain,
	.stop = emulated_stop,
	.free = emulated_free,
	.cpu = emulated_describe_cpu,
	.configure = emulated_configure,
	.tune = emulated_tune,
};

static int open_poll(struct emulated_source *e, const char **ret_reason)
{
	struct epoll_event event = { .events = EPOLLIN };

	e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	e->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (e->epoll_fd < 0 || e->timer_fd < 0 ||
	    epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, e->timer_fd, &event) < 0) {
		*ret_reason = "no descriptors for epoll and its timer: check RLIMIT_NOFILE";
		return -errno;
	}
	return 0;
}

static int open_cpus(struct emulated_source *e, const struct cpu_list *online,
		     const char **ret_reason)
{
	int r;

	for (u32 i = 0; i < e->count; i++) {
		if (!source_config_includes_cpu(&e->config, i) || !cpu_list_has(online, i))
			continue;
		r = cpu_open(e, i, ret_reason);
		if (r == -ENODEV)
			continue;
		if (r < 0)
			return r;
		e->source.cpus++;
	}
	return 0;
}

static int emulated_open(struct emulated_source *e, const struct source_config *config,
			 const struct cpu_list *online, const char **ret_reason)
{
	struct spu_program program;
	int r;

	spe_spu_config_default(&e->spu);
	spe_opmodel_init(&e->opmodel, e->spu.seed);
	r = spu_program_make(config, &e->spu, &program, ret_reason);
	if (r < 0)
		return r;
	r = emulated_models_new(config->models, &e->models, ret_reason);
	if (r < 0)
		return r;
	r = open_poll(e, ret_reason);
	if (r < 0)
		return r;
	e->source.contexts = config->no_context ? SOURCE_CONTEXTS_NONE : SOURCE_CONTEXTS_ALL;
	apply_config(e, config, &program);
	return open_cpus(e, online, ret_reason);
}

int source_emulated_new(const struct source_config *config, struct source **ret_source,
			const char **ret_reason)
{
	struct cpu_list possible = { 0 }, online = { 0 };
	struct emulated_source *e;
	u32 count;
	int r;

	r = cpu_list_read_possible(&possible);
	if (!r)
		r = cpu_list_read_online(&online);
	if (r < 0) {
		*ret_reason = "the lists of CPUs in /sys/devices/system/cpu cannot be read";
		return r;
	}
	count = cpu_list_get_end(&possible);
	e = calloc(1, sizeof(*e) + count * sizeof(e->cpus[0]));
	if (!e) {
		*ret_reason = "out of memory for a source";
		return -ENOMEM;
	}
	e->source.ops = &emulated_ops;
	e->source.backend = BACKEND_EMULATED;
	e->source.cpu_end = count;
	e->epoll_fd = -1;
	e->timer_fd = -1;
	e->count = count;
	for (u32 i = 0; i < count; i++)
		e->cpus[i].clock = CPU_CLOCK_INIT;

	r = emulated_open(e, config, &online, ret_reason);
	if (r < 0) {
		emulated_free(&e->source);
		return r;
	}
	*ret_source = &e->source;
	return 0;
}
