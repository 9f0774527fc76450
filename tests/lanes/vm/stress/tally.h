/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counters of a fuzzer by kind of operation: how often it succeeded, and how often it was refused
 * for a reason of its own (not for an invalid descriptor). If all operations of a kind fail, or
 * none does, the fuzzer tests nothing: the counters show this.
 */
#ifndef TALLY_H
#define TALLY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

/* The requirements of a kind. */
#define TALLY_DONE	(1U << 0)
#define TALLY_REFUSED	(1U << 1)
#define TALLY_BOTH	(TALLY_DONE | TALLY_REFUSED)

/* In shared memory. All zero is a kind without requirements. */
struct tally {
	const char *way;
	const char *name;
	unsigned int demands;
	atomic_ullong done;
	atomic_ullong refused;
};

void tally_init(struct tally *tally, const char *way, const char *name, unsigned int demands);

void tally_add(struct tally *tally, bool is_done);

/* Return: how many kinds miss their requirements. Each is named on @out, unless that is NULL. */
unsigned int tally_lacking(const struct tally *tallies, unsigned int count, FILE *out);

/* Print the kinds with requirements as "WAY NAME done/refused", on one line. */
void tally_print(const struct tally *tallies, unsigned int count, FILE *out);

#endif
