/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the kernel that the hardware backend uses in addition to stand-in.h: hotplug
 * callbacks, per-CPU interrupts, platform devices, and notifier chains
 */
#ifndef STAND_IN_DEVICES_H
#define STAND_IN_DEVICES_H

#include "stand-in.h"

#define THIS_MODULE ((struct module *)NULL)
#define EXPORT_SYMBOL_NS_GPL(symbol, space)
#define KBUILD_MODNAME "speprof"

#define pr_info(...)		 stand_in_print(__VA_ARGS__)
#define pr_warn(...)		 stand_in_print(__VA_ARGS__)
#define pr_warn_ratelimited(...) stand_in_print(__VA_ARGS__)
#define dev_err(dev, ...)	 ((void)(dev), stand_in_print(__VA_ARGS__))
#define dev_err_probe(dev, error, ...) (dev_err(dev, __VA_ARGS__), error)

/* The last message to the kernel's log. */
extern char stand_in_printed[256];

void stand_in_print(const char *format, ...);

static inline bool try_module_get(struct module *module)
{
	(void)module;
	return true;
}

static inline void module_put(struct module *module)
{
	(void)module;
}

#define arm64_kernel_unmapped_at_el0() false
#define is_kernel_in_hyp_mode()	       stand_in_at_el2

/* whether the simulated kernel runs at EL2 */
extern bool stand_in_at_el2;

#define smp_processor_id()     stand_in_cpu
#define local_irq_save(flags)  ((flags) = 0)
#define local_irq_restore(flags) ((void)(flags))

#define cpu_online_mask ((const struct cpumask *)&stand_in_online)

#define cpumask_intersects(a, b)   (!!((a)->bits & (b)->bits))
#define cpumask_or(to, a, b)	   ((to)->bits = (a)->bits | (b)->bits)
#define cpumask_copy(to, from)	   (*(to) = *(from))
#define cpumask_equal(a, b)	   ((a)->bits == (b)->bits)
#define cpumask_andnot(to, a, b)   ((to)->bits = (a)->bits & ~(b)->bits)
#define cpumask_pr_args(mask)	   64, (void *)(mask)
#define for_each_cpu(cpu, mask)	   for_each_possible_cpu(cpu) if (cpumask_test_cpu(cpu, mask))
#define for_each_cpu_and(cpu, a, b) for_each_cpu(cpu, a) if (cpumask_test_cpu(cpu, b))

#define CPUHP_AP_ONLINE_DYN 1

typedef int (*stand_in_hotplug_fn)(unsigned int cpu);

int cpuhp_setup_state(int state, const char *name, stand_in_hotplug_fn up,
		      stand_in_hotplug_fn down);
void cpuhp_remove_state(int state);
void on_each_cpu_mask(const struct cpumask *mask, smp_call_func_t fn, void *arg, bool wait);

/**
 * stand_in_cpu_up() - bring CPU @cpu online
 *
 * stand_in_cpu_down() brings it offline.
 */
void stand_in_cpu_up(unsigned int cpu);
void stand_in_cpu_down(unsigned int cpu);

/* ---- System registers and barriers: the test simulates them ----------------------- */

#define sys_reg(op0, op1, crn, crm, op2) \
	((u32)((op0) << 19 | (op1) << 16 | (crn) << 12 | (crm) << 8 | (op2) << 5))

/* MRS and MSR of the register @encoding of the current CPU, and PSB CSYNC */
u64 stand_in_read_sysreg(u32 encoding);
void stand_in_write_sysreg(u64 value, u32 encoding);
void stand_in_psb_csync(void);

#define read_sysreg_s(encoding)	       stand_in_read_sysreg(encoding)
#define write_sysreg_s(value, encoding) stand_in_write_sysreg(value, encoding)
#define read_sysreg(name)	       STAND_IN_##name
#define STAND_IN_cntfrq_el0	       1000000000
#define get_cycles()		       stand_in_now
#define isb()			       ((void)0)
#define dsb(domain)		       ((void)0)
#define psb_csync()		       stand_in_psb_csync()

/* ---- Interrupts ------------------------------------------------------------------ */

typedef enum { IRQ_NONE, IRQ_HANDLED } irqreturn_t;
typedef irqreturn_t (*irq_handler_t)(int irq, void *dev);

#define IRQ_TYPE_NONE	   0
#define STAND_IN_IRQS	   4
#define __percpu
#define irq_is_percpu(irq) ((irq) < STAND_IN_IRQS)

/*
 * struct stand_in_irq - an interrupt. @cpus: mask of the CPUs that can get it; @handler: NULL if it
 * is not requested; @enabled: mask of CPUs on which it is enabled
 */
struct stand_in_irq {
	struct cpumask cpus;
	irq_handler_t handler;
	void *cookie;
	u64 enabled;
};

extern struct stand_in_irq stand_in_irqs[STAND_IN_IRQS];

int request_percpu_irq_affinity(unsigned int irq, irq_handler_t handler, const char *name,
				const struct cpumask *cpus, void *dev);
