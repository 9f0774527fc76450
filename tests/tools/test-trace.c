// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include <errno.h>
#include <stdio.h>

#include "codec/packet.h"
#include "trace/core-model.h"
#include "trace/guest-maps.h"
#include "trace/qemu-log.h"

/* ---- The log of QEMU 7.2 ----------------------------------------------------------------------- */

#define TRACE(thread, pc) \
	"Trace " thread ": 0x7f1886e00100 [0000000001009331/" pc "/00000001/00000201] f\n"
#define REGISTERS(pc, sp)                                                  \
	" PC=" pc " X00=0000000000000005 X01=0000000000498f80\n"           \
	"X02=0000000000000002 X03=0000000000000003 X04=0000000000000004\n" \
	"X05=0000000000000005 X06=0000000000000006 X07=0000000000000007\n" \
	"X08=0000000000000008 X09=0000000000000009 X10=000000000000000a\n" \
	"X11=000000000000000b X12=000000000000000c X13=000000000000000d\n" \
	"X14=000000000000000e X15=000000000000000f X16=0000000000000010\n" \
	"X17=0000000000000011 X18=0000000000000012 X19=0000000000000013\n" \
	"X20=0000000000000014 X21=0000000000000015 X22=0000000000000016\n" \
	"X23=0000000000000017 X24=0000000000000018 X25=0000000000000019\n" \
	"X26=000000000000001a X27=000000000000001b X28=000000000000001c\n" \
	"X29=000000000000001d X30=fffffffffffffffe  SP=" sp "\n"           \
	"PSTATE=60000000 -ZC- EL0t  SVCR=00000000 --  BTYPE=0\n"

#define PC1 "0000000000400580"
#define PC2 "0000000000400584"
#define SP1 "0000005500800700"
#define SP2 "0000005500900700"

/* Read a text, and return the number of its steps; the first @capacity steps are stored. */
static u32 read_log_text(struct qemu_log *log, const char *text, struct qemu_step *steps,
			 u32 capacity)
{
	struct qemu_step step;
	char line[4096];
	u32 count = 0;
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		assert_true(len < sizeof(line));
		memcpy(line, text, len);
		line[len] = '\0';
		if (qemu_log_read_line(log, line, &step) != 1)
			continue;
		if (count < capacity)
			steps[count] = step;
		count++;
	}
	return count;
}

static struct qemu_log *make_qemu_log(void)
{
	struct qemu_log *log = NULL;

	assert_int_equal(qemu_log_new(&log), 0);
	return log;
}

static void step_is_read(void **state)
{
	static const char text[] = "page layout changed following binary load\n"
				   "0000000000400000-000000000047e000 000000000007e000 r-x\n"
				   "guest_base  0x10000\n"
				   "start_stack 0x0000005500800700\n"
				   "----------------\n"
				   "IN: _start\n"
				   "0x00400580:  d503201f  nop      \n"
				   "\n" TRACE("0", PC1) REGISTERS(PC1, SP1);
	struct qemu_log *log = make_qemu_log();
	struct qemu_log_stats stats;
	struct qemu_step step;

	(void)state;
	assert_int_equal(read_log_text(log, text, &step, 1), 1);
	assert_int_equal(step.registers.pc, 0x400580);
	assert_int_equal(step.registers.x[0], 5);
	assert_int_equal(step.registers.x[1], 0x498f80);
	assert_int_equal(step.registers.x[28], 0x1c);
	assert_int_equal(step.registers.x[30], 0xfffffffffffffffe);
	assert_int_equal(step.registers.sp, 0x5500800700);
	assert_int_equal(step.registers.pstate, 0x60000000);
	assert_int_equal(step.thread, 0);
	assert_true(step.known);
	assert_int_equal(step.word, 0xd503201f);
	assert_int_equal(qemu_log_get_base(log), 0x10000);
	qemu_log_get_stats(log, &stats);
	assert_int_equal(stats.ignored + stats.unknown, 0);
	/* Instructions are logged once, and executed several times. */
	assert_int_equal(read_log_text(log, TRACE("0", PC1) REGISTERS(PC1, SP1), &step, 1), 1);
	assert_int_equal(step.word, 0xd503201f);
	qemu_log_free(log);
}

/*
 * Bytes that are logged without an address are the next executed instruction. An instruction that
 * was not logged is unknown.
 */
static void code_without_address_is_read(void **state)
{
	struct qemu_log *log = make_qemu_log();
	struct qemu_step steps[2];
	struct qemu_log_stats stats;

	(void)state;
	assert_int_equal(read_log_text(log,
				       "OBJD-T: 1f2003d5\n" TRACE("0", PC1) REGISTERS(PC1, SP1)
					       TRACE("0", PC2) REGISTERS(PC2, SP1),
				       steps, 2),
			 2);
	assert_true(steps[0].known);
	assert_int_equal(steps[0].word, 0xd503201f);
	assert_false(steps[1].known);
	qemu_log_get_stats(log, &stats);
	assert_int_equal(stats.unknown, 1);
	qemu_log_free(log);
}

