// SPDX-License-Identifier: LGPL-2.1-or-later
#include "profile-merge.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/exit-status.h"
#include "lib/message.h"
#include "util/array.h"

/* Maximum length of a line and of a key, bytes */
#define LINE_MAX_BYTES 65536

/* Maximum depth of inlined functions of the format autofdo */
#define DEPTH_MAX 64

/* The largest distance of a line, and the largest discriminator, of the format autofdo */
#define NUMBER_MAX 65535

/*
 * Bytes in keys of the format autofdo, in the order of printing: the end of a function's name, the
 * end of a line's number, and the beginning of a function that is inlined in the line. No name
 * contains them.
 */
#define KEY_FUNCTION '\1'
#define KEY_LINE     '\2'
#define KEY_INLINED  '\3'
#define KEY_NUMBERS  11 /* bytes of "00000.00000", a line with its discriminator */

/**
 * struct merge_reader - a profile that is read
 * @number: number of the line, from 1
 * @text: the line, NUL-terminated, without a line feed
 * @key: key of the line
 * @depth: autofdo: number of nested functions to which the line belongs
 * @length: autofdo: bytes of @key that belong to each of them
 * @count, @counted: brstack: the count of the next line
 */
struct merge_reader {
	struct profile_merge *merge;
	const char *path;
	u64 number;
	const char *text;
	char key[LINE_MAX_BYTES];
	u32 depth;
	size_t length[DEPTH_MAX + 1];
	u64 count;
	bool counted;
};

/**
 * struct merge_format - a format
 * @build_id: what the first line has before the build id
 * @read: adds a line; returns a negative errno: -EBADMSG if it has an invalid form
 * @print: prints a line, after a line feed
 * @form: the valid forms of lines
 */
struct merge_format {
	const char *name;
	const char *first;
	const char *build_id;
	int (*read)(struct merge_reader *reader);
	void (*print)(FILE *out, const struct merged_line *line);
	const char *form;
};

