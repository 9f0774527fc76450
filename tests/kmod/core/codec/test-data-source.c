// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "test.h"

#include "codec/data-source.h"

#include <string.h>

#define LOAD	 0
#define STORE	 1
#define N1	 0x413fd0c1u
#define AMPERE1A 0xc00fac40u
#define HIP12	 0x480fd060u
#define QEMU	 0x000f0510u

#define R SPE_ORIGIN_REMOTE
#define S SPE_ORIGIN_SNOOPED
#define P SPE_ORIGIN_PEER
#define M SPE_ORIGIN_MODIFIED

/* Transcribed from perf's enums and from their use in perf, independently of the tables in core/ */
/* clang-format off */
static const struct source_row {
	u32 midr;
	u16 source;
	const char *level;
	u64 flags;
} rows[] = {
	{ N1, 0, "l1", 0 },
	{ N1, 8, "l2", 0 },
	{ N1, 9, "peer_core", S | P },
	{ N1, 10, "local_cluster", S | P },
	{ N1, 11, "system_cache", 0 },
	{ N1, 12, "peer_cluster", S | P },
	{ N1, 13, "remote_cache", R | S | P },
	{ N1, 14, "dram", 0 },

	{ AMPERE1A, 0, "local_chip", 0 },
	{ AMPERE1A, 3, "system_cache", 0 },
	{ AMPERE1A, 5, "remote_cache", R | S | P },
	{ AMPERE1A, 7, "dram", 0 },
	{ AMPERE1A, 8, "l1", 0 },
	{ AMPERE1A, 9, "l2", 0 },

	{ HIP12, 0x00, "peer_core", S | P },
	{ HIP12, 0x01, "peer_core", S | P | M },
	{ HIP12, 0x02, "l3", 0 },
	{ HIP12, 0x03, "l3", M },
	{ HIP12, 0x04, "peer_cluster", S | P },
	{ HIP12, 0x05, "peer_cluster", S | P | M },
	{ HIP12, 0x06, "remote_cache", R | S | P },
	{ HIP12, 0x07, "remote_cache", R | S | P | M },
	{ HIP12, 0x08, "dram", 0 },
	{ HIP12, 0x09, "dram", R },
	{ HIP12, 0x0d, "device", 0 },
	{ HIP12, 0x10, "l2", 0 },
	{ HIP12, 0x11, "l2", M },
	{ HIP12, 0x12, "l1", 0 },
};

/* part numbers as in Linux' cputype.h; variant and revision are ignored */
static const struct core_row {
	const char *name;
	u32 midr;
	const char *encoding;
} core_rows[] = {
	{ "Neoverse N1", N1, "arm" },
	{ "Neoverse N2", 0x410fd493, "arm" },
	{ "Neoverse V1", 0x411fd401, "arm" },
	{ "Neoverse V2", 0x410fd4f0, "arm" },
	{ "Cortex-X1C", 0x410fd4c0, "arm" },
	{ "Cortex-X3", 0x411fd4e0, "arm" },
	{ "Cortex-X925", 0x410fd851, "arm" },
	{ "Cortex-A720", 0x410fd811, "arm" },
	{ "Cortex-A720AE", 0x410fd890, "arm" },
	{ "Cortex-A725", 0x410fd870, "arm" },
	{ "NVIDIA Olympus", 0x4e0f0100, "arm" },
	{ "Ampere-1A", AMPERE1A, "ampereone" },
	{ "HIP12", HIP12, "hisilicon-hip" },
	{ "unknown", 0, NULL },
	{ "QEMU", QEMU, NULL },
	{ "Kunpeng 920", 0x481fd010, NULL },
	{ "Neoverse E1", 0x411fd4a0, NULL },
	{ "another's 0xd0c", 0x423fd0c1, NULL },
};
/* clang-format on */

static struct spe_sample make_access(unsigned int op, u16 source, u64 events)
{
	return (struct spe_sample){
		.present = SPE_HAS_OP | SPE_HAS_EVENTS | SPE_HAS_SOURCE,
		.op_class = SPE_OP_LOAD_STORE,
		.op_subclass = (u8)op,
		.source = source,
		.source_size = 2,
		.events = events,
	};
}

static void test_encodings_of_cores(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(core_rows); i++) {
		const struct core_row *row = &core_rows[i];
		const struct spe_data_sources *sources = spe_data_sources_find(row->midr);

		test_row("%s", row->name);
		assert_row(!sources == !row->encoding);
		assert_row(!sources || !strcmp(sources->name, row->encoding));
		assert_row(spe_data_sources_find(row->midr ^ 0x00f0000f) == sources);
	}
}

/*
 * Every core with known data sources has SPE, and so have some cores with unknown data sources.
 */
