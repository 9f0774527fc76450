// SPDX-License-Identifier: LGPL-2.1-or-later
#include "emulated-spu.h"

#include <stdlib.h>

#include "policy/syndrome.h"

/*
 * Space for 512 records of 64 bytes: the records of 0.5 s at the default rate, which is two
 * intervals between drains.
 */
#define BUFFER_SIZE (32U << 10)

#define FILTER_TYPES (SPE_PMSFCR_B | SPE_PMSFCR_LD | SPE_PMSFCR_ST)

static int set_filter_registers(const struct source_config *config,
				const struct spe_spu_config *spu, struct spu_program *program,
				const char **ret_reason)
{
	u32 latency_max = spu->count_size == SPE_PMSIDR_COUNTSIZE_12 ? 0xfff : 0xffff;
	u64 types;

	if (config->filter_types & ~FILTER_TYPES) {
		*ret_reason = "operations can be filtered by branch, load and store only";
		return -EINVAL;
	}
	if ((config->filter_events | config->filter_events_not) & ~spu->sampled_events) {
		*ret_reason = "the emulated SPU cannot filter by one of the given events";
		return -EINVAL;
	}
	if (config->filter_latency > latency_max) {
		*ret_reason = "the latency filter is above the largest value of the emulated "
			      "counters (4095)";
		return -EINVAL;
	}
	/*
	 * Without FEAT_SPE_EFT, PMSFCR_EL1 has no mask bits, so the daemon applies filter_masked.
	 */
	types = config->filter_types;
	if (spu->features & SPE_PMSIDR_EFT)
		types = source_filter_to_pmsfcr(config);
	if (types)
		program->pmsfcr |= SPE_PMSFCR_FT | types;
	if (config->filter_events)
		program->pmsfcr |= SPE_PMSFCR_FE;
	if (config->filter_latency)
		program->pmsfcr |= SPE_PMSFCR_FL;
	/* Without FNE or FDS, the SPU does not apply the filter, so the daemon applies it. */
	if (config->filter_events_not && spu->features & SPE_PMSIDR_FNE) {
		program->pmsfcr |= SPE_PMSFCR_FNE;
		program->pmsnevfr = config->filter_events_not;
	}
	if (config->filter_sources_not && spu->features & SPE_PMSIDR_FDS) {
		program->pmsfcr |= SPE_PMSFCR_FDS;
		program->pmsdsfr = ~config->filter_sources_not;
	}
	program->pmsevfr = config->filter_events;
	program->pmslatfr = config->filter_latency;
	return 0;
}

int spu_program_make(const struct source_config *config, const struct spe_spu_config *spu,
		     struct spu_program *ret_program, const char **ret_reason)
{
	struct spu_program program = { .pmscr = SPE_PMSCR_TS };
	u64 interval = config->interval_ns / 256;
	int r;

	if (config->interval_ns < SPU_DRIVER_INTERVAL_MIN ||
	    config->interval_ns > SPU_DRIVER_INTERVAL_MAX) {
		*ret_reason =
			"the interval is not between 10 us and 4 s, the limits of the CPU clock "
			"and of PMSIRR_EL1";
		return -EINVAL;
	}
	if (!config->kernel && !config->user) {
		*ret_reason = "neither kernel nor user space is selected";
		return -EINVAL;
	}
	if (!config->no_context)
		program.pmscr |= SPE_PMSCR_CX;
	if (config->physical)
		program.pmscr |= SPE_PMSCR_PA;
	if (config->user)
		program.pmscr |= SPE_PMSCR_E0SPE;
	if (config->kernel)
		program.pmscr |= SPE_PMSCR_E1SPE;
	r = set_filter_registers(config, spu, &program, ret_reason);
	if (r < 0)
		return r;

	/* One operation stands for 1 ns of a busy CPU. D17.3.4 defines the mean interval. */
	program.pmsirr = SPE_FIELD_PREP(SPE_PMSIRR_INTERVAL, interval);
	program.interval = (u32)interval * 256 + 1;
	if (config->jitter) {
		program.pmsirr |= SPE_PMSIRR_RND;
		if (!(spu->features & SPE_PMSIDR_ERND))
			program.interval = (u32)interval * 256 + 128;
	}
	*ret_program = program;
	return 0;
}

static u64 get_buffer_address(const struct emulated_spu *driver)
{
	return (u64)(uintptr_t)driver->buffer;
}

/* Only the buffer is mapped: any other address is a translation fault. */
static u32 buffer_write(void *ctx, u64 addr, const u8 *data, size_t len)
{
	struct emulated_spu *driver = ctx;
	u64 offset = addr - get_buffer_address(driver);

	if (offset > driver->ring.size || len > driver->ring.size - offset)
		return spe_fault_make(SPE_PMBSR_EC_STAGE1, SPE_FSC_TRANSLATION);
	memcpy(driver->buffer + offset, data, len);
	return 0;
}

