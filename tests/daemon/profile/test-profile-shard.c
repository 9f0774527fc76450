// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compare a profile that is counted in shards with one that counts all samples itself: all counters
 * are equal. With several threads at once each sample is counted once. The build with
 * -fsanitize=thread (shards-threads) also detects data races.
 */
#include "test.h"

#include "profile/profile-internal.h"
#include "profile/profile-shard.h"
#include "tasks/task-event.h"

#include <pthread.h>
#include <stdlib.h>

#define NS	1000000000ULL
#define TASKS	12
#define PROGRAMS 4
#define SHARDS	3
#define CPUS	5
#define WINDOWS 600
#define ROUND	7 /* number of windows between two merges */
#define RECORDS 24
#define CODE	0x400000

struct fixture {
	struct attributor *attributor;
	struct profile *whole; /* counts all samples itself */
	struct profile *merged; /* the merged profile, and the shards that are merged into it */
	struct profile *shard[SHARDS + 1];
	u64 random;
};

static u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static u64 draw_below(struct fixture *f, u64 n)
{
	return next_random(&f->random) >> 11 % 64 ? next_random(&f->random) % n : 0;
}

static void report_event(struct attributor *a, u8 type, s32 pid, const char *name)
{
	attributor_apply_event(
		a, &(struct task_event){ .type = type, .pid = pid, .tid = pid, .name = name });
}

/* Report a process that executes program @program. */
static void report_program(struct attributor *a, s32 pid, s32 program)
{
	char path[32];

	report_event(a, TASK_COMM, pid, "task");
	snprintf(path, sizeof(path), "/usr/bin/program%d", program);
	attributor_apply_event(a, &(struct task_event){ .type = TASK_MMAP,
							.pid = pid,
							.tid = pid,
							.start = CODE,
							.size = 0x10000,
							.name = path });
}

