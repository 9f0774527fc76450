// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test which owner's job runs next, with a simulated clock. */
#include "test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/symbols-internal.h"

static struct resolve_job *make_job(u64 owner)
{
	struct resolve_job *job = calloc(1, sizeof(*job) + 1);

	assert_non_null(job);
	job->key.build_id = owner;
	return job;
}

static void push_jobs(struct job_queues *queues, u64 owner, u64 now_ms, u32 count)
{
	for (u32 i = 0; i < count; i++)
		job_queues_push(queues, owner, now_ms, make_job(owner));
}

/* Pick the next job. Return: its owner, or 0 if there is no job to run. */
static u64 pick_job(struct job_queues *queues, u64 now_ms, struct job_queue **ret_queue,
		    u64 *ret_until)
{
	struct resolve_job *job = job_queues_pop(queues, now_ms, true, ret_queue, ret_until);
	u64 owner = job ? job->key.build_id : 0;

	free(job);
	return owner;
}

static void drop_all_jobs(struct job_queues *queues)
{
	struct resolve_job *job;

	while ((job = job_queues_pop_any(queues)))
		free(job);
}

/* An owner with slow jobs gets only its share of the time. */
static void test_slow_owner_gets_share(void **state)
{
	struct job_queues queues = { 0 };
	struct job_queue *queue;
	u64 now = 1000, until, slow = 0, quick = 0;

	(void)state;
	push_jobs(&queues, 1, now, 100);
	push_jobs(&queues, 2, now, 1000);
	for (u32 i = 0; i < 500; i++) {
		u64 owner = pick_job(&queues, now, &queue, &until), took = owner == 1 ? 999 : 9;

		now += took;
		job_queue_finish(queue, now, took, false);
		*(owner == 1 ? &slow : &quick) += took + 1;
	}
	assert_true(slow > 0 && slow <= quick + 1000 && quick <= slow + 10);
	/* An owner that starts later gets no credit for the time before. */
	push_jobs(&queues, 3, now, 1000);
	quick = 0;
	for (u32 i = 0; i < 100; i++) {
		quick += pick_job(&queues, now, &queue, &until) == 3;
		job_queue_finish(queue, now, 9, false);
	}
	assert_true(quick <= 52);
	drop_all_jobs(&queues);
}

/*
 * Two jobs of one owner never run at once: while one job hangs, the other resolver serves other
 * owners.
 */
static void test_jobs_of_owner_run_one_by_one(void **state)
{
	struct job_queues queues = { 0 };
	struct job_queue *first, *second, *none;
	u64 until;

	(void)state;
	push_jobs(&queues, 1, 0, 3);
	assert_int_equal(pick_job(&queues, 0, &first, &until), 1);
	assert_int_equal(pick_job(&queues, 0, &none, &until), 0);
	/*
	 * There is no time limit for the wait: it ends with a job of another owner, or with the end
	 * of this job.
	 */
	assert_int_equal(until, 0);
	push_jobs(&queues, 2, 0, 1);
	assert_int_equal(pick_job(&queues, 0, &second, &until), 2);
	job_queue_finish(first, 60000, 60000, true);
	job_queue_finish(second, 60000, 60000, false);
	drop_all_jobs(&queues);
}

/*
 * If jobs of an owner crash helpers, the owner has to wait longer after each crash. Other owners do
 * not wait.
 */
static void test_crashes_delay_owner(void **state)
{
	struct job_queues queues = { 0 };
	struct job_queue *queue;
	u64 now = 5000, until, wait = 100;

	(void)state;
	push_jobs(&queues, 1, now, 20);
	push_jobs(&queues, 2, now, 20);
	for (u32 i = 0; i < 12; i++) {
		while (pick_job(&queues, now, &queue, &until) == 2)
			job_queue_finish(queue, now, 0, false);
		assert_true(queue->owner == 1 && queue->busy);
		job_queue_finish(queue, now, 0, true);
		push_jobs(&queues, 2, now, 1);
		assert_int_equal(pick_job(&queues, now, &queue, &until), 2);
		job_queue_finish(queue, now, 100000, false);
		while (pick_job(&queues, now, &queue, &until) == 2)
			job_queue_finish(queue, now, 0, false);
		assert_int_equal(until, now + wait);
		assert_int_equal(pick_job(&queues, until - 1, &queue, &until), 0);
		now = until;
		wait = wait * 2 < 60000 ? wait * 2 : 60000;
	}
	/* One successful job resets the delay. */
	assert_int_equal(pick_job(&queues, now, &queue, &until), 1);
	job_queue_finish(queue, now, 0, false);
	assert_int_equal(pick_job(&queues, now, &queue, &until), 1);
	job_queue_finish(queue, now, 0, true);
	assert_int_equal(pick_job(&queues, now, &queue, &until), 0);
	assert_int_equal(until, now + 100);
	drop_all_jobs(&queues);
}

/*
 * Two owners with files that hang share one resolver. The other resolver serves the other owners.
 */
static void test_hanging_owners_share_resolver(void **state)
{
	struct job_queues queues = { 0 };
	struct job_queue *queue, *none;
	struct resolve_job *job;
	u64 until;

	(void)state;
	for (u64 owner = 1; owner <= 2; owner++) {
		push_jobs(&queues, owner, 0, 3);
		assert_int_equal(pick_job(&queues, 0, &queue, &until), owner);
		job_queue_finish(queue, 10000, 10000, true);
	}
	push_jobs(&queues, 3, 20000, 1);
	/* The resolver that serves no suspects runs the job of the third owner, then none. */
	job = job_queues_pop(&queues, 20000, false, &queue, &until);
	assert_int_equal(job->key.build_id, 3);
	free(job);
	assert_null(job_queues_pop(&queues, 20000, false, &none, &until));
	assert_int_equal(until, 0);
	/* After a successful job the owner is no longer suspect. */
	assert_int_equal(pick_job(&queues, 20000, &none, &until), 1);
	job_queue_finish(none, 20000, 0, false);
	job = job_queues_pop(&queues, 20000, false, &none, &until);
	assert_int_equal(job->key.build_id, 1);
	free(job);
	drop_all_jobs(&queues);
}

/* If there are more owners than queues, each owner is still served. */
static void test_more_owners_than_queues(void **state)
{
	struct job_queues queues = { 0 };
	struct job_queue *queue;
	u64 until;
	u32 seen = 0;

	(void)state;
	for (u64 owner = 1; owner <= 10 * JOB_QUEUES; owner++)
		push_jobs(&queues, owner, 0, 2);
	while (pick_job(&queues, 0, &queue, &until)) {
		job_queue_finish(queue, 0, 1, false);
		seen++;
	}
	assert_int_equal(seen, 20 * JOB_QUEUES);
}

/* The owner of a process is its user. For processes of root, the owner is their mount namespace. */
static void test_owner_of_process(void **state)
{
	pid_t pid;

	(void)state;
	assert_int_equal(job_find_owner(0), 0);
	assert_int_equal(job_find_owner(INT32_MAX), 0);
	if (geteuid()) {
		assert_int_equal(job_find_owner(getpid()), getuid());
		skip();
	}
	assert_true(job_find_owner(getpid()) >> 63);
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	assert_true(job_find_owner(pid) == job_find_owner(getpid()));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_owner_gets_share),
		cmocka_unit_test(test_jobs_of_owner_run_one_by_one),
		cmocka_unit_test(test_crashes_delay_owner),
		cmocka_unit_test(test_more_owners_than_queues),
		cmocka_unit_test(test_owner_of_process),
		cmocka_unit_test(test_hanging_owners_share_resolver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
