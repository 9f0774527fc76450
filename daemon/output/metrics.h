/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What DumpMetrics() hands out: counters of the machine and of its containers, as bytes
 * in a sealed memfd. Documentation/reference/metrics.md describes the format for others.
 *
 * Version 1 is little-endian. Each part says its size, so that later daemons append
 * members and earlier readers skip them; a reader takes what a part lacks as zero.
 */
#ifndef SPEPROF_METRICS_H
#define SPEPROF_METRICS_H

#include "codec/env.h"

#define METRICS_MAGIC	"SPEMETR\n" /* the eight bytes of @magic, without the NUL */
#define METRICS_VERSION 1

/* Bounds for whoever reads one: hostile ones are larger. */
#define METRICS_CONTAINERS 8192
#define METRICS_SIZE	   (32U << 20)
#define METRICS_PART	   65536U

/* Places of &enum spe_level; more than there are. */
#define METRICS_LEVELS 32
/* Places of &enum sample_unit. */
#define METRICS_UNITS 4
/* Those of struct histogram; the last is always 0. */
#define METRICS_BUCKETS 64

enum metrics_latency {
	METRICS_TOTAL,
	METRICS_ISSUE,
	METRICS_TRANSLATION,
	METRICS_LATENCIES,
};

/* Why sampling was enabled and no window armed. */
enum metrics_blind {
	METRICS_BLIND_UNKNOWN,	/* the source does not tell causes */
	METRICS_BLIND_FULL,	/* no room in a ring */
	METRICS_BLIND_HANDLING,	/* an event was being handled */
	METRICS_BLIND_THROTTLE,
	METRICS_BLIND_HANDOVER,	/* another session had the SPU, or nobody might be sampled */
	METRICS_BLIND_FAULT,
	METRICS_BLIND_RESTART,	/* no process had the source */
	METRICS_BLIND_HOTPLUG,
	METRICS_BLINDS,
	METRICS_BLIND_PLACES = 8,
};

/** struct metrics_head - the first bytes; parts follow in this order */
struct metrics_head {
	char magic[8];
	u32 version;
	u32 head_size;
	u32 machine_size;
	u32 container_size;
	u32 containers;
	u32 reserved;	/* 0 */
	u64 size;	/* of everything */
};

/** struct metrics_histogram - cycles; bucket by histogram_bucket() */
struct metrics_histogram {
	u64 sum;
	u64 bucket[METRICS_BUCKETS];
};

/**
 * struct metrics_tally - what was sampled
 * @weight: operations that the samples stand for, by &enum sample_unit: each the mean
 *	interval that it was taken with, so that those of machines may be added
 * @memory: loads and stores; the sum of @level, by &enum spe_level
 * @remote: those that accessed another chip
 */
struct metrics_tally {
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
 * struct metrics_machine - the ledgers, and all samples
 * @epoch: another one: counters began anew
 * @process: likewise, for those from @threads_evicted to @events_lost and behind @all, which outlive
 *	a reset, and not a restart
 * @age_ns: for how long it has sampled in this epoch
 * @backend: &enum backend; whoever exports must not export what an emulated SPU modelled
 * @interval_ns: in force, the mean of all CPUs
 * @written: UINT64_MAX where the SPU does not count its records
 * @bytes: = @decoded + @padding + @suspect + @dropped; @lost come on top
 * @lost: UINT64_MAX where the source does not record it
 * @enabled_ns: = armed + the sum of @blind_ns, all over CPUs; UINT64_MAX where the source does not
 *	record it, and @blind_ns has no meaning
 * @unattributed, @evicted: samples
 * @*_evicted, @containers_overflow, @mappings_dropped, @events_lost: of the attributor
 * @cpu_ns, @memory: of the daemon
 * @mappings_lost, @lookups_unanswered: of the attributor; 0 from daemons that end with @all
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
	u64 dropped;
	u64 lost;
	u64 enabled_ns;
	u64 blind_ns[METRICS_BLIND_PLACES];
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
	struct metrics_tally all;
	u64 mappings_lost;
	u64 lookups_unanswered;
};

/**
 * struct metrics_container - one that samples were counted for
 * @id: the same for the same container, whatever it is called, also in the next epoch; of no
 *	other in this snapshot
 * @name, @runtime, @path: as &struct attribute_container has them; "" is no container
 * @left_ns: for how long no process has lived in it; 0: one does, or that is not known
 * @name_space, @pod, @pod_container: as Kubernetes calls it, where @name had no room for
 *	"namespace/pod/container" and is cut; else ""
 *
 * The first version ends with @tally.
 */
struct metrics_container {
	u64 id;
	char name[128];
	char runtime[16];
	char path[256];
	struct metrics_tally tally;
	u64 left_ns;
	char name_space[64];
	char pod[256];
	char pod_container[64];
};

/**
 * struct metrics - what was read
 * @containers: @count of them
 */
struct metrics {
	struct metrics_machine machine;
	u32 count;
	struct metrics_container *containers;
};

/**
 * metrics_dump() - @metrics as a sealed memfd
 *
 * Return: the descriptor, or negative errno.
 */
int metrics_dump(const struct metrics *metrics);

/**
 * metrics_parse() - read bytes that anybody may have written
 * @ret_metrics: allocated, to be freed by metrics_clear(); strings end, figures are
 *	as they came: sums need not agree
 * @ret_why: what is wrong, a static sentence
 *
 * Return: 0, -EBADMSG, -EPROTONOSUPPORT for another version, or -ENOMEM.
 */
int metrics_parse(const u8 *data, size_t size, struct metrics *ret_metrics, const char **ret_why);

/**
 * metrics_load() - metrics_parse() of a file or a memfd
 *
 * It is copied first: whoever wrote it may still change it.
 */
int metrics_load(int fd, struct metrics *ret_metrics, const char **ret_why);

void metrics_clear(struct metrics *metrics);

#endif
