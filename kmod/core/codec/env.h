/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Types and helpers that the kernel and userspace define in different ways. The same sources in
 * core/ are compiled for both. They include nothing else from outside core/, and no other file
 * tests __KERNEL__. No function in core/ allocates memory, logs, reads a clock or has static
 * variables.
 */
#ifndef SPE_CORE_ENV_H
#define SPE_CORE_ENV_H

#ifdef __KERNEL__

#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>

#include "kmod/compat_namespace.h"

/*
 * Export a symbol to the KUnit suites, the only modules that import this namespace. A module that
 * contains a copy of core/ (tests/lanes/vm/trap) defines the macro as empty.
 */
#ifndef SPE_EXPORT
#define SPE_EXPORT(sym) EXPORT_SYMBOL_NS_GPL(sym, SPE_NAMESPACE(SPEPROF_CORE))
#endif

#else

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define U8_MAX UINT8_MAX
#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define SPE_EXPORT(sym)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define static_assert _Static_assert
#define fallthrough __attribute__((__fallthrough__))

#endif

/* A mask of bits h to l of a 64-bit register or payload. */
#define SPE_MASK(h, l) ((~0ULL >> (63 - (h))) & (~0ULL << (l)))
#define SPE_BIT(n) (1ULL << (n))

/* Get the field under @mask, shifted down to bit 0; and shift a value up to that field. */
#define SPE_FIELD_GET(mask, reg) (((u64)(reg) & (mask)) / ((mask) & -(mask)))
#define SPE_FIELD_PREP(mask, val) (((u64)(val) * ((mask) & -(mask))) & (mask))

static inline u16 spe_get_le16(const u8 *p)
{
	return (u16)(p[0] | p[1] << 8);
}

static inline u32 spe_get_le32(const u8 *p)
{
	return spe_get_le16(p) | (u32)spe_get_le16(p + 2) << 16;
}

static inline u64 spe_get_le64(const u8 *p)
{
	return spe_get_le32(p) | (u64)spe_get_le32(p + 4) << 32;
}

static inline void spe_put_le16(u8 *p, u16 v)
{
	p[0] = (u8)v;
	p[1] = (u8)(v >> 8);
}

static inline void spe_put_le32(u8 *p, u32 v)
{
	spe_put_le16(p, (u16)v);
	spe_put_le16(p + 2, (u16)(v >> 16));
}

static inline void spe_put_le64(u8 *p, u64 v)
{
	spe_put_le32(p, (u32)v);
	spe_put_le32(p + 4, (u32)(v >> 32));
}

#endif
