// SPDX-License-Identifier: LGPL-2.1-or-later
#include "job-queue.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols-internal.h"

#define BACKOFF_MS  100
#define BACKOFF_MAX 60000

/* flag of an owner that is the mount namespace of processes of root, and not a UID */
#define OWNER_MOUNTS (1ULL << 63)

u64 job_find_owner(s32 pid)
{
	char path[48], status[1024];
	const char *uid;
	struct stat st;
	ssize_t n;
	int fd;

	if (pid <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, status, sizeof(status) - 1);
	close(fd);
	status[n > 0 ? n : 0] = '\0';
	/*
	 * "Uid:" follows "Name:". The process chooses its name, but the kernel escapes newlines in
	 * the name.
	 */
	uid = strstr(status, "\nUid:\t");
	if (!uid)
		return 0;
	if (strtoul(uid + 6, NULL, 10))
		return strtoul(uid + 6, NULL, 10);
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return OWNER_MOUNTS | (stat(path, &st) < 0 ? 0 : st.st_ino);
}

static bool queue_is_active(const struct job_queue *q)
{
	return q->first || q->busy;
}

/*
 * Returns the queue of @owner; else an inactive queue, which is assigned to @owner; else the queue
 * of another owner, which both owners then share.
 */
static struct job_queue *queue_find_or_take(struct job_queues *queues, u64 owner, u64 now_ms)
{
	struct job_queue *unused = NULL;

	for (u32 i = 0; i < JOB_QUEUES; i++) {
		struct job_queue *q = &queues->queue[i];

		if (q->owner == owner && (queue_is_active(q) || q->used_ms))
			return q;
		if (!queue_is_active(q) && q->not_before_ms <= now_ms &&
		    (!unused || q->used_ms < unused->used_ms))
			unused = q;
	}
	if (!unused)
		return &queues->queue[owner % JOB_QUEUES];
	*unused = (struct job_queue){ .owner = owner };
	return unused;
}

/* Returns the smallest virtual time of all active queues. */
static u64 queues_get_min_used(const struct job_queues *queues)
{
	u64 min = UINT64_MAX;

	for (u32 i = 0; i < JOB_QUEUES; i++)
		if (queue_is_active(&queues->queue[i]) && queues->queue[i].used_ms < min)
			min = queues->queue[i].used_ms;
	return min == UINT64_MAX ? 0 : min;
}

void job_queues_push(struct job_queues *queues, u64 owner, u64 now_ms, struct resolve_job *job)
{
	struct job_queue *q = queue_find_or_take(queues, owner, now_ms);

	job->next = NULL;
	if (!queue_is_active(q)) {
		u64 min = queues_get_min_used(queues);

		if (q->used_ms < min)
			q->used_ms = min;
	}
	if (q->first)
		q->last->next = job;
	else
		q->first = job;
	q->last = job;
}

static struct resolve_job *queue_pop(struct job_queue *q)
{
	struct resolve_job *job = q->first;

	q->first = job->next;
	job->next = NULL;
	return job;
}

struct resolve_job *job_queues_pop(struct job_queues *queues, u64 now_ms, bool suspects,
				   struct job_queue **ret_queue, u64 *ret_until_ms)
{
	struct job_queue *best = NULL;

	*ret_until_ms = 0;
	for (u32 i = 0; i < JOB_QUEUES; i++) {
		struct job_queue *q = &queues->queue[i];

		if (!q->first || q->busy || (q->backoff_ms && !suspects))
			continue;
		if (q->not_before_ms > now_ms) {
			if (!*ret_until_ms || q->not_before_ms < *ret_until_ms)
				*ret_until_ms = q->not_before_ms;
			continue;
		}
		if (!best || q->used_ms < best->used_ms)
			best = q;
	}
	if (!best)
		return NULL;
	*ret_queue = best;
	best->busy = true;
	return queue_pop(best);
}

void job_queue_finish(struct job_queue *q, u64 now_ms, u64 took_ms, bool failed)
{
	q->busy = false;
	/*
	 * Add 1 ms, because jobs may take less: an owner of short jobs must not always come first.
	 */
	q->used_ms += took_ms + 1;
	if (!failed) {
		q->backoff_ms = 0;
		return;
	}
	q->backoff_ms = q->backoff_ms ? q->backoff_ms * 2 : BACKOFF_MS;
	if (q->backoff_ms > BACKOFF_MAX)
		q->backoff_ms = BACKOFF_MAX;
	q->not_before_ms = now_ms + q->backoff_ms;
}

struct resolve_job *job_queues_pop_any(struct job_queues *queues)
{
	for (u32 i = 0; i < JOB_QUEUES; i++)
		if (queues->queue[i].first)
			return queue_pop(&queues->queue[i]);
	return NULL;
}
