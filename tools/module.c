// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof module reload: replace the loaded speprof.ko with the installed one. speprofd, and the
 * service manager on its behalf, have the module open, so the daemon is stopped, and started again
 * afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel-module.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/child-process.h"
#include "util/time.h"
#include "verb.h"

#define SPEPROF_MODULE "speprof"
#define EMULATED_MODULE "speprof_emu"
#define UNIT_NAME	"speprofd.service"

/*
 * RuntimeDirectory= of the unit, and the file with the checkpoint in it
 * (daemon/state/checkpoint-file.h)
 */
#define UNIT_FOLDER "/run/speprofd"
#define CHECKPOINT_FILE "checkpoint"

/* maximum milliseconds until the kernel releases descriptors, after systemctl has returned */
#define UNUSED_WAIT_MS 5000
#define UNUSED_STEP 50

/**
 * struct module_reload - one replacement of the module
 * @before: the module that was loaded
 * @installed: the module that modprobe would load
 * @emulated: whether speprof_emu is loaded, and is replaced, too
 * @ran: whether speprofd was running, so that it has to run again at the end
 * @pid: main process of speprofd; 0: it does not run
 * @stopped_ns: CLOCK_MONOTONIC at which speprofd began to stop
 */
struct module_reload {
	struct examined_machine machine;
	struct module_info before;
	struct module_info installed;
	bool emulated;
	bool ran;
	int pid;
	u64 stopped_ns;
};

/* ---- speprofd ------------------------------------------------------------------ */

/*
 * Query the unit of speprofd. Without systemd, or if the unit is not installed, the daemon does not
 * run as a unit.
 */
static void unit_query(struct module_reload *reload)
{
	char *argv[] = {
		"systemctl", "show", "-p", "ActiveState", "-p", "MainPID", UNIT_NAME, NULL
	};
	struct spawned_process systemctl;
	char line[128];

	if (child_start_with_output(argv, &systemctl) < 0)
		return;
	while (fgets(line, sizeof(line), systemctl.output)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "MainPID=", strlen("MainPID=")))
			reload->pid = atoi(line + strlen("MainPID="));
		else if (!strncmp(line, "ActiveState=", strlen("ActiveState=")))
			reload->ran = strcmp(line, "ActiveState=inactive") != 0 &&
				      strcmp(line, "ActiveState=failed") != 0;
	}
	child_finish(&systemctl);
}

/*
 * Create an empty file, which the daemon fills with its counters when it stops. The directory
 * belongs to the daemon's user, which is not root, so existing files in it are neither followed nor
 * trusted.
 */
static void request_checkpoint(const struct module_reload *reload)
{
	char path[PATH_MAX];
	struct stat st;
	int folder, fd;

	machine_join_path(&reload->machine, path, UNIT_FOLDER);
	folder = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return;
	unlinkat(folder, CHECKPOINT_FILE, 0);
	fd = openat(folder, CHECKPOINT_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd >= 0 && fstat(folder, &st) >= 0)
		(void)!fchown(fd, st.st_uid, st.st_gid);
	if (fd >= 0)
		close(fd);
	close(folder);
}

static bool counters_are_saved(const struct module_reload *reload)
{
	char path[PATH_MAX];
	struct stat st;

	machine_join_path(&reload->machine, path, UNIT_FOLDER "/" CHECKPOINT_FILE);
	return lstat(path, &st) >= 0 && st.st_size > 0;
}

static int unit_start(const struct module_reload *reload)
{
	char *argv[] = { "systemctl", "start", UNIT_NAME, NULL };

	return reload->ran ? child_run_and_wait(argv) : 0;
}

static int unit_stop(struct module_reload *reload)
{
	char *argv[] = { "systemctl", "stop", UNIT_NAME, NULL };

	if (!reload->ran)
		return STATUS_OK;
	request_checkpoint(reload);
	reload->stopped_ns = time_now_ns();
	if (child_run_and_wait(argv) < 0) {
		unit_start(reload);
		return message_fail(STATUS_FAILED,
				    "\"systemctl stop speprofd\" failed; the module was "
				    "not replaced");
	}
	if (!counters_are_saved(reload))
		message_print("speprofd did not save its counters, which will start from zero");
	return STATUS_OK;
}

/* Start the unit again after an error that left a module loaded; return @status. */
static int unit_start_after_error(const struct module_reload *reload, int status)
{
	if (unit_start(reload) < 0)
		return message_fail(STATUS_FAILED,
				    "speprofd was stopped and does not start again: see "
				    "\"systemctl status speprofd\"");
	return status;
}

/* ---- The module ------------------------------------------------------------------ */

/*
 * Return the number of references to the module without those of speprof_emu, which is replaced,
 * too.
 */
static int count_other_references(const struct module_reload *reload)
{
	int users = kmod_read_reference_count(&reload->machine, SPEPROF_MODULE);

	if (!reload->emulated)
		return users;
	return users - 1 + kmod_read_reference_count(&reload->machine, EMULATED_MODULE);
}

static int wait_until_unused(const struct module_reload *reload)
{
	const struct timespec step = { .tv_nsec = UNUSED_STEP * 1000000L };
	int users = count_other_references(reload);

	for (int ms = 0; users > 0 && ms < UNUSED_WAIT_MS; ms += UNUSED_STEP) {
		nanosleep(&step, NULL);
		users = count_other_references(reload);
	}
	return users;
}

