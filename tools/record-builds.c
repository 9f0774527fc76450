// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record-builds.h"

#include <errno.h>
#include <stdlib.h>

#include "attribution/maps.h"
#include "symbols/symbols.h"
#include "tasks/task-event.h"

/* Size of the cache of build IDs, a power of two; a machine maps some hundred files. */
#define KNOWN 4096

/* Maximum milliseconds for reading a build ID, because no ring is drained meanwhile */
#define QUERY_MS 1000

/** struct known - the cached build ID of a file; @inode is 0 in an unused entry */
struct known {
	u64 inode;
	u32 device;
	u64 path;
	u8 id[BUILD_ID_MAX];
	u8 size; /* bytes of the build ID; 0: the file has none, or cannot be read */
};

struct record_builds {
	struct source_sink next;
	struct symbols *symbols;
	struct known known[KNOWN];
};

int record_builds_new(const struct source_sink *sink, struct record_builds **ret_builds)
{
	const struct symbols_config config = { .wait_ms = QUERY_MS };
	struct record_builds *builds = calloc(1, sizeof(*builds));
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

struct record_builds *record_builds_free(struct record_builds *builds)
{
	if (builds)
		symbols_free(builds->symbols);
	free(builds);
	return NULL;
}

static const struct known *builds_find(struct record_builds *builds, const struct task_event *event)
{
	const struct attribute_location place = { .binary = event->name,
						  .inode = event->inode,
						  .device = event->device };
	u64 path = path_hash(event->name);
	struct known *known = &builds->known[(path ^ event->inode) % KNOWN];

	if (known->inode != event->inode || known->device != event->device || known->path != path) {
		*known = (struct known){
			.inode = event->inode, .device = event->device, .path = path
		};
		known->size = symbols_build_id(builds->symbols, event->pid, &place, known->id);
	}
	return known;
}

static void builds_task(void *ctx, const struct task_event *event)
{
	struct record_builds *builds = ctx;
	struct task_event changed = *event;
	const struct known *known;

	if (event->type == TASK_MMAP && event->inode && event->name[0] == '/' &&
	    !event->build_id_size) {
		known = builds_find(builds, event);
		changed.build_id = known->size ? known->id : NULL;
		changed.build_id_size = known->size;
	}
	builds->next.task(builds->next.ctx, &changed);
}

static void builds_window(void *ctx, const struct source_window *window)
{
	struct record_builds *builds = ctx;

	builds->next.window(builds->next.ctx, window);
}

struct source_sink record_builds_sink(struct record_builds *builds)
{
	return (struct source_sink){
		.window = builds_window,
		.task = builds->next.task ? builds_task : NULL,
		.ctx = builds,
	};
}
