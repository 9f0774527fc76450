/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A memfd that outlives this process, with two slots that are written in turn: whenever
 * the writer is killed, the other one is whole. What is in a slot, its owner knows.
 */
#ifndef SPEPROF_CHECKPOINT_SLOTS_H
#define SPEPROF_CHECKPOINT_SLOTS_H

#include "util/serialize.h"

/* Of a slot, its header included; what is not written takes no memory. */
#define CHECKPOINT_SLOT (64UL << 20)

struct checkpoint_slots;

/**
 * checkpoint_slots_new() - of a memfd of its own, empty
 * @name: of the memfd, for who looks at /proc
 * @version: of what its owner writes; grows whenever that changes its meaning
 */
int checkpoint_slots_new(const char *name, u64 version, struct checkpoint_slots **ret_slots);

/**
 * checkpoint_slots_adopt() - of one that another process left; takes @fd over where it succeeds
 * @version: that is understood; another one shows in checkpoint_slots_read()
 * @ret_reason: on failure, a static sentence that says why
 *
 * Return: 0; -EPROTO for what is no checkpoint: not a memfd, of another size, or one that
 * somebody could still shrink under us.
 */
int checkpoint_slots_adopt(int fd, u64 version, struct checkpoint_slots **ret_slots,
			   const char **ret_reason);

struct checkpoint_slots *checkpoint_slots_free(struct checkpoint_slots *checkpoint);

/** checkpoint_slots_fd() - to be stored; stays the checkpoint's */
int checkpoint_slots_fd(const struct checkpoint_slots *checkpoint);

/**
 * checkpoint_slots_begin() - write into the slot that is not the last one committed
 * @ret_to: for one writer at a time
 */
void checkpoint_slots_begin(struct checkpoint_slots *checkpoint, struct serializer *ret_to);

/**
 * checkpoint_slots_commit() - what was written counts from now on
 *
 * Return: 0; -ENOSPC if it did not fit: the last one committed still counts.
 */
int checkpoint_slots_commit(struct checkpoint_slots *checkpoint, const struct serializer *from);

/**
 * checkpoint_slots_read() - a copy of the last that was committed
 * @ret_from: of memory that is the caller's to free, at @ret_from->at
 * @ret_reason: on failure, a static sentence that says why
 *
 * Return: 0; -ENODATA if none was; -EPROTO for one of another version, byte order or
 * that is damaged; -ENOMEM.
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
