// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the table of edges, its limit, and the formats of BOLT, llvm-profgen and clang. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "pgo/autofdo-profile.h"
#include "pgo/profile-check.h"

static struct edge_key make_key(u32 kind, u32 from_file, u64 from, u32 to_file, u64 to)
{
	return (struct edge_key){
		.kind = kind, .from_file = from_file, .from = from, .to_file = to_file, .to = to
	};
}

static void add(struct edge_table *table, struct edge_key k, u64 count, u64 mispredicted)
{
	assert_int_equal(edge_table_add(table, &k, count, mispredicted), 0);
}

/* Counts of one edge add up, edges that differ in one member stay apart, and the order is fixed. */
static void test_edges_are_counted(void **state)
{
	struct edge_table table = { .max = EDGES_MAX };

	(void)state;
	for (u32 round = 0; round < 2; round++)
		for (u32 i = 0; i < 5000; i++)
			add(&table, make_key(EDGE_TAKEN, 0, 4 * (5000 - i), 0, 8), 3, round);
	add(&table, make_key(EDGE_NOT_TAKEN, 0, 4, 0, 8), 1, 0);
	add(&table, make_key(EDGE_TAKEN, 1, 4, 0, 8), 1, 0);
	add(&table, make_key(EDGE_TAKEN, 0, 4, 1, 8), 1, 0);
	add(&table, make_key(EDGE_TAKEN, 0, 4, 0, 12), 1, 0);
	assert_int_equal(table.count, 5004);
	edge_table_sort(&table);
	assert_int_equal(table.edge[0].key.from, 4);
	assert_int_equal(table.edge[0].key.to, 8);
	assert_int_equal(table.edge[0].count, 6);
	assert_int_equal(table.edge[0].mispredicted, 1);
	assert_int_equal(table.edge[1].key.to, 12);
	assert_int_equal(table.edge[2].key.to_file, 1);
	assert_int_equal(table.edge[3].key.from, 8);
	assert_int_equal(table.edge[5002].key.kind, EDGE_NOT_TAKEN);
	assert_int_equal(table.edge[5003].key.from_file, 1);
	edge_table_clear(&table);
}

/* A full table still counts its edges, and counts what it drops. */
static void test_full_table_counts_drops(void **state)
{
	struct edge_table table = { .max = 3 };

	(void)state;
	for (u32 i = 0; i < 5; i++)
		add(&table, make_key(EDGE_TAKEN, 0, i, 0, 8), 10, 0);
	add(&table, make_key(EDGE_TAKEN, 0, 2, 0, 8), 10, 0);
	assert_int_equal(table.count, 3);
	assert_int_equal(table.dropped, 20);
	edge_table_sort(&table);
	assert_int_equal(table.edge[2].count, 20);
	edge_table_clear(&table);
}

static struct linkage_name names[] = {
	{ .offset = 0x100, .address = 0x400100, .function = 0x400100, .name = "main" },
	{ .offset = 0x110, .address = 0x400110, .function = 0x400100, .name = "main" },
	{ .offset = 0x200,
	  .address = 0x400200,
	  .function = 0x4001f0,
	  .name = "a b\\c",
	  .local = 2 },
	{ .offset = 0x300, .address = 0x400300, .name = "" },
	{ .offset = 0x400, .address = 0x400400, .function = 0x400400, .name = "new\nline" },
	{ .offset = 0x500, .address = UINT64_MAX, .name = "" },
};

static char *print(void (*format)(FILE *, struct edge_profile *), struct edge_profile *profile)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	profile->written = profile->unnamed = 0;
	format(out, profile);
	fclose(out);
	return text;
}

static void check_format(void (*format)(FILE *, struct edge_profile *),
			 struct edge_profile *profile, const char *text, u64 written, u64 unnamed)
{
	char *got = print(format, profile);

	assert_string_equal(got, text);
	assert_int_equal(profile->written, written);
	assert_int_equal(profile->unnamed, unnamed);
	free(got);
}

