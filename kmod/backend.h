/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A backend provides the registers, barriers and interrupts of SPUs. There are two backends: the
 * hardware (spu_hw.c), and the emulated SPU (emu/).
 */
#ifndef SPEPROF_BACKEND_H
#define SPEPROF_BACKEND_H

#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/types.h>

#include "codec/registers.h"

/**
 * struct speprof_backend - the SPUs of a set of CPUs
 * @owner: the module of the backend, which each session pins
 * @name: name of the backend in messages
 * @id: SPEPROF_BACKEND_*
 * @cpus: CPUs that have an SPU; speprof_backend_add_cpus() and _remove_cpus() announce changes
 * @attach: called when a CPU comes online, before any register is accessed. Returns NULL, or a
 * static sentence that explains why the SPU cannot be used. May be NULL
 * @detach: called last when a CPU goes offline, or if its SPU cannot be used. May be NULL
 * @read: reads a register, as MRS does
 * @write: writes a register, as MSR does
 * @synchronize: a Context synchronization event: earlier register writes are in effect on return
 * @drain: executes psb csync, dsb and isb; called after PMSCR was set to 0 and after @synchronize.
 * On return the records of all sampled operations are in memory, and PMBPTR and PMBSR have their
 * final values
 * @ticks: reads the counter of Timestamp packets; may be called from an NMI
 * @records: reads the number of records that this CPU's SPU has written since boot; NULL if the
 * backend cannot count them
 * @tick_hz: rate of @ticks, in Hz
 * @interval_min: minimum interval, in operations, in addition to that of PMSIDR.Interval
 * @disables_parked_buffer: whether the buffer must be disabled (PMBLIMITR.E is 0) while a ring is
 * PARKED
 * @has_context: whether Context packets contain the TID of the task that runs on the CPU
 *
 * Each callback runs on the CPU of the SPU, with interrupts off, also from within
 * speprof_handle_interrupt(). No register is written before speprof_backend_register() or after
 * speprof_backend_unregister(). When a CPU goes offline its PMSCR and PMBLIMITR are 0.
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
	bool has_context;
};

/**
 * speprof_backend_register() - offer SPUs to sessions; probes each online CPU of @backend->cpus
 * @backend: owned by the caller; must not change until it is unregistered
 *
 * Context: may sleep; takes speprof_control.
 * Return: 0; -EBUSY if another backend is registered; -ENODEV if CPUs are online but none of them
 * can use its SPU; an error of cpuhp_setup_state().
 */
int speprof_backend_register(const struct speprof_backend *backend);

/**
 * speprof_backend_unregister() - withdraw all SPUs
 * @backend: the registered backend
 *
 * Rings of the backend go OFFLINE. They sample again when the same backend is registered again, but
 * never with another backend.
 *
 * Context: may sleep; takes speprof_control.
 */
void speprof_backend_unregister(const struct speprof_backend *backend);

/**
 * speprof_backend_add_cpus() - probe CPUs that were added to the registered backend
 * @cpus: CPUs that are in backend->cpus already; offline ones are probed when they come online
 *
 * Context: may sleep; takes speprof_control.
 */
void speprof_backend_add_cpus(const struct cpumask *cpus);

/**
 * speprof_backend_remove_cpus() - stop using the SPUs of CPUs; their rings go OFFLINE
 * @cpus: CPUs that are no longer in backend->cpus
 *
 * Context: may sleep; takes speprof_control.
 */
void speprof_backend_remove_cpus(const struct cpumask *cpus);

/**
 * speprof_handle_interrupt() - handle the SPE interrupt request of this CPU (PMBIRQ)
 *
 * Context: hard interrupt, but not from within a call of the backend.
 * Return: true if a ring was ARMED. If not, the interrupt was spurious and the SPU was stopped.
 */
bool speprof_handle_interrupt(void);

#endif