static void threads_are_distinguished(void **state)
{
	struct qemu_log *log = make_qemu_log();
	struct qemu_step steps[4];

	(void)state;
	/*
	 * Two threads alternate. Then both are at one PC, and their stack pointers distinguish
	 * them.
	 */
	assert_int_equal(read_log_text(log,
				       TRACE("0", PC1) TRACE("3", PC2) REGISTERS(PC2, SP2)
					       REGISTERS(PC1, SP1) TRACE("0", PC2) TRACE("3", PC2)
						       REGISTERS(PC2, SP2) REGISTERS(PC2, SP1),
				       steps, 4),
			 4);
	assert_int_equal(steps[0].thread, 3);
	assert_int_equal(steps[1].thread, 0);
	assert_int_equal(steps[2].thread, 3);
	assert_int_equal(steps[3].thread, 0);
	qemu_log_free(log);
}

static void malformed_line_is_ignored(void **state)
{
	static const char *const rows[] = {
		/* No thread is at this PC. */
		REGISTERS(PC1, SP1),
		TRACE("0", PC2) REGISTERS(PC1, SP1),
		/* A register is missing, malformed or unknown. */
		TRACE("0", PC1) " PC=" PC1
				" X00=0000000000000005 X01=0000000000498f80\nPSTATE=60000000\n",
		TRACE("0", PC1) " PC=" PC1 " X00=\nPSTATE=60000000\n",
		TRACE("0", PC1) " PC=" PC1 " X31=0000000000000005\nPSTATE=60000000\n",
		TRACE("0", PC1) " PC=" PC1 " Y00=0000000000000005\nPSTATE=60000000\n",
		TRACE("0", PC1) " PC=\nX02=0000000000000002\nPSTATE=60000000\n",
		TRACE("0", PC1) "PSTATE=60000000\n",
		/* Thread numbers that are too large or missing. */
		TRACE("256", PC1) REGISTERS(PC1, SP1),
		TRACE("99999999999999999999", PC1) REGISTERS(PC1, SP1),
		TRACE("", "") REGISTERS(PC1, SP1),
		/* Truncated lines. */
		"Trace 0: 0x7f1886e00100 [0000000001009331/0000000000400580\n" REGISTERS(PC1, SP1),
		"Trace 0: 0x\n",
		"Trace ",
		"0x00400580:  d50320\n0x:\n0x0040058z:  d503201f\n0x00400582:  d503201f  nop\n",
		"OBJD-T: \nguest_base",
		"X00=1\nX\n",
		"\x01\xff\x80",
	};
	struct qemu_step step;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct qemu_log *log = make_qemu_log();

		test_row("row %zu", i);
		assert_int_equal(read_log_text(log, rows[i], &step, 1), 0);
		qemu_log_free(log);
	}
}

/*
 * A log that is cut at any byte, or has any byte replaced, gives no more steps than the whole log.
 */
static void damaged_log_is_read(void **state)
{
	static const char text[] = "0x00400580:  d503201f  nop\n" TRACE("0", PC1)
		REGISTERS(PC1, SP1) TRACE("0", PC2) REGISTERS(PC2, SP1);
	char damaged[sizeof(text)];
	struct qemu_step steps[2];

	(void)state;
	for (size_t at = 0; at < sizeof(text) - 1; at++) {
		struct qemu_log *log = make_qemu_log();

		memcpy(damaged, text, sizeof(text));
		damaged[at] = '\0';
		assert_true(read_log_text(log, damaged, steps, 2) <= 2);
		memcpy(damaged, text, sizeof(text));
		damaged[at] = damaged[at] == '\n' ? 'X' : '\n';
		assert_true(read_log_text(log, damaged, steps, 2) <= 2);
		qemu_log_free(log);
	}
}

static void code_is_bounded(void **state)
{
	struct qemu_log *log = make_qemu_log();
	struct qemu_step step;
	char line[64];
	int r = 0;
	u32 page;

	(void)state;
	for (page = 0; page <= QEMU_LOG_PAGES && !r; page++) {
		snprintf(line, sizeof(line), "0x%08llx:  d503201f  nop", 4096ULL * page);
		r = qemu_log_read_line(log, line, &step);
	}
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(page, QEMU_LOG_PAGES + 1);
	qemu_log_free(log);
}

/* ---- Mapped files ------------------------------------------------------------------------------ */

