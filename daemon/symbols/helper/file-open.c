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

#define MAP_FILES_MAX 4096 /* number of entries of /proc/PID/map_files that are searched */
#define DEBUG	      "/usr/lib/debug"
#define STATUS_SIZE \
	65536 /* bytes of /proc/PID/status: NSpid follows a list of groups, which may be long */

/*
 * Permit only file systems that store programs. In a mount namespace, any user can make the path of
 * a program lead to a file of /proc or debugfs, for example. Reading such a file may block forever,
 * consume data that other processes wait for (/proc/kmsg), or return data that the user must not
 * read.
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
		/* file systems that the headers of the kernel do not define */
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

static bool fd_is_allowed(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) >= 0 && file_system_is_allowed((u64)fs.f_type);
}

/*
 * Open a regular file for reading, if its inode number is @inode, or if @inode is 0. Open it with
 * O_PATH first, because opening a device or a FIFO has side effects. @resolve: RESOLVE_* of
 * openat2().
 */
static int regular_open(int dir, const char *path, u64 inode, u64 resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };
	char self[32];
	struct stat st;
	int fd, r;

	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (inode && st.st_ino != inode) ||
	    !fd_is_allowed(fd)) {
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

/* Open a file below a directory; neither ".." nor symbolic links can leave it. */
static int folder_open_file(int dir, const char *path, u64 inode, u64 resolve)
{
	return regular_open(dir, path, inode, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve);
}

/* Return the directory of --symfs if @file is a file of a recording; else FOLDER_NONE. */
static int file_get_symfs(const struct file_request *file)
{
	return file->folders && !file->live ? file->folders->symfs : FOLDER_NONE;
}

/* Open the root directory of a process. */
static int process_root_open(s32 pid)
{
	char root[32];
	int dir;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -errno : dir;
}

/* Open a file in the root directory of a process. */
static int process_root_open_file(s32 pid, const char *path, u64 inode, u64 resolve)
{
	int dir = process_root_open(pid), fd;

	if (dir < 0)
		return dir;
	fd = folder_open_file(dir, path, inode, resolve);
	close(dir);
	return fd;
}

/* Open a program by /proc/PID/exe, which works after its file was deleted or replaced. */
static int program_open(const struct file_request *file)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", file->pid);
	return regular_open(AT_FDCWD, path, file->inode, 0);
}

/*
 * Open a mapped file that was deleted or replaced. For files other than the program,
 * CAP_CHECKPOINT_RESTORE gives access to /proc/PID/map_files.
 */
static int replaced_file_open(const struct file_request *file)
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

int file_open_mapped(const struct file_request *file)
{
	int fd = -ENOENT, symfs = file_get_symfs(file);

	if (symfs != FOLDER_NONE)
		return folder_open_file(symfs, file->path, 0, 0);
	if (file->live && file->pid > 0) {
		fd = process_root_open_file(file->pid, file->path, file->inode, 0);
		if (fd < 0 && file->inode)
			fd = replaced_file_open(file);
	}
	/*
	 * Try the same path in the root directory of the daemon only if the inode or the build ID
	 * can be compared.
	 */
	if (fd < 0 && (file->has_id || (file->live && file->inode)))
		fd = regular_open(AT_FDCWD, file->path, file->live ? file->inode : 0, 0);
	return fd;
}

/* The directory in which the path of a file with debug information is resolved. */
enum debug_root {
	ROOT_DEBUG_DIR, /* of --debug-dir */
	ROOT_OWN, /* of the daemon, or of --symfs */
	ROOT_PROCESS, /* of the process that maps the file */
};

static int path_open_in_root(const struct file_request *file, const char *path,
			     enum debug_root root)
{
	int dir = AT_FDCWD;

