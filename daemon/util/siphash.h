/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash of what others choose, by a key that they do not know. */
#ifndef SPEPROF_SIPHASH_H
#define SPEPROF_SIPHASH_H

#include <stddef.h>

#include "codec/env.h"

/** siphash() - SipHash-2-4 (Aumasson, Bernstein 2012) of @len bytes */
u64 siphash(const u64 key[static 2], const void *data, size_t len);

#endif
