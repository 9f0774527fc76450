/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Evaluates an expression once for all samples of a task, as far as it depends on the task only.
 * Most samples of a session for one container then need no evaluation, and fields that are not
 * counted are not decoded.
 */
#ifndef SPEPROF_TASK_FILTER_H
#define SPEPROF_TASK_FILTER_H

#include "filter.h"

enum filter_verdict {
	FILTER_DEPENDS, /* the result depends on the sample */
	FILTER_REJECTS, /* no sample of the task matches */
	FILTER_ACCEPTS, /* every sample of the task matches */
};

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

#endif