static int setup(void **state)
{
	const struct attributor_config attribution = { 0 };
	struct profile_config config = { .cell_bytes = 4 << 20, .history = true };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->random = 0x9e3779b97f4a7c15ULL;
	assert_int_equal(attributor_new(&attribution, &f->attributor), 0);
	for (s32 i = 0; i < TASKS; i++)
		report_program(f->attributor, i + 10, i % PROGRAMS);
	assert_int_equal(profile_new(&config, f->attributor, &f->whole), 0);
	assert_int_equal(profile_new(&config, f->attributor, &f->merged), 0);
	/* The seed decides which lines share a tag, so it must be the same in both profiles. */
	f->merged->shared_data->lines.table.seed = f->whole->shared_data->lines.table.seed;
	f->merged->shared_data->pages.table.seed = f->whole->shared_data->pages.table.seed;
	config = (struct profile_config){ .whole = f->merged, .cell_bytes = 4 << 20 };
	for (u32 i = 0; i <= SHARDS; i++)
		assert_int_equal(profile_new(&config, f->attributor, &f->shard[i]), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (u32 i = 0; i <= SHARDS; i++)
		profile_free(f->shard[i]);
	profile_free(f->merged);
	profile_free(f->whole);
	attributor_free(f->attributor);
	free(f);
	return 0;
}

/*
 * Make a random sample of a few locations, so that counters overflow, with latencies of all sizes
 * or none.
 */
static struct spe_sample make_random_sample(struct fixture *f)
{
	u64 pc = CODE + 4 * draw_below(f, draw_below(f, 4) ? 16 : 700);
	struct spe_sample s = {
		.present = SPE_HAS_ADDRESS(SPE_ADDRESS_PC) | SPE_HAS_EVENTS | SPE_HAS_OP,
		.address = { [SPE_ADDRESS_PC] = pc },
		.op_class = (u8)draw_below(f, 3),
		.events = 2 | (draw_below(f, 4) << 5),
		.events_size = 2,
	};

	if (s.op_class == SPE_OP_LOAD_STORE) {
		s.op_subclass = (u8)draw_below(f, 2);
		s.present |= SPE_HAS_ADDRESS(SPE_ADDRESS_VA) | SPE_HAS_ADDRESS(SPE_ADDRESS_PA);
		s.address[SPE_ADDRESS_VA] = 0x7000000 + 8 * draw_below(f, 256);
		s.address[SPE_ADDRESS_PA] = 0x100000 + 8 * draw_below(f, 4096);
		s.events |= draw_below(f, 2) << 3;
	}
	if (draw_below(f, 8))
		s.present |= SPE_HAS_COUNTER(SPE_COUNTER_TOTAL);
	if (draw_below(f, 2))
		s.present |= SPE_HAS_COUNTER(SPE_COUNTER_ISSUE);
	if (draw_below(f, 3))
		s.present |= SPE_HAS_COUNTER(SPE_COUNTER_TRANSLATION);
	for (unsigned int i = 0; i < 3; i++)
		s.counter[i] = (u16)(draw_below(f, 4096) >> draw_below(f, 12));
	if (draw_below(f, 10)) {
		s.present |= SPE_HAS_CONTEXT(SPE_CONTEXT_EL1);
		/*
		 * Draw from one task more than there are: the last one stands for an unknown task.
		 */
		s.context[SPE_CONTEXT_EL1] = (u32)draw_below(f, TASKS + 1) + 10;
	}
	return s;
}

static size_t fill_window(struct fixture *f, u8 *records, size_t size)
{
	size_t len = 0;

	for (u32 i = 0; i < RECORDS; i++) {
		struct spe_sample s = make_random_sample(f);
		int n = spe_record_encode(&s, records + len, size - len);

		assert_true(n > 0);
		len += (size_t)n;
	}
	return len;
}

static void merge_shard(struct fixture *f, u32 shard)
{
	struct profile *full = f->shard[shard];

	f->shard[shard] = f->shard[SHARDS];
	profile_merge_shard(f->merged, full, NULL);
	f->shard[SHARDS] = full;
}

static void assert_counters(const struct profile_counters *a, const struct profile_counters *b)
{
	assert_row(a->samples == b->samples);
	assert_row(!memcmp(a->weight, b->weight, sizeof(a->weight)));
	assert_row(!memcmp(&a->counts, &b->counts, sizeof(a->counts)));
	for (unsigned int i = 0; i < PROFILE_LATENCIES; i++) {
		const struct histogram *x = &a->latency[i], *y = &b->latency[i];

		/* Compare all buckets except the one for absent values. */
		assert_row(x->count == y->count && x->sum == y->sum && x->max == y->max);
		assert_row(!memcmp(x->bucket, y->bucket, HISTOGRAM_BUCKETS * sizeof(u64)));
	}
}

static void assert_cells(struct fixture *f)
{
	const struct cell_table *whole = f->whole->cells.table, *merged = f->merged->cells.table;
	struct cell_cursor cursor = { 0 };
	struct cell_row row, other;
	u32 count = 0;

	while (cell_table_next(whole, &cursor, &row)) {
		u64 owner = cell_owner_make(row.program, row.binary);
		struct profile_counters a = { 0 }, b = { 0 };

		test_row("offset 0x%llx of program %u", (unsigned long long)row.offset,
			 row.program);
		assert_row(!row.evicted && cell_table_find(merged, owner, row.offset, &other));
		cell_row_add_counters(whole, &row, &a);
		cell_row_add_counters(merged, &other, &b);
		assert_counters(&a, &b);
		count++;
	}
	assert_true(count > 500);
	for (cursor = (struct cell_cursor){ 0 }; cell_table_next(merged, &cursor, &other);)
		count--;
	assert_int_equal(count, 0);
}

static void assert_processes(struct fixture *f)
{
	struct profile_counters a, b;
	u32 there = 0;

	for (u32 i = 0; i < profile_get_process_bound(f->whole); i++) {
		test_row("process %u", i);
		assert_row(profile_sum_process_counters(f->whole, i, &a) ==
			   profile_sum_process_counters(f->merged, i, &b));
		if (!profile_sum_process_counters(f->whole, i, &a))
			continue;
		assert_counters(&a, &b);
		there++;
	}
	assert_int_equal(there, TASKS);
	test_row("nobody");
	assert_counters(profile_get_unattributed_counters(f->whole),
			profile_get_unattributed_counters(f->merged));
	test_row("machine");
	assert_counters(profile_get_machine_counters(f->whole),
			profile_get_machine_counters(f->merged));
	test_row("container");
	assert_counters(profile_get_container_counters(f->whole, 0),
			profile_get_container_counters(f->merged, 0));
}

static void assert_machine(struct fixture *f)
{
	const struct view_header *a = profile_get_header(f->whole),
				 *b = profile_get_header(f->merged);

	assert_int_equal(a->records, b->records);
	assert_int_equal(a->records, WINDOWS * RECORDS);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->decoded + a->padding + a->suspect,
			 b->decoded + b->padding + b->suspect);
	assert_int_equal(a->enabled_ns, b->enabled_ns);
	assert_int_equal(a->blind_ns, b->blind_ns);
	assert_true(a->unhandled_ns > 0);
	assert_int_equal(a->unhandled_ns, b->unhandled_ns);
	assert_int_equal(a->unattributed, b->unattributed);
	assert_int_equal(a->written, b->written);
	assert_int_equal(view_get_share_unit(a), UNIT_INSTRUCTIONS);
	assert_int_equal(a->weight[UNIT_INSTRUCTIONS], b->weight[UNIT_INSTRUCTIONS]);
	assert_int_equal(a->unattributed_weight, b->unattributed_weight);
	assert_int_equal(a->evicted_weight, 0);
	assert_int_equal(b->evicted_weight, 0);
	assert_int_equal(b->unweighed, 0);
	assert_int_equal(a->evicted, 0);
	assert_int_equal(b->evicted, 0);
	assert_memory_equal(f->whole->kinds, f->merged->kinds, sizeof(f->whole->kinds));
	assert_memory_equal(f->whole->events, f->merged->events, sizeof(f->whole->events));
	assert_true(f->whole->false_sharing > 0);
	assert_int_equal(f->whole->false_sharing, f->merged->false_sharing);
	assert_memory_equal(f->whole->levels, f->merged->levels, sizeof(f->whole->levels));
}

