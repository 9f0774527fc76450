// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the exporter keeps over a restart: no series grows by what it did not, none goes back. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "checkpoint.h"
#include "data-source.h"
#include "fold-keep.h"
#include "histogram.h"
#include "series.h"
#include "source.h"
#include "state.h"

#define SECOND 1000000000ULL
#define BEGAN  (1000 * SECOND)
#define ROOM   (1U << 20)

/* Room for one container beside "other". */
#define ONE (2 * fold_series(0x7, 7))

static struct labels labels;
static u64 now_ns;

static int setup(void **state)
{
	(void)state;
	labels_default(&labels);
	now_ns = BEGAN;
	return 0;
}

static void tally_add(struct metrics_tally *t, u64 samples)
{
	t->samples += samples;
	t->weight[1] += 1000 * samples;
	t->memory += samples;
	t->level[SPE_LEVEL_L1] += samples / 2;
	t->level[SPE_LEVEL_DRAM] += samples - samples / 2;
	for (unsigned int i = 0; i < METRICS_LATENCIES; i++)
		t->latency[i].bucket[histogram_bucket(100)] += samples;
}

/* Ten seconds later: containers "c0" and "c1", of an epoch that is 100 s older than BEGAN. */
static void update(struct fold *fold, u64 epoch, u64 c0, u64 c1, u32 series)
{
	const u64 samples[] = { c0, c1 };
	struct metrics m = { .count = 2 };

	now_ns += 10 * SECOND;
	m.machine.epoch = m.machine.process = epoch;
	m.machine.backend = BACKEND_HARDWARE;
	m.machine.age_ns = now_ns - BEGAN + 100 * SECOND;
	m.containers = calloc(m.count, sizeof(*m.containers));
	assert_non_null(m.containers);
	for (u32 i = 0; i < m.count; i++) {
		m.containers[i].id = i + 1;
		snprintf(m.containers[i].name, sizeof(m.containers[i].name), "c%u", i);
		tally_add(&m.containers[i].tally, samples[i]);
		tally_add(&m.machine.all, samples[i]);
		m.machine.records += samples[i];
		m.machine.threads_evicted += samples[i];
	}
	assert_return_code(fold_update(fold, &m, series, now_ns), 0);
}

static const struct fold_group *shown(const struct fold *fold, const char *name)
{
	for (u32 i = 0; i < fold->shown; i++)
		if (!strcmp(fold->groups[i].set.value[0], name))
			return &fold->groups[i];
	return NULL;
}

static u64 samples_of(const struct fold *fold, const char *name)
{
	const struct fold_group *group = shown(fold, name);

	return group ? group->sum->samples : UINT64_MAX;
}

static size_t save(const struct fold *fold, bool emulated, u8 *bytes)
{
	struct blob_writer to = { .at = bytes, .room = ROOM };

	fold_save(fold, emulated, &to);
	assert_false(to.full);
	return to.len;
}

/* As another process does it. */
static void restart(struct fold *fold)
{
	u8 *bytes = malloc(ROOM);
	struct blob_reader from = { .at = bytes };

	assert_non_null(bytes);
	from.len = save(fold, false, bytes);
	fold_deinit(fold);
	fold_init(fold, &labels, 7);
	assert_return_code(fold_restore(fold, false, &from), 0);
	assert_int_equal(from.pos, from.len);
	free(bytes);
}

/* A container that came up late has its past in "other": a restart leaves it there. */
static void test_restart(void **state)
{
	struct fold fold;

	(void)state;
	fold_init(&fold, &labels, 7);
	update(&fold, 1, 1000, 100, ONE);
	assert_int_equal(fold.shown, 1);
	assert_int_equal(samples_of(&fold, "c0"), 1000);
	update(&fold, 1, 1000, 5000, ONE);
	assert_int_equal(samples_of(&fold, "c1"), 4900);
	assert_int_equal(fold.other.samples, 100);
	restart(&fold);
	assert_int_equal(samples_of(&fold, "c1"), 4900);
	update(&fold, 1, 1003, 5004, ONE);
	assert_int_equal(samples_of(&fold, "c1"), 4904);
	assert_int_equal(fold.other.samples, 103);
	assert_int_equal(fold.machine.records, 6007);
	assert_int_equal(fold.machine.threads_evicted, 6007);
	/* Another daemon meanwhile, or another boot: all that it counted is added. */
	restart(&fold);
	update(&fold, 2, 1, 2, ONE);
	assert_int_equal(samples_of(&fold, "c1"), 4906);
	assert_int_equal(fold.other.samples, 104);
	assert_int_equal(fold.machine.records, 6010);
	/* The daemon was killed meanwhile, and went on from an earlier state. */
	update(&fold, 2, 10, 20, ONE);
	restart(&fold);
	update(&fold, 2, 5, 15, ONE);
	assert_int_equal(fold.machine.records, 6037);
	update(&fold, 2, 11, 22, ONE);
	assert_int_equal(fold.machine.records, 6040);
	fold_deinit(&fold);
}