static void set_interrupt_level(void *ctx, bool level)
{
	struct emulated_spu *driver = ctx;

	driver->irq = level;
}

int emulated_spu_init(struct emulated_spu *driver, u32 cpu, const struct spe_spu_config *config,
		      const struct spu_program *program, const char **ret_reason)
{
	const struct spe_spu_io io = {
		.write = buffer_write,
		.irq = set_interrupt_level,
		.ctx = driver,
	};
	struct spe_spu_config own = *config;
	int r;

	/* Each CPU has its own sequence of random numbers (D17.3.2). */
	own.seed += cpu;
	*driver = (struct emulated_spu){
		.program = program,
		.cpu = cpu,
		.ring = {
			.size = BUFFER_SIZE,
			.align = 1U << config->align,
			.max_record = 1U << config->max_size,
		},
	};
	r = spe_spu_init(&driver->spu, &own, &io, ret_reason);
	if (r < 0)
		return r;
	driver->buffer = aligned_alloc(SPE_LIMIT_GRANULE, BUFFER_SIZE);
	if (!driver->buffer) {
		*ret_reason = "out of memory for a profiling buffer";
		return -ENOMEM;
	}
	memset(driver->buffer, 0, BUFFER_SIZE);

	spe_spu_write(&driver->spu, SPE_REG_PMSIRR, program->pmsirr);
	spe_spu_write(&driver->spu, SPE_REG_PMSFCR, program->pmsfcr);
	spe_spu_write(&driver->spu, SPE_REG_PMSEVFR, program->pmsevfr);
	spe_spu_write(&driver->spu, SPE_REG_PMSNEVFR, program->pmsnevfr);
	spe_spu_write(&driver->spu, SPE_REG_PMSLATFR, program->pmslatfr);
	spe_spu_write(&driver->spu, SPE_REG_PMSDSFR, program->pmsdsfr);
	/* 0: the SPU loads the counter from PMSIRR when profiling is enabled (D17.3.3). */
	spe_spu_write(&driver->spu, SPE_REG_PMSICR, 0);
	return 0;
}

void emulated_spu_deinit(struct emulated_spu *driver)
{
	free(driver->buffer);
	*driver = (struct emulated_spu){ 0 };
}

void emulated_spu_enable(struct emulated_spu *driver, u64 since_ns)
{
	driver->end_ns = since_ns;
}

void emulated_spu_set_blind_cause(struct emulated_spu *driver, enum source_blind cause)
{
	driver->cause = cause;
}

static void set_blind_time(struct emulated_spu *driver, u64 ns)
{
	enum source_blind cause = driver->dead ? SOURCE_BLIND_FAULT : driver->cause;

	memset(driver->blind_by, 0, sizeof(driver->blind_by));
	driver->blind_ns = ns;
	driver->blind_by[cause] = ns;
}

void emulated_spu_arm_window(struct emulated_spu *driver, u64 now_ns)
{
	struct spe_spu *spu = &driver->spu;
	u64 start;

	/* spe_window_place() finds space: the whole buffer is free when a window is armed. */
	if (driver->armed || driver->dead || spe_window_place(&driver->ring, &driver->window) < 0)
		return;
	start = get_buffer_address(driver) + (driver->window.start & (driver->ring.size - 1));
	/*
	 * The perf ring may deliver a tick late: the window that contains the time of the tick is
	 * then closed already.
	 */
	if (now_ns < driver->end_ns)
		now_ns = driver->end_ns;
	set_blind_time(driver, driver->end_ns ? now_ns - driver->end_ns : 0);
	driver->cause = SOURCE_BLIND_HANDLING;
	driver->start_ns = now_ns;
	driver->written = spu->stats.written;
	driver->armed = true;

	spe_spu_write(spu, SPE_REG_PMBSR, 0);
	spe_spu_write(spu, SPE_REG_PMBPTR, start);
	spe_spu_write(spu, SPE_REG_PMBLIMITR,
		      (start + driver->window.limit - driver->window.start) | SPE_PMBLIMITR_E);
	spe_spu_write(spu, SPE_REG_PMSCR, driver->program->pmscr);
}

bool emulated_spu_samples_el(const struct emulated_spu *driver, u8 el)
{
	return driver->armed && spe_spu_profiling_enabled(&driver->spu, el);
}

