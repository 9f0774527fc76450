// SPDX-License-Identifier: LGPL-2.1-or-later
#include "faulty-vfs.h"

#include <signal.h>
#include <stdbool.h>

struct faulty_vfs faulty_vfs;

/* The file of the default VFS follows this structure in memory. */
struct faulty_file {
	sqlite3_file base;
	sqlite3_file *real;
};

static sqlite3_file *real_of(sqlite3_file *file)
{
	return ((struct faulty_file *)file)->real;
}

static void die(void)
{
	raise(SIGKILL);
}

/* Count a change. Return whether the disk is full. */
static bool change_is_refused(void)
{
	faulty_vfs.changes++;
	return faulty_vfs.full_at && faulty_vfs.changes >= faulty_vfs.full_at;
}

static bool dies_now(void)
{
	return faulty_vfs.kill_at && faulty_vfs.changes == faulty_vfs.kill_at;
}

static int faulty_close(sqlite3_file *file)
{
	return real_of(file)->pMethods->xClose(real_of(file));
}

static int faulty_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
	return real_of(file)->pMethods->xRead(real_of(file), to, size, at);
}

static int faulty_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 at)
{
	if (change_is_refused())
		return SQLITE_FULL;
	if (dies_now()) {
		real_of(file)->pMethods->xWrite(real_of(file), from, size / 2, at);
		die();
	}
	return real_of(file)->pMethods->xWrite(real_of(file), from, size, at);
}

static int faulty_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	if (change_is_refused())
		return SQLITE_FULL;
	if (dies_now())
		die();
	return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int faulty_sync(sqlite3_file *file, int flags)
{
	(void)file;
	(void)flags;
	return SQLITE_OK;
}

static int faulty_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), ret_size);
}

static int faulty_lock(sqlite3_file *file, int lock)
{
	return real_of(file)->pMethods->xLock(real_of(file), lock);
}

static int faulty_unlock(sqlite3_file *file, int lock)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), lock);
}

static int faulty_reserved(sqlite3_file *file, int *ret_reserved)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret_reserved);
}

static int faulty_control(sqlite3_file *file, int what, void *arg)
{
	return real_of(file)->pMethods->xFileControl(real_of(file), what, arg);
}

static int faulty_sector(sqlite3_file *file)
{
	return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int faulty_device(sqlite3_file *file)
{
	return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int faulty_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
	return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret);
}

static int faulty_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
	return real_of(file)->pMethods->xShmLock(real_of(file), offset, n, flags);
}

static void faulty_shm_barrier(sqlite3_file *file)
{
	real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int faulty_shm_unmap(sqlite3_file *file, int remove)
{
	return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = faulty_close,
	.xRead = faulty_read,
	.xWrite = faulty_write,
	.xTruncate = faulty_truncate,
	.xSync = faulty_sync,
	.xFileSize = faulty_size,
	.xLock = faulty_lock,
	.xUnlock = faulty_unlock,
	.xCheckReservedLock = faulty_reserved,
	.xFileControl = faulty_control,
	.xSectorSize = faulty_sector,
	.xDeviceCharacteristics = faulty_device,
	.xShmMap = faulty_shm_map,
	.xShmLock = faulty_shm_lock,
	.xShmBarrier = faulty_shm_barrier,
	.xShmUnmap = faulty_shm_unmap,
};

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		       int *ret_flags)
{
	struct faulty_file *faulty = (struct faulty_file *)file;
	sqlite3_vfs *real = vfs->pAppData;
	int result;

	faulty->real = (sqlite3_file *)(faulty + 1);
	result = real->xOpen(real, name, faulty->real, flags, ret_flags);
	file->pMethods = faulty->real->pMethods ? &methods : NULL;
	return result;
}

static int faulty_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	sqlite3_vfs *real = vfs->pAppData;

	faulty_vfs.changes++;
	if (dies_now())
		die();
	return real->xDelete(real, name, sync);
}

void faulty_vfs_register(void)
{
	static sqlite3_vfs vfs;
	sqlite3_vfs *real = sqlite3_vfs_find(NULL);

	vfs = *real;
	vfs.zName = FAULTY_VFS;
	vfs.szOsFile = (int)sizeof(struct faulty_file) + real->szOsFile;
	vfs.pAppData = real;
	vfs.xOpen = faulty_open;
	vfs.xDelete = faulty_delete;
	sqlite3_vfs_register(&vfs, 0);
}
