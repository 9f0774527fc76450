// SPDX-License-Identifier: GPL-2.0-only
/* Callbacks at shutdown belong to an object with data; the older ones are operations alone. */
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
