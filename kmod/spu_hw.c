// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hardware backend. Firmware describes a device for each kind of CPU with an SPU; all devices
 * share one backend.
 *
 * There is no MODULE_DEVICE_TABLE on purpose. With one, udev would load this module beside the
 * kernel's own driver, and the first of the two would bind the devices. The administrator decides
 * with `speprof takeover`.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu_pm.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/kprobes.h>
#include <linux/mod_devicetable.h>
#include <linux/of_device.h>
#include <linux/percpu.h>
#include <linux/platform_device.h>

#include <asm/mmu.h>
#include <asm/virt.h>

#include <linux/speprof.h>

#include "backend.h"
#include "compat_irq.h"
#include "spu_hw.h"

#define KPTI_REFUSAL                                                                       \
	"the kernel is not mapped while user space runs (KPTI), where the SPU must write its " \
	"buffer: boot with kpti=off, or nokaslr if only KASLR requires KPTI"

/**
 * struct spu_hw_group - the CPUs of one device
 * @dev: the device
 * @cpus: the CPUs of the device; all of their SPUs are of the same kind
 * @irq: the interrupt, which is private to each CPU (a PPI)
 * @cookie: identifies the group's handler of @irq; nothing is stored in it
 */
struct spu_hw_group {
	struct device *dev;
	struct cpumask cpus;
	int irq;
	u8 __percpu *cookie;
};

/**
 * struct spu_hw_saved_registers - registers of an SPU that may lose power
 * @reg: the values, indexed by &enum spe_reg; identification registers are not saved
 */
struct spu_hw_saved_registers {
	u64 reg[SPE_REG_COUNT];
};

/**
 * struct spu_hw_cpu - a possible CPU; used on the CPU with interrupts off
 * @group: the group of the CPU; NULL if the CPU belongs to no device. Other CPUs change it under
 * spu_hw_lock
 * @irq: the interrupt that is enabled on this CPU; 0 if none is enabled
 * @asleep: whether the CPU is between CPU_PM_ENTER and CPU_PM_EXIT
 * @state: the registers that CPU_PM_EXIT restores
 */
struct spu_hw_cpu {
	struct spu_hw_group *group;
	int irq;
	bool asleep;
	struct spu_hw_saved_registers state;
};

static DEFINE_PER_CPU(struct spu_hw_cpu, spu_hw_cpus);

/* Serializes adding and removing devices; taken before speprof_control. */
static DEFINE_MUTEX(spu_hw_lock);
static struct cpumask spu_hw_mask;
static bool spu_hw_registered;

/* ---- On an SPU's CPU --------------------------------------------------------- */

static const char *spu_hw_attach(void)
{
	struct spu_hw_cpu *cpu = this_cpu_ptr(&spu_hw_cpus);
	const struct spu_hw_group *group = READ_ONCE(cpu->group);

	if (!group)
		return "its device was removed";
	if (!speprof_spu_hw_read(SPE_REG_PMSVER))
		return "ID_AA64DFR0_EL1.PMSVer is 0 though firmware describes an SPU: the firmware "
		       "or a hypervisor must allow it";
	if (speprof_spu_hw_read(SPE_REG_PMBIDR) & SPE_PMBIDR_P)
		return "PMBIDR_EL1.P is 1, a higher Exception level owns the profiling buffer: the "
		       "firmware (MDCR_EL3.NSPB) or the hypervisor (MDCR_EL2.E2PB) must release it";
	cpu->irq = group->irq;
	enable_percpu_irq(cpu->irq, IRQ_TYPE_NONE);
	return NULL;
}

static void spu_hw_detach(void)
{
	struct spu_hw_cpu *cpu = this_cpu_ptr(&spu_hw_cpus);

	disable_percpu_irq(cpu->irq);
	cpu->irq = 0;
}

static struct speprof_backend spu_hw_backend = {
	.owner = THIS_MODULE,
	.name = "hardware",
	.id = SPEPROF_BACKEND_HARDWARE,
	.cpus = &spu_hw_mask,
	.attach = spu_hw_attach,
	.detach = spu_hw_detach,
	.read = speprof_spu_hw_read,
	.write = speprof_spu_hw_write,
	.synchronize = speprof_spu_hw_synchronize,
	.drain = speprof_spu_hw_drain,
	.ticks = speprof_spu_hw_read_timestamp,
	.has_context = SPU_HW_HAS_CONTEXT,
};

