/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Query loaded and installed kernel modules, and run modprobe. */
#ifndef SPEPROF_KERNEL_MODULE_H
#define SPEPROF_KERNEL_MODULE_H

#include <stdio.h>

#include "doctor/doctor.h"

/** kmod_is_loaded() - return whether @module is loaded; false if it is built into the kernel */
bool kmod_is_loaded(const struct examined_machine *machine, const char *module);

/**
 * kmod_read_reference_count() - read the reference count of a module
 * @machine: the sysfs of this machine is read
 * @module: name of the module
 *
 * Return: the number of references from open files and from other modules; negative errno if it is
 * unknown.
 */
int kmod_read_reference_count(const struct examined_machine *machine, const char *module);

/**
 * kmod_find_users() - find processes that have the device, a session or a ring of speprof.ko open
 * @machine: /proc of this machine is read; only root can see other users' processes
 * @except: PID of a process that does not count; PID 1, which keeps descriptors for speprofd, never
 * counts
 * @ret_text: for example "speprof (PID 71), python3 (PID 80)", truncated to @size bytes; "": none
 *
 * Return: whether there is such a process.
 */
bool kmod_find_users(const struct examined_machine *machine, int except, char *ret_text,
		     size_t size);

/**
 * kmod_modprobe() - run "modprobe OPTION MODULE"
 * @option: "-a" to load, "-r" to remove
 * @module: name of the module
 *
 * modprobe prints its own errors on standard error.
 *
 * Return: the values of child_run_and_wait().
 */
int kmod_modprobe(const char *option, const char *module);

/* Size of a field of the module's information in bytes, with its NUL. */
#define KMOD_FIELD_SIZE 128

/**
 * struct module_info - a module as modinfo or sysfs describes it; "" for missing values
 * @version: version of the project
 * @source: srcversion, a checksum of its source
 * @release: release of the kernel for which it was built
 * @signer: name of the key that signed it
 */
struct module_info {
	char version[KMOD_FIELD_SIZE];
	char source[KMOD_FIELD_SIZE];
	char release[KMOD_FIELD_SIZE];
	char signer[KMOD_FIELD_SIZE];
};

/**
 * kmod_get_installed() - describe the module that modprobe would load
 * @machine: the machine; its kernel release selects the module
 * @module: name of the module
 * @ret: values that modinfo prints
 *
 * Return: 0; -ENOENT if none is installed for this kernel; else a negative errno.
 */
int kmod_get_installed(const struct examined_machine *machine, const char *module,
		       struct module_info *ret);

/**
 * kmod_check_loadable() - check whether modprobe could load the installed module
 * @machine: the machine; its kernel release selects the module
 * @module: name of the module
 * @ret_installed: set if STATUS_OK is returned
 *
 * Kernel release and signature are compared with those that this kernel requires. The error that is
 * printed ends with "nothing was changed", so call this before any change.
 *
 * Return: &enum verb_exit_status.
 */
int kmod_check_loadable(const struct examined_machine *machine, const char *module,
			struct module_info *ret_installed);

/**
 * kmod_get_loaded() - read version and source of the loaded @module into @ret; -ENOENT if it is not
 * loaded
 */
int kmod_get_loaded(const struct examined_machine *machine, const char *module,
		    struct module_info *ret);

/**
 * kmod_print_outdated() - print one line if the installed speprof.ko is not the loaded one
 * @machine: initialized at least by machine_identify()
 * @out: file for the line; nothing is printed if one of the two is missing, or if both are the same
 *
 * After an upgrade the old module stays loaded until "speprof module reload" or a reboot.
 */
void kmod_print_outdated(const struct examined_machine *machine, FILE *out);

/**
 * kmod_differ() - return whether @a and @b have different srcversions or, without srcversions,
 * different versions
 */
bool kmod_differ(const struct module_info *a, const struct module_info *b);

#endif
