// SPDX-License-Identifier: LGPL-2.1-or-later
#include "reader-file.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "demangle.h"
#include "disassembler.h"
#include "jit-dump.h"
#include "symbols/kallsyms.h"
#include "perf-map.h"

#define SYMBOLS_LIMIT	(128ULL << 20) /* memory of the functions of a file, bytes */
#define MINI_MAX_BYTES	(64ULL << 20) /* maximum size of unpacked MiniDebugInfo */
#define CODE_BYTES	16384 /* maximum bytes of code that are disassembled for one reply */
#define INSTRUCTION_MAX 16
#define XZ_MEMORY	(96ULL << 20) /* memory of the decompressor, bytes */

void reader_file_close(struct reader_file *o)
{
	debug_data_free(o->data);
	debug_lines_free(o->lines);
	elf_end(o->mini);
	elf_end(o->alt);
	elf_end(o->debug);
	elf_end(o->file);
	free(o->mini_bytes);
	symtab_clear(&o->elf.symbols);
	if (o->alt_fd >= 0)
		close(o->alt_fd);
	if (o->debug_fd >= 0)
		close(o->debug_fd);
	if (o->fd >= 0)
		close(o->fd);
	*o = (struct reader_file){ .fd = -1, .debug_fd = -1, .alt_fd = -1 };
}

static bool has_section(Elf *elf, const char *name)
{
	GElf_Shdr sh;

	return elf_find_section(elf, name, &sh) && sh.sh_type != SHT_NOBITS && sh.sh_size;
}

static bool has_symtab(Elf *elf)
{
	GElf_Shdr sh;

	return elf_find_section(elf, ".symtab", &sh) && sh.sh_type == SHT_SYMTAB && sh.sh_size;
}

/* Find the table of Go functions, which stripped programs have, too. */
static bool find_go_table(struct reader_file *o)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	GElf_Shdr text;
	const u8 *data;
	size_t size;

	if (!elf_find_section(o->file, ".text", &text))
		text.sh_addr = 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		data = elf_get_section_bytes(o->file, names[i], &size);
		if (data && !go_table_init(&o->go, data, size, text.sh_addr))
			return true;
	}
	return false;
}

/*
 * Read .gnu_debuglink: the name of a debug file, followed by its checksum at an offset aligned to 4
 * bytes.
 */
static const char *debug_link_read(Elf *elf, u32 *ret_crc)
{
	size_t size, len;
	const u8 *bytes = elf_get_section_bytes(elf, ".gnu_debuglink", &size);

	if (!bytes)
		return NULL;
	len = strnlen((const char *)bytes, size);
	if (!len || len >= SYMBOL_LINK_MAX || size < 4 || (len + 4) / 4 * 4 > size - 4 ||
	    memchr(bytes, '/', len))
		return NULL;
	*ret_crc = spe_get_le32(bytes + (len + 4) / 4 * 4);
	return (const char *)bytes;
}

static void describe_content(const struct reader_file *o, struct symbol_file_content *known)
{
	const char *link;
	GElf_Ehdr ehdr;
	u32 crc;

	*known = (struct symbol_file_content){ .has = o->has,
					       .build_id_size = o->elf.build_id_size };
	if (o->file && gelf_getehdr(o->file, &ehdr))
		known->machine = ehdr.e_machine;
	for (u32 i = 0; i < o->elf.segments && !known->code_size; i++)
		if (o->elf.segment[i].code) {
			known->code_offset = o->elf.segment[i].offset;
			known->code_size = o->elf.segment[i].size;
			known->code_address = o->elf.segment[i].vaddr;
		}
	memcpy(known->build_id, o->elf.build_id, sizeof(known->build_id));
	link = o->file ? debug_link_read(o->file, &crc) : NULL;
	if (link && strcmp(link, "..") != 0)
		memcpy(known->link, link, strlen(link));
}

/*
 * Add the build id of the file with debug information that @elf shares with other files (dwz). The
 * build id follows the name in .gnu_debugaltlink. Do not use libdw, which would decompress all
 * debug information.
 */
