/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses and opens a source, depending on the configuration and the hardware of the machine. */
#ifndef SPEPROF_SOURCE_OPEN_H
#define SPEPROF_SOURCE_OPEN_H

#include "config/config.h"
#include "source/source.h"

/**
 * struct source_open_result - report about an attempt to open a source
 * @status: exit status of sysexits.h, if the daemon ends because of a failure
 * @text: one sentence with the reason for the failure, or the reason why a better source is not
 *	used; "": nothing to report
 */
struct source_open_result {
	int status;
	char text[512];
};

/**
 * source_open_get_kinds() - return the kinds of sources that source_open() may choose, a set of
 * MEMORY_*
 */
u32 source_open_get_kinds(const struct config *config);

/**
 * source_open_may_need_switches() - check whether context switches may have to be followed
 * @config: the configuration
 *
 * The daemon calls this function before it plans memory, and so before it opens a source. For the
 * module, the result depends on whether the records of all CPUs have the TID (SPEPROF_CPU_CONTEXT).
 * For perf it is true, because only the records show whether they have the TID.
 *
 * Return: false if the records of the source will certainly identify their task.
 */
bool source_open_may_need_switches(const struct config *config);

/**
 * source_open_get_sampling() - return the sampling options of the configuration, without filters;
 * the strings of the configuration are borrowed
 */
struct source_config source_open_get_sampling(const struct config *config);

/**
 * source_open() - choose and open a source
 * @config: Source= and Emulate=. An emulated SPU is used only if Emulate=yes
 * @sampling: options; its strings must outlive the source
 * @ret_source: stopped; freed by its free operation
 * @ret_result: set in any case
 *
 * Return: 0; -EPERM, -EACCES: permissions are missing; -EINVAL: the configuration does not allow
 * the sources that exist; other negative errno: there is no source.
 */
int source_open(const struct config *config, const struct source_config *sampling,
		struct source **ret_source, struct source_open_result *ret_result);

/**
 * source_open_adopted() - open a source from stored sessions of the module
 * @config: the configuration
 * @sampling: as for source_open()
 * @sessions: SOURCE_PARTITIONS_MAX descriptors, by partition; -1: none. Owned by the source on
 *	success
 * @ret_source: the source, which runs if the sessions run; freed by its free operation
 * @ret_result: set in any case
 *
 * Return: 0; -EOPNOTSUPP: the configuration selects another kind of source or other partitions; other
 * negative errno: the sessions cannot be used, and source_open() has to open a new source.
 */
int source_open_adopted(const struct config *config, const struct source_config *sampling,
			int *sessions, struct source **ret_source,
			struct source_open_result *ret_result);

#endif
