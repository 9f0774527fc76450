// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speprof doctor: report why this machine cannot sample, or samples with limitations, and what to
 * do about it.
 */
#include "doctor.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/message.h"
#include "lib/options.h"
#include "lib/terminal.h"
#include "lib/text.h"
#include "verb.h"

/* Columns at which the id of a cause and its description begin */
#define COLUMN_ID    6
#define COLUMN_FOUND 24

static const struct {
	const char *json;
	const char *name;
	enum term_style ink;
} verdicts[VERDICTS] = {
	[VERDICT_FAIL] = { "fail", "FAIL", TERM_BAD },
	[VERDICT_NOTE] = { "note", "less", TERM_WARN },
	[VERDICT_UNKNOWN] = { "unknown", "?", TERM_WARN },
	[VERDICT_FINE] = { "ok", "ok", TERM_PLAIN },
	[VERDICT_SKIPPED] = { "skipped", "-", TERM_FAINT },
};

/**
 * struct diagnosis - the results of all checks
 * @findings: one for each of doctor_checks
 * @order: indices of @findings, the most severe first
 * @count: number of findings, indexed by &enum verdict
 * @cause: cause of the first finding, or CAUSE_UNCHECKED
 * @status: the exit status, &enum verb_exit_status
 */
struct diagnosis {
	struct doctor_finding *findings;
	size_t *order;
	size_t count[VERDICTS];
	enum cause cause;
	int status;
};

/* ---- Checking --------------------------------------------------------------------- */

static bool finding_is_more_severe(const struct doctor_finding *a, const struct doctor_finding *b)
{
	return a->verdict != b->verdict ? a->verdict < b->verdict : a->cause < b->cause;
}

static void diagnosis_sort(struct diagnosis *d)
{
	for (size_t i = 0; i < doctor_count; i++) {
		size_t k = i;

		for (; k && finding_is_more_severe(&d->findings[i], &d->findings[d->order[k - 1]]);
		     k--)
			d->order[k] = d->order[k - 1];
		d->order[k] = i;
	}
}

static int diagnosis_run_checks(const struct examined_machine *machine, struct diagnosis *d)
{
	const struct doctor_finding *first;

	*d = (struct diagnosis){ 0 };
	d->findings = calloc(doctor_count, sizeof(*d->findings));
	d->order = calloc(doctor_count, sizeof(*d->order));
	if (!d->findings || !d->order)
		return message_fail(STATUS_FAILED, "out of memory");
	for (size_t i = 0; i < doctor_count; i++) {
		doctor_checks[i].run(machine, &d->findings[i]);
		d->count[d->findings[i].verdict]++;
	}
	diagnosis_sort(d);
	first = &d->findings[d->order[0]];
	d->cause = first->cause;
	d->status = finding_get_status(first);
	if (first->verdict == VERDICT_UNKNOWN) {
		d->cause = CAUSE_UNCHECKED;
		/*
		 * If a driver has the SPUs, the SPUs work, even if some checks could not be done.
		 */
		d->status = machine->spu ? STATUS_OK : STATUS_FAILED;
	}
	return STATUS_OK;
}

static void diagnosis_deinit(struct diagnosis *d)
{
	free(d->findings);
	free(d->order);
}

/* ---- JSON -------------------------------------------------------------------------- */

static void add_text(json_object *to, const char *key, const char *text)
{
	json_object_object_add(to, key, json_object_new_string(text));
}

static json_object *make_finding_json(const struct doctor_check *check,
				      const struct doctor_finding *finding)
{
	json_object *json = json_object_new_object();

	add_text(json, "name", check->name);
	add_text(json, "verdict", verdicts[finding->verdict].json);
	add_text(json, "cause", cause_get_id(finding->cause));
	json_object_object_add(json, "status", json_object_new_int(finding_get_status(finding)));
	add_text(json, "found", finding->found);
	add_text(json, "why", check->why);
	add_text(json, "fix", finding->fix);
	return json;
}

static void print_json(const struct diagnosis *d)
{
	json_object *json = json_object_new_object(), *list = json_object_new_array();

	for (size_t i = 0; i < doctor_count; i++)
		json_object_array_add(list, make_finding_json(&doctor_checks[d->order[i]],
							      &d->findings[d->order[i]]));
	json_object_object_add(json, "schema_version", json_object_new_int(1));
	json_object_object_add(json, "status", json_object_new_int(d->status));
	add_text(json, "cause", cause_get_id(d->cause));
	json_object_object_add(json, "checks", list);
	puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(json);
}

/* ---- Text -------------------------------------------------------------------------- */

