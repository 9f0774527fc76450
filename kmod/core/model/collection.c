// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which data is collected, by owner and Exception level (D17.6.9) */
#include "collection.h"

unsigned int spe_collection_owner(const struct spe_controls *controls)
{
	return spe_routing_el2_enabled(controls) && controls->e2pb == 0 ? 2 : 1;
}
SPE_EXPORT(spe_collection_owner);

/*
 * Check whether the state of the PE permits profiling: the Security state owns the buffer, and the
 * PE is in AArch64 state and not in Debug state (D17.4).
 */
static bool state_permits_profiling(const struct spe_controls *controls)
{
	return !controls->halted && (controls->owner == SPE_STATE_CURRENT ||
				     controls->owner == spe_routing_security_state(controls));
}

/*
 * Levels above the owner are never sampled. With HCR_EL2.TGE there is no EL1, and EL0 belongs to
 * EL2.
 */
static bool level_is_sampled(const struct spe_controls *controls, u64 pmscr_el1, u64 pmscr_el2,
			     unsigned int el)
{
	unsigned int owner = spe_collection_owner(controls);
	bool tge = spe_routing_el2_enabled(controls) && controls->tge;

	if (el > owner || (tge && owner == 1) || !state_permits_profiling(controls))
		return false;
	switch (el) {
	case 2:
		return pmscr_el2 & SPE_PMSCR_E1SPE;
	case 1:
		return !tge && pmscr_el1 & SPE_PMSCR_E1SPE;
	default:
		return (tge ? pmscr_el2 : pmscr_el1) & SPE_PMSCR_E0SPE;
	}
}

/*
 * Decode PMSCR_ELx.PCT. The value 0b10 is reserved, and table D17-3 does not contain it; @timers
 * selects its behaviour.
 */
static enum spe_collection_time pct_decode(const struct spe_timers *timers, u64 pmscr)
{
	switch (SPE_FIELD_GET(SPE_PMSCR_PCT, pmscr)) {
	case SPE_PMSCR_PCT_VIRT:
		return SPE_COLLECTION_TIME_VIRTUAL;
	case SPE_PMSCR_PCT_PHYS:
		return SPE_COLLECTION_TIME_PHYSICAL;
	case SPE_PMSCR_PCT_OFFSET:
		return SPE_COLLECTION_TIME_OFFSET;
	default:
		return timers->pct_physical ? SPE_COLLECTION_TIME_PHYSICAL :
					      SPE_COLLECTION_TIME_VIRTUAL;
	}
}

static enum spe_collection_time controls_select_time(const struct spe_controls *controls,
						     const struct spe_timers *timers, u64 pmscr_el1,
						     u64 pmscr_el2)
{
	enum spe_collection_time el1 = pct_decode(timers, pmscr_el1);
	enum spe_collection_time el2 = pct_decode(timers, pmscr_el2);

	if (spe_collection_owner(controls) == 2)
		return pmscr_el2 & SPE_PMSCR_TS ? el2 : SPE_COLLECTION_TIME_NONE;
	if (!(pmscr_el1 & SPE_PMSCR_TS))
		return SPE_COLLECTION_TIME_NONE;
	if (!spe_routing_el2_enabled(controls) || el1 == SPE_COLLECTION_TIME_VIRTUAL)
		return el1;
	/*
	 * EL2 can only restrict what EL1 collects. If EL2 permits physical time, the time may have
	 * an offset.
	 */
	return el2 == SPE_COLLECTION_TIME_PHYSICAL ? el1 : el2;
}

static u64 controls_select_offset(const struct spe_controls *controls,
				  const struct spe_timers *timers, enum spe_collection_time time,
				  unsigned int el)
{
	bool e2h = spe_routing_el2_enabled(controls) && controls->e2h;

	if (time == SPE_COLLECTION_TIME_VIRTUAL) {
		/* Use the offset that CNTVCT_EL0 has at that Exception level. */
		if (!controls->el2 || (e2h && (el == 2 || (el == 0 && controls->tge))))
			return 0;
		return timers->cntvoff;
	}
	if (time == SPE_COLLECTION_TIME_OFFSET) {
		if (!controls->el2 || !timers->poff || !timers->ecv ||
		    (controls->el3 && !timers->ecven))
			return 0;
		return timers->cntpoff;
	}
	return 0;
}

struct spe_collection spe_collection_for_el(const struct spe_controls *controls,
					    const struct spe_timers *timers, u64 pmscr_el1,
					    u64 pmscr_el2, unsigned int el)
{
	bool el2 = spe_routing_el2_enabled(controls);
	bool pa = !el2 || pmscr_el2 & SPE_PMSCR_PA;
	enum spe_collection_time time =
		controls_select_time(controls, timers, pmscr_el1, pmscr_el2);

	/*
	 * D17.6: while the system counter is disabled, the timestamp is UNKNOWN or not collected.
	 */
	if (time != SPE_COLLECTION_TIME_NONE && timers->stopped)
		time = timers->stopped_unknown ? SPE_COLLECTION_TIME_UNKNOWN :
						 SPE_COLLECTION_TIME_NONE;
	return (struct spe_collection){
		.offset = controls_select_offset(controls, timers, time, el),
		.time = (u8)time,
		.sampled = level_is_sampled(controls, pmscr_el1, pmscr_el2, el),
		.context1 = pmscr_el1 & SPE_PMSCR_CX && el < 2 && !(el2 && controls->tge),
		.context2 = el2 && pmscr_el2 & SPE_PMSCR_CX,
		.pa = pa && (spe_collection_owner(controls) == 2 || pmscr_el1 & SPE_PMSCR_PA),
	};
}
SPE_EXPORT(spe_collection_for_el);
