// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the profiles that are written for pprof by decoding them: which rows are separate, and which
 * are added up.
 */
#include "test.h"

#include "attribution/attributor-internal.h"
#include "output/pprof-internal.h"
#include "output/pprof.h"
#include "tasks/task-event.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define STRINGS_MAX 16384
#define THINGS_MAX  16384
#define VALUES_MAX  32

struct fixture {
	struct attributor *attributor;
	struct profile *profile;
	struct pprof *pprof;
	u32 cpu; /* CPU of the samples */
};

/* ---- Decoding protocol buffers, as far as needed ------------------------------- */

struct byte_range {
	const u8 *at;
	const u8 *end;
};

/* A field of a message: a number, or bytes, for which @value is not set */
struct message_field {
	u32 number;
	u64 value;
	struct byte_range bytes;
};

static u64 read_varint(struct byte_range *b)
{
	u64 value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		assert_true(b->at < b->end);
		value |= (u64)(*b->at & 0x7f) << shift;
		if (!(*b->at++ & 0x80))
			return value;
	}
	fail();
	return 0;
}

static bool next_field(struct byte_range *b, struct message_field *ret_part)
{
	u64 key, size;

	if (b->at == b->end)
		return false;
	key = read_varint(b);
	*ret_part = (struct message_field){ .number = (u32)(key >> 3) };
	if ((key & 7) == 0) {
		ret_part->value = read_varint(b);
		return true;
	}
	assert_int_equal(key & 7, 2);
	size = read_varint(b);
	assert_true(size <= (u64)(b->end - b->at));
	ret_part->bytes = (struct byte_range){ b->at, b->at + size };
	b->at += size;
	return true;
}

struct read_sample {
	u64 location;
	u64 value[VALUES_MAX];
	char container[512];
	char process[64];
};

/**
 * struct read_profile - a decoded profile. Ids of locations, functions and mappings begin with 1.
 */
struct read_profile {
	u8 data[4 << 20];
	size_t size;
	char *string[STRINGS_MAX];
	u32 strings;
	const char *type[VALUES_MAX];
	const char *type_unit[VALUES_MAX];
	u32 types;
	struct read_sample sample[THINGS_MAX];
	u32 samples;
	struct {
		const char *path;
		const char *build_id;
	} mapping[THINGS_MAX];
	u32 mappings;
	struct {
		u64 mapping;
		u64 address;
	} location[THINGS_MAX];
	const char *function[THINGS_MAX];
	u32 functions;
	const char *period_type;
	u64 period;
};

static u64 find_number(struct byte_range message, u32 number)
{
	struct message_field part;
	u64 value = 0;

	while (next_field(&message, &part))
		if (part.number == number)
			value = part.value;
	return value;
}

static const char *find_text(const struct read_profile *r, struct byte_range message, u32 number)
{
	u64 index = find_number(message, number);

	assert_true(index < r->strings);
	return r->string[index];
}

static void read_sample(struct read_profile *r, struct byte_range message)
{
	struct read_sample *s = &r->sample[r->samples++];
	struct message_field part;
	const char *key;
	u32 values = 0;

	assert_true(r->samples < THINGS_MAX);
	while (next_field(&message, &part)) {
		if (part.number == 1)
			s->location = read_varint(&part.bytes);
		while (part.number == 2 && part.bytes.at < part.bytes.end) {
			assert_true(values < VALUES_MAX);
			s->value[values++] = read_varint(&part.bytes);
		}
		if (part.number != 3)
			continue;
		key = find_text(r, part.bytes, 1);
		if (!strcmp(key, "container"))
			snprintf(s->container, sizeof(s->container), "%s",
				 find_text(r, part.bytes, 2));
		if (!strcmp(key, "process"))
			snprintf(s->process, sizeof(s->process), "%s", find_text(r, part.bytes, 2));
	}
	assert_int_equal(values, r->types);
}

