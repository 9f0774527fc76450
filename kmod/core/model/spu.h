/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A model of a Statistical Profiling Unit with its registers. speprof_emu.ko, the daemon's
 * emulation, the test-only trap module and the tests use the same sources.
 *
 * The caller is the operation source: it reports how many operations of the sample population
 * passed, and describes the operation that the SPU selected. Calls for one SPU must not run at the
 * same time.
 */
#ifndef SPE_CORE_SPU_H
#define SPE_CORE_SPU_H

#include "collection.h"
#include "codec/env.h"
#include "codec/packet.h"
#include "sysreg-access.h"
#include "codec/registers.h"
#include "event-routing.h"
#include "translation.h"

/* Valid fields and properties of &struct spe_operation; PC and time are always valid. */
#define SPE_OPERATION_TARGET	SPE_BIT(0)	/* @target: the branch was taken */
#define SPE_OPERATION_VA	SPE_BIT(1)	/* @va, and the access was made */
#define SPE_OPERATION_PA	SPE_BIT(2)	/* @pa was translated */
#define SPE_OPERATION_SOURCE	SPE_BIT(3)	/* @source */
#define SPE_OPERATION_CONTEXT1	SPE_BIT(4)	/* @contextidr_el1 */
#define SPE_OPERATION_CONTEXT2	SPE_BIT(5)	/* @contextidr_el2 */
#define SPE_OPERATION_PREV_TARGET SPE_BIT(6)	/* @prev_target */
#define SPE_OPERATION_FP	SPE_BIT(7)	/* floating-point, if the packet has no bit for it */
#define SPE_OPERATION_SIMD	SPE_BIT(8)	/* SIMD, if the packet has no bit for it */
#define SPE_OPERATION_TARGET_TOP SPE_BIT(9)	/* @target_top: the target is in another context */
#define SPE_OPERATION_PREV_TOP	SPE_BIT(10)	/* @prev_top */
#define SPE_OPERATION_CHECKED	SPE_BIT(11)	/* checked against an Allocation Tag */
#define SPE_OPERATION_TAGGED	SPE_BIT(12)	/* Memory Tagging with address tagging off (D17.6.4.1) */
#define SPE_OPERATION_TBI	SPE_BIT(13)	/* the TBI bit that applies is 1 */
#define SPE_OPERATION_NO_TBI	SPE_BIT(14)	/* TBI is 0 for the address */
#define SPE_OPERATION_PA_NS	SPE_BIT(15)	/* @pa is Non-secure, whatever @ns is */
#define SPE_OPERATION_ALT_CLOCK	SPE_BIT(16)	/* @alt_issue, in another clock domain */
#define SPE_OPERATION_IMPDEF_ADDRESS SPE_BIT(17) /* @impdef_address */
#define SPE_OPERATION_IMPDEF_COUNTER SPE_BIT(18) /* @impdef_counter */
#define SPE_OPERATION_NO_TRANSLATION SPE_BIT(19) /* no translation latency, although @va is valid */
#define SPE_OPERATION_TRANSLATION SPE_BIT(20)	/* translation latency, although @va is not valid */
#define SPE_OPERATION_LOAD	SPE_BIT(21)	/* a load, if the packet has no bit for it */
#define SPE_OPERATION_STORE	SPE_BIT(22)	/* a store, if the packet has no bit for it */
#define SPE_OPERATION_ANY_SOURCE SPE_BIT(23)	/* @source is output even if it is no load */

