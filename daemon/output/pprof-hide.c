// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Replace the samples of containers that a filter excludes with sums without process, function and
 * address. This happens after counting, so that the filter checks the name that would be written.
 */
#include "pprof-internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "attribution/attributor.h"
#include "attribution/pods.h"

enum { FOLD_SHOWN = 1, FOLD_HIDDEN };

int pprof_hidden_init(struct pprof_hidden *fold, const struct pprof_filter *filter,
		      struct attributor *attributor)
{
	*fold = (struct pprof_hidden){ .filter = filter, .attributor = attributor };
	if (!filter)
		return 0;
	fold->containers = attributor_get_container_limit(attributor);
	fold->verdict = calloc(fold->containers + 1, 1);
	return fold->verdict ? 0 : -ENOMEM;
}

void pprof_hidden_deinit(struct pprof_hidden *fold)
{
	free(fold->verdict);
	free(fold->entries);
}

static bool matches_any_pattern(char *const *patterns, const char *name)
{
	for (; patterns && *patterns; patterns++)
		if (!fnmatch(*patterns, name, 0))
			return true;
	return false;
}

/*
 * Apply the filter to the name that the container has in metrics. The name for samples outside of
 * containers is "none".
 */
static bool container_is_admitted(const struct pprof_hidden *f, u32 container)
{
	const struct attribute_container *c = attributor_get_container(f->attributor, container);
	const struct pprof_filter *filter = f->filter;
	struct container_details details;
	char name[PODS_NAME_SIZE];

	attributor_get_container_details(f->attributor, container, &details);
	pods_format_name(details.pod, *c->name ? c->name : "none", name);
	return !matches_any_pattern(filter->deny, name) &&
	       (!filter->allow || !*filter->allow || matches_any_pattern(filter->allow, name));
}

static bool entry_is_shown(struct pprof_hidden *f, const struct pprof_entry *e)
{
	const struct attribute_container *c = attributor_get_container(f->attributor, e->container);

	/* The container is unknown, was evicted, or did not fit into the table. */
	if (!c || c->generation != e->container_generation || e->container >= f->containers ||
	    e->container == attributor_get_other_container(f->attributor))
		return false;
	if (!f->verdict[e->container])
		f->verdict[e->container] =
			container_is_admitted(f, e->container) ? FOLD_SHOWN : FOLD_HIDDEN;
	return f->verdict[e->container] == FOLD_SHOWN;
}

static struct pprof_entry *get_hidden_sum(struct pprof_hidden *f, const struct pprof_entry *e)
{
	struct pprof_entry *entries = f->entries;

	for (u32 i = 0; i < f->count; i++)
		if (entries[i].level == e->level && entries[i].node == e->node &&
		    entries[i].unit == e->unit)
			return &entries[i];
	if (f->count == f->capacity) {
		entries = realloc(entries, (f->capacity + 64) * sizeof(*entries));
		if (!entries)
			return NULL;
		f->entries = entries;
		f->capacity += 64;
	}
	entries = &f->entries[f->count++];
	*entries = (struct pprof_entry){
		.process = ATTRIBUTE_NONE,
		.container = ATTRIBUTE_NONE,
		.level = e->level,
		.node = e->node,
		.unit = e->unit,
	};
	return entries;
}

bool pprof_hide_entry(struct pprof_hidden *fold, const struct pprof_entry *entry)
{
	struct pprof_entry *sum;

	if (!fold->filter || entry_is_shown(fold, entry))
		return false;
	sum = get_hidden_sum(fold, entry);
	if (!sum)
		fold->error = -ENOMEM;
	for (unsigned int i = 0; sum && i < PPROF_VALUES; i++) {
		sum->value[i] += entry->value[i];
		sum->weighted[i] += entry->weighted[i];
	}
	return true;
}
