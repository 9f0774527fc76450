// SPDX-License-Identifier: LGPL-2.1-or-later
#include "html-report.h"

#include <errno.h>
#include <stdlib.h>

#include "html/page-data.h"
#include "html/page.h"
#include "lib/input.h"
#include "lib/message.h"
#include "lib/output.h"
#include "lib/rows.h"
#include "profile/profile-read.h"

static bool shows_lines(const struct options *options)
{
	return options->group_text && strcmp(options->group_text, "line") == 0;
}

static int html_check_options(const struct options *options)
{
	if (!options->input)
		return message_fail(
			STATUS_USAGE,
			"report: --html needs a recording, as in \"speprof report --html "
			"report.html FILE\"");
	if (options->group_text && strcmp(options->group_text, "function") != 0 &&
	    !shows_lines(options))
		return message_fail(
			STATUS_USAGE,
			"report: --html has rows of functions, or of lines with -G line; "
			"the page groups them by container, program and binary");
	if (options->json || options->number || options->known_shares || options->lines ||
	    options->pages || options->sort_text || options->period != VIEW_SPAN_START)
		return message_fail(STATUS_USAGE, "report: --html shows all rows, sorted by the "
						  "reader; it cannot be combined with -j, -n, -s, "
						  "--last, --lines, --pages or --truth");
	return STATUS_OK;
}

static int html_report_error(const struct options *options, int r)
{
	return message_fail(STATUS_FAILED, "%s: %s", options->html, strerror(-r));
}

/* Write the file. Return an &enum verb_exit_status. */
static int html_write(const struct options *options, struct input_recording *input,
		      const struct page_time *time)
{
	const struct page_config config = {
		.name = input_get_printed_name(options->input),
		.time = time,
		.select = options->query.select,
		.lines = shows_lines(options),
	};
	struct output_file output = OUTPUT_NONE;
	struct query_error error;
	u8 *data = NULL;
	size_t size;
	int r;

	if (options->pid && !profile_get_header(input->profile)->records)
		return rows_report_missing("report", options);
	r = page_data_new(input, &config, &data, &size, &error);
	if (r == -ENOENT)
		return message_fail(STATUS_STATE, "report: %s", error.text);
	if (r >= 0)
		r = output_open(options->html, 0600, &output);
	if (r >= 0)
		r = page_write(output.fd, data, size);
	if (r >= 0)
		r = output_commit(&output);
	output_drop(&output);
	free(data);
	return r < 0 ? html_report_error(options, r) : STATUS_OK;
}

/* Add the counters of the recording over time, for which the file is read a second time. */
static int html_write_with_times(const struct options *options, struct input_recording *input)
{
	struct page_time *time = calloc(1, sizeof(*time));
	int r = time ? 0 : -ENOMEM, status;

	/* Standard input cannot be read twice; the page then states that the times are unknown. */
	if (r == 0 && input_get_printed_name(options->input))
		r = page_time_read(options->input, options->cpus_given ? &options->cpus : NULL,
				   options->midr, options->filter, input, time);
	status = r < 0 ? message_fail(STATUS_FAILED, "%s: %s", options->input, strerror(-r)) :
			 html_write(options, input, time);
	if (time)
		page_time_deinit(time);
	free(time);
	return status;
}

int html_report_write(const struct options *options)
{
	struct input_request request = input_request_from_options(options);
	struct input_recording input;
	int status = html_check_options(options), written, r;

	if (status)
		return status;
	/* Before reading the recording, report a file that cannot be written. */
	r = output_check(options->html);
	if (r < 0)
		return html_report_error(options, r);
	/* Count cache lines and memory pages, because the HTML page shows them. */
	request.memory = true;
	status = input_load(&request, &input);
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		written = html_write_with_times(options, &input);
		/* A damaged recording is shown, too; @status reports the damage. */
		status = written ? written : status;
	}
	input_deinit(&input);
	return status;
}
