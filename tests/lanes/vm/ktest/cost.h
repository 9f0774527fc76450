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

/** struct cost_mark - where a measurement begins */
struct cost_mark {
	uint64_t ns;
	uint64_t accesses;
	uint64_t access_ns;
	uint64_t records;
};

/** struct cost - of one thing, on average; 0 for what nobody counts where there is no trap */
struct cost {
	double ns;
	double accesses;	/* MRS and MSR of the SPU */
	double records;		/* written by it */
};

struct cost_mark cost_begin(void);

/** cost_end() - since @mark, on the CPU of cost_begin(), by @count things */
struct cost cost_end(const struct cost_mark *mark, double count);

/** cost_pin() - to CPU 0 */
void cost_pin(void);

/**
 * struct cost_source - something that samples CPU 0, and its ring
 * @fd: to poll
 * @head: what was written, in bytes
 * @tail: what was read, to be stored by the reader
 * @windows: how many were, so far
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
	const struct kcgroup *cgroup;	/* or NULL: all */
	bool kernel;
	uint32_t interval;
	uint32_t watermark;
};

/** struct cost_driver - who does it */
struct cost_driver {
	/* Returns 0, or -EBUSY if it cannot be beside what is there; ends the test otherwise. */
	int (*open)(const struct cost_request *request, struct cost_source *ret_source);
	void (*close)(struct cost_source *source);
};

extern const struct cost_driver cost_ours;
extern const struct cost_driver cost_perf;

#endif
