/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Translation of buffer writes as far as it shows: which fault a Block or Page descriptor
 * gives (table D17-11), and what the SPU updates in it (D17.8.3.1).
 */
#ifndef SPE_CORE_TRANSLATION_H
#define SPE_CORE_TRANSLATION_H

#include "codec/env.h"

/**
 * struct spe_descriptor - what the translation of one page at one stage says
 * @walk_abort: FSC of an External abort on the walk (0x12-0x17), 0 for none
 * @level: of the Block or Page descriptor, 0-3
 * @valid: if false, a Translation fault
 * @address_size: the output address is too large
 * @af: its Access flag
 * @tables_af: the Access flags of all Table descriptors on the way
 * @writable: the access permissions allow a privileged write
 * @dbm: the Dirty Bit Modifier
 * @no_atomic: updates of this descriptor are not guaranteed to be atomic
 * @conflict: more than one TLB entry matches
 * @assured_only: stage 2: the AssuredOnly attribute forbids the write (FEAT_THE)
 * @top_level: stage 2: the TopLevel check does
 */
struct spe_descriptor {
	u8 walk_abort;
	u8 level;
	bool valid;
	bool address_size;
	bool af;
	bool tables_af;
	bool writable;
	bool dbm;
	bool no_atomic;
	bool conflict;
	bool assured_only;
	bool top_level;
};

/**
 * struct spe_regime - controls of the owning translation regime, by stage less one
 * @ha: hardware management of the Access flag is enabled
 * @hd: and of the dirty state
 * @haft: and of the Access flag in Table descriptors (FEAT_HAFT)
 */
struct spe_regime {
	bool ha[2];
	bool hd[2];
	bool haft[2];
};

/**
 * struct spe_translation - how this SPU translates
 * @manages: it manages Access flag and dirty state (PMBIDR.F)
 * @haft: FEAT_HAFT is implemented
 * @the: FEAT_THE is
 */
struct spe_translation {
	bool manages;
	bool haft;
	bool the;
};

/**
 * spe_translation_write() - a privileged write through @descriptor
 * @stage: 1 or 2
 *
 * Sets what the SPU manages in @descriptor, if the write is permitted.
 *
 * Return: 0, or the fault as spe_fault() builds it, with SPE_FAULT_* flags.
 */
u32 spe_translation_write(const struct spe_translation *walk, const struct spe_regime *regime,
			  unsigned int stage, struct spe_descriptor *descriptor);

#endif