	if (root == ROOT_PROCESS)
		return file->live && file->pid > 0 ? process_root_open_file(file->pid, path, 0, 0) :
						     -ENOENT;
	if (root == ROOT_DEBUG_DIR)
		dir = file->folders ? file->folders->debug_dir : FOLDER_NONE;
	else if (file_get_symfs(file) != FOLDER_NONE)
		dir = file_get_symfs(file);
	if (dir == FOLDER_NONE)
		return -ENOENT;
	return dir == AT_FDCWD ? regular_open(dir, path, 0, 0) : folder_open_file(dir, path, 0, 0);
}

static void format_build_id_path(char *path, size_t size, const char *folder, const u8 *id,
				 u8 id_size)
{
	size_t n = (size_t)snprintf(path, size, "%s/.build-id/%02x/", folder, id[0]);

	for (u8 i = 1; i < id_size; i++)
		n += (size_t)snprintf(path + n, size - n, "%02x", id[i]);
	snprintf(path + n, size - n, ".debug");
}

/* Build the path of a linked debug file from the directory of the file. */
static bool format_debug_link_path(char *path, size_t size, const struct file_request *file,
				   const char *link, const char *prefix, const char *suffix)
{
	const char *slash = strrchr(file->path, '/');

	if (!slash || !*link)
		return false;
	return snprintf(path, size, "%s%.*s%s/%s", prefix, (int)(slash - file->path), file->path,
			suffix, link) < (int)size;
}

/*
 * The paths of a file with debug information, in the order in which they are tried. Those below "/"
 * are the paths that gdb searches. Each is opened first in the root directory of the daemon, which
 * the administrator controls, then in the root directory of the process. @suffix: subdirectory of
 * the directory of the file; NULL: the name is the build ID.
 */
static const struct {
	enum debug_root root;
	const char *prefix;
	const char *suffix;
} debug_paths[] = {
	{ ROOT_DEBUG_DIR, "", NULL }, { ROOT_DEBUG_DIR, "", "" },
	{ ROOT_OWN, DEBUG, NULL },    { ROOT_PROCESS, DEBUG, NULL },
	{ ROOT_OWN, "", "" },	      { ROOT_PROCESS, "", "" },
	{ ROOT_OWN, "", "/.debug" },  { ROOT_PROCESS, "", "/.debug" },
	{ ROOT_OWN, DEBUG, "" },      { ROOT_PROCESS, DEBUG, "" },
};

int file_open_debug(const struct file_request *file, const struct symbol_file_content *known,
		    u32 *candidate)
{
	char path[PATH_MAX];
	int fd;

	for (; *candidate < ARRAY_SIZE(debug_paths); ++*candidate) {
		const char *prefix = debug_paths[*candidate].prefix;
		const char *suffix = debug_paths[*candidate].suffix;

		if (!suffix && known->build_id_size < 2)
			continue;
		if (!suffix)
			format_build_id_path(path, sizeof(path), prefix, known->build_id,
					     known->build_id_size);
		else if (!format_debug_link_path(path, sizeof(path), file, known->link, prefix,
						 suffix))
			continue;
		fd = path_open_in_root(file, path, debug_paths[*candidate].root);
		if (fd >= 0) {
			++*candidate;
			return fd;
		}
	}
	return -ENOENT;
}

int file_open_shared_debug(const struct file_request *file, const u8 *id, u8 size)
{
	char path[96 + 2 * BUILD_ID_MAX];
	int fd = -ENOENT;

	if (size < 2)
		return -ENOENT;
	for (u32 i = 0; fd < 0 && i < ARRAY_SIZE(debug_paths); i++) {
		if (debug_paths[i].suffix)
			continue;
		format_build_id_path(path, sizeof(path), debug_paths[i].prefix, id, size);
		fd = path_open_in_root(file, path, debug_paths[i].root);
	}
	return fd;
}

/*
 * Get the first number of the line with @key in /proc/PID/status, or, if @last is set, the last
 * number.
 */
