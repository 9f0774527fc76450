// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test events in the form in which BPF reports them. The tasks do not exist in /proc, so all
 * results come from events.
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

/* A PID above every possible pid_max. */
#define FAKE_PID (INT32_MAX - 100000)

#define CGROUP 0x7000000000000000ULL /* ids that no cgroup has */

/* A sequence of events, each a microsecond later than the one before */
struct event_sequence {
	struct attributor *a;
	u64 now;
};

static struct event_sequence event_sequence_new(u32 processes, u32 containers)
{
	const struct attributor_config config = {
		.live = true,
		.processes = processes,
		.containers = containers,
	};
	struct event_sequence s = { .now = 1000000000 };
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
static u64 report_event(struct event_sequence *s, struct task_event event)
{
	s->now += 1000;
	event.time_ns = s->now;
	if (!event.name)
		event.name = "";
	attributor_apply_event(s->a, &event);
	return s->now;
}

static u64 report_cgroup(struct event_sequence *s, u64 cgroup, const char *path)
{
	return report_event(
		s, (struct task_event){ .type = TASK_CGROUP, .cgroup = cgroup, .name = path });
}

/* Report a process that existed before the events. All of it is known except its mappings. */
static u64 report_existing_process(struct event_sequence *s, s32 pid, u64 cgroup, u64 born_ms,
				   const char *name)
{
	return report_event(s, (struct task_event){ .type = TASK_SEED,
						    .pid = pid,
						    .tid = pid,
						    .cgroup = cgroup,
						    .start_ns = born_ms * 1000000,
						    .name = name });
}

static u64 report_fork(struct event_sequence *s, s32 pid, s32 parent, u64 cgroup, const char *name)
{
	return report_event(s, (struct task_event){ .type = TASK_FORK,
						    .pid = pid,
						    .tid = pid,
						    .parent_pid = parent,
						    .cgroup = cgroup,
						    .start_ns = s->now + 1000,
						    .name = name });
}

static u64 report_exec(struct event_sequence *s, s32 pid, u64 cgroup, const char *name)
{
	return report_event(s, (struct task_event){ .type = TASK_COMM,
						    .exec = true,
						    .pid = pid,
						    .tid = pid,
						    .cgroup = cgroup,
						    .name = name });
}

static u64 report_thread(struct event_sequence *s, s32 pid, s32 tid)
{
	return report_event(s,
			    (struct task_event){
				    .type = TASK_FORK, .pid = pid, .tid = tid, .parent_pid = pid });
}

static u64 report_exit(struct event_sequence *s, s32 pid, s32 tid, bool last)
{
	return report_event(
		s, (struct task_event){ .type = TASK_EXIT, .pid = pid, .tid = tid, .last = last });
}

static u64 report_move(struct event_sequence *s, s32 pid, u64 cgroup, const char *path, u32 threads)
{
	return report_event(s, (struct task_event){ .type = TASK_ATTACH,
						    .pid = pid,
						    .tid = pid,
						    .cgroup = cgroup,
						    .name = path,
						    .size = threads });
}

static struct attributor_stats get_stats(const struct event_sequence *s)
{
	struct attributor_stats stats;

	attributor_get_stats(s->a, &stats);
	return stats;
}

static u32 find_process(struct attributor *a, s32 tid, u64 time_ns)
{
	struct attribute_span span;

	return attributor_find_process_at(a, tid, time_ns, &span);
}

/* Return "container/name" of the process that had @tid at @time_ns; "?" if it is unknown. */
static const char *describe_owner(struct event_sequence *s, s32 tid, u64 time_ns)
{
	static char text[256];
	u32 i = find_process(s->a, tid, time_ns);
	const struct attribute_process *p = attributor_get_process(s->a, i);
	const struct attribute_container *c =
		p ? attributor_get_container(s->a, p->container) : NULL;

	if (p)
		assert_non_null(c);
	snprintf(text, sizeof(text), "%s/%s", c ? c->name : "", p ? p->comm : "?");
	return text;
}

/* A process starts and exits between two drains. Its container is known from the fork on. */
static void test_short_lived_process_is_known(void **state)
{
	struct event_sequence s = event_sequence_new(0, 0);
	struct attribute_location location;
	u64 lookups;

	(void)state;
	report_cgroup(&s, CGROUP + 1, "/lxc.payload.web-1");
	report_existing_process(&s, FAKE_PID, CGROUP + 1, 5000, "sh");
	report_fork(&s, FAKE_PID + 1, FAKE_PID, CGROUP + 1, "sh");
	report_exec(&s, FAKE_PID + 1, CGROUP + 1, "true\033");
	report_event(&s, (struct task_event){ .type = TASK_MMAP,
					      .pid = FAKE_PID + 1,
					      .tid = FAKE_PID + 1,
					      .start = 0x400000,
					      .size = 0x1000,
					      .name = "/bin/true" });
	report_exit(&s, FAKE_PID + 1, FAKE_PID + 1, true);
	lookups = get_stats(&s).lookups;
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "web-1/true\\x1b");
	assert_true(attributor_locate_pc(s.a, attributor_find_process(s.a, FAKE_PID + 1), 0x400010,
					 false, &location));
	assert_string_equal(location.binary, "/bin/true");
	/* The events contained all data, so /proc was not read. */
	assert_int_equal(get_stats(&s).lookups, lookups);
	attributor_free(s.a);
}

