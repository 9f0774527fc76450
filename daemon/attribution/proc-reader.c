// SPDX-License-Identifier: LGPL-2.1-or-later
#include "proc-reader.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "util/time.h"

#define STACK_BYTES (128U << 10)
/*
 * Limits of the number of answers, and of answers with mappings, that wait to be applied. The
 * threads run no further query at the limit
 */
#define ANSWERS_MAX	 256
#define MAPS_ANSWERS_MAX 1
/* time between two attempts to allocate an answer, ns */
#define MEMORY_RETRY_NS 1000000000ULL

/**
 * struct proc_queue - a queue of queries
 * @query: the queries, the oldest first; @count of them
 * @budget: limits the bytes that the threads of this queue read
 */
struct proc_queue {
	struct proc_query query[PROC_QUERIES];
	u32 count;
	struct proc_read_budget budget;
};

/**
 * struct proc_thread - a background thread
 * @reader: the reader to which it belongs
 * @queue: the queue that it serves
 * @thread: its id
 * @owner: owner of the mappings that it reads; 0: none
 * @reading: whether it runs a query, and may be blocked in the kernel
 * @started_ns: time at which it began the query that it runs, CLOCK_MONOTONIC
 * @spare: answer to use if memory for an answer cannot be allocated; allocated before a query is
 *	removed from the queue
 */
struct proc_thread {
	struct proc_reader *reader;
	struct proc_queue *queue;
	pthread_t thread;
	u64 owner;
	bool reading;
	u64 started_ns;
	struct proc_answer *spare;
};

/**
 * struct proc_reader
 * @lock: protects everything below, except that proc_reader_has_answers() reads @answers without it
 * @work: signalled when a query is queued, a read ends, an answer is removed, or @quit is set
 * @cgroup_ns: converts cgroup paths
 * @log: path of /var/log
 * @proc: descriptor of /proc
 * @fd: eventfd, readable if there may be answers
 * @users: number of running threads, plus 1 until proc_reader_free(). The last user frees the
 * structure
 * @quit: whether the threads must end
 * @answers: number of answers in the list
 * @maps_answers: number of answers in the list that contain mappings
 * @first, @last: list of answers, the oldest first
 * @tasks, @pods, @maps: the queues
 * @threads: number of started threads
 * @thread: one thread for @tasks, one for @pods, the others for @maps
 */
struct proc_reader {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct cgroup_namespace cgroup_ns;
	char log[128];
	int proc;
	int fd;
	u32 users;
	bool quit;
	u32 answers;
	u32 maps_answers;
	struct proc_answer *first;
	struct proc_answer *last;
	struct proc_queue tasks;
	struct proc_queue pods;
	struct proc_queue maps;
	u32 threads;
	struct proc_thread thread[2 + PROC_MAP_THREADS];
};

u64 proc_read_budget_get_delay(struct proc_read_budget *b, u64 now_ns)
{
	u64 passed = now_ns - b->at_ns, full = PROC_BYTES_BURST / PROC_BYTES_PER_SECOND + 1;

	if (!b->at_ns || passed / 1000000000 >= 2 * full)
		b->bytes = PROC_BYTES_BURST;
	else
		b->bytes += (s64)(passed * PROC_BYTES_PER_SECOND / 1000000000);
	if (b->bytes > (s64)PROC_BYTES_BURST)
		b->bytes = PROC_BYTES_BURST;
	b->at_ns = now_ns;
	if (b->bytes > 0)
		return 0;
	return (u64)(1 - b->bytes) * 1000000000 / PROC_BYTES_PER_SECOND + 1;
}

void proc_read_budget_charge(struct proc_read_budget *b, u64 bytes)
{
	b->bytes -= (s64)bytes;
}

