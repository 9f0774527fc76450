/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The option --html of report */
#ifndef SPEPROF_HTML_REPORT_H
#define SPEPROF_HTML_REPORT_H

#include "lib/options.h"

/**
 * html_report() - write the report of a recording as HTML
 * @options: options of report; an option that has no effect on a page is an error
 *
 * Return: &enum status; an error was printed.
 */
int html_report(const struct options *options);

#endif
