// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof annotate: print the instructions of a function with their samples, next to the source, or
 * compare two profiles of it.
 */
#include <errno.h>
#include <stdlib.h>

#include "annotate/annotation.h"
#include "annotate/listing-diff.h"
#include "annotate/listing-print.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/terminal.h"
#include "lib/text.h"
#include "verb.h"

static void print_json(const struct annotation *annotation, const struct options *options)
{
	json_object *json = json_object_new_object();

	json_object_object_add(json, "schema_version", json_object_new_int(1));
	json_object_object_add(json, "function", json_object_new_string(options->function));
	json_object_object_add(json, "modelled",
			       json_object_new_boolean(annotation_is_modelled(annotation)));
	json_object_object_add(json, "functions", listing_json(&annotation->listing, false));
	puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(json);
}

static void print_text(const struct annotation *annotation, const struct options *options)
{
	struct view_format format = {
		.name = input_get_printed_name(options->input),
		.making = annotation->rows.making,
		.colour = term_uses_colour(),
	};
	size_t height;

	term_get_size(&format.width, &height);
	format_print_header(stdout, &annotation->rows.header, &format);
	listing_print(stdout, &annotation->listing, annotation_is_modelled(annotation),
		      format.width, format.colour);
}

static int annotate_profile(const struct options *options)
{
	struct annotation annotation;
	int status = annotation_load("annotate", options, options->function, true, &annotation);

	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		if (options->json)
			print_json(&annotation, options);
		else
			print_text(&annotation, options);
	}
	annotation_deinit(&annotation);
	return status;
}

/* ---- Two profiles --------------------------------------------------------------- */

/**
 * struct annotate_side - one of two profiles
 * @options: which profile it is
 * @annotation: its functions
 */
struct annotate_side {
	struct options options;
	struct annotation annotation;
};

static json_object *make_side_json(const struct annotate_side *side)
{
	json_object *json = json_object_new_object();
	char name[TABLE_CELL_SIZE];

	profile_rows_format_name(&side->annotation.rows, &side->options, name, sizeof(name));
	json_object_object_add(json, "profile", json_object_new_string(name));
	json_object_object_add(json, "modelled",
			       json_object_new_boolean(annotation_is_modelled(&side->annotation)));
	json_object_object_add(json, "samples",
			       json_object_new_uint64(side->annotation.rows.header.records));
	return json;
}

static void print_diff_json(const struct listing_diff *diff, const struct annotate_side *side)
{
	json_object *json = json_object_new_object();

	json_object_object_add(json, "schema_version", json_object_new_int(1));
	json_object_object_add(json, "function",
			       json_object_new_string(side[DIFF_BEFORE].options.function));
	json_object_object_add(json, "before", make_side_json(&side[DIFF_BEFORE]));
	json_object_object_add(json, "after", make_side_json(&side[DIFF_AFTER]));
	json_object_object_add(json, "functions", listing_diff_make_json(diff));
	puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(json);
}

static void print_diff_text(const struct listing_diff *diff, const struct annotate_side *side)
{
	static const char *const names[DIFF_SIDES] = { "before", "after" };
	char samples[TEXT_NUMBER_SIZE], name[TABLE_CELL_SIZE];
	size_t width, height;

	for (enum diff_side i = 0; i < DIFF_SIDES; i++) {
		const struct annotation *annotation = &side[i].annotation;

		profile_rows_format_name(&annotation->rows, &side[i].options, name, sizeof(name));
		printf("%-6s  %s: %s samples%s\n", names[i], name,
		       text_format_count(samples, annotation->rows.header.records),
		       annotation_is_modelled(annotation) ? ", modelled by an EMULATED SPU" : "");
	}
	term_get_size(&width, &height);
	listing_diff_print(stdout, diff, width, term_uses_colour());
}

static int diff_print(const struct annotate_side *side)
{
	const struct listing *const listing[DIFF_SIDES] = { &side[DIFF_BEFORE].annotation.listing,
							    &side[DIFF_AFTER].annotation.listing };
	bool modelled = annotation_is_modelled(&side[DIFF_BEFORE].annotation) ||
			annotation_is_modelled(&side[DIFF_AFTER].annotation);
	struct listing_diff diff;
	int r = listing_diff_init(listing, modelled, &diff);

	if (r == 0 && side->options.json)
		print_diff_json(&diff, side);
	else if (r == 0)
		print_diff_text(&diff, side);
	listing_diff_deinit(&diff);
	return r;
}

