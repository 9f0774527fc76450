// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pprof-collection.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bus-core.h"
#include "message-limits.h"
#include "name-watch.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/time.h"

/* maximum number of patterns in a list of containers, and of bytes of a pattern with its NUL */
#define PATTERNS     64
#define PATTERN_SIZE 128

/**
 * struct profile_request - arguments of DumpProfile
 * @seconds: duration of sampling, 1 to PPROF_SECONDS_MAX
 * @allow: patterns of containers to include, NULL-terminated; NULL: all
 * @deny: patterns of containers to exclude, NULL-terminated; NULL: none
 */
struct profile_request {
	u32 seconds;
	char **allow;
	char **deny;
};

/**
 * struct bus_profile - a profile that is being collected
 * @caller: the sender; each user may have %PPROF_PER_USER_MAX profiles at once
 * @peer: watches the sender; the profile is dropped when the sender disconnects
 * @pprof: the samples; used on the worker's thread
 * @half_usec: half of the duration, in µs. Names are requested after the first half, so that they
 * are known at the end
 * @halves: number of halves of the duration that remain
 * @bytes: bytes of the memory budget that the profile uses
 * @wanted: if the memory budget is too small for the profile, the MemoryBudget= that would suffice
 * @fd: file to which the profile is written at the end
 */
struct bus_profile {
	struct bus_service *bus;
	sd_bus_message *request;
	sd_event_source *timer;
	struct pprof *pprof;
	struct pprof_metadata metadata;
	struct pprof_filter filter;
	struct profile_request options;
	struct bus_caller caller;
	struct name_watch peer;
	u64 began_ns;
	u64 half_usec;
	unsigned int halves;
	u64 bytes;
	u64 wanted;
	int fd;
};

static int profile_begin(struct worker_state *state, void *arg)
{
	struct session *session = worker_find_session(state, NULL);
	struct bus_profile *profile = arg;
	struct pprof_limits limits = { 0 };
	u64 left = worker_get_free_bytes(state);
	int r;

	if (state->plan.budget && !budget_limit_pprof(left, &limits)) {
		profile->wanted = budget_compute_pprof_needed(
			&state->plan, state->plan.share[MEMORY_SESSIONS] - left);
		return -EDQUOT;
	}
	/* Drain first, because samples from before the start must not be counted. */
	worker_drain_session(state, session);
	profile->metadata.start_ns = time_clock_ns(CLOCK_REALTIME);
	profile->began_ns = time_now_ns();
	profile->metadata.backend = session->shared_source->source->backend;
	r = pprof_new(session->profile, state->attributor, true,
		      state->plan.budget ? &limits : NULL, &profile->pprof);
	if (r >= 0 && state->plan.budget)
		profile->bytes = pprof_get_max_bytes(&limits);
	state->profile_bytes += profile->bytes;
	return r;
}

static int profile_finish(struct worker_state *state, void *arg)
{
	struct bus_profile *profile = arg;

	worker_drain_session(state, worker_find_session(state, NULL));
	profile->metadata.duration_ns = time_now_ns() - profile->began_ns;
	return pprof_write(profile->pprof, state->symbols, &profile->metadata, profile->fd);
}

static int request_names(struct worker_state *state, void *arg)
{
	struct bus_profile *profile = arg;

	worker_drain_session(state, worker_find_session(state, NULL));
	pprof_request_names(profile->pprof, state->symbols);
	return 0;
}

static int profile_drop(struct worker_state *state, void *arg)
{
	struct bus_profile *profile = arg;

	state->profile_bytes -= profile->bytes;
	profile->pprof = pprof_free(profile->pprof);
	return 0;
}

static void request_clear(struct profile_request *request)
{
	bus_strings_free(request->allow);
	bus_strings_free(request->deny);
	*request = (struct profile_request){ 0 };
}

