/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Schedule jobs fairly between owners. A job resolves a binary of a process, and the user of that
 * process owns the job. Each owner has a queue, an equal share of time, and at most one job in
 * progress.
 *
 * An owner becomes a suspect when a helper crashes or misses its deadline on a job of the owner. A
 * job that succeeds ends the suspicion. Resolver 0 runs no jobs of suspects. So owners with
 * hanging files delay only each other.
 */
#ifndef SPEPROF_JOB_QUEUE_H
#define SPEPROF_JOB_QUEUE_H

#include "codec/env.h"

#define JOB_QUEUES 64

struct resolve_job;

/**
 * struct job_queue - the jobs of an owner
 * @owner: as returned by job_find_owner()
 * @first, @last: the queue
 * @used_ms: virtual time in ms: the total duration of the jobs; increased after a time without
 * jobs, see job_queues_push()
 * @not_before_ms: time before which no job may begin, because a helper failed on an earlier job
 * @backoff_ms: delay after the last job on which a helper failed; doubled by each further failure;
 * 0 if the owner is no suspect
 * @busy: true if a job is in progress
 */
struct job_queue {
	u64 owner;
	struct resolve_job *first;
	struct resolve_job *last;
	u64 used_ms;
	u64 not_before_ms;
	u32 backoff_ms;
	bool busy;
};

/**
 * struct job_queues - all queues; all zeros: no jobs. If there are more owners than queues, some
 * owners share a queue
 */
struct job_queues {
	struct job_queue queue[JOB_QUEUES];
};

/**
 * job_find_owner() - determine the owner of jobs for a process
 * @pid: the process
 *
 * Return: its UID, or for UID 0 a number of its mount namespace, which distinguishes containers
 * that run as root; 0 if the process has exited.
 */
u64 job_find_owner(s32 pid);

/**
 * job_queues_push() - append a job to the queue of its owner
 * @owner: as returned by job_find_owner()
 * @now_ms: the time, from any clock
 * @job: the job
 *
 * A time without jobs must not give an owner an advantage over others. So if the queue of the owner
 * was inactive, its virtual time becomes at least the smallest virtual time of all active queues.
 */
void job_queues_push(struct job_queues *queues, u64 owner, u64 now_ms, struct resolve_job *job);

/**
 * job_queues_pop() - remove the next job, of the owner with the smallest virtual time
 * @now_ms: the time
 * @suspects: true: serve suspects, too
 * @ret_queue: the queue, for job_queue_finish(). It is busy until then
 * @ret_until_ms: if NULL is returned: the time at which a job will be ready; 0 if that depends on
 * other calls
 *
 * Return: the job; NULL if none may begin now.
 */
struct resolve_job *job_queues_pop(struct job_queues *queues, u64 now_ms, bool suspects,
				   struct job_queue **ret_queue, u64 *ret_until_ms);

/**
 * job_queue_finish() - finish a job that job_queues_pop() returned
 * @queue: its queue
 * @now_ms: the time
 * @took_ms: duration of the job, ms
 * @failed: true if a helper failed on the job; the next job of the owner is then delayed. The delay
 * doubles with each successive failure
 */
void job_queue_finish(struct job_queue *queue, u64 now_ms, u64 took_ms, bool failed);

/** job_queues_pop_any() - remove any job, to free it; NULL if there is none */
struct resolve_job *job_queues_pop_any(struct job_queues *queues);

#endif
