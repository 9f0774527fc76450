/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /tmp/perf-PID.map, in which a runtime that compiles as it runs (a JVM, node, .NET, LuaJIT)
 * names what it made: "START SIZE NAME", the numbers hexadecimal. It grows, and what
 * stands later is what is there now.
 */
#ifndef SPEPROF_PERF_MAP_H
#define SPEPROF_PERF_MAP_H

#include "codec/env.h"

/**
 * struct perf_map_name - where the name of an address stands in the file
 * @size: 0 if there is none
 */
struct perf_map_name {
	u64 at;
	u32 size;
};

/**
 * perf_map_find() - walk the file once for @count addresses
 * @fd: the map; its first PERF_MAP_MAX bytes are read
 * @address: ascending
 * @ret_names: @count of them
 *
 * Lines that are none are passed over. Where each names all of what is asked for, which no
 * runtime's do, the first thousand count.
 */
void perf_map_find(int fd, const u64 *address, u32 count, struct perf_map_name *ret_names);

#endif
