// SPDX-License-Identifier: LGPL-2.1-or-later
#include "task-export.h"

#include "attributor-internal.h"
#include "tasks/task-event.h"

#include <stdlib.h>

/** struct exported - an entry, sorted by when it began */
struct exported {
	u64 since;
	u32 index;
};

static int compare(const void *a, const void *b)
{
	const struct exported *x = a, *y = b;

	if (x->since != y->since)
		return x->since < y->since ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static bool is_exported(const struct attributor *a, u32 index)
{
	return index != IDLE && a->process[index].state != PROCESS_FREE &&
	       __atomic_load_n(&a->used[index], __ATOMIC_RELAXED) & PROCESS_EVER_SAMPLED;
}

/* The entry that had the number of @p before it and is exported too, or NULL. */
static const struct process *predecessor(const struct attributor *a, const struct process *p)
{
	const struct process *before = p->before == ATTRIBUTE_NONE ? NULL : &a->process[p->before];

	if (!before || before->pub.generation != p->before_generation || !is_exported(a, p->before))
		return NULL;
	return before;
}

static void emit(const struct source_sink *sink, struct task_event event)
{
	sink->task(sink->ctx, &event);
}

static void export_maps(const struct process *p, u64 time_ns, const struct source_sink *sink)
{
	for (u32 i = 0; i < p->maps.count; i++) {
		const struct mapping *m = &p->maps.entry[i];

		emit(sink, (struct task_event){
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

/* Entries of one process follow each other by exec; a fork begins one, as far as it is known. */
static void export_process(const struct attributor *a, u32 index, const struct source_sink *sink)
{
	const struct process *p = &a->process[index], *before = predecessor(a, p);
	const char *cgroup = a->container[p->pub.container].pub.cgroup;
	bool same = before && before->start_time == p->start_time;
	struct task_event event = {
		.time_ns = a->since[index],
		.pid = p->pub.pid,
		.tid = p->pub.pid,
		.parent_pid = -1,
		.name = p->pub.comm,
	};

	if (before ? !same : p->born_ns && p->born_ns == a->since[index]) {
		event.type = TASK_FORK;
		emit(sink, event);
	}
	event.type = TASK_COMM;
	event.exec = same;
	emit(sink, event);
	event.exec = false;
	if (*cgroup) {
		event.type = TASK_CGROUP;
		event.cgroup = path_hash(cgroup);
		event.name = cgroup;
		emit(sink, event);
	}
	export_maps(p, a->since[index], sink);
}

/* Of all processes that are exported; a thread is of its process, whatever that executed since. */
static void export_threads(const struct attributor *a, const struct source_sink *sink)
{
	for (u32 n = 0; n < a->threads.count; n++) {
		const struct thread_bucket *b = &a->threads.buckets[n];

		for (u32 i = 0; i < THREAD_WAYS; i++) {
			u32 index = b->process[i];
			const struct process *p = &a->process[index];

			if (!b->tid[i] || index == a->threads.unresolved ||
			    !is_exported(a, index) || b->stamp[i] >> 1 != a->stamp[index] >> 1 ||
			    p->pub.pid == b->tid[i])
				continue;
			emit(sink, (struct task_event){ .type = TASK_COMM,
							.time_ns = a->since[index],
							.pid = p->pub.pid,
							.tid = b->tid[i],
							.parent_pid = -1,
							.name = p->pub.comm });
		}
	}
}

int attributor_export(const struct attributor *a, const struct source_sink *sink)
{
	struct exported *exported = malloc((a->fresh ? a->fresh : 1) * sizeof(*exported));
	u32 count = 0;

	if (!exported)
		return -ENOMEM;
	for (u32 i = 0; i < a->fresh; i++)
		if (is_exported(a, i))
			exported[count++] = (struct exported){ a->since[i], i };
	qsort(exported, count, sizeof(*exported), compare);
	/* A thread is reported with the first image of its process: later ones follow that. */
	for (u32 i = 0; i < count; i++)
		if (!predecessor(a, &a->process[exported[i].index]))
			export_process(a, exported[i].index, sink);
	export_threads(a, sink);
	for (u32 i = 0; i < count; i++)
		if (predecessor(a, &a->process[exported[i].index]))
			export_process(a, exported[i].index, sink);
	free(exported);
	return 0;
}
