/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measure the cost of a driver: speprof.ko, or the kernel's arm_spe_pmu through perf_event_open(2).
 * The unit is instructions if the machine counts them for its clock (SPEPROF_VM_ACCEL=icount), else
 * nanoseconds. With speprof_trap.ko, the time for emulating accesses of the SPU is subtracted, and
 * the accesses are counted separately.
 */
#ifndef COST_H
#define COST_H

#include "kcgroup.h"

/** struct cost_mark - the start of a measurement */
struct cost_mark {
	uint64_t ns;
	uint64_t accesses;
	uint64_t access_ns;
	uint64_t records;
};

/**
 * struct sampling_cost - the mean cost of one operation. Counters that only speprof_trap.ko provides
 * are 0 if it is not loaded
 */
struct sampling_cost {
	double ns;
	double accesses;	/* number of MRS and MSR of SPU registers */
	double records;		/* number of records that the SPU wrote */
};

struct cost_mark cost_mark_begin(void);

/**
 * cost_since_mark() - return the cost since @mark, on the CPU of cost_mark_begin(), divided by
 * @count
 */
struct sampling_cost cost_since_mark(const struct cost_mark *mark, double count);

/** cost_pin_process() - pin this process to CPU 0 */
void cost_pin_process(void);

/**
 * struct cost_source - a source that samples CPU 0, and its ring
 * @fd: descriptor to poll
 * @head: position of the writer, in bytes
 * @tail: position of the reader, which stores it
 * @windows: number of windows so far
 */
struct cost_source {
	int fd;
	volatile __u64 *head;
	volatile __u64 *tail;
	uint64_t (*windows)(const struct cost_source *source);
	struct kring ring;
	int session;
	void *page;
	void *aux;
};

/** struct cost_request - what to sample */
struct cost_request {
	const struct kcgroup *cgroup;	/* NULL: all tasks */
	bool kernel;
	uint32_t interval;
	uint32_t watermark;
};

/** struct cost_driver - functions that measure one of the two drivers */
struct cost_driver {
	/*
	 * Open a source. Return: 0; -EBUSY if it cannot sample beside the present session. Other
	 * errors end the test.
	 */
	int (*open)(const struct cost_request *request, struct cost_source *ret_source);
	void (*close)(struct cost_source *source);
};

extern const struct cost_driver cost_ours;
extern const struct cost_driver cost_perf;

#endif
