// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the data that survives a restart: integers, the slots of the memfd, attribution and profile.
 */
#include "test.h"

#include "output/profile-json.h"
#include "profile/cache-lines.h"
#include "profile/cell-table.h"
#include "profile/profile-read.h"
#include "profile/profile-save.h"
#include "state/checkpoint-slots.h"
#include "tasks/task-event.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM (4U << 20)

static u64 seed = 1;

static u64 draw_below(u64 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

static void test_serialized_integers(void **state __attribute__((unused)))
{
	static const u64 values[] = { 0,      1,	  0x7f,	      0x80,	 0x3fff,
				      0x4000, UINT32_MAX, 1ULL << 63, UINT64_MAX };
	const u64 sparse[8] = { [2] = 7, [3] = UINT64_MAX, [7] = 1 };
	u8 bytes[256];
	u64 array[8];
	char text[8];

	for (size_t cut = 0; cut < 2; cut++) {
		struct serializer to = { .at = bytes, .capacity = sizeof(bytes) };
		struct deserializer from = { .at = bytes };

		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			size_t before = to.len;

			serialize_u64(&to, values[i]);
			assert_int_equal(to.len - before, serialize_get_u64_size(values[i]));
		}
		serialize_string(&to, "nginx");
		serialize_array(&to, sparse, ARRAY_SIZE(sparse));
		assert_false(to.full);
		from.len = to.len - cut;
		for (size_t i = 0; i < ARRAY_SIZE(values); i++)
			assert_true(deserialize_u64(&from) == values[i]);
		deserialize_string(&from, text, sizeof(text));
		assert_string_equal(text, "nginx");
		deserialize_array(&from, array, ARRAY_SIZE(array));
		assert_int_equal(from.bad, cut);
		assert_true(cut || !memcmp(array, sparse, sizeof(array)));
	}
}

static void test_damaged_integers_are_refused(void **state __attribute__((unused)))
{
	static const struct {
		const char *name;
		u8 bytes[12];
		size_t len;
	} rows[] = {
		{ "no end", { 0x80, 0x80, 0x80 }, 3 },
		{ "more than 64 bits",
		  { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 },
		  10 },
		{ "nothing", { 0 }, 0 },
	};
	struct serializer to = { .at = (u8[2]){ 0 }, .capacity = 2 };
	u64 array[4];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct deserializer from = { .at = rows[i].bytes, .len = rows[i].len };

		test_row("%s", rows[i].name);
		assert_row(deserialize_u64(&from) == 0 && from.bad);
	}
	struct deserializer place = { .at = (const u8 *)"\2\3\1\1\1", .len = 5 };

	deserialize_array(&place, array, ARRAY_SIZE(array));
	assert_true(place.bad);
	struct deserializer string = { .at = (const u8 *)"\3a\0b", .len = 4 };
	char text[8];

	deserialize_string(&string, text, sizeof(text));
	assert_true(string.bad && !*text);
	serialize_u64(&to, 1ULL << 20);
	assert_true(to.full && !to.len);
}

static void commit_value(struct checkpoint_slots *c, u64 value)
{
	struct serializer to;

	checkpoint_slots_begin(c, &to);
	serialize_u64(&to, value);
	assert_int_equal(checkpoint_slots_commit(c, &to), 0);
}

/* Read the value that the next process would find. */
static int read_as_next_process(const struct checkpoint_slots *c, u64 *ret_value)
{
	const char *reason = "";
	struct checkpoint_slots *next;
	struct deserializer from;
	int r;

	assert_int_equal(checkpoint_slots_adopt(dup(checkpoint_slots_get_fd(c)), 7, &next, &reason),
			 0);
	r = checkpoint_slots_read(next, &from, &reason);
	if (!r) {
		*ret_value = deserialize_u64(&from);
		free((void *)from.at);
	}
	checkpoint_slots_free(next);
	return r;
}

