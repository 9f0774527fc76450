// SPDX-License-Identifier: LGPL-2.1-or-later
/* Check the kernel's configuration and settings. */
#include <stdio.h>
#include <stdlib.h>

#include "doctor.h"
#include "lib/text.h"

/*
 * Return whether perf requires CAP_SYS_ADMIN: kernels of Debian and Ubuntu have levels above 2, at
 * which CAP_PERFMON does not suffice.
 */
static bool perf_requires_cap_sys_admin(const struct examined_machine *machine)
{
	char text[512];

	return machine_read_line(machine, "/proc/version", text, sizeof(text)) < 0 ||
	       strstr(text, "Debian") || strstr(text, "Ubuntu");
}

/*
 * Return whether no perf event is needed, because records come from the module, and task events
 * from BPF.
 */
static bool needs_no_perf_events(const struct examined_machine *machine)
{
	const struct daemon_answer *daemon = &machine->daemon;

	return !machine->pmu && daemon->status == STATUS_OK &&
	       strcmp(daemon->header.source, "module") == 0 &&
	       strcmp(daemon->header.tasks, "bpf") == 0 && !*daemon->header.tasks_reason;
}

/* Return whether the daemon already samples through perf events, so that it has the permission. */
static bool daemon_has_perf_events(const struct examined_machine *machine)
{
	const struct view_header *header = &machine->daemon.header;

	return machine->daemon.status == STATUS_OK && header->running &&
	       (strcmp(header->source, "perf") == 0 || strcmp(header->source, "emulated") == 0);
}

/* Return whether no perf event will be needed once module and daemon are installed and started. */
static bool will_need_no_perf_events(const struct examined_machine *machine)
{
	return machine->arm64 && !machine->pmu && !machine->lacking &&
	       machine->daemon.status != STATUS_OK &&
	       machine_has_path(machine, "/sys/kernel/btf/vmlinux");
}

/*
 * Advise to make perf events unnecessary rather than to permit them: if arm_spe_pmu has the SPUs
 * and can be removed, speprof.ko with BPF needs no perf events.
 */
static void write_paranoid_fix(const struct examined_machine *machine, char *ret, size_t size)
{
	bool removable = machine_has_path(machine, "/sys/module/arm_spe_pmu/initstate") &&
			 machine_has_path(machine, "/lib/modules");
	char sysctl[160], install[96];
	struct module_file file;

	advice_write_sysctl(machine, "kernel.perf_event_paranoid=2", sysctl, sizeof(sysctl));
	if (!machine->arm64 || machine->lacking || !kernel_is_supported(machine)) {
		snprintf(ret, size, "%s", sysctl);
	} else if (machine->pmu && removable &&
		   machine_has_path(machine, "/sys/kernel/btf/vmlinux")) {
		module_file_read(machine, &file);
		advice_write_module_install(machine, install, sizeof(install));
		snprintf(ret, size,
			 "%s%ssudo speprof takeover, as with speprof.ko and BPF speprofd needs no "
			 "perf event. Or %s",
			 *file.path ? "" : install, *file.path ? "" : ", then ", sysctl);
	} else {
		snprintf(ret, size, "%s; or use speprof.ko with BPF, which need no perf event",
			 sysctl);
	}
}

void check_perf(const struct examined_machine *machine, struct doctor_finding *f)
{
	/*
	 * The module samples without perf events. Only the mappings of deleted files are missing.
	 */
	enum verdict verdict = choose_verdict(!machine->arm64 || (machine->spu && !machine->pmu));
	char text[32], fix[448];

	if (!machine_has_path(machine, "/proc/sys/kernel"))
		finding_set_unknown(f, "", "/proc/sys is not visible here");
	else if (machine_read_line(machine, "/proc/sys/kernel/perf_event_paranoid", text,
				   sizeof(text)) < 0)
		finding_set(f, verdict, CAUSE_NO_PERF, "use a kernel with CONFIG_PERF_EVENTS=y",
			    "this kernel has no perf events: neither perf's driver nor emulation "
			    "works");
	else if (strtol(text, NULL, 10) <= 2)
		finding_set_fine(f, "perf_event_paranoid is %s", text);
	else if (!perf_requires_cap_sys_admin(machine))
		finding_set_fine(f, "perf_event_paranoid is %s, which this kernel treats as 2",
				 text);
	else if (daemon_has_perf_events(machine))
		finding_set_fine(f, "perf_event_paranoid is %s, but speprofd has its perf events",
				 text);
	else if (needs_no_perf_events(machine))
		finding_set_fine(f, "perf_event_paranoid is %s, and speprofd needs no perf event",
				 text);
	else if (will_need_no_perf_events(machine))
		finding_set_fine(
			f,
			"perf_event_paranoid is %s; with speprof.ko and BPF speprofd needs no perf "
			"event",
			text);
	else {
		write_paranoid_fix(machine, fix, sizeof(fix));
		finding_set(f, machine->pmu ? verdict : VERDICT_NOTE, CAUSE_PARANOID, fix,
			    "perf_event_paranoid is %s: then kernels of Debian require "
			    "CAP_SYS_ADMIN, which speprofd lacks",
			    text);
	}
}

