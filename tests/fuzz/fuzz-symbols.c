// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fuzz the symbol helper: functions or data of a binary with debug information, a Go table, a perf map or kallsyms,
 * depending on the first byte. The helper's caller must accept each reply.
 */
#include "fuzz.h"

#include "symbols/helper/reader-file.h"
#include "symbols/name-cache.h"

#include <sys/mman.h>
#include <unistd.h>

#define ADDRESSES 48
#define DATA_ADDRESSES \
	16 /* number of addresses of SYMBOL_DATA that are of data; others are of instructions */

static struct reply_builder answer;
static struct symbol_file_content known;

static union {
	struct symbol_request request;
	u64 words[8 + ADDRESSES];
} ask;

static u64 reply[SYMBOL_MESSAGE_MAX / sizeof(u64)];

static int make_memory_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz-symbols", MFD_CLOEXEC);

	fuzz_assert(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	return fd;
}

/* Return the address number @i of a request; addresses ascend. */
static u64 make_address(const struct reader_file *o, u32 i)
{
	if (o->kind == SYMBOL_DATA && i >= DATA_ADDRESSES)
		return SYMBOL_ACCESS |
		       ((known.code_offset & UINT32_MAX) + (u64)(i - DATA_ADDRESSES) * 44);
	return (u64)i * 61 + (o->kind && o->kind != SYMBOL_DATA ? 0x1000 : 0);
}

/* Request the names of all of @o, in as many requests as necessary. Each must get a reply. */
static void request_all_names(struct reader_file *o, u32 type, struct name_cache *cache,
			      struct name_file *file)
{
	u32 left = ADDRESSES, at = 0;

	while (left) {
		size_t size;

		ask.request = (struct symbol_request){ .type = type, .count = left };
		for (u32 i = 0; i < left; i++)
			ask.request.address[i] = make_address(o, at + i);
		if (type == SYMBOL_FIND)
			reader_file_add_functions(o, ask.request.address, left, &answer);
		else if (type == SYMBOL_LINKAGE)
			reader_file_add_linkage(o, ask.request.address, left, &answer);
		else if (type == SYMBOL_FRAMES)
			reader_file_add_frames(o, ask.request.address, left, &answer);
		else
			reader_file_add_lines(o, ask.request.address, left, &answer);
		size = reply_builder_finish(&answer, &ask.request, reply);
		fuzz_assert(!symbol_reply_check(&ask.request, (void *)reply, size));
		if (type == SYMBOL_FIND || type == SYMBOL_LINES)
			name_cache_add_reply(cache, file, &ask.request, (void *)reply);
		at += answer.done;
		left -= answer.done;
	}
}

/* Disassemble the file from its start on. The caller must accept each reply, and gets to the end. */
static void disassemble_file(struct reader_file *o, u64 end)
{
	const struct symbol_name *last;
	u64 at = 0;
	size_t size;

	while (at < end) {
		ask.request = (struct symbol_request){ .type = SYMBOL_CODE, .count = 2 };
		ask.request.address[0] = at;
		ask.request.address[1] = end;
		reader_file_add_instructions(o, at, end, &answer);
		if (!answer.done)
			return;
		size = reply_builder_finish(&answer, &ask.request, reply);
		fuzz_assert(!symbol_reply_check(&ask.request, (void *)reply, size));
		last = &answer.name[answer.count - 1];
		at = last->start + last->size;
	}
}

static void read_go_table(const uint8_t *data, size_t size)
{
	struct symtab symbols = { .limit = 65536 };
	struct go_table table;
	const char *file;
	size_t len;
	u32 line;

	if (go_table_init(&table, data, size, 0x1000))
		return;
	go_table_add_symbols(&table, &symbols);
	symtab_sort(&symbols);
	fuzz_assert(symbols.capacity * sizeof(*symbols.entry) + symbols.names_capacity <= 65536);
	for (u32 i = 0; i < ADDRESSES; i++)
		if (go_table_find_line(&table, 0x1000 + i * 61, &file, &len, &line))
			fuzz_assert((const uint8_t *)file >= data &&
				    len < size - (size_t)((const uint8_t *)file - data));
	symtab_clear(&symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader_file o = { .fd = -1, .debug_fd = -1, .alt_fd = -1 };
	const struct name_file_key key = { .ino = 1 };
	struct name_cache cache;
	struct name_file *file;
	u32 kind;

	if (!size)
		return 0;
	kind = data[0] % (SYMBOL_KINDS + 1);
	data++;
	size--;
	/* The corpus has Go tables after the byte 3. */
	if (kind == SYMBOL_DATA) {
		read_go_table(data, size);
		return 0;
	}
	if (kind == SYMBOL_KINDS)
		kind = SYMBOL_DATA;
	if (reader_file_open(&o, kind, make_memory_file(data, size), &known) < 0)
		return 0;
	fuzz_assert(!name_cache_init(&cache, 4, 1 << 20));
	file = name_cache_get_file(&cache, name_cache_find_or_add(&cache, &key));
	/* The binary is also its own debug information, because the build ID is the same. */
	if ((kind == SYMBOL_ELF || kind == SYMBOL_DATA) && size % 2)
		reader_file_attach(&o, SYMBOL_DEBUG, make_memory_file(data, size), &known);
	request_all_names(&o, SYMBOL_FIND, &cache, file);
	request_all_names(&o, SYMBOL_LINES, &cache, file);
	request_all_names(&o, SYMBOL_LINKAGE, &cache, file);
	request_all_names(&o, SYMBOL_FRAMES, &cache, file);
	disassemble_file(&o, size);
	fuzz_assert(cache.memory <= 1 << 20);
	name_cache_deinit(&cache);
	reader_file_close(&o);
	return 0;
}
