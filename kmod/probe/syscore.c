// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe for callbacks at shutdown that belong to an object with data; older ones have only
 * operations.
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
