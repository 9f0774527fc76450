// SPDX-License-Identifier: LGPL-2.1-or-later
#include "attributor-internal.h"
#include "tasks/task-event.h"

#include <stdlib.h>

/** struct exported_process - a process entry to export; entries are sorted by @valid_from_ns */
struct exported_process {
	u64 valid_from_ns;
	u32 index;
};

static int exported_process_compare(const void *a, const void *b)
{
	const struct exported_process *x = a, *y = b;

	if (x->valid_from_ns != y->valid_from_ns)
		return x->valid_from_ns < y->valid_from_ns ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static void emit_event(const struct source_sink *sink, struct task_event event)
{
	sink->task(sink->ctx, &event);
}

static void export_maps(const struct process_table_entry *p, u64 time_ns,
			const struct source_sink *sink)
{
	for (u32 i = 0; i < p->maps.count; i++) {
		const struct mapping *m = &p->maps.entry[i];

		emit_event(sink, (struct task_event){
					 .type = TASK_MMAP,
					 .time_ns = time_ns,
					 .pid = p->pub.pid,
					 .tid = p->pub.pid,
					 .parent_pid = -1,
					 .start = m->start,
					 .size = m->end - m->start,
					 .offset = m->offset,
					 .inode = m->binary->inode,
					 .device = m->binary->device,
					 .name = m->binary->path,
					 .build_id = m->binary->build_id,
					 .build_id_size = m->binary->build_id_size,
				 });
	}
}

/*
 * Report one entry. If the predecessor is an earlier program of the same process, the first event
 * is an exec. Else it is a fork if there is a predecessor, or if the time of the fork is known.
 */
static void export_process(const struct attributor *a, u32 index, const struct source_sink *sink)
{
	u32 predecessor = process_get_sampled_predecessor(a, index);
	const struct process_table_entry *p = &a->process[index];
	const char *cgroup = a->container[p->pub.container].pub.cgroup;
	bool has_predecessor = predecessor != ATTRIBUTE_NONE;
	bool same = has_predecessor && a->process[predecessor].start_time == p->start_time;
	struct task_event event = {
		.time_ns = a->valid_from_ns[index],
		.pid = p->pub.pid,
		.tid = p->pub.pid,
		.parent_pid = -1,
		.name = p->pub.comm,
	};

	if (has_predecessor ? !same : p->forked_ns && p->forked_ns == a->valid_from_ns[index]) {
		event.type = TASK_FORK;
		emit_event(sink, event);
	}
	event.type = TASK_COMM;
	event.exec = same;
	emit_event(sink, event);
	event.exec = false;
	if (*cgroup) {
		event.type = TASK_CGROUP;
		event.cgroup = hash_path_nonzero(cgroup);
		event.name = cgroup;
		emit_event(sink, event);
	}
	export_maps(p, a->valid_from_ns[index], sink);
}

/* Report the threads of all exported processes. */
static void export_threads(const struct attributor *a, const struct source_sink *sink)
{
	for (u32 n = 0; n < a->threads.count; n++) {
		const struct thread_bucket *b = &a->threads.buckets[n];

		for (u32 i = 0; i < THREAD_WAYS; i++) {
			u32 index = b->process[i];
			const struct process_table_entry *p = &a->process[index];

			if (!b->tid[i] || index == a->threads.unresolved ||
			    !process_has_samples(a, index) ||
			    b->stamp[i] >> 1 != a->stamp[index] >> 1 || p->pub.pid == b->tid[i])
				continue;
			emit_event(sink, (struct task_event){ .type = TASK_COMM,
							      .time_ns = a->valid_from_ns[index],
							      .pid = p->pub.pid,
							      .tid = b->tid[i],
							      .parent_pid = -1,
							      .name = p->pub.comm });
		}
	}
}

int attributor_export_tasks(const struct attributor *a, const struct source_sink *sink)
{
	struct exported_process *exported =
		malloc((a->processes_used ? a->processes_used : 1) * sizeof(*exported));
	u32 count = 0;

	if (!exported)
		return -ENOMEM;
	for (u32 i = 0; i < a->processes_used; i++)
		if (process_has_samples(a, i))
			exported[count++] = (struct exported_process){ a->valid_from_ns[i], i };
	qsort(exported, count, sizeof(*exported), exported_process_compare);
	/*
	 * Report threads after the first program of a process, so that later programs also apply to
	 * them.
	 */
	for (u32 i = 0; i < count; i++)
		if (process_get_sampled_predecessor(a, exported[i].index) == ATTRIBUTE_NONE)
			export_process(a, exported[i].index, sink);
	export_threads(a, sink);
	for (u32 i = 0; i < count; i++)
		if (process_get_sampled_predecessor(a, exported[i].index) != ATTRIBUTE_NONE)
			export_process(a, exported[i].index, sink);
	free(exported);
	return 0;
}
