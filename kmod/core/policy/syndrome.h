/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interpret syndromes: the meaning of a profiling buffer management event, and the reaction of the
 * driver (D17.8). The documentation contains the table of syndrome.c.
 */
#ifndef SPE_CORE_SYNDROME_H
#define SPE_CORE_SYNDROME_H

#include "codec/env.h"
#include "codec/registers.h"

/* The kinds of management events. */
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

/* The reaction of the driver, from the mildest to the most severe action */
enum spe_action {
	SPE_ACTION_CONTINUE,	/* publish the window, and arm the next one */
	SPE_ACTION_DROP_TAIL,	/* publish the window with a flag: its last record is incomplete */
	SPE_ACTION_DROP_WINDOW,	/* publish the window with a flag: no byte of it is valid */
	SPE_ACTION_STOP_CPU,	/* stop sampling on the CPU, because the event would repeat */
	SPE_ACTION_STOP_SESSION, /* reserved */
};

/**
 * struct spe_syndrome_verdict - the meaning of a syndrome
 * @class: &enum spe_syndrome_class
 * @action: &enum spe_action
 * @truncated: whether the last record may be incomplete (PMBSR.DL)
 * @collided: whether samples collided (PMBSR.COLL), whatever S is
 * @suspect: whether no byte of the window is valid (note of IPXWQC)
 */
struct spe_syndrome_verdict {
	u8 class;
	u8 action;
	bool truncated;
	bool collided;
	bool suspect;
};

/**
 * spe_syndrome_interpret() - interpret a syndrome
 * @pmbsr: PMBSR_ELx, read after the SPU was drained
 */
struct spe_syndrome_verdict spe_syndrome_interpret(u64 pmbsr);

/** spe_syndrome_name() - return the name of a class, for traces and messages, a static string */
const char *spe_syndrome_name(enum spe_syndrome_class class);

#endif
