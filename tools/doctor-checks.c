// SPDX-License-Identifier: LGPL-2.1-or-later
#include <glob.h>
#include <linux/speprof.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "bus.h"
#include "doctor.h"
#include "text.h"

static void finding(struct finding *f, enum verdict verdict, enum status status, const char *fix,
		    const char *format, ...) __attribute__((__format__(__printf__, 5, 6)));

static void finding(struct finding *f, enum verdict verdict, enum status status, const char *fix,
		    const char *format, ...)
{
	va_list args;

	f->verdict = verdict;
	f->status = status;
	va_start(args, format);
	vsnprintf(f->found, sizeof(f->found), format, args);
	va_end(args);
	snprintf(f->fix, sizeof(f->fix), "%s", fix);
}

#define fine(f, ...)		  finding(f, VERDICT_FINE, STATUS_OK, "", __VA_ARGS__)
#define note(f, fix, ...)	  finding(f, VERDICT_NOTE, STATUS_OK, fix, __VA_ARGS__)
#define fail(f, status, fix, ...) finding(f, VERDICT_FAIL, status, fix, __VA_ARGS__)
#define skipped(f, ...)		  finding(f, VERDICT_SKIPPED, STATUS_OK, "", __VA_ARGS__)

void machine_path(const struct machine *machine, char *ret, const char *format, ...)
{
	int root = snprintf(ret, PATH_MAX, "%s", machine->root);
	va_list args;

	if (root >= PATH_MAX)
		return;
	va_start(args, format);
	vsnprintf(ret + root, PATH_MAX - root, format, args);
	va_end(args);
}

int machine_read(const struct machine *machine, const char *path, char *ret, size_t size)
{
	char full[PATH_MAX];
	FILE *file;
	char *line;

	machine_path(machine, full, "%s", path);
	file = fopen(full, "re");
	if (!file)
		return -errno;
	line = fgets(ret, size, file);
	fclose(file);
	if (!line)
		return -ENODATA;
	ret[strcspn(ret, "\n")] = 0;
	text_clean(ret);
	return 0;
}

bool machine_has(const struct machine *machine, const char *path)
{
	char full[PATH_MAX];

	machine_path(machine, full, "%s", path);
	return access(full, F_OK) == 0;
}

bool machine_glob(const struct machine *machine, const char *pattern)
{
	char full[PATH_MAX];
	glob_t paths;
	int r;

	machine_path(machine, full, "%s", pattern);
	r = glob(full, 0, NULL, &paths);
	globfree(&paths);
	return r == 0;
}

static void look_architecture(struct machine *machine, struct finding *f)
{
	struct utsname name;
	char arch[sizeof(name.machine)];

	/* The file is as old as 6.1; a --root without it is somebody else's machine. */
	if (machine_read(machine, "/proc/sys/kernel/arch", arch, sizeof(arch)) < 0)
		snprintf(arch, sizeof(arch), "%s",
			 *machine->root || uname(&name) < 0 ? "unknown" : name.machine);
	machine->arm64 = strcmp(arch, "aarch64") == 0;
	if (machine->arm64)
		fine(f, "%s", arch);
	else
		fail(f, STATUS_NO_SPE,
		     "\"make run\", or Source=emulated and Emulate=yes in speprofd.conf, sample "
		     "with an emulated SPU: process, PC and time are true, the rest is modelled",
		     "%s, not aarch64: there is no SPE in this machine", arch);
}

/* Cores whose manuals list FEAT_SPE: implementer and part number of MIDR_EL1. */
static const struct {
	u32 implementer;
	u32 part;
	const char *name;
} spe_cores[] = {
	{ 0x41, 0xd0c, "Neoverse N1" }, { 0x41, 0xd40, "Neoverse V1" },
	{ 0x41, 0xd49, "Neoverse N2" }, { 0x41, 0xd4f, "Neoverse V2" },
	{ 0x41, 0xd83, "Neoverse V3AE" }, { 0x41, 0xd84, "Neoverse V3" },
	{ 0x41, 0xd8e, "Neoverse N3" }, { 0x48, 0xd01, "Kunpeng 920" },
};

static const char *core_name(const struct machine *machine, char *ret_midr, size_t size)
{
	u64 midr = 0;

	if (machine_read(machine, "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
			 ret_midr, size) < 0)
		snprintf(ret_midr, size, "unknown");
	else
		midr = strtoull(ret_midr, NULL, 16);
	for (size_t i = 0; i < ARRAY_SIZE(spe_cores); i++)
		if (spe_cores[i].implementer == (midr >> 24 & 0xff) &&
		    spe_cores[i].part == (midr >> 4 & 0xfff))
			return spe_cores[i].name;
	return NULL;
}

