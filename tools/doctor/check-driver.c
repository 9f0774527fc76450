// SPDX-License-Identifier: LGPL-2.1-or-later
/* Check the drivers: arm_spe_pmu, and speprof.ko from its file to its SPUs. */
#include <grp.h>
#include <linux/speprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "doctor.h"

/* Advice in a container, which has no /lib/modules */
#define ADVICE_IN_CONTAINER                                           \
	"if modules may be installed: speprof-dkms on the host, and " \
	"\"sudo speprof takeover\" there"

/*
 * Return whether all references to the driver belong to speprofd: each perf event is one, and
 * speprofd has one for each CPU.
 */
static bool only_speprofd_uses_driver(const struct examined_machine *machine, long users)
{
	const struct view_header *header = &machine->daemon.header;

	return machine->daemon.status == STATUS_OK && strcmp(header->source, "perf") == 0 &&
	       users <= (long)header->cpus;
}

/* Report that perf events of arm_spe_pmu are open. */
static void report_driver_in_use(const struct examined_machine *machine, long users,
				 struct doctor_finding *f)
{
	if (only_speprofd_uses_driver(machine, users))
		finding_set_note(
			f, CAUSE_DRIVER_BOUND,
			machine_has_path(machine, "/lib/modules") ?
				"\"sudo systemctl stop speprofd\", \"sudo speprof takeover\", then "
				"start it again" :
				ADVICE_IN_CONTAINER,
			"arm_spe_pmu has the SPUs: speprofd samples through perf, with fewer "
			"features");
	else
		finding_set_note(
			f, CAUSE_DRIVER_BUSY,
			"end \"perf record -e arm_spe_0//\" or, if it is speprofd, \"systemctl "
			"stop "
			"speprofd\"; then \"sudo speprof takeover\"",
			"perf uses the SPUs of arm_spe_pmu (%ld users): speprofd can use only the "
			"others",
			users);
}

/* Report that arm_spe_pmu is built into the kernel's image. */
static void report_driver_builtin(const struct examined_machine *machine, struct doctor_finding *f)
{
	char boot[256], fix[448];

	advice_write_boot(machine, "initcall_blacklist=arm_spe_pmu_init", boot, sizeof(boot));
	snprintf(fix, sizeof(fix), "%s, then \"speprof takeover\"", boot);
	finding_set_note(
		f, CAUSE_DRIVER_BUILTIN,
		machine->distribution == DISTRIBUTION_BOTTLEROCKET ?
			"nothing: Bottlerocket installs no modules" :
			fix,
		"arm_spe_pmu is built in: speprofd samples through perf, with fewer features");
}

void check_driver(const struct examined_machine *machine, struct doctor_finding *f)
{
	bool builtin = !machine_has_path(machine, "/sys/module/arm_spe_pmu/initstate");
	char users[16];

	if (!machine->arm64)
		finding_set_skipped(f, "only matters with SPE");
	else if (!machine_has_path(machine, "/sys/module/arm_spe_pmu") &&
		 !machine_has_path(machine, "/sys/bus/platform/drivers/arm_spe_pmu"))
		finding_set_fine(f, "the kernel's own driver arm_spe_pmu is not loaded");
	else if (!machine->pmu)
		finding_set_fine(f, "arm_spe_pmu has no SPU");
	else if (!kernel_is_supported(machine))
		finding_set_fine(f,
				 "arm_spe_pmu has the SPUs; below Linux 6.1 it is the only driver");
	else if (builtin)
		report_driver_builtin(machine, f);
	else if (machine_read_line(machine, "/sys/module/arm_spe_pmu/refcnt", users,
				   sizeof(users)) >= 0 &&
		 strtol(users, NULL, 10) > 0)
		report_driver_in_use(machine, strtol(users, NULL, 10), f);
	else
		finding_set_note(f, CAUSE_DRIVER_BOUND,
				 machine_has_path(machine, "/lib/modules") ?
					 "sudo speprof takeover" :
					 ADVICE_IN_CONTAINER,
				 "arm_spe_pmu has the SPUs: speprofd can only sample through perf, "
				 "with fewer "
				 "features");
}

