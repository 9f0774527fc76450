/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the asking side (symbols.c) and the threads that find out (resolver.c) share. */
#ifndef SPEPROF_SYMBOLS_INTERNAL_H
#define SPEPROF_SYMBOLS_INTERNAL_H

#include <pthread.h>

#include "helper-link.h"
#include "job-queue.h"
#include "name-cache.h"
#include "symbols.h"

/* What a mapping's addresses are looked up in. */
enum mapped_kind {
	MAPPED_FILE,
	MAPPED_KERNEL,
	MAPPED_VDSO,
	MAPPED_JIT, /* what a process made itself: one for all of its own memory */
};

/** struct mapped_key - who mapped what; paths by their hash, which only a process's own meet */
struct mapped_key {
	u64 path;
	u64 inode;
	u64 id; /* hash of the build id, 0 for none */
	u32 device;
	u64 process; /* MAPPED_JIT: of @pid now (&struct attribute_location) */
	s32 pid;
	u8 kind;
	bool live;
};

/**
 * struct mapped - where the names of a mapping are
 * @file, @before: in the cache; @before's names stay until those of @file are there
 * @job: what is to be found out, and not begun yet; NULL for nothing
 * @stamp: differs each time the entry is given to another mapping
 * @checked_ms: when it was last found which file it is; 0: never
 * @refused_ms: when opening it ended a helper, for which it is refused; 0: it did not
 * @missed: an address without a name was asked for since
 */
struct mapped {
	struct mapped_key key;
	struct name_ref file;
	struct name_ref before;
	struct job *job;
	u64 checked_ms;
	u64 refused_ms;
	u64 used;
	u32 stamp;
	bool in_use;
	bool missed;
};

/** struct address_set - open addressing; 0 is no address of it: @zero */
struct address_set {
	u64 *slot;
	u32 count;
	u32 mask;
	bool zero;
};

bool address_set_add(struct address_set *set, u64 address);
void address_set_clear(struct address_set *set);

/** address_set_list() - sorted, allocated; NULL if it is empty or memory is */
u64 *address_set_list(const struct address_set *set, u32 *ret_count);

/**
 * struct job - a mapping's addresses that are to be looked up
 * @mapped, @stamp: whose
 * @missed: of @mapped, when it was made
 */
struct job {
	struct job *next;
	u32 mapped;
	u32 stamp;
	struct mapped_key key;
	struct address_set names;
	struct address_set lines;
	u8 build_id[BUILD_ID_MAX];
	u8 build_id_size;
	bool missed;
	char path[];
};

void job_free(struct job *job);

/** struct helper_slot - which file a slot of the helper has, in which of its lives */
struct helper_slot {
	struct name_ref file;
	u32 life;
	u64 used;
	bool attached;
};

/* Owners that are served at once. The first lane serves no suspects (job-queue.h). */
#define SYMBOL_LANES 2

/** struct symbol_lane - a thread with helpers of its own; what only it uses */
struct symbol_lane {
	struct symbols *symbols;
	pthread_t thread;
	bool started;
	struct helper_link link;
	struct helper_slot slot[SYMBOL_SLOTS];
	u64 slot_clock;
	u64 request[(sizeof(struct symbol_request) + SYMBOL_ADDRESSES * sizeof(u64)) / sizeof(u64)];
	struct open_request open;
};

/**
 * struct symbols
 * @lock: all but the lanes
 * @changed: signalled with each job that is queued or done
 * @first, @last: jobs that came, and are in no queue yet
 * @jobs: those, those in @queues and those at work
 * @pending: addresses in jobs, queued or at work
 * @stop: an eventfd that ends calls of all lanes
 * @last_path, @last_path_hash, @last_kind: of the binary that was asked for last
 * @kernel_epoch: counts how often the kernel's names were read again for one that was not there
 */
struct symbols {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct symbols_config config;
	struct name_cache cache;
	struct mapped *mapped;
	struct job *first;
	struct job *last;
	struct job_queues queues;
	u64 jobs;
	u64 clock;
	u64 pending;
	u64 failures;
	u64 poisoned;
	char reason[SYMBOL_REASON];
	char last_path[PATH_MAX];
	u64 last_path_hash;
	u64 kernel_epoch;
	int stop;
	u8 last_kind;
	bool quit;

	struct symbol_lane lane[SYMBOL_LANES];
};

u64 symbols_now_ms(void);

/**
 * symbols_start_lanes() - start the threads that the jobs need
 *
 * The second one is needed where jobs come while there are others, and for suspects.
 *
 * Return: whether the first one runs.
 *
 * Locking: under @s->lock.
 */
bool symbols_start_lanes(struct symbols *s);

/** resolver_run() - the thread of a lane; @arg is the &struct symbol_lane */
void *resolver_run(void *arg);

#endif