/*
 * For anonymous memory the kernel reports the address as the offset. The attributor must not return
 * it as an offset.
 */
static void test_anonymous_memory_has_no_offset(void **state)
{
	static const struct {
		const char *name;
		u64 reported;
		u64 offset;
	} rows[] = {
		{ "/bin/true", 0x3000, 0x3010 },	{ "//anon", 0x7f0000000000, 0x10 },
		{ "", 0x7f0000000000, 0x10 },		{ "[heap]", 0x7f0000000000, 0x10 },
		{ "[anon:jit]", 0x7f0000000000, 0x10 }, { "[vdso]", 0, 0x10 },
	};
	struct event_sequence s = event_sequence_new(100, 100);
	struct attribute_location location;

	(void)state;
	report_cgroup(&s, CGROUP + 1, "/lxc/web-1");
	report_existing_process(&s, FAKE_PID, CGROUP + 1, 5000, "sh");
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 start = 0x7f0000000000 + i * 0x100000ULL;

		report_event(&s, (struct task_event){ .type = TASK_MMAP,
						      .pid = FAKE_PID,
						      .tid = FAKE_PID,
						      .start = start,
						      .size = 0x1000,
						      .offset = rows[i].reported,
						      .name = rows[i].name });
		assert_true(attributor_locate_pc(s.a, attributor_find_process(s.a, FAKE_PID),
						 start + 0x10, false, &location));
		assert_int_equal(location.offset, rows[i].offset);
	}
	attributor_free(s.a);
}

/* Samples from before a change that are drained after it belong to the state before the change. */
static void test_samples_get_state_of_their_time(void **state)
{
	struct event_sequence s = event_sequence_new(0, 0);
	u64 start, exec, move, end, later;

	(void)state;
	report_cgroup(&s, CGROUP + 1, "/lxc.payload.one");
	report_existing_process(&s, FAKE_PID, CGROUP + 1, 5000, "sh");
	start = report_fork(&s, FAKE_PID + 1, FAKE_PID, CGROUP + 1, "sh");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/sh");
	s.now += 1000000;
	exec = report_exec(&s, FAKE_PID + 1, CGROUP + 1, "cc1");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/cc1");
	s.now += 1000000;
	move = report_move(&s, FAKE_PID + 1, CGROUP + 2, "/lxc.payload.two", 1);
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "two/cc1");
	s.now += 1000000;
	end = report_exit(&s, FAKE_PID + 1, FAKE_PID + 1, true);
	s.now += 1000000;
	later = report_fork(&s, FAKE_PID + 1, FAKE_PID, CGROUP + 1, "sh");
	report_exec(&s, FAKE_PID + 1, CGROUP + 1, "ld");

	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/ld");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, end - 500000), "two/cc1");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, later - 500000), "two/cc1");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, move - 500000), "one/cc1");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, exec - 500000), "one/sh");
	/* Before the fork, no process with this PID was known. */
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, start - 500000), "/?");
	attributor_free(s.a);
}

static void test_threads_move_with_process(void **state)
{
	struct event_sequence s = event_sequence_new(0, 0);

	(void)state;
	report_cgroup(&s, CGROUP + 1, "/lxc.payload.one");
	report_existing_process(&s, FAKE_PID, CGROUP + 1, 5000, "sh");
	report_fork(&s, FAKE_PID + 1, FAKE_PID, CGROUP + 1, "java");
	report_exec(&s, FAKE_PID + 1, CGROUP + 1, "java");
	for (s32 i = 2; i < 10; i++)
		report_thread(&s, FAKE_PID + 1, FAKE_PID + i);
	for (s32 i = 1; i < 10; i++)
		assert_string_equal(describe_owner(&s, FAKE_PID + i, s.now), "one/java");
	/* All threads of the process move, also if the leader has exited. */
	report_exit(&s, FAKE_PID + 1, FAKE_PID + 1, false);
	report_move(&s, FAKE_PID + 1, CGROUP + 2, "/lxc.payload.two", 8);
	for (s32 i = 2; i < 10; i++)
		assert_string_equal(describe_owner(&s, FAKE_PID + i, s.now), "two/java");
	report_thread(&s, FAKE_PID + 1, FAKE_PID + 10);
	assert_string_equal(describe_owner(&s, FAKE_PID + 10, s.now), "two/java");
	/* A thread that calls exec gets the leader's TID, and its own TID becomes free. */
	report_exec(&s, FAKE_PID + 1, CGROUP + 2, "sh");
	report_exit(&s, FAKE_PID + 1, FAKE_PID + 9, false);
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "two/sh");
	report_fork(&s, FAKE_PID + 9, FAKE_PID, CGROUP + 1, "other");
	assert_string_equal(describe_owner(&s, FAKE_PID + 9, s.now), "one/other");
	attributor_free(s.a);
}

