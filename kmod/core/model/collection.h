/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which Exception level owns the profiling buffer, which levels are sampled, and what is collected
 * there (D17.6.9). Results depend only on the arguments.
 */
#ifndef SPE_CORE_COLLECTION_H
#define SPE_CORE_COLLECTION_H

#include "codec/env.h"
#include "codec/registers.h"
#include "event-routing.h"

/* The value in the Timestamp packet (table D17-3) */
enum spe_collection_time {
	SPE_COLLECTION_TIME_NONE,
	SPE_COLLECTION_TIME_VIRTUAL, /* the physical count minus the virtual offset */
	SPE_COLLECTION_TIME_PHYSICAL,
	SPE_COLLECTION_TIME_OFFSET, /* the physical count minus the physical offset */
	SPE_COLLECTION_TIME_UNKNOWN, /* the system counter is disabled (D17.6) */
};

/**
 * struct spe_timers - controls of the Generic Timer that timestamps depend on
 * @cntvoff: CNTVOFF_EL2
 * @cntpoff: CNTPOFF_EL2
 * @poff: whether FEAT_ECV_POFF is implemented
 * @ecv: CNTHCTL_EL2.ECV
 * @ecven: SCR_EL3.ECVEn
 * @stopped: whether the system counter is disabled (CNTCR.EN is 0)
 * @stopped_unknown: whether timestamps are UNKNOWN while the counter is disabled; if false, they
 * are not collected
 * @pct_physical: whether the reserved value of PMSCR_ELx.PCT behaves like 0b01; if false, like 0b00
 */
struct spe_timers {
	u64 cntvoff;
	u64 cntpoff;
	bool poff;
	bool ecv;
	bool ecven;
	bool stopped;
	bool stopped_unknown;
	bool pct_physical;
};

/**
 * struct spe_collection - what is collected at one Exception level
 * @offset: number of ticks to subtract from the physical count
 * @time: &enum spe_collection_time
 * @sampled: whether operations are sampled while the buffer is enabled
 * @context1: whether CONTEXTIDR_EL1 is collected
 * @context2: whether CONTEXTIDR_EL2 is collected
 * @pa: whether physical data addresses are collected
 */
struct spe_collection {
	u64 offset;
	u8 time;
	bool sampled;
	bool context1;
	bool context2;
	bool pa;
};

/** spe_collection_owner() - return the Exception level that owns the buffer, 1 or 2 */
unsigned int spe_collection_owner(const struct spe_controls *controls);

/**
 * spe_collection_for_el() - return which data is collected for operations at one Exception level
 * @controls: controls of the PE
 * @timers: controls of the Generic Timer
 * @pmscr_el1: PMSCR_EL1
 * @pmscr_el2: PMSCR_EL2; ignored if EL2 is not enabled
 * @el: the Exception level, 0 to 2
 */
struct spe_collection spe_collection_for_el(const struct spe_controls *controls,
					    const struct spe_timers *timers, u64 pmscr_el1,
					    u64 pmscr_el2, unsigned int el);

#endif
