/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Find out what prevents this machine from sampling. A check examines one thing and reports at most
 * one cause. Causes have an id and an order: the most severe first.
 */
#ifndef SPEPROF_DOCTOR_H
#define SPEPROF_DOCTOR_H

#include "codec/env.h"
#include "lib/exit-status.h"
#include "view/view.h"

/** enum verdict - result of a check, the worst first */
enum verdict {
	VERDICT_FAIL, /* no samples are taken with SPE until this is fixed */
	VERDICT_NOTE, /* sampling works, but could be better */
	VERDICT_UNKNOWN, /* this process lacks the permission or the files for this check */
	VERDICT_FINE,
	VERDICT_SKIPPED, /* the check does not apply to this machine */
	VERDICTS,
};

/* causes in the order of their severity; causes.c has their ids */
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
	CAUSE_IDLE,
	CAUSE_ERRATUM,
	CAUSE_UNCHECKED, /* no check failed, but some checks could not be done */
	CAUSES,
};

/**
 * cause_get_id() - return the id of a cause, which is the same in all versions; "" for CAUSE_NONE
 */
const char *cause_get_id(enum cause cause);

/**
 * struct kernel_log - the kernel's log
 * @text: records, each followed by a newline; NULL if the log cannot be read
 * @size: bytes of @text
 * @complete: whether the log still contains its first record, from boot
 * @error: negative errno if @text is NULL
 */
struct kernel_log {
	char *text;
	size_t size;
	bool complete;
	int error;
};

/** enum module_state - the state of speprof.ko in the kernel (module-query.c) */
enum module_state {
	MODULE_NOT_LOADED,
	MODULE_NO_DEVICE, /* it is loaded, but /dev/speprof is missing */
	MODULE_NO_RIGHT, /* this user may not open /dev/speprof */
	MODULE_MUTE, /* /dev/speprof does not answer SPEPROF_DEVICE_INFO */
	MODULE_ANSWERS,
};

/**
 * struct loaded_module - what speprof.ko reports
 * @state: state of the module; the other fields are only set for MODULE_ANSWERS
 * @abi: version of its ABI
 * @spus: number of SPUs
 * @backend: SPEPROF_BACKEND_* of the first SPU; all are of one kind
 * @pmsver: ID_AA64DFR0_EL1.PMSVer of the first SPU
 */
struct loaded_module {
	enum module_state state;
	u32 abi;
	u32 spus;
	u32 backend;
	u32 pmsver;
};

/**
 * struct daemon_answer - what speprofd reports (check-daemon.c)
 * @status: &enum verb_exit_status of the query; only for STATUS_OK the fields after @error are set
 * @error: the error as a sentence
 * @version: version of the daemon; "" if it does not report one
 * @sessions: names of sessions that sample while "machine" is stopped; "": none
 * @header: header of the view of "machine"
 */
struct daemon_answer {
	int status;
	char error[512];
	char version[32];
	char sessions[128];
	struct view_header header;
};

/** daemon_query() - query speprofd; @ret_answer is always set */
void daemon_query(struct daemon_answer *ret_answer);

/** enum distribution - families of distributions that have the same commands (distribution.c) */
enum distribution {
	DISTRIBUTION_OTHER,
	DISTRIBUTION_DEBIAN,
	DISTRIBUTION_UBUNTU, /* commands of Debian; arm_spe_pmu is in linux-modules-extra */
	DISTRIBUTION_FEDORA, /* also RHEL, Rocky and Amazon Linux, with dnf and grubby */
	DISTRIBUTION_AZURE, /* uses tdnf and grub2-mkconfig */
	DISTRIBUTION_BOTTLEROCKET, /* has settings instead of commands */
};

