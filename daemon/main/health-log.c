// SPDX-License-Identifier: LGPL-2.1-or-later
#include "health-log.h"

#include <stdio.h>

#include "util/log.h"

#define FIELD 48

static const char *get_plural_suffix(u64 count)
{
	return count == 1 ? "" : "s";
}

/*
 * Return the increase of a total since the last update. If the total has decreased, the source was
 * replaced, and the counter of the new source started at 0: return 0.
 */
static u64 get_counter_increase(u64 before, u64 now)
{
	return now > before ? now - before : 0;
}

/*
 * struct problem_kind - a kind of problem; @what: the name of the problem in the plural, for the
 * line that reports the end of the problem; @over: the log level of that line
 */
struct problem_kind {
	const char *id;
	const char *what;
	int over;
};

/*
 * Return true if @grown_by more events are to be logged now, and set *@ret_n and @count to their
 * number. The function itself logs the end of the problem.
 */
static bool problem_is_due(struct log_limit *pace, u64 grown_by, u64 now_ns,
			   const struct problem_kind *topic, char count[static FIELD], u64 *ret_n)
{
	enum log_limit_action action = log_limit_check(pace, grown_by, now_ns, ret_n);

	if (action == LOG_LIMIT_SILENT)
		return false;
	snprintf(count, FIELD, "SPEPROF_COUNT=%llu", (unsigned long long)*ret_n);
	/* The line that reports the end contains the number of events since the last line. */
	if (action == LOG_LIMIT_RESOLVED)
		log_write(topic->over, topic->id, (const char *const[]){ count, NULL },
			  "no %s for %llu minutes; %llu since the last line about them",
			  topic->what, LOG_LIMIT_RESOLVED_NS / 60000000000ULL,
			  (unsigned long long)*ret_n);
	return action == LOG_LIMIT_REPORT;
}

static void log_faults(struct health_log *log, const struct daemon_health *now, u64 now_ns)
{
	static const struct problem_kind topic = { LOG_ID_FAULT, "faults of SPUs", LOG_NOTICE };
	const char *last = now->source.last;
	char count[FIELD], what[160], cpu[32];
	const char *fields[] = { count, what, NULL, NULL };
	unsigned int number;
	u64 n;

	if (!problem_is_due(&log->faults,
			    get_counter_increase(log->last.source.faults, now->source.faults),
			    now_ns, &topic, count, &n))
		return;
	snprintf(what, sizeof(what), "SPEPROF_FAULT=%s", last);
	/* The message of every source begins with the CPU. */
	if (sscanf(last, "CPU %u:", &number) == 1) {
		snprintf(cpu, sizeof(cpu), "SPEPROF_CPU=%u", number);
		fields[2] = cpu;
	}
	log_write(LOG_WARNING, LOG_ID_FAULT, fields,
		  "%llu fault%s of SPUs, the last one: %s; if a fault stopped a CPU, \"speprof "
		  "stop\" and \"speprof start\" resume it (Documentation/reference/abi.md, Events "
		  "and syndromes)",
		  (unsigned long long)n, get_plural_suffix(n), last);
}

static void log_throttles(struct health_log *log, const struct daemon_health *now, u64 now_ns)
{
	static const struct problem_kind topic = { LOG_ID_THROTTLE, "throttling of SPUs",
						   LOG_INFO };
	char count[FIELD];
	u64 n;

	if (problem_is_due(&log->throttles,
			   get_counter_increase(log->last.source.throttles, now->source.throttles),
			   now_ns, &topic, count, &n))
		log_write(LOG_NOTICE, LOG_ID_THROTTLE, (const char *const[]){ count, NULL },
			  "the module throttled SPUs %llu time%s, because they caused too many "
			  "interrupts or bytes: lower SamplesPerSecond=, or raise the module's "
			  "throttle_interrupts and throttle_bytes",
			  (unsigned long long)n, get_plural_suffix(n));
}

static void log_failed_checkpoints(struct health_log *log, const struct daemon_health *now,
				   u64 now_ns)
{
	static const struct problem_kind topic = { LOG_ID_UNSAVED,
						   "failures to save the checkpoint", LOG_NOTICE };
	char count[FIELD];
	u64 n;

	if (problem_is_due(&log->unsaved, get_counter_increase(log->last.unsaved, now->unsaved),
			   now_ns, &topic, count, &n))
		log_write(LOG_ERR, LOG_ID_UNSAVED, (const char *const[]){ count, NULL },
			  "the checkpoint could not be saved %llu time%s, because the counters "
			  "exceed its size; a restart would restore the last one that was saved: "
			  "call Reset on the bus, or restart with a smaller MemoryBudget=",
			  (unsigned long long)n, get_plural_suffix(n));
}

static void log_stalls(struct health_log *log, const struct daemon_health *now, u64 now_ns)
{
	static const struct problem_kind topic = { LOG_ID_STUCK, "stalls of the worker",
						   LOG_NOTICE };
	char count[FIELD];
	u64 n;

	if (problem_is_due(&log->stuck, get_counter_increase(log->last.stuck, now->stuck), now_ns,
			   &topic, count, &n))
		log_write(LOG_WARNING, LOG_ID_STUCK, (const char *const[]){ count, NULL },
			  "the worker has had no heartbeat for %u s%s", now->stuck_s,
			  now->watchdog ? "; the service manager's watchdog will restart this "
					  "process" :
					  "");
}

void health_log_update(struct health_log *log, const struct daemon_health *now, u64 now_ns)
{
	log_faults(log, now, now_ns);
	log_throttles(log, now, now_ns);
	log_failed_checkpoints(log, now, now_ns);
	log_stalls(log, now, now_ns);
	log->last = *now;
}
