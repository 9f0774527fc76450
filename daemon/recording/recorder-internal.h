/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the writers of both formats share. One thread uses a recorder. */
#ifndef SPEPROF_RECORDER_INTERNAL_H
#define SPEPROF_RECORDER_INTERNAL_H

#include <stdio.h>

#include "perfdata.h"
#include "recorder.h"
#include "tasks/task-event.h"

/*
 * Location of an AUXTRACE record. perf finds AUXTRACE records with the feature AUXTRACE, which
 * lists their locations.
 */
struct recorder_index_entry {
	u64 offset;
	u64 size;
};

#define KERNEL_NODES_MAX 1024 /* MAX_NUMNODES of any kernel */
/* Bytes of a list of the CPUs of a NUMA node with its NUL; a longer list is truncated. */
#define NODE_CPUS_SIZE 900

/**
 * struct recorder_core - a CPU of a perf.data
 * @aux_size: AUX bytes written so far
 * @midr: MIDR_EL1, from the CPU's first window
 * @has_window: true if the CPU had a window with bytes
 * @stopped: true if an AUX record already reports that a fault has stopped the CPU
 */
struct recorder_core {
	u64 aux_size;
	u64 midr;
	bool has_window;
	bool stopped;
};

/* Entries of &recorder.build_ids. On most machines, a few hundred files are mapped. */
#define RECORDER_BUILD_IDS 4096

/*
 * The build ID of a mapped file. @ambiguous: true if files with this path had different build IDs
 */
struct recorder_build_id {
	char *path;
	u8 id[BUILD_ID_MAX_BYTES];
	u8 size;
	bool ambiguous;
};

/**
 * struct recorder - an open recording
 * @file: stream of a duplicate of the caller's descriptor
 * @config: as given to recorder_new(); &recorder_config.command is not used, because the caller
 * owns that string
 * @command: a copy of the command line
 * @pos: offset of the next byte in the file
 * @bytes: number of bytes of records received
 * @omitted: RECORDER_PERF: number of bytes of suspect records, which are not written
 * @error: negative errno of the first failure, else 0
 * @seq: RECORDER_NATIVE: number of windows and task events written
 * @first: RECORDER_PERF: fields of the first window, from which the header is written
 * @has_first: true if @first is valid
 * @index, @index_count, @index_capacity: RECORDER_PERF: AUXTRACE records
 * @cores, @core_count: RECORDER_PERF: the CPUs, indexed by number
 * @build_ids, @build_id_count: RECORDER_PERF: build ids of mapped files
 */
struct recorder {
	FILE *file;
	struct recorder_config config;
	char *command;
	u64 pos;
	u64 bytes;
	u64 omitted;
	int error;
	u64 seq;
	struct source_window first;
	bool has_first;
	struct recorder_index_entry *index;
	u32 index_count;
	u32 index_capacity;
	struct recorder_core *cores;
	u32 core_count;
	struct recorder_build_id *build_ids;
	u32 build_id_count;
};

/** recorder_write() - append @len bytes to the file; has no effect after a failure */
void recorder_write(struct recorder *recorder, const void *bytes, size_t len);

/** recorder_pad() - append zeros up to a multiple of @align, a power of two up to 64 */
void recorder_pad(struct recorder *recorder, u32 align);

/** recorder_fail() - store a negative errno, unless an earlier one is stored */
void recorder_fail(struct recorder *recorder, int error);

/*
 * native-write.c. Call native_write_begin() first; it writes the header. Then call the other
 * functions in any order.
 */
void native_write_begin(struct recorder *recorder);
void native_write_window(struct recorder *recorder, const struct source_window *window);
void native_write_task(struct recorder *recorder, const struct task_event *event);
void native_write_functions(struct recorder *recorder, const struct symtab *functions);

/*
 * perfdata-write.c. Call perfdata_write_begin() first; it writes the header. Then call
 * perfdata_write_window() and perfdata_write_task() in any order. Call perfdata_write_end() last;
 * it writes the features, such as host name and build IDs.
 */
void perfdata_write_begin(struct recorder *recorder);
void perfdata_write_window(struct recorder *recorder, const struct source_window *window);
void perfdata_write_task(struct recorder *recorder, const struct task_event *event);
void perfdata_write_end(struct recorder *recorder);

/* perfdata-write-build-ids.c: the table of the build ids of mapped files. */

/** recorder_add_build_id() - add the file of a mapping, if @event has the build id of the file */
void recorder_add_build_id(struct recorder *recorder, const struct task_event *event);

/** recorder_write_build_ids() - write the feature BUILD_ID */
void recorder_write_build_ids(struct recorder *recorder);

/** recorder_free_build_ids() - free the table */
void recorder_free_build_ids(struct recorder *recorder);

/**
 * recorder_read_node() - read a file of a NUMA node of this machine
 * @node: number of the node, below KERNEL_NODES_MAX
 * @name: name of the file in the directory of the node in /sys
 * @text: receives the content, NUL-terminated
 * @size: size of @text, bytes
 *
 * Return: false if the node does not exist.
 */
bool recorder_read_node(u32 node, const char *name, char *text, size_t size);

#endif
