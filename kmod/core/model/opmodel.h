/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Model the properties of operations that a machine without SPE cannot measure. On such a machine
 * an operation source has the PC, the Exception level, the context and the time. This model adds
 * plausible and consistent values for latency, events, data source, addresses and the kind of
 * instruction. Every view marks them as modelled.
 */
#ifndef SPE_CORE_OPMODEL_H
#define SPE_CORE_OPMODEL_H

#include "codec/env.h"
#include "spu.h"

/* MIDR_EL1 of Neoverse N1, and the Data Source payloads of N1 and its successors. */
#define SPE_OPMODEL_MIDR 0x410fd0c1
#define SPE_SOURCE_L1D		0x0
#define SPE_SOURCE_L2		0x8
#define SPE_SOURCE_PEER_CORE	0x9
#define SPE_SOURCE_SYSTEM_CACHE 0xb
#define SPE_SOURCE_REMOTE	0xd
#define SPE_SOURCE_DRAM		0xe

/* How a program uses memory and branches */
enum spe_profile {
	SPE_PROFILE_MIXED, /* 25 % loads, 12 % stores, 18 % branches; caches hit */
	SPE_PROFILE_POINTER_CHASE, /* mostly dependent loads, 80 % from DRAM, 150-700 cycles */
	SPE_PROFILE_STREAM, /* prefetched sequences, 12 % from DRAM, 4-100 cycles */
	SPE_PROFILE_BRANCHY, /* 40 % branches, a quarter of them mispredicted */
	SPE_PROFILE_SHARED_LINE, /* each thread updates its own word of one cache line */
	SPE_PROFILES,
};

/* struct spe_operation_model - the state of a model; its fields are private */
struct spe_operation_model {
	u64 random;
	u64 cursor; /* bytes that the stream profile has accessed */
};

/** spe_opmodel_init() - initialise a model; the same seed gives the same operations */
void spe_opmodel_init(struct spe_operation_model *model, u64 seed);

/**
 * spe_opmodel_complete_operation() - add modelled properties to an operation
 * @model: the model
 * @profile: how the program uses memory and branches
 * @operation: input: pc, el, ns, timestamp, contextidr_* and the CONTEXT bits of valid. Output: all
 * other fields
 *
 * Class and subclass depend only on @profile and on bits 11:0 of the PC, so an instruction always
 * has the same kind at any load address. The share of each class in a profile is therefore correct
 * on average over many instructions, but not for the few instructions of a tight loop. Instructions
 * of SPE_PROFILE_SHARED_LINE are the exception: each is a load or a store at random. Events comply
 * with D18.2.6: a refill is an access, a Last Level miss is a Last Level access, a TLB walk is a
 * TLB access; only conditional branches may be not taken; taken branches, and no other operations,
 * have a target. All operations retire.
 */
void spe_opmodel_complete_operation(struct spe_operation_model *model, enum spe_profile profile,
				    struct spe_operation *operation);

/** spe_profile_name() - return the name of a profile, a static string */
const char *spe_profile_name(enum spe_profile profile);

/**
 * spe_profile_from_name() - find a profile by its name
 * @name: the name
 * @ret_profile: the profile; unchanged on failure
 *
 * Return: 0, or -ENOENT.
 */
int spe_profile_from_name(const char *name, enum spe_profile *ret_profile);

#endif
