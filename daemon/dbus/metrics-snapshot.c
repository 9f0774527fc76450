// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics-snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "bus-core.h"
#include "engine/rate-control.h"
#include "output/profile-metrics.h"
#include "speprof-version.h"

static void metrics_set_machine(const struct worker_state *state, const struct session *session,
				struct metrics_machine *m)
{
	struct view_header header = { 0 };
	struct attributor_stats stats;

	session_fill_header(session, &header);
	rate_control_fill_header(state, &header);
	attributor_get_stats(state->attributor, &stats);
	m->epoch = session->epoch;
	m->process = state->process_id;
	m->age_ns = header.duration_ns;
	snprintf(m->version, sizeof(m->version), "%s", SPEPROF_VERSION);
	snprintf(m->source, sizeof(m->source), "%s", header.source);
	snprintf(m->tasks, sizeof(m->tasks), "%s", task_events_name(state->task_status.kind));
	m->backend = header.backend;
	m->running = header.running;
	m->cpus = header.cpus;
	m->cpus_stopped = header.cpus_stopped;
	m->interval_ns = header.interval_mean_ns;
	m->threads_evicted = stats.threads_evicted;
	m->processes_evicted = stats.processes_evicted;
	m->containers_evicted = stats.containers_evicted;
	m->containers_overflow = stats.containers_overflow;
	m->mappings_dropped = stats.mappings_dropped;
	m->events_lost = stats.events_lost;
	m->mappings_lost = stats.mappings_lost;
	m->lookups_unanswered = stats.unanswered;
	m->faults = header.faults;
	m->throttles = header.throttles;
	m->unread = header.unread;
	m->cpu_ns = header.cost_ns;
	m->memory = header.memory;
}

int bus_read_metrics(struct worker_state *state, void *arg)
{
	struct session *session = worker_find_session(state, NULL);
	struct metrics_snapshot *metrics = arg;
	int r;

	worker_drain_session(state, session);
	r = profile_get_metrics(session->profile, state->attributor, metrics);
	if (r >= 0)
		metrics_set_machine(state, session, &metrics->machine);
	return r;
}

int bus_handle_dump_metrics(sd_bus_message *message, void *userdata,
			    sd_bus_error *error __attribute__((unused)))
{
	struct metrics_snapshot metrics = { 0 };
	struct bus_service *bus = userdata;
	int fd, r;

	r = worker_call_readonly(bus->worker, bus_read_metrics, &metrics);
	if (r < 0)
		return r;
	bus_add_answer_rows(bus, metrics.count);
	fd = metrics_dump_to_memfd(&metrics);
	metrics_clear(&metrics);
	if (fd < 0)
		return fd;
	r = sd_bus_reply_method_return(message, "h", fd);
	close(fd);
	return r;
}