/*
 * Return whether the kernel only loads modules with a known signature: 1 or 0; -errno if neither
 * sig_enforce nor lockdown can be read. @ret_by: the name of the setting
 */
static int signatures_are_required(const struct examined_machine *machine, const char **ret_by)
{
	char text[128];
	int r = machine_read_line(machine, "/sys/module/module/parameters/sig_enforce", text,
				  sizeof(text));

	*ret_by = "module.sig_enforce";
	if (r >= 0 && *text == 'Y')
		return 1;
	*ret_by = "lockdown";
	if (machine_read_line(machine, "/sys/kernel/security/lockdown", text, sizeof(text)) >= 0)
		return strstr(text, "[none]") == NULL;
	return r;
}

/*
 * Report that speprof.ko is installed for no kernel of this machine, and that DKMS does not have
 * its source.
 */
static void report_module_not_installed(const struct examined_machine *machine,
					enum verdict verdict, struct doctor_finding *f)
{
	char fix[448], install[96], driver[160] = "";
	bool other_way = advice_write_stock_driver(machine, driver, sizeof(driver));

	advice_write_module_install(machine, install, sizeof(install));
	if (machine->distribution == DISTRIBUTION_BOTTLEROCKET)
		snprintf(
			fix, sizeof(fix),
			"nothing: Bottlerocket installs no modules; speprofd samples through perf");
	else
		snprintf(fix, sizeof(fix), "%s%s%s%s", install,
			 machine_get_builder(machine) == BUILDER_MAKE ?
				 " (DKMS skips this series of Linux, which is not tested)" :
				 ", or " ADVICE_MAKE,
			 other_way ? "; or sample through perf: " : "", driver);
	finding_set(f, verdict, CAUSE_MODULE_MISSING, fix, "speprof.ko is not installed for %.64s",
		    machine->release);
}

/* Report that speprof.ko is not installed for this kernel. */
static void report_module_missing(const struct examined_machine *machine, enum verdict verdict,
				  struct doctor_finding *f)
{
	char fix[448], headers[192], build[96], other[128];
	enum module_builder builder = machine_get_builder(machine);
	bool source = machine_matches_glob(machine, "/usr/src/speprof-*/dkms.conf", NULL) ||
		      machine_has_path(machine, AKMODS_SOURCE);

	advice_write_headers(machine, headers, sizeof(headers));
	advice_write_module_build(machine, build, sizeof(build));
	if (builder == BUILDER_MAKE)
		snprintf(fix, sizeof(fix), "%s, then %s", headers, build);
	else
		snprintf(fix, sizeof(fix), "%s && %s; or " ADVICE_MAKE, headers, build);
	if (module_find_other_kernel(machine, other, sizeof(other)))
		finding_set(f, verdict, CAUSE_MODULE_KERNEL, fix,
			    "speprof.ko is built for %.64s, and this kernel is %.64s", other,
			    machine->release);
	else if (source && builder == BUILDER_MAKE)
		finding_set(f, verdict, CAUSE_MODULE_KERNEL, fix,
			    "DKMS skips this series of Linux, which is not tested: %.64s",
			    machine->release);
	else if (source)
		finding_set(
			f, verdict, CAUSE_MODULE_KERNEL, fix,
			"%s has speprof's source, but has built no module for this kernel, %.64s",
			builder == BUILDER_AKMODS ? "akmods" : "DKMS", machine->release);
	else
		report_module_not_installed(machine, verdict, f);
}

/*
 * Write the commands that build, sign and install the module again. "dkms build" builds and signs
 * the module, and "dkms install" installs the module that was built. Both commands need the
 * version. @without: advice if neither DKMS nor akmods has the module.
 */
