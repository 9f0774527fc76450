// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the attributor makes of events as BPF reports them. /proc has never known these tasks, so
 * that all answers come from events.
 */
#include "test.h"
#include "held-clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attribution/attributor-internal.h"
#include "attribution/attributor-save.h"
#include "tasks/task-event.h"

/* Above every possible pid_max. */
#define GHOST (INT32_MAX - 100000)

#define CGROUP 0x7000000000000000ULL /* ids that no cgroup has */

/* A sequence of events, each a microsecond after the one before. */
struct story {
	struct attributor *a;
	u64 now;
};

static struct story story_new(u32 processes, u32 containers)
{
	const struct attributor_config config = {
		.live = true,
		.processes = processes,
		.containers = containers,
	};
	struct story s = { .now = 1000000000 };
	const struct task_event seeded = {
		.type = TASK_SEEDED,
		.name = "",
		.time_ns = s.now,
		.size = TASK_REPORTS_MAPS | TASK_REPORTS_CGROUPS,
	};

	assert_int_equal(attributor_new(&config, &s.a), 0);
	attributor_apply_event(s.a, &seeded);
	return s;
}

/* Report @event. Return: its time. */
static u64 report_event(struct story *s, struct task_event event)
{
	s->now += 1000;
	event.time_ns = s->now;
	if (!event.name)
		event.name = "";
	attributor_apply_event(s->a, &event);
	return s->now;
}

static u64 cgroup_made(struct story *s, u64 cgroup, const char *path)
{
	return report_event(
		s, (struct task_event){ .type = TASK_CGROUP, .cgroup = cgroup, .name = path });
}

/* Report a process that existed before: all of it is known but its mappings. */
static u64 seed(struct story *s, s32 pid, u64 cgroup, u64 born_ms, const char *name)
{
	return report_event(s, (struct task_event){ .type = TASK_SEED,
						    .pid = pid,
						    .tid = pid,
						    .cgroup = cgroup,
						    .start_ns = born_ms * 1000000,
						    .name = name });
}

static u64 forked(struct story *s, s32 pid, s32 parent, u64 cgroup, const char *name)
{
	return report_event(s, (struct task_event){ .type = TASK_FORK,
						    .pid = pid,
						    .tid = pid,
						    .parent_pid = parent,
						    .cgroup = cgroup,
						    .start_ns = s->now + 1000,
						    .name = name });
}

static u64 executed(struct story *s, s32 pid, u64 cgroup, const char *name)
{
	return report_event(s, (struct task_event){ .type = TASK_COMM,
						    .exec = true,
						    .pid = pid,
						    .tid = pid,
						    .cgroup = cgroup,
						    .name = name });
}

static u64 thread(struct story *s, s32 pid, s32 tid)
{
	return report_event(s,
			    (struct task_event){
				    .type = TASK_FORK, .pid = pid, .tid = tid, .parent_pid = pid });
}

static u64 exited(struct story *s, s32 pid, s32 tid, bool last)
{
	return report_event(
		s, (struct task_event){ .type = TASK_EXIT, .pid = pid, .tid = tid, .last = last });
}

static u64 moved(struct story *s, s32 pid, u64 cgroup, const char *path, u32 threads)
{
	return report_event(s, (struct task_event){ .type = TASK_ATTACH,
						    .pid = pid,
						    .tid = pid,
						    .cgroup = cgroup,
						    .name = path,
						    .size = threads });
}

static struct attributor_stats stats_of(const struct story *s)
{
	struct attributor_stats stats;

	attributor_get_stats(s->a, &stats);
	return stats;
}

/* "container/name" of the process that had @tid at @time_ns; "?" for none. */
static const char *owner_at(struct story *s, s32 tid, u64 time_ns)
{
	static char text[256];
	u32 i = attributor_find_process_at(s->a, tid, time_ns);
	const struct attribute_process *p = attributor_get_process(s->a, i);
	const struct attribute_container *c =
		p ? attributor_get_container(s->a, p->container) : NULL;

	if (p)
		assert_non_null(c);
	snprintf(text, sizeof(text), "%s/%s", c ? c->name : "", p ? p->comm : "?");
	return text;
}

