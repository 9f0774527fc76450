// SPDX-License-Identifier: LGPL-2.1-or-later
#include "map-bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf-load.h"
#include "maps.skel.h"

struct map_bpf {
	struct maps_bpf *programs;
	bool functions;
};

static int attach(struct bpf_program *program, struct bpf_link **ret_link)
{
	*ret_link = bpf_program__attach(program);
	return *ret_link ? 0 : -errno;
}

static int programs_load(struct map_bpf *m, int events, u32 wakeup)
{
	struct maps_bpf *p = m->programs;
	int r;

	p->rodata->wakeup_bytes = wakeup;
	p->rodata->page_bytes = (u64)sysconf(_SC_PAGESIZE);
	bpf_program__set_autoload(p->progs.on_file, m->functions);
	bpf_program__set_autoload(p->progs.on_special, m->functions);
	bpf_program__set_autoload(p->progs.on_store, !m->functions);
	r = bpf_map__reuse_fd(p->maps.events, events);
	if (!r)
		r = maps_bpf__load(p);
	if (r < 0)
		return r;
	if (!m->functions)
		return attach(p->progs.on_store, &p->links.on_store);
	r = attach(p->progs.on_file, &p->links.on_file);
	return r < 0 ? r : attach(p->progs.on_special, &p->links.on_special);
}

/*
 * A type that the kernel has not (struct backing_file, before 6.8) libbpf looks for in its modules as
 * well, which takes CAP_SYS_ADMIN, unless it is told where types are.
 */
static struct maps_bpf *programs_open(void)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = BPF_KERNEL_TYPES);

	return maps_bpf__open_opts(&opts);
}

int map_bpf_new(int events, u32 wakeup, bool functions, struct map_bpf **ret_bpf)
{
	struct map_bpf *m = calloc(1, sizeof(*m));
	int r = -ENOMEM;

	if (!m)
		return -ENOMEM;
	bpf_quiet();
	m->functions = functions;
	m->programs = programs_open();
	if (m->programs)
		r = programs_load(m, events, wakeup);
	if (r < 0) {
		map_bpf_free(m);
		return r;
	}
	*ret_bpf = m;
	return 0;
}

struct map_bpf *map_bpf_free(struct map_bpf *m)
{
	if (!m)
		return NULL;
	maps_bpf__destroy(m->programs);
	free(m);
	return NULL;
}

/* A program is left out where it would interrupt itself. */
static u64 program_misses(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) < 0 ?
		       0 :
		       info.recursion_misses;
}

u64 map_bpf_lost(const struct map_bpf *m)
{
	u64 lost = __atomic_load_n(&m->programs->bss->dropped, __ATOMIC_RELAXED);

	if (m->functions)
		lost += program_misses(m->programs->progs.on_file) +
			program_misses(m->programs->progs.on_special);
	else
		lost += program_misses(m->programs->progs.on_store);
	return lost;
}

int map_probe(struct map_probe *ret_probe)
{
	struct map_probe probe = { .size = (size_t)sysconf(_SC_PAGESIZE) };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	probe.at = mmap(NULL, probe.size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (probe.at == MAP_FAILED)
		r = -errno;
	close(fd);
	*ret_probe = probe;
	return r;
}

void map_unprobe(struct map_probe *probe)
{
	munmap(probe->at, probe->size);
}

const char *map_record_path(const struct map_record *record, char *path)
{
	static const char deleted[] = " (deleted)";
	char *at = path + MAP_RECORD_PATH_MAX;
	u32 size = record->size, n;

	if (!size || size > sizeof(record->path) || record->path[size - 1])
		return NULL;
	if (record->kind == MAP_RECORD_SPECIAL)
		return record->path;
	*--at = '\0';
	if (record->kind == MAP_RECORD_DELETED) {
		at -= sizeof(deleted) - 1;
		memcpy(at, deleted, sizeof(deleted) - 1);
	}
	for (u32 i = 0; i < size; i += n + 1) {
		n = (u32)strlen(record->path + i);
		at -= n;
		memcpy(at, record->path + i, n);
		*--at = '/';
	}
	return at;
}