/**
 * struct examined_machine - the machine that is examined, and facts that several checks need
 * @root: prefix of every path; "" for the running system
 * @release: release of the kernel; "unknown" if it cannot be read
 * @arch: architecture of the kernel; "unknown" if it cannot be read
 * @distribution: family of its distribution
 * @arm64: whether the architecture is aarch64
 * @pmu: whether arm_spe_pmu has an SPU
 * @spu: whether a driver has the machine's SPUs: then firmware, Exception levels and KPTI permit
 * sampling
 * @lacking: whether nothing indicates an SPU: result of spe_is_absent()
 * @module: what speprof.ko reports
 * @log: the kernel's log
 * @daemon: what speprofd reports
 */
struct examined_machine {
	const char *root;
	char release[128];
	char arch[72];
	enum distribution distribution;
	bool arm64;
	bool pmu;
	bool spu;
	bool lacking;
	struct loaded_module module;
	struct kernel_log log;
	struct daemon_answer daemon;
};

/**
 * struct doctor_finding - result of a check
 * @verdict: the verdict
 * @cause: set for VERDICT_FAIL and VERDICT_NOTE; else CAUSE_NONE
 * @found: a sentence: what was found, or why the check could not be done
 * @fix: what to do, with a command if there is one; "" if nothing has to be done
 */
struct doctor_finding {
	enum verdict verdict;
	enum cause cause;
	char found[384];
	char fix[448];
};

/**
 * finding_get_status() - return the exit status that results from a finding
 * @finding: not changed
 *
 * Return: STATUS_NO_SPE if the finding prevents all sampling; STATUS_FAILED, which is 1, if
 * sampling works with limitations, or only has to be started; else STATUS_OK.
 */
int finding_get_status(const struct doctor_finding *finding);

/**
 * struct doctor_check - one check
 * @name: name, which never changes, for scripts
 * @why: a sentence: why the check matters
 * @run: function that does the check
 */
struct doctor_check {
	const char *name;
	const char *why;
	void (*run)(const struct examined_machine *machine, struct doctor_finding *ret_finding);
};

/* all checks (checks.c) */
extern const struct doctor_check doctor_checks[];
extern const size_t doctor_count;

/* ---- Results of checks --------------------------------------------------------- */

/**
 * finding_set() - set the result of a check
 * @finding: overwritten
 * @verdict: the verdict
 * @cause: the cause; CAUSE_NONE if there is none
 * @fix: what to do; "": nothing
 * @format: format of the text that describes what was found, as for printf()
 *
 * Control characters in the result of @format become "?".
 */
void finding_set(struct doctor_finding *finding, enum verdict verdict, enum cause cause,
		 const char *fix, const char *format, ...)
	__attribute__((__format__(__printf__, 5, 6)));

#define finding_set_fine(f, ...)	     finding_set(f, VERDICT_FINE, CAUSE_NONE, "", __VA_ARGS__)
#define finding_set_note(f, cause, fix, ...) finding_set(f, VERDICT_NOTE, cause, fix, __VA_ARGS__)
#define finding_set_fail(f, cause, fix, ...) finding_set(f, VERDICT_FAIL, cause, fix, __VA_ARGS__)
#define finding_set_skipped(f, ...)	     finding_set(f, VERDICT_SKIPPED, CAUSE_NONE, "", __VA_ARGS__)
#define finding_set_unknown(f, fix, format, ...)                                                  \
	finding_set(f, VERDICT_UNKNOWN, CAUSE_NONE, fix, "could not be checked, because " format, \
		    ##__VA_ARGS__)

/**
 * choose_verdict() - return the verdict for a cause
 * @works: whether sampling works although the cause exists
 *
 * Return: VERDICT_NOTE if it works, else VERDICT_FAIL.
 */
#define choose_verdict(works) ((works) ? VERDICT_NOTE : VERDICT_FAIL)

/* ---- The machine (machine.c) ----------------------------------------------------- */

/**
 * machine_init() - collect the facts that the checks need, from files, the module and the daemon
 * @machine: machine_deinit() must follow
 * @root: prefix of every path; "" for the running system; borrowed
 */
void machine_init(struct examined_machine *machine, const char *root);

/** machine_identify() - set only root, release and architecture; machine_deinit() is not needed */
void machine_identify(struct examined_machine *machine, const char *root);
/** machine_deinit() - free the memory that machine_init() allocated */
void machine_deinit(struct examined_machine *machine);

/**
 * machine_join_path() - join the root of @machine and the path from @format in @ret, of PATH_MAX
 * bytes
 */
void machine_join_path(const struct examined_machine *machine, char *ret, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));

