// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provide the operations that an emulated SPU samples. A timer expires after each sample interval,
 * and the instruction that it interrupts is the sampled operation. Its PC, Exception level, TID and
 * time are real.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

#include <asm/irq_regs.h>

#include "emu.h"
#include "kmod/compat.h"

/* Delay after which an interrupt request that is still asserted is handled again. */
#define LEVEL_NS 10000

static u64 ns_to_operations(const struct speprof_emu_cpu *cpu, u64 ns)
{
	return mul_u64_u64_div_u64(ns, cpu->ops_per_us, NSEC_PER_USEC);
}

static u64 operations_to_ns(const struct speprof_emu_cpu *cpu, u64 members)
{
	return mul_u64_u64_div_u64(members, NSEC_PER_USEC, cpu->ops_per_us);
}

void speprof_emu_source_count_passed(struct speprof_emu_cpu *cpu)
{
	u64 now, passed;

	if (!cpu->planned)
		return;
	now = ktime_get_ns();
	/*
	 * Do not count the last operation of the interval: the callback of the timer counts and
	 * samples it.
	 */
	passed = min(ns_to_operations(cpu, now - cpu->planned_at), cpu->planned - 1);
	if (passed)
		spe_spu_count_operations(&cpu->spu, passed);
	cpu->planned = 0;
}

/* Set the timer to the end of the interval, but at least @min_ns from now. */
static void source_schedule(struct speprof_emu_cpu *cpu, u64 min_ns)
{
	u64 until = spe_spu_operations_until_sample(&cpu->spu);

	cpu->planned = until;
	if (until) {
		cpu->planned_at = ktime_get_ns();
		hrtimer_start(&cpu->timer, ns_to_ktime(max(operations_to_ns(cpu, until), min_ns)),
			      HRTIMER_MODE_REL_PINNED_HARD);
	} else if (cpu->spu.irq_level) {
		hrtimer_start(&cpu->timer, ns_to_ktime(LEVEL_NS), HRTIMER_MODE_REL_PINNED_HARD);
	} else {
		/*
		 * The timer is pinned to this CPU: its callback is either the caller or not
		 * running.
		 */
		hrtimer_try_to_cancel(&cpu->timer);
	}
}

void speprof_emu_source_schedule(struct speprof_emu_cpu *cpu)
{
	source_schedule(cpu, 0);
}

/* Sample the interrupted operation. Return true if it belongs to the sample population. */
static bool source_sample(struct speprof_emu_cpu *cpu, struct pt_regs *regs)
{
	u32 context = (u32)task_pid_nr(current);
	u8 kernel_el = cpu->spu.config.e2h ? 2 : 1;
	struct spe_operation operation = {
		.pc = instruction_pointer(regs),
		.timestamp = cpu->ticks(),
		.valid = cpu->spu.config.e2h ? SPE_OPERATION_CONTEXT2 : SPE_OPERATION_CONTEXT1,
		.contextidr_el1 = context,
		.contextidr_el2 = context,
		.el = user_mode(regs) ? 0 : kernel_el,
		.ns = true,
	};

	/*
	 * An idle CPU executes no operations, and operations at an Exception level that is not
	 * sampled do not belong to the sample population. In both cases the interval does not
	 * advance.
	 */
	if (is_idle_task(current) || !spe_spu_profiling_enabled(&cpu->spu, operation.el))
		return false;
	if (!spe_spu_count_operations(&cpu->spu, cpu->planned))
		return true;
	spe_opmodel_complete_operation(&cpu->model, cpu->profile, &operation);
	spe_inject_and_sample(&cpu->inject, &cpu->spu, &operation);
	return true;
}

/* Runs in hard interrupt context on the CPU. */
static enum hrtimer_restart source_timer_expired(struct hrtimer *timer)
{
	struct speprof_emu_cpu *cpu = container_of(timer, struct speprof_emu_cpu, timer);
	struct pt_regs *regs = get_irq_regs();
	u64 start = ktime_get_ns(), min_ns;
	bool passed = false;

	if (cpu->planned && regs)
		passed = source_sample(cpu, regs);
	cpu->planned = 0;
	if (cpu->spu.irq_level)
		cpu->interrupt();
	/*
	 * An operation that could not be sampled is still due, but the timer must not expire again
	 * immediately. In a guest that its host rarely runs, the callback may take as long as an
	 * interval. The timer then waits as long as the callback took: the interval grows, and half
	 * of the time remains for other work.
	 */
	min_ns = passed ? 0 : EMU_TICK_MIN_US * NSEC_PER_USEC;
	source_schedule(cpu, max(min_ns, ktime_get_ns() - start));
	return HRTIMER_NORESTART;
}

void speprof_emu_source_init(struct speprof_emu_cpu *cpu)
{
	compat_hrtimer_setup(&cpu->timer, source_timer_expired, HRTIMER_MODE_REL_PINNED_HARD);
}

void speprof_emu_source_deinit(struct speprof_emu_cpu *cpu)
{
	hrtimer_cancel(&cpu->timer);
}
