// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof list: print the SPU of each CPU, its features and its state. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/bus-json.h"
#include "lib/bus.h"
#include "lib/format.h"
#include "lib/message.h"
#include "lib/terminal.h"
#include "lib/text.h"
#include "verb.h"

#define CPU_PATH_PREFIX "/org/speprof1/cpu/"

static const char *const versions[] = {
	"-", "SPE", "SPEv1p1", "SPEv1p2", "SPEv1p3", "SPEv1p4", "SPEv1p5", "SPEv1p6",
};

static u64 sum_blind_times(json_object *times)
{
	json_object *causes = json_get(times, "blind_ns");
	u64 sum = 0;

	if (!causes)
		return 0;
	json_object_object_foreach(causes, cause, ns)
	{
		(void)cause;
		sum += json_object_get_uint64(ns);
	}
	return sum;
}

/* List the filters that the SPU supports; an older daemon does not report them. */
static const char *describe_filters(json_object *cpu, char *text, size_t size)
{
	json_object *filters = json_get(cpu, "filters");
	size_t len = 0;

	snprintf(text, size, "-");
	for (size_t i = 0; filters && i < json_object_array_length(filters) && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%s", i ? "," : "",
					json_object_get_string(
						json_object_array_get_idx(filters, i)));
	return text;
}

static void print_cpu(json_object *cpu)
{
	json_object *times = json_get(cpu, "times");
	u64 armed = json_number(times, "armed_ns"), dark = sum_blind_times(times);
	u64 version = json_number(cpu, "pmsver");
	char percent[32], filters[128];

	printf("%5" PRIu64 "  %-9s %-8s 0x%08" PRIx64 " %12" PRIu64 "  %-10s %9s %9" PRIu64
	       " %7" PRIu64 "  %s\n",
	       json_number(cpu, "number"), json_text(cpu, "backend"),
	       version < ARRAY_SIZE(versions) ? versions[version] : "later",
	       json_number(cpu, "midr"), json_number(cpu, "interval_min"), json_text(cpu, "state"),
	       text_format_percent(percent, dark, armed + dark), json_number(times, "windows"),
	       json_number(times, "faulted"), describe_filters(cpu, filters, sizeof(filters)));
}

static int cpu_compare(const void *a, const void *b)
{
	u64 x = json_number(*(json_object *const *)a, "number");
	u64 y = json_number(*(json_object *const *)b, "number");

	return (x > y) - (x < y);
}

/*
 * Collect the properties of all CPUs, and the times of each CPU. A CPU that goes offline meanwhile
 * is omitted, because the daemon then has no object for it (STATUS_STATE).
 */
static int collect_cpus(struct bus_connection *bus, json_object *objects, json_object *cpus)
{
	int status = STATUS_OK;

	bus_set_quiet(bus);
	json_object_object_foreach(objects, path, interfaces)
	{
		json_object *cpu = json_get(interfaces, "org.speprof1.cpu"), *times = NULL;

		if (strncmp(path, CPU_PATH_PREFIX, strlen(CPU_PATH_PREFIX)) != 0 || !cpu || status)
			continue;
		status = bus_call_to_json(bus, path, "CPU", "GetTimes", &times, NULL);
		if (status == STATUS_STATE)
			status = STATUS_OK;
		if (!times)
			continue;
		json_object_object_add(cpu, "times",
				       json_object_get(json_object_array_get_idx(times, 0)));
		json_object_put(times);
		json_object_array_add(cpus, json_object_get(cpu));
	}
	return status ? message_fail(status, "%s", bus_get_error(bus)) : STATUS_OK;
}

static void add_value_or_null(json_object *to, const char *key, u64 value, bool known)
{
	json_object_object_add(to, key, known ? json_object_new_uint64(value) : NULL);
}

/* Print @cpus, and free them. @header: NULL if the daemon does not report it. */
static void show_json(json_object *cpus, const struct view_header *header)
{
	json_object *object = json_object_new_object();

	add_value_or_null(object, "interval_ns", header ? header->interval_ns : 0, header);
	add_value_or_null(object, "interval_longest_ns", header ? header->interval_longest_ns : 0,
			  header);
	add_value_or_null(object, "cpus_held", header ? header->cpus_held : 0, header);
	json_object_object_add(object, "cpus", cpus);
	json_print_and_free(object);
}

static void show_text(json_object *cpus, const struct view_header *header)
{
	struct view_format format = { .colour = term_uses_colour() };
	size_t height;

	term_get_size(&format.width, &height);
	if (header)
		format_print_held_cpus(stdout, header, &format);
	printf("%5s  %-9s %-8s %-10s %12s  %-10s %9s %9s %7s  %s\n", "CPU", "SPU", "VERSION",
	       "MIDR", "INTERVAL >=", "STATE", "BLIND", "WINDOWS", "FAULTED", "FILTERS");
	for (size_t i = 0; i < json_object_array_length(cpus); i++)
		print_cpu(json_object_array_get_idx(cpus, i));
	json_object_put(cpus);
}

static int print_cpus(struct bus_connection *bus, bool json)
{
	struct view view = { 0 };
	const struct view_header *header = &view.header;
	json_object *answer = NULL, *cpus;
	int status = bus_call_to_json(bus, "", "org.freedesktop.DBus.ObjectManager",
				      "GetManagedObjects", &answer, NULL);

	if (status)
		return status;
	cpus = json_object_new_array();
	status = collect_cpus(bus, json_object_array_get_idx(answer, 0), cpus);
	json_object_put(answer);
	if (status) {
		json_object_put(cpus);
		return status;
	}
	json_object_array_sort(cpus, cpu_compare);
	if (bus_get_view(bus, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1, &view))
		header = NULL;
	if (json)
		show_json(cpus, header);
	else
		show_text(cpus, header);
	view_clear(&view);
	return STATUS_OK;
}

int list_run(int argc, char **argv)
{
	static const struct option long_options[] = { { "json", no_argument, NULL, 'j' }, { 0 } };
	struct bus_connection *bus = NULL;
	bool json = false;
	int c, status = STATUS_OK;

	opterr = 0;
	optind = 1;
	while (!status && (c = getopt_long(argc, argv, "j", long_options, NULL)) >= 0) {
		json = true;
		if (c != 'j')
			status = message_fail(STATUS_USAGE, "list: -j is the only option");
	}
	if (!status && optind < argc)
		status = message_fail(STATUS_USAGE, "list \"%.40s\": no argument is expected",
				      argv[optind]);
	if (!status)
		status = bus_new(&bus);
	if (status)
		return status;
	status = print_cpus(bus, json);
	bus_free(bus);
	return status;
}
