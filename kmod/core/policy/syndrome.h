/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Syndromes: what a profiling buffer management event means and what the
 * driver does about it (D17.8). The table in syndrome.c is the documentation's.
 */
#ifndef SPE_CORE_SYNDROME_H
#define SPE_CORE_SYNDROME_H

#include "codec/env.h"
#include "codec/registers.h"

enum spe_syndrome_class {
	SPE_SYNDROME_NONE,		/* S is 0 */
	SPE_SYNDROME_FULL,		/* D17.8.2 */
	SPE_SYNDROME_NOT_ALLOWED,	/* D17.8.5 */
	SPE_SYNDROME_FAULT,		/* D17.8.3: alignment, MMU */
	SPE_SYNDROME_EXTERNAL_SYNC,	/* D17.8.4.4 */
	SPE_SYNDROME_EXTERNAL_ASYNC,
	SPE_SYNDROME_GPC,		/* granule protection check, other than GPF */
	SPE_SYNDROME_IMPDEF,		/* D17.8.6 */
	SPE_SYNDROME_UNKNOWN,		/* a reserved EC or BSC */
	SPE_SYNDROMES,
};

/* What becomes of the window and of the CPU, from mildest to gravest. */
enum spe_action {
	SPE_ACTION_CONTINUE,	/* keep the bytes, arm the next window */
	SPE_ACTION_DROP_TAIL,	/* the last record is cut: flag it, go on */
	SPE_ACTION_DROP_WINDOW,	/* no byte can be trusted: flag the window, go on */
	SPE_ACTION_STOP_CPU,	/* going on would only repeat it */
	SPE_ACTION_STOP_SESSION,
};

/**
 * struct spe_verdict - a syndrome, read
 * @class: what it is
 * @action: what to do
 * @truncated: the last record may be incomplete (PMBSR.DL)
 * @collided: samples collided (PMBSR.COLL), whether or not S is set
 * @suspect: no byte of the window may be taken for valid (IPXWQC's note)
 */
struct spe_verdict {
	u8 class;
	u8 action;
	bool truncated;
	bool collided;
	bool suspect;
};

/** spe_syndrome_read() - the verdict on PMBSR as it was read after a drain */
struct spe_verdict spe_syndrome_read(u64 pmbsr);

/** spe_syndrome_name() - a short static name, for traces and messages */
const char *spe_syndrome_name(enum spe_syndrome_class class);

#endif
