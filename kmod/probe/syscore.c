// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe for register_syscore(). Its argument contains operations and data. On older kernels the
 * argument of register_syscore_ops() contains only operations.
 */
#include <linux/syscore_ops.h>

#if NEW
void probe(struct syscore *syscore);
void probe(struct syscore *syscore)
{
	register_syscore(syscore);
}
#else
void probe(struct syscore_ops *ops);
void probe(struct syscore_ops *ops)
{
	register_syscore_ops(ops);
}
#endif
