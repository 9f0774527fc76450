// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test CPUs, their SPUs and the devices that represent them (kmod/cpu.c, kmod/spu_hw.c,
 * kmod/spu_hw_regs.c) on a stand-in kernel: the state of an SPU and of its interrupt while devices,
 * CPUs and backends are added and removed.
 */
#include "test.h"

#include "kmod/arbiter.h"
#include "kmod/cgroups.h"
#include "kmod/cpu.h"
#include "kmod/kernel/devices.h"
#include "kmod/ring.h"
#include "kmod/spu_hw.h"

#define CPUS	4
#define DEVICES 2
#define RING	65536

/* ---- SPUs ------------------------------------------------------------------------ */

static u64 spus[CPUS][SPE_REG_COUNT];
static unsigned int drains;

/* The registers by CRm, 9 or 10, and op2; op0 is 3, op1 is 0 and CRn is 9 */
static const u8 spu_registers[][8] = {
	{ SPE_REG_PMSCR, SPE_REG_PMSNEVFR, SPE_REG_PMSICR, SPE_REG_PMSIRR, SPE_REG_PMSFCR,
	  SPE_REG_PMSEVFR, SPE_REG_PMSLATFR, SPE_REG_PMSIDR },
	{ SPE_REG_PMBLIMITR, SPE_REG_PMBPTR, SPE_REG_COUNT, SPE_REG_PMBSR, SPE_REG_PMSDSFR,
	  SPE_REG_COUNT, SPE_REG_COUNT, SPE_REG_PMBIDR },
};

/* Return the register @encoding of the SPU, or SPE_REG_PMSVER for ID_AA64DFR0. */
static enum spe_reg get_register(u32 encoding)
{
	u32 crm = encoding >> 8 & 15, op2 = encoding >> 5 & 7;

	if (encoding == sys_reg(3, 0, 0, 5, 0))
		return SPE_REG_PMSVER;
	assert_int_equal(encoding, sys_reg(3, 0, 9, crm, op2));
	assert_in_range(crm, 9, 10);
	assert_int_not_equal(spu_registers[crm - 9][op2], SPE_REG_COUNT);
	return spu_registers[crm - 9][op2];
}

u64 stand_in_read_sysreg(u32 encoding)
{
	enum spe_reg reg = get_register(encoding);

	if (reg == SPE_REG_PMSIDR)
		return SPE_FIELD_PREP(SPE_PMSIDR_MAXSIZE, 6) | SPE_PMSIDR_FNE;
	if (reg == SPE_REG_PMBIDR)
		return SPE_FIELD_PREP(SPE_PMBIDR_ALIGN, 6);
	/* FEAT_SPEv1p2 */
	return reg == SPE_REG_PMSVER ? 3ULL << 32 : spus[stand_in_cpu][reg];
}

void stand_in_write_sysreg(u64 value, u32 encoding)
{
	spus[stand_in_cpu][get_register(encoding)] = value;
}

void stand_in_psb_csync(void)
{
	drains++;
}

