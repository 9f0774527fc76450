// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Generate records of varied layouts, and print the counts that a decoder must find in them. The
 * bytes are written from the text of section D18.2, because the codec is what the test checks.
 *
 * usage: spegen [-s SEED] [-n RECORDS] [-l LAYOUT] [-c CORE] [-t] -o FILE. The expected counts are
 * printed as the JSON that "speprof summary -j" prints for a core with CORE's encoding of data
 * sources. With -t, 16 bytes of one more record follow, which are suspect.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * @stride: bytes from record to record; 0: records without padding
 * @inner: zeros before the Data Source and the Timestamp, as Neoverse cores write them
 * @op_first: whether a record begins with the operation, as the FVP's records do, and not with the
 * PC
 * @events: bytes of the Events packet; 0: a random size
 * @timestamps: whether a record ends with a Timestamp, and not with End
 */
struct record_layout {
	const char *name;
	unsigned int stride;
	bool inner;
	bool op_first;
	unsigned int events;
	bool timestamps;
	bool contexts;
	bool extras; /* whether there are packets that only later versions or implementers define */
};

static const struct record_layout layouts[] = {
	{ "neoverse", 64, true, false, 2, true, true, false },
	{ "kunpeng", 44, false, false, 2, false, false, false },
	{ "fvp", 0, false, true, 1, true, true, false },
	{ "packed", 0, false, false, 0, false, true, false },
	{ "wide", 128, true, false, 8, true, true, true },
};

/* Operation Type packets: CLASS, SUBCLASS, and the kind as which they are counted */
static const struct operation_kind {
	uint8_t class, subclass;
	enum kind { LOAD, STORE, BRANCH, OTHER, KINDS } kind;
	bool simd;
} ops[] = {
	{ 1, 0x00, LOAD, false },   { 1, 0x01, STORE, false },	{ 1, 0x04, LOAD, false },
	{ 1, 0x05, STORE, false },  { 1, 0x16, LOAD, false },	{ 1, 0x13, STORE, false },
	{ 1, 0x10, LOAD, false },   { 1, 0x14, LOAD, false },	{ 1, 0x31, STORE, false },
	{ 1, 0x20, LOAD, false },   { 1, 0x25, STORE, false },	{ 1, 0x44, LOAD, false },
	{ 1, 0x28, LOAD, true },    { 1, 0xbd, STORE, true },	{ 1, 0x7c, LOAD, true },
	{ 2, 0x00, BRANCH, false }, { 2, 0x01, BRANCH, false }, { 2, 0x02, BRANCH, false },
	{ 2, 0x12, BRANCH, false }, { 0, 0x00, OTHER, false },	{ 0, 0x01, OTHER, false },
	{ 0, 0x06, OTHER, false },  { 0, 0x2c, OTHER, true },	{ 0, 0xda, OTHER, true },
};

/* Bits of the Events packet that the architecture names, with the names in JSON. */
static const struct {
	unsigned int bit;
	const char *name;
} events[] = {
	{ 0, "exception" },	    { 1, "retired" },
	{ 2, "l1d_access" },	    { 3, "l1d_refill" },
	{ 4, "tlb_access" },	    { 5, "tlb_walk" },
	{ 6, "not_taken" },	    { 7, "mispredicted" },
	{ 8, "llc_access" },	    { 9, "llc_miss" },
	{ 10, "remote_access" },    { 11, "misaligned" },
	{ 16, "transactional" },    { 17, "partial_predicate" },
	{ 18, "empty_predicate" },  { 19, "l2d_access" },
	{ 20, "l2d_miss" },	    { 21, "cache_data_modified" },
	{ 22, "recently_fetched" }, { 23, "data_snooped" },
	{ 24, "streaming_sve" },    { 25, "smcu" },
};

/* The values of the Data Source packet, by publisher; see Documentation/howto/add-core-tables.md. */
struct data_source {
	unsigned int value;
	const char *level;
	const char *flags; /* letters of "rspm": remote, snooped, peer, modified */
};

