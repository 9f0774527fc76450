// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test filters: which samples match, the position of errors, and what the SPU filters. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "codec/registers.h"
#include "filter/filter-internal.h"
#include "filter/task-filter.h"
#include "model/spu-internal.h"

/* a component of 250 bytes */
#define TEN  "0123456789"
#define FIFTY TEN TEN TEN TEN TEN
#define LONG FIFTY FIFTY FIFTY FIFTY FIFTY

static const struct attribute_process process = { .pid = 4242, .comm = "my app" };
static const struct attribute_container container = {
	.name = "web-1", .runtime = "docker", .path = "/system.slice/docker-12.scope",
	.cgroup = "/system.slice/docker-12.scope",
};

/* A load at EL0, served by a remote cache after 300 cycles */
static const struct spe_sample load = {
	.present = SPE_HAS_EVENTS | SPE_HAS_OP | SPE_HAS_COUNTER(SPE_COUNTER_TOTAL) |
		   SPE_HAS_COUNTER(SPE_COUNTER_ISSUE) | SPE_HAS_ADDRESS(SPE_ADDRESS_PC) |
		   SPE_HAS_ADDRESS(SPE_ADDRESS_VA),
	.events = SPE_BIT(SPE_EVENT_RETIRED) | SPE_BIT(SPE_EVENT_L1D_REFILL) | SPE_BIT(13),
	.events_size = 2,
	.op_class = SPE_OP_LOAD_STORE,
	.counter = { [SPE_COUNTER_TOTAL] = 300, [SPE_COUNTER_ISSUE] = 7 },
	.address = { [SPE_ADDRESS_PC] = 0x400123, [SPE_ADDRESS_VA] = 0xffff800000001000 },
};

static const struct spe_sample branch = {
	.present = SPE_HAS_EVENTS | SPE_HAS_OP | SPE_HAS_ADDRESS(SPE_ADDRESS_PC),
	.events = SPE_BIT(SPE_EVENT_RETIRED) | SPE_BIT(SPE_EVENT_MISPREDICTED),
	.events_size = 1,
	.op_class = SPE_OP_BRANCH,
	.op_subclass = SPE_OP_COND,
	.address = { [SPE_ADDRESS_PC] = 0xa0ffffc000081234 },
};

static const struct filter_subject subjects[] = {
	{ &load, { SPE_LEVEL_REMOTE_CACHE, SPE_ORIGIN_REMOTE | SPE_ORIGIN_SNOOPED }, 3, &process,
	  &container },
	{ &branch, { 0 }, 0, NULL, NULL },
};

static struct filter *parse_filter(const char *text)
{
	struct filter_error error = { 0 };
	struct filter *filter = NULL;

	if (filter_new(text, &filter, &error) < 0)
		fail_msg("%s: column %u: %s", text, error.column, error.text);
	return filter;
}

/* Check that a result for the class of a sample is the result for the sample. */
static void assert_class_verdict(const struct filter *filter, const struct filter_subject *subject)
{
	enum filter_verdict verdict = filter_match_class(filter, subject->sample, subject->origin);

	assert_row(verdict == FILTER_DEPENDS || filter_needs(filter) & FILTER_NEEDS_CLASS);
	assert_row(!filter_match(filter, subject) ||
		   subject->sample->counter[SPE_COUNTER_TOTAL] >= filter_get_min_latency(filter));
	assert_row(verdict == FILTER_DEPENDS ||
		   filter_match(filter, subject) == (verdict == FILTER_ACCEPTS));
}

