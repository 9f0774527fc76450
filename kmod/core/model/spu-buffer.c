// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Profiling buffer management: the write pointer, and the events of D17.8.
 */
#include "spu-internal.h"

/* The result of writing a record */
struct write_outcome {
	u32 fault; /* result of spe_fault_make(); 0: everything was written */
	size_t done; /* bytes before the address that faulted */
	bool fill; /* buffer full is injected */
};

#define SYNDROME (SPE_PMBSR_EC | SPE_PMBSR_MSS | SPE_PMBSR_TOP_LEVEL | SPE_PMBSR_ASSURED_ONLY)

/* Return the PMBSR_ELx in which an event is recorded (RHJXHT). */
static u64 *get_pmbsr_for_fault(struct spe_spu *spu, u32 fault)
{
	return spe_spu_get_pmbsr(spu,
				 spe_routing_target(&spu->controls, spe_routing_classify(fault)));
}

static u32 fault_get_ec(u32 fault)
{
	return (u32)SPE_FIELD_GET(SPE_PMBSR_EC, fault);
}

static u32 fault_get_code(u32 fault)
{
	return (u32)SPE_FIELD_GET(SPE_PMBSR_FSC, fault);
}

static bool fault_is_abort(u32 fault)
{
	u32 ec = fault_get_ec(fault);

	return ec == SPE_PMBSR_EC_STAGE1 || ec == SPE_PMBSR_EC_STAGE2 || ec == SPE_PMBSR_EC_GPC;
}

static bool fault_is_external(u32 fault)
{
	return fault_is_abort(fault) && (fault_get_code(fault) == SPE_FSC_EXTERNAL_SYNC ||
					 fault_get_code(fault) == SPE_FSC_EXTERNAL_ASYNC);
}

/*
 * Check for an External abort on a translation table walk, a table update, or a walk of the Granule
 * Protection Table (GPT).
 */
static bool fault_is_walk_abort(u32 fault)
{
	return fault_is_abort(fault) && fault_get_code(fault) >= SPE_FSC_EXTERNAL_WALK &&
	       fault_get_code(fault) < SPE_FSC_EXTERNAL_WALK_END;
}

/*
 * Record an event in one PMBSR_ELx: set S, EC and MSS. The event changes no other field, and no
 * other PMBSR_ELx (D17.8.2 to D17.8.6).
 */
static void pmbsr_record_event(struct spe_spu *spu, u64 *pmbsr, u32 fault)
{
	u64 syndrome = fault & (SPE_PMBSR_EC | SPE_PMBSR_MSS);

	/*
	 * MSS of a granule protection check event is RES0, unless RBPFPN requires it to contain a
	 * fault status code (description of PMBSR_EL1).
	 */
	if (fault_get_ec(fault) == SPE_PMBSR_EC_GPC && !fault_is_external(fault))
		syndrome &= ~SPE_PMBSR_MSS;
	if (spu->config.pe & SPE_PE_THE) {
		syndrome |= fault & SPE_FAULT_TOP_LEVEL ? SPE_PMBSR_TOP_LEVEL : 0;
		syndrome |= fault & SPE_FAULT_ASSURED_ONLY ? SPE_PMBSR_ASSURED_ONLY : 0;
	}
	*pmbsr = (*pmbsr & ~SYNDROME) | SPE_PMBSR_S | syndrome;
}

static void raise_serror(const struct spe_spu *spu)
{
	if (spu->io.serror)
		spu->io.serror(spu->io.ctx);
}

/*
 * Check whether the SPU ignores an External abort, or the PE takes it as an SError. RJFYNW permits
 * both. From SPEv1p3 on, the SPU never reports an External abort in PMBSR (ITCPLL).
 */
static bool handle_unreported_abort(const struct spe_spu *spu, u32 fault)
{
	bool serror;

	if (fault_is_walk_abort(fault)) {
		serror = spu->config.walk_abort == SPE_SPU_WALK_ABORT_SERROR;
		if (!serror && spu->config.walk_abort != SPE_SPU_WALK_ABORT_IGNORED)
			return false;
	} else if (fault_is_external(fault)) {
		if (spu->config.abort == SPE_SPU_ABORT_REPORTED)
			return spu->config.pmsver >= SPE_PMSVER_V1P3;
		serror = spu->config.abort == SPE_SPU_ABORT_SERROR;
	} else {
		return false;
	}
	/* IZGGXW: the SError exception is all that software sees of such an abort. */
	if (serror)
		raise_serror(spu);
	return true;
}

/*
 * Translate an address by stage 1 and then by stage 2 (table D17-11). Return the fault, or 0.
 */
