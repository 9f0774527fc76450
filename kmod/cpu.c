// SPDX-License-Identifier: GPL-2.0-only
/* CPUs and their SPUs: probing, hotplug, suspend, and the only registered backend */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/suspend.h>

#include "arbiter.h"
#include "compat.h"
#include "cpu.h"
#include "ring.h"

/* PMSIRR_EL1.INTERVAL has 24 bits, in units of 256. */
#define INTERVAL_MAX 0xffffff00ULL

DEFINE_PER_CPU(struct speprof_cpu, speprof_cpus);
DEFINE_MUTEX(speprof_control);

/*
 * These variables only change under speprof_control. The hotplug callbacks read them without that
 * lock. This is safe because the callbacks run only while a backend is registered, and because
 * "suspending" changes before cpus_read_lock() is taken. While it is true, no CPU uses its SPU.
 */
static const struct speprof_backend *registered_backend;
static int hotplug_state;
static bool suspending;

/*
 * Return the minimum interval, in operations, that PMSIDR_EL1.Interval specifies. For a reserved
 * value, return the largest minimum.
 */
static u64 pmsidr_get_min_interval(u64 pmsidr)
{
	static const u16 floors[] = { 256, 0, 512, 768, 1024, 1536, 2048, 3072, 4096 };
	u64 code = SPE_FIELD_GET(SPE_PMSIDR_INTERVAL, pmsidr);

	if (code >= ARRAY_SIZE(floors) || !floors[code])
		return 4096;
	return floors[code];
}

/*
 * Read the features of the SPU. Context: on the CPU, with interrupts off, while profiling is
 * disabled.
 */
static void cpu_probe_features(const struct speprof_backend *backend, struct speprof_cpu_info *info)
{
	u64 pmsidr = backend->read(SPE_REG_PMSIDR);
	u64 pmbidr = backend->read(SPE_REG_PMBIDR);

	/* Event bits that the SPU does not implement read as zero. */
	backend->write(SPE_REG_PMSEVFR, ~0ULL);
	backend->synchronize();
	info->events = backend->read(SPE_REG_PMSEVFR);
	backend->write(SPE_REG_PMSEVFR, 0);

	info->midr = compat_read_midr();
	info->pmsidr = pmsidr;
	info->pmbidr = pmbidr;
	info->pmsver = (u32)backend->read(SPE_REG_PMSVER);
	info->interval_unit = pmsidr & SPE_PMSIDR_ARCHINST ? SPEPROF_UNIT_INSTRUCTIONS :
							     SPEPROF_UNIT_MICRO_OPS;
	info->interval_min = max(pmsidr_get_min_interval(pmsidr), backend->interval_min);
	info->interval_max = INTERVAL_MAX;
	info->record_align = 1U << SPE_FIELD_GET(SPE_PMBIDR_ALIGN, pmbidr);
	info->record_max = 1U << SPE_FIELD_GET(SPE_PMSIDR_MAXSIZE, pmsidr);
	info->tick_hz = backend->tick_hz;
	info->backend = backend->id;
	info->flags = backend->has_context ? SPEPROF_CPU_CONTEXT : 0;
}

/* Return the reason why the SPU cannot be used, a static string; NULL if it can be used. */
static const char *cpu_check_spu(const struct speprof_cpu_info *info)
{
	if (!info->pmsver)
		return "ID_AA64DFR0_EL1.PMSVer is 0: the CPU has no SPU";
	if (info->record_align > SPE_MAX_RECORD)
		return "PMBIDR_EL1.Align is above 2 KiB, which the architecture does not allow";
	if (info->record_max < 16 || info->record_max > SPE_MAX_RECORD)
		return "PMSIDR_EL1.MaxSize is not 16 bytes to 2 KiB, as the architecture demands";
	return NULL;
}

/* Stop the SPU from any state. Context: on the CPU, interrupts off. */
static void cpu_stop_spu(const struct speprof_backend *backend)
{
	backend->write(SPE_REG_PMSCR, 0);
	backend->synchronize();
	backend->drain();
	backend->write(SPE_REG_PMBLIMITR, 0);
	backend->write(SPE_REG_PMBSR, 0);
	backend->synchronize();
}

/*
 * Attach the backend to the SPU of this CPU. Return: NULL, or the reason why the SPU cannot be
 * used.
 */
