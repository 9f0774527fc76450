/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Translate buffer writes: determine which fault a Block or Page descriptor causes (table D17-11),
 * and update the descriptor as the SPU does (D17.8.3.1).
 */
#ifndef SPE_CORE_TRANSLATION_H
#define SPE_CORE_TRANSLATION_H

#include "codec/env.h"

/**
 * struct spe_descriptor - the descriptor of one page at one stage, and its attributes
 * @walk_abort: FSC of an External abort on the walk (0x12-0x17); 0 if there was none
 * @level: level of the Block or Page descriptor, 0-3
 * @valid: whether the descriptor is valid; if false, the write causes a Translation fault
 * @address_size: whether the output address is too large
 * @af: the Access flag
 * @tables_af: whether the Access flags of all Table descriptors of the walk are 1
 * @writable: whether the access permissions allow a privileged write
 * @dbm: the Dirty Bit Modifier
 * @no_atomic: whether updates of this descriptor are not guaranteed to be atomic
 * @conflict: whether more than one TLB entry matches
 * @assured_only: stage 2: the AssuredOnly attribute forbids the write (FEAT_THE)
 * @top_level: stage 2: the TopLevel check forbids the write (FEAT_THE)
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
 * struct spe_translation_regime - controls of the owning translation regime; [0] is for stage 1,
 * [1] for stage 2
 * @ha: hardware manages the Access flag
 * @hd: hardware manages the dirty state
 * @haft: hardware manages the Access flag in Table descriptors (FEAT_HAFT)
 */
struct spe_translation_regime {
	bool ha[2];
	bool hd[2];
	bool haft[2];
};

/**
 * struct spe_translation - properties of the translation by this SPU
 * @manages: whether it manages the Access flag and the dirty state (PMBIDR.F)
 * @haft: whether FEAT_HAFT is implemented
 * @the: whether FEAT_THE is implemented
 */
struct spe_translation {
	bool manages;
	bool haft;
	bool the;
};

/**
 * spe_translation_write() - translate a privileged write at one stage
 * @translation: properties of the SPU
 * @regime: controls of the translation regime
 * @stage: 1 or 2
 * @descriptor: the descriptor; if the write is permitted, the SPU updates it
 *
 * Return: 0, or the fault as spe_fault_make() builds it, with SPE_FAULT_* flags.
 */
u32 spe_translation_write(const struct spe_translation *translation,
			  const struct spe_translation_regime *regime, unsigned int stage,
			  struct spe_descriptor *descriptor);

#endif
