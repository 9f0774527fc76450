// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Emit signals for faults, throttling, false sharing, and containers that were added or removed.
 * The daemon polls for them once a second. At most AT_ONCE signals of a kind are sent in a period.
 * The next signal of that kind contains the number of signals that were left out.
 */
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup-owner.h"
#include "objects.h"
#include "sharing-signals.h"

#define PERIOD_US 1000000ULL
/* maximum number of signals of a kind in one period */
#define AT_ONCE 10U
/* number of periods between two checks of whether the cgroups of known containers exist */
#define RESCAN_PERIODS 2U

/**
 * struct known_container - a container for which ContainerAdded was sent
 * @exists: true if its cgroup exists
 * @path: path of the cgroup, escaped, as signals contain it
 * @cgroup: path of the cgroup, unescaped
 */
struct known_container {
	u32 generation;
	bool exists;
	char *name;
	char *runtime;
	char *path;
	char *cgroup;
};

enum signal_kind { KIND_FAULT, KIND_THROTTLED, KIND_ADDED, KIND_REMOVED, KINDS };

/**
 * struct queued_signal - a signal about a container that will be sent; @known has copies of the
 * strings
 */
struct queued_signal {
	enum signal_kind kind;
	u64 left;
	struct known_container known;
};

/**
 * struct signal_watch - state of polling
 * @health: counters of the source in the last period
 * @known: known containers, at the indices of the attributor's table of containers
 * @left: number of signals left out since the last one was sent, indexed by kind
 * @sent: number of signals sent in this period, indexed by kind
 * @sharing: state of the signal FalseSharing
 * @queued, @queued_count: signals that the worker's thread found, and the main thread sends
 * @quiet: true in the first period, in which no signal is sent
 */
struct signal_watch {
	struct bus_service *bus;
	sd_event_source *timer;
	struct source_health health;
	struct known_container *known;
	u32 count;
	u64 left[KINDS];
	u32 sent[KINDS];
	struct sharing_signals sharing;
	struct queued_signal queued[2 * AT_ONCE];
	u32 queued_count;
	u32 periods;
	bool quiet;
};

/*
 * Return true if one more signal of @kind may be sent in this period. If not, count it as left out.
 */
static bool may_send_signal(struct signal_watch *w, enum signal_kind kind, u64 *ret_left)
{
	if (w->quiet)
		return false;
	if (w->sent[kind] >= AT_ONCE) {
		w->left[kind]++;
		return false;
	}
	w->sent[kind]++;
	*ret_left = w->left[kind];
	w->left[kind] = 0;
	return true;
}

static void signal_health(struct signal_watch *w, const struct source_health *now)
{
	sd_bus *bus = w->bus->bus;
	u64 left;

	/* The counters of a replaced source start at 0 again. */
	if (now->faults > w->health.faults && may_send_signal(w, KIND_FAULT, &left))
		sd_bus_emit_signal(bus, BUS_PATH, BUS_MANAGER, "Fault", "stut", now->last,
				   now->faults - w->health.faults, now->cpus_stopped, left);
	if (now->throttles > w->health.throttles && may_send_signal(w, KIND_THROTTLED, &left))
		sd_bus_emit_signal(bus, BUS_PATH, BUS_MANAGER, "Throttled", "tt",
				   now->throttles - w->health.throttles, left);
	w->health = *now;
}

static void known_container_clear(struct known_container *known)
{
	free(known->name);
	free(known->runtime);
	free(known->path);
	free(known->cgroup);
	*known = (struct known_container){ 0 };
}

static int known_container_set(struct known_container *known, const struct attribute_container *c)
{
	*known = (struct known_container){
		.generation = c->generation,
		.exists = true,
		.name = strdup(c->name),
		.runtime = strdup(c->runtime),
		.path = strdup(c->path),
		.cgroup = strdup(c->cgroup),
	};
	if (known->name && known->runtime && known->path && known->cgroup)
		return 0;
	known_container_clear(known);
	return -ENOMEM;
}

/* Copy only those strings of @known that a signal contains. */
static int known_container_copy(struct known_container *copy, const struct known_container *known)
{
	*copy = (struct known_container){
		.name = strdup(known->name),
		.runtime = strdup(known->runtime),
		.path = strdup(known->path),
	};
	if (copy->name && copy->runtime && copy->path)
		return 0;
	known_container_clear(copy);
	return -ENOMEM;
}