/**
 * struct spe_operation - an operation of the sample population that finished
 * @pc: virtual address of the instruction
 * @target: virtual address of the branch target, at the same Exception level
 * @prev_target: target of the last taken and retired branch before it (D17.6.3.1)
 * @va: data virtual address
 * @pa: data physical address
 * @timestamp: the physical count, in ticks; the model subtracts the offset that PMSCR.PCT selects
 * (table D17-3), which is 0 unless spe_spu_set_controls() set one
 * @events: Events payload as the operation caused it (D18.2.6)
 * @valid: SPE_OPERATION_*
 * @contextidr_el1: CONTEXTIDR_EL1 at the time of the operation
 * @contextidr_el2: CONTEXTIDR_EL2 at the time of the operation
 * @total: total latency in cycles, not yet saturated
 * @issue: issue latency in cycles
 * @translation: translation latency in cycles; recorded for loads and stores
 * @source: Data Source payload
 * @impdef_address: payload of the IMPLEMENTATION DEFINED Address packet, if there is one
 * @impdef_counter: payload of the IMPLEMENTATION DEFINED Counter packet, if there is one
 * @alt_issue: issue latency in cycles of the alternate clock domain (D17.6.1)
 * @op_class: CLASS of the Operation Type packet
 * @op_subclass: payload of the Operation Type packet
 * @el: Exception level at which the operation was executed, 0-2
 * @target_top: NS, EL and NSE of @target, encoded like the top byte of an Address packet (D18.2.1)
 * @prev_top: NS, EL and NSE of @prev_target, encoded like @target_top
 * @tag: Physical Address Tag of the access, 0-15
 * @ns: whether the operation was executed in Non-secure state or, if @nse is set, in Realm state
 * @nse: whether the operation was executed in Realm state
 */
struct spe_operation {
	u64 pc;
	u64 target;
	u64 prev_target;
	u64 va;
	u64 pa;
	u64 timestamp;
	u64 events;
	u64 impdef_address;
	u32 valid;
	u32 contextidr_el1;
	u32 contextidr_el2;
	u32 total;
	u32 issue;
	u32 translation;
	u32 alt_issue;
	u32 impdef_counter;
	u16 source;
	u8 op_class;
	u8 op_subclass;
	u8 el;
	u8 target_top;
	u8 prev_top;
	u8 tag;
	bool ns;
	bool nse;
};

/* The order of packets in a record, which D18.1.2 does not specify */
enum spe_spu_layout {
	/*
	 * the layout of Neoverse cores: every packet has a fixed offset in 64 bytes, which are zero
	 * if it is absent; the Timestamp packet ends the record
	 */
	SPE_SPU_LAYOUT_SLOTS,
	/* Packets without gaps; zeros only at the end. */
	SPE_SPU_LAYOUT_PACKED,
	SPE_SPU_LAYOUTS,
};

/*
 * Behaviour of an enabled filter if its register selects nothing, which is CONSTRAINED
 * UNPREDICTABLE (PMSFCR_EL1)
 */
enum spe_spu_zero_filter {
	SPE_SPU_ZERO_FILTER_OFF,	/* the filter has no effect */
	SPE_SPU_ZERO_FILTER_ALL,	/* no sample is recorded */
	SPE_SPU_ZERO_FILTERS,
};

/*
 * How the SPU handles a PMBPTR that is not aligned to PMBIDR.Align, which is UNPREDICTABLE (table
 * D17-11)
 */
enum spe_spu_misaligned {
	SPE_SPU_MISALIGNED_FAULT,	/* the next record raises an Alignment fault */
	SPE_SPU_MISALIGNED_RES0,	/* the low bits of PMBPTR are RES0 */
	SPE_SPU_MISALIGNEDS,
};

/*
 * PMBSR.DL at a fault on a record's first byte: unchanged by D17.8.3, IMPLEMENTATION DEFINED by
 * RYZJQX.
 */
enum spe_spu_fault_dl {
	SPE_SPU_FAULT_DL_UNCHANGED,	/* the bit is unchanged (D17.8.3) */
	SPE_SPU_FAULT_DL_CLEAR,		/* DL is cleared (RYZJQX) */
	SPE_SPU_FAULT_DL_SET,		/* DL is set (RYZJQX) */
	SPE_SPU_FAULT_DLS,
};

/* Behaviour at an External abort of a buffer write, other than on a walk (RJFYNW) */
enum spe_spu_abort {
	SPE_SPU_ABORT_REPORTED,		/* reported in PMBSR; ignored from SPEv1p3 on */
	SPE_SPU_ABORT_IGNORED,		/* the SPU continues as if the write had been made */
	SPE_SPU_ABORT_SERROR,		/* an SError exception, not reported in PMBSR */
	SPE_SPU_ABORTS,
};

/* Behaviour at an External abort of a table walk, a table update or a GPT walk (RJFYNW) */
enum spe_spu_walk_abort {
	SPE_SPU_WALK_ABORT_FAULT,	/* an MMU fault (D17.8.4.3) */
	SPE_SPU_WALK_ABORT_IGNORED,	/* the SPU continues as if the write had been made */
	SPE_SPU_WALK_ABORT_SERROR,	/* an SError exception */
	SPE_SPU_WALK_ABORT_REPORTED,	/* reported as an External abort; before SPEv1p3 */
	SPE_SPU_WALK_ABORTS,
};