/**
 * machine_read_line() - read the first line of a file
 * @machine: the machine; its root is put in front of @path
 * @path: path of the file
 * @ret: the line, without control characters
 * @size: bytes of @ret; a longer line is truncated
 *
 * Return: 0; -ENODATA if the file is empty; else a negative errno.
 */
int machine_read_line(const struct examined_machine *machine, const char *path, char *ret,
		      size_t size);

/** machine_has_path() - return whether @path exists below the root */
bool machine_has_path(const struct examined_machine *machine, const char *path);

/**
 * machine_matches_glob() - return whether a path matches a pattern
 * @machine: the machine; its root is put in front of @pattern
 * @pattern: pattern as for glob()
 * @ret_path: the first match without the root, PATH_MAX bytes; may be NULL
 */
bool machine_matches_glob(const struct examined_machine *machine, const char *pattern,
			  char *ret_path);

/**
 * machine_get_kernel_config() - look up an option of the kernel's configuration
 * @machine: the machine; its root is put in front of all paths
 * @option: name of the option, such as "CONFIG_IO_URING"
 *
 * Return: 1 if it is "y", 0 if not; negative errno if the configuration cannot be read.
 */
int machine_get_kernel_config(const struct examined_machine *machine, const char *option);

/**
 * machine_count_cpus() - return the number of CPUs in a file with a list such as "0-3,8"; 0 if
 * there is no such file
 */
unsigned int machine_count_cpus(const struct examined_machine *machine, const char *path);

/**
 * machine_get_cpu_limit() - return the highest CPU number in such a file, plus 1; 0 if there is
 * none
 */
unsigned int machine_get_cpu_limit(const struct examined_machine *machine, const char *path);

/**
 * machine_is_in_initial_namespace() - check whether this process is in the initial namespace of
 * @kind
 *
 * Return: 1 if it is, 0 if not; negative errno if that is unknown.
 */
int machine_is_in_initial_namespace(const struct examined_machine *machine, const char *kind);

/**
 * machine_detect_guest() - check whether this is a virtual machine
 *
 * Return: 1 if it is, with the name of the hypervisor in @ret_name; 0 if not; negative errno if
 * that is unknown.
 */
int machine_detect_guest(const struct examined_machine *machine, char *ret_name, size_t size);

/** log_read() - read the kernel's log (kernel-log.c); @ret_log is always set */
void log_read(const struct examined_machine *machine, struct kernel_log *ret_log);

/**
 * log_find() - find the last record that contains one of several words
 * @log: log from log_read()
 * @words: the words; NULL-terminated
 * @ret_line: text of the record, without control characters; may be NULL
 * @size: bytes of @ret_line
 *
 * Return: 1 if there is one; 0 if there is none since boot; -ENODATA if there is none and the log's
 * beginning was overwritten; else the negative errno of reading the log.
 */
int log_find(const struct kernel_log *log, const char *const *words, char *ret_line, size_t size);

/**
 * log_get_error_text() - return, as part of a sentence, why the log could not be searched
 * @r: error of log_find()
 */
const char *log_get_error_text(int r);

/** module_query() - query the loaded speprof.ko; @ret_module is always set */
void module_query(const struct examined_machine *machine, struct loaded_module *ret_module);

/**
 * struct module_file - the installed speprof.ko of this kernel
 * @path: path without the root; "" if none is installed
 * @error: why the file could not be read, a static sentence; NULL if it was read
 * @is_signed: whether the file ends with a signature
 * @vermagic, @version, @srcversion: texts of its .modinfo; "" if missing
 */
