// SPDX-License-Identifier: GPL-2.0-only
/* Probe for symbol namespaces that are strings; older kernels convert a bare word to a string. */
#include <linux/module.h>

/* The result of MODULE_IMPORT_NS(): older kernels add the quotes of a string to its argument. */
#undef MODULE_INFO
#define MODULE_INFO(tag, info) static_assert(sizeof(info) == sizeof("NAME"))

#if NEW
MODULE_IMPORT_NS("NAME");
#else
MODULE_IMPORT_NS(NAME);
#endif
