/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Saves the attributor in the checkpoint, and restores it: living and exited processes with their
 * names, containers and mappings. Restored entries may have other indices; a translation maps the
 * saved indices to the new ones.
 */
#ifndef SPEPROF_ATTRIBUTOR_SAVE_H
#define SPEPROF_ATTRIBUTOR_SAVE_H

#include "attributor.h"
#include "util/serialize.h"

/**
 * struct restored_entry_location - where a saved entry is after the restore
 * @generation: saved generation
 * @index: new index; ATTRIBUTE_NONE if the entry was not restored
 * @new_generation: new generation
 */
struct restored_entry_location {
	u32 generation;
	u32 index;
	u32 new_generation;
};

/**
 * struct attribute_translation - the new locations of all saved entries
 * @process: processes, indexed by saved index; @processes entries
 * @container: containers, indexed by saved index; @containers entries
 */
struct attribute_translation {
	struct restored_entry_location *process;
	struct restored_entry_location *container;
	u32 processes;
	u32 containers;
};

/**
 * attributor_save() - serialize all processes with samples, and all containers, to @to
 *
 * Locking: the caller holds the write lock, or is the only thread.
 */
void attributor_save(struct attributor *attributor, struct serializer *to);

/**
 * attributor_load() - restore serialized entries
 * @attributor: live; it has no entries except those of task events
 * @from: the output of attributor_save()
 * @ret_translation: free it with attribute_translation_deinit(), also on failure
 *
 * A restored process may have exited or executed another program since the checkpoint. So its next
 * sample queries /proc.
 *
 * An event may already have created an entry with the same PID. If start time, container and name
 * are equal, both entries are merged. Otherwise the entry of the event is a later process.
 *
 * Return: 0; -EBADMSG if the input is invalid; -ENOMEM if memory cannot be allocated. On failure
 * some entries may have been created.
 */
int attributor_load(struct attributor *attributor, struct deserializer *from,
		    struct attribute_translation *ret_translation);

/** attribute_translation_deinit() - free the arrays of @translation */
void attribute_translation_deinit(struct attribute_translation *translation);

/**
 * attribute_remap_process() - return the new index of a saved process
 * @translation: from attributor_load()
 * @index, @generation: saved index and generation
 * @ret_generation: new generation; unchanged if the result is ATTRIBUTE_NONE
 *
 * Return: the index; ATTRIBUTE_NONE if the process was not restored.
 */
u32 attribute_remap_process(const struct attribute_translation *translation, u32 index,
			    u32 generation, u32 *ret_generation);

/**
 * attribute_remap_container() - return the new index of a saved container
 *
 * The parameters and the result are as for attribute_remap_process().
 */
u32 attribute_remap_container(const struct attribute_translation *translation, u32 index,
			      u32 generation, u32 *ret_generation);

#endif