/* PMBIRQ is asserted as long as PMBSR.S is 1 (RTSJRP, IGRLRX). */
static irqreturn_t spu_hw_handle_interrupt(int irq, void *dev)
{
	u64 pmbsr = speprof_spu_hw_read(SPE_REG_PMBSR);

	if (!(pmbsr & SPE_PMBSR_S))
		return IRQ_NONE;
	if (!speprof_handle_interrupt())
		pr_warn_ratelimited("CPU %u: interrupt of an SPU that no session uses (PMBSR %#llx): stopped the SPU\n",
				    smp_processor_id(), pmbsr);
	return IRQ_HANDLED;
}

/* Registers to save and restore, in the order of restoring; PMSCR follows all of these. */
static const u8 state_registers[] = {
	SPE_REG_PMSFCR, SPE_REG_PMSEVFR, SPE_REG_PMSNEVFR, SPE_REG_PMSLATFR, SPE_REG_PMSDSFR,
	SPE_REG_PMSIRR, SPE_REG_PMSICR, SPE_REG_PMBPTR, SPE_REG_PMBSR, SPE_REG_PMBLIMITR,
};

/*
 * Disable profiling. Drain the SPU if profiling was enabled in @pmscr; otherwise the SPU was
 * drained when profiling was disabled.
 */
static void spu_hw_stop(u64 pmscr)
{
	speprof_spu_hw_write(SPE_REG_PMSCR, 0);
	speprof_spu_hw_synchronize();
	if (pmscr & (SPE_PMSCR_E0SPE | SPE_PMSCR_E1SPE))
		speprof_spu_hw_drain();
}

/* Save the registers and stop the SPU. */
static void spu_hw_save(struct spu_hw_saved_registers *ret_state)
{
	unsigned int i;

	ret_state->reg[SPE_REG_PMSCR] = speprof_spu_hw_read(SPE_REG_PMSCR);
	spu_hw_stop(ret_state->reg[SPE_REG_PMSCR]);
	for (i = 0; i < ARRAY_SIZE(state_registers); i++)
		ret_state->reg[state_registers[i]] = speprof_spu_hw_read(state_registers[i]);
	speprof_spu_hw_write(SPE_REG_PMBLIMITR, 0);
	speprof_spu_hw_synchronize();
}

/*
 * Restore the registers, which may have any value. No event is lost: a write that sets PMBSR.S
 * asserts the interrupt again (IGRLRX).
 */
static void spu_hw_restore(const struct spu_hw_saved_registers *state)
{
	unsigned int i;

	speprof_spu_hw_write(SPE_REG_PMSCR, 0);
	speprof_spu_hw_synchronize();
	for (i = 0; i < ARRAY_SIZE(state_registers); i++)
		speprof_spu_hw_write(state_registers[i], state->reg[state_registers[i]]);
	/* The buffer must be enabled before profiling is. */
	speprof_spu_hw_synchronize();
	speprof_spu_hw_write(SPE_REG_PMSCR, state->reg[SPE_REG_PMSCR]);
	speprof_spu_hw_synchronize();
}

/*
 * The SPU may lose power in idle states and in a suspend. The CPU executes nothing between the save
 * and the restore, so no sample is lost.
 */
static int spu_hw_notify_cpu_pm(struct notifier_block *block, unsigned long action, void *data)
{
	struct spu_hw_cpu *cpu = this_cpu_ptr(&spu_hw_cpus);

	if (!cpu->irq)
		return NOTIFY_DONE;
	switch (action) {
	case CPU_PM_ENTER:
		spu_hw_save(&cpu->state);
		cpu->asleep = true;
		return NOTIFY_OK;
	case CPU_PM_ENTER_FAILED:
	case CPU_PM_EXIT:
		if (cpu->asleep)
			spu_hw_restore(&cpu->state);
		cpu->asleep = false;
		return NOTIFY_OK;
	default:
		return NOTIFY_DONE;
	}
}

static struct notifier_block spu_hw_pm_block = {
	.notifier_call = spu_hw_notify_cpu_pm,
};