static void describe_rebuild(const struct examined_machine *machine, const char *without,
			     char *ret_text, size_t size)
{
	enum module_builder builder = machine_get_builder(machine);
	char path[PATH_MAX], *version = NULL;

	if (machine_matches_glob(machine, "/usr/src/speprof-*/dkms.conf", path)) {
		*strrchr(path, '/') = 0;
		version = strrchr(path, '/') + strlen("/speprof-");
	}
	if (builder == BUILDER_DKMS && version)
		snprintf(ret_text, size,
			 "\"dkms build --force speprof/%.32s -k %.64s\", and \"dkms install\" with "
			 "the same",
			 version, machine->release);
	else if (builder == BUILDER_AKMODS && machine_has_path(machine, AKMODS_SOURCE))
		advice_write_module_build(machine, ret_text, size);
	else
		snprintf(ret_text, size, "%s", without);
}

/*
 * Write the commands that sign the module. Neither DKMS nor akmods signs what "make
 * modules_install" installs.
 */
static void describe_signing(const struct examined_machine *machine, char *ret_text, size_t size)
{
	static const char *const without[] = {
		[BUILDER_DKMS] = "install speprof-dkms, which signs",
		[BUILDER_AKMODS] = "install akmod-speprof, which signs",
		[BUILDER_MAKE] = "sign speprof.ko with a key of yours by scripts/sign-file of the "
				 "kernel's headers",
	};

	describe_rebuild(machine, without[machine_get_builder(machine)], ret_text, size);
}

/*
 * Return whether a module is built for this kernel. The first word of its vermagic, such as
 * "6.1.0-13-amd64 SMP preempt", is the release of the kernel.
 */
static bool is_built_for_kernel(const struct examined_machine *machine, const char *vermagic)
{
	size_t n = strlen(machine->release);

	return strncmp(vermagic, machine->release, n) == 0 && (!vermagic[n] || vermagic[n] == ' ');
}

/* Report why an installed module is probably not loaded. */
static void report_module_not_loaded(const struct examined_machine *machine,
				     const struct module_file *file, enum verdict verdict,
				     struct doctor_finding *f)
{
	static const char *const ours[] = {
		"speprof: version magic",  "speprof: disagrees about version",
		"speprof: Unknown symbol", "speprof: no symbol version",
		"speprof: module license", NULL
	};
	/*
	 * Messages of kernel/module/signing.c and security/lockdown, which do not name the module
	 */
	static const char *const any[] = { "Loading of unsigned module", "Loading of module with ",
					   "unsigned module loading is restricted", NULL };
	char line[200], again[192], enrol[96], fix[448];
	const char *by;

	advice_write_enrol(machine, enrol, sizeof(enrol));
	if (*file->vermagic && !is_built_for_kernel(machine, file->vermagic)) {
		advice_write_module_build(machine, fix, sizeof(fix));
		finding_set(f, verdict, CAUSE_MODULE_KERNEL, fix,
			    "%.128s is built for \"%.64s\", and this kernel is %.64s", file->path,
			    file->vermagic, machine->release);
	} else if (!file->error && !file->is_signed && signatures_are_required(machine, &by) == 1) {
		describe_signing(machine, again, sizeof(again));
		snprintf(fix, sizeof(fix), "%s, then %s; or boot without Secure Boot", again,
			 enrol);
		finding_set(f, verdict, CAUSE_MODULE_UNSIGNED, fix,
			    "speprof.ko has no signature, and this kernel requires one (%s)", by);
	} else if (log_find(&machine->log, ours, line, sizeof(line)) == 1) {
		describe_rebuild(machine, ADVICE_MAKE, again, sizeof(again));
		finding_set(f, verdict, CAUSE_MODULE_REJECTED, again,
			    "the kernel refused speprof.ko: \"%.160s\"", line);
	} else if (log_find(&machine->log, any, line, sizeof(line)) == 1) {
		describe_signing(machine, again, sizeof(again));
		snprintf(fix, sizeof(fix),
			 "if it has no signature: %s; if the kernel does not know its key: %s",
			 again, enrol);
		finding_set(f, verdict, CAUSE_MODULE_REJECTED, fix,
			    "speprof.ko is not loaded, and the kernel refused a module: \"%.120s\"",
			    line);
	} else {
		finding_set(f, verdict, CAUSE_MODULE_NOT_LOADED,
			    machine->pmu ? "sudo speprof takeover" : "sudo modprobe speprof",
			    "speprof.ko is built for %.64s, and not loaded%s%s", machine->release,
			    file->error ? "; its signature is unknown: " : "",
			    file->error ? file->error : "");
	}
}

