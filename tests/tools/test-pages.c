// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Record generated accesses of processes in containers, read the recording, and compare the pages
 * and their sets with the accesses. A machine of two NUMA nodes has 4 CPUs; the node of CPU 3 is
 * unknown.
 */
#include "test.h"

#include "lib/exit-status.h"
#include "lib/input.h"
#include "lib/page-set-table.h"
#include "lib/page-sets.h"
#include "recording/recorder.h"
#include "tasks/task-event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NEOVERSE_N1 0x413fd0c1
#define ACCESSES    5000
#define PROCESSES   6
#define FIRST	    100 /* PID */
#define PAGE	    4096ULL
#define HUGE_PAGE   (2ULL << 20)
/* Data Source packets of Neoverse N1 */
#define SOURCE_L1     0x0
#define SOURCE_REMOTE 0xd
#define SOURCE_DRAM   0xe

/** struct access - what a sample recorded; @physical: 0: no physical address */
struct access {
	u64 address;
	u64 physical;
	u32 pid;
	u32 interval;
	u16 total;
	u16 translation;
	u8 cpu;
	u8 source;
};

static struct access accesses[ACCESSES];
static bool first_of_page[ACCESSES];
static u64 random_state;
static u32 kernel_samples, addressless_samples;

static const u8 node_of_cpu[] = { 0, 1, 1, NODE_NONE };
static struct node_range ranges[] = { { 0x40000000, 0x50000000, 1 },
				      { 0x50000000, 0x60000000, 0 },
				      { 0x70000000, 0x80000000, 1 } };
static const struct numa_nodes machine = { .ranges = ranges, .count = ARRAY_SIZE(ranges) };

static u64 draw_below(u64 below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % below;
}

/* Small numbers are more frequent, so that pages are hot and cold. */
static u64 draw_skewed(u64 below)
{
	return draw_below(1 + draw_below(1 + draw_below(below)));
}

static struct access make_access(void)
{
	static const u8 sources[] = { SOURCE_L1, SOURCE_REMOTE, SOURCE_DRAM };
	u64 page = draw_skewed(96) * (draw_below(8) ? 1 : 37);
	struct access a = {
		.address = 0x7f0000000000ULL + page * PAGE + draw_below(PAGE),
		.pid = FIRST + (u32)draw_below(PROCESSES),
		.cpu = (u8)draw_skewed(4),
		.source = sources[draw_below(3)],
		.total = (u16)draw_below(4096),
		.translation = (u16)(draw_below(3) ? draw_below(200) : 0),
	};

	/* Some pages move between nodes, and the node of some addresses is unknown. */
	if (draw_below(5))
		a.physical = 0x40000000 + (page * 7 + a.pid + !draw_below(6)) % 5 * 0x10000000 +
			     page * PAGE + a.address % PAGE;
	return a;
}

static size_t put_sample(const struct access *a, u8 *bytes, size_t size)
{
	struct spe_sample s = {
		.present = SPE_HAS_ADDRESS(SPE_ADDRESS_PC) | SPE_HAS_ADDRESS(SPE_ADDRESS_VA) |
			   SPE_HAS_EVENTS | SPE_HAS_OP | SPE_HAS_SOURCE |
			   SPE_HAS_COUNTER(SPE_COUNTER_TOTAL) |
			   SPE_HAS_COUNTER(SPE_COUNTER_TRANSLATION) |
			   SPE_HAS_CONTEXT(SPE_CONTEXT_EL1),
		.address = { [SPE_ADDRESS_PC] = 0x400000,
			     /* The tag is no part of the address. */
			     [SPE_ADDRESS_VA] = a->address | 0xa5ULL << 56,
			     [SPE_ADDRESS_PA] = a->physical | SPE_BIT(63) },
		.counter = { [SPE_COUNTER_TOTAL] = a->total,
			     [SPE_COUNTER_TRANSLATION] = a->translation },
		.context = { a->pid },
		.op_class = SPE_OP_LOAD_STORE,
		.events = 2,
		.events_size = 2,
		.source = a->source,
		.source_size = 1,
	};
	int n;

	if (a->physical)
		s.present |= SPE_HAS_ADDRESS(SPE_ADDRESS_PA);
	n = spe_record_encode(&s, bytes, size);
	assert_true(n > 0);
	if (draw_below(20))
		return (size_t)n;
	/* Another sample, with the address of the kernel or without one */
	if (draw_below(2)) {
		s.address[SPE_ADDRESS_VA] = 0xa5ff800000000000ULL + draw_below(1 << 20);
		kernel_samples++;
	} else {
		s.present &= ~SPE_HAS_ADDRESS(SPE_ADDRESS_VA);
		addressless_samples++;
	}
	return (size_t)n + (size_t)spe_record_encode(&s, bytes + n, size - (size_t)n);
}