static void assert_same_hot_table(const struct topk_table *a, const struct topk_table *b)
{
	struct topk_entry *e = NULL, *other;
	u32 count = 0;

	while ((e = topk_next(a, e))) {
		other = topk_find(b, e->key[0], e->key[1]);
		test_row("0x%llx", (unsigned long long)e->key[0]);
		assert_row(other && !memcmp(e, other, a->size));
		count++;
	}
	assert_true(count > 3);
	for (e = NULL; (e = topk_next(b, e));)
		count--;
	assert_int_equal(count, 0);
}

static void assert_spans(struct fixture *f, u64 now)
{
	for (unsigned int span = VIEW_SPAN_START + 1; span < VIEW_SPANS; span++) {
		const struct history_slot *a = profile_get_history_sum(f->whole, span, now);
		const struct history_slot *b = profile_get_history_sum(f->merged, span, now);

		test_row("%s", view_span_name(span));
		assert_row(a->ns == b->ns && a->ns);
		assert_row(a->processes == b->processes && a->locations == b->locations);
		assert_row(!memcmp(&a->machine, &b->machine, sizeof(a->machine)));
		assert_row(!memcmp(&a->container[0].counters, &b->container[0].counters,
				   sizeof(a->container[0].counters)));
		for (u32 i = 0; i < a->processes; i++) {
			u32 k = 0;

			while (k < b->processes && b->process[k].owner != a->process[i].owner)
				k++;
			assert_row(k < b->processes);
			assert_row(!memcmp(&a->process[i], &b->process[k], sizeof(a->process[i])));
		}
	}
}

