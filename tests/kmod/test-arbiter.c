// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test which session owns a CPU's SPU: sessions of cgroups share one SPU while their tasks are
 * scheduled. The SPU must sample a task with the filters of the task's session, into the ring of
 * that session only.
 */
#include "test.h"

#include "kmod/arbiter.h"
#include "kmod/cgroups.h"
#include "kmod/cpu.h"
#include "kmod/kernel/stand-in.h"
#include "kmod/ring.h"

#define SESSIONS 3
#define TASKS	 7
#define SLOTS	 64
#define RING	 65536
#define STEPS	 600

/* tasks[].group is the number of a session. SESSIONS means no session. */
static struct task_struct tasks[TASKS];
static struct speprof_ring *rings[SESSIONS];
static u64 written[SESSIONS];
static u64 taken[SESSIONS];
static struct speprof_sampling_program programs[SESSIONS];
static bool started[SESSIONS];
static u64 randomness;

DEFINE_PER_CPU(struct speprof_cpu, speprof_cpus);

/* ---- Cgroups -------------------------------------------------------------------- */

/* The map exists while any session is started. Its contents are in tasks[] itself. */
struct speprof_cgroup_map {
	unsigned int unused;
};

static struct speprof_cgroup_map the_map;

struct speprof_ring *speprof_cgroup_map_find(struct speprof_cgroup_map *map,
					     struct task_struct *task)
{
	assert_ptr_equal(map, &the_map);
	if (task->group == SESSIONS || !started[task->group])
		return NULL;
	return rings[task->group];
}

bool speprof_cgroup_map_remove_ring(struct speprof_cgroup_map *map, const struct speprof_ring *ring)
{
	bool has_ring = false;

	(void)map;
	for (unsigned int n = 0; n < SESSIONS; n++)
		has_ring |= started[n] && rings[n] != ring;
	return has_ring;
}

/* ---- The SPU --------------------------------------------------------------------- */

static u64 spu[SPE_REG_COUNT];

static u64 spu_read(enum spe_reg reg)
{
	return spu[reg];
}

static void spu_write(enum spe_reg reg, u64 value)
{
	/*
	 * While profiling is enabled only PMSCR may be written; while the buffer is enabled, no
	 * buffer pointer.
	 */
	assert_true(reg == SPE_REG_PMSCR || !spu[SPE_REG_PMSCR]);
	assert_true(reg != SPE_REG_PMBPTR || !(spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_E));
	assert_true(reg != SPE_REG_PMSCR || !value || (spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_E));
	spu[reg] = value;
}

static void spu_barrier(void)
{
	stand_in_now += 3;
}

static u64 spu_read_ticks(void)
{
	return stand_in_now;
}

static struct speprof_backend backend = {
	.id = SPEPROF_BACKEND_EMULATED,
	.read = spu_read,
	.write = spu_write,
	.synchronize = spu_barrier,
	.drain = spu_barrier,
	.ticks = spu_read_ticks,
	.tick_hz = 1000000000,
};

static u32 draw_below(u32 below)
{
	randomness = randomness * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(randomness >> 33) % below;
}

/* If the SPU is enabled it samples the running task into the memory at PMBPTR. */
static void spu_take_sample(void)
{
	u64 limit = spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_LIMIT;
	unsigned int session = stand_in_current->group;
	u64 records = draw_below(12);

	if (!spu[SPE_REG_PMSCR] || spu[SPE_REG_PMBSR] & SPE_PMBSR_S)
		return;
	assert_true(session < SESSIONS);
	assert_int_equal(spu[SPE_REG_PMSCR], programs[session].pmscr);
	assert_int_equal(spu[SPE_REG_PMSFCR], programs[session].pmsfcr);
	assert_int_equal(spu[SPE_REG_PMSIRR], programs[session].pmsirr);
	for (; records && limit - spu[SPE_REG_PMBPTR] >= 64; records--) {
		memset((void *)(uintptr_t)spu[SPE_REG_PMBPTR], (int)session + 1, 64);
		spu[SPE_REG_PMBPTR] += 64;
		written[session] += 64;
	}
	/* The value of the interval counter also identifies the session. */
	spu[SPE_REG_PMSICR] = programs[session].pmsirr + draw_below(256);
	if (limit - spu[SPE_REG_PMBPTR] < 64)
		spu[SPE_REG_PMBSR] |=
			SPE_PMBSR_S | SPE_FIELD_PREP(SPE_PMBSR_BSC, SPE_PMBSR_BSC_FULL);
}

