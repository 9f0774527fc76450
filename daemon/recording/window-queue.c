// SPDX-License-Identifier: LGPL-2.1-or-later
#include "window-queue.h"

#include <pthread.h>
#include <stdlib.h>

/* Entries of &window_queue.window: a few for each thread, so that each thread always has work. */
#define QUEUE_WINDOWS 256

/** struct queued_window - a window: its bytes in the file, and its fields without the bytes */
struct queued_window {
	u64 offset;
	u64 size;
	struct source_window like;
};

/**
 * struct window_thread - a thread that takes windows
 * @queue: the queue
 * @reader: the buffer and the sink of the thread
 * @thread: the thread
 */
struct window_thread {
	struct window_queue *queue;
	struct window_reader reader;
	pthread_t thread;
};

/**
 * struct window_queue - the queue
 * @lock: protects @window, @first, @waiting and @ended
 * @changed: signalled when a window is added, and at the end
 * @window: a ring; @waiting windows from @first on
 * @ended: no window will be added
 * @own: reader of the caller's thread
 * @threads: the other threads, @count of them
 */
struct window_queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct queued_window window[QUEUE_WINDOWS];
	u32 first;
	u32 waiting;
	bool ended;
	struct window_reader own;
	u32 count;
	struct window_thread threads[];
};

/* Take the oldest window. The caller holds the lock and has checked that a window is waiting. */
static struct queued_window window_dequeue(struct window_queue *queue)
{
	struct queued_window window = queue->window[queue->first];

	queue->first = (queue->first + 1) % QUEUE_WINDOWS;
	queue->waiting--;
	return window;
}

static void *thread_run(void *ctx)
{
	struct window_thread *self = ctx;
	struct window_queue *queue = self->queue;
	struct queued_window window;

	pthread_mutex_lock(&queue->lock);
	for (;;) {
		while (!queue->waiting && !queue->ended)
			pthread_cond_wait(&queue->changed, &queue->lock);
		if (!queue->waiting)
			break;
		window = window_dequeue(queue);
		pthread_mutex_unlock(&queue->lock);
		window_reader_emit(&self->reader, window.offset, window.size, &window.like, NULL);
		pthread_mutex_lock(&queue->lock);
	}
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

/*
 * Start one more thread. Returns false if memory cannot be allocated, or if the thread cannot be
 * created.
 */
static bool thread_start(struct window_queue *queue, const struct source_sink *sink)
{
	struct window_thread *t = &queue->threads[queue->count];

	t->queue = queue;
	t->reader = queue->own;
	t->reader.sink = sink;
	t->reader.buf = malloc(t->reader.size);
	if (!t->reader.buf)
		return false;
	if (pthread_create(&t->thread, NULL, thread_run, t)) {
		free(t->reader.buf);
		return false;
	}
	queue->count++;
	return true;
}

struct window_queue *window_queue_new(struct recording *recording, const struct source_sink *sinks,
				      u32 count)
{
	struct window_queue *queue =
		calloc(1, sizeof(*queue) + (count - 1) * sizeof(struct window_thread));

	if (!queue)
		return NULL;
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
	queue->own = recording->reader;
	queue->own.sink = &sinks[0];
	for (u32 i = 1; i < count; i++)
		if (!thread_start(queue, &sinks[i]))
			break;
	return queue->count ? queue : window_queue_drain_and_free(queue);
}

/*
 * Pass the oldest waiting window to the caller's sink. The caller holds the lock, which is released
 * meanwhile.
 */
static void window_emit_in_caller(struct window_queue *queue)
{
	struct queued_window window = window_dequeue(queue);

	pthread_mutex_unlock(&queue->lock);
	window_reader_emit(&queue->own, window.offset, window.size, &window.like, NULL);
	pthread_mutex_lock(&queue->lock);
}

void window_queue_add(struct window_queue *queue, u64 offset, u64 size,
		      const struct source_window *like)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->waiting == QUEUE_WINDOWS)
		window_emit_in_caller(queue);
	queue->window[(queue->first + queue->waiting) % QUEUE_WINDOWS] =
		(struct queued_window){ .offset = offset, .size = size, .like = *like };
	queue->waiting++;
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

struct window_queue *window_queue_drain_and_free(struct window_queue *queue)
{
	if (!queue)
		return NULL;
	pthread_mutex_lock(&queue->lock);
	queue->ended = true;
	pthread_cond_broadcast(&queue->changed);
	while (queue->waiting)
		window_emit_in_caller(queue);
	pthread_mutex_unlock(&queue->lock);
	for (u32 i = 0; i < queue->count; i++) {
		pthread_join(queue->threads[i].thread, NULL);
		free(queue->threads[i].reader.buf);
	}
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
	return NULL;
}
