// SPDX-License-Identifier: LGPL-2.1-or-later
/* The main function of speprofd: choose a source, start the worker, serve the bus. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "attribution/cgroup-namespace.h"
#include "dbus/bus.h"
#include "dbus/objects.h"
#include "dbus/property-signals.h"
#include "engine/rate-control.h"
#include "engine/source-open.h"
#include "engine/worker.h"
#include "history-store/writer.h"
#include "notify.h"
#include "options.h"
#include "reload.h"
#include "speprof-version.h"
#include "state/checkpoint-file.h"
#include "state/checkpoint.h"
#include "state/restore-on-start.h"
#include "util/cpu-list.h"
#include "util/log.h"

/*
 * Number of attempts to get the SPUs, and the time between them. Together they exceed
 * StartLimitIntervalSec= (10 s), so that systemd does not stop restarting the service.
 */
#define TRIES	 48
#define PAUSE_NS 250000000

/**
 * struct daemon_state - state of the process
 * @checkpoint: the checkpoint; NULL if no service manager stores it for the next process
 */
struct daemon_state {
	int argc;
	char **argv;
	struct daemon_options options;
	struct fd_store_contents stored;
	struct memory_plan plan;
	struct checkpoint *checkpoint;
	struct rate_control *rate_control;
	struct history_writer *history; /* NULL if History=no, or without StateDirectory= */
	bool adopted; /* true if the source has the rings of an earlier process */
	struct restore_on_start_args restored;
	struct worker *worker;
	sd_event *event;
	struct bus_service bus;
	struct notify_state notify;
	struct reload_status reloaded;
};

/*
 * Record context switches, by which samples are attributed if records have no thread ID. With the
 * source perf, it is unknown until the first record whether records have a thread ID. So log a
 * failure only if it is certain that they have none.
 */
static void start_switch_rings(const struct source *source, struct task_events *tasks,
			       struct task_events_status *status)
{
	char *why = status->switches_reason;

	snprintf(why, sizeof(status->switches_reason), "there are no task events");
	if (tasks && task_events_start_switch_rings(tasks, why) >= 0)
		*why = '\0';
	else if (source_get_contexts(source) == SOURCE_CONTEXTS_NONE)
		log_write(LOG_WARNING, LOG_ID_TASKS, NULL,
			  "no sample is attributed, because context switches are not reported: %s",
			  why);
}

/*
 * Report a cgroup namespace that hides the cgroups of tasks, because it affects every source of
 * task events.
 */
static void report_cgroup_namespace(struct task_events_status *status)
{
	size_t n = strlen(status->reason);
	struct cgroup_namespace space;
	const char *reason;

	cgroup_namespace_init(&space);
	reason = cgroup_namespace_get_warning(&space);
	if (!*reason)
		return;
	log_write(LOG_WARNING, LOG_ID_TASKS, NULL, "%s", reason);
	snprintf(status->reason + n, sizeof(status->reason) - n, "%s%s", n ? "; " : "", reason);
}

/*
 * Open the source of task events. A failure is not fatal: it is logged, and "speprof status" prints
 * it.
 */
static struct task_events *open_task_events(const struct config *c, const struct memory_plan *plan,
					    const struct source *source,
					    struct task_events_status *status)
{
	const struct task_events_sizes sizes = {
		.bpf = plan->bpf,
		.side_band = plan->side_band,
		.switches = plan->switches,
	};
	static const char *const lacks[] = {
		[TASK_EVENTS_PROC] = "samples of tasks that live less than a quarter of a second "
				     "will be unattributed",
		[TASK_EVENTS_PERF] =
			"a task's move to another container is noticed up to a second late",
		[TASK_EVENTS_BPF] = "mapped files are read from /proc",
	};
	struct task_events *tasks = NULL;

	task_events_new(c->task_events, &sizes, &tasks, status);
	if (source_get_contexts(source) != SOURCE_CONTEXTS_ALL)
		start_switch_rings(source, tasks, status);
	if (*status->reason)
		log_write(LOG_WARNING, LOG_ID_TASKS, NULL, "%s: %s", lacks[status->kind],
			  status->reason);
	report_cgroup_namespace(status);
	return tasks;
}

