/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Check whether the functions of a file have enough samples for a profile.
 *
 * A function with n sampled branches, k of them of one edge, knows the share of this edge with 95 %
 * confidence up to an error of 1.96 sqrt(p (1 - p) / (n + 4)), where p = (k + 2) / (n + 4) (Agresti
 * and Coull). The added samples keep the error of few samples from being 0. The edge with most
 * samples has the largest error of all edges of the function.
 */
#ifndef SPEPROF_PROFILE_CHECK_H
#define SPEPROF_PROFILE_CHECK_H

#include <json-c/json.h>

#include "edge-profile.h"

/* Largest error of the share of an edge in a function with enough samples */
#define CHECK_ERROR_MAX 0.05

/* Hot functions are the heaviest ones, which together have this share of the branches in functions. */
#define CHECK_HOT_SHARE 0.9

/**
 * struct checked_function - a function
 * @name: name of the linker, untrusted
 * @address: its virtual address
 * @samples: sampled branches in it
 * @edges: different edges of these branches
 * @hottest: samples of the edge with most samples
 * @error: error of the share of that edge, 0 to 1
 * @times: how many times as many samples are needed for CHECK_ERROR_MAX; at most 1: none
 */
struct checked_function {
	const char *name;
	u64 address;
	u64 samples;
	u32 edges;
	u64 hottest;
	double error;
	double times;
};

/**
 * struct profile_check - the functions of a file
 * @profile: the file and its names
 * @function: @functions functions, those with most samples first; the first @hot are hot
 * @enough: number of hot functions with enough samples
 * @samples: sampled branches in the file
 * @unnamed: those that are in no function
 * @times: how many times as many samples all hot functions need; at most 1: none
 */
struct profile_check {
	const struct edge_profile *profile;
	struct checked_function *function;
	u32 functions;
	u32 hot;
	u32 enough;
	u64 samples;
	u64 unnamed;
	double times;
};

/**
 * profile_check_init() - count the samples of each function
 * @profile: the edges of a file with their names; it must outlive @ret_check
 * @ret_check: the functions; free them with profile_check_deinit(), also on failure
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int profile_check_init(const struct edge_profile *profile, struct profile_check *ret_check);

/**
 * profile_check_print() - print the hot functions, warnings, and the verdict as text
 * @number: maximum number of functions
 * @width: columns of the terminal; 0: lines of any length
 * @colour: whether to print colours by escape sequences
 */
void profile_check_print(FILE *out, const struct profile_check *check, u32 number, size_t width,
			 bool colour);

/** profile_check_make_json() - return the same as JSON, with at most @number functions */
json_object *profile_check_make_json(const struct profile_check *check, u32 number);

/** profile_check_deinit() - free the memory */
void profile_check_deinit(struct profile_check *check);

#endif
