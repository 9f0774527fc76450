// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check this process: its namespaces, and system calls that a container's filter refuses. A daemon
 * in the same container has the same restrictions; a daemon outside is queried by check-daemon.c.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "doctor.h"

#define CAP_BIT_SYS_ADMIN (1ULL << 21)
#define CAP_BIT_BPF	  (1ULL << 39)

/* An invalid command, for which bpf() returns EINVAL unless a filter refuses the call earlier */
#define BPF_NO_COMMAND 9999

static u64 read_capabilities(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	u64 caps = 0;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "CapEff:", 7) == 0)
			caps = strtoull(line + 7, NULL, 16);
	if (file)
		fclose(file);
	return caps;
}

/*
 * Return whether a filter or an LSM refuses perf_event_open(), although perf_event_paranoid permits
 * it.
 */
static bool perf_is_refused(const struct examined_machine *machine)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	char text[32];
	long fd;

	if (machine_read_line(machine, "/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)) <
		    0 ||
	    strtol(text, NULL, 10) > 2)
		return false;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close((int)fd);
	return fd < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS);
}

static bool bpf_is_refused(void)
{
	if (!(read_capabilities() & (CAP_BIT_SYS_ADMIN | CAP_BIT_BPF)))
		return false;
	return syscall(SYS_bpf, BPF_NO_COMMAND, NULL, 0) < 0 && errno != EINVAL;
}

bool io_uring_is_refused(const struct examined_machine *machine)
{
	char text[32] = "0";

	if (*machine->root)
		return false;
	machine_read_line(machine, "/proc/sys/kernel/io_uring_disabled", text, sizeof(text));
	if (strcmp(text, "0") != 0 || machine_get_kernel_config(machine, "CONFIG_IO_URING") == 0)
		return false;
	return syscall(SYS_io_uring_setup, 0, NULL) < 0 && errno != EFAULT && errno != EINVAL;
}

void check_syscalls(const struct examined_machine *machine, struct doctor_finding *f)
{
	bool perf, bpf;

	if (*machine->root) {
		finding_set_skipped(f, "not checked with --root: it depends on this process");
		return;
	}
	perf = perf_is_refused(machine);
	bpf = bpf_is_refused();
	if (!perf && !bpf)
		finding_set_fine(f, "no filter blocks perf_event_open or bpf here");
	else
		finding_set(
			f, perf && machine->pmu ? VERDICT_FAIL : VERDICT_NOTE, CAUSE_SYSCALLS,
			"in a container: add CAP_PERFMON and CAP_BPF, and a seccomp profile that "
			"allows the calls with them (Podman's does not: " SPEPROF_DATADIR
			"/seccomp.jq creates one that does), or --security-opt seccomp=unconfined",
			"a seccomp filter or an LSM refuses here:%s%s",
			perf ? " perf_event_open" : "", bpf ? " bpf" : "");
}

void check_pid_namespace(const struct examined_machine *machine, struct doctor_finding *f)
{
	int r = machine_is_in_initial_namespace(machine, "pid");

	if (r < 0)
		finding_set_unknown(f, "", "/proc/self/ns is not visible here");
	else if (r)
		finding_set_fine(f, "that of the host");
	else
		finding_set_fail(f, CAUSE_PID_NAMESPACE,
				 "podman, docker: --pid=host; Kubernetes: hostPID: true",
				 "a container's own, but records name tasks by the host's PIDs");
}

/*
 * Return whether cgroup v2 was mounted outside of this namespace: then the root of that mount in
 * mountinfo is "/..".
 */
static bool cgroup_mount_is_from_outside(const struct examined_machine *machine)
{
	char path[PATH_MAX], line[4096], root[1024], point[1024];
	bool found = false;
	FILE *file;

	machine_join_path(machine, path, "/proc/self/mountinfo");
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, " - cgroup2 ") &&
			sscanf(line, "%*s %*s %*s %1023s %1023s", root, point) == 2 &&
			strncmp(root, "/..", 3) == 0 &&
			(strcmp(point, "/sys/fs/cgroup") == 0 ||
			 strcmp(point, "/sys/fs/cgroup/unified") == 0);
	if (file)
		fclose(file);
	return found;
}

void check_cgroup_namespace(const struct examined_machine *machine, struct doctor_finding *f)
{
	int r = machine_is_in_initial_namespace(machine, "cgroup");

	if (r < 0)
		finding_set_unknown(f, "", "/proc/self/ns is not visible here");
	else if (r)
		finding_set_fine(f, "that of the host");
	else if (cgroup_mount_is_from_outside(machine))
		finding_set_fine(
			f, "a container's own; the host's paths are visible at /sys/fs/cgroup");
	else
		finding_set_note(f, CAUSE_CGROUP_NAMESPACE,
				 "podman, docker: --cgroupns=host; Kubernetes: mount the node's "
				 "/sys/fs/cgroup, read only",
				 "a container's own: paths of cgroups above it are not visible, "
				 "nor are names "
				 "of containers");
}
