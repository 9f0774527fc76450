// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "daemon/symbols/elf-image.h"
#include "daemon/symbols/elf-load.h"
#include "symbols/kallsyms.h"
#include "symbols/helper/perf-map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT	  (8ULL << 20)
#define MUTATIONS 4000

/* Return a file in memory that contains @size bytes of @bytes. */
static int make_memory_file(const u8 *bytes, size_t size)
{
	int fd = memfd_create("test-symbols", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, 0), size);
	return fd;
}

static void make_kallsyms_file(char *path, const char *text)
{
	int fd;

	strcpy(path, "/tmp/test-symbols-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int load_symtab(const char *path, struct symtab *t)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	assert_true(fd >= 0);
	r = kallsyms_load(fd, t);
	close(fd);
	return r;
}

static void test_load_kallsyms(void **state)
{
	struct symtab t = { .limit = LIMIT };
	char path[64];

	(void)state;
	make_kallsyms_file(path, "ffff800000001000 T _stext\n"
				 "ffff800000001000 t first\n"
				 "ffff800000001100 t second\n"
				 "ffff800000001200 D data\n"
				 "ffff700000000000 t helper\t[nf_tables]\n"
				 "nonsense\n"
				 "ffff700000000100 r rodata\t[nf_tables]\n");
	assert_int_equal(load_symtab(path, &t), 0);
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
	make_kallsyms_file(path, "0000000000000000 T _stext\n0000000000000000 t first\n");
	assert_int_equal(load_symtab(path, &t), -EACCES);
	unlink(path);
	assert_int_equal(kallsyms_load(-1, &t), -EBADF);
	make_kallsyms_file(path, "1000 T a\n2000 T b\n3000 T c\n");
	t.limit = 64;
	assert_int_equal(load_symtab(path, &t), -EFBIG);
	unlink(path);
	assert_null(t.entry);
}

static void test_load_running_kernel(void **state)
{
	struct symtab t = { .limit = LIMIT * 2 };
	int r = load_symtab("/proc/kallsyms", &t);

	(void)state;
	if (r < 0)
		skip();
	assert_true(t.count > 1000);
	assert_false(t.dropped);
	symtab_clear(&t);
}

static void test_load_own_symtab(void **state)
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
	symtab_sort(&t);
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

/* The range returned for an address is valid for all addresses in it, and ranges are contiguous. */
static void test_symtab_ranges(void **state)
{
	static const struct {
		u64 start;
		u64 size;
		const char *name;
	} functions[] = {
		{ 0x100, 0x40, "outer" }, { 0x110, 0x10, "inner" }, { 0x128, 8, "second" },
		{ 0x150, 0x20, "after" }, { 0x160, 0x40, "over" },  { 0x164, 4, "within" },
	};
	struct symtab t = { .limit = LIMIT };
	u64 start, size, until = 0;

	(void)state;
	assert_null(symtab_find_range(&t, 5, &start, &size));
	assert_true(start <= 5 && 5 - start < size);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		symtab_add(&t, functions[i].start, functions[i].size, functions[i].name,
			   strlen(functions[i].name), SYMBOL_LOCAL);
	symtab_sort(&t);
	for (u64 at = 0x80; at < 0x200; at++) {
		const char *name = symtab_find_range(&t, at, &start, &size), *other;

		assert_true(start <= at && at - start < size && size - 1 <= UINT64_MAX - start);
		assert_true(at == 0x80 || start == until || start + size == until);
		until = start + size;
		for (u64 k = start < 0x80 ? 0x80 : start; k < 0x200 && k - start < size; k++) {
			other = symtab_find(&t, k);
			assert_true(name ? other && !strcmp(name, other) : !other);
		}
	}
	assert_null(symtab_find_range(&t, UINT64_MAX, &start, &size));
	assert_true(start <= UINT64_MAX && UINT64_MAX - start < size);
	symtab_clear(&t);
}

/* Symbols that do not fit are dropped and counted. No remaining symbol gives a wrong name. */
static void test_too_many_symbols_are_dropped(void **state)
{
	struct symtab t = { .limit = 16384 };
	char name[32];

	(void)state;
	for (u64 i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "f%" PRIu64, i);
		symtab_add(&t, i * 16, i & 1 ? 16 : 0, name, strlen(name), SYMBOL_LOCAL);
	}
	assert_true(t.dropped > 0 && t.count + t.dropped == 5000);
	symtab_sort(&t);
	assert_true(symtab_get_memory(&t) <= 16384);
	for (u64 i = 0; i < 5000; i++) {
		const char *found = symtab_find(&t, i * 16);

		snprintf(name, sizeof(name), "f%" PRIu64, i);
		if (found)
			assert_string_equal(found, name);
	}
	symtab_clear(&t);
}

