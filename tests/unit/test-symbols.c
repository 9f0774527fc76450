// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "elf-file.h"
#include "kallsyms.h"
#include "symbols.h"
#include "vdso.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT	  (8ULL << 20)
#define MUTATIONS 4000

/* What is looked for: its name, and an address within it. */
__attribute__((noinline, used)) static int walk_the_line(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" : "+r"(i));
	return n;
}

/* As a library with versions has it: the name in the table is "versioned@TEST_1". */
__asm__(".symver versioned_1, versioned@TEST_1");
__attribute__((noinline, used)) static int versioned_1(void)
{
	return walk_the_line(1);
}

struct image {
	u8 *bytes;
	size_t size;
};

static struct image image_read(const char *path)
{
	struct image image;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	image.size = (size_t)st.st_size;
	image.bytes = malloc(image.size);
	assert_non_null(image.bytes);
	assert_int_equal(read(fd, image.bytes, image.size), st.st_size);
	close(fd);
	return image;
}

/* A file in memory that holds @size bytes of @bytes. */
static int memory_file(const u8 *bytes, size_t size)
{
	int fd = memfd_create("test-symbols", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	return fd;
}

static struct attributor *own_attributor(u32 *ret_index)
{
	const struct attributor_config config = { .live = true };
	struct attributor *a;

	assert_int_equal(attributor_new(&config, &a), 0);
	*ret_index = attributor_task(a, getpid());
	assert_int_not_equal(*ret_index, ATTRIBUTE_NONE);
	return a;
}

static void test_own_function(void **state)
{
	u32 index;
	struct attributor *a = own_attributor(&index);
	u64 pc = (u64)(uintptr_t)walk_the_line;
	struct attribute_place place;
	struct symbols *s;
	char name[64];

	(void)state;
	assert_int_equal(walk_the_line(3), 3);
	assert_int_equal(symbols_new(0, &s), 0);
	assert_true(attributor_place(a, index, pc + 1, false, &place));
	assert_true(symbols_function(s, getpid(), &place, true, name, sizeof(name)));
	assert_string_equal(name, "walk_the_line");
	/* The same without a living process: its path holds the same file. */
	assert_true(symbols_function(s, 0, &place, true, name, sizeof(name)));
	assert_string_equal(name, "walk_the_line");
	/* Another file has that path now, as far as the mapping can tell. */
	place.inode++;
	assert_false(symbols_function(s, getpid(), &place, true, name, sizeof(name)));
	assert_non_null(strstr(name, "test-symbols+0x"));
	/* A recording's file is this machine's only if the build-id says so. */
	place.inode--;
	assert_false(symbols_function(s, 0, &place, false, name, sizeof(name)));
	assert_true(attributor_place(a, index, (u64)(uintptr_t)versioned_1, false, &place));
	assert_true(symbols_function(s, getpid(), &place, true, name, sizeof(name)));
	assert_string_equal(name, "versioned");
	/* Of a library, by its dynamic symbols. */
	assert_true(attributor_place(a, index, (u64)(uintptr_t)strtoull, false, &place));
	assert_true(symbols_function(s, getpid(), &place, true, name, sizeof(name)));
	assert_non_null(strstr(name, "strtoul"));
	symbols_free(s);
	attributor_free(a);
}

/* What was read while its process lived keeps its names when that and the file are gone. */
static void test_gone(void **state)
{
	char gone[] = "/tmp/test-symbols-XXXXXX";
	struct image image = image_read("/proc/self/exe");
	struct attribute_place place = { .binary = gone };
	struct elf_object o = { .symbols.limit = LIMIT };
	struct stat st;
	struct symbols *s;
	char name[64];
	int fd;

	(void)state;
	fd = mkstemp(gone);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, image.bytes, image.size), image.size);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(elf_load(fd, &o), 0);
	place.inode = st.st_ino;
	for (u32 i = 0; i < o.symbols.count && !place.offset; i++)
		if (!strcmp(o.symbols.names + o.symbols.entry[i].name, "walk_the_line"))
			place.offset = o.symbols.entry[i].start;
	for (u32 i = 0; i < o.segments; i++)
		if (place.offset - o.segment[i].vaddr < o.segment[i].size) {
			place.offset += o.segment[i].offset - o.segment[i].vaddr;
			break;
		}
	assert_int_equal(symbols_new(0, &s), 0);
	assert_true(symbols_function(s, getpid(), &place, true, name, sizeof(name)));
	assert_string_equal(name, "walk_the_line");
	unlink(gone);
	close(fd);
	assert_true(symbols_function(s, 0, &place, true, name, sizeof(name)));
	assert_string_equal(name, "walk_the_line");
	place.binary = "/tmp/test-symbols-other";
	assert_false(symbols_function(s, 0, &place, true, name, sizeof(name)));
	place.binary = gone;
	place.inode++;
	assert_false(symbols_function(s, 0, &place, true, name, sizeof(name)));
	symtab_clear(&o.symbols);
	symbols_free(s);
	free(image.bytes);
}