static void put_tasks(const struct source_sink *sink)
{
	char name[32];

	for (s32 i = 0; i < PROCESSES; i++) {
		struct task_event event = {
			.type = TASK_COMM, .pid = FIRST + i, .tid = FIRST + i, .name = "worker"
		};

		sink->task(sink->ctx, &event);
		snprintf(name, sizeof(name), "/group-%d", i / 2);
		event.type = TASK_CGROUP;
		event.name = name;
		sink->task(sink->ctx, &event);
	}
}

/* Find for each access whether it is the first one of its page. */
static void find_first_accesses(void)
{
	for (u32 i = 0; i < ACCESSES; i++) {
		first_of_page[i] = true;
		for (u32 k = 0; k < i && first_of_page[i]; k++)
			first_of_page[i] = accesses[k].pid != accesses[i].pid ||
					   accesses[k].address / PAGE != accesses[i].address / PAGE;
	}
}

static void put_windows(const struct source_sink *sink)
{
	static u8 bytes[1 << 16];
	struct source_window window = { .data = bytes,
					.tid = -1,
					.written = WINDOW_WRITTEN_UNKNOWN,
					.unit = UNIT_INSTRUCTIONS,
					.backend = BACKEND_EMULATED,
					.midr = NEOVERSE_N1 };

	for (u32 i = 0; i < ACCESSES;) {
		u32 end = i + 1 + (u32)draw_below(50);

		window.cpu = (u32)draw_below(4);
		/* 0: unknown; the sample then counts as one access. */
		window.interval = draw_below(4) ? 1024 : draw_below(2) ? 4096 : 0;
		for (window.len = 0; i < end && i < ACCESSES; i++) {
			accesses[i] = make_access();
			accesses[i].cpu = (u8)window.cpu;
			accesses[i].interval = window.interval ? window.interval : 1;
			window.len += put_sample(&accesses[i], bytes + window.len,
						 sizeof(bytes) - window.len);
		}
		sink->window(sink->ctx, &window);
	}
}

/** struct loaded - a recording that was read; @root: its page sets */
struct loaded {
	struct input_recording input;
	struct sampled_pages pages;
	struct page_sets sets;
	json_object *root;
};

/* The recording has the memory of the nodes, but the CPUs are those of the machine of the test. */
static int watch_with_cpus(void *ctx, struct profile *profile)
{
	struct loaded *loaded = ctx;

	memcpy(loaded->input.nodes.cpu_node, node_of_cpu, sizeof(node_of_cpu));
	return sampled_pages_watch(&loaded->pages, profile);
}

static void load_recording(u64 seed, u32 max, u32 limit, struct loaded *loaded)
{
	const struct recorder_config config = { .format = RECORDER_NATIVE,
						.backend = BACKEND_EMULATED,
						.cpus = 4,
						.nodes = &machine,
						.command = "test" };
	struct input_request request = { .memory = true, .watch = watch_with_cpus, .ctx = loaded };
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct recorder *recorder;
	struct source_sink sink;
	char path[32];

	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	kernel_samples = addressless_samples = 0;
	assert_int_equal(recorder_new(fd, &config, &recorder), 0);
	sink = recorder_make_sink(recorder);
	put_tasks(&sink);
	put_windows(&sink);
	assert_int_equal(recorder_finish(recorder), 0);
	recorder_free(recorder);
	find_first_accesses();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	request.path = path;
	loaded->pages = (struct sampled_pages){ .max = max, .nodes = &loaded->input.nodes };
	assert_int_equal(input_load(&request, &loaded->input), STATUS_OK);
	close(fd);
	assert_int_equal(sampled_pages_finish(&loaded->pages), 0);
	assert_int_equal(page_sets_make(&loaded->pages, loaded->input.attributor, &loaded->sets),
			 0);
	loaded->root = json_object_new_object();
	assert_int_equal(page_sets_add_json(&loaded->sets, &loaded->pages, limit, loaded->root), 0);
}

