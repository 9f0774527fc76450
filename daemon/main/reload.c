// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reload.h"

#include <errno.h>
#include <stdio.h>

#include "engine/container-filter.h"
#include "engine/rate-control.h"
#include "engine/source-open.h"
#include "state/checkpoint.h"
#include "util/log.h"

/* List the settings of @to that need a restart; "" if there are none. */
static void list_waiting_settings(const struct config *from, const struct config *to, char *ret,
				  size_t size)
{
	const struct {
		const char *name;
		bool differs;
	} rows[] = {
		{ "Source=", from->source != to->source },
		{ "Emulate=", from->emulate != to->emulate },
		{ "IOUring=", from->io_uring != to->io_uring },
		{ "Contexts=", from->contexts != to->contexts },
		{ "PhysicalAddresses=", from->physical != to->physical },
		{ "TaskEvents=", from->task_events != to->task_events },
		{ "MemoryBudget=", from->memory_budget != to->memory_budget },
		{ "History=", from->history != to->history },
		{ "Workers=", from->workers != to->workers },
		{ "Models=", strcmp(from->models, to->models) != 0 },
	};
	size_t n = 0;

	*ret = 0;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].differs && n < size)
			n += (size_t)snprintf(ret + n, size - n, "%s%s", n ? ", " : "",
					      rows[i].name);
}

/* Build the changed rules: Filter= applies to the session "machine", the lists to all sessions. */
static int make_rules(const struct config *from, const struct config *to,
		      const struct filter_lists *lists, struct container_filter_change *request)
{
	struct filter_error error;
	int r;

	if (strcmp(from->containers, to->containers) || strcmp(from->excluded, to->excluded))
		request->lists = lists;
	else if (!strcmp(from->filter, to->filter))
		return 0;
	r = session_rule_new(lists, to->filter, NULL, &request->change.rule, &error);
	if (r == -EINVAL)
		request->change.reason =
			"Filter= is too long together with the lists of containers";
	return r;
}

/* Apply all changes or none; on failure, @ret has the reason. */
static int apply_changes(const struct config *from, const struct config *to,
			 const struct source_config *sampling, struct worker *worker,
			 struct reload_status *ret)
{
	struct container_filter_change request = { .change.sampling = sampling };
	struct config_container_lists lists;
	int r;

	r = config_split_lists(to, &lists);
	if (r >= 0) {
		r = make_rules(from, to, &lists.lists, &request);
		if (r >= 0)
			r = worker_call(worker, container_filter_apply, &request);
		config_container_lists_clear(&lists);
	}
	if (r >= 0)
		return r;
	session_rule_free(request.change.rule);
	snprintf(ret->refused, sizeof(ret->refused), "%s",
		 *request.why	       ? request.why :
		 request.change.reason ? request.change.reason :
					 strerror(-r));
	log_write(
		LOG_ERR, LOG_ID_CONFIG, NULL,
		"the new configuration cannot be applied, and the previous one stays in force: %s",
		ret->refused);
	return r;
}

int reload_apply(struct config *from, const struct config *to, struct worker *worker,
		 struct reload_status *ret)
{
	struct rate_controller_config governing = {
		.nominal_ns = 1000000000ULL / to->samples_per_second,
		.overhead = to->overhead,
		.rate = true,
	};
	struct source_config sampling = source_open_get_sampling(to);
	int r;

	/*
	 * If the configured rate is unchanged, do not change the interval, which rate control or a
	 * bus call may have set.
	 */
	if (from->samples_per_second == to->samples_per_second)
		sampling.interval_ns = governing.nominal_ns = 0;
	r = apply_changes(from, to, &sampling, worker, ret);
	if (r < 0)
		return r;
	/*
	 * Configure rate control for a new rate even if the source already has this interval: rate
	 * control may have chosen it.
	 */
	if (from->overhead != to->overhead || governing.nominal_ns)
		worker_call(worker, rate_control_configure, &governing);
	*ret->refused = 0;
	list_waiting_settings(from, to, ret->waiting, sizeof(ret->waiting));
	log_write(LOG_INFO, LOG_ID_RELOADED, NULL, "configuration reloaded%s%s",
		  *ret->waiting ? "; restart speprofd to apply " : "", ret->waiting);
	from->samples_per_second = to->samples_per_second;
	from->overhead = to->overhead;
	from->jitter = to->jitter;
	from->kernel = to->kernel;
	from->user = to->user;
	memcpy(from->containers, to->containers, sizeof(from->containers));
	memcpy(from->excluded, to->excluded, sizeof(from->excluded));
	memcpy(from->filter, to->filter, sizeof(from->filter));
	worker_call(worker, checkpoint_save_settings, from);
	return 0;
}