static void check_loaded_module(const struct examined_machine *machine, enum verdict verdict,
				struct doctor_finding *f)
{
	static const char *const refused[] = { "SPU refused", "speprof spe", "speprof arm,spe",
					       NULL };
	const struct loaded_module *module = &machine->module;
	bool lacking = !machine->arm64 || machine->lacking;
	char line[220];
	int r;

	if (module->abi != SPEPROF_ABI_VERSION) {
		finding_set(f, verdict, CAUSE_MODULE_ABI,
			    "install module, daemon and command of one version, then \"sudo "
			    "speprof module reload\"",
			    "speprof.ko has ABI %u, this command has ABI %u", module->abi,
			    SPEPROF_ABI_VERSION);
	} else if (module->spus && module->backend == SPEPROF_BACKEND_EMULATED && !lacking) {
		finding_set(f, verdict, CAUSE_EMULATOR,
			    "sudo rmmod speprof_emu && sudo speprof takeover",
			    "speprof.ko drives %u SPUs that speprof_emu.ko emulates, instead of "
			    "the hardware",
			    module->spus);
	} else if (module->spus) {
		finding_set_fine(f, "speprof.ko drives %u %s", module->spus,
				 module->backend == SPEPROF_BACKEND_EMULATED ?
					 "SPUs that speprof_emu.ko emulates" :
					 "hardware SPUs");
	} else if (machine->pmu) {
		finding_set_fine(f, "speprof.ko is loaded, and arm_spe_pmu has the SPUs");
	} else if (lacking) {
		finding_set_note(f, CAUSE_MODULE_REFUSED, "sudo modprobe speprof_emu",
				 "speprof.ko is loaded and has no SPU");
	} else {
		r = log_find(&machine->log, refused, line, sizeof(line));
		finding_set(f, verdict, CAUSE_MODULE_REFUSED, "sudo dmesg | grep -i spe",
			    "speprof.ko is loaded and has no SPU: %s%.200s%s", r == 1 ? "\"" : "",
			    r == 1 ? line :
			    r < 0  ? log_get_error_text(r) :
				     "the kernel found none",
			    r == 1 ? "\"" : "");
	}
}

/* Report a kernel that is too old for speprof.ko, on which only perf's driver can sample. */
static void report_old_kernel(const struct examined_machine *machine, struct doctor_finding *f)
{
	char driver[160] = "modprobe arm_spe_pmu";

	if (machine->pmu) {
		finding_set_skipped(
			f, "speprof.ko needs Linux 6.1, and speprofd samples through perf");
		return;
	}
	advice_write_stock_driver(machine, driver, sizeof(driver));
	finding_set_fail(
		f, CAUSE_MODULE_KERNEL, driver,
		"speprof.ko needs Linux 6.1 or later, and this kernel is %.64s: only perf's driver "
		"can sample",
		machine->release);
}