static void read_profile_field(struct read_profile *r, const struct message_field *part)
{
	u64 id;

	switch (part->number) {
	case 1:
		assert_true(r->types < VALUES_MAX);
		r->type[r->types] = find_text(r, part->bytes, 1);
		r->type_unit[r->types++] = find_text(r, part->bytes, 2);
		break;
	case 2:
		read_sample(r, part->bytes);
		break;
	case 3:
		id = find_number(part->bytes, 1);
		assert_true(id == ++r->mappings && id < THINGS_MAX);
		r->mapping[id].path = find_text(r, part->bytes, 5);
		r->mapping[id].build_id = find_text(r, part->bytes, 6);
		break;
	case 4:
		id = find_number(part->bytes, 1);
		assert_true(id < THINGS_MAX);
		r->location[id].mapping = find_number(part->bytes, 2);
		r->location[id].address = find_number(part->bytes, 3);
		break;
	case 5:
		id = find_number(part->bytes, 1);
		assert_true(id == ++r->functions && id < THINGS_MAX);
		r->function[id] = find_text(r, part->bytes, 2);
		break;
	case 11:
		r->period_type = find_text(r, part->bytes, 1);
		break;
	case 12:
		r->period = part->value;
		break;
	}
}

static void inflate_all(struct read_profile *r, int fd)
{
	static u8 packed[1 << 20];
	z_stream z = { .next_in = packed, .next_out = r->data, .avail_out = sizeof(r->data) };
	ssize_t n = pread(fd, packed, sizeof(packed), 0);

	assert_true(n > 0);
	z.avail_in = (uInt)n;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	r->size = sizeof(r->data) - z.avail_out;
	inflateEnd(&z);
}

static struct read_profile *write_profile_with(struct fixture *f, struct symbols_cache *symbols,
					       const struct pprof_filter *filter)
{
	const struct pprof_metadata facts = { .backend = BACKEND_HARDWARE, .filter = filter };
	struct read_profile *r = calloc(1, sizeof(*r));
	int fd = memfd_create("pprof", MFD_CLOEXEC);
	struct byte_range all;
	struct message_field part;

	assert_non_null(r);
	assert_true(fd >= 0);
	assert_int_equal(pprof_write(f->pprof, symbols, &facts, fd), 0);
	inflate_all(r, fd);
	close(fd);
	/* The strings are the last field of the message. */
	all = (struct byte_range){ r->data, r->data + r->size };
	while (next_field(&all, &part)) {
		if (part.number != 6)
			continue;
		assert_true(r->strings < STRINGS_MAX);
		r->string[r->strings] = strndup((const char *)part.bytes.at,
						(size_t)(part.bytes.end - part.bytes.at));
		assert_non_null(r->string[r->strings++]);
	}
	all = (struct byte_range){ r->data, r->data + r->size };
	while (next_field(&all, &part))
		read_profile_field(r, &part);
	return r;
}

static struct read_profile *write_profile_for_filter(struct fixture *f,
						     const struct pprof_filter *filter)
{
	return write_profile_with(f, NULL, filter);
}

static struct read_profile *write_profile(struct fixture *f)
{
	return write_profile_for_filter(f, NULL);
}

static void read_profile_free(struct read_profile *r)
{
	for (u32 i = 0; i < r->strings; i++)
		free(r->string[i]);
	free(r);
}

/* ---- Processes and samples -------------------------------------------------------- */

