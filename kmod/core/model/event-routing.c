// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Routing of management events, written from the text of RHJXHT, RMYXZK and RTSJRP. The tests are
 * written from the tables D17-5 to D17-10, so that text and tables are checked against each other.
 */
#include "codec/registers.h"
#include "event-routing.h"

/*
 * EL2 is enabled in Non-secure state, or in Secure state with Secure EL2. While the PE is at EL3,
 * SCR_EL3.NS selects the state.
 */
bool spe_routing_el2_enabled(const struct spe_controls *controls)
{
	return controls->el2 && (controls->ns || controls->eel2);
}
SPE_EXPORT(spe_routing_el2_enabled);

u8 spe_routing_security_state(const struct spe_controls *controls)
{
	/* NSE without NS is Root state, which owns no buffer. */
	if (controls->nse)
		return controls->ns ? SPE_STATE_REALM : SPE_STATES;
	return controls->ns ? SPE_STATE_NONSECURE : SPE_STATE_SECURE;
}
SPE_EXPORT(spe_routing_security_state);

/*
 * Check whether EL3 leaves the choice of exception or interrupt to lower Exception levels
 * (MDCR_EL3.PMSEE).
 */
static bool el3_permits_choice(const struct spe_controls *controls)
{
	return !controls->el3 || controls->pmsee != 0;
}

u8 spe_routing_el2_effective_ee(const struct spe_controls *controls)
{
	if (!controls->exc || !el3_permits_choice(controls))
		return 0;
	return spe_routing_el2_enabled(controls) ? controls->el2_ee : 1;
}
SPE_EXPORT(spe_routing_el2_effective_ee);

static bool event_is_stage2(enum spe_routing_event event)
{
	return event == SPE_ROUTING_GPF_STAGE2 || event == SPE_ROUTING_EXTERNAL_STAGE2 ||
	       event == SPE_ROUTING_ABORT_STAGE2;
}

static bool event_is_gpf(enum spe_routing_event event)
{
	return event == SPE_ROUTING_GPF_STAGE1 || event == SPE_ROUTING_GPF_STAGE2;
}

static bool event_is_external(enum spe_routing_event event)
{
	return event == SPE_ROUTING_EXTERNAL_STAGE1 || event == SPE_ROUTING_EXTERNAL_STAGE2;
}

enum spe_routing_event spe_routing_classify(u32 fault)
{
	u32 ec = (u32)SPE_FIELD_GET(SPE_PMBSR_EC, fault);
	u32 fsc = (u32)SPE_FIELD_GET(SPE_PMBSR_FSC, fault);
	bool stage2 = ec == SPE_PMBSR_EC_STAGE2;

	if (ec == SPE_PMBSR_EC_GPC)
		return SPE_ROUTING_GPC;
	if (ec != SPE_PMBSR_EC_STAGE1 && !stage2)
		return SPE_ROUTING_OTHER_EVENT;
	/* Granule Protection Faults on a walk, at any level, and not on a walk. */
	if (fsc >= SPE_FSC_GPF_WALK && fsc <= SPE_FSC_GPF)
		return stage2 ? SPE_ROUTING_GPF_STAGE2 : SPE_ROUTING_GPF_STAGE1;
	if (fsc == SPE_FSC_EXTERNAL_SYNC || fsc == SPE_FSC_EXTERNAL_ASYNC ||
	    (fsc >= SPE_FSC_EXTERNAL_WALK && fsc < SPE_FSC_EXTERNAL_WALK_END))
		return stage2 ? SPE_ROUTING_EXTERNAL_STAGE2 : SPE_ROUTING_EXTERNAL_STAGE1;
	return stage2 ? SPE_ROUTING_ABORT_STAGE2 : SPE_ROUTING_ABORT_STAGE1;
}
SPE_EXPORT(spe_routing_classify);

/* Check whether a store at the owning Exception level would take a Data Abort to EL3. */
static bool abort_routes_to_el3(const struct spe_controls *controls, enum spe_routing_event event)
{
	return event == SPE_ROUTING_GPC || (event_is_gpf(event) && controls->scr_gpf) ||
	       (event_is_external(event) && controls->scr_ea);
}

/*
 * Check whether a store at the owning Exception level would take a Data Abort to EL2. Granule
 * protection checks other than GPFs count as Data Aborts.
 */
