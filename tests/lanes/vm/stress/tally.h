/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a fuzzer has tried, by kind: how often it was done, and how often refused for a reason
 * of its own (not for a descriptor that was none). A fuzzer whose every draw fails alike, or never
 * fails, tries nothing: the tally says which.
 */
#ifndef TALLY_H
#define TALLY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

/* What is demanded of a kind. */
#define TALLY_DONE	(1U << 0)
#define TALLY_REFUSED	(1U << 1)
#define TALLY_BOTH	(TALLY_DONE | TALLY_REFUSED)

/* In memory that processes share; all zero is a kind of which nothing is demanded. */
struct tally {
	const char *way;
	const char *name;
	unsigned int demands;
	atomic_ullong done;
	atomic_ullong refused;
};

void tally_init(struct tally *tally, const char *way, const char *name, unsigned int demands);

void tally_add(struct tally *tally, bool is_done);

/* How many kinds lack what is demanded; each is named on @out, unless that is NULL. */
unsigned int tally_lacking(const struct tally *tallies, unsigned int count, FILE *out);

/* Those of which anything is demanded, "WAY NAME done/refused", on one line. */
void tally_print(const struct tally *tallies, unsigned int count, FILE *out);

#endif