/* A binary that was deleted while it runs, as every upgrade does: the mapping leads to it. */
static void test_deleted(void **state)
{
	char path[] = "/tmp/test-symbols-XXXXXX", link[64], name[64];
	struct image image = image_read("/proc/self/exe");
	u64 pc = (u64)(uintptr_t)walk_the_line;
	int fd = mkstemp(path);
	struct attribute_place own, place;
	struct attributor *a;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct symbols *s;
	u32 index;
	u8 *map;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, image.bytes, image.size), image.size);
	map = mmap(NULL, image.size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	close(fd);
	unlink(path);
	a = own_attributor(&index);
	assert_true(attributor_place(a, index, pc, false, &own));
	pc = (u64)(uintptr_t)map + own.offset;
	assert_true(attributor_place(a, index, pc, false, &place));
	assert_non_null(strstr(place.binary, " (deleted)"));
	assert_int_equal(place.offset, own.offset);
	assert_int_equal(symbols_new(0, &s), 0);
	snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx", (unsigned long)map,
		 (unsigned long)map + ((image.size + page - 1) / page * page));
	fd = open(link, O_RDONLY | O_CLOEXEC);
	/* Which takes CAP_CHECKPOINT_RESTORE; the name of the file remains without. */
	assert_int_equal(symbols_function(s, getpid(), &place, true, name, sizeof(name)), fd >= 0);
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

static void test_vdso(void **state)
{
	struct elf_object o = { .symbols.limit = LIMIT };
	const struct symbol *sym;
	struct attribute_place place = { .binary = "[vdso]" };
	struct symbols *s;
	char name[64];

	(void)state;
	if (vdso_load(&o) < 0)
		skip();
	assert_true(o.symbols.count > 0);
	sym = &o.symbols.entry[0];
	place.offset = sym->start - o.segment[0].vaddr + o.segment[0].offset;
	assert_int_equal(symbols_new(0, &s), 0);
	assert_true(symbols_function(s, 0, &place, true, name, sizeof(name)));
	assert_string_equal(name, o.symbols.names + sym->name);
	assert_false(symbols_function(s, 0, &place, false, name, sizeof(name)));
	place.offset = 1 << 20;
	assert_false(symbols_function(s, 0, &place, true, name, sizeof(name)));
	assert_string_equal(name, "[vdso]+0x100000");
	symtab_clear(&o.symbols);
	symbols_free(s);
}

static void test_build_id(void **state)
{
	struct elf_object o = { .symbols.limit = LIMIT };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	u32 index;
	struct attributor *a = own_attributor(&index);
	struct attribute_place place;
	struct symbols *s;
	char name[64];

	(void)state;
	assert_int_equal(elf_load(fd, &o), 0);
	close(fd);
	if (!o.build_id_size) {
		symtab_clear(&o.symbols);
		attributor_free(a);
		skip();
	}
	assert_int_equal(symbols_new(0, &s), 0);
	assert_true(attributor_place(a, index, (u64)(uintptr_t)walk_the_line, false, &place));
	place.inode = 0;
	place.build_id = o.build_id;
	place.build_id_size = o.build_id_size;
	assert_true(symbols_function(s, 0, &place, false, name, sizeof(name)));
	assert_string_equal(name, "walk_the_line");
	o.build_id[0] ^= 1;
	assert_false(symbols_function(s, 0, &place, false, name, sizeof(name)));
	symtab_clear(&o.symbols);
	symbols_free(s);
	attributor_free(a);
}

static void test_no_name(void **state)
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
	struct symbols *s;
	char name[64];

	(void)state;
	assert_int_equal(symbols_new(0, &s), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct attribute_place place = { .binary = rows[i].binary,
						       .offset = rows[i].offset };

		for (int live = 0; live < 2; live++) {
			assert_false(
				symbols_function(s, getpid(), &place, live, name, sizeof(name)));
			assert_string_equal(name, rows[i].name);
		}
		for (size_t n = 0; n < 30; n++) {
			memset(name, '#', sizeof(name));
			symbols_function(s, 0, &place, true, name, n);
			assert_int_equal(name[n], '#');
			assert_true(!n || memchr(name, '\0', n));
		}
	}
	symbols_free(s);
}