static void count_window_in_both(struct fixture *f, u32 n, u8 *records, size_t size)
{
	u32 cpu = (u32)draw_below(f, CPUS);
	const struct source_window window = {
		.data = records,
		.len = fill_window(f, records, size),
		.tid = -1,
		.cpu = cpu,
		.start_ns = n * NS / 20 + 1,
		.end_ns = (n + 1) * NS / 20,
		.blind_ns = draw_below(f, 1000),
		.written = RECORDS,
		.interval = 1000 * (1 + cpu),
		.unit = UNIT_INSTRUCTIONS,
		.interrupted = n % 2,
	};

	/*
	 * Finalize a slot of the history that has ended before later samples are counted, as the
	 * worker does.
	 */
	for (u32 i = 0;
	     i < SHARDS && history_slot_has_ended(&f->merged->history, window.end_ns - 1); i++)
		merge_shard(f, i);
	profile_advance_history(f->merged, window.end_ns - 1);
	profile_add_window(f->whole, &window);
	profile_add_window(f->shard[cpu % SHARDS], &window);
	if (n % ROUND == 0)
		merge_shard(f, n / ROUND % SHARDS);
	if (!n)
		merge_shard(f, cpu % SHARDS);
}

static void count_all_windows(struct fixture *f)
{
	static u8 records[RECORDS * 128];

	for (u32 n = 0; n < WINDOWS; n++)
		count_window_in_both(f, n, records, sizeof(records));
	for (u32 i = 0; i < SHARDS; i++)
		merge_shard(f, i);
	profile_flush(f->whole);
	profile_flush(f->merged);
	assert_machine(f);
	assert_processes(f);
	assert_cells(f);
	assert_spans(f, WINDOWS * NS / 20);
}

static void test_shards_equal_whole(void **state)
{
	count_all_windows(*state);
}

/* Return the weight of all cells and of the evicted samples. */
static u64 sum_all_weights(struct profile *p, u64 *ret_samples, u64 *ret_evicted)
{
	struct cell_cursor cursor = { 0 };
	struct cell_row row;
	u64 weight = 0;

	*ret_samples = *ret_evicted = 0;
	profile_flush(p);
	while (cell_table_next(p->cells.table, &cursor, &row)) {
		u64 samples = cell_row_count_samples(p->cells.table, &row);

		*(row.evicted ? ret_evicted : ret_samples) += samples;
		weight += cell_row_sum_weight(p->cells.table, &row);
	}
	return weight;
}

/*
 * If there are more locations than cells, in the shards and in the whole profile, each sample is in
 * one cell or was evicted, exactly once.
 */
static void test_too_many_locations(void **state)
{
	struct profile_config config = { .cell_bytes = CELL_BYTES_MIN };
	struct fixture *f = *state;
	static u8 records[RECORDS * 128];
	struct profile *whole, *shard;
	u64 samples, evicted, weight;

	assert_int_equal(profile_new(&config, f->attributor, &whole), 0);
	config.whole = whole;
	config.cell_bytes = 2 * CELL_BYTES_MIN;
	assert_int_equal(profile_new(&config, f->attributor, &shard), 0);
	for (u32 n = 0; n < WINDOWS; n++) {
		profile_add_window(shard, &(struct source_window){
						  .data = records,
						  .len = fill_window(f, records, sizeof(records)),
						  .tid = -1,
						  .interval = 1000 * (1 + n % CPUS),
						  .unit = UNIT_INSTRUCTIONS,
					  });
		if (n % (8 * ROUND) == 0 || n == WINDOWS - 1)
			profile_merge_shard(whole, shard, NULL);
	}
	weight = sum_all_weights(whole, &samples, &evicted);
	assert_true(evicted > WINDOWS && samples > WINDOWS);
	assert_int_equal(evicted, whole->header.evicted);
	assert_int_equal(samples + evicted, WINDOWS * RECORDS);
	assert_int_equal(weight, whole->header.weight[UNIT_INSTRUCTIONS]);
	assert_int_equal(whole->machine.samples, WINDOWS * RECORDS);
	profile_free(shard);
	profile_free(whole);
}

