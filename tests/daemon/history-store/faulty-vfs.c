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

static sqlite3_file *get_real_file(sqlite3_file *file)
{
	return ((struct faulty_file *)file)->real;
}

static void kill_process(void)
{
	raise(SIGKILL);
}

/* Count a change. Return whether the disk is full. */
static bool change_is_refused(void)
{
	faulty_vfs.changes++;
	return faulty_vfs.full_at && faulty_vfs.changes >= faulty_vfs.full_at;
}

static bool must_die_now(void)
{
	return faulty_vfs.kill_at && faulty_vfs.changes == faulty_vfs.kill_at;
}

static int faulty_close(sqlite3_file *file)
{
	return get_real_file(file)->pMethods->xClose(get_real_file(file));
}

static int faulty_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
	return get_real_file(file)->pMethods->xRead(get_real_file(file), to, size, at);
}

static int faulty_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 at)
{
	if (change_is_refused())
		return SQLITE_FULL;
	if (must_die_now()) {
		get_real_file(file)->pMethods->xWrite(get_real_file(file), from, size / 2, at);
		kill_process();
	}
	return get_real_file(file)->pMethods->xWrite(get_real_file(file), from, size, at);
}

static int faulty_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	if (change_is_refused())
		return SQLITE_FULL;
	if (must_die_now())
		kill_process();
	return get_real_file(file)->pMethods->xTruncate(get_real_file(file), size);
}

static int faulty_sync(sqlite3_file *file, int flags)
{
	(void)file;
	(void)flags;
	return SQLITE_OK;
}

static int faulty_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	return get_real_file(file)->pMethods->xFileSize(get_real_file(file), ret_size);
}

static int faulty_lock(sqlite3_file *file, int lock)
{
	return get_real_file(file)->pMethods->xLock(get_real_file(file), lock);
}

static int faulty_unlock(sqlite3_file *file, int lock)
{
	return get_real_file(file)->pMethods->xUnlock(get_real_file(file), lock);
}

static int faulty_reserved(sqlite3_file *file, int *ret_reserved)
{
	return get_real_file(file)->pMethods->xCheckReservedLock(get_real_file(file), ret_reserved);
}

static int faulty_control(sqlite3_file *file, int what, void *arg)
{
	return get_real_file(file)->pMethods->xFileControl(get_real_file(file), what, arg);
}

static int faulty_sector(sqlite3_file *file)
{
	return get_real_file(file)->pMethods->xSectorSize(get_real_file(file));
}

static int faulty_device(sqlite3_file *file)
{
	return get_real_file(file)->pMethods->xDeviceCharacteristics(get_real_file(file));
}

static int faulty_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
	return get_real_file(file)->pMethods->xShmMap(get_real_file(file), page, size, extend, ret);
}

static int faulty_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
	return get_real_file(file)->pMethods->xShmLock(get_real_file(file), offset, n, flags);
}

static void faulty_shm_barrier(sqlite3_file *file)
{
	get_real_file(file)->pMethods->xShmBarrier(get_real_file(file));
}

static int faulty_shm_unmap(sqlite3_file *file, int remove)
{
	return get_real_file(file)->pMethods->xShmUnmap(get_real_file(file), remove);
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
	if (must_die_now())
		kill_process();
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