static void loaded_deinit(struct loaded *loaded)
{
	json_object_put(loaded->root);
	page_sets_deinit(&loaded->sets);
	sampled_pages_deinit(&loaded->pages);
	input_deinit(&loaded->input);
}

static u64 get_u64(json_object *from, const char *key)
{
	json_object *value;

	assert_true(json_object_object_get_ex(from, key, &value));
	return json_object_get_uint64(value);
}

static u64 get_address(json_object *from, const char *key)
{
	return strtoull(json_object_get_string(json_object_object_get(from, key)), NULL, 16);
}

static u32 get_group(u32 pid)
{
	return (pid - FIRST) / 2;
}

/** struct truth - sums of the accesses to some pages; @to: by node of the CPU; index 2: unknown */
struct truth {
	u64 samples, accesses, missed, cycles, translation;
	u64 to[3], to_cycles[3], remote;
	u64 on[2];
	u32 pages;
};

static u8 find_memory_node(u64 physical)
{
	for (u32 i = 0; i < ARRAY_SIZE(ranges); i++)
		if (physical >= ranges[i].start && physical < ranges[i].end)
			return ranges[i].node;
	return NODE_NONE;
}

static void truth_add(struct truth *t, const struct access *a)
{
	u8 from = node_of_cpu[a->cpu], to = find_memory_node(a->physical);
	bool known = from != NODE_NONE && to != NODE_NONE;
	u32 slot = from == NODE_NONE ? 2 : from;

	t->samples++;
	t->accesses += a->interval;
	t->cycles += a->total;
	t->translation += a->translation;
	if (to != NODE_NONE)
		t->on[to] += a->interval;
	if (a->source == SOURCE_L1)
		return;
	t->missed += a->interval;
	if (known ? from == to : a->source != SOURCE_REMOTE)
		return;
	t->to[slot] += a->interval;
	t->to_cycles[slot] += a->total;
	t->remote++;
}

/* Return the sums of the accesses of a process from @start to @end; @pid 0: of all processes of @group. */
static struct truth sum_truth(u32 pid, u32 group, u64 start, u64 end)
{
	struct truth t = { 0 };

	for (u32 i = 0; i < ACCESSES; i++) {
		const struct access *a = &accesses[i];

		if ((pid ? a->pid != pid : get_group(a->pid) != group) || a->address < start ||
		    a->address >= end)
			continue;
		truth_add(&t, a);
	}
	return t;
}

/* Return the range of a set that has an address of a process; NULL if none has it. */
static json_object *find_range(json_object *container, const char *set, u32 pid, u64 address)
{
	json_object *list =
		json_object_object_get(json_object_object_get(container, set), "ranges");

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		json_object *range = json_object_array_get_idx(list, i);

		if (get_u64(range, "pid") == pid && address >= get_address(range, "start") &&
		    address < get_address(range, "end"))
			return range;
	}
	return NULL;
}

/* Check that the ranges of a set have the counts of the accesses in them, the heaviest first. */
static void check_ranges(json_object *container, const char *name, const char *weight)
{
	json_object *set = json_object_object_get(container, name);
	json_object *list = json_object_object_get(set, "ranges");
	u64 last = UINT64_MAX, cycles = 0, pages = 0;

	assert_int_equal(get_u64(set, "ranges_found"), json_object_array_length(list));
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		json_object *range = json_object_array_get_idx(list, i);
		struct truth t = sum_truth((u32)get_u64(range, "pid"), 0,
					   get_address(range, "start"), get_address(range, "end"));

		assert_int_equal(get_u64(range, "samples"), t.samples);
		assert_int_equal(get_u64(range, "accesses"), t.accesses);
		assert_true(get_u64(range, weight) <= last);
		assert_string_equal(
			json_object_get_string(json_object_object_get(range, "process")), "worker");
		last = get_u64(range, weight);
		cycles += get_u64(range, "cycles");
		pages += get_u64(range, "pages");
		if (!strcmp(weight, "accesses"))
			assert_int_equal(get_u64(range, "cycles"), t.cycles);
		if (!strcmp(name, "huge_candidates"))
			assert_int_equal(get_u64(range, "cycles"), t.translation);
	}
	assert_int_equal(get_u64(set, "cycles"), cycles);
	assert_int_equal(get_u64(set, "pages"), pages);
}

