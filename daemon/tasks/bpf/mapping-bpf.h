/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Executable mappings, which BPF programs write to a separate ring. */
#ifndef SPEPROF_MAPPING_BPF_H
#define SPEPROF_MAPPING_BPF_H

#include "codec/env.h"
#include "event-ring.h"
#include "tasks/task-event.h"
#include "task-record.h"

struct mapping_bpf;

/** struct mapping_probe - an executable mapping of this process, made to test the BPF programs */
struct mapping_probe {
	void *address;
	size_t size;
};

/**
 * mapping_bpf_new() - load and attach the BPF programs for mappings
 * @size: bytes of their ring, a power of two of pages
 * @rate: bytes a second that a cgroup or user may write to the ring, on average; a burst may have
 * an eighth of @rate bytes. See bucket_get_key() in maps.bpf.c
 * @functions: true: attach to kernel functions; false: attach to the tracepoint
 * @ret_bpf: the programs
 *
 * Attached programs may report nothing; mapping_probe_init() makes a mapping to test that.
 *
 * Return: 0 or negative errno.
 */
int mapping_bpf_new(size_t size, u64 rate, bool functions, struct mapping_bpf **ret_bpf);

/** mapping_bpf_free() - detach the programs and free @bpf, which may be NULL; returns NULL */
struct mapping_bpf *mapping_bpf_free(struct mapping_bpf *bpf);

/**
 * mapping_bpf_get_fd() - return the descriptor that has an edge (EPOLLET) when the ring is half
 * full
 */
int mapping_bpf_get_fd(const struct mapping_bpf *bpf);

/** mapping_bpf_get_ring() - return the ring, with records of &struct map_record */
struct event_ring *mapping_bpf_get_ring(struct mapping_bpf *bpf);

/**
 * mapping_bpf_report_lost() - report lost mappings by TASK_LOST_MAPS
 * @bpf: the programs
 * @until_ns: CLOCK_MONOTONIC: all events up to this time were delivered
 * @sink: receives an event for each process that lost mappings, and one with pid 0 for losses of
 *	unknown processes
 *
 * A call that finds losses does not report them yet. A later call reports them, once the @until_ns
 * of that call has reached the time at which they were found. So the fork of a process is delivered
 * before its losses.
 */
void mapping_bpf_report_lost(struct mapping_bpf *bpf, u64 until_ns, const struct task_sink *sink);

/** mapping_probe_init() - map a page of this program as executable; returns 0 or negative errno */
int mapping_probe_init(struct mapping_probe *ret_probe);

/** mapping_probe_deinit() - unmap the page */
void mapping_probe_deinit(struct mapping_probe *probe);

/**
 * map_record_build_path() - assemble the path of a mapping as in /proc/PID/maps
 * @record: the record
 * @path: buffer of MAP_RECORD_PATH_MAX bytes
 *
 * Return: the path, somewhere in @path or in @record; NULL if the record is invalid.
 */
const char *map_record_build_path(const struct map_record *record, char *path);

/* Size of the buffer for a path: the NUL of each component becomes a slash. */
#define MAP_RECORD_PATH_MAX (MAP_RECORD_PATH + MAP_RECORD_NAME + sizeof(" (deleted)") + 1)

#endif
