// SPDX-License-Identifier: LGPL-2.1-or-later
#include "replay.h"

#include <stdlib.h>

/* address of the buffer in PMBPTR_EL1 */
#define BUFFER_ADDRESS 0xffff000010000000ULL
#define WINDOW_DEFAULT (64U << 10)

struct replay_state {
	struct spe_spu spu;
	struct spe_injector inject;
	struct replay_result *result;
	FILE *records;
	FILE *truth;
	u8 *buffer;
	size_t window;
	u8 line_owner; /* number of the program on the CPU that owns the shared cache line */
	bool each;
	bool started;
	bool failed; /* whether a file could not be written */
};

/* ---- Lines -------------------------------------------------------------------- */

/* Return the length of the line at *pos, and advance *pos beyond its newline. */
static size_t read_next_line(const char *text, size_t len, size_t *pos, const char **ret_line)
{
	const char *newline = memchr(text + *pos, '\n', len - *pos);
	size_t size = newline ? (size_t)(newline - (text + *pos)) : len - *pos;

	*ret_line = text + *pos;
	*pos += size + !!newline;
	return size;
}

int replay_check(const char *text, size_t len, struct replay_error *ret_error)
{
	struct script_step step;
	struct script_parser script;
	const char *line;
	size_t pos = 0, size;

	script_init(&script);
	ret_error->line = 0;
	while (pos < len) {
		ret_error->line++;
		ret_error->offset = pos;
		size = read_next_line(text, len, &pos, &line);
		if (script_parse_line(&script, line, size, &step, &ret_error->at) < 0)
			return -EINVAL;
	}
	return 0;
}

/* ---- The SPU ------------------------------------------------------------------ */

static u32 buffer_write(void *ctx, u64 addr, const u8 *data, size_t len)
{
	struct replay_state *replay = ctx;

	memcpy(replay->buffer + (addr - BUFFER_ADDRESS), data, len);
	return 0;
}

static void window_arm(struct replay_state *replay)
{
	spe_spu_write(&replay->spu, SPE_REG_PMBPTR, BUFFER_ADDRESS);
	spe_spu_write(&replay->spu, SPE_REG_PMBSR, 0);
	spe_spu_write(&replay->spu, SPE_REG_PMBLIMITR,
		      (BUFFER_ADDRESS + replay->window) | SPE_PMBLIMITR_E);
}

static void window_write(struct replay_state *replay, const u8 *bytes, size_t len)
{
	replay->result->output += len;
	if (replay->records && len && fwrite(bytes, len, 1, replay->records) != 1)
		replay->failed = true;
}

/* End the window, and write a comment about it into the file of recorded operations. */
static void window_end(struct replay_state *replay)
{
	static const u8 zeros[1 << 11];
	u64 pmbsr = spe_spu_read(&replay->spu, SPE_REG_PMBSR);
	size_t len = (size_t)(spe_spu_read(&replay->spu, SPE_REG_PMBPTR) - BUFFER_ADDRESS);
	size_t over = len & ((1U << replay->spu.config.align) - 1);

	replay->result->windows++;
	if (pmbsr & SPE_PMBSR_S)
		replay->result->events[SPE_FIELD_GET(SPE_PMBSR_EC, pmbsr)]++;
	window_write(replay, replay->buffer, len);
	if (over) {
		size_t pad = (1U << replay->spu.config.align) - over;

		replay->result->padding += pad;
		window_write(replay, zeros, pad);
	}
	if (replay->truth)
		fprintf(replay->truth, "# window of %zu bytes, PMBSR %#llx\n", len,
			(unsigned long long)pmbsr);
}

static void sample_operation(struct replay_state *replay, const struct spe_operation *operation)
{
	u64 before = replay->spu.stats.written;

	spe_inject_and_sample(&replay->inject, &replay->spu, operation);
	for (; before < replay->spu.stats.written && replay->truth; before++)
		script_print_operation(replay->truth, operation);
	if (!(spe_spu_read(&replay->spu, SPE_REG_PMBSR) & SPE_PMBSR_S))
		return;
	window_end(replay);
	window_arm(replay);
}

