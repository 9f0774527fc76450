/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write the sampled pages of processes as a record of damo, the command of DAMON. */
#ifndef SPEPROF_EXPORT_DAMO_H
#define SPEPROF_EXPORT_DAMO_H

#include "lib/options.h"

/**
 * export_damo() - write the sampled pages of a recording
 * @options: &options.output and &options.input are set
 *
 * The file is a JSON list that zlib has compressed, as "damo record" writes it: a record for each
 * process, with one snapshot of the whole recording. Each sampled page is a region;
 * nr_accesses.samples is its number of samples. Pages of the kernel and of unknown processes are
 * omitted.
 *
 * Return: &enum verb_exit_status; an error was printed.
 */
int export_damo(const struct options *options);

#endif
