/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The seam between the driver and an SPU: the register file, a barrier, an
 * interrupt. Behind it stand the hardware and the emulated SPU.
 */
#ifndef SPEPROF_BACKEND_H
#define SPEPROF_BACKEND_H

#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/types.h>

#include "codec/registers.h"

/**
 * struct speprof_backend - an SPU on each of some CPUs
 * @owner: held while a session exists
 * @name: for messages
 * @id: SPEPROF_BACKEND_*
 * @cpus: CPUs that have an SPU; may grow or shrink with speprof_backend_add_cpus() and _down()
 * @attach: a CPU comes online; before any register is touched. NULL, or why its SPU cannot be
 *	used, a static sentence. May be NULL
 * @detach: it goes, or is not usable after all; after all else. May be NULL
 * @read: MRS on this CPU
 * @write: MSR on this CPU
 * @synchronize: a Context synchronization event: on return the register writes before it are in effect
 * @drain: after PMSCR = 0 and @synchronize; psb csync; dsb; isb: on return the operations that were
 *	sampled have their records written, and memory, PMBPTR and PMBSR show it
 * @ticks: the count that Timestamp packets carry; NMI-safe
 * @records: records written since ever on this CPU, where the SPU can count; else NULL
 * @tick_hz: rate of @ticks
 * @interval_min: floor of the interval, beside PMSIDR.Interval
 * @disables_parked_buffer: PMBLIMITR.E is 0 while a ring is parked
 *
 * Every call is made on the CPU whose SPU it is about, with interrupts off,
 * and may be made from within speprof_interrupt(). No register is written
 * before speprof_backend_register() or after speprof_backend_unregister().
 * When a CPU goes offline its PMSCR and PMBLIMITR have been written 0.
 */
struct speprof_backend {
	struct module *owner;
	const char *name;
	u32 id;
	const struct cpumask *cpus;
	const char *(*attach)(void);
	void (*detach)(void);
	u64 (*read)(enum spe_reg reg);
	void (*write)(enum spe_reg reg, u64 value);
	void (*synchronize)(void);
	void (*drain)(void);
	u64 (*ticks)(void);
	u64 (*records)(void);
	u64 tick_hz;
	u64 interval_min;
	bool disables_parked_buffer;
};

/**
 * speprof_backend_register() - offer SPUs; probes each online CPU of @cpus
 * @backend: stays the caller's, until unregistered
 *
 * Return: 0, -EBUSY if there is a backend already, -ENODEV if @cpus are online and none of
 * them can be used, or what cpuhp says.
 */
int speprof_backend_register(const struct speprof_backend *backend);

/**
 * speprof_backend_unregister() - take them away
 *
 * Rings that were made for it stay OFFLINE, also with another backend, until it is registered again.
 */
void speprof_backend_unregister(const struct speprof_backend *backend);

/**
 * speprof_backend_add_cpus() - @cpus were added to the registered backend's: probe them
 *
 * Those that are offline are probed when they come online.
 */
void speprof_backend_add_cpus(const struct cpumask *cpus);

/** speprof_backend_remove_cpus() - silence @cpus for good: to their rings it is as if they went offline */
void speprof_backend_remove_cpus(const struct cpumask *cpus);

/**
 * speprof_interrupt() - the SPE interrupt request of this CPU is asserted
 *
 * From hard interrupt context of the CPU, not from within a backend's call.
 *
 * Return: whether it was ours. If not, the SPU has been silenced.
 */
bool speprof_interrupt(void);

#endif
