/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fault injection: makes a model's buffer writes fault, abort, collide or fill, the next one
 * or a share of them, drawn from a seed. It stands between who has an operation and the SPU.
 */
#ifndef SPE_CORE_INJECT_H
#define SPE_CORE_INJECT_H

#include "codec/env.h"
#include "spu.h"

#define SPE_INJECT_RULES 8

/* Beside syndromes: the next selection comes while the operation is in flight (D17.3.7). */
#define SPE_INJECT_COLLIDE 1U

/**
 * struct spe_inject_rule - what happens, and how often
 * @fault: from spe_fault(), where EC_BUFFER with BSC_FULL fills the buffer after the write;
 *	or SPE_INJECT_COLLIDE; 0: nothing, and no rule is left
 * @ppm: to how many of a million writes, drawn for each; 0: to the next one
 */
struct spe_inject_rule {
	u32 fault;
	u32 ppm;
};

/**
 * struct spe_inject_error - where a rule's text is wrong
 * @column: of the value, from 1
 * @length: of the value in bytes
 * @want: what would be right, a static string
 */
struct spe_inject_error {
	size_t column;
	size_t length;
	const char *want;
};

/** struct spe_inject - the rules of one SPU; serialised by the caller, as the SPU is */
struct spe_inject {
	struct spe_inject_rule rules[SPE_INJECT_RULES];
	u32 count;
	bool collide; /* the next one */
	u64 random;
	u64 injected; /* faults and collisions asked of the SPU, so far */
};

/** spe_inject_init() - no rules; @seed: any value */
void spe_inject_init(struct spe_inject *inject, u64 seed);

/**
 * spe_inject_parse() - a rule from its text: "KIND", "KIND next", "KIND 12.5%" or "off"
 * @text: @len bytes; blanks around words are skipped, a newline may end it
 * @ret_error: where -EINVAL comes from; may be NULL
 *
 * KIND is a name of spe_inject_name(), or EC:MSS, both as C writes numbers.
 *
 * Return: 0 or -EINVAL.
 */
int spe_inject_parse(const char *text, size_t len, struct spe_inject_rule *ret_rule,
		     struct spe_inject_error *ret_error);

/** spe_inject_name() - the kind's name, NULL if it has none: then it is written EC:MSS */
const char *spe_inject_name(u32 fault);

/**
 * spe_inject_apply() - from now on, @rule holds too
 *
 * A rule for the next write replaces one that still waits; a share replaces that of the
 * same kind, and is forgotten with share 0 only by "off", which forgets all.
 *
 * Return: 0, -EINVAL if @ppm is above a million, or -ENOSPC.
 */
int spe_inject_apply(struct spe_inject *inject, struct spe_spu *spu,
		     const struct spe_inject_rule *rule);

/** spe_inject_sample() - spe_spu_sample(), with what is due happening to it */
void spe_inject_sample(struct spe_inject *inject, struct spe_spu *spu,
		       const struct spe_operation *operation);

#endif
