/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session: whose samples are kept, by which filter, in a profile of its own. Sessions
 * share what the worker knows of tasks and symbols, and may share a source: then each
 * window goes to all of them, and each leaves out what its filter does not want.
 *
 * All is of the worker's thread.
 */
#ifndef SPEPROF_SESSION_H
#define SPEPROF_SESSION_H

#include "budget.h"
#include "filter/filter.h"
#include "flight.h"
#include "profile/profile.h"
#include "source/partitioned.h"
#include "source/source.h"

/* With its NUL. */
#define SESSION_NAME_SIZE 64

/* The one that the configuration makes, and that is meant where none is named. */
#define SESSION_MACHINE "machine"

/**
 * struct shared_source_cpu - what windows said of a CPU, since its source was made
 * @faulted: windows that ended in a fault
 * @collided: windows with samples that collided
 * @midr, @pmsver: of the last one, 0 if unknown
 */
struct shared_source_cpu {
	u64 windows;
	u64 bytes;
	u64 armed_ns;
	u64 blind_by[SOURCE_BLINDS];
	u64 faulted;
	u64 collided;
	u64 midr;
	u8 pmsver;
};

/* Numbers of CPUs are below this. */
#define SHARED_SOURCE_CPUS 65536U

/**
 * struct shared_source - a source, and how many sessions take its windows
 * @source: freed with the feed
 * @sampling: what it was asked for, filters aside; models are whose it was given
 * @filter: what its SPUs leave out, for the one session that has it; else all 0
 * @cores: that it was made for
 * @cpus, @cpu_count: by number, up to the highest that had a window
 * @references: sessions that have it, and who makes one
 * @running: sessions that run: the source is enabled while there are any
 * @seen: where several workers drain it: &source.trouble as of the last look
 * @error: negative errno of the last drain that failed since it was enabled, 0 for none
 */
struct shared_source {
	struct source *source;
	struct source_config sampling;
	struct source_config filter;
	struct filter_cores cores;
	struct shared_source_cpu *cpus;
	u32 cpu_count;
	u32 references;
	u32 running;
	struct source_trouble seen;
	int error;
};

/** session_epoch() - a random number: whoever adds counters up tells by it that they began anew */
u64 session_epoch(void);

/**
 * shared_source_new() - with one reference, the caller's; takes over @source where it succeeds
 * @sampling: what @source was made with, without filters
 */
int shared_source_new(struct source *source, const struct source_config *sampling,
		      struct shared_source **ret_shared_source);

/** shared_source_get() - another reference */
struct shared_source *shared_source_get(struct shared_source *shared_source);

/** shared_source_count() - add a window to its CPU's; once for each */
void shared_source_count(struct shared_source *shared_source, const struct source_window *window);

/** shared_source_put() - with the last reference it is freed, and its source; returns NULL */
struct shared_source *shared_source_put(struct shared_source *shared_source);

/* Of cgroups in a rule, as the module has it. */
#define SESSION_CGROUPS 256
/* Of an expression and of a cgroup's path, with its NUL: they are read again after a restart. */
#define SESSION_TEXT 4096

/**
 * struct session_rule - what of its windows a session counts
 * @expression: as it was given, "" for everything
 * @cgroups: in or below which; NULL-terminated, NULL for everywhere
 * @cgroups_part: which of filter_parts() says so
 * @filter: both, and the lists of containers; NULL for everything
 */
struct session_rule {
	char *expression;
	char **cgroups;
	u32 cgroups_part;
	struct filter *filter;
};

/**
 * session_rule_new() - put it together
 * @lists: containers of the configuration, NULL for none; their cgroups do not matter
 * @expression: NULL for everything
 * @cgroups: absolute paths below the mount of cgroups; NULL for everywhere
 *
 * Return: 0; -EINVAL, then @ret_error says why: @column is of @expression, 0 if it is not
 * about that; -ENOMEM.
 */
int session_rule_new(const struct filter_lists *lists, const char *expression, char *const *cgroups,
		     struct session_rule **ret_rule, struct filter_error *ret_error);
struct session_rule *session_rule_free(struct session_rule *rule);

