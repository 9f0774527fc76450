// SPDX-License-Identifier: LGPL-2.1-or-later
#include "disassembler.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>

/* bfd.h requires the macro PACKAGE. */
#define PACKAGE "speprof"
#include <dis-asm.h>

/*
 * File names of libopcodes: in Debian one for all machines, then those for a single machine; the last
 * one in RPM distributions.
 */
static const char *const names[] = {
	"libopcodes-" OPCODES_VERSION "-multiarch.so",
	"libopcodes-" OPCODES_VERSION "-arm64.so",
	"libopcodes-" OPCODES_VERSION "-amd64.so",
	"libopcodes-" OPCODES_VERSION "-system.so",
	"libopcodes-" OPCODES_VERSION ".so",
};

/** struct disassembler_library - the functions of a library; NULL if it is not installed */
struct disassembler_library {
	__typeof__(&disassembler) find;
	__typeof__(&disassemble_init_for_target) prepare;
	__typeof__(&disassemble_free_target) release;
	__typeof__(&init_disassemble_info) init;
};

static struct disassembler_library libraries[ARRAY_SIZE(names)];

void disassembler_load_libraries(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		struct disassembler_library library;

		if (!handle)
			continue;
		library.find = (__typeof__(library.find))dlsym(handle, "disassembler");
		library.prepare =
			(__typeof__(library.prepare))dlsym(handle, "disassemble_init_for_target");
		library.release =
			(__typeof__(library.release))dlsym(handle, "disassemble_free_target");
		library.init = (__typeof__(library.init))dlsym(handle, "init_disassemble_info");
		if (library.find && library.prepare && library.release && library.init)
			libraries[i] = library;
	}
}

/**
 * struct instruction_printer - the state of printing one instruction
 * @code: the code
 * @text, @size: receives the text, @len bytes of it so far
 */
struct instruction_printer {
	const struct disassembler_code *code;
	char *text;
	size_t size;
	size_t len;
};

static void __attribute__((__format__(__printf__, 2, 0)))
text_append(struct instruction_printer *printing, const char *format, va_list arguments)
{
	size_t space = printing->size - printing->len;
	int n = vsnprintf(printing->text + printing->len, space, format, arguments);

	if (n > 0)
		printing->len += (size_t)n < space ? (size_t)n : space - 1;
}

static int __attribute__((__format__(__printf__, 2, 3)))
print_plain(void *stream, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_append(stream, format, arguments);
	va_end(arguments);
	return 0;
}

static int __attribute__((__format__(__printf__, 3, 4)))
print_styled(void *stream, enum disassembler_style style, const char *format, ...)
{
	va_list arguments;

	(void)style;
	va_start(arguments, format);
	text_append(stream, format, arguments);
	va_end(arguments);
	return 0;
}

static void print_address(bfd_vma address, struct disassemble_info *info)
{
	struct instruction_printer *printing = info->stream;
	const struct disassembler_code *code = printing->code;
	char name[256];

	if (code->name(code->ctx, address, name, sizeof(name)))
		print_plain(printing, "%s", name);
	else
		print_plain(printing, "0x%llx", (unsigned long long)address);
}

/*
 * Ignore read errors: the code may end within an instruction, which the return value of the
 * disassembler shows.
 */
static void ignore_error(int status, bfd_vma address, struct disassemble_info *info)
{
	(void)status;
	(void)address;
	(void)info;
}

static int read_code(bfd_vma address, bfd_byte *to, unsigned int len, struct disassemble_info *info)
{
	const struct instruction_printer *printing = info->stream;
	const struct disassembler_code *code = printing->code;
	u64 at = address - code->address;

	if (at > code->size || len > code->size - at)
		return EIO;
	memcpy(to, code->bytes + at, len);
	return 0;
}

static bool machine_get_architecture(u16 machine, enum bfd_architecture *ret_arch,
				     unsigned long *ret_mach)
{
	if (machine == EM_AARCH64) {
		*ret_arch = bfd_arch_aarch64;
		*ret_mach = bfd_mach_aarch64;
		return true;
	}
	*ret_arch = bfd_arch_i386;
	*ret_mach = bfd_mach_x86_64;
	return machine == EM_X86_64;
}

static int instruction_print(const struct disassembler_library *library,
			     struct instruction_printer *printing, u64 address,
			     enum bfd_architecture arch, unsigned long mach)
{
	struct disassemble_info info;
	disassembler_ftype print = library->find(arch, false, mach, NULL);
	int n;

	if (!print)
		return 0;
	library->init(&info, printing, print_plain, print_styled);
	info.arch = arch;
	info.mach = mach;
	info.endian = BFD_ENDIAN_LITTLE;
	info.endian_code = BFD_ENDIAN_LITTLE;
	info.read_memory_func = read_code;
	info.memory_error_func = ignore_error;
	info.print_address_func = print_address;
	library->prepare(&info);
	n = print(address, &info);
	library->release(&info);
	return n;
}

size_t disassembler_print_instruction(const struct disassembler_code *code, size_t at,
				      char *ret_text, size_t size)
{
	struct instruction_printer printing = { .code = code, .text = ret_text, .size = size };
	size_t rest = code->size - at, unit = code->machine == EM_AARCH64 ? 4 : 1;
	enum bfd_architecture arch;
	unsigned long mach;
	int n = 0;

	ret_text[0] = '\0';
	if (!machine_get_architecture(code->machine, &arch, &mach))
		return rest;
	for (size_t i = 0; i < ARRAY_SIZE(libraries) && !n; i++)
		if (libraries[i].find)
			n = instruction_print(&libraries[i], &printing, code->address + at, arch,
					      mach);
	/* Replace tabs and remove padding, with which the library aligns columns. */
	for (char *c = ret_text; *c; c++)
		if (*c == '\t')
			*c = ' ';
	while (printing.len && ret_text[printing.len - 1] == ' ')
		ret_text[--printing.len] = '\0';
	if (n > 0)
		return (size_t)n < rest ? (size_t)n : rest;
	return !n && unit == 1 ? rest : unit < rest ? unit : rest;
}