static void mapped_files_are_found(void **state)
{
	static const char text[] = "00410000-0048e000 r--p 00001000 08:01 1234                     "
				   "  /bin/the program\n"
				   "0048e000-00490000 rw-p 00000000 00:00 0\n"
				   "5500000000-5500001000 r--p 00000000 fe:20 99 /lib/ld.so\n"
				   "hostile\n"
				   "5600000000-5500001000 r--p 00000000 fe:20 99 /lib/backwards\n"
				   "7ffc0000-7ffd0000 rw-p 00000000 00:00 0      [stack]\n"
				   "7ffe0000-7fff0000 rw-p 00000000 00:00 7";
	struct guest_maps maps = { 0 };
	struct guest_map *map;

	(void)state;
	assert_int_equal(guest_maps_parse(&maps, text, 0x10000), 0);
	assert_int_equal(maps.count, 2);
	map = guest_maps_find(&maps, 0x47dfff);
	assert_non_null(map);
	assert_string_equal(map->path, "/bin/the program");
	assert_int_equal(map->start, 0x400000);
	assert_int_equal(map->size, 0x7e000);
	assert_int_equal(map->offset, 0x1000);
	assert_int_equal(map->inode, 1234);
	assert_null(guest_maps_find(&maps, 0x47e000));
	assert_null(guest_maps_find(&maps, 0x3fffff));
	map->reported = true;
	assert_string_equal(guest_maps_find(&maps, 0x54ffff0000)->path, "/lib/ld.so");
	/* A mapping that has not changed is not reported a second time. */
	assert_int_equal(guest_maps_parse(&maps, text, 0x10000), 0);
	assert_true(guest_maps_find(&maps, 0x400000)->reported);
	assert_false(guest_maps_find(&maps, 0x54ffff0000)->reported);
	assert_int_equal(guest_maps_parse(&maps, "", 0), 0);
	assert_null(guest_maps_find(&maps, 0x400000));
	guest_maps_clear(&maps);
}

/* ---- The modelled core ------------------------------------------------------------------------- */

static u64 get_access_source(struct core_model *core, u64 address)
{
	struct spe_access access;

	core_model_access(core, address, 8, false, &access);
	assert_int_equal(access.va, address);
	return access.source;
}

static void caches_have_what_was_accessed(void **state)
{
	struct core_model *core = NULL;
	struct spe_access access;

	(void)state;
	assert_int_equal(core_model_new(&core), 0);
	core_model_access(core, 0x1000, 8, false, &access);
	assert_true(access.events & SPE_BIT(SPE_EVENT_TLB_WALK));
	assert_true(access.events & SPE_BIT(SPE_EVENT_LLC_MISS));
	core_model_access(core, 0x1038, 8, false, &access);
	assert_int_equal(access.source, 0);
	assert_false(access.events & (SPE_BIT(SPE_EVENT_L1D_REFILL) | SPE_BIT(SPE_EVENT_TLB_WALK) |
				      SPE_BIT(SPE_EVENT_MISALIGNED)));
	core_model_access(core, 0x103c, 8, true, &access);
	assert_true(access.events & SPE_BIT(SPE_EVENT_MISALIGNED));
	assert_false(access.flags & SPE_ACCESS_SOURCE);
	assert_true(access.flags & SPE_ACCESS_STORE);
	/* 128 KiB do not fit into the first cache, but fit into the second. */
	for (u64 i = 0; i < 2048; i++)
		get_access_source(core, 0x100000 + 64 * i);
	assert_int_equal(get_access_source(core, 0x100000), 8);
	assert_int_equal(get_access_source(core, 0x100000), 0);
	core_model_free(core);
}

static void branches_are_predicted(void **state)
{
	struct core_model *core = NULL;
	u32 wrong = 0;

	(void)state;
	assert_int_equal(core_model_new(&core), 0);
	for (u32 i = 0; i < 1000; i++)
		wrong += core_model_execute_branch(core, 0x1000, SPE_INSTRUCTION_CONDITIONAL, true,
						   0x900);
	/* Each of the first branches changes the history, so predictions for them may be wrong. */
	assert_in_range(wrong, 1, 64);
	core_model_execute_branch(core, 0x2000, SPE_INSTRUCTION_LINK, true, 0x3000);
	assert_false(core_model_execute_branch(
		core, 0x3004, SPE_INSTRUCTION_RETURN | SPE_INSTRUCTION_INDIRECT, true, 0x2004));
	assert_true(
		core_model_execute_branch(core, 0x4000, SPE_INSTRUCTION_INDIRECT, true, 0x5000));
	assert_false(
		core_model_execute_branch(core, 0x4000, SPE_INSTRUCTION_INDIRECT, true, 0x5000));
	assert_true(
		core_model_execute_branch(core, 0x4000, SPE_INSTRUCTION_INDIRECT, true, 0x6000));
	assert_false(core_model_execute_branch(core, 0x7000, 0, true, 0x8000));
	core_model_free(core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(step_is_read),
		cmocka_unit_test(code_without_address_is_read),
		cmocka_unit_test(threads_are_distinguished),
		cmocka_unit_test(malformed_line_is_ignored),
		cmocka_unit_test(damaged_log_is_read),
		cmocka_unit_test(code_is_bounded),
		cmocka_unit_test(mapped_files_are_found),
		cmocka_unit_test(caches_have_what_was_accessed),
		cmocka_unit_test(branches_are_predicted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