static bool status_get_number(const char *status, const char *key, bool last, long *ret_number)
{
	const char *at = strstr(status, key), *end;

	if (!at)
		return false;
	at += strlen(key);
	end = at + strcspn(at, "\n");
	for (const char *p = at; last && p < end; p++)
		if (*p == '\t' && p + 1 < end)
			at = p;
	*ret_number = strtol(at, NULL, 10);
	return true;
}

/* Get the PID of a process in its own namespace, and its real user id. */
static int process_read_ids(int dir, long *ret_pid, long *ret_uid)
{
	char status[STATUS_SIZE];
	ssize_t n = procfs_read_file(dir, "status", status, sizeof(status));

	if (n < 0)
		return (int)n;
	return status_get_number(status, "\nNSpid:", true, ret_pid) &&
			       status_get_number(status, "\nUid:", false, ret_uid) ?
		       0 :
		       -EBADMSG;
}

/**
 * struct mapped_dump - a search for the jitdump that a process has mapped
 * @name: its file name
 * @path: its path; "" if it was not found
 * @inode: its inode number
 */
struct mapped_dump {
	char name[32];
	char path[PATH_MAX];
	u64 inode;
};

static bool store_if_dump(void *ctx, const struct procfs_map *map)
{
	struct mapped_dump *dump = ctx;
	const char *slash = strrchr(map->path, '/');

	if (!slash || strcmp(slash + 1, dump->name) != 0 || strlen(map->path) >= sizeof(dump->path))
		return true;
	strcpy(dump->path, map->path);
	dump->inode = map->inode;
	return false;
}

/*
 * Open the jitdump that a runtime has mapped to announce its path, which may be in any directory.
 * @dir: directory of the process in /proc
 */
static int mapped_dump_open(s32 pid, int dir, long namespace_pid)
{
	struct mapped_dump dump = { .inode = 0 };
	struct procfs_maps_cost cost;
	int r;

	snprintf(dump.name, sizeof(dump.name), "jit-%ld.dump", namespace_pid);
	r = procfs_read_maps(dir, 0, store_if_dump, &dump, &cost);
	if (r < 0 || !*dump.path)
		return r < 0 ? r : -ENOENT;
	return process_root_open_file(pid, dump.path, dump.inode, RESOLVE_NO_SYMLINKS);
}

/* The files with names of compiled code, in the order in which they are tried. */
enum jit_candidate {
	JIT_TMP_DUMP, /* /tmp/jit-PID.dump */
	JIT_PERF_MAP, /* /tmp/perf-PID.map */
	/* The last one, because finding it is expensive: the runtime has mapped it. */
	JIT_MAPPED_DUMP,
	JIT_CANDIDATES,
};

static int jit_candidate_open(s32 pid, int dir, long namespace_pid, u32 candidate)
{
	char path[64];

	if (candidate == JIT_MAPPED_DUMP)
		return mapped_dump_open(pid, dir, namespace_pid);
	snprintf(path, sizeof(path),
		 candidate == JIT_TMP_DUMP ? "/tmp/jit-%ld.dump" : "/tmp/perf-%ld.map",
		 namespace_pid);
	return process_root_open_file(pid, path, 0, RESOLVE_NO_SYMLINKS);
}

/* Close a file and return -EPERM if it belongs to neither the user @uid nor root. */
static int owner_check(int fd, long uid)
{
	struct stat st;

	if (fstat(fd, &st) >= 0 && (!st.st_uid || st.st_uid == (uid_t)uid))
		return fd;
	close(fd);
	return -EPERM;
}

int file_open_jit_names(s32 pid, u32 *candidate)
{
	long namespace_pid, uid;
	int dir, fd = -ENOENT, r;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	r = process_read_ids(dir, &namespace_pid, &uid);
	for (; r == 0 && fd < 0 && *candidate < JIT_CANDIDATES; ++*candidate) {
		fd = jit_candidate_open(pid, dir, namespace_pid, *candidate);
		if (fd >= 0)
			fd = owner_check(fd, uid);
	}
	close(dir);
	return r < 0 ? r : fd;
}