/*
 * ID_AA64DFR0_EL1.PMSVer itself reads as zero in userspace: the kernel hides the
 * field. The module says it; else what tells is what the kernel made of it.
 */
static void look_spe(struct machine *machine, struct finding *f)
{
	char midr[64];
	const char *core = core_name(machine, midr, sizeof(midr));
	struct module module;

	if (!machine->arm64) {
		skipped(f, "only aarch64 has SPE");
		return;
	}
	module_ask(machine, &module);
	if (module.state == MODULE_ANSWERS && module.spus &&
	    module.backend == SPEPROF_BACKEND_HARDWARE)
		fine(f, "ID_AA64DFR0_EL1.PMSVer is %u, MIDR_EL1 %s", module.pmsver, midr);
	else if (machine_glob(machine, "/sys/bus/event_source/devices/arm_spe_*"))
		fine(f, "perf's driver has an SPU, MIDR_EL1 %s%s%s", midr, core ? ", " : "",
		     core ? core : "");
	else if (core)
		fail(f, STATUS_NO_SPE,
		     "on a virtual machine: take a bare-metal instance; on hardware: look at the "
		     "next checks, and for SPE in the firmware's setup",
		     "no SPU is in use, though %s has SPE", core);
	else
		fail(f, STATUS_NO_SPE,
		     "Source=emulated and Emulate=yes in speprofd.conf sample with an emulated SPU",
		     "no SPU is in use, and MIDR_EL1 %s is not known to have SPE", midr);
}

static void look_firmware(struct machine *machine, struct finding *f)
{
	char node[512];
	u32 interrupt = 0;

	if (!machine->arm64) {
		skipped(f, "only aarch64 has SPE");
		return;
	}
	if (firmware_node(machine, node, sizeof(node))) {
		fine(f, "devicetree node /%.200s", node);
		return;
	}
	switch (firmware_madt(machine, &interrupt)) {
	case FIRMWARE_MADT_SPE:
		fine(f, "ACPI's MADT names interrupt %u", interrupt);
		break;
	case FIRMWARE_MADT_HIDDEN:
		note(f, "run \"speprof doctor\" as root",
		     "no devicetree node, and ACPI's MADT is for root to read");
		break;
	default:
		fail(f, STATUS_NO_SPE,
		     "update or configure the firmware: SPE's interrupt must be in the MADT's GICC "
		     "structures (ACPI 6.3) or in a devicetree node",
		     "neither a devicetree node nor ACPI's MADT tells of an SPU");
	}
}

/*
 * meltdown says "Not affected" where the kernel is unmapped for KASLR's sake
 * alone, on cores without E0PD; then only the log tells.
 */
static void look_kpti(struct machine *machine, struct finding *f)
{
	char meltdown[128] = "", cmdline[4096] = "";
	const char *fix = "boot with kpti=off, if this machine's processes trust each other";
	int logged;

	if (!machine->arm64) {
		skipped(f, "only matters to SPE");
		return;
	}
	machine_read(machine, "/sys/devices/system/cpu/vulnerabilities/meltdown", meltdown,
		     sizeof(meltdown));
	machine_read(machine, "/proc/cmdline", cmdline, sizeof(cmdline));
	logged = log_has(machine, "detected: Kernel page table isolation (KPTI)");
	if (strstr(cmdline, "kpti=on") || strstr(cmdline, "kpti=1"))
		fail(f, STATUS_SETTING, "boot without kpti=on",
		     "the kernel is unmapped at EL0 (kpti=on on its command line)");
	else if (strstr(meltdown, "PTI"))
		fail(f, STATUS_SETTING, fix, "the kernel is unmapped at EL0 (meltdown: %s)",
		     meltdown);
	else if (logged == 1)
		fail(f, STATUS_SETTING, fix,
		     "the kernel is unmapped at EL0, for KASLR (says its log)");
	else if (logged < 0)
		note(f, "run \"speprof doctor\" as root",
		     "the kernel may be unmapped at EL0 for KASLR: its log is for root to read");
	else
		fine(f, "no sign of a kernel unmapped at EL0");
}

static void look_driver(struct machine *machine, struct finding *f)
{
	bool builtin = !machine_has(machine, "/sys/module/arm_spe_pmu/initstate");

	if (!machine->arm64) {
		skipped(f, "only matters to SPE");
		return;
	}
	if (!machine_has(machine, "/sys/module/arm_spe_pmu") &&
	    !machine_has(machine, "/sys/bus/platform/drivers/arm_spe_pmu"))
		fine(f, "the in-tree driver arm_spe_pmu is not there");
	else if (builtin)
		note(f, "boot with initcall_blacklist=arm_spe_pmu_init, then load speprof.ko",
		     "the in-tree driver arm_spe_pmu is built in and holds the SPU");
	else
		note(f, "\"speprof takeover\"",
		     "the in-tree driver arm_spe_pmu is loaded and holds the SPU");
}

