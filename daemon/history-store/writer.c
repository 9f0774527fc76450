// SPDX-License-Identifier: LGPL-2.1-or-later
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect.h"
#include "util/cgroup-mount.h"
#include "util/log.h"
#include "util/time.h"

#define MINUTE_NS (60 * NS_PER_SECOND)
/* Names are requested this long before the end of a minute. */
#define REQUEST_NAMES_BEFORE_NS (5 * NS_PER_SECOND)

/*
 * Timeout of history_writer_stop(), which is needed because the thread may be waiting for the disk.
 */
#define STOP_TIMEOUT_NS (2 * NS_PER_SECOND)

#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"

/**
 * struct history_writer - the thread and its state
 * @store: the open database; NULL if it could not be opened
 * @refused: another program or a newer version wrote the database, so the thread does not try to
 *	open it again
 * @lost: number of minutes that could not be written since the last success
 * @failure: negative errno of the failure that was logged; 0: none
 * @boot_id: id of this boot
 * @began_ns: CLOCK_BOOTTIME at which the minute began
 * @due_ns: CLOCK_MONOTONIC at which the minute ends
 * @named: the names of the minute were requested
 * @lock, @wake: protect and signal the members below
 * @first, @last, @waiting: the queue of queries
 * @quit: the thread must end
 * @stopped: the thread has collected the last minute
 */
struct history_writer {
	pthread_t thread;
	struct worker *worker;
	char *path;
	u64 bytes;
	struct history_store *store;
	bool refused;
	u64 lost;
	int failure;
	char boot_id[BOOT_ID_SIZE];
	u64 began_ns;
	u64 due_ns;
	bool named;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct history_request *first;
	struct history_request *last;
	u32 waiting;
	bool quit;
	bool stopped;
};

/* ---- Writing ------------------------------------------------------------------ */

static const char *explain_failure(int r)
{
	switch (r) {
	case -ENOSPC:
		return "the disk is full";
	case -EBUSY:
		return "another program has been reading the file for too long";
	case -ENOTSUP:
		return "another program or a newer version of speprofd wrote the file";
	case -EBADMSG:
		return "the file is damaged";
	default:
		return strerror(-r);
	}
}

/* Log a failure when it begins and when it ends. */
static void report_write_result(struct history_writer *w, int r)
{
	if (r < 0) {
		w->lost++;
		if (w->failure == r)
			return;
		w->failure = r;
		log_write(LOG_ERR, LOG_ID_HISTORY, NULL,
			  "the history on disk, %s, cannot be written: %s; sampling continues, and "
			  "%s",
			  w->path, explain_failure(r),
			  w->refused ? "there is no history until the file is moved and speprofd "
				       "restarted" :
				       "each minute is tried");
		return;
	}
	if (w->failure)
		log_write(LOG_NOTICE, LOG_ID_HISTORY, NULL,
			  "the history on disk is written again; %llu minutes are missing",
			  (unsigned long long)w->lost);
	w->failure = 0;
	w->lost = 0;
}

static int open_store(struct history_writer *w)
{
	const struct history_store_config config = { .path = w->path, .bytes = w->bytes };
	int r;

	if (w->store)
		return 0;
	r = w->refused ? -ENOTSUP : history_store_open(&config, &w->store);
	w->refused = r == -ENOTSUP;
	return r;
}

/*
 * Set the inodes of cgroups, by which a user's containers are recognized later. A cgroup may have
 * been removed already.
 */
static void find_inodes(struct minute_counters *minute)
{
	int mount = cgroup_mount_open(O_PATH, NULL);
	struct stat st;

	for (u32 i = 0; i < minute->containers && mount >= 0; i++) {
		const char *path = minute->container[i].cgroup;

		while (*path == '/')
			path++;
		if (*path && !fstatat(mount, path, &st, AT_SYMLINK_NOFOLLOW))
			minute->container[i].inode = st.st_ino;
	}
	if (mount >= 0)
		close(mount);
}

static void minute_set_times(struct history_writer *w, struct minute_counters *minute)
{
	u64 now = time_clock_ns(CLOCK_BOOTTIME);

	minute->end_us = (s64)(time_clock_ns(CLOCK_REALTIME) / 1000);
	minute->length_us = (s64)((now - w->began_ns) / 1000);
	minute->start_us = minute->end_us - minute->length_us;
	w->began_ns = now;
	memcpy(minute->boot_id, w->boot_id, sizeof(minute->boot_id));
}

/* Collect a minute by @collect, which is history_collect_minute() or history_collect_last_minute(). */
static int collect_minute(struct history_writer *w,
			  int (*collect)(struct worker_state *state, void *arg),
			  struct minute_counters *minute)
{
	int r = worker_call_readonly(w->worker, collect, minute);

	minute_set_times(w, minute);
	return r;
}

/* Write a minute and free it. @r: result of collect_minute() */
static void write_minute(struct history_writer *w, struct minute_counters *minute, int r)
{
	/* Write nothing if no CPU was sampled, for example because the session is stopped. */
	if (r >= 0 && !minute->machine.samples && !minute->enabled_ns) {
		minute_deinit(minute);
		return;
	}
	if (r >= 0)
		r = open_store(w);
	if (r >= 0) {
		find_inodes(minute);
		r = history_store_write(w->store, minute);
	}
	minute_deinit(minute);
	/* The next minute opens the file again, and renames it if it is damaged. */
	if (r == -EBADMSG || r == -EIO)
		w->store = history_store_free(w->store);
	report_write_result(w, r);
}

/* ---- Queries ------------------------------------------------------------------ */

