// SPDX-License-Identifier: GPL-2.0-only
/*
 * Redirect, by ftrace, the handler of undefined instructions at the kernel's Exception level, if
 * the instruction is an MRS or MSR of an SPE register that the SPU has.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/sched/clock.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <asm/sysreg.h>
#include <asm/virt.h>

#include "trap.h"

/* number of accesses for measuring the cost of an exception */
#define CALIBRATION 1000

#define INSN_MASK	0xffd00000U
#define INSN_MRS_MSR	0xd5100000U
#define INSN_READ	BIT(21)
#define INSN_REGISTER	GENMASK(20, 5)
#define INSN_EL_MASK	sys_reg(0, 7, 0, 0, 0)

/* The encodings are transcribed from the architecture and not copied from the driver. */
static const struct {
	u32 code;
	u8 reg;
} registers[] = {
	{ sys_reg(3, 0, 9, 9, 0), SPE_REG_PMSCR },	{ sys_reg(3, 0, 9, 9, 1), SPE_REG_PMSNEVFR },
	{ sys_reg(3, 0, 9, 9, 2), SPE_REG_PMSICR },	{ sys_reg(3, 0, 9, 9, 3), SPE_REG_PMSIRR },
	{ sys_reg(3, 0, 9, 9, 4), SPE_REG_PMSFCR },	{ sys_reg(3, 0, 9, 9, 5), SPE_REG_PMSEVFR },
	{ sys_reg(3, 0, 9, 9, 6), SPE_REG_PMSLATFR },	{ sys_reg(3, 0, 9, 9, 7), SPE_REG_PMSIDR },
	{ sys_reg(3, 0, 9, 10, 0), SPE_REG_PMBLIMITR }, { sys_reg(3, 0, 9, 10, 1), SPE_REG_PMBPTR },
	{ sys_reg(3, 0, 9, 10, 3), SPE_REG_PMBSR },	{ sys_reg(3, 0, 9, 10, 4), SPE_REG_PMSDSFR },
	{ sys_reg(3, 0, 9, 10, 7), SPE_REG_PMBIDR },
};

/* Return true if the register exists. An SPU of an older version does not have all registers. */
static bool register_exists(const struct spe_spu *spu, enum spe_reg reg)
{
	if (reg == SPE_REG_PMSNEVFR)
		return spu->config.pmsver >= 3;
	if (reg == SPE_REG_PMSDSFR)
		return spu->config.features & SPE_PMSIDR_FDS;
	return spu->config.pmsver;
}

/*
 * Decode the register and the Exception level in its name. Return: 0 if it is not a register of the
 * SPU.
 */
static unsigned int decode_insn(u32 insn, const struct spe_spu *spu, enum spe_reg *ret_reg)
{
	u32 code = insn & INSN_REGISTER, op1 = (code & INSN_EL_MASK) >> 16;
	unsigned int i;

	if ((insn & INSN_MASK) != INSN_MRS_MSR)
		return 0;
	for (i = 0; i < ARRAY_SIZE(registers); i++)
		if (registers[i].code == (code & ~INSN_EL_MASK))
			break;
	if (i == ARRAY_SIZE(registers) || !register_exists(spu, registers[i].reg))
		return 0;
	*ret_reg = registers[i].reg;
	switch (op1) {
	case 0:
	case 5:
		return spe_spu_resolve_name(spu, *ret_reg, trap_get_kernel_el(), op1 == 5);
	case 4:
		return is_kernel_in_hyp_mode() && *ret_reg == SPE_REG_PMSCR ? 2 : 0;
	default:
		return 0;
	}
}

static bool insn_is_ours(const struct pt_regs *regs)
{
	enum spe_reg reg;
	u32 insn;

	if (user_mode(regs) || get_kernel_nofault(insn, (u32 *)regs->pc))
		return false;
	return decode_insn(insn, &raw_cpu_ptr(&trap_cpus)->emu.spu, &reg);
}

/* Called instead of the kernel's handler, for instructions that this module emulates. */
static void insn_execute(struct pt_regs *regs, unsigned long esr)
{
	u32 insn = *(u32 *)regs->pc, rt = insn & 31;
	struct trap_cpu *cpu;
	unsigned long flags;
	enum spe_reg reg;
	unsigned int x;
	u64 start;

	local_irq_save(flags);
	start = local_clock();
	cpu = this_cpu_ptr(&trap_cpus);
	x = decode_insn(insn, &cpu->emu.spu, &reg);
	cpu->accesses++;
	if (!(insn & INSN_READ))
		trap_write(cpu, reg, x, rt == 31 ? 0 : regs->regs[rt]);
	else if (rt != 31)
		regs->regs[rt] = trap_read(cpu, reg, x);
	cpu->access_ns += local_clock() - start;
	local_irq_restore(flags);
	regs->pc += 4;
	regs->pstate &= ~PSR_BTYPE_MASK;
}

u64 trap_measure_exception_ns(void)
{
	struct trap_cpu *cpu;
	unsigned long flags;
	unsigned int i;
	u64 whole, inside;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&trap_cpus);
	inside = cpu->access_ns;
	whole = local_clock();
	for (i = 0; i < CALIBRATION; i++)
		read_sysreg_s(sys_reg(3, 0, 9, 9, 7));
	whole = local_clock() - whole;
	inside = cpu->access_ns - inside;
	local_irq_restore(flags);
	return (whole - inside) / CALIBRATION;
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS

#define UNDEF_FLAGS 0

static const struct pt_regs *fregs_argument(struct ftrace_regs *fregs)
{
	return (const struct pt_regs *)ftrace_regs_get_argument(fregs, 0);
}

static void fregs_redirect(struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)insn_execute);
}

#else

#define UNDEF_FLAGS FTRACE_OPS_FL_SAVE_REGS

static const struct pt_regs *fregs_argument(struct ftrace_regs *fregs)
{
	return (const struct pt_regs *)ftrace_get_regs(fregs)->regs[0];
}

static void fregs_redirect(struct ftrace_regs *fregs)
{
	ftrace_get_regs(fregs)->pc = (unsigned long)insn_execute;
}

#endif

static void notrace handle_undef(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
	if (insn_is_ours(fregs_argument(fregs)))
		fregs_redirect(fregs);
}

static struct ftrace_ops undef_ops = {
	.func = handle_undef,
	.flags = FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_PERMANENT |
		 UNDEF_FLAGS,
};

/* Find the kernel's handler of undefined instructions. Its name depends on the version. */
static int undef_set_filter(void)
{
	static char handlers[][16] = { "do_el1_undef", "do_undefinstr" };
	unsigned int i;
	int ret = -ENOENT;

	for (i = 0; i < ARRAY_SIZE(handlers) && ret; i++)
		ret = ftrace_set_filter(&undef_ops, (unsigned char *)handlers[i],
					(int)strlen(handlers[i]), 1);
	return ret;
}

int trap_undef_init(void)
{
	int ret = undef_set_filter();

	if (!ret)
		ret = register_ftrace_function(&undef_ops);
	if (ret)
		pr_err("no way to redirect undefined instructions: error %d\n", ret);
	return ret;
}

void trap_undef_exit(void)
{
	unregister_ftrace_function(&undef_ops);
	ftrace_free_filter(&undef_ops);
}
