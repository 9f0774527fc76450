// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include "symbols/function-code.h"

/* A function of this program that is larger than FUNCTION_CODE_MAX. */
#ifdef __x86_64__
#define NOP "0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0"
#else
#define NOP "0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5"
#endif
#define BIG_SIZE 0x180000
__asm__(".text\n"
	".globl big\n"
	".type big, %function\n"
	"big:\n"
	".rept 0x180000 / 8\n"
	".byte " NOP "\n"
	".endr\n"
	".size big, . - big\n");
extern const char big[];

/** struct own_file - what the test reads from its own program headers */
struct own_file {
	char path[4096];
	u64 offset;
	u8 build_id[20];
};

static void read_build_id(const char *notes, size_t size, struct own_file *file)
{
	for (size_t at = 0; at + sizeof(ElfW(Nhdr)) < size;) {
		const ElfW(Nhdr) *note = (const void *)(notes + at);
		const char *name = (const char *)(note + 1);
		const char *content = name + (note->n_namesz + 3) / 4 * 4;

		if (note->n_type == NT_GNU_BUILD_ID && strcmp(name, "GNU") == 0) {
			assert_int_equal(note->n_descsz, sizeof(file->build_id));
			memcpy(file->build_id, content, sizeof(file->build_id));
		}
		at = (size_t)(content - notes) + (note->n_descsz + 3) / 4 * 4;
	}
}

static int read_headers(struct dl_phdr_info *info, size_t size, void *arg)
{
	u64 address = (u64)(uintptr_t)big;
	struct own_file *file = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		u64 start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && address - start < header->p_filesz)
			file->offset = header->p_offset + (address - start);
		if (header->p_type == PT_NOTE)
			read_build_id((const char *)(uintptr_t)start, header->p_filesz, file);
	}
	return 1; /* The program itself is the first. */
}

/* A location after the limit of a function is in the result, which then begins there. */
static void test_function_larger_than_the_limit(void **state)
{
	const u64 distance = FUNCTION_CODE_MAX + 0x40000;
	const struct symbol_folders folders = { .symfs = NULL };
	struct own_file file = { 0 };
	struct function_code code;
	struct attribute_location location = {
		.binary = file.path,
		.build_id = file.build_id,
		.build_id_size = sizeof(file.build_id),
	};

	(void)state;
	assert_true(readlink("/proc/self/exe", file.path, sizeof(file.path) - 1) > 0);
	dl_iterate_phdr(read_headers, &file);
	assert_true(file.offset && distance < BIG_SIZE);
	location.offset = file.offset + distance;
	assert_int_equal(function_code_read(&location, &folders, location.offset + 4, &code), 0);
	assert_string_equal(code.name, "big");
	assert_true(code.count > 0);
	assert_int_equal(code.instruction[0].offset, location.offset);
	assert_int_equal(code.instruction[code.count - 1].offset +
				 code.instruction[code.count - 1].size,
			 file.offset + BIG_SIZE);
	function_code_clear(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function_larger_than_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
