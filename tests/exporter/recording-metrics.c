// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write the reply of DumpMetrics for a machine that sampled a recording. speprof-exporter reads it
 * as the reply of one machine of a fleet.
 *
 * usage: recording-metrics RECORDING FILE
 */
#include "output/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/input.h"
#include "lib/message.h"
#include "lib/output.h"
#include "output/profile-metrics.h"
#include "speprof-version.h"

static int write_metrics_of_recording(struct input_recording *input, const char *path)
{
	struct metrics_snapshot metrics = { 0 };
	int fd, r;

	r = profile_get_metrics(input->profile, input->attributor, &metrics);
	if (r < 0)
		return r;
	/*
	 * All files describe one daemon: its counters grow from one file to the next. An emulated
	 * recording has one container, "none". Its ID is random in each run of this program.
	 */
	for (u32 i = 0; i < metrics.count; i++)
		metrics.containers[i].id = i + 1;
	metrics.machine.epoch = 1;
	metrics.machine.process = 1;
	metrics.machine.backend = input->backend;
	if (metrics.machine.enabled_ns != UINT64_MAX)
		metrics.machine.age_ns = metrics.machine.enabled_ns;
	snprintf(metrics.machine.version, sizeof(metrics.machine.version), "%s", SPEPROF_VERSION);
	snprintf(metrics.machine.source, sizeof(metrics.machine.source), "recording");
	fd = metrics_dump_to_memfd(&metrics);
	metrics_clear(&metrics);
	if (fd < 0)
		return fd;
	r = output_write_from_fd(path, 0666, fd);
	close(fd);
	return r;
}

int main(int argc, char **argv)
{
	struct input_request request = { 0 };
	struct input_recording input;
	int status, r;

	if (argc != 3) {
		fprintf(stderr, "usage: recording-metrics RECORDING FILE\n");
		return STATUS_USAGE;
	}
	request.path = argv[1];
	status = input_load(&request, &input);
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		r = write_metrics_of_recording(&input, argv[2]);
		if (r < 0)
			status = message_fail(STATUS_FAILED, "%s: %s", argv[2], strerror(-r));
	}
	input_deinit(&input);
	return status;
}