static void module_found(struct module *module, struct finding *f)
{
	if (module->state == MODULE_MUTE)
		fail(f, STATUS_NO_MODULE, "see \"dmesg | grep speprof\"",
		     "what is at /dev/speprof does not answer as speprof.ko does");
	else if (module->abi != SPEPROF_ABI_VERSION)
		fail(f, STATUS_NO_MODULE, "install module and command of one version",
		     "speprof.ko speaks ABI %u, this command ABI %u", module->abi,
		     SPEPROF_ABI_VERSION);
	else if (module->spus == 0)
		note(f, "look at the checks above, and at \"dmesg | grep speprof\"",
		     "speprof.ko is loaded and has no SPU");
	else
		fine(f, "speprof.ko has %u SPUs, %s", module->spus,
		     module->backend == SPEPROF_BACKEND_EMULATED ? "emulated by speprof_emu.ko" :
								   "of the hardware");
}

static void look_module(struct machine *machine, struct finding *f)
{
	/* Emulation in the daemon, all that other machines have, needs no module. */
	enum verdict missing = machine->arm64 ? VERDICT_FAIL : VERDICT_NOTE;
	struct module module;

	module_ask(machine, &module);
	switch (module.state) {
	case MODULE_NOT_BUILT:
		finding(f, missing, STATUS_NO_MODULE,
			"\"make modules\" in speprof's source builds it",
			"speprof.ko is not installed for kernel %s", machine->release);
		break;
	case MODULE_NOT_LOADED:
		finding(f, missing, STATUS_NO_MODULE, "\"modprobe speprof\"",
			"speprof.ko is built for %s and not loaded", machine->release);
		break;
	case MODULE_NO_DEVICE:
		finding(f, missing, STATUS_NO_MODULE, "see \"dmesg | grep speprof\"",
			"speprof.ko is loaded, and /dev/speprof is missing");
		break;
	case MODULE_NO_RIGHT:
		note(f, "nothing, if speprofd does the sampling; else be root",
		     "/dev/speprof is there, and not for you to open");
		break;
	default:
		module_found(&module, f);
	}
}

