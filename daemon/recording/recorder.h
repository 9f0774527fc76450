/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes recordings. A recording is a file with the windows and task events of a source, which
 * recording_open() or perf can read.
 */
#ifndef SPEPROF_RECORDER_H
#define SPEPROF_RECORDER_H

#include "source/source.h"
#include "util/numa-nodes.h"
#include "util/symtab.h"

enum recorder_format {
	RECORDER_NATIVE, /* speprof's own format; it stores all data of windows and task events */
	RECORDER_PERF, /* perf.data */
};

/**
 * struct recorder_config - properties of the whole recording
 * @format: &enum recorder_format
 * @backend: &enum sample_backend of the source; a perf.data can have only one backend
 * @cpus: number of sampled CPUs
 * @line_size: size of the largest cache line of the machine, bytes; 0: unknown
 * @nodes: the machine's NUMA nodes, which recorder_new() reads; their memory is recorded. NULL:
 *	unknown
 * @command: the command line of the recording program; untrusted bytes, NUL-terminated
 */
struct recorder_config {
	enum recorder_format format;
	u8 backend;
	u32 cpus;
	u32 line_size;
	const struct numa_nodes *nodes;
	const char *command;
};

struct recorder;

/**
 * recorder_new() - start a recording
 * @fd: an empty file; it is duplicated. RECORDER_PERF seeks in it
 * @config: properties of the recording, copied
 * @ret_recorder: the recorder; free it with recorder_free()
 *
 * Return: 0; -ESPIPE if &recorder_config.format is RECORDER_PERF and @fd cannot seek; another
 * negative errno if the file cannot be written.
 */
int recorder_new(int fd, const struct recorder_config *config, struct recorder **ret_recorder);

/**
 * recorder_make_sink() - return a sink that writes windows and task events to the recording
 *
 * The sink is valid until recorder_finish(). One thread uses it at a time. recorder_get_error() and
 * recorder_finish() report write errors.
 */
struct source_sink recorder_make_sink(struct recorder *recorder);

/** recorder_get_error() - return the negative errno of the first write that failed, else 0 */
int recorder_get_error(const struct recorder *recorder);

/** recorder_get_bytes() - return the number of bytes of records received so far */
u64 recorder_get_bytes(const struct recorder *recorder);

/**
 * recorder_get_omitted_bytes() - return the number of bytes of suspect records that were omitted,
 * because a perf.data cannot mark records as suspect
 */
u64 recorder_get_omitted_bytes(const struct recorder *recorder);

/**
 * recorder_write_functions() - write functions of the kernel, from which a report takes the names
 * of samples in the kernel
 * @functions: a finished table of functions of the kernel that has been recorded
 *
 * Nothing is written to a perf.data, because its format cannot contain functions.
 */
void recorder_write_functions(struct recorder *recorder, const struct symtab *functions);

/**
 * recorder_flush() - write all buffered bytes to the file, so that the file can be read
 *
 * Return: 0, or negative errno of the first write that failed.
 */
int recorder_flush(struct recorder *recorder);

/**
 * recorder_finish() - write the end of the file
 *
 * Return: 0, or negative errno of the first write that failed.
 */
int recorder_finish(struct recorder *recorder);

/**
 * recorder_free() - close and free @recorder, which may be NULL; always returns NULL
 *
 * If recorder_finish() was not called before, the end of the file is missing.
 */
struct recorder *recorder_free(struct recorder *recorder);

#endif