/* Test each expression, and its negation. */
static void test_expressions_match(void **state)
{
	static const struct {
		const char *text;
		bool load;
		bool branch;
	} rows[] = {
		{ "op == load", true, false },
		{ "op != load", false, true },
		{ "op == load || op == branch", true, true },
		{ "op == load && op == branch", false, false },
		{ "!(op == load)", false, true },
		{ "!!(op == load)", true, false },
		{ "op==load&&latency.total>200&&container==\"web-1\"", true, false },
		{ "latency.total > 299", true, false },
		{ "latency.total > 300", false, false },
		{ "latency.total >= 300", true, false },
		{ "latency.total < 301", true, false },
		{ "latency.total <= 300", true, false },
		{ "latency.total <= 0x12b", false, false },
		{ "latency.issue == 7", true, false },
		/* A comparison with an absent value is false, and so is the negated comparison. */
		{ "latency.translation == 0", false, false },
		{ "latency.translation != 0", false, false },
		{ "!(latency.translation != 0)", true, true },
		{ "level == remote_cache", true, false },
		{ "remote", true, false },
		{ "!remote", false, true },
		{ "remote == false", false, false },
		{ "snooped && !modified", true, false },
		{ "mispredicted", false, true },
		{ "event.mispredicted == true", false, true },
		{ "event.13", true, false },
		{ "l1d_refill != false", true, false },
		/* An event in a bit after the end of the payload is absent. */
		{ "event.40 == false", false, false },
		{ "conditional", false, true },
		{ "atomic == false", true, true },
		{ "pc == 0x400123", true, false },
		{ "pc == 0xffffffc000081234", false, true },
		{ "el == 0", true, false },
		{ "el == 1", false, true },
		{ "address >= 0xffff800000000000", true, false },
		{ "cpu == 3 || cpu == 0", true, true },
		{ "cpu == 03 && cpu != 0X10", true, false },
		{ "cpu <= 07 && pid < 010000", true, false },
		{ "pid == 4242", true, false },
		{ "process == \"my app\"", true, false },
		{ "process != other", true, false },
		{ "container =~ \"web-*\"", true, false },
		{ "cgroup != \"/sys/fs/cgroups\"", true, false },
		{ "container =~ \"*-2\"", false, false },
		{ "runtime == docker && cgroup =~ \"*/docker-*\"", true, false },
		/* && has a higher precedence than ||. */
		{ "op == load || op == branch && el == 0", true, false },
		{ "(op == load || op == branch) && el == 1", false, true },
		{ "  ( ( op == load ) )\t", true, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filter *filter = parse_filter(rows[i].text);
		struct filter *negated;
		char text[128];

		test_row("%s", rows[i].text);
		assert_row(filter_match(filter, &subjects[0]) == rows[i].load);
		assert_row(filter_match(filter, &subjects[1]) == rows[i].branch);
		for (u32 k = 0; k < ARRAY_SIZE(subjects); k++) {
			enum filter_verdict verdict = filter_match_task(
				filter, subjects[k].process, subjects[k].container);

			assert_row(verdict == FILTER_DEPENDS ||
				   filter_match(filter, &subjects[k]) == (verdict == FILTER_ACCEPTS));
			assert_row(verdict == FILTER_DEPENDS ||
				   filter_needs(filter) & FILTER_NEEDS_TASK);
			assert_class_verdict(filter, &subjects[k]);
		}
		assert_string_equal(filter->text, rows[i].text);
		snprintf(text, sizeof(text), "!(%s)", rows[i].text);
		negated = parse_filter(text);
		assert_row(filter_match(negated, &subjects[0]) != rows[i].load);
		assert_row(filter_match(negated, &subjects[1]) != rows[i].branch);
		filter_free(negated);
		filter_free(filter);
	}
}

/*
 * A result that follows from the task alone is correct for all its samples, and every result that
 * can follow from the task does.
 */
static void test_results_of_tasks(void **state)
{
	static const struct {
		const char *text;
		enum filter_verdict verdict;
		enum filter_verdict without; /* results for samples without a process */
	} rows[] = {
		{ "pid == 4242", FILTER_ACCEPTS, FILTER_REJECTS },
		{ "pid != 4242", FILTER_REJECTS, FILTER_REJECTS },
		{ "container == \"web-1\"", FILTER_ACCEPTS, FILTER_REJECTS },
		{ "!(container == \"web-1\")", FILTER_REJECTS, FILTER_ACCEPTS },
		{ "container == \"web-1\" && op == load", FILTER_DEPENDS, FILTER_REJECTS },
		{ "op == load && container =~ \"*-2\"", FILTER_REJECTS, FILTER_REJECTS },
		{ "op == load || process == \"my app\"", FILTER_ACCEPTS, FILTER_DEPENDS },
		{ "!(op == load || process == \"my app\")", FILTER_REJECTS, FILTER_DEPENDS },
		{ "!(op == load && pid == 1)", FILTER_ACCEPTS, FILTER_ACCEPTS },
		{ "op == load || cpu == 3", FILTER_DEPENDS, FILTER_DEPENDS },
		{ "pid == 4242 && runtime == docker", FILTER_ACCEPTS, FILTER_REJECTS },
		{ "pid == 4242 || runtime == none", FILTER_ACCEPTS, FILTER_REJECTS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filter *filter = parse_filter(rows[i].text);

		test_row("%s", rows[i].text);
		assert_row(filter_match_task(filter, &process, &container) == rows[i].verdict);
		assert_row(filter_match_task(filter, NULL, NULL) == rows[i].without);
		for (u32 k = 0; k < ARRAY_SIZE(subjects); k++) {
			bool matches = filter_match(filter, &subjects[k]);
			enum filter_verdict verdict = filter_match_task(
				filter, subjects[k].process, subjects[k].container);

			assert_row(verdict == FILTER_DEPENDS ||
				   matches == (verdict == FILTER_ACCEPTS));
		}
		filter_free(filter);
	}
}

/* Every result that can follow from operation, events and data source of a sample does. */
static void test_classes(void **state)
{
	static const struct {
		const char *text;
		enum filter_verdict load;
		enum filter_verdict branch;
		u8 needs;
	} rows[] = {
		{ "op == load", FILTER_ACCEPTS, FILTER_REJECTS, FILTER_NEEDS_CLASS },
		{ "op == load && level == dram", FILTER_REJECTS, FILTER_REJECTS,
		  FILTER_NEEDS_CLASS },
		{ "level == remote_cache && remote", FILTER_ACCEPTS, FILTER_REJECTS,
		  FILTER_NEEDS_CLASS },
		{ "source == 3 || conditional", FILTER_REJECTS, FILTER_ACCEPTS,
		  FILTER_NEEDS_CLASS },
		{ "mispredicted && !l1d_refill", FILTER_REJECTS, FILTER_ACCEPTS,
		  FILTER_NEEDS_CLASS },
		{ "op == load && latency.total > 200", FILTER_DEPENDS, FILTER_REJECTS,
		  FILTER_NEEDS_CLASS },
		{ "op == load && pid == 4242", FILTER_DEPENDS, FILTER_REJECTS,
		  FILTER_NEEDS_CLASS | FILTER_NEEDS_TASK },
		{ "op == branch || container == x", FILTER_DEPENDS, FILTER_ACCEPTS,
		  FILTER_NEEDS_CLASS | FILTER_NEEDS_TASK },
		{ "container == x || pid == 1", FILTER_DEPENDS, FILTER_DEPENDS, FILTER_NEEDS_TASK },
		{ "cpu == 3 || el == 0 || pc == 1", FILTER_DEPENDS, FILTER_DEPENDS, 0 },
		/* Bit 13 is not in the one byte of events that the branch has. */
		{ "event.13 == false", FILTER_DEPENDS, FILTER_DEPENDS, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filter *filter = parse_filter(rows[i].text);

		test_row("%s", rows[i].text);
		assert_row(filter_match_class(filter, &load, subjects[0].origin) == rows[i].load);
		assert_row(filter_match_class(filter, &branch, subjects[1].origin) ==
			   rows[i].branch);
		assert_row(filter_needs(filter) == rows[i].needs);
		for (u32 k = 0; k < ARRAY_SIZE(subjects); k++)
			assert_class_verdict(filter, &subjects[k]);
		filter_free(filter);
	}
}

/* The minimum of the total latency follows from comparisons that every matching sample satisfies. */
static void test_latency_min(void **state)
{
	static const struct {
		const char *text;
		u32 min;
	} rows[] = {
		{ "latency.total > 200", 201 },
		{ "latency.total >= 200 && op == load", 200 },
		{ "latency.total > 10 && (pid == 1 && latency.total >= 70)", 70 },
		{ "latency.total == 5", 5 },
		{ "latency.total < 5", 0 },
		{ "!(latency.total > 200)", 0 },
		{ "latency.total > 200 || op == load", 0 },
		{ "latency.issue > 200", 0 },
		{ "op == load", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filter *filter = parse_filter(rows[i].text);

		test_row("%s", rows[i].text);
		assert_row(filter_get_min_latency(filter) == rows[i].min);
		filter_free(filter);
	}
}

static void test_errors_have_positions(void **state)
{
	static const struct {
		const char *text;
		u32 column;
		const char *says;
	} rows[] = {
		{ "", 1, "\"the end\": should be a field" },
		{ "opp == load", 1, "\"opp\": should be a field" },
		{ "op", 3, "\"the end\": after this field should be == or !=" },
		{ "op = load", 4, "\"=\": after this field should be == or !=" },
		{ "op < load", 4, "\"<\": after this field should be == or !=" },
		{ "op == lod", 7, "\"lod\": should be one of load, store, branch, other" },
		{ "op == load &&", 14, "\"the end\": should be a field" },
		{ "op == load & el == 0", 12, "\"&\": should be &&, || or the end" },
		{ "op == load el == 0", 12, "\"el\": should be &&, || or the end" },
		{ "(op == load", 1, "this parenthesis is not closed" },
		{ "op == load)", 11, "\")\": should be &&, || or the end" },
		{ "latency.total > many", 17, "\"many\": should be a number" },
		{ "latency.total > 12x", 17, "\"12x\": should be a number" },
		{ "latency.total > -1", 17, "\"-1\": should be a number" },
		{ "latency.total > 18446744073709551616", 17, "should be a number from 0" },
		{ "latency.total =~ 5", 15, "\"=~\": after this field should be ==" },
		{ "container < web", 11, "\"<\": after this field should be ==, != or =~" },
		{ "container == \"web", 14, "these quotes are not closed" },
		{ "container == \"web\\", 14, "these quotes are not closed" },
		{ "cgroup == \"/sys/fs/cgroup/a.slice\"", 11, "should be \"/a.slice\"" },
		{ "cgroup != /sys", 11, "\"/\": should be a name" },
		{ "op == load && cgroup =~ \"/sys/fs/cgroup/unified/a/*\"", 25, "should be \"/a/*\"" },
		{ "!(cgroup != \"/sys/fs/cgroup\")", 13, "should be \"/\"" },
		{ "cgroup == \"/sys/fs/cgroup/a\x1b[2J\"", 11, "should be \"/a...\"" },
		{ "container == &", 14, "\"&\": should be a name" },
		{ "mispredicted == 1", 17, "\"1\": should be true or false" },
		{ "mispredicted > false", 14, "\">\": should be &&" },
		{ "event.64", 1, "\"event.64\": should be a field" },
		{ "event.1x", 1, "should be a field" },
		{ "\x1b[31m", 1, "\"?\": should be a field" },
		{ "level == l9", 10, "should be one of unknown, l1, l2" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filter_error error = { 0 };
		struct filter *filter = NULL;

		test_row("%s: column %u \"%.60s\"", rows[i].text, error.column, error.text);
		assert_row(filter_new(rows[i].text, &filter, &error) == -EINVAL);
		test_row("%s: column %u \"%.80s\"", rows[i].text, error.column, error.text);
		assert_row(error.column == rows[i].column);
		assert_row(strstr(error.text, rows[i].says));
		assert_row(!filter);
	}
}

/* Test the maximum depth and length, and one more. */
static void test_depth_and_length_limits(void **state)
{
	struct filter_error error;
	struct filter *filter;
	char text[4096];

	(void)state;
	for (u32 depth = FILTER_DEPTH - 1; depth <= FILTER_DEPTH + 1; depth++) {
		memset(text, '(', depth);
		strcpy(text + depth, "remote");
		memset(text + depth + 6, ')', depth);
		text[2 * depth + 6] = '\0';
		filter = NULL;
		test_row("depth %u", depth);
		assert_row((filter_new(text, &filter, &error) == 0) == (depth < FILTER_DEPTH));
		filter_free(filter);
	}
	for (u32 parts = 63; parts <= 65; parts++) {
		text[0] = '\0';
		for (u32 i = 0; i < parts; i++)
			strcat(text, i ? "||remote" : "remote");
		filter = NULL;
		test_row("%u parts", parts);
		assert_row((filter_new(text, &filter, &error) == 0) ==
			   (2 * parts - 1 < FILTER_NODES));
		assert_row(!filter || filter_match(filter, &subjects[0]));
		filter_free(filter);
	}
}

static void test_hardware_filters(void **state)
{
	static const struct {
		const char *text;
		u64 types;
		u32 latency;
		u64 events;
		const char *says;
		u64 events_not;
	} rows[] = {
		{ "op == load", SPE_PMSFCR_LD, 0, 0, "types" },
		{ "op == load || op == store", SPE_PMSFCR_LD | SPE_PMSFCR_ST, 0, 0, "types" },
		{ "op == load || el == 0", 0, 0, 0, "" },
		{ "op == other", 0, 0, 0, "" },
		{ "op != load", 0, 0, 0, "" },
		{ "!(op == load)", 0, 0, 0, "" },
		{ "latency.total > 200", 0, 201, 0, "latency" },
		{ "latency.total >= 200 && latency.total > 300", 0, 301, 0, "latency" },
		{ "latency.total < 200", 0, 0, 0, "" },
		{ "latency.total > 4095", 0, 0, 0, "" },
		{ "latency.issue > 200", 0, 0, 0, "" },
		{ "mispredicted", 0, 0, 0x80, "events" },
		{ "mispredicted == true && retired", 0, 0, 0x82, "events" },
		{ "mispredicted == false", 0, 0, 0, "", 0x80 },
		{ "mispredicted != true", 0, 0, 0, "", 0x80 },
		{ "!mispredicted", 0, 0, 0, "", 0x80 },
		{ "!(mispredicted != false)", 0, 0, 0, "", 0x80 },
		{ "!(mispredicted == false)", 0, 0, 0, "" },
		{ "!remote && !l1d_refill && retired", 0, 0, 2, "events", 8 },
		{ "!event.13", 0, 0, 0, "" },
		{ "!(mispredicted || retired)", 0, 0, 0, "" },
		/* Enabling both filters would disable the filters of some SPUs. */
		{ "mispredicted && !mispredicted", 0, 0, 0x80, "events" },
		{ "!mispredicted && mispredicted", 0, 0, 0x80, "events" },
		{ "remote", 0, 0, 0, "" },
		{ "event.13", 0, 0, 0, "" },
		{ "op == branch && (mispredicted || el == 0)", SPE_PMSFCR_B, 0, 0, "types" },
		{ "op == load && latency.total > 200 && l1d_refill && container == web",
		  SPE_PMSFCR_LD, 201, 8, "types, latency and events" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filter *filter = parse_filter(rows[i].text);
		struct source_config config = { 0 };

		test_row("%s", rows[i].text);
		assert_row(!strcmp(filter_offload(filter, NULL, &config), rows[i].says));
		assert_row(config.filter_types == rows[i].types);
		assert_row(config.filter_latency == rows[i].latency);
		assert_row(config.filter_events == rows[i].events);
		assert_row(config.filter_events_not == rows[i].events_not);
		filter_free(filter);
	}
}

#define N1	 0x413fd0c1u
#define AMPERE1A 0xc00fac40u
#define HIP12	 0x480fd060u
#define QEMU	 0x000f0510u

static struct filter_cores make_filter_cores(const u32 *midrs, size_t count)
{
	struct filter_cores cores = { 0 };

	for (size_t i = 0; i < count && midrs[i]; i++)
		filter_cores_add(&cores, &(struct source_cpu){ .midr = midrs[i] });
	return cores;
}

#define ONLY(bits) (~(u64)(bits))

/*
 * Loads by bits 5:0 of their data source: the SPU may only omit values that never match, on any
 * core.
 */
static void test_data_source_filters(void **state)
{
	static const struct {
		const char *text;
		u32 midrs[3];
		u64 sources_not;
	} rows[] = {
		{ "source == 14", { 0 }, ONLY(1 << 14) },
		{ "source == 14 || source == 3", { 0 }, ONLY(1 << 14 | 1 << 3) },
		{ "source == 14 || el == 0", { 0 }, 0 },
		{ "(source == 14 || container == web) && source < 16", { 0 }, ONLY(0xffff) },
		/* Cores of unknown type may write 16 bits, of which the filter compares six. */
		{ "source == 78", { 0 }, ONLY(1 << 14) },
		{ "source == 70000", { 0 }, ONLY(0) },
		{ "source < 4", { 0 }, ONLY(0xf) },
		{ "source >= 8", { 0 }, 0 },
		{ "source != 14", { 0 }, 0 },
		{ "!(source == 14)", { 0 }, 0 },
		{ "source >= 8 && source <= 12", { 0 }, ONLY(0x1f00) },
		{ "source >= 65534", { 0 }, ONLY(3ULL << 62) },
		{ "source > 65535", { 0 }, ONLY(0) },
		{ "source != 14", { N1 }, 1 << 14 },
		{ "source >= 8", { N1 }, 0xff },
		{ "source != 78", { N1 }, 0 },
		/* levels, by the tables of all known cores */
		{ "level == dram", { 0 }, 0 },
		{ "level == dram", { QEMU }, 0 },
		{ "level == remote_cache", { N1 }, ONLY(1 << 13) },
		{ "level == remote_cache", { AMPERE1A }, ONLY(1 << 5) },
		{ "level == remote_cache", { N1, AMPERE1A }, ONLY(1 << 13 | 1 << 5) },
		{ "level == remote_cache", { N1, HIP12, N1 }, ONLY(1 << 13 | 3 << 6) },
		{ "level == remote_cache", { N1, QEMU }, 0 },
		{ "level == remote_cache && container == web", { N1 }, ONLY(1 << 13) },
		{ "level == remote_cache || container == web", { N1 }, 0 },
		{ "level == l3", { N1 }, ONLY(0) },
		/* A miss of the LLC counts as DRAM for stores, and for values without a meaning. */
		{ "level == dram", { N1 }, 0 },
		{ "op == load && level == dram", { N1 }, 0x3f01 },
		{ "op == load && level == dram", { AMPERE1A }, 0x329 },
		{ "op == load && level == dram", { N1, AMPERE1A }, 0x301 },
		{ "op == load && level == dram", { N1, HIP12, N1 }, 0x2001 },
		{ "op == load && level == dram && container == web", { N1 }, 0x3f01 },
		{ "op == load && level != dram", { N1 }, 1 << 14 },
		{ "level == dram && source == 8", { N1, HIP12 }, ONLY(1 << 8) },
		/* stores, and values without a meaning: their level may depend on their events */
		{ "level == l1", { N1 }, 0 },
		{ "level != l1", { N1 }, 0 },
		{ "op == load && level == l1", { N1 }, 0x7f00 },
		{ "op == load && level != l1", { N1 }, 1 },
		{ "op == load && !(level == l1 || level == l2)", { N1 }, 1 | 1 << 8 },
		{ "op == store && level == l1", { N1 }, 0 },
		{ "remote", { N1 }, 0 },
		{ "!remote && op == load", { N1 }, 1 << 13 },
		{ "peer", { N1 }, ONLY(1 << 9 | 1 << 10 | 3 << 12) },
		{ "peer == false", { N1 }, 0 },
		{ "peer != true && op == load", { N1 }, 1 << 9 | 1 << 10 | 3 << 12 },
		/* expressions without a data source */
		{ "op == load", { N1 }, 0 },
		{ "op == branch", { N1 }, 0 },
		{ "latency.total > 200 && el == 0", { N1 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filter_cores cores =
			make_filter_cores(rows[i].midrs, ARRAY_SIZE(rows[i].midrs));
		struct filter *filter = parse_filter(rows[i].text);
		struct source_config config = { 0 };

		filter_offload(filter, &cores, &config);
		test_row("%s on %x: %llx", rows[i].text, rows[i].midrs[0],
			 (unsigned long long)config.filter_sources_not);
		assert_row(config.filter_sources_not == rows[i].sources_not);
		filter_free(filter);
	}
}

/* Return whether a record of any kind with @source, from a core of @midr, matches. */
static bool any_matches(const struct filter *filter, u32 midr, u16 source)
{
	static const u64 events[] = { 2, 6, 0xe, SPE_BIT(SPE_EVENT_REMOTE_ACCESS) | 0x10e,
				      SPE_BIT(SPE_EVENT_DATA_SNOOPED) | 0x30e };
	static const struct {
		u8 op_class;
		u8 op_subclass;
	} kinds[] = {
		{ SPE_OP_LOAD_STORE, 0 }, { SPE_OP_LOAD_STORE, SPE_OP_LDST }, { SPE_OP_BRANCH, 1 },
	};
	struct spe_sample sample = {
		.present = SPE_HAS_OP | SPE_HAS_EVENTS | SPE_HAS_SOURCE, .events_size = 8,
		.source = source, .source_size = 2,
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds) * ARRAY_SIZE(events); i++) {
		struct filter_subject subject = { .sample = &sample };

		sample.op_class = kinds[i % ARRAY_SIZE(kinds)].op_class;
		sample.op_subclass = kinds[i % ARRAY_SIZE(kinds)].op_subclass;
		sample.events = events[i / ARRAY_SIZE(kinds)];
		subject.origin = spe_sample_origin(spe_data_sources_find(midr), &sample);
		if (filter_match(filter, &subject))
			return true;
	}
	return false;
}

/* Evaluate the filter for each value that the SPU would omit: none may match. */
static void test_omitted_sources_never_match(void **state)
{
	static const char *const texts[] = {
		"source == 14", "source < 9 && !(source == 3)", "source >= 8 && source != 13",
		"level == dram", "level != dram", "op == load && level == l1", "level == l2",
		"op == load && level != l1 && !remote", "peer", "!peer", "snooped == false",
		"modified || level == dram", "!(level == l1 || level == l2)", "remote != true",
		"op != load && source == 5", "(op == branch || level == l3) && source > 2",
		"op == load && level == dram", "level == remote_cache",
		"level == beyond_llc", "level == unknown && op == load", "source == 70 || peer",
	};
	static const u32 midrs[] = { N1, AMPERE1A, HIP12, QEMU };
	u32 left_out = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts) * ARRAY_SIZE(midrs); i++) {
		u32 midr = midrs[i % ARRAY_SIZE(midrs)];
		struct filter_cores cores = make_filter_cores(&midr, 1);
		struct filter *filter = parse_filter(texts[i / ARRAY_SIZE(midrs)]);
		struct source_config config = { 0 };

		filter_offload(filter, &cores, &config);
		left_out += !!config.filter_sources_not;
		for (u16 source = 0; source < (cores.unknown ? 256 : 64); source++) {
			test_row("%s on %x: %u", texts[i / ARRAY_SIZE(midrs)], midr, source);
			assert_row(!(config.filter_sources_not >> (source & 63) & 1) ||
				   !any_matches(filter, midr, source));
		}
		filter_free(filter);
	}
	assert_in_range(left_out, 20, ARRAY_SIZE(texts) * ARRAY_SIZE(midrs));
}

/* Test which conjuncts the SPU can filter by data source, alone or together. */
static void test_conjuncts_with_data_sources(void **state)
{
	static const struct {
		const char *text;
		bool sources;
	} rows[] = {
		{ "op == load", false }, { "level == l2", true }, { "source != 3", true },
		{ "simd", false },	 { "remote", false },
	};
	const u32 n1 = N1;
	struct filter_cores cores = make_filter_cores(&n1, 1);
	struct filter *filter =
		parse_filter("op == load && level == l2 && source != 3 && simd && remote");
	struct filter_part parts[FILTER_NODES];

	(void)state;
	assert_int_equal(filter_split(filter, &cores, parts, FILTER_NODES), ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].text);
		assert_row(!strncmp(parts[i].text, rows[i].text, parts[i].len));
		assert_row(parts[i].sources == rows[i].sources);
	}
	/* Without a core type only the packet decides. */
	assert_int_equal(filter_split(filter, NULL, parts, FILTER_NODES), ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_false(parts[i].sources);
	filter_free(filter);
}

/*
 * For the longest expression, which consists of numbers, the computation must not interrupt
 * sampling for long.
 */
static void test_longest_source_filter_is_fast(void **state)
{
	struct filter_part parts[FILTER_NODES];
	struct source_config config = { 0 };
	struct filter *filter;
	char text[4096] = "";

	(void)state;
	for (u32 i = 0; i < 64; i++)
		sprintf(text + strlen(text), "%ssource != %u", i ? " && " : "", 1000 + i * 1000);
	filter = parse_filter(text);
	filter_offload(filter, NULL, &config);
	assert_int_equal(config.filter_sources_not, 0);
	assert_int_equal(filter_split(filter, NULL, parts, FILTER_NODES), 64);
	filter_free(filter);
}

/* Test the conjuncts of an expression, and where each is evaluated. */
static void test_conjuncts(void **state)
{
	static const char text[] = "op == load && (latency.total > 200 && !remote) && "
				   " ( container == web || el == 0 ) && (( mispredicted ) ) && !retired && simd  && el == 0 ";
	static const struct {
		const char *text;
		bool hardware;
		bool inverted;
	} rows[] = {
		{ "op == load", true },
		{ "latency.total > 200", true },
		{ "!remote", false },
		{ "( container == web || el == 0 )", false },
		{ "mispredicted", true },
		{ "!retired", false, true },
		{ "simd", false },
		{ "el == 0", false },
	};
	struct filter_part parts[FILTER_NODES];
	struct filter *filter = parse_filter(text);

	(void)state;
	assert_int_equal(filter_split(filter, NULL, parts, FILTER_NODES), ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].text);
		assert_row(parts[i].len == strlen(rows[i].text));
		assert_row(!strncmp(parts[i].text, rows[i].text, parts[i].len));
		assert_row(parts[i].hardware == rows[i].hardware);
		assert_row(parts[i].inverted == rows[i].inverted);
	}
	assert_int_equal(filter_split(filter, NULL, parts, 2), 2);
	filter_free(filter);
}

static const struct {
	const char *text;
	u64 masked;
} masked_rows[] = {
	{ "simd", SPE_PMSFCR_SIMD | SPE_PMSFCR_SIMDM },
	{ "fp == true", SPE_PMSFCR_FP | SPE_PMSFCR_FPM },
	{ "fp != false", SPE_PMSFCR_FP | SPE_PMSFCR_FPM },
	{ "atomic", SPE_PMSFCR_ST | SPE_PMSFCR_STM },
	{ "op != branch", SPE_PMSFCR_BM },
	{ "simd && op == load", SPE_PMSFCR_SIMD | SPE_PMSFCR_SIMDM },
	{ "simd && fp",
	  SPE_PMSFCR_SIMD | SPE_PMSFCR_SIMDM | SPE_PMSFCR_FP | SPE_PMSFCR_FPM },
	{ "op == load && atomic", SPE_PMSFCR_ST | SPE_PMSFCR_STM },
	{ "(op == load || op == store) && atomic", SPE_PMSFCR_ST | SPE_PMSFCR_STM },
	{ "op == store && op != branch", SPE_PMSFCR_BM },
	{ "(op == load || op == branch) && op != branch", SPE_PMSFCR_BM },
	/*
	 * An operation type of PMSFCR may also contain operations without the flag of the filter.
	 * If the SPU excluded the type, it would discard these operations, too.
	 */
	{ "!simd", 0 },
	{ "fp == false", 0 },
	{ "atomic != true", 0 },
	{ "op != load", 0 },
	{ "op == other", 0 },
	{ "!(op == branch)", 0 },
	{ "simd || fp", 0 },
};

/* Requirements for the mask bits of FEAT_SPE_EFT, and which parts they evaluate. */
static void test_type_mask_filters(void **state)
{
	struct filter *filter = parse_filter("op == load && simd && el == 0 && op != branch");
	struct filter_part parts[FILTER_NODES];

	(void)state;
	assert_int_equal(filter_split(filter, NULL, parts, FILTER_NODES), 4);
	assert_true(parts[0].hardware && !parts[0].masked);
	assert_true(!parts[1].hardware && parts[1].masked);
	assert_true(!parts[2].hardware && !parts[2].masked);
	assert_true(!parts[3].hardware && parts[3].masked);
	filter_free(filter);
	for (size_t i = 0; i < ARRAY_SIZE(masked_rows); i++) {
		struct source_config config = { 0 };

		filter = parse_filter(masked_rows[i].text);
		test_row("%s", masked_rows[i].text);
		filter_offload(filter, NULL, &config);
		assert_row(config.filter_masked == masked_rows[i].masked);
		filter_free(filter);
	}
}

static u32 discard_write(void *ctx, u64 address, const u8 *data, size_t length)
{
	(void)ctx;
	(void)address;
	(void)data;
	(void)length;
	return 0;
}

/*
 * The filter of an SPU with FEAT_SPE_EFT passes each operation that matches, and drops some of the
 * others.
 */
static void test_type_masks_pass_all_matches(void **state)
{
	struct spe_spu_config spu_config;
	const struct spe_spu_io io = { .write = discard_write };
	static struct spe_spu spu;
	const char *reason = "";

	(void)state;
	spe_spu_config_default(&spu_config);
	spu_config.features |= SPE_PMSIDR_EFT | SPE_PMSIDR_FPF;
	assert_int_equal(spe_spu_init(&spu, &spu_config, &io, &reason), 0);
	for (size_t i = 0; i < ARRAY_SIZE(masked_rows) && masked_rows[i].masked; i++) {
		struct filter *filter = parse_filter(masked_rows[i].text);
		struct source_config config = { 0 };
		u32 stopped = 0, matched = 0;

		test_row("%s", masked_rows[i].text);
		filter_offload(filter, NULL, &config);
		spe_spu_write(&spu, SPE_REG_PMSFCR,
			      SPE_PMSFCR_FT | source_filter_to_pmsfcr(&config));
		for (u32 op = 0; op < 3 * 256; op++) {
			const struct spe_operation operation = {
				.op_class = (u8)(op / 256), .op_subclass = (u8)op,
			};
			const struct spe_sample sample = {
				.present = SPE_HAS_OP,
				.op_class = operation.op_class,
				.op_subclass = operation.op_subclass,
			};
			const struct filter_subject subject = { &sample, { 0 }, 0, NULL, NULL };
			bool passes = spe_spu_passes_filters(&spu, &operation);

			test_row("%s: class %u, subclass %#x", masked_rows[i].text,
				 operation.op_class, operation.op_subclass);
			assert_row(passes || !filter_match(filter, &subject));
			stopped += !passes;
			matched += filter_match(filter, &subject);
		}
		assert_row(stopped);
		assert_row(matched);
		filter_free(filter);
	}
}

/* Events of later versions are filtered by the SPU if all SPUs can. */
static void test_later_events(void **state)
{
	const u64 misses = SPE_BIT(SPE_EVENT_LLC_MISS);
	struct filter *filter = parse_filter("llc_miss && !not_taken && event.13");
	struct source_config config = { 0 };
	struct filter_part parts[FILTER_NODES];
	struct filter_cores cores = { 0 };
	struct source_cpu cpu = { .filter_events = ~0ULL };

	(void)state;
	filter_cores_add(&cores, &cpu);
	assert_string_equal(filter_offload(filter, &cores, &config), "events");
	assert_int_equal(config.filter_events, misses);
	assert_int_equal(config.filter_events_not, SPE_BIT(SPE_EVENT_NOT_TAKEN));
	assert_int_equal(filter_split(filter, &cores, parts, FILTER_NODES), 3);
	assert_true(parts[0].hardware && parts[1].inverted && !parts[2].hardware);
	/* The SPU of another core cannot filter them. */
	cpu.filter_events = ~misses;
	filter_cores_add(&cores, &cpu);
	config = (struct source_config){ 0 };
	filter_offload(filter, &cores, &config);
	assert_int_equal(config.filter_events, 0);
	assert_int_equal(config.filter_events_not, SPE_BIT(SPE_EVENT_NOT_TAKEN));
	filter_free(filter);
}

/* An expression of one conjunct is returned as a whole. */
static void test_single_conjunct(void **state)
{
	static const char *const rows[][2] = {
		{ "op == load || op == store", "op == load || op == store" },
		{ "  (simd) || (remote || el == 0) ", "(simd) || (remote || el == 0)" },
		{ "simd && remote || el == 0\n", "simd && remote || el == 0" },
		{ " (simd || remote) ", "(simd || remote)" },
		{ " ! simd ", "! simd" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filter *filter = parse_filter(rows[i][0]);
		struct filter_part part;

		test_row("%s", rows[i][0]);
		assert_row(filter_split(filter, NULL, &part, 1) == 1);
		assert_row(part.len == strlen(rows[i][1]));
		assert_row(!strncmp(part.text, rows[i][1], part.len));
		filter_free(filter);
	}
}

/* Lists are converted to expressions, in which special characters of a name are escaped. */
static void test_lists_become_expressions(void **state)
{
	char *const web[] = { (char *)"db-?", (char *)"web-*", NULL };
	char *const not_web[] = { (char *)"web-*", NULL };
	char *const cgroup[] = { (char *)"/system.slice", NULL };
	char *const pattern[] = { (char *)"/system.*", NULL };
	char *const root[] = { (char *)"/", NULL };
	const struct {
		struct filter_lists lists;
		const char *expression;
		bool load; /* expected result for a load in a container */
		bool branch; /* expected result for a branch without a task */
	} rows[] = {
		{ { .containers = web }, NULL, true, false },
		{ { .containers = web }, "op == branch", false, false },
		{ { .excluded = not_web }, "", false, true },
		{ { .cgroups = cgroup }, NULL, true, false },
		{ { .cgroups = pattern }, NULL, false, false },
		{ { .cgroups = root }, "op == load || op == branch", true, false },
		{ { .containers = web, .excluded = not_web }, NULL, false, false },
	};
	char *text;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filter *filter;

		assert_int_equal(filter_compose(&rows[i].lists, rows[i].expression, &text), 0);
		filter = parse_filter(text);
		test_row("%s", text);
		assert_row(filter_match(filter, &subjects[0]) == rows[i].load);
		assert_row(filter_match(filter, &subjects[1]) == rows[i].branch);
		filter_free(filter);
		free(text);
	}
	assert_int_equal(filter_compose(&(struct filter_lists){ 0 }, NULL, &text), 0);
	assert_string_equal(text, "");
	free(text);
}

/* Conditions on addresses are found at any depth, and not by searching the text. */
static void test_address_conditions_are_found(void **state)
{
	static const struct {
		const char *text;
		bool compares;
	} rows[] = {
		{ "pc >= 0xffff800008000000", true },
		{ "op == load && (remote || !(el == 1 && target != 0))", true },
		{ "address == 1", true },
		{ "!address.physical < 4096", true },
		{ "op == load && latency.total > 200 && source == 9 && event.12", false },
		{ "el == 1 && cpu == 0 && pid == 7 && level == dram", false },
		{ "process == pc && container == \"address\" && cgroup =~ \"/target*\"", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filter *filter = parse_filter(rows[i].text);

		if (filter_compares_addresses(filter) != rows[i].compares)
			fail_msg("%s", rows[i].text);
		filter_free(filter);
	}
}

/* A comparison uses the whole path, and not the displayed path, which is escaped and truncated. */
static void test_whole_path_is_compared(void **state)
{
	static const char *const paths[] = {
		"/user.slice/a\033b",
		"/user.slice/" LONG "/x.service",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const struct attribute_container c = { .name = "x", .path = "/cut",
						       .cgroup = paths[i] };
		struct filter_subject subject = subjects[0];
		char *const cgroups[] = { (char *)paths[i], NULL };
		const struct filter_lists lists = { .cgroups = cgroups };
		struct filter *filter;
		char *text;

		subject.container = &c;
		assert_int_equal(filter_compose(&lists, NULL, &text), 0);
		filter = parse_filter(text);
		test_row("path %zu", i);
		assert_row(filter_match(filter, &subject));
		assert_row(!filter_match(filter, &subjects[0]));
		filter_free(filter);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expressions_match),
		cmocka_unit_test(test_results_of_tasks),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_latency_min),
		cmocka_unit_test(test_errors_have_positions),
		cmocka_unit_test(test_depth_and_length_limits),
		cmocka_unit_test(test_hardware_filters),
		cmocka_unit_test(test_conjuncts),
		cmocka_unit_test(test_single_conjunct),
		cmocka_unit_test(test_type_mask_filters),
		cmocka_unit_test(test_type_masks_pass_all_matches),
		cmocka_unit_test(test_later_events),
		cmocka_unit_test(test_data_source_filters),
		cmocka_unit_test(test_omitted_sources_never_match),
		cmocka_unit_test(test_conjuncts_with_data_sources),
		cmocka_unit_test(test_longest_source_filter_is_fast),
		cmocka_unit_test(test_lists_become_expressions),
		cmocka_unit_test(test_address_conditions_are_found),
		cmocka_unit_test(test_whole_path_is_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