/*
 * perf reports the end of a process when its leader exits. A thread that calls exec continues as
 * the leader.
 */
static void test_thread_calls_exec(void **state)
{
	struct event_sequence s = event_sequence_new(0, 0);
	u64 exec;

	(void)state;
	report_cgroup(&s, CGROUP + 1, "/lxc.payload.one");
	report_existing_process(&s, FAKE_PID, CGROUP + 1, 5000, "sh");
	report_fork(&s, FAKE_PID + 1, FAKE_PID, CGROUP + 1, "gosu");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/gosu");
	report_thread(&s, FAKE_PID + 1, FAKE_PID + 2);
	s.now += 1000000;
	report_exit(&s, FAKE_PID + 1, FAKE_PID + 1, true);
	exec = report_exec(&s, FAKE_PID + 1, 0, "postgres");
	report_event(&s, (struct task_event){ .type = TASK_MMAP,
					      .pid = FAKE_PID + 1,
					      .tid = FAKE_PID + 1,
					      .start = 0x400000,
					      .size = 0x1000,
					      .name = "/bin/postgres" });
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/postgres");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, exec - 500000), "one/gosu");
	/* The process exits a second time. */
	report_exit(&s, FAKE_PID + 1, FAKE_PID + 1, true);
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/postgres");
	/* A process with another start time is another process. */
	report_event(&s, (struct task_event){ .type = TASK_COMM,
					      .exec = true,
					      .pid = FAKE_PID + 1,
					      .tid = FAKE_PID + 1,
					      .start_ns = 77000000000,
					      .name = "other" });
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/postgres");
	attributor_free(s.a);
}

/*
 * After lost events, the BPF iterator reports, for each PID, the same process, another one, or
 * none.
 */
static void test_lost_events_are_repaired(void **state)
{
	struct event_sequence s = event_sequence_new(0, 0);
	u64 before;

	(void)state;
	report_cgroup(&s, CGROUP + 1, "/lxc.payload.one");
	report_cgroup(&s, CGROUP + 2, "/lxc.payload.two");
	for (s32 i = 0; i < 4; i++)
		report_existing_process(&s, FAKE_PID + i, CGROUP + 1, 5000, "before");
	for (s32 i = 0; i < 4; i++)
		assert_string_equal(describe_owner(&s, FAKE_PID + i, s.now), "one/before");
	before = s.now;
	s.now += 1000000;
	report_event(&s, (struct task_event){ .type = TASK_LOST, .size = 1000 });
	assert_int_equal(get_stats(&s).events_lost, 1000);
	report_existing_process(&s, FAKE_PID, CGROUP + 1, 5000, "before");
	report_existing_process(&s, FAKE_PID + 1, CGROUP + 1, 7000, "reused");
	report_existing_process(&s, FAKE_PID + 2, CGROUP + 2, 5000, "before");
	s.now += 1000;
	report_event(&s, (struct task_event){ .type = TASK_SEEDED,
					      .size = TASK_REPORTS_MAPS | TASK_REPORTS_CGROUPS });
	assert_string_equal(describe_owner(&s, FAKE_PID, s.now), "one/before");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/reused");
	assert_string_equal(describe_owner(&s, FAKE_PID + 2, s.now), "two/before");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, before), "one/before");
	assert_string_equal(describe_owner(&s, FAKE_PID + 2, before), "one/before");
	/* Older events that are still in the ring have no effect. */
	s.now -= 2000;
	attributor_apply_event(s.a, &(struct task_event){ .type = TASK_EXIT,
							  .name = "",
							  .time_ns = before,
							  .pid = FAKE_PID + 1,
							  .tid = FAKE_PID + 1,
							  .last = true });
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/reused");
	attributor_free(s.a);
}

/*
 * After a cgroup of version 1 was renamed, every process is looked up again. Removing a cgroup
 * causes no lookup, because no process is in it.
 */
static void test_renamed_cgroup_v1_causes_lookups(void **state)
{
	struct event_sequence s = event_sequence_new(0, 0);
	u64 lookups;

	(void)state;
	report_cgroup(&s, CGROUP + 1, "/lxc.payload.one");
	report_existing_process(&s, FAKE_PID, CGROUP + 1, 5000, "sh");
	assert_string_equal(describe_owner(&s, FAKE_PID, s.now), "one/sh");
	report_fork(&s, FAKE_PID + 1, FAKE_PID, CGROUP + 1, "sh");
	report_exec(&s, FAKE_PID + 1, CGROUP + 1, "cc1");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/cc1");
	lookups = get_stats(&s).lookups;
	report_event(&s, (struct task_event){ .type = TASK_CGROUP_REMOVED });
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/cc1");
	assert_int_equal(get_stats(&s).lookups, lookups);
	report_cgroup(&s, 0, "/renamed");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/cc1");
	assert_int_equal(get_stats(&s).lookups, lookups + 1);
	attributor_free(s.a);
}

