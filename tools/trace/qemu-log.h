/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read the log that QEMU's user emulation writes with -d in_asm,exec,cpu,nochain,page while each
 * translation block has one instruction. For each executed instruction, the log has
 *
 *	Trace 0: 0x7f18 [00000000/0000000000400580/00000001/00000201] _start
 *	 PC=0000000000400580 X00=0000000000000000 X01=...	its registers before, on several lines
 *	PSTATE=40000000 -Z-- EL0t
 *
 * and once, before its first execution, "0x00400580:  d503201f  nop". The emulated program can find
 * the log among its files and write to it, so any line may be hostile.
 */
#ifndef SPEPROF_QEMU_LOG_H
#define SPEPROF_QEMU_LOG_H

#include "util/a64.h"

/*
 * Maximum number of threads; each can have an instruction for which the registers were not read
 * yet.
 */
#define QEMU_LOG_THREADS 256

/* Maximum number of pages of code, of 4 KiB each, that the reader stores: 64 MiB of code. */
#define QEMU_LOG_PAGES 16384

/**
 * struct qemu_step - an executed instruction
 * @registers: the registers before it
 * @word: the instruction
 * @thread: number of the thread, from 0
 * @known: whether @word is known
 */
struct qemu_step {
	struct a64_registers registers;
	u32 word;
	u32 thread;
	bool known;
};

/**
 * struct qemu_log_stats - counters of input that could not be used
 * @ignored: number of lines and registers that have an unknown form or do not belong together
 * @unknown: number of executed instructions that were not logged as code
 */
struct qemu_log_stats {
	u64 ignored;
	u64 unknown;
};

struct qemu_log;

/**
 * qemu_log_new() - create a reader; return 0, or -ENOMEM if memory cannot be allocated. Free it
 * with qemu_log_free()
 */
int qemu_log_new(struct qemu_log **ret_log);

/** qemu_log_free() - free a reader, which may be NULL; return NULL */
struct qemu_log *qemu_log_free(struct qemu_log *log);

/**
 * qemu_log_read_line() - read the next line
 * @log: the reader
 * @line: any bytes, without a newline, NUL-terminated
 * @ret_step: set if 1 is returned
 *
 * Return: 1 if the line completes an executed instruction, else 0; -ENOSPC if the program has more
 * than QEMU_LOG_PAGES pages of code; -ENOMEM if memory cannot be allocated.
 */
int qemu_log_read_line(struct qemu_log *log, const char *line, struct qemu_step *ret_step);

/**
 * qemu_log_get_base() - return the constant that QEMU adds to an address of the program to get its
 * own address
 */
u64 qemu_log_get_base(const struct qemu_log *log);

/** qemu_log_get_stats() - get the statistics */
void qemu_log_get_stats(const struct qemu_log *log, struct qemu_log_stats *ret_stats);

#endif
