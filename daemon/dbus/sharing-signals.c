// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sharing-signals.h"

#include <stdio.h>
#include <stdlib.h>

#include "output/memory-access-names.h"
#include "profile/profile-read.h"

/*
 * Maximum number of periods, of one second each, in which a signal waits for names while the helper
 * is reading symbols. A large binary takes some seconds.
 */
#define NAME_PERIODS 60

/**
 * struct line_report - what the signal contains
 * @found: the line is in the table, and has false sharing
 * @named: all functions have names
 * @pending: the helper is reading symbols
 * @functions: names of functions, each once, the most frequent user first; NULL after the last
 */
struct line_report {
	bool found;
	bool named;
	bool pending;
	bool suspected;
	u32 cpus;
	u64 samples;
	u64 cycles;
	char container[128];
	char process[64];
	char names[LINE_SHARERS][MEMORY_ACCESS_FUNCTION_SIZE];
	char *functions[LINE_SHARERS + 1];
};

struct report_request {
	const struct sharing_signals *signals;
	struct line_report reports[SHARING_SIGNALS_MAX];
};

void sharing_signals_scan(struct sharing_signals *signals, const struct session *machine)
{
	while (signals->count < SHARING_SIGNALS_MAX) {
		struct waiting_line line = { 0 };

		if (!profile_get_raised_line(machine->profile, &signals->seen, &signals->left,
					     &line.key))
			return;
		signals->waiting[signals->count++] = line;
	}
}

static int compare_sharers(const void *a, const void *b)
{
	const struct line_sharer *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

static void add_function(struct line_report *report, const char *name)
{
	u32 i = 0;

	while (report->functions[i] && strcmp(report->functions[i], name))
		i++;
	if (report->functions[i])
		return;
	snprintf(report->names[i], sizeof(report->names[i]), "%s", name);
	report->functions[i] = report->names[i];
}

/* Fill in the names of a line. Request those that are not known yet. */
static void report_fill_names(struct line_report *report, struct worker_state *state,
			      const struct hot_line *line)
{
	const struct memory_access_names names = { state->attributor, state->symbols, true };
	const struct attribute_process *process;
	struct line_sharer sharers[LINE_SHARERS];
	char name[MEMORY_ACCESS_FUNCTION_SIZE];
	struct attribute_location where;
	struct symbols_stats stats;
	u64 owner = line->head.key[1];

	memcpy(sharers, line->sharer, sizeof(sharers));
	qsort(sharers, LINE_SHARERS, sizeof(*sharers), compare_sharers);
	/* An address that belongs to no process has the names of its most frequent user. */
	if (owner == LINE_PHYSICAL || owner == LINE_KERNEL)
		owner = sharers[0].owner;
	process = memory_access_find_process(&names, owner);
	snprintf(report->container, sizeof(report->container), "%s",
		 memory_access_get_container(&names, process));
	snprintf(report->process, sizeof(report->process), "%s",
		 memory_access_get_process(process));
	report->named = true;
	for (u32 i = 0; i < LINE_SHARERS && sharers[i].samples; i++) {
		report->named &= memory_access_get_function(&names, sharers[i].place,
							    sharers[i].owner, name, &where);
		/* The name would be the address, which not all receivers may see. */
		if (!*where.binary)
			symbols_name_unmapped(0, true, name, sizeof(name));
		add_function(report, name);
	}
	symbols_get_stats(state->symbols, &stats);
	report->pending = stats.pending;
}

static int read_reports(struct worker_state *state, void *arg)
{
	struct report_request *request = arg;
	const struct hot_lines *lines =
		profile_get_hot_lines(worker_find_session(state, NULL)->profile);

	for (u32 i = 0; i < request->signals->count; i++) {
		const struct line_key *key = &request->signals->waiting[i].key;
		struct line_report *report = &request->reports[i];
		const struct hot_line *line =
			(const struct hot_line *)topk_find(&lines->table, key->address, key->owner);

		if (!line || line_classify_sharing(line) != LINE_FALSE)
			continue;
		report->found = true;
		report->suspected = line_is_unsnooped(line);
		report->cpus = line_count_cpus(line);
		report->samples = line->samples;
		report->cycles = line->latency_sum;
		report_fill_names(report, state, line);
	}
	return 0;
}

/* Return whether to wait for names. In the first period they may not have been requested before. */
static bool should_wait(const struct line_report *report, struct waiting_line *line)
{
	return !report->named && (report->pending || !line->periods) &&
	       ++line->periods < NAME_PERIODS;
}

static int send_signal(struct bus_service *bus, const struct line_report *report, u64 left)
{
	sd_bus_message *message = NULL;
	int r;

	r = sd_bus_message_new_signal(bus->bus, &message, BUS_PATH, BUS_MANAGER, "FalseSharing");
	if (r >= 0)
		r = sd_bus_message_append(message, "ss", report->container, report->process);
	if (r >= 0)
		r = sd_bus_message_append_strv(message, (char **)report->functions);
	if (r >= 0)
		r = sd_bus_message_append(message, "ttubt", report->cycles, report->samples,
					  report->cpus, report->suspected, left);
	if (r >= 0)
		r = sd_bus_send(bus->bus, message, NULL);
	sd_bus_message_unref(message);
	return r;
}

void sharing_signals_send(struct sharing_signals *signals, struct bus_service *bus)
{
	struct report_request *request;
	u32 kept = 0;

	if (!signals->count)
		return;
	request = calloc(1, sizeof(*request));
	if (!request)
		return;
	request->signals = signals;
	worker_call(bus->worker, read_reports, request);
	for (u32 i = 0; i < signals->count; i++) {
		struct waiting_line *line = &signals->waiting[i];
		const struct line_report *report = &request->reports[i];

		if (!report->found)
			continue;
		if (should_wait(report, line))
			signals->waiting[kept++] = *line;
		else if (send_signal(bus, report, signals->left) >= 0)
			signals->left = 0;
	}
	signals->count = kept;
	free(request);
}