/* If the table is full, a process that moves to another container reuses its own entry. */
static void test_move_in_full_table(void **state)
{
	struct event_sequence s = event_sequence_new(2, 0);

	(void)state;
	report_cgroup(&s, CGROUP + 1, "/lxc.payload.one");
	report_fork(&s, FAKE_PID, FAKE_PID - 1, CGROUP + 1, "sh");
	assert_string_equal(describe_owner(&s, FAKE_PID, s.now), "one/sh");
	report_move(&s, FAKE_PID, CGROUP + 2, "/lxc.payload.two", 1);
	assert_string_equal(describe_owner(&s, FAKE_PID, s.now), "two/sh");
	attributor_free(s.a);
}

/*
 * If the entry of the former process of a PID is reused, samples of the former process are
 * unattributed. They must not be attributed to the process that now has the entry.
 */
static void test_former_process_is_evicted(void **state)
{
	struct event_sequence s = event_sequence_new(3, 0);
	u64 early;

	(void)state;
	report_cgroup(&s, CGROUP + 1, "/lxc.payload.one");
	/*
	 * The table has three entries: one more process evicts the second entry, the one that was
	 * unused longest.
	 */
	for (s32 i = 0; i < 3; i++)
		report_fork(&s, FAKE_PID + i, FAKE_PID - 1, CGROUP + 1, "sh");
	assert_string_equal(describe_owner(&s, FAKE_PID + 2, s.now), "one/sh");
	early = s.now;
	s.now += 1000000;
	report_exit(&s, FAKE_PID + 2, FAKE_PID + 2, true);
	s.now += 1000000;
	/* The parent is found in /proc, and gets the entry of the former process. */
	report_fork(&s, FAKE_PID + 2, getpid(), CGROUP + 1, "child");
	assert_string_equal(describe_owner(&s, FAKE_PID + 2, s.now), "one/child");
	assert_string_equal(describe_owner(&s, FAKE_PID + 2, early), "/?");
	attributor_free(s.a);
}

/* Load the saved state of @s into an attributor without events. */
static void event_sequence_load(const struct event_sequence *s, struct event_sequence *restored)
{
	struct attribute_translation translation;
	u8 *bytes = malloc(65536);
	struct serializer to = { .at = bytes, .capacity = 65536 };
	struct deserializer from = { .at = bytes };

	assert_non_null(bytes);
	attributor_save(s->a, &to);
	assert_false(to.full);
	from.len = to.len;
	assert_int_equal(attributor_load(restored->a, &from, &translation), 0);
	assert_int_equal(from.pos, to.len);
	attribute_translation_deinit(&translation);
	free(bytes);
}

static struct event_sequence event_sequence_restore(const struct event_sequence *s, u32 processes)
{
	const struct attributor_config config = { .live = true, .processes = processes };
	struct event_sequence restored = { .now = s->now };

	assert_int_equal(attributor_new(&config, &restored.a), 0);
	event_sequence_load(s, &restored);
	return restored;
}

/*
 * After a restart, a PID still refers to the same processes at the same times, for any order of
 * entries.
 */
static void test_restored_processes(void **state)
{
	/*
	 * The table is full: entries of living processes are restored before those of exited ones.
	 */
	struct event_sequence s = event_sequence_new(4, 0), restored;
	u64 start, exec, later;

	(void)state;
	report_cgroup(&s, CGROUP + 1, "/lxc.payload.one");
	report_existing_process(&s, FAKE_PID, CGROUP + 1, 5000, "sh");
	start = report_fork(&s, FAKE_PID + 1, FAKE_PID, CGROUP + 1, "sh");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/sh");
	s.now += 1000000;
	exec = report_exec(&s, FAKE_PID + 1, CGROUP + 1, "cc1");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/cc1");
	s.now += 1000000;
	later = report_exec(&s, FAKE_PID + 1, CGROUP + 1, "ld");
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "one/ld");
	assert_true(attributor_find_process(s.a, FAKE_PID + 1) <
		    find_process(s.a, FAKE_PID + 1, later - 500000));
	restored = event_sequence_restore(&s, 8);
	report_cgroup(&restored, CGROUP + 1, "/lxc.payload.one");
	for (int i = 0; i < 2; i++) {
		struct event_sequence *one = i ? &restored : &s;

		assert_string_equal(describe_owner(one, FAKE_PID + 1, one->now), "one/ld");
		assert_string_equal(describe_owner(one, FAKE_PID + 1, later - 500000), "one/cc1");
		assert_string_equal(describe_owner(one, FAKE_PID + 1, start - 500000), "/?");
	}
	assert_true(start < exec && exec < later);
	/* The exit event must end the living process. */
	report_exit(&restored, FAKE_PID + 1, FAKE_PID + 1, true);
	assert_string_equal(describe_owner(&restored, FAKE_PID + 1, restored.now), "one/ld");
	attributor_free(s.a);
	attributor_free(restored.a);
}

