/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernel modules: what is loaded, what is installed, and modprobe. */
#ifndef SPEPROF_KERNEL_MODULE_H
#define SPEPROF_KERNEL_MODULE_H

#include <stdio.h>

#include "doctor/doctor.h"

/** kmod_is_loaded() - whether it is, and not built in */
bool kmod_is_loaded(const struct machine *machine, const char *module);

/** kmod_users() - how many keep it loaded, other modules among them; -errno if not known */
int kmod_users(const struct machine *machine, const char *module);

/**
 * kmod_holders() - processes that have the device, a session or a ring of speprof.ko open
 * @machine: whose /proc is read; processes of other users are seen by root alone
 * @except: PID of a process that does not count; PID 1, which keeps descriptors for speprofd, never does
 * @ret_text: "speprof (PID 71), python3 (PID 80)", cut where @size bytes are too few; "" for none
 *
 * Return: whether there is one.
 */
bool kmod_holders(const struct machine *machine, int except, char *ret_text, size_t size);

/** kmod_modprobe() - "modprobe OPTION MODULE"; its own words go to stderr. 0, or negative errno */
int kmod_modprobe(const char *option, const char *module);

#define KMOD_WORD 128

/**
 * struct kmod - a module, as modinfo or sysfs has it; "" for what is not said
 * @version: of the project
 * @source: a sum of what it was compiled from
 * @release: of the kernel that it was built for
 * @signer: whose key signed it
 */
struct kmod {
	char version[KMOD_WORD];
	char source[KMOD_WORD];
	char release[KMOD_WORD];
	char signer[KMOD_WORD];
};

/** kmod_installed() - what modprobe would load here; -ENOENT: nothing; else negative errno */
int kmod_installed(const struct machine *machine, const char *module, struct kmod *ret);

/**
 * kmod_check() - whether modprobe could load the installed @module, by what can be read of it
 * @machine: &machine.release decides which is installed
 * @ret_installed: filled where STATUS_OK is returned
 *
 * Return: &enum status; the message ends with "nothing was changed", so call it before anything is.
 */
int kmod_check(const struct machine *machine, const char *module, struct kmod *ret_installed);

/** kmod_loaded() - likewise of the loaded one, version and source; -ENOENT if none is */
int kmod_loaded(const struct machine *machine, const char *module, struct kmod *ret);

/**
 * kmod_print_outdated() - print one line if the installed speprof.ko is not the loaded one
 * @machine: set by machine_identify() at least
 * @out: where the line goes; nothing is printed if one of the two is missing, or if both are the same
 *
 * After an upgrade the old module stays loaded until "speprof module reload" or a reboot.
 */
void kmod_print_outdated(const struct machine *machine, FILE *out);

/** kmod_differ() - whether they were compiled from something else, as far as both say */
bool kmod_differ(const struct kmod *a, const struct kmod *b);

#endif
