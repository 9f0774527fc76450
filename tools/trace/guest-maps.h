/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Find the files with the code of an emulated program. QEMU maps the files of the program at the
 * program's addresses plus a constant, so /proc/PID/maps of QEMU lists them.
 */
#ifndef SPEPROF_GUEST_MAPS_H
#define SPEPROF_GUEST_MAPS_H

#include "codec/env.h"

/* Capacity of &guest_maps.map; code in further mappings has no names. */
#define GUEST_MAPS_MAX 4096

/**
 * struct guest_map - a mapped file
 * @start, @size: address in the program, and size in bytes
 * @offset: offset in the file, bytes
 * @inode, @device: numbers that identify the file; @device is a device_number()
 * @reported: for use by the caller; false at first
 * @path: path of the file in QEMU's mount namespace
 */
struct guest_map {
	u64 start;
	u64 size;
	u64 offset;
	u64 inode;
	u32 device;
	bool reported;
	char *path;
};

/**
 * struct guest_maps - the mapped files of a program; all zeros at first
 * @map: the mappings in the order of their addresses; @count is their number
 * @last: index of the mapping that was found last
 */
struct guest_maps {
	struct guest_map *map;
	u32 count;
	u32 last;
};

/**
 * guest_maps_parse() - replace the mappings with those of a text
 * @maps: the mappings; an unchanged mapping keeps &guest_map.reported
 * @text: the content of /proc/PID/maps, NUL-terminated; malformed lines are skipped
 * @base: constant that QEMU adds to an address of the program
 *
 * Return: 0; -ENOMEM if memory cannot be allocated: then @maps is unchanged.
 */
int guest_maps_parse(struct guest_maps *maps, const char *text, u64 base);

/**
 * guest_maps_read() - replace the mappings with those of a process
 * @maps: the mappings; unchanged if the process has exited
 * @pid: PID of QEMU
 * @base: as for guest_maps_parse()
 *
 * Return: 0 or a negative errno.
 */
int guest_maps_read(struct guest_maps *maps, s32 pid, u64 base);

/** guest_maps_find() - return the mapping that contains an address; NULL if there is none */
struct guest_map *guest_maps_find(struct guest_maps *maps, u64 address);

/** guest_maps_clear() - free all mappings */
void guest_maps_clear(struct guest_maps *maps);

#endif
