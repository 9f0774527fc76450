// SPDX-License-Identifier: GPL-2.0-only
/* What is called late at shutdown is an object with data, apart from its operations. */
#include <linux/syscore_ops.h>

void probe(struct syscore *syscore);
void probe(struct syscore *syscore)
{
	register_syscore(syscore);
}