static u32 translate_page(struct spe_spu *spu, u64 addr)
{
	const struct spe_translation walk = {
		.manages = spu->reg[SPE_REG_PMBIDR] & SPE_PMBIDR_F,
		.haft = spu->config.pe & SPE_PE_HAFT,
		.the = spu->config.pe & SPE_PE_THE,
	};

	for (unsigned int stage = 1; stage <= 2; stage++) {
		struct spe_descriptor *descriptor = spu->io.walk(spu->io.ctx, addr, stage);
		u32 fault = descriptor ?
				    spe_translation_write(&walk, &spu->regime, stage, descriptor) :
				    0;

		if (fault)
			return fault;
	}
	return 0;
}

static u32 translate_piece(struct spe_spu *spu, u64 addr, u64 limit)
{
	u64 next = (addr | 0xfff) + 1;
	u32 fault = translate_page(spu, addr);

	/*
	 * D17.8.3.1: the SPU may update the dirty state of the next page before the write reaches
	 * it, even if the write then faults.
	 */
	if (!fault && spe_spu_has_choice(spu, SPE_CHOICE_DIRTY_EARLY) && next < limit)
		translate_page(spu, next);
	return fault;
}

static u32 write_piece(struct spe_spu *spu, u64 addr, const u8 *data, size_t len,
		       struct write_outcome *outcome)
{
	u32 fault = spu->inject;

	spu->inject = 0;
	if (fault && fault_get_ec(fault) == SPE_PMBSR_EC_BUFFER &&
	    fault_get_code(fault) == SPE_PMBSR_BSC_FULL) {
		outcome->fill = true;
		fault = 0;
	}
	if (!fault && spu->io.walk)
		fault = translate_piece(spu, addr,
					spu->reg[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_LIMIT);
	if (!fault)
		fault = spu->io.write(spu->io.ctx, addr, data, len);
	return handle_unreported_abort(spu, fault) ? 0 : fault;
}

/*
 * Return the granule in bytes, or 0 to write the record whole. The record is split at boundaries of
 * the granule. An access granule is at most 2 KiB and may vary (D18.1.2).
 */
static u64 choose_write_granule(struct spe_spu *spu)
{
	if (spe_spu_has_choice(spu, SPE_CHOICE_GRANULE_VARIES))
		return 2ULL << spe_spu_draw_random(spu) % 11;
	/* Without a configured granule: if addresses are translated, write each page separately. */
	if (!spu->config.write_granule)
		return spu->io.walk ? 4096 : 0;
	return 1ULL << spu->config.write_granule;
}

/* Write @spu->record in access granules, up to the first granule that faults. */
static struct write_outcome write_record(struct spe_spu *spu, u64 addr, size_t size)
{
	struct write_outcome outcome = { 0 };

