/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sample in this process, without the daemon, for speprof record and speprof cost. */
#ifndef SPEPROF_LIVE_SOURCE_H
#define SPEPROF_LIVE_SOURCE_H

#include "source/source.h"

/**
 * live_source_open() - open the SPUs of this machine
 * @verb: name of the verb, for error messages
 * @config: what to sample
 * @emulate: sample with emulated SPUs: those of the module if it has emulated SPUs, else those of
 *	this process
 * @ret_source: the source; the caller frees it
 *
 * Without @emulate, the SPUs are those of the module or, if it is not loaded, of the kernel's
 * driver. The function fails if any CPU cannot be sampled.
 *
 * Return: 0; else an &enum verb_exit_status, after an error was printed.
 */
int live_source_open(const char *verb, const struct source_config *config, bool emulate,
		     struct source **ret_source);

/**
 * live_source_start() - start sampling
 * @verb: as for live_source_open()
 * @config: as for live_source_open()
 * @emulate: as for live_source_open()
 * @source: the source, which is replaced by SPUs that this process emulates if the module's
 *	emulated SPUs are in use
 *
 * Return: the values of live_source_open().
 */
int live_source_start(const char *verb, const struct source_config *config, bool emulate,
		      struct source **source);

#endif
