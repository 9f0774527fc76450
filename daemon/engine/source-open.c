// SPDX-License-Identifier: LGPL-2.1-or-later
#include "source-open.h"

#include "budget.h"
#include "source/partitioned.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

static void __attribute__((format(printf, 3, 4)))
set_result(struct source_open_result *result, int status, const char *format, ...)
{
	va_list ap;

	result->status = status;
	va_start(ap, format);
	vsnprintf(result->text, sizeof(result->text), format, ap);
	va_end(ap);
}

u32 source_open_get_kinds(const struct config *config)
{
	static const u32 kinds[] = {
		[CONFIG_SOURCE_AUTO] = MEMORY_MODULE | MEMORY_PERF,
		[CONFIG_SOURCE_MODULE] = MEMORY_MODULE,
		[CONFIG_SOURCE_PERF] = MEMORY_PERF,
		[CONFIG_SOURCE_EMULATED] = MEMORY_EMULATED,
	};

	return kinds[config->source];
}

bool source_open_may_need_switches(const struct config *config)
{
	u32 kinds = source_open_get_kinds(config);
	bool names_tasks;

	if (!config->contexts)
		return true;
	if (kinds & MEMORY_MODULE && source_module_query_contexts(&names_tasks) >= 0)
		return !names_tasks;
	return kinds & MEMORY_PERF;
}

struct source_config source_open_get_sampling(const struct config *config)
{
	return (struct source_config){
		.interval_ns = 1000000000ULL / config->samples_per_second,
		.jitter = config->jitter,
		.kernel = config->kernel,
		.user = config->user,
		.no_context = !config->contexts,
		.physical = config->physical,
		.models = config->models,
	};
}

/* Choose the exit status: systemd restarts the daemon only after temporary failures. */
static int set_failure(struct source_open_result *result, int r, const char *reason)
{
	int status = EX_UNAVAILABLE;

	switch (r) {
	case -EPERM:
	case -EACCES:
		status = EX_NOPERM;
		break;
	case -EBUSY:
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
		status = EX_TEMPFAIL;
		break;
	}
	set_result(result, status, "%s", reason);
	return r;
}

/* Never use an emulated SPU unless Emulate=yes allows it. */
static int check_backend(const struct config *c, struct source *source,
			 struct source_open_result *result)
{
	if (source->backend != BACKEND_EMULATED || c->emulate)
		return 0;
	set_result(result, EX_CONFIG,
		   "the module's SPU is emulated (speprof_emu): set Emulate=yes to use it");
	source->ops->free(source);
	return -EINVAL;
}

static int open_emulated(const struct config *c, const struct source_config *sampling,
			 struct source **ret_source, struct source_open_result *result)
{
	const char *reason = "";
	int r;

	if (!c->emulate) {
		set_result(result, EX_CONFIG,
			   "Source=emulated needs Emulate=yes: the SPU would be emulated");
		return -EINVAL;
	}
	r = source_emulated_new(sampling, ret_source, &reason);
	return r < 0 ? set_failure(result, r, reason) : 0;
}

/* Source=auto: the module if it has SPUs, else perf. */
static int open_auto(const struct config *c, const struct source_config *sampling,
		     struct source **ret_source, struct source_open_result *result)
{
	char lacks[sizeof((*ret_source)->reason)];
	const char *without = "", *reason = "";
	int r;

	r = source_module_new(sampling, c->io_uring, ret_source, &without);
	if (r >= 0)
		return 0;
	if (r != -ENOENT && r != -ENODEV)
		return set_failure(result, r, without);
	r = source_perf_new(sampling, ret_source, &reason);
	if (r == -ENOENT) {
		set_result(result, EX_UNAVAILABLE,
			   "speprof cannot use SPE on this machine: %s, and %s; see \"speprof "
			   "doctor\"",
			   without, reason);
		return r;
	}
	if (r < 0)
		return set_failure(result, r, reason);
	memcpy(lacks, (*ret_source)->reason, sizeof(lacks));
	snprintf((*ret_source)->reason, sizeof((*ret_source)->reason), "%.100s: %.150s", without,
		 lacks);
	set_result(result, EX_OK, "sampling with the source perf, because %s",
		   (*ret_source)->reason);
	return 0;
}

static int open_single_source(const struct config *config, const struct source_config *sampling,
			      struct source **ret_source, struct source_open_result *ret_result)
{
	const char *reason = "";
	struct source *source;
	int r;

