/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Save data in a memfd that outlives this process, in two slots that are written alternately. If
 * the writer is killed while it writes one slot, the other one is still complete. These functions
 * do not interpret the content of a slot.
 */
#ifndef SPEPROF_CHECKPOINT_SLOTS_H
#define SPEPROF_CHECKPOINT_SLOTS_H

#include "util/serialize.h"

/* Size of a slot in bytes, including its header. Pages that were never written take no memory. */
#define CHECKPOINT_SLOT_SIZE (64UL << 20)

struct checkpoint_slots;

/**
 * checkpoint_slots_new() - create an empty checkpoint
 * @name: name of the memfd, as /proc shows it
 * @version: version of the content; it must change whenever the meaning of the content changes
 * @ret_slots: the checkpoint; freed by checkpoint_slots_free()
 *
 * Return: 0 or negative errno.
 */
int checkpoint_slots_new(const char *name, u64 version, struct checkpoint_slots **ret_slots);

/**
 * checkpoint_slots_adopt() - use the checkpoint of an earlier process
 * @fd: memfd of that checkpoint. On success @ret_slots owns it, else the caller
 * @version: version that the caller supports; checkpoint_slots_read() refuses any other
 * @ret_slots: the checkpoint; freed by checkpoint_slots_free()
 * @ret_reason: on failure, a static sentence that says why
 *
 * Return: 0; -EPROTO if @fd is no checkpoint: no memfd, a memfd of another size, or one without the
 * seal against shrinking; another negative errno if @fd cannot be mapped.
 */
int checkpoint_slots_adopt(int fd, u64 version, struct checkpoint_slots **ret_slots,
			   const char **ret_reason);

/** checkpoint_slots_free() - close and free @checkpoint, which may be NULL; returns NULL */
struct checkpoint_slots *checkpoint_slots_free(struct checkpoint_slots *checkpoint);

/** checkpoint_slots_get_fd() - return the memfd, which the checkpoint owns */
int checkpoint_slots_get_fd(const struct checkpoint_slots *checkpoint);

/**
 * checkpoint_slots_begin() - begin to write into the older slot
 * @checkpoint: the checkpoint; no other write is in progress
 * @ret_to: serializer that writes into the slot. The slot becomes valid with
 * checkpoint_slots_commit()
 */
void checkpoint_slots_begin(struct checkpoint_slots *checkpoint, struct serializer *ret_to);

/**
 * checkpoint_slots_commit() - make the slot valid that was written since checkpoint_slots_begin()
 * @checkpoint: the checkpoint, after checkpoint_slots_begin()
 * @from: the serializer of checkpoint_slots_begin()
 *
 * Return: 0; -ENOSPC if the content did not fit; the previous slot then stays valid.
 */
int checkpoint_slots_commit(struct checkpoint_slots *checkpoint, const struct serializer *from);

/**
 * checkpoint_slots_read() - copy the content of the valid slot
 * @checkpoint: the checkpoint; not changed
 * @ret_from: deserializer that reads the copy; the caller frees its memory, @ret_from->at
 * @ret_reason: on failure, a static sentence that says why
 *
 * Return: 0; -ENODATA if nothing was committed; -EPROTO if the slot is damaged, of another version
 * or of another byte order; -ENOMEM if memory cannot be allocated.
 */
int checkpoint_slots_read(const struct checkpoint_slots *checkpoint, struct deserializer *ret_from,
			  const char **ret_reason);

/**
 * checkpoint_slots_export() - write the valid slot to a file
 * @checkpoint: the checkpoint; not changed
 * @fd: an empty file, open for writing
 *
 * Return: 0; -ENODATA if nothing was committed yet; other negative errno of write().
 */
int checkpoint_slots_export(const struct checkpoint_slots *checkpoint, int fd);

/**
 * checkpoint_slots_import() - create a checkpoint from a file of checkpoint_slots_export()
 * @name: name of the new memfd, as /proc shows it
 * @fd: the file, open for reading, at its start
 * @ret_fd: the memfd, for checkpoint_slots_adopt(); the caller closes it
 *
 * checkpoint_slots_read() compares the version, this function does not.
 *
 * Return: 0; -ENODATA for an empty file; -EPROTO for a file that is incomplete, damaged or of
 * another byte order; other negative errno.
 */
int checkpoint_slots_import(const char *name, int fd, int *ret_fd);

#endif
