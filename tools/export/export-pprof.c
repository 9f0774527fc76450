// SPDX-License-Identifier: LGPL-2.1-or-later
#include "export-pprof.h"

#include <string.h>
#include <unistd.h>

#include "lib/bus.h"
#include "lib/input.h"
#include "lib/message.h"
#include "lib/output.h"
#include "lib/parallel-count.h"
#include "output/pprof.h"

#define DEFAULT_SECONDS 10

/**
 * struct pprof_observers - what the threads count
 * @input: the recording
 * @pprof: the table of each thread; @count is their number
 */
struct pprof_observers {
	struct input_recording *input;
	struct pprof *pprof[COUNT_THREADS_MAX];
	u32 count;
};

/* Start counting the samples of one thread, before the first one. */
static int observe_profile(void *ctx, struct profile *profile)
{
	struct pprof_observers *observers = ctx;
	int r = pprof_new(profile, observers->input->attributor, false, NULL,
			  &observers->pprof[observers->count]);

	observers->count += r >= 0;
	return r;
}

static int report_failure(const struct options *options, int r)
{
	return message_fail(STATUS_FAILED, "%s: %s", options->output, strerror(-r));
}

/* Add up the counters of all threads, and write the profile. */
static int observers_write(struct pprof_observers *observers, const struct options *options,
			   struct symbols_cache *symbols)
{
	const struct pprof_metadata facts = { .backend = observers->input->backend };
	struct pprof *pprof = observers->pprof[0];
	struct output_file output = OUTPUT_NONE;
	int r = 0;

	for (u32 i = 1; i < observers->count && r >= 0; i++)
		r = pprof_merge(pprof, observers->pprof[i]);
	if (r >= 0)
		r = output_open(options->output, 0644, &output);
	if (r >= 0)
		r = pprof_write(pprof, symbols, &facts, output.fd);
	if (r >= 0)
		r = output_commit(&output);
	output_drop(&output);
	return r;
}

static int export_recording_as_pprof(const struct options *options)
{
	struct input_request request = input_request_from_options(options);
	struct input_recording input;
	struct pprof_observers observers = { .input = &input };
	struct symbols_cache *symbols = NULL;
	int r, status;

	request.watch = observe_profile;
	request.ctx = &observers;
	status = input_load(&request, &input);
	/* A damaged recording is converted, too; @status reports the damage. */
	if (observers.count && (status == STATUS_OK || status == STATUS_DAMAGED)) {
		r = input_new_symbols(&input, &symbols);
		if (r >= 0)
			r = observers_write(&observers, options, symbols);
		if (r < 0)
			status = report_failure(options, r);
	}
	symbols_free(symbols);
	for (u32 i = 0; i < observers.count; i++)
		pprof_free(observers.pprof[i]);
	input_deinit(&input);
	return status;
}

static int export_daemon_as_pprof(const struct options *options)
{
	struct bus_connection *bus;
	int status = bus_new(&bus), profile, r;

	if (status)
		return status;
	status =
		bus_get_pprof(bus, options->seconds ? options->seconds : DEFAULT_SECONDS, &profile);
	bus_free(bus);
	if (status)
		return status;
	r = output_write_from_fd(options->output, 0644, profile);
	close(profile);
	return r < 0 ? report_failure(options, r) : STATUS_OK;
}

int export_pprof(const struct options *options)
{
	return options->input ? export_recording_as_pprof(options) :
				export_daemon_as_pprof(options);
}
