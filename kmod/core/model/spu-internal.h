/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the SPU model share. */
#ifndef SPE_CORE_SPU_INTERNAL_H
#define SPE_CORE_SPU_INTERNAL_H

#include "impdef.h"
#include "instruction.h"
#include "spu.h"

/* PMSVer, where a version decides. */
enum spe_pmsver {
	SPE_PMSVER_V1P1 = 2,
	SPE_PMSVER_V1P2,
	SPE_PMSVER_V1P3,
	SPE_PMSVER_V1P4,
	SPE_PMSVER_V1P5,
};

/* spu-config.c: the reason why @config is illegal, NULL if it is legal. */
const char *spe_spu_config_refuse(const struct spe_spu_config *config);

/* spu-config.c: the identification registers, RES0 masks and events of spu->config. */
void spe_spu_config_apply(struct spe_spu *spu);

/* spu-record.c: the packet headers that spu->config asks for. */
void spe_spu_record_prepare(struct spe_spu *spu);

/* spu-filter.c: whether the filters let @operation be recorded. */
bool spe_spu_filter(const struct spe_spu *spu, const struct spe_operation *operation);

/* spu-record.c: builds @operation's record in spu->record, padded; returns its bytes. */
size_t spe_spu_record(struct spe_spu *spu, const struct spe_operation *operation);

/* spu-buffer.c: records @operation, raises what management event comes of it. */
void spe_spu_buffer_write(struct spe_spu *spu, const struct spe_operation *operation);

/*
 * spu-buffer.c: takes @fault as a second event, if it is an asynchronous External
 * abort and PMBSR.S is 1 (RBPFPN); else returns false.
 */
bool spe_spu_buffer_abort(struct spe_spu *spu, u32 fault);

/* spu.c: a random number for what is not the interval. */
u64 spe_spu_chance(struct spe_spu *spu);

/* spu.c: after any change of registers. */
void spe_spu_update(struct spe_spu *spu);

/* spu-el.c: takes @timers, and the choices that the configuration made for them. */
void spe_spu_timers_set(struct spe_spu *spu, const struct spe_timers *timers);

/* spu-el.c: what follows from controls and PMSCR_ELx. */
void spe_spu_controls_derive(struct spe_spu *spu);

/* spu-el.c: PMBSR_ELx; it must exist. */
u64 *spe_spu_pmbsr(struct spe_spu *spu, unsigned int x);

/* spu-el.c: an S that is not ignored is 1, in PMBSR_EL2 or PMBSR_EL3. */
bool spe_spu_stopped_above(const struct spe_spu *spu);

/* Counters saturate (D18.2.3). */
static inline u16 spe_spu_saturated(const struct spe_spu *spu, u32 cycles)
{
	u32 max = spu->config.count_size == SPE_PMSIDR_COUNTSIZE_12 ? 0xfff : 0xffff;

	return (u16)(cycles < max ? cycles : max);
}

/* Reads memory: a load, a swap, an atomic that returns a value (D18.2.7). */
static inline bool spe_operation_is_load(const struct spe_operation *operation)
{
	return operation->op_class == SPE_OP_LOAD_STORE && !(operation->op_subclass & SPE_OP_LDST);
}

/* Out of line only with FEAT_SPE_EXC: this is asked several times for each sample. */
static inline bool spe_spu_stopped(const struct spe_spu *spu)
{
	return spu->reg[SPE_REG_PMBSR] & SPE_PMBSR_S ||
	       (spu->config.exc && spe_spu_stopped_above(spu));
}

/* PMBLIMITR.E is 1 and no event is waiting: the SPU may write (D17.8). */
static inline bool spe_spu_buffer_enabled(const struct spe_spu *spu)
{
	return spu->reg[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_E && !spe_spu_stopped(spu);
}

/* A choice of impdef.h is made the other way. */
static inline bool spe_spu_chooses(const struct spe_spu *spu, u64 choice)
{
	return spu->config.choices & choice;
}

static inline void spe_spu_tell(const struct spe_spu *spu, enum spe_spu_event event)
{
	if (spu->io.event)
		spu->io.event(spu->io.ctx, event);
}

/* Operations are selected: also for a while after a fault (RWVKFM). */
static inline bool spe_spu_selects(const struct spe_spu *spu)
{
	return spe_spu_buffer_enabled(spu) || spu->lag;
}

static inline bool spe_spu_discards(const struct spe_spu *spu)
{
	return SPE_FIELD_GET(SPE_PMBLIMITR_FM, spu->reg[SPE_REG_PMBLIMITR]) ==
	       SPE_PMBLIMITR_FM_DISCARD;
}

#endif