/* Drop a reference. The caller holds the lock, which is released. */
static void reader_put(struct proc_reader *r)
{
	bool last = !--r->users;

	pthread_mutex_unlock(&r->lock);
	if (!last)
		return;
	while (r->first) {
		struct proc_answer *a = r->first;

		r->first = a->list_next;
		proc_answer_deinit(a);
		free(a);
	}
	for (u32 i = 0; i < r->pods.count; i++)
		free(r->pods.query[i].pod);
	close(r->proc);
	close(r->fd);
	pthread_cond_destroy(&r->work);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static bool owner_has_read_in_progress(const struct proc_reader *r, u64 owner)
{
	for (u32 i = 0; owner && i < r->threads; i++)
		if (r->thread[i].owner == owner)
			return true;
	return false;
}

/* Remove the oldest query of an owner without a read in progress. Return false if there is none. */
static bool queue_pop(const struct proc_reader *r, struct proc_queue *q, struct proc_query *ret)
{
	for (u32 i = 0; i < q->count; i++) {
		if (owner_has_read_in_progress(r, q->query[i].owner))
			continue;
		*ret = q->query[i];
		q->count--;
		memmove(&q->query[i], &q->query[i + 1], (q->count - i) * sizeof(*ret));
		return true;
	}
	return false;
}

/*
 * Wait until &proc_reader.work is signalled, or for @ns if that is not 0. The caller holds the
 * lock.
 */
static void thread_wait_for_work(struct proc_reader *r, u64 ns)
{
	struct timespec until;

	if (!ns) {
		pthread_cond_wait(&r->work, &r->lock);
		return;
	}
	ns += time_now_ns();
	until = (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	pthread_cond_timedwait(&r->work, &r->lock, &until);
}

static bool reader_has_capacity(const struct proc_reader *r, const struct proc_thread *t)
{
	return r->answers < ANSWERS_MAX &&
	       (t->queue != &r->maps || r->maps_answers < MAPS_ANSWERS_MAX);
}

/*
 * Return the time until a further read of mappings may begin, ns: 0 if less than PROC_MAP_READERS
 * reads run that do not count as blocked.
 */
static u64 maps_get_delay(const struct proc_reader *r, u64 now_ns)
{
	u64 passed, delay = UINT64_MAX;
	u32 readers = 0;

	for (u32 i = 0; i < r->threads; i++) {
		const struct proc_thread *t = &r->thread[i];

		passed = now_ns - t->started_ns;
		if (t->queue != &r->maps || !t->reading || passed >= PROC_MAP_BLOCKED_NS)
			continue;
		readers++;
		if (PROC_MAP_BLOCKED_NS - passed < delay)
			delay = PROC_MAP_BLOCKED_NS - passed;
	}
	return readers < PROC_MAP_READERS ? 0 : delay;
}

/* Return the time until the limits permit a query of @t, ns. The caller holds the lock. */
static u64 thread_get_delay(const struct proc_thread *t)
{
	u64 now = time_now_ns(), ns = proc_read_budget_get_delay(&t->queue->budget, now);

	return ns || t->queue != &t->reader->maps ? ns : maps_get_delay(t->reader, now);
}

/* Wait for the next query of @t. The caller holds the lock. Returns false if @t must end. */
static bool thread_wait_for_query(struct proc_thread *t, struct proc_query *ret)
{
	struct proc_reader *r = t->reader;
	u64 ns;

	while (!r->quit) {
		ns = thread_get_delay(t);
		if (!t->spare)
			t->spare = malloc(sizeof(*t->spare));
		if (!t->spare)
			ns = MEMORY_RETRY_NS;
		if (!ns && reader_has_capacity(r, t) && queue_pop(r, t->queue, ret))
			return true;
		thread_wait_for_work(r, ns);
	}
	return false;
}

static void answer_push(struct proc_reader *r, struct proc_answer *answer)
{
	const u64 one = 1;

	if (r->last)
		r->last->list_next = answer;
	else
		r->first = answer;
	r->last = answer;
	__atomic_store_n(&r->answers, r->answers + 1, __ATOMIC_RELAXED);
	r->maps_answers += answer->mappings > 0;
	/* The write fails only if the counter is full, and then the eventfd is readable. */
	if (write(r->fd, &one, sizeof(one)) < 0)
		return;
}

/*
 * Run @query without the lock. If memory cannot be allocated, the answer is &proc_thread.spare with
 * the result -ENOMEM.
 */
static struct proc_answer *thread_run_query(struct proc_thread *t, const struct proc_query *query)
{
	struct proc_reader *r = t->reader;
	struct proc_answer *answer = malloc(sizeof(*answer));

	if (answer) {
		proc_query_run(r->proc, r->log, &r->cgroup_ns, query, answer);
		return answer;
	}
	answer = t->spare;
	t->spare = NULL;
	*answer = (struct proc_answer){ .query = *query,
					.started_ns = time_now_ns(),
					.result = -ENOMEM };
	return answer;
}

static void *thread_run(void *arg);

/* Start the next thread of &proc_reader.thread for @queue. The caller holds the lock. */
static int thread_start(struct proc_reader *r, struct proc_queue *queue)
{
	struct proc_thread *t = &r->thread[r->threads];
	pthread_attr_t attr;
	sigset_t all, before;
	int e;

	*t = (struct proc_thread){ .reader = r, .queue = queue };
	t->spare = malloc(sizeof(*t->spare));
	if (!t->spare)
		return -ENOMEM;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e = pthread_create(&t->thread, &attr, thread_run, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (e) {
		free(t->spare);
		return -e;
	}
	r->threads++;
	r->users++;
	return 0;
}

/*
 * Start a thread for mappings if none is idle, because the running reads may block. If that fails,
 * queries wait until a thread is idle. The caller holds the lock.
 */
static void maps_ensure_idle_thread(struct proc_reader *r)
{
	for (u32 i = 0; i < r->threads; i++)
		if (r->thread[i].queue == &r->maps && !r->thread[i].reading)
			return;
	if (r->threads < ARRAY_SIZE(r->thread))
		thread_start(r, &r->maps);
}

static void *thread_run(void *arg)
{
	struct proc_thread *t = arg;
	struct proc_reader *r = t->reader;
	struct proc_answer *answer;
	struct proc_query query;

	pthread_mutex_lock(&r->lock);
	while (thread_wait_for_query(t, &query)) {
		t->owner = query.owner;
		t->reading = true;
		t->started_ns = time_now_ns();
		if (t->queue == &r->maps)
			maps_ensure_idle_thread(r);
		pthread_mutex_unlock(&r->lock);
		answer = thread_run_query(t, &query);
		pthread_mutex_lock(&r->lock);
		t->owner = 0;
		t->reading = false;
		proc_read_budget_charge(&t->queue->budget, answer->bytes);
		answer_push(r, answer);
		/* A queued query of the same owner may have waited for the end of this read. */
		pthread_cond_broadcast(&r->work);
	}
	free(t->spare);
	reader_put(r);
	return NULL;
}

static int threads_start(struct proc_reader *r)
{
	struct proc_queue *queues[] = { &r->tasks, &r->pods, &r->maps };
	int e = 0;

	pthread_mutex_lock(&r->lock);
	for (u32 i = 0; !e && i < ARRAY_SIZE(queues); i++)
		e = thread_start(r, queues[i]);
	pthread_mutex_unlock(&r->lock);
	return e;
}

int proc_reader_new(int proc, const char *log, const struct cgroup_namespace *cgroup_ns,
		    struct proc_reader **ret_reader)
{
	struct proc_reader *r = calloc(1, sizeof(*r));
	pthread_condattr_t attr;
	int e;

	if (!r)
		return -ENOMEM;
	*r = (struct proc_reader){ .cgroup_ns = *cgroup_ns, .proc = -1, .fd = -1, .users = 1 };
	snprintf(r->log, sizeof(r->log), "%s", log);
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->work, &attr);
	pthread_condattr_destroy(&attr);
	r->proc = fcntl(proc, F_DUPFD_CLOEXEC, 0);
	r->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	e = r->proc < 0 || r->fd < 0 ? -errno : threads_start(r);
	if (e < 0) {
		proc_reader_free(r);
		return e;
	}
	*ret_reader = r;
	return 0;
}

struct proc_reader *proc_reader_free(struct proc_reader *r)
{
	pthread_t idle[ARRAY_SIZE(r->thread)];
	u32 count = 0;

	if (!r)
		return NULL;
	pthread_mutex_lock(&r->lock);
	r->quit = true;
	for (u32 i = 0; i < r->threads; i++) {
		if (r->thread[i].reading)
			pthread_detach(r->thread[i].thread);
		else
			idle[count++] = r->thread[i].thread;
	}
	pthread_cond_broadcast(&r->work);
	reader_put(r);
	for (u32 i = 0; i < count; i++)
		pthread_join(idle[i], NULL);
	return NULL;
}

bool proc_reader_push_query(struct proc_reader *r, const struct proc_query *query)
{
	struct proc_queue *q = query->kind == PROC_QUERY_MAPS ? &r->maps :
			       query->kind == PROC_QUERY_POD  ? &r->pods :
								&r->tasks;
	bool fits;

	pthread_mutex_lock(&r->lock);
	fits = q->count < PROC_QUERIES;
	if (fits) {
		q->query[q->count++] = *query;
		pthread_cond_broadcast(&r->work);
	}
	pthread_mutex_unlock(&r->lock);
	return fits;
}

bool proc_reader_has_answers(const struct proc_reader *r)
{
	return __atomic_load_n(&r->answers, __ATOMIC_RELAXED);
}

int proc_reader_get_fd(const struct proc_reader *r)
{
	return r->fd;
}

struct proc_answer *proc_reader_pop_answer(struct proc_reader *r)
{
	struct proc_answer *a;
	u64 count;

	pthread_mutex_lock(&r->lock);
	a = r->first;
	if (a) {
		r->first = a->list_next;
		r->last = r->first ? r->last : NULL;
		__atomic_store_n(&r->answers, r->answers - 1, __ATOMIC_RELAXED);
		r->maps_answers -= a->mappings > 0;
		pthread_cond_broadcast(&r->work);
	} else if (read(r->fd, &count, sizeof(count)) < 0) {
		/* The eventfd was not readable, so there was nothing to clear. */
		count = 0;
	}
	pthread_mutex_unlock(&r->lock);
	return a;
}

u64 proc_reader_get_memory(const struct proc_reader *r)
{
	return sizeof(*r) + ANSWERS_MAX * sizeof(struct proc_answer) +
	       (PROC_MAP_THREADS + MAPS_ANSWERS_MAX) * (u64)PROC_ANSWER_BYTES;
}
