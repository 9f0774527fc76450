// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check speprofd: whether it samples, with which source, and which abilities that source does not
 * have.
 */
#include <stdio.h>
#include <unistd.h>

#include "doctor.h"
#include "lib/bus-message.h"
#include "lib/session-list.h"
#include "lib/text.h"
#include "speprof-version.h"

static int call_properties(struct bus_connection *bus, const char *method,
			   sd_bus_message **ret_reply, const char *types, ...)
{
	va_list args;
	int status;

	va_start(args, types);
	status = bus_call_object(bus, BUS_PATH, "org.freedesktop.DBus.Properties", method,
				 ret_reply, types, args);
	va_end(args);
	return status;
}

static void query_version(struct bus_connection *bus, char *ret_version, size_t size)
{
	sd_bus_message *reply = NULL;
	const char *version;

	if (call_properties(bus, "Get", &reply, "ss", BUS_INTERFACE, "Version") == STATUS_OK &&
	    sd_bus_message_read(reply, "v", "s", &version) >= 0) {
		snprintf(ret_version, size, "%s", version);
		text_clean(ret_version);
	}
	sd_bus_message_unref(reply);
}

void daemon_query(struct daemon_answer *ret_answer)
{
	struct daemon_answer answer = { 0 };
	struct view view;
	struct bus_connection *bus;

	answer.status = bus_new_quiet(&bus);
	if (answer.status == STATUS_OK)
		answer.status = bus_get_view(bus, VIEW_CONTAINER, VIEW_SORT_SAMPLES, 1, &view);
	if (answer.status == STATUS_OK) {
		answer.header = view.header;
		view_clear(&view);
		query_version(bus, answer.version, sizeof(answer.version));
		if (!answer.header.running)
			session_get_running_names(bus, answer.sessions, sizeof(answer.sessions));
	} else if (bus) {
		snprintf(answer.error, sizeof(answer.error), "%s", bus_get_error(bus));
	}
	bus_free(bus);
	*ret_answer = answer;
}

void check_daemon(const struct examined_machine *machine, struct doctor_finding *f)
{
	const struct daemon_answer *daemon = &machine->daemon;

	switch (daemon->status) {
	case STATUS_OK:
		if (daemon->header.running)
			finding_set_fine(f, "speprofd samples with the source %.15s",
					 daemon->header.source);
		else if (*daemon->sessions)
			finding_set_note(
				f, CAUSE_STOPPED, "sudo speprof start",
				"session \"machine\" is stopped; SPUs still sample for: %.127s",
				daemon->sessions);
		else
			finding_set_fail(f, CAUSE_STOPPED, "sudo speprof start",
					 "speprofd runs, but sampling is stopped");
		break;
	case STATUS_NO_BUS:
		finding_set_fail(f, CAUSE_NO_BUS,
				 "sudo systemctl start dbus; in a container: speprof --bus "
				 "unix:path=/run/speprof/bus doctor",
				 "%.250s", daemon->error);
		break;
	case STATUS_NO_DAEMON:
		finding_set_fail(
			f, CAUSE_NO_DAEMON,
			"sudo systemctl enable --now speprofd; if it exits, see \"journalctl -u "
			"speprofd\"",
			"speprofd is not running, or does not answer");
		break;
	case STATUS_NO_RIGHT:
		finding_set_fail(
			f, CAUSE_NO_GROUP,
			"sudo usermod -aG speprof $USER, and log in again; or run this as root",
			"speprofd does not answer you: you are not in the group speprof");
		break;
	case STATUS_NO_MODULE:
	case STATUS_NO_SPE:
		finding_set_fail(
			f, CAUSE_NO_SOURCE,
			"resolve what is reported above, then \"sudo systemctl restart speprofd\"",
			"speprofd has no source of samples: %.250s", daemon->error);
		break;
	default:
		finding_set_unknown(f, "journalctl -u speprofd", "%.250s", daemon->error);
	}
}

void check_version(const struct examined_machine *machine, struct doctor_finding *f)
{
	const char *daemon = machine->daemon.version;
	char module[64] = "";

	machine_read_line(machine, "/sys/module/speprof/version", module, sizeof(module));
	if (!*daemon && machine->daemon.status == STATUS_OK)
		finding_set_unknown(f, "", "speprofd does not report its version");
	else if (!*daemon && !*module)
		finding_set_skipped(
			f, "no daemon and no module run; this command is " SPEPROF_VERSION);
	else if ((*daemon && strcmp(daemon, SPEPROF_VERSION)) ||
		 (*module && strcmp(module, SPEPROF_VERSION)))
		finding_set_note(
			f, CAUSE_VERSION,
			"upgrade the packages speprof and speprof-dkms, then \"sudo speprof module "
			"reload\" and \"sudo systemctl restart speprofd\"",
			"command " SPEPROF_VERSION ", daemon %s, loaded module %s",
			*daemon ? daemon : "not running", *module ? module : "none");
	else
		finding_set_fine(f, "all " SPEPROF_VERSION);
}

/* Report a reason that the daemon gives, if there is one. */
static void report_reason(const struct examined_machine *machine, const char *reason,
			  const char *good, enum cause cause, const char *fix,
			  struct doctor_finding *f)
{
	if (machine->daemon.status != STATUS_OK)
		finding_set_skipped(f, "speprofd does not answer");
	else if (!*reason)
		finding_set_fine(f, "%s", good);
	else
		finding_set_note(f, cause, fix, "%s", reason);
}

void check_source(const struct examined_machine *machine, struct doctor_finding *f)
{
	const struct view_header *header = &machine->daemon.header;

	if (machine->spu && header->backend == BACKEND_EMULATED)
		finding_set_note(
			f, CAUSE_SOURCE,
			"set Source=auto and Emulate=no in speprofd.conf, then \"sudo systemctl "
			"restart speprofd\"",
			"speprofd samples an emulated SPU, although the machine has hardware SPUs");
	else
		report_reason(machine, header->source_reason, header->source, CAUSE_SOURCE,
			      "see the checks module and driver", f);
}

void check_task_events(const struct examined_machine *machine, struct doctor_finding *f)
{
	report_reason(machine, machine->daemon.header.tasks_reason, machine->daemon.header.tasks,
		      CAUSE_TASK_EVENTS,
		      "for BPF: a kernel with BTF, CAP_BPF and CAP_PERFMON; for perf's side band: "
		      "kernel.perf_event_paranoid=2",
		      f);
}

void check_names(const struct examined_machine *machine, struct doctor_finding *f)
{
	report_reason(machine, machine->daemon.header.names_reason, "functions have names",
		      CAUSE_NAMES, "journalctl -u speprofd", f);
}