/* A process lives and exits between two drains. Its container is known from the fork on. */
static void test_life(void **state)
{
	struct story s = story_new(0, 0);
	struct attribute_location place;
	u64 lookups;

	(void)state;
	cgroup_made(&s, CGROUP + 1, "/lxc.payload.web-1");
	seed(&s, GHOST, CGROUP + 1, 5000, "sh");
	forked(&s, GHOST + 1, GHOST, CGROUP + 1, "sh");
	executed(&s, GHOST + 1, CGROUP + 1, "true\033");
	report_event(&s, (struct task_event){ .type = TASK_MMAP,
					      .pid = GHOST + 1,
					      .tid = GHOST + 1,
					      .start = 0x400000,
					      .size = 0x1000,
					      .name = "/bin/true" });
	exited(&s, GHOST + 1, GHOST + 1, true);
	lookups = stats_of(&s).lookups;
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "web-1/true\\x1b");
	assert_true(attributor_locate(s.a, attributor_find_process(s.a, GHOST + 1), 0x400010, false,
				      &place));
	assert_string_equal(place.binary, "/bin/true");
	/* The events had everything: /proc was not read. */
	assert_int_equal(stats_of(&s).lookups, lookups);
	attributor_free(s.a);
}

/*
 * For anonymous memory the kernel reports the address as the offset. The attributor does not pass
 * it on.
 */
static void test_memory(void **state)
{
	static const struct {
		const char *name;
		u64 told;
		u64 offset;
	} rows[] = {
		{ "/bin/true", 0x3000, 0x3010 },	{ "//anon", 0x7f0000000000, 0x10 },
		{ "", 0x7f0000000000, 0x10 },		{ "[heap]", 0x7f0000000000, 0x10 },
		{ "[anon:jit]", 0x7f0000000000, 0x10 }, { "[vdso]", 0, 0x10 },
	};
	struct story s = story_new(100, 100);
	struct attribute_location place;

	(void)state;
	cgroup_made(&s, CGROUP + 1, "/lxc/web-1");
	seed(&s, GHOST, CGROUP + 1, 5000, "sh");
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 start = 0x7f0000000000 + i * 0x100000ULL;

		report_event(&s, (struct task_event){ .type = TASK_MMAP,
						      .pid = GHOST,
						      .tid = GHOST,
						      .start = start,
						      .size = 0x1000,
						      .offset = rows[i].told,
						      .name = rows[i].name });
		assert_true(attributor_locate(s.a, attributor_find_process(s.a, GHOST),
					      start + 0x10, false, &place));
		assert_int_equal(place.offset, rows[i].offset);
	}
	attributor_free(s.a);
}

/* Samples from before a change that are drained after it belong to the state before. */
static void test_times(void **state)
{
	struct story s = story_new(0, 0);
	u64 start, exec, move, end, again;

	(void)state;
	cgroup_made(&s, CGROUP + 1, "/lxc.payload.one");
	seed(&s, GHOST, CGROUP + 1, 5000, "sh");
	start = forked(&s, GHOST + 1, GHOST, CGROUP + 1, "sh");
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/sh");
	s.now += 1000000;
	exec = executed(&s, GHOST + 1, CGROUP + 1, "cc1");
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/cc1");
	s.now += 1000000;
	move = moved(&s, GHOST + 1, CGROUP + 2, "/lxc.payload.two", 1);
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "two/cc1");
	s.now += 1000000;
	end = exited(&s, GHOST + 1, GHOST + 1, true);
	s.now += 1000000;
	again = forked(&s, GHOST + 1, GHOST, CGROUP + 1, "sh");
	executed(&s, GHOST + 1, CGROUP + 1, "ld");

	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/ld");
	assert_string_equal(owner_at(&s, GHOST + 1, end - 500000), "two/cc1");
	assert_string_equal(owner_at(&s, GHOST + 1, again - 500000), "two/cc1");
	assert_string_equal(owner_at(&s, GHOST + 1, move - 500000), "one/cc1");
	assert_string_equal(owner_at(&s, GHOST + 1, exec - 500000), "one/sh");
	/* Before the fork no known process had this number. */
	assert_string_equal(owner_at(&s, GHOST + 1, start - 500000), "/?");
	attributor_free(s.a);
}