void free_percpu_irq(unsigned int irq, void *dev);
void enable_percpu_irq(unsigned int irq, unsigned int type);
void disable_percpu_irq(unsigned int irq);

/* ---- Devices ---------------------------------------------------------------------- */

struct of_device_id {
	const char *compatible;
};

struct platform_device_id {
	const char *name;
};

struct device_driver {
	const char *name;
	const struct of_device_id *of_match_table;
	bool suppress_bind_attrs;
};

/*
 * struct device - @memory: memory that is freed on removal; @action: function that is called on
 * removal
 */
struct device {
	const struct device_driver *driver;
	void *driver_data;
	void *memory;
	void (*action)(void *data);
	void *action_data;
};

struct platform_device {
	const char *name;
	struct device dev;
	int irq;
};

struct platform_driver {
	int (*probe)(struct platform_device *pdev);
	void (*shutdown)(struct platform_device *pdev);
	const struct platform_device_id *id_table;
	struct device_driver driver;
};

int platform_get_irq_optional(struct platform_device *pdev, unsigned int index);
int platform_get_irq_affinity(struct platform_device *pdev, unsigned int index,
			      const struct cpumask **ret_cpus);

/* The registered driver, or NULL. */
extern struct platform_driver *stand_in_driver;

#define to_platform_device(d)		      container_of(d, struct platform_device, dev)
#define platform_set_drvdata(pdev, data)      ((pdev)->dev.driver_data = (data))
#define platform_get_drvdata(pdev)	      ((pdev)->dev.driver_data)
#define devm_alloc_percpu(dev, type)	      ((type *)(dev))
#define dev_name(dev)			      (to_platform_device(dev)->name)
#define device_lock(dev)		      ((void)(dev))
#define device_unlock(dev)		      ((void)(dev))
#define of_match_device(table, dev)	      ((void)(dev), (table))
#define bus_for_each_dev(bus, from, data, fn) ((void)(fn))
#define EPROBE_DEFER			      517

static inline int platform_driver_register(struct platform_driver *driver)
{
	stand_in_driver = driver;
	return 0;
}

static inline void platform_driver_unregister(struct platform_driver *driver)
{
	WARN_ON(stand_in_driver != driver);
	stand_in_driver = NULL;
}

static inline void *devm_kzalloc(struct device *dev, size_t size, int flags)
{
	dev->memory = kzalloc(size, flags);
	return dev->memory;
}

static inline int devm_add_action_or_reset(struct device *dev, void (*action)(void *), void *data)
{
	dev->action = action;
	dev->action_data = data;
	return 0;
}

/** stand_in_device_remove() - unbind @pdev from its driver */
void stand_in_device_remove(struct platform_device *pdev);

/* ---- Notifiers --------------------------------------------------------------------- */

#define NOTIFY_DONE 0
#define NOTIFY_OK   1

enum { CPU_PM_ENTER, CPU_PM_ENTER_FAILED, CPU_PM_EXIT };

struct notifier_block {
	int (*notifier_call)(struct notifier_block *block, unsigned long action, void *data);
};

/* The registered CPU PM notifier, or NULL. */
extern struct notifier_block *stand_in_cpu_pm;

static inline int cpu_pm_register_notifier(struct notifier_block *block)
{
	stand_in_cpu_pm = block;
	return 0;
}

static inline int cpu_pm_unregister_notifier(struct notifier_block *block)
{
	WARN_ON(stand_in_cpu_pm != block);
	stand_in_cpu_pm = NULL;
	return 0;
}

enum {
	PM_HIBERNATION_PREPARE,
	PM_POST_HIBERNATION,
	PM_SUSPEND_PREPARE,
	PM_POST_SUSPEND,
	PM_RESTORE_PREPARE,
	PM_POST_RESTORE,
};

/* The registered PM notifier, or NULL. */
extern struct notifier_block *stand_in_pm;

static inline int register_pm_notifier(struct notifier_block *block)
{
	stand_in_pm = block;
	return 0;
}

static inline int unregister_pm_notifier(struct notifier_block *block)
{
	WARN_ON(stand_in_pm != block);
	stand_in_pm = NULL;
	return 0;
}

/* ---- Probes ------------------------------------------------------------------------ */

struct pt_regs;
struct kprobe {
	const char *symbol_name;
	int (*pre_handler)(struct kprobe *probe, struct pt_regs *regs);
};

/* The registered kprobe, or NULL. */
extern struct kprobe *stand_in_kprobe;

static inline int register_kprobe(struct kprobe *probe)
{
	stand_in_kprobe = probe;
	return 0;
}

static inline void unregister_kprobe(struct kprobe *probe)
{
	WARN_ON(stand_in_kprobe != probe);
	stand_in_kprobe = NULL;
}

/* ---- Stand-ins for kmod/compat.h ----------------------------------------------------- */

struct class;
struct io_uring_sqe {
	u8 cmd[16];
};
struct io_uring_cmd {
	const struct io_uring_sqe *sqe;
};

#define vm_flags_mod(vma, set, clear) ((void)(vma))
#define class_create(name)	      ((struct class *)(name))

#endif
