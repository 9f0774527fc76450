/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text for terminals: columns that UTF-8 takes, cutting, and figures as people
 * read them.
 */
#ifndef SPEPROF_TEXT_H
#define SPEPROF_TEXT_H

#include "codec/env.h"

/** text_init() - set the locale; once, before the others */
void text_init(void);

/**
 * text_clean() - make @text safe for a terminal, in place: whatever is no
 * printable UTF-8 becomes '?'
 */
void text_clean(char *text);

/** text_width() - columns that @text takes */
size_t text_width(const char *text);

/**
 * text_fit() - @text in exactly @width columns: padded, or cut with an ellipsis
 * @width: below TEXT_MAX
 * @right: pad on the left
 * @ret: TEXT_SIZE bytes
 */
void text_fit(const char *text, size_t width, bool right, char *ret);

#define TEXT_MAX  256
#define TEXT_SIZE (TEXT_MAX * 5 + 4) /* characters, padding, ellipsis */

/** Figures; each writes into @buf, TEXT_NUMBER bytes, and returns it. */
#define TEXT_NUMBER 32
const char *text_count(char *buf, u64 count); /* 1,234,567 */
const char *text_bytes(char *buf, u64 bytes); /* 21 MiB */
const char *text_seconds(char *buf, u64 ns); /* 10 s, 0.25 s */
const char *text_percent(char *buf, u64 part, u64 whole); /* 69.8 %, - */
const char *text_percent_whole(char *buf, u64 part, u64 whole); /* 81 %, - */

#endif
