// SPDX-License-Identifier: LGPL-2.1-or-later
#include "task-counters.h"

#include <stdlib.h>

bool tally_limit_is_reached(const struct tally_budget *budget, enum tally_kind kind)
{
	return budget->most && budget->used[kind] >= budget->most / (kind == TALLY_PROCESS ? 2 : 4);
}

struct profile_counters *tally_new(struct tally_budget *budget, enum tally_kind kind)
{
	struct profile_counters *counters = calloc(1, sizeof(*counters));

	budget->used[kind] += counters != NULL;
	return counters;
}

struct profile_counters *tally_free(struct tally_budget *budget, enum tally_kind kind,
				    struct profile_counters *counters)
{
	budget->used[kind] -= counters != NULL;
	free(counters);
	return NULL;
}

u64 tally_get_samples(const struct process_tally *entry)
{
	return (entry->sum ? entry->sum->samples : 0) +
	       (entry->moved_from ? entry->moved_from->samples : 0);
}
