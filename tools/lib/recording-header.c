// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recording-header.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <time.h>

#include "profile/profile-read.h"
#include "query/query-result.h"
#include "text.h"

/* Write a time, or "" for 0. */
static const char *write_time(u64 time_ns, char *to, size_t size)
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm utc;

	*to = 0;
	if (time_ns && gmtime_r(&seconds, &utc))
		strftime(to, size, "%Y-%m-%d %H:%M:%S UTC", &utc);
	return to;
}

/* Write CPUs as a list such as "0-3,8". */
static const char *write_cpus(const struct recorded_hardware *hardware, char *to, size_t size)
{
	size_t end = 0;

	*to = 0;
	for (u32 cpu = 0, last; cpu < COUNT_CPUS_MAX && end < size; cpu = last + 1) {
		last = cpu;
		if (!(hardware->cpu[cpu / 64] >> cpu % 64 & 1))
			continue;
		while (last + 1 < COUNT_CPUS_MAX &&
		       hardware->cpu[(last + 1) / 64] >> (last + 1) % 64 & 1)
			last++;
		end += (size_t)snprintf(to + end, size - end, last > cpu ? "%s%u-%u" : "%s%u",
					end ? "," : "", cpu, last);
	}
	return to;
}

static const char *write_cores(const struct recorded_hardware *hardware, char *to, size_t size)
{
	size_t end = 0;

	*to = 0;
	for (u32 i = 0; i < hardware->cores && end < size; i++)
		end += (size_t)snprintf(to + end, size - end, "%s0x%08" PRIx64, i ? ", " : "",
					hardware->midr[i]);
	return to;
}

static const char *write_interval(const struct recorded_hardware *hardware, char *to, size_t size)
{
	char low[TEXT_NUMBER_SIZE], high[TEXT_NUMBER_SIZE];
	const char *unit = view_unit_name(hardware->unit);

	*to = 0;
	if (hardware->interval_max == hardware->interval_min && hardware->interval_min)
		snprintf(to, size, "%s %s", text_format_count(low, hardware->interval_min), unit);
	else if (hardware->interval_min)
		snprintf(to, size, "%s to %s %s", text_format_count(low, hardware->interval_min),
			 text_format_count(high, hardware->interval_max), unit);
	return to;
}

static void write_kernel(const struct recording_facts *facts, char *to, size_t size)
{
	*to = 0;
	if (*facts->kernel)
		snprintf(to, size, "Linux %.60s%s%.30s", facts->kernel, *facts->machine ? " " : "",
			 facts->machine);
}

void recording_header_format_summary(const struct input_recording *input, char *to, size_t size)
{
	const struct recording_facts *facts = &input->facts;
	char start[40], kernel[128];
	/* The host name of the kernel is "(none)" until it is set. */
	const char *const parts[] = { strcmp(facts->host, "(none)") ? facts->host : "", kernel,
				      start };
	size_t end = 0;

	write_kernel(facts, kernel, sizeof(kernel));
	write_time(facts->time_ns, start, sizeof(start));
	*to = 0;
	for (size_t i = 0; i < ARRAY_SIZE(parts) && end < size; i++)
		if (*parts[i])
			end += (size_t)snprintf(to + end, size - end, "%s%s", end ? ", " : "",
						parts[i]);
	if (*facts->command && end < size)
		snprintf(to + end, size - end, "%s%.250s", end ? ": " : "", facts->command);
}

/** struct header_fact - a line of the header; @text: "" if it is unknown */
struct header_fact {
	const char *name;
	const char *key;
	char text[1100];
};

/* Number of lines that describe how a recording was made. */
#define FACT_COUNT 12

static void facts_fill(const char *path, struct input_recording *input, struct header_fact *facts)
{
	static const char *const formats[] = { "raw", "perf.data", "native" };
	static const char *const backends[] = { "", "hardware", "emulated" };
	const struct view_header *header = profile_get_header(input->profile);
	const struct recording_facts *f = &input->facts;
	static const char *const names[FACT_COUNT][2] = {
		{ "file", "recording" },    { "format", "format" },   { "host", "host" },
		{ "kernel", "kernel" },	    { "machine", "machine" }, { "written by", "version" },
		{ "command", "command" },   { "start", "start" },     { "SPU", "backend" },
		{ "CPUs", "cpus_sampled" }, { "cores", "cores" },     { "interval", "interval" },
	};

	for (u32 i = 0; i < FACT_COUNT; i++) {
		facts[i].name = names[i][0];
		facts[i].key = names[i][1];
		facts[i].text[0] = 0;
	}
	snprintf(facts[0].text, sizeof(facts[0].text), "%s", path);
	snprintf(facts[1].text, sizeof(facts[1].text), "%s", formats[input->format]);
	snprintf(facts[2].text, sizeof(facts[2].text), "%s", f->host);
	snprintf(facts[3].text, sizeof(facts[3].text), "%s", f->kernel);
	snprintf(facts[4].text, sizeof(facts[4].text), "%s", f->machine);
	snprintf(facts[5].text, sizeof(facts[5].text), "%s", f->version);
	snprintf(facts[6].text, sizeof(facts[6].text), "%s", f->command);
	write_time(f->time_ns, facts[7].text, sizeof(facts[7].text));
	snprintf(facts[8].text, sizeof(facts[8].text), "%s",
		 input->backend < ARRAY_SIZE(backends) ? backends[input->backend] : "");
	if (header->records)
		write_cpus(&input->hardware, facts[9].text, sizeof(facts[9].text));
	write_cores(&input->hardware, facts[10].text, sizeof(facts[10].text));
	write_interval(&input->hardware, facts[11].text, sizeof(facts[11].text));
}

