// SPDX-License-Identifier: LGPL-2.1-or-later
#include "object.h"

#include <lzma.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "demangle.h"
#include "kallsyms.h"
#include "perf-map.h"

#define SYMBOLS_LIMIT  (128ULL << 20) /* bytes of one file's functions */
#define MINI_MAX_BYTES (64ULL << 20)
#define XZ_MEMORY      (96ULL << 20)

void object_close(struct object *o)
{
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
	*o = (struct object){ .fd = -1, .debug_fd = -1, .alt_fd = -1 };
}

static bool has_section(Elf *elf, const char *name)
{
	GElf_Shdr sh;

	return elf_section(elf, name, &sh) && sh.sh_type != SHT_NOBITS && sh.sh_size;
}

static bool has_symtab(Elf *elf)
{
	GElf_Shdr sh;

	return elf_section(elf, ".symtab", &sh) && sh.sh_type == SHT_SYMTAB && sh.sh_size;
}

/* The table is in a section, also of stripped binaries. */
static bool go_open(struct object *o)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	GElf_Shdr text;
	const u8 *data;
	size_t size;

	if (!elf_section(o->file, ".text", &text))
		text.sh_addr = 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		data = elf_section_bytes(o->file, names[i], &size);
		if (data && !go_table_init(&o->go, data, size, text.sh_addr))
			return true;
	}
	return false;
}

/* .gnu_debuglink: a name, and behind it, aligned, the checksum of that file. */
static const char *debug_link(Elf *elf, u32 *ret_crc)
{
	size_t size, len;
	const u8 *bytes = elf_section_bytes(elf, ".gnu_debuglink", &size);

	if (!bytes)
		return NULL;
	len = strnlen((const char *)bytes, size);
	if (!len || len >= SYMBOL_LINK_MAX || size < 4 || (len + 4) / 4 * 4 > size - 4 ||
	    memchr(bytes, '/', len))
		return NULL;
	*ret_crc = spe_get_le32(bytes + (len + 4) / 4 * 4);
	return (const char *)bytes;
}

static void known_fill(const struct object *o, struct symbol_object *known)
{
	const char *link;
	u32 crc;

	*known = (struct symbol_object){ .has = o->has, .build_id_size = o->elf.build_id_size };
	memcpy(known->build_id, o->elf.build_id, sizeof(known->build_id));
	link = o->file ? debug_link(o->file, &crc) : NULL;
	if (link && strcmp(link, "..") != 0)
		memcpy(known->link, link, strlen(link));
}

/* Where source lines may come from, and what that needs besides. */
static void known_alt(Elf *elf, struct symbol_object *known)
{
	const void *id;
	size_t n = debug_lines_alt(elf, &id);

	if (n && n <= sizeof(known->alt)) {
		memcpy(known->alt, id, n);
		known->alt_size = (u8)n;
	}
}

int object_open(struct object *o, u32 kind, int fd, struct symbol_object *ret_known)
{
	struct symbol_object known;
	int r;

	object_close(o);
	o->kind = kind;
	o->fd = fd;
	o->elf.symbols.limit = SYMBOLS_LIMIT;
	if (kind != SYMBOL_ELF) {
		o->has = SYMBOL_HAS_NAMES;
		known_fill(o, ret_known);
		return 0;
	}
	r = elf_open(fd, &o->file);
	if (r < 0) {
		object_close(o);
		return r;
	}
	elf_read_head(o->file, &o->elf);
	o->has_go = go_open(o);
	if (o->has_go || has_symtab(o->file))
		o->has |= SYMBOL_HAS_NAMES;
	if (o->has_go || has_section(o->file, ".debug_line"))
		o->has |= SYMBOL_HAS_LINES;
	known_fill(o, &known);
	if (has_section(o->file, ".debug_line"))
		known_alt(o->file, &known);
	*ret_known = known;
	return 0;
}

static u32 file_crc(int fd)
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

/* By its build id, else by the checksum that the link has. */
static bool debug_matches(const struct object *o, Elf *debug, int fd)
{
	struct elf_object head = { .segments = 0 };
	u32 crc;

	elf_read_head(debug, &head);
	if (o->elf.build_id_size)
		return head.build_id_size == o->elf.build_id_size &&
		       !memcmp(head.build_id, o->elf.build_id, head.build_id_size);
	return debug_link(o->file, &crc) && file_crc(fd) == crc;
}

