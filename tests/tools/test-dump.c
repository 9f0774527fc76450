// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the text of each packet of D18.2, with one row for each value of a field. */
#include "test.h"

#include "codec/packet.h"
#include "dump/dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct row {
	u8 bytes[10];
	const char *text;
};

/* clang-format off */
static const struct row rows[] = {
	/* D18.2.1: EL, NS and NSE of instruction addresses, and their combinations */
	{ { 0xb0, 0x08, 0x10, 0, 0, 0, 0, 0, 0x00 }, "PC 0x1008 el0 ns=0" },
	{ { 0xb0, 0x08, 0x10, 0, 0, 0, 0, 0, 0x80 }, "PC 0x1008 el0 ns=1" },
	{ { 0xb0, 0x08, 0x10, 0, 0, 0, 0xff, 0xff, 0xa0 }, "PC 0xffff0000001008 el1 ns=1" },
	{ { 0xb1, 0x08, 0x10, 0, 0, 0, 0, 0, 0xc0 }, "TGT 0x1008 el2 ns=1" },
	{ { 0xb1, 0x08, 0x10, 0, 0, 0, 0, 0, 0x60 }, "TGT 0x1008 el3 ns=0" },
	{ { 0xb4, 0x08, 0x10, 0, 0, 0, 0, 0, 0x90 }, "PBT 0x1008 el0 ns=1 nse=1 realm" },
	{ { 0xb4, 0x08, 0x10, 0, 0, 0, 0, 0, 0x10 }, "PBT 0x1008 el0 ns=0 nse=1 reserved" },
	/* TAG is printed as a part of the address, because the program's pointer contains it. */
	{ { 0xb2, 0x08, 0x10, 0, 0, 0, 0, 0, 0xa5 }, "VA 0xa500000000001008" },
	/* CH, PAT */
	{ { 0xb3, 0x08, 0x10, 0, 0, 0, 0, 0, 0x80 }, "PA 0x1008 ns=1 ch=0 pat=0" },
	{ { 0xb3, 0x08, 0x10, 0, 0, 0, 0, 0, 0x4b }, "PA 0x1008 ns=0 ch=1 pat=b" },
	{ { 0xb3, 0x08, 0x10, 0, 0, 0, 0, 0, 0x9f }, "PA 0x1008 ns=1 ch=0 pat=f nse=1 realm" },
	{ { 0xb5, 1, 0, 0, 0, 0, 0, 0, 0 }, "ADDRESS-5 0x1 reserved" },
	{ { 0xb6, 1, 0, 0, 0, 0, 0, 0, 0 }, "ADDRESS-6 0x1 implementation defined" },
	{ { 0xb7, 1, 0, 0, 0, 0, 0, 0, 0 }, "ADDRESS-7 0x1 implementation defined" },
	{ { 0x20, 0xb0, 4, 0, 0, 0, 0, 0, 0, 0x80 }, "PC 0x4 el0 ns=1" },
	{ { 0x21, 0xb0, 1, 0, 0, 0, 0, 0, 0, 0 }, "ADDRESS-8 0x1 reserved" },
	{ { 0x21, 0xb7, 1, 0, 0, 0, 0, 0, 0, 0 }, "ADDRESS-15 0x1 reserved" },
	{ { 0x22, 0xb0, 1, 0, 0, 0, 0, 0, 0, 0 }, "ADDRESS-16 0x1 implementation defined" },
	{ { 0x23, 0xb7, 1, 0, 0, 0, 0, 0, 0, 0 }, "ADDRESS-31 0x1 implementation defined" },
	/* D18.2.2 */
	{ { 0x64, 0x39, 0x30, 0, 0 }, "CONTEXT 0x3039 el1" },
	{ { 0x65, 0x39, 0x30, 0, 0 }, "CONTEXT 0x3039 el2" },
	{ { 0x66, 1, 0, 0, 0 }, "CONTEXT 0x1 index 2 reserved" },
	{ { 0x67, 1, 0, 0, 0 }, "CONTEXT 0x1 index 3 reserved" },
	/* D18.2.3 */
	{ { 0x98, 0xff, 0x0f }, "LAT 4095 TOT" },
	{ { 0x98, 0xff, 0xff }, "LAT 65535 TOT" },
	{ { 0x99, 7, 0 }, "LAT 7 ISSUE" },
	{ { 0x9a, 7, 0 }, "LAT 7 XLAT" },
	{ { 0x9b, 7, 0 }, "LAT 7 COUNTER-3 reserved" },
	{ { 0x9c, 7, 0 }, "LAT 7 ALT-ISSUE" },
	{ { 0x9d, 7, 0 }, "LAT 7 COUNTER-5 reserved" },
	{ { 0x9e, 7, 0 }, "LAT 7 COUNTER-6 implementation defined" },
	{ { 0x9f, 7, 0 }, "LAT 7 COUNTER-7 implementation defined" },
	{ { 0x21, 0x98, 7, 0 }, "LAT 7 COUNTER-8 reserved" },
	{ { 0x22, 0x98, 7, 0 }, "LAT 7 COUNTER-16 implementation defined" },
	{ { 0x23, 0x9f, 7, 0 }, "LAT 7 COUNTER-31 implementation defined" },
	/* D18.2.4, D18.2.5, D18.2.8, D18.2.9 */
	{ { 0x43, 0x0e }, "DATA-SOURCE 14" },
	{ { 0x53, 0x34, 0x12 }, "DATA-SOURCE 4660" },
	{ { 0x01 }, "END" },
	{ { 0x00 }, "PAD" },
	{ { 0x71, 0x39, 0x30, 0, 0, 0, 0, 0, 0 }, "TS 12345" },
	/* D18.2.6: an Events packet of each size */
	{ { 0x42, 0x00 }, "EV" },
	{ { 0x42, 0xff }, "EV EXCEPTION-GEN RETIRED L1D-ACCESS L1D-REFILL TLB-ACCESS TLB-REFILL NOT-TAKEN MISPRED" },
	{ { 0x52, 0x02, 0xff }, "EV RETIRED LLC-ACCESS LLC-REFILL REMOTE-ACCESS ALIGNMENT E12 E13 E14 E15" },
	{ { 0x62, 0x02, 0, 0xff, 0xff }, "EV RETIRED TRANSACTIONAL SVE-PARTIAL-PRED SVE-EMPTY-PRED L2D-ACCESS L2D-MISS HITM LFB SNOOPED STREAMING SMCU E26 E27 E28 E29 E30 E31" },
	{ { 0x72, 0x02, 0, 0, 0, 0x01, 0x80, 0x01, 0x80 }, "EV RETIRED E32 E47 E48 E63" },
	/* D18.2.7: operations of the class "other" */
	{ { 0x48, 0x00 }, "OTHER INSN-OTHER" },
	{ { 0x48, 0x01 }, "OTHER COND-SELECT" },
	{ { 0x48, 0x02 }, "OTHER INSN-OTHER FP" },
	{ { 0x48, 0x04 }, "OTHER INSN-OTHER ASE" },
	{ { 0x48, 0x07 }, "OTHER COND-SELECT FP ASE" },
	{ { 0x48, 0x08 }, "SVE-OTHER EVLEN 32" },
	{ { 0x48, 0x1a }, "SVE-OTHER EVLEN 64 FP" },
	{ { 0x48, 0x2c }, "SVE-OTHER EVLEN 128 PRED" },
	{ { 0x48, 0x68 }, "SVE-OTHER EVLEN 2048" },
	{ { 0x48, 0x7e }, "SVE-OTHER EVLEN >2048 FP PRED" },
	{ { 0x48, 0x88 }, "SME-OTHER ETS 128" },
	{ { 0x48, 0x8c }, "SME-OTHER ETS 256" },
	{ { 0x48, 0xda }, "SME-OTHER ETS 131072 FP" },
	{ { 0x48, 0xdc }, "SME-OTHER ETS 262144" },
	{ { 0x48, 0xe8 }, "SME-OTHER ETS reserved" },
	{ { 0x48, 0xf8 }, "SME-OTHER ETS reserved" },
	{ { 0x48, 0xfc }, "SME-OTHER ETS ZA" },
	{ { 0x48, 0x09 }, "OP class 0 subclass 0x9 reserved" },
	{ { 0x48, 0x80 }, "OP class 0 subclass 0x80 reserved" },
	/* D18.2.7: loads and stores */
	{ { 0x49, 0x00 }, "LD GP-REG" },
	{ { 0x49, 0x01 }, "ST GP-REG" },
	{ { 0x49, 0x04 }, "LD SIMD-FP" },
	{ { 0x49, 0x05 }, "ST SIMD-FP" },
	{ { 0x49, 0x10 }, "LD UNSPEC-REG" },
	{ { 0x49, 0x11 }, "ST UNSPEC-REG" },
	{ { 0x49, 0x14 }, "LD MTE-TAG" },
	{ { 0x49, 0x15 }, "ST MTE-TAG" },
	{ { 0x49, 0x30 }, "LD NV-SYSREG" },
	{ { 0x49, 0x31 }, "ST NV-SYSREG" },
	{ { 0x49, 0x02 }, "LD" },
	{ { 0x49, 0x06 }, "LD AT" },
	{ { 0x49, 0x0b }, "ST EXCL" },
	{ { 0x49, 0x12 }, "LD AR" },
	{ { 0x49, 0x1f }, "ST AT EXCL AR" },
	{ { 0x49, 0x08 }, "LD EVLEN 32" },
	{ { 0x49, 0x2d }, "ST EVLEN 128 PRED" },
	{ { 0x49, 0xf8 }, "LD EVLEN >2048 SG" },
	{ { 0x49, 0x20 }, "LD MEMCPY" },
	{ { 0x49, 0x21 }, "ST MEMCPY" },
	{ { 0x49, 0x25 }, "ST MEMSET" },
	{ { 0x49, 0x24 }, "OP class 1 subclass 0x24 reserved" },
	{ { 0x49, 0x40 }, "LD GCS" },
	{ { 0x49, 0x45 }, "ST GCS COMM" },
	{ { 0x49, 0x50 }, "OP class 1 subclass 0x50 reserved" },
	/* branches with CR, GCS, IND and COND */
	{ { 0x4a, 0x00 }, "B" },
	{ { 0x4a, 0x01 }, "B COND" },
	{ { 0x4a, 0x02 }, "B IND" },
	{ { 0x4a, 0x0c }, "B GCS CR-BL" },
	{ { 0x4a, 0x12 }, "B IND CR-RET" },
	{ { 0x4a, 0x1b }, "B COND IND CR-NON-BL-RET" },
	{ { 0x4a, 0x20 }, "OP class 2 subclass 0x20 reserved" },
	{ { 0x4b, 0x00 }, "OP class 3 subclass 0x0 reserved" },
	/* D18.1.3: unknown headers */
	{ { 0x1f }, "UNKNOWN header 0x1f payload 0x0" },
	{ { 0xc3, 0x55 }, "UNKNOWN header 0xc3 payload 0x55" },
	{ { 0x24, 0x98, 1, 2 }, "UNKNOWN header 0x9824 payload 0x201" },
};
/* clang-format on */

