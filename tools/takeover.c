// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof takeover and release: move the SPUs from the kernel's driver, arm_spe_pmu, to speprof.ko,
 * and back. udev loads arm_spe_pmu at boot, and that driver has no unbind in sysfs. So the command
 * removes one module, and offers the released devices to the other module.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "kernel-module.h"
#include "lib/message.h"
#include "lib/options.h"
#include "verb.h"

#define ARM_SPE_MODULE "arm_spe_pmu"
#define SPEPROF_MODULE "speprof"

/* ---- sysfs -------------------------------------------------------------------- */

static bool driver_exists(const struct examined_machine *machine, const char *driver)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/platform/drivers/%s", driver);
	return machine_has_path(machine, path);
}

/* Write the number of references of a module; "" if it is unknown. */
static void format_module_users(const struct examined_machine *machine, const char *module,
				char *ret_text, size_t size)
{
	int users = kmod_read_reference_count(machine, module);

	*ret_text = '\0';
	if (users > 0)
		snprintf(ret_text, size, ": it has %d user%s", users, users == 1 ? "" : "s");
}

/* Return the number of devices of @driver. */
static unsigned int count_driver_devices(const struct examined_machine *machine, const char *driver)
{
	char pattern[PATH_MAX];
	unsigned int count = 0;
	glob_t found;

	/* Of all entries, only links to devices have a subsystem below them. */
	machine_join_path(machine, pattern, "/sys/bus/platform/drivers/%s/*/subsystem", driver);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
		count = (unsigned int)found.gl_pathc;
	globfree(&found);
	return count;
}

/* ---- Modules ------------------------------------------------------------------- */

static int modprobe_remove(const struct examined_machine *machine, const char *module,
			   const char *hint)
{
	char users[48];

	if (kmod_modprobe("-r", module) == 0 && !kmod_is_loaded(machine, module))
		return STATUS_OK;
	format_module_users(machine, module, users, sizeof(users));
	return message_fail(STATUS_STATE, "%s cannot be removed%s; %s", module, users, hint);
}

/*
 * Make the kernel offer the released devices to a driver that is already loaded. The kernel does
 * not do this automatically.
 */
static void devices_offer(const struct examined_machine *machine)
{
	char pattern[PATH_MAX], probe[PATH_MAX];
	glob_t found;

	machine_join_path(machine, pattern, "/sys/bus/platform/devices/*");
	machine_join_path(machine, probe, "/sys/bus/platform/drivers_probe");
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *device = strrchr(found.gl_pathv[i], '/') + 1;
		FILE *file;

		if (!device_is_spu(machine, device))
			continue;
		file = fopen(probe, "we");
		if (!file)
			break;
		fputs(device, file);
		/* The caller checks whether a driver has bound the device. */
		fclose(file);
	}
	globfree(&found);
}

/* ---- The verbs -------------------------------------------------------------------- */

static int prepare_verb(int argc, char **argv, struct options *ret_options,
			struct examined_machine *ret_machine)
{
	int status = options_parse(argc, argv, "R", ret_options);

	if (status)
		return status;
	machine_identify(ret_machine, ret_options->root);
	if (!*ret_options->root && geteuid() != 0)
		return message_fail(STATUS_NO_RIGHT, "%s: only root may load and remove modules",
				    argv[0]);
	return STATUS_OK;
}

/**
 * struct takeover_state - state that takeover_undo() restores
 * @loaded: whether this command has loaded speprof.ko
 * @arm_spe_was_loaded: whether arm_spe_pmu was loaded before
 * @devices: number of SPUs that arm_spe_pmu had
 */
struct takeover_state {
	struct examined_machine machine;
	bool loaded;
	bool arm_spe_was_loaded;
	unsigned int devices;
};

/*
 * Undo the takeover if speprof.ko was not loaded or got no SPU: load arm_spe_pmu again, which then
 * binds its devices.
 */
