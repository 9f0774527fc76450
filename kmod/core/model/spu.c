// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The SPU model: its registers, its interval counters (D17.3), and the steps of a sample from
 * selection to the buffer
 */
#include "spu-internal.h"

/* SplitMix64 is uniform for every seed (D17.3.2). */
static u64 draw_random_u64(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static u8 draw_random_byte(struct spe_spu *spu)
{
	return (u8)(draw_random_u64(&spu->random) >> 56);
}

/*
 * Draw from a separate random state, so that recording does not change which operations are
 * selected.
 */
u64 spe_spu_draw_random(struct spe_spu *spu)
{
	return draw_random_u64(&spu->chance);
}

static bool has_interval_jitter(const struct spe_spu *spu)
{
	return spu->reg[SPE_REG_PMSIRR] & SPE_PMSIRR_RND;
}

static bool has_ecount_jitter(const struct spe_spu *spu)
{
	return has_interval_jitter(spu) && spu->config.features & SPE_PMSIDR_ERND;
}

static u64 pmsicr_get_count(const struct spe_spu *spu)
{
	return SPE_FIELD_GET(SPE_PMSICR_COUNT, spu->reg[SPE_REG_PMSICR]);
}

static u64 pmsicr_get_ecount(const struct spe_spu *spu)
{
	return SPE_FIELD_GET(SPE_PMSICR_ECOUNT, spu->reg[SPE_REG_PMSICR]);
}

static void pmsicr_set_counters(struct spe_spu *spu, u64 count, u64 ecount)
{
	spu->reg[SPE_REG_PMSICR] =
		SPE_FIELD_PREP(SPE_PMSICR_COUNT, count) | SPE_FIELD_PREP(SPE_PMSICR_ECOUNT, ecount);
}

/* Return the value that is loaded into the primary counter (D17.3.3, D17.3.4). */
static u64 get_reload_count(struct spe_spu *spu)
{
	u64 count = spu->reg[SPE_REG_PMSIRR] & SPE_PMSIRR_INTERVAL;

	if (has_interval_jitter(spu) && !has_ecount_jitter(spu))
		count |= draw_random_byte(spu);
	return count;
}

/* Return the next value of ECOUNT, which is drawn once. */
static u64 ecount_draw_once(struct spe_spu *spu)
{
	if (!spu->drawn) {
		spu->draw = draw_random_byte(spu);
		spu->drawn = true;
	}
	return spu->draw;
}

static bool spu_is_profiling(const struct spe_spu *spu)
{
	return spe_spu_selects_operations(spu) &&
	       (spu->collect[0].sampled || spu->collect[1].sampled || spu->collect[2].sampled);
}

/*
 * Apply a change of registers. The interrupt is signalled last, because its handler may call the
 * SPU.
 */
void spe_spu_apply_registers(struct spe_spu *spu)
{
	bool enabled = spu_is_profiling(spu);
	/* RTSJRP: the interrupt request is HIGH as long as PMBSR_EL1.S is 1, if it is enabled. */
	bool level =
		spu->reg[SPE_REG_PMBSR] & SPE_PMBSR_S && spe_routing_irq_enabled(&spu->controls);

	/* D17.3.3: when profiling is enabled, only a counter that is 0 is loaded from PMSIRR. */
	if (enabled && !spu->enabled && !spu->reg[SPE_REG_PMSICR])
		pmsicr_set_counters(spu, get_reload_count(spu), 0);
	spu->enabled = enabled;
	/* Operations that were selected and did not finish are discarded when selection ends. */
	if (!spe_spu_selects_operations(spu)) {
		spu->stats.discarded += spu->in_flight;
		spu->in_flight = 0;
	}

	if (level != spu->irq_level) {
		spu->irq_level = level;
		if (spu->io.irq)
			spu->io.irq(spu->io.ctx, level);
	}
}

int spe_spu_init(struct spe_spu *spu, const struct spe_spu_config *config,
		 const struct spe_spu_io *io, const char **ret_reason)
{
	const char *reason = spe_spu_config_find_error(config);

	if (!reason && !io->write)
		reason = "io: no write";
	if (reason) {
		if (ret_reason)
			*ret_reason = reason;
		return -EINVAL;
	}
	memset(spu, 0, sizeof(*spu));
	spu->config = *config;
	spu->io = *io;
	spu->random = config->seed;
	spu->chance = ~config->seed;
	spe_spu_config_apply(spu);
	spe_spu_prepare_headers(spu);
	spu->controls.ns = true;
	spu->controls.e2pb = 3;
	spe_spu_timers_set(spu, &(const struct spe_timers){ 0 });
	spe_spu_controls_derive(spu);
	return 0;
}
SPE_EXPORT(spe_spu_init);

u64 spe_spu_read(const struct spe_spu *spu, enum spe_reg reg)
{
	return (unsigned int)reg < SPE_REG_COUNT ? spu->reg[reg] : 0;
}
SPE_EXPORT(spe_spu_read);

void spe_spu_write(struct spe_spu *spu, enum spe_reg reg, u64 value)
{
	if ((unsigned int)reg >= SPE_REG_COUNT)
		return;
	spu->reg[reg] &= ~spu->writable[reg];
	spu->reg[reg] |= value & spu->writable[reg];
	/* Software changed the registers, which ends the selection of operations after a fault. */
	spu->lag = 0;
	if (reg == SPE_REG_PMSCR)
		spe_spu_controls_derive(spu);
	spe_spu_apply_registers(spu);
}
SPE_EXPORT(spe_spu_write);

bool spe_spu_profiling_enabled(const struct spe_spu *spu, u8 el)
{
	return el < ARRAY_SIZE(spu->collect) && spu->collect[el].sampled &&
	       spe_spu_selects_operations(spu);
}
SPE_EXPORT(spe_spu_profiling_enabled);

u64 spe_spu_operations_until_sample(struct spe_spu *spu)
{
	if (!spu_is_profiling(spu))
		return 0;
	if (!has_ecount_jitter(spu))
		return pmsicr_get_count(spu) + 1;
	if (pmsicr_get_ecount(spu))
		return pmsicr_get_ecount(spu);
	return pmsicr_get_count(spu) + 1 + ecount_draw_once(spu);
}
SPE_EXPORT(spe_spu_operations_until_sample);

/*
 * Count @members operations without FEAT_SPE_ERnd (D17.3.4.1, D17.3.4.2). Return true if the last
 * operation is selected.
 */
static bool count_without_ernd(struct spe_spu *spu, u64 members)
{
	u64 count = pmsicr_get_count(spu);

	if (members <= count) {
		pmsicr_set_counters(spu, count - members, pmsicr_get_ecount(spu));
		return false;
	}
	/* The previous operation decremented the counter to 0, so this operation is selected. */
	pmsicr_set_counters(spu, get_reload_count(spu), pmsicr_get_ecount(spu));
	return true;
}

/*
 * Count @members operations with FEAT_SPE_ERnd: after the primary counter PMSICR.COUNT is 0, a
 * random ECOUNT delays the selection (D17.3.4.3). Returns true if the last operation is selected.
 */
static bool count_with_ernd(struct spe_spu *spu, u64 members)
{
	u64 count = pmsicr_get_count(spu), ecount = pmsicr_get_ecount(spu);

	if (!ecount) {
		if (members <= count) {
			pmsicr_set_counters(spu, count - members, 0);
			return false;
		}
		members -= count + 1;
		count = get_reload_count(spu);
		ecount = ecount_draw_once(spu);
		spu->drawn = false;
	}
	/* While ECOUNT counts down, COUNT already counts the next interval, and stops at 0. */
	pmsicr_set_counters(spu, count > members ? count - members : 0, ecount - members);
	return ecount == members;
}

/* Report a collision: the operation is not sampled, and COLL is set in PMBSR (D17.3.7). */
static void report_collision(struct spe_spu *spu)
{
	unsigned int x = spe_routing_target(&spu->controls, SPE_ROUTING_OTHER_EVENT);

	spu->stats.collisions++;
	*spe_spu_get_pmbsr(spu, x) |= SPE_PMBSR_COLL;
	spe_spu_signal_event(spu, SPE_SPU_EVENT_COLLISION);
}

bool spe_spu_count_operations(struct spe_spu *spu, u64 count)
{
	u64 until = spe_spu_operations_until_sample(spu);

	if (count > until)
		count = until;
	if (!count)
		return false;
	spu->stats.operations += count;
	if (!(has_ecount_jitter(spu) ? count_with_ernd(spu, count) :
				       count_without_ernd(spu, count)))
		return false;

	if (spu->in_flight >= spu->config.in_flight) {
		report_collision(spu);
		return false;
	}
	spu->in_flight++;
	spu->stats.selected++;
	if (!spu->lag)
		return true;
	/*
	 * RWVKFM: after a fault, the SPU selects and discards some more operations. Stop after the
	 * last of them.
	 */
	if (--spu->lag == 0)
		spe_spu_apply_registers(spu);
	return spu->in_flight;
}
SPE_EXPORT(spe_spu_count_operations);

/*
 * Apply the filters to a sample that completed, and signal its PMU events. Return true if the
 * record must be written.
 */
static bool complete_sample(struct spe_spu *spu, const struct spe_operation *operation)
{
	spe_spu_signal_event(spu, SPE_SPU_EVENT_FEED);
	if (!spe_spu_passes_filters(spu, operation)) {
		spu->stats.filtered++;
		return false;
	}
	spu->stats.passed++;
	spe_spu_signal_event(spu, SPE_SPU_EVENT_FILTRATE);
	/* The CTI gets its trigger even if the record is discarded below (D17.8). */
	spe_spu_signal_event(spu, SPE_SPU_EVENT_TRIGGER);
	if (!spe_spu_discards_records(spu) && spe_spu_buffer_enabled(spu))
		return true;
	spu->stats.discarded++;
	return false;
}

void spe_spu_sample_operation(struct spe_spu *spu, const struct spe_operation *operation)
{
	/*
	 * The buffer was disabled after the operation was selected, so the sample is already
	 * discarded.
	 */
	if (!spu->in_flight)
		return;
	spu->in_flight--;
	if (!complete_sample(spu, operation))
		return;
	spe_spu_buffer_write(spu, operation);
	spe_spu_apply_registers(spu);
}
SPE_EXPORT(spe_spu_sample_operation);

void spe_spu_drop_operation(struct spe_spu *spu)
{
	if (!spu->in_flight)
		return;
	spu->in_flight--;
	spu->stats.uncaptured++;
	spe_spu_signal_event(spu, SPE_SPU_EVENT_FEED);
}
SPE_EXPORT(spe_spu_drop_operation);

bool spe_spu_freezes_pmu(const struct spe_spu *spu)
{
	const u64 on = SPE_PMBLIMITR_E | SPE_PMBLIMITR_PMFZ;

	return (spu->reg[SPE_REG_PMBLIMITR] & on) == on && spe_spu_is_stopped(spu);
}
SPE_EXPORT(spe_spu_freezes_pmu);

void spe_spu_execute_operation(struct spe_spu *spu, const struct spe_operation *operation)
{
	if (spe_spu_profiling_enabled(spu, operation->el) && spe_spu_count_operations(spu, 1))
		spe_spu_sample_operation(spu, operation);
}
SPE_EXPORT(spe_spu_execute_operation);

void spe_spu_inject_fault(struct spe_spu *spu, u32 fault)
{
	if (spe_spu_buffer_record_abort(spu, fault))
		spe_spu_apply_registers(spu);
	else
		spu->inject = fault;
}
SPE_EXPORT(spe_spu_inject_fault);
