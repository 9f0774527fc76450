// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/memory.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is this machine's layout");
static_assert(sizeof(struct metrics_head) == 40, "no padding");
static_assert(sizeof(struct metrics_counters) == 8 * (9 + METRICS_LEVELS + 3 * 65), "no padding");
static_assert(sizeof(struct metrics_machine) ==
		      96 + 8 * (11 + 8 + 13) + sizeof(struct metrics_counters) + 24,
	      "no padding");
static_assert(sizeof(struct metrics_container) == 408 + sizeof(struct metrics_counters) + 392,
	      "no padding");

/*
 * The sizes of the structs for the machine and for a container that the first daemons wrote;
 * smaller structs are rejected
 */
#define MACHINE_MIN   offsetof(struct metrics_machine, mappings_lost)
#define CONTAINER_MIN offsetof(struct metrics_container, empty_ns)

static int write_all(int fd, const void *data, size_t size)
{
	const u8 *at = data;
	ssize_t n;

	for (; size; size -= (size_t)n, at += n) {
		n = write(fd, at, size);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			return -errno;
	}
	return 0;
}

int metrics_dump_to_memfd(const struct metrics_snapshot *metrics)
{
	struct metrics_head head = {
		.version = METRICS_VERSION,
		.head_size = sizeof(head),
		.machine_size = sizeof(struct metrics_machine),
		.container_size = sizeof(struct metrics_container),
		.containers = metrics->count,
	};
	size_t containers = metrics->count * sizeof(struct metrics_container);
	int fd, r;

	if (metrics->count > METRICS_CONTAINERS_MAX)
		return -E2BIG;
	memcpy(head.magic, METRICS_MAGIC, sizeof(head.magic));
	head.size = sizeof(head) + sizeof(struct metrics_machine) + containers;
	fd = memory_file_new("speprof-metrics");
	if (fd < 0)
		return fd;
	r = write_all(fd, &head, sizeof(head));
	if (r >= 0)
		r = write_all(fd, &metrics->machine, sizeof(metrics->machine));
	if (r >= 0)
		r = write_all(fd, metrics->containers, containers);
	if (r >= 0)
		r = memory_file_seal(fd);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

#define IS_TERMINATED(array) memchr(array, 0, sizeof(array))

static int set_error(const char *why, const char **ret_why)
{
	*ret_why = why;
	return -EBADMSG;
}

static int parse_head(const u8 *data, size_t size, struct metrics_head *ret_head,
		      const char **ret_why)
{
	struct metrics_head h;
	u64 rest;

	if (size < sizeof(h))
		return set_error("shorter than its header", ret_why);
	memcpy(&h, data, sizeof(h));
	if (memcmp(h.magic, METRICS_MAGIC, sizeof(h.magic)) != 0)
		return set_error("not metrics: should begin with SPEMETR", ret_why);
	if (h.version != METRICS_VERSION) {
		*ret_why = "its version is not 1: install daemon and exporter of the same release";
		return -EPROTONOSUPPORT;
	}
	if (h.head_size < sizeof(h) || h.head_size > METRICS_SECTION_MAX || h.head_size % 8 ||
	    h.machine_size < MACHINE_MIN || h.machine_size > METRICS_SECTION_MAX ||
	    h.machine_size % 8 || h.container_size < CONTAINER_MIN ||
	    h.container_size > METRICS_SECTION_MAX || h.container_size % 8)
		return set_error("a section has an impossible size", ret_why);
	if (h.containers > METRICS_CONTAINERS_MAX)
		return set_error("more than 8192 containers", ret_why);
	if (h.reserved)
		return set_error("a reserved field is not zero", ret_why);
	/* No sum can overflow: there are at most 8194 structs of 64 KiB. */
	rest = (u64)h.head_size + h.machine_size + (u64)h.containers * h.container_size;
	if (h.size != rest || size != rest)
		return set_error("its size is not the sum of its sections", ret_why);
	*ret_head = h;
	return 0;
}

static bool strings_are_terminated(const struct metrics_container *c)
{
	return IS_TERMINATED(c->name) && IS_TERMINATED(c->runtime) && IS_TERMINATED(c->path) &&
	       IS_TERMINATED(c->name_space) && IS_TERMINATED(c->pod) &&
	       IS_TERMINATED(c->pod_container);
}

int metrics_parse(const u8 *data, size_t size, struct metrics_snapshot *ret_metrics,
		  const char **ret_why)
{
	struct metrics_snapshot m = { 0 };
	struct metrics_head h;
	int r;

	r = parse_head(data, size, &h, ret_why);
	if (r < 0)
		return r;
	data += h.head_size;
	memcpy(&m.machine, data,
	       h.machine_size < sizeof(m.machine) ? h.machine_size : sizeof(m.machine));
	data += h.machine_size;
	if (!IS_TERMINATED(m.machine.version) || !IS_TERMINATED(m.machine.source) ||
	    !IS_TERMINATED(m.machine.tasks))
		return set_error("a string of the machine has no terminating NUL", ret_why);
	m.containers = calloc(h.containers + 1, sizeof(*m.containers));
	if (!m.containers)
		return -ENOMEM;
	for (; m.count < h.containers; m.count++, data += h.container_size) {
		struct metrics_container *c = &m.containers[m.count];

		memcpy(c, data, h.container_size < sizeof(*c) ? h.container_size : sizeof(*c));
		if (!strings_are_terminated(c)) {
			free(m.containers);
			return set_error("a string of a container has no terminating NUL", ret_why);
		}
	}
	*ret_metrics = m;
	return 0;
}

int metrics_load(int fd, struct metrics_snapshot *ret_metrics, const char **ret_why)
{
	size_t size, have = 0;
	struct stat st;
	ssize_t n = 1;
	u8 *data;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > METRICS_SIZE_MAX)
		return set_error("not a file of 1 byte to 32 MiB", ret_why);
	size = (size_t)st.st_size;
	data = malloc(size);
	if (!data)
		return -ENOMEM;
	while (have < size && n > 0) {
		n = pread(fd, data + have, size - have, (off_t)have);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			have += (size_t)n;
	}
	r = have == size ? metrics_parse(data, size, ret_metrics, ret_why) :
			   set_error("it was truncated while it was read", ret_why);
	free(data);
	return r;
}

void metrics_clear(struct metrics_snapshot *metrics)
{
	free(metrics->containers);
	*metrics = (struct metrics_snapshot){ 0 };
}