/**
 * struct session_config - what a session is made of
 * @name: by session_name_valid()
 * @shared_source: a reference, the session's from then on
 * @rule: the session's from then on
 * @shared: @shared_source is another session's, who says how it samples
 * @flight_bytes: bytes of its last windows to keep as they are, FLIGHT_MIN to FLIGHT_MAX; 0 for none
 * @wanted, @left: of -EDQUOT: the MemoryBudget= that would do, and what is left for sessions
 */
struct session_config {
	const char *name;
	struct shared_source *shared_source;
	struct session_rule *rule;
	bool shared;
	size_t flight_bytes;
	u64 wanted;
	u64 left;
};

/**
 * struct session - a place in the worker's array
 * @name: "" where the place is free
 * @shared_source: where its windows come from
 * @shared: which is another session's, who says how it samples
 * @rule: what of them counts
 * @flight: its last windows as they were, whatever @rule wants of them; NULL for none
 * @running: its windows count
 * @waits: it ran before the daemon was restarted, and starts with the session whose source it shares
 * @started_ns: when that began, CLOCK_MONOTONIC
 * @stopped_ns: when it ended the last time; 0: never in this process
 * @ran_ns: how long it ran before, since the last reset
 * @epoch: a random number, another one after each reset
 * @cost_ns: CPU time of this process at the last reset
 * @nodes: of this machine, for the profile
 * @bytes: of the share of the bus's sessions
 * @shards: how many workers count; 0: the one, in @profile
 * @shard: of each worker, and one more to be put in the place of one (shards.h)
 */
struct session {
	char name[SESSION_NAME_SIZE];
	struct shared_source *shared_source;
	struct session_rule *rule;
	struct profile *profile;
	struct flight *flight;
	bool shared;
	bool running;
	bool waits;
	u64 started_ns;
	u64 stopped_ns;
	u64 ran_ns;
	u64 epoch;
	u64 cost_ns;
	struct nodes *nodes;
	u64 bytes;
	u32 shards;
	struct profile *shard[SOURCE_PARTS + 1];
};

/**
 * session_name_valid() - whether it can stand in an object's path, a unit's name and a log
 *
 * One to 63 letters, digits and "_", a letter first.
 */
bool session_name_valid(const char *name);

/**
 * session_init() - make a session, stopped
 * @attributor: borrowed
 *
 * Return: 0; -EINVAL for a name that is not valid; -ERANGE for what is to be kept; -ENOMEM. Where it fails, feed
 * and rule stay the caller's.
 */
int session_init(struct session *session, const struct session_config *config,
		 const struct memory_plan *plan,
		 struct attributor *attributor);

/** session_deinit() - stop it without a last drain and free what it has; a free place stays one */
void session_deinit(struct session *session);

/** session_set_rule() - what counts from now on; takes over @rule */
void session_set_rule(struct session *session, struct session_rule *rule);

/** session_start() - its windows count, and its source is enabled. -EALREADY; as the source */
int session_start(struct session *session);

/**
 * session_disable() - nothing more is sampled for it
 *
 * What was sampled before may still be drained, and session_stop() is to follow.
 */
void session_disable(struct session *session);

/** session_stop() - its windows do not count any more; -EALREADY */
int session_stop(struct session *session);

/** session_reset() - forget what was counted, as if it began now */
void session_reset(struct session *session);

/**
 * session_book_blind() - count time in which none of the source's CPUs was sampled
 * @session: its profile gets an empty window for each CPU that is not offline
 * @blind_ns: how long nothing was sampled, in nanoseconds; booked by the cause "restart"
 * @at_ns: CLOCK_MONOTONIC at the end of that time; 0 if it ended before this process began
 *
 * Context: the worker's thread, while no drain thread counts for @session.
 */
void session_book_blind(struct session *session, u64 blind_ns, u64 at_ns);

/** session_duration() - for how long it ran since the last reset, ns */
u64 session_duration(const struct session *session);

/**
 * session_header() - what the profile does not know of a view's header
 * @ret_header: source, state, trouble and cost are filled in
 */
void session_header(const struct session *session, struct view_header *ret_header);

#endif
