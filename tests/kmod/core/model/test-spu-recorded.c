// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compare the SPU model with bytes of a real core: it samples the operations that records of a
 * Neoverse core describe, and must write the same bytes.
 */
#include <stdlib.h>

#include "codec/record.h"
#include "model/spu.h"
#include "test.h"

#define RECORD 64

struct record_buffer {
	uint8_t bytes[4096];
};

static u32 buffer_write(void *ctx, u64 addr, const u8 *data, size_t len)
{
	struct record_buffer *buffer = ctx;

	assert_true(addr <= sizeof(buffer->bytes) && len <= sizeof(buffer->bytes) - addr);
	memcpy(buffer->bytes + addr, data, len);
	return 0;
}

static size_t read_recorded_bytes(uint8_t *ret_bytes, size_t size)
{
	const char *dir = getenv("SPEPROF_VECTORS");
	char path[4096];
	size_t len;
	FILE *file;

	if (!dir)
		skip();
	snprintf(path, sizeof(path), "%s/quipper_2rec_neoverse64.bin", dir);
	file = fopen(path, "re");
	assert_non_null(file);
	len = fread(ret_bytes, 1, size, file);
	fclose(file);
	return len;
}

/* Return the operation that makes the core write @sample. */
static struct spe_operation make_operation(const struct spe_sample *sample)
{
	struct spe_operation op = {
		.pc = sample->address[SPE_ADDRESS_PC],
		.target = sample->address[SPE_ADDRESS_TARGET],
		.va = sample->address[SPE_ADDRESS_VA],
		.pa = sample->address[SPE_ADDRESS_PA],
		.timestamp = sample->timestamp,
		.events = sample->events,
		.contextidr_el2 = sample->context[SPE_CONTEXT_EL2],
		.valid = SPE_OPERATION_CONTEXT2,
		.total = sample->counter[SPE_COUNTER_TOTAL],
		.issue = sample->counter[SPE_COUNTER_ISSUE],
		.translation = sample->counter[SPE_COUNTER_TRANSLATION],
		.source = sample->source,
		.op_class = sample->op_class,
		.op_subclass = sample->op_subclass,
		.el = spe_address_el(sample->address[SPE_ADDRESS_PC]),
		.ns = sample->address[SPE_ADDRESS_PC] >> 63,
	};

	if (spe_sample_has(sample, SPE_HAS_ADDRESS(SPE_ADDRESS_TARGET)))
		op.valid |= SPE_OPERATION_TARGET;
	if (spe_sample_has(sample, SPE_HAS_ADDRESS(SPE_ADDRESS_VA)))
		op.valid |= SPE_OPERATION_VA;
	if (spe_sample_has(sample, SPE_HAS_SOURCE))
		op.valid |= SPE_OPERATION_SOURCE;
	return op;
}

static void test_recorded_neoverse_core(void **state)
{
	uint8_t recorded[4 * RECORD];
	size_t len = read_recorded_bytes(recorded, sizeof(recorded));
	struct spe_spu_config config;
	struct record_buffer buffer = { 0 };
	struct spe_spu_io io = { .write = buffer_write, .ctx = &buffer };
	struct spe_spu spu;

	(void)state;
	assert_true(len >= 2 * RECORD && len % RECORD == 0);
	spe_spu_config_default(&config);
	/* The recorded core ran a host with VHE: the contexts have index 1. */
	config.e2h = true;
	assert_int_equal(spe_spu_init(&spu, &config, &io, NULL), 0);
	spe_spu_write(&spu, SPE_REG_PMSCR,
		      SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE | SPE_PMSCR_CX | SPE_PMSCR_TS);
	spe_spu_write(&spu, SPE_REG_PMBLIMITR, sizeof(buffer.bytes) | SPE_PMBLIMITR_E);

	for (size_t at = 0; at < len; at += RECORD) {
		struct spe_operation op;
		struct spe_sample sample;

		assert_true(spe_record_decode(recorded + at, len - at, RECORD, &sample) > 0);
		op = make_operation(&sample);
		spe_spu_execute_operation(&spu, &op);
	}
	assert_int_equal(spu.stats.bytes, len);
	assert_memory_equal(buffer.bytes, recorded, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded_neoverse_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
