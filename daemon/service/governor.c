// SPDX-License-Identifier: LGPL-2.1-or-later
#include "governor.h"

/* A step of either loop: at most to twice or half. */
#define STEP 2

/* One operation a nanosecond is a guess: cores do a tenth of it to some ten. */
#define RATE_LEAST (GOVERNOR_ONE / 16)
#define RATE_MOST  (GOVERNOR_ONE * 64)

/* At a 64th of the rate it is the fixed part that costs. */
#define COST_MOST (GOVERNOR_ONE * 64)

/* How far the rate may be off, either way, in percent, and for how many periods. */
#define RATE_SLACK   20
#define RATE_PERIODS 2

/* A CPU that says something of the rate: so busy, of the period, with so many samples. */
#define BUSY_PARTS   4
#define SAMPLES_MOST 100

/* Below so many percent of the budget for so many periods, more is sampled again, up to AIM. */
#define CHEAP_PERCENT 60
#define CHEAP_PERIODS 3
#define AIM_PERCENT   85

/* What one CPU may spend, in budgets: a hot one must not pay for idle ones. */
#define CPU_BUDGETS 4

/*
 * The throttle is for what is faster than a period: twice what a CPU may spend. It looks at a
 * tenth of a second, in which some windows may come at once.
 */
#define BOUND_SLACK	 2
#define INTERRUPTS_LEAST 128
#define BYTES_LEAST	 (2ULL << 20)

static u64 clamp(u64 value, u64 least, u64 most)
{
	return value < least ? least : value > most ? most : value;
}

void governor_init(struct governor *governor, const struct governor_config *config,
		   struct governor_scale *cpu, u32 cpus)
{
	*governor = (struct governor){
		.config = *config,
		.rate_scale = GOVERNOR_ONE,
		.cpu = cpu,
		.cpus = cpus,
		.online = cpus,
	};
	for (u32 i = 0; i < cpus; i++)
		cpu[i] = (struct governor_scale){ .scale = GOVERNOR_ONE };
}

void governor_change(struct governor *governor, const struct governor_config *config)
{
	bool anew = !config->overhead || config->nominal_ns != governor->config.nominal_ns;

	for (u32 i = 0; i < governor->cpus; i++) {
		governor->cpu[i].cheap = 0;
		if (anew)
			governor->cpu[i].scale = GOVERNOR_ONE;
		if (!config->overhead)
			governor->cpu[i].interrupts = governor->cpu[i].bytes = 0;
	}
	if (!config->rate)
		governor->rate_scale = GOVERNOR_ONE;
	governor->config = *config;
	governor->off = 0;
	governor->exhausted = false;
}

u64 governor_interval(const struct governor *governor)
{
	return governor->config.nominal_ns * governor->rate_scale / GOVERNOR_ONE;
}

u64 governor_interval_of(const struct governor *governor, u32 cpu)
{
	/* Below 2^30 * 2^16 * 2^16. */
	return governor_interval(governor) * governor->cpu[cpu].scale / GOVERNOR_ONE;
}

u32 governor_held(const struct governor *governor)
{
	u32 held = 0;

	for (u32 i = 0; i < governor->cpus; i++)
		held += !governor->cpu[i].away && governor->cpu[i].scale > GOVERNOR_ONE;
	return held;
}

/* The busiest CPU's: the setting is an upper bound for each. What is held back counts as if not. */
static u64 rate_of(const struct governor *g, const struct governor_cpu *cpu, u64 period_ns)
{
	u64 most = 0, rate;

	for (u32 i = 0; i < g->cpus; i++) {
		u64 samples = cpu[i].samples * g->cpu[i].scale / GOVERNOR_ONE;

		if (cpu[i].busy_ns < period_ns / BUSY_PARTS || samples < SAMPLES_MOST)
			continue;
		rate = samples * 1000000ULL / (cpu[i].busy_ns / 1000);
		if (rate > most)
			most = rate;
	}
	return most;
}

static bool rate_step(struct governor *g)
{
	u64 target = 1000000000ULL / g->config.nominal_ns;
	u64 least = g->config.filtered ? GOVERNOR_ONE : RATE_LEAST, scale;

	if (!g->config.rate || !g->rate || !target)
		return false;
	if (g->rate * 100 <= target * (100 + RATE_SLACK) &&
	    g->rate * (100 + RATE_SLACK) >= target * 100) {
		g->off = 0;
		return false;
	}
	if (++g->off < RATE_PERIODS)
		return false;
	scale = g->rate_scale * g->rate / target;
	scale = clamp(scale, g->rate_scale / STEP, g->rate_scale * STEP);
	scale = clamp(scale, least, RATE_MOST);
	if (scale == g->rate_scale)
		return false;
	g->rate_scale = scale;
	g->off = 0;
	return true;
}

static u64 power_above(u64 n)
{
	u64 power = 1;

	while (power < n)
		power *= 2;
	return power;
}

