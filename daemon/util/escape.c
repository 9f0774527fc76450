// SPDX-License-Identifier: LGPL-2.1-or-later
#include "escape.h"

struct code_range {
	u32 first;
	u32 last;
};

/* Characters beyond ASCII that are controls, or that reorder, hide or break text on a terminal. */
static const struct code_range unprintable[] = {
	{ 0x0080, 0x00a0 }, /* C1, no-break space */
	{ 0x00ad, 0x00ad }, /* soft hyphen */
	{ 0x0300, 0x036f }, /* combining characters, which change the previous character */
	{ 0x061c, 0x061c }, /* Arabic letter mark */
	{ 0x115f, 0x1160 }, /* Hangul fillers */
	{ 0x180b, 0x180f }, /* Mongolian selectors */
	{ 0x2000, 0x200f }, /* spaces, zero widths, directional marks */
	{ 0x2028, 0x202f }, /* line and paragraph separators, embeddings */
	{ 0x205f, 0x206f }, /* invisible operators, isolates */
	{ 0x2800, 0x2800 }, /* blank Braille */
	{ 0x3000, 0x3000 }, /* ideographic space */
	{ 0x3164, 0x3164 }, /* Hangul filler */
	{ 0xd800, 0xf8ff }, /* surrogates, private use */
	{ 0xfdd0, 0xfdef }, /* noncharacters */
	{ 0xfe00, 0xfe0f }, /* variation selectors */
	{ 0xfeff, 0xfeff }, /* byte order mark */
	{ 0xfff0, 0xfffc }, /* interlinear annotation */
	{ 0xfffe, 0xffff },
	{ 0xe0000, UINT32_MAX }, /* tags, selectors, private use, beyond Unicode */
};

static bool is_printable_code(u32 code)
{
	if (code < 0x80)
		return code >= 0x20 && code < 0x7f;
	for (size_t i = 0; i < ARRAY_SIZE(unprintable); i++)
		if (code >= unprintable[i].first && code <= unprintable[i].last)
			return false;
	return (code & 0xfffe) != 0xfffe;
}

/* Return the number of bytes of the character at @p, or 0 if it is invalid. */
static size_t char_decode(const u8 *p, size_t len, u32 *ret_code)
{
	static const u32 smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	u32 code = n == 1 ? p[0] : p[0] & (0x7fU >> n);

	if ((p[0] >= 0x80 && p[0] < 0xc0) || p[0] >= 0xf8 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	*ret_code = code;
	return n;
}

bool escape_is_utf8(const char *text)
{
	const u8 *p = (const u8 *)text;
	size_t left = strlen(text), n;
	u32 code;

	for (; left; left -= n, p += n) {
		n = char_decode(p, left, &code);
		if (!n)
			return false;
	}
	return true;
}

/* Return the number of bytes of the character at @p, or 0 if it is not printable. */
static size_t get_printable_length(const u8 *p, size_t len)
{
	u32 code;
	size_t n = char_decode(p, len, &code);

	return n && is_printable_code(code) ? n : 0;
}

size_t escape_text(char *to, size_t size, const char *from, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const u8 *p = (const u8 *)from;
	size_t done = 0;

	while (len) {
		size_t n = get_printable_length(p, len), out = n ? n : 4;

		if (out >= size - done)
			break;
		if (n) {
			memcpy(to + done, p, n);
		} else {
			n = 1;
			to[done] = '\\';
			to[done + 1] = 'x';
			to[done + 2] = digits[*p >> 4];
			to[done + 3] = digits[*p & 15];
		}
		done += out;
		p += n;
		len -= n;
	}
	to[done] = '\0';
	return done;
}