static void test_words(void **state)
{
	char text[DUMP_MEANING_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_packet packet;

		test_row("%s", rows[i].text);
		assert_row(spe_packet_decode(rows[i].bytes, sizeof(rows[i].bytes), &packet) > 0);
		dump_format_packet(&packet, text);
		if (strcmp(text, rows[i].text))
			print_error("\"%s\"\n", text);
		assert_row(!strcmp(text, rows[i].text));
	}
}

/* Each bit of the Events packet alone is printed as its name or its number, and nothing else. */
static void test_event_bits(void **state)
{
	char text[DUMP_MEANING_MAX], number[16];

	(void)state;
	for (unsigned int bit = 0; bit < 64; bit++) {
		const struct spe_packet packet = { .type = SPE_PACKET_EVENTS,
						   .payload = 1ULL << bit,
						   .payload_size = 8 };
		bool named = bit < 12 || (bit >= 16 && bit <= 25);

		test_row("bit %u", bit);
		dump_format_packet(&packet, text);
		snprintf(number, sizeof(number), "EV E%u", bit);
		assert_row(!strcmp(text, number) == !named);
		assert_row(strlen(text) > 3 && !strchr(text + 3, ' '));
	}
}

/* Make records, then damage larger than a buffer, records, zeros larger than a buffer, records. */
static size_t make_large_window(u8 *buf, size_t capacity)
{
	static const u8 record[] = { 0x42, 0x02, 0x98, 0x01, 0x00, 0x01 };
	size_t part = capacity / 5;

	memset(buf, 0, capacity);
	for (size_t at = 0; at + sizeof(record) <= capacity; at += 64)
		if (at / part != 3)
			memcpy(buf + at, record, sizeof(record));
	/*
	 * A suspect range that begins with packets, which the dump decodes, and continues with
	 * other bytes
	 */
	memset(buf + part, 0x3f, part);
	memset(buf + part, 0x04, 5);
	return capacity;
}

