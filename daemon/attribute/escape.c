// SPDX-License-Identifier: LGPL-2.1-or-later
#include "escape.h"

struct range {
	u32 first;
	u32 last;
};

/* Beyond ASCII: C1 controls, and what a terminal reorders, hides or breaks at. */
static const struct range unprintable[] = {
	{ 0x0080, 0x00a0 }, /* C1, no-break space */
	{ 0x00ad, 0x00ad }, /* soft hyphen */
	{ 0x0300, 0x036f }, /* combining: would change the character before */
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

static bool code_printable(u32 code)
{
	if (code < 0x80)
		return code >= 0x20 && code < 0x7f;
	for (size_t i = 0; i < ARRAY_SIZE(unprintable); i++)
		if (code >= unprintable[i].first && code <= unprintable[i].last)
			return false;
	return (code & 0xfffe) != 0xfffe;
}

/* Bytes of the printable character at @p, or 0. */
static size_t char_length(const u8 *p, size_t len)
{
	static const u32 smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n;
	u32 code;

	if (p[0] < 0x80)
		return code_printable(p[0]);
	if (p[0] < 0xc0 || p[0] >= 0xf8)
		return 0;
	n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n > len)
		return 0;
	code = p[0] & (0x7fU >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	return code >= smallest[n] && code_printable(code) ? n : 0;
}

size_t escape_text(char *to, size_t size, const char *from, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const u8 *p = (const u8 *)from;
	size_t done = 0;

	while (len) {
		size_t n = char_length(p, len), out = n ? n : 4;

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