static int setup(void **state)
{
	const struct attributor_config config = { 0 };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(attributor_new(&config, &f->attributor), 0);
	assert_int_equal(profile_new(NULL, f->attributor, &f->profile), 0);
	assert_int_equal(pprof_new(f->profile, f->attributor, false, NULL, &f->pprof), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	pprof_free(f->pprof);
	profile_free(f->profile);
	attributor_free(f->attributor);
	free(f);
	return 0;
}

/* Add a process in a cgroup, with one binary. @id: first byte of its build ID; 0: it has none. */
static void add_process(struct fixture *f, s32 pid, const char *cgroup, const char *path, u8 id)
{
	const u8 build_id[20] = { id, 0xaa };
	struct task_event e = { .pid = pid, .tid = pid };

	e.type = TASK_COMM;
	e.name = "server";
	attributor_apply_event(f->attributor, &e);
	e.type = TASK_CGROUP;
	e.name = cgroup;
	attributor_apply_event(f->attributor, &e);
	e.type = TASK_MMAP;
	e.name = path;
	e.start = 0x400000;
	e.size = 0x1000000;
	e.build_id = id ? build_id : NULL;
	e.build_id_size = id ? sizeof(build_id) : 0;
	attributor_apply_event(f->attributor, &e);
}

/* Add a load that DRAM served. */
static void add_sample_at(struct fixture *f, s32 tid, u64 pc, u32 interval, u8 unit)
{
	const struct spe_sample s = {
		.present = SPE_HAS_ADDRESS(0) | SPE_HAS_EVENTS | SPE_HAS_OP | SPE_HAS_SOURCE |
			   SPE_HAS_COUNTER(0) | SPE_HAS_COUNTER(1) | SPE_HAS_COUNTER(2),
		.address = { pc },
		.counter = { 100, 10, 3 },
		.op_class = SPE_OP_LOAD_STORE,
		.events = 1 << 1,
		.events_size = 2,
		.source = 0xe,
		.source_size = 1,
	};
	u8 record[64];
	int n = spe_record_encode(&s, record, sizeof(record));

	assert_true(n > 0);
	profile_add_window(f->profile, &(struct source_window){
					       .data = record,
					       .len = (size_t)n,
					       .midr = 0x413fd0c1,
					       .cpu = f->cpu,
					       .tid = tid,
					       .interval = interval,
					       .unit = unit,
				       });
}

static void add_sample(struct fixture *f, s32 tid, u32 interval, u8 unit)
{
	add_sample_at(f, tid, 0x400010, interval, unit);
}

/* ---- The tests ------------------------------------------------------------------- */

/*
 * Two containers have different builds of a file at the same path. A recording has no inode
 * numbers.
 */
static void test_build_ids_separate_files(void **state)
{
	struct fixture *f = *state;
	struct read_profile *r;

	add_process(f, 10, "/system.slice/a.service", "/app/server", 1);
	add_process(f, 20, "/system.slice/b.service", "/app/server", 2);
	add_process(f, 30, "/system.slice/c.service", "/app/server", 2);
	for (s32 pid = 10; pid <= 30; pid += 10)
		add_sample(f, pid, 1025, UNIT_INSTRUCTIONS);
	r = write_profile(f);
	assert_int_equal(r->samples, 3);
	assert_int_equal(r->mappings, 2);
	for (u32 i = 0; i < 3; i++) {
		const struct read_sample *s = &r->sample[i];
		u64 mapping = r->location[s->location].mapping;

		assert_string_equal(r->mapping[mapping].path, "/app/server");
		assert_int_equal(r->location[s->location].address, 0x10);
		assert_memory_equal(r->mapping[mapping].build_id,
				    !strcmp(s->container, "a.service") ? "01aa" : "02aa", 4);
	}
	read_profile_free(r);
}

/* Check that the same path in two containers is two files if there are no build IDs. */
static void test_containers_separate_files(void **state)
{
	struct fixture *f = *state;
	struct read_profile *r;

	add_process(f, 10, "/system.slice/a.service", "/app/server", 0);
	add_process(f, 11, "/system.slice/a.service", "/app/server", 0);
	add_process(f, 20, "/system.slice/b.service", "/app/server", 0);
	add_sample(f, 10, 1025, UNIT_INSTRUCTIONS);
	add_sample(f, 11, 1025, UNIT_INSTRUCTIONS);
	add_sample(f, 20, 1025, UNIT_INSTRUCTIONS);
	r = write_profile(f);
	assert_int_equal(r->samples, 3);
	assert_int_equal(r->mappings, 2);
	assert_string_equal(r->mapping[1].build_id, "");
	read_profile_free(r);
}

static u64 find_value(const struct read_profile *r, const struct read_sample *s, const char *type)
{
	for (u32 i = 0; i < r->types; i++)
		if (!strcmp(r->type[i], type))
			return s->value[i];
	fail_msg("no value %s", type);
	return 0;
}

/* One process runs on cores that count instructions and on cores that count micro-operations. */
static void test_units_of_weights(void **state)
{
	static const struct {
		const char *name;
		u64 of[UNITS]; /* indexed by the unit of the sample's core */
	} wanted[] = {
		{ "samples", { 1, 3, 2 } },
		{ "total_latency", { 100, 300, 200 } },
		{ "issue_latency", { 10, 30, 20 } },
		{ "translation_latency", { 3, 9, 6 } },
		{ "l1_misses", { 1, 3, 2 } },
		{ "l2_misses", { 1, 3, 2 } },
		{ "llc_misses", { 1, 3, 2 } },
		{ "instructions", { 0, 0, 3000 } },
		{ "instructions_total_latency", { 0, 0, 300000 } },
		{ "instructions_issue_latency", { 0, 0, 30000 } },
		{ "instructions_translation_latency", { 0, 0, 9000 } },
		{ "instructions_l1_misses", { 0, 0, 3000 } },
		{ "instructions_l2_misses", { 0, 0, 3000 } },
		{ "instructions_llc_misses", { 0, 0, 3000 } },
		{ "micro_operations", { 0, 600, 0 } },
		{ "micro_operations_total_latency", { 0, 60000, 0 } },
		{ "micro_operations_issue_latency", { 0, 6000, 0 } },
		{ "micro_operations_translation_latency", { 0, 1800, 0 } },
		{ "micro_operations_l1_misses", { 0, 600, 0 } },
		{ "micro_operations_l2_misses", { 0, 600, 0 } },
		{ "micro_operations_llc_misses", { 0, 600, 0 } },
	};
	struct fixture *f = *state;
	struct read_profile *r;

	add_process(f, 10, "/system.slice/a.service", "/app/server", 1);
	add_sample(f, 10, 1000, UNIT_INSTRUCTIONS);
	/* The second sample was taken with a longer interval. */
	add_sample(f, 10, 2000, UNIT_INSTRUCTIONS);
	for (int i = 0; i < 3; i++)
		add_sample(f, 10, 200, UNIT_MICRO_OPS);
	add_sample(f, 10, 1000, UNIT_UNKNOWN);
	r = write_profile(f);
	assert_int_equal(r->types, ARRAY_SIZE(wanted));
	assert_int_equal(r->samples, UNITS);
	for (u32 i = 0; i < r->samples; i++) {
		const struct read_sample *s = &r->sample[i];
		u64 n = find_value(r, s, "samples");
		unsigned int unit = n == 3 ? UNIT_MICRO_OPS :
				    n == 2 ? UNIT_INSTRUCTIONS :
					     UNIT_UNKNOWN;

		assert_int_equal(s->location, r->sample[0].location);
		for (size_t k = 0; k < ARRAY_SIZE(wanted); k++) {
			test_row("%s of unit %u", wanted[k].name, unit);
			assert_string_equal(r->type[k], wanted[k].name);
			assert_row(find_value(r, s, wanted[k].name) == wanted[k].of[unit]);
		}
	}
	/* There is no single period, but the type of the period is always the same. */
	assert_string_equal(r->period_type, "operations");
	assert_int_equal(r->period, 0);
	read_profile_free(r);
}

/*
 * The period is the mean of the intervals of one unit. If an interval is unknown there is no
 * period.
 */
static void test_period_is_mean_interval(void **state)
{
	struct fixture *f = *state;
	struct read_profile *r;

	add_process(f, 10, "/system.slice/a.service", "/app/server", 1);
	add_sample(f, 10, 1000, UNIT_MICRO_OPS);
	add_sample(f, 10, 2000, UNIT_MICRO_OPS);
	r = write_profile(f);
	assert_string_equal(r->period_type, "operations");
	assert_int_equal(r->period, 1500);
	read_profile_free(r);
	add_sample(f, 10, 0, UNIT_MICRO_OPS);
	r = write_profile(f);
	assert_int_equal(r->period, 0);
	read_profile_free(r);
}

static bool has_string(const struct read_profile *r, const char *part)
{
	for (u32 i = 0; i < r->strings; i++)
		if (strstr(r->string[i], part))
			return true;
	return false;
}

/* Samples without a container have the same name as in metrics. */
static void test_filter_of_no_container(void **state)
{
	static char *none[] = { "none", NULL };
	const struct pprof_filter allow = { none, NULL }, deny = { NULL, none };
	struct fixture *f = *state;
	struct read_profile *r;

	add_process(f, 10, "/", "/app/bare", 1);
	add_sample(f, 10, 1000, UNIT_INSTRUCTIONS);
	r = write_profile_for_filter(f, &deny);
	assert_false(has_string(r, "bare"));
	read_profile_free(r);
	r = write_profile_for_filter(f, &allow);
	assert_true(has_string(r, "bare"));
	read_profile_free(r);
}

/* Check that a large "other" of many locations is written in chunks. */
static void test_other_is_written_in_chunks(void **state)
{
	static char *all[] = { "*", NULL };
	const struct pprof_filter unattributed = { NULL, all };
	struct fixture *f = *state;
	u64 samples = 0;
	struct read_profile *r;

	add_process(f, 10, "/system.slice/a.service", "/app/server", 1);
	for (f->cpu = 0; f->cpu < 250; f->cpu++) {
		f->pprof->node[f->cpu] = (u8)f->cpu;
		add_sample(f, 10, 1U << 30, UNIT_INSTRUCTIONS);
		add_sample(f, 10, 1U << 30, UNIT_MICRO_OPS);
	}
	r = write_profile_for_filter(f, &unattributed);
	assert_int_equal(r->samples, 500);
	for (u32 i = 0; i < r->samples; i++)
		samples += find_value(r, &r->sample[i], "samples");
	assert_int_equal(samples, 500);
	read_profile_free(r);
}

/* Containers that match Deny=, or do not match Allow=, are in "other", without their names. */
static void test_denied_containers_are_other(void **state)
{
	static char *web[] = { "web*", NULL }, *secret[] = { "x*", "[st]ecret.service", NULL };
	static char *all[] = { "*", NULL }, *none[] = { NULL };
	static const struct {
		const char *name;
		struct pprof_filter filter;
		u64 other;
		bool web, secret;
	} cases[] = {
		{ "no filter's lists", { none, none }, 2, true, true },
		{ "deny", { NULL, secret }, 5, true, false },
		{ "allow", { web, NULL }, 5, true, false },
		{ "deny goes first", { all, secret }, 5, true, false },
		{ "nobody", { NULL, all }, 6, false, false },
	};
	struct fixture *f = *state;

	add_process(f, 10, "/system.slice/web-1.service", "/app/server", 1);
	add_process(f, 20, "/system.slice/secret.service", "/app/secret-tool", 2);
	add_sample(f, 10, 1000, UNIT_INSTRUCTIONS);
	for (int i = 0; i < 3; i++)
		add_sample(f, 20, 1000, UNIT_INSTRUCTIONS);
	/* Samples of an unknown task may belong to any container. */
	add_sample(f, 99, 1000, UNIT_INSTRUCTIONS);
	add_sample(f, 99, 1000, UNIT_MICRO_OPS);
	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		struct read_profile *r = write_profile_for_filter(f, &cases[k].filter);
		u64 other = 0, samples = 0;

		test_row("%s", cases[k].name);
		for (u32 i = 0; i < r->samples; i++) {
			const struct read_sample *s = &r->sample[i];

			samples += find_value(r, s, "samples");
			if (strcmp(s->container, "other") != 0)
				continue;
			other += find_value(r, s, "samples");
			assert_row(!*s->process);
			assert_row(!r->location[s->location].address);
			assert_row(!r->location[s->location].mapping);
			assert_row(find_value(r, s, "llc_misses") == find_value(r, s, "samples"));
		}
		assert_row(samples == 6);
		assert_row(other == cases[k].other);
		assert_row(has_string(r, "web-1") == cases[k].web);
		assert_row(has_string(r, "secret") == cases[k].secret);
		read_profile_free(r);
	}
}