void check_lockdown(const struct examined_machine *machine, struct doctor_finding *f)
{
	static const char *const locked[] = { "Kernel is locked down from", NULL };
	char text[128], boot[256], fix[448];
	int r;

	if (machine_read_line(machine, "/sys/kernel/security/lockdown", text, sizeof(text)) >= 0) {
		advice_write_boot(machine, "lockdown=integrity", boot, sizeof(boot));
		snprintf(fix, sizeof(fix), "%s, or sample through perf (Source=perf)", boot);
		if (strstr(text, "[confidentiality]"))
			finding_set(f, choose_verdict(machine->pmu), CAUSE_LOCKDOWN, fix,
				    "confidentiality: speprof.ko refuses sessions, BPF cannot read "
				    "tasks, and debugfs is closed");
		else
			finding_set_fine(f, "%s",
					 strstr(text, "[integrity]") ?
						 "integrity: modules need a signature" :
						 "none");
		return;
	}
	if (machine_get_kernel_config(machine, "CONFIG_SECURITY_LOCKDOWN_LSM") == 0) {
		finding_set_fine(f, "none, as this kernel does not support it");
		return;
	}
	r = log_find(&machine->log, locked, text, sizeof(text));
	if (r == 0)
		finding_set_fine(f, "none, according to the kernel's log");
	else
		finding_set_unknown(f, "sudo mount -t securityfs securityfs /sys/kernel/security",
				    "/sys/kernel/security is not mounted%s%s%s",
				    r == 1 ? ", and the kernel's log has \"" : "",
				    r == 1 ? text : "", r == 1 ? "\"" : "");
}

#define CONTEXTIDR_FIX                                                                     \
	"nothing: speprofd attributes samples by context switches; for exact attribution " \
	"use a kernel with CONFIG_PID_IN_CONTEXTIDR=y"

/* Check whether the daemon follows context switches. If it does, report what that costs. */
static bool report_followed_switches(const struct examined_machine *machine, bool needless,
				     struct doctor_finding *f)
{
	const struct view_header *header = &machine->daemon.header;
	bool bpf = strcmp(header->task_ids, "bpf") == 0;
	char count[TEXT_NUMBER_SIZE];

	if (machine->daemon.status != STATUS_OK || (!bpf && strcmp(header->task_ids, "perf") != 0))
		return false;
	finding_set_note(f, CAUSE_CONTEXTIDR,
			 needless ? "set Contexts=yes in speprofd.conf, then \"sudo systemctl "
				    "restart speprofd\"" :
				    CONTEXTIDR_FIX,
			 "records do not name their task, so %s at each context switch: %s so far",
			 bpf ? "a BPF program runs" : "perf writes two records",
			 text_format_count(count, header->switches));
	return true;
}

void check_contextidr(const struct examined_machine *machine, struct doctor_finding *f)
{
	int r;

	if (finding_skip_without_spe(machine, f))
		return;
	r = machine_get_kernel_config(machine, "CONFIG_PID_IN_CONTEXTIDR");
	if (report_followed_switches(machine, r == 1, f))
		return;
	if (r < 0)
		finding_set_unknown(f,
				    "install the kernel's package, or mount /boot in the container",
				    "there is neither /proc/config.gz nor /boot/config-%.64s",
				    machine->release);
	else if (r)
		finding_set_fine(f, "CONFIG_PID_IN_CONTEXTIDR is set");
	else
		finding_set_note(f, CAUSE_CONTEXTIDR, CONTEXTIDR_FIX,
				 "CONFIG_PID_IN_CONTEXTIDR is not set: speprofd follows context "
				 "switches, at "
				 "each of which a BPF program runs");
}

/*
 * Check the clock: timestamps of records are those of the generic timer; everything else uses
 * CLOCK_MONOTONIC.
 */
void check_clock(const struct examined_machine *machine, struct doctor_finding *f)
{
	char text[64];
	int r;

	if (finding_skip_without_spe(machine, f))
		return;
	r = machine_read_line(machine,
			      "/sys/devices/system/clocksource/clocksource0/current_clocksource",
			      text, sizeof(text));
	if (r < 0)
		finding_set_unknown(f, "", "/sys/devices/system/clocksource is not visible here");
	else if (strcmp(text, "arch_sys_counter") == 0)
		finding_set_fine(f, "arch_sys_counter");
	else
		finding_set_note(
			f, CAUSE_CLOCK,
			"boot without clocksource=, or see \"dmesg | grep clocksource\" for why "
			"the "
			"kernel does not use the counter",
			"the kernel's clock is %s, but records have times of arch_sys_counter: the "
			"two drift apart",
			text);
}