/* Load a side. Return an &enum verb_exit_status. */
static int side_load(struct annotate_side *side)
{
	return annotation_load("annotate", &side->options, side->options.function, false,
			       &side->annotation);
}

static int annotate_diff(struct annotate_side *side)
{
	int damaged = STATUS_OK, status = STATUS_OK, r;

	for (enum diff_side i = 0; i < DIFF_SIDES; i++) {
		status = side_load(&side[i]);
		if (status == STATUS_DAMAGED)
			damaged = status;
		else if (status)
			break;
	}
	r = status && status != STATUS_DAMAGED ? 0 : diff_print(side);
	for (enum diff_side i = 0; i < DIFF_SIDES; i++) {
		annotation_deinit(&side[i].annotation);
	}
	if (r < 0)
		return message_fail(STATUS_FAILED, "annotate: %s", strerror(-r));
	return status ?: damaged;
}

/* ---- The command line ----------------------------------------------------------- */

/* Options that choose a profile, or samples of it. */
#define SIDE_OPTIONS "cCMFLYAQZyguNWd"
/* Options that apply to both profiles. */
#define COMMON_OPTIONS "jVx2"

/* Parse "--diff FUNCTION [OPTIONS] [BEFORE] -- [OPTIONS] [AFTER]". */
static int parse_sides(int argc, char **argv, int separator, struct annotate_side *side)
{
	struct options *before = &side[DIFF_BEFORE].options, *after = &side[DIFF_AFTER].options;
	int status = options_parse_sides(argc, argv, separator, SIDE_OPTIONS COMMON_OPTIONS, before,
					 SIDE_OPTIONS, after);

	if (!status && !before->diff)
		return message_fail(
			STATUS_USAGE,
			"annotate: \"--\" is between two profiles, which --diff compares");
	if (!status && before->after)
		return message_fail(STATUS_USAGE,
				    "annotate: \"%s\": each side of \"--\" is one profile",
				    before->after);
	after->function = after->query.select.function = before->function;
	return status;
}

/* Parse "[--diff] FUNCTION [OPTIONS] [FILE [FILE]]": the options apply to both files. */
static int parse_files(int argc, char **argv, struct annotate_side *side)
{
	struct options *before = &side[DIFF_BEFORE].options, *after = &side[DIFF_AFTER].options;
	int status = options_parse(argc, argv, SIDE_OPTIONS COMMON_OPTIONS "p", before);

	if (status)
		return status;
	*after = *before;
	after->input = after->query.recording = before->after;
	if (!before->diff && before->after)
		return message_fail(STATUS_USAGE,
				    "annotate: unexpected argument \"%s\"; --diff compares two "
				    "profiles",
				    before->after);
	if (before->diff && !before->after)
		return message_fail(STATUS_USAGE,
				    "annotate: --diff needs two profiles: files before and after "
				    "the change, or a \"--\" between the options of both");
	return STATUS_OK;
}

static int check_sides(const struct annotate_side *side)
{
	if (!side->options.function)
		return message_fail(STATUS_USAGE,
				    "annotate: needs a function; \"speprof report\" lists the "
				    "functions of the daemon's profile, or of a recording");
	for (enum diff_side i = 0; i < DIFF_SIDES; i++)
		if (side[i].options.input && strcmp(side[i].options.input, "-") == 0)
			return message_fail(STATUS_USAGE,
					    "annotate: -: a recording is read twice; name a file");
	return STATUS_OK;
}

int annotate_run(int argc, char **argv)
{
	struct annotate_side side[DIFF_SIDES] = { 0 };
	int separator = options_find_separator(argc, argv);
	int status = separator ? parse_sides(argc, argv, separator, side) :
				 parse_files(argc, argv, side);

	if (!status)
		status = check_sides(side);
	if (!status)
		status =
			side->options.diff ? annotate_diff(side) : annotate_profile(&side->options);
	if (side[DIFF_AFTER].options.filter != side[DIFF_BEFORE].options.filter)
		filter_free(side[DIFF_AFTER].options.filter);
	filter_free(side[DIFF_BEFORE].options.filter);
	return status;
}
