// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof takeover, speprof release: who drives the SPUs, speprof.ko or the kernel's own
 * arm_spe_pmu. udev loads that one first, and its sysfs has no unbind, so a device changes
 * hands by removing one module and offering what it leaves to the other.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "kernel-module.h"
#include "options.h"
#include "say.h"

#define THEIRS "arm_spe_pmu"
#define OURS "speprof"

/* ---- What sysfs says ---------------------------------------------------------- */

static bool driver_exists(const struct machine *machine, const char *driver)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/platform/drivers/%s", driver);
	return machine_has(machine, path);
}

/* "" where it is not known. */
static void module_users(const struct machine *machine, const char *module, char *ret_text,
			 size_t size)
{
	int users = kmod_users(machine, module);

	*ret_text = '\0';
	if (users > 0)
		snprintf(ret_text, size, ": it has %d user%s", users, users == 1 ? "" : "s");
}

/* How many devices @driver has. */
static unsigned int driver_devices(const struct machine *machine, const char *driver)
{
	char pattern[PATH_MAX];
	unsigned int count = 0;
	glob_t found;

	/* Of a platform driver, links to devices are all that has a subsystem below it. */
	machine_path(machine, pattern, "/sys/bus/platform/drivers/%s/*/subsystem", driver);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
		count = (unsigned int)found.gl_pathc;
	globfree(&found);
	return count;
}

/* ---- Modules ------------------------------------------------------------------- */

static int modprobe_remove(const struct machine *machine, const char *module, const char *hint)
{
	char users[48];

	if (kmod_modprobe("-r", module) == 0 && !kmod_is_loaded(machine, module))
		return STATUS_OK;
	module_users(machine, module, users, sizeof(users));
	return say_fail(STATUS_STATE, "%s cannot be removed%s; %s", module, users, hint);
}

/* A driver that was there before is not offered what another let go, unless asked to look. */
static void devices_offer(const struct machine *machine)
{
	char pattern[PATH_MAX], probe[PATH_MAX];
	glob_t found;

	machine_path(machine, pattern, "/sys/bus/platform/devices/*");
	machine_path(machine, probe, "/sys/bus/platform/drivers_probe");
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
		/* Whether a driver took it is found out by looking. */
		fclose(file);
	}
	globfree(&found);
}

/* ---- The verbs -------------------------------------------------------------------- */

static int verb_begin(int argc, char **argv, struct options *ret_options,
		      struct machine *ret_machine)
{
	int status = options_parse(argc, argv, "R", ret_options);

	if (status)
		return status;
	*ret_machine = (struct machine){ .root = ret_options->root };
	if (!*ret_options->root && geteuid() != 0)
		return say_fail(STATUS_NO_RIGHT, "%s: only root may load and remove modules",
				argv[0]);
	return STATUS_OK;
}

/* Ours did not take them: theirs gets them back. */
static int takeover_undo(bool loaded, bool had)
{
	if (loaded)
		kmod_modprobe("-r", OURS);
	if (had && kmod_modprobe("-a", THEIRS) != 0)
		return say_fail(STATUS_FAILED, "speprof.ko took no SPU, and " THEIRS
					       " does not come back: see \"dmesg\"");
	return say_fail(STATUS_NO_SPE,
			"speprof.ko took no SPU: \"dmesg | grep speprof\" says why%s",
			had ? "; " THEIRS " has them again" : "");
}

int takeover_run(int argc, char **argv)
{
	struct options options;
	struct machine machine;
	bool had, loaded;
	int status = verb_begin(argc, argv, &options, &machine);

	if (status)
		return status;
	if (driver_devices(&machine, OURS)) {
		puts("speprof.ko has the SPUs already.");
		return STATUS_OK;
	}
	had = kmod_is_loaded(&machine, THEIRS);
	if (!had && driver_exists(&machine, THEIRS))
		return say_fail(STATUS_SETTING,
				THEIRS " is built into this kernel: boot with initcall_blacklist="
				THEIRS "_init, or let speprofd use it (Source=perf)");
	if (had) {
		status = modprobe_remove(&machine, THEIRS,
					 "end what records with it (\"perf record -e arm_spe\")");
		if (status)
			return status;
	}
	loaded = !kmod_is_loaded(&machine, OURS);
	if (!loaded)
		devices_offer(&machine);
	else if (kmod_modprobe("-a", OURS) != 0)
		return takeover_undo(false, had);
	if (!driver_devices(&machine, OURS))
		return takeover_undo(loaded, had);
	puts("speprof.ko has the SPUs, until \"speprof release\" or the next boot.");
	return STATUS_OK;
}

int release_run(int argc, char **argv)
{
	struct options options;
	struct machine machine;
	int status = verb_begin(argc, argv, &options, &machine);

	if (status)
		return status;
	if (kmod_is_loaded(&machine, THEIRS) && driver_devices(&machine, THEIRS)) {
		puts(THEIRS " has the SPUs already.");
		return STATUS_OK;
	}
	if (kmod_is_loaded(&machine, OURS)) {
		status = modprobe_remove(&machine, OURS,
					 "stop what samples (\"systemctl stop speprofd\"), and "
					 "remove speprof_emu");
		if (status)
			return status;
	}
	if (kmod_is_loaded(&machine, THEIRS))
		devices_offer(&machine);
	else if (kmod_modprobe("-a", THEIRS) != 0)
		return say_fail(STATUS_NO_MODULE,
				"this kernel has no module " THEIRS " that can be loaded");
	if (!driver_devices(&machine, THEIRS))
		return say_fail(STATUS_NO_SPE, THEIRS " took no SPU: \"dmesg\" says why");
	puts(THEIRS " has the SPUs.");
	return STATUS_OK;
}
