// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Print what a file of SPE records contains, using libspeprof.
 *
 *	cc example.c $(pkg-config --cflags --libs libspeprof) -o example
 *	./example RECORDS [MIDR]
 */
#include <speprof.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_record(const struct speprof_record *r, uint64_t midr)
{
	struct speprof_op op = speprof_op_decode(r->op_class, r->op_subclass);
	uint64_t pc = r->address[SPEPROF_ADDRESS_PC];

	printf("pc 0x%" PRIx64 " el%u", speprof_address_va(pc), speprof_address_el(pc));
	if (op.flags & (SPEPROF_OP_LOAD | SPEPROF_OP_STORE)) {
		struct speprof_origin origin = speprof_record_origin(r, midr);

		printf(" %s %s%s", op.flags & SPEPROF_OP_LOAD ? "load" : "store",
		       speprof_level_name(origin.level),
		       origin.flags & SPEPROF_ORIGIN_BY_SOURCE ? "" : "?");
	}
	if (r->present & SPEPROF_HAS_COUNTER(SPEPROF_COUNTER_TOTAL))
		printf(" %u cycles", r->counter[SPEPROF_COUNTER_TOTAL]);
	putchar('\n');
}

static void print_window(const struct speprof_window *window, uint64_t midr)
{
	static struct speprof_decoder decoder;
	struct speprof_record record;
	struct speprof_ledger ledger;
	enum speprof_result result;

	speprof_decoder_init(&decoder);
	speprof_decoder_window(&decoder, window);
	while ((result = speprof_decoder_next(&decoder, &record)) != SPEPROF_END) {
		if (result == SPEPROF_RECORD)
			print_record(&record, midr);
		else
			printf("%s: %zu bytes at %zu\n",
			       result == SPEPROF_SHORT ? "short" : "malformed", record.size,
			       (size_t)(record.raw - window->data));
	}
	speprof_decoder_ledger(&decoder, &ledger);
	printf("%" PRIu64 " records, %" PRIu64 " bytes decoded, %" PRIu64 " padding, %" PRIu64
	       " suspect\n", ledger.records, ledger.decoded, ledger.padding, ledger.suspect);
}

int main(int argc, char **argv)
{
	static uint8_t bytes[16 << 20];
	struct speprof_window window = { .data = bytes };
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;

	if (!file) {
		fprintf(stderr, "usage: %s RECORDS [MIDR]   (libspeprof %s)\n", argv[0],
			speprof_version());
		return 2;
	}
	window.size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	print_window(&window, argc > 2 ? strtoull(argv[2], NULL, 0) : 0);
	return 0;
}