/* Return the number of entries of living processes with @pid. */
static u32 count_living(const struct event_sequence *s, s32 pid)
{
	u32 count = 0;

	for (u32 i = 0; i < s->a->processes_used; i++)
		count +=
			s->a->process[i].pub.pid == pid && s->a->process[i].state == PROCESS_LIVING;
	return count;
}

/* If all tasks are reported before the checkpoint is loaded, each process has one living entry. */
static void test_restore_after_existing_tasks(void **state)
{
	struct event_sequence s = event_sequence_new(0, 0), restored = event_sequence_new(0, 0);
	u64 before;

	(void)state;
	for (s32 i = 0; i < 4; i++) {
		report_cgroup(i < 2 ? &s : &restored, CGROUP + 1 + (u64)(i & 1),
			      i & 1 ? "/lxc.payload.two" : "/lxc.payload.one");
		report_existing_process(&s, FAKE_PID + i, CGROUP + 1, 5000, "sh");
		assert_string_equal(describe_owner(&s, FAKE_PID + i, s.now), "one/sh");
	}
	before = s.now;
	restored.now = s.now + 1000000;
	/*
	 * Compared with the checkpoint, the four PIDs are now the same process, another process,
	 * another program, and another container.
	 */
	report_existing_process(&restored, FAKE_PID, CGROUP + 1, 5000, "sh");
	report_thread(&restored, FAKE_PID, FAKE_PID + 10);
	report_existing_process(&restored, FAKE_PID + 1, CGROUP + 1, 6000, "sh");
	report_existing_process(&restored, FAKE_PID + 2, CGROUP + 1, 5000, "cc1");
	report_existing_process(&restored, FAKE_PID + 3, CGROUP + 2, 5000, "sh");
	event_sequence_load(&s, &restored);
	for (s32 i = 0; i < 4; i++)
		assert_int_equal(count_living(&restored, FAKE_PID + i), 1);
	assert_int_equal(find_process(restored.a, FAKE_PID, before),
			 find_process(restored.a, FAKE_PID, restored.now));
	assert_int_equal(attributor_find_process(restored.a, FAKE_PID + 10),
			 attributor_find_process(restored.a, FAKE_PID));
	assert_string_equal(describe_owner(&restored, FAKE_PID, restored.now), "one/sh");
	assert_int_not_equal(find_process(restored.a, FAKE_PID + 1, before),
			     find_process(restored.a, FAKE_PID + 1, restored.now));
	assert_string_equal(describe_owner(&restored, FAKE_PID + 2, before), "one/sh");
	assert_string_equal(describe_owner(&restored, FAKE_PID + 2, restored.now), "one/cc1");
	assert_string_equal(describe_owner(&restored, FAKE_PID + 3, before), "one/sh");
	assert_string_equal(describe_owner(&restored, FAKE_PID + 3, restored.now), "two/sh");
	/* Events must change the entries of the living processes. */
	for (s32 i = 0; i < 4; i++) {
		report_exit(&restored, FAKE_PID + i, FAKE_PID + i, true);
		assert_int_equal(count_living(&restored, FAKE_PID + i), 0);
	}
	attributor_free(s.a);
	attributor_free(restored.a);
}

/* A process that exited during the restart is no longer reported: its container is empty. */
static void test_restore_drops_exited_processes(void **state)
{
	struct event_sequence s = event_sequence_new(0, 0), restored;
	struct container_details details;
	u32 containers[2];

	(void)state;
	report_cgroup(&s, CGROUP + 1, "/lxc.payload.one");
	report_cgroup(&s, CGROUP + 2, "/lxc.payload.two");
	for (s32 i = 0; i < 2; i++) {
		report_existing_process(&s, FAKE_PID + i, CGROUP + 1 + (u64)i, 5000, "sh");
		assert_string_equal(describe_owner(&s, FAKE_PID + i, s.now),
				    i ? "two/sh" : "one/sh");
	}
	restored = event_sequence_restore(&s, 0);
	report_cgroup(&restored, CGROUP + 1, "/lxc.payload.one");
	for (s32 i = 0; i < 2; i++)
		containers[i] =
			attributor_get_process(restored.a,
					       attributor_find_process(restored.a, FAKE_PID + i))
				->container;
	report_existing_process(&restored, FAKE_PID, CGROUP + 1, 5000, "sh");
	report_event(&restored,
		     (struct task_event){ .type = TASK_SEEDED,
					  .size = TASK_REPORTS_MAPS | TASK_REPORTS_CGROUPS });
	attributor_get_container_details(restored.a, containers[0], &details);
	assert_int_equal(details.empty_ns, 0);
	attributor_get_container_details(restored.a, containers[1], &details);
	assert_true(details.empty_ns);
	attributor_free(s.a);
	attributor_free(restored.a);
}