/* Return whether the SPU of CPU @cpu samples. */
static bool spu_is_on(unsigned int cpu)
{
	return spus[cpu][SPE_REG_PMSCR] && spus[cpu][SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_E;
}

/* ---- Stubs: there are no sessions of cgroups ---------------------------------------- */

struct speprof_ring *speprof_cgroup_map_find(struct speprof_cgroup_map *map,
					     struct task_struct *task)
{
	return NULL;
}

bool speprof_cgroup_map_remove_ring(struct speprof_cgroup_map *map, const struct speprof_ring *ring)
{
	return false;
}

/* ---- Devices and sessions ------------------------------------------------------------ */

static struct platform_device devices[DEVICES] = { { .name = "spe-pmu-0", .irq = 1 },
						   { .name = "spe-pmu-1", .irq = 2 } };

static struct stand_in_irq *get_device_irq(unsigned int n)
{
	return &stand_in_irqs[devices[n].irq];
}

/* Add two devices: one for CPUs 0 and 1, one for CPUs 2 and 3. All CPUs are online. */
static void devices_add(void)
{
	memset(spus, 0, sizeof(spus));
	stand_in_cpus = CPUS;
	stand_in_online = BIT(CPUS) - 1;
	get_device_irq(0)->cpus.bits = BIT(0) | BIT(1);
	get_device_irq(1)->cpus.bits = BIT(2) | BIT(3);
	assert_int_equal(speprof_cpus_init(), 0);
	assert_int_equal(speprof_spu_hw_init(), 0);
	for (unsigned int n = 0; n < DEVICES; n++) {
		assert_int_equal(stand_in_driver->probe(&devices[n]), 0);
		assert_int_equal(get_device_irq(n)->enabled, get_device_irq(n)->cpus.bits);
	}
}

static void device_remove(unsigned int n)
{
	stand_in_device_remove(&devices[n]);
	assert_null(get_device_irq(n)->handler);
	assert_int_equal(get_device_irq(n)->enabled, 0);
}

static void devices_remove(void)
{
	for (unsigned int n = 0; n < DEVICES; n++)
		if (devices[n].dev.action)
			device_remove(n);
	speprof_spu_hw_deinit();
	speprof_cpus_deinit();
	assert_int_equal(stand_in_warnings, 0);
}

/* Start the ring on the current CPU, as session.c does. */
static void ring_start_on_cpu(void *arg)
{
	const struct speprof_sampling_program program = { .pmscr = SPE_PMSCR_E0SPE,
							  .interval = 1,
							  .generation = 1 };
	struct speprof_cpu *cpu_state = this_cpu_ptr(&speprof_cpus);
	struct speprof_ring *ring = arg;

	speprof_arbiter_add_ring(cpu_state, ring, NULL);
	speprof_ring_start(ring, &program, speprof_arbiter_can_sample(cpu_state, ring));
}

static void ring_stop_on_cpu(void *arg)
{
	speprof_ring_stop(arg);
	speprof_arbiter_remove_ring(this_cpu_ptr(&speprof_cpus), arg);
}

/* Start a session. Return: its ring on CPU @cpu. */
static struct speprof_ring *start_session_on_cpus(unsigned int cpu)
{
	struct speprof_ring_config config = { .size = RING, .event_slots = 16, .max_window = 4096 };
	struct speprof_ring *ring;

	mutex_lock(&speprof_control);
	config.backend = speprof_backend_get();
	mutex_unlock(&speprof_control);
	speprof_cpu_info_get(cpu, &config.spu);
	ring = speprof_ring_new(&config);
	speprof_cpu_call_function(cpu, ring_start_on_cpu, ring);
	return ring;
}

static void stop_session_on_cpus(struct speprof_ring *ring)
{
	speprof_cpu_call_function(ring->cpu, ring_stop_on_cpu, ring);
	speprof_backend_put(ring->config.backend);
	speprof_ring_free(ring);
}

static void bring_cpu_1_online(void)
{
	stand_in_cpu_up(1);
}

/* ---- Tests: devices are added and removed ---------------------------------------------- */

static void test_add_and_remove_devices(void **state)
{
	struct speprof_ring *rings[2];
	struct speprof_cpu_info info;

	(void)state;
	devices_add();
	rings[0] = start_session_on_cpus(1);
	rings[1] = start_session_on_cpus(2);
	assert_true(spu_is_on(1));
	/* The stand-in kernel has all options, so its CONTEXTIDR has the TID. */
	speprof_cpu_info_get(1, &info);
	assert_true(info.flags & SPEPROF_CPU_CONTEXT);
	device_remove(0);
	assert_false(spu_is_on(1));
	assert_true(spu_is_on(2));
	assert_int_equal(rings[0]->state, SPEPROF_RING_OFFLINE);
	assert_int_equal(rings[1]->state, SPEPROF_RING_ARMED);
	stop_session_on_cpus(rings[0]);
	stop_session_on_cpus(rings[1]);
	devices_remove();
}

/*
 * A CPU that comes online while its device is removed must not enable the interrupt, which is about
 * to be freed.
 */
static void test_cpu_online_during_removal(void **state)
{
	struct speprof_ring *ring;

	(void)state;
	devices_add();
	ring = start_session_on_cpus(1);
	stand_in_cpu_down(1);
	stand_in_unlocked = bring_cpu_1_online;
	device_remove(0);
	assert_true(cpu_online(1));
	assert_false(spu_is_on(1));
	stop_session_on_cpus(ring);
	devices_remove();
}

/*
 * A CPU that comes online after the shutdown must not enable its SPU, because the next kernel will
 * use the memory.
 */
static void test_shutdown_before_online(void **state)
{
	struct speprof_ring *ring;

	(void)state;
	devices_add();
	ring = start_session_on_cpus(1);
	stand_in_cpu_down(1);
	for (unsigned int n = 0; n < DEVICES; n++)
		stand_in_driver->shutdown(&devices[n]);
	stand_in_cpu_up(1);
	assert_false(spu_is_on(1));
	assert_int_equal(get_device_irq(0)->enabled, 0);
	stop_session_on_cpus(ring);
	devices_remove();
}

/* ---- Tests: backends ---------------------------------------------------------------------- */

static unsigned int others_writes;

static u64 other_read(enum spe_reg reg)
{
	return speprof_spu_hw_read(reg);
}

static void other_write(enum spe_reg reg, u64 value)
{
	others_writes++;
}

static struct cpumask all_cpus = { .bits = BIT(CPUS) - 1 };
static const struct speprof_backend other = {
	.name = "other",
	.id = SPEPROF_BACKEND_EMULATED,
	.cpus = &all_cpus,
	.read = other_read,
	.write = other_write,
	.synchronize = speprof_spu_hw_synchronize,
	.drain = speprof_spu_hw_drain,
	.ticks = speprof_spu_hw_read_timestamp,
};

/*
 * After the backend of a ring was removed, the ring is not armed with another backend. The
 * other backend may be registered earlier or later.
 */
static void test_ring_waits_for_own_backend(void **state)
{
	struct speprof_ring *ring;

	(void)state;
	devices_add();
	ring = start_session_on_cpus(1);
	device_remove(0);
	device_remove(1);
	assert_int_equal(speprof_backend_register(&other), 0);
	assert_true(others_writes > 0);
	assert_int_equal(ring->state, SPEPROF_RING_OFFLINE);
	assert_false(spu_is_on(1));
	speprof_cpu_call_function(1, ring_stop_on_cpu, ring);
	speprof_cpu_call_function(1, ring_start_on_cpu, ring);
	assert_int_equal(ring->state, SPEPROF_RING_OFFLINE);
	assert_false(spu_is_on(1));
	speprof_backend_unregister(&other);
	stop_session_on_cpus(ring);
	devices_remove();
}

/* ---- Tests: CPU PM, suspend and crash ----------------------------------------------------- */

static void notify_cpu_pm(unsigned int cpu, unsigned long action)
{
	stand_in_cpu = cpu;
	assert_int_equal(stand_in_cpu_pm->notifier_call(stand_in_cpu_pm, action, NULL), NOTIFY_OK);
	stand_in_cpu = 0;
}

/*
 * An SPU loses its registers while its CPU sleeps, and the driver restores them. Only an SPU that
 * samples is drained.
 */
static void test_registers_survive_sleep(void **state)
{
	u64 before[SPE_REG_COUNT];
	struct speprof_ring *ring;

	(void)state;
	devices_add();
	ring = start_session_on_cpus(1);
	memcpy(before, spus[1], sizeof(before));
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		drains = 0;
		notify_cpu_pm(cpu, CPU_PM_ENTER);
		assert_false(spu_is_on(cpu));
		assert_int_equal(drains, cpu);
		memset(spus[cpu], 0xa5, sizeof(spus[cpu]));
		spus[cpu][SPE_REG_PMSCR] = 0;
		notify_cpu_pm(cpu, CPU_PM_EXIT);
	}
	assert_false(spu_is_on(0));
	/* The module parameter data_source_filter is off, so the driver does not use PMSDSFR. */
	for (unsigned int reg = 0; reg < SPE_REG_PMSDSFR; reg++)
		assert_int_equal(spus[1][reg], before[reg]);
	for (unsigned int reg = SPE_REG_PMBLIMITR; reg <= SPE_REG_PMBSR; reg++)
		assert_int_equal(spus[1][reg], before[reg]);
	assert_true(spu_is_on(1));
	stop_session_on_cpus(ring);
	devices_remove();
}