static void test_threads(void **state)
{
	struct story s = story_new(0, 0);

	(void)state;
	cgroup_made(&s, CGROUP + 1, "/lxc.payload.one");
	seed(&s, GHOST, CGROUP + 1, 5000, "sh");
	forked(&s, GHOST + 1, GHOST, CGROUP + 1, "java");
	executed(&s, GHOST + 1, CGROUP + 1, "java");
	for (s32 i = 2; i < 10; i++)
		thread(&s, GHOST + 1, GHOST + i);
	for (s32 i = 1; i < 10; i++)
		assert_string_equal(owner_at(&s, GHOST + i, s.now), "one/java");
	/* All threads move, also those whose leader has exited. */
	exited(&s, GHOST + 1, GHOST + 1, false);
	moved(&s, GHOST + 1, CGROUP + 2, "/lxc.payload.two", 8);
	for (s32 i = 2; i < 10; i++)
		assert_string_equal(owner_at(&s, GHOST + i, s.now), "two/java");
	thread(&s, GHOST + 1, GHOST + 10);
	assert_string_equal(owner_at(&s, GHOST + 10, s.now), "two/java");
	/* A thread that calls exec gets the leader's TID, and its own TID becomes free. */
	executed(&s, GHOST + 1, CGROUP + 2, "sh");
	exited(&s, GHOST + 1, GHOST + 9, false);
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "two/sh");
	forked(&s, GHOST + 9, GHOST, CGROUP + 1, "other");
	assert_string_equal(owner_at(&s, GHOST + 9, s.now), "one/other");
	attributor_free(s.a);
}

/*
 * perf reports the end of a process with its leader. A thread that calls exec continues as the
 * leader.
 */
static void test_thread_executes(void **state)
{
	struct story s = story_new(0, 0);
	u64 exec;

	(void)state;
	cgroup_made(&s, CGROUP + 1, "/lxc.payload.one");
	seed(&s, GHOST, CGROUP + 1, 5000, "sh");
	forked(&s, GHOST + 1, GHOST, CGROUP + 1, "gosu");
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/gosu");
	thread(&s, GHOST + 1, GHOST + 2);
	s.now += 1000000;
	exited(&s, GHOST + 1, GHOST + 1, true);
	exec = executed(&s, GHOST + 1, 0, "postgres");
	report_event(&s, (struct task_event){ .type = TASK_MMAP,
					      .pid = GHOST + 1,
					      .tid = GHOST + 1,
					      .start = 0x400000,
					      .size = 0x1000,
					      .name = "/bin/postgres" });
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/postgres");
	assert_string_equal(owner_at(&s, GHOST + 1, exec - 500000), "one/gosu");
	/* The process exits a second time. */
	exited(&s, GHOST + 1, GHOST + 1, true);
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/postgres");
	/* A process with another start time is another process. */
	report_event(&s, (struct task_event){ .type = TASK_COMM,
					      .exec = true,
					      .pid = GHOST + 1,
					      .tid = GHOST + 1,
					      .start_ns = 77000000000,
					      .name = "other" });
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/postgres");
	attributor_free(s.a);
}

/* After a loss the iterator reports for each number the same process, another one, or none. */
static void test_loss(void **state)
{
	struct story s = story_new(0, 0);
	u64 before;

	(void)state;
	cgroup_made(&s, CGROUP + 1, "/lxc.payload.one");
	cgroup_made(&s, CGROUP + 2, "/lxc.payload.two");
	for (s32 i = 0; i < 4; i++)
		seed(&s, GHOST + i, CGROUP + 1, 5000, "before");
	for (s32 i = 0; i < 4; i++)
		assert_string_equal(owner_at(&s, GHOST + i, s.now), "one/before");
	before = s.now;
	s.now += 1000000;
	report_event(&s, (struct task_event){ .type = TASK_LOST, .size = 1000 });
	assert_int_equal(stats_of(&s).events_lost, 1000);
	seed(&s, GHOST, CGROUP + 1, 5000, "before");
	seed(&s, GHOST + 1, CGROUP + 1, 7000, "reused");
	seed(&s, GHOST + 2, CGROUP + 2, 5000, "before");
	s.now += 1000;
	report_event(&s, (struct task_event){ .type = TASK_SEEDED,
					      .size = TASK_REPORTS_MAPS | TASK_REPORTS_CGROUPS });
	assert_string_equal(owner_at(&s, GHOST, s.now), "one/before");
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/reused");
	assert_string_equal(owner_at(&s, GHOST + 2, s.now), "two/before");
	assert_string_equal(owner_at(&s, GHOST + 1, before), "one/before");
	assert_string_equal(owner_at(&s, GHOST + 2, before), "one/before");
	/* Older events that are still in the ring have no effect. */
	s.now -= 2000;
	attributor_apply_event(s.a, &(struct task_event){ .type = TASK_EXIT,
							  .name = "",
							  .time_ns = before,
							  .pid = GHOST + 1,
							  .tid = GHOST + 1,
							  .last = true });
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/reused");
	attributor_free(s.a);
}

/*
 * With cgroup v1 a rename makes all containers be looked up once more. The end of a cgroup removes
 * none, as no process is in it.
 */
