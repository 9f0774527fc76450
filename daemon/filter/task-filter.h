/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an expression says about all samples of a task. So most samples of a session for one container
 * need no evaluation, and no decoding of the fields that are not counted.
 */
#ifndef SPEPROF_TASK_FILTER_H
#define SPEPROF_TASK_FILTER_H

#include "filter.h"

enum filter_verdict {
	FILTER_DEPENDS, /* it depends on the sample */
	FILTER_REJECTS, /* no sample of the task matches */
	FILTER_ACCEPTS, /* every sample of the task matches */
};

/**
 * filter_match_task() - evaluate an expression for a task
 * @filter: the expression
 * @process, @container: as in &struct filter_subject
 *
 * Return: what filter_match() returns for the samples of the task. FILTER_DEPENDS is always right.
 */
enum filter_verdict filter_match_task(const struct filter *filter,
				      const struct attribute_process *process,
				      const struct attribute_container *container);

#endif