static void check_totals(json_object *container, u32 group)
{
	struct truth t = sum_truth(0, group, 0, UINT64_MAX);
	u64 pages = 0;

	for (u32 i = 0; i < ACCESSES; i++)
		pages += get_group(accesses[i].pid) == group && first_of_page[i];
	assert_int_equal(get_u64(container, "pages"), pages);
	assert_int_equal(get_u64(container, "samples"), t.samples);
	assert_int_equal(get_u64(container, "accesses"), t.accesses);
	assert_int_equal(get_u64(container, "latency_sum"), t.cycles);
	assert_int_equal(get_u64(container, "translation_sum"), t.translation);
	assert_int_equal(get_u64(container, "remote"), t.remote);
	assert_int_equal(get_u64(container, "remote_latency_sum"),
			 t.to_cycles[0] + t.to_cycles[1] + t.to_cycles[2]);
}

/*
 * The hot set is minimal, the cold set is maximal, and each of their pages has at least, or at most,
 * as many accesses as each other page.
 */
static void check_hot_and_cold(json_object *container, u32 group)
{
	u64 hot = 0, cold = 0, all = 0, least_hot = UINT64_MAX, most_cool = 0, most_cold = 0,
	    least_warm = UINT64_MAX;

	for (u32 i = 0; i < ACCESSES; i++) {
		u64 start = accesses[i].address & ~(PAGE - 1), n;
		u32 pid = accesses[i].pid;
		bool is_hot, is_cold;

		if (get_group(pid) != group || !first_of_page[i])
			continue;
		n = sum_truth(pid, 0, start, start + PAGE).accesses;
		is_hot = find_range(container, "hot", pid, start);
		is_cold = find_range(container, "cold", pid, start);
		assert_false(is_hot && is_cold);
		all += n;
		hot += is_hot ? n : 0;
		cold += is_cold ? n : 0;
		least_hot = is_hot && n < least_hot ? n : least_hot;
		most_cool = !is_hot && n > most_cool ? n : most_cool;
		most_cold = is_cold && n > most_cold ? n : most_cold;
		least_warm = !is_cold && n < least_warm ? n : least_warm;
	}
	assert_true(hot * 100 >= all * 80 && (hot - least_hot) * 100 < all * 80);
	assert_true(cold * 100 <= all && (cold + least_warm) * 100 > all);
	assert_true(most_cool <= least_hot && most_cold <= least_warm);
	assert_true(cold);
}

/* Check that the misplaced pages are those with most missed accesses from another node. */
static u32 check_misplaced(json_object *container, u32 group)
{
	u64 cycles = 0;
	u32 found = 0;

	for (u32 i = 0; i < ACCESSES; i++) {
		u64 start = accesses[i].address & ~(PAGE - 1);
		u32 pid = accesses[i].pid, best = 2;
		json_object *range = find_range(container, "misplaced", pid, start), *to;
		struct truth t;

		if (get_group(pid) != group || !first_of_page[i])
			continue;
		t = sum_truth(pid, 0, start, start + PAGE);
		for (u32 node = 0; node < 2; node++)
			if (t.to[node] > t.to[best])
				best = node;
		assert_int_equal(range != NULL, 2 * t.to[best] > t.missed);
		if (!range)
			continue;
		found++;
		cycles += t.to_cycles[best];
		to = json_object_object_get(range, "to_node");
		assert_int_equal(to ? json_object_get_uint64(to) : 2, best);
		to = json_object_object_get(range, "node");
		assert_int_equal(to ? json_object_get_uint64(to) : 2, !t.on[0] && !t.on[1] ? 2 :
								      t.on[1] > t.on[0]	   ? 1 :
											     0);
	}
	assert_int_equal(get_u64(json_object_object_get(container, "misplaced"), "pages"), found);
	assert_int_equal(get_u64(json_object_object_get(container, "misplaced"), "cycles"), cycles);
	return found;
}

