/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An SQLite VFS that counts changes of files, and fails or kills the process at a chosen change. It
 * never waits for the disk: data that a killed process wrote is in the page cache.
 */
#ifndef SPEPROF_TEST_FAULTY_VFS_H
#define SPEPROF_TEST_FAULTY_VFS_H

#include <sqlite3.h>

#define FAULTY_VFS "faulty"

/**
 * struct faulty_vfs - the changes so far, and the changes that fail
 * @changes: number of changes so far
 * @kill_at: number of the change at which the process is killed, after half of the change; 0: never
 * @full_at: number of the change from which on the disk is full; 0: never
 */
struct faulty_vfs {
	unsigned long changes;
	unsigned long kill_at;
	unsigned long full_at;
};

extern struct faulty_vfs faulty_vfs;

/** faulty_vfs_register() - register the VFS with SQLite */
void faulty_vfs_register(void);

#endif
