// SPDX-License-Identifier: LGPL-2.1-or-later
#include "govern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

#define PERIOD_NS 5000000000ULL

static u64 now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

int govern_new(u32 cpus, struct govern **ret_govern)
{
	const struct governor_config off = { .nominal_ns = 1000000 };
	struct govern *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->cpus = cpus;
	g->before = calloc(cpus, sizeof(*g->before));
	g->now = calloc(cpus, sizeof(*g->now));
	g->costs = calloc(cpus, sizeof(*g->costs));
	governor_init(&g->governor, &off);
	if (!g->before || !g->now || !g->costs) {
		govern_free(g);
		return -ENOMEM;
	}
	*ret_govern = g;
	return 0;
}

struct govern *govern_free(struct govern *govern)
{
	if (govern) {
		free(govern->before);
		free(govern->now);
		free(govern->costs);
		free(govern);
	}
	return NULL;
}

/* Time that CPUs were not idle, as /proc/stat has it: of all kinds but idle and iowait. */
static void read_busy(struct govern *g)
{
	u64 tick = 1000000000ULL / (u64)sysconf(_SC_CLK_TCK);
	FILE *f = fopen("/proc/stat", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long user, nice, system, irq, softirq, steal;
		unsigned int cpu;

		if (sscanf(line, "cpu%u %llu %llu %llu %*u %*u %llu %llu %llu", &cpu, &user, &nice,
			   &system, &irq, &softirq, &steal) == 7 &&
		    cpu < g->cpus)
			g->now[cpu].busy_ns = (user + nice + system + irq + softirq) * tick;
	}
	if (f)
		fclose(f);
}

static void read_handling(struct govern *g, const struct source *source)
{
	u32 n = source->ops->costs ? source->ops->costs(source, g->costs, g->cpus) : 0;

	for (u32 i = 0; i < n; i++)
		if (g->costs[i].cpu < g->cpus)
			g->now[g->costs[i].cpu].handling_ns = g->costs[i].handling_ns;
}

static void begin(struct govern *g, u64 now)
{
	memcpy(g->before, g->now, g->cpus * sizeof(*g->before));
	for (u32 i = 0; i < g->cpus; i++)
		g->now[i].samples = 0;
	g->began_ns = now;
	g->began_cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	g->next_ns = now + PERIOD_NS;
}

/* Totals to what they grew by. One that fell back, of a CPU that was away, is none. */
static void differ(const struct govern *g, struct governor_cpu *ret)
{
	for (u32 i = 0; i < g->cpus; i++) {
		const struct governor_cpu *a = &g->before[i], *b = &g->now[i];

		ret[i] = (struct governor_cpu){
			.busy_ns = b->busy_ns > a->busy_ns ? b->busy_ns - a->busy_ns : 0,
			.handling_ns = b->handling_ns > a->handling_ns ?
					       b->handling_ns - a->handling_ns :
					       0,
			.samples = b->samples,
		};
	}
}

static void tell(const struct govern *g, u64 interval, u64 before)
{
	char interval_field[64], cost[64], rate[64];
	const char *const fields[] = { interval_field, cost, rate, NULL };
	unsigned int share = (unsigned int)(g->governor.cost * 100 / (GOVERNOR_WHOLE / 100));

	snprintf(interval_field, sizeof(interval_field), "SPEPROF_INTERVAL_NSEC=%llu",
		 (unsigned long long)interval);
	snprintf(cost, sizeof(cost), "SPEPROF_COST_PERCENT=%u.%02u", share / 100, share % 100);
	snprintf(rate, sizeof(rate), "SPEPROF_SAMPLES_PER_SECOND=%llu",
		 (unsigned long long)g->governor.rate);
	if (g->why == GOVERNOR_OVERHEAD)
		log_tell(LOG_INFO, LOG_ID_INTERVAL, fields,
			 "interval of %llu ns instead of %llu: sampling costs %u.%02u %% of the "
			 "machine, "
			 "Overhead= allows %u.%02u %%",
			 (unsigned long long)interval, (unsigned long long)before, share / 100,
			 share % 100, g->governor.config.overhead / 1000,
			 g->governor.config.overhead / 10 % 100);
	else
		log_tell(LOG_INFO, LOG_ID_INTERVAL, fields,
			 "interval of %llu ns instead of %llu: the busiest CPU brought %llu "
			 "samples a "
			 "second, %llu are asked for",
			 (unsigned long long)interval, (unsigned long long)before,
			 (unsigned long long)g->governor.rate,
			 1000000000ULL / g->governor.config.nominal_ns);
}

