// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mapping-bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bpf-load.h"
#include "maps.skel.h"
#include "tasks/task-event.h"
#include "util/time.h"

/**
 * struct mapping_bpf - the loaded programs, and the losses that are not reported yet
 * @programs: the BPF object
 * @ring: the ring of the programs
 * @functions: true if the programs are attached to kernel functions, false if to the tracepoint
 * @dropped: the program's counter of lost mappings at the last check
 * @unattributed: the program's counter of losses of unknown processes at the last check
 * @misses: runs that the kernel had skipped at the last check
 * @found_ns: time of the last check that found losses; 0: there is nothing to report
 * @found_unattributed: number of lost mappings of unknown processes, not reported yet
 * @found: number of processes with losses that are not reported yet
 * @pids: PIDs of the @found processes
 * @counts: number of lost mappings of each of these processes
 */
struct mapping_bpf {
	struct maps_bpf *programs;
	struct event_ring ring;
	bool functions;
	u64 dropped;
	u64 unattributed;
	u64 misses;
	u64 found_ns;
	u64 found_unattributed;
	u32 found;
	s32 pids[LOST_MAPS_MAX];
	u64 counts[LOST_MAPS_MAX];
};

static int program_attach(struct bpf_program *program, struct bpf_link **ret_link)
{
	*ret_link = bpf_program__attach(program);
	return *ret_link ? 0 : -errno;
}

static int programs_load_and_attach(struct mapping_bpf *m, size_t size, u64 rate)
{
	struct maps_bpf *p = m->programs;
	int r;

	p->rodata->wakeup_bytes = (u32)(size / 2);
	p->rodata->page_bytes = (u64)sysconf(_SC_PAGESIZE);
	p->rodata->byte_ns = 1000000000 / rate;
	bpf_program__set_autoload(p->progs.on_file, m->functions);
	bpf_program__set_autoload(p->progs.on_special, m->functions);
	bpf_program__set_autoload(p->progs.on_store, !m->functions);
	r = bpf_map__set_max_entries(p->maps.events, (u32)size);
	if (!r)
		r = maps_bpf__load(p);
	if (!r)
		r = event_ring_init(&m->ring, mapping_bpf_get_fd(m), size,
				    offsetof(struct map_record, path) + 1);
	if (r < 0)
		return r;
	if (!m->functions)
		return program_attach(p->progs.on_store, &p->links.on_store);
	r = program_attach(p->progs.on_file, &p->links.on_file);
	return r < 0 ? r : program_attach(p->progs.on_special, &p->links.on_special);
}

/*
 * If the kernel does not have a type (struct backing_file before 6.8), libbpf searches the modules,
 * which needs CAP_SYS_ADMIN. An explicit path of the BTF prevents this search.
 */
static struct maps_bpf *programs_open(void)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = BPF_KERNEL_TYPES);

	return maps_bpf__open_opts(&opts);
}

int mapping_bpf_new(size_t size, u64 rate, bool functions, struct mapping_bpf **ret_bpf)
{
	struct mapping_bpf *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	bpf_load_silence_libbpf();
	m->functions = functions;
	m->programs = programs_open();
	r = m->programs ? programs_load_and_attach(m, size, rate) : -errno;
	if (r < 0) {
		mapping_bpf_free(m);
		return r;
	}
	*ret_bpf = m;
	return 0;
}

struct mapping_bpf *mapping_bpf_free(struct mapping_bpf *m)
{
	if (!m)
		return NULL;
	event_ring_deinit(&m->ring);
	maps_bpf__destroy(m->programs);
	free(m);
	return NULL;
}

/*
 * Return the number of skipped runs: the kernel skips a run that would nest in another run of the
 * same program.
 */
static u64 program_get_misses(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) < 0 ?
		       0 :
		       info.recursion_misses;
}

static u64 sum_misses(const struct mapping_bpf *m)
{
	if (!m->functions)
		return program_get_misses(m->programs->progs.on_store);
	return program_get_misses(m->programs->progs.on_file) +
	       program_get_misses(m->programs->progs.on_special);
}

int mapping_bpf_get_fd(const struct mapping_bpf *m)
{
	return bpf_map__fd(m->programs->maps.events);
}

struct event_ring *mapping_bpf_get_ring(struct mapping_bpf *m)
{
	return &m->ring;
}

/* Read and clear the losses of each process. If that fails, count a loss of an unknown process. */
static void read_lost_maps(struct mapping_bpf *m)
{
	u32 at, count = LOST_MAPS_MAX;
	int r = bpf_map_lookup_and_delete_batch(bpf_map__fd(m->programs->maps.lost_maps), NULL, &at,
						m->pids, m->counts, &count, NULL);

	if (r < 0 && errno != ENOENT)
		m->found_unattributed++;
	else
		m->found = count;
}

static void find_losses(struct mapping_bpf *m)
{
	/* Acquire: a program counts a loss in lost_maps before it increments dropped. */
	u64 dropped = __atomic_load_n(&m->programs->bss->dropped, __ATOMIC_ACQUIRE);
	u64 unattributed = __atomic_load_n(&m->programs->bss->unattributed, __ATOMIC_RELAXED);
	u64 misses = sum_misses(m);

	m->found = 0;
	m->found_unattributed = unattributed - m->unattributed + misses - m->misses;
	if (dropped != m->dropped)
		read_lost_maps(m);
	m->dropped = dropped;
	m->unattributed = unattributed;
	m->misses = misses;
	m->found_ns = m->found || m->found_unattributed ? time_now_ns() : 0;
}

static void report_loss(const struct mapping_bpf *m, const struct task_sink *sink, s32 pid,
			u64 count)
{
	const struct task_event event = {
		.type = TASK_LOST_MAPS,
		.name = "",
		.time_ns = m->found_ns,
		.size = count,
		.pid = pid,
		.tid = pid,
		.parent_pid = -1,
	};

	sink->task(sink->ctx, &event);
}

void mapping_bpf_report_lost(struct mapping_bpf *m, u64 until_ns, const struct task_sink *sink)
{
	if (m->found_ns > until_ns)
		return;
	if (m->found_ns) {
		for (u32 i = 0; i < m->found; i++)
			report_loss(m, sink, m->pids[i], m->counts[i]);
		if (m->found_unattributed)
			report_loss(m, sink, 0, m->found_unattributed);
	}
	find_losses(m);
}

int mapping_probe_init(struct mapping_probe *ret_probe)
{
	struct mapping_probe probe = { .size = (size_t)sysconf(_SC_PAGESIZE) };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	probe.address = mmap(NULL, probe.size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (probe.address == MAP_FAILED)
		r = -errno;
	close(fd);
	*ret_probe = probe;
	return r;
}

void mapping_probe_deinit(struct mapping_probe *probe)
{
	munmap(probe->address, probe->size);
}

const char *map_record_build_path(const struct map_record *record, char *path)
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
