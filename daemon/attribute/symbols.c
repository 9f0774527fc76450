// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symbols.h"

#include "elf-file.h"
#include "escape.h"
#include "kallsyms.h"
#include "vdso.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BUDGET	      (16ULL << 20)
#define FILES_MAX     1024
#define KERNEL_AGE_S  60 /* before kallsyms is read again for an unknown address */
#define MAP_FILES_MAX 4096 /* entries of /proc/PID/map_files looked at */
#define VDSO_LIMIT    65536
#define MEMOS	      256
#define MEMO_AGE_S    1 /* before the file of a mapping is looked for again */
#define SHORT_ID      6 /* bytes of a build id that are shown */

/* A file is the same as long as these are. */
struct file_key {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
};

/**
 * struct file - an entry of the cache
 * @next: the most recently used is first
 * @path: hash of the path by which it was mapped, 0 if that is not sure: so it is
 *	found for a process that is gone, and its root with it
 */
struct file {
	struct file *next;
	u64 path;
	struct file_key key;
	struct elf_object object;
};

/* Which file a mapping was found to be: a view asks for each place in it. */
struct memo {
	struct file *file;
	u64 path;
	u64 inode;
	time_t at;
	s32 pid;
	bool used;
	bool live;
	bool has_id;	/* without one, a file of another root is not tried */
};

struct symbols {
	struct file *files;
	struct memo memos[MEMOS];
	struct symtab kernel;
	struct elf_object vdso;
	u64 budget;
	u64 memory; /* of the files */
	u32 count;
	time_t kernel_read;
	bool kernel_tried;
	bool vdso_tried;
};

static u64 file_memory(const struct file *f)
{
	return sizeof(*f) + symtab_memory(&f->object.symbols);
}

static void file_free(struct symbols *s, struct file *f)
{
	s->memory -= file_memory(f);
	s->count--;
	symtab_clear(&f->object.symbols);
	free(f);
}

/* Drop what was used the longest ago, but never the first: it was just asked for. */
static void files_trim(struct symbols *s)
{
	u64 kernel = symtab_memory(&s->kernel);

	while (s->count > 1 && (s->memory + kernel > s->budget || s->count > FILES_MAX)) {
		struct file **at = &s->files->next, *last;

		while (*at && (*at)->next)
			at = &(*at)->next;
		last = *at;
		*at = NULL;
		file_free(s, last);
		memset(s->memos, 0, sizeof(s->memos));
	}
}

/* A file that was read while a process lived that had it mapped by that path. */
static struct file *file_known(struct symbols *s, const struct attribute_place *place)
{
	u64 path = path_hash(place->binary);
	struct file *f = place->inode ? s->files : NULL;

	while (f && (f->key.ino != place->inode || f->path != path))
		f = f->next;
	return f;
}

static struct file *file_find(struct symbols *s, const struct file_key *key)
{
	for (struct file **at = &s->files; *at; at = &(*at)->next) {
		struct file *f = *at;

		if (f->key.dev != key->dev || f->key.ino != key->ino || f->key.size != key->size ||
		    f->key.mtime.tv_sec != key->mtime.tv_sec ||
		    f->key.mtime.tv_nsec != key->mtime.tv_nsec)
			continue;
		*at = f->next;
		f->next = s->files;
		s->files = f;
		return f;
	}
	return NULL;
}

/* A stripped file's own debug file, of which distributions keep the symbols apart. */
static void file_load_debug(struct elf_object *o)
{
	char path[64 + 2 * BUILD_ID_MAX];
	struct elf_object debug = { .symbols.limit = o->symbols.limit };
	size_t n;
	int fd;

	if (o->full || o->build_id_size < 2)
		return;
	n = (size_t)snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", o->build_id[0]);
	for (u32 i = 1; i < o->build_id_size; i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "%02x", o->build_id[i]);
	snprintf(path + n, sizeof(path) - n, ".debug");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return;
	if (!elf_load(fd, &debug) && debug.build_id_size == o->build_id_size &&
	    !memcmp(debug.build_id, o->build_id, o->build_id_size) && debug.symbols.count) {
		symtab_clear(&o->symbols);
		o->symbols = debug.symbols;
		o->full = true;
	} else {
		symtab_clear(&debug.symbols);
	}
	close(fd);
}

