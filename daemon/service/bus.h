/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.speprof1 on the bus: translates calls for the worker, decides only who may. */
#ifndef SPEPROF_BUS_H
#define SPEPROF_BUS_H

#include <systemd/sd-bus.h>

#include "bus-access.h"
#include "bus-facts.h"
#include "bus-peer.h"
#include "config.h"
#include "cpu-list.h"
#include "pprof.h"
#include "reload.h"
#include "worker.h"

#define BUS_NAME "org.speprof1"
#define BUS_PATH "/org/speprof1"

#define BUS_MANAGER "org.speprof1.Manager"
#define BUS_SESSION "org.speprof1.Session"
#define BUS_CPU	    "org.speprof1.CPU"

#define BUS_SESSIONS BUS_PATH "/session"
#define BUS_CPUS     BUS_PATH "/cpu"

/*
 * With which the loop ends once the bus has gone: without it nobody could ask or say anything, and
 * the next process gets what is kept and another bus. EX_TEMPFAIL: the unit restarts it.
 */
#define BUS_GONE_STATUS 75

struct bus_method;
struct bus_watch;
struct session_facts;

/**
 * struct bus - the connection, and what is served on it
 * @event: borrowed; ends with BUS_GONE_STATUS where the connection does
 * @config: borrowed; for sessions that are made on the bus
 * @methods: all methods; the last has no name
 * @caller: sender of the call whose method runs
 * @answer_rows: what that method's answer holds, by bus_answer_rows()
 * @cpus: which CPUs have an object: those that are online, as the source sees it
 * @online: what the kernel said the last time, and for how many looks more the source is asked
 * @facts: what properties show; @session that of the session asked last, read at @session_ns
 * @watch: what signals were sent for
 * @reload: have the files read again: 0, or negative errno and @reloaded says why; with @ctx
 * @reloaded: what became of them the last time; borrowed
 * @unsampled_logged: the journal has why a CPU with an SPU is not sampled
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
	u32 cpu_looks;
	struct bus_facts facts;
	struct session_facts *session;
	u64 session_ns;
	struct bus_watch *watch;
	int (*reload)(void *ctx);
	void *ctx;
	const struct reload *reloaded;
	bool unsampled_logged;
	struct bus_profile *profiles[PPROF_AT_ONCE]; /* that are being taken */
};

/**
 * bus_init() - connect, put the objects there and take the name
 * @address: of a private bus, or NULL for the system's
 * @worker, @config: borrowed
 *
 * Return: 0; -EEXIST if another speprofd has the name; other negative errno.
 */
int bus_init(struct bus *bus, sd_event *event, const char *address, struct worker *worker,
	     const struct config *config);

void bus_deinit(struct bus *bus);

/** bus_reloaded() - the files were read again: tell who watches what became of it */
void bus_reloaded(struct bus *bus);

/** bus_sampling_changed() - the machine's session samples by another interval; not by the bus */
void bus_sampling_changed(struct bus *bus);

/** bus_configured() - sessions may sample and count otherwise, by the configuration */
void bus_configured(struct bus *bus);

#endif