/* The record of an operation that caused an exception or did not retire (D17.6.10) */
enum spe_spu_incomplete {
	SPE_SPU_INCOMPLETE_ALL,		/* all packets of the operation but the branch target */
	SPE_SPU_INCOMPLETE_EVENTS,	/* the Events packet, and End or Timestamp */
	SPE_SPU_INCOMPLETE_SOME,	/* these, and some of the others, at random */
	SPE_SPU_INCOMPLETES,
};

/* PMBPTR too close to the limit or beyond it: CONSTRAINED UNPREDICTABLE (RPGGHS, D17.8.5). */
enum spe_spu_not_allowed {
	SPE_SPU_NOT_ALLOWED_REPORTED,	/* access not allowed, with DL */
	SPE_SPU_NOT_ALLOWED_FULL,	/* buffer full */
	SPE_SPU_NOT_ALLOWED_SILENT,	/* the data is discarded, no event */
	SPE_SPU_NOT_ALLOWEDS,
};

/* Possible values of &spe_spu_config.altclk (PMSIDR_EL1.ALTCLK) */
#define SPE_ALTCLK_NONE	  0
#define SPE_ALTCLK_SMCU	  1
#define SPE_ALTCLK_IMPDEF 15

/* Features of the PE that affect the SPU's registers and records. */
#define SPE_PE_SVE	SPE_BIT(0)
#define SPE_PE_SME	SPE_BIT(1)
#define SPE_PE_MTE2	SPE_BIT(2)
#define SPE_PE_MOPS	SPE_BIT(3)
#define SPE_PE_GCS	SPE_BIT(4)
#define SPE_PE_NV2	SPE_BIT(5)
#define SPE_PE_RME	SPE_BIT(6)
#define SPE_PE_ECV	SPE_BIT(7)
#define SPE_PE_THE	SPE_BIT(8)
#define SPE_PE_HAFT	SPE_BIT(9)
#define SPE_PE_ALL	SPE_MASK(9, 0)

/**
 * struct spe_spu_config - what the SPU implements, and which permitted behaviour it has
 *
 * Documentation/reference/spu-choices.md lists every choice that the architecture permits, and the
 * field that selects it. Initialize the structure with spe_spu_config_default().
 *
 * @pmsver: 1 (FEAT_SPE) to 6; restricts the features below
 * @interval: PMSIDR.Interval, the encoded recommended minimum of the interval
 * @max_size: PMSIDR.MaxSize: log2 of the largest record in bytes, 6-11
 * @align: PMBIDR.Align: log2 of the alignment of records, 0-11, at most @max_size
 * @count_size: SPE_PMSIDR_COUNTSIZE_12 or _16
 * @events_size: size of an Events payload in bytes: 1, 2, 4 or 8; higher events are not output
 * @source_size: size of a Data Source payload in bytes: 1 or 2
 * @layout: &enum spe_spu_layout
 * @zero_filter: &enum spe_spu_zero_filter
 * @misaligned: &enum spe_spu_misaligned
 * @fault_dl: &enum spe_spu_fault_dl
 * @incomplete: &enum spe_spu_incomplete
 * @abort: &enum spe_spu_abort; PMBIDR.EA follows
 * @walk_abort: &enum spe_spu_walk_abort
 * @not_allowed: &enum spe_spu_not_allowed
 * @write_granule: log2 of the access granule of buffer writes in bytes (D18.1.2), up to 11; 0: each
 * record is written in one call, so that a fault never splits a record
 * @in_flight: sampled operations that may be in flight at once (RQWTQB), 1-255
 * @fault_lag: number of operations that are selected and discarded after an operation with a
 * faulting record (RWVKFM); must be 0 before SPEv1p5
 * @altclk: PMSIDR.ALTCLK, SPE_ALTCLK_*
 * @impdef_address: INDEX of an IMPLEMENTATION DEFINED Address packet: 6, 7, 16-31; 0 for none
 * @impdef_counter: INDEX of an IMPLEMENTATION DEFINED Counter packet; 0 for none
 * @omit_counters: mask of Counter packets, by INDEX 0-2, that are not output because their value is
 * fixed (D17.6)
 * @unconditional: mask of &enum spe_condition: conditional operations that are treated as
 * unconditional (D17.6.5)
 * @other_info: which data is recorded for cache maintenance, prefetch and address translation
 * (D17.6.8): SPE_OPERATION_VA, _PA, _SOURCE, _TRANSLATION and SPE_OTHER_INFO_EVENTS
 * @pe: SPE_PE_*
 * @va_tag: whether the top byte of a data virtual address is output if address tagging is disabled
 * (D18.2.1), which is assumed for the upper half of the address space
 * @e2h: whether the registers are those of EL2, which a host under VHE accesses. If true,
 * operations at EL2 and EL0 are sampled, and CX selects CONTEXTIDR_EL2 (D17.6.9). If false,
 * operations at EL1 and EL0 are sampled, and CX selects CONTEXTIDR_EL1
 * @el2: whether EL2 is implemented, with PMSCR_EL2 beside PMSCR_EL1; not with @e2h
 * @el3: whether EL3 is implemented; not with @e2h
 * @exc: FEAT_SPE_EXC: PMSCR.EE and KE, PMBSR_EL2 and PMBSR_EL3; not with @e2h
 * @strict_ee: see &spe_controls.strict_ee
 * @pbt_always: whether, with PBT, operations other than taken branches also have the previous
 * branch target (D17.6.3.1); only in the packed layout
 * @features: SPE_PMSIDR_* bits among FE, FT, FL, ARCHINST, LDS, ERND, FNE, FDS, PBT, CRR, EFT, FPF,
 * SME; the first three must be set
 * @choices: SPE_CHOICE_* (impdef.h): a set bit selects the alternative behaviour
 * @optional_events: mask of the optional events (D18.2.6: 8-11, 19-23) that are implemented
 * @sampled_events: mask of the events that PMSEVFR can filter on
 * @seed: seed of the random number generator (D17.3.2); any value
 */
