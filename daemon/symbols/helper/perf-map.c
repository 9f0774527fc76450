// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perf-map.h"

#include <unistd.h>

#include "util/array.h"

/* Bytes of a perf map that are read. */
#define PERF_MAP_MAX  (256ULL << 20)
#define CHUNK	      65536
#define LINE_MAX_SIZE 4096 /* longer lines are ignored */
#define MATCHES_MAX   (1U << 20) /* matches of lines with addresses */

/* Returns the index of the first of @count addresses that is not below @from. */
static u32 address_lower_bound(const u64 *address, u32 count, u64 from)
{
	return ARRAY_COUNT_LEADING(count, i, address[i] < from);
}

/* Parse a hexadecimal number and the blank after it; returns the rest of the line, or NULL. */
static const char *hex_parse(const char *p, const char *end, u64 *ret_value)
{
	u64 value = 0;
	u32 digits = 0;

	if (end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	for (; p < end && *p != ' '; p++, digits++) {
		u32 c = (u8)*p | 0x20;
		u32 digit = c >= '0' && c <= '9' ? c - '0' :
			    c >= 'a' && c <= 'f' ? c - 'a' + 10 :
						   16;

		if (digit > 15 || digits == 16)
			return NULL;
		value = value << 4 | digit;
	}
	if (!digits || p == end)
		return NULL;
	*ret_value = value;
	return p + 1;
}

/*
 * Parse a line, which begins at @offset of the file; return the number of addresses that it names.
 */
static u32 line_parse(const char *line, size_t size, u64 offset, const u64 *address, u32 count,
		      struct perf_map_name *names)
{
	const char *end = line + size, *p;
	u32 matches = 0;
	u64 start, length;

	p = hex_parse(line, end, &start);
	p = p ? hex_parse(p, end, &length) : NULL;
	if (!p || p == end)
		return 0;
	for (u32 i = address_lower_bound(address, count, start);
	     i < count && address[i] - start < length; i++, matches++)
		names[i] = (struct perf_map_name){
			.offset = offset + (u64)(p - line),
			.size = (u32)(end - p),
		};
	return matches;
}

void perf_map_find_names(int fd, const u64 *address, u32 count, struct perf_map_name *ret_names)
{
	char buf[CHUNK];
	size_t len = 0;
	u32 matches = 0;
	u64 offset = 0; /* of buf[0] in the file */
	ssize_t n;

	memset(ret_names, 0, count * sizeof(*ret_names));
	while (offset < PERF_MAP_MAX && matches < MATCHES_MAX &&
	       (n = pread(fd, buf + len, sizeof(buf) - len, (off_t)(offset + len))) > 0) {
		size_t done = 0;
		char *end;

		len += (size_t)n;
		while (matches < MATCHES_MAX && (end = memchr(buf + done, '\n', len - done))) {
			size_t size = (size_t)(end - buf) - done;

			if (size < LINE_MAX_SIZE)
				matches += line_parse(buf + done, size, offset + done, address,
						      count, ret_names);
			done += size + 1;
		}
		/* If a line is longer than the buffer, skip the part of the line in the buffer. */
		if (!done && len == sizeof(buf))
			done = len;
		memmove(buf, buf + done, len - done);
		offset += done;
		len -= done;
	}
}
