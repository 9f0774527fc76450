// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof emulate: run a script of operations, or a program, through an emulated SPU. */
#include <getopt.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "emulate-run.h"
#include "lib/message.h"
#include "lib/output.h"
#include "script/replay.h"
#include "verb.h"

/* Maximum size of a script in bytes. */
#define SCRIPT_SIZE_MAX (64U << 20)
#define VALUE_SHOWN_MAX 60

struct emulate_request {
	const char *script;
	const char *records;
	const char *truth;
	bool json;
};

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "output", required_argument, NULL, 'o' },
	{ "truth", required_argument, NULL, 't' },
	{ NULL, 0, NULL, 0 },
};

static bool request_parse(int argc, char **argv, struct emulate_request *ret_request)
{
	struct emulate_request request = { 0 };
	int letter;

	opterr = 0;
	optind = 0;
	while ((letter = getopt_long(argc, argv, "jo:t:", long_options, NULL)) != -1) {
		switch (letter) {
		case 'j':
			request.json = true;
			break;
		case 'o':
			request.records = optarg;
			break;
		case 't':
			request.truth = optarg;
			break;
		default:
			message_print("emulate: \"%s\": should be -o FILE, -t FILE, -j or a script",
				      argv[optind - 1]);
			return false;
		}
	}
	if (argc - optind != 1) {
		message_print("emulate: %s", argc == optind ? "needs a script, or \"-\"" :
							      "needs one script only");
		return false;
	}
	request.script = argv[optind];
	*ret_request = request;
	return true;
}

static int script_load(const char *path, char **ret_text, size_t *ret_len)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(path, "re");
	size_t len = 0, size = 1 << 16, got;
	char *text = NULL, *larger;
	int status = STATUS_OK;

	if (!file)
		return message_fail(errno == ENOENT ? STATUS_NO_FILE : STATUS_UNREADABLE, "%s: %s",
				    path, strerror(errno));
	do {
		size *= 2;
		larger = realloc(text, size);
		if (!larger) {
			status = message_fail(STATUS_FAILED, "%s: out of memory", path);
			break;
		}
		text = larger;
		got = fread(text + len, 1, size - len, file);
		len += got;
	} while (len == size && size < SCRIPT_SIZE_MAX);
	if (!status && ferror(file))
		status = message_fail(STATUS_UNREADABLE, "%s: %s", path, strerror(errno));
	else if (!status && len == SCRIPT_SIZE_MAX)
		status = message_fail(STATUS_UNREADABLE, "%s: a script has less than %u MiB", path,
				      SCRIPT_SIZE_MAX >> 20);
	if (!is_stdin)
		fclose(file);
	if (status) {
		free(text);
		return status;
	}
	*ret_text = text;
	*ret_len = len;
	return STATUS_OK;
}

/* Print the line and column of an error, the wrong value, and the accepted values. */
static int print_script_error(const char *path, const char *text, const struct replay_error *error)
{
	size_t shown = error->at.length < VALUE_SHOWN_MAX ? error->at.length : VALUE_SHOWN_MAX;

	return message_fail(STATUS_USAGE, "%s:%llu:%zu: \"%.*s%s\": must be %s", path,
			    (unsigned long long)error->line, error->at.column, (int)shown,
			    text + error->offset + error->at.column - 1,
			    shown < error->at.length ? "..." : "", error->at.want);
}

/** struct output_stream - a file that is written; @file is NULL if the option was not given */
struct output_stream {
	const char *path;
	FILE *file;
	struct output_file output;
};

/* Open a stream; "-" is standard output. */
static int stream_open(struct output_stream *stream)
{
	int r;

	if (!stream->path)
		return STATUS_OK;
	if (strcmp(stream->path, "-") == 0) {
		stream->file = stdout;
		return STATUS_OK;
	}
	r = output_open(stream->path, 0666, &stream->output);
	if (r >= 0) {
		stream->file = fdopen(stream->output.fd, "w");
		r = stream->file ? 0 : -errno;
	}
	if (r >= 0)
		stream->output.fd = -1;
	return r < 0 ? message_fail(STATUS_FAILED, "%s: %s", stream->path, strerror(-r)) :
		       STATUS_OK;
}

static int stream_report_loss(const struct output_stream *stream)
{
	return message_fail(STATUS_FAILED, "%s: cannot be written", stream->path);
}

static int stream_close(struct output_stream *stream, int status)
{
	bool lost;

	if (!stream->file || stream->file == stdout)
		return status;
	lost = ferror(stream->file);
	lost |= fclose(stream->file) != 0;
	return lost && status == STATUS_OK ? stream_report_loss(stream) : status;
}

