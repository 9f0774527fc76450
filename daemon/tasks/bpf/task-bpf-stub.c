// SPDX-License-Identifier: LGPL-2.1-or-later
/* Replaces the BPF programs if speprof is built without BPF. */
#include "task-bpf.h"

#include <stdio.h>

static int set_reason(char *ret_reason)
{
	snprintf(ret_reason, TASK_BPF_REASON, "this speprof was built without BPF (meson -Dbpf=)");
	return -EOPNOTSUPP;
}

int task_bpf_new(size_t ring_size, struct task_bpf **ret_bpf, char *ret_reason)
{
	(void)ring_size;
	(void)ret_bpf;
	return set_reason(ret_reason);
}

struct task_bpf *task_bpf_free(struct task_bpf *bpf)
{
	(void)bpf;
	return NULL;
}

bool task_bpf_reports_maps(const struct task_bpf *bpf)
{
	(void)bpf;
	return false;
}

const char *task_bpf_get_maps_reason(const struct task_bpf *bpf)
{
	(void)bpf;
	return "";
}

int task_bpf_get_fd(const struct task_bpf *bpf)
{
	(void)bpf;
	return -1;
}

int task_bpf_get_maps_fd(const struct task_bpf *bpf)
{
	(void)bpf;
	return -1;
}

void task_bpf_begin_read(struct task_bpf *bpf)
{
	(void)bpf;
}

u64 task_bpf_get_next_time(const struct task_bpf *bpf)
{
	(void)bpf;
	return TASK_BPF_NOTHING;
}

void task_bpf_deliver_next(struct task_bpf *bpf, const struct task_sink *sink)
{
	(void)bpf;
	(void)sink;
}

void task_bpf_end_read(struct task_bpf *bpf)
{
	(void)bpf;
}

u64 task_bpf_take_lost_count(struct task_bpf *bpf)
{
	(void)bpf;
	return 0;
}

void task_bpf_report_lost_maps(struct task_bpf *bpf, u64 until_ns, const struct task_sink *sink)
{
	(void)bpf;
	(void)until_ns;
	(void)sink;
}

int task_bpf_report_all_tasks(struct task_bpf *bpf, const struct task_sink *sink)
{
	(void)bpf;
	(void)sink;
	return -EOPNOTSUPP;
}

int switch_bpf_new(size_t memory, struct switch_bpf **ret_bpf, char *ret_reason)
{
	(void)memory;
	(void)ret_bpf;
	return set_reason(ret_reason);
}

struct switch_bpf *switch_bpf_free(struct switch_bpf *bpf)
{
	(void)bpf;
	return NULL;
}

struct switch_ring *switch_bpf_get_rings(struct switch_bpf *bpf, u32 *ret_cpus)
{
	(void)bpf;
	*ret_cpus = 0;
	return NULL;
}
