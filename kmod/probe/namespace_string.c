// SPDX-License-Identifier: GPL-2.0-only
/* Probe for symbol namespaces that are strings; older kernels convert a bare word to a string. */
#include <linux/module.h>

/*
 * Check the size of the string that MODULE_IMPORT_NS() passes to MODULE_INFO(). Older kernels
 * stringify the argument; there a string as argument would get a second pair of quotes.
 */
#undef MODULE_INFO
#define MODULE_INFO(tag, info) static_assert(sizeof(info) == sizeof("NAME"))

#if NEW
MODULE_IMPORT_NS("NAME");
#else
MODULE_IMPORT_NS(NAME);
#endif