static bool abort_routes_to_el2(const struct spe_controls *controls, enum spe_routing_event event)
{
	if (event == SPE_ROUTING_OTHER_EVENT)
		return false;
	if (controls->e2pb == 0 || event == SPE_ROUTING_GPC)
		return true;
	return event_is_stage2(event) || (event_is_gpf(event) && controls->hcr_gpf) ||
	       (event_is_external(event) && controls->tea);
}

unsigned int spe_routing_target(const struct spe_controls *controls, enum spe_routing_event event)
{
	if (!controls->exc)
		return 1;
	if (controls->el3 && (controls->pmsee == 3 ||
			      (controls->pmsee == 2 && abort_routes_to_el3(controls, event))))
		return 3;
	if (el3_permits_choice(controls) && spe_routing_el2_enabled(controls) &&
	    (controls->el2_ee == 3 ||
	     (controls->el2_ee == 2 && abort_routes_to_el2(controls, event))))
		return 2;
	return 1;
}
SPE_EXPORT(spe_routing_target);

static struct spe_exception make_exception(enum spe_exception_state state, unsigned int target)
{
	return (struct spe_exception){ .state = (u8)state, .target = (u8)target };
}

/*
 * Return the state of an exception while the PE executes at its target Exception level: KE enables
 * the exception and PSTATE.PM masks it.
 */
static struct spe_exception get_exception_at_target(bool ke, bool pm, unsigned int target)
{
	if (!ke)
		return make_exception(SPE_EXCEPTION_MASKED, target);
	return make_exception(pm ? SPE_EXCEPTION_MASKED_PM : SPE_EXCEPTION_TAKEN, target);
}

static struct spe_exception exception_from_pmbsr_el3(const struct spe_controls *controls,
						     const struct spe_pe_state *pe)
{
	if (!controls->el3 || controls->pmsee < 2)
		return make_exception(SPE_EXCEPTION_DISABLED, 0);
	return make_exception(pe->el < 3 && !pe->debug ? SPE_EXCEPTION_TAKEN : SPE_EXCEPTION_MASKED,
			      3);
}

static struct spe_exception exception_from_pmbsr_el2(const struct spe_controls *controls,
						     const struct spe_pe_state *pe)
{
	if (!el3_permits_choice(controls) || !spe_routing_el2_enabled(controls) ||
	    controls->el2_ee < 2)
		return make_exception(SPE_EXCEPTION_DISABLED, 0);
	if (!pe->owning || pe->debug || pe->el > 2)
		return make_exception(SPE_EXCEPTION_MASKED, 2);
	if (pe->el < 2)
		return make_exception(SPE_EXCEPTION_TAKEN, 2);
	return get_exception_at_target(controls->el2_ee == 3 && controls->el2_ke, pe->pm, 2);
}

static bool el1_exception_is_enabled(const struct spe_controls *controls)
{
	return controls->strict_ee ? controls->el1_ee == 3 : controls->el1_ee >= 2;
}

static struct spe_exception exception_from_pmbsr_el1(const struct spe_controls *controls,
						     const struct spe_pe_state *pe)
{
	bool el2 = spe_routing_el2_enabled(controls);
	unsigned int target = el2 && controls->tge ? 2 : 1;

	if (!el3_permits_choice(controls) || (el2 && controls->el2_ee == 0) ||
	    !el1_exception_is_enabled(controls))
		return make_exception(SPE_EXCEPTION_DISABLED, 0);
	if (!pe->owning || pe->debug || pe->el > 1)
		return make_exception(SPE_EXCEPTION_MASKED, target);
	if (pe->el == 0)
		return make_exception(SPE_EXCEPTION_TAKEN, target);
	return get_exception_at_target(controls->el1_ke, pe->pm, target);
}

struct spe_exception spe_routing_get_exception(const struct spe_controls *controls,
					       const struct spe_pe_state *pe, unsigned int x)
{
	if (!controls->exc)
		return make_exception(SPE_EXCEPTION_DISABLED, 0);
	switch (x) {
	case 3:
		return exception_from_pmbsr_el3(controls, pe);
	case 2:
		return exception_from_pmbsr_el2(controls, pe);
	default:
		return exception_from_pmbsr_el1(controls, pe);
	}
}
SPE_EXPORT(spe_routing_get_exception);

bool spe_routing_irq_enabled(const struct spe_controls *controls)
{
	if (!controls->exc || !el3_permits_choice(controls))
		return true;
	if (spe_routing_el2_enabled(controls) && controls->el2_ee == 0)
		return true;
	return controls->strict_ee ? controls->el1_ee == 0 : controls->el1_ee < 2;
}
SPE_EXPORT(spe_routing_irq_enabled);
