// SPDX-License-Identifier: LGPL-2.1-or-later
#include "emulate-run.h"

#include <getopt.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "lib/exit-status.h"
#include "lib/message.h"
#include "lib/output.h"
#include "record-build-ids.h"
#include "recording/recorder.h"
#include "trace/qemu-process.h"
#include "trace/trace-run.h"
#include "trace/traced-spu.h"

#define INTERVAL_DEFAULT 1024

/**
 * struct program_request - what to run
 * @path: file of the recording
 * @interval: instructions between two samples
 * @argv: the program and its arguments
 * @json: print statistics as JSON
 */
struct program_request {
	const char *path;
	u32 interval;
	char **argv;
	bool json;
};

static int parse_interval(const char *text, u32 *ret_interval)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !value || value > TRACED_INTERVAL_MAX ||
	    (value != 1 && value % TRACED_INTERVAL_STEP))
		return message_fail(
			STATUS_USAGE,
			"emulate: --interval \"%s\": should be 1, for each instruction, "
			"or a multiple of %u up to %u",
			text, TRACED_INTERVAL_STEP, TRACED_INTERVAL_MAX);
	*ret_interval = (u32)value;
	return STATUS_OK;
}

static int parse_option(int letter, char **argv, struct program_request *request)
{
	switch (letter) {
	case 'r':
		return STATUS_OK;
	case 'j':
		request->json = true;
		return STATUS_OK;
	case 'o':
		request->path = optarg;
		return STATUS_OK;
	case 'i':
		return parse_interval(optarg, &request->interval);
	case ':':
		return message_fail(STATUS_USAGE, "emulate: \"%s\" needs a value",
				    argv[optind - 1]);
	default:
		return message_fail(STATUS_USAGE,
				    "emulate: \"%s\": should be -o FILE, --interval N, -j or a "
				    "program after --run",
				    argv[optind - 1]);
	}
}

static int request_parse(int argc, char **argv, struct program_request *ret_request)
{
	static const struct option options[] = {
		{ "interval", required_argument, NULL, 'i' },
		{ "json", no_argument, NULL, 'j' },
		{ "output", required_argument, NULL, 'o' },
		{ "run", no_argument, NULL, 'r' },
		{ 0 },
	};
	struct program_request request = { .path = "speprof.data", .interval = INTERVAL_DEFAULT };
	int letter, status;

	opterr = 0;
	optind = 0;
	/* "+": getopt stops at the program, because the options after it belong to the program. */
	while ((letter = getopt_long(argc, argv, "+:jo:", options, NULL)) != -1) {
		status = parse_option(letter, argv, &request);
		if (status)
			return status;
	}
	request.argv = argv + optind;
	if (optind == argc)
		return message_fail(STATUS_USAGE, "emulate: --run needs a program");
	if (strcmp(request.path, "-") == 0)
		return message_fail(STATUS_USAGE,
				    "emulate: -o -: the program prints to standard output; name a "
				    "file");
	*ret_request = request;
	return STATUS_OK;
}

/* Join the words that the recording stores as its command line; a longer text is truncated. */
static void join_command_line(char **argv, char *line, size_t size)
{
	size_t at = (size_t)snprintf(line, size, "speprof emulate --run");

	for (; *argv && at < size; argv++)
		at += (size_t)snprintf(line + at, size - at, " %s", *argv);
}

static int report_run_error(const struct program_request *request, int error)
{
	switch (error) {
	case -ENOENT:
		return message_fail(STATUS_STATE,
				    "emulate: QEMU's user emulation is not installed; install "
				    "qemu-user-static, which has qemu-aarch64-static");
	case -EOPNOTSUPP:
		return message_fail(STATUS_FAILED,
				    "emulate: %s tried to create another process, but only one can "
				    "be traced",
				    request->argv[0]);
	case -ENOEXEC:
		return message_fail(
			STATUS_FAILED,
			"emulate: %s executed no instruction; for a program with shared "
			"libraries, set QEMU_LD_PREFIX to the directory of its system, "
			"such as /usr/aarch64-linux-gnu",
			request->argv[0]);
	case -ENOSPC:
		return message_fail(STATUS_FAILED, "emulate: %s has more than 64 MiB of code",
				    request->argv[0]);
	default:
		return message_fail(STATUS_FAILED, "emulate: %s: %s", request->argv[0],
				    strerror(-error));
	}
}