/* Flip a bit in each byte that equals @value. */
static void flip_bits(const struct checkpoint_slots *c, u8 value)
{
	u8 byte;

	for (size_t slot = 0; slot < 2; slot++) {
		off_t at = (off_t)(slot * CHECKPOINT_SLOT_SIZE + 64);

		assert_int_equal(pread(checkpoint_slots_get_fd(c), &byte, 1, at), 1);
		if (byte != value)
			continue;
		byte ^= 1;
		assert_int_equal(pwrite(checkpoint_slots_get_fd(c), &byte, 1, at), 1);
	}
}

static void test_last_complete_slot_is_read(void **state __attribute__((unused)))
{
	struct checkpoint_slots *c;
	struct serializer to;
	u64 value = 0;

	assert_int_equal(checkpoint_slots_new("test", 7, &c), 0);
	assert_int_equal(read_as_next_process(c, &value), -ENODATA);
	for (u64 i = 1; i < 8; i++) {
		/* Simulate a process that is killed while it writes. */
		checkpoint_slots_begin(c, &to);
		serialize_u64(&to, 99);
		assert_int_equal(read_as_next_process(c, &value), i == 1 ? -ENODATA : 0);
		assert_int_equal(value, i - 1);
		commit_value(c, i);
		assert_int_equal(read_as_next_process(c, &value), 0);
		assert_int_equal(value, i);
	}
	/* The checkpoint does not fit into a slot, so the former one remains valid. */
	checkpoint_slots_begin(c, &to);
	to.len = to.capacity;
	serialize_u64(&to, 1);
	assert_int_equal(checkpoint_slots_commit(c, &to), -ENOSPC);
	assert_int_equal(read_as_next_process(c, &value), 0);
	assert_int_equal(value, 7);
	commit_value(c, 8);
	flip_bits(c, 8);
	assert_int_equal(read_as_next_process(c, &value), 0);
	assert_int_equal(value, 7);
	flip_bits(c, 7);
	assert_int_equal(read_as_next_process(c, &value), -EPROTO);
	checkpoint_slots_free(c);
}

/*
 * Simulate a process that restored the checkpoint and is killed while it writes its own first one.
 */
static void restore_and_begin_write(const struct checkpoint_slots *c)
{
	const char *reason = "";
	struct checkpoint_slots *next;
	struct serializer to;

	assert_int_equal(checkpoint_slots_adopt(dup(checkpoint_slots_get_fd(c)), 7, &next, &reason),
			 0);
	checkpoint_slots_begin(next, &to);
	serialize_u64(&to, 99);
	checkpoint_slots_free(next);
}

/*
 * The writer is killed during a commit, which may have written any subset of the words of the
 * header. The next process finds the last complete slot, and does not write into it.
 */
static void test_torn_commit(void **state __attribute__((unused)))
{
	u64 before[8], after[8], torn[8], first = 0, second = 0;
	const off_t at = (off_t)CHECKPOINT_SLOT_SIZE; /* the slot of odd commits */
	struct checkpoint_slots *c;
	struct serializer to;

	for (u32 words = 0; words < 1 << 8; words++) {
		test_row("words %#x", words);
		assert_int_equal(checkpoint_slots_new("test", 7, &c), 0);
		commit_value(c, 1);
		commit_value(c, 2);
		checkpoint_slots_begin(c, &to);
		serialize_u64(&to, 3);
		assert_int_equal(pread(checkpoint_slots_get_fd(c), before, sizeof(before), at),
				 sizeof(before));
		assert_int_equal(checkpoint_slots_commit(c, &to), 0);
		assert_int_equal(pread(checkpoint_slots_get_fd(c), after, sizeof(after), at),
				 sizeof(after));
		for (u32 i = 0; i < ARRAY_SIZE(torn); i++)
			torn[i] = words & 1U << i ? after[i] : before[i];
		assert_int_equal(pwrite(checkpoint_slots_get_fd(c), torn, sizeof(torn), at),
				 sizeof(torn));
		assert_row(!read_as_next_process(c, &first) && (first == 2 || first == 3));
		restore_and_begin_write(c);
		assert_row(!read_as_next_process(c, &second) && second == first);
		checkpoint_slots_free(c);
	}
}