struct module_file {
	char path[PATH_MAX];
	const char *error;
	bool is_signed;
	char vermagic[128];
	char version[64];
	char srcversion[64];
};

/** module_file_read() - find and read the installed speprof.ko; @ret_file is always set */
void module_file_read(const struct examined_machine *machine, struct module_file *ret_file);

/**
 * module_find_other_kernel() - check whether speprof.ko is installed for another kernel, and write
 * the release of that kernel to @ret
 */
bool module_find_other_kernel(const struct examined_machine *machine, char *ret, size_t size);

/* ---- The distribution (distribution.c) ------------------------------------------- */

/**
 * distribution_detect() - return the family of the machine's distribution
 * @machine: only its root is used
 *
 * ID and ID_LIKE in os-release decide the result. In a container, that file describes the image, so
 * only a host with Bottlerocket is recognized there, by its kernel.
 */
enum distribution distribution_detect(const struct examined_machine *machine);

/** advice_write_install() - write the command that installs @package to @ret, of @size bytes */
void advice_write_install(const struct examined_machine *machine, const char *package, char *ret,
			  size_t size);

/** advice_write_headers() - write the command that installs the headers of the running kernel */
void advice_write_headers(const struct examined_machine *machine, char *ret, size_t size);

/** advice_write_boot() - write how to boot with a kernel parameter */
void advice_write_boot(const struct examined_machine *machine, const char *parameter, char *ret,
		       size_t size);

/** advice_write_sysctl() - write how to set a sysctl permanently; @setting is "NAME=VALUE" */
void advice_write_sysctl(const struct examined_machine *machine, const char *setting, char *ret,
			 size_t size);

/**
 * advice_write_stock_driver() - write how to install arm_spe_pmu
 *
 * Return: false, with @ret unchanged, unless this is Ubuntu without the package of that driver.
 */
bool advice_write_stock_driver(const struct examined_machine *machine, char *ret, size_t size);

/** kernel_is_supported() - return whether speprof.ko supports the kernel: Linux 6.1 or later */
bool kernel_is_supported(const struct examined_machine *machine);

/** enum module_builder - what builds speprof.ko for the running kernel (distribution.c) */
enum module_builder {
	BUILDER_DKMS,
	BUILDER_AKMODS, /* akmods of Fedora and RHEL, if DKMS does not have the source */
	BUILDER_MAKE, /* DKMS skips the kernel: BUILD_EXCLUSIVE_KERNEL of dkms.conf lacks its series */
};

/**
 * machine_get_builder() - return what builds speprof.ko for the running kernel
 *
 * The series of kernels are those of packaging/dkms/dkms.conf.in. A release that cannot be parsed
 * counts as one of them: building the module will show whether it works.
 */
enum module_builder machine_get_builder(const struct examined_machine *machine);

/* Advice for kernels that DKMS skips, and for hosts without DKMS */
#define ADVICE_MAKE "\"make modules_install\" in speprof's source"

/** advice_write_module_install() - write how to install speprof.ko where no package of it is */
void advice_write_module_install(const struct examined_machine *machine, char *ret, size_t size);

/**
 * advice_write_module_build() - write the command that builds and installs the module for the
 * running kernel, on a machine that has its source
 */
void advice_write_module_build(const struct examined_machine *machine, char *ret, size_t size);

/* Source package of akmod-speprof, from which akmods builds */
#define AKMODS_SOURCE "/usr/src/akmods/speprof-kmod.latest"

/**
 * advice_write_enrol() - write how to enrol the key that signs modules on this machine
 * @machine: its root and distribution are used
 * @ret: the advice
 * @size: bytes of @ret
 *
 * Ubuntu's DKMS has the key of update-secureboot-policy instead of its own.
 */
void advice_write_enrol(const struct examined_machine *machine, char *ret, size_t size);

/* ---- Clouds (cloud.c) ------------------------------------------------------------ */

/**
 * cloud_is_guest() - return whether SMBIOS describes a virtual machine, and write the name of its
 * cloud or hypervisor to @ret_name
 */