static void test_formats(void **state)
{
	struct edge_file files[] = {
		{ .path = "/a" },
		{ .path = "/b\n", .build_id = { 0xca, 0x0e }, .build_id_size = 2 },
	};
	struct edge_recording edges = { .table.max = 100, .runs = 1, .file = files, .files = 2 };
	struct edge_profile profile = {
		.edges = &edges,
		.file = 1,
		.names = { .name = names,
			   .count = ARRAY_SIZE(names),
			   .code_offset = 0x2100,
			   .code_size = 0x500,
			   .code_address = 0x402100 },
	};

	(void)state;
	add(&edges.table, make_key(EDGE_TAKEN, 1, 0x110, 1, 0x200), 7, 2);
	add(&edges.table, make_key(EDGE_NOT_TAKEN, 1, 0x110, 1, 0x200), 5, 1);
	add(&edges.table, make_key(EDGE_RUN, 1, 0x100, 1, 0x110), 4, 0);
	add(&edges.table, make_key(EDGE_TAKEN, 1, 0x200, 2, 0x100), 3, 0);
	add(&edges.table, make_key(EDGE_TAKEN, 0, 0x200, 1, 0x100), 9, 0);
	add(&edges.table, make_key(EDGE_TAKEN, EDGE_NO_FILE, 0, 1, 0x100), 1, 0);
	/* Branches from no function, from a function with an invalid name, and from no segment. */
	add(&edges.table, make_key(EDGE_TAKEN, 1, 0x300, 1, 0x100), 20, 0);
	add(&edges.table, make_key(EDGE_TAKEN, 1, 0x400, 1, 0x100), 30, 0);
	add(&edges.table, make_key(EDGE_TAKEN, 1, 0x500, 1, 0x100), 40, 0);
	/* A branch within another file is not written. */
	add(&edges.table, make_key(EDGE_TAKEN, 2, 0x100, 2, 0x100), 50, 0);
	edge_table_sort(&edges.table);
	check_format(edge_profile_print_fdata, &profile,
		     "0 [unknown] 0 1 main 0 0 9\n"
		     "1 main 10 1 a\\ b\\\\c/2 10 2 7\n"
		     "1 a\\ b\\\\c/2 10 0 [unknown] 0 0 3\n"
		     "1 main 10 1 a\\ b\\\\c/2 10 1 5\n"
		     "0 [unknown] 0 1 main 0 0 1\n",
		     5, 90);
	check_format(edge_profile_print_aggregated, &profile,
		     "E build-id:ca0e\n"
		     "B X:0 400100 9 0\n"
		     "B 400110 400200 7 2\n"
		     "B 400200 X:0 3 0\n"
		     "B 400300 400100 20 0\n"
		     "B 400400 400100 30 0\n"
		     "F 400100 400110 4\n"
		     "B X:0 400100 1 0\n",
		     7, 40);
	check_format(
		edge_profile_print_brstack, &profile,
		"speprof 0 PERF_RECORD_MMAP2 0/0: [0x402000(0x600) @ 0x2000 <ca0e>]: r-xp /b?\n"
		"9\n 0 0x0/0x400100/P/-/-/0\n"
		"5\n 400110 0x400110/0x400200/P/-/-/0\n"
		"2\n 400110 0x400110/0x400200/M/-/-/0\n"
		"3\n 400200 0x400200/0x0/P/-/-/0\n"
		"20\n 400300 0x400300/0x400100/P/-/-/0\n"
		"30\n 400400 0x400400/0x400100/P/-/-/0\n"
		"4\n 400110 0x400110/0x0/P/-/-/0 0x0/0x400104/P/-/-/0\n"
		"1\n 0 0x0/0x400100/P/-/-/0\n",
		7, 40);
	/* Without previous targets there are no runs, and without a build id it is not printed. */
	edges.runs = 0;
	files[1].build_id_size = 0;
	check_format(edge_profile_print_aggregated, &profile,
		     "B X:0 400100 9 0\n"
		     "B 400110 400200 7 2\n"
		     "B 400200 X:0 3 0\n"
		     "B 400300 400100 20 0\n"
		     "B 400400 400100 30 0\n"
		     "F 400110 400200 5\n"
		     "B X:0 400100 1 0\n",
		     7, 40);
	edge_table_clear(&edges.table);
}

static struct source_frame frames[] = {
	/* 0: the beginning of main */
	{ .name = "main", .start_line = 10, .line = 10 },
	/* 1: a line of main, with a base discriminator of 3 */
	{ .name = "main", .start_line = 10, .line = 12, .discriminator = 3 << 1 },
	/* 2: g inlined in f inlined in main; the code of g has 4 copies (bits 8 to 13) */
	{ .name = "main", .start_line = 10, .line = 12, .discriminator = 3 << 1 },
	{ .name = "f", .start_line = 3, .line = 5 },
	{ .name = "g", .start_line = 20, .line = 22, .discriminator = 1 | 4 << 2 },
	/* 5: a line before the beginning of its function, as after #include; a large discriminator */
	{ .name = "_Z1hv", .start_line = 7, .line = 6, .discriminator = 0x1 << 6 | 0x5 << 1 },
	/* 6: names that the format cannot contain */
	{ .name = "new\nline", .start_line = 1, .line = 1 },
	{ .name = "a:1", .start_line = 1, .line = 1 },
	{ .name = "", .start_line = 1, .line = 1 },
	/* 9: no line, and no beginning */
	{ .name = "main", .start_line = 10 },
	{ .name = "main", .line = 12 },
};

