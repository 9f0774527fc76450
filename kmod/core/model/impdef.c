// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "impdef.h"

/* In the order of SPE_CHOICE_*. */
static const struct spe_impdef choices[] = {
	{ "time_at_end", "D17.6",
	  "the timestamp is when the operation finished, not when it was taken" },
	{ "time_unknown", "D17.6, D18.2.9",
	  "with the system counter off a timestamp is UNKNOWN, not absent" },
	{ "pct_physical", "table D17-3",
	  "the reserved PCT 0b10 asks for physical time, not for virtual" },
	{ "part", "D17.6.4", "of several accesses a chosen part is profiled, not all" },
	{ "part_lowest_va", "D17.6.4",
	  "a chosen part of contiguous accesses has their lowest address, not its own" },
	{ "part_whole", "D17.6.4",
	  "events and total latency of a chosen part are the whole operation's" },
	{ "source_combined", "D17.6.4, D18.2.4",
	  "the data source is that of the farthest access, not of the chosen one" },
	{ "translation_overlap", "D17.6.4, D18.2.3",
	  "translation latency counts cycles in which another part accesses memory" },
	{ "exclusive_pa", "D17.6.4", "a Store-Exclusive that failed has its physical address" },
	{ "translation_zero", "D17.6.4",
	  "without the access or its address, translation latency is 0, not absent" },
	{ "hidden_events", "D17.6.4",
	  "the events of an access whose address is not output are recorded" },
	{ "store_early", "D18.2.6",
	  "stores finish before cache and socket events, which they do not have" },
	{ "atomic_source", "D18.2.4", "atomics that return no data have a data source" },
	{ "abort_source", "D18.2.4", "loads that end in an External abort have one too" },
	{ "isb_branch", "D17.6.3", "ISB is a branch to the next instruction" },
	{ "eret_spsr", "D17.6.3",
	  "the target's context of an illegal exception return is that of SPSR" },
	{ "not_taken_target", "D17.6.3", "a branch that is not taken has a target" },
	{ "pbt_sync", "D17.6.3.1",
	  "the previous branch may be an ISB, an exception or an exception return" },
	{ "pbt_across", "D17.6.3.1",
	  "and may be before the last Context synchronization event or exception" },
	{ "zva_cache", "D17.6.4", "DC ZVA, GVA and GZVA are cache maintenance, not stores" },
	{ "st64bv_source", "D17.6.4.4", "ST64BV and ST64BV0 have a data source" },
	{ "st64bv_early", "D17.6.4.4", "their total latency ends before the status is returned" },
	{ "tag_granule_va", "D17.6.4.1",
	  "the address of an Allocation Tag access is its granule's lowest" },
	{ "tag_granule_pa", "D17.6.4.1", "and so is its physical address" },
	{ "tcf_unchecked", "D18.2.1", "where Tag Check Faults are ignored, CH is 0" },
	{ "pat_unchecked", "D18.2.1", "an unchecked access has its Physical Address Tag" },
	{ "asimd", "D17.6.6",
	  "micro-ops of 128 bits that have an Advanced SIMD equivalent are that" },
	{ "multivector_other", "D17.6.6",
	  "without FEAT_SPE_SME, ZT and multi-vector operations are Other" },
	{ "sme_ls_unspecified", "D17.6.6",
	  "without it, SME loads and stores have unspecified registers" },
	{ "sve_prefetch_other", "D17.6.6", "an SVE prefetch is Other, not an SVE operation" },
	{ "lowest_active", "RNHSYR",
	  "the address of a contiguous SVE access is its lowest Active element's" },
	{ "inactive_va", "RNHSYR", "and is output though the element is Inactive" },
	{ "no_misspeculated", "D17.6.7, E[1]",
	  "operations on misspeculated paths are no part of the population" },
	{ "misspeculated_lost", "D17.6.7", "or are, and their records are not captured" },
	{ "nonarch", "D17.6.7",
	  "operations that relate to no instruction are part of the population" },
	{ "nonarch_kept", "D17.6.7", "and their records are captured" },
	{ "impdef_exc", "D17.6.10.1",
	  "operations with non-architectural exceptions are part of the population" },
	{ "impdef_exc_kept", "D17.6.10.1", "and their records are captured" },
	{ "impdef_exc_handled", "D17.6.10.1",
	  "which then record its handling: the operation retires" },
	{ "impdef_exc_e0", "D17.6.10.1", "or have E[0] set" },
	{ "wait_entry", "D18.2.3", "WFI and WFE are complete before the PE enters low power" },
	{ "wait_counts", "D18.2.3", "counters count in low power" },
	{ "wait_wakes", "D18.2.3", "sampling a WFI or WFE is a wake-up event" },
	{ "extended", "D18.2.1, D18.2.3", "Address and Counter packets have the extended header" },
	{ "filter_overlap_off", "PMSFCR_EL1",
	  "an event in PMSEVFR and PMSNEVFR turns both filters off" },
	{ "walk_ea", "D17.8.3", "an External abort on a walk that is an MMU fault sets EA" },
	{ "manages", "D17.8.3.1", "the SPU manages Access flag and dirty state before SPEv1p3" },
	{ "dirty_early", "D17.8.3.1", "it makes the next page dirty before it writes there" },
	{ "granule_varies", "D18.1.2", "the access granule changes from write to write" },
};
static_assert(ARRAY_SIZE(choices) == SPE_CHOICES, "each choice has its bit");

const struct spe_impdef *spe_impdef_get(unsigned int bit)
{
	return bit < SPE_CHOICES ? &choices[bit] : NULL;
}
SPE_EXPORT(spe_impdef_get);

int spe_impdef_find(const char *name)
{
	for (unsigned int bit = 0; bit < SPE_CHOICES; bit++)
		if (!strcmp(name, choices[bit].name))
			return (int)bit;
	return -ENOENT;
}
SPE_EXPORT(spe_impdef_find);
