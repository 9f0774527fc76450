/* SPDX-License-Identifier: GPL-2.0-only */
/* The results of kmod/probe/ for the stand-in kernel */
#define SPEPROF_HAVE_URING_SQE	       1
#define SPEPROF_HAVE_HRTIMER_SETUP     1
#define SPEPROF_HAVE_IRQ_AFFINITY      1
#define SPEPROF_HAVE_VM_FLAGS_MOD      1
#define SPEPROF_HAVE_CLASS_CREATE_NAME 1
#define SPEPROF_HAVE_TRACEPOINTS       1