/* Samples without an interval have no weight, whatever the interval of later samples is. */
static void test_samples_without_interval(void **state)
{
	static const u32 intervals[] = { 0, 0, 1000, 0, 3000 };
	struct fixture *f = *state;
	static u8 records[RECORDS * 128];
	u64 samples, evicted;

	for (u32 i = 0; i < ARRAY_SIZE(intervals); i++) {
		const struct source_window window = {
			.data = records,
			.len = fill_window(f, records, sizeof(records)),
			.tid = -1,
			.interval = intervals[i],
			.unit = UNIT_INSTRUCTIONS,
		};

		profile_add_window(f->whole, &window);
		profile_add_window(f->shard[i % SHARDS], &window);
		merge_shard(f, i % SHARDS);
	}
	assert_int_equal(sum_all_weights(f->whole, &samples, &evicted), 4000 * RECORDS);
	assert_int_equal(sum_all_weights(f->merged, &samples, &evicted), 4000 * RECORDS);
	assert_int_equal(f->merged->header.weight[UNIT_INSTRUCTIONS], 4000 * RECORDS);
	assert_int_equal(f->merged->header.unweighed, 3 * RECORDS);
}

static void count_observed_sample(void *ctx, const struct profile_sample *sample)
{
	*(u64 *)ctx += sample->sample != NULL;
}

/*
 * The order of the records decides which CPU accessed a line before, even if each shard learns
 * layouts by itself.
 */
static void test_records_stay_in_order(void **state)
{
	u64 seen[2] = { 0 };
	struct profile_observer observers[2] = {
		{ .sample = count_observed_sample, .ctx = &seen[0] },
		{ .sample = count_observed_sample, .ctx = &seen[1] }
	};
	struct fixture *f = *state;

	profile_add_observer(f->whole, &observers[0]);
	profile_add_observer(f->merged, &observers[1]);
	count_all_windows(f);
	assert_same_hot_table(&profile_get_hot_lines(f->whole)->table,
			      &profile_get_hot_lines(f->merged)->table);
	assert_same_hot_table(&profile_get_hot_pages(f->whole)->table,
			      &profile_get_hot_pages(f->merged)->table);
	assert_int_equal(seen[0], WINDOWS * RECORDS);
	assert_int_equal(seen[1], WINDOWS * RECORDS);
	profile_remove_observer(&observers[0]);
	profile_remove_observer(&observers[1]);
}

/* If the entry of a process was reused, its samples stay with its container. */
static void test_reused_entry_keeps_container(void **state)
{
	struct fixture *f = *state;
	struct profile_counters five = { .samples = 5 }, three = { .samples = 3 };
	struct process_tally now = { .generation = 7, .sum = &five };
	struct process_tally before = { .generation = 6, .sum = &three };

	profile_merge_process(f->merged, 1, &now);
	profile_merge_process(f->merged, 1, &before);
	profile_merge_process(f->merged, 1, &now);
	profile_flush(f->merged);
	assert_true(profile_get_process_bound(f->merged) > 1);
	assert_int_equal(f->merged->processes[1].sum->samples, 10);
	assert_int_equal(profile_get_machine_counters(f->merged)->samples, 13);
	now.generation = 8;
	profile_merge_process(f->merged, 1, &now);
	profile_flush(f->merged);
	assert_int_equal(f->merged->processes[1].sum->samples, 5);
	assert_int_equal(profile_get_machine_counters(f->merged)->samples, 18);
}

/* ---- Several threads ------------------------------------------------------------- */

struct sharing_threads {
	struct fixture *f;
	struct attribute_lock *share;
	pthread_mutex_t lock[SHARDS];
	u8 *records;
	size_t len;
	u32 left; /* number of threads that still add samples */
};

struct counting_thread {
	struct sharing_threads *crowd;
	u32 number;
};

#define ROUNDS 200

