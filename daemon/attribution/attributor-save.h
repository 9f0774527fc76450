/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who was sampled, kept over a restart: processes, living and dead, with their names,
 * containers and mappings. Numbers of entries differ afterwards; a translation tells them.
 */
#ifndef SPEPROF_ATTRIBUTOR_SAVE_H
#define SPEPROF_ATTRIBUTOR_SAVE_H

#include "attributor.h"
#include "util/serialize.h"

/** struct attribute_remapped - what had some index: its generation then, its index now */
struct attribute_remapped {
	u32 generation;
	u32 index;
	u32 now_generation;
};

/** struct attribute_translation - by the index that was saved */
struct attribute_translation {
	struct attribute_remapped *process;
	struct attribute_remapped *container;
	u32 processes;
	u32 containers;
};

/** attributor_save() - what samples asked for so far */
void attributor_save(struct attributor *attributor, struct serializer *to);

/**
 * attributor_load() - into one that has no entries but those of events (live)
 * @ret_translation: to be freed by attribute_translation_deinit(), also where it fails
 *
 * Who lives no more is found as ever: by the tasks that the kernel tells at the start, by
 * /proc. Until then /proc is asked for each of them at its next sample.
 *
 * An entry that an event made before is merged with a saved one of the same PID, start time,
 * container and name. With another one of its PID it is the process that followed.
 *
 * Return: 0; -EBADMSG; -ENOMEM. Entries may have been made all the same.
 */
int attributor_load(struct attributor *attributor, struct deserializer *from,
		    struct attribute_translation *ret_translation);

void attribute_translation_deinit(struct attribute_translation *translation);

/** attribute_remap_process() - where process @index of @generation is; ATTRIBUTE_NONE if it is not */
u32 attribute_remap_process(const struct attribute_translation *translation, u32 index,
			    u32 generation, u32 *ret_generation);

/** attribute_remap_container() - likewise of a container */
u32 attribute_remap_container(const struct attribute_translation *translation, u32 index,
			      u32 generation, u32 *ret_generation);

#endif