/* Check that each aligned range with several sampled pages is a candidate, and no other. */
static void check_huge(json_object *container, u32 group)
{
	for (u32 i = 0; i < ACCESSES; i++) {
		u64 start = accesses[i].address & ~(HUGE_PAGE - 1);
		u32 pid = accesses[i].pid, pages = 0;
		json_object *range;
		struct truth t;

		if (get_group(pid) != group || !first_of_page[i])
			continue;
		for (u32 k = 0; k < ACCESSES; k++)
			pages += accesses[k].pid == pid &&
				 (accesses[k].address & ~(HUGE_PAGE - 1)) == start &&
				 first_of_page[k];
		t = sum_truth(pid, 0, start, start + HUGE_PAGE);
		range = find_range(container, "huge_candidates", pid, start);
		assert_int_equal(range != NULL, pages > 1 && t.translation);
		if (range) {
			assert_int_equal(get_address(range, "start"), start);
			assert_int_equal(get_address(range, "end"), start + HUGE_PAGE);
			assert_int_equal(get_u64(range, "pages"), pages);
		}
	}
}

static void test_sets_are_exact(void **state)
{
	u32 misplaced = 0;

	(void)state;
	for (u64 seed = 1; seed <= 2; seed++) {
		struct loaded loaded;
		json_object *list;

		load_recording(seed, SAMPLED_PAGES_MAX, 0, &loaded);
		assert_int_equal(get_u64(loaded.root, "page_size"), PAGE);
		assert_int_equal(get_u64(loaded.root, "huge_page_size"), HUGE_PAGE);
		assert_int_equal(get_u64(loaded.root, "samples_kernel"), kernel_samples);
		assert_int_equal(get_u64(loaded.root, "samples_no_address"), addressless_samples);
		assert_int_equal(get_u64(loaded.root, "samples_dropped"), 0);
		list = json_object_object_get(loaded.root, "containers");
		assert_int_equal(json_object_array_length(list), PROCESSES / 2);
		for (size_t i = 0; i < PROCESSES / 2; i++) {
			json_object *container = json_object_array_get_idx(list, i);
			const char *name = json_object_get_string(
				json_object_object_get(container, "container"));
			u32 group = 0;

			assert_int_equal(sscanf(name, "group-%u", &group), 1);
			check_totals(container, group);
			check_ranges(container, "hot", "accesses");
			check_ranges(container, "cold", "accesses");
			check_ranges(container, "misplaced", "cycles");
			check_ranges(container, "huge_candidates", "cycles");
			check_hot_and_cold(container, group);
			misplaced += check_misplaced(container, group);
			check_huge(container, group);
		}
		loaded_deinit(&loaded);
	}
	assert_in_range(misplaced, 20, 1000);
}

/* A full table counts the samples that it drops, and -n limits the lists but not the totals. */
static void test_limits(void **state)
{
	struct loaded loaded;
	json_object *list, *set;
	u64 samples = 0;

	(void)state;
	load_recording(3, 100, 2, &loaded);
	assert_int_equal(loaded.pages.count, 100);
	list = json_object_object_get(loaded.root, "containers");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		json_object *container = json_object_array_get_idx(list, i);

		samples += get_u64(container, "samples");
		set = json_object_object_get(container, "hot");
		assert_int_equal(json_object_array_length(json_object_object_get(set, "ranges")),
				 2);
		assert_true(get_u64(set, "pages") > 2);
	}
	assert_true(get_u64(loaded.root, "samples_dropped") > 0);
	assert_int_equal(samples + get_u64(loaded.root, "samples_dropped"), ACCESSES);
	assert_int_equal(get_u64(loaded.root, "samples_kernel"), kernel_samples);
	loaded_deinit(&loaded);
}

/* The text has a row for each container, and the heaviest rows of each set. */
static void test_text(void **state)
{
	struct loaded loaded;
	char *text = NULL, *at;
	size_t size;
	u32 rows = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	setenv("COLUMNS", "200", 1);
	load_recording(4, SAMPLED_PAGES_MAX, 3, &loaded);
	page_set_table_print(out, loaded.root, 3);
	fclose(out);
	for (at = text; (at = strstr(at, "worker(10")); at++)
		rows++;
	assert_int_equal(rows, 4 * 3);
	assert_non_null(strstr(text, "MISPLACED"));
	assert_non_null(strstr(text, "TO NODE"));
	assert_non_null(strstr(text, "group-0"));
	assert_null(strstr(text, "the table of pages is full"));
	free(text);
	loaded_deinit(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets_are_exact),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
