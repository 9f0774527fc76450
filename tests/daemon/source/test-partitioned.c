// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test a source of several partitions: each CPU belongs to one partition, and if one partition
 * refuses a change, no partition makes it.
 */
#include "test.h"

#include "source/partitioned.h"

#include <errno.h>

#define PARTS 3
#define CPUS  8

struct fake_partition {
	struct source source;
	struct source_config config;
	u32 number;
	bool started;
	bool refuses;
	bool freed;
	bool deferred;
	bool spills;
	u32 resumed;	/* number of positions from which it resumed */
	u32 released;
};

static struct fake_partition fake[PARTS];

static struct fake_partition *get_fake_partition(const struct source *source)
{
	return (struct fake_partition *)source;
}

static int fake_start(struct source *source)
{
	get_fake_partition(source)->started = !get_fake_partition(source)->refuses;
	return get_fake_partition(source)->refuses ? -EBUSY : 0;
}

static void fake_stop(struct source *source)
{
	get_fake_partition(source)->started = false;
}

static void fake_free(struct source *source)
{
	get_fake_partition(source)->freed = true;
}

static int fake_describe_cpu(struct source *source, u32 cpu, struct source_cpu *ret_cpu)
{
	const struct source_config own = { .partition = get_fake_partition(source)->number,
					   .partitions = PARTS };

	*ret_cpu = (struct source_cpu){ .cpu = cpu };
	return cpu < CPUS && source_config_includes_cpu(&own, cpu) ? 0 : -ENOENT;
}

static int fake_configure(struct source *source, const struct source_config *config,
			  const char **ret_reason)
{
	if (get_fake_partition(source)->refuses) {
		*ret_reason = "no";
		return -EINVAL;
	}
	get_fake_partition(source)->config = *config;
	return 0;
}

static void fake_defer(struct source *source, bool spill)
{
	get_fake_partition(source)->deferred = true;
	get_fake_partition(source)->spills = spill;
}

static u32 fake_get_positions(const struct source *source, struct source_position *ret,
			      u32 capacity)
{
	struct source_cpu cpu;
	u32 n = 0;

	for (u32 next = 0; n < capacity && source_next_cpu((struct source *)source, next, &cpu);
	     next = cpu.cpu + 1)
		ret[n++] = (struct source_position){ .cpu = cpu.cpu, .tail = 64 * cpu.cpu };
	return n;
}

/* Each partition has rings for its own CPUs, and needs a position for each of them. */
static int fake_resume(struct source *source, const struct source_position *positions, u32 count)
{
	struct source_position own[CPUS];
	u32 n = fake_get_positions(source, own, CPUS);
	int r = n == count && !get_fake_partition(source)->refuses ? 0 : -ESTALE;

	for (u32 i = 0; i < n && !r; i++)
		if (positions[i].cpu != own[i].cpu || positions[i].tail != own[i].tail)
			r = -ESTALE;
	get_fake_partition(source)->resumed = r ? 0 : n;
	return r;
}

static void fake_release(struct source *source)
{
	get_fake_partition(source)->released++;
}

static const struct source_persist_ops fake_persist_ops = {
	.defer = fake_defer,
	.positions = fake_get_positions,
	.resume = fake_resume,
	.release = fake_release,
};

static const struct source_ops fake_ops = {
	.name = "fake",
	.start = fake_start,
	.stop = fake_stop,
	.free = fake_free,
	.cpu = fake_describe_cpu,
	.configure = fake_configure,
	.persist = &fake_persist_ops,
};

static struct source *make_source(void)
{
	const struct source_config config = { .interval_ns = 1000 };
	struct source *parts[PARTS], *whole;

	for (u32 i = 0; i < PARTS; i++) {
		fake[i] = (struct fake_partition){ .source.ops = &fake_ops,
						       .source.cpus = i + 1,
						       .source.cpu_end = CPUS,
						       .config = config,
						       .number = i };
		parts[i] = &fake[i].source;
	}
	assert_int_equal(source_partitioned_new(parts, PARTS, &config, &whole), 0);
	return whole;
}