/* Add @flip to the byte at @at of @file, and import the file as the next process would. */
static int import_changed(int file, off_t at, u8 flip, u64 *ret_value)
{
	struct checkpoint_slots *c;
	const char *reason;
	u8 byte;
	int fd, r;

	if (flip) {
		assert_int_equal(pread(file, &byte, 1, at), 1);
		byte = (u8)(byte + flip);
		assert_int_equal(pwrite(file, &byte, 1, at), 1);
	}
	assert_int_equal(lseek(file, 0, SEEK_SET), 0);
	r = checkpoint_slots_import("test", file, &fd);
	if (r < 0)
		return r;
	assert_int_equal(checkpoint_slots_adopt(fd, 7, &c, &reason), 0);
	r = read_as_next_process(c, ret_value);
	checkpoint_slots_free(c);
	return r;
}

/* Export a checkpoint from either slot to a file, and import it. */
static void test_export_and_import(void **state __attribute__((unused)))
{
	struct checkpoint_slots *c;
	u64 value = 0;
	int file;

	assert_int_equal(checkpoint_slots_new("test", 7, &c), 0);
	file = memfd_create("file", MFD_CLOEXEC);
	assert_int_equal(checkpoint_slots_export(c, file), -ENODATA);
	assert_int_equal(import_changed(file, 0, 0, &value), -ENODATA);
	for (u64 i = 1; i <= 2; i++) {
		commit_value(c, i);
		assert_int_equal(ftruncate(file, 0), 0);
		assert_int_equal(lseek(file, 0, SEEK_SET), 0);
		assert_int_equal(checkpoint_slots_export(c, file), 0);
		assert_int_equal(import_changed(file, 0, 0, &value), 0);
		assert_int_equal(value, i);
	}
	/* A change of any used byte of the header, or of the value, is detected. */
	for (off_t at = 0; at < 40; at++) {
		assert_int_equal(import_changed(file, at, 1, &value), -EPROTO);
		assert_int_equal(import_changed(file, at, 255, &value), 0);
	}
	assert_int_equal(import_changed(file, 64, 1, &value), -EPROTO);
	assert_int_equal(import_changed(file, 64, 255, &value), 0);
	assert_int_equal(ftruncate(file, 64), 0);
	assert_int_equal(import_changed(file, 0, 0, &value), -EPROTO);
	close(file);
	checkpoint_slots_free(c);
}

