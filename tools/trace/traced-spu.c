// SPDX-License-Identifier: LGPL-2.1-or-later
#include "traced-spu.h"

/* NS, EL and NSE of an address at EL0 in the Non-secure state (D18.2.1). */
#define TARGET_TOP 0x80

#define PMSVER_V1P2 3 /* FEAT_SPEv1p2 */

int traced_spu_init(struct traced_spu *spu, u32 interval, u64 start_ns)
{
	struct spe_spu_config config;
	const char *reason;
	int r;

	*spu = (struct traced_spu){
		.program = {
			.pmscr = SPE_PMSCR_TS | SPE_PMSCR_CX | SPE_PMSCR_E0SPE,
			.interval = interval,
		},
		.now_ns = start_ns,
		.each = interval == 1,
	};
	spe_spu_config_default(&config);
	/* Recording the target of the previous branch needs FEAT_SPE_PBT. */
	config.pmsver = PMSVER_V1P2;
	config.features |= SPE_PMSIDR_ARCHINST | SPE_PMSIDR_PBT;
	spu->program.pmsirr = SPE_FIELD_PREP(SPE_PMSIRR_INTERVAL, 1);
	if (!spu->each) {
		spu->program.pmsirr =
			SPE_FIELD_PREP(SPE_PMSIRR_INTERVAL, interval / TRACED_INTERVAL_STEP) |
			SPE_PMSIRR_RND;
		/* D17.3.4: the perturbation adds a random number of 8 bits, 128 on average. */
		spu->program.interval = interval + 128;
	}
	r = core_model_new(&spu->core);
	if (r == 0)
		r = emulated_spu_init(&spu->driver, 0, &config, &spu->program, &reason);
	if (r < 0) {
		traced_spu_deinit(spu);
		return r;
	}
	emulated_spu_arm_window(&spu->driver, start_ns);
	return 0;
}

void traced_spu_deinit(struct traced_spu *spu)
{
	emulated_spu_deinit(&spu->driver);
	spu->core = core_model_free(spu->core);
}

static void branch_execute(struct traced_spu *spu, const struct a64_instruction *a64,
			   const struct a64_registers *registers,
			   struct spe_instruction *instruction)
{
	bool taken = a64_condition_holds(a64, registers);

	instruction->target = a64_compute_target(a64, registers);
	instruction->target_top = TARGET_TOP;
	if (core_model_execute_branch(spu->core, registers->pc, a64->flags, taken,
				      instruction->target))
		instruction->flags |= SPE_INSTRUCTION_MISPREDICTED;
}

/* Execute the access of an instruction; an atomic operation has a load and a store. */
static void access_execute(struct traced_spu *spu, const struct a64_instruction *a64,
			   const struct a64_registers *registers, struct spe_access access[2],
			   struct spe_instruction *instruction)
{
	u64 address = a64_compute_address(a64, registers);

	if (a64->loads)
		core_model_access(spu->core, address, a64->bytes, false,
				  &access[instruction->access_count++]);
	if (a64->stores)
		core_model_access(spu->core, address, a64->bytes, true,
				  &access[instruction->access_count++]);
	instruction->accesses = access;
	instruction->flags |= SPE_INSTRUCTION_CONTIGUOUS;
	instruction->total = access[0].total;
}

/* SVC, HVC, SMC, BRK and HLT generate an exception when they are executed. */
static bool generates_exception(u32 word)
{
	return word >> 24 == 0xd4;
}

void traced_spu_execute(struct traced_spu *spu, const struct qemu_step *step, s32 tid,
			const struct source_sink *sink)
{
	struct spe_access access[2] = { 0 };
	struct spe_instruction instruction = {
		.pc = step->registers.pc,
		.timestamp = spu->now_ns,
		.finished = spu->now_ns,
		.valid = SPE_OPERATION_CONTEXT1 | SPE_OPERATION_CONTEXT2,
		.contextidr_el1 = (u32)tid,
		.contextidr_el2 = (u32)tid,
		.issue = 1,
		.size = 128,
		.vectors = 1,
		.micro_ops = 1,
	};
	struct a64_instruction a64;

	/* An instruction with unknown code counts as one of no class. */
	a64_decode(step->known ? step->word : 0, &a64);
	instruction.kind = a64.kind;
	instruction.flags = a64.flags;
	instruction.condition = a64.condition;
	if (step->known && generates_exception(step->word))
		instruction.outcome = SPE_OUTCOME_EXCEPTION;
	if (a64_condition_holds(&a64, &step->registers))
		instruction.flags |= SPE_INSTRUCTION_PASSED;
	if (a64.kind == SPE_INSTRUCTION_BRANCH)
		branch_execute(spu, &a64, &step->registers, &instruction);
	instruction.total =
		core_model_get_latency(&a64, instruction.flags & SPE_INSTRUCTION_MISPREDICTED);
	if (a64.bytes)
		access_execute(spu, &a64, &step->registers, access, &instruction);
	emulated_spu_execute(&spu->driver, &instruction, spu->each, sink);
	spu->now_ns++;
	spu->instructions++;
}

void traced_spu_close(struct traced_spu *spu, const struct source_sink *sink)
{
	emulated_spu_close_window(&spu->driver, spu->now_ns, sink);
}
