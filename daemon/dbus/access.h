/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Access control for calls on the bus. The bus driver reports the user and groups of the caller;
 * polkit authorizes changes of the machine and access to raw records. Both are queried
 * asynchronously. The calls of all users but root are limited in rate (rate-limit.h).
 */
#ifndef SPEPROF_ACCESS_H
#define SPEPROF_ACCESS_H

#include "caller.h"
#include "rate-limit.h"

/**
 * enum access_level - the permission that a call needs; root and the daemon's own user have every
 * permission
 * @ACCESS_ANYONE: none; the method returns only what belongs to the caller
 * @ACCESS_READ: reading aggregates: members of the group speprof
 * @ACCESS_MANAGE: polkit's action org.speprof1.manage
 * @ACCESS_RELOAD: polkit's action org.speprof1.reload
 * @ACCESS_RAW: polkit's action org.speprof1.read-raw
 * @ACCESS_MANAGE_RAW: polkit's actions manage and read-raw, one after the other
 * @ACCESS_OWNER: only root and the daemon's own user
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

/*
 * maximum number of pending queries to polkit: for all users, for all users outside the group
 * speprof, and for one user
 */
#define ACCESS_QUERIES	      64
#define ACCESS_OTHERS_QUERIES 48
#define ACCESS_USER_QUERIES   4

/**
 * struct access_requirement - the permission and the tokens that a call needs
 * @level: the permission
 * @tokens: number of tokens that the call takes from its user's token bucket, 1 to 100
 * @level_of: function that returns the permission if it depends on the arguments of the call; NULL:
 * use @level. It reads @message from its beginning, and gets the @ctx of access_check(). It is
 * called again when polkit has answered, because other calls may have changed its result meanwhile
 */
struct access_requirement {
	enum access_level level;
	u32 tokens;
	enum access_level (*level_of)(sd_bus_message *message, void *ctx);
};

struct polkit_query;

/**
 * struct access_control - state of access control
 * @callers: what the bus driver reported about connections
 * @limit: token buckets of users
 * @now_ns: CLOCK_MONOTONIC; tests replace this function
 * @queries: open queries to polkit, @query_count of them
 */
struct access_control {
	struct bus_callers callers;
	struct rate_limit limit;
	u64 (*now_ns)(void);
	struct polkit_query *queries;
	u32 query_count;
};

/** access_init() - initialize @access; looks up the group speprof */
void access_init(struct access_control *access);

/** access_deinit() - drop pending queries to polkit; their callers get no answer */
void access_deinit(struct access_control *access);

/**
 * access_check() - check that the sender of @message has the permission and the tokens that the
 * call needs
 * @access: initialized
 * @message: a method call
 * @need: the permission, and the tokens to take
 * @retry: called with @message and @ctx when the bus driver has described the sender, and again
 * when polkit has answered. It calls access_check() again with the same @need. Its return value
 * answers the call. It must not use the object of @message, which may be removed by then
 * @ctx: argument for @retry and @need->level_of
 * @ret_caller: the sender
 * @ret_error: set on failure
 *
 * Tokens are taken when the user is known, before arguments are read, so a denied call costs as
 * much as a permitted one. Root and the daemon's own user need no tokens.
 *
 * Return: 1 if the call is permitted; 0 if @message waits for the bus driver or polkit, and @retry
 * will be called; negative errno with @ret_error set: AccessDenied or
 * InteractiveAuthorizationRequired if the sender lacks the permission; LimitsExceeded if the user
 * makes too many calls, or if too many calls wait.
 */
int access_check(struct access_control *access, sd_bus_message *message,
		 const struct access_requirement *need, sd_bus_message_handler_t retry, void *ctx,
		 struct bus_caller *ret_caller, sd_bus_error *ret_error);

/**
 * access_charge_rows() - charge @caller for the size of an answer
 * @access: initialized
 * @caller: the sender, as access_check() returned it
 * @rows: number of rows in the answer, or of rows that were searched for it
 *
 * One token is charged for each 64 rows, in addition to the tokens that access_check() took.
 */
void access_charge_rows(struct access_control *access, const struct bus_caller *caller, u64 rows);

#endif