static void test_foreign_checkpoint(void **state __attribute__((unused)))
{
	const char *reason = "";
	struct checkpoint_slots *c;
	int ends[2], fd;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(checkpoint_slots_adopt(ends[0], 7, &c, &reason), -EPROTO);
	assert_string_equal(reason, "it is not a memfd");
	close(ends[0]);
	close(ends[1]);
	fd = memfd_create("foreign", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(checkpoint_slots_adopt(fd, 7, &c, &reason), -EPROTO);
	assert_string_equal(reason, "its size is not that of a checkpoint");
	assert_int_equal(ftruncate(fd, 2 * CHECKPOINT_SLOT_SIZE), 0);
	assert_int_equal(checkpoint_slots_adopt(fd, 7, &c, &reason), -EPROTO);
	assert_string_equal(reason, "it is not sealed");
	close(fd);
}

struct saved_pair {
	struct attributor *attributor;
	struct profile *profile;
};

static void saved_pair_init_lines(struct saved_pair *pair, bool little, u32 line_size)
{
	const struct attributor_config attribution = { .processes = little ? 8 : 64,
						       .threads = 64,
						       .containers = little ? 4 : 64 };
	const struct profile_config profile = { .cell_bytes = little ? CELL_BYTES_MIN : 4 << 20,
						.programs = 256,
						.contexts = little ? 16 : 256,
						.history = true,
						.lines = little ? 8 : 8192,
						.line_size = line_size,
						.pages = little ? 8 : 8192 };

	assert_int_equal(attributor_new(&attribution, &pair->attributor), 0);
	assert_int_equal(profile_new(&profile, pair->attributor, &pair->profile), 0);
}

static void saved_pair_init(struct saved_pair *pair, bool little)
{
	saved_pair_init_lines(pair, little, 0);
}

static void saved_pair_deinit(struct saved_pair *pair)
{
	profile_free(pair->profile);
	attributor_free(pair->attributor);
}

static void report_event(struct saved_pair *pair, struct task_event event)
{
	attributor_apply_event(pair->attributor, &event);
}

/* Add processes in containers, with one mapping each. One process has exited. */
static void add_processes(struct saved_pair *pair)
{
	static const char *const cgroups[] = { "/system.slice/nginx.service",
					       "/system.slice/a\\x2db.service",
					       "/machine.slice/web" };

	for (u64 i = 0; i < ARRAY_SIZE(cgroups); i++)
		report_event(pair, (struct task_event){ .type = TASK_CGROUP,
							.cgroup = i + 1,
							.name = cgroups[i] });
	for (s32 pid = 100; pid < 140; pid++) {
		char name[24], path[32];

		snprintf(name, sizeof(name), "task-%d", pid);
		snprintf(path, sizeof(path), "/usr/bin/task-%d", pid);
		report_event(pair, (struct task_event){ .type = TASK_FORK,
							.pid = pid,
							.tid = pid,
							.parent_pid = 1,
							.name = "",
							.cgroup = (u64)pid % 3 + 1 });
		report_event(pair, (struct task_event){ .type = TASK_COMM,
							.pid = pid,
							.tid = pid,
							.name = name,
							.exec = true });
		report_event(pair, (struct task_event){ .type = TASK_MMAP,
							.pid = pid,
							.tid = pid,
							.start = 0x400000,
							.size = 0x100000,
							.name = path });
	}
	report_event(pair, (struct task_event){
				   .type = TASK_EXIT, .pid = 139, .tid = 139, .last = true });
}

/* Length of a window in nanoseconds; some thousand windows are a slot of the history */
#define STEP_NS 500000ULL

static u64 clock_ns = 1;

static void add_windows(struct saved_pair *pair, u32 records)
{
	static const u8 sources[] = { 0, 0xe, 0xd, 8 };

	for (u32 i = 0; i < records; i++) {
		const struct spe_sample sample = {
			.present = SPE_HAS_ADDRESS(0) | SPE_HAS_ADDRESS(SPE_ADDRESS_VA) |
				   (draw_below(4) ? SPE_HAS_ADDRESS(SPE_ADDRESS_PA) : 0) |
				   SPE_HAS_EVENTS | SPE_HAS_OP | SPE_HAS_SOURCE |
				   SPE_HAS_CONTEXT(SPE_CONTEXT_EL1) |
				   SPE_HAS_COUNTER(SPE_COUNTER_TOTAL),
			.address = { [0] = 0x400000 + 4 * draw_below(6),
				     [SPE_ADDRESS_VA] = 0x10000 + 8 * draw_below(16),
				     [SPE_ADDRESS_PA] = 0x7000000 + 512 * draw_below(100) },
			.op_subclass = (u8)draw_below(2), /* store or load */
			.context = { (u32)(draw_below(10) ? 100 + draw_below(40) : 7) },
			.counter = { [SPE_COUNTER_TOTAL] = (u16)draw_below(4000) },
			.op_class = SPE_OP_LOAD_STORE,
			.events = draw_below(2) ? 1 << 2 | 1 << 3 : 0,
			.events_size = 4,
			.source = sources[draw_below(4)],
			.source_size = 1,
		};
		u32 cpu = (u32)draw_below(4);
		struct source_window window = { .midr = 0x413fd0c1,
						.tid = -1,
						.interval = 1000 * (1 + cpu),
						.unit = UNIT_MICRO_OPS,
						.blind_ns = 3,
						.armed_ns = 5,
						.interrupted = true,
						.written = 1,
						.start_ns = clock_ns,
						.end_ns = clock_ns + STEP_NS,
						.cpu = cpu };

		u8 record[64];
		int n = spe_record_encode(&sample, record, sizeof(record));

		assert_true(n > 0);
		window.data = record;
		window.len = (size_t)n;
		profile_add_window(pair->profile, &window);
		clock_ns += STEP_NS;
	}
}

static void save_profile(struct saved_pair *pair, u8 *at, size_t *ret_len)
{
	struct serializer to = { .at = at, .capacity = ROOM };

	attributor_save(pair->attributor, &to);
	profile_save(pair->profile, &to);
	assert_false(to.full);
	*ret_len = to.len;
}

static int load_profile(struct saved_pair *pair, const u8 *at, size_t len)
{
	struct deserializer from = { .at = at, .len = len };
	struct attribute_translation translation;
	int r = attributor_load(pair->attributor, &from, &translation);

	if (r >= 0)
		r = profile_load(pair->profile, &from, &translation);
	attribute_translation_deinit(&translation);
	if (r < 0)
		profile_reset(pair->profile);
	return r;
}

static int compare_by_name(const void *a, const void *b)
{
	const struct view_row *x = a, *y = b;
	int r = x->pid != y->pid ? x->pid - y->pid : strcmp(x->container, y->container);

	if (!r)
		r = strcmp(x->process, y->process);
	return r ? r : strcmp(x->function, y->function);
}

static void assert_same_span(struct saved_pair *a, struct saved_pair *b, enum view_span span,
			     enum view_group group)
{
	struct view v, w;

	assert_int_equal(profile_create_span_view(a->profile, NULL, false, span, group,
						  VIEW_SORT_SAMPLES, 0, 0, &v),
			 0);
	assert_int_equal(profile_create_span_view(b->profile, NULL, false, span, group,
						  VIEW_SORT_SAMPLES, 0, 0, &w),
			 0);
	assert_true(v.header.records == w.header.records && v.header.records);
	assert_int_equal(v.header.duration_ns, w.header.duration_ns);
	assert_int_equal(v.count, w.count);
	qsort(v.rows, v.count, sizeof(*v.rows), compare_by_name);
	qsort(w.rows, w.count, sizeof(*w.rows), compare_by_name);
	assert_memory_equal(v.rows, w.rows, v.count * sizeof(*v.rows));
	view_clear(&v);
	view_clear(&w);
}

/* Check that both profiles give the same view, apart from the order of equal rows. */
static void assert_same_profiles(struct saved_pair *a, struct saved_pair *b)
{
	char *x, *y;

	assert_int_equal(profile_summary_json(a->profile, "recording", true, &x), 0);
	assert_int_equal(profile_summary_json(b->profile, "recording", true, &y), 0);
	assert_string_equal(x, y);
	free(x);
	free(y);
	assert_true(profile_count_false_sharing(a->profile) > 0);
	assert_int_equal(profile_count_false_sharing(a->profile),
			 profile_count_false_sharing(b->profile));
	assert_int_equal(profile_hot_memory_json(a->profile, NULL, false, 1000, &x), 0);
	assert_int_equal(profile_hot_memory_json(b->profile, NULL, false, 1000, &y), 0);
	assert_string_equal(x, y);
	free(x);
	free(y);
	for (unsigned int span = VIEW_SPAN_10S; span < VIEW_SPANS; span++)
		for (unsigned int group = 0; group < VIEW_PROGRAM; group++)
			assert_same_span(a, b, span, group);
	for (unsigned int group = 0; group < VIEW_PROGRAM; group++) {
		struct view v, w;

		assert_int_equal(profile_create_view(a->profile, NULL, false, group,
						     VIEW_SORT_SAMPLES, 0, &v),
				 0);
		assert_int_equal(profile_create_view(b->profile, NULL, false, group,
						     VIEW_SORT_SAMPLES, 0, &w),
				 0);
		assert_memory_equal(&v.header, &w.header, sizeof(v.header));
		assert_int_equal(v.count, w.count);
		qsort(v.rows, v.count, sizeof(*v.rows), compare_by_name);
		qsort(w.rows, w.count, sizeof(*w.rows), compare_by_name);
		assert_memory_equal(v.rows, w.rows, v.count * sizeof(*v.rows));
		view_clear(&v);
		view_clear(&w);
	}
}

/*
 * After saving and restoring twice, with samples in between, the result is the same as without a
 * restart.
 */
static void test_restored_profile_is_same(void **state __attribute__((unused)))
{
	u8 *bytes = malloc(ROOM);
	struct saved_pair whole, kept, again;
	size_t len;
	u64 then, then_ns;

	assert_non_null(bytes);
	saved_pair_init(&whole, false);
	saved_pair_init(&kept, false);
	saved_pair_init(&again, false);
	add_processes(&whole);
	add_windows(&whole, 40000);
	save_profile(&whole, bytes, &len);
	assert_int_equal(load_profile(&kept, bytes, len), 0);
	assert_same_profiles(&whole, &kept);
	then = seed;
	then_ns = clock_ns;
	add_windows(&whole, 40000);
	seed = then;
	clock_ns = then_ns;
	add_windows(&kept, 40000);
	assert_same_profiles(&whole, &kept);
	save_profile(&kept, bytes, &len);
	assert_int_equal(load_profile(&again, bytes, len), 0);
	assert_same_profiles(&whole, &again);
	print_message("a profile of 80000 samples: %zu bytes\n", len);
	saved_pair_deinit(&whole);
	saved_pair_deinit(&kept);
	saved_pair_deinit(&again);
	free(bytes);
}

static u64 sum_view_rows(struct profile *profile, u64 *ret_records, u64 *ret_evicted)
{
	u64 samples = 0;
	struct view view;

	assert_int_equal(profile_create_view(profile, NULL, false, VIEW_CONTAINER,
					     VIEW_SORT_SAMPLES, 0, &view),
			 0);
	for (u32 i = 0; i < view.count; i++)
		samples += view.rows[i].samples;
	*ret_records = view.header.records;
	*ret_evicted = view.header.evicted;
	view_clear(&view);
	return samples;
}

/* Check that the rows of functions, with those of evicted samples, have the weight of all samples. */
static void assert_weights(struct profile *profile)
{
	struct view view;
	u64 weight = 0;

	assert_int_equal(profile_create_view(profile, NULL, false, VIEW_FUNCTION, VIEW_SORT_SAMPLES,
					     0, &view),
			 0);
	assert_int_equal(view_get_share_unit(&view.header), UNIT_MICRO_OPS);
	for (u32 i = 0; i < view.count; i++)
		weight += view.rows[i].weight[UNIT_MICRO_OPS];
	assert_int_equal(weight, view.header.weight[UNIT_MICRO_OPS]);
	assert_true(weight > 1000 * view.header.records && weight < 4000 * view.header.records);
	view_clear(&view);
}

/* Restore into smaller tables: rows are evicted, and no sample is lost. */
static void test_restore_into_smaller_tables(void **state __attribute__((unused)))
{
	u64 records, evicted, records_now, evicted_now, samples;
	u8 *bytes = malloc(ROOM);
	struct saved_pair whole, little;
	size_t len;

	assert_non_null(bytes);
	saved_pair_init(&whole, false);
	saved_pair_init(&little, true);
	add_processes(&whole);
	add_windows(&whole, 20000);
	save_profile(&whole, bytes, &len);
	assert_int_equal(load_profile(&little, bytes, len), 0);
	samples = sum_view_rows(whole.profile, &records, &evicted);
	assert_int_equal(sum_view_rows(little.profile, &records_now, &evicted_now), samples);
	assert_int_equal(records_now, records);
	assert_true(evicted_now > evicted);
	assert_weights(whole.profile);
	assert_weights(little.profile);
	saved_pair_deinit(&whole);
	saved_pair_deinit(&little);
	free(bytes);
}

/* Count the entries of the table of hot cache lines. */
static u64 count_lines(const struct saved_pair *pair)
{
	const struct topk_table *table = &profile_get_hot_lines(pair->profile)->table;
	struct topk_entry *e = NULL;
	u64 count = 0;

	while ((e = topk_next(table, e)))
		count++;
	return count;
}

/* The machine's size of a cache line wins, and saved lines of another size are dropped. */
static void test_restore_other_line_size(void **state __attribute__((unused)))
{
	static const u32 sizes[] = { 64, 128, 256 };
	u8 *bytes = malloc(ROOM);
	struct saved_pair whole;
	size_t len;

	assert_non_null(bytes);
	saved_pair_init(&whole, false);
	add_processes(&whole);
	add_windows(&whole, 6000);
	save_profile(&whole, bytes, &len);
	assert_true(count_lines(&whole) > 0);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const struct hot_lines *lines;
		struct saved_pair pair;
		u64 want = sizes[i] == 64 ? count_lines(&whole) : 0;

		test_row("%u bytes", sizes[i]);
		saved_pair_init_lines(&pair, false, sizes[i]);
		assert_int_equal(load_profile(&pair, bytes, len), 0);
		lines = profile_get_hot_lines(pair.profile);
		assert_row(hot_lines_get_size(lines) == sizes[i]);
		assert_row(count_lines(&pair) == want);
		assert_row(lines->table.evicted + want == count_lines(&whole));
		saved_pair_deinit(&pair);
	}
	saved_pair_deinit(&whole);
	free(bytes);
}

