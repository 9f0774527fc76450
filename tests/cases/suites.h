/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The suites of core/, for both runners. */
#ifndef SPE_CASES_SUITES_H
#define SPE_CASES_SUITES_H

#include "check.h"

/* Apply S to the name of each suite. The kernel runs all of them. */
#define SPE_SUITES(S) \
	S(window) \
	S(flight) \
	S(syndrome) \
	S(collection) \
	S(event_routing) \
	S(spu_config) \
	S(spu_sampling) \
	S(spu_record) \
	S(spu_buffer) \
	S(spu_filter) \
	S(spu_levels) \
	S(instruction) \
	S(instruction_property) \
	S(accesses) \
	S(collected) \
	S(spu_translation) \
	S(sysreg_access) \
	S(inject) \
	S(faults) \
	S(edges) \
	S(property) \
	S(opmodel) \
	S(synthetic)

#define SPE_SUITE_DECLARE(name) extern const struct spe_suite spe_suite_##name;
SPE_SUITES(SPE_SUITE_DECLARE)
#undef SPE_SUITE_DECLARE

#endif
