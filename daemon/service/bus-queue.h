/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that wait for their turn: those of users who may only read. The bus is read up
 * first, so that whoever asks too much at once is refused at once; then each user in turn
 * has one call answered, and one who reads after each of somebody else, who may be many. Where
 * the bus is not read up since somebody floods it, one is answered after a second and three times
 * what the last one took. Root's do not wait.
 */
#ifndef SPEPROF_BUS_QUEUE_H
#define SPEPROF_BUS_QUEUE_H

#include <systemd/sd-event.h>

#include "bus-caller.h"

/*
 * Calls that wait at once, of all, of all who are not in the group, and of one user. Whoever has a
 * range of uids is many users: they leave those who read as many places as one may take.
 */
#define BUS_QUEUE	 64
#define BUS_QUEUE_OTHERS 48
#define BUS_QUEUE_USER	 16

/** struct bus_waiting - @message is a reference; @what is of who runs it */
struct bus_waiting {
	sd_bus_message *message;
	const void *what;
	struct bus_caller caller;
};

/**
 * struct bus_queue
 * @source, @late: run it when the bus has been read up, and when that takes too long
 * @run: called for one after the other, of the event loop
 * @refuse: called for one that gave its place to another; its user had the most
 * @last: the user whose turn it was, and whether it was one who reads
 */
struct bus_queue {
	sd_event_source *source;
	sd_event_source *late;
	void (*run)(void *ctx, const struct bus_waiting *waiting);
	void (*refuse)(void *ctx, const struct bus_waiting *waiting);
	void *ctx;
	uid_t last;
	bool last_reads;
	u32 count;
	struct bus_waiting waiting[BUS_QUEUE];
};

int bus_queue_init(struct bus_queue *queue, sd_event *event,
		   void (*run)(void *ctx, const struct bus_waiting *waiting),
		   void (*refuse)(void *ctx, const struct bus_waiting *waiting), void *ctx);

/** bus_queue_deinit() - nobody who waits is answered */
void bus_queue_deinit(struct bus_queue *queue);

/**
 * bus_queue_add() - a reference is taken
 *
 * Where all places are taken, the last call of the user who has the most gives way, if that leaves
 * it as many as the caller's then has.
 *
 * Return: 0; -ENOBUFS: the user has as many as it may, or nobody has more than it.
 */
int bus_queue_add(struct bus_queue *queue, sd_bus_message *message, const void *what,
		  const struct bus_caller *caller);

#endif