static void describe_shared_debug(Elf *elf, struct symbol_file_content *known)
{
	size_t size, name;
	const u8 *bytes = elf_get_section_bytes(elf, ".gnu_debugaltlink", &size);

	if (!bytes)
		return;
	name = strnlen((const char *)bytes, size) + 1;
	if (name >= size || size - name > sizeof(known->alt))
		return;
	memcpy(known->alt, bytes + name, size - name);
	known->alt_size = (u8)(size - name);
}

int reader_file_open(struct reader_file *o, u32 kind, int fd, struct symbol_file_content *ret_known)
{
	struct symbol_file_content known;
	int r;

	reader_file_close(o);
	o->kind = kind;
	o->fd = fd;
	o->elf.symbols.limit = SYMBOLS_LIMIT;
	o->elf.objects = kind == SYMBOL_DATA;
	if (kind == SYMBOL_JIT_NAMES) {
		r = jit_dump_check(fd);
		if (r < 0) {
			reader_file_close(o);
			return r;
		}
		o->jit_dump = r;
	}
	if (kind != SYMBOL_ELF && kind != SYMBOL_DATA) {
		o->has = SYMBOL_HAS_NAMES;
		describe_content(o, ret_known);
		return 0;
	}
	r = elf_open(fd, &o->file);
	if (r < 0) {
		reader_file_close(o);
		return r;
	}
	elf_read_segments_and_build_id(o->file, &o->elf);
	o->has_go = find_go_table(o);
	if (o->has_go || has_symtab(o->file))
		o->has |= SYMBOL_HAS_NAMES;
	if (o->has_go || has_section(o->file, ".debug_line"))
		o->has |= SYMBOL_HAS_LINES;
	describe_content(o, &known);
	if (has_section(o->file, ".debug_line"))
		describe_shared_debug(o->file, &known);
	*ret_known = known;
	return 0;
}

static u32 compute_file_crc(int fd)
{
	uLong crc = crc32(0, NULL, 0);
	u8 buf[65536];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		crc = crc32(crc, buf, (uInt)n);
		at += n;
	}
	return (u32)crc;
}

/*
 * Return true if a debug file belongs to the file: they have the same build ID or, if the file has
 * none, the checksum in .gnu_debuglink matches.
 */
static bool debug_file_matches(const struct reader_file *o, Elf *debug, int fd)
{
	struct elf_object head = { .segments = 0 };
	u32 crc;

	elf_read_segments_and_build_id(debug, &head);
	if (o->elf.build_id_size)
		return head.build_id_size == o->elf.build_id_size &&
		       !memcmp(head.build_id, o->elf.build_id, head.build_id_size);
	return debug_link_read(o->file, &crc) && compute_file_crc(fd) == crc;
}

static int attach_shared_debug(struct reader_file *o, int fd)
{
	int r = o->alt ? -EEXIST : !o->file || o->lines_read ? -EINVAL : elf_open(fd, &o->alt);

	if (!r) {
		o->alt_fd = fd;
		return 0;
	}
	close(fd);
	return r;
}

int reader_file_attach(struct reader_file *o, u32 attachment, int fd,
		       struct symbol_file_content *ret_known)
{
	struct symbol_file_content known;
	int r;

	if (attachment == SYMBOL_ALT) {
		r = attach_shared_debug(o, fd);
		if (!r)
			describe_content(o, ret_known);
		return r;
	}
	/*
	 * Refuse an attachment after functions or lines were read: its functions and lines would be
	 * missing.
	 */
	if (!o->file || o->lines_read || o->names_read)
		r = -EINVAL;
	else
		r = o->debug ? -EEXIST : elf_open(fd, &o->debug);
	if (!r && !debug_file_matches(o, o->debug, fd)) {
		elf_end(o->debug);
		o->debug = NULL;
		r = -ESTALE;
	}
	if (r < 0) {
		close(fd);
		return r;
	}
	o->debug_fd = fd;
	if (has_symtab(o->debug))
		o->has |= SYMBOL_HAS_NAMES;
	if (has_section(o->debug, ".debug_line"))
		o->has |= SYMBOL_HAS_LINES;
	describe_content(o, &known);
	if (has_section(o->debug, ".debug_line"))
		describe_shared_debug(o->debug, &known);
	*ret_known = known;
	return 0;
}

