// SPDX-License-Identifier: LGPL-2.1-or-later
#include "jit-dump.h"

#include <errno.h>
#include <unistd.h>

#include "symbols/symbol-message.h"
#include "util/array.h"

#define MAGIC	      0x4a695444U /* "JiTD" */
#define MAGIC_SWAPPED 0x4454694aU /* the same, written with the other byte order */
#define VERSION	      1
#define RECORDS_MAX   (1U << 20) /* records that are read */
#define MATCHES_MAX   (1U << 20) /* matches of records with addresses */
#define NAME_SIZE_MAX 4096 /* bytes of a name with its NUL; longer names are ignored */

/* The header of the file, and of each record. All numbers have the byte order of this machine. */
struct jit_dump_header {
	u32 magic;
	u32 version;
	u32 size; /* of this header in the file */
	u32 machine;
	u32 reserved;
	u32 pid;
	u64 time;
	u64 flags;
};

enum jit_record_type {
	RECORD_LOAD, /* a function was compiled; its name and its code follow */
	RECORD_MOVE, /* a function was moved */
	RECORD_DEBUG, /* source lines, which are not read */
	RECORD_CLOSE, /* the runtime ends */
};

struct jit_record {
	u32 type;
	u32 size; /* of the whole record */
	u64 time;
};

struct jit_load {
	struct jit_record record;
	u32 pid;
	u32 tid;
	u64 mapping;
	u64 address;
	u64 size;
	u64 index;
};

struct jit_move {
	struct jit_record record;
	u32 pid;
	u32 tid;
	u64 mapping;
	u64 old_address;
	u64 address;
	u64 size;
	u64 index;
};

/**
 * struct jit_match - the record that is valid for an address
 * @time: its time
 * @index: RECORD_MOVE: the function
 * @moved: whether it is a RECORD_MOVE, so that the name is in an earlier RECORD_LOAD
 */
struct jit_match {
	u64 time;
	u64 index;
	bool moved;
};

/**
 * struct jit_search - a search for the names of addresses
 * @fd, @address, @count, @names: the parameters of jit_dump_find_names()
 * @match: for each address, the valid record
 * @matches: number of matches so far
 * @named: whether the search is for the names of functions that were moved
 */
struct jit_search {
	int fd;
	const u64 *address;
	u32 count;
	struct perf_map_name *names;
	struct jit_match match[SYMBOL_ADDRESSES];
	u32 matches;
	bool named;
};

int jit_dump_check(int fd)
{
	struct jit_dump_header header = { 0 };
	ssize_t n = pread(fd, &header, sizeof(header), 0);

	if (n < (ssize_t)sizeof(header.magic))
		return 0;
	if (header.magic == MAGIC_SWAPPED)
		return -ENOEXEC;
	if (header.magic != MAGIC)
		return 0;
	if (n < (ssize_t)sizeof(header) || header.size < sizeof(header))
		return -EINVAL;
	return header.version == VERSION ? 1 : -EPROTONOSUPPORT;
}

/* Find the name of a RECORD_LOAD at @offset of the file; its size is 0 if it is invalid. */
static struct perf_map_name name_find(int fd, const struct jit_load *load, u64 offset)
{
	char text[NAME_SIZE_MAX];
	size_t max = load->record.size - sizeof(*load);
	ssize_t n = pread(fd, text, max < sizeof(text) ? max : sizeof(text),
			  (off_t)(offset + sizeof(*load)));
	const char *end = n > 0 ? memchr(text, '\0', (size_t)n) : NULL;

	return (struct perf_map_name){ .offset = offset + sizeof(*load),
				       .size = end ? (u32)(end - text) : 0 };
}

/* Store the name or the index of a function for the addresses in its code. */
static void store_matches(struct jit_search *search, u64 start, u64 size,
			  const struct jit_match *match, const struct jit_load *load, u64 offset)
{
	u32 first = ARRAY_COUNT_LEADING(search->count, i, search->address[i] < start);
	struct perf_map_name name = { 0 };

	if (first == search->count || search->address[first] - start >= size)
		return;
	if (load)
		name = name_find(search->fd, load, offset);
	if (load && !name.size)
		return;
	for (u32 i = first; i < search->count && search->address[i] - start < size; i++) {
		search->matches++;
		if (match->time < search->match[i].time)
			continue;
		search->match[i] = *match;
		search->names[i] = name;
	}
}

/* Store the name of a function for the addresses to which it was moved. */
static void store_moved_names(struct jit_search *search, const struct jit_load *load, u64 offset)
{
	struct perf_map_name name = { 0 };

	for (u32 i = 0; i < search->count; i++) {
		const struct jit_match *match = &search->match[i];

		if (!match->moved || match->index != load->index || load->record.time > match->time)
			continue;
		if (!name.size)
			name = name_find(search->fd, load, offset);
		search->names[i] = name;
		search->matches++;
	}
}

/* Process the record at @offset of the file, of which @n bytes were read to @record. */
static void process_record(struct jit_search *search, const void *record, size_t n, u64 offset)
{
	const struct jit_record *head = record;

	if (head->type == RECORD_LOAD && n >= sizeof(struct jit_load)) {
		const struct jit_load *load = record;
		const struct jit_match match = { .time = head->time };

		if (search->named)
			store_moved_names(search, load, offset);
		else
			store_matches(search, load->address, load->size, &match, load, offset);
	} else if (head->type == RECORD_MOVE && n >= sizeof(struct jit_move) && !search->named) {
		const struct jit_move *move = record;
		const struct jit_match match = { head->time, move->index, true };

		store_matches(search, move->address, move->size, &match, NULL, offset);
	}
}

/* Process all records. */
static void process_all_records(struct jit_search *search, u64 offset)
{
	union {
		struct jit_record head;
		struct jit_load load;
		struct jit_move move;
	} record;
	ssize_t n;

	for (u32 i = 0; i < RECORDS_MAX && search->matches < MATCHES_MAX; i++) {
		n = pread(search->fd, &record, sizeof(record), (off_t)offset);
		if (n < (ssize_t)sizeof(record.head) || record.head.size < sizeof(record.head))
			return;
		if ((size_t)n > record.head.size)
			n = record.head.size;
		process_record(search, &record, (size_t)n, offset);
		if (record.head.type == RECORD_CLOSE)
			return;
		offset += record.head.size;
	}
}

static bool was_moved(const struct jit_search *search)
{
	for (u32 i = 0; i < search->count; i++)
		if (search->match[i].moved)
			return true;
	return false;
}

void jit_dump_find_names(int fd, const u64 *address, u32 count, struct perf_map_name *ret_names)
{
	struct jit_search search = {
		.fd = fd, .address = address, .count = count, .names = ret_names
	};
	struct jit_dump_header header;

	memset(ret_names, 0, count * sizeof(*ret_names));
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
		return;
	process_all_records(&search, header.size);
	search.named = true;
	search.matches = 0;
	if (was_moved(&search))
		process_all_records(&search, header.size);
}
