/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Convert a sampling configuration from userspace to a sampling program: the values of the
 * registers.
 */
#ifndef SPEPROF_PROGRAM_H
#define SPEPROF_PROGRAM_H

#include <linux/speprof.h>
#include <linux/types.h>

/**
 * struct speprof_sampling_program - values of the SPU's registers
 * @pmscr: PMSCR_EL1 while sampling
 * @pmsfcr: the filters that are enabled
 * @pmsevfr: events that a record must have
 * @pmsnevfr: events that a record must not have
 * @pmslatfr: minimum latency
 * @pmsdsfr: data sources that pass
 * @pmsirr: sample interval and jitter
 * @interval: mean sample interval that results from @pmsirr, in operations (D17.3.4)
 * @generation: numbers the programs of a session from 1; 0: there is no program
 */
struct speprof_sampling_program {
	u64 pmscr;
	u64 pmsfcr;
	u64 pmsevfr;
	u64 pmsnevfr;
	u64 pmslatfr;
	u64 pmsdsfr;
	u64 pmsirr;
	u64 interval;
	u32 generation;
};

/**
 * speprof_sampling_program_make() - translate a sampling configuration to register values
 * @sampling: checked for undefined flags and reserved values
 * @spu: features of the SPU
 * @ret_program: the program, without its generation
 *
 * Context: any; depends only on its arguments.
 * Return: 0; -ERANGE if the interval or the minimum latency is out of the SPU's range; -EOPNOTSUPP
 * if the SPU does not have a requested filter, or cannot filter by a requested event.
 */
int speprof_sampling_program_make(const struct speprof_sampling *sampling,
				  const struct speprof_cpu_info *spu,
				  struct speprof_sampling_program *ret_program);

#endif
