/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verb sharing, and the option --pages of report: shared cache lines, hot pages and NUMA nodes */
#ifndef SPEPROF_MEMORY_ACCESS_REPORT_H
#define SPEPROF_MEMORY_ACCESS_REPORT_H

#include "lib/options.h"

/**
 * memory_access_report_print() - print the report
 * @verb: name of the verb, for errors
 * @options: &options.lines and &options.pages choose what is printed; options -i, -n and -j
 *
 * Return: &enum verb_exit_status; an error was printed.
 */
int memory_access_report_print(const char *verb, const struct options *options);

#endif