static void bus_profile_free(struct bus_profile *profile)
{
	struct bus_service *bus = profile->bus;

	for (unsigned int i = 0; i < PPROF_CONCURRENT_MAX; i++)
		if (bus->profiles[i] == profile)
			bus->profiles[i] = NULL;
	worker_call(bus->worker, profile_drop, profile);
	name_watch_stop(&profile->peer);
	request_clear(&profile->options);
	sd_event_source_unref(profile->timer);
	sd_bus_message_unref(profile->request);
	if (profile->fd >= 0)
		close(profile->fd);
	free(profile);
}

void bus_drop_profiles(struct bus_service *bus)
{
	for (unsigned int i = 0; i < PPROF_CONCURRENT_MAX; i++)
		if (bus->profiles[i])
			bus_profile_free(bus->profiles[i]);
}

/* Write the profile to profile->fd and seal it. */
static int write_sealed_profile(struct bus_profile *profile)
{
	int r;

	profile->fd = memory_file_new("speprof-pprof");
	if (profile->fd < 0)
		return profile->fd;
	r = worker_call(profile->bus->worker, profile_finish, profile);
	return r < 0 ? r : memory_file_seal(profile->fd);
}

static int finish_half(struct bus_profile *profile, sd_event_source *source)
{
	int r;

	if (--profile->halves) {
		worker_call(profile->bus->worker, request_names, profile);
		r = sd_event_source_set_time_relative(source, profile->half_usec);
		return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	}
	r = write_sealed_profile(profile);
	if (r >= 0)
		sd_bus_reply_method_return(
			profile->request, "hs", profile->fd,
			profile->metadata.backend == BACKEND_EMULATED ? "emulated" :
			profile->metadata.backend == BACKEND_HARDWARE ? "hardware" :
									"unknown");
	else
		sd_bus_reply_method_errnof(profile->request, r,
					   "The profile could not be collected: %m.");
	bus_profile_free(profile);
	return 0;
}

static int on_half_timer(sd_event_source *source, uint64_t now __attribute__((unused)),
			 void *userdata)
{
	return finish_half(userdata, source);
}

static void on_caller_lost(void *ctx)
{
	struct bus_profile *profile = ctx;

	log_line(LOG_NOTICE,
		 "the collection of a profile of %u s is cancelled: the client (uid %u) closed its "
		 "connection",
		 profile->options.seconds, (unsigned int)profile->caller.uid);
	bus_profile_free(profile);
}

/* Start a profile. The function owns the lists in @options, also on failure. */
static int bus_profile_new(struct bus_service *bus, sd_bus_message *message,
			   struct profile_request *options, struct bus_profile **ret_profile,
			   sd_bus_error *error)
{
	struct bus_profile *profile = calloc(1, sizeof(*profile));
	int r;

	if (!profile) {
		request_clear(options);
		return -ENOMEM;
	}
	*profile = (struct bus_profile){
		.bus = bus,
		.filter = { .allow = options->allow, .deny = options->deny },
		.options = *options,
		.caller = bus->caller,
		.half_usec = options->seconds * 500000ULL,
		.halves = 2,
		.fd = -1,
	};
	/* Without lists every sample counts, including those of unknown containers. */
	if ((options->allow && *options->allow) || (options->deny && *options->deny))
		profile->metadata.filter = &profile->filter;
	profile->request = sd_bus_message_ref(message);
	r = name_watch_start(&profile->peer, bus->bus, sd_bus_message_get_sender(message),
			     on_caller_lost, profile);
	if (r >= 0)
		r = worker_call(bus->worker, profile_begin, profile);
	if (r >= 0)
		r = sd_event_add_time_relative(sd_bus_get_event(bus->bus), &profile->timer,
					       CLOCK_MONOTONIC, profile->half_usec, 0,
					       on_half_timer, profile);
	if (r == -EDQUOT)
		sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
				  "A profile would exceed MemoryBudget=: set MemoryBudget=%lluM or more, "
				  "or remove sessions.",
				  (unsigned long long)profile->wanted >> 20);
	if (r < 0) {
		bus_profile_free(profile);
		return r;
	}
	*ret_profile = profile;
	return 0;
}