static void test_unnumbered(void **state)
{
	struct story s = story_new(0, 0);
	u64 lookups;

	(void)state;
	cgroup_made(&s, CGROUP + 1, "/lxc.payload.one");
	seed(&s, GHOST, CGROUP + 1, 5000, "sh");
	assert_string_equal(owner_at(&s, GHOST, s.now), "one/sh");
	forked(&s, GHOST + 1, GHOST, CGROUP + 1, "sh");
	executed(&s, GHOST + 1, CGROUP + 1, "cc1");
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/cc1");
	lookups = stats_of(&s).lookups;
	report_event(&s, (struct task_event){ .type = TASK_CGROUP_REMOVED });
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/cc1");
	assert_int_equal(stats_of(&s).lookups, lookups);
	cgroup_made(&s, 0, "/renamed");
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/cc1");
	assert_int_equal(stats_of(&s).lookups, lookups + 1);
	attributor_free(s.a);
}

/* The table has no entry for both: a process that moves keeps the container that it had. */
static void test_full_moves(void **state)
{
	struct story s = story_new(2, 0);

	(void)state;
	cgroup_made(&s, CGROUP + 1, "/lxc.payload.one");
	forked(&s, GHOST, GHOST - 1, CGROUP + 1, "sh");
	assert_string_equal(owner_at(&s, GHOST, s.now), "one/sh");
	moved(&s, GHOST, CGROUP + 2, "/lxc.payload.two", 1);
	assert_string_equal(owner_at(&s, GHOST, s.now), "two/sh");
	attributor_free(s.a);
}

/*
 * The former process of a number is unknown once its entry is reused. Above all it is not the
 * parent.
 */
static void test_full_before(void **state)
{
	struct story s = story_new(3, 0);
	u64 early;

	(void)state;
	cgroup_made(&s, CGROUP + 1, "/lxc.payload.one");
	/* The second entry is the next one that is evicted. */
	for (s32 i = 0; i < 3; i++)
		forked(&s, GHOST + i, GHOST - 1, CGROUP + 1, "sh");
	assert_string_equal(owner_at(&s, GHOST + 2, s.now), "one/sh");
	early = s.now;
	s.now += 1000000;
	exited(&s, GHOST + 2, GHOST + 2, true);
	s.now += 1000000;
	/* /proc has the parent, which gets the entry that the former process had. */
	forked(&s, GHOST + 2, getpid(), CGROUP + 1, "child");
	assert_string_equal(owner_at(&s, GHOST + 2, s.now), "one/child");
	assert_string_equal(owner_at(&s, GHOST + 2, early), "/?");
	attributor_free(s.a);
}

/* Load the saved state of @s into an attributor without events. */
static void story_load(const struct story *s, struct story *kept)
{
	struct attribute_translation translation;
	u8 *bytes = malloc(65536);
	struct serializer to = { .at = bytes, .room = 65536 };
	struct deserializer from = { .at = bytes };

	assert_non_null(bytes);
	attributor_save(s->a, &to);
	assert_false(to.full);
	from.len = to.len;
	assert_int_equal(attributor_load(kept->a, &from, &translation), 0);
	assert_int_equal(from.pos, to.len);
	attribute_translation_deinit(&translation);
	free(bytes);
}

static struct story story_restored(const struct story *s, u32 processes)
{
	const struct attributor_config config = { .live = true, .processes = processes };
	struct story kept = { .now = s->now };

	assert_int_equal(attributor_new(&config, &kept.a), 0);
	story_load(s, &kept);
	return kept;
}

/*
 * After a restart a number belongs to the same processes at the same times, in any order of
 * entries.
 */
static void test_restored(void **state)
{
	/* Entries are reused: living processes come before dead ones. */
	struct story s = story_new(4, 0), kept;
	u64 start, exec, again;

	(void)state;
	cgroup_made(&s, CGROUP + 1, "/lxc.payload.one");
	seed(&s, GHOST, CGROUP + 1, 5000, "sh");
	start = forked(&s, GHOST + 1, GHOST, CGROUP + 1, "sh");
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/sh");
	s.now += 1000000;
	exec = executed(&s, GHOST + 1, CGROUP + 1, "cc1");
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/cc1");
	s.now += 1000000;
	again = executed(&s, GHOST + 1, CGROUP + 1, "ld");
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "one/ld");
	assert_true(attributor_find_process(s.a, GHOST + 1) <
		    attributor_find_process_at(s.a, GHOST + 1, again - 500000));
	kept = story_restored(&s, 8);
	cgroup_made(&kept, CGROUP + 1, "/lxc.payload.one");
	for (int i = 0; i < 2; i++) {
		struct story *one = i ? &kept : &s;

		assert_string_equal(owner_at(one, GHOST + 1, one->now), "one/ld");
		assert_string_equal(owner_at(one, GHOST + 1, again - 500000), "one/cc1");
		assert_string_equal(owner_at(one, GHOST + 1, start - 500000), "/?");
	}
	assert_true(start < exec && exec < again);
	/* The exit ends the living process. */
	exited(&kept, GHOST + 1, GHOST + 1, true);
	assert_string_equal(owner_at(&kept, GHOST + 1, kept.now), "one/ld");
	attributor_free(s.a);
	attributor_free(kept.a);
}

