/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that the files of the SPU model share. */
#ifndef SPE_CORE_SPU_INTERNAL_H
#define SPE_CORE_SPU_INTERNAL_H

#include "impdef.h"
#include "instruction.h"
#include "spu.h"

/* Values of PMSVer. */
enum spe_pmsver {
	SPE_PMSVER_V1P1 = 2,
	SPE_PMSVER_V1P2,
	SPE_PMSVER_V1P3,
	SPE_PMSVER_V1P4,
	SPE_PMSVER_V1P5,
};

/*
 * spu-config.c: return the reason why @config is not legal, a static string; NULL if it is legal.
 */
const char *spe_spu_config_find_error(const struct spe_spu_config *config);

/* spu-config.c: derive the identification registers, RES0 masks and events from spu->config. */
void spe_spu_config_apply(struct spe_spu *spu);

/* spu-record.c: derive the packet headers from spu->config. */
void spe_spu_prepare_headers(struct spe_spu *spu);

/* spu-filter.c: check whether @operation passes the filters. */
bool spe_spu_passes_filters(const struct spe_spu *spu, const struct spe_operation *operation);

/* spu-record.c: write the record of @operation to spu->record, padded; return its size in bytes. */
size_t spe_spu_write_record(struct spe_spu *spu, const struct spe_operation *operation);

/* spu-buffer.c: record @operation in the buffer, and raise management events. */
void spe_spu_buffer_write(struct spe_spu *spu, const struct spe_operation *operation);

/*
 * spu-buffer.c: if PMBSR.S is 1 and @fault is an asynchronous External abort, record it as a second
 * event (RBPFPN) and return true.
 */
bool spe_spu_buffer_record_abort(struct spe_spu *spu, u32 fault);

/* spu.c: return a random number for any purpose except the interval. */
u64 spe_spu_draw_random(struct spe_spu *spu);

/* spu.c: apply a change of registers. */
void spe_spu_apply_registers(struct spe_spu *spu);

/* spu-el.c: copy @timers, and set the choices of the configuration in them. */
void spe_spu_timers_set(struct spe_spu *spu, const struct spe_timers *timers);

/* spu-el.c: derive what is collected from controls and PMSCR_ELx. */
void spe_spu_controls_derive(struct spe_spu *spu);

/* spu-el.c: return the register PMBSR_ELx, which must exist. */
u64 *spe_spu_get_pmbsr(struct spe_spu *spu, unsigned int x);

/* spu-el.c: check whether S is 1 in PMBSR_EL2 or PMBSR_EL3, and is not ignored. */
bool spe_spu_is_stopped_above_el1(const struct spe_spu *spu);

/*
 * Return the payload of a Counter packet for @cycles: its maximum value if @cycles is larger
 * (D18.2.3).
 */
static inline u16 spe_spu_saturate_counter(const struct spe_spu *spu, u32 cycles)
{
	u32 max = spu->config.count_size == SPE_PMSIDR_COUNTSIZE_12 ? 0xfff : 0xffff;

	return (u16)(cycles < max ? cycles : max);
}

/* Check whether the operation reads memory: a load, a swap, an atomic with a result (D18.2.7). */
static inline bool spe_operation_is_load(const struct spe_operation *operation)
{
	return operation->op_class == SPE_OP_LOAD_STORE && !(operation->op_subclass & SPE_OP_LDST);
}

/*
 * Check whether a management event stopped profiling. This is inline because each sample checks it
 * several times.
 */
static inline bool spe_spu_is_stopped(const struct spe_spu *spu)
{
	return spu->reg[SPE_REG_PMBSR] & SPE_PMBSR_S ||
	       (spu->config.exc && spe_spu_is_stopped_above_el1(spu));
}

/* Check whether the SPU may write: PMBLIMITR.E is 1, and no event stopped profiling (D17.8). */
static inline bool spe_spu_buffer_enabled(const struct spe_spu *spu)
{
	return spu->reg[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_E && !spe_spu_is_stopped(spu);
}

/* Check whether the SPU has the alternative behaviour of a choice of impdef.h. */
static inline bool spe_spu_has_choice(const struct spe_spu *spu, u64 choice)
{
	return spu->config.choices & choice;
}

/* Signal an event to the PMU, the CTI or the PE. */
static inline void spe_spu_signal_event(const struct spe_spu *spu, enum spe_spu_event event)
{
	if (spu->io.event)
		spu->io.event(spu->io.ctx, event);
}

/*
 * Check whether the SPU selects operations. After a fault it may still select some operations
 * (RWVKFM).
 */
static inline bool spe_spu_selects_operations(const struct spe_spu *spu)
{
	return spe_spu_buffer_enabled(spu) || spu->lag;
}

/* Check whether the buffer's fill mode discards records instead of stopping. */
static inline bool spe_spu_discards_records(const struct spe_spu *spu)
{
	return SPE_FIELD_GET(SPE_PMBLIMITR_FM, spu->reg[SPE_REG_PMBLIMITR]) ==
	       SPE_PMBLIMITR_FM_DISCARD;
}

#endif