static void apply(struct worker_state *state, struct session *machine, enum governor_why why)
{
	struct govern *g = state->govern;
	u64 before = machine->feed->sampling.interval_ns;
	struct worker_change change = { .interval_ns = governor_interval(&g->governor) };
	int r = worker_change(state, &change);

	if (r < 0) {
		/* One that cannot follow is not asked again. */
		log_line(LOG_WARNING, "the interval stays as it is: %s",
			 change.reason ? change.reason : strerror(-r));
		g->governor.config.overhead = 0;
		g->governor.config.rate = false;
		return;
	}
	g->why = why;
	tell(g, change.interval_ns, before);
}

int govern_set(struct worker_state *state, void *arg)
{
	const struct session *machine = worker_session(state, NULL);
	struct governor_config config = *(const struct governor_config *)arg;

	if (!state->govern || !machine)
		return -ENOENT;
	/* An emulated SPU has one operation in a nanosecond. */
	config.rate &= machine->feed->source->backend == BACKEND_HARDWARE;
	config.filtered = machine->rule->filter != NULL;
	governor_change(&state->govern->governor, &config);
	return 0;
}

/* Somebody has said how often to sample: that is what is governed from now on. */
static void follow(struct govern *g, u64 interval)
{
	struct governor_config config = g->governor.config;

	config.nominal_ns = interval;
	governor_init(&g->governor, &config);
	g->why = GOVERNOR_STAYS;
}

void govern_tick(struct worker_state *state, u64 now)
{
	struct session *machine = worker_session(state, NULL);
	struct govern *g = state->govern;
	struct governor_cpu *grown;
	enum governor_why why;
	u64 interval;

	if (!g || !machine || !machine->running || now < g->next_ns)
		return;
	read_busy(g);
	read_handling(g, machine->feed->source);
	grown = g->next_ns ? calloc(g->cpus, sizeof(*grown)) : NULL;
	interval = governor_interval(&g->governor);
	if (machine->feed->sampling.interval_ns != interval) {
		follow(g, machine->feed->sampling.interval_ns);
	} else if (grown) {
		differ(g, grown);
		why = governor_step(&g->governor, grown, g->cpus,
				    now_ns(CLOCK_PROCESS_CPUTIME_ID) - g->began_cpu_ns,
				    now - g->began_ns);
		if (why != GOVERNOR_STAYS)
			apply(state, machine, why);
	}
	free(grown);
	begin(g, now);
}

void govern_describe(const struct worker_state *state, char *ret, size_t size)
{
	const struct govern *g = state->govern;
	unsigned int share;

	*ret = 0;
	if (!g ||
	    (g->governor.rate_scale == GOVERNOR_ONE && g->governor.cost_scale == GOVERNOR_ONE))
		return;
	if (g->governor.cost_scale == GOVERNOR_ONE) {
		snprintf(ret, size, " Interval %llu ns, by the true rate.",
			 (unsigned long long)governor_interval(&g->governor));
		return;
	}
	share = (unsigned int)(g->governor.config.overhead / 10);
	snprintf(ret, size, " Interval %llu ns, held back%s by Overhead=%u.%02u %%.",
		 (unsigned long long)governor_interval(&g->governor),
		 g->governor.exhausted ? " as far as it goes" : "", share / 100, share % 100);
}