static void look_paranoid(struct machine *machine, struct finding *f)
{
	char text[32];
	int r = machine_read(machine, "/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));

	if (r < 0)
		note(f, "use a kernel with CONFIG_PERF_EVENTS",
		     "this kernel has no perf events: neither perf's driver nor emulation works");
	else if (strtol(text, NULL, 10) > 2)
		note(f,
		     "nothing, if speprofd runs from its unit; else "
		     "\"sysctl kernel.perf_event_paranoid=2\" or CAP_PERFMON",
		     "perf_event_paranoid is %s: perf events need CAP_PERFMON", text);
	else
		fine(f, "perf_event_paranoid is %s", text);
}

static void look_cgroup(struct machine *machine, struct finding *f)
{
	if (machine_has(machine, "/sys/fs/cgroup/cgroup.controllers"))
		fine(f, "/sys/fs/cgroup");
	else if (machine_has(machine, "/sys/fs/cgroup/unified/cgroup.controllers"))
		fine(f, "/sys/fs/cgroup/unified (hybrid)");
	else
		note(f, "boot with systemd.unified_cgroup_hierarchy=1, or mount cgroup2",
		     "no cgroup v2 hierarchy is mounted");
}

static void look_btf(struct machine *machine, struct finding *f)
{
	if (machine_has(machine, "/sys/kernel/btf/vmlinux"))
		fine(f, "/sys/kernel/btf/vmlinux");
	else
		note(f, "use a kernel with CONFIG_DEBUG_INFO_BTF, as Debian's have",
		     "this kernel carries no BTF: /proc is read instead");
}

static void look_io_uring(struct machine *machine, struct finding *f)
{
	char text[32];

	/* No such file before 6.6, where nothing could refuse it. */
	if (machine_read(machine, "/proc/sys/kernel/io_uring_disabled", text, sizeof(text)) < 0)
		fine(f, "not restricted");
	else if (strcmp(text, "0") == 0)
		fine(f, "io_uring_disabled is 0");
	else
		note(f,
		     "nothing: epoll serves the rings as well; or "
		     "\"sysctl kernel.io_uring_disabled=0\"",
		     "io_uring_disabled is %s", text);
}

static void look_lockdown(struct machine *machine, struct finding *f)
{
	char text[128];

	if (machine_read(machine, "/sys/kernel/security/lockdown", text, sizeof(text)) < 0)
		fine(f, "this kernel has no lockdown, or does not show it");
	else if (strstr(text, "[none]"))
		fine(f, "none");
	else if (strstr(text, "[integrity]"))
		note(f,
		     "sign speprof.ko and enrol the key (\"mokutil --import\"), or boot without "
		     "Secure Boot",
		     "integrity: unsigned modules do not load");
	else
		note(f, "boot with lockdown=integrity",
		     "%s: perf events and BPF may be refused too", text);
}

/* "CONFIG_X=y" in the kernel's configuration: 1, 0, or a negative errno if there is none. */
static int config_has(const struct machine *machine, const char *option)
{
	char path[PATH_MAX], line[1024];
	gzFile file;
	int found = 0;

	/* zlib reads plain files as they are. */
	machine_path(machine, path, "/proc/config.gz");
	file = gzopen(path, "re");
	if (!file) {
		machine_path(machine, path, "/boot/config-%s", machine->release);
		file = gzopen(path, "re");
	}
	if (!file)
		return -ENOENT;
	while (!found && gzgets(file, line, sizeof(line)))
		found = strncmp(line, option, strlen(option)) == 0 &&
			strcmp(line + strlen(option), "=y\n") == 0;
	gzclose(file);
	return found;
}

static void look_contextidr(struct machine *machine, struct finding *f)
{
	int r;

	if (!machine->arm64) {
		skipped(f, "only matters to SPE");
		return;
	}
	r = config_has(machine, "CONFIG_PID_IN_CONTEXTIDR");
	if (r < 0)
		note(f, "install the kernel's package, which brings /boot/config",
		     "no configuration of %s is to be found", machine->release);
	else if (r)
		fine(f, "CONFIG_PID_IN_CONTEXTIDR is set");
	else
		note(f, "use a kernel with CONFIG_PID_IN_CONTEXTIDR=y for exact attribution",
		     "CONFIG_PID_IN_CONTEXTIDR is not set: processes come from switch events and "
		     "timestamps");
}

static void look_daemon(struct machine *machine, struct finding *f)
{
	struct view view;
	struct bus *bus;
	int status;

	(void)machine;
	status = bus_new_quiet(&bus);
	if (status == STATUS_OK)
		status = bus_view(bus, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1, &view);
	if (status == STATUS_OK) {
		fine(f, "speprofd is %s, source %.15s", view.header.running ? "running" : "stopped",
		     view.header.source);
		view_clear(&view);
	} else {
		fail(f, status,
		     status == STATUS_NO_RIGHT ? "be root, or in the group speprof" :
						 "\"systemctl start speprofd\", or \"make run\"",
		     "%.250s", bus_error(bus));
	}
	bus_free(bus);
}

const struct check doctor_checks[] = {
	{
		.name = "architecture",
		.why = "the Statistical Profiling Extension is a part of Arm processors",
		.look = look_architecture,
	},
	{
		.name = "spe",
		.why = "the SPU of each CPU takes the samples",
		.look = look_spe,
	},
	{
		.name = "firmware",
		.why = "the kernel learns the SPU's interrupt from the firmware",
		.look = look_firmware,
	},
	{
		.name = "kpti",
		.why = "with the kernel unmapped at EL0 the SPU could not write its buffer there",
		.look = look_kpti,
	},
	{
		.name = "driver",
		.why = "an SPU has one owner at a time",
		.look = look_driver,
	},
	{
		.name = "module",
		.why = "speprof.ko hands the records out without copying",
		.look = look_module,
	},
	{
		.name = "perf",
		.why = "emulation takes its samples from perf's CPU clock",
		.look = look_paranoid,
	},
	{
		.name = "cgroup",
		.why = "the cgroup of a process names its container",
		.look = look_cgroup,
	},
	{
		.name = "btf",
		.why = "BPF follows processes and cgroups without a race",
		.look = look_btf,
	},
	{
		.name = "io_uring",
		.why = "one io_uring serves the rings of all CPUs",
		.look = look_io_uring,
	},
	{
		.name = "lockdown",
		.why = "a locked-down kernel refuses modules without a signature",
		.look = look_lockdown,
	},
	{
		.name = "contextidr",
		.why = "records name their process where the kernel writes CONTEXTIDR",
		.look = look_contextidr,
	},
	{
		.name = "daemon",
		.why = "speprofd samples and answers",
		.look = look_daemon,
	},
};

const size_t doctor_count = ARRAY_SIZE(doctor_checks);