/*
 * Pods have the same names as in metrics, which truncates long ones: two pods may then have one
 * name.
 */
static void test_pod_names_equal_metrics(void **state)
{
	struct fixture *f = *state;
	struct pods_names *names[2];
	char wanted[2][PODS_NAME_SIZE];
	struct read_profile *r;

	for (u32 i = 0; i < 2; i++) {
		s32 pid = 10 + (s32)i;
		const char *cgroup = i ? "/system.slice/b.service" : "/system.slice/a.service";
		u32 container;

		add_process(f, pid, cgroup, "/app/server", 1);
		add_sample(f, pid, 1000, UNIT_INSTRUCTIONS);
		container = attributor_get_process(f->attributor,
						   attributor_find_process(f->attributor, pid))
				    ->container;
		names[i] = calloc(1, sizeof(*names[i]));
		assert_non_null(names[i]);
		strcpy(names[i]->name_space, "default");
		memset(names[i]->pod, 'p', 200);
		strcpy(names[i]->container, i ? "second" : "first");
		f->attributor->container[container].pod = names[i];
		pods_format_name(names[i], "", wanted[i]);
	}
	r = write_profile(f);
	assert_int_equal(r->samples, 2);
	for (u32 i = 0; i < 2; i++)
		assert_true(!strcmp(r->sample[i].container, wanted[0]) ||
			    !strcmp(r->sample[i].container, wanted[1]));
	assert_string_not_equal(r->sample[0].container, r->sample[1].container);
	read_profile_free(r);
}

