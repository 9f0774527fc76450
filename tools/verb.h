/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verbs of the command, one file each */
#ifndef SPEPROF_VERB_H
#define SPEPROF_VERB_H

#include <stdbool.h>

#include "lib/exit-status.h"

/**
 * struct verb - a verb of the command
 * @name: name on the command line
 * @synopsis: its arguments, for "speprof help VERB"
 * @help: description in one line
 * @changes: whether it stops sampling, or changes drivers or the configuration in use; such a verb
 *	is never suggested for a mistyped one
 * @run: parses its arguments and runs it; argv[0] is the verb; returns &enum verb_exit_status
 */
struct verb {
	const char *name;
	const char *synopsis;
	const char *help;
	bool changes;
	int (*run)(int argc, char **argv);
};

/** verb_find() - return the verb with the name @name, or NULL */
const struct verb *verb_find(const char *name);

/**
 * verb_find_nearest() - return the verb with the name most similar to @name
 *
 * Return: NULL if no name is similar, or the most similar verb changes something: running such a
 * suggestion could stop or replace what other users need.
 */
const struct verb *verb_find_nearest(const char *name);

int annotate_run(int argc, char **argv);
int container_run(int argc, char **argv);
int cost_run(int argc, char **argv);
int diff_run(int argc, char **argv);
int doctor_run(int argc, char **argv);
int dump_run(int argc, char **argv);
int emulate_run(int argc, char **argv);
int export_run(int argc, char **argv);
int help_run(int argc, char **argv);
int list_run(int argc, char **argv);
int live_run(int argc, char **argv);
int module_run(int argc, char **argv);
int page_run(int argc, char **argv);
int pgo_run(int argc, char **argv);
/** pprof_run() - the old name of "export --format pprof", accepted for one release */
int pprof_run(int argc, char **argv);
int record_run(int argc, char **argv);
int reload_run(int argc, char **argv);
int report_run(int argc, char **argv);
int release_run(int argc, char **argv);
int save_run(int argc, char **argv);
int session_run(int argc, char **argv);
int sharing_run(int argc, char **argv);
int snapshot_run(int argc, char **argv);
int start_run(int argc, char **argv);
int status_run(int argc, char **argv);
int stop_run(int argc, char **argv);
int summary_run(int argc, char **argv);
int takeover_run(int argc, char **argv);
int timeline_run(int argc, char **argv);
int top_run(int argc, char **argv);

#endif