/* Adopt the sessions of an earlier process, one for each drain thread. Their rings still exist. */
static bool adopt_source(struct daemon_state *d, const struct source_config *sampling,
			 struct source **ret_source)
{
	struct source_open_result result;

	if (d->stored.session[0] < 0) {
		fd_store_close_machine(&d->stored);
		return false;
	}
	if (source_open_adopted(&d->options.config, sampling, d->stored.session, ret_source,
				&result) >= 0)
		return true;
	log_write(LOG_NOTICE, LOG_ID_REFUSED, NULL,
		  "a new session of the module is opened, because the stored one cannot be "
		  "used: %s",
		  result.text);
	fd_store_close_machine(&d->stored);
	return false;
}

/* Return the directory of the history on disk; NULL if there is no history. */
static const char *get_history_directory(const struct config *c)
{
	const char *path = getenv("STATE_DIRECTORY");

	return c->history && path && *path == '/' ? path : NULL;
}

/* Start the history on disk. A failure is not fatal, because the daemon works without a history. */
static void start_history(struct daemon_state *d)
{
	const char *folder = get_history_directory(&d->options.config);
	char path[PATH_MAX];
	struct history_writer_config config = {
		.worker = d->worker,
		.path = path,
		.bytes = d->options.config.history,
	};
	int r;

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/history.sqlite", folder);
	r = history_writer_new(&config, &d->history);
	if (r < 0)
		log_write(LOG_ERR, LOG_ID_HISTORY, NULL, "the history on disk cannot be written: %s",
			  strerror(-r));
	else
		bus_attach_history(&d->bus, d->history);
}

/* Plan the memory, before any table is allocated. */
static int plan_memory(struct daemon_state *d)
{
	const struct config *c = &d->options.config;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct memory_request request = {
		.budget = c->memory_budget,
		.cpus = cpus > 0 ? (u32)cpus : 1,
		.page = (u32)sysconf(_SC_PAGESIZE),
		.sources = source_open_get_kinds(c),
		.bpf = c->task_events == TASK_EVENTS_BPF,
		.side_band = c->task_events != TASK_EVENTS_PROC,
		.switches = source_open_may_need_switches(c),
	};
	u64 least;
	int r;

	if (get_history_directory(c)) {
		request.history_bytes = HISTORY_MEMORY_BYTES;
		request.history_container_bytes = HISTORY_CONTAINER_BYTES;
	}
	/* Use no more drain threads than CPUs. */
	request.workers = c->workers < request.cpus ? c->workers : request.cpus;
	if (!c->workers)
		request.workers = budget_choose_workers(request.cpus, c->samples_per_second);
	r = budget_make_plan(&request, &d->plan, &least);
	/* If the budget is too small for that many drain threads, try fewer. */
	while (r < 0 && !c->workers && --request.workers)
		r = budget_make_plan(&request, &d->plan, &least);
	if (r >= 0)
		return 0;
	log_line(LOG_ERR,
		 "MemoryBudget=%" PRIu64 "M is too small for %ld CPUs%s: %" PRIu64
		 "M is the minimum",
		 request.budget >> 20, cpus, request.workers > 1 ? " and that many workers" : "",
		 (least + (1 << 20) - 1) >> 20);
	return EX_CONFIG;
}

/*
 * Sleep after attempt @tries, counted from 0. Return: 0 to try again; -ETIMEDOUT after the last
 * attempt; -EINTR if a signal requests the process to exit.
 */
static int wait_before_retry(u32 tries)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	sigset_t ends;

	if (tries + 1 >= TRIES)
		return -ETIMEDOUT;
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	return sigtimedwait(&ends, NULL, &pause) >= 0 ? -EINTR : 0;
}

/*
 * Open the source. If another session uses the SPU, or memory or descriptors are short, retry.
 * After the last attempt the process exits and the service manager starts another, which still gets
 * the stored descriptors.
 */
static int open_source(const struct config *c, const struct source_config *sampling,
		       struct source **ret_source)
{
	struct source_open_result result = { 0 };

