// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "elf-image.h"
#include "daemon/symbols/elf-load.h"
#include "symbols/helper/file-open.h"
#include "symbols/helper/sandbox.h"
#include "symbols/symbols.h"
#include "symbols/symbols-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT (8ULL << 20)
#define WAIT  60000

/* The test looks up the name of this function by an address in the function */
__attribute__((noinline, used)) static int walk_the_line(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" : "+r"(i));
	return n;
}

/* A versioned symbol, as in libraries: its name in the table is "versioned@TEST_1". */
__asm__(".symver versioned_1, versioned@TEST_1");
__attribute__((noinline, used)) static int versioned_1(void)
{
	return walk_the_line(1);
}

static const struct symbols_config waiting = { .wait_ms = WAIT };

/* Return the name of @location after it was resolved. */
static bool resolve_name(struct symbols_cache *s, s32 pid,
			 const struct attribute_location *location, bool live, char *name,
			 size_t size)
{
	if (symbols_get_function(s, pid, location, live, name, size))
		return true;
	symbols_wait_configured(s);
	return symbols_get_function(s, pid, location, live, name, size);
}

static struct attributor *make_own_attributor(u32 *ret_index)
{
	const struct attributor_config config = { .live = true };
	struct attributor *a;

	assert_int_equal(attributor_new(&config, &a), 0);
	*ret_index = attributor_find_process(a, getpid());
	assert_int_not_equal(*ret_index, ATTRIBUTE_NONE);
	return a;
}

static void test_own_function(void **state)
{
	u32 index;
	struct attributor *a = make_own_attributor(&index);
	u64 pc = (u64)(uintptr_t)walk_the_line;
	struct attribute_location location;
	struct symbols_cache *s;
	char name[64];

	(void)state;
	assert_int_equal(walk_the_line(3), 3);
	assert_int_equal(symbols_new(&waiting, &s), 0);
	assert_true(attributor_locate_pc(a, index, pc + 1, false, &location));
	assert_true(resolve_name(s, getpid(), &location, true, name, sizeof(name)));
	assert_string_equal(name, "walk_the_line");
	/* After the process has exited, the path still leads to the same file. */
	assert_true(resolve_name(s, 0, &location, true, name, sizeof(name)));
	assert_string_equal(name, "walk_the_line");
	/* A file with another inode number is another file. */
	location.inode++;
	assert_false(resolve_name(s, getpid(), &location, true, name, sizeof(name)));
	assert_non_null(strstr(name, "test-symbols+0x"));
	/* The build ID decides whether the file of a recording is the one on this machine. */
	location.inode--;
	assert_false(resolve_name(s, 0, &location, false, name, sizeof(name)));
	assert_true(attributor_locate_pc(a, index, (u64)(uintptr_t)versioned_1, false, &location));
	assert_true(resolve_name(s, getpid(), &location, true, name, sizeof(name)));
	assert_string_equal(name, "versioned");
	/* a function of a library, which has a dynamic symbol */
	assert_true(attributor_locate_pc(a, index, (u64)(uintptr_t)strtoull, false, &location));
	assert_true(resolve_name(s, getpid(), &location, true, name, sizeof(name)));
	assert_non_null(strstr(name, "strtoul"));
	symbols_free(s);
	attributor_free(a);
}

/*
 * Names that were read while the process lived remain after the process exited and the file was
 * removed.
 */
static void test_removed_file_keeps_names(void **state)
{
	char gone[] = "/tmp/test-symbols-XXXXXX";
	struct elf_image image = elf_image_read("/proc/self/exe");
	struct attribute_location location = { .binary = gone };
	struct elf_object o = { .symbols.limit = LIMIT };
	struct stat st;
	struct symbols_cache *s;
	char name[64];
	int fd;

	(void)state;
	fd = mkstemp(gone);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, image.bytes, image.size), image.size);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(elf_load(fd, &o), 0);
	location.inode = st.st_ino;
	for (u32 i = 0; i < o.symbols.count && !location.offset; i++)
		if (!strcmp(o.symbols.names + o.symbols.entry[i].name, "walk_the_line"))
			location.offset = o.symbols.entry[i].start;
	for (u32 i = 0; i < o.segments; i++)
		if (location.offset - o.segment[i].vaddr < o.segment[i].size) {
			location.offset += o.segment[i].offset - o.segment[i].vaddr;
			break;
		}
	assert_int_equal(symbols_new(&waiting, &s), 0);
	assert_true(resolve_name(s, getpid(), &location, true, name, sizeof(name)));
	assert_string_equal(name, "walk_the_line");
	unlink(gone);
	close(fd);
	assert_true(resolve_name(s, 0, &location, true, name, sizeof(name)));
	assert_string_equal(name, "walk_the_line");
	location.binary = "/tmp/test-symbols-other";
	assert_false(resolve_name(s, 0, &location, true, name, sizeof(name)));
	location.binary = gone;
	/* The same inode number on another device is another file. */
	location.device++;
	assert_false(resolve_name(s, 0, &location, true, name, sizeof(name)));
	location.device--;
	location.inode++;
	assert_false(resolve_name(s, 0, &location, true, name, sizeof(name)));
	symtab_clear(&o.symbols);
	symbols_free(s);
	free(image.bytes);
}