static void test_cpus_belong_to_partitions(void **state __attribute__((unused)))
{
	struct source *whole = make_source();
	struct source_cpu cpu;

	assert_int_equal(whole->cpus, 1 + 2 + 3);
	for (u32 i = 0; i < CPUS; i++) {
		assert_int_equal(whole->ops->cpu(whole, i, &cpu), 0);
		assert_int_equal(cpu.cpu, i);
		assert_true(source_next_cpu(whole, i, &cpu));
		assert_int_equal(cpu.cpu, i);
	}
	assert_int_equal(whole->ops->cpu(whole, CPUS, &cpu), -ENOENT);
	assert_false(source_next_cpu(whole, CPUS, &cpu));
	assert_ptr_equal(source_get_partition(whole, 2), &fake[2].source);
	assert_null(source_get_partition(whole, PARTS));
	assert_ptr_equal(source_get_partition(&fake[1].source, 0), &fake[1].source);
	assert_null(source_get_partition(&fake[1].source, 1));
	whole->ops->free(whole);
	for (u32 i = 0; i < PARTS; i++)
		assert_true(fake[i].freed);
}

/* Another process resumes either all partitions or none. */
static void test_all_partitions_resume_or_none(void **state __attribute__((unused)))
{
	struct source *whole = make_source();
	const struct source_persist_ops *persist = whole->ops->persist;
	struct source_position at[CPUS];

	assert_int_equal(persist->positions(whole, at, CPUS - 1), CPUS - 1);
	assert_int_equal(persist->positions(whole, at, CPUS), CPUS);
	persist->defer(whole, true);
	persist->release(whole);
	assert_int_equal(persist->resume(whole, at, CPUS), 0);
	for (u32 i = 0; i < PARTS; i++) {
		assert_true(fake[i].deferred && fake[i].spills);
		assert_int_equal(fake[i].released, 1);
		assert_true(fake[i].resumed);
	}
	/* The position for one ring of the last partition is missing. */
	assert_int_equal(at[CPUS - 1].cpu % PARTS, PARTS - 1);
	assert_int_equal(persist->resume(whole, at, CPUS - 1), -ESTALE);
	for (u32 i = 0; i < PARTS; i++)
		assert_int_equal(fake[i].resumed, 0);
	whole->ops->free(whole);
}

static void test_refused_change_is_undone(void **state __attribute__((unused)))
{
	const struct source_config other = { .interval_ns = 77 }, third = { .interval_ns = 99 };
	struct source *whole = make_source();
	const char *reason = NULL;

	fake[1].refuses = true;
	assert_int_equal(whole->ops->start(whole), -EBUSY);
	for (u32 i = 0; i < PARTS; i++)
		assert_false(fake[i].started);
	assert_int_equal(whole->ops->configure(whole, &other, &reason), -EINVAL);
	assert_string_equal(reason, "no");
	for (u32 i = 0; i < PARTS; i++)
		assert_int_equal(fake[i].config.interval_ns, 1000);
	fake[1].refuses = false;
	assert_int_equal(whole->ops->start(whole), 0);
	assert_int_equal(whole->ops->configure(whole, &other, &reason), 0);
	fake[2].refuses = true;
	assert_int_equal(whole->ops->configure(whole, &third, &reason), -EINVAL);
	for (u32 i = 0; i < PARTS; i++) {
		assert_true(fake[i].started);
		assert_int_equal(fake[i].config.interval_ns, 77);
		if (i < 2)
			assert_int_equal(fake[i].config.partition, i);
	}
	whole->ops->free(whole);
}

static void test_health_is_sum(void **state __attribute__((unused)))
{
	struct source *whole = make_source();

	fake[0].source.health = (struct source_health){ .faults = 2, .last = "first" };
	fake[2].source.health = (struct source_health){ .faults = 3, .cpus_stopped = 1 };
	for (u32 i = 0; i < PARTS; i++)
		source_partition_copy_health(whole, i);
	/* The sum over all partitions includes their faults. */
	fake[1].source.health.faults = 100;
	source_partitions_sum_health(whole);
	assert_int_equal(whole->health.faults, 5);
	assert_int_equal(whole->health.cpus_stopped, 1);
	assert_string_equal(whole->health.last, "first");
	source_partitions_sum_health(&fake[0].source);
	assert_int_equal(fake[0].source.health.faults, 2);
	whole->ops->free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpus_belong_to_partitions),
		cmocka_unit_test(test_all_partitions_resume_or_none),
		cmocka_unit_test(test_refused_change_is_undone),
		cmocka_unit_test(test_health_is_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