/*
 * Complete the file if @status is STATUS_OK; otherwise leave the previous file in place. @status
 * also includes errors of the other output file.
 */
static int stream_commit(struct output_stream *stream, int status)
{
	if (status == STATUS_OK && output_commit(&stream->output) < 0)
		status = stream_report_loss(stream);
	output_drop(&stream->output);
	return status;
}

static void print_json(FILE *out, const struct replay_result *result)
{
	const struct {
		const char *name;
		u64 value;
	} rows[] = {
		{ "operations", result->stats.operations },
		{ "selected", result->stats.selected },
		{ "collisions", result->stats.collisions },
		{ "filtered", result->stats.filtered },
		{ "discarded", result->stats.discarded },
		{ "written", result->stats.written },
		{ "record_bytes", result->stats.bytes },
		{ "cut_bytes", result->stats.cut },
		{ "padding_bytes", result->padding },
		{ "output_bytes", result->output },
		{ "windows", result->windows },
	};
	json_object *json = json_object_new_object(), *events = json_object_new_object();
	char name[8];

	json_object_object_add(json, "schema_version", json_object_new_int(1));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		json_object_object_add(json, rows[i].name, json_object_new_uint64(rows[i].value));
	for (unsigned int ec = 0; ec < ARRAY_SIZE(result->events); ec++) {
		if (!result->events[ec])
			continue;
		snprintf(name, sizeof(name), "0x%02x", ec);
		json_object_object_add(events, name, json_object_new_uint64(result->events[ec]));
	}
	json_object_object_add(json, "events_by_ec", events);
	fputs(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN), out);
	fputc('\n', out);
	json_object_put(json);
}

static void print_text(FILE *out, const struct replay_result *result)
{
	const struct spe_spu_stats *stats = &result->stats;

	fprintf(out,
		"%llu operations, %llu selected: %llu written, %llu filtered, %llu discarded; "
		"%llu collisions\n",
		(unsigned long long)stats->operations, (unsigned long long)stats->selected,
		(unsigned long long)stats->written, (unsigned long long)stats->filtered,
		(unsigned long long)stats->discarded, (unsigned long long)stats->collisions);
	fprintf(out, "%llu bytes: %llu of records, %llu cut, %llu padding; %llu windows\n",
		(unsigned long long)result->output, (unsigned long long)stats->bytes,
		(unsigned long long)stats->cut, (unsigned long long)result->padding,
		(unsigned long long)result->windows);
	for (unsigned int ec = 0; ec < ARRAY_SIZE(result->events); ec++)
		if (result->events[ec])
			fprintf(out, "%llu events with EC %#x\n",
				(unsigned long long)result->events[ec], ec);
}

static int replay_script(const struct emulate_request *request, const char *text, size_t len)
{
	struct output_stream records = { .path = request->records, .output = OUTPUT_NONE };
	struct output_stream truth = { .path = request->truth, .output = OUTPUT_NONE };
	struct replay_result result = { 0 };
	int status, r;
	FILE *out;

	status = stream_open(&records);
	if (!status)
		status = stream_open(&truth);
	if (!status) {
		r = replay_run(text, len, records.file, truth.file, &result);
		if (r < 0)
			status = message_fail(STATUS_FAILED, "emulate: %s", strerror(-r));
	}
	/*
	 * Print the summary to standard error if records or the recorded operations are written to
	 * standard output.
	 */
	out = records.file == stdout || truth.file == stdout ? stderr : stdout;
	status = stream_close(&records, status);
	status = stream_close(&truth, status);
	status = stream_commit(&records, status);
	status = stream_commit(&truth, status);
	if (!status)
		(request->json ? print_json : print_text)(out, &result);
	return status;
}

static bool has_run_option(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--run") == 0)
			return true;
	return false;
}

int emulate_run(int argc, char **argv)
{
	struct replay_error error;
	struct emulate_request request = { 0 };
	char *text = NULL;
	size_t len = 0;
	int status;

	if (has_run_option(argc, argv))
		return emulate_run_program(argc, argv);
	if (!request_parse(argc, argv, &request))
		return STATUS_USAGE;
	status = script_load(request.script, &text, &len);
	if (status)
		return status;
	if (replay_check(text, len, &error) < 0)
		status = print_script_error(request.script, text, &error);
	else
		status = replay_script(&request, text, len);
	free(text);
	return status;
}
