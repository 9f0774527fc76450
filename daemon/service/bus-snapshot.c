// SPDX-License-Identifier: LGPL-2.1-or-later
/* The last windows of a session, as a recording: raw records, with addresses. */
#include "bus-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record-tasks.h"
#include "recorder.h"

struct snapshot {
	const char *session;
	int fd;
};

/* Tasks as they are now, said to have been so before the oldest window: who is gone is not known. */
static int write_snapshot(struct session *session, struct recorder *recorder)
{
	const struct source_sink sink = recorder_sink(recorder);
	u64 first = flight_first_ns(session->flight);
	int r = record_tasks(&sink, first ? first - 1 : 0);

	if (r < 0)
		return r;
	flight_replay(session->flight, &sink);
	return recorder_finish(recorder);
}

static int take_snapshot(struct worker_state *state, void *arg)
{
	struct snapshot *snapshot = arg;
	struct session *session = worker_session(state, snapshot->session);
	struct recorder_config config = {
		.format = RECORDER_OWN,
		.command = "speprofd: the last windows of a session",
	};
	struct recorder *recorder;
	int r;

	if (!session)
		return -ENOENT;
	if (!session->flight)
		return -EOPNOTSUPP;
	worker_drain(state, session);
	config.backend = session->feed->source->backend;
	config.cpus = session->feed->source->cpus;
	r = recorder_new(snapshot->fd, &config, &recorder);
	if (r < 0)
		return r;
	r = write_snapshot(session, recorder);
	recorder_free(recorder);
	return r;
}

int bus_snapshot(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus *bus = userdata;
	char session[SESSION_NAME_SIZE];
	struct snapshot snapshot = { .session = session };
	int r;

	bus_session_of(sd_bus_message_get_path(message), session);
	snapshot.fd = memfd_create("speprof-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (snapshot.fd < 0)
		return -errno;
	r = worker_call(bus->worker, take_snapshot, &snapshot);
	if (r >= 0 && (lseek(snapshot.fd, 0, SEEK_SET) < 0 ||
		       fcntl(snapshot.fd, F_ADD_SEALS,
			     F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0))
		r = -EIO;
	if (r >= 0)
		r = sd_bus_reply_method_return(message, "h", snapshot.fd);
	else
		r = bus_session_error(
			error, r, session,
			r == -EOPNOTSUPP ? "it keeps no windows: make one with BufferSize" : NULL);
	close(snapshot.fd);
	return r;
}
