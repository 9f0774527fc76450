// SPDX-License-Identifier: LGPL-2.1-or-later
#include "procfs.h"

#include "maps.h"
#include "source/source.h"
#include "tasks/task-event.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* maximum size of a line of maps: the kernel may write each of PATH_MAX bytes as "\012" */
#define MAPS_BUFFER (4 * PATH_MAX + 4096)

int procfs_open_task(int proc, s32 tid)
{
	char name[16];
	int fd;

	snprintf(name, sizeof(name), "%d", tid);
	fd = openat(proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int procfs_open_thread(int dir, s32 tid)
{
	char name[24];
	int fd;

	snprintf(name, sizeof(name), "task/%d", tid);
	fd = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool procfs_has_thread(int dir, s32 tid)
{
	struct stat st;
	char name[24];

	snprintf(name, sizeof(name), "task/%d", tid);
	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);
}

ssize_t procfs_read_file(int dir, const char *file, char *buf, size_t size)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (done < size - 1) {
		n = read(fd, buf + done, size - 1 - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	buf[done] = '\0';
	return (ssize_t)done;
}

int procfs_read_ids(int dir, s32 *ret_tgid, u32 *ret_uid)
{
	char buf[4096], *field, *uid;
	ssize_t n = procfs_read_file(dir, "status", buf, sizeof(buf));
	long tgid;

	if (n < 0)
		return (int)n;
	/* No earlier line can contain "\nTgid:": the kernel escapes newlines in "Name:". */
	field = strstr(buf, "\nTgid:");
	if (!field)
		return -EBADMSG;
	tgid = strtol(field + 6, NULL, 10);
	if (tgid <= 0 || tgid > INT32_MAX)
		return -EBADMSG;
	uid = strstr(field, "\nUid:");
	*ret_tgid = (s32)tgid;
	*ret_uid = uid ? (u32)strtoul(uid + 5, NULL, 10) : 0;
	return 0;
}

int procfs_read_stat(int dir, struct procfs_stat *ret_stat)
{
	struct procfs_stat st = { 0 };
	char buf[2048], *open, *close;
	ssize_t n = procfs_read_file(dir, "stat", buf, sizeof(buf));
	size_t len;

	if (n < 0)
		return (int)n;
	/* The name may contain parentheses, so the last ")" in the line ends the name. */
	open = strchr(buf, '(');
	close = strrchr(buf, ')');
	if (!open || !close || close < open)
		return -EBADMSG;
	/* Fields 3, 9, 20, 22, 26 and 28 of proc_pid_stat(5). */
	if (sscanf(close + 1,
		   " %c %*d %*d %*d %*d %*d %" SCNu32 " %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
		   " %" SCNu32 " %*d %" SCNu64 " %*u %*d %*u %" SCNu64 " %*u %" SCNu64,
		   &st.state, &st.flags, &st.threads, &st.start_time, &st.start_code,
		   &st.start_stack) != 6)
		return -EBADMSG;
	len = (size_t)(close - open - 1);
	if (len > sizeof(st.comm) - 1)
		len = sizeof(st.comm) - 1;
	memcpy(st.comm, open + 1, len);
	*ret_stat = st;
	return 0;
}

/* Convert "\012" to a newline, the only byte that the kernel escapes in a path. */
static void path_unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++) {
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

/*
 * Parse a line of maps. Returns false if it is invalid. If the mapping is not executable, only
 * @map->path is set, to NULL.
 */
static bool line_parse(char *line, struct procfs_map *map)
{
	u32 major, minor;
	char flags[5];
	int pos;

	map->path = NULL;
	/* Most mappings are not executable: test that before the slow sscanf(). */
	pos = (int)strcspn(line, " ");
	if (strnlen(line + pos, 4) == 4 && line[pos + 3] == '-')
		return true;
	if (sscanf(line,
		   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 "%n",
		   &map->start, &map->end, flags, &map->offset, &major, &minor, &map->inode,
		   &pos) != 7 ||
	    map->start >= map->end || strlen(flags) != 4 || flags[2] != 'x')
		return false;
	map->device = device_number(major, minor);
	line += pos;
	line += strspn(line, " ");
	path_unescape(line);
	map->path = line;
	return true;
}

/**
 * struct maps_read_state - state of procfs_read_maps()
 * @each, @ctx, @from: its parameters
 * @skipped: as in struct procfs_maps_cost
 * @overlong: whether the current line is longer than the buffer, so that it is skipped
 * @ended: whether @each returned false
 */
struct maps_read_state {
	bool (*each)(void *ctx, const struct procfs_map *map);
	void *ctx;
	u64 from;
	u64 skipped;
	bool overlong;
	bool ended;
};

/* Process the complete lines of @buf. Returns the number of bytes processed. */
static size_t lines_parse(struct maps_read_state *r, char *buf, size_t len)
{
	size_t done = 0;
	char *end;

	while (!r->ended && (end = memchr(buf + done, '\n', len - done))) {
		struct procfs_map map;

		*end = '\0';
		if (r->overlong)
			r->overlong = false;
		else if (!line_parse(buf + done, &map))
			r->skipped++;
		else if (map.path && map.end > r->from)
			r->ended = !r->each(r->ctx, &map);
		done = (size_t)(end + 1 - buf);
	}
	return done;
}

/* Read and parse the text of maps at @fd. */
static void maps_read_text(int fd, struct maps_read_state *r, struct procfs_maps_cost *cost)
{
	char buf[MAPS_BUFFER];
	size_t len = 0, done;
	ssize_t n;

	while (!r->ended) {
		n = read(fd, buf + len, sizeof(buf) - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (cost->bytes >= PROCFS_MAPS_BYTES) {
			r->skipped++;
			break;
		}
		len += (size_t)n;
		cost->bytes += (size_t)n;
		done = lines_parse(r, buf, len);
		len -= done;
		memmove(buf, buf + done, len);
		if (len < sizeof(buf))
			continue;
		/* The buffer is full and has no newline: skip this line. */
		if (!r->overlong)
			r->skipped++;
		r->overlong = true;
		len = 0;
	}
}

/* struct procmap_query of Linux 6.11, which older headers do not have */
struct map_query {
	u64 size;
	u64 flags;
	u64 address;
	u64 start;
	u64 end;
	u64 access;
	u64 page_size;
	u64 offset;
	u64 inode;
	u32 dev_major;
	u32 dev_minor;
	u32 name_size;
	u32 build_id_size;
	u64 name;
	u64 build_id;
};

#define MAP_QUERY	     _IOWR('f', 17, struct map_query)
#define MAP_QUERY_EXECUTABLE 0x04
#define MAP_QUERY_NEXT	     0x10 /* the mapping that contains the address, or the next one */
/*
 * One PROCMAP_QUERY takes about as long as reading this many bytes of /proc/PID/maps. Its cost is
 * counted as that many bytes
 */
#define MAP_QUERY_BYTES 256

/* Query the first executable mapping that ends after @address; @path is "" for anonymous memory. */
static int maps_query_next(int fd, u64 address, char *path, u32 size, struct map_query *ret_query)
{
	struct map_query q = {
		.size = sizeof(q),
		.flags = MAP_QUERY_EXECUTABLE | MAP_QUERY_NEXT,
		.address = address,
		.name_size = size,
		.name = (uintptr_t)path,
	};
	int r = ioctl(fd, MAP_QUERY, &q);

	bool unnamed = r < 0 && errno == ENAMETOOLONG;

	if (unnamed) {
		q.name_size = 0;
		q.name = 0;
		r = ioctl(fd, MAP_QUERY, &q);
	}
	if (r < 0)
		return -errno;
	if (!q.name_size)
		snprintf(path, size, "%s", unnamed ? BINARY_UNNAMED : "");
	*ret_query = q;
	return 0;
}

/*
 * Report the executable mappings by PROCMAP_QUERY. Returns 0, or a negative errno if the first
 * query failed: -ENOTTY if the kernel has no such queries.
 */
static int maps_query_all(int fd, struct maps_read_state *r, struct procfs_maps_cost *cost)
{
	char path[PATH_MAX];
	struct map_query q = { .end = r->from };
	int ret;

	while (!(ret = maps_query_next(fd, q.end, path, sizeof(path), &q))) {
		const struct procfs_map map = {
			.start = q.start,
			.end = q.end,
			.offset = q.offset,
			.inode = q.inode,
			.device = device_number(q.dev_major, q.dev_minor),
			.path = path,
		};

		cost->bytes += MAP_QUERY_BYTES;
		if (cost->bytes >= PROCFS_MAPS_BYTES || map.start >= map.end) {
			r->skipped++;
			return 0;
		}
		if (!r->each(r->ctx, &map))
			return 0;
	}
	/* There are no more mappings, or the process exited. */
	return cost->bytes || ret == -ENOENT || ret == -ESRCH ? 0 : ret;
}

int procfs_read_maps(int dir, u64 from, bool (*each)(void *ctx, const struct procfs_map *map),
		     void *ctx, struct procfs_maps_cost *ret_cost)
{
	struct maps_read_state r = { .each = each, .ctx = ctx, .from = from };
	struct procfs_maps_cost cost = { 0 };
	int fd = openat(dir, "maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (maps_query_all(fd, &r, &cost) < 0)
		maps_read_text(fd, &r, &cost);
	close(fd);
	cost.skipped = r.skipped;
	*ret_cost = cost;
	return 0;
}