struct spe_spu_config {
	u8 pmsver;
	u8 interval;
	u8 max_size;
	u8 align;
	u8 count_size;
	u8 events_size;
	u8 source_size;
	u8 layout;
	u8 zero_filter;
	u8 misaligned;
	u8 fault_dl;
	u8 incomplete;
	u8 abort;
	u8 write_granule;
	u8 in_flight;
	u8 walk_abort;
	u8 not_allowed;
	u8 fault_lag;
	u8 altclk;
	u8 impdef_address;
	u8 impdef_counter;
	u8 omit_counters;
	u8 unconditional;
	bool va_tag;
	bool e2h;
	bool el2;
	bool el3;
	bool exc;
	bool strict_ee;
	bool pbt_always;
	u32 pe;
	u32 other_info;
	u64 features;
	u64 choices;
	u64 optional_events;
	u64 sampled_events;
	u64 seed;
};

#define SPE_OTHER_INFO_EVENTS SPE_BIT(31)

/*
 * Events that the SPU signals to the PMU and the CTI (D17.3.7, D17.8, D17.8.2), and one to the PE.
 */
enum spe_spu_event {
	SPE_SPU_EVENT_FEED,	/* SAMPLE_FEED: a sampled operation completed */
	SPE_SPU_EVENT_FILTRATE,	/* SAMPLE_FILTRATE: it completed, and no filter removed it */
	SPE_SPU_EVENT_COLLISION, /* SAMPLE_COLLISION */
	SPE_SPU_EVENT_FULL,	/* SAMPLE_BUFFER_FULL */
	SPE_SPU_EVENT_TRIGGER,	/* the CTI trigger event of a record */
	SPE_SPU_EVENT_WAKE,	/* sampling this WFI or WFE is a wake-up event (D18.2.3) */
	SPE_SPU_EVENTS,
};

/**
 * struct spe_spu_io - callbacks of an SPU
 * @write: write @len bytes at buffer address @addr; returns 0, or a result of spe_fault_make() if
 * nothing was written. A record is written in one call, unless &spe_spu_config.write_granule is
 * set. The callback must not call the SPU
 * @irq: the level of the SPE interrupt request (PMBIRQ) changed (RTSJRP); may be NULL, may call the
 * SPU
 * @serror: the PE takes an SError exception (&enum spe_spu_abort); may be NULL, must not call the
 * SPU
 * @event: an &enum spe_spu_event occurred; may be NULL, must not call the SPU. SAMPLE_POP is
 * &spe_spu_stats.operations
 * @walk: returns the descriptor that translates buffer address @addr at @stage (1 or 2), which the
 * SPU updates (D17.8.3.1); returns NULL if that stage does not translate. May be NULL
 * @ctx: argument for all callbacks
 */