/*
 * Check that a running binary that was deleted, like in an upgrade, is found by
 * /proc/PID/map_files.
 */
static void test_deleted_running_binary(void **state)
{
	char path[] = "/tmp/test-symbols-XXXXXX", link[64], name[64];
	struct elf_image image = elf_image_read("/proc/self/exe");
	u64 pc = (u64)(uintptr_t)walk_the_line;
	int fd = mkstemp(path);
	struct attribute_location own, location;
	struct attributor *a;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct symbols_cache *s;
	u32 index;
	u8 *map;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, image.bytes, image.size), image.size);
	map = mmap(NULL, image.size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	close(fd);
	unlink(path);
	a = make_own_attributor(&index);
	assert_true(attributor_locate_pc(a, index, pc, false, &own));
	pc = (u64)(uintptr_t)map + own.offset;
	assert_true(attributor_locate_pc(a, index, pc, false, &location));
	assert_non_null(strstr(location.binary, " (deleted)"));
	assert_int_equal(location.offset, own.offset);
	assert_int_equal(symbols_new(&waiting, &s), 0);
	snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx", (unsigned long)map,
		 (unsigned long)map + ((image.size + page - 1) / page * page));
	fd = open(link, O_RDONLY | O_CLOEXEC);
	/*
	 * Without CAP_CHECKPOINT_RESTORE, the link cannot be opened, and only the name of the file
	 * is shown.
	 */
	assert_int_equal(resolve_name(s, getpid(), &location, true, name, sizeof(name)), fd >= 0);
	if (fd >= 0)
		assert_string_equal(name, "walk_the_line");
	else
		assert_memory_equal(name, path + 5, strlen(path + 5));
	if (fd >= 0)
		close(fd);
	munmap(map, image.size);
	symbols_free(s);
	attributor_free(a);
	free(image.bytes);
}

/*
 * Files of kernel file systems are not opened as a program, or as a file beside a program, as
 * reading them may have side effects.
 */
static void test_kernel_file_systems_are_refused(void **state)
{
	struct file_request file = { .path = "/proc/version", .pid = getpid(), .live = true };
	const struct symbol_file_content known = { .link = "version" };
	char path[PATH_MAX];
	u32 next = 0;
	struct stat st;
	ssize_t n;
	int fd;

	(void)state;
	assert_int_equal(stat(file.path, &st), 0);
	file.inode = st.st_ino;
	assert_true(file_open_mapped(&file) < 0);
	file.path = "/proc/prog";
	assert_int_equal(file_open_debug(&file, &known, &next), -ENOENT);
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	assert_true(n > 0);
	path[n] = '\0';
	assert_int_equal(stat(path, &st), 0);
	file = (struct file_request){ path, st.st_ino, getpid(), false, true };
	fd = file_open_mapped(&file);
	assert_true(fd >= 0);
	close(fd);
}

static void write_program(const struct elf_image *image, const char *folder, const char *name)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(image->bytes, 1, image->size, file), image->size);
	assert_int_equal(fclose(file), 0);
}

/* Make a directory of a recorded machine, with a program, and a program beside the directory. */
static void make_recorded_machine(char *folder, char *ret_root, size_t size)
{
	struct elf_image image = elf_image_read("/proc/self/exe");
	char bin[80], path[128];

	assert_non_null(mkdtemp(folder));
	snprintf(ret_root, size, "%s/root", folder);
	snprintf(bin, sizeof(bin), "%s/bin", ret_root);
	assert_int_equal(mkdir(ret_root, 0700), 0);
	assert_int_equal(mkdir(bin, 0700), 0);
	write_program(&image, bin, "program");
	write_program(&image, folder, "outside");
	snprintf(path, sizeof(path), "%s/link", bin);
	assert_int_equal(symlink("../../outside", path), 0);
	free(image.bytes);
}

/*
 * With a directory for the files of a recording, a path of the recording cannot lead outside. The
 * build ID is compared if it is known.
 */
