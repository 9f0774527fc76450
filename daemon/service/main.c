// SPDX-License-Identifier: LGPL-2.1-or-later
/* speprofd: chooses a source, starts its worker, serves the bus. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "bus.h"
#include "config.h"
#include "source-open.h"
#include "worker.h"

#define DEFAULT_CONFIG "/etc/speprof/speprofd.conf"

struct options {
	const char *config_path;
	const char *bus_address;
	struct config config;
};

static void __attribute__((format(printf, 2, 3))) complain(const char *level, const char *fmt, ...)
{
	va_list ap;

	/* The journal reads the level; a terminal should not show it. */
	fprintf(stderr, "%sspeprofd: ", sd_booted() > 0 && getenv("JOURNAL_STREAM") ? level : "");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static void usage(FILE *to)
{
	fputs("speprofd - profile this machine with the Arm Statistical Profiling Extension\n\n"
	      "  --config FILE    read FILE instead of " DEFAULT_CONFIG "\n"
	      "  --set KEY=VALUE  override a setting of the file\n"
	      "  --bus ADDRESS    serve on a private bus instead of the system's\n"
	      "  --version        print the version\n"
	      "  --help           print this\n",
	      to);
}

static int set_override(struct config *config, const char *text)
{
	struct config_error error;
	char key[64];
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || (size_t)(equals - text) >= sizeof(key)) {
		complain(SD_ERR, "--set %s: should be KEY=VALUE", text);
		return EX_USAGE;
	}
	memcpy(key, text, (size_t)(equals - text));
	key[equals - text] = 0;
	if (config_set(config, key, equals + 1, &error) < 0) {
		complain(SD_ERR, "--set: %s", error.text);
		return EX_USAGE;
	}
	return 0;
}

static int read_config(struct options *o, bool named)
{
	struct config_error error;
	int r = config_read(&o->config, o->config_path, &error);

	if (r >= 0 || (r == -ENOENT && !named))
		return 0;
	if (error.line)
		complain(SD_ERR, "%s:%u: %s", o->config_path, error.line, error.text);
	else
		complain(SD_ERR, "%s: %s", o->config_path, error.text);
	return r == -EINVAL ? EX_CONFIG : EX_NOINPUT;
}

enum { OPT_CONFIG = 256, OPT_SET, OPT_BUS, OPT_VERSION, OPT_HELP };

static const struct option long_options[] = {
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "set", required_argument, NULL, OPT_SET },
	{ "bus", required_argument, NULL, OPT_BUS },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

