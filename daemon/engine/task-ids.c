// SPDX-License-Identifier: LGPL-2.1-or-later
#include "task-ids.h"

#include <stdio.h>
#include <string.h>

static enum source_contexts get_contexts(struct worker_state *state)
{
	const struct session *machine = worker_find_session(state, NULL);

	return machine ? source_get_contexts(machine->shared_source->source) :
			 SOURCE_CONTEXTS_UNKNOWN;
}

static bool follows_switches(const struct worker_state *state)
{
	return state->tasks && task_events_get_switch_kind(state->tasks) != TASK_EVENTS_PROC;
}

bool task_ids_switches_are_useless(struct worker_state *state)
{
	return follows_switches(state) && get_contexts(state) == SOURCE_CONTEXTS_ALL;
}

void task_ids_stop_switches(struct worker_state *state)
{
	attributor_set_switch_rings(state->attributor, NULL, 0);
	task_events_stop_switches(state->tasks);
}

void task_ids_fill_header(struct worker_state *state, struct view_header *header)
{
	const char *why = state->task_status.switches_reason;
	enum source_contexts contexts = get_contexts(state);
	size_t n = strlen(header->tasks_reason);
	const char *ids = "";

	if (contexts == SOURCE_CONTEXTS_ALL)
		ids = "records";
	else if (follows_switches(state))
		ids = task_events_name(task_events_get_switch_kind(state->tasks));
	else if (contexts == SOURCE_CONTEXTS_NONE)
		ids = "none";
	snprintf(header->task_ids, sizeof(header->task_ids), "%s", ids);
	header->switches = follows_switches(state) ? task_events_count_switches(state->tasks) : 0;
	if (contexts == SOURCE_CONTEXTS_NONE && *why)
		snprintf(header->tasks_reason + n, sizeof(header->tasks_reason) - n,
			 "%sno sample is attributed, because context switches are not reported: %s",
			 n ? "; " : "", why);
}
