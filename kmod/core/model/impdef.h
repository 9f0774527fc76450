/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Behaviours that the architecture leaves to implementations, with two alternatives each. Each is a
 * bit of &spe_spu_config.choices. 0 is the default; 1 is the alternative that impdef.c describes.
 */
#ifndef SPE_CORE_IMPDEF_H
#define SPE_CORE_IMPDEF_H

#include "codec/env.h"

#define SPE_CHOICE_TIME_AT_END	       SPE_BIT(0)
#define SPE_CHOICE_TIME_UNKNOWN	       SPE_BIT(1)
#define SPE_CHOICE_PCT_PHYSICAL	       SPE_BIT(2)
#define SPE_CHOICE_PART		       SPE_BIT(3)
#define SPE_CHOICE_PART_LOWEST_VA      SPE_BIT(4)
#define SPE_CHOICE_PART_WHOLE	       SPE_BIT(5)
#define SPE_CHOICE_SOURCE_COMBINED     SPE_BIT(6)
#define SPE_CHOICE_TRANSLATION_OVERLAP SPE_BIT(7)
#define SPE_CHOICE_EXCLUSIVE_PA	       SPE_BIT(8)
#define SPE_CHOICE_TRANSLATION_ZERO    SPE_BIT(9)
#define SPE_CHOICE_HIDDEN_EVENTS       SPE_BIT(10)
#define SPE_CHOICE_STORE_EARLY	       SPE_BIT(11)
#define SPE_CHOICE_ATOMIC_SOURCE       SPE_BIT(12)
#define SPE_CHOICE_ABORT_SOURCE	       SPE_BIT(13)
#define SPE_CHOICE_ISB_BRANCH	       SPE_BIT(14)
#define SPE_CHOICE_ERET_SPSR	       SPE_BIT(15)
#define SPE_CHOICE_NOT_TAKEN_TARGET    SPE_BIT(16)
#define SPE_CHOICE_PBT_SYNC	       SPE_BIT(17)
#define SPE_CHOICE_PBT_ACROSS	       SPE_BIT(18)
#define SPE_CHOICE_ZVA_CACHE	       SPE_BIT(19)
#define SPE_CHOICE_ST64BV_SOURCE       SPE_BIT(20)
#define SPE_CHOICE_ST64BV_EARLY	       SPE_BIT(21)
#define SPE_CHOICE_TAG_GRANULE_VA      SPE_BIT(22)
#define SPE_CHOICE_TAG_GRANULE_PA      SPE_BIT(23)
#define SPE_CHOICE_TCF_UNCHECKED       SPE_BIT(24)
#define SPE_CHOICE_PAT_UNCHECKED       SPE_BIT(25)
#define SPE_CHOICE_ASIMD	       SPE_BIT(26)
#define SPE_CHOICE_MULTIVECTOR_OTHER   SPE_BIT(27)
#define SPE_CHOICE_SME_LS_UNSPECIFIED  SPE_BIT(28)
#define SPE_CHOICE_SVE_PREFETCH_OTHER  SPE_BIT(29)
#define SPE_CHOICE_LOWEST_ACTIVE       SPE_BIT(30)
#define SPE_CHOICE_INACTIVE_VA	       SPE_BIT(31)
#define SPE_CHOICE_NO_MISSPECULATED    SPE_BIT(32)
#define SPE_CHOICE_MISSPECULATED_LOST  SPE_BIT(33)
#define SPE_CHOICE_NONARCH	       SPE_BIT(34)
#define SPE_CHOICE_NONARCH_KEPT	       SPE_BIT(35)
#define SPE_CHOICE_IMPDEF_EXC	       SPE_BIT(36)
#define SPE_CHOICE_IMPDEF_EXC_KEPT     SPE_BIT(37)
#define SPE_CHOICE_IMPDEF_EXC_HANDLED  SPE_BIT(38)
#define SPE_CHOICE_IMPDEF_EXC_E0       SPE_BIT(39)
#define SPE_CHOICE_WAIT_ENTRY	       SPE_BIT(40)
#define SPE_CHOICE_WAIT_COUNTS	       SPE_BIT(41)
#define SPE_CHOICE_WAIT_WAKES	       SPE_BIT(42)
#define SPE_CHOICE_EXTENDED	       SPE_BIT(43)
#define SPE_CHOICE_FILTER_OVERLAP_OFF  SPE_BIT(44)
#define SPE_CHOICE_WALK_EA	       SPE_BIT(45)
#define SPE_CHOICE_MANAGES	       SPE_BIT(46)
#define SPE_CHOICE_DIRTY_EARLY	       SPE_BIT(47)
#define SPE_CHOICE_GRANULE_VARIES      SPE_BIT(48)

#define SPE_CHOICES    49
#define SPE_CHOICE_ALL SPE_MASK(SPE_CHOICES - 1, 0)

/**
 * struct spe_impdef - describes a choice in scripts and messages
 * @name: its name
 * @where: the rule, section, table or register that leaves the choice open
 * @other: the behaviour if the bit is 1
 */
struct spe_impdef {
	const char *name;
	const char *where;
	const char *other;
};

/** spe_impdef_get() - describe choice @bit; NULL if @bit is not below SPE_CHOICES */
const struct spe_impdef *spe_impdef_get(unsigned int bit);

/** spe_impdef_find() - find a choice by its name; returns its bit, or -ENOENT */
int spe_impdef_find(const char *name);

#endif
