/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The option --html of report */
#ifndef SPEPROF_HTML_REPORT_H
#define SPEPROF_HTML_REPORT_H

#include "lib/options.h"

/**
 * html_report_write() - write the report of a recording, a saved profile or the daemon as HTML
 * @options: options of report; an option that has no effect on a page is an error
 *
 * Return: &enum verb_exit_status; an error was printed.
 */
int html_report_write(const struct options *options);

#endif
