// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "engine/rate-control.h"
#include "engine/drain-threads.h"
#include "state/checkpoint.h"
#include "util/log.h"
#include "util/time.h"

/* period of the status in microseconds, unless the watchdog needs a shorter one */
#define PERIOD_US 5000000ULL
/* minimum of &notify_state.period_us: the worker has a heartbeat at least once a second */
#define PERIOD_MIN_US 1500000ULL

struct status_snapshot {
	char text[STATUS_SIZE];
	struct source_health health;
	u64 unsaved;
	u64 interval_ns;
};

/* Append to @text, which has STATUS_SIZE bytes, and truncate text that does not fit. */
static void __attribute__((format(printf, 2, 3))) text_append(char *text, const char *format, ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(text + n, STATUS_SIZE - n, format, ap);
	va_end(ap);
}

/*
 * Write the status line for "systemctl status": the source, how it is sampled, and the current
 * problems.
 */
static int status_describe(struct worker_state *state, void *arg)
{
	const struct session *machine = worker_find_session(state, NULL);
	const struct source *source = machine->shared_source->source;
	u32 unsampled = source->ops->unsampled ? source->ops->unsampled(source) : 0;
	const struct source_health *health = &source->health;
	const struct checkpoint *checkpoint = checkpoint_get_attached(state);
	struct status_snapshot *described = arg;
	struct attributor_stats attribution;
	char *text = described->text;
	size_t n;

	described->health = *health;
	described->unsaved = checkpoint ? checkpoint->unsaved : 0;
	described->interval_ns = source->interval_ns;

	*text = '\0';
	text_append(text, "%s %u CPU%s, %s SPU%s, source %s%s%s.",
		    machine->running ? "Sampling" : "Stopped:", source->cpus,
		    source->cpus == 1 ? "" : "s",
		    source->backend == BACKEND_EMULATED ? "emulated" : "hardware",
		    source->cpus == 1 ? "" : "s", source->ops->name, source->method ? ", by " : "",
		    source->method ? source->method : "");
	if (health->cpus_stopped)
		text_append(text, " %u not sampled (%s).", health->cpus_stopped,
			    source_health_describe(health));
	if (unsampled)
		text_append(text, " %u more CPU%s with an SPU %s not sampled.", unsampled,
			    unsampled == 1 ? "" : "s", unsampled == 1 ? "is" : "are");
	if (__atomic_load_n(&machine->shared_source->error, __ATOMIC_RELAXED))
		text_append(text, " Reading failed: %s.", strerror(-machine->shared_source->error));
	if (checkpoint && checkpoint->error)
		text_append(text, " Counters cannot be saved: %s.", strerror(-checkpoint->error));
	attributor_get_stats(state->attributor, &attribution);
	if (attribution.mappings_unsaved)
		text_append(text, " %llu mapping%s not in the checkpoint, which is full.",
			    (unsigned long long)attribution.mappings_unsaved,
			    attribution.mappings_unsaved == 1 ? " is" : "s are");
	n = strlen(text);
	drain_threads_describe(state->drain_threads, text + n, STATUS_SIZE - n);
	n = strlen(text);
	rate_control_describe(state, text + n, STATUS_SIZE - n);
	return 0;
}

/* Append why the last reload was refused, and the settings that need a restart. */
static void append_reload_status(const struct notify_state *notify, char *text)
{
	if (!notify->reloaded)
		return;
	if (*notify->reloaded->refused)
		text_append(text,
			    " The new configuration is refused, and the previous one stays in "
			    "force: %s.",
			    notify->reloaded->refused);
	if (*notify->reloaded->waiting)
		text_append(text, " Restart speprofd to apply %s.", notify->reloaded->waiting);
}

/*
 * Send the status only if it has changed, because each message wakes all clients that watch the
 * unit.
 */
static void send_status(struct notify_state *notify)
{
	struct status_snapshot now;

	worker_call_readonly(notify->worker, status_describe, &now);
	append_reload_status(notify, now.text);
	notify->health.source = now.health;
	notify->health.unsaved = now.unsaved;
	if (notify->interval_ns != now.interval_ns && notify->changed)
		notify->changed(notify->ctx);
	notify->interval_ns = now.interval_ns;
	if (!strcmp(now.text, notify->status))
		return;
	memcpy(notify->status, now.text, sizeof(now.text));
	sd_notifyf(0, "STATUS=%s", now.text);
}

static int on_timer(sd_event_source *timer, uint64_t usec __attribute__((unused)), void *userdata)
{
	struct notify_state *notify = userdata;
	u64 heartbeat = worker_get_heartbeat(notify->worker);

	if (heartbeat != notify->heartbeat) {
		notify->heartbeat = heartbeat;
		notify->stuck = false;
		if (notify->watchdog)
			sd_notify(0, "WATCHDOG=1");
		send_status(notify);
	} else if (!notify->stuck) {
		notify->stuck = true;
		notify->health.stuck++;
	}
	health_log_update(&notify->health_log, &notify->health, time_now_ns());
	return sd_event_source_set_time_relative(timer, notify->period_us);
}

int notify_init(struct notify_state *notify, sd_event *event, struct worker *worker)
{
	uint64_t usec = 0;
	int r;

	*notify = (struct notify_state){ .worker = worker, .period_us = PERIOD_US };
	notify->watchdog = sd_watchdog_enabled(0, &usec) > 0;
	if (notify->watchdog && usec / 4 < notify->period_us)
		notify->period_us = usec / 4;
	if (notify->period_us < PERIOD_MIN_US)
		notify->period_us = PERIOD_MIN_US;
	notify->health.watchdog = notify->watchdog;
	notify->health.stuck_s = (unsigned int)(notify->period_us / 1000000);
	r = sd_event_add_time_relative(event, &notify->timer, CLOCK_MONOTONIC, notify->period_us, 0,
				       on_timer, notify);
	return r < 0 ? r : sd_event_source_set_enabled(notify->timer, SD_EVENT_ON);
}

void notify_deinit(struct notify_state *notify)
{
	notify->timer = sd_event_source_disable_unref(notify->timer);
}

void notify_ready(struct notify_state *notify)
{
	struct status_snapshot now;

	worker_call_readonly(notify->worker, status_describe, &now);
	append_reload_status(notify, now.text);
	/* At the first call, do not log problems that an earlier process has logged. */
	if (!*notify->status)
		notify->health_log.last.source = notify->health.source = now.health;
	notify->interval_ns = now.interval_ns;
	memcpy(notify->status, now.text, sizeof(now.text));
	sd_notifyf(0, "READY=1\nSTATUS=%s", notify->status);
}

void notify_reloading(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		   (unsigned long long)ts.tv_sec * 1000000 + (unsigned long long)ts.tv_nsec / 1000);
}

void notify_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}
