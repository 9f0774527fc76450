// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "impdef.h"

/* Names in the order of SPE_CHOICE_* */
static const struct spe_impdef choices[] = {
	{ "time_at_end", "D17.6",
	  "the timestamp is the time at which the operation finished, not at which it was "
	  "sampled" },
	{ "time_unknown", "D17.6, D18.2.9",
	  "while the system counter is off, a timestamp is UNKNOWN, not absent" },
	{ "pct_physical", "table D17-3",
	  "the reserved PCT 0b10 selects physical time, not virtual time" },
	{ "part", "D17.6.4",
	  "if an operation has several accesses, one chosen part is profiled, not all" },
	{ "part_lowest_va", "D17.6.4",
	  "a chosen part of contiguous accesses has their lowest address, not its own" },
	{ "part_whole", "D17.6.4",
	  "events and total latency of a chosen part are those of the whole operation" },
	{ "source_combined", "D17.6.4, D18.2.4",
	  "the data source is that of the farthest access, not of the chosen one" },
	{ "translation_overlap", "D17.6.4, D18.2.3",
	  "translation latency includes cycles in which another part accesses memory" },
	{ "exclusive_pa", "D17.6.4", "a Store-Exclusive that failed has its physical address" },
	{ "translation_zero", "D17.6.4",
	  "without an access or its address, translation latency is 0, not absent" },
	{ "hidden_events", "D17.6.4",
	  "the events of an access are recorded even if its address is not output" },
	{ "store_early", "D18.2.6",
	  "a store finishes early, so it has no cache and socket events" },
	{ "atomic_source", "D18.2.4",
	  "an atomic operation that returns no data has a data source" },
	{ "abort_source", "D18.2.4", "a load that ends in an External abort has a data source" },
	{ "isb_branch", "D17.6.3", "an ISB is a branch to the next instruction" },
	{ "eret_spsr", "D17.6.3",
	  "after an illegal exception return, the target's context is that of SPSR" },
	{ "not_taken_target", "D17.6.3", "a branch that is not taken has a target" },
	{ "pbt_sync", "D17.6.3.1",
	  "the previous branch may be an ISB, an exception or an exception return" },
	{ "pbt_across", "D17.6.3.1",
	  "the previous branch may precede the last Context synchronization event or exception" },
	{ "zva_cache", "D17.6.4", "DC ZVA, GVA and GZVA are cache maintenance, not stores" },
	{ "st64bv_source", "D17.6.4.4", "ST64BV and ST64BV0 have a data source" },
	{ "st64bv_early", "D17.6.4.4",
	  "the total latency of ST64BV and ST64BV0 ends before the status is returned" },
	{ "tag_granule_va", "D17.6.4.1",
	  "the virtual address of an Allocation Tag access is the lowest of its granule" },
	{ "tag_granule_pa", "D17.6.4.1",
	  "the physical address of an Allocation Tag access is the lowest of its granule" },
	{ "tcf_unchecked", "D18.2.1", "while Tag Check Faults are ignored, CH is 0" },
	{ "pat_unchecked", "D18.2.1", "an unchecked access has its Physical Address Tag" },
	{ "asimd", "D17.6.6",
	  "a 128-bit micro-op with an Advanced SIMD equivalent is recorded as Advanced SIMD" },
	{ "multivector_other", "D17.6.6",
	  "without FEAT_SPE_SME, ZT and multi-vector operations are Other" },
	{ "sme_ls_unspecified", "D17.6.6",
	  "without FEAT_SPE_SME, SME loads and stores have unspecified registers" },
	{ "sve_prefetch_other", "D17.6.6", "an SVE prefetch is Other, not an SVE operation" },
	{ "lowest_active", "RNHSYR",
	  "the address of a contiguous SVE access is that of its lowest Active element" },
	{ "inactive_va", "RNHSYR",
	  "the address of a contiguous SVE access is output even if the element is Inactive" },
	{ "no_misspeculated", "D17.6.7, E[1]",
	  "operations on misspeculated paths are not part of the population" },
	{ "misspeculated_lost", "D17.6.7",
	  "operations on misspeculated paths are part of the population, but their records are "
	  "lost" },
	{ "nonarch", "D17.6.7",
	  "operations that belong to no instruction are part of the population" },
	{ "nonarch_kept", "D17.6.7", "operations that belong to no instruction are recorded" },
	{ "impdef_exc", "D17.6.10.1",
	  "operations with non-architectural exceptions are part of the population" },
	{ "impdef_exc_kept", "D17.6.10.1",
	  "operations with non-architectural exceptions are recorded" },
	{ "impdef_exc_handled", "D17.6.10.1",
	  "the record of such an operation includes the exception's handling: the operation "
	  "retires" },
	{ "impdef_exc_e0", "D17.6.10.1", "the record of such an operation has E[0] set" },
	{ "wait_entry", "D18.2.3", "WFI and WFE are complete before the PE enters low power" },
	{ "wait_counts", "D18.2.3", "counters count in low power" },
	{ "wait_wakes", "D18.2.3", "sampling a WFI or WFE is a wake-up event" },
	{ "extended", "D18.2.1, D18.2.3", "Address and Counter packets have the extended header" },
	{ "filter_overlap_off", "PMSFCR_EL1",
	  "an event in both PMSEVFR and PMSNEVFR disables both filters" },
	{ "walk_ea", "D17.8.3",
	  "an External abort on a walk that is reported as an MMU fault sets EA" },
	{ "manages", "D17.8.3.1", "the SPU manages Access flag and dirty state before SPEv1p3" },
	{ "dirty_early", "D17.8.3.1", "the SPU makes the next page dirty before it writes there" },
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
