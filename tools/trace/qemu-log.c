// SPDX-License-Identifier: LGPL-2.1-or-later
#include "qemu-log.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE_WORDS 1024
#define PAGE_SLOTS (QEMU_LOG_PAGES * 2)

static_assert((PAGE_SLOTS & (PAGE_SLOTS - 1)) == 0, "a hash selects a slot by a mask");

/** struct code_page - the instructions of a page; @known has a bit for each word that was logged */
struct code_page {
	u64 number;
	u64 known[PAGE_WORDS / 64];
	u32 word[PAGE_WORDS];
};

/**
 * struct log_thread - a thread of the program
 * @pc: address of its next instruction, if @waits is set
 * @sp: its stack pointer at its last instruction
 * @waits: whether the line "Trace" was read, but not yet the registers
 * @ran: whether @sp is known
 */
struct log_thread {
	u64 pc;
	u64 sp;
	bool waits;
	bool ran;
};

/**
 * struct qemu_log - the state of the reader
 * @page: hash table of pages of code; @pages is their number
 * @thread: the threads, indexed by their number
 * @registers, @have: the registers that are being read, and a bit for each of X0 to X30 and SP
 * @dump: whether registers are being read
 * @raw: an instruction that was logged without an address: if @raw_known is set, it is the next
 * executed one
 * @base: result of qemu_log_get_base()
 */
struct qemu_log {
	struct code_page *page[PAGE_SLOTS];
	u32 pages;
	struct log_thread thread[QEMU_LOG_THREADS];
	struct a64_registers registers;
	u64 have;
	bool dump;
	u32 raw;
	bool raw_known;
	u64 base;
	struct qemu_log_stats stats;
};

int qemu_log_new(struct qemu_log **ret_log)
{
	struct qemu_log *log = calloc(1, sizeof(*log));

	if (!log)
		return -ENOMEM;
	*ret_log = log;
	return 0;
}

struct qemu_log *qemu_log_free(struct qemu_log *log)
{
	for (u32 i = 0; log && i < PAGE_SLOTS; i++)
		free(log->page[i]);
	free(log);
	return NULL;
}

/* ---- Code -------------------------------------------------------------------------------------- */

/* Find the slot of the page with @number, or the free slot where it belongs. */
static struct code_page **page_find(struct qemu_log *log, u64 number)
{
	u32 slot = (u32)((number * 0x9e3779b97f4a7c15ULL) >> 32);

	while (log->page[slot % PAGE_SLOTS] && log->page[slot % PAGE_SLOTS]->number != number)
		slot++;
	return &log->page[slot % PAGE_SLOTS];
}

static int code_set(struct qemu_log *log, u64 address, u32 word)
{
	struct code_page **slot = page_find(log, address / (4 * PAGE_WORDS));
	u32 index = (u32)(address / 4 % PAGE_WORDS);

	if (!*slot) {
		if (log->pages == QEMU_LOG_PAGES)
			return -ENOSPC;
		*slot = calloc(1, sizeof(**slot));
		if (!*slot)
			return -ENOMEM;
		(*slot)->number = address / (4 * PAGE_WORDS);
		log->pages++;
	}
	(*slot)->word[index] = word;
	(*slot)->known[index / 64] |= SPE_BIT(index % 64);
	return 0;
}

static bool code_get(struct qemu_log *log, u64 address, u32 *ret_word)
{
	const struct code_page *page = *page_find(log, address / (4 * PAGE_WORDS));
	u32 index = (u32)(address / 4 % PAGE_WORDS);

	if (!page || address % 4 || !(page->known[index / 64] >> index % 64 & 1))
		return false;
	*ret_word = page->word[index];
	return true;
}

/* ---- Lines ------------------------------------------------------------------------------------- */

/* Parse 1 to @digits hexadecimal digits at *text, and advance *text beyond these digits. */
static bool hex_parse(const char **text, unsigned int digits, u64 *ret_value)
{
	u64 value = 0;
	unsigned int n;

	for (n = 0; n < digits; n++) {
		char c = (*text)[n];

		if (c >= '0' && c <= '9')
			value = value << 4 | (u64)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (u64)(c - 'a' + 10);
		else
			break;
	}
	if (!n)
		return false;
	*text += n;
	*ret_value = value;
	return true;
}

/* Return whether *text begins with @prefix. If so, advance *text beyond @prefix. */
static bool prefix_skip(const char **text, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(*text, prefix, len) != 0)
		return false;
	*text += len;
	return true;
}

/* Read a line with an instruction of the program: "0x00400580:  d503201f  nop". */
static int read_code_line(struct qemu_log *log, const char *line)
{
	u64 address, word;

	if (!prefix_skip(&line, "0x") || !hex_parse(&line, 16, &address) ||
	    !prefix_skip(&line, ":  ") || !hex_parse(&line, 8, &word) || (*line && *line != ' ') ||
	    address % 4) {
		log->stats.ignored++;
		return 0;
	}
	return code_set(log, address, (u32)word);
}

/*
 * Read a line with the bytes of an instruction that QEMU's disassembler does not support:
 * "OBJD-T: 1f2003d5".
 */
static int read_raw_line(struct qemu_log *log, const char *line)
{
	u64 bytes;

	log->raw_known = hex_parse(&line, 8, &bytes);
	if (log->raw_known)
		log->raw = __builtin_bswap32((u32)bytes);
	return 0;
}

/*
 * Read a line with the thread and the PC of the next instruction:
 * "Trace 0: 0x7f18 [00000000/0000000000400580/00000001/00000201] _start".
 */
