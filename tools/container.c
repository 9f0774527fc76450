// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof container: print the list of containers, or all counters of one container. A user gets
 * the containers in cgroups that were delegated to that user; root and the group speprof get all.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/bus-json.h"
#include "lib/live-session.h"
#include "lib/message.h"
#include "lib/statistics-text.h"
#include "lib/text.h"
#include "verb.h"

static void print_cell(const char *text, size_t width)
{
	char cell[TEXT_SIZE];

	text_fit(text, width, false, cell);
	printf("%s", cell);
}

static bool is_modelled(json_object *counters)
{
	return !strcmp(json_text(counters, "backend"), "emulated");
}

static void print_list(json_object *rows, u64 total)
{
	json_object *first = json_object_array_get_idx(rows, 0);
	bool modelled = first && is_modelled(first);
	char samples[TEXT_NUMBER_SIZE], accesses[TEXT_NUMBER_SIZE], dram[TEXT_NUMBER_SIZE],
		latency[32];

	printf("%10s %10s %7s %15s  %-28s %-10s %s\n", "SAMPLES",
	       modelled ? "~ACCESSES" : "ACCESSES", modelled ? "~DRAM" : "DRAM",
	       modelled ? "~p50/p99 cycles" : "p50/p99 cycles", "CONTAINER", "RUNTIME", "CGROUP");
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		json_object *row = json_object_array_get_idx(rows, i);
		char *path = strdup(json_text(row, "path"));

		snprintf(latency, sizeof(latency), "%" PRIu64 "/%" PRIu64, json_number(row, "p50"),
			 json_number(row, "p99"));
		printf("%10s %10s %7s %15s  ",
		       text_format_count(samples, json_number(row, "samples")),
		       text_format_count(accesses, json_number(row, "memory")),
		       text_format_percent_whole(dram, json_number(row, "dram"),
						 json_number(row, "memory")),
		       latency);
		print_cell(json_text(row, "name"), 28);
		putchar(' ');
		print_cell(json_text(row, "runtime"), 10);
		if (path)
			text_clean(path);
		printf(" %s\n", path ? path : "");
		free(path);
	}
	if (total > json_object_array_length(rows))
		printf("%zu of %" PRIu64 "; -n shows more\n", json_object_array_length(rows),
		       total);
}

static int query_and_print_containers(struct bus_connection *bus, const char *sort, u32 number,
				      bool json)
{
	json_object *answer = NULL, *object;
	u64 total;
	int status = bus_call_to_json(bus, "", "Manager", "GetContainers", &answer, "suu", sort, 0U,
				      number);

	if (status)
		return status;
	total = json_object_get_uint64(json_object_array_get_idx(answer, 0));
	if (json) {
		object = json_object_new_object();
		json_object_object_add(object, "total", json_object_new_uint64(total));
		json_object_object_add(object, "sort", json_object_new_string(sort));
		json_object_object_add(object, "containers",
				       json_object_get(json_object_array_get_idx(answer, 1)));
		json_print_and_free(object);
	} else {
		live_session_print_limits(bus);
		print_list(json_object_array_get_idx(answer, 1), total);
	}
	json_object_put(answer);
	return STATUS_OK;
}

static void print_container_text(json_object *one)
{
	char name[TEXT_SIZE];

	snprintf(name, sizeof(name), "%s", json_text(one, "name"));
	text_clean(name);
	if (is_modelled(one))
		puts(STATISTICS_MODELLED);
	puts(name);
	statistics_print(one);
}

static int print_container(struct bus_connection *bus, const char *name, bool json)
{
	json_object *answer = NULL, *one, *object;
	int status = bus_call_to_json(bus, "", "Manager", "GetContainer", &answer, "s", name);

	if (status)
		return status;
	one = json_object_array_get_idx(answer, 0);
	if (json) {
		object = json_object_new_object();
		json_object_object_add(object, "container", json_object_get(one));
		json_print_and_free(object);
	} else {
		live_session_print_limits(bus);
		print_container_text(one);
	}
	json_object_put(answer);
	return STATUS_OK;
}

static int parse_number(const char *text, u32 *ret_number)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || !number || number > BUS_ROWS_MAX)
		return message_fail(STATUS_USAGE, "-n \"%s\": should be a number from 1 to %u",
				    text, BUS_ROWS_MAX);
	*ret_number = (u32)number;
	return STATUS_OK;
}

int container_run(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "sort", required_argument, NULL, 's' },
		{ "number", required_argument, NULL, 'n' },
		{ 0 },
	};
	const char *sort = "samples";
	struct bus_connection *bus = NULL;
	u32 number = 40;
	bool json = false;
	int c, status = STATUS_OK;

	opterr = 0;
	optind = 1;
	while (!status && (c = getopt_long(argc, argv, "js:n:", long_options, NULL)) >= 0) {
		if (c == 'j')
			json = true;
		else if (c == 's')
			sort = optarg;
		else if (c == 'n')
			status = parse_number(optarg, &number);
		else
			status = message_fail(STATUS_USAGE,
					      "container: unknown option, or an option without its "
					      "value; try \"speprof help container\"");
	}
	if (!status && argc - optind > 1)
		status = message_fail(STATUS_USAGE,
				      "container: expected at most one NAME or CGROUP");
	if (!status)
		status = bus_new(&bus);
	if (status)
		return status;
	status = argc > optind ? print_container(bus, argv[optind], json) :
				 query_and_print_containers(bus, sort, number, json);
	bus_free(bus);
	return status;
}