static const struct data_source arm_sources[] = {
	{ 0, "l1", "" },
	{ 8, "l2", "" },
	{ 9, "peer_core", "sp" },
	{ 10, "local_cluster", "sp" },
	{ 11, "system_cache", "" },
	{ 12, "peer_cluster", "sp" },
	{ 13, "remote_cache", "rsp" },
	{ 14, "dram", "" },
	{ 0 },
};

static const struct data_source ampereone_sources[] = {
	{ 0, "local_chip", "" },
	{ 3, "system_cache", "" },
	{ 5, "remote_cache", "rsp" },
	{ 7, "dram", "" },
	{ 8, "l1", "" },
	{ 9, "l2", "" },
	{ 0 },
};

/* The values drawn do not include 16 to 18. */
static const struct data_source hip_sources[] = {
	{ 0, "peer_core", "sp" },
	{ 1, "peer_core", "spm" },
	{ 2, "l3", "" },
	{ 3, "l3", "m" },
	{ 4, "peer_cluster", "sp" },
	{ 5, "peer_cluster", "spm" },
	{ 6, "remote_cache", "rsp" },
	{ 7, "remote_cache", "rspm" },
	{ 8, "dram", "" },
	{ 9, "dram", "r" },
	{ 13, "device", "" },
	{ 0 },
};

static const struct core_encoding {
	const char *name;
	const struct data_source *sources;
} cores[] = {
	{ "none", NULL },
	{ "arm", arm_sources },
	{ "ampereone", ampereone_sources },
	{ "hip", hip_sources },
};

static const char *const level_names[] = {
	"unknown",
	"l1",
	"l2",
	"l3",
	"system_cache",
	"peer_core",
	"local_cluster",
	"peer_cluster",
	"local_chip",
	"remote_cache",
	"dram",
	"device",
	"recently_fetched",
	"llc",
	"beyond_l1",
	"beyond_l2",
	"beyond_llc",
};

static const char origin_letters[] = "rspmb";
static const char *const origin_names[] = { "remote", "snooped", "peer", "modified", "by_source" };

#define LEVELS	  (sizeof(level_names) / sizeof(level_names[0]))
#define ORIGINS	  (sizeof(origin_names) / sizeof(origin_names[0]))
#define NO_SOURCE UINT32_MAX

#define EVENTS	   (sizeof(events) / sizeof(events[0]))
#define SOURCES	   16
#define CONTEXTS   32
#define CUT_RECORD 16

static const char *const kind_names[KINDS] = { "load", "store", "branch", "other" };
static const char *const latency_names[3] = { "total", "issue", "translation" };

struct expected_counts {
	uint64_t records, bytes, suspect, simd;
	uint64_t kinds[KINDS];
	uint64_t events[EVENTS];
	struct {
		uint64_t count, sum, max;
	} latency[3];
	/* number of samples by data source of one byte, and of two bytes */
	uint64_t sources[2][SOURCES];
	uint64_t contexts[2][CONTEXTS];
	uint64_t levels[LEVELS];
	uint64_t origins[ORIGINS];
};

struct written_record {
	uint8_t bytes[256];
	size_t len;
};

static uint64_t state;