/* ---- The methods ------------------------------------------------------------- */

/* Find a free entry, if the limits of all users and of the caller's user allow one more. */
static int find_slot(const struct bus_service *bus, unsigned int *ret_slot, sd_bus_error *error)
{
	unsigned int of_user = 0, slot = PPROF_CONCURRENT_MAX;

	for (unsigned int i = 0; i < PPROF_CONCURRENT_MAX; i++) {
		if (!bus->profiles[i])
			slot = i;
		else if (bus->profiles[i]->caller.uid == bus->caller.uid)
			of_user++;
	}
	if (of_user >= PPROF_PER_USER_MAX)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "%u profiles are already being collected for user %u. "
					 "Retry when one of them is complete.",
					 of_user, (unsigned int)bus->caller.uid);
	if (slot == PPROF_CONCURRENT_MAX)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "%u profiles are already being collected. Retry when one "
					 "of them is complete.",
					 PPROF_CONCURRENT_MAX);
	*ret_slot = slot;
	return 0;
}

static int collect_profile(struct bus_service *bus, sd_bus_message *message,
			   struct profile_request *options, sd_bus_error *error)
{
	unsigned int slot = 0;
	int r = 0;

	if (!options->seconds || options->seconds > PPROF_SECONDS_MAX)
		r = sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
				      "seconds %u: should be 1 to %u.", options->seconds,
				      PPROF_SECONDS_MAX);
	if (r >= 0)
		r = find_slot(bus, &slot, error);
	if (r < 0) {
		request_clear(options);
		return r;
	}
	r = bus_profile_new(bus, message, options, &bus->profiles[slot], error);
	return r < 0 ? r : 1;
}

int bus_handle_dump_profile(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct profile_request options = { 0 };
	int r = sd_bus_message_read(message, "u", &options.seconds);

	return r < 0 ? r : collect_profile(userdata, message, &options, error);
}

/* Read the option @key, a list of patterns. A second list for a key is an error. */
static int read_patterns(sd_bus_message *m, const char *key, char ***ret_list, sd_bus_error *error)
{
	size_t n = 0;
	int r;

	if (*ret_list)
		return bus_set_invalid_argument(error, "option", key, "given once");
	r = sd_bus_message_enter_container(m, 'v', "as");
	if (r >= 0)
		r = bus_read_strings(m, PATTERNS, ret_list);
	if (r == -E2BIG)
		return bus_set_invalid_argument(
			error, key, "...",
			"one of at most 64 patterns of less than 128 bytes each");
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	for (; r >= 0 && (*ret_list)[n]; n++)
		if (strlen((*ret_list)[n]) >= PATTERN_SIZE)
			return bus_set_invalid_argument(
				error, key, (*ret_list)[n],
				"one of at most 64 patterns of less than 128 bytes each");
	return r;
}

static int read_options(sd_bus_message *m, struct profile_request *options, sd_bus_error *error)
{
	const char *key;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &key);
		if (r < 0)
			break;
		if (!strcmp(key, "Allow"))
			r = read_patterns(m, key, &options->allow, error);
		else if (!strcmp(key, "Deny"))
			r = read_patterns(m, key, &options->deny, error);
		else
			return bus_set_invalid_argument(error, "option", key, "Allow or Deny");
		if (r == -ENXIO)
			return bus_set_invalid_argument(error, "option", key, "a list of strings");
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r;
}

int bus_handle_dump_profile_with_options(sd_bus_message *message, void *userdata,
					 sd_bus_error *error)
{
	struct profile_request options = { 0 };
	int r;

	r = sd_bus_message_read(message, "u", &options.seconds);
	if (r >= 0)
		r = read_options(message, &options, error);
	if (r < 0) {
		request_clear(&options);
		return r;
	}
	return collect_profile(userdata, message, &options, error);
}
