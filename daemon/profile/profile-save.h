/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A profile as bytes and back, to be kept over a restart. */
#ifndef SPEPROF_PROFILE_SAVE_H
#define SPEPROF_PROFILE_SAVE_H

#include "attribution/attributor-save.h"
#include "profile.h"

/** profile_save() - all that was counted; of the attributor's entries their numbers alone */
void profile_save(struct profile *profile, struct serializer *to);

/**
 * profile_load() - into one that has counted nothing yet
 * @translation: of the attributor's entries that were saved before it
 *
 * What had no entry in the attributor any more counts to its container, and its places to
 * what was evicted: no sample is left out of the ledgers.
 *
 * Return: 0; -EBADMSG; -ENOMEM. On failure profile_reset() is to follow.
 */
int profile_load(struct profile *profile, struct deserializer *from,
		 const struct attribute_translation *translation);

#endif