static uint64_t draw_random(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static bool draw_chance(unsigned int percent)
{
	return draw_random() % 100 < percent;
}

static void write_bytes(struct written_record *r, uint64_t v, unsigned int size)
{
	while (size--) {
		r->bytes[r->len++] = (uint8_t)v;
		v >>= 8;
	}
}

static void put_zeros(struct written_record *r, size_t to)
{
	while (r->len < to)
		write_bytes(r, 0, 1);
}

static void put_address(struct written_record *r, unsigned int index, uint64_t payload)
{
	write_bytes(r, 0xb0 | index, 1);
	write_bytes(r, payload, 8);
}

static void put_latency(struct written_record *r, struct expected_counts *t, unsigned int index,
			unsigned int cycles)
{
	write_bytes(r, 0x98 | index, 1);
	write_bytes(r, cycles, 2);
	t->latency[index].count++;
	t->latency[index].sum += cycles;
	if (cycles > t->latency[index].max)
		t->latency[index].max = cycles;
}

static uint64_t put_events(struct written_record *r, const struct record_layout *l,
			   struct expected_counts *t)
{
	unsigned int log = l->events ? (unsigned int)__builtin_ctz(l->events) : draw_random() % 4;
	uint64_t known = 2; /* the Events bit of retired; other bits are added at random */

	for (size_t i = 0; i < EVENTS; i++)
		if (events[i].bit < 8U << log && draw_chance(15))
			known |= 1ULL << events[i].bit;
	for (size_t i = 0; i < EVENTS; i++)
		t->events[i] += known >> events[i].bit & 1;
	if (log && draw_chance(10))
		known |= 1ULL << 12; /* IMPLEMENTATION DEFINED: no counter includes it */
	write_bytes(r, 0x42 | log << 4, 1);
	write_bytes(r, known, 1U << log);
	return known;
}

/* Return the level of a load or store without a known data source, by the events of D18.2.6. */
static const char *level_from_events(uint64_t e)
{
	bool l1 = e >> 2 & 1, l1_miss = e >> 3 & 1, llc = e >> 8 & 1, llc_miss = e >> 9 & 1;
	bool l2 = e >> 19 & 1, l2_miss = e >> 20 & 1, recent = e >> 22 & 1;

	return recent		? "recently_fetched" :
	       l1 && !l1_miss	? "l1" :
	       l2 && !l2_miss	? "l2" :
	       llc && !llc_miss ? "llc" :
	       llc_miss		? "beyond_llc" :
	       l2_miss		? "beyond_l2" :
	       l1_miss		? "beyond_l1" :
				  "unknown";
}

static void add_origin(struct expected_counts *t, const struct core_encoding *core, uint64_t e,
		       unsigned int value)
{
	const struct data_source *source = value == NO_SOURCE ? NULL : core->sources;
	char flags[16] = "";

	while (source && source->level && source->value != value)
		source++;
	if (source && !source->level)
		source = NULL;
	snprintf(flags, sizeof(flags), "%s%s%s%s%s", source ? source->flags : "", source ? "b" : "",
		 e >> 10 & 1 ? "r" : "", e >> 23 & 1 ? "s" : "", e >> 21 & 1 ? "m" : "");
	for (size_t i = 0; i < ORIGINS; i++)
		t->origins[i] += !!strchr(flags, origin_letters[i]);
	for (size_t i = 0; i < LEVELS; i++)
		t->levels[i] +=
			!strcmp(level_names[i], source ? source->level : level_from_events(e));
}

static void put_op(struct written_record *r, const struct operation_kind *op,
		   struct expected_counts *t)
{
	write_bytes(r, 0x48 | op->class, 1);
	write_bytes(r, op->subclass, 1);
	t->kinds[op->kind]++;
	t->simd += op->simd;
}

static void put_contexts(struct written_record *r, const struct record_layout *l,
			 struct expected_counts *t)
{
	unsigned int el = (unsigned int)draw_random() % 2,
		     which = (unsigned int)draw_random() % CONTEXTS;

	if (!l->contexts)
		return;
	write_bytes(r, 0x64 | el, 1);
	write_bytes(r, 1000 + which, 4);
	t->contexts[el][which]++;
}

static unsigned int put_source(struct written_record *r, const struct record_layout *l,
			       struct expected_counts *t)
{
	unsigned int wide = draw_chance(20), which = (unsigned int)draw_random() % SOURCES;

	if (l->inner)
		put_zeros(r, (r->len + 7) & ~(size_t)7);
	write_bytes(r, 0x43 | wide << 4, 1);
	write_bytes(r, wide ? 0x100 | which : which, wide ? 2 : 1);
	t->sources[wide][which]++;
	return wide ? 0x100 | which : which;
}

/* Write packets that a reader skips by their size. The expected counts do not include them. */
static void put_extras(struct written_record *r)
{
	write_bytes(r, 0x9c, 1); /* alternate clock issue latency */
	write_bytes(r, draw_random() & 0xfff, 2);
	write_bytes(r, 0xb121 + draw_random() % 3, 2); /* extended Address, INDEX 9, 17 or 25 */
	write_bytes(r, draw_random(), 8);
	write_bytes(r, 0xc0 | draw_random() % 16, 1);
	write_bytes(r, draw_random(), 1);
	write_bytes(r, 0xe3, 1);
	write_bytes(r, draw_random(), 4);
}

static void put_end(struct written_record *r, const struct record_layout *l, uint64_t n)
{
	if (!l->timestamps) {
		write_bytes(r, 0x01, 1);
		return;
	}
	if (l->inner && r->len + 9 < l->stride && draw_chance(70))
		put_zeros(r, l->stride - 9);
	write_bytes(r, 0x71, 1);
	write_bytes(r, 1000000 + 7 * n, 8);
}

static struct written_record make_record(const struct record_layout *l,
					 const struct core_encoding *core,
					 struct expected_counts *t, uint64_t n)
{
	const struct operation_kind *op = &ops[draw_random() % (sizeof(ops) / sizeof(ops[0]))];
	uint64_t pc =
		(draw_random() % 3) << 61 | 1ULL << 63 | (0x400000 + (draw_random() % 4096) * 4);
	struct written_record r = { .len = 0 };
	bool memory = op->kind == LOAD || op->kind == STORE;
	unsigned int source = NO_SOURCE;
	uint64_t known;

	if (l->op_first)
		put_op(&r, op, t);
	put_address(&r, 0, pc);
	put_contexts(&r, l, t);
	if (!l->op_first)
		put_op(&r, op, t);
	known = put_events(&r, l, t);
	put_latency(&r, t, 1, (unsigned int)draw_random() % 100);
	put_latency(&r, t, 0, draw_chance(1) ? 0xfff : (unsigned int)draw_random() % 800);
	if (op->kind == BRANCH && l->stride != 44)
		put_address(&r, 1, pc + 64);
	if (memory && l->stride != 44)
		put_address(&r, 2, 0xffff80000000ULL + draw_random() % (1 << 20));
	if (memory)
		put_latency(&r, t, 2, (unsigned int)draw_random() % 50);
	if (l->extras && draw_chance(30))
		put_extras(&r);
	if (op->kind == LOAD && l->stride != 44)
		source = put_source(&r, l, t);
	if (memory)
		add_origin(t, core, known, source);
	put_end(&r, l, n);
	put_zeros(&r, l->stride);
	t->records++;
	t->bytes += r.len;
	return r;
}

static void print_counts(const char *format, const uint64_t *counts, unsigned int n,
			 unsigned int first, const char **separator)
{
	for (unsigned int i = 0; i < n; i++) {
		if (!counts[i])
			continue;
		printf("%s", *separator);
		printf(format, first + i);
		printf(":%llu", (unsigned long long)counts[i]);
		*separator = ",";
	}
}

static void print_expected_counts(const struct expected_counts *t)
{
	const char *separator = "";

	printf("{\"schema_version\":1,\"backend\":\"recording\",\"totals\":{\"records\":%llu,"
	       "\"bytes\":%llu,\"suspect_bytes\":%llu,\"lost_bytes\":null,"
	       "\"truncated_windows\":0,\"windows_with_gaps\":0,\"ops\":{",
	       (unsigned long long)t->records, (unsigned long long)t->bytes,
	       (unsigned long long)t->suspect);
	for (int i = 0; i < KINDS; i++)
		printf("%s\"%s\":%llu", i ? "," : "", kind_names[i],
		       (unsigned long long)t->kinds[i]);
	printf("},\"simd\":%llu,\"events\":{", (unsigned long long)t->simd);
	for (size_t i = 0; i < EVENTS; i++)
		printf("%s\"%s\":%llu", i ? "," : "", events[i].name,
		       (unsigned long long)t->events[i]);
	printf("},\"latency\":{");
	for (int i = 0; i < 3; i++)
		printf("%s\"%s\":{\"count\":%llu,\"sum\":%llu,\"max\":%llu}", i ? "," : "",
		       latency_names[i], (unsigned long long)t->latency[i].count,
		       (unsigned long long)t->latency[i].sum,
		       (unsigned long long)t->latency[i].max);
	printf("},\"data_source\":{");
	print_counts("\"0x%x\"", t->sources[0], SOURCES, 0, &separator);
	print_counts("\"0x%x\"", t->sources[1], SOURCES, 0x100, &separator);
	separator = "";
	printf("},\"levels\":{");
	for (size_t i = 0; i < LEVELS; i++) {
		if (!t->levels[i])
			continue;
		printf("%s\"%s\":%llu", separator, level_names[i],
		       (unsigned long long)t->levels[i]);
		separator = ",";
	}
	printf("},\"origin\":{");
	for (size_t i = 0; i < ORIGINS; i++)
		printf("%s\"%s\":%llu", i ? "," : "", origin_names[i],
		       (unsigned long long)t->origins[i]);
	for (int el = 0; el < 2; el++) {
		separator = "";
		printf(el ? "},\"el2\":{" : "},\"contexts\":{\"el1\":{");
		print_counts("\"%u\"", t->contexts[el], CONTEXTS, 1000, &separator);
	}
	printf("}}}}\n");
}

static const struct record_layout *find_layout(const char *name)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (!strcmp(layouts[i].name, name))
			return &layouts[i];
	return NULL;
}

