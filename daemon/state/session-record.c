// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session-record.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define CPUS_MAX 65536

static u64 spent_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

/* ---- Sources --------------------------------------------------------------- */

static void positions_save(const struct source *source, struct blob_writer *to)
{
	const struct source_lasting *lasting = source->ops->lasting;
	struct source_position *at = lasting ? calloc(source->cpus, sizeof(*at)) : NULL;
	u32 count = at ? lasting->positions(source, at, source->cpus) : 0;

	blob_put(to, count);
	for (u32 i = 0; i < count; i++) {
		blob_put(to, at[i].cpu);
		blob_put(to, at[i].tail);
		blob_put(to, at[i].event_tail);
		blob_put(to, at[i].ahead_ns);
		blob_put(to, at[i].offline);
	}
	free(at);
}

static int positions_load(struct blob_reader *from, struct kept_source *ret)
{
	u32 count = (u32)blob_get_below(from, CPUS_MAX + 1);

	ret->positions = calloc(count ? count : 1, sizeof(*ret->positions));
	if (!ret->positions)
		return -ENOMEM;
	for (; ret->count < count && !from->bad; ret->count++) {
		struct source_position *at = &ret->positions[ret->count];

		at->cpu = (u32)blob_get_below(from, CPUS_MAX);
		at->tail = blob_get(from);
		at->event_tail = blob_get(from);
		at->ahead_ns = blob_get(from);
		at->offline = blob_get_below(from, 2);
	}
	return from->bad ? -EBADMSG : 0;
}

void kept_source_save(const struct source *source, struct blob_writer *to)
{
	const struct source_trouble *trouble = &source->trouble;

	blob_put(to, source->backend);
	positions_save(source, to);
	blob_put(to, trouble->faults);
	blob_put(to, trouble->throttles);
	blob_put(to, trouble->unread);
	blob_put_string(to, trouble->last);
}

int kept_source_load(struct blob_reader *from, struct kept_source *ret)
{
	struct source_trouble *trouble = &ret->trouble;
	int r;

	*ret = (struct kept_source){ .backend = (u8)blob_get_below(from, BACKEND_EMULATED + 1) };
	r = positions_load(from, ret);
	if (r < 0)
		return r;
	trouble->faults = blob_get(from);
	trouble->throttles = blob_get(from);
	trouble->unread = blob_get(from);
	blob_get_string(from, trouble->last, sizeof(trouble->last));
	return from->bad ? -EBADMSG : 0;
}

/* What a session of its own source had it asked for; which cgroups is said by its rule. */
static void sampling_save(const struct feed *feed, struct blob_writer *to)
{
	const struct source_config *sampling = &feed->sampling;

	blob_put(to, sampling->interval_ns);
	blob_put(to, sampling->jitter);
	blob_put(to, sampling->kernel);
	blob_put(to, sampling->user);
	blob_put(to, sampling->no_context);
	blob_put(to, sampling->physical);
	blob_put(to, feed->source->cgroups);
}

static void sampling_load(struct blob_reader *from, struct kept *ret)
{
	struct source_config *sampling = &ret->sampling;

	sampling->interval_ns = blob_get(from);
	sampling->jitter = blob_get_below(from, 2);
	sampling->kernel = blob_get_below(from, 2);
	sampling->user = blob_get_below(from, 2);
	sampling->no_context = blob_get_below(from, 2);
	sampling->physical = blob_get_below(from, 2);
	ret->of_cgroups = blob_get_below(from, 2);
	/* There is no session of no interval, and none of cgroups without one. */
	if (!sampling->interval_ns || (ret->of_cgroups && !*ret->cgroups))
		from->bad = true;
}

/* ---- Configuration --------------------------------------------------------- */

void kept_configured_save(const struct keep_configured *configured, struct blob_writer *to)
{
	blob_put(to, configured->interval_ns);
	blob_put_string(to, configured->filter);
	blob_put_string(to, configured->containers);
	blob_put_string(to, configured->excluded);
}

void kept_configured_load(struct blob_reader *from, struct keep_configured *ret)
{
	ret->interval_ns = blob_get(from);
	blob_get_string(from, ret->filter, sizeof(ret->filter));
	blob_get_string(from, ret->containers, sizeof(ret->containers));
	blob_get_string(from, ret->excluded, sizeof(ret->excluded));
}

/* ---- Sessions -------------------------------------------------------------- */

void kept_save(const struct session *session, bool runs, u64 now_ns, struct blob_writer *to)
{
	bool own = !session->shared && strcmp(session->name, SESSION_MACHINE) != 0;
	char *const *cgroups = session->rule->cgroups;
	u32 count = 0;

	while (cgroups && cgroups[count])
		count++;
	blob_put_string(to, session->name);
	blob_put_string(to, session->rule->expression);
	blob_put(to, count);
	for (u32 i = 0; i < count; i++)
		blob_put_string(to, cgroups[i]);
	blob_put(to, runs);
	blob_put(to, session->running ? now_ns - session->started_ns : 0);
	blob_put(to, session->ran_ns);
	blob_put(to, session->epoch);
	blob_put(to, spent_ns() - session->cost_ns);
	blob_put(to, session->flight ? flight_size(session->flight) : 0);
	blob_put(to, own);
	if (!own)
		return;
	sampling_save(session->feed, to);
	kept_source_save(session->feed->source, to);
}

static int cgroups_load(struct blob_reader *from, struct kept *ret)
{
	u32 count = (u32)blob_get_below(from, SESSION_CGROUPS + 1);
	char path[SESSION_TEXT];

	for (u32 i = 0; i < count && !from->bad; i++) {
		blob_get_string(from, path, sizeof(path));
		ret->cgroups[i] = strdup(path);
		if (!ret->cgroups[i])
			return -ENOMEM;
	}
	return 0;
}

int kept_load(struct blob_reader *from, struct kept *ret)
{
	int r;

	*ret = (struct kept){ 0 };
	blob_get_string(from, ret->name, sizeof(ret->name));
	from->bad = from->bad || !session_name_valid(ret->name);
	blob_get_string(from, ret->expression, sizeof(ret->expression));
	r = cgroups_load(from, ret);
	if (r < 0)
		return r;
	ret->running = blob_get_below(from, 2);
	ret->since_ns = blob_get(from);
	ret->ran_ns = blob_get(from);
	ret->epoch = blob_get(from);
	ret->cost_ns = blob_get(from);
	ret->buffer = blob_get(from);
	ret->own = blob_get_below(from, 2);
	if (ret->own) {
		sampling_load(from, ret);
		r = kept_source_load(from, &ret->source);
	}
	return r < 0 ? r : from->bad ? -EBADMSG : 0;
}

void kept_clear(struct kept *kept)
{
	for (u32 i = 0; kept->cgroups[i]; i++)
		free(kept->cgroups[i]);
	free(kept->source.positions);
}
