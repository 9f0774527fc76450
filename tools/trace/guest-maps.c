// SPDX-License-Identifier: LGPL-2.1-or-later
#include "guest-maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tasks/task-event.h"
#include "util/array.h"

#define MAPS_BYTES (8U << 20)

void guest_maps_clear(struct guest_maps *maps)
{
	for (u32 i = 0; i < maps->count; i++)
		free(maps->map[i].path);
	free(maps->map);
	*maps = (struct guest_maps){ .map = NULL };
}

struct guest_map *guest_maps_find(struct guest_maps *maps, u64 address)
{
	u32 after;

	if (maps->last < maps->count &&
	    address - maps->map[maps->last].start < maps->map[maps->last].size)
		return &maps->map[maps->last];
	after = ARRAY_COUNT_LEADING(maps->count, i, maps->map[i].start <= address);
	if (!after || address - maps->map[after - 1].start >= maps->map[after - 1].size)
		return NULL;
	maps->last = after - 1;
	return &maps->map[maps->last];
}

/* Parse "7f00-8f00 r--p 00001000 08:01 1234    /path"; false unless a file is mapped. */
static bool line_parse(const char *line, size_t len, u64 base, struct guest_map *ret_map)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	int at = 0;

	if (sscanf(line, "%llx-%llx %*4s %llx %x:%x %llu %n", &start, &end, &offset, &major, &minor,
		   &inode, &at) != 6 ||
	    !at || (size_t)at >= len || line[at] != '/' || end <= start || start < base || !inode)
		return false;
	*ret_map = (struct guest_map){
		.start = start - base,
		.size = end - start,
		.offset = offset,
		.inode = inode,
		.device = device_number(major, minor),
		.path = strndup(line + at, len - (size_t)at),
	};
	return ret_map->path;
}

static bool map_is_same(const struct guest_map *a, const struct guest_map *b)
{
	return a->start == b->start && a->size == b->size && a->offset == b->offset &&
	       a->inode == b->inode && a->device == b->device;
}

int guest_maps_parse(struct guest_maps *maps, const char *text, u64 base)
{
	struct guest_maps parsed = { .map = calloc(GUEST_MAPS_MAX, sizeof(*parsed.map)) };
	const struct guest_map *known;
	size_t len;

	if (!parsed.map)
		return -ENOMEM;
	for (; *text && parsed.count < GUEST_MAPS_MAX; text += len + (text[len] == '\n')) {
		struct guest_map *map = &parsed.map[parsed.count];

		len = strcspn(text, "\n");
		if (!line_parse(text, len, base, map))
			continue;
		known = guest_maps_find(maps, map->start);
		map->reported = known && known->reported && map_is_same(known, map);
		parsed.count++;
	}
	guest_maps_clear(maps);
	*maps = parsed;
	return 0;
}

int guest_maps_read(struct guest_maps *maps, s32 pid, u64 base)
{
	char path[32], *text;
	size_t len;
	FILE *file;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	text = malloc(MAPS_BYTES);
	len = text ? fread(text, 1, MAPS_BYTES - 1, file) : 0;
	fclose(file);
	if (!text)
		return -ENOMEM;
	text[len] = '\0';
	if (len)
		r = guest_maps_parse(maps, text, base);
	free(text);
	return r;
}
