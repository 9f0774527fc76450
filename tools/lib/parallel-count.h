/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Count the samples of a recording on several threads:
 *
 *	task events --> attributor of the recording	(caller's thread, first pass)
 *	                      | shared, read-only from here on
 *	        +-------------+-------------+
 *	   thread 0      thread 1      thread 2		each takes windows from a queue, decodes them,
 *	   profile        shard         shard		and counts in tables of its own
 *	        +------+------+             |
 *	            merged    +------+------+		shards are merged in pairs, in parallel
 *	                          profile
 *
 * All counters are sums, maxima or sets, so the result does not depend on the number of threads, or
 * on which thread got which window. If a table of fixed capacity was full, the result would depend
 * on the order of samples. Then one thread counts the recording again, in the order of the file,
 * unless &count_request.watch has observed the samples.
 */
#ifndef SPEPROF_PARALLEL_COUNT_H
#define SPEPROF_PARALLEL_COUNT_H

#include "profile/profile.h"
#include "recording/recording.h"
#include "util/cpu-list.h"

/* Maximum number of threads. */
#define COUNT_THREADS_MAX 64

/**
 * struct count_request - what to count
 * @config: configuration of @profile, by program
 * @attributor: an empty attributor of a recording
 * @profile: an empty profile with @config and @attributor, which receives all counters
 * @cpus: count only windows of these CPUs; NULL: all
 * @threads: number of threads, 1 to COUNT_THREADS_MAX
 * @watch: called for the profile of each thread before its first sample, to observe it. The thread
 *	frees its profile at the end, except @profile. NULL for none
 * @progress: called often with the name of the operation, the number of bytes that are done, and
 *	the number of all bytes; NULL: not called
 * @ctx: argument of @watch and @progress
 */
struct count_request {
	struct profile_config config;
	struct attributor *attributor;
	struct profile *profile;
	const struct cpu_list *cpus;
	u32 threads;
	int (*watch)(void *ctx, struct profile *profile);
	void (*progress)(void *ctx, const char *what, u64 done, u64 size);
	void *ctx;
};

/* Entries of &recorded_hardware.midr, and the maximum number of CPUs that are listed. */
#define COUNT_CORES_MAX 16
#define COUNT_CPUS_MAX	4096

/**
 * struct recorded_hardware - the SPUs that wrote a recording
 * @midr: MIDR_EL1 of each kind of core, in ascending order; @cores is their number
 * @cpu: a bit for each CPU with a window
 * @interval_min, @interval_max: smallest and largest interval of windows; 0: unknown
 * @unit: &enum sample_unit of the intervals
 */
struct recorded_hardware {
	u64 midr[COUNT_CORES_MAX];
	u32 cores;
	u64 cpu[COUNT_CPUS_MAX / 64];
	u32 interval_min;
	u32 interval_max;
	u8 unit;
};

/**
 * struct count_result - facts from the windows of a recording
 * @start_ns: start of the first selected window; 0: unknown
 * @end_ns: end of the last selected window; 0: unknown
 * @backend: &enum sample_backend; BACKEND_EMULATED if any window is from an emulated SPU
 * @explained: whether any window is flagged as truncated or suspect
 * @hardware: the SPUs that wrote the selected windows
 */
struct count_result {
	u64 start_ns;
	u64 end_ns;
	u8 backend;
	bool explained;
	struct recorded_hardware hardware;
};

/**
 * parallel_count_choose_threads() - return the number of threads that should count a recording
 * @recording: the recording
 *
 * It is the number of CPUs that this process may use, but smaller for a small recording.
 */
u32 parallel_count_choose_threads(const struct recording *recording);

/**
 * parallel_count_samples() - count the samples of a recording
 * @recording: an open recording
 * @request: what to count
 * @ret_result: facts from the windows; also set on failure
 * @ret_error: as for recording_replay()
 *
 * A thread that cannot be created is not used.
 *
 * Return: the values of recording_replay(); -ENOMEM if memory cannot be allocated; the value of
 * &count_request.watch if that is negative.
 */
int parallel_count_samples(struct recording *recording, const struct count_request *request,
			   struct count_result *ret_result, struct recording_error *ret_error);

#endif