static void notify_suspend(unsigned long action)
{
	assert_int_equal(stand_in_pm->notifier_call(stand_in_pm, action, NULL), NOTIFY_OK);
}

/*
 * No window spans a suspend, in which CLOCK_MONOTONIC stops and the timestamp counter does not.
 * This also holds on a CPU that goes offline and online meanwhile.
 */
static void test_no_window_spans_suspend(void **state)
{
	struct speprof_ring *ring;
	u64 start_ns;

	(void)state;
	devices_add();
	ring = start_session_on_cpus(1);
	start_ns = ring->start_ns;
	notify_suspend(PM_SUSPEND_PREPARE);
	assert_int_equal(ring->state, SPEPROF_RING_OFFLINE);
	stand_in_cpu_down(1);
	stand_in_now += NSEC_PER_SEC;
	stand_in_cpu_up(1);
	assert_false(spu_is_on(1));
	notify_suspend(PM_POST_SUSPEND);
	assert_true(spu_is_on(1));
	assert_int_equal(ring->state, SPEPROF_RING_ARMED);
	assert_int_equal(ring->start_ns, start_ns + NSEC_PER_SEC);
	stop_session_on_cpus(ring);
	devices_remove();
}

/* A device that is probed during a suspend is used after it. */
static void test_probe_in_suspend(void **state)
{
	(void)state;
	devices_add();
	device_remove(0);
	device_remove(1);
	notify_suspend(PM_HIBERNATION_PREPARE);
	assert_int_equal(stand_in_driver->probe(&devices[0]), 0);
	assert_int_equal(get_device_irq(0)->enabled, 0);
	notify_suspend(PM_POST_HIBERNATION);
	assert_int_equal(get_device_irq(0)->enabled, get_device_irq(0)->cpus.bits);
	devices_remove();
}

