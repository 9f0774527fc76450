/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A memfd that outlives this process, with two slots that are written alternately. If the writer is
 * killed while it writes one slot, the other one is still complete. The content of a slot is opaque
 * here.
 */
#ifndef SPEPROF_CHECKPOINT_SLOTS_H
#define SPEPROF_CHECKPOINT_SLOTS_H

#include "util/serialize.h"

/* Bytes of a slot, its header included. Pages that were never written take no memory. */
#define CHECKPOINT_SLOT (64UL << 20)

struct checkpoint_slots;

/**
 * checkpoint_slots_new() - create an empty checkpoint
 * @name: of the memfd, as /proc shows it
 * @version: of the content; must change whenever the meaning of the content does
 * @ret_slots: freed by checkpoint_slots_free()
 *
 * Return: 0 or negative errno.
 */
int checkpoint_slots_new(const char *name, u64 version, struct checkpoint_slots **ret_slots);

/**
 * checkpoint_slots_adopt() - use the checkpoint of an earlier process
 * @fd: its memfd; owned by the checkpoint on success, else by the caller
 * @version: that the caller understands; checkpoint_slots_read() refuses any other
 * @ret_slots: freed by checkpoint_slots_free()
 * @ret_reason: on failure, a static sentence that says why
 *
 * Return: 0; -EPROTO if @fd is no checkpoint: not a memfd, of another size, or without the seal that
 * forbids shrinking; other negative errno.
 */
int checkpoint_slots_adopt(int fd, u64 version, struct checkpoint_slots **ret_slots,
			   const char **ret_reason);

/** checkpoint_slots_free() - close and free; NULL is allowed; returns NULL */
struct checkpoint_slots *checkpoint_slots_free(struct checkpoint_slots *checkpoint);

/** checkpoint_slots_fd() - the memfd, to store it elsewhere; owned by the checkpoint */
int checkpoint_slots_fd(const struct checkpoint_slots *checkpoint);

/**
 * checkpoint_slots_begin() - begin to write the older slot
 * @checkpoint: no other write is in progress
 * @ret_to: writes into the slot; nothing counts before checkpoint_slots_commit()
 */
void checkpoint_slots_begin(struct checkpoint_slots *checkpoint, struct serializer *ret_to);

/**
 * checkpoint_slots_commit() - make the written slot the valid one
 * @checkpoint: checkpoint_slots_begin() was called
 * @from: what that returned
 *
 * Return: 0; -ENOSPC if the content did not fit: the previous slot stays valid.
 */
int checkpoint_slots_commit(struct checkpoint_slots *checkpoint, const struct serializer *from);

/**
 * checkpoint_slots_read() - copy the content of the valid slot
 * @checkpoint: is not changed
 * @ret_from: reads the copy; the caller frees its memory, @ret_from->at
 * @ret_reason: on failure, a static sentence that says why
 *
 * Return: 0; -ENODATA if nothing was committed; -EPROTO if it is damaged, of another version or of
 * another byte order; -ENOMEM.
 */
int checkpoint_slots_read(const struct checkpoint_slots *checkpoint, struct deserializer *ret_from,
			  const char **ret_reason);

/**
 * checkpoint_slots_export() - write the last slot that was committed into a file
 * @checkpoint: is not changed
 * @fd: an empty file, open for writing
 *
 * Return: 0; -ENODATA if nothing was committed yet; else the negative errno of write().
 */
int checkpoint_slots_export(const struct checkpoint_slots *checkpoint, int fd);

/**
 * checkpoint_slots_import() - make a checkpoint of what checkpoint_slots_export() wrote
 * @name: of the new memfd, as /proc shows it
 * @fd: the file, open for reading, at its start
 * @ret_fd: the memfd, for checkpoint_slots_adopt(); the caller closes it
 *
 * The version is not compared: checkpoint_slots_read() does that.
 *
 * Return: 0; -ENODATA for an empty file; -EPROTO for one that is incomplete, damaged or of another
 * byte order; else a negative errno.
 */
int checkpoint_slots_import(const char *name, int fd, int *ret_fd);

#endif
