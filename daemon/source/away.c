// SPDX-License-Identifier: LGPL-2.1-or-later
#include "away.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* As late as a window of the module may be. */
#define DRAIN_NS 250000000L

/**
 * struct away - what is blind
 * @timer: says when it is time to book some of it
 * @since_ns: up to when it is booked
 * @owed_ns: of before it was stopped, not handed over yet
 * @list: of CPUs, struct source.cpus of them
 */
struct away {
	struct source source;
	int timer;
	bool running;
	u64 since_ns;
	u64 owed_ns;
	struct source_cpu *list;
};

static struct away *away_of(struct source *source)
{
	return (struct away *)source;
}

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

/* The first start is what ran on from @since_ns; later ones are somebody's Start. */
static int away_start(struct source *source)
{
	struct away *away = away_of(source);

	if (!away->since_ns)
		away->since_ns = now_ns();
	away->running = true;
	return 0;
}

static void away_stop(struct source *source)
{
	struct away *away = away_of(source);

	if (away->running)
		away->owed_ns += now_ns() - away->since_ns;
	away->since_ns = 0;
	away->running = false;
}

static int away_fd(struct source *source)
{
	return away_of(source)->timer;
}

/* Nobody could sample it: it was not blind. */
static bool offline(const struct source_cpu *cpu)
{
	return strcmp(cpu->state, "offline") == 0;
}

static int away_drain(struct source *source, const struct source_sink *sink)
{
	static const u8 nothing[1];
	struct away *away = away_of(source);
	u64 now = now_ns(), expired;

	/* Nothing but that it is readable no more. */
	(void)!read(away->timer, &expired, sizeof(expired));
	if (away->running) {
		away->owed_ns += now - away->since_ns;
		away->since_ns = now;
	}
	if (!away->owed_ns)
		return 0;
	for (u32 i = 0; i < source->cpus; i++) {
		const struct source_window window = {
			.data = nothing,
			.cpu = away->list[i].cpu,
			.tid = -1,
			.start_ns = now,
			.end_ns = now,
			.blind_ns = away->owed_ns,
			.blind_by[SOURCE_BLIND_RESTART] = away->owed_ns,
			.backend = source->backend,
		};

		if (!offline(&away->list[i]))
			sink->window(sink->ctx, &window);
	}
	away->owed_ns = 0;
	return 0;
}

static int away_cpu(struct source *source, u32 index, struct source_cpu *ret_cpu)
{
	if (index >= source->cpus)
		return -ENOENT;
	*ret_cpu = away_of(source)->list[index];
	return 0;
}

static int away_numbered(struct source *source, u32 cpu, struct source_cpu *ret_cpu)
{
	const struct away *away = away_of(source);

	for (u32 i = 0; i < source->cpus; i++) {
		if (away->list[i].cpu != cpu)
			continue;
		*ret_cpu = away->list[i];
		return 0;
	}
	return -ENOENT;
}

static int away_configure(struct source *source, const struct source_config *config,
			  const char **ret_reason __attribute__((unused)))
{
	source->interval_ns = config->interval_ns;
	return 0;
}

/* The governor tells it to the source that comes. */
static int away_tune(struct source *source __attribute__((unused)),
		     const struct source_tune *tune __attribute__((unused)))
{
	return -ENOENT;
}

static void away_free(struct source *source)
{
	struct away *away = away_of(source);

	if (away->timer >= 0)
		close(away->timer);
	free(away->list);
	free(away);
}

static const struct source_ops away_ops = {
	.name = "module",
	.start = away_start,
	.fd = away_fd,
	.drain = away_drain,
	.stop = away_stop,
	.free = away_free,
	.cpu = away_cpu,
	.numbered = away_numbered,
	.configure = away_configure,
	.tune = away_tune,
};

static int list_cpus(struct away *away, struct source *was)
{
	away->list = calloc(was->cpus ? was->cpus : 1, sizeof(*away->list));
	if (!away->list)
		return -ENOMEM;
	for (u32 i = 0; i < was->cpus; i++) {
		int r = was->ops->cpu(was, i, &away->list[i]);

		if (r < 0)
			return r;
		if (!offline(&away->list[i]))
			away->list[i].state = "stopped";
	}
	return 0;
}

int source_away_new(struct source *was, u64 since_ns, struct source **ret_source)
{
	const struct itimerspec every = { .it_interval.tv_nsec = DRAIN_NS,
					  .it_value.tv_nsec = DRAIN_NS };
	struct away *away = calloc(1, sizeof(*away));
	int r;

	if (!away)
		return -ENOMEM;
	away->source = *was;
	away->source.ops = &away_ops;
	away->source.by = NULL;
	away->source.away = true;
	away->source.locked = 0;
	away->source.parts = 0;
	away->since_ns = since_ns;
	snprintf(away->source.reason, sizeof(away->source.reason),
		 "nothing is sampled: the module is being exchanged");
	away->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	r = away->timer < 0 || timerfd_settime(away->timer, 0, &every, NULL) < 0 ? -errno : 0;
	if (r >= 0)
		r = list_cpus(away, was);
	if (r < 0) {
		away_free(&away->source);
		return r;
	}
	*ret_source = &away->source;
	return 0;
}