bool cloud_is_guest(const struct examined_machine *machine, char *ret_name, size_t size);

/** cloud_has_dmi() - return whether the fields of SMBIOS are visible; containers may hide them */
bool cloud_has_dmi(const struct examined_machine *machine);

/** cloud_write_advice() - write to @ret which machines of the same cloud have SPE */
void cloud_write_advice(const struct examined_machine *machine, char *ret, size_t size);

/* ---- Firmware tables (firmware.c) ------------------------------------------------ */

/** firmware_find_node() - find the devicetree node of the SPU, and write its path to @ret */
bool firmware_find_node(const struct examined_machine *machine, char *ret, size_t size);

/** firmware_node_has_interrupt() - return whether @node has an interrupt */
bool firmware_node_has_interrupt(const struct examined_machine *machine, const char *node);

/** enum firmware_madt - whether ACPI's MADT describes an SPU */
enum firmware_madt {
	FIRMWARE_NO_MADT, /* there is no ACPI table */
	FIRMWARE_MADT_HIDDEN, /* only root may read the table */
	FIRMWARE_MADT_WITHOUT, /* no GICC entry has an interrupt of the SPU */
	FIRMWARE_MADT_SPE, /* a GICC entry has an interrupt of the SPU */
};

/** firmware_read_madt() - read ACPI's MADT; @ret_interrupt is set for FIRMWARE_MADT_SPE */
enum firmware_madt firmware_read_madt(const struct examined_machine *machine, u32 *ret_interrupt);

/** firmware_has_device() - return whether the kernel has a platform device of an SPU */
bool firmware_has_device(const struct examined_machine *machine);

/**
 * spe_is_absent() - return whether nothing indicates an SPU
 * @machine: &examined_machine.pmu, &examined_machine.spu and &examined_machine.root must be set
 *
 * The result is true if no driver has an SPU, the firmware describes none, and this is a guest or
 * has no core that is known to have SPE. Then advice to change module, kernel or firmware is
 * useless.
 */
bool spe_is_absent(const struct examined_machine *machine);

/**
 * finding_skip_without_spe() - return whether SPE is absent, or the architecture is another one
 * @ret_finding: if so, set to skipped
 */
bool finding_skip_without_spe(const struct examined_machine *machine,
			      struct doctor_finding *ret_finding);

/**
 * io_uring_is_refused() - return whether a filter refuses io_uring to this process, although the
 * kernel's settings permit it
 */
bool io_uring_is_refused(const struct examined_machine *machine);

/** device_is_spu() - return whether @device, a name on the platform bus, is an SPU */
bool device_is_spu(const struct examined_machine *machine, const char *device);

/**
 * group_find_number() - return the GID of a group from /etc/group below the root; -ENOENT if there
 * is none
 */
int group_find_number(const struct examined_machine *machine, const char *name);

/* The checks: check-spe.c, check-driver.c, check-kernel.c, check-process.c, check-daemon.c. */
void check_architecture(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_spe(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_hypervisor(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_buffer(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_kpti(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_firmware(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_errata(const struct examined_machine *machine, struct doctor_finding *ret_finding);

void check_driver(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_module(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_rights(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_installed_module(const struct examined_machine *machine,
			    struct doctor_finding *ret_finding);
void check_cpus(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_idle(const struct examined_machine *machine, struct doctor_finding *ret_finding);

void check_perf(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_lockdown(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_contextidr(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_clock(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_cgroup(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_btf(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_io_uring(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_kernel_names(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_mlock(const struct examined_machine *machine, struct doctor_finding *ret_finding);

void check_syscalls(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_pid_namespace(const struct examined_machine *machine,
			 struct doctor_finding *ret_finding);
void check_cgroup_namespace(const struct examined_machine *machine,
			    struct doctor_finding *ret_finding);

void check_daemon(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_version(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_source(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_task_events(const struct examined_machine *machine, struct doctor_finding *ret_finding);
void check_names(const struct examined_machine *machine, struct doctor_finding *ret_finding);

#endif
