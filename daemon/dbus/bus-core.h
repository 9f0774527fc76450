/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bottom layer of the bus service: its state, the check of every call, and helpers for answers
 * and errors. The objects on the bus (objects.h) use it, and bus.c registers the objects. All of it
 * runs on the main thread.
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

/* maximum number of rows in one answer */
#define BUS_ROWS 10000

struct bus_history_calls;
struct bus_method_info;
struct history_writer;
struct signal_watch;
struct session_properties;
struct temporary_session;

/**
 * struct bus_service - the connection to the bus, and the state of the objects on it
 * @bus: the connection; owned
 * @event: the main loop; borrowed. It exits with BUS_LOST_STATUS when the connection closes
 * @worker: owner of all sessions; borrowed
 * @config: configuration for sessions that CreateSession makes; borrowed
 * @access: permissions and rate limits of callers
 * @methods: all methods; the last entry has no name
 * @caller: sender of the call that is being handled
 * @answer_rows: rows in the answer to that call, as bus_add_answer_rows() counted them
 * @cpus: CPUs that have an object: those that the source samples and that are online
 * @online: CPUs that were online when the kernel's list was last read
 * @cpu_rescans: number of queries of the source that remain after the last change of @online
 * @property_cache: cached properties of the manager and of CPUs
 * @session: cached properties of one session; owned by session-object.c
 * @session_ns: CLOCK_MONOTONIC at which @session was read; 0: it is stale
 * @watch: state for which signals were sent
 * @reload: reads the configuration files again. It returns 0; a negative errno if the files are
 * invalid, with the reason in @reloaded
 * @ctx: argument of @reload
 * @reloaded: result of the last reload; borrowed
 * @unsampled_logged: true if the reason why a CPU with an SPU is not sampled was logged already
 * @profiles: profiles that DumpProfile is collecting
 * @temporary: sessions that end with a connection
 * @history: the history on disk; borrowed; NULL: there is none
 * @history_calls: calls that wait for a result from @history; owned by history-methods.c
 */
struct bus_service {
	sd_bus *bus;
	sd_event *event;
	struct worker *worker;
	const struct config *config;
	struct access_control access;
	const struct bus_method_info *methods;
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
	struct bus_profile *profiles[PPROF_CONCURRENT_MAX];
	struct temporary_session *temporary[WORKER_SESSIONS];
	struct history_writer *history;
	struct bus_history_calls *history_calls;
};

/* ---- Calls ------------------------------------------------------------------ */

/**
 * enum bus_cost - number of tokens that a call takes from the bucket of its user; one token stands
 * for 2 ms of CPU time
 * @BUS_COST_VALUE: reads one object without merging tables
 * @BUS_COST_LIST: reads counters or a list from tables
 * @BUS_COST_CHANGE: changes sampling, and may query polkit
 * @BUS_COST_TABLE: sorts and renders whole tables
 * @BUS_COST_PROFILE: samples for seconds, or copies all records that are buffered
 *
 * Large answers take more tokens: see bus_add_answer_rows().
 */
enum bus_cost {
	BUS_COST_VALUE = 1,
	BUS_COST_LIST = 4,
	BUS_COST_CHANGE = 4,
	BUS_COST_TABLE = 16,
	BUS_COST_PROFILE = 64,
};

/**
 * struct bus_method_info - a method of the daemon
 * @member: its name, the same in every interface that has it
 * @level: the permission that a caller needs
 * @cost: the tokens that a call takes
 * @run: the handler, with sd-bus' signature and a &struct bus_service
 * @level_of: function that returns the permission if it depends on the arguments; NULL: use @level
 */
struct bus_method_info {
	const char *member;
	enum access_level level;
	enum bus_cost cost;
	sd_bus_message_handler_t run;
	enum access_level (*level_of)(sd_bus_message *message, void *ctx);
};

