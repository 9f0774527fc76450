// SPDX-License-Identifier: LGPL-2.1-or-later
#include "file-open.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "attribution/procfs.h"

#define MAP_FILES_MAX 4096 /* entries of /proc/PID/map_files looked at */
#define DEBUG	      "/usr/lib/debug"
#define STATUS_SIZE   65536 /* what is looked for comes after all groups of the process */

/*
 * File systems that programs are stored on. Others are the kernel's own (/proc, debugfs, and
 * whatever a later kernel has): reading one of their files may take away what others wait for
 * (/proc/kmsg), or wait for good, and this process may read what the user who made it look there
 * may not. Any user can have such a file beside a program, or under its name: in a mount
 * namespace of its own.
 */
bool file_system_is_allowed(u64 kind)
{
	static const u32 kinds[] = {
		BTRFS_SUPER_MAGIC, CEPH_SUPER_MAGIC, CIFS_SUPER_MAGIC, ECRYPTFS_SUPER_MAGIC,
		EROFS_SUPER_MAGIC_V1, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, FUSE_SUPER_MAGIC,
		HUGETLBFS_MAGIC, /* memfd_create() with MFD_HUGETLB */
		ISOFS_SUPER_MAGIC, MSDOS_SUPER_MAGIC, NFS_SUPER_MAGIC, NILFS_SUPER_MAGIC,
		OVERLAYFS_SUPER_MAGIC, RAMFS_MAGIC, REISERFS_SUPER_MAGIC, SMB2_SUPER_MAGIC,
		SQUASHFS_MAGIC, TMPFS_MAGIC, V9FS_MAGIC, XFS_SUPER_MAGIC,
		/* No header of the kernel's has these. */
		0x01161970, /* GFS2 */
		0x0bd00bd0, /* Lustre */
		0x19830326, /* BeeGFS */
		0x2011bab0, /* exFAT */
		0x2fc12fc1, /* ZFS */
		0x3153464a, /* JFS */
		0x47504653, /* GPFS */
		0x61756673, /* aufs */
		0x7366746e, /* ntfs3 */
		0x7461636f, /* OCFS2 */
		0xca451a4e, /* bcachefs */
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if ((u32)kind == kinds[i])
			return true;
	return false;
}

static bool is_stored(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) >= 0 && file_system_is_allowed((u64)fs.f_type);
}

/*
 * Open a regular file for reading, if it is the one that was mapped: first without
 * any effect that opening a device or a pipe has.
 */
static int regular_open(int at, const char *path, u64 inode, u64 resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };
	char self[32];
	struct stat st;
	int fd, r;

	fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (inode && st.st_ino != inode) ||
	    !is_stored(fd)) {
		close(fd);
		return -ESTALE;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	r = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (r < 0)
		r = -errno;
	close(fd);
	return r;
}

/* The root of a process, in which its paths begin. */
static int root_dir(s32 pid)
{
	char root[32];
	int dir;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -errno : dir;
}

/* Symbolic links in it must not lead out of it. */
static int root_open(s32 pid, const char *path, u64 inode, u64 resolve)
{
	int dir = root_dir(pid), fd;

	if (dir < 0)
		return dir;
	fd = regular_open(dir, path, inode, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve);
	close(dir);
	return fd;
}

/* Deleted, or another file has its path now: of the program itself /proc/PID/exe leads to it. */
static int program_open(const struct file_request *file)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", file->pid);
	return regular_open(AT_FDCWD, path, file->inode, 0);
}

/* And of all else the mapping, to who has CAP_CHECKPOINT_RESTORE. */
static int mapping_open(const struct file_request *file)
{
	char path[48], target[PATH_MAX];
	int fd = program_open(file), dir;
	struct dirent *entry;
	DIR *d;

	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/map_files", file->pid);
	d = opendir(path);
	if (!d)
		return -errno;
	dir = dirfd(d);
	for (u32 i = 0; fd < 0 && i < MAP_FILES_MAX && (entry = readdir(d)); i++) {
		ssize_t n = readlinkat(dir, entry->d_name, target, sizeof(target) - 1);

		if (n < 0)
			continue;
		target[n] = '\0';
		if (!strcmp(target, file->path))
			fd = regular_open(dir, entry->d_name, file->inode, 0);
	}
	closedir(d);
	return fd;
}

