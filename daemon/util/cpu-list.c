// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu-list.h"

#include <fcntl.h>
#include <unistd.h>

#define CPU_DIRECTORY "/sys/devices/system/cpu"

static int parse_cpu(const char **text, u32 *ret_cpu)
{
	u32 cpu = 0;
	const char *p = *text;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		cpu = cpu * 10 + (u32)(*p - '0');
		if (cpu >= CPU_LIST_MAX)
			return -ERANGE;
	}
	*text = p;
	*ret_cpu = cpu;
	return 0;
}

int cpu_list_parse(const char *text, struct cpu_list *ret_list)
{
	struct cpu_list list = { 0 };
	u32 first = 0, last;
	int r;

	while (*text && *text != '\n') {
		r = parse_cpu(&text, &first);
		last = first;
		if (!r && *text == '-') {
			text++;
			r = parse_cpu(&text, &last);
		}
		if (r < 0)
			return r;
		if (last < first)
			return -EINVAL;
		for (u32 cpu = first; cpu <= last; cpu++)
			list.bits[cpu / 64] |= 1ULL << cpu % 64;
		if (*text == ',')
			text++;
		else if (*text && *text != '\n')
			return -EINVAL;
	}
	*ret_list = list;
	return 0;
}

int cpu_list_read(const char *path, struct cpu_list *ret_list)
{
	char text[4096];
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0) {
		n = -errno;
		close(fd);
		return (int)n;
	}
	close(fd);
	text[n] = '\0';
	return cpu_list_parse(text, ret_list);
}

int cpu_list_read_online(struct cpu_list *ret_list)
{
	return cpu_list_read(CPU_DIRECTORY "/online", ret_list);
}

int cpu_list_read_possible(struct cpu_list *ret_list)
{
	return cpu_list_read(CPU_DIRECTORY "/possible", ret_list);
}

u32 cpu_list_get_end(const struct cpu_list *list)
{
	for (u32 i = CPU_LIST_MAX / 64; i > 0; i--) {
		if (list->bits[i - 1])
			return i * 64 - (u32)__builtin_clzll(list->bits[i - 1]);
	}
	return 0;
}
