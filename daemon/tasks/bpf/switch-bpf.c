// SPDX-License-Identifier: LGPL-2.1-or-later
#include "task-bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf-load.h"
#include "switches.skel.h"
#include "task-record.h"

/*
 * Limits of the number of entries for each CPU. The maximum suffices for 0.3 s at 200,000 switches
 * a second of the CPU
 */
#define ENTRIES_MAX (1U << 16)
#define ENTRIES_MIN (1U << 9)

struct switch_bpf {
	struct switches_bpf *programs;
	struct switch_entry *entries;
	struct switch_head *heads;
	size_t entries_size;
	size_t heads_size;
	u32 cpus;
	struct switch_ring rings[];
};

static size_t round_up_to_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

static u32 choose_ring_entries(size_t memory, u32 cpus)
{
	u32 n = ENTRIES_MAX;

	while (n > ENTRIES_MIN && (u64)n * sizeof(struct switch_entry) * cpus > memory)
		n /= 2;
	return n;
}

static int rings_map(struct switch_bpf *b, u32 entries)
{
	void *map;

	b->entries_size = round_up_to_pages((size_t)entries * b->cpus * sizeof(*b->entries));
	b->heads_size = round_up_to_pages(b->cpus * sizeof(struct switch_head));
	map = mmap(NULL, b->entries_size, PROT_READ, MAP_SHARED,
		   bpf_map__fd(b->programs->maps.switches), 0);
	if (map == MAP_FAILED)
		return -errno;
	b->entries = map;
	map = mmap(NULL, b->heads_size, PROT_READ, MAP_SHARED,
		   bpf_map__fd(b->programs->maps.switch_heads), 0);
	if (map == MAP_FAILED)
		return -errno;
	b->heads = map;
	for (u32 i = 0; i < b->cpus; i++)
		b->rings[i] = (struct switch_ring){
			.entries = b->entries + (size_t)i * entries,
			.count = (const u64 *)&b->heads[i].count,
			.mask = entries - 1,
		};
	return 0;
}

/* Record the current task of each CPU. The test run fails for offline CPUs, which run no task. */
static void record_running_tasks(struct switch_bpf *b)
{
	for (u32 i = 0; i < b->cpus; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = i);

		bpf_prog_test_run_opts(bpf_program__fd(b->programs->progs.running_task), &opts);
	}
}

static int program_load_and_attach(struct switch_bpf *b, u32 entries, char *ret_reason)
{
	struct switches_bpf *p;
	int r;

	bpf_load_silence_libbpf();
	p = switches_bpf__open();
	if (!p) {
		bpf_load_explain_failure(ENOMEM, "open", ret_reason);
		return -ENOMEM;
	}
	b->programs = p;
	p->rodata->switch_entries = entries;
	r = bpf_map__set_max_entries(p->maps.switches, entries * b->cpus);
	if (!r)
		r = bpf_map__set_max_entries(p->maps.switch_heads, b->cpus);
	if (!r)
		r = switches_bpf__load(p);
	if (r < 0) {
		bpf_load_explain_failure(-r, "load", ret_reason);
		return r;
	}
	p->links.on_switch = bpf_program__attach(p->progs.on_switch);
	if (!p->links.on_switch) {
		r = -errno;
		bpf_load_explain_failure(-r, "attach", ret_reason);
	}
	return r;
}

int switch_bpf_new(size_t memory, struct switch_bpf **ret_bpf, char *ret_reason)
{
	int cpus = libbpf_num_possible_cpus(), r;
	struct switch_bpf *b;
	u32 entries;

	b = cpus > 0 ? calloc(1, sizeof(*b) + (size_t)cpus * sizeof(b->rings[0])) : NULL;
	if (!b) {
		r = cpus < 0 ? cpus : -ENOMEM;
		bpf_load_explain_failure(-r, "load", ret_reason);
		return r;
	}
	b->cpus = (u32)cpus;
	entries = choose_ring_entries(memory, b->cpus);
	r = program_load_and_attach(b, entries, ret_reason);
	if (!r) {
		r = rings_map(b, entries);
		if (r < 0)
			bpf_load_explain_failure(-r, "map", ret_reason);
	}
	if (r < 0) {
		switch_bpf_free(b);
		return r;
	}
	record_running_tasks(b);
	*ret_bpf = b;
	return 0;
}

struct switch_bpf *switch_bpf_free(struct switch_bpf *b)
{
	if (!b)
		return NULL;
	if (b->entries)
		munmap(b->entries, b->entries_size);
	if (b->heads)
		munmap(b->heads, b->heads_size);
	switches_bpf__destroy(b->programs);
	free(b);
	return NULL;
}

struct switch_ring *switch_bpf_get_rings(struct switch_bpf *b, u32 *ret_cpus)
{
	*ret_cpus = b->cpus;
	return b->rings;
}
