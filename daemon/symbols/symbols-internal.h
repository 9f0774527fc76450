/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declarations that the queries (symbols.c) and the threads that resolve addresses (resolver.c)
 * share.
 */
#ifndef SPEPROF_SYMBOLS_INTERNAL_H
#define SPEPROF_SYMBOLS_INTERNAL_H

#include <pthread.h>

#include "helper-link.h"
#include "job-queue.h"
#include "name-cache.h"
#include "symbols.h"

/* The origin of the symbols of a mapping. */
enum symbol_mapping_kind {
	MAPPING_FILE,
	MAPPING_KERNEL,
	MAPPING_VDSO,
	MAPPING_DATA, /* the data of a mapped file */
	MAPPING_JIT, /* all anonymous memory of a process, which may contain compiled code */
};

/**
 * struct symbol_mapping_key - identifies a mapping
 * @path: hash of the path. Only mappings of one @pid can collide, so a user cannot harm other users
 * @inode, @device: numbers of the file; 0 if unknown
 * @build_id: hash of the build id; 0 if unknown
 * @process: MAPPING_JIT: identifies the process even if its PID is reused
 * @pid: live: a process with the mapping; else 0
 * @kind: &enum symbol_mapping_kind
 * @live: the mapping belongs to this machine, not to a recording
 */
struct symbol_mapping_key {
	u64 path;
	u64 inode;
	u64 build_id;
	u32 device;
	u64 process;
	s32 pid;
	u8 kind;
	bool live;
};

/**
 * struct symbol_mapping - a mapping and the file in the cache that has its symbols
 * @file: the file
 * @previous: the previous file; its names are used until @file has names
 * @job: the queued job of this mapping; NULL if there is none, or its thread has begun it
 * @checked_ms: time of the last check of the mapped file; 0 for never
 * @rejected_ms: time at which a helper failed to open the file, so that it is rejected; 0 if none
 * did
 * @last_used: value of &symbols_cache.clock at the last query
 * @stamp: changes whenever the entry is reused for another mapping
 * @in_use: the entry is valid
 * @missed: an address without a symbol was queried since the last job
 */
struct symbol_mapping {
	struct symbol_mapping_key key;
	struct name_file_ref file;
	struct name_file_ref previous;
	struct resolve_job *job;
	u64 checked_ms;
	u64 rejected_ms;
	u64 last_used;
	u32 stamp;
	bool in_use;
	bool missed;
};

/**
 * struct address_set - a hash table of addresses with open addressing
 * @slot: @mask + 1 entries, a power of two; 0 is a free entry
 * @count: number of addresses in @slot
 * @zero: the set also contains the address 0
 */
struct address_set {
	u64 *slot;
	u32 count;
	u32 mask;
	bool zero;
};

/**
 * address_set_add() - add an address; returns false if the set has it already, or if memory cannot
 * be allocated
 */
bool address_set_add(struct address_set *set, u64 address);

/** address_set_clear() - free the memory of @set; afterwards it is empty */
void address_set_clear(struct address_set *set);

/** address_set_count() - return the number of addresses */
static inline u32 address_set_count(const struct address_set *set)
{
	return set->count + set->zero;
}

/**
 * address_set_get_sorted() - get the addresses in ascending order
 * @ret_count: receives the number of addresses
 *
 * Return: an array, which the caller frees; NULL if the set is empty, or if memory cannot be
 * allocated.
 */
u64 *address_set_get_sorted(const struct address_set *set, u32 *ret_count);

/**
 * struct resolve_job - a request to resolve addresses of a mapping
 * @mapping, @stamp: index of the mapping, and its stamp when the job was made. If the stamps
 *	differ, the entry was reused and the result is discarded
 * @key: copy of the mapping's key
 * @names, @lines: addresses with a requested function or source line. Both may be empty: then only
 *	the mapped file is determined
 * @build_id, @build_id_size: build id of the mapping; a file with another build id is rejected. 0
 *	bytes if unknown
 * @missed: copy of the mapping's @missed
 * @path: path of the mapped file
 */
struct resolve_job {
	struct resolve_job *next;
	u32 mapping;
	u32 stamp;
	struct symbol_mapping_key key;
	struct address_set names;
	struct address_set lines;
	u8 build_id[BUILD_ID_MAX];
	u8 build_id_size;
	bool missed;
	char path[];
};