static u32 get_verdict_flags(const struct spe_syndrome_verdict *verdict)
{
	u32 flags = 0;

	if (verdict->class == SPE_SYNDROME_NONE)
		flags |= WINDOW_PARTIAL;
	else if (verdict->class != SPE_SYNDROME_FULL)
		flags |= WINDOW_FAULTED;
	if (verdict->truncated)
		flags |= WINDOW_TRUNCATED;
	if (verdict->collided)
		flags |= WINDOW_COLLIDED;
	if (verdict->suspect)
		flags |= WINDOW_SUSPECT;
	return flags;
}

static void window_deliver(struct emulated_spu *driver, size_t len, u64 now_ns, u32 flags,
			   const struct source_sink *sink)
{
	struct source_window window = {
		.data = driver->buffer + (driver->window.start & (driver->ring.size - 1)),
		.len = len,
		.start_ns = driver->start_ns,
		.end_ns = now_ns > driver->start_ns ? now_ns : driver->start_ns,
		.blind_ns = driver->blind_ns,
		.written = driver->spu.stats.written - driver->written,
		.interval = driver->program->interval,
		.cpu = driver->cpu,
		.tid = -1,
		.flags = flags,
		.align = driver->ring.align,
		.max_record = driver->ring.max_record,
		.pmsver = (u8)spe_spu_read(&driver->spu, SPE_REG_PMSVER),
		.backend = BACKEND_EMULATED,
		.unit = driver->spu.config.features & SPE_PMSIDR_ARCHINST ? UNIT_INSTRUCTIONS :
									    UNIT_MICRO_OPS,
		/*
		 * Timestamps are ns of CLOCK_MONOTONIC, like those of a generic timer with 1 GHz.
		 */
		.clock = { .mult = 1 },
	};

	memcpy(window.blind_by, driver->blind_by, sizeof(window.blind_by));
	driver->end_ns = window.end_ns;
	sink->window(sink->ctx, &window);
}

/* D17.8: disable profiling first; only then are the syndrome and the write pointer final. */
static void close_window(struct emulated_spu *driver, u64 now_ns, const struct source_sink *sink)
{
	struct spe_spu *spu = &driver->spu;
	struct spe_syndrome_verdict verdict;
	u64 start, end, len;

	spe_spu_write(spu, SPE_REG_PMSCR, 0);
	spe_spu_write(spu, SPE_REG_PMBLIMITR, 0);
	verdict = spe_syndrome_interpret(spe_spu_read(spu, SPE_REG_PMBSR));
	start = get_buffer_address(driver) + (driver->window.start & (driver->ring.size - 1));
	end = spe_spu_read(spu, SPE_REG_PMBPTR);
	len = end - start;
	if (len > driver->window.limit - driver->window.start)
		len = 0;
	spe_spu_write(spu, SPE_REG_PMBSR, 0);

	driver->armed = false;
	driver->irq = false;
	if (verdict.action >= SPE_ACTION_STOP_CPU)
		driver->dead = true;
	window_deliver(driver, len, now_ns, get_verdict_flags(&verdict), sink);
	driver->ring.head = driver->window.start + len;
	driver->ring.tail = driver->ring.head;
}

/* If the SPU has raised a management event, deliver the window and arm the next one. */
static void interrupt_handle(struct emulated_spu *driver, u64 now_ns,
			     const struct source_sink *sink)
{
	if (!driver->irq)
		return;
	close_window(driver, now_ns, sink);
	emulated_spu_arm_window(driver, now_ns);
}

void emulated_spu_sample(struct emulated_spu *driver, const struct spe_operation *operation,
			 const struct source_sink *sink)
{
	u64 count = spe_spu_operations_until_sample(&driver->spu);

	if (!count || !spe_spu_count_operations(&driver->spu, count))
		return;
	spe_spu_sample_operation(&driver->spu, operation);
	interrupt_handle(driver, operation->timestamp, sink);
}

void emulated_spu_execute(struct emulated_spu *driver, const struct spe_instruction *instruction,
			  bool each, const struct source_sink *sink)
{
	u64 count = each ? spe_spu_operations_until_sample(&driver->spu) : 0;

	if (count > 1)
		spe_spu_count_operations(&driver->spu, count - 1);
	spe_spu_execute_instruction(&driver->spu, instruction);
	interrupt_handle(driver, instruction->timestamp, sink);
}

void emulated_spu_close_window(struct emulated_spu *driver, u64 now_ns,
			       const struct source_sink *sink)
{
	if (driver->armed) {
		close_window(driver, now_ns, sink);
		return;
	}
	if (!driver->end_ns || now_ns <= driver->end_ns)
		return;
	set_blind_time(driver, now_ns - driver->end_ns);
	driver->start_ns = now_ns;
	driver->written = driver->spu.stats.written;
	window_deliver(driver, 0, now_ns, WINDOW_PARTIAL, sink);
}

void emulated_spu_disable(struct emulated_spu *driver)
{
	driver->end_ns = 0;
}