/* Do the same steps as speprof_handle_interrupt(). */
static void spu_raise_interrupt(void)
{
	struct speprof_ring *ring = speprof_cpus[0].ring;

	if (!speprof_cpus[0].backend || !(spu[SPE_REG_PMBSR] & SPE_PMBSR_S))
		return;
	assert_non_null(ring);
	assert_true(speprof_ring_handle_interrupt(ring));
}

/* ---- Sessions --------------------------------------------------------------------- */

static void session_start_or_stop(unsigned int n)
{
	struct speprof_cgroup_map *old;

	if (!started[n]) {
		started[n] = true;
		speprof_arbiter_add_ring(&speprof_cpus[0], rings[n], &the_map);
		speprof_ring_start(rings[n], &programs[n],
				   speprof_arbiter_can_sample(&speprof_cpus[0], rings[n]));
	} else {
		speprof_ring_stop(rings[n]);
		old = speprof_arbiter_remove_ring(&speprof_cpus[0], rings[n]);
		started[n] = false;
		assert_true(!old || old == &the_map);
	}
	speprof_arbiter_reevaluate(&speprof_cpus[0]);
}

static void session_change_program(unsigned int n)
{
	programs[n].generation++;
	programs[n].pmsfcr = (n + 1ULL) << 40 | programs[n].generation;
	programs[n].pmsirr = (n + 1ULL) << 28;
	programs[n].interval = n + 1;
	programs[n].pmscr =
		SPE_PMSCR_E0SPE | (draw_below(2) ? SPE_PMSCR_E1SPE : 0) | (n + 1ULL) << 32;
	if (started[n])
		speprof_ring_reprogram(rings[n], &programs[n]);
	speprof_arbiter_reevaluate(&speprof_cpus[0]);
}

/* Check that all windows up to the head have the marks of this session. */
static void session_check_windows(unsigned int n)
{
	struct speprof_ring *ring = rings[n];

	while (taken[n] != ring->published) {
		const u8 *at = ring->data + (taken[n] & (RING - 1));
		const struct speprof_window *window = (const void *)at;

		for (u64 i = 0; i < window->data_size; i++)
			assert_int_equal(at[window->data_offset + i], n + 1);
		if (window->kind == SPEPROF_WINDOW_RECORDS)
			assert_int_equal(window->interval, n + 1);
		taken[n] += window->span;
	}
	ring->control->tail = taken[n];
	ring->control->event_tail = ring->event_published;
}

static void take_cpu_off_and_on(void)
{
	/* Let the idle task run last. */
	if (speprof_cpus[0].backend) {
		speprof_arbiter_stop_rings(&speprof_cpus[0]);
		assert_int_equal(spu[SPE_REG_PMSCR], 0);
		assert_int_equal(spu[SPE_REG_PMBLIMITR], 0);
	}
	speprof_cpus[0].backend = speprof_cpus[0].backend ? NULL : &backend;
	memset(spu, 0, sizeof(spu));
	if (speprof_cpus[0].backend)
		speprof_arbiter_start_rings(&speprof_cpus[0]);
}

/* ---- Random actions ---------------------------------------------------------------- */

static void run_handover_work(void)
{
	if (speprof_cpus[0].handover_work.queued)
		speprof_cpus[0].handover_work.run(&speprof_cpus[0].handover_work);
	speprof_cpus[0].handover_work.queued = 0;
}

/* Check that no guest is entered with an enabled buffer that the SPU must not write to. */
static void check_parked_buffer(void)
{
	const struct speprof_ring *ring = this_cpu_ptr(&speprof_cpus)->ring;

	if (backend.disables_parked_buffer && ring && ring->state == SPEPROF_RING_PARKED)
		assert_false(spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_E);
}

static void do_random_action(void)
{
	unsigned int n = draw_below(SESSIONS);

	stand_in_now += draw_below(8) ? draw_below(100000) : draw_below(30000000);
	switch (draw_below(24)) {
	case 0:
		session_start_or_stop(n);
		break;
	case 1:
		take_cpu_off_and_on();
		break;
	case 2:
		session_change_program(n);
		break;
	case 3:
		session_check_windows(n);
		break;
	case 4:
		speprof_ring_flush(rings[n]);
		speprof_arbiter_reevaluate(&speprof_cpus[0]);
		break;
	case 5:
		/* Move a task to another cgroup. */
		tasks[draw_below(TASKS)].group = draw_below(SESSIONS + 1);
		speprof_arbiter_reevaluate(&speprof_cpus[0]);
		break;
	case 6:
	case 7:
		if (rings[n]->timer.after &&
		    rings[n]->timer.function(&rings[n]->timer) == HRTIMER_NORESTART)
			rings[n]->timer.after = 0;
		break;
	case 8:
		WRITE_ONCE(rings[n]->bound.bytes, draw_below(2) ? 0 : 20000);
		break;
	case 9:
	case 10:
		spu_raise_interrupt();
		break;
	case 11:
	case 12:
		run_handover_work();
		break;
	default: {
		struct task_struct *next = &tasks[draw_below(TASKS)];

		speprof_arbiter_sched_switch(next);
		stand_in_current = next;
		/*
		 * Usually deliver the interrupt right after the switch, unless another interrupt
		 * comes first.
		 */
		if (draw_below(5))
			run_handover_work();
	}
	}
	spu_take_sample();
	if (draw_below(3))
		spu_raise_interrupt();
	check_parked_buffer();
}

