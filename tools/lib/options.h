/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options, which mean the same in every verb that accepts them. */
#ifndef SPEPROF_OPTIONS_H
#define SPEPROF_OPTIONS_H

#include "filter/filter.h"
#include "format.h"
#include "util/cpu-list.h"
#include "view/view.h"

/**
 * struct options - the options of one invocation
 * @input: -i: a recording; NULL for the daemon's profile
 * @container: -c: rows of this container only; NULL for all
 * @function, @binary: --function, --binary: statistics of these only; NULL for all
 * @root: --root: directory that doctor and others examine instead of "/"; "" if not given
 * @filter: --filter: samples of a recording that count, freed by the caller; NULL for all
 * @truth: --truth: @truths known shares
 * @group: -G: what a row stands for
 * @sort: -s: order of rows
 * @number: -n: rows of a report, iterations of top; 0 if not given
 * @pid: -p: rows of this process only; 0 for all
 * @delay: -d: seconds between two iterations of top
 * @cpus: -C: windows of these CPUs only, if @cpus_given
 * @midr: --midr: MIDR_EL1 of cores that a recording does not name; 0 if not given
 * @json: -j: print JSON
 * @period: --last: what was counted in this period; VIEW_SPAN_START if not given
 * @lines, @pages: --lines, --pages: shared cache lines, or pages and nodes, instead of rows
 * @batch: -b: print the live view instead of drawing it
 */
struct options {
	const char *input;
	const char *container;
	const char *function;
	const char *binary;
	const char *root;
	struct filter *filter;
	struct format_truth truth[FORMAT_TRUTHS];
	u32 truths;
	enum view_group group;
	enum view_sort sort;
	u32 number;
	s32 pid;
	double delay;
	struct cpu_list cpus;
	u64 midr;
	bool cpus_given;
	bool json;
	enum view_span period;
	bool lines;
	bool pages;
	bool batch;
};

/**
 * options_parse() - parse the options of a verb
 * @argc, @argv: arguments of the verb; argv[0] is its name
 * @accept: which options the verb accepts: letters of "ijGsnpcCdb"; 'R' for --root, 'T' for
 *	--truth, 'W' for --last, 'I' for --lines, 'P' for --pages, 'L' for --filter, 'U' for
 *	--function, 'Y' for --binary; 'F' if the recording may be given without -i
 * @ret_options: untouched on failure
 *
 * Return: 0; else an &enum status, and an error has been printed.
 */
int options_parse(int argc, char **argv, const char *accept, struct options *ret_options);

#endif
