/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Write the edges of a file in the formats of BOLT, the optimiser of LLVM for linked programs, and
 * of llvm-profgen, which makes profiles for clang.
 */
#ifndef SPEPROF_EDGE_PROFILE_H
#define SPEPROF_EDGE_PROFILE_H

#include <stdio.h>

#include "edge-recording.h"
#include "symbols/linkage-names.h"
#include "symbols/source-frames.h"

/**
 * struct edge_profile - what a format is written from
 * @edges: the edges; borrowed
 * @file: number of the file
 * @names: names of the locations in the file
 * @frames: their source positions; all zeros unless they were requested
 * @written: number of lines
 * @error: -ENOMEM if the profile was not written; else 0
 * @unnamed: weighted number of branches and runs that were left out, because their location is in no
 *	function or in no segment
 */
struct edge_profile {
	const struct edge_recording *edges;
	u32 file;
	struct linkage_names names;
	struct source_frames frames;
	u64 written;
	u64 unnamed;
	int error;
};

/**
 * edge_profile_init() - find the names of the edges of a file
 * @edges: the edges, sorted
 * @file: number of the file
 * @folders: where the file is searched
 * @frames: read &edge_profile.frames, too
 * @ret_profile: free it with edge_profile_deinit(), also on failure
 *
 * Return: 0; -ENOMEM if memory cannot be allocated; as linkage_names_read(), with
 * &linkage_names.reason or &source_frames.reason set.
 */
int edge_profile_init(const struct edge_recording *edges, u32 file,
		      const struct symbol_folders *folders, bool frames,
		      struct edge_profile *ret_profile);

/**
 * edge_profile_print_fdata() - write what llvm-bolt reads: branches between offsets in functions
 *
 * Branches that were not taken are edges, too. A branch with one end outside the file has the name
 * "[unknown]" there.
 */
void edge_profile_print_fdata(FILE *out, struct edge_profile *profile);

/**
 * edge_profile_print_aggregated() - write what "perf2bolt --pa" reads: branches and runs between
 * virtual addresses
 *
 * Runs contain the branches that were not taken. If there are no runs, because the SPU does not
 * record previous targets (FEAT_SPE_PBT), branches that were not taken are runs of two
 * instructions.
 */
void edge_profile_print_aggregated(FILE *out, struct edge_profile *profile);

/**
 * edge_profile_print_brstack() - write what "llvm-profgen --perfscript" reads: branch stacks as perf
 * script prints them, at virtual addresses
 *
 * Each stack has two lines: its count, and its entries, newest first. A branch is a stack of one
 * entry. A run is a stack of two entries: the branch at its end, with an unknown target, and a
 * branch from an unknown source to its beginning. Which edges are written is as for
 * edge_profile_print_aggregated().
 */
void edge_profile_print_brstack(FILE *out, struct edge_profile *profile);

/** edge_profile_deinit() - free the names and the frames */
void edge_profile_deinit(struct edge_profile *profile);

#endif