/* Down and up again, with restarts in between: each time a start of its own, and from 0. */
static void test_starts(void **state)
{
	struct fold fold;
	u64 before;

	(void)state;
	fold_init(&fold, &labels, 7);
	update(&fold, 1, 1000, 100, ONE);
	assert_int_equal(fold.start_ns, BEGAN - 100 * SECOND);
	assert_int_equal(shown(&fold, "c0")->start_ns, fold.start_ns);
	restart(&fold);
	before = now_ns;
	update(&fold, 1, 1001, 5000, ONE);
	assert_null(shown(&fold, "c0"));
	assert_int_equal(shown(&fold, "c1")->start_ns, before);
	before = now_ns;
	restart(&fold);
	update(&fold, 1, 30000, 5000, ONE);
	assert_int_equal(samples_of(&fold, "c0"), 28999);
	assert_int_equal(shown(&fold, "c0")->start_ns, before);
	restart(&fold);
	update(&fold, 1, 30001, 5000, ONE);
	assert_int_equal(shown(&fold, "c0")->start_ns, before);
	assert_int_equal(fold.start_ns, BEGAN - 100 * SECOND);
	fold_deinit(&fold);
}

/* Who is not to be shown any more is not, and nothing is counted twice for it. */
static void test_labels(void **state)
{
	u8 *bytes = malloc(ROOM);
	struct blob_reader from = { .at = bytes };
	struct fold fold;
	u64 other;

	(void)state;
	assert_non_null(bytes);
	fold_init(&fold, &labels, 7);
	update(&fold, 1, 1000, 100, 1000);
	assert_int_equal(fold.shown, 2);
	other = fold.other.samples;
	from.len = save(&fold, false, bytes);
	fold_deinit(&fold);
	assert_return_code(labels_pattern(&labels, false, "c0"), 0);
	fold_init(&fold, &labels, 7);
	assert_return_code(fold_restore(&fold, false, &from), 0);
	assert_int_equal(fold.shown, 0);
	update(&fold, 1, 1010, 120, 1000);
	assert_int_equal(fold.other.samples, other + 10);
	assert_null(shown(&fold, "c0"));
	assert_int_equal(samples_of(&fold, "c1"), 20);
	fold_deinit(&fold);
	free(bytes);
}

/* What may be an emulated SPU's goes on only where that is exported. */
static void test_emulated(void **state)
{
	struct fold fold, next;
	u8 *bytes = malloc(ROOM);
	struct blob_reader from = { .at = bytes };

	(void)state;
	assert_non_null(bytes);
	fold_init(&fold, &labels, 7);
	from.len = save(&fold, false, bytes);
	fold_init(&next, &labels, 7);
	assert_int_equal(fold_restore(&next, true, &from), -ENODATA);
	update(&fold, 1, 10, 20, 1000);
	from = (struct blob_reader){ .at = bytes, .len = save(&fold, true, bytes) };
	assert_int_equal(fold_restore(&next, false, &from), -ENODATA);
	assert_false(next.any);
	from.pos = 0;
	assert_return_code(fold_restore(&next, true, &from), 0);
	assert_true(next.any);
	fold_deinit(&next);
	fold_deinit(&fold);
	free(bytes);
}