static u64 add_counts(u64 a, u64 b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int add_line(struct merge_reader *reader, u64 first, u64 second)
{
	struct profile_merge *merge = reader->merge;
	size_t size = strlen(reader->key) + 1;
	struct merged_line *grown = array_reserve(merge->line, &merge->capacity, merge->lines + 1,
						  sizeof(*grown), MERGE_LINES_MAX);

	if (merge->lines == MERGE_LINES_MAX || size > MERGE_BYTES_MAX - merge->bytes)
		return -EFBIG;
	if (!grown)
		return -ENOMEM;
	merge->line = grown;
	grown[merge->lines] =
		(struct merged_line){ .key = strdup(reader->key), .count = { first, second } };
	if (!grown[merge->lines].key)
		return -ENOMEM;
	merge->lines++;
	merge->bytes += size;
	return 0;
}

/* ---- Parsing ---- */

/* Read a decimal number of at most @max, and move *text after it. */
static bool take_number(const char **text, u64 max, u64 *ret_number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*ret_number = strtoull(*text, &end, 10);
	*text = end;
	return !errno && *ret_number <= max;
}

static bool take_char(const char **text, char c)
{
	if (**text != c)
		return false;
	(*text)++;
	return true;
}

/* Read "X:0" or a hexadecimal number. */
static bool take_location(const char **text)
{
	size_t length = strncmp(*text, "X:0", 3) == 0 ? 3 : strspn(*text, "0123456789abcdef");

	*text += length;
	return length;
}

/* Copy a function's name to @to, with @end after it, if it fits in @size bytes. */
static bool take_name(const char **text, char *to, size_t size, char end)
{
	size_t length = 0;

	while (isalnum((unsigned char)(*text)[length]) ||
	       ((*text)[length] && strchr("_.$", (*text)[length])))
		length++;
	if (!length || isdigit((unsigned char)**text) || length + 2 > size)
		return false;
	memcpy(to, *text, length);
	to[length] = end;
	to[length + !!end] = '\0';
	*text += length;
	return true;
}

/* Read "B FROM TO COUNT MISPREDICTED" or "F FROM TO COUNT". */
static int read_aggregated(struct merge_reader *reader)
{
	const char *text = reader->text;
	bool branch = *text == 'B';
	u64 count, mispredicted = 0;

	if ((*text != 'B' && *text != 'F') || !take_char(&text, *text) || !take_char(&text, ' ') ||
	    !take_location(&text) || !take_char(&text, ' ') || !take_location(&text) ||
	    *text != ' ')
		return -EBADMSG;
	snprintf(reader->key, sizeof(reader->key), "%.*s", (int)(text - reader->text),
		 reader->text);
	text++;
	if (!take_number(&text, UINT64_MAX, &count) ||
	    (branch && (!take_char(&text, ' ') || !take_number(&text, count, &mispredicted))) ||
	    *text)
		return -EBADMSG;
	return add_line(reader, count, mispredicted);
}

static void print_aggregated(FILE *out, const struct merged_line *line)
{
	fprintf(out, "\n%s %llu", line->key, (unsigned long long)line->count[0]);
	if (*line->key == 'B')
		fprintf(out, " %llu", (unsigned long long)line->count[1]);
}

/* Read a line with a count, or the branch stack after it. */
static int read_stack(struct merge_reader *reader)
{
	const char *text = reader->text;

	if (!reader->counted) {
		reader->counted = true;
		return take_number(&text, UINT64_MAX, &reader->count) && !*text ? 0 : -EBADMSG;
	}
	reader->counted = false;
	if (strncmp(text, " ", 1) != 0 || !strstr(text, " 0x") ||
	    text[strspn(text, " 0123456789abcdefxPM/-")])
		return -EBADMSG;
	strcpy(reader->key, text);
	return add_line(reader, reader->count, 0);
}

static void print_stack(FILE *out, const struct merged_line *line)
{
	fprintf(out, "\n%llu\n%s", (unsigned long long)line->count[0], line->key);
}

/* Read "NAME:TOTAL:CALLS". */
static int read_function(struct merge_reader *reader)
{
	const char *text = reader->text;
	u64 total, calls;

	if (!take_name(&text, reader->key, sizeof(reader->key), KEY_FUNCTION) ||
	    !take_char(&text, ':') || !take_number(&text, UINT64_MAX, &total) ||
	    !take_char(&text, ':') || !take_number(&text, UINT64_MAX, &calls) || *text)
		return -EBADMSG;
	reader->depth = 1;
	reader->length[1] = strlen(reader->key);
	return add_line(reader, total, calls);
}

/* Read "NAME:TOTAL" of a function that is inlined in a line; reader->key ends with the line. */
static int read_inlined(struct merge_reader *reader, const char *text, u32 depth)
{
	size_t length = strlen(reader->key);
	u64 total;

	if (depth == DEPTH_MAX || length + 2 > sizeof(reader->key))
		return -EBADMSG;
	reader->key[length++] = KEY_INLINED;
	if (!take_name(&text, reader->key + length, sizeof(reader->key) - length, KEY_FUNCTION) ||
	    !take_char(&text, ':') || !take_number(&text, UINT64_MAX, &total) || *text)
		return -EBADMSG;
	reader->depth = depth + 1;
	reader->length[reader->depth] = strlen(reader->key);
	return add_line(reader, total, 0);
}

/* Read "COUNT CALLEE:CALLS ..." of a line; reader->key ends with the line. */
static int read_counts(struct merge_reader *reader, const char *text)
{
	size_t length = strlen(reader->key);
	u64 count;
	int r;

	if (length + 2 > sizeof(reader->key) || !take_number(&text, UINT64_MAX, &count))
		return -EBADMSG;
	reader->key[length++] = KEY_LINE;
	reader->key[length] = '\0';
	r = add_line(reader, count, 0);
	while (r == 0 && *text) {
		if (!take_char(&text, ' ') ||
		    !take_name(&text, reader->key + length, sizeof(reader->key) - length, '\0') ||
		    !take_char(&text, ':') || !take_number(&text, UINT64_MAX, &count))
			return -EBADMSG;
		r = add_line(reader, count, 0);
	}
	return r;
}

static int read_autofdo(struct merge_reader *reader)
{
	u32 depth = (u32)strspn(reader->text, " ");
	const char *text = reader->text + depth;
	u64 line, discriminator = 0;
	size_t length;

	if (!depth)
		return read_function(reader);
	if (depth > reader->depth || !take_number(&text, NUMBER_MAX, &line) ||
	    (take_char(&text, '.') && !take_number(&text, NUMBER_MAX, &discriminator)) ||
	    !take_char(&text, ':') || !take_char(&text, ' '))
		return -EBADMSG;
	length = reader->length[depth];
	reader->depth = depth;
	if (length + KEY_NUMBERS + 1 > sizeof(reader->key))
		return -EBADMSG;
	snprintf(reader->key + length, KEY_NUMBERS + 1, "%05u.%05u", (unsigned int)line,
		 (unsigned int)discriminator);
	return isdigit((unsigned char)*text) ? read_counts(reader, text) :
					       read_inlined(reader, text, depth);
}

static void print_numbers(FILE *out, const char *numbers, u32 depth)
{
	unsigned long line = strtoul(numbers, NULL, 10),
		      discriminator = strtoul(numbers + 6, NULL, 10);

	fprintf(out, "\n%*s%lu", (int)depth, "", line);
	if (discriminator)
		fprintf(out, ".%lu", discriminator);
	fputs(": ", out);
}

/* Print a function, the count of a line, or a callee, which belongs to the line before it. */
static void print_autofdo(FILE *out, const struct merged_line *line)
{
	const char *inlined = strrchr(line->key, KEY_INLINED), *at = strrchr(line->key, KEY_LINE);
	unsigned long long count = line->count[0];
	u32 depth = 0;

	for (const char *p = line->key; *p; p++)
		depth += *p == KEY_INLINED;
	if (at && at[1]) {
		fprintf(out, " %s:%llu", at + 1, count);
	} else if (at) {
		print_numbers(out, at - KEY_NUMBERS, depth + 1);
		fprintf(out, "%llu", count);
	} else if (inlined) {
		print_numbers(out, inlined - KEY_NUMBERS, depth);
		fprintf(out, "%.*s:%llu", (int)strlen(inlined) - 2, inlined + 1, count);
	} else {
		fprintf(out, "\n%.*s:%llu:%llu", (int)strlen(line->key) - 1, line->key, count,
			(unsigned long long)line->count[1]);
	}
}

static const struct merge_format formats[] = {
	{ "pre-aggregated", "E build-id:", "E build-id:", read_aggregated, print_aggregated,
	  "\"B FROM TO COUNT MISPREDICTED\" or \"F FROM TO COUNT\"" },
	{ "brstack", "speprof 0 PERF_RECORD_MMAP2 ", " <", read_stack, print_stack,
	  "a count, and a branch stack after it" },
	{ "autofdo", "# build-id: ", "# build-id: ", read_autofdo, print_autofdo,
	  "\"NAME:TOTAL:CALLS\", \" LINE: COUNT CALLEE:COUNT\" or \" LINE: NAME:TOTAL\"" },
};

/* ---- Files ---- */

static int fail_line(const struct merge_reader *reader, const char *reason)
{
	return message_fail(STATUS_UNREADABLE, "pgo: %s: line %llu: %s", reader->path,
			    (unsigned long long)reader->number, reason);
}

/* Set *ret_format, and copy the build id of the first line. Return false if it has none. */
static bool parse_first_line(const char *text, const struct merge_format **ret_format,
			     char build_id[static 2 * BUILD_ID_MAX + 1])
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		const char *id = strstr(text, formats[i].build_id);
		size_t length;

		if (strncmp(text, formats[i].first, strlen(formats[i].first)) != 0 || !id)
			continue;
		id += strlen(formats[i].build_id);
		length = strspn(id, "0123456789abcdef");
		if (!length || length > 2 * (size_t)BUILD_ID_MAX)
			return false;
		snprintf(build_id, length + 1, "%s", id);
		*ret_format = &formats[i];
		return true;
	}
	return false;
}

