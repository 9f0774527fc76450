/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads jit-PID.dump, in which a runtime with a JIT compiler records the functions that it compiled
 * and moved (tools/perf/Documentation/jitdump-specification.txt in the Linux source). The file
 * grows; of several records for an address, the one with the latest time is valid.
 */
#ifndef SPEPROF_JIT_DUMP_H
#define SPEPROF_JIT_DUMP_H

#include "perf-map.h"

/**
 * jit_dump_check() - find out whether a file is a jitdump
 * @fd: the file
 *
 * Return: 1 for a jitdump; 0 for another file; -ENOEXEC if it has the byte order of another machine;
 * -EPROTONOSUPPORT if its version is not 1; -EINVAL if its header is incomplete.
 */
int jit_dump_check(int fd);

/**
 * jit_dump_find_names() - find the names of addresses
 * @fd: a file for which jit_dump_check() returned 1
 * @address: addresses in ascending order, without duplicates
 * @count: number of addresses, at most SYMBOL_ADDRESSES
 * @ret_names: receives the location of the name of each address
 *
 * A record with an invalid size ends the file, because the start of the next record is unknown. A
 * name without an end, or longer than 4095 bytes, is ignored. To bound the time, records after the
 * first 2^20 records or 2^20 matches are ignored.
 */
void jit_dump_find_names(int fd, const u64 *address, u32 count, struct perf_map_name *ret_names);

#endif