/* Over time, more containers exist than fit into the table: each of them has its own name. */
static void test_containers_are_replaced(void **state)
{
	struct event_sequence s = event_sequence_new(0, 4);
	u32 first, generation;
	char path[64], want[64];

	(void)state;
	report_cgroup(&s, CGROUP, "/lxc.payload.home");
	report_existing_process(&s, FAKE_PID, CGROUP, 5000, "sh");
	report_fork(&s, FAKE_PID + 1, FAKE_PID, CGROUP, "stays");
	first = attributor_get_process(s.a, attributor_find_process(s.a, FAKE_PID + 1))->container;
	generation = attributor_get_container(s.a, first)->generation;
	for (s32 i = 2; i < 500; i++) {
		snprintf(path, sizeof(path), "/lxc.payload.c%d", i);
		snprintf(want, sizeof(want), "c%d/sh", i);
		report_cgroup(&s, CGROUP + (u64)i, path);
		report_fork(&s, FAKE_PID + i, FAKE_PID, CGROUP + (u64)i, "sh");
		assert_string_equal(describe_owner(&s, FAKE_PID + i, s.now), want);
		report_exit(&s, FAKE_PID + i, FAKE_PID + i, true);
		assert_string_equal(describe_owner(&s, FAKE_PID + i, s.now), want);
		report_event(&s, (struct task_event){ .type = TASK_CGROUP_REMOVED,
						      .cgroup = CGROUP + (u64)i });
	}
	/* A container with a living process is not evicted. */
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "home/stays");
	assert_int_equal(attributor_get_container(s.a, first)->generation, generation);
	/*
	 * If the container of exited processes was evicted, their samples are not attributed to
	 * another container.
	 */
	assert_string_equal(describe_owner(&s, FAKE_PID + 2, s.now), "(other)/sh");
	assert_true(get_stats(&s).containers_evicted >= 490);
	assert_int_equal(get_stats(&s).containers_overflow, 0);
	attributor_free(s.a);
}

/*
 * If the table is full of containers with living processes, further containers are counted, and no
 * container loses its name.
 */
static void test_living_containers_are_not_evicted(void **state)
{
	struct event_sequence s = event_sequence_new(0, 4);
	char path[64];

	(void)state;
	report_existing_process(&s, FAKE_PID, 0, 5000, "sh");
	for (s32 i = 1; i < 20; i++) {
		snprintf(path, sizeof(path), "/lxc.payload.c%d", i);
		report_cgroup(&s, CGROUP + (u64)i, path);
		report_fork(&s, FAKE_PID + i, FAKE_PID, CGROUP + (u64)i, "sh");
	}
	assert_string_equal(describe_owner(&s, FAKE_PID + 1, s.now), "c1/sh");
	assert_string_equal(describe_owner(&s, FAKE_PID + 2, s.now), "c2/sh");
	assert_string_equal(describe_owner(&s, FAKE_PID + 3, s.now), "(other)/sh");
	assert_true(get_stats(&s).containers_overflow >= 17);
	assert_int_equal(get_stats(&s).containers_evicted, 0);
	attributor_free(s.a);
}

/*
 * Report random events of random tasks with losses: memory stays bounded, and no task gets the name
 * of another one.
 */
