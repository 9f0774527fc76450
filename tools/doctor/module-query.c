// SPDX-License-Identifier: LGPL-2.1-or-later
/* Query speprof.ko: the installed file, and the loaded module. */
#include <fcntl.h>
#include <glob.h>
#include <linux/speprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <zlib.h>

#include "doctor.h"
#include "lib/text.h"

/* Maximum size of a module file that is read; with debug information it has a few MiB. */
#define MODULE_BYTES_MAX (64U << 20)

static const char *const folders[] = { "updates/dkms", "updates", "extra", "extra/speprof" };

/* Query the first CPU with an SPU, because all SPUs have the same backend. */
static void query_first_spu(int fd, u32 cpus, struct loaded_module *module)
{
	for (u32 cpu = 0; cpu < cpus; cpu++) {
		struct speprof_cpu_info info = { .size = sizeof(info), .cpu = cpu };

		if (ioctl(fd, SPEPROF_CPU_INFO, &info) < 0 || !info.backend)
			continue;
		module->backend = info.backend;
		module->pmsver = info.pmsver;
		return;
	}
}

void module_query(const struct examined_machine *machine, struct loaded_module *ret_module)
{
	struct speprof_device_info info = { .size = sizeof(info) };
	struct loaded_module module = { 0 };
	char path[PATH_MAX];
	int fd;

	machine_join_path(machine, path, SPEPROF_DEVICE_PATH);
	/*
	 * Open without write permission, which queries do not need and members of the group do not
	 * have.
	 */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		module.state = errno == EACCES || errno == EPERM		? MODULE_NO_RIGHT :
			       machine_has_path(machine, "/sys/module/speprof") ? MODULE_NO_DEVICE :
										  MODULE_NOT_LOADED;
	} else if (ioctl(fd, SPEPROF_DEVICE_INFO, &info) < 0) {
		module.state = MODULE_MUTE;
	} else {
		module.state = MODULE_ANSWERS;
		module.abi = info.abi_version;
		module.spus = info.spus;
		query_first_spu(fd, info.cpus, &module);
	}
	if (fd >= 0)
		close(fd);
	*ret_module = module;
}

/* ---- The installed file ---------------------------------------------------------- */

/* Find "key=value" in .modinfo, which is a sequence of NUL-terminated strings. */
static void find_modinfo(const char *data, size_t size, const char *key, char *ret, size_t ret_size)
{
	char wanted[32];
	const char *at;
	size_t len = 1 + snprintf(wanted + 1, sizeof(wanted) - 1, "%s=", key);

	*wanted = 0;
	at = memmem(data, size, wanted, len);
	/* The first string of the section need not follow a NUL, and is then not found. */
	if (!at)
		return;
	at += len;
	snprintf(ret, ret_size, "%.*s", (int)strnlen(at, data + size - at), at);
	text_clean(ret);
}

static void module_file_parse(const char *data, size_t size, struct module_file *file)
{
	static const char trailer[] = "~Module signature appended~\n";
	size_t len = sizeof(trailer) - 1;

	if (size < 4 || memcmp(data, "\177ELF", 4) != 0) {
		file->error = "it is compressed, or not a module";
		return;
	}
	file->is_signed = size > len && memcmp(data + size - len, trailer, len) == 0;
	find_modinfo(data, size, "vermagic", file->vermagic, sizeof(file->vermagic));
	find_modinfo(data, size, "version", file->version, sizeof(file->version));
	find_modinfo(data, size, "srcversion", file->srcversion, sizeof(file->srcversion));
}

static void module_file_load(const struct examined_machine *machine, struct module_file *file)
{
	char path[PATH_MAX], *data = malloc(MODULE_BYTES_MAX);
	size_t size = 0;
	gzFile from;
	int n = 1;

	machine_join_path(machine, path, "%s", file->path);
	/* zlib also reads files that are not compressed. */
	from = gzopen(path, "re");
	while (data && from && n > 0 && size < MODULE_BYTES_MAX) {
		n = gzread(from, data + size, MODULE_BYTES_MAX - size);
		size += n > 0 ? n : 0;
	}
	if (!data || !from || n < 0)
		file->error = "it cannot be read";
	else
		module_file_parse(data, size, file);
	if (from)
		gzclose(from);
	free(data);
}

void module_file_read(const struct examined_machine *machine, struct module_file *ret_file)
{
	struct module_file file = { 0 };
	char pattern[512];

	for (size_t i = 0; i < ARRAY_SIZE(folders) && !*file.path; i++) {
		snprintf(pattern, sizeof(pattern), "/lib/modules/%s/%s/speprof.ko*",
			 machine->release, folders[i]);
		machine_matches_glob(machine, pattern, file.path);
	}
	if (*file.path)
		module_file_load(machine, &file);
	*ret_file = file;
}

bool module_find_other_kernel(const struct examined_machine *machine, char *ret, size_t size)
{
	static const size_t before = sizeof("/lib/modules/") - 1;
	char pattern[512], path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(pattern, sizeof(pattern), "/lib/modules/*/%s/speprof.ko*", folders[i]);
		if (!machine_matches_glob(machine, pattern, path))
			continue;
		snprintf(ret, size, "%.*s", (int)strcspn(path + before, "/"), path + before);
		text_clean(ret);
		return true;
	}
	return false;
}