static void queue_container_signal(struct signal_watch *w, enum signal_kind kind,
				   const struct known_container *known)
{
	struct queued_signal *queued = &w->queued[w->queued_count];
	u64 left;

	if (!may_send_signal(w, kind, &left))
		return;
	*queued = (struct queued_signal){ .kind = kind, .left = left };
	if (known_container_copy(&queued->known, known) >= 0)
		w->queued_count++;
}

static void send_queued_signals(struct signal_watch *w)
{
	for (u32 i = 0; i < w->queued_count; i++) {
		struct queued_signal *queued = &w->queued[i];

		sd_bus_emit_signal(w->bus->bus, BUS_PATH, BUS_MANAGER,
				   queued->kind == KIND_ADDED ? "ContainerAdded" :
								"ContainerRemoved",
				   "ssst", queued->known.name, queued->known.runtime,
				   queued->known.path, queued->left);
		known_container_clear(&queued->known);
	}
	w->queued_count = 0;
}

struct signal_scan {
	struct signal_watch *watch;
	struct source_health health;
};

static void scan_container(struct signal_watch *w, struct known_container *known,
			   const struct attribute_container *c)
{
	if (known->name && c && known->generation == c->generation)
		return;
	if (known->name && known->exists)
		queue_container_signal(w, KIND_REMOVED, known);
	known_container_clear(known);
	if (c && *c->name && known_container_set(known, c) >= 0)
		queue_container_signal(w, KIND_ADDED, known);
}

/*
 * Find changes. This runs on the worker's thread, while the main thread, which owns
 * &signal_scan.watch, waits.
 */
static int containers_scan(struct worker_state *state, void *arg)
{
	u32 count = attributor_get_container_limit(state->attributor);
	const struct session *machine = worker_find_session(state, NULL);
	struct signal_scan *scan = arg;
	struct signal_watch *w = scan->watch;
	struct known_container *known;

	scan->health = machine->shared_source->source->health;
	sharing_signals_scan(&w->sharing, machine);
	if (count > w->count) {
		known = reallocarray(w->known, count, sizeof(*known));
		if (!known)
			return -ENOMEM;
		memset(known + w->count, 0, (count - w->count) * sizeof(*known));
		w->known = known;
		w->count = count;
	}
	for (u32 i = 1; i < w->count; i++)
		scan_container(w, &w->known[i], attributor_get_container(state->attributor, i));
	return 0;
}

/*
 * Queue signals for containers if their cgroup was removed, or was created again. A container
 * without a cgroup stays in the table while it has samples.
 */
static void scan_cgroups(struct signal_watch *w)
{
	int mount = cgroup_owner_open_mount();
	struct stat st;
	bool exists;

	if (mount < 0)
		return;
	for (u32 i = 1; i < w->count; i++) {
		struct known_container *known = &w->known[i];

		if (!known->name || *known->cgroup != '/' || !known->cgroup[1])
			continue;
		exists = !fstatat(mount, known->cgroup + 1, &st, AT_SYMLINK_NOFOLLOW);
		if (exists != known->exists)
			queue_container_signal(w, exists ? KIND_ADDED : KIND_REMOVED, known);
		known->exists = exists;
	}
	close(mount);
}

static int on_timer(sd_event_source *source, uint64_t usec __attribute__((unused)), void *userdata)
{
	struct signal_watch *w = userdata;
	struct signal_scan request = { .watch = w };

	memset(w->sent, 0, sizeof(w->sent));
	if (worker_call_readonly(w->bus->worker, containers_scan, &request) >= 0)
		signal_health(w, &request.health);
	if (w->periods++ % RESCAN_PERIODS == 0)
		scan_cgroups(w);
	bus_update_cpu_objects(w->bus);
	send_queued_signals(w);
	sharing_signals_send(&w->sharing, w->bus);
	w->quiet = false;
	sd_event_source_set_time_relative(source, PERIOD_US);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int signal_watch_new(struct bus_service *bus, sd_event *event, struct signal_watch **ret_watch)
{
	struct signal_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->bus = bus;
	w->quiet = true;
	r = sd_event_add_time_relative(event, &w->timer, CLOCK_MONOTONIC, PERIOD_US, PERIOD_US / 4,
				       on_timer, w);
	if (r < 0) {
		signal_watch_free(w);
		return r;
	}
	*ret_watch = w;
	return 0;
}

struct signal_watch *signal_watch_free(struct signal_watch *watch)
{
	if (!watch)
		return NULL;
	sd_event_source_unref(watch->timer);
	for (u32 i = 0; i < watch->count; i++)
		known_container_clear(&watch->known[i]);
	free(watch->known);
	free(watch);
	return NULL;
}
