// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof doctor: why this machine can or cannot sample, and what to do.
 */
#include "doctor.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "options.h"
#include "term.h"
#include "text.h"

static const struct {
	const char *name;
	enum term_ink ink;
} verdicts[VERDICTS] = {
	[VERDICT_FINE] = { "ok", TERM_PLAIN },
	[VERDICT_NOTE] = { "note", TERM_WARN },
	[VERDICT_FAIL] = { "FAIL", TERM_BAD },
	[VERDICT_SKIPPED] = { "-", TERM_FAINT },
};

static void finding_print(const struct check *check, const struct finding *finding, bool colour)
{
	char verdict[TEXT_SIZE];

	text_fit(verdicts[finding->verdict].name, 4, false, verdict);
	term_ink(stdout, colour, verdicts[finding->verdict].ink, verdict);
	printf("  %-12s  %s\n", check->name, finding->found);
	if (finding->verdict != VERDICT_NOTE && finding->verdict != VERDICT_FAIL)
		return;
	printf("      why:        %s\n", check->why);
	if (*finding->fix)
		printf("      fix:        %s\n", finding->fix);
}

static json_object *finding_json(const struct check *check, const struct finding *finding)
{
	static const char *const names[VERDICTS] = {
		[VERDICT_FINE] = "ok",
		[VERDICT_NOTE] = "note",
		[VERDICT_FAIL] = "fail",
		[VERDICT_SKIPPED] = "skipped",
	};
	json_object *json = json_object_new_object();

	json_object_object_add(json, "name", json_object_new_string(check->name));
	json_object_object_add(json, "verdict", json_object_new_string(names[finding->verdict]));
	json_object_object_add(json, "found", json_object_new_string(finding->found));
	json_object_object_add(json, "why", json_object_new_string(check->why));
	json_object_object_add(json, "fix", json_object_new_string(finding->fix));
	return json;
}

static void machine_init(struct machine *machine, const char *root)
{
	struct utsname name;

	*machine = (struct machine){ .root = root };
	if (machine_read(machine, "/proc/sys/kernel/osrelease", machine->release,
			 sizeof(machine->release)) < 0)
		snprintf(machine->release, sizeof(machine->release), "%s",
			 *root || uname(&name) < 0 ? "unknown" : name.release);
}

int doctor_run(int argc, char **argv)
{
	const char *root = getenv("SPEPROF_SYSROOT");
	json_object *json, *list;
	struct options options;
	struct machine machine;
	int status, first = STATUS_OK;

	status = options_parse(argc, argv, "jR", &options);
	if (status)
		return status;
	machine_init(&machine, *options.root || !root ? options.root : root);
	json = json_object_new_object();
	list = json_object_new_array();
	for (size_t i = 0; i < doctor_count; i++) {
		struct finding finding = { 0 };

		doctor_checks[i].look(&machine, &finding);
		if (finding.verdict == VERDICT_FAIL && first == STATUS_OK)
			first = finding.status;
		json_object_array_add(list, finding_json(&doctor_checks[i], &finding));
		if (!options.json)
			finding_print(&doctor_checks[i], &finding, term_colour());
	}
	json_object_object_add(json, "schema_version", json_object_new_int(1));
	json_object_object_add(json, "status", json_object_new_int(first));
	json_object_object_add(json, "checks", list);
	if (options.json)
		puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(json);
	return first;
}