static void test_folder_of_recorded_machine(void **state)
{
	static const struct {
		const char *path;
		u8 id_size;
		bool found;
	} rows[] = {
		{ "/bin/program", 0, true },
		{ "/bin/program", 20, false },
		{ "/../../bin/program", 0, true },
		{ "/../outside", 0, false },
		{ "/bin/../../outside", 0, false },
		{ "/bin/link", 0, false },
		{ "/bin", 0, false },
		{ "/bin/missing", 0, false },
	};
	static const char *const made[] = { "root/bin/program", "root/bin/link",
					    "root/bin",		"root",
					    "outside",		"" };
	char folder[] = "/tmp/test-symbols-XXXXXX", root[64], path[128], name[64];
	struct symbols_config config = waiting;
	struct attribute_location location;
	struct symbols_cache *s;
	const u8 id[20] = { 1 };
	struct attributor *a;
	u32 index;

	(void)state;
	make_recorded_machine(folder, root, sizeof(root));
	config.folders.symfs = root;
	a = make_own_attributor(&index);
	assert_true(
		attributor_locate_pc(a, index, (u64)(uintptr_t)walk_the_line, false, &location));
	assert_int_equal(symbols_new(&config, &s), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s, build ID of %u bytes", rows[i].path, rows[i].id_size);
		location.binary = rows[i].path;
		location.build_id = id;
		location.build_id_size = rows[i].id_size;
		assert_row(resolve_name(s, 0, &location, false, name, sizeof(name)) ==
			   rows[i].found);
		assert_row(!rows[i].found || !strcmp(name, "walk_the_line"));
	}
	symbols_free(s);
	attributor_free(a);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, made[i]);
		assert_int_equal(remove(path), 0);
	}
}

/* Test the list of file systems that store programs. Files on other file systems are not read. */
static void test_allowed_file_systems(void **state)
{
	static const struct {
		const char *name;
		u64 kind;
		bool stores;
	} rows[] = {
		{ "ext4", EXT4_SUPER_MAGIC, true },
		{ "tmpfs", TMPFS_MAGIC, true },
		{ "overlay", OVERLAYFS_SUPER_MAGIC, true },
		{ "fuse", FUSE_SUPER_MAGIC, true },
		{ "nfs", NFS_SUPER_MAGIC, true },
		{ "smb", SMB2_SUPER_MAGIC, true },
		{ "proc", PROC_SUPER_MAGIC, false },
		{ "sysfs", SYSFS_MAGIC, false },
		{ "binfmt_misc", BINFMTFS_MAGIC, false },
		{ "mqueue", 0x19800202, false },
		{ "configfs", 0x62656570, false },
		{ "secretmem", SECRETMEM_MAGIC, false },
		{ "unknown", 0x12345678, false },
		/* the value of statfs() if the type of the field is signed */
		{ "smb, signed", (u64)(s64)(s32)SMB2_SUPER_MAGIC, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].name);
		assert_row(file_system_is_allowed(rows[i].kind) == rows[i].stores);
	}
}

/*
 * Act as the filter of the unit: seccomp() is not permitted, so only prctl() can add another
 * filter.
 */
static int install_seccomp_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}

/*
 * Check that the sandbox permits fstat() of a descriptor, but stat() of no path, not even of an
 * existing file.
 */