struct spe_spu_io {
	u32 (*write)(void *ctx, u64 addr, const u8 *data, size_t len);
	void (*irq)(void *ctx, bool level);
	void (*serror)(void *ctx);
	void (*event)(void *ctx, enum spe_spu_event event);
	struct spe_descriptor *(*walk)(void *ctx, u64 addr, unsigned int stage);
	void *ctx;
};

/* May be added to a fault: MSS2 of a stage 2 Permission fault (FEAT_THE). */
#define SPE_FAULT_TOP_LEVEL    SPE_BIT(24)
#define SPE_FAULT_ASSURED_ONLY SPE_BIT(23)

/**
 * spe_fault_make() - make a fault of a buffer write
 * @ec: PMBSR.EC
 * @mss: PMBSR.MSS
 *
 * Return: a value that is not 0. SPE_FAULT_TOP_LEVEL and SPE_FAULT_ASSURED_ONLY may be added.
 */
static inline u32 spe_fault_make(u32 ec, u32 mss)
{
	return (u32)(SPE_FIELD_PREP(SPE_PMBSR_EC, ec) | SPE_FIELD_PREP(SPE_PMBSR_MSS, mss)) | 1U << 25;
}

/*
 * struct spe_spu_stats - counters that hardware does not have
 *
 * Records: @selected is @filtered + @discarded + @uncaptured + @written + those in flight.
 * Bytes: PMBPTR advances by @bytes + @cut.
 */
struct spe_spu_stats {
	u64 operations;		/* members of the population that passed while enabled */
	u64 selected;		/* selected for sampling */
	u64 collisions;
	u64 filtered;		/* selected, then discarded by a filter */
	u64 discarded;		/* selected, then lost: S was set, or a fault */
	u64 uncaptured;		/* selected, but such operations are not recorded (D17.6.7) */
	u64 passed;		/* completed, and not removed by a filter: SAMPLE_FILTRATE */
	u64 full;		/* buffer full events: SAMPLE_BUFFER_FULL */
	u64 written;		/* records written to the buffer */
	u64 bytes;		/* size of the written records, with padding */
	u64 cut;		/* bytes by which PMBPTR advanced into records that faulted */
};

/* The packets that an SPU writes */
enum spe_spu_packet_kind {
	SPE_SPU_KIND_PC,
	SPE_SPU_KIND_CONTEXT1,
	SPE_SPU_KIND_CONTEXT2,
	SPE_SPU_KIND_OP,
	SPE_SPU_KIND_EVENTS,
	SPE_SPU_KIND_ISSUE,
	SPE_SPU_KIND_TOTAL,
	SPE_SPU_KIND_TARGET,
	SPE_SPU_KIND_PREV_TARGET,
	SPE_SPU_KIND_VA,
	SPE_SPU_KIND_TRANSLATION,
	SPE_SPU_KIND_PA,
	SPE_SPU_KIND_SOURCE,
	SPE_SPU_KIND_ALT_ISSUE,
	SPE_SPU_KIND_IMPDEF_ADDRESS,
	SPE_SPU_KIND_IMPDEF_COUNTER,
	SPE_SPU_KIND_TIMESTAMP,
	SPE_SPU_KIND_END,
	SPE_SPU_KINDS,
};

