// SPDX-License-Identifier: GPL-2.0-only
/* A symbol namespace is a string; older kernels turn a bare word into one. */
#include <linux/module.h>

/* What MODULE_IMPORT_NS() makes of its argument: older kernels add the quotes of a string to it. */
#undef MODULE_INFO
#define MODULE_INFO(tag, info) static_assert(sizeof(info) == sizeof("NAME"))

#if NEW
MODULE_IMPORT_NS("NAME");
#else
MODULE_IMPORT_NS(NAME);
#endif
