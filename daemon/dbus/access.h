/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Access control for calls on the bus. The bus driver knows the caller's user and groups; polkit
 * authorizes changes of the machine and access to raw records. Both are queried asynchronously.
 * Users other than root are limited in rate (rate-limit.h).
 */
#ifndef SPEPROF_ACCESS_H
#define SPEPROF_ACCESS_H

#include "caller.h"
#include "rate-limit.h"

/**
 * enum access_level - the right that a call needs; root and the daemon's own user have all of them
 * @ACCESS_ANYONE: none; the method shows each caller only what belongs to it
 * @ACCESS_READ: aggregates: the group speprof
 * @ACCESS_MANAGE: org.speprof1.manage of polkit
 * @ACCESS_RELOAD: org.speprof1.reload of polkit
 * @ACCESS_RAW: org.speprof1.read-raw of polkit
 * @ACCESS_MANAGE_RAW: manage and read-raw of polkit, queried one after the other
 * @ACCESS_OWNER: root and the daemon's own user alone
 */
enum access_level {
	ACCESS_ANYONE,
	ACCESS_READ,
	ACCESS_MANAGE,
	ACCESS_RELOAD,
	ACCESS_RAW,
	ACCESS_MANAGE_RAW,
	ACCESS_OWNER,
};

/* Open queries to polkit: of all users, of all users outside the group speprof, and of one user. */
#define ACCESS_QUERIES	      64
#define ACCESS_OTHERS_QUERIES 48
#define ACCESS_USER_QUERIES   4

/**
 * struct access_need - what a call needs
 * @level: the right
 * @tokens: what the call takes from its user's token bucket; at least 1, at most 100
 * @level_of: returns the right where it depends on the call's arguments; NULL: @level. It reads
 *	@message from its beginning, and gets the @ctx of access_check(). It is called once more
 *	when polkit has answered, as other calls may have changed the answer meanwhile
 */
struct access_need {
	enum access_level level;
	u32 tokens;
	enum access_level (*level_of)(sd_bus_message *message, void *ctx);
};

struct access_query;

/**
 * struct access - state of access control
 * @callers: what the bus driver reported about connections
 * @limit: token buckets of users
 * @now_ns: CLOCK_MONOTONIC; tests replace it
 * @queries: open queries to polkit, @query_count of them
 */
struct access {
	struct bus_callers callers;
	struct rate_limit limit;
	u64 (*now_ns)(void);
	struct access_query *queries;
	u32 query_count;
};

/** access_init() - initialize @access; looks up the group speprof */
void access_init(struct access *access);

/** access_deinit() - drop open queries; their callers get no answer */
void access_deinit(struct access *access);

/**
 * access_check() - check whether the sender of @message may have what it needs
 * @access: initialized
 * @message: a method call
 * @need: the right, and the tokens to take
 * @retry: called with @message and @ctx once the bus driver has reported the sender, and once
 *	polkit has answered; it calls access_check() again with the same @need. What it returns
 *	answers the call. It must not rely on the object of @message, which may be removed by then
 * @ctx: for @retry and @need->level_of
 * @ret_caller: the sender
 * @ret_error: set on failure
 *
 * The tokens are taken once the user is known and before arguments are read, so a denied call
 * costs as much as a permitted one. Root and the daemon's own user pass without tokens.
 *
 * Return: 1 if the sender may; 0 if @message waits for the driver or for polkit, and comes to
 * @retry; negative errno with @ret_error set: AccessDenied, InteractiveAuthorizationRequired, or
 * LimitsExceeded if the user's calls exceed its rate or too many calls wait.
 */
int access_check(struct access *access, sd_bus_message *message, const struct access_need *need,
		 sd_bus_message_handler_t retry, void *ctx, struct bus_caller *ret_caller,
		 sd_bus_error *ret_error);

/**
 * access_charge_rows() - charge @caller for the size of an answer
 * @access: initialized
 * @caller: the sender, as access_check() returned it
 * @rows: rows that the answer holds, or that were searched for it
 *
 * One token for each 64 rows, beside those that access_check() took.
 */
void access_charge_rows(struct access *access, const struct bus_caller *caller, u64 rows);

#endif
