// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof metrics: what DumpMetrics would answer of a machine that sampled a recording.
 * speprof-exporter --snapshot reads it: a machine for tests of a fleet.
 */
#include "metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "input.h"
#include "profile-metrics.h"
#include "say.h"
#include "speprof-version.h"

/* To a name beside it first, so that a reader never sees half of it. */
static int write_file(const char *path, int from)
{
	char other[4096], bytes[65536];
	ssize_t n;
	off_t at = 0;
	FILE *f;

	if (snprintf(other, sizeof(other), "%s.new", path) >= (int)sizeof(other))
		return -ENAMETOOLONG;
	f = fopen(other, "we");
	if (!f)
		return -errno;
	while ((n = pread(from, bytes, sizeof(bytes), at)) > 0) {
		if (fwrite(bytes, 1, (size_t)n, f) != (size_t)n)
			break;
		at += n;
	}
	if (fclose(f) || n) {
		unlink(other);
		return -EIO;
	}
	return rename(other, path) < 0 ? -errno : 0;
}

static int dump(struct input *input, const char *path)
{
	struct metrics metrics = { 0 };
	int fd, r;

	r = profile_metrics(input->profile, input->attributor, &metrics);
	if (r < 0)
		return r;
	/* The same for each dump of a machine, whose counters only grow. */
	metrics.machine.epoch = 1;
	metrics.machine.process = 1;
	metrics.machine.backend = input->backend;
	metrics.machine.age_ns = metrics.machine.enabled_ns;
	snprintf(metrics.machine.version, sizeof(metrics.machine.version), "%s", SPEPROF_VERSION);
	snprintf(metrics.machine.source, sizeof(metrics.machine.source), "recording");
	fd = metrics_dump(&metrics);
	metrics_clear(&metrics);
	if (fd < 0)
		return fd;
	r = write_file(path, fd);
	close(fd);
	return r;
}

int metrics_run(int argc, char **argv)
{
	struct input input;
	int status, r;

	if (argc != 3)
		return say_fail(STATUS_USAGE, "metrics: a recording and a file for its metrics are wanted");
	status = input_load(argv[1], NULL, 0, NULL, &input);
	if (status == STATUS_OK || status == STATUS_DAMAGED) {
		r = dump(&input, argv[2]);
		if (r < 0)
			status = say_fail(STATUS_FAILED, "%s: %s", argv[2], strerror(-r));
	}
	input_deinit(&input);
	return status;
}