static void test_random_events(void **state)
{
	static const u8 types[] = { TASK_COMM,	 TASK_FORK, TASK_EXIT,	 TASK_MMAP,
				    TASK_ATTACH, TASK_SEED, TASK_CGROUP, TASK_CGROUP_REMOVED };
	struct event_sequence s = event_sequence_new(32, 5);
	unsigned int seed_value = 11;

	(void)state;
	for (unsigned int n = 0; n < 200000; n++) {
		u64 cgroup = CGROUP + (u64)rand_r(&seed_value) % 40;
		s32 pid = FAKE_PID + rand_r(&seed_value) % 50;
		char path[64];
		struct task_event e = {
			.type = types[(size_t)rand_r(&seed_value) % ARRAY_SIZE(types)],
			.pid = pid,
			.tid = rand_r(&seed_value) & 3 ? pid : pid + 1,
			.parent_pid = FAKE_PID + rand_r(&seed_value) % 50,
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
		index = find_process(s.a, pid, s.now - (u64)(rand_r(&seed_value) % 50000));
		if (index != ATTRIBUTE_NONE)
			assert_int_equal(attributor_get_process(s.a, index)->pid / 100000,
					 FAKE_PID / 100000);
		describe_owner(&s, pid, s.now);
	}
	assert_true(get_stats(&s).memory < 4 << 20);
	attributor_free(s.a);
}

/* Map a page of @fd as executable, at address @at unless that is NULL. */
static void *map_code_page(void *at, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *got =
		mmap(at, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, 0);

	assert_true(got != MAP_FAILED);
	return got;
}

static const char *get_binary(struct event_sequence *s, s32 pid, const void *pc)
{
	struct attribute_location location;
	u32 i = find_process(s->a, pid, s->now);

	if (!attributor_locate_pc(s->a, i, (u64)(uintptr_t)pc, false, &location))
		return "";
	return location.binary;
}

static void report_lost_maps(struct event_sequence *s, s32 pid, u64 count)
{
	report_event(s, (struct task_event){
				.type = TASK_LOST_MAPS, .pid = pid, .tid = pid, .size = count });
}

/* After mappings of a process were lost its maps are read again; its tasks stay known. */
static void test_lost_mappings_are_read_again(void **state)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int other = open("/bin/true", O_RDONLY | O_CLOEXEC);
	struct event_sequence s = event_sequence_new(0, 0);
	void *at = map_code_page(NULL, other);
	u64 lookups;

	(void)state;
	assert_string_not_equal(get_binary(&s, getpid(), at), "");
	map_code_page(at, self);
	/* Lost mappings of another process have no effect on this one. */
	report_lost_maps(&s, getppid(), 7);
	assert_null(strstr(get_binary(&s, getpid(), at), "test-live-events"));
	lookups = get_stats(&s).lookups;
	report_lost_maps(&s, getpid(), 5);
	assert_non_null(strstr(get_binary(&s, getpid(), at), "test-live-events"));
	assert_int_equal(get_stats(&s).lookups, lookups);
	assert_int_equal(get_stats(&s).mappings_lost, 12);
	assert_int_equal(get_stats(&s).events_lost, 0);
	attributor_free(s.a);
	close(self);
	close(other);
}

/*
 * Between two refreshes a bounded number of maps is read, whatever was lost, so the maps of this
 * process are not read.
 */
static void test_rereads_are_bounded(void **state)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int other = open("/bin/true", O_RDONLY | O_CLOEXEC);
	struct event_sequence s = event_sequence_new(0, 0);
	void *at = map_code_page(NULL, other);
	u32 reads = 0;

	(void)state;
	get_binary(&s, getpid(), at);
	for (bool is_self = false, read = true; read; reads++) {
		is_self = !is_self;
		map_code_page(at, is_self ? self : other);
		report_lost_maps(&s, 0, 1);
		read = !strstr(get_binary(&s, getpid(), at), "test-live-events") != is_self;
		assert_true(reads < 1000);
	}
	assert_true(reads > 16);
	attributor_refresh(s.a);
	map_code_page(at, self);
	assert_non_null(strstr(get_binary(&s, getpid(), at), "test-live-events"));
	attributor_free(s.a);
	close(self);
	close(other);
}

static void report_mapping(struct event_sequence *s, s32 pid, const char *path)
{
	report_event(s, (struct task_event){ .type = TASK_MMAP,
					     .pid = pid,
					     .tid = pid,
					     .start = 0x1000,
					     .size = 0x1000,
					     .name = path });
}

static void record_event(void *ctx, const struct task_event *event)
{
	attributor_apply_event(ctx, event);
}

/*
 * Check that a recording contains each sampled process that task events reported, even if it never
 * was in /proc.
 */
