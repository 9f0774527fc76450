/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Serialization of a profile for the checkpoint. */
#ifndef SPEPROF_PROFILE_SAVE_H
#define SPEPROF_PROFILE_SAVE_H

#include "attribution/attributor-save.h"
#include "profile.h"

/**
 * profile_save() - serialize everything that was counted
 *
 * The attributor's entries are stored as their numbers only.
 */
void profile_save(struct profile *profile, struct serializer *to);

/**
 * profile_load() - restore a serialized profile
 * @profile: a profile that has counted nothing yet
 * @from: the bytes of profile_save()
 * @translation: maps the attributor's saved entries, which were loaded before, to the current
 *	ones
 *
 * A process that is no longer in the attributor counts in its container; its samples stay in the
 * cells of its program. So no sample drops out of the ledgers.
 *
 * Return: 0; -EBADMSG; -ENOMEM. On failure the caller has to call profile_reset().
 */
int profile_load(struct profile *profile, struct deserializer *from,
		 const struct attribute_translation *translation);

#endif