static void run_random_actions(u64 seed)
{
	randomness = seed;
	backend.disables_parked_buffer = seed % 2;
	stand_in_now += NSEC_PER_SEC;
	memset(speprof_cpus, 0, sizeof(speprof_cpus));
	memset(spu, 0, sizeof(spu));
	speprof_arbiter_init();
	speprof_cpus[0].backend = &backend;
	for (unsigned int n = 0; n < TASKS; n++)
		tasks[n].group = n % (SESSIONS + 1);
	stand_in_current = &tasks[SESSIONS];
	for (unsigned int n = 0; n < SESSIONS; n++) {
		const struct speprof_ring_config config = {
			.backend = &backend,
			.spu = { .record_align = 64, .record_max = 64, .backend = backend.id },
			.size = RING,
			.event_slots = SLOTS,
			.max_window = 4096,
			.latency_ms = n ? 10 : 0,
			.for_cgroups = true,
		};

		rings[n] = speprof_ring_new(&config);
		written[n] = taken[n] = 0;
		programs[n].generation = 0;
		session_change_program(n);
		session_start_or_stop(n);
	}
	for (unsigned int i = 0; i < STEPS; i++)
		do_random_action();
	for (unsigned int n = 0; n < SESSIONS; n++) {
		if (started[n])
			session_start_or_stop(n);
		session_check_windows(n);
		assert_int_equal(rings[n]->counters.data_bytes, written[n]);
		speprof_ring_free(rings[n]);
	}
	assert_null(speprof_cpus[0].map);
	assert_int_equal(stand_in_warnings, 0);
}

static void test_sessions_share_spu(void **state)
{
	(void)state;
	for (u64 seed = 1; seed <= 300; seed++)
		run_random_actions(seed);
}

/* ---- Moves --------------------------------------------------------------------------- */

/*
 * Return a mask of the CPUs for which speprof_arbiter_kick_cpus() was called since the last call of
 * this function.
 */
static u64 take_kicked_cpus(void)
{
	u64 mask = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		assert_in_range(speprof_cpus[cpu].reevaluate_csd.calls, 0, 1);
		mask |= (u64)speprof_cpus[cpu].reevaluate_csd.calls << cpu;
		speprof_cpus[cpu].reevaluate_csd.calls = 0;
	}
	return mask;
}

/*
 * Moving a task between cgroups interrupts the CPUs that run the moved threads, and no other CPU.
 */
static void test_move_interrupts_cpus_of_threads(void **state)
{
	struct task_struct threads[] = {
		{ .cpu = 1, .on_rq = 1 },
		{ .cpu = 3, .on_rq = 1 },
		{ .cpu = 4, .on_rq = 0 },
		{ .cpu = 6, .on_rq = 1 },
	};
	unsigned int cpu;

	(void)state;
	for (unsigned int i = 0; i + 1 < ARRAY_SIZE(threads); i++)
		threads[i].next_thread = &threads[i + 1];
	memset(speprof_cpus, 0, sizeof(speprof_cpus));
	stand_in_cpus = STAND_IN_CPUS_MAX;
	speprof_arbiter_init();
	speprof_arbiter_kick_cpus(&threads[0], true);
	assert_int_equal(take_kicked_cpus(), 0);

	for_each_possible_cpu(cpu)
		speprof_cpus[cpu].map = cpu == 6 ? NULL : &the_map;
	speprof_arbiter_kick_cpus(&threads[0], true);
	assert_int_equal(take_kicked_cpus(), 1 << 1 | 1 << 3);
	speprof_arbiter_kick_cpus(&threads[0], false);
	assert_int_equal(take_kicked_cpus(), 1 << 1);
	speprof_arbiter_kick_cpus(&threads[2], false);
	assert_int_equal(take_kicked_cpus(), 0);
	threads[2].on_rq = 1;
	speprof_arbiter_kick_cpus(&threads[2], false);
	assert_int_equal(take_kicked_cpus(), 1 << 4);
	stand_in_cpus = 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sessions_share_spu),
		cmocka_unit_test(test_move_interrupts_cpus_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