/*
 * A process that exited during the restart is not in the first walk: its container is empty then.
 */
static u32 living(const struct story *s, s32 pid)
{
	u32 count = 0;

	for (u32 i = 0; i < s->a->processes_used; i++)
		count +=
			s->a->process[i].pub.pid == pid && s->a->process[i].state == PROCESS_LIVING;
	return count;
}

/* All tasks are reported before the checkpoint is loaded: each process has one living entry. */
static void test_restored_seeded(void **state)
{
	struct story s = story_new(0, 0), kept = story_new(0, 0);
	u64 before;

	(void)state;
	for (s32 i = 0; i < 4; i++) {
		cgroup_made(i < 2 ? &s : &kept, CGROUP + 1 + (u64)(i & 1),
			    i & 1 ? "/lxc.payload.two" : "/lxc.payload.one");
		seed(&s, GHOST + i, CGROUP + 1, 5000, "sh");
		assert_string_equal(owner_at(&s, GHOST + i, s.now), "one/sh");
	}
	before = s.now;
	kept.now = s.now + 1000000;
	/* The same process, another process, another image, and another container. */
	seed(&kept, GHOST, CGROUP + 1, 5000, "sh");
	thread(&kept, GHOST, GHOST + 10);
	seed(&kept, GHOST + 1, CGROUP + 1, 6000, "sh");
	seed(&kept, GHOST + 2, CGROUP + 1, 5000, "cc1");
	seed(&kept, GHOST + 3, CGROUP + 2, 5000, "sh");
	story_load(&s, &kept);
	for (s32 i = 0; i < 4; i++)
		assert_int_equal(living(&kept, GHOST + i), 1);
	assert_int_equal(attributor_find_process_at(kept.a, GHOST, before),
			 attributor_find_process_at(kept.a, GHOST, kept.now));
	assert_int_equal(attributor_find_process(kept.a, GHOST + 10),
			 attributor_find_process(kept.a, GHOST));
	assert_string_equal(owner_at(&kept, GHOST, kept.now), "one/sh");
	assert_int_not_equal(attributor_find_process_at(kept.a, GHOST + 1, before),
			     attributor_find_process_at(kept.a, GHOST + 1, kept.now));
	assert_string_equal(owner_at(&kept, GHOST + 2, before), "one/sh");
	assert_string_equal(owner_at(&kept, GHOST + 2, kept.now), "one/cc1");
	assert_string_equal(owner_at(&kept, GHOST + 3, before), "one/sh");
	assert_string_equal(owner_at(&kept, GHOST + 3, kept.now), "two/sh");
	/* Events apply to the living entries. */
	for (s32 i = 0; i < 4; i++) {
		exited(&kept, GHOST + i, GHOST + i, true);
		assert_int_equal(living(&kept, GHOST + i), 0);
	}
	attributor_free(s.a);
	attributor_free(kept.a);
}

static void test_restored_ended(void **state)
{
	struct story s = story_new(0, 0), kept;
	struct container_details facts;
	u32 containers[2];

	(void)state;
	cgroup_made(&s, CGROUP + 1, "/lxc.payload.one");
	cgroup_made(&s, CGROUP + 2, "/lxc.payload.two");
	for (s32 i = 0; i < 2; i++) {
		seed(&s, GHOST + i, CGROUP + 1 + (u64)i, 5000, "sh");
		assert_string_equal(owner_at(&s, GHOST + i, s.now), i ? "two/sh" : "one/sh");
	}
	kept = story_restored(&s, 0);
	cgroup_made(&kept, CGROUP + 1, "/lxc.payload.one");
	for (s32 i = 0; i < 2; i++)
		containers[i] =
			attributor_get_process(kept.a, attributor_find_process(kept.a, GHOST + i))
				->container;
	seed(&kept, GHOST, CGROUP + 1, 5000, "sh");
	report_event(&kept,
		     (struct task_event){ .type = TASK_SEEDED,
					  .size = TASK_REPORTS_MAPS | TASK_REPORTS_CGROUPS });
	container_details_get(kept.a, containers[0], &facts);
	assert_int_equal(facts.empty_ns, 0);
	container_details_get(kept.a, containers[1], &facts);
	assert_true(facts.empty_ns);
	attributor_free(s.a);
	attributor_free(kept.a);
}