void check_module(const struct examined_machine *machine, struct doctor_finding *f)
{
	/* Without SPE the only choice is emulation in the daemon, which needs no module. */
	enum verdict verdict = choose_verdict(machine->pmu || !machine->arm64);
	struct module_file file;

	switch (machine->module.state) {
	case MODULE_NOT_LOADED:
		if (strcmp(machine->release, "unknown") == 0) {
			finding_set_unknown(f, "", "/proc/sys/kernel/osrelease is missing");
			break;
		}
		if (!machine->arm64 || machine->lacking) {
			finding_set_skipped(
				f, "there is no SPU for it, and speprofd can emulate one without "
				   "the module");
			break;
		}
		if (!kernel_is_supported(machine)) {
			report_old_kernel(machine, f);
			break;
		}
		module_file_read(machine, &file);
		if (*file.path)
			report_module_not_loaded(machine, &file, verdict, f);
		else if (!machine_has_path(machine, "/lib/modules"))
			finding_set_unknown(
				f, "run it on the host, outside of the container",
				"speprof.ko is not loaded, and there is no /lib/modules here");
		else
			report_module_missing(machine, verdict, f);
		break;
	case MODULE_NO_DEVICE:
		finding_set(f, verdict, CAUSE_MODULE_DEVICE,
			    "in a container, add --device /dev/speprof; on the host, \"sudo "
			    "udevadm trigger\" or \"sudo speprof module reload\"",
			    "speprof.ko is loaded, and /dev/speprof is missing");
		break;
	case MODULE_NO_RIGHT:
		finding_set_unknown(f, "sudo speprof doctor",
				    "your user may not open /dev/speprof");
		break;
	case MODULE_MUTE:
		finding_set(f, verdict, CAUSE_MODULE_MUTE, "sudo speprof module reload",
			    "/dev/speprof does not respond to the module's ioctls");
		break;
	default:
		check_loaded_module(machine, verdict, f);
	}
}

/*
 * Check permissions: "speprof record" and doctor open the device as this user; speprofd has
 * capabilities.
 */
void check_rights(const struct examined_machine *machine, struct doctor_finding *f)
{
	char path[PATH_MAX];
	struct stat st;
	int group = group_find_number(machine, "speprof");

	machine_join_path(machine, path, SPEPROF_DEVICE_PATH);
	if (stat(path, &st) < 0)
		finding_set_skipped(f, "there is no /dev/speprof");
	else if (machine->module.state != MODULE_NO_RIGHT)
		finding_set_fine(f, "your user may open /dev/speprof");
	else if (group >= 0 && (st.st_gid != (gid_t)group || !(st.st_mode & 0040)))
		finding_set_note(
			f, CAUSE_DEVICE_RIGHTS,
			"sudo udevadm control --reload && sudo udevadm trigger /dev/speprof",
			"/dev/speprof does not belong to the group speprof: its udev rule is "
			"missing "
			"or has not run");
	else
		finding_set_note(
			f, CAUSE_DEVICE_RIGHTS, "sudo usermod -aG speprof $USER, and log in again",
			"your user may not open /dev/speprof: it is not in the group speprof");
}

void check_installed_module(const struct examined_machine *machine, struct doctor_finding *f)
{
	char version[64] = "", srcversion[64] = "";
	struct module_file file;

	if (!machine_has_path(machine, "/sys/module/speprof")) {
		finding_set_skipped(f, "speprof.ko is not loaded");
		return;
	}
	machine_read_line(machine, "/sys/module/speprof/version", version, sizeof(version));
	machine_read_line(machine, "/sys/module/speprof/srcversion", srcversion,
			  sizeof(srcversion));
	module_file_read(machine, &file);
	if (!*file.path)
		finding_set_unknown(f, "", "no speprof.ko is installed for %.64s",
				    machine->release);
	else if (file.error || !*srcversion || !*file.srcversion)
		finding_set_unknown(f,
				    "compare \"modinfo -F srcversion speprof\" with "
				    "/sys/module/speprof/srcversion",
				    "of %.160s: %s", file.path,
				    file.error ? file.error : "the source version is missing");
	else if (strcmp(srcversion, file.srcversion) == 0)
		finding_set_fine(f, "the loaded module is the installed one, version %s", version);
	else
		finding_set_note(f, CAUSE_MODULE_DIFFERS, "sudo speprof module reload, or reboot",
				 "the loaded module is %s (%.24s), the installed one is %s (%.24s)",
				 version, srcversion, file.version, file.srcversion);
}