	for (u32 tries = 0;; tries++) {
		int r = source_open(c, sampling, ret_source, &result);

		if (r >= 0 || result.status != EX_TEMPFAIL) {
			if (*result.text)
				log_write(r < 0 ? LOG_ERR : LOG_NOTICE, LOG_ID_SOURCE, NULL, "%s",
					  result.text);
			return r < 0 ? result.status : 0;
		}
		if (!tries)
			log_write(LOG_WARNING, LOG_ID_SOURCE, NULL, "%s; retrying for up to 12 s",
				  result.text);
		r = wait_before_retry(tries);
		if (r < 0)
			return r == -EINTR ? r : EX_TEMPFAIL;
	}
}

/* Add the session "machine", which the configuration describes. */
static int open_machine_session(struct daemon_state *d, struct session_config *ret_session)
{
	const struct config *c = &d->options.config;
	struct session_config session = { .name = SESSION_MACHINE };
	struct source_config sampling = source_open_get_sampling(c);
	struct source *source = NULL;
	struct filter_error error = { 0 };
	struct config_container_lists lists;
	int r;

	sampling.ring_size = d->plan.ring;
	sampling.partitions = d->plan.workers;
	if (config_split_lists(c, &lists) < 0)
		return EX_OSERR;
	/*
	 * config_set_setting() has checked the expression alone, but not together with the lists.
	 */
	r = session_rule_new(&lists.lists, c->filter, NULL, &session.rule, &error);
	config_container_lists_clear(&lists);
	if (r < 0) {
		log_write(LOG_ERR, LOG_ID_CONFIG, NULL, "Filter=: %s",
			  r == -EINVAL ? error.text : strerror(-r));
		return r == -EINVAL ? EX_CONFIG : EX_OSERR;
	}
	d->adopted = adopt_source(d, &sampling, &source);
	if (!d->adopted)
		r = open_source(c, &sampling, &source);
	if (!r && shared_source_new(source, &sampling, &session.shared_source) < 0) {
		source->ops->free(source);
		r = EX_OSERR;
	}
	if (r) {
		session_rule_free(session.rule);
		return r;
	}
	*ret_session = session;
	return 0;
}

static void append_filter_name(char *text, size_t size, bool does, const char *what)
{
	size_t len = strlen(text);

	if (does)
		snprintf(text + len, size - len, "%s%s", len ? " and " : "", what);
}

/* Log the filters of the SPU, because no session can count the samples that they drop. */
static int log_spu_filters(struct worker_state *state, void *arg __attribute__((unused)))
{
	const struct session *machine = worker_find_session(state, NULL);
	struct source_config config = { 0 };
	const struct source *source = machine->shared_source->source;
	char result[128] = "";
	const char *parts;

	if (!machine->rule->filter)
		return 0;
	parts = filter_offload(machine->rule->filter, &machine->shared_source->cores, &config);
	append_filter_name(result, sizeof(result), source->filters, parts);
	append_filter_name(result, sizeof(result), source->filters_not, "absent events");
	append_filter_name(result, sizeof(result), source->filters_sources, "data sources");
	append_filter_name(result, sizeof(result), source->filters_masked, "type masks");
	if (*result)
		log_line(LOG_INFO,
			 "Filter=%s: the SPU filters by %s, the daemon by the whole expression",
			 machine->rule->expression, result);
	else
		log_line(LOG_INFO, "Filter=%s: only the daemon filters%s",
			 machine->rule->expression,
			 *parts || config.filter_events_not || config.filter_sources_not ||
					 config.filter_masked ?
				 ", because this SPU cannot" :
				 "");
	return 0;
}

/*
 * Start the worker. Call this after the source was opened: if no source can be opened, do not log
 * missing task events as well.
 */
static int start_worker(struct daemon_state *d, struct session_config *session)
{
	struct task_events_status task_status = { 0 };
	struct task_events *tasks = open_task_events(&d->options.config, &d->plan,
						     session->shared_source->source, &task_status);
	struct worker *worker = NULL;

	if (worker_new(&d->plan, tasks, &task_status, &worker) < 0)
		task_events_free(tasks);
	else if (worker_call(worker, worker_add_session, session) >= 0) {
		worker_call(worker, log_spu_filters, NULL);
		d->worker = worker;
		return 0;
	}
	worker_free(worker);
	shared_source_put(session->shared_source);
	session_rule_free(session->rule);
	log_line(LOG_ERR, "the worker could not be started");
	return EX_OSERR;
}

