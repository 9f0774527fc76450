/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routing of profiling buffer management events (D17.8): which PMBSR_ELx records an event, and
 * whether it causes the interrupt PMBIRQ or an SPE Profiling exception. Results depend only on the
 * arguments.
 */
#ifndef SPE_CORE_EVENT_ROUTING_H
#define SPE_CORE_EVENT_ROUTING_H

#include "codec/env.h"

/* The Security state that owns the buffer (RBWRVP: MDCR_EL3.{NSPBE, NSPB}) */
enum spe_security_state {
	SPE_STATE_CURRENT, /* the current state: &spe_controls.ns and &spe_controls.nse */
	SPE_STATE_SECURE,
	SPE_STATE_NONSECURE,
	SPE_STATE_REALM,
	SPE_STATES,
};

/**
 * struct spe_controls - Effective values of the controls around the SPU
 * @exc: FEAT_SPE_EXC is implemented
 * @el2: EL2 is implemented
 * @el3: EL3 is implemented; if false, the fields of EL3 registers below are ignored, except @ns and
 * @eel2
 * @ns: SCR_EL3.NS
 * @nse: SCR_EL3.NSE (FEAT_RME): Realm state with @ns
 * @owner: &enum spe_security_state; in another state there is no profiling (D17.4)
 * @halted: the PE is in Debug state or in AArch32 state, in which there is no profiling
 * @eel2: SCR_EL3.EEL2
 * @scr_gpf: SCR_EL3.GPF
 * @scr_ea: SCR_EL3.EA
 * @pmsee: MDCR_EL3.PMSEE, 0-3
 * @e2pb: MDCR_EL2.E2PB, 0-3: EL2 owns the buffer if 0
 * @hcr_gpf: HCR_EL2.GPF
 * @tea: HCR_EL2.TEA
 * @tge: HCR_EL2.TGE
 * @e2h: HCR_EL2.E2H
 * @el2_ee: PMSCR_EL2.EE, 0-3
 * @el2_ke: PMSCR_EL2.KE
 * @el1_ee: PMSCR_EL1.EE, 0-3; 1 and 2 are reserved
 * @el1_ke: PMSCR_EL1.KE
 * @strict_ee: behaviour of reserved values of @el1_ee. False: only their upper bit has an effect,
 * as in table D17-8. True: they enable neither exception nor interrupt, as in RMYXZK and RTSJRP
 */
struct spe_controls {
	bool exc;
	bool el2;
	bool el3;
	bool ns;
	bool nse;
	u8 owner;
	bool halted;
	bool eel2;
	bool scr_gpf;
	bool scr_ea;
	u8 pmsee;
	u8 e2pb;
	bool hcr_gpf;
	bool tea;
	bool tge;
	bool e2h;
	u8 el2_ee;
	bool el2_ke;
	u8 el1_ee;
	bool el1_ke;
	bool strict_ee;
};

/**
 * struct spe_pe_state - the state of the PE that decides whether an exception is taken
 * @el: the current Exception level, 0-3
 * @owning: whether it executes in the Security state that owns the buffer
 * @debug: whether it is in Debug state
 * @pm: PSTATE.PM
 */
struct spe_pe_state {
	u8 el;
	bool owning;
	bool debug;
	bool pm;
};

/* The columns of tables D17-5 to D17-7 */
enum spe_routing_event {
	SPE_ROUTING_OTHER_EVENT, /* EC 0x00, and the IMPLEMENTATION DEFINED reason 0x1f */
	SPE_ROUTING_GPF_STAGE1,
	SPE_ROUTING_GPF_STAGE2,
	SPE_ROUTING_GPC, /* EC 0x1e: granule protection checks other than GPFs */
	SPE_ROUTING_EXTERNAL_STAGE1,
	SPE_ROUTING_EXTERNAL_STAGE2,
	SPE_ROUTING_ABORT_STAGE1,
	SPE_ROUTING_ABORT_STAGE2,
	SPE_ROUTING_EVENTS,
};

enum spe_exception_state {
	SPE_EXCEPTION_DISABLED, /* "None" in the tables: not pending */
	SPE_EXCEPTION_MASKED_PM, /* "B" in the tables: pending, masked by PSTATE.PM */
	SPE_EXCEPTION_MASKED, /* "C" in the tables: pending, masked for any value of PSTATE.PM */
	SPE_EXCEPTION_TAKEN,
};

/**
 * struct spe_exception - the SPE Profiling exception of one PMBSR_ELx.S
 * @state: &enum spe_exception_state
 * @target: the Exception level to which it is or would be taken; 0 if it is disabled
 */
struct spe_exception {
	u8 state;
	u8 target;
};

/**
 * spe_routing_classify() - return the column of an event in tables D17-5 to D17-7
 * @fault: result of spe_fault_make()
 */
enum spe_routing_event spe_routing_classify(u32 fault);

/**
 * spe_routing_target() - determine which PMBSR_ELx records an event (RHJXHT)
 * @controls: controls of the PE
 * @event: the event
 *
 * Return: the x of PMBSR_ELx: 1, 2 or 3.
 */
unsigned int spe_routing_target(const struct spe_controls *controls, enum spe_routing_event event);

/**
 * spe_routing_get_exception() - determine which exception PMBSR_ELx.S causes while it is 1 (RMYXZK)
 * @controls: controls of the PE
 * @pe: state of the PE. The combination of EL1 and HCR_EL2.TGE is impossible and must not be passed
 * @x: 1 to 3, for PMBSR_EL1 to PMBSR_EL3
 */
struct spe_exception spe_routing_get_exception(const struct spe_controls *controls,
					       const struct spe_pe_state *pe, unsigned int x);

/**
 * spe_routing_irq_enabled() - check whether PMBIRQ follows PMBSR_EL1.S; if not, it is LOW (RTSJRP)
 */
bool spe_routing_irq_enabled(const struct spe_controls *controls);

/**
 * spe_routing_el2_effective_ee() - return the Effective value of PMSCR_EL2.EE, as the description
 * of the field defines it
 */
u8 spe_routing_el2_effective_ee(const struct spe_controls *controls);

/**
 * spe_routing_security_state() - return the &enum spe_security_state of NS and NSE; SPE_STATES for
 * reserved values
 */
u8 spe_routing_security_state(const struct spe_controls *controls);

/**
 * spe_routing_el2_enabled() - check whether EL2 is implemented, and enabled in the Security state
 */
bool spe_routing_el2_enabled(const struct spe_controls *controls);

#endif
