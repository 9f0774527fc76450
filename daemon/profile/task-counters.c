// SPDX-License-Identifier: LGPL-2.1-or-later
#include "task-counters.h"

#include <stdlib.h>

bool tally_full(const struct tally_room *room, enum tally_kind kind)
{
	return room->most && room->used[kind] >= room->most / (kind == TALLY_PROCESS ? 2 : 4);
}

struct figures *tally_new(struct tally_room *room, enum tally_kind kind)
{
	struct figures *figures = calloc(1, sizeof(*figures));

	room->used[kind] += figures != NULL;
	return figures;
}

struct figures *tally_drop(struct tally_room *room, enum tally_kind kind, struct figures *figures)
{
	room->used[kind] -= figures != NULL;
	free(figures);
	return NULL;
}

u64 tally_samples(const struct process_tally *entry)
{
	return (entry->sum ? entry->sum->samples : 0) + (entry->before ? entry->before->samples : 0);
}