/* Read MiniDebugInfo: an ELF file, compressed by xz, with functions that are not in .dynsym. */
static void read_mini_debug_info(struct reader_file *o)
{
	size_t size, in = 0, out = 0;
	const u8 *packed = elf_get_section_bytes(o->file, ".gnu_debugdata", &size);
	u64 memory = XZ_MEMORY;

	if (!packed)
		return;
	/*
	 * The unpacked size is unknown here. Pages of the buffer that are never written use no
	 * memory.
	 */
	o->mini_bytes = malloc(MINI_MAX_BYTES);
	if (!o->mini_bytes ||
	    lzma_stream_buffer_decode(&memory, 0, NULL, packed, &in, size, o->mini_bytes, &out,
				      MINI_MAX_BYTES) != LZMA_OK)
		return;
	if (!elf_open_memory(o->mini_bytes, out, &o->mini))
		elf_read_symbols(o->mini, &o->elf);
}

static void read_functions_once(struct reader_file *o)
{
	struct symtab *symbols = &o->elf.symbols;

	if (o->names_read)
		return;
	o->names_read = true;
	if (o->kind == SYMBOL_KALLSYMS) {
		kallsyms_load(o->fd, symbols);
		return;
	}
	if (!o->file)
		return;
	/* The .symtab of a debug file contains all functions of the file itself. */
	if (!o->debug || !has_symtab(o->debug) || elf_read_symbols(o->debug, &o->elf) < 0)
		elf_read_symbols(o->file, &o->elf);
	if (!o->elf.full)
		read_mini_debug_info(o);
	if (o->has_go && !o->elf.full)
		go_table_add_symbols(&o->go, symbols);
	symtab_sort(symbols);
}

static bool add_name(struct reply_builder *builder, const struct symbol_name *range,
		     const char *name)
{
	char text[SYMBOL_NAME_MAX + 1];
	struct symbol_name *entry = &builder->name[builder->count];
	size_t len = name ? demangle(name, text, sizeof(text)) : 0;

	*entry = *range;
	if (!reply_builder_add_text(builder, sizeof(*entry), text, len, &entry->text))
		return false;
	builder->count++;
	return true;
}

/* Returns the segment that contains @address, a file offset; NULL if there is none. */
static const struct elf_segment *segment_find(const struct reader_file *o, u64 address)
{
	for (u32 i = 0; i < o->elf.segments; i++)
		if (address >= o->elf.segment[i].offset &&
		    address - o->elf.segment[i].offset < o->elf.segment[i].size)
			return &o->elf.segment[i];
	return NULL;
}

/*
 * Returns the name of @address, or NULL, and the range of addresses around it with the same result.
 */
static const char *name_find(const struct reader_file *o, u64 address,
			     struct symbol_name *ret_range)
{
	const struct elf_segment *segment;
	const char *name;
	u64 before, after, in_segment;

	*ret_range = (struct symbol_name){ .start = address, .size = 1 };
	if (o->kind == SYMBOL_KALLSYMS)
		return symtab_find_range(&o->elf.symbols, address, &ret_range->start,
					 &ret_range->size);
	segment = segment_find(o, address);
	if (!segment)
		return NULL;
	in_segment = address - segment->offset;
	name = symtab_find_range(&o->elf.symbols, segment->vaddr + in_segment, &ret_range->start,
				 &ret_range->size);
	/* Convert the range from virtual addresses to file offsets, and clip it to the segment. */
	before = segment->vaddr + in_segment - ret_range->start;
	after = ret_range->size - before;
	if (before > in_segment)
		before = in_segment;
	if (after > segment->size - in_segment)
		after = segment->size - in_segment;
	ret_range->start = address - before;
	ret_range->size = before + after;
	if (ret_range->size > UINT64_MAX - ret_range->start)
		ret_range->size = UINT64_MAX - ret_range->start;
	return name;
}