/* In a guest, timestamps and the start of a window must use the same counter: the virtual one. */
static void test_time_of_guest_is_virtual(void **state)
{
	(void)state;
	for (unsigned int at_el2 = 0; at_el2 < 2; at_el2++) {
		stand_in_at_el2 = at_el2;
		speprof_spu_hw_write(SPE_REG_PMSCR, SPE_PMSCR_TS | SPE_PMSCR_PCT | SPE_PMSCR_EE);
		assert_int_equal(spus[0][SPE_REG_PMSCR],
				 SPE_PMSCR_TS | (at_el2 ? SPE_PMSCR_PCT : 0));
	}
	stand_in_at_el2 = false;
}

/*
 * Below EL2, the buffer is disabled while a ring is parked, because older versions of KVM do not
 * disable it.
 */
static void test_parked_buffer_is_disabled_below_el2(void **state)
{
	const struct speprof_backend *backend;

	(void)state;
	for (unsigned int at_el2 = 0; at_el2 < 2; at_el2++) {
		stand_in_at_el2 = at_el2;
		devices_add();
		mutex_lock(&speprof_control);
		backend = speprof_backend_get();
		mutex_unlock(&speprof_control);
		assert_int_equal(backend->disables_parked_buffer, !at_el2);
		speprof_backend_put(backend);
		devices_remove();
	}
	stand_in_at_el2 = false;
}

/* Below EL2, no SPU continues to write on the CPU that boots the crash kernel. */
static void test_crash_stops_spu(void **state)
{
	struct speprof_ring *ring;

	(void)state;
	devices_add();
	ring = start_session_on_cpus(1);
	assert_string_equal(stand_in_kprobe->symbol_name, "machine_crash_shutdown");
	stand_in_cpu = 1;
	drains = 0;
	stand_in_kprobe->pre_handler(stand_in_kprobe, NULL);
	stand_in_cpu = 0;
	assert_int_equal(spus[1][SPE_REG_PMSCR], 0);
	assert_int_equal(spus[1][SPE_REG_PMBLIMITR], 0);
	assert_int_equal(drains, 1);
	stop_session_on_cpus(ring);
	devices_remove();
	assert_null(stand_in_kprobe);
	stand_in_at_el2 = true;
	devices_add();
	assert_null(stand_in_kprobe);
	devices_remove();
	stand_in_at_el2 = false;
}

static void assert_refused(int irq, int error, const char *message)
{
	struct platform_device device = { .name = "spe-pmu", .irq = irq };

	stand_in_printed[0] = 0;
	assert_int_equal(stand_in_driver->probe(&device), error);
	assert_string_equal(stand_in_printed, message);
	stand_in_device_remove(&device);
}

/* Firmware without an interrupt and firmware with an interrupt of another kind are different errors. */
static void test_interrupts_that_cannot_be_used(void **state)
{
	static const char none[] = "no interrupt: the firmware must describe PMBIRQ, a PPI\n";

	(void)state;
	devices_add();
	assert_refused(-ENXIO, -ENXIO, none);
	/* The kernel reports invalid resources with this error, too. */
	assert_refused(-EINVAL, -EINVAL, none);
	assert_refused(STAND_IN_IRQS, -EINVAL,
		       "interrupt 4 is not private to a CPU: the firmware must describe a PPI\n");
	assert_refused(-EPROBE_DEFER, -EPROBE_DEFER, "");
	devices_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_and_remove_devices),
		cmocka_unit_test(test_interrupts_that_cannot_be_used),
		cmocka_unit_test(test_cpu_online_during_removal),
		cmocka_unit_test(test_shutdown_before_online),
		cmocka_unit_test(test_ring_waits_for_own_backend),
		cmocka_unit_test(test_registers_survive_sleep),
		cmocka_unit_test(test_no_window_spans_suspend),
		cmocka_unit_test(test_probe_in_suspend),
		cmocka_unit_test(test_time_of_guest_is_virtual),
		cmocka_unit_test(test_parked_buffer_is_disabled_below_el2),
		cmocka_unit_test(test_crash_stops_spu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
