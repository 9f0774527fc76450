/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Serialization of the attributor for the checkpoint: processes, living and exited, with their
 * names, containers and mappings. Entries have other indices after loading; a translation maps
 * the old indices to the new ones.
 */
#ifndef SPEPROF_ATTRIBUTOR_SAVE_H
#define SPEPROF_ATTRIBUTOR_SAVE_H

#include "attributor.h"
#include "util/serialize.h"

/**
 * struct attribute_remapped - a saved entry: its saved generation, and its index and generation
 * now
 */
struct attribute_remapped {
	u32 generation;
	u32 index;
	u32 now_generation;
};

/** struct attribute_translation - the remapped entries by their saved index */
struct attribute_translation {
	struct attribute_remapped *process;
	struct attribute_remapped *container;
	u32 processes;
	u32 containers;
};

/** attributor_save() - serialize all entries that samples have used */
void attributor_save(struct attributor *attributor, struct serializer *to);

/**
 * attributor_load() - restore serialized entries
 * @attributor: has no entries except those of task events (live)
 * @from: the bytes of attributor_save()
 * @ret_translation: freed by attribute_translation_deinit(), also on failure
 *
 * Exited processes are detected as usual, by the kernel's list of tasks at the start and by
 * /proc. Until then, the next sample of each process queries /proc.
 *
 * An entry that an event created earlier is merged with a saved one that has the same PID, start
 * time, container and name. If they differ, it is a later process with the same PID.
 *
 * Return: 0; -EBADMSG; -ENOMEM. On failure some entries may have been created.
 */
int attributor_load(struct attributor *attributor, struct deserializer *from,
		    struct attribute_translation *ret_translation);

/** attribute_translation_deinit() - free the arrays of @translation */
void attribute_translation_deinit(struct attribute_translation *translation);

/**
 * attribute_remap_process() - return the current index of process @index of @generation
 *
 * Return: the index; ATTRIBUTE_NONE if the process has no entry.
 */
u32 attribute_remap_process(const struct attribute_translation *translation, u32 index,
			    u32 generation, u32 *ret_generation);

/** attribute_remap_container() - the same for a container */
u32 attribute_remap_container(const struct attribute_translation *translation, u32 index,
			      u32 generation, u32 *ret_generation);

#endif