#define X10	    xxxxxxxxxx
#define JOIN2(a, b) a##b
#define JOIN(a, b)  JOIN2(a, b)
#define X20	    JOIN(X10, X10)
#define X40	    JOIN(X20, X20)
#define X80	    JOIN(X40, X40)
#define X160	    JOIN(X80, X80)
#define FIRST	    JOIN(X160, _first)
#define SECOND	    JOIN(X160, _second)

int FIRST(int n);
int SECOND(int n);

__attribute__((noinline)) int FIRST(int n)
{
	return n * 3;
}

__attribute__((noinline)) int SECOND(int n)
{
	return n * 5;
}

/* Get the address of the first byte of this program. */
static int find_base(struct dl_phdr_info *info, size_t size __attribute__((unused)), void *arg)
{
	*(u64 *)arg = info->dlpi_addr;
	return 1;
}

/* If the helper exceeds its time limit, it is replaced, and the file is read again. */
static void wait_for_name(struct fixture *f, struct symbols_cache *symbols, u64 pc)
{
	u32 index = attributor_find_process(f->attributor, getpid());
	struct attribute_location place;
	u64 key;

	assert_true(attributor_locate_pc(f->attributor, index, pc, false, &place));
	while (!symbols_get_function_key(symbols, getpid(), &place, true, &key))
		symbols_wait_configured(symbols);
}

