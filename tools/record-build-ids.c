// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record-build-ids.h"

#include <errno.h>
#include <stdlib.h>

#include "attribution/maps.h"
#include "symbols/symbols.h"
#include "tasks/task-event.h"

/* Entries of &record_build_ids.known, a power of two; a machine maps some hundred files. */
#define CACHE_ENTRIES 4096

/* Maximum milliseconds for reading a build ID, because no ring is drained meanwhile */
#define BUILD_ID_WAIT_MS 1000

/** struct cached_build_id - the cached build ID of a file; @inode is 0 in an unused entry */
struct cached_build_id {
	u64 inode;
	u32 device;
	u64 path;
	u8 id[BUILD_ID_MAX];
	u8 size; /* bytes of the build ID; 0: the file has none, or cannot be read */
};

struct record_build_ids {
	struct source_sink next;
	struct symbols_cache *symbols;
	struct cached_build_id known[CACHE_ENTRIES];
};

int record_build_ids_new(const struct source_sink *sink, struct record_build_ids **ret_builds)
{
	const struct symbols_config config = { .wait_ms = BUILD_ID_WAIT_MS };
	struct record_build_ids *builds = calloc(1, sizeof(*builds));
	int r;

	if (!builds)
		return -ENOMEM;
	r = symbols_new(&config, &builds->symbols);
	if (r < 0) {
		free(builds);
		return r;
	}
	builds->next = *sink;
	*ret_builds = builds;
	return 0;
}

struct record_build_ids *record_build_ids_free(struct record_build_ids *builds)
{
	if (builds)
		symbols_free(builds->symbols);
	free(builds);
	return NULL;
}

static const struct cached_build_id *find_build_id(struct record_build_ids *builds,
						   const struct task_event *event)
{
	const struct attribute_location place = { .binary = event->name,
						  .inode = event->inode,
						  .device = event->device };
	u64 path = hash_path_nonzero(event->name);
	struct cached_build_id *known = &builds->known[(path ^ event->inode) % CACHE_ENTRIES];

	if (known->inode != event->inode || known->device != event->device || known->path != path) {
		*known = (struct cached_build_id){ .inode = event->inode,
						   .device = event->device,
						   .path = path };
		known->size = symbols_get_build_id(builds->symbols, event->pid, &place, known->id);
	}
	return known;
}

static void forward_task_event(void *ctx, const struct task_event *event)
{
	struct record_build_ids *builds = ctx;
	struct task_event changed = *event;
	const struct cached_build_id *known;

	if (event->type == TASK_MMAP && event->inode && event->name[0] == '/' &&
	    !event->build_id_size) {
		known = find_build_id(builds, event);
		changed.build_id = known->size ? known->id : NULL;
		changed.build_id_size = known->size;
	}
	builds->next.task(builds->next.ctx, &changed);
}

static void forward_window(void *ctx, const struct source_window *window)
{
	struct record_build_ids *builds = ctx;

	builds->next.window(builds->next.ctx, window);
}

struct source_sink record_build_ids_get_sink(struct record_build_ids *builds)
{
	return (struct source_sink){
		.window = forward_window,
		.task = builds->next.task ? forward_task_event : NULL,
		.ctx = builds,
	};
}