int file_open(const struct file_request *file)
{
	int fd = -ENOENT;

	if (file->live && file->pid > 0) {
		fd = root_open(file->pid, file->path, file->inode, 0);
		if (fd < 0 && file->inode)
			fd = mapping_open(file);
	}
	/* This machine's file of that path may be another: its inode or build-id must tell. */
	if (fd < 0 && (file->has_id || (file->live && file->inode)))
		fd = regular_open(AT_FDCWD, file->path, file->live ? file->inode : 0, 0);
	return fd;
}

/* This machine's own, which its administrator installed, then that of the process's root. */
static int either_open(const struct file_request *file, const char *path, bool root)
{
	if (!root)
		return regular_open(AT_FDCWD, path, 0, 0);
	return file->live && file->pid > 0 ? root_open(file->pid, path, 0, 0) : -ENOENT;
}

static void id_path(char *path, size_t size, const char *folder, const u8 *id, u8 id_size)
{
	size_t n = (size_t)snprintf(path, size, DEBUG "/%s/%02x/", folder, id[0]);

	for (u8 i = 1; i < id_size; i++)
		n += (size_t)snprintf(path + n, size - n, "%02x", id[i]);
	snprintf(path + n, size - n, ".debug");
}

/* Where a link is looked for, as gdb does: beside the file, below it, below the debug folder. */
static bool link_path(char *path, size_t size, const struct file_request *file, const char *link,
		      u32 which)
{
	static const char *const before[] = { "", "", DEBUG }, *const behind[] = { "", "/.debug",
										   "" };
	const char *slash = strrchr(file->path, '/');

	if (!slash || !*link)
		return false;
	return snprintf(path, size, "%s%.*s%s/%s", before[which], (int)(slash - file->path),
			file->path, behind[which], link) < (int)size;
}

int file_open_debug(const struct file_request *file, const struct symbol_object *known, u32 *next)
{
	char path[PATH_MAX];
	int fd;

	for (; *next < 8; ++*next) {
		u32 which = *next / 2;

		if (which == 0 && known->build_id_size < 2)
			continue;
		if (which == 0)
			id_path(path, sizeof(path), ".build-id", known->build_id,
				known->build_id_size);
		else if (!link_path(path, sizeof(path), file, known->link, which - 1))
			continue;
		/* What lies beside a file of another root is in that root. */
		fd = either_open(file, path, *next % 2);
		if (fd >= 0) {
			++*next;
			return fd;
		}
	}
	return -ENOENT;
}

int file_open_alt(const struct file_request *file, const u8 *id, u8 size)
{
	char path[96 + 2 * BUILD_ID_MAX];
	int fd;

	if (size < 2)
		return -ENOENT;
	id_path(path, sizeof(path), ".build-id", id, size);
	fd = either_open(file, path, false);
	return fd >= 0 ? fd : either_open(file, path, true);
}

/* The number after @key in /proc/PID/status, the last one of its line or the first. */
static bool status_number(const char *status, const char *key, bool last, long *ret)
{
	const char *at = strstr(status, key), *end;

	if (!at)
		return false;
	at += strlen(key);
	end = at + strcspn(at, "\n");
	for (const char *p = at; last && p < end; p++)
		if (*p == '\t' && p + 1 < end)
			at = p;
	*ret = strtol(at, NULL, 10);
	return true;
}

int file_open_perf_map(s32 pid)
{
	char path[64], status[STATUS_SIZE];
	long inner, uid;
	struct stat st;
	int dir, fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	n = procfs_read_file(dir, "status", status, sizeof(status));
	close(dir);
	if (n < 0)
		return (int)n;
	if (!status_number(status, "\nNSpid:", true, &inner) ||
	    !status_number(status, "\nUid:", false, &uid))
		return -EBADMSG;
	snprintf(path, sizeof(path), "/tmp/perf-%ld.map", inner);
	fd = root_open(pid, path, 0, RESOLVE_NO_SYMLINKS);
	if (fd >= 0 && (fstat(fd, &st) < 0 || (st.st_uid && st.st_uid != (uid_t)uid))) {
		close(fd);
		return -EPERM;
	}
	return fd;
}