/* Check that the profile fits the first one. */
static int read_first_line(struct merge_reader *reader)
{
	struct profile_merge *merge = reader->merge;
	const struct merge_format *format;
	char build_id[2 * BUILD_ID_MAX + 1], reason[256];

	if (!parse_first_line(reader->text, &format, build_id))
		return fail_line(reader,
				 "has no build id; should be the first line of a profile of "
				 "--format pre-aggregated, brstack or autofdo. merge-fdata of BOLT "
				 "merges those of --format bolt");
	if (!merge->format) {
		merge->format = format;
		merge->path = reader->path;
		merge->header = strdup(reader->text);
		strcpy(merge->build_id, build_id);
		return merge->header ? STATUS_OK :
				       message_fail(STATUS_FAILED, "pgo: %s: %s", reader->path,
						    strerror(ENOMEM));
	}
	if (merge->format != format)
		snprintf(reason, sizeof(reason), "--format %s; should be %s as in %.100s",
			 format->name, merge->format->name, merge->path);
	else if (strcmp(merge->build_id, build_id) != 0)
		snprintf(reason, sizeof(reason), "build id %s; should be %s as in %.100s", build_id,
			 merge->build_id, merge->path);
	else
		return STATUS_OK;
	return fail_line(reader, reason);
}

static int read_line(struct merge_reader *reader)
{
	char reason[256];
	int r;

	if (reader->number == 1)
		return read_first_line(reader);
	r = reader->merge->format->read(reader);
	if (r == 0)
		return STATUS_OK;
	snprintf(reason, sizeof(reason), "should be %s", reader->merge->format->form);
	return fail_line(reader, r == -EBADMSG ? reason : strerror(-r));
}