static int alt_attach(struct object *o, int fd)
{
	int r = o->alt ? -EEXIST : !o->file || o->lines_tried ? -EINVAL : elf_open(fd, &o->alt);

	if (!r) {
		o->alt_fd = fd;
		return 0;
	}
	close(fd);
	return r;
}

int object_attach(struct object *o, u32 part, int fd, struct symbol_object *ret_known)
{
	struct symbol_object known;
	int r;

	if (part == SYMBOL_ALT) {
		r = alt_attach(o, fd);
		if (!r)
			known_fill(o, ret_known);
		return r;
	}
	/* What was read already would not be what it is now. */
	if (!o->file || o->lines_tried || o->read)
		r = -EINVAL;
	else
		r = o->debug ? -EEXIST : elf_open(fd, &o->debug);
	if (!r && !debug_matches(o, o->debug, fd)) {
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
	known_fill(o, &known);
	if (has_section(o->debug, ".debug_line"))
		known_alt(o->debug, &known);
	*ret_known = known;
	return 0;
}

/* MiniDebugInfo: an ELF file with the symbols that the dynamic ones are not, packed by xz. */
static void mini_read(struct object *o)
{
	size_t size, in = 0, out = 0, room = MINI_MAX_BYTES;
	const u8 *packed = elf_section_bytes(o->file, ".gnu_debugdata", &size);
	u64 memory = XZ_MEMORY;

	if (!packed)
		return;
	/* Its length is at the end of the stream; the room that is not used costs nothing. */
	o->mini_bytes = malloc(room);
	if (!o->mini_bytes || lzma_stream_buffer_decode(&memory, 0, NULL, packed, &in, size,
							o->mini_bytes, &out, room) != LZMA_OK)
		return;
	if (!elf_open_memory(o->mini_bytes, out, &o->mini))
		elf_read_symbols(o->mini, &o->elf);
}

static void names_read(struct object *o)
{
	struct symtab *symbols = &o->elf.symbols;

	if (o->read)
		return;
	o->read = true;
	if (o->kind == SYMBOL_KALLSYMS) {
		kallsyms_load(o->fd, symbols);
		return;
	}
	if (!o->file)
		return;
	/* A debug file's .symtab has all that the file's own tables have. */
	if (!o->debug || !has_symtab(o->debug) || elf_read_symbols(o->debug, &o->elf) < 0)
		elf_read_symbols(o->file, &o->elf);
	if (!o->elf.full)
		mini_read(o);
	if (o->has_go && !o->elf.full)
		go_table_symbols(&o->go, symbols);
	symtab_finish(symbols);
}

static bool reply_builder_name(struct reply_builder *a, const struct symbol_name *range,
			       const char *name)
{
	char text[SYMBOL_NAME_MAX + 1];
	struct symbol_name *entry = &a->name[a->count];
	size_t len = name ? demangle(name, text, sizeof(text)) : 0;

	*entry = *range;
	if (!reply_builder_text(a, sizeof(*entry), text, len, &entry->text))
		return false;
	a->count++;
	return true;
}

/* The segment that has @address, an offset in the file. */
static const struct elf_segment *segment_of(const struct object *o, u64 address)
{
	for (u32 i = 0; i < o->elf.segments; i++)
		if (address >= o->elf.segment[i].offset &&
		    address - o->elf.segment[i].offset < o->elf.segment[i].size)
			return &o->elf.segment[i];
	return NULL;
}

/* The name of @address, and the range of addresses that have it. */
static const char *name_find(const struct object *o, u64 address, struct symbol_name *ret)
{
	const struct elf_segment *segment;
	const char *name;
	u64 behind, left;

	*ret = (struct symbol_name){ .start = address, .size = 1 };
	if (o->kind == SYMBOL_KALLSYMS)
		return symtab_find_range(&o->elf.symbols, address, &ret->start, &ret->size);
	segment = segment_of(o, address);
	if (!segment)
		return NULL;
	name = symtab_find_range(&o->elf.symbols, segment->vaddr + (address - segment->offset),
				 &ret->start, &ret->size);
	/* Back to offsets, within the segment. */
	behind = segment->vaddr + (address - segment->offset) - ret->start;
	left = ret->size - behind;
	if (behind > address - segment->offset)
		behind = address - segment->offset;
	if (left > segment->size - (address - segment->offset))
		left = segment->size - (address - segment->offset);
	ret->start = address - behind;
	ret->size = behind + left;
	if (ret->size > UINT64_MAX - ret->start)
		ret->size = UINT64_MAX - ret->start;
	return name;
}

static void perf_map_names(struct object *o, const u64 *address, u32 count, struct reply_builder *a)
{
	static struct perf_map_name names[SYMBOL_ADDRESSES];

	perf_map_find(o->fd, address, count, names);
	for (; a->done < count; a->done++) {
		const struct symbol_name range = { .start = address[a->done], .size = 1 };
		const struct perf_map_name *n = &names[a->done];
		char text[SYMBOL_NAME_MAX + 1];
		ssize_t len = 0;

		if (n->size)
			len = pread(o->fd, text,
				    n->size < SYMBOL_NAME_MAX ? n->size : SYMBOL_NAME_MAX,
				    (off_t)n->at);
		text[len > 0 ? len : 0] = '\0';
		/* It may have been written to since. */
		text[strcspn(text, "\n")] = '\0';
		if (!reply_builder_name(a, &range, text))
			return;
	}
}

/* Segments may lie over each other, and their functions: what was said first holds. */
static void range_behind(const struct reply_builder *a, struct symbol_name *range)
{
	const struct symbol_name *before = a->count ? &a->name[a->count - 1] : NULL;
	u64 end = before ? before->start + before->size : 0;

	if (range->start >= end)
		return;
	range->size -= end - range->start;
	range->start = end;
}

void object_find(struct object *o, const u64 *address, u32 count, struct reply_builder *a)
{
	reply_builder_init(a);
	if (o->kind == SYMBOL_PERF_MAP) {
		perf_map_names(o, address, count, a);
		return;
	}
	names_read(o);
	while (a->done < count) {
		struct symbol_name range;
		const char *name = name_find(o, address[a->done], &range);

		range_behind(a, &range);
		if (!reply_builder_name(a, &range, name))
			return;
		while (a->done < count && address[a->done] - range.start < range.size)
			a->done++;
	}
}

static void lines_read(struct object *o)
{
	if (o->lines_tried)
		return;
	o->lines_tried = true;
	if (!o->file)
		return;
	if (has_section(o->file, ".debug_line"))
		debug_lines_new(o->file, o->alt, &o->lines);
	else if (o->debug)
		debug_lines_new(o->debug, o->alt, &o->lines);
}

/* "inner\nouter", without those that do not fit. */
static size_t inlines_join(const struct debug_location *location, char *to)
{
	char name[SYMBOL_NAME_MAX + 1];
	size_t len = 0;

	for (u32 i = 0; i < location->count; i++) {
		size_t n = demangle(location->inlined[i], name, sizeof(name));

		/* The separator must stay one. */
		for (char *p = name; *p; p++)
			if (*p == '\n')
				*p = '?';
		if (n + 1 > SYMBOL_INLINES_MAX - len)
			break;
		if (len)
			to[len++] = '\n';
		memcpy(to + len, name, n);
		len += n;
	}
	return len;
}

static bool reply_builder_line(struct reply_builder *a, u64 address,
			       const struct debug_location *location, size_t file_len)
{
	struct symbol_line *entry = &a->line[a->count];
	char inlines[SYMBOL_INLINES_MAX + 1];

	*entry = (struct symbol_line){ .address = address, .line = location->line };
	if (file_len > SYMBOL_FILE_MAX)
		file_len = SYMBOL_FILE_MAX;
	if (!reply_builder_text(a, sizeof(*entry), location->file, file_len, &entry->file) ||
	    !reply_builder_text(a, sizeof(*entry), inlines, inlines_join(location, inlines),
				&entry->inlines))
		return false;
	a->count++;
	return true;
}

void object_lines(struct object *o, const u64 *address, u32 count, struct reply_builder *a)
{
	reply_builder_init(a);
	lines_read(o);
	for (; a->done < count; a->done++) {
		const struct elf_segment *segment = segment_of(o, address[a->done]);
		struct debug_location location = { .file = NULL };
		size_t len = 0;
		u64 vaddr = 0;

		if (segment)
			vaddr = segment->vaddr + (address[a->done] - segment->offset);
		if (segment && o->lines)
			debug_lines_find(o->lines, vaddr, &location);
		if (location.file)
			len = strlen(location.file);
		else if (segment && o->has_go &&
			 !go_table_line(&o->go, vaddr, &location.file, &len, &location.line))
			len = 0;
		if (!reply_builder_line(a, address[a->done], &location, len))
			return;
	}
}
