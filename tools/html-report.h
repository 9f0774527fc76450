/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The option --html of report and diff */
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

/**
 * html_report_write_data() - write a page to a file
 * @path: name of the file, which is replaced when the page is complete; "-" is standard output
 * @data: result of page_data_new() or page_data_from_json()
 * @size: bytes of @data, at most 1 GiB
 *
 * Return: 0; a negative errno of output_open(), page_write() or output_commit().
 */
int html_report_write_data(const char *path, const u8 *data, size_t size);

#endif
