// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof pgo: write the branches of a recording as a profile that an optimiser reads, or check
 * whether there are enough of them.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/message.h"
#include "lib/options.h"
#include "lib/output.h"
#include "lib/terminal.h"
#include "pgo/autofdo-profile.h"
#include "pgo/profile-check.h"
#include "pgo/profile-merge.h"
#include "query/query-names.h"
#include "verb.h"

/* Number of functions that "pgo check" prints by default */
#define CHECK_FUNCTIONS_DEFAULT 20

/**
 * struct pgo_format - a format
 * @print: writes it
 * @symbols: needs the symbols of functions
 * @frames: needs lines of functions in debug data, and the counts of instructions
 * @unit: what &edge_profile.written counts
 * @unnamed: what &edge_profile.unnamed counts
 */
static const struct pgo_format {
	const char *name;
	void (*print)(FILE *out, struct edge_profile *profile);
	bool symbols;
	bool frames;
	const char *unit;
	const char *unnamed;
} formats[] = {
	{ "bolt", edge_profile_print_fdata, .symbols = true, .unit = "edges",
	  .unnamed = "branches are in no function" },
	{ "pre-aggregated", edge_profile_print_aggregated, .unit = "edges",
	  .unnamed = "branches are in no segment" },
	{ "brstack", edge_profile_print_brstack, .symbols = true, .unit = "edges",
	  .unnamed = "branches are in no segment" },
	{ "autofdo", autofdo_profile_print, .frames = true, .unit = "functions",
	  .unnamed = "instructions have no function or line in the debug data" },
};

static const struct pgo_format *format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

static bool file_matches(const struct edge_file *file, const char *glob)
{
	const char *id_glob = query_get_build_id_glob(glob);
	char id[2 * BUILD_ID_MAX + 1];

	edge_file_format_build_id(file, id);
	if (id_glob)
		return *id && query_name_matches(id_glob, id);
	return query_name_matches(glob, file->path) ||
	       query_name_matches(glob, query_base_name(file->path)) ||
	       (*id && strcmp(glob, id) == 0);
}

/*
 * Select the file of --binary or, without that option, the one with most taken branches. Return an
 * &enum verb_exit_status.
 */
static int select_file(const struct edge_recording *edges, const struct options *options,
		       u32 *ret_file)
{
	u32 found = EDGE_NO_FILE;

	for (u32 i = 0; i < edges->files; i++) {
		const struct edge_file *file = &edges->file[i];

		/* Names such as [kernel] and [vdso] are no files. */
		if (options->binary ? !file_matches(file, options->binary) : *file->path == '[')
			continue;
		if (options->binary && found != EDGE_NO_FILE)
			return message_fail(STATUS_USAGE,
					    "pgo: --binary \"%s\": matches %s and %s; give the "
					    "path or the build id of one",
					    options->binary, edges->file[found].path, file->path);
		if (found == EDGE_NO_FILE || file->taken > edges->file[found].taken)
			found = i;
	}
	if (found == EDGE_NO_FILE)
		return message_fail(STATUS_STATE, "pgo: %s has no branches of %s", options->input,
				    options->binary ?: "a file");
	if (*edges->file[found].path == '[')
		return message_fail(STATUS_USAGE, "pgo: %s is no file that can be optimised",
				    edges->file[found].path);
	*ret_file = found;
	return STATUS_OK;
}

/**
 * struct profile_output - what is printed: a sum of profiles, or a profile in a format
 * @merge: the sum; NULL for a profile
 */
struct profile_output {
	struct profile_merge *merge;
	const struct pgo_format *format;
	struct edge_profile *profile;
};

/* Print to a descriptor, which stays open. Return 0 or a negative errno. */
static int print_to_fd(int fd, const struct profile_output *output)
{
	int copy = dup(fd), r = 0;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");

	if (!out) {
		r = -errno;
		if (copy >= 0)
			close(copy);
		return r;
	}
	if (output->merge)
		profile_merge_print(out, output->merge);
	else
		output->format->print(out, output->profile);
	r = output->profile ? output->profile->error : 0;
	errno = 0;
	if (r == 0 && ferror(out))
		r = -EIO;
	if (fclose(out) != 0 && r == 0)
		r = errno ? -errno : -EIO;
	return r;
}

