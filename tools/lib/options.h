/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Options, which mean the same in every verb that takes them.
 */
#ifndef SPEPROF_OPTIONS_H
#define SPEPROF_OPTIONS_H

#include "filter/filter.h"
#include "format.h"
#include "util/cpu-list.h"
#include "view/view.h"

/**
 * struct options - what was asked for
 * @input: a recording, or NULL for the daemon
 * @number: -n: rows of a report, iterations of top; 0 if not given
 * @cpus: -C: windows of these CPUs only, if @cpus_given
 * @midr: --midr: MIDR_EL1 of the core of a recording that does not say; 0 if not given
 * @filter: --filter: what counts of a recording, the caller's to free; NULL for everything
 * @pid: rows of this process only; 0 for all
 * @container: rows of this container only; NULL for all
 * @function, @binary: --function, --binary: what is of these only; NULL for all
 * @period: --last: what was counted in this period; VIEW_SPAN_START if not given
 * @lines, @pages: --lines, --pages: shared cache lines, pages and nodes, and no rows
 * @root: where doctor looks instead of "/"
 * @delay: seconds between two iterations
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
 * options_parse() - read the options of a verb; errors are said
 * @accept: the letters that the verb takes of "ijGsnpcCdb", 'R' for --root, 'T'
 *	for --truth, 'W' for --last, 'I' and 'P' for --lines and --pages, 'L' for --filter, 'U' and 'Y' for --function and
 *	--binary, 'F' if its recording may stand without -i
 *
 * Return: 0, or an &enum status.
 */
int options_parse(int argc, char **argv, const char *accept, struct options *ret_options);

#endif