static const char *cpu_attach_spu(struct speprof_cpu *self, struct speprof_cpu_info *info)
{
	const char *reason = registered_backend->attach ? registered_backend->attach() : NULL;

	if (reason)
		return reason;
	cpu_stop_spu(registered_backend);
	cpu_probe_features(registered_backend, info);
	reason = cpu_check_spu(info);
	if (reason) {
		if (registered_backend->detach)
			registered_backend->detach();
		return reason;
	}
	self->info = *info;
	self->backend = registered_backend;
	speprof_arbiter_start_rings(self);
	return NULL;
}

/* Start to use the SPU of this CPU, if the backend has it. Context: on the CPU, interrupts off. */
static void cpu_acquire_spu(void *unused)
{
	struct speprof_cpu *self = this_cpu_ptr(&speprof_cpus);
	struct speprof_cpu_info info = { .size = sizeof(info), .cpu = smp_processor_id() };
	const char *reason;

	if (self->backend || suspending || !cpumask_test_cpu(info.cpu, registered_backend->cpus))
		return;
	reason = cpu_attach_spu(self, &info);
	if (reason)
		pr_warn("CPU %u: SPU refused (PMSIDR %#llx, PMBIDR %#llx): %s\n", info.cpu,
			info.pmsidr, info.pmbidr, reason);
}

/* Stop the rings of this CPU, and detach its SPU. Context: on the CPU, interrupts off. */
static void cpu_release_spu(void *unused)
{
	struct speprof_cpu *self = this_cpu_ptr(&speprof_cpus);

	if (!self->backend)
		return;
	speprof_arbiter_stop_rings(self);
	self->backend = NULL;
	if (registered_backend->detach)
		registered_backend->detach();
}

static int cpu_online_callback(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	cpu_acquire_spu(NULL);
	local_irq_restore(flags);
	return 0;
}

static int cpu_offline_callback(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	cpu_release_spu(NULL);
	local_irq_restore(flags);
	return 0;
}

void speprof_backend_add_cpus(const struct cpumask *cpus)
{
	mutex_lock(&speprof_control);
	cpus_read_lock();
	on_each_cpu_mask(cpus, cpu_acquire_spu, NULL, true);
	cpus_read_unlock();
	mutex_unlock(&speprof_control);
}

void speprof_backend_remove_cpus(const struct cpumask *cpus)
{
	mutex_lock(&speprof_control);
	cpus_read_lock();
	on_each_cpu_mask(cpus, cpu_release_spu, NULL, true);
	cpus_read_unlock();
	mutex_unlock(&speprof_control);
}

/* ---- Suspend ------------------------------------------------------------- */

static void cpus_set_suspending(bool now)
{
	mutex_lock(&speprof_control);
	suspending = now;
	if (registered_backend) {
		cpus_read_lock();
		on_each_cpu_mask(registered_backend->cpus, now ? cpu_release_spu : cpu_acquire_spu,
				 NULL, true);
		cpus_read_unlock();
	}
	mutex_unlock(&speprof_control);
}

/*
 * Close all windows before a suspend. CLOCK_MONOTONIC stops during a suspend, but the counter of
 * Timestamp packets may continue: later records of an open window would get times in the future.
 */
static int cpus_pm_notify(struct notifier_block *block, unsigned long action, void *data)
{
	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		cpus_set_suspending(true);
		return NOTIFY_OK;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		cpus_set_suspending(false);
		return NOTIFY_OK;
	default:
		return NOTIFY_DONE;
	}
}

static struct notifier_block cpus_pm_block = {
	.notifier_call = cpus_pm_notify,
};

int speprof_cpus_init(void)
{
	return register_pm_notifier(&cpus_pm_block);
}

void speprof_cpus_deinit(void)
{
	unregister_pm_notifier(&cpus_pm_block);
}

/* ---- Backends ------------------------------------------------------------ */

/* Return whether the backend has online CPUs and none of them can use its SPU. */
static bool backend_is_unusable(const struct speprof_backend *backend)
{
	bool unused = false;
	unsigned int cpu;

	cpus_read_lock();
	for_each_cpu_and(cpu, backend->cpus, cpu_online_mask) {
		unused = !READ_ONCE(per_cpu(speprof_cpus, cpu).backend);
		if (!unused)
			break;
	}
	cpus_read_unlock();
	return unused;
}