static void kernel_file(char *path, const char *text)
{
	int fd;

	strcpy(path, "/tmp/test-symbols-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void test_kallsyms(void **state)
{
	struct symtab t = { .limit = LIMIT };
	char path[64];

	(void)state;
	kernel_file(path, "ffff800000001000 T _stext\n"
			  "ffff800000001000 t first\n"
			  "ffff800000001100 t second\n"
			  "ffff800000001200 D data\n"
			  "ffff700000000000 t helper\t[nf_tables]\n"
			  "nonsense\n"
			  "ffff700000000100 r rodata\t[nf_tables]\n");
	assert_int_equal(kallsyms_load(path, &t), 0);
	unlink(path);
	assert_string_equal(symtab_find(&t, 0xffff8000000010ff), "_stext");
	assert_string_equal(symtab_find(&t, 0xffff800000001100), "second");
	assert_null(symtab_find(&t, 0xffff800000001200));
	assert_null(symtab_find(&t, 0xffff800000000fff));
	assert_string_equal(symtab_find(&t, 0xffff700000000010), "helper [nf_tables]");
	assert_null(symtab_find(&t, 0xffff700000000100));
	symtab_clear(&t);
}

static void test_kallsyms_refused(void **state)
{
	struct symtab t = { .limit = LIMIT };
	char path[64];

	(void)state;
	kernel_file(path, "0000000000000000 T _stext\n0000000000000000 t first\n");
	assert_int_equal(kallsyms_load(path, &t), -EACCES);
	unlink(path);
	assert_int_equal(kallsyms_load("/nowhere", &t), -ENOENT);
	kernel_file(path, "1000 T a\n2000 T b\n3000 T c\n");
	t.limit = 64;
	assert_int_equal(kallsyms_load(path, &t), -EFBIG);
	unlink(path);
	assert_null(t.entry);
}

static void test_this_kernel(void **state)
{
	struct symtab t = { .limit = LIMIT * 2 };
	int r = kallsyms_load("/proc/kallsyms", &t);

	(void)state;
	if (r < 0)
		skip();
	assert_true(t.count > 1000);
	assert_false(t.dropped);
	symtab_clear(&t);
}

static void test_symtab(void **state)
{
	struct symtab t = { .limit = LIMIT };

	(void)state;
	symtab_add(&t, 0x100, 0x40, "__alias", 7, SYMBOL_GLOBAL);
	symtab_add(&t, 0x100, 0x40, "alias", 5, SYMBOL_GLOBAL);
	symtab_add(&t, 0x100, 0x40, "local", 5, SYMBOL_LOCAL);
	symtab_add(&t, 0x110, 0x10, "inner", 5, SYMBOL_LOCAL);
	symtab_add(&t, 0x200, 0, "unsized", 7, SYMBOL_LOCAL);
	symtab_add(&t, 0x300, 0x10, "last", 4, SYMBOL_LOCAL);
	symtab_add(&t, UINT64_MAX, UINT64_MAX, "top", 3, SYMBOL_LOCAL);
	symtab_finish(&t);
	assert_string_equal(symtab_find(&t, 0x100), "alias");
	assert_string_equal(symtab_find(&t, 0x11f), "inner");
	assert_string_equal(symtab_find(&t, 0x120), "alias");
	assert_null(symtab_find(&t, 0x140));
	assert_string_equal(symtab_find(&t, 0x2ff), "unsized");
	assert_null(symtab_find(&t, 0x310));
	assert_null(symtab_find(&t, 0));
	assert_string_equal(symtab_find(&t, UINT64_MAX), "top");
	symtab_clear(&t);
}

/* What does not fit is dropped and counted; what is left gives no wrong name. */
static void test_symtab_bounded(void **state)
{
	struct symtab t = { .limit = 16384 };
	char name[32];

	(void)state;
	for (u64 i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "f%" PRIu64, i);
		symtab_add(&t, i * 16, i & 1 ? 16 : 0, name, strlen(name), SYMBOL_LOCAL);
	}
	assert_true(t.dropped > 0 && t.count + t.dropped == 5000);
	symtab_finish(&t);
	assert_true(symtab_memory(&t) <= 16384);
	for (u64 i = 0; i < 5000; i++) {
		const char *found = symtab_find(&t, i * 16);

		snprintf(name, sizeof(name), "f%" PRIu64, i);
		if (found)
			assert_string_equal(found, name);
	}
	symtab_clear(&t);
}

/* Section headers cut off: segments and build-id remain, and no names. */
static void test_stripped(void **state)
{
	struct image image = image_read("/proc/self/exe");
	struct elf_object o = { .symbols.limit = LIMIT };
	int fd;
	u64 vaddr;

	(void)state;
	memset(image.bytes + 40, 0, 8); /* e_shoff */
	memset(image.bytes + 60, 0, 4); /* e_shnum, e_shstrndx */
	fd = memory_file(image.bytes, image.size);
	assert_int_equal(elf_load(fd, &o), 0);
	assert_int_equal(o.symbols.count, 0);
	assert_true(o.segments > 0);
	assert_true(elf_vaddr(&o, o.segment[0].offset, &vaddr));
	assert_int_equal(vaddr, o.segment[0].vaddr);
	assert_false(elf_vaddr(&o, UINT64_MAX, &vaddr));
	symtab_clear(&o.symbols);
	close(fd);
	free(image.bytes);
}

static void load_any(int fd)
{
	struct elf_object o = { .symbols.limit = LIMIT };
	u64 vaddr;

	elf_load(fd, &o);
	assert_true(symtab_memory(&o.symbols) <= LIMIT);
	for (u32 i = 0; i < o.symbols.count; i += 1 + o.symbols.count / 16)
		symtab_find(&o.symbols, o.symbols.entry[i].start);
	elf_vaddr(&o, 0x1000, &vaddr);
	symtab_clear(&o.symbols);
}

static void test_truncated(void **state)
{
	struct image image = image_read("/proc/self/exe");
	int fd = memory_file(image.bytes, image.size);

	(void)state;
	for (size_t size = image.size; size; size -= size / 40 + 1) {
		assert_int_equal(ftruncate(fd, (off_t)size), 0);
		load_any(fd);
	}
	assert_int_equal(ftruncate(fd, 0), 0);
	load_any(fd);
	close(fd);
	free(image.bytes);
}

/* Bytes of the headers and tables that libelf and we walk are where damage tells. */
static size_t mutation_place(const struct image *image, unsigned int *seed)
{
	u64 sections = spe_get_le64(image->bytes + 40);
	u32 count = spe_get_le16(image->bytes + 60);
	size_t r = (size_t)rand_r(seed);

	switch (r % 4) {
	case 0:
		return r / 4 % 64;
	case 1:
		return 64 + r / 4 % (16 * 56);
	case 2:
		return sections + r / 4 % (count * 64UL);
	default:
		return r % image->size;
	}
}

static void test_mutated(void **state)
{
	static const u8 bytes[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct image image = image_read("/proc/self/exe");
	int fd = memory_file(image.bytes, image.size);
	unsigned int seed = 42;

	(void)state;
	for (unsigned int n = 0; n < MUTATIONS; n++) {
		size_t at[4];

		for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
			u8 byte = bytes[(size_t)rand_r(&seed) % ARRAY_SIZE(bytes)];

			at[i] = mutation_place(&image, &seed);
			if (at[i] >= image.size)
				at[i] = 0;
			if (rand_r(&seed) & 1)
				byte = (u8)(image.bytes[at[i]] ^ 1U << rand_r(&seed) % 8);
			assert_int_equal(pwrite(fd, &byte, 1, (off_t)at[i]), 1);
		}
		load_any(fd);
		for (size_t i = 0; i < ARRAY_SIZE(at); i++)
			assert_int_equal(pwrite(fd, image.bytes + at[i], 1, (off_t)at[i]), 1);
	}
	close(fd);
	free(image.bytes);
}

/* A budget that holds no two files gives the same names. */
static void test_small_budget(void **state)
{
	u32 index;
	struct attributor *a = own_attributor(&index);
	struct attribute_place own, library;
	struct symbols *s;
	char name[64];

	(void)state;
	assert_int_equal(symbols_new(200000, &s), 0);
	for (int i = 0; i < 4; i++) {
		assert_true(attributor_place(a, index, (u64)(uintptr_t)walk_the_line, false, &own));
		symbols_function(s, getpid(), &own, true, name, sizeof(name));
		assert_string_equal(name, "walk_the_line");
		assert_true(attributor_place(a, index, (u64)(uintptr_t)strtoull, false, &library));
		symbols_function(s, getpid(), &library, true, name, sizeof(name));
	}
	symbols_free(s);
	attributor_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_function),   cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_gone),	       cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_vdso),	       cmocka_unit_test(test_no_name),
		cmocka_unit_test(test_kallsyms),       cmocka_unit_test(test_kallsyms_refused),
		cmocka_unit_test(test_this_kernel),    cmocka_unit_test(test_symtab),
		cmocka_unit_test(test_symtab_bounded), cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_truncated),      cmocka_unit_test(test_mutated),
		cmocka_unit_test(test_small_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
