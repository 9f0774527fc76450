// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fuzz the reader of mapped binaries: bad bytes cost at most names, and memory is bounded. */
#include "fuzz.h"

#include "daemon/symbols/elf-load.h"

#include <sys/mman.h>
#include <unistd.h>

#define LIMIT 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_object o = { .symbols.limit = LIMIT };
	int fd = memfd_create("fuzz-elf", MFD_CLOEXEC);
	u64 vaddr;

	fuzz_assert(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	if (elf_load(fd, &o) < 0)
		fuzz_assert(!o.symbols.count);
	fuzz_assert(symtab_get_memory(&o.symbols) <= LIMIT);
	fuzz_assert(o.segments <= ELF_SEGMENTS && o.build_id_size <= BUILD_ID_MAX);
	for (u32 i = 0; i < o.symbols.count; i++) {
		const struct symbol *s = &o.symbols.entry[i];

		fuzz_assert(!i || s[-1].start < s->start);
		fuzz_assert(!s->size || symtab_find(&o.symbols, s->start));
	}
	elf_get_vaddr(&o, size / 2, &vaddr);
	symtab_clear(&o.symbols);
	close(fd);
	return 0;
}
