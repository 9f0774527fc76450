/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Evaluates an expression once for all samples of a task, if the result depends only on the task.
 * Evaluates it once for all samples of a class (profile/sample-class.h), if the result depends only
 * on operation, events and data source. Then most samples of a session for one container, or for
 * loads from DRAM, need no evaluation. Fields that are not counted need not be decoded.
 */
#ifndef SPEPROF_TASK_FILTER_H
#define SPEPROF_TASK_FILTER_H

#include "filter.h"

enum filter_verdict {
	FILTER_DEPENDS, /* the result depends on more than the task or the class */
	FILTER_REJECTS, /* no sample of the task or the class matches */
	FILTER_ACCEPTS, /* every sample of the task or the class matches */
};

/* Parts of a sample that comparisons of an expression need. */
#define FILTER_NEEDS_TASK  1U
#define FILTER_NEEDS_CLASS 2U

/**
 * filter_needs() - return which of FILTER_NEEDS_* the comparisons of @filter need
 *
 * Without FILTER_NEEDS_TASK, filter_match_task() always returns FILTER_DEPENDS, and so does
 * filter_match_class() without FILTER_NEEDS_CLASS.
 */
u8 filter_needs(const struct filter *filter);

/**
 * filter_get_min_latency() - return the minimum total latency of matching samples, in cycles; 0 if
 * the expression requires none
 *
 * Samples without a total latency do not match if the result is not 0.
 */
u32 filter_get_min_latency(const struct filter *filter);

/**
 * filter_match_task() - evaluate an expression for a task
 * @filter: the expression
 * @process, @container: as in &struct filter_subject
 *
 * Return: the result of filter_match() for all samples of the task; FILTER_DEPENDS if it may differ
 * between samples. A caller may treat any result as FILTER_DEPENDS.
 */
enum filter_verdict filter_match_task(const struct filter *filter,
				      const struct attribute_process *process,
				      const struct attribute_container *container);

/**
 * filter_match_class() - evaluate an expression for a class
 * @filter: the expression
 * @sample: a sample of the class; only the packets that it has and its operation, events and data
 *	source are used
 * @origin: as in &struct filter_subject
 *
 * Return: the result of filter_match() for all samples with the same packets, operation, events,
 * data source and origin; FILTER_DEPENDS if it may differ between them. A caller may treat any
 * result as FILTER_DEPENDS.
 */
enum filter_verdict filter_match_class(const struct filter *filter, const struct spe_sample *sample,
				       struct spe_origin origin);

#endif
