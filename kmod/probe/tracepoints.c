// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe whether the tracepoints pass the arguments that cgroup_tracepoints.h declares. If one of
 * them passes other arguments, the module compiles and refuses sessions of cgroups. Kernels without
 * tracepoints or cgroups do not use the result. The headers are included in both cases, so that an
 * error in them ends the build.
 */
#if defined(CONFIG_CGROUPS) && defined(CONFIG_TRACEPOINTS)
#include <trace/events/cgroup.h>
#include <trace/events/sched.h>

#include "../cgroup_tracepoints.h"

#if NEW
#ifdef SPEPROF_NO_TRACEPOINTS
#error SPEPROF_NO_TRACEPOINTS is set, for a test
#endif

void probe(void);
void probe(void)
{
	check_trace_callback_type_sched_switch(speprof_on_sched_switch);
	check_trace_callback_type_cgroup_attach_task(speprof_on_cgroup_attach_task);
	check_trace_callback_type_cgroup_rmdir(speprof_on_cgroup_rmdir);
}
#endif
#endif
