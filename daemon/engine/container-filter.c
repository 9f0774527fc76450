// SPDX-License-Identifier: LGPL-2.1-or-later
#include "container-filter.h"

#include <errno.h>
#include <stdio.h>

#include "worker-internal.h"

static bool is_machine_session(const struct session *session)
{
	return !strcmp(session->name, SESSION_MACHINE);
}

/* Build the rule of @session with the new lists of containers in @request. */
static int compose_rule(const struct session *session, struct container_filter_change *request,
			struct session_rule **ret_rule)
{
	const struct session_rule *rule = session->rule;
	struct filter_error error = { 0 };
	int r;

	r = session_rule_new(request->lists, rule->expression, rule->cgroups, ret_rule, &error);
	if (r == -EINVAL)
		snprintf(request->why, sizeof(request->why), "the filter of session \"%s\": %s",
			 session->name, error.text);
	return r;
}

/*
 * Replace the rule of @session with @rule, but keep the array of cgroups of the old rule: the
 * source may point to the strings of that array.
 */
static void replace_rule(struct worker_state *state, struct session *session,
			 struct session_rule *rule)
{
	char **cgroups = rule->cgroups;

	rule->cgroups = session->rule->cgroups;
	session->rule->cgroups = cgroups;
	/* Drain first, so that the old rule applies to the samples that were taken until now. */
	worker_drain_session(state, session);
	session_set_rule(session, rule);
	worker_program_filters(state, session->shared_source);
}

int container_filter_apply(struct worker_state *state, void *arg)
{
	struct session_rule *rules[WORKER_SESSIONS] = { NULL };
	struct session *session = NULL;
	struct container_filter_change *request = arg;
	int r = 0;

	while (request->lists && r >= 0 && (session = worker_get_next_session(state, session)))
		if (!is_machine_session(session))
			r = compose_rule(session, request, &rules[session - state->sessions]);
	if (r >= 0)
		r = worker_change_session(state, &request->change);
	for (u32 i = 0; i < WORKER_SESSIONS; i++) {
		if (!rules[i])
			continue;
		if (r >= 0)
			replace_rule(state, &state->sessions[i], rules[i]);
		else
			session_rule_free(rules[i]);
	}
	return r;
}
