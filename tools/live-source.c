// SPDX-License-Identifier: LGPL-2.1-or-later
#include "live-source.h"

#include <errno.h>
#include <string.h>

#include "lib/message.h"

static enum verb_exit_status error_to_exit_status(int r)
{
	switch (r) {
	case -EACCES:
	case -EPERM:
		return STATUS_NO_RIGHT;
	case -ENOENT:
		return STATUS_NO_MODULE;
	case -ENODEV:
	case -EOPNOTSUPP:
		return STATUS_NO_SPE;
	case -EINVAL:
		return STATUS_USAGE;
	case -EBUSY:
		return STATUS_STATE;
	default:
		return STATUS_FAILED;
	}
}

/*
 * Open the kernel's driver through perf. If the kernel has no such driver, keep the reason why the
 * module could not be opened, and return the error of that attempt, @failed.
 */
static int open_kernel_driver(const struct source_config *config, int failed,
			      struct source **ret_source, const char **reason)
{
	const char *why = "";
	int r = source_perf_new(config, ret_source, &why);

	if (r == -ENOENT)
		return failed;
	*reason = why;
	return r;
}

/*
 * Fail if a CPU cannot sample (&source_health.cpus_stopped). The daemon would retry later, but a
 * verb cannot wait.
 */
static int check_cpus(const char *verb, const struct source *source)
{
	if (!source->health.cpus_stopped)
		return STATUS_OK;
	return message_fail(STATUS_STATE, "%s: %s", verb, source_health_describe(&source->health));
}

int live_source_open(const char *verb, const struct source_config *config, bool emulate,
		     struct source **ret_source)
{
	struct source *source = NULL;
	const char *reason = "";
	int r = -ENODEV, status;

	/*
	 * The emulated SPUs of the module have no models of programs, so do not use them with
	 * Models=.
	 */
	if (!emulate || !config->models || !*config->models)
		r = source_module_new(config, true, &source, &reason);
	if (r == 0 && source->backend == BACKEND_EMULATED && !emulate) {
		source->ops->free(source);
		return message_fail(STATUS_NO_SPE,
				    "%s: the module's SPU is emulated (speprof_emu): use "
				    "--emulate to sample with it",
				    verb);
	}
	/*
	 * If @emulate is set and the module has no emulated SPUs, free its source, and emulate in
	 * this process. The daemon also prefers emulated SPUs of the module.
	 */
	if (r == 0 && source->backend != BACKEND_EMULATED && emulate) {
		source->ops->free(source);
		source = NULL;
	}
	if ((r == -ENOENT || r == -ENODEV) && !emulate)
		r = open_kernel_driver(config, r, &source, &reason);
	if (emulate && !source)
		r = source_emulated_new(config, &source, &reason);
	if (r < 0)
		return message_fail(error_to_exit_status(r), "%s: %s: %s%s", verb, reason,
				    strerror(-r),
				    emulate ? "" : "; --emulate models an SPU instead");
	status = check_cpus(verb, source);
	if (status) {
		source->ops->free(source);
		return status;
	}
	*ret_source = source;
	return STATUS_OK;
}

int live_source_start(const char *verb, const struct source_config *config, bool emulate,
		      struct source **source)
{
	const char *reason;
	int r = (*source)->ops->start(*source);

	if (r == -EBUSY && emulate) {
		(*source)->ops->free(*source);
		*source = NULL;
		r = source_emulated_new(config, source, &reason);
		if (r >= 0)
			r = (*source)->ops->start(*source);
	}
	if (r >= 0)
		return STATUS_OK;
	return message_fail(error_to_exit_status(r), "%s: sampling cannot be started: %s%s", verb,
			    strerror(-r),
			    r == -EBUSY ? "; \"speprof stop\" frees the SPUs of speprofd" : "");
}
