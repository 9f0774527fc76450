// SPDX-License-Identifier: GPL-2.0-only
#include <linux/errno.h>

#include "codec/registers.h"
#include "program.h"

static u64 pmscr_make(const struct speprof_sampling *sampling, const struct speprof_cpu_info *spu)
{
	u64 reg = 0;

	if (sampling->flags & SPEPROF_SAMPLE_USER)
		reg |= SPE_PMSCR_E0SPE;
	if (sampling->flags & SPEPROF_SAMPLE_KERNEL)
		reg |= SPE_PMSCR_E1SPE;
	if (sampling->collect & SPEPROF_COLLECT_TIMESTAMP)
		reg |= SPE_PMSCR_TS;
	if (sampling->collect & SPEPROF_COLLECT_PHYSICAL_TIME)
		reg |= SPE_FIELD_PREP(SPE_PMSCR_PCT, SPE_PMSCR_PCT_PHYS);
	if (sampling->collect & SPEPROF_COLLECT_CONTEXT && spu->flags & SPEPROF_CPU_CONTEXT)
		reg |= SPE_PMSCR_CX;
	if (sampling->collect & SPEPROF_COLLECT_PHYSICAL_ADDRESS)
		reg |= SPE_PMSCR_PA;
	return reg;
}

static int filters_make(const struct speprof_sampling *sampling, const struct speprof_cpu_info *spu,
			struct speprof_sampling_program *program)
{
	u64 pmsfcr = 0;

	if (sampling->types) {
		if (!(spu->pmsidr & SPE_PMSIDR_FT))
			return -EOPNOTSUPP;
		pmsfcr |= SPE_PMSFCR_FT;
		if (sampling->types & SPEPROF_TYPE_BRANCH)
			pmsfcr |= SPE_PMSFCR_B;
		if (sampling->types & SPEPROF_TYPE_LOAD)
			pmsfcr |= SPE_PMSFCR_LD;
		if (sampling->types & SPEPROF_TYPE_STORE)
			pmsfcr |= SPE_PMSFCR_ST;
	}
	if (sampling->events) {
		if (!(spu->pmsidr & SPE_PMSIDR_FE) || sampling->events & ~spu->events)
			return -EOPNOTSUPP;
		pmsfcr |= SPE_PMSFCR_FE;
	}
	if (sampling->events_not) {
		if (!(spu->pmsidr & SPE_PMSIDR_FNE) || sampling->events_not & ~spu->events)
			return -EOPNOTSUPP;
		pmsfcr |= SPE_PMSFCR_FNE;
	}
	if (sampling->min_latency) {
		if (!(spu->pmsidr & SPE_PMSIDR_FL))
			return -EOPNOTSUPP;
		if (sampling->min_latency > SPE_PMSLATFR_MINLAT)
			return -ERANGE;
		pmsfcr |= SPE_PMSFCR_FL;
	}
	if (sampling->sources_not) {
		if (!(spu->pmsidr & SPE_PMSIDR_FDS))
			return -EOPNOTSUPP;
		pmsfcr |= SPE_PMSFCR_FDS;
	}

	program->pmsfcr = pmsfcr;
	program->pmsevfr = sampling->events;
	program->pmsnevfr = sampling->events_not;
	program->pmslatfr = SPE_FIELD_PREP(SPE_PMSLATFR_MINLAT, sampling->min_latency);
	/* In PMSDSFR_EL1 a bit of 1 lets records with that data source pass. */
	program->pmsdsfr = ~sampling->sources_not;
	return 0;
}

int speprof_sampling_program_make(const struct speprof_sampling *sampling,
				  const struct speprof_cpu_info *spu,
				  struct speprof_sampling_program *ret_program)
{
	bool jitter = sampling->flags & SPEPROF_SAMPLE_JITTER;
	struct speprof_sampling_program program = { .pmscr = pmscr_make(sampling, spu) };
	u64 counts;
	int ret;

	if (sampling->interval < spu->interval_min || sampling->interval > spu->interval_max)
		return -ERANGE;
	ret = filters_make(sampling, spu, &program);
	if (ret)
		return ret;

	counts = sampling->interval >> 8;
	program.pmsirr = SPE_FIELD_PREP(SPE_PMSIRR_INTERVAL, counts);
	if (jitter)
		program.pmsirr |= SPE_PMSIRR_RND;
	/* The mean interval, including the random part (notes in D17.3.4.1 to D17.3.4.3). */
	program.interval = 256 * counts + (jitter && !(spu->pmsidr & SPE_PMSIDR_ERND) ? 128 : 1);
	*ret_program = program;
	return 0;
}