/*
 * Stop the SPU before kdump's kernel starts. If the kernel runs below EL2, the crash kernel runs at
 * the same Exception level, and the SPU would continue to write to addresses of the crashed kernel.
 * The kernel calls no notifier before kdump, hence this kprobe. It runs on the CPU that boots the
 * crash kernel; the other CPUs stay in the old kernel.
 */
static int spu_hw_stop_at_crash(struct kprobe *probe, struct pt_regs *regs)
{
	if (!this_cpu_ptr(&spu_hw_cpus)->irq)
		return 0;
	spu_hw_stop(speprof_spu_hw_read(SPE_REG_PMSCR));
	speprof_spu_hw_write(SPE_REG_PMBLIMITR, 0);
	speprof_spu_hw_synchronize();
	return 0;
}

static struct kprobe spu_hw_crash_probe = {
	.symbol_name = "machine_crash_shutdown",
	.pre_handler = spu_hw_stop_at_crash,
};
static bool spu_hw_crash_probed;

/*
 * Register the kprobe. An error is ignored, because the kernel may lack kdump or kprobes. At EL2 no
 * probe is needed, because the crash kernel resets the SPU.
 */
static void spu_hw_crash_probe_register(void)
{
	if (!is_kernel_in_hyp_mode())
		spu_hw_crash_probed = !register_kprobe(&spu_hw_crash_probe);
}

static void spu_hw_crash_probe_unregister(void)
{
	if (spu_hw_crash_probed)
		unregister_kprobe(&spu_hw_crash_probe);
	spu_hw_crash_probed = false;
}

/* ---- Devices ------------------------------------------------------------------ */

static int group_find_interrupt(struct spu_hw_group *group)
{
	struct platform_device *pdev = to_platform_device(group->dev);
	int irq = platform_get_irq_optional(pdev, 0);

	if (irq == -EPROBE_DEFER)
		return irq;
	if (irq < 0)
		return dev_err_probe(group->dev, irq,
				     "no interrupt: the firmware must describe PMBIRQ, a PPI\n");
	if (compat_irq_get_cpus(pdev, irq, &group->cpus))
		return dev_err_probe(group->dev, -EINVAL,
				     "interrupt %d is not private to a CPU: the firmware must describe a PPI\n",
				     irq);
	if (cpumask_intersects(&group->cpus, &spu_hw_mask))
		return dev_err_probe(group->dev, -EEXIST,
				     "some of CPUs %*pbl have an SPU already: PPIs of several devices must be partitioned\n",
				     cpumask_pr_args(&group->cpus));
	group->irq = irq;
	return 0;
}

/* Prevent CPUs of the group that come online later from using their SPU. */
static void group_withdraw(struct spu_hw_group *group)
{
	unsigned int cpu;

	for_each_cpu(cpu, &group->cpus)
		WRITE_ONCE(per_cpu(spu_hw_cpus, cpu).group, NULL);
	cpumask_andnot(&spu_hw_mask, &spu_hw_mask, &group->cpus);
}

/* Stop the SPUs of the group: first prevent new users, then stop those on online CPUs. */
static void group_stop(struct spu_hw_group *group)
{
	group_withdraw(group);
	speprof_backend_remove_cpus(&group->cpus);
}

/* Add a group. The first device registers the backend, and later ones add their CPUs to it. */
static int group_add(struct spu_hw_group *group)
{
	unsigned int cpu;
	int ret;

	ret = compat_request_percpu_irq(group->irq, spu_hw_handle_interrupt, &group->cpus,
					group->cookie);
	if (ret)
		return dev_err_probe(group->dev, ret, "interrupt %d is in use\n", group->irq);
	for_each_cpu(cpu, &group->cpus)
		WRITE_ONCE(per_cpu(spu_hw_cpus, cpu).group, group);
	cpumask_or(&spu_hw_mask, &spu_hw_mask, &group->cpus);
	if (spu_hw_registered) {
		speprof_backend_add_cpus(&group->cpus);
		return 0;
	}

	ret = speprof_backend_register(&spu_hw_backend);
	if (!ret) {
		spu_hw_registered = true;
		return 0;
	}
	group_withdraw(group);
	free_percpu_irq(group->irq, group->cookie);
	if (ret == -EBUSY)
		dev_err(group->dev, "another backend is in use: rmmod speprof_emu first\n");
	return ret;
}

