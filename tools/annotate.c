// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof annotate: print the instructions of a function with their samples, next to the source. */
#include "annotate/branch-targets.h"
#include "annotate/listing-print.h"
#include "lib/input.h"
#include "lib/message.h"
#include "lib/options.h"
#include "lib/terminal.h"
#include "verb.h"

static void print_json(const struct listing *listing, const struct options *options, bool modelled)
{
	json_object *json = json_object_new_object();

	json_object_object_add(json, "schema_version", json_object_new_int(1));
	json_object_object_add(json, "function", json_object_new_string(options->function));
	json_object_object_add(json, "modelled", json_object_new_boolean(modelled));
	json_object_object_add(json, "functions", listing_json(listing));
	puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(json);
}

static void print_text(struct input_recording *input, struct symbols_cache *symbols,
		       const struct listing *listing, const struct options *options)
{
	struct view_format format = {
		.name = input_get_printed_name(options->input),
		.colour = term_uses_colour(),
	};
	struct view_header header;
	size_t height;

	input_get_header(input, symbols, &header);
	term_get_size(&format.width, &height);
	format_print_header(stdout, &header, &format);
	listing_print(stdout, listing, input->backend == BACKEND_EMULATED, format.width,
		      format.colour);
}

/* List the functions of a query, and print them. */
static int annotate_result(const struct input_request *request, struct input_recording *input,
			   struct symbols_cache *symbols, const struct query_result *result,
			   const struct options *options)
{
	struct listing listing;
	int r = listing_init(result, symbols, &input->folders, &listing);

	if (r == 0)
		r = branch_targets_count(request, input, symbols, &listing);
	if (r == 0 && options->json)
		print_json(&listing, options, input->backend == BACKEND_EMULATED);
	else if (r == 0)
		print_text(input, symbols, &listing, options);
	listing_deinit(&listing);
	return r;
}

static int annotate_input(const struct input_request *request, struct input_recording *input,
			  const struct options *options)
{
	struct query_source source = { .profile = input->profile };
	struct query query = options->query;
	struct query_result *result = NULL;
	struct query_error error;
	int r;

	query.sort = MEASURE_SAMPLES;
	query.limit = 0;
	query_parse_group(LISTING_KEYS, &query, &error);
	r = input_new_symbols(input, &source.symbols);
	if (r == 0)
		r = query_run(&source, &query, &result, &error);
	if (r == 0)
		r = annotate_result(request, input, source.symbols, result, options);
	else if (r == -ENOENT)
		r = message_fail(STATUS_STATE, "annotate: %s", error.text);
	query_result_free(result);
	symbols_free(source.symbols);
	return r < 0 ? message_fail(STATUS_FAILED, "%s: %s", options->input, strerror(-r)) : r;
}

static int annotate_recording(const struct options *options)
{
	const struct input_request request = input_request_from_options(options);
	struct input_recording input;
	int status = input_load(&request, &input), shown;

	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		shown = annotate_input(&request, &input, options);
		status = shown ? shown : status;
	}
	input_deinit(&input);
	return status;
}

int annotate_run(int argc, char **argv)
{
	struct options options;
	int status = options_parse(argc, argv, "jcpCMFLYAQZVygu", &options);

	if (status)
		return status;
	if (!options.function)
		status =
			message_fail(STATUS_USAGE,
				     "annotate: needs a function and a recording; \"speprof report "
				     "FILE\" lists functions");
	else if (!options.input)
		status = message_fail(STATUS_USAGE,
				      "annotate: needs a recording after the function");
	else if (strcmp(options.input, "-") == 0)
		status = message_fail(STATUS_USAGE,
				      "annotate: -: a recording is read twice; name a file");
	else
		status = annotate_recording(&options);
	filter_free(options.filter);
	return status;
}