static void test_sandbox_permits_only_fstat(void **state)
{
	pid_t pid = fork();
	int status = -1;

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		struct stat st;
		int r = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (install_seccomp_filter() < 0)
			_exit(5);
		if (r < 0 || dup2(r, 3) != 3 || sandbox_enter_reader(3) < 0)
			_exit(1);
		if (fstat(3, &st) < 0)
			_exit(2);
		if (!fstatat(3, "proc", &st, 0) || errno != EPERM)
			_exit(3);
		if (!stat("/", &st) || errno != EPERM)
			_exit(4);
		/* The only permitted flag is the one that fstat() sets. */
		if (fstatat(3, "", &st, AT_EMPTY_PATH) < 0)
			_exit(6);
		if (!fstatat(3, "", &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) || errno != EPERM)
			_exit(7);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_vdso_names(void **state)
{
	struct elf_object o = { .symbols.limit = LIMIT };
	const struct symbol *sym;
	struct attribute_location location = { .binary = "[vdso]" };
	struct symbols_cache *s;
	char name[64];
	int fd;

	(void)state;
	fd = vdso_copy_to_memfd();
	if (fd < 0)
		skip();
	assert_int_equal(elf_load(fd, &o), 0);
	close(fd);
	assert_true(o.symbols.count > 0);
	sym = &o.symbols.entry[0];
	location.offset = sym->start - o.segment[0].vaddr + o.segment[0].offset;
	assert_int_equal(symbols_new(&waiting, &s), 0);
	assert_true(resolve_name(s, 0, &location, true, name, sizeof(name)));
	assert_string_equal(name, o.symbols.names + sym->name);
	assert_false(resolve_name(s, 0, &location, false, name, sizeof(name)));
	location.offset = 1 << 20;
	assert_false(resolve_name(s, 0, &location, true, name, sizeof(name)));
	assert_string_equal(name, "[vdso]+0x100000");
	symtab_clear(&o.symbols);
	symbols_free(s);
}

static void test_build_id_of_file(void **state)
{
	struct elf_object o = { .symbols.limit = LIMIT };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	u32 index;
	struct attributor *a = make_own_attributor(&index);
	struct attribute_location location;
	struct symbols_cache *s;
	char name[64];

	(void)state;
	assert_int_equal(elf_load(fd, &o), 0);
	close(fd);
	if (!o.build_id_size) {
		symtab_clear(&o.symbols);
		attributor_free(a);
		skip();
	}
	assert_int_equal(symbols_new(&waiting, &s), 0);
	assert_true(
		attributor_locate_pc(a, index, (u64)(uintptr_t)walk_the_line, false, &location));
	location.inode = 0;
	location.build_id = o.build_id;
	location.build_id_size = o.build_id_size;
	assert_true(resolve_name(s, 0, &location, false, name, sizeof(name)));
	assert_string_equal(name, "walk_the_line");
	o.build_id[0] ^= 1;
	assert_false(resolve_name(s, 0, &location, false, name, sizeof(name)));
	symtab_clear(&o.symbols);
	symbols_free(s);
	attributor_free(a);
}

static void test_addresses_without_name(void **state)
{
	static const struct {
		const char *binary;
		u64 offset;
		const char *name;
	} rows[] = {
		{ "/nowhere/lib.so", 0x123, "lib.so+0x123" },
		{ "/nowhere/lib.so (deleted)", 1, "lib.so+0x1" },
		{ "/nowhere/\033[2J", 1, "\\x1b[2J+0x1" },
		{ "/dev/null", 1, "null+0x1" },
		{ "/", 1, "/+0x1" },
		{ "", 1, "+0x1" },
		{ "[anon]", 0x7f0000000000, "[anon]+0x7f0000000000" },
		{ "[nf_tables]", 2, "[nf_tables]+0x2" },
	};
	const struct attribute_location kernel = { .binary = "[kernel]",
						   .offset = 0xffffffff81000000 };
	struct symbols_cache *s;
	char name[64];

	(void)state;
	/* Without a recording kernel addresses have no names. A recording has its own symbols. */
	resolve_name(NULL, 0, &kernel, true, name, sizeof(name));
	assert_string_equal(name, "[kernel]");
	resolve_name(NULL, 0, &kernel, false, name, sizeof(name));
	assert_string_equal(name, "[kernel]+0xffffffff81000000");
	symbols_name_unmapped(0x7f0000001000, true, name, sizeof(name));
	assert_string_equal(name, "[unknown]");
	symbols_name_unmapped(0x7f0000001000, false, name, sizeof(name));
	assert_string_equal(name, "0x7f0000001000");
	assert_int_equal(symbols_new(&waiting, &s), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct attribute_location location = { .binary = rows[i].binary,
							     .offset = rows[i].offset };

		for (int live = 0; live < 2; live++) {
			assert_false(
				resolve_name(s, getpid(), &location, live, name, sizeof(name)));
			assert_string_equal(name, rows[i].name);
		}
		for (size_t n = 0; n < 30; n++) {
			memset(name, '#', sizeof(name));
			resolve_name(s, 0, &location, true, name, n);
			assert_int_equal(name[n], '#');
			assert_true(!n || memchr(name, '\0', n));
		}
	}
	symbols_free(s);
}

/* Check that the names are the same with a budget smaller than two files. */
static void test_small_budget_keeps_names(void **state)
{
	const struct symbols_config small = { .budget = 500000, .wait_ms = WAIT };
	u32 index;
	struct attributor *a = make_own_attributor(&index);
	struct attribute_location own, library;
	struct symbols_cache *s;
	char name[64];

	(void)state;
	assert_int_equal(symbols_new(&small, &s), 0);
	for (int i = 0; i < 4; i++) {
		assert_true(
			attributor_locate_pc(a, index, (u64)(uintptr_t)walk_the_line, false, &own));
		resolve_name(s, getpid(), &own, true, name, sizeof(name));
		assert_string_equal(name, "walk_the_line");
		assert_true(
			attributor_locate_pc(a, index, (u64)(uintptr_t)strtoull, false, &library));
		resolve_name(s, getpid(), &library, true, name, sizeof(name));
	}
	symbols_free(s);
	attributor_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_function),
		cmocka_unit_test(test_build_id_of_file),
		cmocka_unit_test(test_removed_file_keeps_names),
		cmocka_unit_test(test_deleted_running_binary),
		cmocka_unit_test(test_vdso_names),
		cmocka_unit_test(test_addresses_without_name),
		cmocka_unit_test(test_small_budget_keeps_names),
		cmocka_unit_test(test_kernel_file_systems_are_refused),
		cmocka_unit_test(test_folder_of_recorded_machine),
		cmocka_unit_test(test_allowed_file_systems),
		cmocka_unit_test(test_sandbox_permits_only_fstat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