/* What a CPU may come to in a second: powers of two, so that they stay as they are, mostly. */
static void bound(const struct governor *g, struct governor_scale *s, const struct governor_cpu *cpu,
		  u64 cost_ns)
{
	u64 allowed = 1000000000ULL / GOVERNOR_WHOLE * g->config.overhead * CPU_BUDGETS * BOUND_SLACK;
	u64 n;

	if (!g->config.overhead)
		return;
	if (cpu->interrupts && cpu->handling_ns) {
		n = allowed * cpu->interrupts / cpu->handling_ns;
		s->interrupts = power_above(clamp(n, INTERRUPTS_LEAST, UINT32_MAX));
	}
	if (cpu->bytes && cost_ns) {
		n = allowed / 1000 * cpu->bytes / (cost_ns / 1000 + 1);
		s->bytes = power_above(clamp(n, BYTES_LEAST, 1ULL << 40));
	}
}

/* Of each CPU: its own, and of the daemon's what its bytes are of all; smoothed. */
static void measure(struct governor *g, const struct governor_cpu *cpu, u64 daemon_ns, u64 period_ns)
{
	u64 bytes = 0, sum = 0;

	g->online = 0;
	for (u32 i = 0; i < g->cpus; i++) {
		bytes += cpu[i].away ? 0 : cpu[i].bytes;
		g->online += !cpu[i].away;
	}
	for (u32 i = 0; i < g->cpus; i++) {
		struct governor_scale *s = &g->cpu[i];
		u64 part, ns, cost;

		if (cpu[i].away) {
			*s = (struct governor_scale){ .scale = GOVERNOR_ONE, .away = true };
			continue;
		}
		/* In parts of 2^16, as bytes of many CPUs times ns run over. */
		part = bytes ? (cpu[i].bytes << 16) / bytes : (1 << 16) / g->online;
		ns = cpu[i].handling_ns + daemon_ns * part / (1 << 16);
		cost = ns * GOVERNOR_WHOLE / period_ns;
		s->away = false;
		s->cost = s->cost ? (2 * s->cost + cost) / 3 : cost;
		bound(g, s, &cpu[i], ns);
		sum += s->cost;
	}
	g->cost = g->online ? sum / g->online : 0;
}

/* What it would cost at the interval that was asked for. */
static u64 demand(const struct governor_scale *s)
{
	return s->cost * s->scale / GOVERNOR_ONE;
}

/*
 * The most that any CPU is to spend, so that all of them together spend what the machine may:
 * who needs less leaves the rest to the others.
 */
static u64 level(const struct governor *g)
{
	u64 whole = (u64)g->config.overhead * g->online * AIM_PERCENT / 100;
	u64 most = (u64)g->config.overhead * CPU_BUDGETS * AIM_PERCENT / 100;
	u64 at = whole / g->online, before = 0;

	while (at != before && at < most) {
		u64 left = whole;
		u32 others = 0;

		before = at;
		for (u32 i = 0; i < g->cpus; i++) {
			if (demand(&g->cpu[i]) > at)
				others++;
			else
				left -= demand(&g->cpu[i]);
		}
		if (!others)
			return most;
		at = left / others;
	}
	return clamp(at, 1, most);
}

static bool scale_step(const struct governor *g, struct governor_scale *s, u64 at)
{
	u64 budget = g->config.overhead, before = s->scale, target, scale = before;

	target = clamp(GOVERNOR_ONE * demand(s) / at, GOVERNOR_ONE, COST_MOST);
	if (target > scale && (g->cost > budget || s->cost > budget * CPU_BUDGETS)) {
		s->cheap = 0;
		scale = clamp(target, scale, scale * STEP);
	} else if (target * AIM_PERCENT < scale * CHEAP_PERCENT) {
		if (++s->cheap < CHEAP_PERIODS)
			return false;
		s->cheap = 0;
		scale = clamp(target, scale / STEP, scale);
	} else {
		s->cheap = 0;
	}
	if (scale == before)
		return false;
	/* What is smoothed was of another interval. */
	s->cost = s->cost * before / scale;
	s->scale = scale;
	return true;
}

/* One interval for all: the dearest CPU's. */
static void level_scales(struct governor *g)
{
	u64 most = GOVERNOR_ONE;

	for (u32 i = 0; i < g->cpus; i++)
		most = g->cpu[i].scale > most ? g->cpu[i].scale : most;
	for (u32 i = 0; i < g->cpus; i++) {
		g->cpu[i].cost = g->cpu[i].cost * g->cpu[i].scale / most;
		g->cpu[i].scale = most;
	}
}

static bool cost_step(struct governor *g)
{
	bool changed = false;
	u64 at;

	g->exhausted = false;
	if (!g->config.overhead || !g->online)
		return false;
	at = level(g);
	for (u32 i = 0; i < g->cpus; i++) {
		if (g->cpu[i].away)
			continue;
		changed |= scale_step(g, &g->cpu[i], at);
		g->exhausted |= g->cpu[i].scale == COST_MOST && g->cost > g->config.overhead;
	}
	if (changed && g->config.single)
		level_scales(g);
	return changed;
}

enum governor_why governor_step(struct governor *governor, const struct governor_cpu *cpu,
				u64 daemon_ns, u64 period_ns)
{
	measure(governor, cpu, daemon_ns, period_ns);
	governor->rate = rate_of(governor, cpu, period_ns);
	if (cost_step(governor)) {
		governor->off = 0;
		return GOVERNOR_OVERHEAD;
	}
	return rate_step(governor) ? GOVERNOR_RATE : GOVERNOR_STAYS;
}
