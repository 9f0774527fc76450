/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instructions as a PE executes them, and what the profiling operation collects about each (D17.6).
 * An operation source that has instructions passes them to spe_spu_execute_instruction(), which
 * determines what their records contain on this SPU.
 */
#ifndef SPE_CORE_INSTRUCTION_H
#define SPE_CORE_INSTRUCTION_H

#include "codec/env.h"

struct spe_operation;
struct spe_spu;

enum spe_instruction_kind {
	SPE_INSTRUCTION_OTHER, /* data processing, barriers */
	SPE_INSTRUCTION_WAIT, /* WFI, WFE */
	SPE_INSTRUCTION_ISB,
	SPE_INSTRUCTION_BRANCH, /* branches and exception returns; accesses are to the GCS */
	SPE_INSTRUCTION_MEMORY, /* load or store of registers: SIMD_FP, UNSPECIFIED */
	SPE_INSTRUCTION_EXTENDED, /* ATOMIC, EXCLUSIVE, acquire or release: ORDERED */
	SPE_INSTRUCTION_LS64, /* LD64B, ST64B; with STATUS ST64BV, ST64BV0 */
	SPE_INSTRUCTION_TAG, /* access to Allocation Tags, with DATA also to data (FEAT_MTE) */
	SPE_INSTRUCTION_SYSREG, /* MRS, MSR made a memory access (FEAT_NV2) */
	SPE_INSTRUCTION_COPY, /* CPY, CPYF (FEAT_MOPS): reads and writes */
	SPE_INSTRUCTION_SET, /* SET, SETG */
	SPE_INSTRUCTION_GCS, /* access to the Guarded Control Stack; GCSSS2 reads and writes */
	SPE_INSTRUCTION_ZERO, /* DC ZVA, GVA, GZVA */
	SPE_INSTRUCTION_SVE, /* Sampled SVE SIMD operation */
	SPE_INSTRUCTION_SVE_MEMORY,
	SPE_INSTRUCTION_SVE_PREFETCH,
	SPE_INSTRUCTION_SME_VECTOR, /* Sampled SME vector SIMD operation */
	SPE_INSTRUCTION_SME_TILE, /* Sampled SME tile SIMD operation */
	SPE_INSTRUCTION_SME_MEMORY,
	SPE_INSTRUCTION_PREFETCH,
	SPE_INSTRUCTION_CACHE, /* cache maintenance by address */
	SPE_INSTRUCTION_TRANSLATE, /* AT */
	SPE_INSTRUCTION_KINDS,
};

/* How the instruction ended (D17.6.7, D17.6.10) */
enum spe_outcome {
	SPE_OUTCOME_RETIRED,
	SPE_OUTCOME_EXCEPTION, /* a synchronous architectural exception */
	SPE_OUTCOME_MISSPECULATED,
	SPE_OUTCOME_NONARCH, /* the operation belongs to no instruction */
	SPE_OUTCOME_IMPDEF_EXCEPTION, /* a non-architectural exception (D17.6.10.1) */
	SPE_OUTCOMES,
};

/* Conditional operations that an implementation may treat as unconditional (D17.6.5). */
enum spe_condition {
	SPE_CONDITION_SELECT,
	SPE_CONDITION_INCREMENT,
	SPE_CONDITION_NEGATION,
	SPE_CONDITION_INVERSION,
	SPE_CONDITION_COMPARE,
	SPE_CONDITION_COMPARE_NEGATIVE,
	SPE_CONDITIONS,
};

