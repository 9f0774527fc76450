/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the bus share. Methods have sd-bus' signature, with a &struct bus. */
#ifndef SPEPROF_BUS_INTERNAL_H
#define SPEPROF_BUS_INTERNAL_H

#include "bus.h"

/* Rows of one answer. */
#define BUS_ROWS 10000

/**
 * enum bus_cost - what a call takes from its user's token bucket; a token is about 2 ms of CPU
 * @BUS_COST_VALUE: reads one object without merging tables
 * @BUS_COST_LIST: reads counters or a list from tables
 * @BUS_COST_CHANGE: changes sampling, and may ask polkit
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
 * or polkit first; other calls go on meanwhile.
 *
 * Return: as sd-bus wants of a handler: positive if handled, negative errno.
 */
int bus_method(sd_bus_message *message, void *userdata, sd_bus_error *error);

/**
 * bus_answer_rows() - add to what the running method's answer costs its caller
 * @bus: whose method runs
 * @rows: rows in the answer, or searched for it; for text, its KiB
 */
static inline void bus_answer_rows(struct bus *bus, u64 rows)
{
	bus->answer_rows += rows;
}

/** bus_filter_calls() - from now on check what sd-bus answers by itself; 0 or negative errno */
int bus_filter_calls(struct bus *bus);

/** bus_figures_vtable - what the manager, of the session "machine", and each session have both */
extern const sd_bus_vtable bus_figures_vtable[];

/** bus_invalid() - an error: @argument has @value, and what would be right */
int bus_invalid(sd_bus_error *error, const char *argument, const char *value, const char *right);

/** bus_no_container() - an error: there is none called @wanted; @own: of the caller's */
int bus_no_container(sd_bus_error *error, const char *wanted, bool own);

/** bus_check_limit() - of rows; an error if it is none */
int bus_check_limit(u32 limit, sd_bus_error *error);

/** bus_backend_name() - of &enum backend */
const char *bus_backend_name(u8 backend);

/** bus_reply_memfd() - answer with a sealed memfd that holds @size bytes */
int bus_reply_memfd(sd_bus_message *message, const char *name, const void *data, size_t size);

/** bus_append_histogram() - "tta(ut)": count, sum, and (upper bound, count) of what is not 0 */
int bus_append_histogram(sd_bus_message *reply, const struct histogram *histogram);

/** bus_append_figures() - members of an a{sv} that is open: all that was counted */
int bus_append_figures(sd_bus_message *reply, u8 backend, const struct figures *figures);

/** bus_session_of() - the session whose object @path is; SESSION_MACHINE for the Manager */
int bus_session_of(const char *path, char ret_name[static SESSION_NAME_SIZE]);

/** bus_session_error() - what a call of a session came to, negative errno, as an error */
int bus_session_error(sd_bus_error *error, int r, const char *session, const char *reason);

/* bus-view.c: of the session whose object is called */
int bus_get_view(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_get_window(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_dump_hot(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_get_ledgers(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_dump_summary(sd_bus_message *message, void *userdata, sd_bus_error *error);

/* bus-figures.c: likewise */
int bus_get_histogram(sd_bus_message *message, void *userdata, sd_bus_error *error);
enum access_level bus_figures_level(sd_bus_message *message, void *bus);
int bus_get_figures(sd_bus_message *message, void *userdata, sd_bus_error *error);

/* bus-control.c: likewise */
int bus_start(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_stop(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_reset(sd_bus_message *message, void *userdata, sd_bus_error *error);
enum access_level bus_filter_level(sd_bus_message *message, void *bus);

/** bus_cgroups_level() - what SetCgroups needs, by the filter that its session has */
enum access_level bus_cgroups_level(sd_bus_message *message, void *bus);
int bus_set_filter(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_set_interval(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_set_cgroups(sd_bus_message *message, void *userdata, sd_bus_error *error);
enum access_level bus_create_level(sd_bus_message *message, void *bus);
int bus_create_session(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_remove_session(sd_bus_message *message, void *userdata, sd_bus_error *error);

/** struct bus_sharers - sessions of one source, by name */
struct bus_sharers {
	u32 count;
	char names[WORKER_SESSIONS][SESSION_NAME_SIZE];
};

/** bus_find_sharers() - those of @session's source, itself too; NULL: all sessions, of any source */
void bus_find_sharers(const struct bus *bus, const char *session, struct bus_sharers *ret_sharers);

/** bus_tell_sharers() - @property of them changed; @but: not of this one, NULL: of all */
void bus_tell_sharers(struct bus *bus, const struct bus_sharers *sharers, const char *but,
		      const char *property);

/** bus_interval_changed() - that of @session, so that of all of its source */
void bus_interval_changed(struct bus *bus, const char *session);

/** bus_parts_changed() - where parts of filters act, or the lists of containers, of all sessions */
void bus_parts_changed(struct bus *bus);

/* bus-reload.c */
int bus_reload(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_get_reloaded(sd_bus *b, const char *path, const char *interface, const char *property,
		     sd_bus_message *reply, void *userdata, sd_bus_error *error);

/** bus_fill_reloaded() - of a view's header: what of the files is not in force */
void bus_fill_reloaded(const struct bus *bus, struct view_header *header);

/* bus-container.c */
int bus_get_containers(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_get_container(sd_bus_message *message, void *userdata, sd_bus_error *error);

/* bus-snapshot.c: of the session whose object is called */
int bus_snapshot(sd_bus_message *message, void *userdata, sd_bus_error *error);

/* bus-cpu.c: of the CPU whose object is called */
int bus_get_times(sd_bus_message *message, void *userdata, sd_bus_error *error);

/** bus_follow_cpus() - objects come and go with their CPUs: once a second */
void bus_follow_cpus(struct bus *bus);

/** bus_forget() - something changed that properties show */
void bus_forget(struct bus *bus);

/** bus_session_forget() - likewise of what bus-session.c keeps; for bus_forget() and the end */
void bus_session_forget(struct bus *bus);

/** bus_add_sessions(), bus_add_cpus(), bus_add_log_control() - put the objects there */
int bus_add_sessions(struct bus *bus);
int bus_add_cpus(struct bus *bus);
int bus_add_log_control(struct bus *bus);

#endif
