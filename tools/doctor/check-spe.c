// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check the processor, the firmware and higher Exception levels: whether there is an SPU that a
 * driver can use. If a driver already has one, these checks pass.
 */
#include <linux/speprof.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/data-source.h"
#include "doctor.h"
#include "lib/core-erratum.h"

#define ADVICE_AS_ROOT	   "sudo speprof doctor"
#define ADVICE_LOAD_DRIVER "load a driver: see the checks module and driver"

/* Source= and Emulate= are both necessary, so that an SPU is never emulated by mistake. */
#define ADVICE_EMULATION                                                                    \
	"with Source=emulated and Emulate=yes below [Sampling] in speprofd.conf, speprofd " \
	"samples an "                                                                       \
	"emulated SPU: process, PC and time are real, the rest is modelled"

/*
 * Messages in the log with which drivers reject an SPU: those of speprof.ko, then those of
 * arm_spe_pmu
 */
static const char *const log_no_version[] = { "ID_AA64DFR0_EL1.PMSVer is 0 though firmware",
					      "unsupported ID_AA64DFR0_EL1.PMSVer [0]", NULL };
static const char *const log_owned[] = { "PMBIDR_EL1.P is 1",
					 "profiling buffer owned by higher exception level", NULL };
static const char *const log_unmapped[] = { "(KPTI), where the SPU must write",
					    "profiling buffer inaccessible. Try passing", NULL };
static const char *const log_interrupt[] = { "the firmware must describe PMBIRQ",
					     "is not private to a CPU: the firmware",
					     "PPIs of several devices must be partitioned",
					     "expected PPI but got SPI",
					     "failed to get PPI partition",
					     NULL };

/* Advise emulation, or @otherwise if the daemon already emulates an SPU. */
static const char *get_emulation_advice(const struct examined_machine *machine,
					const char *otherwise)
{
	return machine->daemon.status == STATUS_OK &&
			       machine->daemon.header.backend == BACKEND_EMULATED ?
		       "use a machine with SPE. Until then speprofd samples an emulated SPU: "
		       "process, PC and time are real, the rest is modelled" :
		       otherwise;
}

void check_architecture(const struct examined_machine *machine, struct doctor_finding *f)
{
	if (machine->arm64)
		finding_set_fine(f, "%s", machine->arch);
	else if (strcmp(machine->arch, "unknown") == 0)
		finding_set_unknown(f, "", "/proc/sys/kernel/arch is missing");
	else
		finding_set_fail(f, CAUSE_NOT_ARM64,
				 get_emulation_advice(machine, ADVICE_EMULATION),
				 "%s: only aarch64 has SPE", machine->arch);
}

/* Read MIDR_EL1 of a CPU as text. Return: 0, or the error of machine_read_line(). */
static int read_midr(const struct examined_machine *machine, u32 cpu, char *ret_midr, size_t size)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1",
		 cpu);
	return machine_read_line(machine, path, ret_midr, size);
}

/*
 * Return the name of the first core that is known to have SPE, because on some machines only the
 * big cores have SPE. If there is none, return the name of the first core.
 */
static const char *find_core_name(const struct examined_machine *machine, char *ret_midr,
				  size_t size)
{
	u32 end = machine_get_cpu_limit(machine, "/sys/devices/system/cpu/online");
	const char *name = NULL;
	char text[64];

	snprintf(ret_midr, size, "unknown");
	for (u32 cpu = 0; !name && (cpu < end || !cpu); cpu++) {
		if (read_midr(machine, cpu, text, sizeof(text)) < 0)
			continue;
		name = spe_core_name(strtoull(text, NULL, 16));
		if (name || strcmp(ret_midr, "unknown") == 0)
			snprintf(ret_midr, size, "%s", text);
	}
	return name;
}

/*
 * Return whether devicetree or ACPI describes an SPU, or whether it already is a platform device.
 */
