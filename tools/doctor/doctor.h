/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What stands between this machine and its samples. A check examines one thing and reports at most
 * one cause. Causes have an id and an order: the most blocking first.
 */
#ifndef SPEPROF_DOCTOR_H
#define SPEPROF_DOCTOR_H

#include "codec/env.h"
#include "lib/exit-status.h"
#include "view/view.h"

enum verdict {
	VERDICT_FAIL, /* nothing can be sampled with SPE as long as it is so */
	VERDICT_NOTE, /* sampling works, with less */
	VERDICT_UNKNOWN, /* from here it cannot be told */
	VERDICT_FINE,
	VERDICT_SKIPPED, /* says nothing on this machine */
	VERDICTS,
};

/* In the order in which they block (doctor-cause.c has their ids). */
enum cause {
	CAUSE_NONE,
	CAUSE_NOT_ARM64,
	CAUSE_NO_SPE,
	CAUSE_HYPERVISOR,
	CAUSE_BUFFER_OWNED,
	CAUSE_KPTI,
	CAUSE_FIRMWARE,
	CAUSE_EMULATOR,
	CAUSE_MODULE_REFUSED,
	CAUSE_LOCKDOWN,
	CAUSE_MODULE_MISSING,
	CAUSE_MODULE_KERNEL,
	CAUSE_MODULE_UNSIGNED,
	CAUSE_MODULE_REJECTED,
	CAUSE_MODULE_NOT_LOADED,
	CAUSE_MODULE_DEVICE,
	CAUSE_MODULE_MUTE,
	CAUSE_MODULE_ABI,
	CAUSE_NO_PERF,
	CAUSE_PARANOID,
	CAUSE_SYSCALLS,
	CAUSE_PID_NAMESPACE,
	CAUSE_NO_BUS,
	CAUSE_NO_DAEMON,
	CAUSE_NO_SOURCE,
	CAUSE_NO_GROUP,
	CAUSE_STOPPED,
	CAUSE_DRIVER_BOUND,
	CAUSE_DRIVER_BUILTIN,
	CAUSE_DRIVER_BUSY,
	CAUSE_DEVICE_RIGHTS,
	CAUSE_SOME_CPUS,
	CAUSE_MODULE_DIFFERS,
	CAUSE_VERSION,
	CAUSE_SOURCE,
	CAUSE_TASK_EVENTS,
	CAUSE_NAMES,
	CAUSE_CONTEXTIDR,
	CAUSE_CLOCK,
	CAUSE_NO_CGROUP2,
	CAUSE_CGROUP_HYBRID,
	CAUSE_CGROUP_NAMESPACE,
	CAUSE_NO_BTF,
	CAUSE_MLOCK,
	CAUSE_KERNEL_NAMES,
	CAUSE_IO_URING,
	CAUSE_UNCHECKED, /* nothing is known to be wrong, and something could not be checked */
	CAUSES,
};

/** cause_id() - stable, for scripts; "" of CAUSE_NONE */
const char *cause_id(enum cause cause);

/**
 * struct kernel_log - what is left of the kernel's log
 * @text: records, each with a newline at its end; NULL where it cannot be read
 * @complete: from the boot on
 * @error: a negative errno where there is no @text
 */
struct kernel_log {
	char *text;
	size_t size;
	bool complete;
	int error;
};

/* The module (doctor-module.c). */
enum module_state {
	MODULE_NOT_LOADED,
	MODULE_NO_DEVICE, /* loaded, and /dev/speprof is missing */
	MODULE_NO_RIGHT, /* this user may not open it */
	MODULE_MUTE, /* what is at /dev/speprof does not answer */
	MODULE_ANSWERS,
};

/**
 * struct module - what speprof.ko says of itself and of the first SPU
 * @backend: SPEPROF_BACKEND_* of that SPU
 */
struct module {
	enum module_state state;
	u32 abi;
	u32 spus;
	u32 backend;
	u32 pmsver;
};

/**
 * struct daemon_answer - what speprofd answers (doctor-daemon.c)
 * @status: &enum status of asking; @error says it where it is not STATUS_OK
 * @version: "" where it does not tell
 * @sessions: while the session "machine" is stopped, those that sample; "" for none
 */
struct daemon_answer {
	int status;
	char error[512];
	char version[32];
	char sessions[128];
	struct view_header header;
};

void daemon_query(struct daemon_answer *ret_said);

/**
 * struct machine - where the checks look, and what several of them ask for
 * @root: prefix of every path, "" for the running system
 * @release: of the kernel, "unknown" where that is not to be found
 * @arch: likewise
 * @pmu: the kernel's own driver has an SPU
 * @spu: a driver has the machine's SPUs, whichever: firmware, Exception levels and KPTI allow it
 * @lacking: spe_is_absent()
 */