/* Cut anywhere it is refused; changed anywhere it is refused or can be lived with. */
static void test_corrupt(void **state)
{
	struct series_self self = { .feed_up = true, .exportable = true };
	u8 *bytes = malloc(ROOM), *copy = malloc(ROOM);
	struct series_set set = { 0 };
	unsigned int refused = 0, seed = 1;
	struct fold fold, next;
	struct blob_reader from;
	size_t size;

	(void)state;
	assert_non_null(bytes);
	assert_non_null(copy);
	fold_init(&fold, &labels, 7);
	update(&fold, 1, 1000, 100, ONE);
	update(&fold, 1, 1000, 5000, ONE);
	size = save(&fold, false, bytes);
	fold_deinit(&fold);
	fold_init(&next, &labels, 7);
	for (size_t n = 0; n < size; n++) {
		from = (struct blob_reader){ .at = bytes, .len = n };
		assert_int_equal(fold_restore(&next, false, &from), -EBADMSG);
		assert_false(next.any || next.groups || next.latest.containers);
	}
	for (unsigned int round = 0; round < 20000; round++) {
		memcpy(copy, bytes, size);
		for (int i = rand_r(&seed) % 3; i >= 0; i--)
			copy[(size_t)rand_r(&seed) % size] = (u8)rand_r(&seed);
		from = (struct blob_reader){ .at = copy, .len = size };
		if (fold_restore(&next, false, &from) < 0) {
			refused++;
			assert_false(next.any || next.groups || next.latest.containers);
			continue;
		}
		now_ns = BEGAN;
		update(&next, 1, 1000, 5001, ONE);
		assert_return_code(series_build(&set, &next, &self), 0);
		fold_deinit(&next);
		fold_init(&next, &labels, 7);
	}
	assert_in_range(refused, 1000, 19999);
	series_deinit(&set);
	free(bytes);
	free(copy);
}

/* Two of the same labels would be two series of one name: no scraper takes any of it then. */
static void test_twins(void **state)
{
	u8 *bytes = malloc(ROOM);
	struct blob_reader from = { .at = bytes };
	struct fold fold, next;

	(void)state;
	assert_non_null(bytes);
	fold_init(&fold, &labels, 7);
	fold_init(&next, &labels, 7);
	update(&fold, 1, 1000, 100, 1000);
	fold.groups[1].set = fold.groups[0].set;
	from.len = save(&fold, false, bytes);
	assert_int_equal(fold_restore(&next, false, &from), -EBADMSG);
	labels_other(&labels, &fold.groups[1].set);
	from = (struct blob_reader){ .at = bytes, .len = save(&fold, false, bytes) };
	assert_int_equal(fold_restore(&next, false, &from), -EBADMSG);
	memset(fold.groups[1].set.value[0], 0, LABEL_SIZE);
	strcpy(fold.groups[1].set.value[0], "a\nb");
	from = (struct blob_reader){ .at = bytes, .len = save(&fold, false, bytes) };
	assert_int_equal(fold_restore(&next, false, &from), -EBADMSG);
	fold_deinit(&fold);
	free(bytes);
}

/* What users run under one unit's name is one series, and stays one over a restart. */
static void test_units(void **state)
{
	static const char *const paths[] = {
		"/user.slice/user-100.slice/user@100.service/app.slice/db.service",
		"/user.slice/user-1000.slice/user@1000.service/app.slice/db.service",
	};
	struct metrics m = { .count = 2 };
	const char *right;
	struct fold fold;

	(void)state;
	labels = (struct labels){ 0 };
	assert_return_code(labels_add(&labels, "unit", "unit", &right), 0);
	assert_return_code(labels_add(&labels, "slice", "slice", &right), 0);
	m.machine.epoch = 1;
	m.containers = calloc(m.count, sizeof(*m.containers));
	assert_non_null(m.containers);
	for (u32 i = 0; i < m.count; i++) {
		m.containers[i].id = i + 1;
		strcpy(m.containers[i].path, paths[i]);
		tally_add(&m.containers[i].tally, 10 + 10 * i);
		tally_add(&m.machine.all, 10 + 10 * i);
	}
	fold_init(&fold, &labels, 7);
	assert_return_code(fold_update(&fold, &m, 1000, BEGAN), 0);
	assert_int_equal(fold.shown, 1);
	assert_int_equal(samples_of(&fold, "db.service"), 30);
	assert_string_equal(fold.groups[0].set.value[1], "app.slice");
	restart(&fold);
	assert_int_equal(samples_of(&fold, "db.service"), 30);
	fold_deinit(&fold);
}