static void add_jit_names(struct reader_file *o, const u64 *address, u32 count,
			       struct reply_builder *builder)
{
	static struct perf_map_name names[SYMBOL_ADDRESSES];

	if (o->jit_dump)
		jit_dump_find_names(o->fd, address, count, names);
	else
		perf_map_find_names(o->fd, address, count, names);
	for (; builder->done < count; builder->done++) {
		const struct symbol_name range = { .start = address[builder->done], .size = 1 };
		const struct perf_map_name *n = &names[builder->done];
		char text[SYMBOL_NAME_MAX + 1];
		ssize_t len = 0;

		if (n->size)
			len = pread(o->fd, text,
				    n->size < SYMBOL_NAME_MAX ? n->size : SYMBOL_NAME_MAX,
				    (off_t)n->offset);
		text[len > 0 ? len : 0] = '\0';
		/* The file may have changed since it was parsed. */
		text[strcspn(text, "\n")] = '\0';
		if (!add_name(builder, &range, text))
			return;
	}
}

/*
 * Clip a range so that it begins after the previous entry, because segments of a hostile file may
 * overlap.
 */
static void range_clip(const struct reply_builder *builder, struct symbol_name *range)
{
	const struct symbol_name *previous =
		builder->count ? &builder->name[builder->count - 1] : NULL;
	u64 end = previous ? previous->start + previous->size : 0;

	if (range->start >= end)
		return;
	range->size -= end - range->start;
	range->start = end;
}

void reader_file_add_functions(struct reader_file *o, const u64 *address, u32 count,
			       struct reply_builder *builder)
{
	reply_builder_init(builder);
	if (o->kind == SYMBOL_JIT_NAMES) {
		add_jit_names(o, address, count, builder);
		return;
	}
	if (o->kind == SYMBOL_DATA) {
		reader_file_add_data(o, address, count, builder);
		return;
	}
	read_functions_once(o);
	while (builder->done < count) {
		struct symbol_name range;
		const char *name = name_find(o, address[builder->done], &range);

		range_clip(builder, &range);
		if (!add_name(builder, &range, name))
			return;
		while (builder->done < count && address[builder->done] - range.start < range.size)
			builder->done++;
	}
}

/*
 * Get the difference between virtual addresses and file offsets of the code. Return false if the
 * file has no code, or if the difference is not the same for all code.
 */
static bool find_code_bias(const struct reader_file *o, u64 *ret_bias)
{
	bool found = false;

	for (u32 i = 0; i < o->elf.segments; i++) {
		const struct elf_segment *segment = &o->elf.segment[i];

		if (!segment->code)
			continue;
		if (found && segment->vaddr - segment->offset != *ret_bias)
			return false;
		*ret_bias = segment->vaddr - segment->offset;
		found = true;
	}
	return found;
}

/* Return whether a virtual address is in memory of the file: its bytes, or its zeros. */
static bool memory_has_address(const struct reader_file *o, u64 vaddr)
{
	for (u32 i = 0; i < o->elf.segments; i++)
		if (vaddr - o->elf.segment[i].vaddr < o->elf.segment[i].memory)
			return true;
	return false;
}

/*
 * Return whether clang has moved equal instructions of several functions into new functions. They
 * write registers that other functions preserve.
 */
static bool has_outlined_functions(Elf *elf)
{
	static const char name[] = "OUTLINED_FUNCTION_";
	size_t size;
	const u8 *names = elf_get_section_bytes(elf, ".strtab", &size);

	return names && memmem(names, size, name, strlen(name));
}

static void read_data_once(struct reader_file *o)
{
	if (o->lines_read)
		return;
	read_functions_once(o);
	o->lines_read = true;
	if (has_section(o->file, ".debug_info"))
		debug_data_new(o->file, o->alt, &o->data);
	else if (o->debug)
		debug_data_new(o->debug, o->alt, &o->data);
	o->outlines =
		has_outlined_functions(o->file) || (o->debug && has_outlined_functions(o->debug));
}