struct machine {
	const char *root;
	char release[128];
	char arch[72];
	bool arm64;
	bool pmu;
	bool spu;
	bool lacking;
	struct module module;
	struct kernel_log log;
	struct daemon_answer daemon;
};

/**
 * struct finding - what a check found
 * @cause: where @verdict is VERDICT_FAIL or VERDICT_NOTE
 * @fix: what to do, a command where there is one; "" where nothing is to be done
 */
struct finding {
	enum verdict verdict;
	enum cause cause;
	char found[384];
	char fix[320];
};

/**
 * finding_status() - the exit status that a finding asks for
 * @finding: is not changed
 *
 * Return: STATUS_NO_SPE if nothing can be sampled because of it; STATUS_FAILED, which is 1, if sampling
 * works or has only to be started, and something could be better; else STATUS_OK.
 */
int finding_status(const struct finding *finding);

/**
 * struct check - one thing to look at
 * @why: why it matters, one sentence
 */
struct check {
	const char *name;
	const char *why;
	void (*run)(const struct machine *machine, struct finding *ret_finding);
};

extern const struct check doctor_checks[];
extern const size_t doctor_count;

/* ---- What a check says --------------------------------------------------------- */

void finding_set(struct finding *finding, enum verdict verdict, enum cause cause, const char *fix,
		 const char *format, ...) __attribute__((__format__(__printf__, 5, 6)));

#define fine(f, ...)		   finding_set(f, VERDICT_FINE, CAUSE_NONE, "", __VA_ARGS__)
#define costs(f, cause, fix, ...)  finding_set(f, VERDICT_NOTE, cause, fix, __VA_ARGS__)
#define blocks(f, cause, fix, ...) finding_set(f, VERDICT_FAIL, cause, fix, __VA_ARGS__)
#define skipped(f, ...)		   finding_set(f, VERDICT_SKIPPED, CAUSE_NONE, "", __VA_ARGS__)
#define unknown(f, fix, format, ...)                                                              \
	finding_set(f, VERDICT_UNKNOWN, CAUSE_NONE, fix, "could not be checked, because " format, \
		    ##__VA_ARGS__)

/** severity() - what stands in the way, or where @works all the same costs something */
#define severity(works) ((works) ? VERDICT_NOTE : VERDICT_FAIL)

/* ---- The machine (doctor-machine.c) --------------------------------------------- */

void machine_init(struct machine *machine, const char *root);

/** machine_identify() - set root, release and architecture, and leave the rest zero */
void machine_identify(struct machine *machine, const char *root);
void machine_deinit(struct machine *machine);

/** machine_path() - @machine's root and a path made by @format, in @ret (PATH_MAX bytes) */
void machine_path(const struct machine *machine, char *ret, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));

/** machine_read() - the first line of a file, cleaned; -errno, -ENODATA if it is empty */
int machine_read(const struct machine *machine, const char *path, char *ret, size_t size);

bool machine_has(const struct machine *machine, const char *path);

/** machine_glob() - whether there is such a path; the first one below the root in @ret_path, if not NULL */
bool machine_glob(const struct machine *machine, const char *pattern, char *ret_path);

/** machine_config() - "CONFIG_X=y" in the kernel's configuration: 1, 0, -errno without one */
int machine_config(const struct machine *machine, const char *option);

/** machine_cpus() - CPUs of a list as "0-3,8" in a file; 0 where it is not there */
unsigned int machine_cpus(const struct machine *machine, const char *path);

/** machine_cpus_end() - one more than the last of them, of which some may be offline; 0 likewise */
unsigned int machine_cpus_end(const struct machine *machine, const char *path);

/** machine_namespace() - whether a namespace is the machine's own: 1, 0, -errno */
int machine_namespace(const struct machine *machine, const char *kind);

/** machine_guest() - whether this is a virtual machine: 1 (whose in @ret_name), 0, -errno */
int machine_guest(const struct machine *machine, char *ret_name, size_t size);

/** log_read() - the kernel's log (doctor-log.c) */
void log_read(const struct machine *machine, struct kernel_log *ret_log);

/**
 * log_find() - the last record with one of @words, a list that ends with NULL
 * @ret_line: its text, cleaned; NULL if it does not matter
 *
 * Return: 1; 0 if there is none since the boot; -errno if there is no log to read, -ENODATA if
 * its beginning is gone.
 */
int log_find(const struct kernel_log *log, const char *const *words, char *ret_line, size_t size);

/** log_error_text() - for what log_find() returned: why the log does not tell */
const char *log_error_text(int r);

