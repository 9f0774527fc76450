// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Interpret syndromes, by a table with the meaning of every PMBSR_EL1 and the reaction of the
 * driver.
 */
#include "syndrome.h"

/* In the FSC of an External abort on a table walk the lowest bits are the level of the walk. */
#define FSC_EXTERNAL_WALK_M2 0x12
#define FSC_EXTERNAL_WALK_M1 0x13
#define FSC_EXTERNAL_WALK    0x14
#define FSC_EXTERNAL_WALKS   0x3c

/* The EC of a stage 1 and of a stage 2 Data Abort differ in bit 0. */
#define EC_ABORT  SPE_PMBSR_EC_STAGE1
#define EC_ABORTS 0x3e
#define EXACT	  0x3f

/*
 * struct syndrome_rule - one row of the table; the first that matches decides
 * @ec: PMBSR.EC under @ec_mask
 * @code: PMBSR.BSC or FSC, the same bits, under @code_mask
 * @suspect: whether no byte of the window is valid
 * @aborts: whether PMBSR.EA may be set because of this event itself
 */
struct syndrome_rule {
	u8 ec;
	u8 ec_mask;
	u8 code;
	u8 code_mask;
	u8 class;
	u8 action;
	bool suspect;
	bool aborts;
};

static const struct syndrome_rule rules[] = {
	/* D17.8.2: PMBPTR points after a complete record. */
	{
		.ec = SPE_PMBSR_EC_BUFFER,
		.ec_mask = EXACT,
		.code = SPE_PMBSR_BSC_FULL,
		.code_mask = EXACT,
		.class = SPE_SYNDROME_FULL,
		.action = SPE_ACTION_CONTINUE,
	},
	/* D17.8.5: the driver armed a window that the SPU may not write to. */
	{
		.ec = SPE_PMBSR_EC_BUFFER,
		.ec_mask = EXACT,
		.code = SPE_PMBSR_BSC_NOT_ALLOWED,
		.code_mask = EXACT,
		.class = SPE_SYNDROME_NOT_ALLOWED,
		.action = SPE_ACTION_STOP_CPU,
	},
	/*
	 * D17.8.4.4, RBPFPN: an asynchronous abort, so it is unknown which bytes were written
	 * (IXPWQC).
	 */
	{
		.ec = EC_ABORT,
		.ec_mask = EC_ABORTS,
		.code = SPE_FSC_EXTERNAL_ASYNC,
		.code_mask = EXACT,
		.class = SPE_SYNDROME_EXTERNAL_ASYNC,
		.action = SPE_ACTION_DROP_WINDOW,
		.suspect = true,
		.aborts = true,
	},
	/*
	 * D17.8.4.4, RBPFPN: a synchronous abort: PMBPTR is the aborted address, and the bytes
	 * before it are valid. The next window uses other memory.
	 */
	{
		.ec = EC_ABORT,
		.ec_mask = EC_ABORTS,
		.code = SPE_FSC_EXTERNAL_SYNC,
		.code_mask = EXACT,
		.class = SPE_SYNDROME_EXTERNAL_SYNC,
		.action = SPE_ACTION_CONTINUE,
		.aborts = true,
	},
	/*
	 * D17.8.4.3 and table D17-11: an External abort on a walk is an MMU fault; EA may have any
	 * value.
	 */
	{
		.ec = EC_ABORT,
		.ec_mask = EC_ABORTS,
		.code = FSC_EXTERNAL_WALK,
		.code_mask = FSC_EXTERNAL_WALKS,
		.class = SPE_SYNDROME_EXTERNAL_SYNC,
		.action = SPE_ACTION_CONTINUE,
		.aborts = true,
	},
	{
		.ec = EC_ABORT,
		.ec_mask = EC_ABORTS,
		.code = FSC_EXTERNAL_WALK_M1,
		.code_mask = EXACT,
		.class = SPE_SYNDROME_EXTERNAL_SYNC,
		.action = SPE_ACTION_CONTINUE,
		.aborts = true,
	},
	{
		.ec = EC_ABORT,
		.ec_mask = EC_ABORTS,
		.code = FSC_EXTERNAL_WALK_M2,
		.code_mask = EXACT,
		.class = SPE_SYNDROME_EXTERNAL_SYNC,
		.action = SPE_ACTION_CONTINUE,
		.aborts = true,
	},
	/* D17.8.3: the buffer is not mapped correctly; the next window would also fault. */
	{
		.ec = EC_ABORT,
		.ec_mask = EC_ABORTS,
		.class = SPE_SYNDROME_FAULT,
		.action = SPE_ACTION_STOP_CPU,
	},
	/* RBPFPN: an asynchronous abort of a GPT fetch. */
	{
		.ec = SPE_PMBSR_EC_GPC,
		.ec_mask = EXACT,
		.code = SPE_FSC_EXTERNAL_ASYNC,
		.code_mask = EXACT,
		.class = SPE_SYNDROME_GPC,
		.action = SPE_ACTION_STOP_CPU,
		.suspect = true,
		.aborts = true,
	},
	/* D17.8.3: EA may be set if the cause was an External abort of a GPT walk. */
	{
		.ec = SPE_PMBSR_EC_GPC,
		.ec_mask = EXACT,
		.class = SPE_SYNDROME_GPC,
		.action = SPE_ACTION_STOP_CPU,
		.aborts = true,
	},
	/* D17.8.6: the driver has not enabled this, so its effects are unknown. */
	{
		.ec = SPE_PMBSR_EC_IMPDEF,
		.ec_mask = EXACT,
		.class = SPE_SYNDROME_IMPDEF,
		.action = SPE_ACTION_STOP_CPU,
		.suspect = true,
	},
	/* a reserved EC or BSC, perhaps of a later version of the architecture */
	{
		.class = SPE_SYNDROME_UNKNOWN,
		.action = SPE_ACTION_STOP_CPU,
		.suspect = true,
	},
};

