// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof module reload: the installed speprof.ko in place of the loaded one. The daemon, and
 * what the service manager keeps for it, hold the module; so it is asked to let go, and to take
 * up what is there afterwards.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bus.h"
#include "kernel-module.h"
#include "options.h"
#include "say.h"

#define OURS  "speprof"
#define EMULATED "speprof_emu"

/*
 * Descriptors that were closed are let go of later: by io_uring's workers, and by the service
 * manager, which is told by a message.
 */
#define LET_GO_MS    5000
#define LET_GO_STEP  50

/**
 * struct reload - one exchange
 * @emulated: the emulated SPU is loaded, and is exchanged too
 * @bus: NULL where no daemon has anything of the module
 */
struct reload {
	struct machine machine;
	struct kmod before;
	struct kmod installed;
	bool emulated;
	struct bus *bus;
};

/* A daemon that does not run has let go; one that may not be asked has not. */
static int daemon_lets_go(struct reload *reload)
{
	bool held = false;
	int status = bus_new_quiet(&reload->bus);

	if (status == STATUS_OK) {
		bus_patient(reload->bus);
		status = bus_release_module(reload->bus, &held);
	}
	if (status != STATUS_OK && status != STATUS_NO_DAEMON && status != STATUS_NO_BUS)
		return say_fail(status, "%s; nothing was changed", bus_error(reload->bus));
	if (status != STATUS_OK || !held)
		reload->bus = bus_free(reload->bus);
	return STATUS_OK;
}

/* As it was before, as far as the daemon goes; returns @status. */
static int daemon_goes_on(struct reload *reload, int status)
{
	u64 usec;

	if (reload->bus && bus_take_module(reload->bus, &usec) != STATUS_OK)
		return say_fail(STATUS_FAILED, "and speprofd samples nothing: %s",
				bus_error(reload->bus));
	return status;
}

/* References of whoever else has it open (of an open device two): "speprof record", others. */
static int other_users(const struct reload *reload)
{
	int users = kmod_users(&reload->machine, OURS);

	/* The emulated SPU is one of them itself. */
	if (!reload->emulated)
		return users;
	return users - 1 + kmod_users(&reload->machine, EMULATED);
}

static int wait_unused(const struct reload *reload)
{
	const struct timespec step = { .tv_nsec = LET_GO_STEP * 1000000L };
	int users = other_users(reload);

	for (int ms = 0; users > 0 && ms < LET_GO_MS; ms += LET_GO_STEP) {
		nanosleep(&step, NULL);
		users = other_users(reload);
	}
	return users;
}

static int unload(struct reload *reload)
{
	int users = wait_unused(reload);
	bool gone;

	if (users > 0)
		return daemon_goes_on(
			reload, say_fail(STATUS_STATE,
					 OURS " is in use by somebody else: end what samples by "
					      "itself (\"speprof record\"); nothing was changed"));
	/* What it depends on goes with it where nobody else needs that. */
	gone = !reload->emulated || kmod_modprobe("-r", EMULATED) == 0;
	if (gone && kmod_is_loaded(&reload->machine, OURS))
		gone = kmod_modprobe("-r", OURS) == 0 && !kmod_is_loaded(&reload->machine, OURS);
	if (gone)
		return STATUS_OK;
	if (reload->emulated && !kmod_is_loaded(&reload->machine, EMULATED))
		kmod_modprobe("-a", EMULATED);
	return daemon_goes_on(reload, say_fail(STATUS_STATE,
					       OURS " cannot be unloaded: see \"dmesg\"; "
						    "nothing was changed"));
}

/* The old one is no more on the disk; so all there is to do is to say how to go on. */
static int load(struct reload *reload)
{
	bool there = kmod_modprobe("-a", OURS) == 0;

	if (there && reload->emulated)
		there = kmod_modprobe("-a", EMULATED) == 0;
	if (there)
		return STATUS_OK;
	bus_free(reload->bus);
	reload->bus = NULL;
	return say_fail(STATUS_FAILED,
			OURS " %s does not load, and the one before it is gone: \"dmesg\" says why. "
			     "Mend it or install another, then \"modprobe -a " OURS "%s\" and "
			     "\"systemctl restart speprofd\"; until then nothing is sampled",
			reload->installed.version, reload->emulated ? " " EMULATED : "");
}

static int take_up(struct reload *reload)
{
	u64 usec = 0;

	if (reload->bus && bus_take_module(reload->bus, &usec) != STATUS_OK)
		return say_fail(STATUS_FAILED,
				OURS " %s is loaded, and speprofd cannot sample with it: %s; "
				     "\"systemctl restart speprofd\" begins anew",
				reload->installed.version, bus_error(reload->bus));
	printf("speprof.ko %s is loaded, in place of %s", reload->installed.version,
	       *reload->before.version ? reload->before.version : "one without a version");
	if (reload->bus)
		printf("; nothing was sampled for %llu ms", (unsigned long long)usec / 1000);
	puts(".");
	return STATUS_OK;
}

static int reload_module(struct reload *reload)
{
	struct kmod emulated;
	int status;

	if (kmod_loaded(&reload->machine, OURS, &reload->before) < 0)
		return say_fail(STATUS_NO_MODULE, OURS
				" is not loaded: \"modprobe " OURS "\", or \"speprof takeover\"");
	reload->emulated = kmod_is_loaded(&reload->machine, EMULATED);
	status = kmod_check(&reload->machine, OURS, &reload->installed);
	if (status == STATUS_OK && reload->emulated)
		status = kmod_check(&reload->machine, EMULATED, &emulated);
	if (status)
		return status;
	if (!kmod_differ(&reload->before, &reload->installed)) {
		printf("speprof.ko %s is the installed one already.\n", reload->installed.version);
		return STATUS_OK;
	}
	status = daemon_lets_go(reload);
	if (status == STATUS_OK)
		status = unload(reload);
	if (status == STATUS_OK)
		status = load(reload);
	return status ? status : take_up(reload);
}

int module_run(int argc, char **argv)
{
	struct options options;
	struct reload reload = { 0 };
	int status;

	if (argc < 2 || strcmp(argv[1], "reload") != 0)
		return say_fail(STATUS_USAGE, "module: \"%.40s\": should be reload",
				argc < 2 ? "" : argv[1]);
	status = options_parse(argc - 1, argv + 1, "R", &options);
	if (status)
		return status;
	machine_identify(&reload.machine, options.root);
	if (!*options.root && geteuid() != 0)
		return say_fail(STATUS_NO_RIGHT, "module reload: only root may load and remove modules");
	status = reload_module(&reload);
	bus_free(reload.bus);
	return status;
}