/* Return whether at least one location is in a function of the file. */
static bool has_functions(const struct edge_profile *profile)
{
	for (u32 i = 0; i < profile->names.count; i++)
		if (*profile->names.name[i].name)
			return true;
	return false;
}

/* Return whether at least one location has lines that --format autofdo can write. */
static bool has_lines(const struct edge_profile *profile)
{
	for (u32 i = 0; i < profile->frames.positions; i++)
		if (autofdo_position_is_usable(&profile->frames, &profile->frames.position[i]))
			return true;
	return false;
}

static int write_output(const struct options *options, const struct profile_output *from)
{
	struct output_file output = OUTPUT_NONE;
	int r = output_open(options->output, 0644, &output);

	if (r >= 0)
		r = print_to_fd(output.fd, from);
	if (r >= 0)
		r = output_commit(&output);
	output_drop(&output);
	/* If the reader of standard output has exited, as head does, it needs no more output. */
	if (r < 0 && !(r == -EPIPE && strcmp(options->output, "-") == 0))
		return message_fail(STATUS_FAILED, "pgo: %s: %s", options->output, strerror(-r));
	return STATUS_OK;
}

static void report_profile(const struct pgo_format *format, const struct edge_profile *profile)
{
	const struct edge_recording *edges = profile->edges;
	const struct edge_file *file = &edges->file[profile->file];
	char id[2 * BUILD_ID_MAX + 1];

	edge_file_format_build_id(file, id);
	message_print("pgo: %llu %s of %s, build id %s%s", (unsigned long long)profile->written,
		      format->unit, file->path, *id ? id : "unknown",
		      edges->backend == BACKEND_EMULATED ?
			      "; EMULATED SPU: mispredictions are modelled" :
			      "");
	if (profile->unnamed)
		message_print("pgo: %llu %s, and are left out",
			      (unsigned long long)profile->unnamed, format->unnamed);
	if (edges->table.dropped)
		message_print("pgo: %llu branches were dropped: the recording has more than %u "
			      "edges; select samples by --filter",
			      (unsigned long long)edges->table.dropped, edges->table.max);
	if (edges->unweighted)
		message_print("pgo: the interval of %llu samples is unknown; each counts as one "
			      "branch",
			      (unsigned long long)edges->unweighted);
}

/* Print whether the functions of a file have enough samples. */
static int check_functions(const struct edge_profile *profile, const struct options *options)
{
	u32 number = options->number ?: CHECK_FUNCTIONS_DEFAULT;
	struct profile_check check;
	json_object *json = NULL;
	size_t width, height;
	int r = profile_check_init(profile, &check), status = STATUS_OK;

	if (r < 0) {
		status = message_fail(STATUS_FAILED, "pgo: %s", strerror(-r));
	} else if (!check.functions) {
		status = message_fail(
			STATUS_STATE,
			"pgo: %s has no branches in a function of %s; --binary selects "
			"another file",
			options->input, profile->edges->file[profile->file].path);
	} else if (options->json) {
		json = profile_check_make_json(&check, number);
		puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(json);
	} else {
		term_get_size(&width, &height);
		profile_check_print(stdout, &check, number, width, term_uses_colour());
	}
	profile_check_deinit(&check);
	return status;
}

