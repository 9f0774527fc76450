// SPDX-License-Identifier: LGPL-2.1-or-later
/* For builds without libopcodes: instructions have addresses, but no text. */
#include "disassembler.h"

#include <elf.h>

void disassembler_load_libraries(void)
{
}

size_t disassembler_print_instruction(const struct disassembler_code *code, size_t at,
				      char *ret_text, size_t size)
{
	size_t rest = code->size - at;

	(void)size;
	ret_text[0] = '\0';
	return code->machine == EM_AARCH64 && rest > 4 ? 4 : rest;
}
