/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text for terminals: the width of UTF-8, truncation, and numbers with units */
#ifndef SPEPROF_TEXT_H
#define SPEPROF_TEXT_H

#include "codec/env.h"

/** text_init() - set the locale; call it once, before the other functions */
void text_init(void);

/**
 * text_clean() - make a text safe for a terminal
 * @text: changed in place: everything that is not printable UTF-8 becomes '?'
 */
void text_clean(char *text);

/** text_get_width() - return the number of columns of @text on a terminal */
size_t text_get_width(const char *text);

/**
 * text_fit() - pad a text, or truncate it with an ellipsis
 * @text: UTF-8
 * @width: columns of the result, below TEXT_WIDTH_MAX
 * @right: whether to align it to the right
 * @ret: the result, TEXT_SIZE bytes
 */
void text_fit(const char *text, size_t width, bool right, char *ret);

/* Limit (exclusive) of the width of a fitted text, in columns. */
#define TEXT_WIDTH_MAX 256
#define TEXT_SIZE      (TEXT_WIDTH_MAX * 5 + 4) /* bytes of a fitted text with its NUL */

/*
 * Convert numbers to text. Each function writes to @buf of TEXT_NUMBER_SIZE bytes, and returns
 * @buf.
 */
#define TEXT_NUMBER_SIZE 32
const char *text_format_count(char *buf, u64 count); /* 1,234,567 */
const char *text_format_bytes(char *buf, u64 bytes); /* for example "21 MiB" */
const char *text_format_seconds(char *buf, u64 ns); /* 10 s, 0.25 s */
const char *text_format_percent(char *buf, u64 part, u64 whole); /* 69.8 %, - */
const char *text_format_percent_whole(char *buf, u64 part, u64 whole); /* 81 %, - */

#endif
