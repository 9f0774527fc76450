/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernel modules: the loaded and the installed one, and modprobe. */
#ifndef SPEPROF_KERNEL_MODULE_H
#define SPEPROF_KERNEL_MODULE_H

#include <stdio.h>

#include "doctor/doctor.h"

/** module_is_loaded() - whether @module is loaded; false for one that is built into the kernel */
bool module_is_loaded(const struct machine *machine, const char *module);

/**
 * kmod_users() - read the reference count of a module
 * @machine: the machine with the sysfs to read
 * @module: its name
 *
 * Return: the number of references, by open files and by other modules; a negative errno if
 * unknown.
 */
int kmod_users(const struct machine *machine, const char *module);

/**
 * kmod_holders() - processes that have the device, a session or a ring of speprof.ko open
 * @machine: the machine with the /proc to read; only root sees other users' processes
 * @except: PID of a process that does not count; PID 1, which keeps descriptors for speprofd, never
 *	does
 * @ret_text: "speprof (PID 71), python3 (PID 80)", cut where @size bytes are too few; "" for none
 *
 * Return: whether there is one.
 */
bool kmod_holders(const struct machine *machine, int except, char *ret_text, size_t size);

/**
 * kmod_modprobe() - run "modprobe OPTION MODULE"
 * @option: "-a" to load, "-r" to remove
 * @module: its name
 *
 * modprobe prints its own errors on standard error.
 *
 * Return: as program_run().
 */
int kmod_modprobe(const char *option, const char *module);

#define KMOD_WORD 128

/**
 * struct kmod - a module as modinfo or sysfs describes it; "" for what these do not have
 * @version: version of the project
 * @source: srcversion, a checksum of its source
 * @release: release of the kernel that it was built for
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
 * @machine: &machine.release decides which one that is
 * @module: its name
 * @ret: filled by modinfo
 *
 * Return: 0; -ENOENT if none is installed for this kernel; else a negative errno.
 */
int kmod_installed(const struct machine *machine, const char *module, struct kmod *ret);

/**
 * kmod_check() - check whether modprobe could load the installed module
 * @machine: &machine.release decides which one that is
 * @module: its name
 * @ret_installed: filled where STATUS_OK is returned
 *
 * Kernel release and signature are compared with what this kernel requires. An error that is
 * printed ends with "nothing was changed": call this before anything is.
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
 * @machine: set by machine_identify() at least
 * @out: where the line goes; nothing is printed if one of the two is missing, or if both are the
 *	same
 *
 * After an upgrade the old module stays loaded until "speprof module reload" or a reboot.
 */
void kmod_print_outdated(const struct machine *machine, FILE *out);

/** kmod_differ() - whether @a and @b have another srcversion, or, without one, another version */
bool kmod_differ(const struct kmod *a, const struct kmod *b);

#endif
