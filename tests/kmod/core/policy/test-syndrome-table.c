// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check that the table between the markers of a file equals that of core/policy/syndrome.c, with
 * each EC and each BSC or FSC in exactly one row. usage: test-syndrome-table [FILE]; without FILE
 * it prints the table.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/syndrome.h"

#define CODES	 64
#define TEXT_MAX 8192
#define BEGIN	 "<!-- syndromes: begin -->\n"
#define END	 "<!-- syndromes: end -->"

static const char *const sections[SPE_SYNDROMES] = {
	[SPE_SYNDROME_FULL] = "D17.8.2",
	[SPE_SYNDROME_NOT_ALLOWED] = "D17.8.5",
	[SPE_SYNDROME_FAULT] = "D17.8.3",
	[SPE_SYNDROME_EXTERNAL_SYNC] = "D17.8.3, D17.8.4.4",
	[SPE_SYNDROME_EXTERNAL_ASYNC] = "D17.8.4.4",
	[SPE_SYNDROME_GPC] = "D17.8.3, D17.8.4.4",
	[SPE_SYNDROME_IMPDEF] = "D17.8.6",
	[SPE_SYNDROME_UNKNOWN] = "reserved values",
};

struct table_text {
	char bytes[TEXT_MAX];
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void
text_append(struct table_text *text, const char *format, ...)
{
	size_t space = sizeof(text->bytes) - text->size;
	va_list args;
	int got;

	va_start(args, format);
	got = vsnprintf(text->bytes + text->size, space, format, args);
	va_end(args);
	if (got < 0 || (size_t)got >= space)
		abort();
	text->size += (size_t)got;
}

static struct spe_syndrome_verdict read_verdict(unsigned int ec, unsigned int code)
{
	return spe_syndrome_interpret(SPE_PMBSR_S | SPE_FIELD_PREP(SPE_PMBSR_EC, ec) | code);
}

static bool verdicts_are_equal(struct spe_syndrome_verdict a, struct spe_syndrome_verdict b)
{
	return a.class == b.class && a.action == b.action && a.suspect == b.suspect;
}

/* Return a mask of the codes of @ec that have @verdict. */
static uint64_t find_codes(unsigned int ec, struct spe_syndrome_verdict verdict)
{
	uint64_t codes = 0;

	for (unsigned int code = 0; code < CODES; code++)
		codes |= (uint64_t)verdicts_are_equal(read_verdict(ec, code), verdict) << code;
	return codes;
}

static void add_codes(struct table_text *text, uint64_t codes)
{
	const char *comma = "";

	if (codes == UINT64_MAX) {
		text_append(text, "any");
		return;
	}
	for (unsigned int code = 0; code < CODES; code++) {
		unsigned int last = code;

		if (!(codes >> code & 1))
			continue;
		while (last + 1 < CODES && codes >> (last + 1) & 1)
			last++;
		text_append(text, last > code ? "%s0x%02x-0x%02x" : "%s0x%02x", comma, code, last);
		comma = ", ";
		code = last;
	}
}

/* Add a row for each EC; adjacent ECs with the same codes share a row. */
static void add_rows_of_verdict(struct table_text *text, struct spe_syndrome_verdict verdict)
{
	const char *semicolon = "";

	for (unsigned int ec = 0; ec < CODES; ec++) {
		uint64_t codes = find_codes(ec, verdict);
		unsigned int last = ec;

		if (!codes)
			continue;
		while (last + 1 < CODES && find_codes(last + 1, verdict) == codes)
			last++;
		text_append(text, last > ec ? "%s0x%02x-0x%02x: " : "%s0x%02x: ", semicolon, ec,
			    last);
		add_codes(text, codes);
		semicolon = "; ";
		ec = last;
	}
}

static void add_verdict(struct table_text *text, struct spe_syndrome_verdict verdict)
{
	text_append(text, "| %s | ", spe_syndrome_name(verdict.class));
	add_rows_of_verdict(text, verdict);
	text_append(text, " | %s | %s | %s |\n", verdict.suspect ? "suspect" : "valid",
	    verdict.action >= SPE_ACTION_STOP_CPU ? "stops" : "continues", sections[verdict.class]);
}

static void make_table(struct table_text *text)
{
	struct spe_syndrome_verdict seen[SPE_SYNDROMES * 4];
	size_t count = 0;

	text->size = 0;
	text_append(text,
	    "| event | EC: BSC or FSC | window | CPU | where |\n| --- | --- | --- | --- | --- |\n");
	for (unsigned int n = 0; n < CODES * CODES; n++) {
		struct spe_syndrome_verdict verdict = read_verdict(n / CODES, n % CODES);
		bool known = false;

		for (size_t i = 0; i < count; i++)
			known |= verdicts_are_equal(seen[i], verdict);
		if (known)
			continue;
		if (count == sizeof(seen) / sizeof(seen[0]))
			abort();
		seen[count++] = verdict;
		add_verdict(text, verdict);
	}
}

static int compare_with_file(const char *path, const struct table_text *text)
{
	static char page[1 << 18];
	FILE *file = fopen(path, "r");
	const char *begin, *end;

	if (!file) {
		perror(path);
		return 1;
	}
	page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
	fclose(file);
	begin = strstr(page, BEGIN);
	end = begin ? strstr(begin, END) : NULL;
	if (!end) {
		fprintf(stderr, "%s: no lines \"%.*s\" and \"%s\"\n", path, (int)strlen(BEGIN) - 1,
			BEGIN, END);
		return 1;
	}
	begin += strlen(BEGIN);
	if ((size_t)(end - begin) == text->size && !memcmp(begin, text->bytes, text->size))
		return 0;
	fprintf(stderr, "%s: the table of syndromes is not that of core/policy/syndrome.c, which is:\n%s",
		path, text->bytes);
	return 1;
}

int main(int argc, char **argv)
{
	static struct table_text text;

	make_table(&text);
	if (argc > 1)
		return compare_with_file(argv[1], &text);
	fputs(text.bytes, stdout);
	return 0;
}
