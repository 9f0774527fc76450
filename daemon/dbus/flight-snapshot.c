// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implement the method Snapshot: the last windows of a session as a recording. Records contain
 * addresses.
 */
#include "objects.h"

#include <errno.h>
#include <unistd.h>

#include "attribution/attributor.h"
#include "attribution/procfs.h"
#include "profile/cache-lines.h"
#include "profile/profile-read.h"
#include "recording/recorder.h"
#include "util/memory.h"

/** struct snapshot_request - argument of write_snapshot(); the caller finishes @recorder */
struct snapshot_request {
	const char *session;
	struct recorder *recorder;
	int fd;
};

/*
 * Write the snapshot from the tables of the worker only, because reading /proc here would delay the
 * drains.
 */
static int write_snapshot(struct worker_state *state, void *arg)
{
	struct snapshot_request *snapshot = arg;
	struct session *session = worker_find_session(state, snapshot->session);
	struct recorder_config config = {
		.format = RECORDER_NATIVE,
		.command = "speprofd: the last windows of a session",
	};
	struct source_sink sink;
	int r;

	if (!session)
		return -ENOENT;
	if (!session->flight)
		return -EOPNOTSUPP;
	worker_drain_session(state, session);
	config.backend = session->shared_source->source->backend;
	config.cpus = session->shared_source->source->cpus;
	config.line_size = hot_lines_get_size(profile_get_hot_lines(session->profile));
	config.nodes = session->nodes;
	r = recorder_new(snapshot->fd, &config, &snapshot->recorder);
	if (r < 0)
		return r;
	sink = recorder_make_sink(snapshot->recorder);
	r = attributor_export_tasks(state->attributor, &sink);
	if (r >= 0)
		flight_recorder_replay(session->flight, &sink);
	return r;
}

/*
 * Finish the recording. This runs on the main thread, because it reads /proc/kallsyms for the
 * mapping of the kernel.
 */
static int finish_snapshot(struct snapshot_request *snapshot)
{
	const struct source_sink sink = recorder_make_sink(snapshot->recorder);
	int r;

	procfs_scan_kernel(&sink, 0);
	r = recorder_finish(snapshot->recorder);
	return r < 0 ? r : memory_file_seal(snapshot->fd);
}

int bus_handle_snapshot(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus_service *bus = userdata;
	char session[SESSION_NAME_SIZE];
	struct snapshot_request snapshot = { .session = session };
	int r;

	bus_path_to_session_name(sd_bus_message_get_path(message), session);
	snapshot.fd = memory_file_new("speprof-snapshot");
	if (snapshot.fd < 0)
		return snapshot.fd;
	r = worker_call(bus->worker, write_snapshot, &snapshot);
	if (r >= 0)
		r = finish_snapshot(&snapshot);
	recorder_free(snapshot.recorder);
	if (r >= 0)
		r = sd_bus_reply_method_return(message, "h", snapshot.fd);
	else
		r = bus_set_session_error(error, r, session,
					  r == -EOPNOTSUPP ?
						  "it has no buffer of recent windows: "
						  "create a session with BufferSize, e.g. "
						  "by \"session create NAME --buffer 2M\"" :
						  NULL);
	close(snapshot.fd);
	return r;
}
