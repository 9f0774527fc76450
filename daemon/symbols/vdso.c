// SPDX-License-Identifier: LGPL-2.1-or-later
#include "vdso.h"

#include "attribution/procfs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define VDSO_MAX 0x10000

static bool vdso_find(void *ctx, const struct procfs_map *map)
{
	if (!strcmp(map->path, "[vdso]"))
		*(struct procfs_map *)ctx = *map;
	return true;
}

int vdso_open(void)
{
	struct procfs_map map = { 0 };
	int self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC), fd, r;
	struct procfs_maps_cost cost;

	if (self < 0)
		return -errno;
	r = procfs_read_maps(self, 0, vdso_find, &map, &cost);
	close(self);
	if (r < 0 || !map.start || map.end - map.start > VDSO_MAX)
		return r < 0 ? r : -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, (const void *)(uintptr_t)map.start, map.end - map.start) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}
