// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trouble.h"

#include <stdio.h>

#include "log.h"

#define FIELD 48

static const char *times(u64 count)
{
	return count == 1 ? "" : "s";
}

/* A total since the source was made: another one begins anew. */
static u64 grown(u64 before, u64 now)
{
	return now > before ? now - before : 0;
}

static void count_field(char ret[static FIELD], u64 count)
{
	snprintf(ret, FIELD, "SPEPROF_COUNT=%llu", (unsigned long long)count);
}

/* @what: in the plural; what is not told of is what came since the last line. */
static void over(int level, const char *id, const char *what, u64 count)
{
	char field[FIELD];

	count_field(field, count);
	log_tell(level, id, (const char *const[]){ field, NULL },
		 "no %s for %llu minutes; %llu since this was told the last time", what,
		 LOG_PACE_OVER_NS / 60000000000ULL, (unsigned long long)count);
}

static void tell_faults(struct trouble_told *told, const struct trouble *now, u64 now_ns)
{
	const char *last = now->source.last;
	char count[FIELD], what[160], cpu[32];
	const char *fields[] = { count, what, NULL, NULL };
	unsigned int number;
	u64 n;

	switch (log_pace(&told->faults, grown(told->last.source.faults, now->source.faults), now_ns,
			 &n)) {
	case LOG_PACE_TELL:
		count_field(count, n);
		snprintf(what, sizeof(what), "SPEPROF_FAULT=%s", last);
		/* It is told so by every source. */
		if (sscanf(last, "CPU %u:", &number) == 1) {
			snprintf(cpu, sizeof(cpu), "SPEPROF_CPU=%u", number);
			fields[2] = cpu;
		}
		log_tell(LOG_WARNING, LOG_ID_FAULT, fields,
			 "%llu fault%s of the SPU, the last: %s; a CPU that it stopped samples "
			 "again after Stop and Start (Documentation/kernel.md, Syndromes)",
			 (unsigned long long)n, times(n), last);
		break;
	case LOG_PACE_OVER:
		over(LOG_NOTICE, LOG_ID_FAULT, "faults of the SPU", n);
		break;
	case LOG_PACE_QUIET:
		break;
	}
}

static void tell_throttles(struct trouble_told *told, const struct trouble *now, u64 now_ns)
{
	char count[FIELD];
	u64 n;

	switch (log_pace(&told->throttles,
			 grown(told->last.source.throttles, now->source.throttles), now_ns, &n)) {
	case LOG_PACE_TELL:
		count_field(count, n);
		log_tell(LOG_NOTICE, LOG_ID_THROTTLE, (const char *const[]){ count, NULL },
			 "SPUs were held back %llu time%s: too many interrupts or bytes; the rate "
			 "is SamplesPerSecond=, the bound the module's throttle_*",
			 (unsigned long long)n, times(n));
		break;
	case LOG_PACE_OVER:
		over(LOG_INFO, LOG_ID_THROTTLE, "throttling of SPUs", n);
		break;
	case LOG_PACE_QUIET:
		break;
	}
}

static void tell_unsaved(struct trouble_told *told, const struct trouble *now, u64 now_ns)
{
	char count[FIELD];
	u64 n;

	switch (log_pace(&told->unsaved, grown(told->last.unsaved, now->unsaved), now_ns, &n)) {
	case LOG_PACE_TELL:
		count_field(count, n);
		log_tell(LOG_ERR, LOG_ID_UNSAVED, (const char *const[]){ count, NULL },
			 "figures could not be saved, %llu time%s: there are more than a "
			 "checkpoint holds; the next process goes on from the last one that did, "
			 "unless this one ends well after Reset, or with a smaller MemoryBudget=",
			 (unsigned long long)n, times(n));
		break;
	case LOG_PACE_OVER:
		over(LOG_NOTICE, LOG_ID_UNSAVED, "failures to save figures", n);
		break;
	case LOG_PACE_QUIET:
		break;
	}
}

static void tell_stuck(struct trouble_told *told, const struct trouble *now, u64 now_ns)
{
	char count[FIELD];
	u64 n;

	switch (log_pace(&told->stuck, grown(told->last.stuck, now->stuck), now_ns, &n)) {
	case LOG_PACE_TELL:
		count_field(count, n);
		log_tell(LOG_WARNING, LOG_ID_STUCK, (const char *const[]){ count, NULL },
			 "the worker has not come around for %u s%s", now->stuck_s,
			 now->watchdog ? ": unless it does, the service manager's watchdog ends "
					 "this process and another goes on" :
					 "");
		break;
	case LOG_PACE_OVER:
		over(LOG_NOTICE, LOG_ID_STUCK, "hold-ups of the worker", n);
		break;
	case LOG_PACE_QUIET:
		break;
	}
}

void trouble_tell(struct trouble_told *told, const struct trouble *now, u64 now_ns)
{
	tell_faults(told, now, now_ns);
	tell_throttles(told, now, now_ns);
	tell_unsaved(told, now, now_ns);
	tell_stuck(told, now, now_ns);
	told->last = *now;
}
