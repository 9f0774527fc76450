/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Print rows of a time in the past, from the daemon's history on disk: report --since, --until,
 * --last.
 */
#ifndef SPEPROF_HISTORY_REPORT_H
#define SPEPROF_HISTORY_REPORT_H

#include "codec/env.h"

/**
 * history_report_is_selected() - return whether the arguments of "report" select the history on
 * disk
 *
 * They do if they include --since or --until, or a --last that is none of the periods in memory.
 */
bool history_report_is_selected(int argc, char **argv);

/**
 * history_report_run() - parse the arguments of "report" and print the rows; returns &enum
 * verb_exit_status
 */
int history_report_run(int argc, char **argv);

#endif
