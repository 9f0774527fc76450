// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

/*
 * page_head and page_tail: the parts of the page before and after its data; tools/html/bundle
 * writes the file.
 */
#include "page-shell.h"

/* Maximum size of the data of a page in bytes, before compression. */
#define DATA_MAX (1U << 30)

/*
 * Bytes that one line of base64 encodes, and characters of that line with the newline. Long lines
 * have few newlines, which are a part of the size of the page; editors can still show the lines.
 */
#define LINE_BYTES 3000
#define LINE_CHARS (LINE_BYTES / 3 * 4 + 1)

static int write_all(int fd, const void *bytes, size_t size)
{
	const u8 *at = bytes;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

static int compress_data(const u8 *data, size_t size, u8 **ret_bytes, size_t *ret_size)
{
	z_stream z = { .next_in = (u8 *)data, .avail_in = (uInt)size };
	u8 *bytes;
	uLong bound;
	int r;

	/*
	 * -15: no header, and a compression window of 2^15 bytes; 9: maximum memory, for the best
	 * compression
	 */
	if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	bound = deflateBound(&z, size);
	bytes = malloc(bound);
	if (!bytes) {
		deflateEnd(&z);
		return -ENOMEM;
	}
	z.next_out = bytes;
	z.avail_out = (uInt)bound;
	r = deflate(&z, Z_FINISH);
	*ret_bytes = bytes;
	*ret_size = z.total_out;
	deflateEnd(&z);
	/* The buffer has deflateBound() bytes, so the data always fits. */
	return r == Z_STREAM_END ? 0 : -EIO;
}

/* Encode up to LINE_BYTES bytes and a line break. Return the number of characters. */
static size_t encode_base64_line(const u8 *from, size_t size, char to[static LINE_CHARS])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = 0;

	for (size_t i = 0; i < size; i += 3) {
		u32 bits = (u32)from[i] << 16;

		bits |= i + 1 < size ? (u32)from[i + 1] << 8 : 0;
		bits |= i + 2 < size ? from[i + 2] : 0;
		to[n++] = digits[bits >> 18];
		to[n++] = digits[bits >> 12 & 63];
		to[n++] = i + 1 < size ? digits[bits >> 6 & 63] : '=';
		to[n++] = i + 2 < size ? digits[bits & 63] : '=';
	}
	to[n++] = '\n';
	return n;
}

static int write_base64(int fd, const u8 *bytes, size_t size)
{
	size_t lines = (size + LINE_BYTES - 1) / LINE_BYTES, length = 0;
	char *text = malloc(lines * LINE_CHARS + 1);
	int r;

	if (!text)
		return -ENOMEM;
	for (size_t at = 0; at < size; at += LINE_BYTES) {
		size_t n = size - at < LINE_BYTES ? size - at : LINE_BYTES;

		length += encode_base64_line(bytes + at, n, text + length);
	}
	r = write_all(fd, text, length);
	free(text);
	return r;
}

int page_write(int fd, const u8 *data, size_t size)
{
	u8 *bytes = NULL;
	size_t length = 0;
	int r;

	if (size > DATA_MAX)
		return -E2BIG;
	r = compress_data(data, size, &bytes, &length);
	if (r >= 0)
		r = write_all(fd, page_head, sizeof(page_head));
	if (r >= 0)
		r = write_base64(fd, bytes, length);
	if (r >= 0)
		r = write_all(fd, page_tail, sizeof(page_tail));
	free(bytes);
	return r;
}
