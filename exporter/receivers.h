/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Push to the receivers of the configuration: series by remote write and OTLP, profiles as pprof.
 */
#ifndef SPEPROF_RECEIVERS_H
#define SPEPROF_RECEIVERS_H

#include <systemd/sd-event.h>

#include "config.h"
#include "series.h"

enum receiver_kind {
	RECEIVER_WRITE,
	RECEIVER_OTLP,
	RECEIVER_PROFILES,
	RECEIVERS,
};

struct push_receivers;

/**
 * struct receivers_config - the data to push, and the receivers
 * @config: configuration of the receivers; must outlive them
 * @series: returns the series at @time_ns, CLOCK_REALTIME; NULL if memory cannot be allocated, or
 * nothing may be pushed yet
 * @ctx: argument for @series
 */
struct receivers_config {
	const struct exporter_config *config;
	const struct series_set *(*series)(void *ctx, u64 time_ns);
	void *ctx;
};

/**
 * receivers_new() - begin to push
 * @config: copied
 * @event: the event loop
 * @ret_receivers: to be freed by receivers_free()
 *
 * Errors are logged. A wrong variable in the environment only disables OTLP.
 *
 * Return: 0; -EINVAL if the configuration is wrong; -ENOMEM if memory cannot be allocated; or the
 * negative errno of sd_event.
 */
int receivers_new(const struct receivers_config *config, sd_event *event,
		  struct push_receivers **ret_receivers);

/**
 * receivers_free() - send stale markers for all series, and end all pushes
 * @receivers: may be NULL
 *
 * Context: blocks for PUSH_LAST seconds if a receiver does not answer.
 *
 * Return: NULL.
 */
struct push_receivers *receivers_free(struct push_receivers *receivers);

/**
 * receivers_push_profile() - push a profile
 * @receivers: the receivers
 * @fd: a sealed file, which is read from its start
 * @seconds: length of the profile, which ended now
 * @ret_why: on failure, a sentence; valid until the next call of this function
 *
 * A profile that is not pushed is counted as dropped.
 *
 * Return: 0, also if no receiver of profiles is configured; -EBADF, -EFBIG, -ENOSPC or -EIO, one
 * for each cause.
 */
int receivers_push_profile(struct push_receivers *receivers, int fd, u32 seconds,
			   const char **ret_why);

/**
 * receivers_count_lost_profile() - count a profile that the daemon could not provide as dropped
 * @receivers: the receivers
 */
void receivers_count_lost_profile(struct push_receivers *receivers);

/**
 * receivers_get_counters() - read the counters of all receivers
 * @receivers: may be NULL
 * @ret_push: counters, indexed by &enum receiver_kind; the destination is NULL for a receiver that
 * is not configured
 */
void receivers_get_counters(struct push_receivers *receivers,
			    struct series_push ret_push[RECEIVERS]);

#endif
