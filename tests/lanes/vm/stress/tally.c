// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tally.h"

void tally_init(struct errno_tally *tally, const char *way, const char *name, unsigned int demands)
{
	tally->way = way;
	tally->name = name;
	tally->demands = demands;
}

void tally_add(struct errno_tally *tally, bool is_done)
{
	atomic_fetch_add(is_done ? &tally->done : &tally->refused, 1);
}

static unsigned int tally_get_seen(const struct errno_tally *tally)
{
	return (atomic_load(&tally->done) ? TALLY_DONE : 0) |
	       (atomic_load(&tally->refused) ? TALLY_REFUSED : 0);
}

unsigned int tally_print_lacking(const struct errno_tally *tallies, unsigned int count, FILE *out)
{
	unsigned int lacking = 0;

	for (unsigned int i = 0; i < count; i++) {
		unsigned int missing = tallies[i].demands & ~tally_get_seen(&tallies[i]);

		if (!missing)
			continue;
		lacking++;
		if (out)
			fprintf(out, "%s %s was never %s\n", tallies[i].way, tallies[i].name,
				missing & TALLY_DONE ? "done" : "refused");
	}
	return lacking;
}

void tally_print(const struct errno_tally *tallies, unsigned int count, FILE *out)
{
	const char *between = "";

	for (unsigned int i = 0; i < count; i++) {
		if (!tallies[i].demands)
			continue;
		fprintf(out, "%s%s %s %llu/%llu", between, tallies[i].way, tallies[i].name,
			(unsigned long long)atomic_load(&tallies[i].done),
			(unsigned long long)atomic_load(&tallies[i].refused));
		between = ", ";
	}
	fputc('\n', out);
}
