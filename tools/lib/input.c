// SPDX-License-Identifier: LGPL-2.1-or-later
#include "input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "debug-download.h"
#include "kernel-functions.h"
#include "message.h"
#include "parallel-count.h"
#include "profile/profile-read.h"
#include "progress.h"
#include "recording-header.h"
#include "text.h"

/*
 * Maximum number of processes of a recording, and bytes of their mappings. All task events precede
 * the samples, so each process and each program that it executes needs an entry until the end. The
 * second limit exists because a few bytes of a hostile recording can fork a process with thousands
 * of mappings.
 */
#define PROCESSES_MAX	 (1U << 18)
#define MAPPINGS_MIB_MAX 256ULL

/* maximum memory of symbols, and maximum time for reading the symbols of one file */
#define SYMBOLS_BUDGET	(64ULL << 20)
#define SYMBOLS_WAIT_MS 60000
/* The same with downloads: debug files of large programs have gigabytes. */
#define DOWNLOAD_WAIT_MS 600000

/*
 * Decide whether suspect bytes mean a damaged recording. They do unless a window is flagged:
 * hardware leaves such bytes at the end of a truncated window, and a suspect window has no valid
 * byte.
 */
static int input_check_suspect_bytes(struct input_recording *input, const char *path,
				     bool explained)
{
	char suspect[TEXT_NUMBER_SIZE], bytes[TEXT_NUMBER_SIZE];
	int r = STATUS_OK;
	struct view view;

	if (profile_create_view(input->profile, NULL, false, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1,
				&view))
		return STATUS_FAILED;
	if (view.header.suspect) {
		message_print("%s: %s%s of %s record bytes parse as no record; they are counted as "
			      "suspect",
			      path, explained ? "" : "damaged: ",
			      text_format_count(suspect, view.header.suspect),
			      text_format_count(bytes, view.header.bytes));
		r = explained ? STATUS_OK : STATUS_DAMAGED;
	}
	view_clear(&view);
	return r;
}

/* Report tables of the attributor that were too small for the recording. */
static void input_check_tables(const struct input_recording *input, const char *path)
{
	char count[TEXT_NUMBER_SIZE], capacity[TEXT_NUMBER_SIZE];
	struct attributor_stats stats;

	attributor_get_stats(input->attributor, &stats);
	if (stats.processes_evicted)
		message_print(
			"%s: %s processes were evicted from the full process table (%s entries); "
			"their samples are unattributed",
			path, text_format_count(count, stats.processes_evicted),
			text_format_count(capacity, PROCESSES_MAX));
	if (stats.mappings_dropped)
		message_print("%s: %s mappings were dropped because all mappings exceed %llu MiB; "
			      "samples in them have no binary",
			      path, text_format_count(count, stats.mappings_dropped),
			      MAPPINGS_MIB_MAX);
}

/**
 * struct loading_context - the argument that both callbacks of &struct count_request get
 * @request: what to read, with the observer of the caller
 * @input: what was read so far
 * @recording: the recording
 * @progress: what the terminal shows
 */
struct loading_context {
	const struct input_request *request;
	struct input_recording *input;
	const struct recording *recording;
	struct progress progress;
};

static void report_loading_progress(void *ctx, const char *what, u64 done, u64 size)
{
	struct loading_context *loading = ctx;

	progress_set(&loading->progress, what, done, size);
}

/* Set the nodes of the recorded machine from @facts. Return 0 or -ENOMEM. */
static int input_set_nodes(struct input_recording *input, const struct recording_facts *facts)
{
	struct numa_nodes nodes = {
		.ranges = malloc(sizeof(facts->memory)),
		.count = facts->ranges,
		.cpu_node = malloc(RECORDING_CPUS),
		.cpus = RECORDING_CPUS,
	};

	if (!nodes.ranges || !nodes.cpu_node) {
		numa_nodes_deinit(&nodes);
		return -ENOMEM;
	}
	memcpy(nodes.ranges, facts->memory, sizeof(facts->memory));
	for (u32 cpu = 0; cpu < RECORDING_CPUS; cpu++)
		nodes.cpu_node[cpu] = facts->cpu_node[cpu] && facts->cpu_node[cpu] <= NODES_MAX ?
					      facts->cpu_node[cpu] - 1 :
					      NODE_NONE;
	numa_nodes_deinit(&input->nodes);
	input->nodes = nodes;
	return 0;
}

/* Prepare for the samples, after the facts and the task events of the recording were read. */
static int watch_loaded_profile(void *ctx, struct profile *profile)
{
	const struct loading_context *loading = ctx;
	int r = input_set_nodes(loading->input, recording_get_facts(loading->recording));

	return r < 0 || !loading->request->watch ?
		       r :
		       loading->request->watch(loading->request->ctx, profile);
}

static int input_replay(struct input_recording *input, const struct input_request *request,
			const struct profile_config *config)
{
	struct loading_context loading = { .request = request, .input = input };
	struct count_request count = {
		.config = *config,
		.attributor = input->attributor,
		.profile = input->profile,
		.cpus = request->cpus,
		.threads = request->memory ? 1 : request->threads,
		.watch = request->watch || request->memory ? watch_loaded_profile : NULL,
		.progress = report_loading_progress,
		.ctx = &loading,
	};
	struct recording_error error = { .offset = RECORDING_NO_OFFSET };
	struct recording *recording = NULL;
	struct count_result result;
	int r;

	r = recording_open(request->path, &recording, &error);
	if (r < 0)
		return message_print_recording_error(request->path, r, &error);
	loading.recording = recording;
	input->format = recording_get_format(recording);
	if (!count.threads)
		count.threads = parallel_count_choose_threads(recording);
	progress_begin(&loading.progress, stderr);
	r = parallel_count_samples(recording, &count, &result, &error);
	progress_end(&loading.progress);
	recording_take_functions(recording, &input->functions);
	input->facts = *recording_get_facts(recording);
	input->hardware = result.hardware;
	recording_free(recording);
	input->backend = result.backend;
	if (result.start_ns)
		input->duration_ns = result.end_ns - result.start_ns;
	recording_header_format_summary(input, input->summary, sizeof(input->summary));
	if (r < 0)
		return message_print_replay_error(request->path, r, &error);
	input_check_tables(input, request->path);
	return input_check_suspect_bytes(input, request->path, result.explained);
}

