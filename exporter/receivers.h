/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is pushed: series by remote write and OTLP, profiles by pprof; each as configured. */
#ifndef SPEPROF_RECEIVERS_H
#define SPEPROF_RECEIVERS_H

#include <systemd/sd-event.h>

#include "config.h"
#include "series.h"

enum receiver {
	RECEIVER_WRITE,
	RECEIVER_OTLP,
	RECEIVER_PROFILES,
	RECEIVERS,
};

struct receivers;

/**
 * struct receivers_config
 * @config: the caller's, as long as the receivers are there
 * @series: the series as of @time_ns (CLOCK_REALTIME), NULL without memory
 */
struct receivers_config {
	const struct exporter_config *config;
	const struct series_set *(*series)(void *ctx, u64 time_ns);
	void *ctx;
};

/**
 * receivers_new() - begin to push; what is wrong is said
 *
 * Return: 0; -EINVAL for a wrong configuration; other negative errno.
 */
int receivers_new(const struct receivers_config *config, sd_event *event,
		  struct receivers **ret_receivers);
struct receivers *receivers_free(struct receivers *receivers);

/**
 * receivers_profile() - push a profile of the @seconds before now; @fd is read from its start
 *
 * Return: 0; where it was dropped another negative errno for each cause, and in @ret_why a
 * sentence until the next one.
 */
int receivers_profile(struct receivers *receivers, int fd, u32 seconds, const char **ret_why);

/** receivers_profile_lost() - one that there should have been is counted as dropped */
void receivers_profile_lost(struct receivers *receivers);

/** receivers_self() - what series say of each; destination NULL where there is none */
void receivers_self(struct receivers *receivers, struct series_push ret_push[RECEIVERS]);

#endif
