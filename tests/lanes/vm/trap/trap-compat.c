// SPDX-License-Identifier: GPL-2.0-only
/* Registration of trap_check_after_shutdown(), which differs between supported kernels. */
#include <linux/syscore_ops.h>

#include "speprof-probes.h"
#include "trap.h"

#if SPEPROF_HAVE_SYSCORE

static void handle_shutdown(void *unused)
{
	trap_check_after_shutdown();
}

static const struct syscore_ops shutdown_ops = { .shutdown = handle_shutdown };
static struct syscore shutdown_syscore = { .ops = &shutdown_ops };

void trap_shutdown_init(void)
{
	register_syscore(&shutdown_syscore);
}

void trap_shutdown_exit(void)
{
	unregister_syscore(&shutdown_syscore);
}

#else

static struct syscore_ops shutdown_ops = { .shutdown = trap_check_after_shutdown };

void trap_shutdown_init(void)
{
	register_syscore_ops(&shutdown_ops);
}

void trap_shutdown_exit(void)
{
	unregister_syscore_ops(&shutdown_ops);
}

#endif
