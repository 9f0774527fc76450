// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live operation source: a timer stands for the sample interval, and what it interrupts
 * is the sampled operation. PC, Exception level, TID and time are true.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

#include <asm/irq_regs.h>

#include "emu.h"

/* An interrupt request that stays up is taken again after this. */
#define LEVEL_NS 10000

static u64 members_in(const struct speprof_emu_cpu *cpu, u64 ns)
{
	return mul_u64_u64_div_u64(ns, cpu->ops_per_us, NSEC_PER_USEC);
}

static u64 ns_of(const struct speprof_emu_cpu *cpu, u64 members)
{
	return mul_u64_u64_div_u64(members, NSEC_PER_USEC, cpu->ops_per_us);
}

void speprof_emu_source_count_passed(struct speprof_emu_cpu *cpu)
{
	u64 now, passed;

	if (!cpu->planned)
		return;
	now = ktime_get_ns();
	/* The one that is selected is the timer's to deliver. */
	passed = min(members_in(cpu, now - cpu->planned_at), cpu->planned - 1);
	if (passed)
		spe_spu_pass(&cpu->spu, passed);
	cpu->planned = 0;
}

/* The next tick is due when the interval is over, and not before @least_ns have passed. */
static void source_schedule(struct speprof_emu_cpu *cpu, u64 least_ns)
{
	u64 until = spe_spu_until_sample(&cpu->spu);

	cpu->planned = until;
	if (until) {
		cpu->planned_at = ktime_get_ns();
		hrtimer_start(&cpu->timer, ns_to_ktime(max(ns_of(cpu, until), least_ns)),
			      HRTIMER_MODE_REL_PINNED_HARD);
	} else if (cpu->spu.irq_level) {
		hrtimer_start(&cpu->timer, ns_to_ktime(LEVEL_NS), HRTIMER_MODE_REL_PINNED_HARD);
	} else {
		/* On this CPU, so its callback is not running, or is what called. */
		hrtimer_try_to_cancel(&cpu->timer);
	}
}

void speprof_emu_source_schedule(struct speprof_emu_cpu *cpu)
{
	source_schedule(cpu, 0);
}

/* Returns whether what was interrupted is of the population. */
static bool source_sample(struct speprof_emu_cpu *cpu, struct pt_regs *regs)
{
	u32 context = (u32)task_pid_nr(current);
	u8 kernel_el = cpu->spu.config.e2h ? 2 : 1;
	struct spe_operation operation = {
		.pc = instruction_pointer(regs),
		.timestamp = cpu->ticks(),
		.has = cpu->spu.config.e2h ? SPE_OPERATION_CONTEXT2 : SPE_OPERATION_CONTEXT1,
		.contextidr_el1 = context,
		.contextidr_el2 = context,
		.el = user_mode(regs) ? 0 : kernel_el,
		.ns = true,
	};

	/*
	 * What the CPU idles away executes nothing, and what it does at a level that is
	 * not sampled is not of the population: then no part of the interval has passed.
	 */
	if (is_idle_task(current) || !spe_spu_enabled(&cpu->spu, operation.el))
		return false;
	if (!spe_spu_pass(&cpu->spu, cpu->planned))
		return true;
	spe_opmodel_operation(&cpu->model, cpu->profile, &operation);
	spe_inject_sample(&cpu->inject, &cpu->spu, &operation);
	return true;
}

/* In hard interrupt context on the CPU. */
static enum hrtimer_restart source_tick(struct hrtimer *timer)
{
	struct speprof_emu_cpu *cpu = container_of(timer, struct speprof_emu_cpu, timer);
	struct pt_regs *regs = get_irq_regs();
	u64 began = ktime_get_ns(), least_ns;
	bool passed = false;

	if (cpu->planned && regs)
		passed = source_sample(cpu, regs);
	cpu->planned = 0;
	if (cpu->spu.irq_level)
		cpu->interrupt();
	/*
	 * What is due and was not there to be sampled is still due: the machine must get on. So
	 * it must where its host lets it run so seldom that a tick takes as long as an interval:
	 * then half of the time is left to others, and the interval is what suffers.
	 */
	least_ns = passed ? 0 : EMU_TICK_MIN_US * NSEC_PER_USEC;
	source_schedule(cpu, max(least_ns, ktime_get_ns() - began));
	return HRTIMER_NORESTART;
}

void speprof_emu_source_init(struct speprof_emu_cpu *cpu)
{
	hrtimer_init(&cpu->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	cpu->timer.function = source_tick;
}

void speprof_emu_source_deinit(struct speprof_emu_cpu *cpu)
{
	hrtimer_cancel(&cpu->timer);
}
