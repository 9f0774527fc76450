/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Executable memory, as BPF programs tell of it in a ring of its own. */
#ifndef SPEPROF_MAP_BPF_H
#define SPEPROF_MAP_BPF_H

#include "codec/env.h"
#include "event-ring.h"
#include "tasks/task-event.h"
#include "task-record.h"

struct map_bpf;

/** struct map_probe - memory of this process that is told of when it is mapped */
struct map_probe {
	void *at;
	size_t size;
};

/**
 * map_bpf_new() - load and attach the programs
 * @size: bytes of the ring that they write to, a power of two of pages
 * @rate: bytes that a cgroup or user may write in a second, on the average, and an eighth of it
 *	at once: see bucket_key() in maps.bpf.c
 * @functions: attach to functions; else to the tracepoint
 *
 * Where it succeeds it may still be that nothing is told: map_probe() finds out.
 */
int map_bpf_new(size_t size, u64 rate, bool functions, struct map_bpf **ret_bpf);

struct map_bpf *map_bpf_free(struct map_bpf *bpf);

/** map_bpf_fd() - signalled, once, when the ring is half full (EPOLLET); owned by @bpf */
int map_bpf_fd(const struct map_bpf *bpf);

/** map_bpf_ring() - of struct map_record, owned by @bpf */
struct event_ring *map_bpf_ring(struct map_bpf *bpf);

/**
 * map_bpf_lost() - report mappings that were lost
 * @until_ns: CLOCK_MONOTONIC: all events up to then were handed over
 * @sink: its @task is called with TASK_LOST_MAPS: for each process that lost some, and with
 *	@pid 0 for those that may be any process's
 *
 * What is found lost is reported by a later call, whose @until_ns is not before it was found:
 * so the birth of a process comes before its losses.
 */
void map_bpf_lost(struct map_bpf *bpf, u64 until_ns, const struct task_sink *sink);

/** map_probe() - map a page of this program */
int map_probe(struct map_probe *ret_probe);
void map_unprobe(struct map_probe *probe);

/**
 * map_record_path() - as /proc/PID/maps has it
 * @path: MAP_RECORD_PATH_MAX bytes
 *
 * Return: where in @path it begins, or NULL if @record is no valid one.
 */
const char *map_record_path(const struct map_record *record, char *path);

/* Each component's NUL becomes a slash. */
#define MAP_RECORD_PATH_MAX (MAP_RECORD_PATH + MAP_RECORD_NAME + sizeof(" (deleted)") + 1)

#endif