/* Refuse the replacement, before anything is stopped, if other processes use the module. */
static int check_not_in_use(const struct module_reload *reload)
{
	char holders[256];

	if (!kmod_find_users(&reload->machine, reload->pid, holders, sizeof(holders)))
		return STATUS_OK;
	return message_fail(STATUS_STATE,
			    SPEPROF_MODULE " is in use by %s: end that first; nothing was changed",
			    holders);
}

static int modules_remove(const struct module_reload *reload)
{
	int users = wait_until_unused(reload);
	bool removed;

	if (users > 0)
		return unit_start_after_error(
			reload, message_fail(STATUS_STATE,
					     SPEPROF_MODULE " is still in use, by %d reference%s "
							    "that no process has open; it was not "
							    "replaced",
					     users, users == 1 ? "" : "s"));
	/*
	 * "modprobe -r speprof_emu" also removes speprof, on which it depends, unless that is in
	 * use.
	 */
	removed = !reload->emulated || kmod_modprobe("-r", EMULATED_MODULE) == 0;
	if (removed && kmod_is_loaded(&reload->machine, SPEPROF_MODULE))
		removed = kmod_modprobe("-r", SPEPROF_MODULE) == 0 &&
			  !kmod_is_loaded(&reload->machine, SPEPROF_MODULE);
	if (removed)
		return STATUS_OK;
	if (reload->emulated && !kmod_is_loaded(&reload->machine, EMULATED_MODULE))
		kmod_modprobe("-a", EMULATED_MODULE);
	return unit_start_after_error(reload,
				      message_fail(STATUS_STATE, SPEPROF_MODULE
						   " cannot be unloaded: see \"dmesg\"; it was not "
						   "replaced"));
}

/* Load the module. The previous module is no longer on the disk, so it cannot be loaded again. */
static int module_load(const struct module_reload *reload)
{
	bool loaded = kmod_modprobe("-a", SPEPROF_MODULE) == 0;
	const char *daemon = "";

	if (loaded && reload->emulated)
		loaded = kmod_modprobe("-a", EMULATED_MODULE) == 0;
	if (loaded)
		return STATUS_OK;
	if (reload->ran)
		daemon = unit_start(reload) < 0 ? "; speprofd does not start without it" :
						  "; speprofd runs without it";
	return message_fail(STATUS_FAILED,
			    SPEPROF_MODULE
			    " %s does not load (see \"dmesg\"), and the previous one is removed%s. "
			    "Install another, then \"modprobe -a " SPEPROF_MODULE "%s\" and "
			    "\"systemctl restart speprofd\"",
			    reload->installed.version, daemon,
			    reload->emulated ? " " EMULATED_MODULE : "");
}

static int reload_finish(const struct module_reload *reload)
{
	if (unit_start(reload) < 0)
		return message_fail(STATUS_FAILED,
				    SPEPROF_MODULE
				    " %s is loaded, and speprofd does not start with it: see "
				    "\"systemctl status speprofd\"",
				    reload->installed.version);
	printf("speprof.ko %s has replaced %s", reload->installed.version,
	       *reload->before.version ? reload->before.version : "one without a version");
	if (reload->ran)
		printf("; speprofd was stopped for %llu ms",
		       (unsigned long long)(time_now_ns() - reload->stopped_ns) / 1000000);
	puts(".");
	return STATUS_OK;
}

static int reload_module(struct module_reload *reload)
{
	struct module_info emulated;
	int status;

	if (kmod_get_loaded(&reload->machine, SPEPROF_MODULE, &reload->before) < 0)
		return message_fail(STATUS_NO_MODULE,
				    SPEPROF_MODULE " is not loaded: \"modprobe " SPEPROF_MODULE
						   "\", or \"speprof takeover\"");
	reload->emulated = kmod_is_loaded(&reload->machine, EMULATED_MODULE);
	status = kmod_check_loadable(&reload->machine, SPEPROF_MODULE, &reload->installed);
	if (status == STATUS_OK && reload->emulated)
		status = kmod_check_loadable(&reload->machine, EMULATED_MODULE, &emulated);
	if (status)
		return status;
	if (!kmod_differ(&reload->before, &reload->installed)) {
		printf("speprof.ko %s is the installed one already.\n", reload->installed.version);
		return STATUS_OK;
	}
	unit_query(reload);
	status = check_not_in_use(reload);
	if (status == STATUS_OK)
		status = unit_stop(reload);
	if (status == STATUS_OK)
		status = modules_remove(reload);
	if (status == STATUS_OK)
		status = module_load(reload);
	return status ? status : reload_finish(reload);
}

int module_run(int argc, char **argv)
{
	struct module_reload reload = { 0 };
	struct options options;
	int status;

	if (argc < 2 || strcmp(argv[1], "reload") != 0)
		return message_fail(STATUS_USAGE, "module: \"%.40s\": should be reload",
				    argc < 2 ? "" : argv[1]);
	status = options_parse(argc - 1, argv + 1, "R", &options);
	if (status)
		return status;
	machine_identify(&reload.machine, options.root);
	if (!*options.root && geteuid() != 0)
		return message_fail(STATUS_NO_RIGHT,
				    "module reload: only root may load and remove modules");
	return reload_module(&reload);
}
