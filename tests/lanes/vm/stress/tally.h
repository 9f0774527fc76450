/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Count for each kind of operation of a fuzzer the calls that succeeded, and the calls that failed
 * for a reason that is specific to the operation (not for an invalid descriptor). If all operations
 * of a kind fail, or all succeed, the fuzzer does not test that kind. The counters detect this.
 */
#ifndef TALLY_H
#define TALLY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

/* requirements of a kind of operation: a call must have succeeded, been refused, or both */
#define TALLY_DONE	(1U << 0)
#define TALLY_REFUSED	(1U << 1)
#define TALLY_BOTH	(TALLY_DONE | TALLY_REFUSED)

/*
 * The counters and requirements of a kind, in shared memory. If all fields are zero, the kind has
 * no requirements.
 */
struct errno_tally {
	const char *way;
	const char *name;
	unsigned int demands;
	atomic_ullong done;
	atomic_ullong refused;
};

void tally_init(struct errno_tally *tally, const char *way, const char *name, unsigned int demands);

void tally_add(struct errno_tally *tally, bool is_done);

/*
 * Return the number of kinds with unsatisfied requirements. Their names are printed to @out, unless
 * that is NULL.
 */
unsigned int tally_print_lacking(const struct errno_tally *tallies, unsigned int count, FILE *out);

/* Print the kinds that have requirements as "WAY NAME done/refused", on one line. */
void tally_print(const struct errno_tally *tallies, unsigned int count, FILE *out);

#endif