static int check_program(const struct program_request *request)
{
	int r = qemu_check_program(request->argv[0]);

	if (r == -ENOEXEC)
		return message_fail(
			STATUS_USAGE,
			"emulate: %s: is no aarch64 program; \"speprof record\" samples "
			"programs of this machine",
			request->argv[0]);
	if (r < 0)
		return message_fail(r == -ENOENT ? STATUS_NO_FILE : STATUS_UNREADABLE,
				    "emulate: %s: %s", request->argv[0], strerror(-r));
	return STATUS_OK;
}

static int write_recording(const struct program_request *request, struct recorder *recorder,
			   struct trace_result *ret_result)
{
	struct source_sink sink = recorder_make_sink(recorder);
	struct record_build_ids *builds;
	int r = record_build_ids_new(&sink, &builds);

	if (r < 0)
		return message_fail(STATUS_FAILED, "emulate: %s", strerror(-r));
	sink = record_build_ids_get_sink(builds);
	r = trace_run(request->argv, request->interval, &sink, ret_result);
	record_build_ids_free(builds);
	if (r < 0)
		return report_run_error(request, r);
	r = recorder_finish(recorder);
	return r < 0 ? message_fail(STATUS_FAILED, "emulate: %s: cannot be written: %s",
				    request->path, strerror(-r)) :
		       STATUS_OK;
}

static void print_json(const struct trace_result *result)
{
	const struct {
		const char *name;
		u64 value;
	} rows[] = {
		{ "instructions", result->instructions },
		{ "samples", result->samples },
		{ "threads", result->threads },
		{ "unknown_instructions", result->unknown },
		{ "ignored_lines", result->ignored },
	};
	json_object *json = json_object_new_object();

	json_object_object_add(json, "schema_version", json_object_new_int(1));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		json_object_object_add(json, rows[i].name, json_object_new_uint64(rows[i].value));
	puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN));
	json_object_put(json);
}

static void print_result(const struct program_request *request, const struct trace_result *result)
{
	const char *program = request->argv[0];

	if (WIFSIGNALED(result->status))
		message_print("emulate: %s was ended by signal %d", program,
			      WTERMSIG(result->status));
	else if (WEXITSTATUS(result->status))
		message_print("emulate: %s ended with status %d", program,
			      WEXITSTATUS(result->status));
	if (result->executed)
		message_print("emulate: %s called execve(); what it executed then is not sampled",
			      program);
	if (result->unknown)
		message_print("emulate: the code of %llu instructions is unknown; they count as "
			      "operations of no class",
			      (unsigned long long)result->unknown);
	if (request->json)
		print_json(result);
	else
		message_print("emulate: %llu samples of %llu instructions in %s; EMULATED SPU: "
			      "instructions, branches and addresses are real, latencies are "
			      "modelled",
			      (unsigned long long)result->samples,
			      (unsigned long long)result->instructions, request->path);
}

static int run_program(const struct program_request *request)
{
	char line[900];
	const struct recorder_config config = {
		.format = RECORDER_NATIVE,
		.backend = BACKEND_EMULATED,
		.cpus = 1,
		.command = line,
	};
	struct output_file output = OUTPUT_NONE;
	struct recorder *recorder = NULL;
	struct trace_result result;
	int r, status;

	join_command_line(request->argv, line, sizeof(line));
	r = output_open(request->path, 0600, &output);
	if (r >= 0)
		r = recorder_new(output.fd, &config, &recorder);
	status = r < 0 ? message_fail(STATUS_FAILED, "emulate: %s: cannot be written: %s",
				      request->path, strerror(-r)) :
			 write_recording(request, recorder, &result);
	recorder_free(recorder);
	if (!status) {
		r = output_commit(&output);
		if (r < 0)
			status = message_fail(STATUS_FAILED, "emulate: %s: cannot be written: %s",
					      request->path, strerror(-r));
	}
	output_drop(&output);
	if (!status)
		print_result(request, &result);
	return status;
}

int emulate_run_program(int argc, char **argv)
{
	struct program_request request;
	int status = request_parse(argc, argv, &request);

	if (!status)
		status = check_program(&request);
	return status ? status : run_program(&request);
}
