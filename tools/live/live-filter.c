// SPDX-License-Identifier: LGPL-2.1-or-later
#include "live-filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

enum word_kind {
	WORD_ANY_NAME,
	WORD_NAME,
	WORD_ABOVE,
	WORD_BELOW,
};

#define NAME_FIELD(key, field)                        \
	{                                             \
		key, offsetof(struct view_row, field) \
	}

/* The names of a row: the key in a filter, and the offset in &struct view_row. */
static const struct {
	const char *key;
	size_t offset;
} names[] = {
	NAME_FIELD("container", container), NAME_FIELD("program", process),
	NAME_FIELD("process", process),	    NAME_FIELD("function", function),
	NAME_FIELD("binary", binary),	    NAME_FIELD("file", file),
};

static const char *get_row_name(const struct view_row *row, size_t i)
{
	return (const char *)row + names[i].offset;
}

static int parse_name(struct live_condition *word, const char *key, size_t length, const char *glob)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i].key) != length || strncmp(names[i].key, key, length) != 0)
			continue;
		word->kind = WORD_NAME;
		word->field = (u8)i;
		snprintf(word->glob, sizeof(word->glob), "%s", glob);
		return 0;
	}
	return -EINVAL;
}

static int parse_number(struct live_condition *word, const char *key, size_t length,
			const char *text)
{
	char name[LIVE_TEXT_SIZE], *end;
	enum view_sort sort;

	snprintf(name, sizeof(name), "%.*s", (int)length, key);
	errno = 0;
	word->number = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || view_sort_parse(name, &sort) < 0)
		return -EINVAL;
	word->field = (u8)sort;
	return 0;
}

static int parse_word(const char *text, struct live_condition *ret_word)
{
	struct live_condition word = { 0 };
	size_t length;

	if (*text == '!') {
		word.negated = true;
		text++;
	}
	length = strcspn(text, "=<>");
	*ret_word = word;
	if (text[length] == '=' && length && text[length - 1] == '!') {
		ret_word->negated = !word.negated;
		return parse_name(ret_word, text, length - 1, text + length + 1);
	}
	if (text[length] == '=')
		return parse_name(ret_word, text, length, text + length + 1);
	/*
	 * Names in C++ have "<" and ">", so these characters are operators only after the name of a
	 * measure.
	 */
	ret_word->kind = text[length] == '<' ? WORD_BELOW : WORD_ABOVE;
	if (text[length] && parse_number(ret_word, text, length, text + length + 1) == 0)
		return 0;
	ret_word->kind = WORD_ANY_NAME;
	snprintf(ret_word->glob, sizeof(ret_word->glob), strpbrk(text, "*?[") ? "%s" : "*%s*",
		 text);
	return *text ? 0 : -EINVAL;
}

int live_filter_parse(const char *text, struct live_filter *ret_filter, char *ret_error,
		      size_t size)
{
	struct live_filter filter = { 0 };
	char words[LIVE_TEXT_SIZE], *rest = words, *word;

	snprintf(words, sizeof(words), "%s", text);
	snprintf(filter.text, sizeof(filter.text), "%s", words);
	while ((word = strsep(&rest, " "))) {
		if (!*word)
			continue;
		if (filter.count == LIVE_WORDS_MAX) {
			snprintf(ret_error, size, "a filter has at most %d words", LIVE_WORDS_MAX);
			return -EINVAL;
		}
		if (parse_word(word, &filter.word[filter.count]) < 0) {
			snprintf(ret_error, size,
				 "filter \"%s\": should be GLOB, KEY=GLOB or MEASURE>NUMBER", word);
			return -EINVAL;
		}
		filter.count++;
	}
	*ret_filter = filter;
	return 0;
}

static bool name_matches(const struct live_condition *word, const char *name)
{
	return fnmatch(word->glob, name, FNM_CASEFOLD | FNM_NOESCAPE) == 0;
}

static bool word_matches(const struct live_condition *word, const struct view_row *row)
{
	switch (word->kind) {
	case WORD_NAME:
		return name_matches(word, get_row_name(row, word->field));
	case WORD_ABOVE:
		return view_get_sort_key(row, word->field, UNITS) > word->number;
	case WORD_BELOW:
		return view_get_sort_key(row, word->field, UNITS) < word->number;
	default:
		break;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (name_matches(word, get_row_name(row, i)))
			return true;
	return false;
}

bool live_filter_accepts(const struct live_filter *filter, const struct view_row *row)
{
	for (u32 i = 0; i < filter->count; i++)
		if (word_matches(&filter->word[i], row) == filter->word[i].negated)
			return false;
	return true;
}

bool live_row_contains(const struct view_row *row, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcasestr(get_row_name(row, i), text))
			return true;
	return false;
}
