/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passes the windows of a recording to several threads. The caller's thread finds the windows in
 * the file and queues them; each other thread takes a window, reads its bytes and passes it to its
 * own sink. If the queue is full, the caller's thread does not wait: it takes a window itself, and
 * passes it to its own sink.
 *
 * Windows reach the sinks in no order, and any window may reach any sink.
 */
#ifndef SPEPROF_WINDOW_QUEUE_H
#define SPEPROF_WINDOW_QUEUE_H

#include "recording-internal.h"

/**
 * window_queue_new() - start the threads
 * @recording: the recording
 * @sinks: sinks, @count of them; the first one belongs to the caller's thread
 * @count: number of threads, with the caller's; at least 2
 *
 * If fewer threads can be created, the other sinks get no window.
 *
 * Return: the queue; end it with window_queue_drain_and_free(). NULL if memory cannot be allocated,
 * or if no thread can be created.
 */
struct window_queue *window_queue_new(struct recording *recording, const struct source_sink *sinks,
				      u32 count);

/**
 * window_queue_add() - queue a window
 * @queue: the queue
 * @offset, @size: range of the window's bytes in the file
 * @like: fields of the window, without its bytes; copied
 */
void window_queue_add(struct window_queue *queue, u64 offset, u64 size,
		      const struct source_window *like);

/**
 * window_queue_drain_and_free() - wait until all windows were passed to sinks; end the threads, and
 * free the queue
 * @queue: the queue, or NULL
 *
 * Return: NULL.
 */
struct window_queue *window_queue_drain_and_free(struct window_queue *queue);

#endif
