/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Query loaded and installed kernel modules, and run modprobe. */
#ifndef SPEPROF_KERNEL_MODULE_H
#define SPEPROF_KERNEL_MODULE_H

#include <stdio.h>

#include "doctor/doctor.h"

/** module_is_loaded() - return whether @module is loaded; false if it is built into the kernel */
bool module_is_loaded(const struct machine *machine, const char *module);

/**
 * kmod_users() - read the reference count of a module
 * @machine: the sysfs of this machine is read
 * @module: name of the module
 *
 * Return: the number of references from open files and from other modules; negative errno if it is
 * unknown.
 */
int kmod_users(const struct machine *machine, const char *module);

/**
 * kmod_holders() - find processes that have the device, a session or a ring of speprof.ko open
 * @machine: /proc of this machine is read; only root can see other users' processes
 * @except: PID of a process that does not count; PID 1, which keeps descriptors for speprofd, never
 * counts
 * @ret_text: for example "speprof (PID 71), python3 (PID 80)", truncated to @size bytes; "": none
 *
 * Return: whether there is such a process.
 */
bool kmod_holders(const struct machine *machine, int except, char *ret_text, size_t size);

/**
 * kmod_modprobe() - run "modprobe OPTION MODULE"
 * @option: "-a" to load, "-r" to remove
 * @module: name of the module
 *
 * modprobe prints its own errors on standard error.
 *
 * Return: the values of program_run().
 */
int kmod_modprobe(const char *option, const char *module);

#define KMOD_WORD 128

/**
 * struct kmod - a module as modinfo or sysfs describes it; "" for missing values
 * @version: version of the project
 * @source: srcversion, a checksum of its source
 * @release: release of the kernel for which it was built
 * @signer: name of the key that signed it
 */
struct kmod {
	char version[KMOD_WORD];
	char source[KMOD_WORD];
	char release[KMOD_WORD];
	char signer[KMOD_WORD];
};

/**
 * kmod_installed() - describe the module that modprobe would load
 * @machine: the machine; its kernel release selects the module
 * @module: name of the module
 * @ret: values that modinfo prints
 *
 * Return: 0; -ENOENT if none is installed for this kernel; else a negative errno.
 */
int kmod_installed(const struct machine *machine, const char *module, struct kmod *ret);

/**
 * kmod_check() - check whether modprobe could load the installed module
 * @machine: the machine; its kernel release selects the module
 * @module: name of the module
 * @ret_installed: set if STATUS_OK is returned
 *
 * Kernel release and signature are compared with those that this kernel requires. The error that is
 * printed ends with "nothing was changed", so call this before any change.
 *
 * Return: &enum status.
 */
int kmod_check(const struct machine *machine, const char *module, struct kmod *ret_installed);

/**
 * kmod_loaded() - read version and source of the loaded @module into @ret; -ENOENT if it is not
 * loaded
 */
int kmod_loaded(const struct machine *machine, const char *module, struct kmod *ret);

/**
 * kmod_print_outdated() - print one line if the installed speprof.ko is not the loaded one
 * @machine: initialized at least by machine_identify()
 * @out: file for the line; nothing is printed if one of the two is missing, or if both are the same
 *
 * After an upgrade the old module stays loaded until "speprof module reload" or a reboot.
 */
void kmod_print_outdated(const struct machine *machine, FILE *out);

/**
 * kmod_differ() - return whether @a and @b have different srcversions or, without srcversions,
 * different versions
 */
bool kmod_differ(const struct kmod *a, const struct kmod *b);

#endif