/* Write the type and the field at @vaddr, with a line feed between them, or a reason. */
static void format_datum(const struct reader_file *o, u64 vaddr, char *to, size_t size)
{
	struct debug_datum datum;
	u64 start, length;
	const char *name;

	if (!memory_has_address(o, vaddr)) {
		snprintf(to, size, "[other memory]");
		return;
	}
	if (o->data && debug_data_find(o->data, vaddr, &datum)) {
		snprintf(to, size, "%s\n%s", datum.type, datum.field);
		return;
	}
	name = symtab_find_range(&o->elf.symbols, vaddr, &start, &length);
	if (name)
		snprintf(to, size, "[no debug data]\n%.255s", name);
	else
		snprintf(to, size, "[not a symbol]");
}

/* Read the instruction at a virtual address. */
static bool read_instruction(void *ctx, u64 address, u32 *ret_word)
{
	const struct reader_file *o = ctx;
	u8 bytes[4];

	for (u32 i = 0; i < o->elf.segments; i++) {
		const struct elf_segment *segment = &o->elf.segment[i];
		u64 distance = address - segment->vaddr;

		if (!segment->code || distance >= segment->size || segment->size - distance < 4)
			continue;
		if (pread(o->fd, bytes, sizeof(bytes), (off_t)(segment->offset + distance)) != 4)
			return false;
		*ret_word = spe_get_le32(bytes);
		return true;
	}
	return false;
}

/* Write what format_datum() writes, of the datum that the instruction at @offset accesses. */
static void format_access(struct reader_file *o, u64 offset, char *to, size_t size)
{
	static const char *const reasons[] = {
		[DEBUG_ACCESS_UNKNOWN] = "[unknown pointer]",
		[DEBUG_ACCESS_STACK] = "[stack]",
		[DEBUG_ACCESS_NO_DATA] = "[no debug data]",
	};
	const struct debug_code code = {
		.read = read_instruction,
		.outlines = o->outlines,
		.handlers = has_section(o->file, ".gcc_except_table"),
		.ctx = o,
	};
	const struct elf_segment *segment = segment_find(o, offset);
	enum debug_access access = DEBUG_ACCESS_NO_DATA;
	struct debug_datum datum;
	GElf_Ehdr ehdr;

	if (segment && o->data && gelf_getehdr(o->file, &ehdr) && ehdr.e_machine == EM_AARCH64)
		access = debug_data_find_access(
			o->data, &code, segment->vaddr + (offset - segment->offset), &datum);
	if (access == DEBUG_ACCESS_FOUND)
		snprintf(to, size, "%s\n%s", datum.type, datum.field);
	else
		snprintf(to, size, "%s", reasons[access]);
}

void reader_file_add_data(struct reader_file *o, const u64 *address, u32 count,
			  struct reply_builder *builder)
{
	char text[SYMBOL_NAME_MAX + 1] = "";
	u64 bias;

	reply_builder_init(builder);
	read_data_once(o);
	for (; builder->done < count; builder->done++) {
		struct symbol_name *entry = &builder->name[builder->count];

		*entry = (struct symbol_name){ .start = address[builder->done], .size = 1 };
		if (address[builder->done] & SYMBOL_ACCESS)
			format_access(o, address[builder->done] & ~SYMBOL_ACCESS, text,
				      sizeof(text));
		else if (find_code_bias(o, &bias))
			format_datum(o, address[builder->done] + bias, text, sizeof(text));
		if (!reply_builder_add_text(builder, sizeof(*entry), text, strlen(text),
					    &entry->text))
			return;
		builder->count++;
	}
}