/* A file without section headers has segments and a build ID, but no names. */
static void test_stripped_file_has_build_id(void **state)
{
	struct elf_image image = elf_image_read("/proc/self/exe");
	struct elf_object o = { .symbols.limit = LIMIT };
	int fd;
	u64 vaddr;

	(void)state;
	memset(image.bytes + 40, 0, 8); /* e_shoff */
	memset(image.bytes + 60, 0, 4); /* e_shnum, e_shstrndx */
	fd = make_memory_file(image.bytes, image.size);
	assert_int_equal(elf_load(fd, &o), 0);
	assert_int_equal(o.symbols.count, 0);
	assert_true(o.segments > 0);
	assert_true(elf_get_vaddr(&o, o.segment[0].offset, &vaddr));
	assert_int_equal(vaddr, o.segment[0].vaddr);
	assert_false(elf_get_vaddr(&o, UINT64_MAX, &vaddr));
	symtab_clear(&o.symbols);
	close(fd);
	free(image.bytes);
}

static void load_any_file(int fd)
{
	struct elf_object o = { .symbols.limit = LIMIT };
	u64 vaddr;

	elf_load(fd, &o);
	assert_true(symtab_get_memory(&o.symbols) <= LIMIT);
	for (u32 i = 0; i < o.symbols.count; i += 1 + o.symbols.count / 16)
		symtab_find(&o.symbols, o.symbols.entry[i].start);
	elf_get_vaddr(&o, 0x1000, &vaddr);
	symtab_clear(&o.symbols);
}

static void test_truncated_file(void **state)
{
	struct elf_image image = elf_image_read("/proc/self/exe");
	int fd = make_memory_file(image.bytes, image.size);

	(void)state;
	for (size_t size = image.size; size; size -= size / 40 + 1) {
		assert_int_equal(ftruncate(fd, (off_t)size), 0);
		load_any_file(fd);
	}
	assert_int_equal(ftruncate(fd, 0), 0);
	load_any_file(fd);
	close(fd);
	free(image.bytes);
}

/*
 * Choose a byte of the headers and tables that libelf and the helper parse, where damage has an
 * effect.
 */
static size_t choose_mutation_offset(const struct elf_image *image, unsigned int *seed)
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

static void test_mutated_file(void **state)
{
	static const u8 bytes[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct elf_image image = elf_image_read("/proc/self/exe");
	int fd = make_memory_file(image.bytes, image.size);
	unsigned int seed = 42;

	(void)state;
	for (unsigned int n = 0; n < MUTATIONS; n++) {
		size_t at[4];

		for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
			u8 byte = bytes[(size_t)rand_r(&seed) % ARRAY_SIZE(bytes)];

			at[i] = choose_mutation_offset(&image, &seed);
			if (at[i] >= image.size)
				at[i] = 0;
			if (rand_r(&seed) & 1)
				byte = (u8)(image.bytes[at[i]] ^ 1U << rand_r(&seed) % 8);
			assert_int_equal(pwrite(fd, &byte, 1, (off_t)at[i]), 1);
		}
		load_any_file(fd);
		for (size_t i = 0; i < ARRAY_SIZE(at); i++)
			assert_int_equal(pwrite(fd, image.bytes + at[i], 1, (off_t)at[i]), 1);
	}
	close(fd);
	free(image.bytes);
}

/* Any user can write lines that each cover all addresses, so the time for them is bounded. */
static void test_perf_map_bounded(void **state)
{
	static struct perf_map_name names[1024];
	u64 address[ARRAY_SIZE(names)];
	char text[2048][24];
	size_t len = 0, line = 0;
	char *all = malloc(sizeof(text));
	int fd;

	(void)state;
	assert_non_null(all);
	for (size_t i = 0; i < ARRAY_SIZE(text); i++) {
		int n = snprintf(text[i], sizeof(text[i]), "0 ffffffff n%04zu\n", i);

		memcpy(all + len, text[i], (size_t)n);
		len += line = (size_t)n;
	}
	for (size_t i = 0; i < ARRAY_SIZE(address); i++)
		address[i] = i + 1;
	fd = make_memory_file((const u8 *)all, len);
	perf_map_find_names(fd, address, 1, names);
	assert_int_equal(names[0].offset, (ARRAY_SIZE(text) - 1) * line + strlen("0 ffffffff "));
	perf_map_find_names(fd, address, ARRAY_SIZE(address), names);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(names[i].offset, 1023 * line + strlen("0 ffffffff "));
	close(fd);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load_kallsyms),
		cmocka_unit_test(test_kallsyms_refused),
		cmocka_unit_test(test_load_running_kernel),
		cmocka_unit_test(test_load_own_symtab),
		cmocka_unit_test(test_too_many_symbols_are_dropped),
		cmocka_unit_test(test_stripped_file_has_build_id),
		cmocka_unit_test(test_truncated_file),
		cmocka_unit_test(test_mutated_file),
		cmocka_unit_test(test_symtab_ranges),
		cmocka_unit_test(test_perf_map_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