static const struct core_encoding *find_core(const char *name)
{
	for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++)
		if (!strcmp(cores[i].name, name))
			return &cores[i];
	return NULL;
}

/* Write the records. @truncate: append CUT_RECORD bytes of another record, which are suspect. */
static int generate_records(FILE *out, const struct record_layout *layout,
			    const struct core_encoding *core, uint64_t n, bool truncate)
{
	struct expected_counts truth = { 0 };
	struct written_record record;

	for (uint64_t i = 0; i < n; i++) {
		record = make_record(layout, core, &truth, i);
		fwrite(record.bytes, 1, record.len, out);
	}
	if (truncate) {
		struct expected_counts gone = { 0 };

		record = make_record(layout, core, &gone, n);
		fwrite(record.bytes, 1, CUT_RECORD, out);
		truth.bytes += CUT_RECORD;
		truth.suspect += CUT_RECORD;
	}
	print_expected_counts(&truth);
	return fflush(out) || fflush(stdout) ? 1 : 0;
}

static int print_usage(void)
{
	fprintf(stderr, "usage: spegen [-s SEED] [-n RECORDS] [-l LAYOUT] [-c CORE] [-t] -o "
			"FILE\nlayouts:");
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		fprintf(stderr, " %s", layouts[i].name);
	fprintf(stderr, "\ncores:");
	for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++)
		fprintf(stderr, " %s", cores[i].name);
	fputc('\n', stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const struct record_layout *layout = &layouts[0];
	const struct core_encoding *core = &cores[0];
	const char *path = NULL;
	uint64_t n = 1000;
	bool truncate = false;
	FILE *out;
	int c, r;

	while ((c = getopt(argc, argv, "s:n:l:c:to:")) != -1) {
		switch (c) {
		case 's':
			state = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			n = strtoull(optarg, NULL, 0);
			break;
		case 'l':
			layout = find_layout(optarg);
			break;
		case 'c':
			core = find_core(optarg);
			break;
		case 't':
			truncate = true;
			break;
		case 'o':
			path = optarg;
			break;
		default:
			return print_usage();
		}
	}
	if (!layout || !core || !path || optind < argc)
		return print_usage();
	out = fopen(path, "wb");
	if (!out) {
		perror(path);
		return 1;
	}
	r = generate_records(out, layout, core, n, truncate);
	return fclose(out) ? 1 : r;
}