/*
 * For any split of the window into chunks, each byte is printed in exactly one line, in order. All
 * lines are full except the last one of a range.
 */
static void test_chunks_print_each_byte_once(void **state)
{
	const size_t capacity = 7 << 20;
	unsigned long long at, done = 0, size;
	unsigned int windows = 0, suspect = 0, words = 0, open = 0;
	char path[64], *text, *line, *next;
	struct recording_error error;
	struct recording *recording;
	u8 *buf = malloc(capacity);
	size_t text_size;
	int fd = memfd_create("dump", MFD_CLOEXEC), n;
	FILE *out;

	(void)state;
	assert_non_null(buf);
	assert_int_equal(write(fd, buf, make_large_window(buf, capacity)), capacity);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(recording_open(path, &recording, &error), 0);
	out = open_memstream(&text, &text_size);
	assert_non_null(out);
	/* Most bytes are suspect. The dump still prints the others. */
	assert_int_equal(dump_recording(recording, 0, out, &error), -EBADMSG);
	fclose(out);
	for (line = text; *line; line = next + 1) {
		next = strchr(line, '\n');
		assert_non_null(next);
		*next = 0;
		if (sscanf(line, "window at %llx: %llx bytes", &at, &size) == 2) {
			assert_int_equal(size, capacity);
			windows++;
			continue;
		}
		assert_int_equal(sscanf(line, ".  %llx: %n", &at, &n), 1);
		assert_int_equal(at, done);
		if (sscanf(line + n + 3 * 16 - 1, " PAD, %llu bytes", &size) != 1)
			for (size = 0; line[n + 3 * size] != ' ' && size < 16; size++)
				assert_int_equal(buf[done + size], strtoul(line + n + 3 * size, NULL, 16));
		done += size;
		words += !!strstr(line, " SUSPECT UNKNOWN");
		if (strstr(line, " SUSPECT") && !strstr(line, " SUSPECT ")) {
			assert_false(open);
			open = size < 16;
			suspect++;
		} else {
			open = 0;
		}
	}
	assert_int_equal(done, capacity);
	assert_int_equal(windows, 1);
	assert_true(words > 0);
	assert_in_range(suspect, capacity / 5 / 16 - 8, capacity / 5 / 16 + 8);
	recording_free(recording);
	free(text);
	free(buf);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_event_bits),
		cmocka_unit_test(test_chunks_print_each_byte_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
