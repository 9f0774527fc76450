// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session-record.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "util/time.h"

/* Limit of CPU numbers, and of the number of positions, in a checkpoint. */
#define CPUS_MAX 65536

/* ---- Sources --------------------------------------------------------------- */

static void positions_save(const struct source *source, struct serializer *to)
{
	const struct source_persist_ops *persist = source->ops->persist;
	struct source_position *at = persist ? calloc(source->cpus, sizeof(*at)) : NULL;
	u32 count = at ? persist->positions(source, at, source->cpus) : 0;

	serialize_u64(to, count);
	for (u32 i = 0; i < count; i++) {
		serialize_u64(to, at[i].cpu);
		serialize_u64(to, at[i].tail);
		serialize_u64(to, at[i].event_tail);
		serialize_u64(to, at[i].reported_early_ns);
		serialize_u64(to, at[i].offline);
	}
	free(at);
}

static int positions_load(struct deserializer *from, struct source_record *ret)
{
	u32 count = (u32)deserialize_u64_below(from, CPUS_MAX + 1);

	ret->positions = calloc(count ? count : 1, sizeof(*ret->positions));
	if (!ret->positions)
		return -ENOMEM;
	for (; ret->count < count && !from->bad; ret->count++) {
		struct source_position *at = &ret->positions[ret->count];

		at->cpu = (u32)deserialize_u64_below(from, CPUS_MAX);
		at->tail = deserialize_u64(from);
		at->event_tail = deserialize_u64(from);
		at->reported_early_ns = deserialize_u64(from);
		at->offline = deserialize_u64_below(from, 2);
	}
	return from->bad ? -EBADMSG : 0;
}

void source_record_save(const struct source *source, struct serializer *to)
{
	const struct source_health *health = &source->health;

	serialize_u64(to, source->backend);
	positions_save(source, to);
	serialize_u64(to, health->faults);
	serialize_u64(to, health->throttles);
	serialize_u64(to, health->unread);
	serialize_string(to, health->last);
}

int source_record_load(struct deserializer *from, struct source_record *ret)
{
	struct source_health *health = &ret->health;
	int r;

	*ret = (struct source_record){ .backend = (u8)deserialize_u64_below(from,
									    BACKEND_EMULATED + 1) };
	r = positions_load(from, ret);
	if (r < 0)
		return r;
	health->faults = deserialize_u64(from);
	health->throttles = deserialize_u64(from);
	health->unread = deserialize_u64(from);
	deserialize_string(from, health->last, sizeof(health->last));
	return from->bad ? -EBADMSG : 0;
}

/*
 * Save the sampling options of a session's own source. The cgroups are saved with the rule of the
 * session.
 */
static void sampling_save(const struct shared_source *shared_source, struct serializer *to)
{
	const struct source_config *sampling = &shared_source->sampling;

	serialize_u64(to, sampling->interval_ns);
	serialize_u64(to, sampling->jitter);
	serialize_u64(to, sampling->kernel);
	serialize_u64(to, sampling->user);
	serialize_u64(to, sampling->no_context);
	serialize_u64(to, sampling->physical);
	serialize_u64(to, shared_source->source->cgroups);
}

static void sampling_load(struct deserializer *from, struct session_record *ret)
{
	struct source_config *sampling = &ret->sampling;

	sampling->interval_ns = deserialize_u64(from);
	sampling->jitter = deserialize_u64_below(from, 2);
	sampling->kernel = deserialize_u64_below(from, 2);
	sampling->user = deserialize_u64_below(from, 2);
	sampling->no_context = deserialize_u64_below(from, 2);
	sampling->physical = deserialize_u64_below(from, 2);
	ret->of_cgroups = deserialize_u64_below(from, 2);
	/*
	 * Reject a record without an interval, because every source has one. Reject a source that
	 * samples only cgroups if the record has no cgroups.
	 */
	if (!sampling->interval_ns || (ret->of_cgroups && !*ret->cgroups))
		from->bad = true;
}

/* ---- Configuration --------------------------------------------------------- */

void settings_record_save(const struct checkpoint_settings *configured, struct serializer *to)
{
	serialize_u64(to, configured->interval_ns);
	serialize_string(to, configured->filter);
	serialize_string(to, configured->containers);
	serialize_string(to, configured->excluded);
}

void settings_record_load(struct deserializer *from, struct checkpoint_settings *ret)
{
	ret->interval_ns = deserialize_u64(from);
	deserialize_string(from, ret->filter, sizeof(ret->filter));
	deserialize_string(from, ret->containers, sizeof(ret->containers));
	deserialize_string(from, ret->excluded, sizeof(ret->excluded));
}

/* ---- Sessions -------------------------------------------------------------- */

void session_record_save(const struct session *session, bool runs, u64 now_ns,
			 struct serializer *to)
{
	bool own = !session->shared && strcmp(session->name, SESSION_MACHINE) != 0;
	char *const *cgroups = session->rule->cgroups;
	u32 count = 0;

	while (cgroups && cgroups[count])
		count++;
	serialize_string(to, session->name);
	serialize_string(to, session->rule->expression);
	serialize_u64(to, count);
	for (u32 i = 0; i < count; i++)
		serialize_string(to, cgroups[i]);
	serialize_u64(to, runs);
	serialize_u64(to, session->running ? now_ns - session->started_ns : 0);
	serialize_u64(to, session->ran_ns);
	serialize_u64(to, session->epoch);
	serialize_u64(to, time_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - session->cost_ns);
	serialize_u64(to, session->flight ? flight_recorder_get_size(session->flight) : 0);
	serialize_u64(to, own);
	if (!own)
		return;
	sampling_save(session->shared_source, to);
	source_record_save(session->shared_source->source, to);
}

static int cgroups_load(struct deserializer *from, struct session_record *ret)
{
	u32 count = (u32)deserialize_u64_below(from, SESSION_CGROUPS + 1);
	char path[SESSION_TEXT];

	for (u32 i = 0; i < count && !from->bad; i++) {
		deserialize_string(from, path, sizeof(path));
		ret->cgroups[i] = strdup(path);
		if (!ret->cgroups[i])
			return -ENOMEM;
	}
	return 0;
}

int session_record_load(struct deserializer *from, struct session_record *ret)
{
	int r;

	*ret = (struct session_record){ 0 };
	deserialize_string(from, ret->name, sizeof(ret->name));
	from->bad = from->bad || !session_name_valid(ret->name);
	deserialize_string(from, ret->expression, sizeof(ret->expression));
	r = cgroups_load(from, ret);
	if (r < 0)
		return r;
	ret->running = deserialize_u64_below(from, 2);
	ret->since_ns = deserialize_u64(from);
	ret->ran_ns = deserialize_u64(from);
	ret->epoch = deserialize_u64(from);
	ret->cost_ns = deserialize_u64(from);
	ret->buffer = deserialize_u64(from);
	ret->own = deserialize_u64_below(from, 2);
	if (ret->own) {
		sampling_load(from, ret);
		r = source_record_load(from, &ret->source);
	}
	return r < 0 ? r : from->bad ? -EBADMSG : 0;
}

void session_record_clear(struct session_record *record)
{
	for (u32 i = 0; record->cgroups[i]; i++)
		free(record->cgroups[i]);
	free(record->source.positions);
}