static struct framed_location locations[] = {
	{ .offset = 0x100, .first = 0, .count = 1, .entry = true },
	{ .offset = 0x104, .first = 1, .count = 1 },
	{ .offset = 0x108, .first = 1, .count = 1 },
	{ .offset = 0x10c, .first = 2, .count = 3 },
	{ .offset = 0x110, .first = 2, .count = 3 },
	{ .offset = 0x200, .first = 5, .count = 1, .entry = true },
	{ .offset = 0x300, .first = 6, .count = 1, .entry = true },
	{ .offset = 0x304, .first = 7, .count = 1 },
	{ .offset = 0x308, .first = 8, .count = 1 },
	{ .offset = 0x30c, .first = 9, .count = 1 },
	{ .offset = 0x310, .first = 10, .count = 1 },
	{ .offset = 0x314 },
};

/* The profile of clang has counts by function and line, with the functions inlined in them. */
static void test_autofdo(void **state)
{
	struct edge_file files[] = { { .path = "/a", .build_id = { 0xca }, .build_id_size = 1 },
				     { .path = "/b" } };
	struct edge_recording edges = { .table.max = 100, .file = files, .files = 2 };
	struct edge_profile profile = {
		.edges = &edges,
		.frames = { .position = locations,
			    .positions = ARRAY_SIZE(locations),
			    .frame = frames,
			    .frames = ARRAY_SIZE(frames) },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(locations); i++)
		add(&edges.table, make_key(EDGE_EXECUTED, 0, locations[i].offset, EDGE_NO_FILE, 0),
		    10 + i, 0);
	/* Another file, and a location that was not requested. */
	add(&edges.table, make_key(EDGE_EXECUTED, 1, 0x100, EDGE_NO_FILE, 0), 1000, 0);
	add(&edges.table, make_key(EDGE_EXECUTED, 0, 0x1000, EDGE_NO_FILE, 0), 1000, 0);
	/* Calls from two instructions of a line, from an inlined function and from another file. */
	add(&edges.table, make_key(EDGE_TAKEN, 0, 0x104, 0, 0x200), 5, 1);
	add(&edges.table, make_key(EDGE_TAKEN, 0, 0x108, 0, 0x200), 6, 1);
	add(&edges.table, make_key(EDGE_TAKEN, 0, 0x108, 0, 0x100), 7, 1);
	add(&edges.table, make_key(EDGE_TAKEN, 0, 0x110, 0, 0x200), 8, 1);
	add(&edges.table, make_key(EDGE_TAKEN, 1, 0x110, 0, 0x100), 9, 1);
	/* These are no calls: the target is within a function, has an invalid name, or is not taken. */
	add(&edges.table, make_key(EDGE_TAKEN, 0, 0x104, 0, 0x108), 100, 0);
	add(&edges.table, make_key(EDGE_TAKEN, 0, 0x104, 0, 0x300), 100, 0);
	add(&edges.table, make_key(EDGE_NOT_TAKEN, 0, 0x104, 0, 0x200), 100, 0);
	edge_table_sort(&edges.table);
	check_format(autofdo_profile_print, &profile,
		     "# build-id: ca\n"
		     "_Z1hv:15:19\n"
		     " 65535.5: 15\n"
		     "main:60:16\n"
		     " 0: 10\n"
		     " 2.3: 12 _Z1hv:11 main:7\n"
		     " 2.3: f:27\n"
		     "  2: g:27\n"
		     "   2: 56 _Z1hv:8\n",
		     2, 16 + 17 + 18 + 19 + 20 + 21 + 1000);
	edge_table_clear(&edges.table);
}

static void add_samples(struct edge_table *table, struct edge_key k, u32 samples)
{
	for (u32 i = 0; i < samples; i++)
		add(table, k, 1000, 0);
}

static char *print_check(const struct profile_check *check, u32 number)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	profile_check_print(out, check, number, 0, false);
	fclose(out);
	return text;
}