static bool spu_is_described(const struct examined_machine *machine)
{
	char node[512];
	u32 interrupt;

	return firmware_find_node(machine, node, sizeof(node)) || firmware_has_device(machine) ||
	       firmware_read_madt(machine, &interrupt) == FIRMWARE_MADT_SPE;
}

/*
 * Return whether devicetree or the table of ACPI is readable: only root may read the table, and
 * containers hide both.
 */
static bool firmware_is_readable(const struct examined_machine *machine)
{
	u32 interrupt;
	enum firmware_madt madt = firmware_read_madt(machine, &interrupt);

	return madt == FIRMWARE_MADT_WITHOUT ||
	       (madt == FIRMWARE_NO_MADT &&
		(machine_has_path(machine, "/sys/firmware/devicetree/base") ||
		 machine_has_path(machine, "/sys/bus/platform/devices")));
}

bool spe_is_absent(const struct examined_machine *machine)
{
	char text[64];

	if (!machine->arm64 || machine->spu || spu_is_described(machine) ||
	    !firmware_is_readable(machine))
		return false;
	return !find_core_name(machine, text, sizeof(text)) ||
	       machine_detect_guest(machine, text, sizeof(text)) == 1;
}

bool finding_skip_without_spe(const struct examined_machine *machine, struct doctor_finding *f)
{
	if (!machine->arm64)
		finding_set_skipped(f, "only matters with SPE");
	else if (machine->lacking)
		finding_set_skipped(f, "only matters with SPE, which this machine lacks");
	else
		return false;
	return true;
}

/*
 * Check for SPE. The kernel hides ID_AA64DFR0_EL1.PMSVer from userspace, which reads zero. So this
 * check relies on a driver, or else on a table of cores.
 */
void check_spe(const struct examined_machine *machine, struct doctor_finding *f)
{
	const struct loaded_module *module = &machine->module;
	char midr[64], line[256];
	const char *core = find_core_name(machine, midr, sizeof(midr));

	if (!machine->arm64)
		finding_set_skipped(f, "only aarch64 has SPE");
	else if (machine->spu && module->backend == SPEPROF_BACKEND_HARDWARE)
		finding_set_fine(f, "ID_AA64DFR0_EL1.PMSVer is %u, MIDR_EL1 %s%s%s", module->pmsver,
				 midr, core ? ", " : "", core ? core : "");
	else if (machine->spu)
		finding_set_fine(f, "arm_spe_pmu has an SPU, MIDR_EL1 %s%s%s", midr,
				 core ? ", " : "", core ? core : "");
	else if (log_find(&machine->log, log_no_version, line, sizeof(line)) == 1)
		finding_set_fail(
			f, CAUSE_NO_SPE,
			"in a guest, enable SPE in the hypervisor or use bare metal; else enable "
			"SPE in the firmware's setup (MDCR_EL3.NSPB)",
			"PMSVer is 0: the cores have no SPE, or firmware or hypervisor hides it: "
			"\"%.160s\"",
			line);
	else if (core)
		finding_set_fine(f, "%s, a core with SPE; no driver has verified it", core);
	else if (spu_is_described(machine))
		finding_set_unknown(
			f, ADVICE_LOAD_DRIVER,
			"only a driver can read PMSVer, no driver has an SPU, and the core of "
			"MIDR_EL1 %s is unknown to speprof",
			midr);
	else
		finding_set_fail(
			f, CAUSE_NO_SPE,
			get_emulation_advice(
				machine,
				"use a machine with SPE (Neoverse N1 or later); " ADVICE_EMULATION),
			"the core of MIDR_EL1 %s is not known to have SPE, and the firmware "
			"describes no SPU",
			midr);
}

