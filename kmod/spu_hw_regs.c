// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access the registers and barriers of a hardware SPU. The register encodings are defined here,
 * because the sysreg.h files of supported kernels define different registers and names.
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
		 "use PMSDSFR_EL1 if the kernel runs at EL2; firmware must not trap it (off)");

/*
 * Name, CRm and op2; op0 is 3, op1 is 0, CRn is 9. In a VHE kernel the names with _EL1 access the
 * registers of EL2 (E2H redirection), so one set of names is correct for kernels at both levels.
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
 * Return true if PMSDSFR may be accessed. Below EL2 an access traps to EL2, unless the hypervisor
 * or the boot code supports the register and has disabled its fine-grained trap. At EL2 there is no
 * such trap.
 */
static bool pmsdsfr_is_usable(void)
{
	return data_source_filter && is_kernel_in_hyp_mode() &&
	       read_sysreg_s(SPU_HW_PMSIDR) & SPE_PMSIDR_FDS;
}

/* PMSNEVFR exists only with FEAT_SPEv1p2 and its filter. */
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
		/*
		 * Read the register of this CPU, because the kernel's sanitized value combines all
		 * CPUs.
		 */
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
		value &= spu_hw_pmscr_used_bits(is_kernel_in_hyp_mode());
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

void speprof_spu_hw_synchronize(void)
{
	isb();
}

/*
 * The order matters:
 * - psb csync: the SPU writes the records of all operations that it has sampled ("Synchronization
 *   and Statistical Profiling");
 * - dsb: these writes are complete and visible, and External aborts on them are reported (D17.8.4);
 * - isb: later reads of PMBPTR and PMBSR return the final values, with COLL (D17.3.7).
 */
void speprof_spu_hw_drain(void)
{
	psb_csync();
	dsb(nsh);
	isb();
}

/* Read the virtual count, which differs from the physical one only in a guest. */
u64 speprof_spu_hw_read_timestamp(void)
{
	return get_cycles();
}

u64 speprof_spu_hw_read_tick_hz(void)
{
	return read_sysreg(cntfrq_el0);
}