/* Start rate control with the configuration of the daemon. @arg: the struct daemon_state. */
static int start_rate_control(struct worker_state *state, void *arg)
{
	struct daemon_state *d = arg;
	struct rate_controller_config governing = {
		.nominal_ns = worker_find_session(state, NULL)->shared_source->sampling.interval_ns,
		.overhead = d->options.config.overhead,
		.rate = true,
	};

	state->rate_control = d->rate_control;
	return rate_control_configure(state, &governing);
}

/*
 * Reload the configuration. An invalid file changes nothing; d->reloaded has the reason until a
 * reload succeeds.
 */
static int config_reload(void *ctx)
{
	struct daemon_state *d = ctx;
	struct daemon_options fresh = { 0 };
	int r;

	notify_reloading();
	if (options_parse(d->argc, d->argv, &fresh, d->reloaded.refused)) {
		log_write(LOG_NOTICE, LOG_ID_CONFIG, NULL,
			  "the new configuration is refused, and the previous one stays in force");
		r = -EINVAL;
	} else {
		r = reload_apply(&d->options.config, &fresh.config, d->worker, &d->reloaded);
	}
	if (r >= 0)
		bus_signal_configuration(&d->bus);
	bus_signal_reload(&d->bus);
	notify_ready(&d->notify);
	return r;
}

static int on_reload(sd_event_source *source __attribute__((unused)),
		     const struct signalfd_siginfo *info __attribute__((unused)), void *userdata)
{
	config_reload(userdata);
	return 0;
}

static void on_interval_change(void *ctx)
{
	bus_signal_machine_interval(ctx);
}

/* Start the machine's session, unless restoring the checkpoint has started or stopped it. */
static int start_machine_session(struct daemon_state *d)
{
	for (u32 tries = 0;; tries++) {
		int r = worker_call(d->worker, worker_start_session, NULL);

		if (r >= 0 || r == -EALREADY)
			return 0;
		if (r != -EBUSY) {
			log_line(LOG_ERR, "sampling could not be enabled: %s", strerror(-r));
			return EX_UNAVAILABLE;
		}
		if (!tries)
			log_write(LOG_WARNING, LOG_ID_SOURCE, NULL,
				  "another session of the module uses the SPUs; retrying for up to "
				  "12 s");
		r = wait_before_retry(tries);
		if (r < 0)
			return r == -EINTR ? r : EX_TEMPFAIL;
	}
}

/* Return the highest possible CPU number plus one; numbers may have gaps. */
static u32 get_cpu_limit(void)
{
	struct cpu_list possible;
	u32 end = 0;

	if (cpu_list_read_possible(&possible) >= 0)
		end = cpu_list_get_end(&possible);
	return end ? end : (u32)sysconf(_SC_NPROCESSORS_CONF);
}

static int daemon_run(struct daemon_state *d)
{
	int r = d->restored.stopped ? 0 : start_machine_session(d);

	if (r)
		return r;
	if (d->checkpoint)
		restore_on_start_store(&d->restored);
	start_history(d);
	if (rate_control_new(get_cpu_limit(), &d->rate_control) >= 0)
		worker_call(d->worker, start_rate_control, d);
	if (notify_init(&d->notify, d->event, d->worker) < 0)
		return EX_OSERR;
	d->notify.changed = on_interval_change;
	d->notify.ctx = &d->bus;
	d->notify.reloaded = &d->reloaded;
	notify_ready(&d->notify);
	log_write(LOG_INFO, LOG_ID_STARTED, NULL, "speprofd " SPEPROF_VERSION ": %s",
		  d->notify.status);
	/* The result is the exit status: 0 after a signal, BUS_LOST_STATUS after the bus closed. */
	r = sd_event_loop(d->event);
	notify_stopping();
	notify_deinit(&d->notify);
	history_writer_stop(d->history);
	/*
	 * Always save, because only the service manager has the information whether it will start
	 * another process.
	 */
	if (d->checkpoint) {
		worker_call(d->worker, checkpoint_save_final, NULL);
		checkpoint_file_save(d->checkpoint->slots);
	}
	d->history = history_writer_free(d->history);
	return r < 0 ? EX_OSERR : r;
}

