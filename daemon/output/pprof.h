/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pprof: counts the samples of a profile for some time, and writes them in the format of pprof. A
 * struct pprof has its own table, because the tables of the profile have neither the translation
 * latency nor the latency of each level for a single location.
 *
 * Each sample is counted for the same process as in the profile.
 */
#ifndef SPEPROF_PPROF_H
#define SPEPROF_PPROF_H

#include "profile/profile.h"

/*
 * Maximum number of entries in the daemon. An entry is a combination of location, process,
 * container, level and node.
 */
#define PPROF_ENTRIES_MAX 32768

/*
 * Size of an entry in bytes, and bytes that pprof_write() needs in addition to the table and the
 * names
 */
#define PPROF_ENTRY_SIZE  144
#define PPROF_WRITE_BYTES (384ULL << 10)

/*
 * Limits for the running daemon: duration of a profile in seconds, number of profiles at a time,
 * and number of profiles of one user at a time
 */
#define PPROF_SECONDS_MAX    600
#define PPROF_CONCURRENT_MAX 4
#define PPROF_PER_USER_MAX   2

struct pprof;

/**
 * struct pprof_limits - limits of a profile's memory
 * @entries: maximum number of entries; further samples count as "[other]"
 * @names: maximum memory of names in pprof_write(), in bytes; further samples count as "[other]";
 * 0: no limit
 */
struct pprof_limits {
	u32 entries;
	u64 names;
};

/** pprof_get_max_bytes() - return the maximum memory of a profile in bytes */
static inline u64 pprof_get_max_bytes(const struct pprof_limits *limits)
{
	return (u64)limits->entries * PPROF_ENTRY_SIZE + limits->names + PPROF_WRITE_BYTES;
}

/**
 * pprof_new() - start counting the samples of a profile
 * @profile: the profile, observed until pprof_free()
 * @attributor: the profile's attributor
 * @live: true if the processes and CPUs belong to this machine
 * @limits: the limits; NULL: no limit
 * @ret_pprof: the result; free it with pprof_free()
 *
 * Return: 0; negative errno.
 */
int pprof_new(struct profile *profile, struct attributor *attributor, bool live,
	      const struct pprof_limits *limits, struct pprof **ret_pprof);

/**
 * pprof_merge() - add the counters of @from to @to
 * @to, @from: both have no limits, and the same attributor
 *
 * Return: 0 or -ENOMEM.
 */
int pprof_merge(struct pprof *to, const struct pprof *from);

/** pprof_free() - stop counting and free @pprof, which may be NULL; returns NULL */
struct pprof *pprof_free(struct pprof *pprof);

/**
 * struct pprof_filter - the containers that a profile may name
 * @allow, @deny: globs of container names, as Allow= and Deny= of the exporter; NULL-terminated, or
 * NULL. Without @allow, all containers are admitted that @deny does not match. @deny has priority
 * over @allow
 *
 * Samples that may belong to a container that is not admitted count as "other", without process,
 * function and address.
 */
struct pprof_filter {
	char *const *allow;
	char *const *deny;
};

/**
 * struct pprof_metadata - properties of the whole profile
 * @start_ns: start time, CLOCK_REALTIME; 0 if unknown
 * @duration_ns: duration; 0 if unknown
 * @backend: &enum sample_backend, written as a comment
 * @filter: the containers to name; NULL: all
 */
struct pprof_metadata {
	u64 start_ns;
	u64 duration_ns;
	u8 backend;
	const struct pprof_filter *filter;
};

/**
 * pprof_write() - write all samples, compressed with gzip
 * @pprof: the samples
 * @symbols: resolver of function names
 * @metadata: properties of the whole profile
 * @fd: file to write to
 *
 * Return: 0 or negative errno.
 */
int pprof_write(struct pprof *pprof, struct symbols_cache *symbols,
		const struct pprof_metadata *metadata, int fd);

/** pprof_request_names() - request the names of all samples so far, without waiting for them */
void pprof_request_names(struct pprof *pprof, struct symbols_cache *symbols);

/**
 * pprof_count_samples() - return the number of samples counted
 *
 * @ret_others: number of samples among them without a location, because the table was full
 */
u64 pprof_count_samples(const struct pprof *pprof, u64 *ret_others);

#endif