/* Find the binaries with samples, the heaviest first. */
static int query_build_ids(struct input_recording *input, struct query_result **ret_result)
{
	const struct query_source source = { .profile = input->profile };
	const struct query query = { .recording = "",
				     .group = { QUERY_BINARY, QUERY_BUILD_ID },
				     .groups = 2 };

	return query_run(&source, &query, ret_result, NULL);
}

int recording_header_print(FILE *out, const char *path, struct input_recording *input)
{
	struct header_fact *facts = calloc(FACT_COUNT, sizeof(*facts));
	struct query_row *row = malloc(sizeof(*row));
	const struct view_header *header = profile_get_header(input->profile);
	struct query_result *builds = NULL;
	char number[TEXT_NUMBER_SIZE], bytes[TEXT_NUMBER_SIZE];
	int r = facts && row ? query_build_ids(input, &builds) : -ENOMEM;

	if (r == 0) {
		facts_fill(path, input, facts);
		for (u32 i = 0; i < FACT_COUNT; i++)
			fprintf(out, "%-10s  %s\n", facts[i].name,
				*facts[i].text ? facts[i].text : "not known");
		if (input->facts.cpus)
			fprintf(out, "%-10s  %u\n", "all CPUs", input->facts.cpus);
		if (input->facts.line_size)
			fprintf(out, "%-10s  %u B\n", "cache line", input->facts.line_size);
		if (input->duration_ns)
			fprintf(out, "%-10s  %s\n", "duration",
				text_format_seconds(number, input->duration_ns));
		fprintf(out, "%-10s  %s in %s\n", "samples",
			text_format_count(number, header->records),
			text_format_bytes(bytes, header->bytes));
		fprintf(out, "build ids of binaries with samples:\n");
	}
	for (u32 i = 0; r == 0 && i < query_result_get_row_count(builds); i++) {
		query_result_get_row(builds, i, row);
		fprintf(out, "  %-40s  %s\n", *row->build_id ? row->build_id : "-", row->binary);
	}
	query_result_free(builds);
	free(facts);
	free(row);
	return r;
}

/* Return a number, or null if it is 0, which means unknown. */
static json_object *known_number_json(u64 number)
{
	return number ? json_object_new_uint64(number) : NULL;
}

static json_object *build_ids_json(const struct query_result *builds, struct query_row *row)
{
	json_object *json = json_object_new_array(), *one;

	for (u32 i = 0; i < query_result_get_row_count(builds); i++) {
		query_result_get_row(builds, i, row);
		one = json_object_new_object();
		json_object_object_add(one, "binary", json_object_new_string(row->binary));
		json_object_object_add(one, "build_id",
				       *row->build_id ? json_object_new_string(row->build_id) :
							NULL);
		json_object_array_add(json, one);
	}
	return json;
}

int recording_header_print_json(FILE *out, const char *path, struct input_recording *input)
{
	struct header_fact *facts = calloc(FACT_COUNT, sizeof(*facts));
	struct query_row *row = malloc(sizeof(*row));
	json_object *json = json_object_new_object();
	struct query_result *builds = NULL;
	int r = facts && row ? query_build_ids(input, &builds) : -ENOMEM;

	if (r == 0) {
		facts_fill(path, input, facts);
		json_object_object_add(json, "schema_version", json_object_new_int(1));
		for (u32 i = 0; i < FACT_COUNT; i++)
			json_object_object_add(json, facts[i].key,
					       *facts[i].text ?
						       json_object_new_string(facts[i].text) :
						       NULL);
		json_object_object_add(json, "cpus", known_number_json(input->facts.cpus));
		json_object_object_add(json, "line_size", known_number_json(input->facts.line_size));
		json_object_object_add(json, "duration_ns", known_number_json(input->duration_ns));
		json_object_object_add(
			json, "records",
			json_object_new_uint64(profile_get_header(input->profile)->records));
		json_object_object_add(json, "build_ids", build_ids_json(builds, row));
		fprintf(out, "%s\n",
			json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN |
								     JSON_C_TO_STRING_NOSLASHESCAPE));
	}
	query_result_free(builds);
	json_object_put(json);
	free(facts);
	free(row);
	return r;
}
