// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus-profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bus.h"

/**
 * struct bus_profile - one that is being taken
 * @pprof: of the worker's thread
 * @half_usec: half of its time: then names are asked for, to be there in the end
 * @halves: those that are left
 * @fd: where it is written to, in the end
 */
struct bus_profile {
	struct bus *bus;
	sd_bus_message *request;
	sd_event_source *timer;
	struct pprof *pprof;
	struct pprof_facts facts;
	u64 began_ns;
	u64 half_usec;
	unsigned int halves;
	int fd;
};

static u64 now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

static int profile_begin(struct worker_state *state, void *arg)
{
	struct session *session = worker_session(state, NULL);
	struct bus_profile *profile = arg;

	/* What was sampled before is not of these seconds. */
	worker_drain(state, session);
	profile->facts.start_ns = now_ns(CLOCK_REALTIME);
	profile->began_ns = now_ns(CLOCK_MONOTONIC);
	profile->facts.backend = session->feed->source->backend;
	return pprof_new(session->profile, state->attributor, true, &profile->pprof);
}

static int profile_finish(struct worker_state *state, void *arg)
{
	struct bus_profile *profile = arg;

	worker_drain(state, worker_session(state, NULL));
	profile->facts.duration_ns = now_ns(CLOCK_MONOTONIC) - profile->began_ns;
	return pprof_write(profile->pprof, state->symbols, &profile->facts, profile->fd);
}

static int profile_ask(struct worker_state *state, void *arg)
{
	struct bus_profile *profile = arg;

	worker_drain(state, worker_session(state, NULL));
	pprof_ask(profile->pprof, state->symbols);
	return 0;
}

static int profile_drop(struct worker_state *state __attribute__((unused)), void *arg)
{
	struct bus_profile *profile = arg;

	profile->pprof = pprof_free(profile->pprof);
	return 0;
}

static void bus_profile_free(struct bus_profile *profile)
{
	struct bus *bus = profile->bus;

	for (unsigned int i = 0; i < PPROF_AT_ONCE; i++)
		if (bus->profiles[i] == profile)
			bus->profiles[i] = NULL;
	worker_call(bus->worker, profile_drop, profile);
	sd_event_source_unref(profile->timer);
	sd_bus_message_unref(profile->request);
	if (profile->fd >= 0)
		close(profile->fd);
	free(profile);
}

void bus_profiles_end(struct bus *bus)
{
	for (unsigned int i = 0; i < PPROF_AT_ONCE; i++)
		if (bus->profiles[i])
			bus_profile_free(bus->profiles[i]);
}

/* Written and sealed, ready to be sent. */
static int profile_seal(struct bus_profile *profile)
{
	int r;

	profile->fd = memfd_create("speprof-pprof", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (profile->fd < 0)
		return -errno;
	r = worker_call(profile->bus->worker, profile_finish, profile);
	if (r < 0)
		return r;
	if (lseek(profile->fd, 0, SEEK_SET) < 0 ||
	    fcntl(profile->fd, F_ADD_SEALS,
		  F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return -errno;
	return 0;
}

static int on_half(sd_event_source *source, uint64_t now __attribute__((unused)), void *userdata)
{
	struct bus_profile *profile = userdata;
	int r;

	if (--profile->halves) {
		worker_call(profile->bus->worker, profile_ask, profile);
		r = sd_event_source_set_time_relative(source, profile->half_usec);
		return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	}
	r = profile_seal(profile);
	if (r >= 0)
		sd_bus_reply_method_return(profile->request, "hs", profile->fd,
					   profile->facts.backend == BACKEND_EMULATED ? "emulated" :
					   profile->facts.backend == BACKEND_HARDWARE ? "hardware" :
											"unknown");
	else
		sd_bus_reply_method_errnof(profile->request, r, "The profile could not be made: %m.");
	bus_profile_free(profile);
	return 0;
}

static int bus_profile_new(struct bus *bus, sd_bus_message *request, u32 seconds,
			   struct bus_profile **ret_profile)
{
	struct bus_profile *profile = calloc(1, sizeof(*profile));
	int r;

	if (!profile)
		return -ENOMEM;
	*profile = (struct bus_profile){
		.bus = bus,
		.half_usec = seconds * 500000ULL,
		.halves = 2,
		.fd = -1,
	};
	profile->request = sd_bus_message_ref(request);
	r = worker_call(bus->worker, profile_begin, profile);
	if (r >= 0)
		r = sd_event_add_time_relative(sd_bus_get_event(bus->bus), &profile->timer,
					       CLOCK_MONOTONIC, profile->half_usec, 0, on_half,
					       profile);
	if (r < 0) {
		bus_profile_free(profile);
		return r;
	}
	*ret_profile = profile;
	return 0;
}

int bus_dump_profile(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus *bus = userdata;
	unsigned int place = 0;
	u32 seconds;
	int r;

	r = sd_bus_message_read(message, "u", &seconds);
	if (r < 0)
		return r;
	if (!seconds || seconds > PPROF_SECONDS)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "seconds %u: should be 1 to %u.", seconds, PPROF_SECONDS);
	while (place < PPROF_AT_ONCE && bus->profiles[place])
		place++;
	if (place == PPROF_AT_ONCE)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "%u profiles are being taken already.", PPROF_AT_ONCE);
	r = bus_profile_new(bus, message, seconds, &bus->profiles[place]);
	return r < 0 ? r : 1;
}
