// SPDX-License-Identifier: LGPL-2.1-or-later
#include "task-events.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "switch-perf.h"
#include "task-event.h"
#include "task-perf.h"
#include "tasks/bpf/task-bpf.h"
#include "util/time.h"

/* Minimum time between two lists of all tasks, because a list is expensive. */
#define SEED_NS 1000000000ULL

/*
 * The size of the switch rings suffices for 16 CPUs and 0.25 s. The assumed rate is 200,000 context
 * switches a second of each CPU, at 16 bytes.
 */
const struct task_events_sizes task_events_sizes_max = {
	.bpf = 1U << 20,
	.side_band = 128U << 10,
	.switches = 16U << 20,
};

/**
 * struct task_events - the origins of events
 * @sizes: sizes of the rings
 * @bpf: events from BPF; NULL: not used
 * @switches: context switches from BPF; NULL: not recorded
 * @switches_perf: context switches from perf; NULL: not recorded
 * @perf: events from the side band of perf; NULL: not used
 * @perf_switches: context switches from perf, delivered as events; NULL: not delivered
 * @epoll_fd: watches @bpf, @perf and @perf_switches
 * @seeded_ns: time of the last list of all tasks; 0: none yet
 * @seed_due: true if events were lost since the last list
 */
struct task_events {
	struct task_events_sizes sizes;
	struct task_bpf *bpf;
	struct switch_bpf *switches;
	struct switch_perf *switches_perf;
	struct task_perf *perf;
	struct task_perf *perf_switches;
	int epoll_fd;
	u64 seeded_ns;
	bool seed_due;
};

const char *task_events_name(enum task_events_kind kind)
{
	static const char *const names[] = {
		[TASK_EVENTS_PROC] = "proc",
		[TASK_EVENTS_PERF] = "perf",
		[TASK_EVENTS_BPF] = "bpf",
	};

	return names[kind];
}

static void reason_add(struct task_events_status *status, const char *what, const char *why)
{
	size_t n = strlen(status->reason);

	snprintf(status->reason + n, sizeof(status->reason) - n, "%s%s: %s", n ? "; " : "", what,
		 why);
}

/*
 * The side band is needed for mappings if BPF cannot report them, and for all events without BPF.
 */
static void open_origins(struct task_events *t, enum task_events_kind best,
			 struct task_events_status *status)
{
	char why[TASK_BPF_REASON] = "";
	const char *reason = "";

	if (best >= TASK_EVENTS_BPF && task_bpf_new(t->sizes.bpf / 2, &t->bpf, why) < 0)
		reason_add(status, "no BPF", why);
	if (best >= TASK_EVENTS_PERF && !(t->bpf && task_bpf_reports_maps(t->bpf)) &&
	    task_perf_new(t->bpf ? TASK_PERF_MAPS : TASK_PERF_TASKS, t->sizes.side_band, &t->perf, &reason) < 0)
		reason_add(status, "no side band of perf", reason);
	if (t->bpf && !t->perf && !task_bpf_reports_maps(t->bpf))
		reason_add(status, "BPF does not report mappings",
			   task_bpf_get_maps_reason(t->bpf));
	status->kind = t->bpf ? TASK_EVENTS_BPF : t->perf ? TASK_EVENTS_PERF : TASK_EVENTS_PROC;
}

static int watch_origins(struct task_events *t)
{
	/*
	 * A BPF ring with any record is readable, so watch for edges. The programs signal an edge
	 * only when the ring is half full.
	 */
	struct epoll_event edge = { .events = EPOLLIN | EPOLLET };
	struct epoll_event level = { .events = EPOLLIN };

	t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (t->epoll_fd < 0)
		return -errno;
	if (t->bpf && epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, task_bpf_get_fd(t->bpf), &edge) < 0)
		return -errno;
	if (t->bpf && task_bpf_reports_maps(t->bpf) &&
	    epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, task_bpf_get_maps_fd(t->bpf), &edge) < 0)
		return -errno;
	if (t->perf && epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, task_perf_get_fd(t->perf), &level) < 0)
		return -errno;
	return 0;
}

int task_events_new(enum task_events_kind best, const struct task_events_sizes *sizes,
		    struct task_events **ret_events, struct task_events_status *ret_status)
{
	struct task_events *t = calloc(1, sizeof(*t));