static bool add_linkage(const struct reader_file *o, u64 offset, struct reply_builder *builder)
{
	const struct elf_segment *segment = segment_find(o, offset);
	struct symbol_linkage *entry = &builder->linkage[builder->count];
	const struct symbol *symbol;
	const char *name = "";

	*entry = (struct symbol_linkage){ .offset = offset, .address = UINT64_MAX };
	if (segment) {
		entry->address = segment->vaddr + (offset - segment->offset);
		symbol = symtab_find_symbol(&o->elf.symbols, entry->address);
		/* A boundary has no name. A truncated name would be the name of no function. */
		if (symbol && strlen(o->elf.symbols.names + symbol->name) < SYMTAB_NAME_MAX) {
			name = o->elf.symbols.names + symbol->name;
			entry->function = symbol->start;
			entry->local = symtab_count_locals(&o->elf.symbols, symbol);
		}
	}
	if (!reply_builder_add_text(builder, sizeof(*entry), name, strlen(name), &entry->text))
		return false;
	builder->count++;
	return true;
}

void reader_file_add_linkage(struct reader_file *o, const u64 *address, u32 count,
			     struct reply_builder *builder)
{
	reply_builder_init(builder);
	read_functions_once(o);
	while (builder->done < count && add_linkage(o, address[builder->done], builder))
		builder->done++;
}

static void read_lines_once(struct reader_file *o)
{
	if (o->lines_read)
		return;
	o->lines_read = true;
	if (!o->file)
		return;
	if (has_section(o->file, ".debug_line"))
		debug_lines_new(o->file, o->alt, &o->lines);
	else if (o->debug)
		debug_lines_new(o->debug, o->alt, &o->lines);
}

/* Join the names of inlined functions as "inner\nouter", as many as fit; returns the length. */
static size_t inlines_join(const struct debug_location *location, char *ret_text)
{
	char name[SYMBOL_NAME_MAX + 1];
	size_t len = 0;

	for (u32 i = 0; i < location->count; i++) {
		size_t n = demangle(location->inlined[i], name, sizeof(name));

		/* Replace newlines, because a newline separates names. */
		for (char *p = name; *p; p++)
			if (*p == '\n')
				*p = '?';
		if (n + 1 > SYMBOL_INLINES_MAX - len)
			break;
		if (len)
			ret_text[len++] = '\n';
		memcpy(ret_text + len, name, n);
		len += n;
	}
	return len;
}

static bool add_line(struct reply_builder *builder, u64 address,
		     const struct debug_location *location, size_t file_len)
{
	struct symbol_line *entry = &builder->line[builder->count];
	char inlines[SYMBOL_INLINES_MAX + 1];

	*entry = (struct symbol_line){ .address = address, .line = location->line };
	if (file_len > SYMBOL_FILE_MAX)
		file_len = SYMBOL_FILE_MAX;
	if (!reply_builder_add_text(builder, sizeof(*entry), location->file, file_len,
				    &entry->file) ||
	    !reply_builder_add_text(builder, sizeof(*entry), inlines,
				    inlines_join(location, inlines), &entry->inlines))
		return false;
	builder->count++;
	return true;
}

void reader_file_add_lines(struct reader_file *o, const u64 *address, u32 count,
			   struct reply_builder *builder)
{
	reply_builder_init(builder);
	read_lines_once(o);
	for (; builder->done < count; builder->done++) {
		const struct elf_segment *segment = segment_find(o, address[builder->done]);
		struct debug_location location = { .file = NULL };
		size_t len = 0;
		u64 vaddr = 0;

		if (segment)
			vaddr = segment->vaddr + (address[builder->done] - segment->offset);
		if (segment && o->lines)
			debug_lines_find_location(o->lines, vaddr, &location);
		if (location.file)
			len = strlen(location.file);
		else if (segment && o->has_go &&
			 !go_table_find_line(&o->go, vaddr, &location.file, &len, &location.line))
			len = 0;
		if (!add_line(builder, address[builder->done], &location, len))
			return;
	}
}

static_assert(DEBUG_FRAMES <= SYMBOL_FRAMES_MAX, "all frames of an address are sent");

