/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may ask for what, and how much of it. Who a caller is the bus knows; who may change
 * the machine or see raw records polkit decides. Both are asked without waiting for them.
 */
#ifndef SPEPROF_BUS_ACCESS_H
#define SPEPROF_BUS_ACCESS_H

#include "bus-caller.h"

/**
 * enum access_level - what a method needs. Root, and whoever the daemon runs as, may all of it
 */
enum access_level {
	ACCESS_ANYONE, /* the method shows each caller what is its own */
	ACCESS_READ, /* aggregates: the group speprof */
	ACCESS_MANAGE, /* polkit: org.speprof1.manage */
	ACCESS_RELOAD, /* polkit: org.speprof1.reload */
	ACCESS_RAW, /* polkit: org.speprof1.read-raw */
	ACCESS_MANAGE_RAW, /* polkit: both, one after the other */
	ACCESS_OWNER, /* nobody else */
};

/* Users that are remembered at once; another takes the place of who had the least done, and its debt. */
#define ACCESS_USERS 64

/* Questions to polkit that may be open: of all, of all who are not in the group, and of one user. */
#define ACCESS_QUERIES	      64
#define ACCESS_OTHERS_QUERIES 48
#define ACCESS_USER_QUERIES   4

/** struct access_debt - CPU time that was spent and has not run off, as of @at_ns (CLOCK_MONOTONIC) */
struct access_debt {
	u64 spent_ns;
	u64 at_ns;
};

/**
 * struct access_user - what a user had done lately
 * @reads: its last caller is in the group: so fast it runs off
 */
struct access_user {
	uid_t uid;
	bool used;
	bool reads;
	struct access_debt debt;
};

/**
 * struct access_need - what a message needs
 * @level_of: where that depends on what is asked for: of the message, which it reads from the start,
 *	and of @ctx as access_check() has it; NULL: @level. Called once more when polkit has
 *	answered, as other calls may have changed the answer meanwhile
 */
struct access_need {
	enum access_level level;
	enum access_level (*level_of)(sd_bus_message *message, void *ctx);
};

/* What access_check() returns where polkit has said yes. */
#define ACCESS_BY_POLKIT 2

struct access_query;

/**
 * struct access
 * @others: of all who are not in the group together: whoever has a range of uids is many users
 */
struct access {
	struct bus_callers callers;
	struct access_user users[ACCESS_USERS];
	struct access_debt others;
	struct access_query *queries;
	u32 query_count;
};

void access_init(struct access *access);

/** access_deinit() - forget open questions: nobody is answered */
void access_deinit(struct access *access);

/**
 * access_check() - may the sender of @message have what it needs?
 * @again: called with @message and @ctx once the bus has said who the sender is, and once polkit has
 *	answered: it calls access_check() again. What it returns is the answer of the call. Where
 *	polkit may decide, it runs the call itself: the object of @message may be removed by then
 * @ret_caller: who it is
 *
 * A message is read for what it needs when it is known whose it is, and at that user's expense.
 *
 * Return: 1 if so, ACCESS_BY_POLKIT if polkit had to say so; 0 if @message waits for the bus or for
 * polkit, and comes to @again; negative errno with @ret_error set if not, or if it had too much
 * done lately.
 */
int access_check(struct access *access, sd_bus_message *message, const struct access_need *need,
		 sd_bus_message_handler_t again, void *ctx, struct bus_caller *ret_caller,
		 sd_bus_error *ret_error);

/** access_afford() - 0, or negative errno with @ret_error set: @caller had too much done lately */
int access_afford(struct access *access, const struct bus_caller *caller, sd_bus_error *ret_error);

/** access_charge() - @spent_ns of CPU time were spent for @caller */
void access_charge(struct access *access, const struct bus_caller *caller, u64 spent_ns);

#endif
