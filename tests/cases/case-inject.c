// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test fault injection: the syntax of its rules, faults of the next write, and faults of a share of
 * all writes.
 */
#include "model/inject.h"
#include "spu-fixture.h"
#include "suites.h"

#define S SPE_PMBSR_S

static struct spe_injector inject;

static int parse_rule(const char *text, struct spe_inject_rule *ret_rule,
		      struct spe_inject_error *ret_error)
{
	size_t len = 0;

	while (text[len])
		len++;
	return spe_inject_parse_rule(text, len, ret_rule, ret_error);
}

/* Apply the rule @text to all later samples. */
static void apply_rule(struct spe_check *check, const char *text)
{
	struct spe_inject_rule rule;

	if (SPE_CHECK(check, !parse_rule(text, &rule, NULL)))
		SPE_CHECK(check, !spe_inject_apply_rule(&inject, &fixture.spu, &rule));
}

/* Take one sample on an SPU with fault injection. */
static void take_sample(void)
{
	if (spe_spu_count_operations(&fixture.spu, spe_spu_operations_until_sample(&fixture.spu)))
		spe_inject_and_sample(&inject, &fixture.spu, &op_load);
}

static void fixture_begin(struct spe_check *check, u64 seed)
{
	fixture_init(check, NULL);
	fixture_arm(FIXTURE_SIZE);
	spe_inject_init(&inject, seed);
}

static void test_rule_text(struct spe_check *check)
{
	static const struct {
		const char *text;
		u32 ec;
		u32 mss;
		u32 ppm;
	} rows[] = {
		{ "translation", SPE_PMBSR_EC_STAGE1, SPE_FSC_TRANSLATION | 3, 0 },
		{ "translation next\n", SPE_PMBSR_EC_STAGE1, SPE_FSC_TRANSLATION | 3, 0 },
		{ " \tabort-async  12.5% ", SPE_PMBSR_EC_STAGE1, SPE_FSC_EXTERNAL_ASYNC, 125000 },
		{ "fill 100%", SPE_PMBSR_EC_BUFFER, SPE_PMBSR_BSC_FULL, 1000000 },
		{ "impdef 0.0001%", SPE_PMBSR_EC_IMPDEF, 0, 1 },
		{ "0x25:0X2c .5%", SPE_PMBSR_EC_STAGE2, 0x2c, 5000 },
		{ "63:65535", 63, 65535, 0 },
		{ "0x1f:0xabcd 9%", 0x1f, 0xabcd, 90000 },
		{ "0x09:0xEFAF 90.09%", 9, 0xefaf, 900900 },
		{ "10:90", 10, 90, 0 },
	};
	struct spe_inject_rule rule;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		SPE_CHECK_EQ(check, parse_rule(rows[i].text, &rule, NULL), 0);
		SPE_CHECK_EQ(check, rule.fault, spe_fault_make(rows[i].ec, rows[i].mss));
		SPE_CHECK_EQ(check, rule.ppm, rows[i].ppm);
	}
	SPE_CHECK(check, !parse_rule("off", &rule, NULL) && !rule.fault && !rule.ppm);
	SPE_CHECK(check, !parse_rule("collide 3%", &rule, NULL));
	SPE_CHECK(check, rule.fault == SPE_INJECT_COLLIDE && rule.ppm == 30000);
	SPE_CHECK(check, !strcmp(spe_inject_fault_name(spe_fault_make(SPE_PMBSR_EC_GPC, 0)),
				 "granule-protection"));
	SPE_CHECK(check, !spe_inject_fault_name(spe_fault_make(1, 2)));
}