static const struct syndrome_rule *find_syndrome_rule(u64 pmbsr)
{
	u8 ec = (u8)SPE_FIELD_GET(SPE_PMBSR_EC, pmbsr);
	u8 code = (u8)SPE_FIELD_GET(SPE_PMBSR_FSC, pmbsr);
	const struct syndrome_rule *rule = rules;

	/* The last row matches everything. */
	while ((ec & rule->ec_mask) != rule->ec || (code & rule->code_mask) != rule->code)
		rule++;
	return rule;
}

struct spe_syndrome_verdict spe_syndrome_interpret(u64 pmbsr)
{
	struct spe_syndrome_verdict verdict = {
		.class = SPE_SYNDROME_NONE,
		.action = SPE_ACTION_CONTINUE,
		.truncated = pmbsr & SPE_PMBSR_DL,
		.collided = pmbsr & SPE_PMBSR_COLL,
	};
	bool aborts = false;

	if (pmbsr & SPE_PMBSR_S) {
		const struct syndrome_rule *rule = find_syndrome_rule(pmbsr);

		verdict.class = rule->class;
		verdict.action = rule->action;
		verdict.suspect = rule->suspect;
		aborts = rule->aborts;
	}
	/*
	 * IXPWQC: an asynchronous External abort that arrives after another event does not change
	 * that event's syndrome, and only sets EA.
	 */
	if (pmbsr & SPE_PMBSR_EA && !aborts)
		verdict.suspect = true;

	if (verdict.suspect && verdict.action < SPE_ACTION_DROP_WINDOW)
		verdict.action = SPE_ACTION_DROP_WINDOW;
	if (verdict.truncated && verdict.action < SPE_ACTION_DROP_TAIL)
		verdict.action = SPE_ACTION_DROP_TAIL;
	return verdict;
}
SPE_EXPORT(spe_syndrome_interpret);

const char *spe_syndrome_name(enum spe_syndrome_class class)
{
	static const char *const names[SPE_SYNDROMES] = {
		[SPE_SYNDROME_NONE] = "none",
		[SPE_SYNDROME_FULL] = "buffer full",
		[SPE_SYNDROME_NOT_ALLOWED] = "access not allowed",
		[SPE_SYNDROME_FAULT] = "fault",
		[SPE_SYNDROME_EXTERNAL_SYNC] = "external abort",
		[SPE_SYNDROME_EXTERNAL_ASYNC] = "asynchronous external abort",
		[SPE_SYNDROME_GPC] = "granule protection check",
		[SPE_SYNDROME_IMPDEF] = "implementation defined",
		[SPE_SYNDROME_UNKNOWN] = "unknown",
	};

	return (unsigned int)class < SPE_SYNDROMES ? names[class] : "invalid";
}
SPE_EXPORT(spe_syndrome_name);