	*ret_status = (struct task_events_status){ 0 };
	if (!t) {
		reason_add(ret_status, "no task events", "out of memory");
		return -EOPNOTSUPP;
	}
	t->epoll_fd = -1;
	t->sizes = sizes ? *sizes : task_events_sizes_max;
	open_origins(t, best, ret_status);
	if (ret_status->kind != TASK_EVENTS_PROC && watch_origins(t) < 0) {
		ret_status->kind = TASK_EVENTS_PROC;
		reason_add(ret_status, "no task events", "epoll failed");
	}
	if (ret_status->kind == TASK_EVENTS_PROC) {
		task_events_free(t);
		return -EOPNOTSUPP;
	}
	*ret_events = t;
	return 0;
}

struct task_events *task_events_free(struct task_events *t)
{
	if (!t)
		return NULL;
	task_events_stop_switches(t);
	task_bpf_free(t->bpf);
	task_perf_free(t->perf);
	if (t->epoll_fd >= 0)
		close(t->epoll_fd);
	free(t);
	return NULL;
}

u64 task_events_get_locked_bytes(const struct task_events *events)
{
	return (events->bpf ? events->sizes.bpf : 0) +
	       (events->perf ? task_perf_get_locked_bytes(events->perf) : 0) +
	       (events->perf_switches ? task_perf_get_locked_bytes(events->perf_switches) : 0) +
	       (events->switches || events->switches_perf ? events->sizes.switches : 0);
}

int task_events_get_fd(const struct task_events *t)
{
	return t->epoll_fd;
}

/*
 * Returns whether no hierarchy of cgroup v1 is mounted. The line of cgroup v2 is the last one in
 * /proc/self/cgroup, and then also the first one.
 */
static bool is_cgroup_v2_only(void)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[16];
	bool unified = f && fgets(line, sizeof(line), f) && !strncmp(line, "0::", 3);

	if (f)
		fclose(f);
	return unified;
}

static void report_all_tasks(struct task_events *t, const struct task_sink *sink)
{
	struct task_event seeded = {
		.type = TASK_SEEDED,
		.name = "",
		.time_ns = time_now_ns(),
		.size = (t->perf || task_bpf_reports_maps(t->bpf) ? TASK_REPORTS_MAPS : 0) |
			(is_cgroup_v2_only() ? TASK_REPORTS_CGROUPS : 0),
	};

	t->seeded_ns = seeded.time_ns;
	t->seed_due = task_bpf_report_all_tasks(t->bpf, sink) < 0;
	if (!t->seed_due)
		sink->task(sink->ctx, &seeded);
}

/*
 * Report lost events, and list all tasks if that is due. The lost events are newer than all events
 * that were delivered.
 */
static void report_losses(struct task_events *t, u64 until_ns, const struct task_sink *sink)
{
	struct task_event lost = { .type = TASK_LOST,
				   .name = "",
				   .size = task_bpf_take_lost_count(t->bpf) };

	if (lost.size) {
		lost.time_ns = time_now_ns();
		sink->task(sink->ctx, &lost);
		t->seed_due = true;
	}
	task_bpf_report_lost_maps(t->bpf, until_ns, sink);
	if (!t->seeded_ns || (t->seed_due && time_now_ns() - t->seeded_ns >= SEED_NS))
		report_all_tasks(t, sink);
}

static u64 perf_get_next_time(struct task_perf *perf)
{
	return perf ? task_perf_get_next_time(perf) : TASK_PERF_NOTHING;
}

static void deliver_until(struct task_events *t, u64 until_ns, const struct task_sink *sink)
{
	u64 perf = perf_get_next_time(t->perf), switches = perf_get_next_time(t->perf_switches);

	for (;;) {
		u64 bpf = t->bpf ? task_bpf_get_next_time(t->bpf) : TASK_BPF_NOTHING;

		if (bpf > until_ns && perf > until_ns && switches > until_ns)
			return;
		if (bpf <= perf && bpf <= switches) {
			task_bpf_deliver_next(t->bpf, sink);
		} else if (perf <= switches) {
			task_perf_deliver_next(t->perf, sink);
			perf = task_perf_get_next_time(t->perf);
		} else {
			task_perf_deliver_next(t->perf_switches, sink);
			switches = task_perf_get_next_time(t->perf_switches);
		}
	}
}

