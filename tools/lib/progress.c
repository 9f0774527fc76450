// SPDX-License-Identifier: LGPL-2.1-or-later
#include "progress.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS   1000000000ULL
#define LONG_NS	    (2 * SECOND_NS)
#define INTERVAL_NS (SECOND_NS / 4)

/* The sequence that erases the cursor's line and moves the cursor to its first column. */
#define ERASE "\r\033[K"

static u64 get_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * SECOND_NS + (u64)ts.tv_nsec;
}

void progress_show(struct progress *progress, u64 elapsed_ns)
{
	const char *what = __atomic_load_n(&progress->what, __ATOMIC_RELAXED);
	u64 done = __atomic_load_n(&progress->done, __ATOMIC_RELAXED);
	u64 total = __atomic_load_n(&progress->total, __ATOMIC_RELAXED);

	if (!what || elapsed_ns < LONG_NS)
		return;
	fprintf(progress->out, ERASE "%s: ", what);
	/* The two values are not read at one time, so they may not match. */
	if (total && done <= total)
		fprintf(progress->out, "%u %%",
			(unsigned int)(100.0 * (double)done / (double)total));
	else
		fprintf(progress->out, "%llu s", (unsigned long long)(elapsed_ns / SECOND_NS));
	fflush(progress->out);
	progress->shown = true;
}

void progress_erase(struct progress *progress)
{
	if (!progress->shown)
		return;
	fputs(ERASE, progress->out);
	fflush(progress->out);
	progress->shown = false;
}

static void *progress_run(void *ctx)
{
	struct progress *p = ctx;
	u64 began = get_now_ns(), next = began + LONG_NS;
	struct timespec until;

	pthread_mutex_lock(&p->lock);
	while (!p->ended) {
		until = (struct timespec){ .tv_sec = (time_t)(next / SECOND_NS),
					   .tv_nsec = (long)(next % SECOND_NS) };
		if (pthread_cond_timedwait(&p->changed, &p->lock, &until) != ETIMEDOUT)
			continue;
		progress_show(p, get_now_ns() - began);
		next += INTERVAL_NS;
	}
	pthread_mutex_unlock(&p->lock);
	progress_erase(p);
	return NULL;
}

void progress_begin(struct progress *progress, FILE *out)
{
	pthread_condattr_t clock;

	*progress = (struct progress){ 0 };
	if (!isatty(fileno(out)))
		return;
	pthread_mutex_init(&progress->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&progress->changed, &clock);
	pthread_condattr_destroy(&clock);
	progress->out = out;
	/* If the thread cannot be created, nothing is shown. */
	if (pthread_create(&progress->thread, NULL, progress_run, progress))
		progress->out = NULL;
}

void progress_set(struct progress *progress, const char *what, u64 done, u64 total)
{
	__atomic_store_n(&progress->what, what, __ATOMIC_RELAXED);
	__atomic_store_n(&progress->done, done, __ATOMIC_RELAXED);
	__atomic_store_n(&progress->total, total, __ATOMIC_RELAXED);
}

void progress_end(struct progress *progress)
{
	if (!progress->out)
		return;
	pthread_mutex_lock(&progress->lock);
	progress->ended = true;
	pthread_cond_signal(&progress->changed);
	pthread_mutex_unlock(&progress->lock);
	pthread_join(progress->thread, NULL);
	pthread_cond_destroy(&progress->changed);
	pthread_mutex_destroy(&progress->lock);
	*progress = (struct progress){ 0 };
}
