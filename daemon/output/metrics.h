/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The result of DumpMetrics(): counters of the machine and of its containers, as bytes in a sealed
 * memfd. Documentation/reference/metrics.md describes the format for other programs.
 *
 * Version 1 is little-endian. The header has the size of each struct, so that later daemons can
 * append members, and older readers skip these members. A reader sets missing members to zero.
 */
#ifndef SPEPROF_METRICS_H
#define SPEPROF_METRICS_H

#include "codec/env.h"

#define METRICS_MAGIC	"SPEMETR\n" /* the eight bytes of &metrics_head.magic, without the NUL */
#define METRICS_VERSION 1

/* Limits of metrics_parse(), which rejects larger input because the bytes are untrusted */
#define METRICS_CONTAINERS_MAX 8192
#define METRICS_SIZE_MAX       (32U << 20)
#define METRICS_SECTION_MAX 65536U

/* Size of arrays that are indexed by &enum spe_level; it exceeds the number of levels */
#define METRICS_LEVELS 32
/* Size of arrays that are indexed by &enum sample_unit */
#define METRICS_UNITS 4
/*
 * Size of arrays of buckets; it exceeds the number of buckets of struct histogram. The last bucket
 * is always 0.
 */
#define METRICS_BUCKETS 64

enum metrics_latency {
	METRICS_TOTAL,
	METRICS_ISSUE,
	METRICS_TRANSLATION,
	METRICS_LATENCIES,
};

/* The cause of blind time. In blind time, sampling is enabled but no window is armed. */
enum metrics_blind_cause {
	METRICS_BLIND_UNKNOWN, /* the source reports no causes */
	METRICS_BLIND_FULL, /* a ring had no free space */
	METRICS_BLIND_HANDLING, /* the driver handled an event */
	METRICS_BLIND_THROTTLE,
	METRICS_BLIND_HANDOVER, /* another session used the SPU, or no selected task ran */
	METRICS_BLIND_FAULT,
	METRICS_BLIND_RESTART, /* the daemon was restarting */
	METRICS_BLIND_HOTPLUG,
	METRICS_BLINDS,
	METRICS_BLIND_SLOTS = 8,
};

/**
 * struct metrics_head - the first bytes of a snapshot. The machine and the containers follow, each
 * in a struct of the size given here
 */
struct metrics_head {
	char magic[8];
	u32 version;
	u32 head_size;
	u32 machine_size;
	u32 container_size;
	u32 containers;
	u32 reserved;	/* 0 */
	u64 size;	/* bytes of the whole snapshot, with this head */
};

/**
 * struct metrics_histogram - latencies in cycles; histogram_get_bucket() returns the index of the
 * bucket of a latency
 */
struct metrics_histogram {
	u64 sum;
	u64 bucket[METRICS_BUCKETS];
};

/**
 * struct metrics_counters - the counters of a set of samples
 * @samples: number of samples
 * @weight: operations that the samples stand for, indexed by &enum sample_unit. Each sample adds
 * the mean interval that was in force when it was taken, so weights of several machines may be
 * added
 * @memory: number of loads and stores: the sum of @level
 * @remote: loads and stores that accessed another chip
 * @branches, @mispredicted: branches, and the mispredicted ones
 * @level: loads and stores, indexed by &enum spe_level
 * @latency: latencies, indexed by &enum metrics_latency
 */
struct metrics_counters {
	u64 samples;
	u64 weight[METRICS_UNITS];
	u64 memory;
	u64 remote;
	u64 branches;
	u64 mispredicted;
	u64 level[METRICS_LEVELS];
	struct metrics_histogram latency[METRICS_LATENCIES];
};