static void execute_operation(struct replay_state *replay, const struct spe_operation *operation)
{
	u64 members = replay->each ? spe_spu_operations_until_sample(&replay->spu) : 1;

	if (spe_spu_profiling_enabled(&replay->spu, operation->el) && members &&
	    spe_spu_count_operations(&replay->spu, members))
		sample_operation(replay, operation);
}

/* ---- Statements --------------------------------------------------------------- */

static int spu_start(struct replay_state *replay, const struct spe_spu_config *config)
{
	const struct spe_spu_io io = { .write = buffer_write, .ctx = replay };

	if (replay->started)
		return 0;
	replay->buffer = malloc(replay->window);
	if (!replay->buffer)
		return -ENOMEM;
	spe_spu_init(&replay->spu, config, &io, NULL);
	spe_inject_init(&replay->inject, config->seed);
	/*
	 * By default, sample at all Exception levels, with all packets, and an interval of 256
	 * operations.
	 */
	spe_spu_write(&replay->spu, SPE_REG_PMSIRR, SPE_FIELD_PREP(SPE_PMSIRR_INTERVAL, 1));
	window_arm(replay);
	spe_spu_write(&replay->spu, SPE_REG_PMSCR,
		      SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE | SPE_PMSCR_CX | SPE_PMSCR_PA |
			      SPE_PMSCR_TS | SPE_FIELD_PREP(SPE_PMSCR_PCT, SPE_PMSCR_PCT_PHYS));
	replay->started = true;
	return 0;
}

static void write_registers(struct replay_state *replay, const struct script_step *step)
{
	for (u32 i = 0; i < SPE_REG_COUNT; i++)
		if (step->regs_given & 1U << i)
			spe_spu_write(&replay->spu, i, step->regs[i]);
}

static void run_program(struct replay_state *replay, const struct script_step *step)
{
	struct spe_synthetic_config config = step->program;
	struct spe_synthetic_program synthetic;
	struct spe_operation operation;

	config.line_owner = &replay->line_owner;
	if (spe_synthetic_init(&synthetic, &config, NULL))
		return;
	for (u64 i = 0; i < step->count && !replay->failed; i++) {
		spe_synthetic_execute_next(&synthetic, &operation);
		execute_operation(replay, &operation);
	}
}

static void run_operation(struct replay_state *replay, const struct script_step *step)
{
	struct spe_operation operation = step->operation;

	for (u64 i = 0; i < step->count && !replay->failed; i++) {
		execute_operation(replay, &operation);
		operation.timestamp += operation.total;
	}
}

static void run_step(struct replay_state *replay, const struct script_step *step)
{
	switch (step->kind) {
	case SCRIPT_REG:
		write_registers(replay, step);
		break;
	case SCRIPT_SAMPLE:
		replay->each = step->each;
		break;
	case SCRIPT_INJECT:
		spe_inject_apply_rule(&replay->inject, &replay->spu, &step->rule);
		break;
	case SCRIPT_PROGRAM:
		run_program(replay, step);
		break;
	case SCRIPT_OPERATION:
		run_operation(replay, step);
		break;
	default:
		break;
	}
}

int replay_run(const char *text, size_t len, FILE *records, FILE *truth,
	       struct replay_result *ret_result)
{
	struct replay_state replay = {
		.records = records, .truth = truth, .window = WINDOW_DEFAULT, .each = true
	};
	struct replay_result result = { 0 };
	struct script_error error;
	struct script_step step;
	struct script_parser script;
	const char *line;
	size_t pos = 0, size;
	int r = 0;

	replay.result = &result;
	script_init(&script);
	while (pos < len && !r && !replay.failed) {
		size = read_next_line(text, len, &pos, &line);
		if (script_parse_line(&script, line, size, &step, &error) < 0)
			r = -EINVAL;
		else if (step.kind == SCRIPT_WINDOW)
			replay.window = (size_t)step.count;
		else if (step.kind > SCRIPT_WINDOW)
			r = spu_start(&replay, &script.config);
		if (!r)
			run_step(&replay, &step);
	}
	if (replay.started)
		window_end(&replay);
	if (replay.failed || (truth && ferror(truth)))
		r = -EIO;
	result.stats = replay.spu.stats;
	free(replay.buffer);
	if (!r)
		*ret_result = result;
	return r;
}