/* Add the frames of an address, or an entry without a name; nothing if not all of them fit. */
static bool add_frames(struct reply_builder *builder, u64 address,
		       const struct debug_frames *frames)
{
	u32 count = frames->count ? frames->count : 1, before = builder->count;

	if (count > SYMBOL_ADDRESSES - before)
		return false;
	for (u32 i = 0; i < count; i++) {
		const struct debug_frame *frame = &frames->frame[i];
		struct symbol_frame *entry = &builder->frame[builder->count];
		const char *name = frame->name ?: "";
		size_t len = strlen(name);

		*entry = (struct symbol_frame){
			.address = address,
			.start_line = frame->start_line,
			.line = frame->line,
			.discriminator = frame->discriminator,
			.depth = i,
			.entry = !i && frames->entry,
		};
		/* A truncated name would be the name of no function. */
		if (len > SYMBOL_NAME_MAX)
			len = 0;
		if (!reply_builder_add_text(builder, sizeof(*entry), name, len, &entry->name)) {
			builder->count = before;
			return false;
		}
		builder->count++;
	}
	return true;
}

void reader_file_add_frames(struct reader_file *o, const u64 *address, u32 count,
			    struct reply_builder *builder)
{
	reply_builder_init(builder);
	read_lines_once(o);
	for (; builder->done < count; builder->done++) {
		const struct elf_segment *segment = segment_find(o, address[builder->done]);
		struct debug_frames frames = { .count = 0 };

		if (segment && o->lines)
			debug_lines_find_frames(o->lines,
						segment->vaddr +
							(address[builder->done] - segment->offset),
						&frames);
		if (!add_frames(builder, address[builder->done], &frames))
			return;
	}
}

/* Write the function and the offset of the address of code or data, such as "main+0x10". */
static bool format_code_address(void *ctx, u64 address, char *to, size_t size)
{
	const struct reader_file *o = ctx;
	const char *name;
	char text[SYMBOL_NAME_MAX + 1];
	u64 start, len;

	name = symtab_find_range(&o->elf.symbols, address, &start, &len);
	if (!name)
		return false;
	demangle(name, text, sizeof(text));
	if (address == start)
		snprintf(to, size, "%s", text);
	else
		snprintf(to, size, "%s+0x%llx", text, (unsigned long long)(address - start));
	return true;
}

/*
 * Disassemble the bytes of @code, which begin at file offset @address. If more bytes follow in the
 * file (@more), leave the last bytes to the next reply, because they may be a part of an
 * instruction.
 */
static void add_instructions(const struct disassembler_code *code, u64 address, bool more,
			     struct reply_builder *builder)
{
	size_t at = 0, end = more ? code->size - INSTRUCTION_MAX : code->size, size;
	char text[SYMBOL_NAME_MAX + 1];

	while (at < end && builder->count < SYMBOL_ADDRESSES) {
		struct symbol_name *entry = &builder->name[builder->count];

		size = disassembler_print_instruction(code, at, text, sizeof(text));
		*entry = (struct symbol_name){ .start = address + at, .size = size };
		if (!reply_builder_add_text(builder, sizeof(*entry), text, strlen(text),
					    &entry->text))
			return;
		builder->count++;
		at += size;
	}
}

void reader_file_add_instructions(struct reader_file *o, u64 address, u64 end,
				  struct reply_builder *builder)
{
	const struct elf_segment *segment = segment_find(o, address);
	static u8 bytes[CODE_BYTES];
	struct disassembler_code code = {
		.bytes = bytes, .size = sizeof(bytes), .name = format_code_address, .ctx = o
	};
	GElf_Ehdr ehdr;
	ssize_t n;

	reply_builder_init(builder);
	if (!segment || !o->file || !gelf_getehdr(o->file, &ehdr))
		return;
	read_functions_once(o);
	if (code.size > end - address)
		code.size = (size_t)(end - address);
	n = pread(o->fd, bytes, code.size, (off_t)address);
	if (n <= 0)
		return;
	code.size = (size_t)n;
	code.machine = ehdr.e_machine;
	code.address = segment->vaddr + (address - segment->offset);
	add_instructions(&code, address, code.size == sizeof(bytes), builder);
	if (!builder->count)
		return;
	builder->done = 1;
	if (builder->name[builder->count - 1].start + builder->name[builder->count - 1].size == end)
		builder->done = 2;
}
