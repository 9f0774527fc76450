// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The ids of causes, on which scripts rely: an id never changes. speprof(1) and
 * Documentation/howto/doctor.md list them.
 */
#include "doctor.h"

/*
 * @startable: whether the machine could sample although the cause stops sampling: "speprof record"
 * can, and so can a daemon that is started
 */
static const struct {
	const char *id;
	bool startable;
} causes[CAUSES] = {
	[CAUSE_NONE] = { "" },
	[CAUSE_NOT_ARM64] = { "not-arm64" },
	[CAUSE_NO_SPE] = { "no-spe" },
	[CAUSE_HYPERVISOR] = { "hypervisor" },
	[CAUSE_BUFFER_OWNED] = { "buffer-owned" },
	[CAUSE_KPTI] = { "kpti" },
	[CAUSE_FIRMWARE] = { "firmware" },
	[CAUSE_EMULATOR] = { "emulator" },
	[CAUSE_MODULE_REFUSED] = { "module-refused" },
	[CAUSE_LOCKDOWN] = { "lockdown" },
	[CAUSE_MODULE_MISSING] = { "module-missing" },
	[CAUSE_MODULE_KERNEL] = { "module-kernel" },
	[CAUSE_MODULE_UNSIGNED] = { "module-unsigned" },
	[CAUSE_MODULE_REJECTED] = { "module-rejected" },
	[CAUSE_MODULE_NOT_LOADED] = { "module-not-loaded" },
	[CAUSE_MODULE_DEVICE] = { "module-device" },
	[CAUSE_MODULE_MUTE] = { "module-mute" },
	[CAUSE_MODULE_ABI] = { "module-abi" },
	[CAUSE_NO_PERF] = { "no-perf" },
	[CAUSE_PARANOID] = { "paranoid" },
	[CAUSE_SYSCALLS] = { "syscalls" },
	[CAUSE_PID_NAMESPACE] = { "pid-namespace" },
	[CAUSE_NO_BUS] = { "no-bus", true },
	[CAUSE_NO_DAEMON] = { "no-daemon", true },
	[CAUSE_NO_SOURCE] = { "no-source" },
	[CAUSE_NO_GROUP] = { "no-group", true },
	[CAUSE_STOPPED] = { "stopped", true },
	[CAUSE_DRIVER_BOUND] = { "driver-bound" },
	[CAUSE_DRIVER_BUILTIN] = { "driver-builtin" },
	[CAUSE_DRIVER_BUSY] = { "driver-busy" },
	[CAUSE_DEVICE_RIGHTS] = { "device-rights" },
	[CAUSE_SOME_CPUS] = { "some-cpus" },
	[CAUSE_MODULE_DIFFERS] = { "module-differs" },
	[CAUSE_VERSION] = { "version" },
	[CAUSE_SOURCE] = { "source" },
	[CAUSE_TASK_EVENTS] = { "task-events" },
	[CAUSE_NAMES] = { "names" },
	[CAUSE_CONTEXTIDR] = { "contextidr" },
	[CAUSE_CLOCK] = { "clock" },
	[CAUSE_NO_CGROUP2] = { "no-cgroup2" },
	[CAUSE_CGROUP_HYBRID] = { "cgroup-hybrid" },
	[CAUSE_CGROUP_NAMESPACE] = { "cgroup-namespace" },
	[CAUSE_NO_BTF] = { "no-btf" },
	[CAUSE_MLOCK] = { "mlock" },
	[CAUSE_KERNEL_NAMES] = { "kernel-names" },
	[CAUSE_IO_URING] = { "io-uring" },
	[CAUSE_IDLE] = { "idle" },
	[CAUSE_ERRATUM] = { "erratum" },
	[CAUSE_UNCHECKED] = { "unchecked" },
};

const char *cause_get_id(enum cause cause)
{
	return causes[cause].id;
}

int finding_get_status(const struct doctor_finding *finding)
{
	switch (finding->verdict) {
	case VERDICT_FAIL:
		return causes[finding->cause].startable ? STATUS_FAILED : STATUS_NO_SPE;
	case VERDICT_NOTE:
		return STATUS_FAILED;
	default:
		return STATUS_OK;
	}
}