static int takeover_undo(const struct takeover_state *t, const char *what)
{
	if (t->loaded)
		kmod_modprobe("-r", SPEPROF_MODULE);
	if (t->arm_spe_was_loaded)
		kmod_modprobe("-a", ARM_SPE_MODULE);
	if (t->devices && !count_driver_devices(&t->machine, ARM_SPE_MODULE))
		return message_fail(STATUS_FAILED,
				    "speprof.ko %s, and " ARM_SPE_MODULE
				    " has no SPU any more: see \"dmesg\"",
				    what);
	return message_fail(STATUS_NO_SPE, "speprof.ko %s: see \"dmesg | grep speprof\"%s", what,
			    t->devices ? "; " ARM_SPE_MODULE " has the SPUs again" : "");
}

/* Check the usual path of speprof.ko first, because modinfo of busybox has no option -k. */
static int check_module_file(const struct examined_machine *machine)
{
	struct module_file file;
	struct module_info installed;

	module_file_read(machine, &file);
	return *file.path ? STATUS_OK : kmod_check_loadable(machine, SPEPROF_MODULE, &installed);
}

/* Remove arm_spe_pmu, if speprof.ko can be loaded afterwards. */
static int takeover_remove_arm_spe(struct takeover_state *t)
{
	int status = STATUS_OK;

	t->arm_spe_was_loaded = kmod_is_loaded(&t->machine, ARM_SPE_MODULE);
	t->devices = count_driver_devices(&t->machine, ARM_SPE_MODULE);
	if (!t->arm_spe_was_loaded && driver_exists(&t->machine, ARM_SPE_MODULE))
		return message_fail(
			STATUS_SETTING, ARM_SPE_MODULE
			" is built into this kernel: boot with initcall_blacklist=" ARM_SPE_MODULE
			"_init, or let speprofd use it (Source=perf)");
	if (!kmod_is_loaded(&t->machine, SPEPROF_MODULE))
		status = check_module_file(&t->machine);
	if (status || !t->arm_spe_was_loaded)
		return status;
	return modprobe_remove(&t->machine, ARM_SPE_MODULE,
			       "end its users (\"perf record -e arm_spe\")");
}

int takeover_run(int argc, char **argv)
{
	struct takeover_state t = { 0 };
	struct options options;
	int status = prepare_verb(argc, argv, &options, &t.machine);

	if (status)
		return status;
	if (count_driver_devices(&t.machine, SPEPROF_MODULE)) {
		puts("speprof.ko has the SPUs already.");
		return STATUS_OK;
	}
	status = takeover_remove_arm_spe(&t);
	if (status)
		return status;
	if (kmod_is_loaded(&t.machine, SPEPROF_MODULE)) {
		devices_offer(&t.machine);
	} else {
		t.loaded = kmod_modprobe("-a", SPEPROF_MODULE) == 0;
		if (!t.loaded)
			return takeover_undo(&t, "could not be loaded");
	}
	if (!count_driver_devices(&t.machine, SPEPROF_MODULE))
		return takeover_undo(&t, "got no SPU");
	puts("speprof.ko has the SPUs, until \"speprof release\" or the next boot.");
	return STATUS_OK;
}

int release_run(int argc, char **argv)
{
	struct options options;
	struct examined_machine machine;
	int status = prepare_verb(argc, argv, &options, &machine);

	if (status)
		return status;
	if (kmod_is_loaded(&machine, ARM_SPE_MODULE) &&
	    count_driver_devices(&machine, ARM_SPE_MODULE)) {
		puts(ARM_SPE_MODULE " has the SPUs already.");
		return STATUS_OK;
	}
	if (kmod_is_loaded(&machine, SPEPROF_MODULE)) {
		status = modprobe_remove(
			&machine, SPEPROF_MODULE,
			"stop its users (\"systemctl stop speprofd\"), and remove speprof_emu");
		if (status)
			return status;
	}
	if (kmod_is_loaded(&machine, ARM_SPE_MODULE))
		devices_offer(&machine);
	else if (kmod_modprobe("-a", ARM_SPE_MODULE) != 0)
		return message_fail(STATUS_NO_MODULE, "this kernel has no module " ARM_SPE_MODULE
						      " that can be loaded");
	if (!count_driver_devices(&machine, ARM_SPE_MODULE))
		return message_fail(STATUS_NO_SPE, ARM_SPE_MODULE " got no SPU: see \"dmesg\"");
	puts(ARM_SPE_MODULE " has the SPUs.");
	return STATUS_OK;
}