/* Print words from column @at on, and wrap lines to that column; no wrapping if @width is 0. */
static void print_words(const char *text, size_t at, size_t width)
{
	size_t used = at;

	while (*text) {
		char word[sizeof(((struct doctor_finding *)NULL)->found)];
		size_t len = strcspn(text, " "), columns;

		snprintf(word, sizeof(word), "%.*s", (int)len, text);
		columns = text_get_width(word);
		if (used > at && width && used + 1 + columns > width) {
			printf("\n%*s", (int)at, "");
			used = at;
		}
		if (used > at)
			putchar(' ');
		used += columns + (used > at);
		fputs(word, stdout);
		text += len + (text[len] == ' ');
	}
	putchar('\n');
}

static void print_finding(const struct doctor_check *check, const struct doctor_finding *finding,
			  bool colour, size_t width)
{
	const char *id = finding->cause ? cause_get_id(finding->cause) : check->name;
	char column[TEXT_SIZE];

	text_fit(verdicts[finding->verdict].name, COLUMN_ID, false, column);
	term_print(stdout, colour, verdicts[finding->verdict].ink, column);
	text_fit(id, COLUMN_FOUND - COLUMN_ID, false, column);
	fputs(column, stdout);
	print_words(finding->found, COLUMN_FOUND, width);
	if (!*finding->fix)
		return;
	printf("%*sfix: ", COLUMN_FOUND - 5, "");
	print_words(finding->fix, COLUMN_FOUND, width);
}

/* Print only the names of checks that need no attention; -j prints the details. */
static void print_names(const struct diagnosis *d, enum verdict verdict, const char *heading,
			bool colour, size_t width)
{
	char names[1024] = "", column[TEXT_SIZE];
	size_t used = 0;

	for (size_t i = 0; i < doctor_count; i++)
		if (d->findings[d->order[i]].verdict == verdict && used < sizeof(names))
			used += snprintf(names + used, sizeof(names) - used, "%s%s",
					 used ? " " : "", doctor_checks[d->order[i]].name);
	if (!used)
		return;
	text_fit(heading, COLUMN_FOUND, false, column);
	term_print(stdout, colour, verdicts[verdict].ink, column);
	print_words(names, COLUMN_FOUND, width);
}

static void print_verdict(const struct examined_machine *machine, const struct diagnosis *d,
			  bool colour)
{
	char text[160];

	if (d->count[VERDICT_FAIL])
		snprintf(text, sizeof(text), "%s: %s (exit status %d)",
			 d->status == STATUS_NO_SPE ? "SPE does not work here" :
						      "SPE works here, but nothing is sampled",
			 cause_get_id(d->cause), d->status);
	else if (d->cause)
		snprintf(text, sizeof(text), "%s: %s (exit status %d)",
			 !machine->spu ? "It is unknown whether SPE works here" :
			 d->cause == CAUSE_UNCHECKED ?
					 "SPE works here, but not everything could be checked" :
					 "SPE works here, but could work better",
			 cause_get_id(d->cause), d->status);
	else
		snprintf(text, sizeof(text), "SPE works here, and nothing is missing");
	term_print(stdout, colour,
		   d->count[VERDICT_FAIL] ? TERM_BAD :
		   d->cause		  ? TERM_WARN :
					    TERM_STRONG,
		   text);
	putchar('\n');
}

static void print_text(const struct examined_machine *machine, const struct diagnosis *d)
{
	bool colour = term_uses_colour();
	size_t width, height;

	term_get_size(&width, &height);
	/* Do not wrap if the terminal is too narrow for the margin. */
	if (width < COLUMN_FOUND * 2)
		width = 0;
	print_verdict(machine, d, colour);
	for (size_t i = 0; i < doctor_count; i++)
		if (d->findings[d->order[i]].verdict <= VERDICT_UNKNOWN)
			print_finding(&doctor_checks[d->order[i]], &d->findings[d->order[i]],
				      colour, width);
	print_names(d, VERDICT_FINE, "ok", colour, width);
	print_names(d, VERDICT_SKIPPED, "-     not applicable", colour, width);
}

int doctor_run(int argc, char **argv)
{
	struct diagnosis diagnosis;
	struct options options;
	struct examined_machine machine;
	int status;

	status = options_parse(argc, argv, "jR", &options);
	if (status)
		return status;
	machine_init(&machine, options.root);
	status = diagnosis_run_checks(&machine, &diagnosis);
	if (status == STATUS_OK) {
		if (options.json)
			print_json(&diagnosis);
		else
			print_text(&machine, &diagnosis);
		status = diagnosis.status;
	}
	diagnosis_deinit(&diagnosis);
	machine_deinit(&machine);
	return status;
}
