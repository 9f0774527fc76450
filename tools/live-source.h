/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sampling in this process, without the daemon: for speprof record and speprof cost. */
#ifndef SPEPROF_LIVE_SOURCE_H
#define SPEPROF_LIVE_SOURCE_H

#include "source/source.h"

/**
 * live_source_open() - open the SPUs of this machine
 * @verb: name of the verb, for error messages
 * @config: what to sample
 * @emulate: sample with emulated SPUs: those of the module if it has such, else of this process
 * @ret_source: the source; the caller frees it
 *
 * Without @emulate, the SPUs are those of the module or, if it is not loaded, of the kernel's
 * driver. All CPUs can be sampled, or this fails.
 *
 * Return: 0; else an &enum status, and an error has been printed.
 */
int live_source_open(const char *verb, const struct source_config *config, bool emulate,
		     struct source **ret_source);

/**
 * live_source_start() - start sampling
 * @verb: as of live_source_open()
 * @config: as of live_source_open()
 * @emulate: as of live_source_open()
 * @source: the source, which is replaced by SPUs that this process emulates if the module's
 *	emulated SPUs are in use
 *
 * Return: as live_source_open().
 */
int live_source_start(const char *verb, const struct source_config *config, bool emulate,
		      struct source **source);

#endif