/* Return true if the error means that no bus answers, for instance while the bus is restarted. */
static bool is_bus_unavailable(int r)
{
	return r == -ENOENT || r == -ECONNREFUSED || r == -ECONNRESET || r == -ENOTCONN ||
	       r == -EPIPE || r == -ETIMEDOUT;
}

/*
 * Connect to the bus. After a restart retry for some seconds: the earlier process was connected, so
 * the bus exists and is probably restarting, and the module's rings buffer samples meanwhile.
 * Return: -EINTR if a signal requests the process to exit.
 */
static int connect_to_bus(struct daemon_state *d, bool restarted)
{
	int r;

	for (u32 tries = 0;; tries++) {
		r = bus_init(&d->bus, d->event, d->options.bus_address, d->worker,
			     &d->options.config);
		if (r >= 0 || !restarted || !is_bus_unavailable(r))
			return r;
		if (!tries)
			log_write(LOG_WARNING, LOG_ID_BUS, NULL,
				  "the bus cannot be reached; retrying for up to 12 s");
		switch (wait_before_retry(tries)) {
		case -EINTR:
			return -EINTR;
		case -ETIMEDOUT:
			return r;
		}
	}
}

static int serve_until_exit(struct daemon_state *d)
{
	const char *address = d->options.bus_address;
	const bool restarted = d->adopted || d->stored.checkpoint >= 0;
	int r = connect_to_bus(d, restarted);

	if (r == -EINTR)
		return r;
	if (r < 0) {
		log_line(LOG_ERR,
			 r == -EEXIST ? "another speprofd owns the name " BUS_NAME " on %s" :
			 r == -EACCES || r == -EPERM ? "not allowed to own the name " BUS_NAME
						       " on %s: is the bus policy installed?" :
						       "cannot connect to %s",
			 address ? address : "the system bus");
		return restarted && is_bus_unavailable(r) ? BUS_LOST_STATUS : EX_UNAVAILABLE;
	}
	d->bus.reload = config_reload;
	d->bus.ctx = d;
	d->bus.reloaded = &d->reloaded;
	d->restored = (struct restore_on_start_args){
		.config = &d->options.config,
		.stored = &d->stored,
		.worker = d->worker,
		.adopted = d->adopted,
	};
	r = restore_on_start_run(&d->restored);
	d->checkpoint = d->restored.checkpoint;
	if (!r)
		r = daemon_run(d);
	bus_deinit(&d->bus);
	return r;
}

/* Block signals before the first thread is created, so that only the main loop handles them. */
static int create_event_loop(struct daemon_state *d)
{
	sigset_t mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	r = sd_event_default(&d->event);
	if (r >= 0)
		r = sd_event_add_signal(d->event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(d->event, NULL, SIGINT, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(d->event, NULL, SIGHUP, on_reload, d);
	return r;
}

/*
 * Fix the mmap threshold. By default, when a large block is freed, glibc raises the threshold to
 * the size of the block, up to 32 MiB. Then glibc retains free memory of up to twice the threshold,
 * such as the memory of a view or a checkpoint.
 */
static void fix_mmap_threshold(void)
{
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

int main(int argc, char **argv)
{
	struct daemon_state d = { .argc = argc, .argv = argv };
	struct session_config session = { 0 };
	char why[RELOAD_REASON];
	int r;

	fix_mmap_threshold();
	log_init();
	r = options_parse(argc, argv, &d.options, why);
	if (r)
		return r;
	if (create_event_loop(&d) < 0) {
		log_line(LOG_ERR, "the event loop could not be created");
		return EX_OSERR;
	}
	fd_store_read(&d.stored);
	r = plan_memory(&d);
	if (!r)
		r = open_machine_session(&d, &session);
	if (!r)
		r = start_worker(&d, &session);
	if (!r)
		r = serve_until_exit(&d);
	history_writer_free(d.history);
	worker_free(d.worker);
	checkpoint_free(d.checkpoint);
	rate_control_free(d.rate_control);
	sd_event_unref(d.event);
	return r == -EINTR ? 0 : r;
}