static void spu_hw_unregister(void)
{
	if (spu_hw_registered)
		speprof_backend_unregister(&spu_hw_backend);
	spu_hw_registered = false;
}

/* Remove a group, also while a session uses it: the session's rings go OFFLINE. */
static void spu_hw_remove(void *data)
{
	struct spu_hw_group *group = data;

	mutex_lock(&spu_hw_lock);
	group_stop(group);
	if (cpumask_empty(&spu_hw_mask))
		spu_hw_unregister();
	free_percpu_irq(group->irq, group->cookie);
	mutex_unlock(&spu_hw_lock);
}

static int spu_hw_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct spu_hw_group *group;
	int ret;

	/* KPTI may be enabled by kpti=on although no CPU needs it. */
	if (arm64_kernel_unmapped_at_el0())
		return dev_err_probe(dev, -EPERM, KPTI_REFUSAL "\n");
	group = devm_kzalloc(dev, sizeof(*group), GFP_KERNEL);
	if (!group)
		return -ENOMEM;
	group->dev = dev;
	group->cookie = devm_alloc_percpu(dev, u8);
	if (!group->cookie)
		return -ENOMEM;
	platform_set_drvdata(pdev, group);

	mutex_lock(&spu_hw_lock);
	ret = group_find_interrupt(group);
	if (!ret)
		ret = group_add(group);
	mutex_unlock(&spu_hw_lock);
	if (ret)
		return ret;
	return devm_add_action_or_reset(dev, spu_hw_remove, group);
}

/* Stop the SPUs at reboot and kexec, because the next kernel reuses the memory of their buffers. */
static void spu_hw_shutdown(struct platform_device *pdev)
{
	mutex_lock(&spu_hw_lock);
	group_stop(platform_get_drvdata(pdev));
	mutex_unlock(&spu_hw_lock);
}

static const struct of_device_id spu_hw_of_match[] = {
	{ .compatible = "arm,statistical-profiling-extension-v1" },
	{}
};

/* The kernel creates this device from the ACPI table MADT. */
static const struct platform_device_id spu_hw_id_table[] = {
	{ .name = "arm,spe-v1" },
	{}
};

static struct platform_driver spu_hw_driver = {
	.probe = spu_hw_probe,
	.shutdown = spu_hw_shutdown,
	.id_table = spu_hw_id_table,
	.driver = {
		.name = "speprof",
		.of_match_table = spu_hw_of_match,
		/* Unbinding through sysfs would remove the device while a session uses it. */
		.suppress_bind_attrs = true,
	},
};

/*
 * Warn about devices that are bound to another driver, because the driver core does not probe them
 * again for this one.
 */
static int spu_hw_warn_if_bound(struct device *dev, void *data)
{
	struct platform_device *pdev = to_platform_device(dev);

	if (!of_match_device(spu_hw_of_match, dev) &&
	    strcmp(pdev->name, spu_hw_id_table[0].name))
		return 0;
	device_lock(dev);
	if (dev->driver && dev->driver != &spu_hw_driver.driver)
		pr_warn("%s: bound to driver %s: run `speprof takeover` to use it here\n",
			dev_name(dev), dev->driver->name);
	device_unlock(dev);
	return 0;
}

int speprof_spu_hw_init(void)
{
	int ret;

	spu_hw_backend.tick_hz = speprof_spu_hw_read_tick_hz();
	/*
	 * If the kernel runs below EL2, older versions of KVM do not disable the buffer before they
	 * enter a guest.
	 */
	spu_hw_backend.disables_parked_buffer = !is_kernel_in_hyp_mode();
	ret = cpu_pm_register_notifier(&spu_hw_pm_block);
	if (ret)
		return ret;
	ret = platform_driver_register(&spu_hw_driver);
	if (ret) {
		cpu_pm_unregister_notifier(&spu_hw_pm_block);
		return ret;
	}
	spu_hw_crash_probe_register();
	bus_for_each_dev(&platform_bus_type, NULL, NULL, spu_hw_warn_if_bound);
	return 0;
}

void speprof_spu_hw_deinit(void)
{
	spu_hw_crash_probe_unregister();
	platform_driver_unregister(&spu_hw_driver);
	cpu_pm_unregister_notifier(&spu_hw_pm_block);
}
