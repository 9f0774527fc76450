// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <wchar.h>

static const char *ellipsis = "...";

void text_init(void)
{
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
		ellipsis = "\u2026";
	else
		setlocale(LC_CTYPE, "C.UTF-8"); /* names are UTF-8, whatever the locale is */
}

/*
 * Return whether @c is a bidirectional control: these characters have no width, and would reverse
 * the rest of the line.
 */
static bool is_bidi_control(wchar_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

/*
 * Return the number of columns of the character at @p, and its bytes in *ret_len; -1 if it is not
 * printable.
 */
static int get_char_width(const char *p, size_t left, size_t *ret_len)
{
	mbstate_t state = { 0 };
	wchar_t c;
	size_t len = mbrtowc(&c, p, left, &state);

	if (len == 0 || len > left) {
		*ret_len = 1;
		return -1;
	}
	*ret_len = len;
	return is_bidi_control(c) ? -1 : wcwidth(c);
}

void text_clean(char *text)
{
	size_t left = strlen(text);
	char *out = text;

	while (left) {
		size_t len;
		int width = get_char_width(text, left, &len);

		if (width < 0) {
			*out++ = '?';
		} else {
			memmove(out, text, len);
			out += len;
		}
		text += len;
		left -= len;
	}
	*out = 0;
}

size_t text_get_width(const char *text)
{
	size_t left = strlen(text), width = 0, len;

	for (; left; text += len, left -= len) {
		int w = get_char_width(text, left, &len);

		width += w < 0 ? 1 : w;
	}
	return width;
}

/* Return the number of bytes of @text that fit into @width columns. */
static size_t text_find_prefix(const char *text, size_t width, size_t *ret_width)
{
	size_t left = strlen(text), used = 0, pos = 0, len;

	for (; left; pos += len, left -= len) {
		int w = get_char_width(text + pos, left, &len);
		size_t columns = w < 0 ? 1 : w;

		/* Combining marks have no width, so the number of bytes needs a limit, too. */
		if (columns > width - used || pos + len > width * 4)
			break;
		used += columns;
	}
	*ret_width = used;
	return pos;
}

void text_fit(const char *text, size_t width, bool right, char *ret)
{
	size_t dots = text_get_width(ellipsis), have = 0, len;
	bool cut;

	if (width >= TEXT_WIDTH_MAX)
		width = TEXT_WIDTH_MAX - 1;
	len = text_find_prefix(text, width, &have);
	cut = text[len];
	if (cut && width > dots)
		len = text_find_prefix(text, width - dots, &have);
	if (right)
		for (; !cut && have < width; have++)
			*ret++ = ' ';
	memcpy(ret, text, len);
	ret[len] = 0;
	text_clean(ret);
	ret += strlen(ret);
	if (cut && width > dots) {
		ret = stpcpy(ret, ellipsis);
		have += dots;
	}
	for (; have < width; have++)
		*ret++ = ' ';
	*ret = 0;
}

const char *text_format_count(char *buf, u64 count)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	char *out = buf;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = 0;
	return buf;
}

const char *text_format_bytes(char *buf, u64 bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = bytes;
	unsigned int unit = 0;

	while (value >= 1023.5 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(buf, TEXT_NUMBER_SIZE, unit && value < 9.95 ? "%.1f %s" : "%.0f %s", value,
		 units[unit]);
	return buf;
}

const char *text_format_seconds(char *buf, u64 ns)
{
	double s = ns / 1e9;

	if (s >= 86400)
		snprintf(buf, TEXT_NUMBER_SIZE, "%.0f d %.0f h", (double)(u64)(s / 86400),
			 (double)((u64)(s / 3600) % 24));
	else if (s >= 3600)
		snprintf(buf, TEXT_NUMBER_SIZE, "%u h %u min", (u32)(s / 3600), (u32)(s / 60) % 60);
	else if (s >= 9.95)
		snprintf(buf, TEXT_NUMBER_SIZE, "%.0f s", s);
	else if (s >= 0.995)
		snprintf(buf, TEXT_NUMBER_SIZE, "%.1f s", s);
	else
		snprintf(buf, TEXT_NUMBER_SIZE, "%.2g s", s);
	return buf;
}

static const char *text_format_none(char *buf)
{
	snprintf(buf, TEXT_NUMBER_SIZE, "-");
	return buf;
}

const char *text_format_percent(char *buf, u64 part, u64 whole)
{
	double percent;

	if (!whole)
		return text_format_none(buf);
	percent = 100.0 * part / whole;
	/* "100.0 %" would be one column wider than any other value. */
	snprintf(buf, TEXT_NUMBER_SIZE, percent >= 99.95 ? "%.0f %%" : "%.1f %%", percent);
	return buf;
}

const char *text_format_percent_whole(char *buf, u64 part, u64 whole)
{
	if (!whole)
		return text_format_none(buf);
	snprintf(buf, TEXT_NUMBER_SIZE, "%.0f %%", 100.0 * part / whole);
	return buf;
}