static int read_trace_line(struct qemu_log *log, const char *line)
{
	u64 host, flags, pc;
	u32 thread = 0;

	for (; *line >= '0' && *line <= '9' && thread < QEMU_LOG_THREADS; line++)
		thread = thread * 10 + (u32)(*line - '0');
	if (thread >= QEMU_LOG_THREADS || !prefix_skip(&line, ": 0x") ||
	    !hex_parse(&line, 16, &host) || !prefix_skip(&line, " [") ||
	    !hex_parse(&line, 16, &flags) || !prefix_skip(&line, "/") ||
	    !hex_parse(&line, 16, &pc) || *line != '/') {
		log->stats.ignored++;
		return 0;
	}
	/* A block that was left before its first instruction is logged again. */
	log->thread[thread].pc = pc;
	log->thread[thread].waits = true;
	if (!log->raw_known)
		return 0;
	log->raw_known = false;
	return pc % 4 ? 0 : code_set(log, pc, log->raw);
}

/* Parse "X01=0000000000000000 X02=..." and " SP=...". */
static bool registers_parse(struct qemu_log *log, const char *line)
{
	while (*(line += strspn(line, " "))) {
		unsigned int number;
		u64 value;

		if (prefix_skip(&line, "SP=")) {
			number = 31;
		} else if (line[0] == 'X' && line[1] >= '0' && line[1] <= '3' && line[2] >= '0' &&
			   line[2] <= '9' && line[3] == '=') {
			number = (unsigned int)(line[1] - '0') * 10 + (unsigned int)(line[2] - '0');
			line += 4;
		} else {
			return false;
		}
		if (number > 31 || !hex_parse(&line, 16, &value))
			return false;
		if (number == 31)
			log->registers.sp = value;
		else
			log->registers.x[number] = value;
		log->have |= SPE_BIT(number);
	}
	return true;
}

/*
 * Read the first line of registers before an instruction: " PC=0000000000400580 X00=... X01=...".
 */
static int read_first_registers_line(struct qemu_log *log, const char *line)
{
	log->have = 0;
	log->dump = hex_parse(&line, 16, &log->registers.pc) && registers_parse(log, line);
	log->stats.ignored += !log->dump;
	return 0;
}

static u64 compute_distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/*
 * Find the thread of the registers that were read. QEMU logs the thread's number and the registers
 * separately, so lines of several threads can alternate. If several threads are at the same PC,
 * choose the one with the nearest stack pointer: no thread moves its stack pointer to the stack of
 * another thread.
 */
static struct log_thread *thread_find(struct qemu_log *log)
{
	struct log_thread *found = NULL;

	for (u32 i = 0; i < QEMU_LOG_THREADS; i++) {
		struct log_thread *thread = &log->thread[i];

		if (!thread->waits || thread->pc != log->registers.pc)
			continue;
		if (!found ||
		    (thread->ran &&
		     (!found->ran || compute_distance(thread->sp, log->registers.sp) <
					     compute_distance(found->sp, log->registers.sp))))
			found = thread;
	}
	return found;
}

/* Read the last line of registers, which completes the instruction: "PSTATE=40000000 -Z-- EL0t". */
static int read_last_registers_line(struct qemu_log *log, const char *line,
				    struct qemu_step *ret_step)
{
	struct log_thread *thread = thread_find(log);
	struct qemu_step step = { .word = 0 };
	u64 pstate;

	if (!log->dump || log->have != SPE_MASK(31, 0) || !thread ||
	    !hex_parse(&line, 8, &pstate)) {
		log->dump = false;
		log->stats.ignored++;
		return 0;
	}
	log->dump = false;
	log->registers.pstate = (u32)pstate;
	thread->waits = false;
	thread->ran = true;
	thread->sp = log->registers.sp;
	step.registers = log->registers;
	step.thread = (u32)(thread - log->thread);
	step.known = code_get(log, log->registers.pc, &step.word);
	log->stats.unknown += !step.known;
	*ret_step = step;
	return 1;
}

/* Read the line "guest_base  (nil)", which may have a number instead of "(nil)". */
static int read_base_line(struct qemu_log *log, const char *line)
{
	line += strspn(line, " ");
	log->base = 0;
	if (prefix_skip(&line, "0x") && !hex_parse(&line, 16, &log->base))
		log->stats.ignored++;
	return 0;
}

int qemu_log_read_line(struct qemu_log *log, const char *line, struct qemu_step *ret_step)
{
	if (prefix_skip(&line, "0x"))
		return read_code_line(log, line - 2);
	if (prefix_skip(&line, "Trace "))
		return read_trace_line(log, line);
	if (prefix_skip(&line, " PC="))
		return read_first_registers_line(log, line);
	if (prefix_skip(&line, "PSTATE="))
		return read_last_registers_line(log, line, ret_step);
	if (prefix_skip(&line, "OBJD-T: "))
		return read_raw_line(log, line);
	if (prefix_skip(&line, "guest_base"))
		return read_base_line(log, line);
	if (line[0] == 'X' && log->dump) {
		log->dump = registers_parse(log, line);
		log->stats.ignored += !log->dump;
		return 0;
	}
	return 0;
}

u64 qemu_log_get_base(const struct qemu_log *log)
{
	return log->base;
}

void qemu_log_get_stats(const struct qemu_log *log, struct qemu_log_stats *ret_stats)
{
	*ret_stats = log->stats;
}
