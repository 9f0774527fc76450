// SPDX-License-Identifier: LGPL-2.1-or-later
#include "export-folded.h"

static void print_frame(FILE *out, const char *name)
{
	for (; *name; name++) {
		if (*name == ';')
			fputs("\\x3b", out);
		else
			export_print_byte(out, *name);
	}
}

/* The frame marks modelled values, so that no program shows them as measured ones. */
static void print_root(FILE *out, const struct export_columns *columns)
{
	if (strcmp(columns->backend, "emulated") == 0)
		fputs("[emulated];", out);
}

void folded_print_row(FILE *out, const struct export_columns *columns, const struct export_row *row)
{
	double value = row->measure[columns->sort];

	/* "value >= 1" is also false for NAN. */
	if (!(value >= 1))
		return;
	print_root(out, columns);
	for (u32 i = 0; i < columns->names; i++) {
		bool is_line = columns->line && i == columns->line;

		/* A file and its line are one frame. */
		if (is_line && strcmp(row->name[i], "-") == 0)
			continue;
		if (i)
			fputc(is_line ? ':' : ';', out);
		print_frame(out, row->name[i]);
	}
	fprintf(out, " %.0f\n", value);
}

void folded_print_rest(FILE *out, const struct export_columns *columns, double value)
{
	if (value < 1)
		return;
	print_root(out, columns);
	fprintf(out, "[other] %.0f\n", value);
}
