// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The causes by id and exit status. Scripts rely on both: what is here stays, new ones get
 * numbers that are free. speprof(1) and command.md list them.
 */
#include "doctor.h"

static const struct {
	const char *id;
	int status;
} causes[CAUSES] = {
	[CAUSE_NONE] = { "", STATUS_OK },
	[CAUSE_NOT_ARM64] = { "not-arm64", 20 },
	[CAUSE_NO_SPE] = { "no-spe", 21 },
	[CAUSE_HYPERVISOR] = { "hypervisor", 22 },
	[CAUSE_BUFFER_OWNED] = { "buffer-owned", 23 },
	[CAUSE_KPTI] = { "kpti", 24 },
	[CAUSE_FIRMWARE] = { "firmware", 25 },
	[CAUSE_EMULATOR] = { "emulator", 26 },
	[CAUSE_MODULE_REFUSED] = { "module-refused", 27 },
	[CAUSE_LOCKDOWN] = { "lockdown", 28 },
	[CAUSE_MODULE_MISSING] = { "module-missing", 29 },
	[CAUSE_MODULE_KERNEL] = { "module-kernel", 30 },
	[CAUSE_MODULE_UNSIGNED] = { "module-unsigned", 31 },
	[CAUSE_MODULE_REJECTED] = { "module-rejected", 32 },
	[CAUSE_MODULE_NOT_LOADED] = { "module-not-loaded", 33 },
	[CAUSE_MODULE_DEVICE] = { "module-device", 34 },
	[CAUSE_MODULE_MUTE] = { "module-mute", 35 },
	[CAUSE_MODULE_ABI] = { "module-abi", 36 },
	[CAUSE_NO_PERF] = { "no-perf", 37 },
	[CAUSE_PARANOID] = { "paranoid", 38 },
	[CAUSE_SYSCALLS] = { "syscalls", 39 },
	[CAUSE_PID_NAMESPACE] = { "pid-namespace", 40 },
	[CAUSE_NO_BUS] = { "no-bus", 41 },
	[CAUSE_NO_DAEMON] = { "no-daemon", 42 },
	[CAUSE_NO_SOURCE] = { "no-source", 43 },
	[CAUSE_NO_GROUP] = { "no-group", 44 },
	[CAUSE_STOPPED] = { "stopped", 45 },
	[CAUSE_DRIVER_BOUND] = { "driver-bound", 50 },
	[CAUSE_DRIVER_BUILTIN] = { "driver-builtin", 51 },
	[CAUSE_DRIVER_BUSY] = { "driver-busy", 52 },
	[CAUSE_DEVICE_RIGHTS] = { "device-rights", 53 },
	[CAUSE_SOME_CPUS] = { "some-cpus", 54 },
	[CAUSE_MODULE_DIFFERS] = { "module-differs", 55 },
	[CAUSE_VERSION] = { "version", 56 },
	[CAUSE_SOURCE] = { "source", 57 },
	[CAUSE_TASK_EVENTS] = { "task-events", 58 },
	[CAUSE_NAMES] = { "names", 59 },
	[CAUSE_CONTEXTIDR] = { "contextidr", 60 },
	[CAUSE_CLOCK] = { "clock", 61 },
	[CAUSE_NO_CGROUP2] = { "no-cgroup2", 62 },
	[CAUSE_CGROUP_HYBRID] = { "cgroup-hybrid", 63 },
	[CAUSE_CGROUP_NAMESPACE] = { "cgroup-namespace", 64 },
	[CAUSE_NO_BTF] = { "no-btf", 65 },
	[CAUSE_MLOCK] = { "mlock", 66 },
	[CAUSE_KERNEL_NAMES] = { "kernel-names", 67 },
	[CAUSE_IO_URING] = { "io-uring", 68 },
	[CAUSE_UNCHECKED] = { "unchecked", 79 },
};

const char *cause_id(enum cause cause)
{
	return causes[cause].id;
}

int cause_status(enum cause cause)
{
	return causes[cause].status;
}
