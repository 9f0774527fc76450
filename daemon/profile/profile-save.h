/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Serialization of a profile for the checkpoint. */
#ifndef SPEPROF_PROFILE_SAVE_H
#define SPEPROF_PROFILE_SAVE_H

#include "attribution/attributor-save.h"
#include "profile.h"

/**
 * profile_save() - serialize all counters
 *
 * Entries of the attributor are stored only as numbers.
 */
void profile_save(struct profile *profile, struct serializer *to);

/**
 * profile_load() - restore a serialized profile
 * @profile: a profile that has counted nothing yet
 * @from: the bytes of profile_save()
 * @translation: maps saved entries of the attributor to current entries; the attributor was loaded
 *	before
 *
 * If a process is no longer in the attributor, its samples count for its container, and stay in the
 * cells of its program. So the ledgers count all samples.
 *
 * Return: 0; -EBADMSG if the bytes are invalid; -ENOMEM if memory cannot be allocated. On failure
 * the caller has to call profile_reset().
 */
int profile_load(struct profile *profile, struct deserializer *from,
		 const struct attribute_translation *translation);

#endif