static void perf_begin_read(struct task_perf *perf)
{
	if (perf)
		task_perf_begin_read(perf);
}

static void perf_end_read(struct task_perf *perf, bool reap)
{
	if (!perf)
		return;
	task_perf_end_read(perf);
	if (reap)
		task_perf_close_offline(perf);
}

void task_events_deliver(struct task_events *t, u64 until_ns, const struct task_sink *sink)
{
	struct epoll_event events[4];
	bool all = !until_ns;

	/*
	 * Clear the edge before the rings are read: an event that is written later makes a new
	 * edge.
	 */
	if (all)
		epoll_wait(t->epoll_fd, events, ARRAY_SIZE(events), 0);
	if (t->bpf && !t->seeded_ns)
		report_losses(t, 0, sink);
	if (t->switches_perf)
		switch_perf_copy_switches(t->switches_perf);
	/*
	 * Deliver only events up to this time: the rings are read one after the other, so later
	 * events would be out of order.
	 */
	if (all)
		until_ns = time_now_ns();
	if (t->bpf)
		task_bpf_begin_read(t->bpf);
	perf_begin_read(t->perf);
	perf_begin_read(t->perf_switches);
	deliver_until(t, until_ns, sink);
	if (t->bpf) {
		task_bpf_end_read(t->bpf);
		report_losses(t, until_ns, sink);
	}
	perf_end_read(t->perf, all);
	perf_end_read(t->perf_switches, all);
}

int task_events_start_switch_rings(struct task_events *t, char *ret_reason)
{
	const char *why = "";
	int r;

	_Static_assert(TASK_EVENTS_REASON >= TASK_BPF_REASON, "a reason of BPF must fit");

	if (t->switches || t->switches_perf)
		return 0;
	if (t->bpf && switch_bpf_new(t->sizes.switches, &t->switches, ret_reason) >= 0)
		return 0;
	r = switch_perf_new(t->sizes.switches, &t->switches_perf, &why);
	if (r < 0)
		snprintf(ret_reason, TASK_EVENTS_REASON, "%s", why);
	return r;
}

int task_events_start_switch_events(struct task_events *t, const char **ret_reason)
{
	struct epoll_event level = { .events = EPOLLIN };
	int r;

	r = task_perf_new(TASK_PERF_SWITCHES, t->sizes.side_band, &t->perf_switches, ret_reason);
	if (r < 0)
		return r;
	if (epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, task_perf_get_fd(t->perf_switches), &level) >= 0)
		return 0;
	r = -errno;
	*ret_reason = "epoll cannot watch the rings of context switches";
	t->perf_switches = task_perf_free(t->perf_switches);
	return r;
}

struct switch_ring *task_events_get_switch_rings(struct task_events *t, u32 *ret_cpus)
{
	*ret_cpus = 0;
	if (t->switches)
		return switch_bpf_get_rings(t->switches, ret_cpus);
	return t->switches_perf ? switch_perf_get_rings(t->switches_perf, ret_cpus) : NULL;
}

void task_events_stop_switches(struct task_events *t)
{
	t->switches = switch_bpf_free(t->switches);
	t->switches_perf = switch_perf_free(t->switches_perf);
	t->perf_switches = task_perf_free(t->perf_switches);
}

enum task_events_kind task_events_get_switch_kind(const struct task_events *t)
{
	return t->switches	? TASK_EVENTS_BPF :
	       t->switches_perf ? TASK_EVENTS_PERF :
				  TASK_EVENTS_PROC;
}

u64 task_events_count_switches(struct task_events *t)
{
	const struct switch_ring *rings;
	u64 count = 0;
	u32 cpus;

	rings = task_events_get_switch_rings(t, &cpus);
	for (u32 i = 0; i < cpus; i++)
		if (rings[i].count)
			count += __atomic_load_n(rings[i].count, __ATOMIC_RELAXED);
	return count;
}

void task_events_follow_hotplug(struct task_events *t)
{
	if (t->perf)
		task_perf_follow_hotplug(t->perf);
	if (t->perf_switches)
		task_perf_follow_hotplug(t->perf_switches);
	if (t->switches_perf)
		switch_perf_follow_hotplug(t->switches_perf);
}