int speprof_backend_register(const struct speprof_backend *backend)
{
	int ret = -EBUSY;

	mutex_lock(&speprof_control);
	if (registered_backend)
		goto out;
	registered_backend = backend;
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "speprof:online", cpu_online_callback,
				cpu_offline_callback);
	if (ret < 0) {
		registered_backend = NULL;
		goto out;
	}
	hotplug_state = ret;
	ret = 0;
	if (!suspending && backend_is_unusable(backend)) {
		cpuhp_remove_state(hotplug_state);
		registered_backend = NULL;
		ret = -ENODEV;
		goto out;
	}
	pr_info("%s SPU on %u CPUs\n", backend->name, speprof_cpus_count_spus());
out:
	mutex_unlock(&speprof_control);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(speprof_backend_register, SPE_NAMESPACE(SPEPROF));

void speprof_backend_unregister(const struct speprof_backend *backend)
{
	unsigned int cpu;

	mutex_lock(&speprof_control);
	if (!WARN_ON(registered_backend != backend)) {
		cpuhp_remove_state(hotplug_state);
		for_each_possible_cpu(cpu)
			memset(&per_cpu(speprof_cpus, cpu).info, 0, sizeof(struct speprof_cpu_info));
		registered_backend = NULL;
	}
	mutex_unlock(&speprof_control);
}
EXPORT_SYMBOL_NS_GPL(speprof_backend_unregister, SPE_NAMESPACE(SPEPROF));

const struct speprof_backend *speprof_backend_get(void)
{
	lockdep_assert_held(&speprof_control);
	if (!registered_backend || !try_module_get(registered_backend->owner))
		return NULL;
	return registered_backend;
}

bool speprof_backend_is_registered(const struct speprof_backend *backend)
{
	lockdep_assert_held(&speprof_control);
	return backend == registered_backend;
}

void speprof_backend_put(const struct speprof_backend *backend)
{
	module_put(backend->owner);
}

void speprof_cpu_info_get(unsigned int cpu, struct speprof_cpu_info *ret_info)
{
	const struct speprof_cpu *cpu_state = per_cpu_ptr(&speprof_cpus, cpu);

	mutex_lock(&speprof_control);
	cpus_read_lock();
	*ret_info = cpu_state->info;
	ret_info->size = sizeof(*ret_info);
	ret_info->cpu = cpu;
	if (cpu_online(cpu))
		ret_info->flags |= SPEPROF_CPU_ONLINE;
	/* Rings are added and removed under speprof_control, which this function holds. */
	if (!hlist_empty(&cpu_state->rings))
		ret_info->flags |= SPEPROF_CPU_BUSY;
	cpus_read_unlock();
	mutex_unlock(&speprof_control);
}

unsigned int speprof_cpus_count_spus(void)
{
	unsigned int cpu, count = 0;

	lockdep_assert_held(&speprof_control);
	cpus_read_lock();
	for_each_possible_cpu(cpu)
		count += per_cpu(speprof_cpus, cpu).info.backend != SPEPROF_BACKEND_NONE;
	cpus_read_unlock();
	return count;
}

void speprof_cpu_call_function(unsigned int cpu, smp_call_func_t fn, void *arg)
{
	unsigned long flags;

	cpus_read_lock();
	if (smp_call_function_single(cpu, fn, arg, true)) {
		local_irq_save(flags);
		fn(arg);
		local_irq_restore(flags);
	}
	cpus_read_unlock();
}

bool speprof_handle_interrupt(void)
{
	struct speprof_cpu *self = this_cpu_ptr(&speprof_cpus);

	if (self->ring && speprof_ring_handle_interrupt(self->ring))
		return true;

	/* The interrupt is spurious. The parked ring keeps its saved state. */
	if (self->ring)
		speprof_ring_save_registers(self->ring);
	/*
	 * Clear PMBSR.S; otherwise the level-triggered interrupt would be taken again immediately.
	 */
	cpu_stop_spu(registered_backend);
	return false;
}
EXPORT_SYMBOL_NS_GPL(speprof_handle_interrupt, SPE_NAMESPACE(SPEPROF));