/* The file open at @fd, from the cache or read; one that is broken has no names. */
static struct file *file_get(struct symbols *s, int fd)
{
	struct stat st;
	struct file_key key = { 0 };
	struct file *f;

	if (fstat(fd, &st) < 0)
		return NULL;
	key.dev = st.st_dev;
	key.ino = st.st_ino;
	key.size = st.st_size;
	key.mtime = st.st_mtim;
	f = file_find(s, &key);
	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->key = key;
	/* Half of all at most, lest one file drive the others out. */
	f->object.symbols.limit = s->budget / 2;
	if (elf_load(fd, &f->object) < 0)
		symtab_clear(&f->object.symbols);
	else
		file_load_debug(&f->object);
	f->next = s->files;
	s->files = f;
	s->count++;
	s->memory += file_memory(f);
	files_trim(s);
	return f;
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
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (inode && st.st_ino != inode)) {
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

/* In the root of the process; its symbolic links must not lead out of it. */
static int root_open(s32 pid, const struct attribute_place *place)
{
	char root[32];
	int dir, fd;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = regular_open(dir, place->binary, place->inode,
			  RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	close(dir);
	return fd;
}

/* Deleted, or another file has its path now: the mapping itself still leads to it. */
static int mapping_open(s32 pid, const struct attribute_place *place)
{
	char path[48], target[PATH_MAX];
	int fd = -ENOENT, dir;
	struct dirent *entry;
	DIR *d;

	if (!place->inode)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d/map_files", pid);
	d = opendir(path);
	if (!d)
		return -errno;
	dir = dirfd(d);
	for (u32 i = 0; fd < 0 && i < MAP_FILES_MAX && (entry = readdir(d)); i++) {
		ssize_t n = readlinkat(dir, entry->d_name, target, sizeof(target) - 1);

		if (n < 0)
			continue;
		target[n] = '\0';
		if (!strcmp(target, place->binary))
			fd = regular_open(dir, entry->d_name, place->inode, 0);
	}
	closedir(d);
	return fd;
}

static int place_open(s32 pid, const struct attribute_place *place, bool live)
{
	int fd = -ENOENT;

	if (live && pid > 0) {
		fd = root_open(pid, place);
		if (fd < 0)
			fd = mapping_open(pid, place);
	}
	/* This machine's file of that path may be another: its inode or build-id must tell. */
	if (fd < 0 && (place->build_id_size || (live && place->inode)))
		fd = regular_open(AT_FDCWD, place->binary, live ? place->inode : 0, 0);
	return fd;
}

u8 symbols_build_id(s32 pid, const struct attribute_place *place, u8 *ret_id)
{
	struct elf_object object = { .build_id_size = 0 };
	int fd = place_open(pid, place, true);

	if (fd < 0)
		return 0;
	if (elf_load_build_id(fd, &object) < 0)
		object.build_id_size = 0;
	close(fd);
	memcpy(ret_id, object.build_id, object.build_id_size);
	return object.build_id_size;
}

static struct file *place_file(struct symbols *s, s32 pid, const struct attribute_place *place,
			       bool live)
{
	int fd = place_open(pid, place, live);
	struct file *f;

	if (fd < 0)
		return live ? file_known(s, place) : NULL;
	f = file_get(s, fd);
	close(fd);
	if (f && live && place->inode)
		f->path = path_hash(place->binary);
	return f;
}

static time_t now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec;
}

static struct file *place_memo(struct symbols *s, s32 pid, const struct attribute_place *place,
			       bool live)
{
	u64 path = path_hash(place->binary);
	struct memo *memo = &s->memos[(path ^ place->inode ^ (u32)pid) % MEMOS];
	struct file *file;

	if (memo->used && memo->path == path && memo->inode == place->inode && memo->pid == pid &&
	    memo->live == live && memo->has_id == !!place->build_id_size &&
	    now_s() - memo->at <= MEMO_AGE_S)
		return memo->file;
	/* First: reading a file may drop others, and every memo with them. */
	file = place_file(s, pid, place, live);
	*memo = (struct memo){
		.file = file, .path = path, .inode = place->inode, .at = now_s(), .pid = pid,
		.used = true, .live = live, .has_id = place->build_id_size,
	};
	return file;
}

static const char *file_function(struct symbols *s, s32 pid, const struct attribute_place *place,
				 bool live)
{
	struct file *f = place_memo(s, pid, place, live);
	const char *name = NULL;
	u64 vaddr;

	if (!f)
		return NULL;
	if (place->build_id_size &&
	    (f->object.build_id_size != place->build_id_size ||
	     memcmp(f->object.build_id, place->build_id, place->build_id_size)))
		return NULL;
	if (elf_vaddr(&f->object, place->offset, &vaddr))
		name = symtab_find(&f->object.symbols, vaddr);
	return name;
}

/* Modules come and go: an unknown address is worth another look, now and then. */
static const char *kernel_function(struct symbols *s, u64 addr)
{
	const char *name = symtab_find(&s->kernel, addr);

	if (name || (s->kernel_tried && now_s() - s->kernel_read < KERNEL_AGE_S))
		return name;
	symtab_clear(&s->kernel);
	s->kernel.limit = s->budget;
	s->kernel_tried = true;
	s->kernel_read = now_s();
	if (kallsyms_load("/proc/kallsyms", &s->kernel) < 0)
		return NULL;
	return symtab_find(&s->kernel, addr);
}

static const char *vdso_function(struct symbols *s, u64 offset)
{
	u64 vaddr;

	if (!s->vdso_tried) {
		s->vdso_tried = true;
		s->vdso.symbols.limit = VDSO_LIMIT;
		vdso_load(&s->vdso);
	}
	return elf_vaddr(&s->vdso, offset, &vaddr) ? symtab_find(&s->vdso.symbols, vaddr) : NULL;
}

/* "binary+0xoffset", and whose offset that is: the offset is kept whole, the name is cut. */
static void name_offset(const struct attribute_place *place, bool live, char *name, size_t size)
{
	static const char deleted[] = " (deleted)";
	const char *base = strrchr(place->binary, '/');
	char tail[24 + 4 + 2 * SHORT_ID];
	size_t len, n;

	base = base && base[1] ? base + 1 : place->binary;
	len = strlen(base);
	n = strlen(deleted);
	if (len > n && !strcmp(base + len - n, deleted))
		len -= n;
	n = (size_t)snprintf(tail, sizeof(tail), "+0x%" PRIx64, place->offset);
	/* Of a recording: it is to be looked up where that build is, with addr2line or debuginfod. */
	if (!live && place->build_id_size) {
		n += (size_t)snprintf(tail + n, sizeof(tail) - n, " [");
		for (u8 i = 0; i < place->build_id_size && i < SHORT_ID; i++)
			n += (size_t)snprintf(tail + n, sizeof(tail) - n, "%02x",
					      place->build_id[i]);
		n += (size_t)snprintf(tail + n, sizeof(tail) - n, "]");
	}
	if (size <= n + 1) {
		snprintf(name, size, "%s", tail + 1);
		return;
	}
	len = escape_text(name, size - n, base, len);
	memcpy(name + len, tail, n + 1);
}

bool symbols_function(struct symbols *s, s32 pid, const struct attribute_place *place, bool live,
		      char *name, size_t size)
{
	const char *found = NULL;

	if (!size)
		return false;
	if (!strcmp(place->binary, "[kernel]"))
		found = live ? kernel_function(s, place->offset) : NULL;
	else if (live && !strcmp(place->binary, "[vdso]"))
		found = vdso_function(s, place->offset);
	else if (place->binary[0] == '/')
		found = file_function(s, pid, place, live);
	if (found)
		escape_string(name, size, found);
	else
		name_offset(place, live, name, size);
	return found;
}

int symbols_new(u64 budget, struct symbols **ret_symbols)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->budget = budget ? budget : BUDGET;
	*ret_symbols = s;
	return 0;
}

struct symbols *symbols_free(struct symbols *s)
{
	if (!s)
		return NULL;
	while (s->files) {
		struct file *f = s->files;

		s->files = f->next;
		file_free(s, f);
	}
	symtab_clear(&s->kernel);
	symtab_clear(&s->vdso.symbols);
	free(s);
	return NULL;
}