void module_query(const struct machine *machine, struct module *ret_module);

/**
 * struct module_file - speprof.ko as it is installed for this kernel
 * @path: below the root, "" if there is none
 * @error: why it could not be looked into, a static sentence; NULL
 * @vermagic, @version, @srcversion: of .modinfo, "" if not there
 */
struct module_file {
	char path[PATH_MAX];
	const char *error;
	bool is_signed;
	char vermagic[128];
	char version[64];
	char srcversion[64];
};

void module_file_read(const struct machine *machine, struct module_file *ret_file);

/** module_other_kernel() - for which other kernel speprof.ko is built, in @ret */
bool module_other_kernel(const struct machine *machine, char *ret, size_t size);

/* Firmware tables (doctor-firmware.c). */
/** firmware_node() - the devicetree node of the SPU, by its path below the base, in @ret */
bool firmware_node(const struct machine *machine, char *ret, size_t size);

/** firmware_node_interrupt() - whether @node names an interrupt */
bool firmware_node_interrupt(const struct machine *machine, const char *node);

enum firmware_madt {
	FIRMWARE_NO_MADT, /* no ACPI */
	FIRMWARE_MADT_HIDDEN, /* only root reads it */
	FIRMWARE_MADT_WITHOUT, /* no GICC names an interrupt of the SPU */
	FIRMWARE_MADT_SPE,
};

/** firmware_madt() - what ACPI's MADT says; @ret_interrupt where it names one */
enum firmware_madt firmware_madt(const struct machine *machine, u32 *ret_interrupt);

/** firmware_device() - whether the kernel has made a platform device of an SPU */
bool firmware_device(const struct machine *machine);

/**
 * spe_is_absent() - whether nothing speaks for an SPU: no driver has one and no firmware tells of
 * any, and this is a guest, or its cores are not known to have SPE. No module, setting of the
 * kernel or of the firmware is worth changing then.
 */
bool spe_is_absent(const struct machine *machine);

/** spe_is_impossible() - so, or another architecture: says that the check has nothing to look at */
bool spe_is_impossible(const struct machine *machine, struct finding *ret_finding);

/** io_uring_is_refused() - by a filter, to this process, where the kernel's settings allow it */
bool io_uring_is_refused(const struct machine *machine);

/** device_is_spu() - whether a device of the platform bus is one */
bool device_is_spu(const struct machine *machine, const char *device);

/** group_number() - of a group by its name, -ENOENT; from /etc/group below the root */
int group_number(const struct machine *machine, const char *name);

/* The checks: doctor-spe.c, doctor-driver.c, doctor-kernel.c, doctor-here.c, doctor-daemon.c. */
void check_architecture(const struct machine *machine, struct finding *ret_finding);
void check_spe(const struct machine *machine, struct finding *ret_finding);
void check_hypervisor(const struct machine *machine, struct finding *ret_finding);
void check_buffer(const struct machine *machine, struct finding *ret_finding);
void check_kpti(const struct machine *machine, struct finding *ret_finding);
void check_firmware(const struct machine *machine, struct finding *ret_finding);

void check_driver(const struct machine *machine, struct finding *ret_finding);
void check_module(const struct machine *machine, struct finding *ret_finding);
void check_rights(const struct machine *machine, struct finding *ret_finding);
void check_installed(const struct machine *machine, struct finding *ret_finding);
void check_cpus(const struct machine *machine, struct finding *ret_finding);

void check_perf(const struct machine *machine, struct finding *ret_finding);
void check_lockdown(const struct machine *machine, struct finding *ret_finding);
void check_contextidr(const struct machine *machine, struct finding *ret_finding);
void check_clock(const struct machine *machine, struct finding *ret_finding);
void check_cgroup(const struct machine *machine, struct finding *ret_finding);
void check_btf(const struct machine *machine, struct finding *ret_finding);
void check_io_uring(const struct machine *machine, struct finding *ret_finding);
void check_kernel_names(const struct machine *machine, struct finding *ret_finding);
void check_mlock(const struct machine *machine, struct finding *ret_finding);

void check_syscalls(const struct machine *machine, struct finding *ret_finding);
void check_pid_namespace(const struct machine *machine, struct finding *ret_finding);
void check_cgroup_namespace(const struct machine *machine, struct finding *ret_finding);

void check_daemon(const struct machine *machine, struct finding *ret_finding);
void check_version(const struct machine *machine, struct finding *ret_finding);
void check_source(const struct machine *machine, struct finding *ret_finding);
void check_task_events(const struct machine *machine, struct finding *ret_finding);
void check_names(const struct machine *machine, struct finding *ret_finding);

#endif