struct input_request input_request_from_options(const struct options *options)
{
	return (struct input_request){
		.path = options->input,
		.cpus = options->cpus_given ? &options->cpus : NULL,
		.midr = options->midr,
		.filter = options->filter,
		.split = query_get_split_flags(&options->query),
		.kallsyms = options->kallsyms,
		.folders = options->folders,
		.threads = options->threads,
	};
}

/* Replace the functions of the kernel with those of a file. Return an &enum verb_exit_status. */
static int input_read_kallsyms(struct input_recording *input, const struct input_request *request)
{
	struct symtab functions;
	int r = kernel_functions_find(request->path, request->kallsyms, &functions);

	if (r < 0)
		return message_fail(
			STATUS_UNREADABLE,
			"--kallsyms %s: %s: want a copy of /proc/kallsyms, made as root "
			"in the boot that was recorded",
			request->kallsyms, strerror(-r));
	symtab_clear(&input->functions);
	input->functions = functions;
	return STATUS_OK;
}

int input_load(const struct input_request *request, struct input_recording *ret_input)
{
	struct attributor_config tasks = { .processes = PROCESSES_MAX,
					   .map_bytes = MAPPINGS_MIB_MAX << 20 };
	struct profile_config config = {
		.skip_memory = !request->memory,
		.midr = request->midr,
		.filter = request->filter,
		.split = request->split,
	};
	int r;

	*ret_input = (struct input_recording){ .folders = request->folders };
	config.nodes = request->memory ? &ret_input->nodes : NULL;
	r = attributor_new(&tasks, &ret_input->attributor);
	if (r == 0)
		r = profile_new(&config, ret_input->attributor, &ret_input->profile);
	if (r < 0)
		return message_fail(STATUS_FAILED, "%s: %s", request->path, strerror(-r));
	r = input_replay(ret_input, request, &config);
	if (request->kallsyms && (r == STATUS_OK || r == STATUS_DAMAGED) &&
	    input_read_kallsyms(ret_input, request))
		return STATUS_UNREADABLE;
	return r;
}

const char *input_get_printed_name(const char *path)
{
	const char *slash;

	if (!path || strcmp(path, "-") == 0)
		return NULL;
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/*
 * A lookup in the table waits for the symbols of a file, because a report is printed once, with all
 * names.
 */
int input_new_symbols(const struct input_recording *input, struct symbols_cache **ret_symbols)
{
	const struct symbols_config config = {
		.budget = SYMBOLS_BUDGET,
		.wait_ms = input->folders.download ? DOWNLOAD_WAIT_MS : SYMBOLS_WAIT_MS,
		.kernel = &input->functions,
		.folders = input->folders,
	};

	return symbols_new(&config, ret_symbols);
}

/* Set the fields of the header that the profile does not have. */
static void header_set_recording_fields(const struct input_recording *input,
					struct view_header *header)
{
	struct attributor_stats stats;

	if (!header->ledgers_unknown)
		header->duration_ns = input->duration_ns;
	snprintf(header->source, sizeof(header->source), "recording");
	attributor_get_stats(input->attributor, &stats);
	header->processes_evicted = stats.processes_evicted;
	header->mappings_dropped = stats.mappings_dropped;
}

void input_get_header(const struct input_recording *input, struct symbols_cache *symbols,
		      struct view_header *ret_header)
{
	struct symbols_stats stats;

	*ret_header = *profile_get_header(input->profile);
	symbols_get_stats(symbols, &stats);
	ret_header->names_pending = stats.pending;
	snprintf(ret_header->names_reason, sizeof(ret_header->names_reason), "%s", stats.reason);
	header_set_recording_fields(input, ret_header);
}

int input_run_query(const struct query_source *source, const struct query *query,
		    struct query_result **ret_result, struct query_error *ret_error)
{
	struct progress progress;
	int r;

	progress_begin(&progress, stderr);
	progress_set(&progress, "reading symbols", 0, 0);
	debug_download_show_in(&progress);
	r = query_run(source, query, ret_result, ret_error);
	debug_download_show_in(NULL);
	progress_end(&progress);
	return r;
}

int input_make_view(struct input_recording *input, enum view_group group, enum view_sort sort,
		    u32 limit, struct view *ret_view)
{
	struct symbols_cache *symbols = NULL;
	struct progress progress;
	struct view view = { 0 };
	int r = input_new_symbols(input, &symbols);

	if (r < 0)
		return r;
	progress_begin(&progress, stderr);
	progress_set(&progress, "reading symbols", 0, 0);
	debug_download_show_in(&progress);
	r = profile_create_view(input->profile, symbols, false, group, sort, limit, &view);
	debug_download_show_in(NULL);
	progress_end(&progress);
	symbols_free(symbols);
	if (r < 0)
		return r;
	header_set_recording_fields(input, &view.header);
	*ret_view = view;
	return 0;
}

void input_deinit(struct input_recording *input)
{
	profile_free(input->profile);
	attributor_free(input->attributor);
	symtab_clear(&input->functions);
	numa_nodes_deinit(&input->nodes);
	*input = (struct input_recording){ 0 };
}