/* &spe_instruction.flags */
#define SPE_INSTRUCTION_CONDITIONAL  SPE_BIT(0) /* by PSTATE.{N, Z, C, V} or compare-and-branch */
#define SPE_INSTRUCTION_PASSED	     SPE_BIT(1) /* the condition was true: a branch is taken */
#define SPE_INSTRUCTION_FP	     SPE_BIT(2)
#define SPE_INSTRUCTION_ASE	     SPE_BIT(3) /* Advanced SIMD */
#define SPE_INSTRUCTION_INDIRECT     SPE_BIT(4)
#define SPE_INSTRUCTION_LINK	     SPE_BIT(5) /* branch with link */
#define SPE_INSTRUCTION_RETURN	     SPE_BIT(6) /* procedure return */
#define SPE_INSTRUCTION_MISPREDICTED SPE_BIT(7)
#define SPE_INSTRUCTION_SYNC	     SPE_BIT(8) /* a Context synchronization event, or an ERET */
#define SPE_INSTRUCTION_ILLEGAL	     SPE_BIT(9) /* illegal exception return */
#define SPE_INSTRUCTION_SIMD_FP	     SPE_BIT(10) /* SIMD&FP registers */
#define SPE_INSTRUCTION_UNSPECIFIED  SPE_BIT(11) /* unspecified registers */
#define SPE_INSTRUCTION_SCALAR	     SPE_BIT(12) /* a scalar register, but not a Q register */
#define SPE_INSTRUCTION_ORDERED	     SPE_BIT(13) /* acquire or release */
#define SPE_INSTRUCTION_EXCLUSIVE    SPE_BIT(14)
#define SPE_INSTRUCTION_ATOMIC	     SPE_BIT(15)
#define SPE_INSTRUCTION_NO_RETURN    SPE_BIT(16) /* an atomic that returns no data */
#define SPE_INSTRUCTION_STATUS	     SPE_BIT(17)
#define SPE_INSTRUCTION_DATA	     SPE_BIT(18)
#define SPE_INSTRUCTION_CONTIGUOUS   SPE_BIT(19) /* architecturally contiguous accesses */
#define SPE_INSTRUCTION_GATHER	     SPE_BIT(20) /* gather load, scatter store */
#define SPE_INSTRUCTION_PREDICATED   SPE_BIT(21) /* Sampled predicated operation */
#define SPE_INSTRUCTION_PARTIAL	     SPE_BIT(22) /* an element of the predicate is FALSE */
#define SPE_INSTRUCTION_EMPTY	     SPE_BIT(23) /* all elements are FALSE */
#define SPE_INSTRUCTION_ZT	     SPE_BIT(24) /* involves ZT registers */
#define SPE_INSTRUCTION_WHOLE_ZA     SPE_BIT(25) /* operates on all of ZA at once */
#define SPE_INSTRUCTION_STREAMING    SPE_BIT(26) /* in Streaming SVE mode */
#define SPE_INSTRUCTION_SMCU	     SPE_BIT(27) /* on an SMCU or another coprocessor */
#define SPE_INSTRUCTION_EQUIVALENT   SPE_BIT(28) /* has an Advanced SIMD equivalent */
#define SPE_INSTRUCTION_ABORTED	     SPE_BIT(29) /* an External abort */
#define SPE_INSTRUCTION_ADDRESS_OP   SPE_BIT(30) /* its first micro-op generates the address */
/* Data that the operation could not access or use (D17.6.7) */
#define SPE_INSTRUCTION_SECRET_ADDRESS	 SPE_BIT(31)
#define SPE_INSTRUCTION_SECRET_CONDITION SPE_BIT(32)
#define SPE_INSTRUCTION_SECRET_TARGET	 SPE_BIT(33)

/* &spe_access.flags */
#define SPE_ACCESS_STORE	 SPE_BIT(0)
#define SPE_ACCESS_INACTIVE	 SPE_BIT(1) /* the access of an Inactive element */
#define SPE_ACCESS_NOT_PERFORMED SPE_BIT(2) /* for example if ExclusiveMonitorsPass() was FALSE */
#define SPE_ACCESS_NO_PA	 SPE_BIT(3) /* not translated */
#define SPE_ACCESS_SOURCE	 SPE_BIT(4) /* &spe_access.source is valid */
#define SPE_ACCESS_CHECKED	 SPE_BIT(5) /* against an Allocation Tag in memory */
#define SPE_ACCESS_TCF_IGNORED	 SPE_BIT(6) /* checked, but Tag Check Faults are ignored */
#define SPE_ACCESS_CANONICAL	 SPE_BIT(7) /* Canonically Tagged (FEAT_MTE_CANONICAL_TAGS) */
#define SPE_ACCESS_TBI		 SPE_BIT(8) /* the applicable TBI bit is 1 */
#define SPE_ACCESS_NO_TBI	 SPE_BIT(9) /* TBI is 0 for the address */
#define SPE_ACCESS_TAGGED	 SPE_BIT(10) /* Memory Tagging with address tagging disabled */
#define SPE_ACCESS_PA_NS	 SPE_BIT(11) /* the Non-secure physical address space */

