/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bottom of the bus service: its state, the check that every call passes, and helpers for
 * answers and errors. The objects on the bus (objects.h) are built on it, and bus.c, at the
 * top, puts them on the bus. All of it runs on the main thread.
 */
#ifndef SPEPROF_BUS_CORE_H
#define SPEPROF_BUS_CORE_H

#include <systemd/sd-bus.h>

#include "access.h"
#include "config/config.h"
#include "config/reload-status.h"
#include "engine/worker.h"
#include "output/pprof.h"
#include "property-cache.h"
#include "util/cpu-list.h"

#define BUS_NAME "org.speprof1"
#define BUS_PATH "/org/speprof1"

#define BUS_MANAGER "org.speprof1.Manager"
#define BUS_SESSION "org.speprof1.Session"
#define BUS_CPU	    "org.speprof1.CPU"

#define BUS_SESSIONS BUS_PATH "/session"
#define BUS_CPUS     BUS_PATH "/cpu"

/* Most rows that one answer holds. */
#define BUS_ROWS 10000

struct bus_method;
struct signal_watch;
struct session_properties;

/**
 * struct bus - the connection, and what is served on it
 * @bus: the connection; owned
 * @event: the main loop; borrowed. It exits with BUS_LOST_STATUS when the connection closes
 * @worker: owner of all sessions; borrowed
 * @config: for sessions that CreateSession makes; borrowed
 * @access: rights and rates of callers
 * @methods: all methods; the last has no name
 * @caller: sender of the call that is being handled
 * @answer_rows: what that method's answer holds, by bus_answer_rows()
 * @cpus: CPUs that have an object: those that are online, as the source sees it
 * @online: CPUs that the kernel listed as online at the last look
 * @cpu_rescans: how often the source is still polled after @online changed
 * @property_cache: cache of what properties of the manager and of CPUs show
 * @session: cache of what properties of one session show; owned by session-object.c
 * @session_ns: when @session was read, CLOCK_MONOTONIC; 0: it is stale
 * @watch: what signals were sent for
 * @reload: reads the configuration's files again: 0, or negative errno and @reloaded says why
 * @ctx: argument of @reload
 * @reloaded: result of the last reload; borrowed
 * @unsampled_logged: the journal has why a CPU with an SPU is not sampled
 * @profiles: profiles that are being taken, for DumpProfile
 */
struct bus {
	sd_bus *bus;
	sd_event *event;
	struct worker *worker;
	const struct config *config;
	struct access access;
	const struct bus_method *methods;
	struct bus_caller caller;
	u64 answer_rows;
	struct cpu_list cpus;
	struct cpu_list online;
	u32 cpu_rescans;
	struct property_cache property_cache;
	struct session_properties *session;
	u64 session_ns;
	struct signal_watch *watch;
	int (*reload)(void *ctx);
	void *ctx;
	const struct reload_status *reloaded;
	bool unsampled_logged;
	struct bus_profile *profiles[PPROF_AT_ONCE];
};

/* ---- Calls ------------------------------------------------------------------ */

/**
 * enum bus_cost - tokens that a call takes from its user's bucket; a token is about 2 ms of CPU
 * @BUS_COST_VALUE: reads one object without merging tables
 * @BUS_COST_LIST: reads counters or a list from tables
 * @BUS_COST_CHANGE: changes sampling, and may query polkit
 * @BUS_COST_TABLE: sorts and renders whole tables
 * @BUS_COST_PROFILE: samples for seconds, or copies all records that are buffered
 *
 * Answers take more by their size: bus_answer_rows().
 */
enum bus_cost {
	BUS_COST_VALUE = 1,
	BUS_COST_LIST = 4,
	BUS_COST_CHANGE = 4,
	BUS_COST_TABLE = 16,
	BUS_COST_PROFILE = 64,
};

/**
 * struct bus_method - a method of ours
 * @member: its name, in every interface that has it
 * @level: the right that a caller needs
 * @cost: its class
 * @run: the handler, with sd-bus' signature and a &struct bus
 * @level_of: returns the right where it depends on arguments; NULL: @level
 */
struct bus_method {
	const char *member;
	enum access_level level;
	enum bus_cost cost;
	sd_bus_message_handler_t run;
	enum access_level (*level_of)(sd_bus_message *message, void *ctx);
};

/**
 * bus_method() - handle a call of any method in bus->methods, for vtables
 * @message: the call
 * @userdata: the &struct bus
 * @error: set on failure
 *
 * Checks the sender's right and rate, then runs the method. The call may wait for the bus driver
 * or polkit first; the daemon serves other calls meanwhile.
 *
 * Return: as a handler of sd-bus: positive if handled, negative errno.
 */
int bus_method(sd_bus_message *message, void *userdata, sd_bus_error *error);

/**
 * bus_answer_rows() - add to what the running method's answer costs its caller
 * @bus: the bus with the running method
 * @rows: rows in the answer, or searched for it; for text, its KiB
 */
static inline void bus_answer_rows(struct bus *bus, u64 rows)
{
	bus->answer_rows += rows;
}

/**
 * bus_filter_calls() - check calls that sd-bus answers by itself from now on
 * @bus: connected
 *
 * These are properties, managed objects and introspection.
 *
 * Return: 0 or negative errno.
 */
int bus_filter_calls(struct bus *bus);

/** bus_invalidate_properties() - drop cached properties, since something that they show changed */
void bus_invalidate_properties(struct bus *bus);

/* ---- Answers ------------------------------------------------------------------ */

/** bus_backend_name() - the word for &enum backend @backend: "emulated", "hardware" or "unknown" */
const char *bus_backend_name(u8 backend);

/**
 * bus_reply_memfd() - answer @message with a sealed memfd
 * @message: a method call; its answer has the signature "h"
 * @name: of the memfd, for debugging
 * @data: copied
 * @size: bytes of @data
 *
 * Return: positive, or negative errno if nothing was sent.
 */
int bus_reply_memfd(sd_bus_message *message, const char *name, const void *data, size_t size);

/* ---- Arguments and errors ------------------------------------------------------ */

/**
 * bus_invalid() - set InvalidArgs
 * @error: set
 * @argument: name of the argument
 * @value: what the caller passed; escaped, and cut after 47 characters
 * @right: what would be right; follows "should be"
 *
 * Return: negative errno, for the handler to return.
 */
int bus_invalid(sd_bus_error *error, const char *argument, const char *value, const char *right);

/**
 * bus_no_container() - set NoSuchContainer
 * @error: set
 * @wanted: name or path that the caller passed
 * @own: only the caller's own containers were searched
 *
 * Return: negative errno, for the handler to return.
 */
int bus_no_container(sd_bus_error *error, const char *wanted, bool own);

/** bus_check_limit() - 0 if @limit is 1 to BUS_ROWS, else negative errno with @error set */
int bus_check_limit(u32 limit, sd_bus_error *error);

/**
 * bus_session_of() - the session that an object stands for
 * @path: the object that was called
 * @ret_name: the session's name; SESSION_MACHINE for the manager
 *
 * Return: 0; -ENOENT if no session can have that name.
 */
int bus_session_of(const char *path, char ret_name[static SESSION_NAME_SIZE]);

/**
 * bus_session_error() - turn the failure of a call on a session into an error of the bus
 * @error: set
 * @r: negative errno
 * @session: its name
 * @reason: why, as a part of a sentence; NULL: @r says it
 *
 * Return: negative errno, for the handler to return.
 */
int bus_session_error(sd_bus_error *error, int r, const char *session, const char *reason);

#endif
