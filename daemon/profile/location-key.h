/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keys of PCs and of processes, each in one word. Hot lines, hot pages and the counters of a period
 * use them to identify the code and the process of a sample.
 */
#ifndef SPEPROF_LOCATION_KEY_H
#define SPEPROF_LOCATION_KEY_H

#include "codec/env.h"

/* Addresses are sign-extended from bit 55, so one of the bits above can carry other information. */
#define LOCATION_KERNEL_BIT 62

/**
 * location_make_pc_key() - combine a PC with the flag @kernel, which marks addresses of the kernel
 */
static inline u64 location_make_pc_key(u64 pc, bool kernel)
{
	return pc ^ (u64)kernel << LOCATION_KERNEL_BIT;
}

/** location_key_get_pc() - return the PC of a location_make_pc_key() */
static inline u64 location_key_get_pc(u64 key)
{
	return (u64)((s64)(key << 8) >> 8);
}

/**
 * location_key_is_kernel() - return whether the PC of a location_make_pc_key() is an address of the
 * kernel
 */
static inline bool location_key_is_kernel(u64 key)
{
	return (key ^ location_key_get_pc(key)) >> LOCATION_KERNEL_BIT & 1;
}

/**
 * location_owner_make() - combine a process and its generation
 * @process: index of the process in the attributor; ATTRIBUTE_NONE for none
 * @generation: its generation; 0 for none
 */
static inline u64 location_owner_make(u32 process, u32 generation)
{
	return (u64)process << 32 | generation;
}

#endif