/* More consecutive containers than the table holds: each has its name. */
static void test_generations(void **state)
{
	struct story s = story_new(0, 4);
	u32 first, generation;
	char path[64], want[64];

	(void)state;
	cgroup_made(&s, CGROUP, "/lxc.payload.home");
	seed(&s, GHOST, CGROUP, 5000, "sh");
	forked(&s, GHOST + 1, GHOST, CGROUP, "stays");
	first = attributor_get_process(s.a, attributor_find_process(s.a, GHOST + 1))->container;
	generation = attributor_get_container(s.a, first)->generation;
	for (s32 i = 2; i < 500; i++) {
		snprintf(path, sizeof(path), "/lxc.payload.c%d", i);
		snprintf(want, sizeof(want), "c%d/sh", i);
		cgroup_made(&s, CGROUP + (u64)i, path);
		forked(&s, GHOST + i, GHOST, CGROUP + (u64)i, "sh");
		assert_string_equal(owner_at(&s, GHOST + i, s.now), want);
		exited(&s, GHOST + i, GHOST + i, true);
		assert_string_equal(owner_at(&s, GHOST + i, s.now), want);
		report_event(&s, (struct task_event){ .type = TASK_CGROUP_REMOVED,
						      .cgroup = CGROUP + (u64)i });
	}
	/* A container with a living process is not evicted. */
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "home/stays");
	assert_int_equal(attributor_get_container(s.a, first)->generation, generation);
	/* Samples of dead processes in an evicted container go to no other container. */
	assert_string_equal(owner_at(&s, GHOST + 2, s.now), "(other)/sh");
	assert_true(stats_of(&s).containers_evicted >= 490);
	assert_int_equal(stats_of(&s).containers_overflow, 0);
	attributor_free(s.a);
}

/* A table full of living containers: further ones are counted, and none loses its name. */
static void test_overflow(void **state)
{
	struct story s = story_new(0, 4);
	char path[64];

	(void)state;
	seed(&s, GHOST, 0, 5000, "sh");
	for (s32 i = 1; i < 20; i++) {
		snprintf(path, sizeof(path), "/lxc.payload.c%d", i);
		cgroup_made(&s, CGROUP + (u64)i, path);
		forked(&s, GHOST + i, GHOST, CGROUP + (u64)i, "sh");
	}
	assert_string_equal(owner_at(&s, GHOST + 1, s.now), "c1/sh");
	assert_string_equal(owner_at(&s, GHOST + 2, s.now), "c2/sh");
	assert_string_equal(owner_at(&s, GHOST + 3, s.now), "(other)/sh");
	assert_true(stats_of(&s).containers_overflow >= 17);
	assert_int_equal(stats_of(&s).containers_evicted, 0);
	attributor_free(s.a);
}

/*
 * Random events of random tasks with losses: memory stays bounded, and no task gets another one's
 * name.
 */
static void test_any_order(void **state)
{
	static const u8 types[] = { TASK_COMM,	 TASK_FORK, TASK_EXIT,	 TASK_MMAP,
				    TASK_ATTACH, TASK_SEED, TASK_CGROUP, TASK_CGROUP_REMOVED };
	struct story s = story_new(32, 5);
	unsigned int seed_value = 11;

	(void)state;
	for (unsigned int n = 0; n < 200000; n++) {
		u64 cgroup = CGROUP + (u64)rand_r(&seed_value) % 40;
		s32 pid = GHOST + rand_r(&seed_value) % 50;
		char path[64];
		struct task_event e = {
			.type = types[(size_t)rand_r(&seed_value) % ARRAY_SIZE(types)],
			.pid = pid,
			.tid = rand_r(&seed_value) & 3 ? pid : pid + 1,
			.parent_pid = GHOST + rand_r(&seed_value) % 50,
			.cgroup = rand_r(&seed_value) & 7 ? cgroup : 0,
			.start_ns = (u64)(rand_r(&seed_value) % 4) * 10000000,
			.size = (u64)(rand_r(&seed_value) % 3),
			.start = (u64)(rand_r(&seed_value) % 64) * 4096,
			.exec = rand_r(&seed_value) & 1,
			.last = rand_r(&seed_value) & 1,
		};
		u32 index;

		if (n % 5000 == 0)
			e.type = TASK_LOST;
		if (n % 5000 == 100)
			e.type = TASK_SEEDED;
		snprintf(path, sizeof(path), "/lxc.payload.c%u", (unsigned int)(cgroup - CGROUP));
		e.name = e.type == TASK_CGROUP || e.type == TASK_ATTACH ? path : "name";
		report_event(&s, e);
		if (n % 3)
			continue;
		index = attributor_find_process_at(s.a, pid,
						   s.now - (u64)(rand_r(&seed_value) % 50000));
		if (index != ATTRIBUTE_NONE)
			assert_int_equal(attributor_get_process(s.a, index)->pid / 100000,
					 GHOST / 100000);
		owner_at(&s, pid, s.now);
	}
	assert_true(stats_of(&s).memory < 4 << 20);
	attributor_free(s.a);
}

