/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Public errata of cores that bias samples: they sample some instructions too often or too rarely. */
#ifndef SPEPROF_CORE_ERRATUM_H
#define SPEPROF_CORE_ERRATUM_H

#include "codec/env.h"

/* Size of the text of core_erratum_describe() with its NUL, bytes */
#define CORE_ERRATUM_SIZE 192

/**
 * core_erratum_describe() - describe the erratum of a core
 * @midr: MIDR_EL1 of the core; 0: unknown
 * @to: receives "CORE rNpN has erratum NUMBER: what it does"; "" if none is known
 *
 * Return: whether an erratum is known.
 */
bool core_erratum_describe(u64 midr, char to[static CORE_ERRATUM_SIZE]);

#endif