	while (outcome.done < size) {
		u64 granule = choose_write_granule(spu);
		u64 at = addr + outcome.done;
		size_t len = size - outcome.done;

		if (granule && len > granule - (at & (granule - 1)))
			len = (size_t)(granule - (at & (granule - 1)));
		outcome.fault = write_piece(spu, at, spu->record + outcome.done, len, &outcome);
		if (outcome.fault)
			break;
		outcome.done += len;
	}
	return outcome;
}

/* Report an External abort of a buffer write in PMBSR (D17.8.4.4). */
static void report_external_abort(struct spe_spu *spu, u64 start, size_t size,
				  const struct write_outcome *outcome)
{
	bool async = fault_get_code(outcome->fault) == SPE_FSC_EXTERNAL_ASYNC;
	/* An asynchronous abort is reported after the SPU has written the rest of the record. */
	size_t passed = async ? size : outcome->done;
	u64 *pmbsr = get_pmbsr_for_fault(spu, outcome->fault);

	spu->reg[SPE_REG_PMBPTR] = start + passed;
	spu->stats.cut += passed;
	*pmbsr |= SPE_PMBSR_EA;
	if (async || passed)
		*pmbsr |= SPE_PMBSR_DL;
	pmbsr_record_event(spu, pmbsr, outcome->fault);
}

/* Report an Alignment fault or MMU fault of a buffer write (D17.8.3, RMYXZK, RYZJQX). */
static void report_mmu_fault(struct spe_spu *spu, u64 start, const struct write_outcome *outcome)
{
	u64 *pmbsr = get_pmbsr_for_fault(spu, outcome->fault);

	spu->reg[SPE_REG_PMBPTR] = start + outcome->done;
	spu->stats.cut += outcome->done;
	if (outcome->done || spu->config.fault_dl == SPE_SPU_FAULT_DL_SET)
		*pmbsr |= SPE_PMBSR_DL;
	else if (spu->config.fault_dl == SPE_SPU_FAULT_DL_CLEAR)
		*pmbsr &= ~SPE_PMBSR_DL;
	if (fault_is_walk_abort(outcome->fault) && spe_spu_has_choice(spu, SPE_CHOICE_WALK_EA))
		*pmbsr |= SPE_PMBSR_EA;
	pmbsr_record_event(spu, pmbsr, outcome->fault);
	/*
	 * RWVKFM: from SPEv1p5 on, profiling may stop only some operations after the one with the
	 * fault.
	 */
	spu->lag = spu->config.fault_lag;
}

/* Discard the record: set DL, report @fault, and do not advance PMBPTR (D17.8.5, D17.8.6). */
static void discard_record(struct spe_spu *spu, u32 fault)
{
	u64 *pmbsr = get_pmbsr_for_fault(spu, fault);

	*pmbsr |= SPE_PMBSR_DL;
	pmbsr_record_event(spu, pmbsr, fault);
}

/* Report that the buffer is full (D17.8.2). */
static void report_buffer_full(struct spe_spu *spu)
{
	u32 full = spe_fault_make(SPE_PMBSR_EC_BUFFER, SPE_PMBSR_BSC_FULL);

	pmbsr_record_event(spu, get_pmbsr_for_fault(spu, full), full);
	spu->stats.full++;
	spe_spu_signal_event(spu, SPE_SPU_EVENT_FULL);
}

/*
 * Handle a PMBPTR at an address where no record may begin. RPGGHS permits several behaviours; the
 * configuration selects one.
 */
static void report_not_allowed(struct spe_spu *spu)
{
	spu->stats.discarded++;
	switch (spu->config.not_allowed) {
	case SPE_SPU_NOT_ALLOWED_FULL:
		report_buffer_full(spu);
		break;
	case SPE_SPU_NOT_ALLOWED_SILENT:
		break;
	default:
		discard_record(spu, spe_fault_make(SPE_PMBSR_EC_BUFFER, SPE_PMBSR_BSC_NOT_ALLOWED));
		break;
	}
}

static void report_record_fault(struct spe_spu *spu, u64 start, size_t size,
				const struct write_outcome *outcome)
{
	bool reported = fault_is_external(outcome->fault) ||
			(fault_is_walk_abort(outcome->fault) &&
			 spu->config.walk_abort == SPE_SPU_WALK_ABORT_REPORTED);

	spu->stats.discarded++;
	if (reported)
		report_external_abort(spu, start, size, outcome);
	else if (fault_is_abort(outcome->fault))
		report_mmu_fault(spu, start, outcome);
	else
		discard_record(spu, outcome->fault);
}

void spe_spu_buffer_write(struct spe_spu *spu, const struct spe_operation *operation)
{
	u64 start = spu->reg[SPE_REG_PMBPTR];
	u64 limit = spu->reg[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_LIMIT;
	u64 largest = 1ULL << spu->config.max_size;
	struct write_outcome outcome;
	size_t size;

	/*
	 * RTHGCR: the SPU begins no record that could end beyond the limit. RHXSYK: the top byte of
	 * PMBPTR must not change.
	 */
	if (start >= limit || limit - start < largest || (start ^ limit) >> 56) {
		report_not_allowed(spu);
		return;
	}
	if (start & ((1ULL << spu->config.align) - 1)) {
		outcome = (struct write_outcome){ .fault = spe_fault_make(SPE_PMBSR_EC_STAGE1,
									  SPE_FSC_ALIGNMENT) };
		report_record_fault(spu, start, 0, &outcome);
		return;
	}

	size = spe_spu_write_record(spu, operation);
	outcome = write_record(spu, start, size);
	/* RDTGVZ: if a record faults and would also fill the buffer, only the fault is reported. */
	if (outcome.fault) {
		report_record_fault(spu, start, size, &outcome);
		return;
	}
	spu->reg[SPE_REG_PMBPTR] = start + size;
	spu->stats.written++;
	spu->stats.bytes += size;
	/* D17.8.2: the buffer is full as soon as a record of the maximum size would not fit. */
	if (outcome.fill || limit - (start + size) < largest)
		report_buffer_full(spu);
}

bool spe_spu_buffer_record_abort(struct spe_spu *spu, u32 fault)
{
	u64 *pmbsr;

	if (!fault_is_external(fault) || fault_get_code(fault) != SPE_FSC_EXTERNAL_ASYNC ||
	    !spe_spu_is_stopped(spu))
		return false;
	if (handle_unreported_abort(spu, fault))
		return true;
	/* The abort may be recorded in another PMBSR_ELx than the event that stopped profiling. */
	pmbsr = get_pmbsr_for_fault(spu, fault);
	*pmbsr |= SPE_PMBSR_EA | SPE_PMBSR_DL;
	if (!(*pmbsr & SPE_PMBSR_S))
		pmbsr_record_event(spu, pmbsr, fault);
	return true;
}

void spe_spu_set_regime(struct spe_spu *spu, const struct spe_translation_regime *regime)
{
	spu->regime = *regime;
}
SPE_EXPORT(spe_spu_set_regime);