void check_cgroup(const struct examined_machine *machine, struct doctor_finding *f)
{
	char fix[256];

	advice_write_boot(machine, "systemd.unified_cgroup_hierarchy=1", fix, sizeof(fix));
	if (machine_has_path(machine, "/sys/fs/cgroup/cgroup.controllers"))
		finding_set_fine(f, "version 2, at /sys/fs/cgroup");
	else if (machine_has_path(machine, "/sys/fs/cgroup/unified/cgroup.controllers"))
		finding_set_note(
			f, CAUSE_CGROUP_HYBRID, fix,
			"version 2 is mounted beside version 1: containers in version 1 are "
			"identified through /proc only, and cannot be sampled alone");
	else if (machine_matches_glob(machine, "/sys/fs/cgroup/*", NULL))
		finding_set_note(f, CAUSE_NO_CGROUP2, fix,
				 "there is no cgroup version 2: containers are identified through "
				 "/proc only");
	else
		finding_set_note(f, CAUSE_NO_CGROUP2,
				 "sudo mount -t cgroup2 cgroup2 /sys/fs/cgroup",
				 "no cgroup hierarchy is mounted at /sys/fs/cgroup");
}

void check_btf(const struct examined_machine *machine, struct doctor_finding *f)
{
	if (machine_has_path(machine, "/sys/kernel/btf/vmlinux"))
		finding_set_fine(f, "/sys/kernel/btf/vmlinux");
	else if (!machine_has_path(machine, "/sys/kernel"))
		finding_set_unknown(f, "", "/sys is not visible here");
	else
		finding_set_note(
			f, CAUSE_NO_BTF, "use a kernel with CONFIG_DEBUG_INFO_BTF=y",
			"the kernel has no BTF: task events come from perf or /proc, not from BPF");
}

void check_io_uring(const struct examined_machine *machine, struct doctor_finding *f)
{
	const char *fix = "nothing: speprofd uses epoll instead";
	char text[32];
	int r = machine_read_line(machine, "/proc/sys/kernel/io_uring_disabled", text,
				  sizeof(text));

	if (machine_get_kernel_config(machine, "CONFIG_IO_URING") == 0)
		finding_set_note(f, CAUSE_IO_URING, fix,
				 "this kernel has no io_uring (CONFIG_IO_URING)");
	else if (r < 0 && !machine_has_path(machine, "/proc/sys/kernel"))
		finding_set_unknown(f, "", "/proc/sys is not visible here");
	else if (r >= 0 && strcmp(text, "0") != 0)
		finding_set_note(f, CAUSE_IO_URING,
				 "nothing: speprofd uses epoll instead; or \"sudo sysctl "
				 "kernel.io_uring_disabled=0\"",
				 "io_uring_disabled is %s", text);
	else if (io_uring_is_refused(machine))
		/*
		 * The default seccomp profiles of container engines refuse io_uring, and epoll
		 * works as well.
		 */
		finding_set_note(f, CAUSE_IO_URING, fix,
				 "a seccomp filter or an LSM refuses io_uring here");
	else if (r < 0)
		/* The setting exists since Linux 6.6. */
		finding_set_fine(f, "this kernel cannot restrict it");
	else
		finding_set_fine(f, "io_uring_disabled is 0");
}

void check_kernel_names(const struct examined_machine *machine, struct doctor_finding *f)
{
	char text[32];

	if (machine_read_line(machine, "/proc/sys/kernel/kptr_restrict", text, sizeof(text)) < 0)
		finding_set_unknown(f, "", "/proc/sys/kernel/kptr_restrict is not visible here");
	else if (strtol(text, NULL, 10) < 2)
		finding_set_fine(f, "kptr_restrict is %s", text);
	else
		finding_set_note(f, CAUSE_KERNEL_NAMES, "sudo sysctl kernel.kptr_restrict=1",
				 "kptr_restrict is %s: the kernel's functions have no names", text);
}

/*
 * Default of perf_event_mlock_kb: memory that a user may lock for perf in addition to
 * RLIMIT_MEMLOCK
 */
#define MLOCK_DEFAULT_KB 516

void check_mlock(const struct examined_machine *machine, struct doctor_finding *f)
{
	char text[32];
	long kb;

	if (machine->spu && !machine->pmu) {
		finding_set_skipped(f, "speprofd uses the module's rings, not perf's");
		return;
	}
	if (machine_read_line(machine, "/proc/sys/kernel/perf_event_mlock_kb", text, sizeof(text)) <
	    0) {
		finding_set_unknown(f, "",
				    "/proc/sys/kernel/perf_event_mlock_kb is not visible here");
		return;
	}
	kb = strtol(text, NULL, 10);
	if (kb >= MLOCK_DEFAULT_KB)
		finding_set_fine(f, "perf_event_mlock_kb is %ld; speprofd's unit has no such limit",
				 kb);
	else
		finding_set_note(
			f, CAUSE_MLOCK,
			"sudo sysctl kernel.perf_event_mlock_kb=516, or \"ulimit -l unlimited\" "
			"for "
			"speprofd, as in its unit (podman: --ulimit memlock=-1)",
			"perf_event_mlock_kb is %ld: without LimitMEMLOCK=infinity perf's buffers "
			"are refused",
			kb);
}