void check_hypervisor(const struct examined_machine *machine, struct doctor_finding *f)
{
	char name[64], advice[128], fix[448];
	int r;

	if (!machine->arm64) {
		finding_set_skipped(f, "only matters with SPE");
		return;
	}
	cloud_write_advice(machine, advice, sizeof(advice));
	snprintf(fix, sizeof(fix), "%s; " ADVICE_EMULATION, advice);
	r = machine_detect_guest(machine, name, sizeof(name));
	if (r < 0 && machine->spu)
		finding_set_fine(f, "if this is a guest, it has SPE");
	else if (r < 0)
		finding_set_unknown(f, "run it outside of the container",
				    "/sys/class/dmi and /sys/firmware are empty");
	else if (r == 0)
		finding_set_fine(f, "no hypervisor was detected");
	else if (machine->spu || spu_is_described(machine))
		finding_set_fine(f, "a guest of %s, which provides an SPU", name);
	else
		finding_set_fail(f, CAUSE_HYPERVISOR, get_emulation_advice(machine, fix),
				 "a guest of %s, which provides no SPE", name);
}

void check_buffer(const struct examined_machine *machine, struct doctor_finding *f)
{
	char name[64];
	int r;

	if (finding_skip_without_spe(machine, f))
		return;
	if (machine->spu) {
		finding_set_fine(f, "a driver uses it");
		return;
	}
	r = log_find(&machine->log, log_owned, NULL, 0);
	if (r == 1 && machine_detect_guest(machine, name, sizeof(name)) == 1)
		finding_set_fail(
			f, CAUSE_BUFFER_OWNED,
			"the hypervisor must set MDCR_EL2.E2PB to 0b11 for this guest; or use bare "
			"metal",
			"PMBIDR_EL1.P is 1: the hypervisor (%s) owns the profiling buffer", name);
	else if (r == 1)
		finding_set_fail(
			f, CAUSE_BUFFER_OWNED,
			"update or configure the firmware: it must set MDCR_EL3.NSPB to 0b11 at "
			"boot",
			"PMBIDR_EL1.P is 1: the firmware (EL3) or EL2 owns the profiling buffer");
	else if (r < 0)
		finding_set_unknown(f, ADVICE_AS_ROOT, "no driver has an SPU, and %s",
				    log_get_error_text(r));
	else
		finding_set_unknown(
			f, ADVICE_LOAD_DRIVER,
			"only a driver can read PMBIDR_EL1.P, and no driver has logged its value");
}

/*
 * Check KPTI. On cores without E0PD, "meltdown" in sysfs is "Not affected" if the kernel is
 * unmapped only because of KASLR. Then only the log shows KPTI.
 */
void check_kpti(const struct examined_machine *machine, struct doctor_finding *f)
{
	static const char *const detected[] = { "detected: Kernel page table isolation (KPTI)",
						NULL };
	char boot[256], fix[320], either[340];
	char meltdown[128] = "", cmdline[4096] = "";
	int r;

	if (finding_skip_without_spe(machine, f))
		return;
	if (machine->spu) {
		finding_set_fine(f, "the kernel is mapped at EL0: a driver has the SPU");
		return;
	}
	advice_write_boot(machine, "kpti=off", boot, sizeof(boot));
	snprintf(fix, sizeof(fix), "%s, if this machine's processes trust each other", boot);
	snprintf(either, sizeof(either), "%s, or nokaslr", fix);
	machine_read_line(machine, "/sys/devices/system/cpu/vulnerabilities/meltdown", meltdown,
			  sizeof(meltdown));
	machine_read_line(machine, "/proc/cmdline", cmdline, sizeof(cmdline));
	r = log_find(&machine->log, detected, NULL, 0);
	if (strstr(cmdline, "kpti=on") || strstr(cmdline, "kpti=1"))
		finding_set_fail(f, CAUSE_KPTI, "boot without kpti=on",
				 "the kernel is unmapped at EL0: booted with kpti=on");
	else if (strstr(meltdown, "PTI"))
		finding_set_fail(f, CAUSE_KPTI, fix, "the kernel is unmapped at EL0 (meltdown: %s)",
				 meltdown);
	else if (r == 1 || log_find(&machine->log, log_unmapped, NULL, 0) == 1)
		finding_set_fail(
			f, CAUSE_KPTI, either,
			"the kernel is unmapped at EL0 according to its log, because of KASLR and "
			"not of meltdown");
	else if (strstr(cmdline, "kpti=off") || strstr(cmdline, "kpti=0"))
		finding_set_fine(f, "kpti=off");
	else if (r < 0)
		finding_set_unknown(f, ADVICE_AS_ROOT, "KASLR may enable KPTI, and %s",
				    log_get_error_text(r));
	else
		finding_set_fine(f, "the kernel is mapped at EL0");
}

