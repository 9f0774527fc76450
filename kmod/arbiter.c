// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arbiter decides which ring uses the SPU of a CPU. See "Several sessions on one SPU" in
 * Documentation/explanation/rings.md.
 *
 * Invariant: the SPU of a CPU only ever contains registers of &speprof_cpu.ring of that CPU. Before
 * this pointer changes, the former ring is parked and its registers are saved.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "cgroups.h"
#include "cpu.h"
#include "arbiter.h"
#include "ring.h"

/* ---- A CPU ------------------------------------------------------------------ */

struct speprof_cgroup_map *speprof_arbiter_swap_map(struct speprof_cpu *cpu_state,
						    struct speprof_cgroup_map *map)
{
	swap(cpu_state->map, map);
	return map;
}

struct speprof_cgroup_map *speprof_arbiter_add_ring(struct speprof_cpu *cpu_state,
						    struct speprof_ring *ring,
						    struct speprof_cgroup_map *map)
{
	hlist_add_head(&ring->cpu_link, &cpu_state->rings);
	/*
	 * If @map is NULL, the session samples the whole machine. No other started session may use
	 * the CPU.
	 */
	WARN_ON_ONCE(!map && cpu_state->ring);
	if (!map)
		cpu_state->ring = ring;
	return speprof_arbiter_swap_map(cpu_state, map);
}

bool speprof_arbiter_can_sample(const struct speprof_cpu *cpu_state,
				const struct speprof_ring *ring)
{
	return cpu_state->backend == ring->config.backend;
}

struct speprof_cgroup_map *speprof_arbiter_remove_ring(struct speprof_cpu *cpu_state,
						       struct speprof_ring *ring)
{
	WARN_ON_ONCE(ring->state != SPEPROF_RING_IDLE);
	hlist_del_init(&ring->cpu_link);
	if (cpu_state->ring == ring)
		cpu_state->ring = NULL;
	if (!cpu_state->map || speprof_cgroup_map_remove_ring(cpu_state->map, ring))
		return NULL;
	return speprof_arbiter_swap_map(cpu_state, NULL);
}

/*
 * Give the SPU to @owner, the ring that samples the next task, or to no ring if @owner is NULL.
 * @switching: the context switch is not complete, so CONTEXTIDR still contains the TID of the
 * previous task.
 */
static void arbiter_give_spu(struct speprof_cpu *cpu_state, struct speprof_ring *owner,
			     bool switching)
{
	struct speprof_ring *last = cpu_state->ring;

	if (last && last != owner)
		speprof_ring_park(last);
	/*
	 * Leave the registers of a parked ring in the SPU, because usually the same ring is the
	 * next one that uses the SPU.
	 */
	if (!owner)
		return;
	if (last != owner) {
		if (last)
			speprof_ring_save_registers(last);
		cpu_state->ring = owner;
	}
	speprof_ring_begin_handover(owner);
	/* Do not arm a window under the runqueue lock, because that takes too long. */
	if (switching && speprof_ring_defers_handover(owner))
		irq_work_queue(&cpu_state->handover_work);
	else
		speprof_ring_complete_handover(owner);
}

/* Runs in the first interrupt after the context switch: current is the new task. */
static void arbiter_complete_handover(struct irq_work *work)
{
	struct speprof_cpu *cpu_state = container_of(work, struct speprof_cpu, handover_work);

	if (cpu_state->ring)
		speprof_ring_complete_handover(cpu_state->ring);
}

void speprof_arbiter_reevaluate(struct speprof_cpu *cpu_state)
{
	lockdep_assert_irqs_disabled();
	if (cpu_state->map && cpu_state->backend)
		arbiter_give_spu(cpu_state, speprof_cgroup_map_find(cpu_state->map, current),
				 false);
}

void speprof_arbiter_start_rings(struct speprof_cpu *cpu_state)
{
	struct speprof_ring *ring;

	/* A ring stays OFFLINE if its backend was removed. */
	hlist_for_each_entry(ring, &cpu_state->rings, cpu_link)
		if (speprof_arbiter_can_sample(cpu_state, ring))
			speprof_ring_bring_online(ring);
	speprof_arbiter_reevaluate(cpu_state);
}

void speprof_arbiter_stop_rings(struct speprof_cpu *cpu_state)
{
	struct speprof_ring *ring;

	hlist_for_each_entry(ring, &cpu_state->rings, cpu_link)
		speprof_ring_take_offline(ring);
}

void speprof_arbiter_sched_switch(struct task_struct *next)
{
	struct speprof_cpu *cpu_state = this_cpu_ptr(&speprof_cpus);
	struct speprof_ring *owner;

	if (!cpu_state->map || !cpu_state->backend)
		return;
	owner = speprof_cgroup_map_find(cpu_state->map, next);
	if (owner == cpu_state->ring && owner && owner->state != SPEPROF_RING_PARKED)
		return;
	arbiter_give_spu(cpu_state, owner, true);
}

static void arbiter_reevaluate_on_cpu(void *unused)
{
	/*
	 * If a later move could not queue this call again (EBUSY), the lookup must see that move.
	 */
	smp_mb();
	speprof_arbiter_reevaluate(this_cpu_ptr(&speprof_cpus));
}

/*
 * Make the CPU of a running thread look up the cgroup again. For a thread that is on no runqueue,
 * the next switch to it does that. Interrupts are off here (trace_cgroup_path_lock), so only an
 * asynchronous call of a single CPU is permitted.
 */
static void arbiter_kick_cpu_of(const struct task_struct *thread)
{
	unsigned int cpu = task_cpu(thread);
	struct speprof_cpu *cpu_state = per_cpu_ptr(&speprof_cpus, cpu);

	/*
	 * Ignore errors. EBUSY: an earlier call is pending and will reevaluate. ENXIO: the CPU and
	 * its rings are offline.
	 */
	if (READ_ONCE(thread->on_rq) && READ_ONCE(cpu_state->map))
		smp_call_function_single_async(cpu, &cpu_state->reevaluate_csd);
}

void speprof_arbiter_kick_cpus(const struct task_struct *leader, bool threadgroup)
{
	const struct task_struct *thread;

	/*
	 * Order the move before reading on_rq and task_cpu(). The scheduler has a full barrier
	 * between putting a thread on a runqueue and sched_switch: if this function does not see
	 * the thread on a runqueue, the lookup at sched_switch sees the move.
	 */
	smp_mb();
	if (!threadgroup) {
		arbiter_kick_cpu_of(leader);
		return;
	}
	rcu_read_lock();
	for_each_thread(leader, thread)
		arbiter_kick_cpu_of(thread);
	rcu_read_unlock();
}

void speprof_arbiter_init(void)
{
	struct speprof_cpu *cpu_state;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		cpu_state = per_cpu_ptr(&speprof_cpus, cpu);
		/*
		 * The work accesses the SPU, so it must run in hard interrupt context also on
		 * PREEMPT_RT.
		 */
		cpu_state->handover_work = IRQ_WORK_INIT_HARD(arbiter_complete_handover);
		INIT_CSD(&cpu_state->reevaluate_csd, arbiter_reevaluate_on_cpu, NULL);
	}
}

static void arbiter_do_nothing_on_cpu(void *unused)
{
}

void speprof_arbiter_deinit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(speprof_cpus, cpu).handover_work);
	/*
	 * Wait for calls of arbiter_reevaluate_on_cpu() that are still queued. on_each_cpu() runs
	 * after the queued calls, and synchronize_rcu() waits for the interrupt handlers that
	 * execute them.
	 */
	on_each_cpu(arbiter_do_nothing_on_cpu, NULL, true);
	synchronize_rcu();
}