/* Print the hot cache lines and pages, and the view of each period, as the D-Bus methods do. */
static void print_all_views(struct saved_pair *pair)
{
	struct view view;
	char *text;

	assert_int_equal(profile_hot_memory_json(pair->profile, NULL, false, 1000, &text), 0);
	free(text);
	for (unsigned int span = VIEW_SPAN_10S; span < VIEW_SPANS; span++) {
		assert_int_equal(profile_create_span_view(pair->profile, NULL, false, span,
							  VIEW_FUNCTION, VIEW_SORT_LATENCY, 0,
							  clock_ns, &view),
				 0);
		view_clear(&view);
	}
}

/* A checkpoint with any changed bytes is either loaded or refused. */
static void test_hostile_checkpoint(void **state __attribute__((unused)))
{
	u8 *bytes = malloc(ROOM), *changed = malloc(ROOM);
	u32 refused = 0, rounds = 400;
	struct saved_pair whole, pair;
	size_t len, cut;

	assert_true(bytes && changed);
	saved_pair_init(&whole, false);
	add_processes(&whole);
	add_windows(&whole, 6000);
	save_profile(&whole, bytes, &len);
	for (u32 i = 0; i < rounds; i++) {
		memcpy(changed, bytes, len);
		cut = draw_below(4) ? len : draw_below(len);
		for (u64 n = draw_below(4); n; n--)
			changed[draw_below(len)] = (u8)draw_below(256);
		/* Use small tables, because allocating large ones takes long. */
		saved_pair_init(&pair, i % 8 != 0);
		refused += load_profile(&pair, changed, cut) < 0;
		/* Printing the views reads everything that was restored. */
		u64 records, evicted;

		sum_view_rows(pair.profile, &records, &evicted);
		print_all_views(&pair);
		saved_pair_deinit(&pair);
	}
	print_message("%u of %u refused\n", refused, rounds);
	assert_true(refused > rounds / 5);
	saved_pair_deinit(&whole);
	free(bytes);
	free(changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_serialized_integers),
		cmocka_unit_test(test_damaged_integers_are_refused),
		cmocka_unit_test(test_last_complete_slot_is_read),
		cmocka_unit_test(test_torn_commit),
		cmocka_unit_test(test_export_and_import),
		cmocka_unit_test(test_foreign_checkpoint),
		cmocka_unit_test(test_restored_profile_is_same),
		cmocka_unit_test(test_restore_into_smaller_tables),
		cmocka_unit_test(test_restore_other_line_size),
		cmocka_unit_test(test_hostile_checkpoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