static void test_recording_has_sampled_processes(void **state)
{
	const struct attributor_config config = { 0 };
	struct event_sequence s = event_sequence_new(0, 0), recorded = { 0 };
	const struct {
		s32 tid;
		u64 ago;
	} rows[] = {
		{ FAKE_PID, 0 },	   { FAKE_PID + 1, 3500000 }, { FAKE_PID + 1, 2500000 },
		{ FAKE_PID + 1, 1500000 }, { FAKE_PID + 1, 0 },	      { FAKE_PID + 2, 2500000 },
		{ FAKE_PID + 5, 0 },
	};
	struct source_sink sink = { .task = record_event };
	struct attribute_location location, want;
	char text[256];

	(void)state;
	report_cgroup(&s, CGROUP + 1, "/lxc.payload.one");
	report_cgroup(&s, CGROUP + 2, "/lxc.payload.two");
	report_existing_process(&s, FAKE_PID, CGROUP + 1, 5000, "sh");
	report_existing_process(&s, FAKE_PID + 5, CGROUP + 1, 5000, "never-sampled");
	describe_owner(&s, FAKE_PID, s.now);
	s.now += 1000000;
	report_fork(&s, FAKE_PID + 1, FAKE_PID, CGROUP + 1, "sh");
	report_thread(&s, FAKE_PID + 1, FAKE_PID + 2);
	report_mapping(&s, FAKE_PID + 1, "/bin/sh");
	describe_owner(&s, FAKE_PID + 1, s.now);
	describe_owner(&s, FAKE_PID + 2, s.now);
	s.now += 1000000;
	report_exec(&s, FAKE_PID + 1, CGROUP + 1, "cc1");
	report_mapping(&s, FAKE_PID + 1, "/bin/cc1");
	describe_owner(&s, FAKE_PID + 1, s.now);
	s.now += 1000000;
	report_exit(&s, FAKE_PID + 1, FAKE_PID + 1, true);
	report_fork(&s, FAKE_PID + 1, FAKE_PID, CGROUP + 2, "other");
	report_mapping(&s, FAKE_PID + 1, "/bin/other");
	describe_owner(&s, FAKE_PID + 1, s.now);
	s.now += 1000000;

	recorded.now = s.now;
	assert_int_equal(attributor_new(&config, &recorded.a), 0);
	sink.ctx = recorded.a;
	assert_int_equal(attributor_export_tasks(s.a, &sink), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows) - 1; i++) {
		u64 at = s.now - rows[i].ago;

		test_row("row %zu", i);
		snprintf(text, sizeof(text), "%s", describe_owner(&s, rows[i].tid, at));
		assert_string_equal(describe_owner(&recorded, rows[i].tid, at), text);
		assert_row(attributor_locate_pc(s.a, find_process(s.a, rows[i].tid, at), 0x1010,
						false, &want) ==
			   attributor_locate_pc(recorded.a,
						find_process(recorded.a, rows[i].tid, at), 0x1010,
						false, &location));
		assert_row(i == 0 || i == 1 || !strcmp(location.binary, want.binary));
	}
	assert_string_equal(describe_owner(&recorded, FAKE_PID + 5, s.now), "/?");
	attributor_free(s.a);
	attributor_free(recorded.a);
}

/* Report a mapping at an address that depends on @pid. Return: the address. */
static u64 report_process_mapping(struct event_sequence *s, s32 pid)
{
	struct attribute_location location;

	report_event(s, (struct task_event){ .type = TASK_MMAP,
					     .pid = pid,
					     .tid = pid,
					     .start = 0x400000,
					     .size = 0x1000,
					     .name = "//anon" });
	assert_true(attributor_locate_pc(s->a, find_process(s->a, pid, s->now), 0x400010, false,
					 &location));
	return location.process;
}

static void test_process_has_unique_number(void **state)
{
	struct event_sequence s = event_sequence_new(0, 0);
	u64 first, other;

	(void)state;
	report_cgroup(&s, CGROUP, "/lxc.payload.one");
	report_existing_process(&s, FAKE_PID, CGROUP, 5000, "sh");
	report_fork(&s, FAKE_PID + 1, FAKE_PID, CGROUP, "java");
	report_fork(&s, FAKE_PID + 2, FAKE_PID, CGROUP, "java");
	first = report_process_mapping(&s, FAKE_PID + 1);
	other = report_process_mapping(&s, FAKE_PID + 2);
	assert_true(first && other && first != other);
	assert_true(report_process_mapping(&s, FAKE_PID + 1) == first);
	report_exit(&s, FAKE_PID + 1, FAKE_PID + 1, true);
	report_fork(&s, FAKE_PID + 1, FAKE_PID, CGROUP, "java");
	assert_true(report_process_mapping(&s, FAKE_PID + 1) != first);
	assert_true(report_process_mapping(&s, FAKE_PID + 1) != other);
	attributor_free(s.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_lived_process_is_known),
		cmocka_unit_test(test_samples_get_state_of_their_time),
		cmocka_unit_test(test_threads_move_with_process),
		cmocka_unit_test(test_lost_events_are_repaired),
		cmocka_unit_test(test_lost_mappings_are_read_again),
		cmocka_unit_test(test_rereads_are_bounded),
		cmocka_unit_test(test_process_has_unique_number),
		cmocka_unit_test(test_containers_are_replaced),
		cmocka_unit_test(test_living_containers_are_not_evicted),
		cmocka_unit_test(test_random_events),
		cmocka_unit_test(test_anonymous_memory_has_no_offset),
		cmocka_unit_test(test_restored_processes),
		cmocka_unit_test(test_restore_drops_exited_processes),
		cmocka_unit_test(test_restore_after_existing_tasks),
		cmocka_unit_test(test_recording_has_sampled_processes),
		cmocka_unit_test(test_move_in_full_table),
		cmocka_unit_test(test_former_process_is_evicted),
		cmocka_unit_test(test_renamed_cgroup_v1_causes_lookups),
		cmocka_unit_test(test_thread_calls_exec),
	};

	/* Time limits must not expire on a slow machine. */
	return cmocka_run_group_tests(tests, held_clock_stop, NULL);
}
