/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads /tmp/perf-PID.map, in which a runtime with a JIT compiler (JVM, node, .NET, LuaJIT) lists
 * its compiled functions: lines "START SIZE NAME" with hexadecimal numbers. The file grows; of
 * several lines for an address, the last one is valid.
 */
#ifndef SPEPROF_PERF_MAP_H
#define SPEPROF_PERF_MAP_H

#include "codec/env.h"

/**
 * struct perf_map_name - location of the name of an address
 * @offset: offset in the file
 * @size: length of the name, bytes; 0 if the address has none
 */
struct perf_map_name {
	u64 offset;
	u32 size;
};

/**
 * perf_map_find_names() - find the names of addresses in one pass over the file
 * @fd: the file; only its first 256 MiB are read
 * @address: addresses in ascending order
 * @count: number of addresses
 * @ret_names: receives the location of the name of each address
 *
 * Invalid lines are skipped. To bound the time, lines after the first 2^20 matches are ignored;
 * only a hostile file has more.
 */
void perf_map_find_names(int fd, const u64 *address, u32 count, struct perf_map_name *ret_names);

#endif
