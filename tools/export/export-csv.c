// SPDX-License-Identifier: LGPL-2.1-or-later
#include "export-csv.h"

#include <math.h>

#include "codec/payload.h"

static bool begins_formula(const char *text)
{
	text += strspn(text, " ");
	return *text && strchr("=+-@", *text);
}

/* Print a name, or nothing for "-", which stands for a missing name. */
static void print_name(FILE *out, const char *name)
{
	if (strcmp(name, "-") == 0)
		return;
	fputc('"', out);
	if (begins_formula(name))
		fputc('\'', out);
	for (; *name; name++) {
		if (*name == '"')
			fputc('"', out);
		export_print_byte(out, *name);
		if (*name == ';' && begins_formula(name + 1))
			fputc('\'', out);
	}
	fputc('"', out);
}

/* Print counts as integers: a double represents them exactly up to 2^53. */
static void print_number(FILE *out, double value)
{
	if (isnan(value))
		return;
	fprintf(out, value == floor(value) ? "%.0f" : "%.6f", value);
}

/*
 * Return whether a measure has a column: bits of the Events packet without an architected name have
 * none.
 */
static bool measure_has_name(enum measure measure)
{
	return measure < MEASURE_EVENT || spe_event_name((u8)(measure - MEASURE_EVENT));
}

void csv_print_heading(FILE *out, const struct export_columns *columns)
{
	char name[MEASURE_NAME_SIZE];

	for (u32 i = 0; i < columns->names; i++)
		fprintf(out, "%s,", columns->name[i]);
	fputs("share,", out);
	for (enum measure i = 0; i < MEASURES; i++) {
		if (!measure_has_name(i))
			continue;
		measure_format_name(i, name);
		fprintf(out, "%s,", name);
	}
	fputs("operations_are,backend\r\n", out);
}

void csv_print_row(FILE *out, const struct export_columns *columns, const struct export_row *row)
{
	for (u32 i = 0; i < columns->names; i++) {
		/* Line numbers are printed without quotes; an unknown one is empty. */
		if (columns->line && i == columns->line && strcmp(row->name[i], "-") != 0)
			fputs(row->name[i], out);
		else
			print_name(out, row->name[i]);
		fputc(',', out);
	}
	print_number(out, row->share);
	fputc(',', out);
	for (enum measure i = 0; i < MEASURES; i++) {
		if (!measure_has_name(i))
			continue;
		print_number(out, row->measure[i]);
		fputc(',', out);
	}
	fprintf(out, "%s,%s\r\n", columns->unit, columns->backend);
}
