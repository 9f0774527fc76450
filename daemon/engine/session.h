/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session is a rule that selects samples, and the profile that counts them. All sessions share
 * the tables of tasks and symbols. Several sessions may share a source: each window of the source
 * is then passed to all these sessions, and each session applies its own rule.
 *
 * Context: the worker's thread.
 */
#ifndef SPEPROF_SESSION_H
#define SPEPROF_SESSION_H

#include "budget.h"
#include "filter/filter.h"
#include "flight.h"
#include "profile/profile.h"
#include "source/partitioned.h"
#include "source/source.h"

/* Size of &session.name: the name of a session with its NUL, bytes. */
#define SESSION_NAME_SIZE 64

/* The session that the configuration describes, and the default of all commands. */
#define SESSION_MACHINE "machine"

/**
 * struct shared_source_cpu - sums over the windows of a CPU since its source was opened
 * @windows: number of windows
 * @bytes: bytes of records
 * @armed_ns: time in which the SPU sampled
 * @blind_by: time in which it did not sample, indexed by &enum source_blind
 * @faulted: windows that ended with a fault
 * @collided: windows in which samples collided
 * @midr: MIDR_EL1 of the last window; 0: unknown
 * @pmsver: SPE version of the last window; 0: unknown
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

/* CPU numbers are below this. */
#define SHARED_SOURCE_CPUS 65536U

/**
 * struct shared_source - a source and the sessions that count its windows
 * @source: freed with the last reference
 * @sampling: options with which the source was opened, without filters; the string of models is
 *	borrowed
 * @filter: filters that the SPUs apply. All 0 while several sessions share the source, because a
 *	record that one session does not count may count for another session
 * @cores: kinds of cores that the CPUs of @source have
 * @cpus: indexed by CPU number
 * @cpu_count: entries of @cpus
 * @references: number of sessions that use the source, plus code that is creating a session
 * @running: number of sessions that run; the source is enabled while it is above 0
 * @seen: copy of &source.health at the last merge
 * @error: negative errno of the last failed drain since the source was enabled; 0: none
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
	struct source_health seen;
	int error;
};

/**
 * session_make_epoch() - return a new random number. Readers compare it to detect that counters
 * restarted at zero
 */
u64 session_make_epoch(void);

/**
 * shared_source_new() - make a shared source with one reference
 * @source: owned by the result on success
 * @sampling: options with which @source was opened, without filters
 * @ret_shared_source: released by shared_source_put()
 *
 * Return: 0 or -ENOMEM.
 */
int shared_source_new(struct source *source, const struct source_config *sampling,
		      struct shared_source **ret_shared_source);

/** shared_source_get() - take another reference; returns its argument */
struct shared_source *shared_source_get(struct shared_source *shared_source);

/**
 * shared_source_count_window() - add a window to the sums of its CPU; call it once for each window
 */
void shared_source_count_window(struct shared_source *shared_source,
				const struct source_window *window);

/**
 * shared_source_put() - release a reference; the release of the last one frees the source; returns
 * NULL
 */
struct shared_source *shared_source_put(struct shared_source *shared_source);

/* Maximum number of cgroups in a rule; the module has the same limit. */
#define SESSION_CGROUPS 256
/*
 * Maximum size of an expression, and of the path of a cgroup, in bytes with the NUL. A checkpoint
 * stores them.
 */
#define SESSION_TEXT 4096

/**
 * struct session_rule - which samples a session counts
 * @expression: the filter as the user wrote it; "": all samples
 * @cgroups: paths of cgroups: only samples in or below them count; NULL-terminated; NULL: all
 *	samples
 * @cgroups_part: index in filter_split() of the part for @cgroups
 * @filter: expression, cgroups and lists of containers combined; NULL: all samples
 */
struct session_rule {
	char *expression;
	char **cgroups;
	u32 cgroups_part;
	struct filter *filter;
};

/**
 * session_rule_new() - make a rule from a filter expression and a list of cgroups
 * @lists: lists of containers in the configuration, or NULL; the cgroups of @lists are ignored
 * @expression: a filter; NULL: all
 * @cgroups: absolute paths below the mount of cgroups, NULL-terminated; NULL: everywhere
 * @ret_rule: freed by session_rule_free()
 * @ret_error: on -EINVAL, the reason; &filter_error.column is the position in @expression, 0: not
 * in it
 *
 * Return: 0; -EINVAL if the filter is invalid; -ENOMEM if memory cannot be allocated.
 */
int session_rule_new(const struct filter_lists *lists, const char *expression, char *const *cgroups,
		     struct session_rule **ret_rule, struct filter_error *ret_error);

/** session_rule_free() - free a rule; NULL is allowed; returns NULL */
struct session_rule *session_rule_free(struct session_rule *rule);

/**
 * struct session_config - arguments of worker_add_session() and session_init()
 * @name: name of the session, as session_name_valid() requires
 * @shared_source: a reference, owned by the session on success
 * @rule: owned by the session on success
 * @shared: only another session, which owns the source, may change how it samples
 * @flight_bytes: size of the flight recorder, FLIGHT_MIN to FLIGHT_MAX bytes; 0: none
 * @temporary: the session shares its source, is not saved, and does not survive a restart of the
 *	daemon
 * @line_size: size of a cache line of this machine, bytes; 0: unknown. worker_add_session() sets it
 * @wanted: on -EDQUOT, the MemoryBudget= in bytes that would suffice
 * @left: on -EDQUOT, the bytes that are free for sessions
 */