void check_cpus(const struct examined_machine *machine, struct doctor_finding *f)
{
	static const char *const refused[] = { "SPU refused", NULL };
	unsigned int online = machine_count_cpus(machine, "/sys/devices/system/cpu/online"),
		     spus = 0;
	char path[PATH_MAX], line[200] = "";

	if (machine->module.state == MODULE_ANSWERS && machine->module.spus) {
		spus = machine->module.spus;
	} else if (machine->pmu) {
		for (unsigned int i = 0; i < 8; i++) {
			snprintf(path, sizeof(path),
				 "/sys/bus/event_source/devices/arm_spe_%u/cpumask", i);
			spus += machine_count_cpus(machine, path);
		}
	} else {
		finding_set_skipped(f, "no CPU has an SPU");
		return;
	}
	if (!online || !spus)
		finding_set_unknown(f, "", "/sys does not list the CPUs");
	else if (spus >= online)
		finding_set_fine(f, "all of %u CPUs have an SPU", online);
	else if (log_find(&machine->log, refused, line, sizeof(line)) == 1)
		finding_set_note(f, CAUSE_SOME_CPUS,
				 "see Documentation/howto/doctor.md for the reason of the refusal",
				 "%u of %u CPUs have an SPU: \"%.180s\"", spus, online, line);
	else
		finding_set_note(f, CAUSE_SOME_CPUS,
				 "if the other cores should have SPE: \"sudo dmesg | grep -i spe\"",
				 "%u of %u CPUs have an SPU: the others are not sampled", spus,
				 online);
}

/*
 * Find an enabled idle state of a CPU that is deeper than WFI, and write its name to @ret_name.
 * Return whether there is one.
 */
static bool find_deep_idle(const struct examined_machine *machine, u32 cpu, char *ret_name,
			   size_t size)
{
	char path[80], text[16];

	for (unsigned int state = 0; state < 16; state++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/name",
			 cpu, state);
		if (machine_read_line(machine, path, ret_name, size) < 0)
			return false;
		if (strstr(ret_name, "WFI") || strcmp(ret_name, "POLL") == 0)
			continue;
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%u/cpuidle/state%u/disable", cpu, state);
		if (machine_read_line(machine, path, text, sizeof(text)) < 0 ||
		    strcmp(text, "0") == 0)
			return true;
	}
	return false;
}

/*
 * Report idle states in which the SPU may lose its registers while arm_spe_pmu has it. That driver,
 * as of Linux 6.12, registers no CPU PM notifier, unlike arm_pmu and speprof.ko (spu_hw_pm). Sysfs
 * does not show which states lose power, so each state deeper than WFI is reported. The states of
 * CPUs may differ, so examine each CPU.
 */
void check_idle(const struct examined_machine *machine, struct doctor_finding *f)
{
	u32 end = machine_get_cpu_limit(machine, "/sys/devices/system/cpu/online");
	char name[64];

	if (!machine->pmu) {
		finding_set_skipped(f, "arm_spe_pmu has no SPU");
		return;
	}
	for (u32 cpu = 0; cpu < end || !cpu; cpu++) {
		if (!find_deep_idle(machine, cpu, name, sizeof(name)))
			continue;
		finding_set_note(
			f, CAUSE_IDLE,
			"\"sudo speprof takeover\", as speprof.ko restores the SPU; or disable the "
			"deeper idle states: \"sudo cpupower idle-set -D 0\"",
			"the idle state %s may power the SPU off, and arm_spe_pmu does not restore "
			"it: a CPU can stop sampling after it was idle",
			name);
		return;
	}
	finding_set_fine(f, "no idle state that may power the SPU off is enabled");
}
