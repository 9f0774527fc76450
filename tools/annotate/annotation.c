// SPDX-License-Identifier: LGPL-2.1-or-later
#include "annotation.h"

#include <errno.h>

#include "branch-targets.h"
#include "lib/message.h"

/* Copy a query, but with rows that are instructions, all of them. */
static struct query make_instruction_query(const struct query *from)
{
	struct query query = *from;
	struct query_error error;

	query.sort = MEASURE_SAMPLES;
	query.limit = 0;
	query_parse_group(LISTING_KEYS, &query, &error);
	return query;
}

/* Make the listing of rows that were loaded. */
static int annotation_read_code(struct annotation *a, const struct symbol_folders *folders)
{
	int r = 0;

	/* Only rows of a recording have symbols. */
	if (!a->rows.symbols)
		r = input_new_symbols(&a->rows.input, &a->rows.symbols);
	return r < 0 ? r : listing_init(&a->rows.rows, a->rows.symbols, folders, &a->listing);
}

int annotation_load(const char *verb, const struct options *options, const char *function,
		    bool targets, struct annotation *ret_annotation)
{
	const struct input_request request = input_request_from_options(options);
	struct query query = make_instruction_query(&options->query);
	struct annotation *a = ret_annotation;
	int status, r;

	a->listing = (struct listing){ .rows = NULL };
	query.select.function = function;
	status = profile_rows_load(verb, options, &query, false, &a->rows);
	if (status != STATUS_OK && status != STATUS_DAMAGED)
		return status;
	r = annotation_read_code(a, &options->folders);
	if (r == 0 && targets && a->rows.result)
		r = branch_targets_count(&request, &a->rows.input, a->rows.symbols, &a->listing);
	return r < 0 ? message_fail(STATUS_FAILED, "%s: %s", verb, strerror(-r)) : status;
}

int annotation_load_bus(struct bus_connection *bus, enum view_span period,
			const struct query_select *select, const struct symbol_folders *folders,
			struct annotation *ret_annotation, struct query_error *ret_error)
{
	const struct query query =
		make_instruction_query(&(struct query){ .period = period, .select = *select });
	int status, r;

	ret_annotation->listing = (struct listing){ .rows = NULL };
	status = profile_rows_load_bus(bus, &query, &ret_annotation->rows, ret_error);
	if (status)
		return status;
	r = annotation_read_code(ret_annotation, folders);
	if (r < 0)
		snprintf(ret_error->text, sizeof(ret_error->text), "%s", strerror(-r));
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}

bool annotation_is_modelled(const struct annotation *annotation)
{
	return annotation->rows.header.backend == BACKEND_EMULATED;
}

void annotation_deinit(struct annotation *annotation)
{
	listing_deinit(&annotation->listing);
	profile_rows_deinit(&annotation->rows);
}