static void test_core_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(core_rows); i++)
		if (core_rows[i].encoding)
			assert_non_null(spe_core_name(core_rows[i].midr));
	assert_string_equal(spe_core_name(0x481fd010), "Kunpeng 920");
	assert_string_equal(spe_core_name(0x410fd840), "Neoverse V3");
	assert_null(spe_core_name(0));
	assert_null(spe_core_name(QEMU));
	assert_null(spe_core_name(0x423fd0c1));
}

static const struct source_row *find_row(u32 midr, u32 source)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].midr == midr && rows[i].source == source)
			return &rows[i];
	return NULL;
}

/* Test all values of 16 bits: the core's table gives the level, or the events do. */
static void test_all_source_values(void **state)
{
	static const u32 midrs[] = { N1, AMPERE1A, HIP12, QEMU };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(midrs) * 0x10000; i++) {
		u32 midr = midrs[i >> 16];
		struct spe_sample s = make_access(LOAD, (u16)i, SPE_BIT(SPE_EVENT_LLC_MISS));
		struct spe_origin origin = spe_sample_origin(spe_data_sources_find(midr), &s);
		const struct source_row *row = find_row(midr, i & 0xffff);

		test_row("midr 0x%x source 0x%x", midr, i & 0xffff);
		if (row) {
			assert_row(!strcmp(spe_level_name(origin.level), row->level));
			assert_row(origin.flags == (row->flags | SPE_ORIGIN_BY_SOURCE));
		} else {
			assert_row(origin.level == SPE_LEVEL_BEYOND_LLC);
			assert_row(origin.flags == 0);
		}
	}
}

/*
 * D18.2.6 by bit number. For a store the level depends only on the events, whatever its Data Source
 * packet contains.
 */
static const struct level_event_row {
	const char *name;
	u64 events;
	u8 level;
	u64 flags;
} event_rows[] = {
	{ "nothing", 0, SPE_LEVEL_UNKNOWN, 0 },
	{ "retired", 1 << 1, SPE_LEVEL_UNKNOWN, 0 },
	{ "L1 hit", 1 << 2, SPE_LEVEL_L1, 0 },
	{ "L1 miss", 1 << 2 | 1 << 3, SPE_LEVEL_BEYOND_L1, 0 },
	{ "L1 miss alone", 1 << 3, SPE_LEVEL_BEYOND_L1, 0 },
	{ "L2 hit", 1 << 2 | 1 << 3 | 1 << 19, SPE_LEVEL_L2, 0 },
	{ "L2 miss", 1 << 2 | 1 << 3 | 1 << 19 | 1 << 20, SPE_LEVEL_BEYOND_L2, 0 },
	{ "LLC hit", 1 << 2 | 1 << 3 | 1 << 8, SPE_LEVEL_LLC, 0 },
	{ "LLC hit after L2", 1 << 2 | 1 << 3 | 1 << 19 | 1 << 20 | 1 << 8, SPE_LEVEL_LLC, 0 },
	{ "LLC miss", 1 << 2 | 1 << 3 | 1 << 8 | 1 << 9, SPE_LEVEL_BEYOND_LLC, 0 },
	{ "recent", 1 << 2 | 1 << 22, SPE_LEVEL_RECENT, 0 },
	{ "remote", 1 << 2 | 1 << 3 | 1 << 9 | 1 << 10, SPE_LEVEL_BEYOND_LLC, R },
	{ "snooped", 1 << 2 | 1 << 3 | 1 << 23, SPE_LEVEL_BEYOND_L1, S },
	{ "modified", 1 << 2 | 1 << 21, SPE_LEVEL_L1, M },
};

static void test_events(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(event_rows); i++) {
		const struct level_event_row *row = &event_rows[i];
		struct spe_sample load = make_access(LOAD, 0, row->events);
		struct spe_sample store = make_access(STORE, 14, row->events);
		struct spe_origin origin;

		test_row("%s", row->name);
		origin = spe_sample_origin(NULL, &load);
		assert_row(origin.level == row->level && origin.flags == row->flags);
		origin = spe_sample_origin(spe_data_sources_find(N1), &store);
		assert_row(origin.level == row->level && origin.flags == row->flags);
		load.present &= ~SPE_HAS_SOURCE;
		origin = spe_sample_origin(spe_data_sources_find(N1), &load);
		assert_row(origin.level == row->level && origin.flags == row->flags);
		load.present |= SPE_HAS_SOURCE;
		origin = spe_sample_origin(spe_data_sources_find(N1), &load);
		assert_row(origin.level == SPE_LEVEL_L1);
		assert_row(origin.flags == (row->flags | SPE_ORIGIN_BY_SOURCE));
	}
}

/* Each level has a unique name, by which scripts find it. */
static void test_level_names(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < SPE_LEVELS; i++) {
		assert_non_null(spe_level_name(i));
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(spe_level_name(i), spe_level_name(j));
	}
	assert_string_equal(spe_level_name(SPE_LEVELS), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encodings_of_cores), cmocka_unit_test(test_core_names),
		cmocka_unit_test(test_all_source_values),  cmocka_unit_test(test_events),
		cmocka_unit_test(test_level_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
