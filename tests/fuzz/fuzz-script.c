// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fuzz scripts of operations: an error names a position in its line, a printed operation parses to
 * the same operation, and the counters of a short script add up.
 */
#include "fuzz.h"

#include <stddef.h>
#include <string.h>

#include "script/replay.h"

#define OPERATIONS_MAX 20000
/* Compare up to the last member: the padding after it may have any value. */
#define OPERATION_BYTES (offsetof(struct spe_operation, nse) + sizeof(bool))

static void check_printed_operation(const struct spe_operation *operation)
{
	struct script_error error;
	struct script_step back;
	struct script_parser script;
	char *line = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&line, &len);

	fuzz_assert(out);
	script_print_operation(out, operation);
	fclose(out);
	script_init(&script);
	fuzz_assert(len && line[len - 1] == '\n');
	fuzz_assert(!script_parse_line(&script, line, len - 1, &back, &error));
	fuzz_assert(back.kind == SCRIPT_OPERATION && back.count == 1);
	fuzz_assert(!memcmp(&back.operation, operation, OPERATION_BYTES));
	free(line);
}

/* Parse each line. Return: the number of valid operations. */
static u64 check_lines(const char *text, size_t size)
{
	struct script_error error;
	struct script_step step;
	struct script_parser script;
	u64 operations = 0;

	script_init(&script);
	while (size) {
		const char *newline = memchr(text, '\n', size);
		size_t len = newline ? (size_t)(newline - text) : size;

		if (script_parse_line(&script, text, len, &step, &error) < 0) {
			fuzz_assert(error.column >= 1 && error.column - 1 <= len);
			fuzz_assert(error.length <= len - (error.column - 1));
			fuzz_assert(error.want[0] && strlen(error.want) < sizeof(error.want) - 1);
		} else if (step.kind == SCRIPT_OPERATION || step.kind == SCRIPT_PROGRAM) {
			fuzz_assert(step.count && step.count <= SCRIPT_TIMES_MAX);
			operations += step.count;
			if (step.kind == SCRIPT_OPERATION)
				check_printed_operation(&step.operation);
		}
		len += !!newline;
		text += len;
		size -= len;
	}
	return operations;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct replay_result result;
	struct replay_error error;
	u64 operations = check_lines(text, size);

	if (operations > OPERATIONS_MAX || replay_check(text, size, &error) < 0)
		return 0;
	fuzz_assert(!replay_run(text, size, NULL, NULL, &result));
	fuzz_assert(result.output == result.stats.bytes + result.stats.cut + result.padding);
	fuzz_assert(result.stats.written + result.stats.filtered + result.stats.discarded <=
		    result.stats.selected);
	return 0;
}