static void run_request(struct history_writer *w, struct history_request *request)
{
	int r = open_store(w);

	request->query.deadline_ns = time_now_ns() + HISTORY_QUERY_TIMEOUT_NS;
	if (r >= 0 && request->timeline)
		r = history_store_create_timeline(w->store, &request->query, request->group,
						  request->step_us, request->limit,
						  &request->points);
	else if (r >= 0)
		r = history_store_create_view(w->store, &request->query, request->group,
					      request->sort, request->limit, &request->view,
					      &request->coverage);
	request->result = r;
	request->done(request);
}

int history_writer_submit(struct history_writer *w, struct history_request *request)
{
	int r = 0;

	pthread_mutex_lock(&w->lock);
	if (w->waiting == HISTORY_QUERIES_MAX) {
		r = -EBUSY;
	} else {
		request->next = NULL;
		if (w->first)
			w->last->next = request;
		else
			w->first = request;
		w->last = request;
		w->waiting++;
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	return r;
}

static struct history_request *pop_request(struct history_writer *w)
{
	struct history_request *request = w->first;

	if (!request)
		return NULL;
	w->first = request->next;
	w->waiting--;
	return request;
}

/* ---- The thread --------------------------------------------------------------- */

/*
 * Let the next minute end at a whole minute of the wall clock. Then ten minutes and hours also end
 * at whole ten minutes and hours of the wall clock.
 */
static void plan_minute(struct history_writer *w)
{
	w->due_ns = time_now_ns() + MINUTE_NS - time_clock_ns(CLOCK_REALTIME) % MINUTE_NS;
	w->named = false;
}

/*
 * Run @request, unless it is NULL, and the work that is due; the caller does not hold the lock.
 * Return the time of the next work, CLOCK_MONOTONIC.
 */
static u64 do_due_work(struct history_writer *w, struct history_request *request)
{
	struct minute_counters minute = { 0 };
	u64 now = time_now_ns();

	if (request)
		run_request(w, request);
	if (now >= w->due_ns) {
		write_minute(w, &minute, collect_minute(w, history_collect_minute, &minute));
		plan_minute(w);
	} else if (!w->named && now + REQUEST_NAMES_BEFORE_NS >= w->due_ns) {
		worker_call_readonly(w->worker, history_request_names, NULL);
		w->named = true;
	}
	return w->named ? w->due_ns : w->due_ns - REQUEST_NAMES_BEFORE_NS;
}

static void wait_until(struct history_writer *w, u64 until_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / NS_PER_SECOND),
		.tv_nsec = (long)(until_ns % NS_PER_SECOND),
	};

	pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

static void cancel_requests(struct history_writer *w)
{
	struct history_request *request;

	while ((request = pop_request(w))) {
		request->result = -ECANCELED;
		request->done(request);
	}
}

static void *writer_main(void *arg)
{
	struct history_writer *w = arg;
	struct minute_counters minute = { 0 };
	u64 until;
	int r;

	r = open_store(w);
	if (r < 0)
		report_write_result(w, r);
	pthread_mutex_lock(&w->lock);
	while (!w->quit) {
		struct history_request *request = pop_request(w);

		pthread_mutex_unlock(&w->lock);
		until = do_due_work(w, request);
		pthread_mutex_lock(&w->lock);
		if (!w->quit && !w->first)
			wait_until(w, until);
	}
	pthread_mutex_unlock(&w->lock);
	r = collect_minute(w, history_collect_last_minute, &minute);
	pthread_mutex_lock(&w->lock);
	w->stopped = true;
	pthread_cond_broadcast(&w->wake);
	cancel_requests(w);
	pthread_mutex_unlock(&w->lock);
	write_minute(w, &minute, r);
	w->store = history_store_free(w->store);
	return NULL;
}

static void read_boot_id(char *to, size_t size)
{
	FILE *file = fopen(BOOT_ID_PATH, "re");

	if (!file || !fgets(to, (int)size, file))
		*to = 0;
	if (file)
		fclose(file);
}

static void init_wake(pthread_cond_t *wake)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(wake, &attributes);
	pthread_condattr_destroy(&attributes);
}

int history_writer_new(const struct history_writer_config *config,
		       struct history_writer **ret_writer)
{
	struct history_writer *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->worker = config->worker;
	w->bytes = config->bytes;
	w->path = strdup(config->path);
	r = w->path ? worker_call(config->worker, history_start_minutes, NULL) : -ENOMEM;
	if (r >= 0) {
		read_boot_id(w->boot_id, sizeof(w->boot_id));
		pthread_mutex_init(&w->lock, NULL);
		init_wake(&w->wake);
		w->began_ns = time_clock_ns(CLOCK_BOOTTIME);
		plan_minute(w);
		r = -pthread_create(&w->thread, NULL, writer_main, w);
		if (r < 0) {
			pthread_cond_destroy(&w->wake);
			pthread_mutex_destroy(&w->lock);
		}
	}
	if (r < 0) {
		free(w->path);
		free(w);
		return r;
	}
	*ret_writer = w;
	return 0;
}

void history_writer_stop(struct history_writer *w)
{
	u64 until = time_now_ns() + STOP_TIMEOUT_NS;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->quit = true;
	pthread_cond_broadcast(&w->wake);
	while (!w->stopped && time_now_ns() < until)
		wait_until(w, until);
	pthread_mutex_unlock(&w->lock);
}

struct history_writer *history_writer_free(struct history_writer *w)
{
	if (!w)
		return NULL;
	history_writer_stop(w);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w->path);
	free(w);
	return NULL;
}