/**
 * struct spe_access - an access to memory; an instruction may make several
 * @events: events that it caused, of E[11:8], E[5:2] and E[23:19]
 * @total: cycles from dispatch to completion
 * @translation: cycles of waiting for the MMU while no other access uses memory
 * @overlap: cycles of waiting for the MMU while another access uses memory
 * @flags: SPE_ACCESS_*
 * @source: Data Source payload
 * @tag: the Physical Address Tag, 0-15
 */
struct spe_access {
	u64 va;
	u64 pa;
	u64 events;
	u32 total;
	u32 translation;
	u32 overlap;
	u32 flags;
	u16 source;
	u8 tag;
};

/**
 * struct spe_instruction - an instruction, and how it was executed
 * @accesses: @access_count accesses, by ascending element; the caller's memory
 * @target: target of a branch, taken or not
 * @timestamp: the physical count at the time when the timestamp is collected, in ticks
 * @finished: the physical count at the time when it finished execution, in ticks
 * @events: IMPLEMENTATION DEFINED events; all others follow from the other fields
 * @impdef_address: payload of an IMPLEMENTATION DEFINED Address packet
 * @flags: SPE_INSTRUCTION_*
 * @valid: SPE_OPERATION_CONTEXT1, _CONTEXT2, _IMPDEF_ADDRESS, _IMPDEF_COUNTER
 * @total: total latency in cycles; of a WFI or WFE without the time in low power
 * @issue: issue latency
 * @alt_issue: issue latency in the clock domain that executes the instruction
 * @low_power: cycles that a WFI or WFE spent in low power
 * @returned: cycles beyond @total until ST64BV returns its status
 * @impdef_counter: payload of an IMPLEMENTATION DEFINED Counter packet
 * @size: size in bits of the vector or the tile; of predicate registers, eight times their length
 * @vectors: number of vectors, 1 or more
 * @micro_ops: number of micro-operations that execute it, 0 or more
 * @kind: &enum spe_instruction_kind
 * @outcome: &enum spe_outcome
 * @condition: &enum spe_condition; ignored for branches
 * @el: Exception level, 0-2
 * @target_top: NS, EL and NSE at the target, encoded like the top byte of an Address packet
 * @spsr_top: the same bits according to SPSR, for an illegal exception return
 */
struct spe_instruction {
	const struct spe_access *accesses;
	u64 pc;
	u64 target;
	u64 timestamp;
	u64 finished;
	u64 events;
	u64 impdef_address;
	u64 flags;
	u32 valid;
	u32 contextidr_el1;
	u32 contextidr_el2;
	u32 total;
	u32 issue;
	u32 alt_issue;
	u32 low_power;
	u32 returned;
	u32 impdef_counter;
	u32 size;
	u16 access_count;
	u8 vectors;
	u8 micro_ops;
	u8 kind;
	u8 outcome;
	u8 condition;
	u8 el;
	u8 target_top;
	u8 spsr_top;
};

/**
 * spe_spu_count_members() - return the number of operations in the sample population that an
 * instruction causes (D17.2)
 * @spu: the SPU
 * @instruction: the instruction
 *
 * Return: 1 if the SPU samples instructions; the number of micro-operations if it samples those; 0
 * if the instruction's outcome excludes it (D17.6.7).
 */
unsigned int spe_spu_count_members(const struct spe_spu *spu,
				   const struct spe_instruction *instruction);

/**
 * spe_spu_describe_instruction() - determine what the profiling operation collects about an
 * instruction
 * @spu: the SPU
 * @instruction: the instruction
 * @member: index of the sampled operation, below spe_spu_count_members()
 * @ret_operation: argument for spe_spu_sample_operation(); unchanged if nothing is captured
 *
 * The function uses the SPU's random numbers if the architecture requires an unbiased choice.
 *
 * Return: true if a record is captured.
 */
bool spe_spu_describe_instruction(struct spe_spu *spu, const struct spe_instruction *instruction,
				  unsigned int member, struct spe_operation *ret_operation);

/**
 * spe_spu_execute_instruction() - execute an instruction, and sample its operations that are
 * selected
 *
 * Each operation finishes immediately: nothing is in flight between calls. The Security state is
 * that of spe_spu_set_controls().
 */
void spe_spu_execute_instruction(struct spe_spu *spu, const struct spe_instruction *instruction);

#endif
