/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sampling program: what userspace asks for as register values.
 */
#ifndef SPEPROF_PROGRAM_H
#define SPEPROF_PROGRAM_H

#include <linux/speprof.h>
#include <linux/types.h>

/**
 * struct speprof_program - register values for one SPU
 * @pmscr: while sampling
 * @interval: true mean interval (D17.3.4)
 * @generation: counts the programs of a session from 1; 0: none
 */
struct speprof_program {
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
 * speprof_program_make() - translate
 * @sampling: with no undefined flag or reserved value
 * @spu: abilities of the SPU
 * @ret_program: but for its generation
 *
 * Return: 0; -ERANGE: the interval or latency is out of the SPU's range;
 * -EOPNOTSUPP: it has no such filter, or cannot filter on such events.
 */
int speprof_program_make(const struct speprof_sampling *sampling,
			 const struct speprof_cpu_info *spu, struct speprof_program *ret_program);

#endif