/* struct spe_spu - an SPU; its fields are private to spu*.c */
struct spe_spu {
	u64 reg[SPE_REG_COUNT];
	u64 writable[SPE_REG_COUNT];	/* the bits that are neither RES0 nor read-only */
	struct spe_spu_config config;
	struct spe_spu_io io;
	struct spe_spu_stats stats;
	struct spe_controls controls; /* controls of the PE, from @config, and from PMSCR_ELx */
	struct spe_timers timers;
	struct spe_collection collect[3]; /* by Exception level */
	u64 pmscr_el2;
	u64 pmscr_el12; /* with @config.e2h: PMSCR_EL1 of a guest; that of the host is in @reg */
	u64 pmbsr_el2;
	u64 pmbsr_el3;
	struct spe_translation_regime regime;
	u64 random;
	u64 chance;	/* random state of all choices but the interval */
	u64 previous;	/* target of the last taken branch, an Address payload (D17.6.3.1) */
	u64 events;	/* events that are output */
	u32 output;	/* mask of the kinds of packets that are written */
	u32 inject;	/* fault for the next write, 0 for none */
	u8 in_flight;	/* selected, not yet finished */
	u8 draw;	/* the next ECOUNT, if @drawn */
	u8 lag;		/* operations still to be selected after a fault */
	bool drawn;
	bool previous_valid;
	bool gcs;	/* branches may have GCS accesses */
	bool enabled;	/* profiling was enabled at the last change (D17.3.3) */
	bool irq_level;
	u8 headers[SPE_SPU_KINDS];
	u8 extended[SPE_SPU_KINDS]; /* the byte before the header, 0 for the short format */
	u8 sizes[SPE_SPU_KINDS]; /* bytes of the payload */
	u8 record[SPE_MAX_RECORD];
};

/**
 * spe_spu_init() - initialise an SPU in its reset state
 * @spu: the SPU; needs no cleanup
 * @config: copied
 * @io: copied
 * @ret_reason: on failure, the reason why @config is not legal, a static string; may be NULL
 *
 * Return: 0, or -EINVAL if @config is not legal.
 */
int spe_spu_init(struct spe_spu *spu, const struct spe_spu_config *config,
		 const struct spe_spu_io *io, const char **ret_reason);

/**
 * spe_spu_config_default() - get the configuration of an SPU like that of Neoverse cores
 * @ret_config: SPEv1p1, records of 64 bytes, counters of 12 bits
 */
void spe_spu_config_default(struct spe_spu_config *ret_config);

/** spe_spu_read() - read a register, as MRS does; RES0 bits are zero */
u64 spe_spu_read(const struct spe_spu *spu, enum spe_reg reg);

/**
 * spe_spu_write() - write a register, as MSR does
 * @spu: the SPU
 * @reg: the register; writes to read-only registers are ignored
 * @value: RES0 bits are ignored
 *
 * May call &spe_spu_io.irq.
 */
void spe_spu_write(struct spe_spu *spu, enum spe_reg reg, u64 value);

/**
 * spe_spu_profiling_enabled() - check whether operations at Exception level @el (0-2) are sampled
 */
bool spe_spu_profiling_enabled(const struct spe_spu *spu, u8 el);

/**
 * spe_spu_operations_until_sample() - return the number of operations until one is selected
 * @spu: the SPU
 *
 * An operation source that measures time sets its timer to this number. With FEAT_SPE_ERnd the
 * function draws the random number earlier than hardware, which draws it when the primary counter
 * reaches zero.
 *
 * Return: the number, including the selected operation; 0 while profiling is disabled.
 */
u64 spe_spu_operations_until_sample(struct spe_spu *spu);

/**
 * spe_spu_count_operations() - count operations of the sample population that were executed
 * (D17.3.4)
 * @spu: the SPU
 * @count: number of operations, at most the result of spe_spu_operations_until_sample()
 *
 * Return: true if the last operation is selected. The caller then passes it to
 * spe_spu_sample_operation() or spe_spu_drop_operation(), before or after further operations pass.
 * If &spe_spu_config.in_flight selected operations are not passed yet, the next one that is
 * selected collides (D17.3.7): it is not sampled, and PMBSR.COLL is set.
 */
bool spe_spu_count_operations(struct spe_spu *spu, u64 count);

/**
 * spe_spu_sample_operation() - write the record of the selected operation, which has finished
 * @spu: the SPU
 * @operation: the operation
 *
 * The function applies the controls of the collected data (D17.6.9) and the filters, writes the
 * record, advances PMBPTR, and raises management events (D17.8).
 */
void spe_spu_sample_operation(struct spe_spu *spu, const struct spe_operation *operation);

/**
 * spe_spu_drop_operation() - end the selected operation without a record (D17.6.7, D17.6.10.1)
 * @spu: the SPU
 *
 * The PMU event SAMPLE_FEED counts the operation, and SAMPLE_FILTRATE does not.
 */
void spe_spu_drop_operation(struct spe_spu *spu);

