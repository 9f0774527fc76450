/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Executable memory, as BPF programs tell of it in the ring of task events. */
#ifndef SPEPROF_MAP_BPF_H
#define SPEPROF_MAP_BPF_H

#include "env.h"
#include "task-record.h"

struct map_bpf;

/** struct map_probe - memory of this process that is told of when it is mapped */
struct map_probe {
	void *at;
	size_t size;
};

/**
 * map_bpf_new() - load and attach the programs
 * @events: descriptor of the ring that they write to
 * @wakeup: bytes in it by which its reader is woken
 * @functions: attach to functions; else to the tracepoint
 *
 * Where it succeeds it may still be that nothing is told: map_probe() finds out.
 */
int map_bpf_new(int events, u32 wakeup, bool functions, struct map_bpf **ret_bpf);

struct map_bpf *map_bpf_free(struct map_bpf *bpf);

/** map_bpf_lost() - mappings that were not told, since it was attached */
u64 map_bpf_lost(const struct map_bpf *bpf);

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