/* Write a file in a format, or check it if @format is NULL. */
static int convert_file(const struct edge_recording *edges, u32 file,
			const struct pgo_format *format, const struct options *options)
{
	struct edge_profile profile;
	bool symbols = !format || format->symbols, frames = format && format->frames;
	int r = edge_profile_init(edges, file, &options->folders, frames, &profile), status;

	if (r < 0)
		status = message_fail(STATUS_UNREADABLE, "pgo: %s",
				      *profile.names.reason  ? profile.names.reason :
				      *profile.frames.reason ? profile.frames.reason :
							       strerror(-r));
	else if (profile.names.machine != EM_AARCH64)
		status = message_fail(STATUS_USAGE, "pgo: %s has no arm64 code",
				      edges->file[file].path);
	else if (symbols && !has_functions(&profile))
		status = message_fail(STATUS_STATE,
				      "pgo: %s has no symbols of functions; %s%s needs the "
				      "file before it is stripped",
				      edges->file[file].path, format ? "--format " : "check",
				      format ? format->name : "");
	else if (frames && !has_lines(&profile))
		status =
			message_fail(STATUS_STATE,
				     "pgo: %s has no debug data with the lines of its functions; "
				     "compile it with \"clang -g -fdebug-info-for-profiling\", and "
				     "do not strip it",
				     edges->file[file].path);
	else if (!format)
		status = check_functions(&profile, options);
	else
		status = write_output(
			options, &(struct profile_output){ .format = format, .profile = &profile });
	if (status == STATUS_OK && format)
		report_profile(format, &profile);
	edge_profile_deinit(&profile);
	return status;
}

static int convert_recording(const struct options *options, const struct pgo_format *format)
{
	const struct input_request request = input_request_from_options(options);
	struct edge_recording edges;
	u32 file = EDGE_NO_FILE;
	int status = edge_recording_load(&request, format && format->frames, &edges), shown;

	/* A damaged recording is converted, too; @status reports the damage. */
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		shown = select_file(&edges, options, &file);
		if (!shown)
			shown = convert_file(&edges, file, format, options);
		status = shown ? shown : status;
	}
	edge_recording_clear(&edges);
	return status;
}

/* Run "speprof pgo merge A B -o C"; the first argument is the name for errors. */
static int merge_run(int argc, char **argv)
{
	struct profile_merge merge = { .format = NULL };
	struct options options;
	int status = options_parse(argc, argv, "oF2", &options);

	if (status)
		return status;
	if (!options.after || !options.output)
		return message_fail(STATUS_USAGE,
				    "pgo merge: needs two profiles, and -o with the file to write");
	status = profile_merge_read(&merge, options.input);
	if (!status)
		status = profile_merge_read(&merge, options.after);
	if (!status)
		status = write_output(&options, &(struct profile_output){ .merge = &merge });
	profile_merge_deinit(&merge);
	return status;
}

/* Run "speprof pgo check FILE"; the first argument is the name for errors. */
static int check_run(int argc, char **argv)
{
	struct options options;
	int status = options_parse(argc, argv, "ijnCMLYFy", &options);

	if (status)
		return status;
	if (!options.input)
		status = message_fail(STATUS_USAGE, "pgo check: needs a recording");
	else
		status = convert_recording(&options, NULL);
	filter_free(options.filter);
	return status;
}

int pgo_run(int argc, char **argv)
{
	const struct pgo_format *format;
	struct options options;
	int status;

	if (argc > 1 && strcmp(argv[1], "merge") == 0) {
		argv[1] = argv[0];
		return merge_run(argc - 1, argv + 1);
	}
	if (argc > 1 && strcmp(argv[1], "check") == 0) {
		argv[1] = argv[0];
		return check_run(argc - 1, argv + 1);
	}
	status = options_parse(argc, argv, "iCEMLoYFy", &options);

	if (status)
		return status;
	format = options.format ? format_find(options.format) : NULL;
	options.output = options.output ?: "-";
	if (!format)
		status = message_fail(
			STATUS_USAGE,
			"pgo: --format %s: should be bolt, pre-aggregated, brstack or autofdo",
			options.format ?: "is missing");
	else if (!options.input)
		status = message_fail(STATUS_USAGE, "pgo: needs a recording");
	else
		status = convert_recording(&options, format);
	filter_free(options.filter);
	return status;
}