/* Twice over the options: --set overrides the file wherever it stands. */
static int parse_options(int argc, char **argv, struct options *o)
{
	bool named;
	int c, r = 0;

	while (!r && (c = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		switch (c) {
		case OPT_CONFIG:
			o->config_path = optarg;
			break;
		case OPT_BUS:
			o->bus_address = optarg;
			break;
		case OPT_SET:
			break;
		case OPT_VERSION:
			puts("speprofd " SPEPROF_VERSION);
			exit(0);
		case OPT_HELP:
			usage(stdout);
			exit(0);
		default:
			return EX_USAGE;
		}
	}
	if (optind < argc) {
		complain(SD_ERR, "%s: no such argument; see --help", argv[optind]);
		return EX_USAGE;
	}
	named = o->config_path != NULL;
	if (!named)
		o->config_path = DEFAULT_CONFIG;
	r = read_config(o, named);
	optind = 1;
	while (!r && (c = getopt_long(argc, argv, "", long_options, NULL)) >= 0)
		if (c == OPT_SET && optarg)
			r = set_override(&o->config, optarg);
	return r;
}

/* Records do not say whose they are: who ran when must. */
static void follow_switches(struct task_events *tasks, struct task_events_status *status)
{
	char why[TASK_EVENTS_REASON] = "there are no task events";
	size_t n = strlen(status->reason);

	if (tasks && task_events_follow(tasks, why) >= 0)
		return;
	snprintf(status->reason + n, sizeof(status->reason) - n,
		 "%sno context switches, so that no sample is attributed: %s", n ? "; " : "", why);
}

/* Not worth failing for: what is missing is said here, and in the status for as long as it runs. */
static struct task_events *open_tasks(const struct config *c, struct task_events_status *status)
{
	static const char *const lacks[] = {
		[TASK_EVENTS_PROC] = "tasks that live less than a quarter of a second will be "
				     "unattributed",
		[TASK_EVENTS_PERF] = "who moves to another container is seen a second later",
		[TASK_EVENTS_BPF] = "what is mapped is read in /proc",
	};
	struct task_events *tasks = NULL;

	task_events_new(c->task_events, &tasks, status);
	if (!c->contexts)
		follow_switches(tasks, status);
	if (*status->reason)
		complain(SD_WARNING, "%s: %s", lacks[status->kind], status->reason);
	return tasks;
}

#define STATUS_SIZE 128

/* For "systemctl status": what is sampled, and how it is read. */
static int describe(struct worker_state *state, void *arg)
{
	const struct session *machine = worker_session(state, NULL);
	const struct source *source = machine->feed->source;

	snprintf(arg, STATUS_SIZE, "Sampling %u CPU%s, %s SPU%s, source %s%s%s.", source->cpus,
		 source->cpus == 1 ? "" : "s",
		 source->backend == BACKEND_EMULATED ? "emulated" : "hardware",
		 source->cpus == 1 ? "" : "s", source->ops->name, source->by ? ", by " : "",
		 source->by ? source->by : "");
	return 0;
}

static int serve(const struct options *o, sd_event *event, struct worker *worker)
{
	char status[STATUS_SIZE];
	struct bus bus;
	int r;

	r = bus_init(&bus, event, o->bus_address, worker, &o->config);
	if (r < 0) {
		complain(SD_ERR, r == -EEXIST ? "another speprofd has the name " BUS_NAME " on %s" :
				 r == -EACCES || r == -EPERM ?
				 "no right to the name " BUS_NAME " on %s: is the bus policy installed?" :
				 "no connection to %s",
			 o->bus_address ? o->bus_address : "the system bus");
		return EX_UNAVAILABLE;
	}
	r = worker_call(worker, worker_start, NULL);
	if (r < 0) {
		complain(SD_ERR, "sampling could not be enabled: %s", strerror(-r));
		bus_deinit(&bus);
		return EX_UNAVAILABLE;
	}
	worker_call(worker, describe, status);
	sd_notifyf(0, "READY=1\nSTATUS=%s", status);
	r = sd_event_loop(event);
	sd_notify(0, "STOPPING=1");
	bus_deinit(&bus);
	return r < 0 ? EX_OSERR : 0;
}

/* Before any thread is there, so that all of them leave signals to the loop. */
static int make_event(sd_event **ret_event)
{
	sigset_t mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	r = sd_event_default(ret_event);
	if (r >= 0)
		r = sd_event_add_signal(*ret_event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(*ret_event, NULL, SIGINT, NULL, NULL);
	if (r >= 0)
		r = sd_event_set_watchdog(*ret_event, 1);
	return r;
}

/* The session of the configuration: what the machine does, from start to end. */
static int open_machine(const struct config *c, struct session_config *ret_session)
{
	struct session_config session = { .name = SESSION_MACHINE };
	const struct source_config sampling = source_sampling(c);
	struct source *source = NULL;
	struct filter_error error = { 0 };
	struct config_lists lists;
	struct source_said said;
	int r;

	if (config_lists(c, &lists) < 0)
		return EX_OSERR;
	/* config_set() has seen that the expression parses, alone. */
	r = session_rule_new(&lists.lists, c->filter, NULL, &session.rule, &error);
	config_lists_clear(&lists);
	if (r < 0) {
		complain(SD_ERR, "Filter=: %s", r == -EINVAL ? error.text : strerror(-r));
		return r == -EINVAL ? EX_CONFIG : EX_OSERR;
	}
	r = source_open(c, &sampling, &source, &said) < 0 ? said.status : 0;
	if (*said.text)
		complain(r ? SD_ERR : SD_NOTICE, "%s", said.text);
	if (!r && feed_new(source, &sampling, &session.feed) < 0) {
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

/* What the SPU leaves out nobody can count, so that it is said. */
static int tell_filter(struct worker_state *state, void *arg __attribute__((unused)))
{
	const struct session *machine = worker_session(state, NULL);
	struct source_config config = { 0 };
	const char *parts;

	if (!machine->rule->filter)
		return 0;
	parts = filter_hardware(machine->rule->filter, &config);
	if (machine->feed->source->filters)
		complain(SD_INFO, "Filter=%s: %s also in the SPU", machine->rule->expression, parts);
	else
		complain(SD_INFO, "Filter=%s: in the daemon alone%s", machine->rule->expression,
			 *parts ? ", as this SPU cannot filter so" : "");
	return 0;
}

/* Only once there is a source: without, what tells of tasks would not be worth a word. */
static int start_worker(const struct config *c, struct session_config *session,
			struct worker **ret_worker)
{
	struct task_events_status told = { 0 };
	struct task_events *tasks = open_tasks(c, &told);
	struct worker *worker = NULL;

	if (worker_new(tasks, &told, &worker) < 0)
		task_events_free(tasks);
	else if (worker_call(worker, worker_add, session) >= 0) {
		worker_call(worker, tell_filter, NULL);
		*ret_worker = worker;
		return 0;
	}
	worker_free(worker);
	feed_put(session->feed);
	session_rule_free(session->rule);
	complain(SD_ERR, "the worker could not be started");
	return EX_OSERR;
}

int main(int argc, char **argv)
{
	struct options o = { .config = CONFIG_DEFAULT };
	struct session_config session = { 0 };
	struct worker *worker = NULL;
	sd_event *event = NULL;
	int r;

	r = parse_options(argc, argv, &o);
	if (r)
		return r;
	if (make_event(&event) < 0) {
		complain(SD_ERR, "no event loop");
		return EX_OSERR;
	}
	r = open_machine(&o.config, &session);
	if (!r)
		r = start_worker(&o.config, &session, &worker);
	if (!r)
		r = serve(&o, event, worker);
	worker_free(worker);
	sd_event_unref(event);
	return r;
}