static void test_rule_text_errors(struct spe_check *check)
{
	static const struct {
		const char *text;
		size_t column;
		size_t length;
		char want; /* first letter of the correct value */
	} rows[] = {
		{ "", 1, 0, 't' },
		{ "   ", 4, 0, 't' },
		{ "Translation", 1, 11, 't' },
		{ "fil", 1, 3, 't' },
		{ "0x24", 1, 4, 't' },
		{ "0x24:", 1, 5, 't' },
		{ ":1", 1, 2, 't' },
		{ "64:0", 1, 4, 't' },
		{ "0x24:0x10000", 1, 12, 't' },
		{ "0x:1", 1, 4, 't' },
		{ "1a:0", 1, 4, 't' },
		{ "0x1g:0", 1, 6, 't' },
		{ "0x1`:0", 1, 6, 't' },
		{ "0x1@:0", 1, 6, 't' },
		{ "0x1G:0", 1, 6, 't' },
		{ "1/:0", 1, 4, 't' },
		{ "1::0", 1, 4, 't' },
		{ "fill 5", 6, 1, '"' },
		{ "fill 0%", 6, 2, '"' },
		{ "fill 0.0%", 6, 4, '"' },
		{ "fill %", 6, 1, '"' },
		{ "fill .%", 6, 2, '"' },
		{ "fill 100.0001%", 6, 9, '"' },
		{ "fill 4294967296%", 6, 11, '"' },
		{ "fill 0.00001%", 6, 8, '"' },
		{ "fill 1.2.3%", 6, 6, '"' },
		{ "fill -1%", 6, 3, '"' },
		{ " fill  5% 6%", 11, 2, 't' },
		{ "fill next 5%", 11, 2, 't' },
		{ "off next", 5, 4, 't' },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_inject_rule rule = { 7, 7 };
		struct spe_inject_error error = { 0 };

		SPE_CHECK_EQ(check, parse_rule(rows[i].text, &rule, &error), -EINVAL);
		SPE_CHECK_EQ(check, error.column, rows[i].column);
		SPE_CHECK_EQ(check, error.length, rows[i].length);
		SPE_CHECK(check, error.want && error.want[0] == rows[i].want);
		SPE_CHECK(check, rule.fault == 7 && rule.ppm == 7);
	}
	/* The parser does not read bytes after the text. */
	{
		struct spe_inject_rule rule;
		struct spe_inject_error error = { 0 };

		SPE_CHECK_EQ(check, spe_inject_parse_rule("    ", 2, &rule, &error), -EINVAL);
		SPE_CHECK_EQ(check, error.column, 3);
		SPE_CHECK_EQ(check, spe_inject_parse_rule("fill5%", 4, &rule, &error), 0);
	}
}

static void test_fault_of_next_write(struct spe_check *check)
{
	static const struct {
		const char *text;
		u64 pmbsr;
		u64 written;
	} rows[] = {
		{ "0x24:7", S | SPE_FIELD_PREP(SPE_PMBSR_EC, 0x24) | 7, 1 },
		{ "not-allowed", S | SPE_PMBSR_DL, 1 },
		{ "fill", S | SPE_PMBSR_BSC_FULL, 2 },
		{ "collide", SPE_PMBSR_COLL, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		fixture_begin(check, 1);
		take_sample();
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
		apply_rule(check, rows[i].text);
		take_sample();
		SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), rows[i].pmbsr);
		SPE_CHECK_EQ(check, fixture.spu.stats.written, rows[i].written);
		SPE_CHECK_EQ(check, inject.injected, 1);
	}
	/* The rule applies only once. */
	take_sample();
	SPE_CHECK_EQ(check, fixture.spu.stats.collisions, 1);
	/* "off" removes a rule before it was applied. */
	apply_rule(check, "translation");
	apply_rule(check, "off");
	take_sample();
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), SPE_PMBSR_COLL);
}

/* An asynchronous abort is reported as a second event (RBPFPN). */
static void test_second_event(struct spe_check *check)
{
	fixture_begin(check, 1);
	apply_rule(check, "fill");
	take_sample();
	apply_rule(check, "abort-async");
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR),
		     S | SPE_PMBSR_EA | SPE_PMBSR_DL | SPE_PMBSR_BSC_FULL);
}

/* Take samples until 20,000 were written or lost, with a new window after each event. */
static u64 take_samples_with_rules(u64 seed)
{
	u64 events = 0;

	inject.random = seed;
	for (u32 i = 0; i < 20000; i++) {
		take_sample();
		if (!(fixture_read_reg(SPE_REG_PMBSR) & S))
			continue;
		events++;
		spe_spu_write(&fixture.spu, SPE_REG_PMBPTR, FIXTURE_BASE);
		spe_spu_write(&fixture.spu, SPE_REG_PMBSR, 0);
	}
	return events;
}