/* Report that neither devicetree nor the MADT describes an SPU. */
static void report_missing_in_firmware(const struct examined_machine *machine,
				       enum firmware_madt madt, struct doctor_finding *f)
{
	if (firmware_has_device(machine))
		finding_set_fine(f,
				 "the kernel has created a device from the firmware's description");
	else if (madt == FIRMWARE_MADT_HIDDEN)
		finding_set_unknown(f, ADVICE_AS_ROOT, "only root may read ACPI's MADT");
	else if (madt == FIRMWARE_NO_MADT &&
		 !machine_has_path(machine, "/sys/firmware/devicetree/base") &&
		 !machine_has_path(machine, "/sys/bus/platform/devices"))
		finding_set_unknown(f, "run it outside of the container",
				    "/sys/firmware is not visible here");
	else
		finding_set_fail(
			f, CAUSE_FIRMWARE,
			"update or configure the firmware: SPE's interrupt must be in the MADT's "
			"GICC structures (ACPI 6.3), or in a devicetree node",
			"neither a devicetree node nor ACPI's MADT describes an SPU");
}

void check_firmware(const struct examined_machine *machine, struct doctor_finding *f)
{
	enum firmware_madt madt;
	char node[512], line[256];
	u32 interrupt = 0;

	if (finding_skip_without_spe(machine, f))
		return;
	if (machine->spu) {
		finding_set_fine(f, "a driver uses the interrupt");
		return;
	}
	if (log_find(&machine->log, log_interrupt, line, sizeof(line)) == 1) {
		finding_set_fail(f, CAUSE_FIRMWARE,
				 "update the firmware: it must describe PMBIRQ, an interrupt that "
				 "is private "
				 "to "
				 "each CPU (PPI)",
				 "the firmware describes an SPU that cannot be used: \"%.200s\"",
				 line);
		return;
	}
	madt = firmware_read_madt(machine, &interrupt);
	if (firmware_find_node(machine, node, sizeof(node)) &&
	    firmware_node_has_interrupt(machine, node))
		finding_set_fine(f, "devicetree node /%.200s", node);
	else if (firmware_find_node(machine, node, sizeof(node)))
		finding_set_fail(f, CAUSE_FIRMWARE,
				 "update the firmware: the node must have PMBIRQ, a PPI",
				 "devicetree node /%.200s has no interrupt", node);
	else if (madt == FIRMWARE_MADT_SPE)
		finding_set_fine(f, "ACPI's MADT names interrupt %u", interrupt);
	else
		report_missing_in_firmware(machine, madt, f);
}

/* The kinds of cores of a machine may differ, so examine each CPU. */
void check_errata(const struct examined_machine *machine, struct doctor_finding *f)
{
	u32 end = machine_get_cpu_limit(machine, "/sys/devices/system/cpu/online");
	char midr[64] = "", text[64], erratum[CORE_ERRATUM_SIZE];

	if (finding_skip_without_spe(machine, f))
		return;
	for (u32 cpu = 0; cpu < end || !cpu; cpu++) {
		if (read_midr(machine, cpu, text, sizeof(text)) < 0)
			continue;
		if (core_erratum_describe(strtoull(text, NULL, 16), erratum)) {
			finding_set_note(
				f, CAUSE_ERRATUM,
				"nothing: compare functions rather than single instructions; r4p1 "
				"of this core is corrected",
				"%s", erratum);
			return;
		}
		if (!*midr)
			snprintf(midr, sizeof(midr), "%s", text);
	}
	if (!*midr)
		finding_set_unknown(f, "", "MIDR_EL1 is not visible here");
	else
		finding_set_fine(f, "none is known for MIDR_EL1 %s", midr);
}