/** job_free() - free a job, which no queue contains */
void job_free(struct resolve_job *job);

/**
 * struct helper_slot - a slot of the reader, in which one file is open
 * @file: the file in the cache
 * @generation: &helper_link.generation of the reader that has the file open; 0 if the slot is free
 * @last_used: value of &resolver_thread.slot_clock at the last use
 * @attached: true if separate debug information was searched
 */
struct helper_slot {
	struct name_file_ref file;
	u32 generation;
	u64 last_used;
	bool attached;
};

/* Entries of &symbols_cache.resolver. Resolver 0 runs no jobs of suspects (job-queue.h). */
#define RESOLVERS 2

/**
 * struct resolver_thread - a thread that resolves addresses, with its own helpers
 *
 * Only the thread uses what follows @started, except that symbols_free() ends @link after it has
 * joined the thread.
 *
 * @slot_clock: counts uses of slots, to find the least recently used one
 * @request, @open: buffers for requests to the two helpers, which are too large for the stack
 */
struct resolver_thread {
	struct symbols_cache *symbols;
	pthread_t thread;
	bool started;
	struct helper_link link;
	struct helper_slot slot[SYMBOL_SLOTS];
	u64 slot_clock;
	u64 request[(sizeof(struct symbol_request) + SYMBOL_ADDRESSES * sizeof(u64)) / sizeof(u64)];
	struct open_request open;
};

/**
 * struct symbols_cache - the cache, the jobs and the threads
 * @lock: protects everything but @resolver and @stop
 * @changed: signalled when a job is added or completed, and when @quit is set
 * @mapping: table of mappings, MAPPINGS entries
 * @incoming, @incoming_last: new jobs. A resolver moves them into @queues, because the search for
 *	the owner of a job reads /proc, which must not delay a query
 * @jobs: number of jobs in @incoming, in @queues and in progress
 * @clock: counts queries, to find the least recently used mapping
 * @pending: number of addresses in all jobs
 * @reason, @jit_reason: why names are missing, and why those of compiled code are; "": no reason
 * @stop: an eventfd that aborts the helper calls of all resolvers
 * @last_path, @last_path_hash, @last_kind: path, its hash, and kind of the binary that was queried
 *	last, because callers query many locations of one binary in succession
 * @kernel_epoch: number of times that kernel symbols were read again because one was missing
 * @quit: the resolvers must exit
 */
struct symbols_cache {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct symbols_config config;
	struct name_cache cache;
	struct symbol_mapping *mapping;
	struct resolve_job *incoming;
	struct resolve_job *incoming_last;
	struct job_queues queues;
	u64 jobs;
	u64 clock;
	u64 pending;
	u64 failures;
	u64 quarantined;
	char reason[SYMBOL_REASON];
	char jit_reason[SYMBOL_REASON];
	char last_path[PATH_MAX];
	u64 last_path_hash;
	u64 kernel_epoch;
	int stop;
	u8 last_kind;
	bool quit;

	struct resolver_thread resolver[RESOLVERS];
};

/** symbols_now_ms() - return CLOCK_MONOTONIC in ms, cheaply: up to one tick late, and never 0 */
u64 symbols_now_ms(void);

/**
 * symbols_wait_until() - wait for &symbols_cache.changed, at most until a time
 * @until_ms: the time, as symbols_now_ms() returns it
 *
 * Return: false if the time has passed.
 *
 * Locking: the caller holds @s->lock.
 */
bool symbols_wait_until(struct symbols_cache *s, u64 until_ms);

/**
 * symbols_start_resolvers() - start the threads that the jobs need
 *
 * The second thread is needed if there are several jobs, or if a helper has failed: resolver 0 runs
 * no jobs of suspects.
 *
 * Return: true if resolver 0 runs.
 *
 * Locking: the caller holds @s->lock.
 */
bool symbols_start_resolvers(struct symbols_cache *s);

/**
 * resolver_run() - the main function of a resolver's thread; @arg is the &struct resolver_thread
 */
void *resolver_run(void *arg);

/**
 * vdso_copy_to_memfd() - copy this process's vDSO, which all 64-bit processes share, to a file in
 * memory
 *
 * Return: a descriptor; -ENOENT if this kernel has no vDSO; another negative errno.
 */
int vdso_copy_to_memfd(void);

#endif
