/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may ask for what, and how much of it. Who a caller is the bus knows; who may change
 * the machine or see raw records polkit decides, which is asked without waiting for it.
 */
#ifndef SPEPROF_BUS_ACCESS_H
#define SPEPROF_BUS_ACCESS_H

#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "env.h"

/**
 * enum access_level - what a method needs. Root, and whoever the daemon runs as, may all of it
 */
enum access_level {
	ACCESS_ANYONE, /* the method shows each caller what is its own */
	ACCESS_READ, /* aggregates: the group speprof */
	ACCESS_MANAGE, /* polkit: org.speprof1.manage */
	ACCESS_RELOAD, /* polkit: org.speprof1.reload */
	ACCESS_RAW, /* polkit: org.speprof1.read-raw */
};

/* Callers and users that are remembered at once; others take the place of the oldest. */
#define ACCESS_CALLERS 256
#define ACCESS_USERS   64

/* Questions to polkit that may be open, of all and of one user. */
#define ACCESS_QUERIES	    64
#define ACCESS_USER_QUERIES 4

/**
 * struct access_caller - a connection to the bus
 * @name: its unique one, which no other ever gets
 * @owner: root, or whoever the daemon runs as
 * @reads: in the group
 * @seen: for replacement
 */
struct access_caller {
	char name[32];
	uid_t uid;
	bool owner;
	bool reads;
	u64 seen;
};

/**
 * struct access_user - what a user had done lately
 * @spent_ns: CPU time, which runs off
 * @at_ns: when that was so, CLOCK_MONOTONIC
 * @queries: to polkit that are open
 */
struct access_user {
	uid_t uid;
	bool used;
	u64 spent_ns;
	u64 at_ns;
	u32 queries;
};

struct access_query;

struct access {
	gid_t group; /* (gid_t)-1: there is no such group */
	u64 clock;
	struct access_caller callers[ACCESS_CALLERS];
	struct access_user users[ACCESS_USERS];
	struct access_query *queries;
	u32 query_count;
};

void access_init(struct access *access);

/** access_deinit() - forget open questions: nobody is answered */
void access_deinit(struct access *access);

/**
 * access_check() - may the sender of @message have @level?
 * @ret_caller: who it is; valid until the next call
 *
 * Return: 1 if so; 0 if polkit is asked: @message comes again with its answer; negative
 * errno with @ret_error set if not, or if it had too much done lately.
 */
int access_check(struct access *access, sd_bus_message *message, enum access_level level,
		 struct access_caller *ret_caller, sd_bus_error *ret_error);

/** access_charge() - @spent_ns of CPU time were spent for @caller */
void access_charge(struct access *access, const struct access_caller *caller, u64 spent_ns);

#endif
