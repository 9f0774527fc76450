/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scripts of operations: text that says what an emulated SPU is, how it is programmed, and what
 * the PE executes, a statement a line. Documentation/reference/spu-script.md has the format.
 */
#ifndef SPEPROF_SCRIPT_H
#define SPEPROF_SCRIPT_H

#include <stdio.h>

#include "codec/env.h"
#include "model/impdef.h"
#include "model/inject.h"
#include "model/spu.h"
#include "model/synthetic.h"

#define SCRIPT_WANT_MAX 480

/* Operations that one statement may stand for. */
#define SCRIPT_TIMES_MAX 1000000000ULL

/**
 * enum script_kind - what a line is
 */
enum script_kind {
	SCRIPT_NOTHING, /* blank, or a comment */
	SCRIPT_SPU, /* &script.config has changed; only before all but SCRIPT_WINDOW */
	SCRIPT_WINDOW, /* @count: bytes of a window; likewise */
	SCRIPT_REG, /* @regs */
	SCRIPT_SAMPLE, /* @each */
	SCRIPT_INJECT, /* @rule */
	SCRIPT_PROGRAM, /* @count operations of @program */
	SCRIPT_OPERATION, /* @operation, @count times */
};

/**
 * struct script_step - one line
 * @regs: register values, and which of them were given as a mask of enum spe_reg
 * @each: every operation is sampled, not one an interval
 * @count: above zero wherever it means something
 */
struct script_step {
	enum script_kind kind;
	u64 count;
	bool each;
	u32 regs_given;
	u64 regs[SPE_REG_COUNT];
	struct spe_inject_rule rule;
	struct spe_synthetic_config program;
	struct spe_operation operation;
};

/**
 * struct script_error - where a line is wrong
 * @column: of the value, from 1
 * @length: of the value in bytes
 * @want: what would be right
 */
struct script_error {
	size_t column;
	size_t length;
	char want[SCRIPT_WANT_MAX];
};

/** struct script - what carries over from line to line; @config may be read */
struct script {
	struct spe_spu_config config;
	u64 next_pc;
	u64 next_time;
	bool begun; /* what the SPU is may not change any more */
};

/** script_init() - at the first line, with the default SPU */
void script_init(struct script *script);

/**
 * script_parse() - the next line
 * @line: @len bytes without the newline; any bytes
 * @ret_error: where -EINVAL comes from
 *
 * Return: 0 or -EINVAL.
 */
int script_parse(struct script *script, const char *line, size_t len, struct script_step *ret_step,
		 struct script_error *ret_error);

/** script_print() - @operation as a line, with all that it has: the inverse of script_parse() */
void script_print(FILE *out, const struct spe_operation *operation);

#endif