#define CHECK_EXPLANATION                                                                        \
	"\nHot functions together have 90 % of the branches in functions. A function has "       \
	"enough samples if the\n"                                                                \
	"error of each edge's share is at most 5 % with 95 % confidence: 1.96 sqrt(p (1 - p) / " \
	"(n + 4)),\n"                                                                            \
	"where p = (k + 2) / (n + 4), for k of the function's n samples.\n"

/*
 * Fill the edges of /b: 600 samples in main, half of them of each edge, 100 in "a b\c", and fewer in
 * no function and in a function that is not hot.
 */
static void fill_checked_edges(struct edge_recording *edges)
{
	add_samples(&edges->table, make_key(EDGE_TAKEN, 1, 0x110, 1, 0x200), 300);
	add_samples(&edges->table, make_key(EDGE_NOT_TAKEN, 1, 0x110, 1, 0x114), 300);
	add_samples(&edges->table, make_key(EDGE_RUN, 1, 0x100, 1, 0x110), 600);
	add_samples(&edges->table, make_key(EDGE_TAKEN, 1, 0x200, 1, 0x100), 50);
	add_samples(&edges->table, make_key(EDGE_TAKEN, 1, 0x200, 0, 0x100), 30);
	add_samples(&edges->table, make_key(EDGE_TAKEN, 1, 0x200, 0, 0x200), 20);
	add_samples(&edges->table, make_key(EDGE_TAKEN, 1, 0x300, 1, 0x100), 24);
	add_samples(&edges->table, make_key(EDGE_TAKEN, 1, 0x400, 1, 0x100), 1);
	add_samples(&edges->table, make_key(EDGE_TAKEN, 0, 0x400, 1, 0x100), 275);
	edge_table_sort(&edges->table);
}

static void test_check_judges_functions(void **state)
{
	struct edge_file files[] = {
		{ .path = "/a\n", .samples = 275 },
		{ .path = "/b", .build_id = { 0xca, 0x0e }, .build_id_size = 2, .samples = 725 },
	};
	struct edge_recording edges = {
		.table.max = 100,
		.file = files,
		.files = 2,
		.backend = BACKEND_EMULATED,
		.duration_ns = 10000000000,
		/* Neoverse N1 r3p1 has the erratum, r4p1 has not, and Neoverse N2 has not. */
		.hardware = { .midr = { 0x410fd490, 0x413fd0c1, 0x414fd0c1 }, .cores = 3 },
	};
	struct edge_profile profile = {
		.edges = &edges,
		.file = 1,
		.names = { .name = names, .count = ARRAY_SIZE(names) },
	};
	struct profile_check check;
	char *text;

	(void)state;
	fill_checked_edges(&edges);
	assert_int_equal(profile_check_init(&profile, &check), 0);
	assert_int_equal(check.functions, 3);
	assert_int_equal(check.hot, 2);
	/* 1.96 sqrt(0.5 * 0.5 / 104), and (0.25 (1.96 / 0.05)^2 - 4) / 100 */
	assert_true(check.function[1].error > 0.0960 && check.function[1].error < 0.0961);
	assert_true(check.times > 3.801 && check.times < 3.802);
	text = print_check(&check, 20);
	assert_string_equal(
		text,
		"/b, build id ca0e: 725 sampled branches, 72.5 % of the recording\n"
		"not checked: /a\\x0a, build id unknown: 275 sampled branches, 27.5 % of the "
		"recording\n\n"
		" SHARE  SAMPLES  EDGES   HOTTEST EDGE  VERDICT                  FUNCTION\n"
		"82.8 %      600      2  50.0 +- 4.0 %  enough                   main\n"
		"13.8 %      100      3  50.0 +- 9.6 %  needs 3.8 times as many  a "
		"b\\c\n" CHECK_EXPLANATION
		"Warning: EMULATED SPU: branches are true, mispredictions are modelled\n"
		"Warning: Neoverse N1 r3p1 has erratum 1694299: too many samples at targets of "
		"branches, too few at some instructions after them; more samples do not help, r4p1 "
		"of the core is corrected\n"
		"Warning: 3.3 % of the file's sampled branches are in no function\n"
		"1 of 2 hot functions have enough samples: for all, record 3.8 times as long, "
		"which is 39 s at this rate.\n");
	free(text);
	text = print_check(&check, 1);
	assert_non_null(strstr(text, "main\n1 more hot functions: -n 2 shows all\n"));
	free(text);
	profile_check_deinit(&check);
	edge_table_clear(&edges.table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check_judges_functions),
		cmocka_unit_test(test_edges_are_counted),
		cmocka_unit_test(test_full_table_counts_drops),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_autofdo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
