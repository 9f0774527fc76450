// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core-erratum.h"

#include <stdio.h>

/*
 * The errata, and the last variant and revision of the core with the erratum. Arm's errata notices
 * have the numbers.
 */
static const struct {
	u32 part; /* MIDR_EL1.Implementer and PartNum, without variant and revision */
	u32 last; /* (Variant << 4 | Revision) of the last core with the erratum */
	const char *core;
	const char *found;
} errata[] = {
	{ 0x410fd0c0, 0x40, "Neoverse N1",
	  "erratum 1694299: too many samples at targets of branches, too few at some "
	  "instructions after them" },
};

bool core_erratum_describe(u64 midr, char to[static CORE_ERRATUM_SIZE])
{
	u32 value = (u32)midr, revision = (value >> 16 & 0xf0) | (value & 0xf);

	*to = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(errata); i++) {
		if ((value & 0xff0ffff0) != errata[i].part || revision > errata[i].last)
			continue;
		snprintf(to, CORE_ERRATUM_SIZE, "%s r%up%u has %s", errata[i].core, revision >> 4,
			 revision & 0xf, errata[i].found);
		return true;
	}
	return false;
}
