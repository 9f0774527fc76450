/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Count the edges of control flow in the branches of a recording. */
#ifndef SPEPROF_EDGE_RECORDING_H
#define SPEPROF_EDGE_RECORDING_H

#include "attribution/maps.h"
#include "edge-table.h"
#include "lib/input.h"

/* Maximum number of files with branches; branches in further files are in EDGE_NO_FILE */
#define EDGE_FILES_MAX 4096

/**
 * struct edge_file - a file with branches
 * @path: path as in the recording, raw bytes
 * @build_id, @build_id_size: its build id; 0 bytes if it is unknown
 * @inode: number of the file; 0 if it is unknown
 * @taken: weighted number of taken branches in it
 * @samples: sampled branches in it
 */
struct edge_file {
	char *path;
	u8 build_id[BUILD_ID_MAX];
	u8 build_id_size;
	u64 inode;
	u64 taken;
	u64 samples;
};

/**
 * struct edge_recording - the edges of a recording
 * @table: the edges
 * @file: the files, @files of them; &edge_key.from_file is an index
 * @samples: sampled branches that were counted
 * @runs: samples with the target of the previous branch
 * @unweighted: samples without a known interval, which count as 1
 * @last: index of the file of the previous location, which is likely the next one
 * @backend: &enum sample_backend that was recorded
 * @hardware: the SPUs that wrote the recording
 * @duration_ns: time from the start of the first window to the end of the last; 0: not recorded
 * @instructions: count instructions as EDGE_EXECUTED, too
 * @attributor: finds the locations of samples
 * @error: the first error while the samples were counted; a negative errno, or 0
 */
struct edge_recording {
	struct edge_table table;
	struct edge_file *file;
	u32 files;
	u32 capacity;
	u64 samples;
	u64 runs;
	u64 unweighted;
	u32 last;
	u8 backend;
	struct recorded_hardware hardware;
	u64 duration_ns;
	bool instructions;
	struct attributor *attributor;
	int error;
};

/**
 * edge_recording_count() - count the edge, or both edges, of a sample
 * @edges: the edges; &edge_recording.attributor is set
 * @sample: any sample; only branches have edges
 *
 * Errors are in &edge_recording.error.
 */
void edge_recording_count(struct edge_recording *edges, const struct profile_sample *sample);

/**
 * edge_recording_load() - read a recording
 * @request: the recording, and which samples to count
 * @instructions: count the instructions of all samples, too
 * @ret_edges: the edges, sorted; free them with edge_recording_clear(), also on failure
 *
 * Return: &enum verb_exit_status; an error was printed. STATUS_DAMAGED: @ret_edges has the edges of
 * the readable part.
 */
int edge_recording_load(const struct input_request *request, bool instructions,
			struct edge_recording *ret_edges);

/**
 * edge_file_format_build_id() - write the build id of a file as hexadecimal digits
 *
 * Return: false if it is unknown, and @to is "".
 */
bool edge_file_format_build_id(const struct edge_file *file, char to[static 2 * BUILD_ID_MAX + 1]);

/** edge_recording_clear() - free the memory */
void edge_recording_clear(struct edge_recording *edges);

#endif