/* Map a page of executable memory of @fd, at @at unless that is NULL. */
static void *page_map(void *at, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *got =
		mmap(at, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, 0);

	assert_true(got != MAP_FAILED);
	return got;
}

static const char *binary_at(struct story *s, s32 pid, const void *pc)
{
	struct attribute_location place;
	u32 i = attributor_find_process_at(s->a, pid, s->now);

	if (!attributor_locate(s->a, i, (u64)(uintptr_t)pc, false, &place))
		return "";
	return place.binary;
}

static void lost_maps(struct story *s, s32 pid, u64 count)
{
	report_event(s, (struct task_event){
				.type = TASK_LOST_MAPS, .pid = pid, .tid = pid, .size = count });
}

/* After lost mappings of a process its maps are read once more, and no task is in doubt. */
static void test_lost_maps(void **state)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int other = open("/bin/true", O_RDONLY | O_CLOEXEC);
	struct story s = story_new(0, 0);
	void *at = page_map(NULL, other);
	u64 lookups;

	(void)state;
	assert_string_not_equal(binary_at(&s, getpid(), at), "");
	page_map(at, self);
	/* Losses of another process have no effect on this one. */
	lost_maps(&s, getppid(), 7);
	assert_null(strstr(binary_at(&s, getpid(), at), "test-live-events"));
	lookups = stats_of(&s).lookups;
	lost_maps(&s, getpid(), 5);
	assert_non_null(strstr(binary_at(&s, getpid(), at), "test-live-events"));
	assert_int_equal(stats_of(&s).lookups, lookups);
	assert_int_equal(stats_of(&s).mappings_lost, 12);
	assert_int_equal(stats_of(&s).events_lost, 0);
	attributor_free(s.a);
	close(self);
	close(other);
}

/* A bounded number of maps is read until the next refresh, whatever was lost: this one is not. */
static void test_reread_budget(void **state)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int other = open("/bin/true", O_RDONLY | O_CLOEXEC);
	struct story s = story_new(0, 0);
	void *at = page_map(NULL, other);
	u32 reads = 0;

	(void)state;
	binary_at(&s, getpid(), at);
	for (bool is_self = false, read = true; read; reads++) {
		is_self = !is_self;
		page_map(at, is_self ? self : other);
		lost_maps(&s, 0, 1);
		read = !strstr(binary_at(&s, getpid(), at), "test-live-events") != is_self;
		assert_true(reads < 1000);
	}
	assert_true(reads > 16);
	attributor_refresh(s.a);
	page_map(at, self);
	assert_non_null(strstr(binary_at(&s, getpid(), at), "test-live-events"));
	attributor_free(s.a);
	close(self);
	close(other);
}

static void mapped(struct story *s, s32 pid, const char *path)
{
	report_event(s, (struct task_event){ .type = TASK_MMAP,
					     .pid = pid,
					     .tid = pid,
					     .start = 0x1000,
					     .size = 0x1000,
					     .name = path });
}

static void take_event(void *ctx, const struct task_event *event)
{
	attributor_apply_event(ctx, event);
}