static void test_probabilities(struct spe_check *check)
{
	u64 collisions, discarded;

	fixture_begin(check, 1);
	apply_rule(check, "translation 10%");
	apply_rule(check, "collide 5%");
	apply_rule(check, "translation 2%");
	take_samples_with_rules(7);
	collisions = fixture.spu.stats.collisions;
	discarded = fixture.spu.stats.discarded;
	/* The shares are 2 % and 5 % of 20,000. Each must be within six standard deviations. */
	SPE_CHECK(check, discarded > 400 - 119 && discarded < 400 + 119);
	SPE_CHECK(check, collisions > 1000 - 185 && collisions < 1000 + 185);
	SPE_CHECK_EQ(check, inject.injected, discarded + collisions);
	SPE_CHECK_EQ(check, fixture.strays, 0);

	/* The same seed gives the same faults. */
	fixture_begin(check, 1);
	apply_rule(check, "translation 2%");
	apply_rule(check, "collide 5%");
	take_samples_with_rules(7);
	SPE_CHECK_EQ(check, fixture.spu.stats.collisions, collisions);
	SPE_CHECK_EQ(check, fixture.spu.stats.discarded, discarded);
}

/* A sample that a filter drops causes no write, and no later write gets its fault. */
static void test_filtered_sample_uses_no_fault(struct spe_check *check)
{
	fixture_begin(check, 1);
	spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, SPE_PMSFCR_FT | SPE_PMSFCR_B);
	apply_rule(check, "translation 100%");
	for (u32 i = 0; i < 100; i++)
		take_sample();
	SPE_CHECK_EQ(check, fixture.spu.stats.filtered, 100);
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
	apply_rule(check, "off");
	spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, 0);
	take_sample();
	SPE_CHECK_EQ(check, fixture.spu.stats.written, 1);
}

/*
 * A rule for the next write stays pending until a write. A rule for a share of the writes does not
 * replace it.
 */
static void test_next_fault_waits_for_write(struct spe_check *check)
{
	fixture_begin(check, 1);
	spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, SPE_PMSFCR_FT | SPE_PMSFCR_B);
	apply_rule(check, "translation");
	for (u32 i = 0; i < 10; i++)
		take_sample();
	SPE_CHECK_EQ(check, fixture_read_reg(SPE_REG_PMBSR), 0);
	apply_rule(check, "fill 100%");
	spe_spu_write(&fixture.spu, SPE_REG_PMSFCR, 0);
	take_sample();
	SPE_CHECK_EQ(check, SPE_FIELD_GET(SPE_PMBSR_EC, fixture_read_reg(SPE_REG_PMBSR)),
		     SPE_PMBSR_EC_STAGE1);
}

/* Test that a rule with probability P applies to draws below P, and not to the draw P. */
static void test_probability_is_exact(struct spe_check *check)
{
	struct spe_inject_rule rule = { SPE_INJECT_COLLIDE, 0 };
	u64 random = 99;

	rule.ppm = (u32)((spe_check_random(&random) >> 32) * 1000000 >> 32);
	for (u32 above = 0; above < 2; above++) {
		fixture_begin(check, 99);
		rule.ppm += above;
		SPE_CHECK_EQ(check, spe_inject_apply_rule(&inject, &fixture.spu, &rule), 0);
		take_sample();
		SPE_CHECK_EQ(check, fixture.spu.stats.collisions, above);
	}
}

static void test_limits_of_rules(struct spe_check *check)
{
	struct spe_inject_rule rule = { spe_fault_make(1, 0), 1000001 };

	fixture_begin(check, 1);
	SPE_CHECK_EQ(check, spe_inject_apply_rule(&inject, &fixture.spu, &rule), -EINVAL);
	for (u32 i = 0; i < SPE_INJECT_RULES; i++) {
		rule = (struct spe_inject_rule){ spe_fault_make(i, 0), 1 };
		SPE_CHECK_EQ(check, spe_inject_apply_rule(&inject, &fixture.spu, &rule), 0);
		SPE_CHECK_EQ(check, spe_inject_apply_rule(&inject, &fixture.spu, &rule), 0);
	}
	rule.fault = spe_fault_make(SPE_INJECT_RULES, 0);
	SPE_CHECK_EQ(check, spe_inject_apply_rule(&inject, &fixture.spu, &rule), -ENOSPC);
	apply_rule(check, "off");
	SPE_CHECK_EQ(check, spe_inject_apply_rule(&inject, &fixture.spu, &rule), 0);
}

static const struct spe_case cases[] = {
	{ "text", test_rule_text },
	{ "text errors", test_rule_text_errors },
	{ "the next write", test_fault_of_next_write },
	{ "second event", test_second_event },
	{ "shares", test_probabilities },
	{ "filtered", test_filtered_sample_uses_no_fault },
	{ "limits", test_limits_of_rules },
	{ "the next one waits", test_next_fault_waits_for_write },
	{ "the edge of a share", test_probability_is_exact },
};

const struct spe_suite spe_suite_inject = { "inject", cases, ARRAY_SIZE(cases) };