/* Two functions are distinct even if the first 160 characters of their names are equal. */
static void test_long_names(void **state)
{
	const struct symbols_config waiting = { .wait_ms = 30000 };
	u64 at[] = { (u64)(uintptr_t)FIRST, (u64)(uintptr_t)SECOND };
	struct fixture *f = *state;
	struct symbols_cache *symbols;
	char path[4096] = "";
	struct read_profile *r;
	u64 base = 0;

	dl_iterate_phdr(find_base, &base);
	assert_true(base && readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	pprof_free(f->pprof);
	assert_int_equal(pprof_new(f->profile, f->attributor, true, NULL, &f->pprof), 0);
	add_process(f, getpid(), "/system.slice/a.service", path, 0);
	assert_int_equal(symbols_new(&waiting, &symbols), 0);
	for (u32 i = 0; i < 2; i++) {
		add_sample_at(f, getpid(), 0x400000 + at[i] - base, 1000, UNIT_INSTRUCTIONS);
		wait_for_name(f, symbols, 0x400000 + at[i] - base);
	}
	r = write_profile_with(f, symbols, NULL);
	assert_int_equal(r->functions, 2);
	for (u32 i = 1; i <= 2; i++)
		assert_int_equal(strspn(r->function[i], "x"), 160);
	assert_string_not_equal(r->function[1], r->function[2]);
	assert_true(has_string(r, "x_first") && has_string(r, "x_second"));
	read_profile_free(r);
	symbols_free(symbols);
}

#define PLACES 6000

static bool is_sanitized(void)
{
	return dlsym(RTLD_DEFAULT, "__asan_init");
}

/* Return the value of @what in /proc/self/status, in bytes. */
static u64 read_status_bytes(const char *what)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long kib = 0;
	char line[256];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, what, strlen(what)))
			assert_int_equal(sscanf(line + strlen(what), ": %llu", &kib), 1);
	fclose(file);
	return kib << 10;
}