static void *counting_thread_run(void *arg)
{
	const struct counting_thread *me = arg;
	struct sharing_threads *c = me->crowd;
	struct attribute_reader *reader = attribute_lock_get_reader(c->share, me->number);

	for (u32 n = 0; n < ROUNDS; n++) {
		const struct source_window window = { .data = c->records,
						      .len = c->len,
						      .tid = -1,
						      .cpu = me->number,
						      .start_ns = n + 1,
						      .end_ns = n + 2 };

		pthread_mutex_lock(&c->lock[me->number]);
		attribute_read_begin(reader);
		profile_add_window(c->f->shard[me->number], &window);
		attribute_read_end(reader);
		pthread_mutex_unlock(&c->lock[me->number]);
	}
	__atomic_sub_fetch(&c->left, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void sharing_threads_merge(struct sharing_threads *c, u32 shard)
{
	struct attribute_reader *reader = attribute_lock_get_reader(c->share, SHARDS);
	struct fixture *f = c->f;
	struct profile *full;

	pthread_mutex_lock(&c->lock[shard]);
	full = f->shard[shard];
	profile_set_reader(f->shard[SHARDS], attribute_lock_get_reader(c->share, shard));
	f->shard[shard] = f->shard[SHARDS];
	pthread_mutex_unlock(&c->lock[shard]);
	attribute_read_begin(reader);
	profile_merge_shard(f->merged, full, reader);
	attribute_read_end(reader);
	f->shard[SHARDS] = full;
}

/* Start and end tasks meanwhile, on the thread that applies events. */
static void change_tasks(struct sharing_threads *c, u32 n)
{
	struct attribute_reader *reader = attribute_lock_get_reader(c->share, SHARDS);
	struct attributor *a = c->f->attributor;

	attribute_read_begin(reader);
	attribute_lock_upgrade(reader);
	report_event(a, TASK_FORK, (s32)(1000 + n), NULL);
	report_event(a, TASK_COMM, (s32)(10 + n % TASKS), n % 2 ? "one" : "other");
	attribute_lock_downgrade(reader);
	profile_flush(c->f->merged);
	attribute_read_end(reader);
}

static void test_crowd(void **state)
{
	static u8 records[RECORDS * 128];
	struct fixture *f = *state;
	struct sharing_threads c = { .f = f, .records = records, .left = SHARDS };
	struct counting_thread feeder[SHARDS];
	pthread_t thread[SHARDS];
	u32 n = 0;

	c.len = fill_window(f, records, sizeof(records));
	assert_int_equal(attribute_lock_new(SHARDS + 1, &c.share), 0);
	for (u32 i = 0; i < SHARDS; i++) {
		pthread_mutex_init(&c.lock[i], NULL);
		profile_set_reader(f->shard[i], attribute_lock_get_reader(c.share, i));
	}
	for (u32 i = 0; i < SHARDS; i++) {
		feeder[i] = (struct counting_thread){ &c, i };
		assert_int_equal(pthread_create(&thread[i], NULL, counting_thread_run, &feeder[i]),
				 0);
	}
	for (; __atomic_load_n(&c.left, __ATOMIC_ACQUIRE); n++) {
		sharing_threads_merge(&c, n % SHARDS);
		change_tasks(&c, n);
	}
	for (u32 i = 0; i < SHARDS; i++)
		pthread_join(thread[i], NULL);
	for (u32 i = 0; i < SHARDS; i++)
		sharing_threads_merge(&c, i);
	profile_flush(f->merged);
	assert_int_equal(profile_get_header(f->merged)->records, SHARDS * ROUNDS * RECORDS);
	assert_int_equal(profile_get_machine_counters(f->merged)->samples,
			 SHARDS * ROUNDS * RECORDS);
	assert_true(attribute_lock_get_longest_write_ns(c.share) > 0);
	attribute_lock_free(c.share);
}

/* usage: test-profile-shard [TEST] */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_shards_equal_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_many_locations, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples_without_interval, setup, teardown),
		cmocka_unit_test_setup_teardown(test_records_stay_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reused_entry_keeps_container, setup, teardown),
		cmocka_unit_test_setup_teardown(test_crowd, setup, teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
