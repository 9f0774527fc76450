/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between supported kernels and architectures. Only this file, the other files
 * compat_*.h and the compat headers of tests/lanes/vm/trap use the results of the compile probes
 * (kmod/probe/).
 */
#ifndef SPEPROF_COMPAT_H
#define SPEPROF_COMPAT_H

#include <linux/device/class.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "speprof-probes.h"

#if __has_include(<linux/io_uring/cmd.h>)
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

#ifdef CONFIG_ARM64
#include <asm/cputype.h>

/* Return MIDR_EL1 of this CPU; 0 on other architectures. */
static inline u64 compat_read_midr(void)
{
	return read_cpuid_id();
}
#else
static inline u64 compat_read_midr(void)
{
	return 0;
}
#endif

/*
 * Return the 16 bytes of an SQE that belong to the command. Userspace may change them at any time.
 */
static inline const void *compat_uring_get_payload(struct io_uring_cmd *cmd)
{
#if SPEPROF_HAVE_URING_SQE
	return cmd->sqe->cmd;
#else
	return cmd->cmd;
#endif
}

/* Set up a timer on CLOCK_MONOTONIC that calls @expired, as hrtimer_setup() does. */
static inline void compat_hrtimer_setup(struct hrtimer *timer,
					enum hrtimer_restart (*expired)(struct hrtimer *timer),
					enum hrtimer_mode mode)
{
#if SPEPROF_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, expired, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = expired;
#endif
}

static inline void compat_vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				       unsigned long clear)
{
#if SPEPROF_HAVE_VM_FLAGS_MOD
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/*
 * Return whether this kernel's tracepoints pass the arguments that cgroup_tracepoints.h declares.
 */
static inline bool compat_tracepoints_match(void)
{
	return SPEPROF_HAVE_TRACEPOINTS;
}

static inline struct class *compat_class_create(const char *name)
{
#if SPEPROF_HAVE_CLASS_CREATE_NAME
	return class_create(name);
#else
	return class_create(THIS_MODULE, name);
#endif
}

#endif