/* Of the memfd: damaged, it is said; too large, nothing is kept rather than what is behind. */
static void test_store(void **unused)
{
	const char *why = NULL;
	struct checkpoint *c;
	struct state *state;
	struct fold fold, next;
	int fd;

	(void)unused;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(state_new(-1, &state, &why), -ENODATA);
	fold_init(&fold, &labels, 7);
	fold_init(&next, &labels, 7);
	update(&fold, 1, 10, 20, 1000);
	assert_int_equal(checkpoint_new("test", FOLD_VERSION, &c), 0);
	fd = dup(checkpoint_fd(c));
	assert_int_equal(state_new(dup(fd), &state, &why), 0);
	assert_null(why);
	assert_int_equal(state_restore(state, &next, false, &why), -ENODATA);
	assert_null(why);
	assert_int_equal(state_save(state, &fold, false), 0);
	state_free(state);
	assert_int_equal(state_new(dup(fd), &state, &why), 0);
	assert_int_equal(state_restore(state, &next, false, &why), 0);
	assert_int_equal(samples_of(&next, "c1"), 20);
	fold_deinit(&next);
	state_free(state);
	/* Neither of the two slots is whole. */
	for (size_t slot = 0; slot < 2; slot++)
		assert_int_equal(pwrite(fd, "xxxxxxxx", 8, (off_t)(slot * CHECKPOINT_SLOT + 80)), 8);
	fold_init(&next, &labels, 7);
	assert_int_equal(state_new(dup(fd), &state, &why), 0);
	assert_true(state_restore(state, &next, false, &why) < 0);
	assert_string_equal(why, "it is damaged");
	assert_false(next.any);
	state_free(state);
	close(fd);
	checkpoint_free(c);
	/* No memfd of ours: another is made. */
	why = NULL;
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_int_equal(state_new(fd, &state, &why), 0);
	assert_non_null(why);
	state_free(state);
	fold_deinit(&fold);
}

/* Whom a reset of the profile forgets are samples, and not what the SPUs' source went through. */
static void test_reset(void **state)
{
	static const struct {
		const char *what;
		u64 epoch;
		u64 process;
		u64 now;
		u64 grew;
	} rows[] = {
		{ "first", 1, 1, 5, 5 },
		{ "more", 1, 1, 7, 2 },
		{ "reset", 2, 1, 7, 0 },
		{ "reset, and more", 3, 1, 9, 2 },
		{ "another source", 4, 1, 1, 1 },
		{ "another daemon", 5, 2, 4, 4 },
		{ "one that went on", 5, 3, 6, 2 },
	};
	struct fold fold;
	u64 sum = 0;

	(void)state;
	fold_init(&fold, &labels, 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct metrics m = { .machine = { .epoch = rows[i].epoch,
						  .process = rows[i].process,
						  .backend = BACKEND_HARDWARE,
						  .records = 10,
						  .faults = rows[i].now,
						  .throttles = 10 * rows[i].now,
						  .unread = 100 * rows[i].now,
						  .cpu_ns = 1000 } };

		test_row("%s", rows[i].what);
		sum += rows[i].grew;
		assert_row(fold_update(&fold, &m, 100, BEGAN) == 0);
		assert_row(fold.machine.faults == sum);
		assert_row(fold.machine.throttles == 10 * sum);
		assert_row(fold.machine.unread == 100 * sum);
		assert_row(fold.machine.records == 10 * rows[i].epoch);
		assert_row(fold.machine.cpu_ns == 1000 * rows[i].epoch);
	}
	fold_deinit(&fold);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reset),
		cmocka_unit_test_setup(test_restart, setup),
		cmocka_unit_test_setup(test_starts, setup),
		cmocka_unit_test_setup(test_labels, setup),
		cmocka_unit_test_setup(test_emulated, setup),
		cmocka_unit_test_setup(test_corrupt, setup),
		cmocka_unit_test_setup(test_twins, setup),
		cmocka_unit_test_setup(test_units, setup),
		cmocka_unit_test_setup(test_store, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