/**
 * bus_dispatch_method() - handle a call of any method in bus->methods; the handler of all vtables
 * @message: the call
 * @userdata: the &struct bus_service
 * @error: set on failure
 *
 * The function checks the sender's permission and rate, then runs the method. The call may first
 * wait for the bus driver or polkit; the daemon serves other calls meanwhile.
 *
 * Return: as a handler of sd-bus: positive if handled, negative errno.
 */
int bus_dispatch_method(sd_bus_message *message, void *userdata, sd_bus_error *error);

/**
 * bus_add_answer_rows() - add rows to the number that the caller of the running method is charged
 * for
 * @bus: the bus with the running method
 * @rows: number of rows in the answer, or of rows that were searched for it; for text, its size in
 * KiB
 */
static inline void bus_add_answer_rows(struct bus_service *bus, u64 rows)
{
	bus->answer_rows += rows;
}

/**
 * bus_install_call_filter() - start to check calls that sd-bus itself answers
 * @bus: connected
 *
 * These are calls for properties, managed objects and introspection.
 *
 * Return: 0 or negative errno.
 */
int bus_install_call_filter(struct bus_service *bus);

/** bus_invalidate_properties() - drop cached properties, because their values may have changed */
void bus_invalidate_properties(struct bus_service *bus);

/* ---- Answers ------------------------------------------------------------------ */

/**
 * bus_backend_name() - return "emulated" or "hardware" for @backend, &enum sample_backend; else
 * "unknown"
 */
const char *bus_backend_name(u8 backend);

/**
 * bus_memfd_new() - make a sealed memfd
 * @name: its name, for debugging
 * @data: bytes that are copied
 * @left: size of @data in bytes
 *
 * Return: a file descriptor, which the caller closes; negative errno.
 */
int bus_memfd_new(const char *name, const void *data, size_t left);

/**
 * bus_reply_memfd() - answer @message with a sealed memfd
 * @message: a method call; its answer has the signature "h"
 * @name: name of the memfd, for debugging
 * @data: bytes that are copied
 * @size: number of bytes
 *
 * Return: positive; negative errno if nothing was sent.
 */
int bus_reply_memfd(sd_bus_message *message, const char *name, const void *data, size_t size);

/* ---- Arguments and errors ------------------------------------------------------ */

/**
 * bus_set_invalid_argument() - set the error InvalidArgs
 * @error: set
 * @argument: name of the argument
 * @value: the value that the caller passed; the error contains it escaped, and truncated after 47
 * characters
 * @right: the accepted values; follows "should be" in the error
 *
 * Return: negative errno, for the handler to return.
 */
int bus_set_invalid_argument(sd_bus_error *error, const char *argument, const char *value,
			     const char *right);

/**
 * bus_set_no_such_container() - set the error NoSuchContainer
 * @error: set
 * @wanted: name or path that the caller passed
 * @own: true if only the caller's own containers were searched
 *
 * Return: negative errno, for the handler to return.
 */
int bus_set_no_such_container(sd_bus_error *error, const char *wanted, bool own);

/**
 * bus_check_limit() - check that @limit is 1 to BUS_ROWS; returns 0, or negative errno with @error
 * set
 */
int bus_check_limit(u32 limit, sd_bus_error *error);

/**
 * bus_path_to_session_name() - get the name of the session that an object represents
 * @path: path of the object that was called
 * @ret_name: the session's name; SESSION_MACHINE for the manager
 *
 * Return: 0; -ENOENT if no session can have that name.
 */
int bus_path_to_session_name(const char *path, char ret_name[static SESSION_NAME_SIZE]);

/**
 * bus_set_session_error() - turn the failure of a call on a session into an error of the bus
 * @error: set
 * @r: negative errno
 * @session: its name
 * @reason: why the call failed, as a part of a sentence; NULL: the text of @r
 *
 * Return: negative errno, for the handler to return.
 */
int bus_set_session_error(sd_bus_error *error, int r, const char *session, const char *reason);

#endif