/**
 * struct metrics_machine - the ledgers and the counters of all samples
 * @epoch: identifies the start of the counters; if it changes, they restarted from 0
 * @process: identifies the start of the members from @threads_evicted to @events_lost, and of
 * @mappings_lost and @lookups_unanswered. These counters survive a reset, but not a restart of the
 * daemon
 * @age_ns: time of sampling in this epoch
 * @backend: &enum sample_backend; an exporter must not export values that an emulated SPU modelled
 * @interval_ns: time between samples, mean over all CPUs, at the time of the snapshot
 * @written: records written; UINT64_MAX if the SPU does not count its records
 * @bytes: = @decoded + @padding + @suspect; @lost is not included
 * @unhandled_ns: upper bound of the armed time in which an SPU had stopped, and its interrupt was
 * not handled yet, summed over CPUs; 0 from older daemons
 * @lost: bytes lost; UINT64_MAX if the source does not record lost bytes
 * @enabled_ns: = armed time + the sum of @blind_ns, summed over CPUs; UINT64_MAX if the source does
 * not record it, and @blind_ns is meaningless then
 * @unattributed, @evicted: number of samples
 * @threads_evicted, @processes_evicted, @containers_evicted, @containers_overflow,
 * @mappings_dropped, @events_lost: statistics of the attributor
 * @cpu_ns, @memory: CPU time and resident bytes of the daemon
 * @mappings_lost, @lookups_unanswered: statistics of the attributor; 0 from older daemons, in which
 * the structure ends with @all
 * @false_sharing: number of loads and stores among @all of cache lines with false sharing, see
 * profile_count_false_sharing(). It restarts from 0 with @epoch. 0 from older daemons
 */
struct metrics_machine {
	u64 epoch;
	u64 process;
	u64 age_ns;
	char version[32];
	char source[16];
	char tasks[8];
	u8 backend;
	u8 running;
	u8 reserved[6];
	u32 cpus;
	u32 cpus_stopped;
	u64 interval_ns;
	u64 records;
	u64 written;
	u64 filtered;
	u64 bytes;
	u64 decoded;
	u64 padding;
	u64 suspect;
	u64 unhandled_ns;
	u64 lost;
	u64 enabled_ns;
	u64 blind_ns[METRICS_BLIND_SLOTS];
	u64 unattributed;
	u64 evicted;
	u64 threads_evicted;
	u64 processes_evicted;
	u64 containers_evicted;
	u64 containers_overflow;
	u64 mappings_dropped;
	u64 events_lost;
	u64 faults;
	u64 throttles;
	u64 unread;
	u64 cpu_ns;
	u64 memory;
	struct metrics_counters all;
	u64 mappings_lost;
	u64 lookups_unanswered;
	u64 false_sharing;
};

/**
 * struct metrics_container - the counters of a container with samples
 * @id: unique number of the container in the snapshot; a rename of the container and a new epoch do
 * not change it
 * @name, @runtime, @path: as in &struct attribute_container; "" is "in no container"
 * @empty_ns: time since its last process exited or moved; 0 if it has processes, or if the time is
 * unknown
 * @name_space, @pod, @pod_container: the full Kubernetes names if @name is too short for
 * "namespace/pod/container" and was truncated; else ""
 *
 * The struct of the first daemons ends with @tally.
 */
struct metrics_container {
	u64 id;
	char name[128];
	char runtime[16];
	char path[256];
	struct metrics_counters tally;
	u64 empty_ns;
	char name_space[64];
	char pod[256];
	char pod_container[64];
};

/**
 * struct metrics_snapshot - a parsed snapshot
 * @machine: counters of the machine
 * @count: number of @containers
 * @containers: counters of the containers
 */
struct metrics_snapshot {
	struct metrics_machine machine;
	u32 count;
	struct metrics_container *containers;
};

/**
 * metrics_dump_to_memfd() - write @metrics to a sealed memfd
 *
 * Return: the descriptor, which the caller closes; negative errno.
 */
int metrics_dump_to_memfd(const struct metrics_snapshot *metrics);

/**
 * metrics_parse() - parse untrusted bytes
 * @data, @size: the bytes
 * @ret_metrics: the result; free it with metrics_clear(). All strings are terminated. Numbers are
 * not checked, so sums may be inconsistent
 * @ret_why: on failure, what is wrong: a static sentence
 *
 * Return: 0; -EBADMSG if the bytes are no valid snapshot; -EPROTONOSUPPORT if they have another
 * version; -ENOMEM.
 */
int metrics_parse(const u8 *data, size_t size, struct metrics_snapshot *ret_metrics,
		  const char **ret_why);

/**
 * metrics_load() - parse a file or a memfd as metrics_parse() does
 *
 * The bytes are copied before they are parsed, because another process may still change them.
 */
int metrics_load(int fd, struct metrics_snapshot *ret_metrics, const char **ret_why);

/** metrics_clear() - free the containers of @metrics */
void metrics_clear(struct metrics_snapshot *metrics);

#endif
