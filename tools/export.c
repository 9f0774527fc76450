// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof export: write a recording or the daemon's profile in a format that other programs read.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "export/export-csv.h"
#include "export/export-damo.h"
#include "export/export-folded.h"
#include "export/export-pprof.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/output.h"
#include "lib/saved-profile.h"
#include "verb.h"

#define FORMAT_LIST "folded, csv, pprof or damo"

enum export_format {
	EXPORT_FOLDED,
	EXPORT_CSV,
	EXPORT_PPROF,
	EXPORT_DAMO,
	EXPORT_FORMATS,
};

static const char *const format_names[EXPORT_FORMATS] = {
	[EXPORT_FOLDED] = "folded",
	[EXPORT_CSV] = "csv",
	[EXPORT_PPROF] = "pprof",
	[EXPORT_DAMO] = "damo",
};

static int format_parse(const char *name, enum export_format *ret_format)
{
	for (unsigned int i = 0; i < EXPORT_FORMATS; i++) {
		if (strcmp(name, format_names[i]) == 0) {
			*ret_format = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int export_report_error(const struct options *options, int r)
{
	return message_fail(STATUS_FAILED, "%s: %s", options->output, strerror(-r));
}

static void print_rows(FILE *out, enum export_format format, struct export_rows *rows)
{
	struct export_row row;

	if (format == EXPORT_CSV)
		csv_print_heading(out, &rows->columns);
	for (u32 i = 0; export_rows_get(rows, i, &row); i++) {
		if (format == EXPORT_CSV)
			csv_print_row(out, &rows->columns, &row);
		else
			folded_print_row(out, &rows->columns, &row);
	}
	if (format == EXPORT_FOLDED)
		folded_print_rest(out, &rows->columns, export_rows_get_rest(rows));
}

/* Print to a descriptor, which stays open. Return 0 or a negative errno. */
static int print_to_fd(int fd, enum export_format format, struct export_rows *rows)
{
	int copy = dup(fd), r = 0;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");

	if (!out) {
		r = -errno;
		if (copy >= 0)
			close(copy);
		return r;
	}
	print_rows(out, format, rows);
	errno = 0;
	if (fflush(out) != 0 || ferror(out))
		r = errno ? -errno : -EIO;
	if (fclose(out) != 0 && r == 0)
		r = -errno;
	return r;
}

static int export_write_rows(const struct options *options, enum export_format format)
{
	struct output_file output = OUTPUT_NONE;
	struct export_rows rows;
	int status = export_rows_load(options, &rows), r;

	/* A damaged recording is exported, too; @status reports the damage. */
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		r = output_open(options->output, 0644, &output);
		if (r >= 0)
			r = print_to_fd(output.fd, format, &rows);
		if (r >= 0)
			r = output_commit(&output);
		/*
		 * If the reader of standard output has exited, as head does, it needs no more
		 * output.
		 */
		if (r < 0 && !(r == -EPIPE && strcmp(options->output, "-") == 0))
			status = export_report_error(options, r);
		output_drop(&output);
	}
	export_rows_deinit(&rows);
	return status;
}

static int check_pprof_options(const struct options *options)
{
	if (options->container || options->program || options->binary || options->function ||
	    options->group_text || options->sort_text || options->number ||
	    options->period != VIEW_SPAN_START)
		return message_fail(STATUS_USAGE,
				    "export: --format pprof has all rows and measures, which pprof "
				    "selects (-tagfocus, -focus, -sample_index); it cannot be "
				    "combined with -G, -s, -n, -c, --program, --binary, --function "
				    "or --last");
	if (options->until_us || options->session ||
	    (options->input && saved_profile_is(options->input)))
		return message_fail(
			STATUS_USAGE,
			"export: --format pprof has samples, and needs a recording or the "
			"session machine now: a saved profile, the history on disk and "
			"another session have only rows, for csv and folded");
	if (options->input && options->seconds)
		return message_fail(STATUS_USAGE, "export: --seconds is of the daemon's profile; "
						  "a recording is exported as a whole");
	return STATUS_OK;
}

static int check_damo_options(const struct options *options)
{
	if (!options->input || saved_profile_is(options->input))
		return message_fail(STATUS_USAGE,
				    "export: --format damo has pages, and needs a recording, such "
				    "as -i a.speprof: the daemon, the history on disk and a saved "
				    "profile have only rows");
	if (options->container || options->program || options->binary || options->function ||
	    options->group_text || options->sort_text || options->number || options->seconds)
		return message_fail(
			STATUS_USAGE,
			"export: --format damo has all pages of each process; it cannot "
			"be combined with -G, -s, -n, -c, --program, --binary, "
			"--function or --seconds. Select a process with -p");
	return STATUS_OK;
}

/* Return whether rows are those of a query; else they are those of a view. */
static bool is_counted(const struct options *options)
{
	return options->input || options->until_us;
}

static int check_rows_options(const struct options *options, enum export_format format)
{
	char name[MEASURE_NAME_SIZE];

	if (options->seconds)
		return message_fail(STATUS_USAGE, "export: --seconds needs --format pprof; "
						  "--last selects a period");
	if (options->group_text && strcmp(options->group_text, "process") == 0)
		return message_fail(STATUS_USAGE,
				    "export: -G process: rows of processes are not exported; "
				    "group by program, or select a process with -p");
	if (format != EXPORT_FOLDED)
		return STATUS_OK;
	if (is_counted(options) && query_groups_by(&options->query, QUERY_EVENT))
		return message_fail(STATUS_USAGE,
				    "export: --format folded has no rows by event, because a "
				    "sample with two events would count twice; use --format csv");
	if (is_counted(options) ? !measure_is_sum(options->query.sort) :
				  options->sort >= VIEW_SORT_P99) {
		if (is_counted(options))
			measure_format_name(options->query.sort, name);
		else
			snprintf(name, sizeof(name), "%s", view_sort_name(options->sort));
		return message_fail(STATUS_USAGE,
				    "export: -s %s: the widths of a flame graph are sums, such as "
				    "operations, samples, latency or dram; use --format csv",
				    name);
	}
	return STATUS_OK;
}

static int export_check_options(struct options *options, enum export_format *ret_format)
{
	enum export_format format;

	if (!options->format || format_parse(options->format, &format) < 0)
		return message_fail(STATUS_USAGE, "export: --format \"%s\": should be " FORMAT_LIST,
				    options->format ? options->format : "");
	if (!options->output && (format == EXPORT_PPROF || format == EXPORT_DAMO))
		return message_fail(STATUS_USAGE,
				    "export: --format %s needs -o FILE, such as -o %s",
				    format_names[format],
				    format == EXPORT_PPROF ? "profile.pb.gz" : "damon.data");
	if (!options->output)
		options->output = "-";
	*ret_format = format;
	return format == EXPORT_PPROF ? check_pprof_options(options) :
	       format == EXPORT_DAMO  ? check_damo_options(options) :
					check_rows_options(options, format);
}

int export_run(int argc, char **argv)
{
	enum export_format format = EXPORT_FOLDED;
	struct options options;
	int status = options_parse(argc, argv, "ijEoDGsnpcCMLSWUYAFQZNOdygu", &options), r;

	if (status)
		return status;
	status = export_check_options(&options, &format);
	options.query.limit = options.number;
	/* Before reading the profile, or waiting for it, report a file that cannot be written. */
	r = status ? 0 : output_check(options.output);
	if (r < 0)
		status = export_report_error(&options, r);
	if (!status)
		status = format == EXPORT_PPROF ? export_pprof(&options) :
			 format == EXPORT_DAMO	? export_damo(&options) :
						  export_write_rows(&options, format);
	filter_free(options.filter);
	return status;
}

int pprof_run(int argc, char **argv)
{
	char **words = calloc((size_t)argc + 3, sizeof(*words));
	int status;

	if (!words)
		return message_fail(STATUS_FAILED, "pprof: %s", strerror(ENOMEM));
	message_print("\"speprof pprof\" is called \"speprof export --format pprof\" now; the old "
		      "name works for one release");
	words[0] = "export";
	words[1] = "--format";
	words[2] = "pprof";
	memcpy(words + 3, argv + 1, ((size_t)argc - 1) * sizeof(*words));
	status = export_run(argc + 2, words);
	free(words);
	return status;
}
