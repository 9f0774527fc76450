/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counters of a minute, with names instead of ids: the input of the history on disk. The
 * worker's thread fills in a struct minute_counters from the profile, and the history's thread
 * writes it.
 */
#ifndef SPEPROF_MINUTE_H
#define SPEPROF_MINUTE_H

#include "profile/counters.h"

/*
 * Maximum number of locations in a period. Fewer are stored if these have MINUTE_PERCENT % of the
 * samples of the period.
 */
#define MINUTE_ROWS    300
#define MINUTE_PERCENT 99

/* Size of a boot id in bytes, with its NUL. */
#define BOOT_ID_SIZE 37

/**
 * struct minute_sums - the counters that all rows of the history have
 * @samples: number of samples
 * @operations: number of operations that the samples represent, in the unit of the period
 * @latency: sum of the total latencies of the samples, cycles
 * @memory, @dram, @remote: loads and stores; of these, the ones that DRAM or another chip served
 * @branches, @mispredicted: branches, and the mispredicted ones
 */
struct minute_sums {
	u64 samples;
	u64 operations;
	u64 latency;
	u64 memory;
	u64 dram;
	u64 remote;
	u64 branches;
	u64 mispredicted;
};

#define MINUTE_SUMS (sizeof(struct minute_sums) / sizeof(u64))

/**
 * struct minute_container - a container with samples
 * @name, @runtime, @path: as in &struct attribute_container, escaped; @name is "-" for none
 * @cgroup: the complete path of the cgroup, from which the history's thread gets the inode; "" for
 *	none
 * @inode: inode of its cgroup; 0 if the cgroup was removed, or was created after the period
 * @counters: its counters, after counters_sum_histograms()
 */
struct minute_container {
	char name[128];
	char runtime[16];
	char path[256];
	char *cgroup;
	u64 inode;
	struct profile_counters counters;
};

/**
 * struct minute_program - a program with samples
 * @container: index of its container; MINUTE_NONE if it is unknown
 * @executable: path, escaped
 * @sums: its counters
 */
struct minute_program {
	u32 container;
	char executable[256];
	struct minute_sums sums;
};

#define MINUTE_NONE UINT32_MAX

/**
 * struct minute_location - a source line of a function of a program
 * @program: index of the program
 * @binary: path, escaped; "[unmapped]" if unknown
 * @build_id: hexadecimal; "" if unknown
 * @function: name, escaped
 * @file, @line: source line; "" and 0 if unknown
 * @kernel: the code belongs to the kernel
 * @sums: its counters
 * @latency: number of samples by bucket of the total latency, of the samples with a known latency
 */
struct minute_location {
	u32 program;
	char binary[256];
	char build_id[48];
	char function[128];
	char file[256];
	u32 line;
	bool kernel;
	struct minute_sums sums;
	u64 latency[HISTOGRAM_BUCKETS];
};

/**
 * struct minute_counters - the counters of a minute, or of a period of another length
 * @start_us, @end_us: CLOCK_REALTIME in microseconds. @start_us is @end_us - @length_us, so that a
 *	step of the clock does not change the length
 * @length_us: length of the period, measured with CLOCK_BOOTTIME, in microseconds
 * @boot_id: /proc/sys/kernel/random/boot_id
 * @backend: &enum sample_backend
 * @unit: unit of operations, from view_unit_name(); "samples" if it is unknown
 * @unattributed, @unattributed_operations: samples without a process, and their operations
 * @evicted, @evicted_operations: samples that are in no location, and their operations
 * @enabled_ns, @blind_ns: as in &struct view_header
 * @machine: counters of all samples, after counters_sum_histograms()
 * @container, @program, @location: the rows, allocated
 */
struct minute_counters {
	s64 start_us;
	s64 end_us;
	s64 length_us;
	char boot_id[BOOT_ID_SIZE];
	u8 backend;
	const char *unit;
	u64 unattributed;
	u64 unattributed_operations;
	u64 evicted;
	u64 evicted_operations;
	u64 enabled_ns;
	u64 blind_ns;
	struct profile_counters machine;
	u32 containers;
	u32 programs;
	u32 locations;
	struct minute_container *container;
	struct minute_program *program;
	struct minute_location *location;
};

/** minute_deinit() - free the rows; @minute may be all zeros */
void minute_deinit(struct minute_counters *minute);

/** minute_sums_compute() - compute the sums of @counters */
void minute_sums_compute(const struct profile_counters *counters, struct minute_sums *ret_sums);

/** minute_sums_add() - add each counter of @more to @to */
void minute_sums_add(struct minute_sums *to, const struct minute_sums *more);

#endif
