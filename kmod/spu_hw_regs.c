// SPDX-License-Identifier: GPL-2.0-only
/*
 * The register file of a hardware SPU. Its encodings are spelled out, since neither the
 * names nor the set of them that a kernel's sysreg.h knows are the same everywhere.
 */
#include <linux/moduleparam.h>
#include <linux/timex.h>

#include <asm/barrier.h>
#include <asm/sysreg.h>
#include <asm/virt.h>

#include "spu_hw.h"

static bool data_source_filter;
module_param(data_source_filter, bool, 0444);
MODULE_PARM_DESC(data_source_filter,
		 "use PMSDSFR_EL1, which firmware must not trap (only where the kernel runs at EL2)");

/*
 * All of op0 3, op1 0, CRn 9. Under VHE the names with _EL1 reach the registers of EL2
 * (E2H redirection), so one set serves a kernel at either level.
 */
#define SPU_HW_REGISTERS(X)                                                              \
	X(PMSCR, 9, 0) X(PMSNEVFR, 9, 1) X(PMSICR, 9, 2) X(PMSIRR, 9, 3) X(PMSFCR, 9, 4) \
	X(PMSEVFR, 9, 5) X(PMSLATFR, 9, 6) X(PMBLIMITR, 10, 0) X(PMBPTR, 10, 1)          \
	X(PMBSR, 10, 3) X(PMSDSFR, 10, 4)

#define SPU_HW_PMSIDR sys_reg(3, 0, 9, 9, 7)
#define SPU_HW_PMBIDR sys_reg(3, 0, 9, 10, 7)
#define SPU_HW_ID_AA64DFR0 sys_reg(3, 0, 0, 5, 0)
#define SPU_HW_ID_AA64DFR0_PMSVER SPE_MASK(35, 32)

/*
 * An access to PMSDSFR traps to EL2 until a hypervisor or the boot code opens its fine-grained
 * trap, which kernels that do not know the register do not; at EL2 there is no such trap.
 */
static bool pmsdsfr_is_usable(void)
{
	return data_source_filter && is_kernel_in_hyp_mode() &&
	       read_sysreg_s(SPU_HW_PMSIDR) & SPE_PMSIDR_FDS;
}

/* PMSNEVFR is there with FEAT_SPEv1p2 and its filter only. */
static bool register_exists(enum spe_reg reg)
{
	if (reg == SPE_REG_PMSNEVFR)
		return read_sysreg_s(SPU_HW_PMSIDR) & SPE_PMSIDR_FNE;
	if (reg == SPE_REG_PMSDSFR)
		return pmsdsfr_is_usable();
	return true;
}

u64 speprof_spu_hw_read(enum spe_reg reg)
{
	if (!register_exists(reg))
		return 0;
	switch (reg) {
#define X(name, crm, op2)         \
	case SPE_REG_##name:      \
		return read_sysreg_s(sys_reg(3, 0, 9, crm, op2));
	SPU_HW_REGISTERS(X)
#undef X
	case SPE_REG_PMSIDR:
		return read_sysreg_s(SPU_HW_PMSIDR) &
		       ~(pmsdsfr_is_usable() ? 0 : SPE_PMSIDR_FDS);
	case SPE_REG_PMBIDR:
		return read_sysreg_s(SPU_HW_PMBIDR);
	case SPE_REG_PMSVER:
		/* Of this CPU, not the kernel's sanitised view of them all. */
		return SPE_FIELD_GET(SPU_HW_ID_AA64DFR0_PMSVER, read_sysreg_s(SPU_HW_ID_AA64DFR0));
	case SPE_REG_COUNT:
		break;
	}
	return 0;
}

void speprof_spu_hw_write(enum spe_reg reg, u64 value)
{
	if (!register_exists(reg))
		return;
	if (reg == SPE_REG_PMSCR)
		value &= spu_hw_pmscr_used(is_kernel_in_hyp_mode());
	switch (reg) {
#define X(name, crm, op2)                                               \
	case SPE_REG_##name:                                            \
		write_sysreg_s(value, sys_reg(3, 0, 9, crm, op2));      \
		break;
	SPU_HW_REGISTERS(X)
#undef X
	default:
		break;
	}
}

/* After PMSCR = 0: nothing is sampled any more (D17.3.5). */
void speprof_spu_hw_synchronize(void)
{
	isb();
}

/*
 * Profiling is disabled and that is in effect. In this order:
 *  - psb csync: the operations sampled until then have their records written
 *    ("Synchronization and Statistical Profiling")
 *  - dsb: these writes are complete and visible, External aborts on them reported (D17.8.4)
 *  - isb: reads after it see PMBPTR and PMBSR as the SPU left them, COLL included (D17.3.7)
 */
void speprof_spu_hw_drain(void)
{
	psb_csync();
	dsb(nsh);
	isb();
}

/* The count of Timestamp packets: virtual and physical are the same but in a guest. */
u64 speprof_spu_hw_ticks(void)
{
	return get_cycles();
}

u64 speprof_spu_hw_tick_hz(void)
{
	return read_sysreg(cntfrq_el0);
}