/**
 * spe_spu_freezes_pmu() - check whether PMBLIMITR.PMFZ freezes PMU event counters now
 * (FEAT_SPEv1p2)
 */
bool spe_spu_freezes_pmu(const struct spe_spu *spu);

/**
 * spe_spu_set_regime() - set the controls of the owning translation regime
 * @spu: the SPU
 * @regime: copied; initially all fields are false. It has no effect if &spe_spu_io.walk is NULL
 */
void spe_spu_set_regime(struct spe_spu *spu, const struct spe_translation_regime *regime);

/** spe_spu_execute_operation() - pass @operation, and sample it if it is selected */
void spe_spu_execute_operation(struct spe_spu *spu, const struct spe_operation *operation);

/**
 * spe_spu_inject_fault() - make the next buffer write end in a fault
 * @spu: the SPU
 * @fault: result of spe_fault_make(); EC_BUFFER with BSC_FULL fills the buffer after the write
 *
 * An asynchronous External abort while PMBSR.S is 1 arrives immediately, as a second event
 * (RBPFPN).
 */
void spe_spu_inject_fault(struct spe_spu *spu, u32 fault);

/**
 * spe_spu_set_controls() - set the controls of the PE around the SPU
 * @spu: the SPU
 * @controls: Effective values; copied, except for the members exc, el2, el3 and strict_ee, which
 * come from the configuration, and EE and KE, which come from PMSCR_ELx
 * @timers: copied
 *
 * Initially the state is Non-secure, EL1 owns the buffer, and all other controls are zero. The
 * function may call &spe_spu_io.irq.
 *
 * Return: 0; -EINVAL if a field is out of range, or if &spe_spu_config.e2h is set, which determines
 * all controls.
 */
int spe_spu_set_controls(struct spe_spu *spu, const struct spe_controls *controls,
			 const struct spe_timers *timers);

/**
 * spe_spu_read_at() - read the register of one Exception level
 * @spu: the SPU
 * @reg: the register
 * @x: 1 for all registers of spe_spu_read(); 2 for PMSCR_EL2 and PMBSR_EL2; 3 for PMBSR_EL3. With
 * &spe_spu_config.e2h, spe_spu_read() of PMSCR reads PMSCR_EL2, and 1 selects the PMSCR_EL1 of a
 * guest
 *
 * Return: the value; 0 if there is no such register.
 */
u64 spe_spu_read_at(const struct spe_spu *spu, enum spe_reg reg, unsigned int x);

/** spe_spu_write_at() - write a register; does nothing if there is no such register */
void spe_spu_write_at(struct spe_spu *spu, enum spe_reg reg, unsigned int x, u64 value);

/**
 * spe_spu_resolve_name() - determine which register a name with _EL1 or _EL12 accesses (E2H
 * redirection)
 * @spu: the SPU
 * @reg: the register
 * @el: the Exception level of the access, 1-3
 * @el12: whether the name ends in _EL12; if false, in _EL1
 *
 * Return: the argument x of spe_spu_read_at(); 0 if the access is UNDEFINED.
 */
unsigned int spe_spu_resolve_name(const struct spe_spu *spu, enum spe_reg reg, unsigned int el,
				  bool el12);

/**
 * spe_spu_access_sysreg() - execute an MRS or MSR
 * @spu: the SPU
 * @traps: controls that trap, in addition to those of spe_spu_set_controls()
 * @access: the instruction
 * @value: input for an MSR; output for an MRS that accesses a register
 *
 * Return: what the instruction does. The caller handles traps and accesses to memory (FEAT_NV2).
 */
struct spe_sysreg_result spe_spu_access_sysreg(struct spe_spu *spu,
					       const struct spe_sysreg_traps *traps,
					       const struct spe_sysreg_access *access, u64 *value);

/**
 * spe_spu_get_exception() - return the SPE Profiling exception that PMBSR_ELx causes
 * @spu: the SPU
 * @pe: state of its PE
 * @x: 1 to 3, for PMBSR_EL1 to PMBSR_EL3
 *
 * If PMBSR_ELx.S is 0, the state of the exception is SPE_EXCEPTION_DISABLED.
 */
struct spe_exception spe_spu_get_exception(const struct spe_spu *spu, const struct spe_pe_state *pe,
					   unsigned int x);

#endif
