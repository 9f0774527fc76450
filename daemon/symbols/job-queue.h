/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs by their owner, which is the user of the process whose binary is looked up. Each owner has
 * a queue and a share of time, and one job at a time is at work for it. An owner whose last job
 * ended a helper, by a crash or by hanging until the deadline, is a suspect until a job of it ends
 * well. One lane serves no suspects. So owners whose files hang delay each other, and not the rest.
 */
#ifndef SPEPROF_JOB_QUEUE_H
#define SPEPROF_JOB_QUEUE_H

#include "codec/env.h"

#define JOB_QUEUES 64

struct job;

/**
 * struct job_queue
 * @owner: job_owner()
 * @used_ms: time that its jobs took, comparable between queues that have some
 * @not_before_ms: when the next job may begin, after one that ended a helper
 * @backoff_ms: how long after that one it was
 * @busy: a job of it is at work
 */
struct job_queue {
	u64 owner;
	struct job *first;
	struct job *last;
	u64 used_ms;
	u64 not_before_ms;
	u32 backoff_ms;
	bool busy;
};

/** struct job_queues - zeroes are none; of more owners than JOB_QUEUES some share one */
struct job_queues {
	struct job_queue queue[JOB_QUEUES];
};

/** job_owner() - owner of jobs of @pid: its user, or for root its mount namespace; 0: no owner */
u64 job_owner(s32 pid);

/** job_queues_push() - @job becomes the last of its owner */
void job_queues_push(struct job_queues *queues, u64 owner, u64 now_ms, struct job *job);

/**
 * job_queues_pick() - take a job out, of the owner that used the least time
 * @suspects: whether owners whose last job ended a helper are served, too
 * @ret_queue: for job_queue_done()
 * @ret_until_ms: where there is none: when there may be one, 0: when one is pushed or done
 *
 * Return: NULL if there is none that may begin now.
 */
struct job *job_queues_pick(struct job_queues *queues, u64 now_ms, bool suspects,
			    struct job_queue **ret_queue, u64 *ret_until_ms);

/**
 * job_queue_done() - the job that was picked is done
 * @took_ms: how long it took
 * @failed: a helper ended over it: the owner's next one is to wait, longer each time
 */
void job_queue_done(struct job_queue *queue, u64 now_ms, u64 took_ms, bool failed);

/** job_queues_drop() - any job, taken out; NULL if there is none */
struct job *job_queues_drop(struct job_queues *queues);

#endif