	*ret_result = (struct source_open_result){ .status = EX_OK };
	switch (config->source) {
	case CONFIG_SOURCE_EMULATED:
		r = open_emulated(config, sampling, &source, ret_result);
		break;
	case CONFIG_SOURCE_PERF:
		r = source_perf_new(sampling, &source, &reason);
		if (r >= 0)
			set_result(ret_result, EX_OK,
				   "sampling with the source perf, as Source= selects: %s",
				   source->reason);
		break;
	case CONFIG_SOURCE_MODULE:
		r = source_module_new(sampling, config->io_uring, &source, &reason);
		break;
	default:
		r = open_auto(config, sampling, &source, ret_result);
		break;
	}
	if (r < 0 && !*ret_result->text)
		set_failure(ret_result, r, reason);
	if (r >= 0)
		r = check_backend(config, source, ret_result);
	if (r >= 0)
		*ret_source = source;
	return r;
}

/* Open a source for each partition. The result of the first partition is reported for all. */
int source_open(const struct config *config, const struct source_config *sampling,
		struct source **ret_source, struct source_open_result *ret_result)
{
	struct source *partitions[SOURCE_PARTITIONS_MAX];
	struct source_config own = *sampling;
	struct source_open_result result;
	int r = 0;

	if (sampling->partitions < 2)
		return open_single_source(config, sampling, ret_source, ret_result);
	for (own.partition = 0; own.partition < own.partitions && r >= 0; own.partition++)
		r = open_single_source(config, &own, &partitions[own.partition],
				       own.partition ? &result : ret_result);
	if (r < 0) {
		own.partition--;
		if (own.partition)
			*ret_result = result;
	} else {
		r = source_partitioned_new(partitions, own.partitions, sampling, ret_source);
		if (r < 0)
			set_failure(ret_result, r, strerror(-r));
	}
	while (r < 0 && own.partition--)
		partitions[own.partition]->ops->free(partitions[own.partition]);
	return r;
}

/* Return whether there is a descriptor for each partition and no further one. */
static bool has_all_sessions(const int *sessions, u32 partitions)
{
	for (u32 i = 0; i < SOURCE_PARTITIONS_MAX; i++)
		if ((sessions[i] >= 0) != (i < partitions))
			return false;
	return true;
}

/*
 * Duplicate the descriptor @session, so that the caller still owns it if another partition fails.
 */
static int adopt_session(const struct config *config, const struct source_config *sampling,
			 int session, struct source **ret_source, struct source_open_result *result)
{
	const char *reason = "the limit of open files is reached";
	int copy = fcntl(session, F_DUPFD_CLOEXEC, 3), r = -EMFILE;

	if (copy >= 0)
		r = source_module_adopt(sampling, config->io_uring, copy, ret_source, &reason);
	if (r < 0) {
		if (copy >= 0)
			close(copy);
		return set_failure(result, r, reason);
	}
	if ((*ret_source)->backend != BACKEND_EMULATED || config->emulate)
		return 0;
	set_result(result, EX_CONFIG,
		   "the SPU of the module is emulated, and Emulate=yes is not set");
	(*ret_source)->ops->free(*ret_source);
	return -EINVAL;
}

int source_open_adopted(const struct config *config, const struct source_config *sampling,
			int *sessions, struct source **ret_source,
			struct source_open_result *ret_result)
{
	u32 partitions = sampling->partitions < 2 ? 1 : sampling->partitions, n;
	struct source *source[SOURCE_PARTITIONS_MAX];
	struct source_config own = *sampling;
	int r = 0;

	*ret_result = (struct source_open_result){ .status = EX_OK };
	if (config->source != CONFIG_SOURCE_AUTO && config->source != CONFIG_SOURCE_MODULE)
		return set_failure(ret_result, -EOPNOTSUPP,
				   "the configuration selects another source");
	if (!has_all_sessions(sessions, partitions))
		return set_failure(ret_result, -EOPNOTSUPP, "the number of workers has changed");
	for (n = 0; n < partitions && r >= 0; n++) {
		own.partition = n;
		r = adopt_session(config, &own, sessions[n], &source[n], ret_result);
	}
	/* If the last partition could not be opened, free only the partitions before it. */
	n -= r < 0;
	if (r >= 0 && partitions > 1)
		r = source_partitioned_new(source, partitions, sampling, ret_source);
	else if (r >= 0)
		*ret_source = source[0];
	if (r < 0 && !*ret_result->text)
		set_failure(ret_result, r, strerror(-r));
	while (r < 0 && n--)
		source[n]->ops->free(source[n]);
	for (u32 i = 0; r >= 0 && i < partitions; i++) {
		close(sessions[i]);
		sessions[i] = -1;
	}
	return r;
}
