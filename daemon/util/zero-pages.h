/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that reads as zeros, and is there when it is written: what is reserved costs nothing. */
#ifndef SPEPROF_ZERO_PAGES_H
#define SPEPROF_ZERO_PAGES_H

#include "codec/env.h"

/** zero_pages() - @size bytes, NULL if there is no address space for them */
void *zero_pages(size_t size);

/** zero_pages_clear() - zeros again, and what they took is given back */
void zero_pages_clear(void *at, size_t size);

/** zero_pages_free() - @at may be NULL */
void zero_pages_free(void *at, size_t size);

#endif
