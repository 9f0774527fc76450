/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The verbs of the command, one file each, and the exit statuses they share.
 */
#ifndef SPEPROF_VERB_H
#define SPEPROF_VERB_H

#include <stdbool.h>

/**
 * enum status - exit statuses; scripts rely on them, speprof(1) lists them
 */
enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1, /* out of memory, an output that cannot be written, ... */
	STATUS_USAGE = 2, /* unknown verb, option or value */
	STATUS_NO_FILE = 3, /* the recording does not exist */
	STATUS_UNREADABLE = 4, /* it exists and cannot be read */
	STATUS_EMPTY = 5, /* it has no byte */
	STATUS_NO_RECORDING = 6, /* it is something else */
	STATUS_DAMAGED = 7, /* what was readable has been printed */
	STATUS_NO_BUS = 8, /* no bus to reach */
	STATUS_NO_DAEMON = 9, /* a bus, and no speprofd on it */
	STATUS_NO_RIGHT = 10, /* refused */
	STATUS_NO_MODULE = 11, /* speprof.ko is not loaded */
	STATUS_NO_SPE = 12, /* the machine has no SPU that can be used */
	STATUS_STATE = 13, /* the daemon is in another state: it runs already */
	STATUS_SETTING = 14, /* a setting of the kernel stands in the way */
};

/**
 * struct verb - a verb of the command
 * @name: as it is typed
 * @synopsis: its arguments
 * @help: one line
 * @hidden: from the list of verbs: it is for a build tree
 * @run: argv[0] is the verb itself; returns &enum status
 */
struct verb {
	const char *name;
	const char *synopsis;
	const char *help;
	bool hidden;
	int (*run)(int argc, char **argv);
};

/** verb_find() - the verb called @name, or NULL */
const struct verb *verb_find(const char *name);

/** verb_nearest() - the verb that @name was most likely meant to be, or NULL */
const struct verb *verb_nearest(const char *name);

int container_run(int argc, char **argv);
int demo_run(int argc, char **argv);
int doctor_run(int argc, char **argv);
int dump_run(int argc, char **argv);
int emulate_run(int argc, char **argv);
int help_run(int argc, char **argv);
int list_run(int argc, char **argv);
int live_run(int argc, char **argv);
int metrics_run(int argc, char **argv);
int module_run(int argc, char **argv);
int pprof_run(int argc, char **argv);
int record_run(int argc, char **argv);
int reload_run(int argc, char **argv);
int report_run(int argc, char **argv);
int release_run(int argc, char **argv);
int session_run(int argc, char **argv);
int snapshot_run(int argc, char **argv);
int start_run(int argc, char **argv);
int status_run(int argc, char **argv);
int stop_run(int argc, char **argv);
int summary_run(int argc, char **argv);
int takeover_run(int argc, char **argv);
int top_run(int argc, char **argv);

#endif