/* Reset the peak of resident memory. Return: the present value. */
static u64 reset_peak_memory(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "we");

	malloc_trim(0);
	assert_non_null(file);
	assert_true(fputs("5", file) >= 0);
	assert_int_equal(fclose(file), 0);
	return read_status_bytes("VmRSS");
}

static u32 count_distinct_names(const struct read_profile *r)
{
	u64 samples = 0, latency = 0;
	u32 distinct = 0;

	for (u32 i = 0; i < r->samples; i++) {
		u64 n = find_value(r, &r->sample[i], "samples");

		samples += n;
		latency += find_value(r, &r->sample[i], "total_latency");
		distinct += n == 1;
	}
	assert_int_equal(samples, PLACES);
	assert_int_equal(latency, PLACES * 100);
	return distinct;
}

/*
 * Return by how much the peak of resident memory grows while a profile is written. The counters of
 * the kernel omit up to 32 pages of each CPU, so use the smallest of five measurements.
 */
static u64 measure_write_peak(struct fixture *f)
{
	const struct pprof_metadata facts = { .backend = BACKEND_HARDWARE };
	u64 least = ~0ull;

	for (int i = 0; i < 5; i++) {
		int fd = memfd_create("pprof", MFD_CLOEXEC);
		u64 before = reset_peak_memory(), most;

		assert_int_equal(pprof_write(f->pprof, NULL, &facts, fd), 0);
		most = read_status_bytes("VmHWM");
		close(fd);
		most = most > before ? most - before : 0;
		if (most < least)
			least = most;
	}
	return least;
}

/*
 * The profile includes all samples, even if it may use only little memory. All locations that do
 * not fit are one location.
 */
static void test_little_memory_keeps_all_samples(void **state)
{
	static const struct {
		struct pprof_limits limits;
		u32 least, most;
	} cases[] = {
		{ { 8192, 0 }, PLACES, PLACES },
		{ { 1024, 0 }, 1024 / 8 * 7, 1024 / 8 * 7 },
		{ { 8192, 600 << 10 }, 1500, PLACES - 1500 },
		{ { 1024, 192 << 10 }, 200, 1024 / 8 * 7 - 1 },
	};
	struct fixture *f = *state;

	add_process(f, 10, "/system.slice/a.service", "/app/server", 1);
	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		struct read_profile *r;
		u32 distinct;

		pprof_free(f->pprof);
		assert_int_equal(
			pprof_new(f->profile, f->attributor, false, &cases[k].limits, &f->pprof),
			0);
		for (u32 i = 0; i < PLACES; i++)
			add_sample_at(f, 10, 0x400000 + 4 * i, 1000, UNIT_INSTRUCTIONS);
		test_row("%u entries, %llu bytes of names", cases[k].limits.entries,
			 (unsigned long long)cases[k].limits.names);
		/*
		 * Measure until the counters are exact enough: if the peak is always too large, the
		 * test times out. With a sanitizer the measurement would include the sanitizer's
		 * memory.
		 */
		while (cases[k].limits.names && !is_sanitized() &&
		       measure_write_peak(f) > cases[k].limits.names + PPROF_WRITE_BYTES)
			;
		r = write_profile(f);
		distinct = count_distinct_names(r);
		assert_row(distinct >= cases[k].least && distinct <= cases[k].most);
		assert_row(has_string(r, "[other]") == (distinct < PLACES));
		/* All samples have a process. */
		assert_row(!has_string(r, "[unattributed]"));
		read_profile_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_build_ids_separate_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_containers_separate_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_units_of_weights, setup, teardown),
		cmocka_unit_test_setup_teardown(test_period_is_mean_interval, setup, teardown),
		cmocka_unit_test_setup_teardown(test_denied_containers_are_other, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_is_written_in_chunks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_little_memory_keeps_all_samples, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_filter_of_no_container, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pod_names_equal_metrics, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_names, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
