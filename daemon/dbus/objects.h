/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The objects on the bus, and the handlers of their methods. A handler has sd-bus' signature with a
 * &struct bus_service as userdata, and runs after bus_dispatch_method() has checked the caller. A
 * level function returns the permission that a call with these arguments needs.
 */
#ifndef SPEPROF_OBJECTS_H
#define SPEPROF_OBJECTS_H

#include "bus-core.h"

/* session-object.c: one object for each session */

/**
 * bus_counting_vtable - methods of sessions; the manager has them, too, for the session "machine"
 */
extern const sd_bus_vtable bus_counting_vtable[];

/** bus_register_sessions() - register the objects of sessions; returns 0 or negative errno */
int bus_register_sessions(struct bus_service *bus);

/** bus_drop_session_properties() - free the cached properties in bus->session */
void bus_drop_session_properties(struct bus_service *bus);

/* cpu.c: one object for each CPU that is online */

/** bus_register_cpus() - register the objects of CPUs; returns 0 or negative errno */
int bus_register_cpus(struct bus_service *bus);

/**
 * bus_update_cpu_objects() - add and remove objects when CPUs come online or go offline; call it
 * each second
 */
void bus_update_cpu_objects(struct bus_service *bus);

int bus_handle_get_times(sd_bus_message *message, void *userdata, sd_bus_error *error);

/* log-control.c: org.freedesktop.LogControl1 */

/** bus_register_log_control() - register the object of LogControl1; returns 0 or negative errno */
int bus_register_log_control(struct bus_service *bus);

/* view-methods.c: tables of a session */
int bus_handle_get_view(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_handle_get_window(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_handle_dump_hot(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_handle_get_ledgers(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_handle_dump_summary(sd_bus_message *message, void *userdata, sd_bus_error *error);

/* query-method.c: rows of a session by any keys */
enum access_level bus_determine_query_access(sd_bus_message *message, void *bus);
int bus_handle_query(sd_bus_message *message, void *userdata, sd_bus_error *error);

/* history-methods.c: the history on disk, of the session "machine" */

/** bus_attach_history() - let the methods use @writer; returns 0 or negative errno */
int bus_attach_history(struct bus_service *bus, struct history_writer *writer);

/** bus_detach_history() - drop the waiting calls; call it after history_writer_free() */
void bus_detach_history(struct bus_service *bus);

int bus_handle_get_history(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_handle_get_timeline(sd_bus_message *message, void *userdata, sd_bus_error *error);

/* counters.c: counters of a session */
int bus_handle_get_histogram(sd_bus_message *message, void *userdata, sd_bus_error *error);
enum access_level bus_determine_counters_access(sd_bus_message *message, void *bus);
int bus_handle_get_figures(sd_bus_message *message, void *userdata, sd_bus_error *error);

/**
 * bus_append_counters() - append all counters to an open "a{sv}"
 * @reply: a message with the open array
 * @backend: &enum sample_backend
 * @counters: the counters
 *
 * Return: 0 or a positive number; negative errno if sd-bus fails.
 */
int bus_append_counters(sd_bus_message *reply, u8 backend, const struct profile_counters *counters);

/* session-control.c: control of a session */
int bus_handle_start(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_handle_stop(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_handle_reset(sd_bus_message *message, void *userdata, sd_bus_error *error);
enum access_level bus_determine_filter_access(sd_bus_message *message, void *bus);
int bus_handle_set_filter(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_handle_set_interval(sd_bus_message *message, void *userdata, sd_bus_error *error);
enum access_level bus_determine_cgroups_access(sd_bus_message *message, void *bus);
int bus_handle_set_cgroups(sd_bus_message *message, void *userdata, sd_bus_error *error);
enum access_level bus_determine_create_access(sd_bus_message *message, void *bus);
int bus_handle_create_session(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_handle_remove(sd_bus_message *message, void *userdata, sd_bus_error *error);

/** bus_drop_session() - remove a session, and signal that; returns 0 or negative errno */
int bus_drop_session(struct bus_service *bus, char session[static SESSION_NAME_SIZE]);

/* reload-method.c: reload of the configuration files */
int bus_handle_reload(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_get_reload_property(sd_bus *b, const char *path, const char *interface,
			    const char *property, sd_bus_message *reply, void *userdata,
			    sd_bus_error *error);

/**
 * bus_fill_reload_status() - write the result of the last reload to the header of a view: why the
 * files were refused, and which settings wait for a restart
 */
void bus_fill_reload_status(const struct bus_service *bus, struct view_header *header);

/* container.c: containers and their counters */
int bus_handle_get_containers(sd_bus_message *message, void *userdata, sd_bus_error *error);
int bus_handle_get_container(sd_bus_message *message, void *userdata, sd_bus_error *error);

/* flight-snapshot.c: snapshots of a session */
int bus_handle_snapshot(sd_bus_message *message, void *userdata, sd_bus_error *error);

#endif