/* A recording has each sampled process that the daemon knows, even if /proc never had it. */
static void test_exported(void **state)
{
	const struct attributor_config config = { 0 };
	struct story s = story_new(0, 0), recorded = { 0 };
	const struct {
		s32 tid;
		u64 ago;
	} rows[] = {
		{ GHOST, 0 },		{ GHOST + 1, 3500000 }, { GHOST + 1, 2500000 },
		{ GHOST + 1, 1500000 }, { GHOST + 1, 0 },	{ GHOST + 2, 2500000 },
		{ GHOST + 5, 0 },
	};
	struct source_sink sink = { .task = take_event };
	struct attribute_location place, want;
	char text[256];

	(void)state;
	cgroup_made(&s, CGROUP + 1, "/lxc.payload.one");
	cgroup_made(&s, CGROUP + 2, "/lxc.payload.two");
	seed(&s, GHOST, CGROUP + 1, 5000, "sh");
	seed(&s, GHOST + 5, CGROUP + 1, 5000, "never-sampled");
	owner_at(&s, GHOST, s.now);
	s.now += 1000000;
	forked(&s, GHOST + 1, GHOST, CGROUP + 1, "sh");
	thread(&s, GHOST + 1, GHOST + 2);
	mapped(&s, GHOST + 1, "/bin/sh");
	owner_at(&s, GHOST + 1, s.now);
	owner_at(&s, GHOST + 2, s.now);
	s.now += 1000000;
	executed(&s, GHOST + 1, CGROUP + 1, "cc1");
	mapped(&s, GHOST + 1, "/bin/cc1");
	owner_at(&s, GHOST + 1, s.now);
	s.now += 1000000;
	exited(&s, GHOST + 1, GHOST + 1, true);
	forked(&s, GHOST + 1, GHOST, CGROUP + 2, "other");
	mapped(&s, GHOST + 1, "/bin/other");
	owner_at(&s, GHOST + 1, s.now);
	s.now += 1000000;

	recorded.now = s.now;
	assert_int_equal(attributor_new(&config, &recorded.a), 0);
	sink.ctx = recorded.a;
	assert_int_equal(attributor_export_tasks(s.a, &sink), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows) - 1; i++) {
		u64 at = s.now - rows[i].ago;

		test_row("row %zu", i);
		snprintf(text, sizeof(text), "%s", owner_at(&s, rows[i].tid, at));
		assert_string_equal(owner_at(&recorded, rows[i].tid, at), text);
		assert_row(
			attributor_locate(s.a, attributor_find_process_at(s.a, rows[i].tid, at),
					  0x1010, false, &want) ==
			attributor_locate(recorded.a,
					  attributor_find_process_at(recorded.a, rows[i].tid, at),
					  0x1010, false, &place));
		assert_row(i == 0 || i == 1 || !strcmp(place.binary, want.binary));
	}
	assert_string_equal(owner_at(&recorded, GHOST + 5, s.now), "/?");
	attributor_free(s.a);
	attributor_free(recorded.a);
}

/* Map memory at an address that depends on @pid. Return: the address. */
static u64 map_process(struct story *s, s32 pid)
{
	struct attribute_location place;

	report_event(s, (struct task_event){ .type = TASK_MMAP,
					     .pid = pid,
					     .tid = pid,
					     .start = 0x400000,
					     .size = 0x1000,
					     .name = "//anon" });
	assert_true(attributor_locate(s->a, attributor_find_process_at(s->a, pid, s->now), 0x400010,
				      false, &place));
	return place.process;
}

static void test_process_number(void **state)
{
	struct story s = story_new(0, 0);
	u64 first, other;

	(void)state;
	cgroup_made(&s, CGROUP, "/lxc.payload.one");
	seed(&s, GHOST, CGROUP, 5000, "sh");
	forked(&s, GHOST + 1, GHOST, CGROUP, "java");
	forked(&s, GHOST + 2, GHOST, CGROUP, "java");
	first = map_process(&s, GHOST + 1);
	other = map_process(&s, GHOST + 2);
	assert_true(first && other && first != other);
	assert_true(map_process(&s, GHOST + 1) == first);
	exited(&s, GHOST + 1, GHOST + 1, true);
	forked(&s, GHOST + 1, GHOST, CGROUP, "java");
	assert_true(map_process(&s, GHOST + 1) != first);
	assert_true(map_process(&s, GHOST + 1) != other);
	attributor_free(s.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_lost_maps),
		cmocka_unit_test(test_reread_budget),
		cmocka_unit_test(test_process_number),
		cmocka_unit_test(test_generations),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_restored),
		cmocka_unit_test(test_restored_ended),
		cmocka_unit_test(test_restored_seeded),
		cmocka_unit_test(test_exported),
		cmocka_unit_test(test_full_moves),
		cmocka_unit_test(test_full_before),
		cmocka_unit_test(test_unnumbered),
		cmocka_unit_test(test_thread_executes),
	};

	/* Limits of time must not expire on a slow machine. */
	return cmocka_run_group_tests(tests, held_clock_stop, NULL);
}
