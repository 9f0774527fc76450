/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write a profile in the format of pprof, from a recording or from the daemon. */
#ifndef SPEPROF_EXPORT_PPROF_H
#define SPEPROF_EXPORT_PPROF_H

#include "lib/options.h"

/**
 * export_pprof() - write a profile
 * @options: &options.output is set. With &options.input, the profile has the samples of that
 * recording which the filter and the CPUs select. Without it, the profile has the samples that the
 * daemon takes in the next &options.seconds
 *
 * Return: &enum verb_exit_status; an error was printed.
 */
int export_pprof(const struct options *options);

#endif
