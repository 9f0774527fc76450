/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Zeroed memory with pages that are allocated at the first write, and sealed files in memory. */
#ifndef SPEPROF_MEMORY_H
#define SPEPROF_MEMORY_H

#include "codec/env.h"

/**
 * zero_pages_new() - reserve @size zeroed bytes of address space
 *
 * The kernel allocates each page at the first write to it.
 *
 * Return: the memory; release it with zero_pages_free(). NULL if the address space cannot be
 * reserved.
 */
void *zero_pages_new(size_t size);

/** zero_pages_clear() - set @size bytes to zero, and return their pages to the kernel */
void zero_pages_clear(void *at, size_t size);

/** zero_pages_free() - release @size bytes that zero_pages_new() returned; @at may be NULL */
void zero_pages_free(void *at, size_t size);

/**
 * memory_file_new() - create an empty memfd that can be sealed
 * @name: shown in /proc/PID/fd, for debugging
 *
 * Return: the descriptor, or a negative errno.
 */
int memory_file_new(const char *name);

/**
 * memory_file_seal() - seal a memfd against all changes, and seek to its start
 *
 * The receiver can map a sealed memfd without the risk of SIGBUS: the sender cannot truncate it.
 *
 * Return: 0, or a negative errno.
 */
int memory_file_seal(int fd);

#endif
