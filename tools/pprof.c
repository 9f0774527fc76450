// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprof pprof: write a profile in the format of pprof, from a recording or from the daemon. */
#include "output/pprof.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/bus.h"
#include "lib/input.h"
#include "lib/message.h"
#include "lib/output.h"
#include "lib/parallel-count.h"
#include "verb.h"

#define DEFAULT_SECONDS 10

struct request {
	const char *input;
	const char *output;
	u32 seconds;
	u32 threads;
};

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "seconds", required_argument, NULL, 's' },
	{ "threads", required_argument, NULL, 't' },
	{ NULL, 0, NULL, 0 },
};

static bool parse_seconds(const char *text, u32 *ret_seconds)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || end == text || *end || n < 1 || n > PPROF_SECONDS)
		return false;
	*ret_seconds = (u32)n;
	return true;
}

static int request_parse(int argc, char **argv, struct request *ret_request)
{
	struct request request = { .seconds = DEFAULT_SECONDS };
	int letter, r;

	opterr = 0;
	optind = 0;
	while ((letter = getopt_long(argc, argv, "i:o:", long_options, NULL)) != -1) {
		if (letter == 'i')
			request.input = optarg;
		else if (letter == 'o')
			request.output = optarg;
		else if (letter == 't' &&
			 (r = options_parse_threads("pprof", optarg, &request.threads)) != 0)
			return r;
		else if (letter != 's' && letter != 't')
			return message_fail(
				STATUS_USAGE,
				"pprof: \"%s\": should be -i FILE, -o FILE or --seconds N",
				argv[optind - 1]);
		else if (!parse_seconds(optarg, &request.seconds))
			return message_fail(STATUS_USAGE, "pprof: --seconds %s: should be 1 to %u",
					    optarg, PPROF_SECONDS);
	}
	if (optind < argc)
		return message_fail(STATUS_USAGE, "pprof: unexpected argument \"%s\"",
				    argv[optind]);
	if (!request.output)
		return message_fail(STATUS_USAGE, "pprof: needs -o FILE, such as -o profile.pb.gz");
	*ret_request = request;
	return STATUS_OK;
}

/** struct observers - what the threads count; @count of @pprof, NULL without memory */
struct observers {
	struct input *input;
	struct pprof *pprof[COUNT_THREADS];
	u32 count;
};

/* Start counting the samples of one thread, before the first one. */
static int observe(void *ctx, struct profile *profile)
{
	struct observers *observers = ctx;
	int r = pprof_new(profile, observers->input->attributor, false, NULL,
			  &observers->pprof[observers->count]);

	observers->count += r >= 0;
	return r;
}

static int report_failure(const struct request *request, int r)
{
	return message_fail(STATUS_FAILED, "%s: %s", request->output, strerror(-r));
}

/* Add up what the threads have counted, and write it. */
static int observers_write(struct observers *observers, const struct request *request,
			   struct symbols *symbols)
{
	const struct pprof_metadata facts = { .backend = observers->input->backend };
	struct pprof *pprof = observers->pprof[0];
	struct output output = OUTPUT_NONE;
	int r = 0;

	for (u32 i = 1; i < observers->count && r >= 0; i++)
		r = pprof_merge(pprof, observers->pprof[i]);
	if (r >= 0)
		r = output_open(request->output, 0644, &output);
	if (r >= 0)
		r = pprof_write(pprof, symbols, &facts, output.fd);
	if (r >= 0)
		r = output_commit(&output);
	output_drop(&output);
	return r;
}

static int pprof_recording(const struct request *request)
{
	struct input input;
	struct observers observers = { .input = &input };
	const struct input_request recording = {
		.path = request->input,
		.threads = request->threads,
		.watch = observe,
		.ctx = &observers,
	};
	struct symbols *symbols = NULL;
	int r, status;

	status = input_load(&recording, &input);
	/* A damaged recording also gives a profile; @status reports the damage. */
	if (observers.count && (status == STATUS_OK || status == STATUS_DAMAGED)) {
		r = input_symbols(&input, &symbols);
		if (r >= 0)
			r = observers_write(&observers, request, symbols);
		if (r < 0)
			status = report_failure(request, r);
	}
	symbols_free(symbols);
	for (u32 i = 0; i < observers.count; i++)
		pprof_free(observers.pprof[i]);
	input_deinit(&input);
	return status;
}

static int pprof_daemon(const struct request *request)
{
	struct bus *bus;
	int status = bus_new(&bus), profile, r;

	if (status)
		return status;
	status = bus_profile(bus, request->seconds, &profile);
	bus_free(bus);
	if (status)
		return status;
	r = output_write(request->output, 0644, profile);
	close(profile);
	return r < 0 ? report_failure(request, r) : STATUS_OK;
}

int pprof_run(int argc, char **argv)
{
	struct request request = { 0 };
	int r, status = request_parse(argc, argv, &request);

	if (status || !request.output)
		return status;
	/* Report a file that cannot be written before waiting for the profile. */
	r = output_check(request.output);
	if (r < 0)
		return report_failure(&request, r);
	return request.input ? pprof_recording(&request) : pprof_daemon(&request);
}
