/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parse scripts of operations: text with one statement a line, which defines an emulated SPU, sets
 * its registers, and lists the operations that the PE executes.
 * Documentation/reference/spu-script.md describes the format.
 */
#ifndef SPEPROF_SCRIPT_H
#define SPEPROF_SCRIPT_H

#include <stdio.h>

#include "codec/env.h"
#include "model/impdef.h"
#include "model/inject.h"
#include "model/spu.h"
#include "model/synthetic.h"

/* bytes of script_error.want, including its NUL */
#define SCRIPT_WANT_MAX 480

/* maximum number of operations in one statement */
#define SCRIPT_TIMES_MAX 1000000000ULL

/**
 * enum script_kind - the kind of a line; the comments list the fields of struct script_step that
 * are set
 */
enum script_kind {
	SCRIPT_NOTHING, /* a blank line, or a comment */
	SCRIPT_SPU, /* &script_parser.config has changed; only SPU and WINDOW may precede it */
	SCRIPT_WINDOW, /* @count: bytes of a window; only SPU and WINDOW may precede it */
	SCRIPT_REG, /* @regs */
	SCRIPT_SAMPLE, /* @each */
	SCRIPT_INJECT, /* @rule */
	SCRIPT_PROGRAM, /* @count operations of @program */
	SCRIPT_OPERATION, /* @operation, @count times */
};

/**
 * struct script_step - one parsed line
 * @kind: kind of the line, which decides the fields that are set
 * @count: bytes, or number of operations; above 0
 * @each: whether to sample every operation instead of one in each interval
 * @regs_given: registers in the line: a bit for each &enum spe_reg
 * @regs: values of these registers
 * @rule: rule of SCRIPT_INJECT
 * @program: program of SCRIPT_PROGRAM
 * @operation: operation of SCRIPT_OPERATION
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
 * struct script_error - the error in a line
 * @column: position of the wrong value, from 1
 * @length: bytes of the wrong value
 * @want: the accepted values
 */
struct script_error {
	size_t column;
	size_t length;
	char want[SCRIPT_WANT_MAX];
};

/**
 * struct script_parser - state of the parser between two lines
 * @config: the SPU as defined so far; the caller may read it
 * @next_pc: PC of the next operation for which the script gives none
 * @next_time: timestamp of the next operation for which the script gives none
 * @begun: whether a statement has run; once one has run, the SPU must not change
 */
struct script_parser {
	struct spe_spu_config config;
	u64 next_pc;
	u64 next_time;
	bool begun;
};

/** script_init() - prepare for the first line, with the default SPU */
void script_init(struct script_parser *script);

/**
 * script_parse_line() - parse the next line
 * @script: initialised by script_init()
 * @line: the line without its newline; any bytes
 * @len: bytes of @line
 * @ret_step: the statement
 * @ret_error: set if -EINVAL is returned
 *
 * Return: 0; -EINVAL if the line is wrong.
 */
int script_parse_line(struct script_parser *script, const char *line, size_t len,
		      struct script_step *ret_step, struct script_error *ret_error);

/**
 * script_print_operation() - print @operation as one line with all its fields, which
 * script_parse_line() can read
 */
void script_print_operation(FILE *out, const struct spe_operation *operation);

#endif
