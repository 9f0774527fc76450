/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a driver costs, ours or the kernel's own (arm_spe_pmu by perf_event_open(2)): in
 * instructions where the machine counts them for its clock (SPEPROF_VM_ACCEL=icount), in
 * nanoseconds of whatever the machine is else. On the trap, what answering for the SPU took is
 * left out, and its accesses are counted by themselves.
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

/** struct cost - of one operation, on average; 0 for counters that exist only with the trap */
struct cost {
	double ns;
	double accesses;	/* MRS and MSR of the SPU */
	double records;		/* written by it */
};

struct cost_mark cost_begin(void);

/** cost_end() - the cost since @mark, on the CPU of cost_begin(), divided by @count */
struct cost cost_end(const struct cost_mark *mark, double count);

/** cost_pin() - pin this process to CPU 0 */
void cost_pin(void);

/**
 * struct cost_source - a source that samples CPU 0, and its ring
 * @fd: to poll
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
	const struct kcgroup *cgroup;	/* NULL for all */
	bool kernel;
	uint32_t interval;
	uint32_t watermark;
};

/** struct cost_driver - one of the two drivers */
struct cost_driver {
	/*
	 * Return: 0, or -EBUSY if it cannot sample beside the present session. Other errors end the
	 * test.
	 */
	int (*open)(const struct cost_request *request, struct cost_source *ret_source);
	void (*close)(struct cost_source *source);
};

extern const struct cost_driver cost_ours;
extern const struct cost_driver cost_perf;

#endif