struct session_config {
	const char *name;
	struct shared_source *shared_source;
	struct session_rule *rule;
	bool shared;
	size_t flight_bytes;
	bool temporary;
	u32 line_size;
	u64 wanted;
	u64 left;
};

/**
 * struct session - an entry of the worker's array
 * @name: name of the session; "" if the entry is free
 * @shared_source: the source of its windows
 * @rule: which samples count
 * @profile: the counters that readers see
 * @flight: the last windows of the session, not filtered by @rule; NULL: no flight recorder
 * @shared: only another session, which owns the source, may change how it samples
 * @temporary: as in &struct session_config
 * @running: the session runs, so its windows are counted
 * @waits: the session ran before the daemon restarted, and starts when the session that owns its
 *	source starts
 * @started_ns: when it was started, CLOCK_MONOTONIC
 * @stopped_ns: when it was last stopped, CLOCK_MONOTONIC; 0: it was not stopped since the daemon
 *	began
 * @ran_ns: nanoseconds for which the session ran between the last reset and @started_ns
 * @epoch: a random number that changes with every reset
 * @cost_ns: CPU time of the daemon at the last reset
 * @nodes: NUMA nodes of this machine, for the profile
 * @bytes: bytes of MEMORY_SESSIONS that the session uses
 * @shard: the profile in which each drain thread counts. A single drain thread counts in @profile.
 *	If there are several drain threads, each counts in its own shard of @profile
 * @spare: an empty shard, which a merge exchanges for a full one; NULL without shards
 */
struct session {
	char name[SESSION_NAME_SIZE];
	struct shared_source *shared_source;
	struct session_rule *rule;
	struct profile *profile;
	struct flight_recorder *flight;
	bool shared;
	bool temporary;
	bool running;
	bool waits;
	u64 started_ns;
	u64 stopped_ns;
	u64 ran_ns;
	u64 epoch;
	u64 cost_ns;
	struct numa_nodes *nodes;
	u64 bytes;
	struct profile *shard[SOURCE_PARTITIONS_MAX];
	struct profile *spare;
};

/**
 * session_name_valid() - return whether @name is a valid name of a session
 *
 * A valid name is a letter followed by up to 62 letters, digits and "_", so that it can be a part
 * of D-Bus object paths and unit names.
 */
bool session_name_valid(const char *name);

/**
 * session_init() - initialize a session that is stopped
 * @session: a free entry
 * @config: settings of the session; on failure the caller still owns &session_config.shared_source
 * and &session_config.rule
 * @plan: sizes of the session's tables
 * @attributor: borrowed
 *
 * Return: 0; -EINVAL: invalid name; -ERANGE: invalid size of the flight recorder; -ENOMEM: memory
 * could not be allocated.
 */
int session_init(struct session *session, const struct session_config *config,
		 const struct memory_plan *plan, struct attributor *attributor);

/**
 * session_deinit() - stop @session without a last drain, and free what it owns. Does nothing for an
 * unused (zeroed) entry
 */
void session_deinit(struct session *session);

/** session_set_rule() - replace the rule; @rule is owned by the session */
void session_set_rule(struct session *session, struct session_rule *rule);

/**
 * session_start() - enable the source, and count its windows from now on; return 0, -EALREADY if
 * the session runs, or the error of the source
 */
int session_start(struct session *session);

/**
 * session_disable() - disable the source of @session, if no other session of the source runs
 * @session: runs
 *
 * The caller may then drain the samples that were taken until now, and must call session_stop().
 */
void session_disable(struct session *session);

/**
 * session_stop() - stop counting windows in @session; return 0, or -EALREADY if @session does not
 * run
 */
int session_stop(struct session *session);

/**
 * session_sweep_names() - free the ids of programs and binaries that are not in use
 * @now_ns: CLOCK_MONOTONIC
 *
 * Context: the worker's thread, while the drain threads are paused.
 */
void session_sweep_names(struct session *session, u64 now_ns);

/** session_reset() - set all counters to zero and choose another epoch */
void session_reset(struct session *session);

/**
 * session_count_blind_time() - count time in which none of the source's CPUs was sampled
 * @session: its profile gets an empty window for each CPU that is not offline
 * @blind_ns: duration in which nothing was sampled, nanoseconds; counted with the cause "restart"
 * @at_ns: CLOCK_MONOTONIC at the end of that time; 0: it ended before the daemon began
 *
 * Context: the worker's thread, while no drain thread counts for @session.
 */
void session_count_blind_time(struct session *session, u64 blind_ns, u64 at_ns);

/** session_get_duration() - return for how many ns the session ran since the last reset */
u64 session_get_duration(const struct session *session);

/**
 * session_fill_header() - fill in the part of a view's header that the profile does not have
 * @session: the session
 * @ret_header: source, state, health and cost are set; other members are unchanged
 */
void session_fill_header(const struct session *session, struct view_header *ret_header);

#endif
