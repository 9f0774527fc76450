/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fault injection: makes buffer writes of the SPU model cause a fault, an abort, a collision or a
 * full buffer. A rule applies to the next write, or to each write with a given probability. The
 * operation source calls spe_inject_and_sample() instead of spe_spu_sample_operation().
 */
#ifndef SPE_CORE_INJECT_H
#define SPE_CORE_INJECT_H

#include "codec/env.h"
#include "spu.h"

#define SPE_INJECT_RULES 8

/*
 * A value of &spe_inject_rule.fault that is no syndrome: the sample collides, because the next
 * operation is selected while it is in flight (D17.3.7).
 */
#define SPE_INJECT_COLLIDE 1U

/**
 * struct spe_inject_rule - a rule for injecting faults
 * @fault: result of spe_fault_make(), where EC_BUFFER with BSC_FULL fills the buffer after the
 * write; or SPE_INJECT_COLLIDE; 0: remove all rules
 * @ppm: number of writes that get the fault, out of a million, at random; 0: the next write
 */
struct spe_inject_rule {
	u32 fault;
	u32 ppm;
};

/**
 * struct spe_inject_error - the error in the text of a rule
 * @column: column of the wrong value, from 1
 * @length: length of the value in bytes
 * @want: the accepted values; a static string
 */
struct spe_inject_error {
	size_t column;
	size_t length;
	const char *want;
};

/* struct spe_injector - the rules of one SPU. The caller serialises calls, as for the SPU */
struct spe_injector {
	struct spe_inject_rule rules[SPE_INJECT_RULES];
	u32 count;
	bool collide; /* let the next operation collide */
	u64 random;
	u64 injected; /* faults and collisions so far */
};

/**
 * spe_inject_init() - initialize @inject without rules; @seed: seed of its random numbers, any
 * value
 */
void spe_inject_init(struct spe_injector *inject, u64 seed);

/**
 * spe_inject_parse_rule() - parse a rule: "KIND", "KIND next", "KIND 12.5%" or "off"
 * @text: the text; blanks around words are skipped, and a newline may end it
 * @len: its length in bytes
 * @ret_rule: the rule
 * @ret_error: why -EINVAL was returned; may be NULL
 *
 * KIND is a name of spe_inject_fault_name(), or EC:MSS with numbers as in C.
 *
 * Return: 0, or -EINVAL if the text is not a rule.
 */
int spe_inject_parse_rule(const char *text, size_t len, struct spe_inject_rule *ret_rule,
			  struct spe_inject_error *ret_error);

/**
 * spe_inject_fault_name() - return the name of a fault, a static string; NULL if it is written as
 * EC:MSS
 */
const char *spe_inject_fault_name(u32 fault);

/**
 * spe_inject_apply_rule() - add a rule, or remove all
 * @inject: the rules
 * @spu: their SPU
 * @rule: the rule; copied. If its fault is 0, all rules are removed
 *
 * A rule for the next write replaces an earlier rule of this kind that was not yet used. A rule
 * with a probability replaces the rule of the same fault. Only "off" removes rules with a
 * probability.
 *
 * Return: 0; -EINVAL if &spe_inject_rule.ppm is above a million; -ENOSPC if there are too many
 * rules.
 */
int spe_inject_apply_rule(struct spe_injector *inject, struct spe_spu *spu,
			  const struct spe_inject_rule *rule);

/**
 * spe_inject_and_sample() - sample an operation as spe_spu_sample_operation() does, with the faults
 * of the rules
 */
void spe_inject_and_sample(struct spe_injector *inject, struct spe_spu *spu,
			   const struct spe_operation *operation);

#endif