static int read_lines(struct merge_reader *reader, FILE *in)
{
	size_t size = 0;
	char *text = NULL;
	ssize_t length;
	int status = STATUS_OK;

	while (status == STATUS_OK && (length = getline(&text, &size, in)) > 0) {
		reader->number++;
		if (text[length - 1] == '\n')
			text[--length] = '\0';
		reader->text = text;
		if (length >= LINE_MAX_BYTES || strlen(text) != (size_t)length)
			status = fail_line(reader, "is too long, or has a NUL; should be text");
		else
			status = read_line(reader);
	}
	free(text);
	reader->number += status == STATUS_OK;
	if (status == STATUS_OK && ferror(in))
		return fail_line(reader, strerror(EIO));
	if (status == STATUS_OK && (reader->number == 1 || reader->counted))
		return fail_line(reader, "the file ends too early");
	return status;
}

static int compare_lines(const void *x, const void *y)
{
	return strcmp(((const struct merged_line *)x)->key, ((const struct merged_line *)y)->key);
}

/* Sort the lines, and add those with equal keys. */
static void add_equal_lines(struct profile_merge *merge)
{
	u32 unique = 0;

	if (merge->lines)
		qsort(merge->line, merge->lines, sizeof(*merge->line), compare_lines);
	for (u32 i = 0; i < merge->lines; i++) {
		struct merged_line *line = &merge->line[i],
				   *before = unique ? &merge->line[unique - 1] : NULL;

		if (!before || strcmp(before->key, line->key) != 0) {
			merge->line[unique++] = *line;
			continue;
		}
		before->count[0] = add_counts(before->count[0], line->count[0]);
		before->count[1] = add_counts(before->count[1], line->count[1]);
		merge->bytes -= strlen(line->key) + 1;
		free(line->key);
	}
	merge->lines = unique;
}

int profile_merge_read(struct profile_merge *merge, const char *path)
{
	struct merge_reader *reader = calloc(1, sizeof(*reader));
	FILE *in = fopen(path, "re");
	int status;

	if (!reader || !in) {
		status = message_fail(in ? STATUS_FAILED : STATUS_NO_FILE, "pgo: %s: %s", path,
				      strerror(errno));
	} else {
		reader->merge = merge;
		reader->path = path;
		status = read_lines(reader, in);
		add_equal_lines(merge);
	}
	if (in)
		fclose(in);
	free(reader);
	return status;
}

void profile_merge_print(FILE *out, struct profile_merge *merge)
{
	fputs(merge->header, out);
	for (u32 i = 0; i < merge->lines; i++)
		merge->format->print(out, &merge->line[i]);
	fputc('\n', out);
}

void profile_merge_deinit(struct profile_merge *merge)
{
	for (u32 i = 0; i < merge->lines; i++)
		free(merge->line[i].key);
	free(merge->line);
	free(merge->header);
	*merge = (struct profile_merge){ .format = NULL };
}
