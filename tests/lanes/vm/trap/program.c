// SPDX-License-Identifier: GPL-2.0-only
/*
 * The synthetic source: runs a synthetic program with a fixed seed. The program advances only when
 * the SPU selects an operation, so two drivers sample the same operations.
 */
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/timex.h>

#include "kmod/compat.h"
#include "trap.h"

static unsigned int tick_us = 200;
module_param(tick_us, uint, 0644);
MODULE_PARM_DESC(tick_us, "microseconds between two batches of samples");

static unsigned int batch = 16;
module_param(batch, uint, 0644);
MODULE_PARM_DESC(batch, "samples that a tick brings");

/* addresses of the program and of its data */
#define PROGRAM_PC 0xaaaa00001000ULL
#define PROGRAM_VA 0xffff00000000ULL
#define PROGRAM_SEED 7

/* Delay in nanoseconds after which an interrupt that is still asserted is handled again. */
#define LEVEL_NS 10000

void trap_program_schedule(struct trap_cpu *cpu)
{
	if (spe_spu_operations_until_sample(&cpu->emu.spu)) {
		if (!hrtimer_active(&cpu->timer))
			hrtimer_start(&cpu->timer, ns_to_ktime(tick_us * 1000ULL),
				      HRTIMER_MODE_REL_PINNED_HARD);
	} else if (cpu->emu.spu.irq_level) {
		hrtimer_start(&cpu->timer, ns_to_ktime(LEVEL_NS), HRTIMER_MODE_REL_PINNED_HARD);
	} else {
		/*
		 * The timer is pinned to this CPU, so its callback is either the caller or not
		 * running.
		 */
		hrtimer_try_to_cancel(&cpu->timer);
	}
}

static void program_sample(struct trap_cpu *cpu)
{
	struct spe_operation operation;

	spe_synthetic_execute_next(&cpu->program, &operation);
	operation.timestamp = get_cycles();
	spe_inject_and_sample(&cpu->emu.inject, &cpu->emu.spu, &operation);
}

/* Runs on the CPU in hard interrupt context. */
static enum hrtimer_restart program_timer_expired(struct hrtimer *timer)
{
	struct trap_cpu *cpu = container_of(timer, struct trap_cpu, timer);
	struct spe_spu *spu = &cpu->emu.spu;
	unsigned int i;

	for (i = 0; i < batch; i++) {
		u64 until = spe_spu_operations_until_sample(spu);

		if (!until)
			break;
		if (spe_spu_count_operations(spu, until))
			program_sample(cpu);
	}
	if (spu->irq_level)
		trap_set_interrupt(cpu, true);
	else if (!spe_spu_operations_until_sample(spu))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(spu->irq_level ? LEVEL_NS : tick_us * 1000ULL));
	return HRTIMER_RESTART;
}

int trap_program_init(struct trap_cpu *cpu, unsigned int number, const char *name)
{
	struct spe_synthetic_config config = {
		.cpu = number & 1,
		.mispredicted = 64,
		.context = 4242,
		.pc = PROGRAM_PC,
		.va = PROGRAM_VA,
		.working_set = 4 << 20,
		.seed = PROGRAM_SEED + number,
	};
	enum spe_program program;
	int ret;

	compat_hrtimer_setup(&cpu->timer, program_timer_expired, HRTIMER_MODE_REL_PINNED_HARD);
	ret = spe_program_from_name(name, &program);
	if (ret)
		return ret;
	config.program = (u8)program;
	return spe_synthetic_init(&cpu->program, &config, NULL);
}
