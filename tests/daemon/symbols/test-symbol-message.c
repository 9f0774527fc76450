// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test messages between the helper and its caller with each field wrong in turn, and the cache of
 * names.
 */
#include "test.h"

#include <stdlib.h>

#include "symbols/helper/demangle.h"
#include "symbols/name-cache.h"

static union {
	struct symbol_request request;
	u64 space[16];
} request;

static union {
	struct symbol_reply reply;
	u64 space[64];
} reply_packet;

static const char texts[] = "\0name\0other";

static size_t request_size(void)
{
	return sizeof(request.request) + request.request.count * sizeof(u64);
}

static void make_request(u32 type)
{
	memset(&request, 0, sizeof(request));
	request.request = (struct symbol_request){ .type = type, .serial = 9 };
	if (type == SYMBOL_OPEN || type == SYMBOL_ATTACH)
		return;
	request.request.count = 3;
	request.request.address[0] = 0x100;
	request.request.address[1] = 0x108;
	request.request.address[2] = 0x200;
	if (type == SYMBOL_CODE)
		request.request.count = 2;
}

static struct symbol_name *make_names_reply(void)
{
	return (void *)(&reply_packet.reply + 1);
}

static struct symbol_line *make_lines(void)
{
	return (void *)(&reply_packet.reply + 1);
}

static struct symbol_linkage *make_linkage(void)
{
	return (void *)(&reply_packet.reply + 1);
}

static struct symbol_frame *make_frames(void)
{
	return (void *)(&reply_packet.reply + 1);
}

static struct symbol_file_content *make_object_reply(void)
{
	return (void *)(&reply_packet.reply + 1);
}

static size_t make_reply(u32 type)
{
	size_t size = sizeof(reply_packet.reply);

	make_request(type);
	memset(&reply_packet, 0, sizeof(reply_packet));
	reply_packet.reply = (struct symbol_reply){ .type = type, .serial = 9 };
	if (type == SYMBOL_OPEN || type == SYMBOL_ATTACH)
		return size + sizeof(struct symbol_file_content);
	reply_packet.reply.done = 3;
	reply_packet.reply.text = sizeof(texts);
	if (type == SYMBOL_FIND) {
		reply_packet.reply.count = 2;
		make_names_reply()[0] =
			(struct symbol_name){ .start = 0x100, .size = 0x10, .text = 1 };
		make_names_reply()[1] = (struct symbol_name){ .start = 0x200, .size = 1 };
		size += 2 * sizeof(struct symbol_name);
	} else if (type == SYMBOL_CODE) {
		reply_packet.reply.done = 2;
		reply_packet.reply.count = 2;
		make_names_reply()[0] =
			(struct symbol_name){ .start = 0x100, .size = 4, .text = 1 };
		make_names_reply()[1] = (struct symbol_name){ .start = 0x104, .size = 4 };
		size += 2 * sizeof(struct symbol_name);
	} else if (type == SYMBOL_LINKAGE) {
		reply_packet.reply.count = 3;
		for (u32 i = 0; i < 3; i++)
			make_linkage()[i] =
				(struct symbol_linkage){ .offset = request.request.address[i],
							 .address = 0x1100 + i,
							 .function = 0x1100,
							 .text = 1 };
		size += 3 * sizeof(struct symbol_linkage);
	} else if (type == SYMBOL_FRAMES) {
		/* The second address has two frames. */
		reply_packet.reply.count = 4;
		for (u32 i = 0; i < 4; i++)
			make_frames()[i] = (struct symbol_frame){
				.address = request.request.address[i - (i > 1)],
				.name = 1,
				.depth = i == 2,
				.entry = i == 1,
			};
		size += 4 * sizeof(struct symbol_frame);
	} else {
		reply_packet.reply.count = 3;
		for (u32 i = 0; i < 3; i++)
			make_lines()[i] =
				(struct symbol_line){ .address = request.request.address[i],
						      .file = 1,
						      .line = i,
						      .inlines = 6 };
		size += 3 * sizeof(struct symbol_line);
	}
	memcpy((char *)&reply_packet + size, texts, sizeof(texts));
	return size + sizeof(texts);
}

static void test_wrong_requests_are_refused(void **state)
{
	(void)state;
	for (u32 type = SYMBOL_OPEN; type <= SYMBOL_FRAMES; type++) {
		bool file = type <= SYMBOL_ATTACH;

		test_row("type %u", type);
		make_request(type);
		assert_row(!symbol_request_check(&request.request, request_size(), file));
		assert_row(symbol_request_check(&request.request, request_size(), !file));
		assert_row(symbol_request_check(&request.request, request_size() + 8, file));
		assert_row(symbol_request_check(&request.request, request_size() - 8, file));
		request.request.slot = SYMBOL_SLOTS;
		assert_row(symbol_request_check(&request.request, request_size(), file));
		make_request(type);
		/* The other helper sends the file instead of the caller. */
		request.request.from_opener = 1;
		assert_row(symbol_request_check(&request.request, request_size(), file));
		assert_row(!symbol_request_check(&request.request, request_size(), false) == file);
		request.request.from_opener = 2;
		assert_row(symbol_request_check(&request.request, request_size(), file));
		assert_row(symbol_request_check(&request.request, request_size(), false));
		make_request(type);
		request.request.subtype = file ? SYMBOL_KINDS : 1;
		assert_row(symbol_request_check(&request.request, request_size(), file));
		make_request(type);
		request.request.count ^= 1;
		assert_row(
			symbol_request_check(&request.request, request_size() - 8 * !file, file));
	}
	make_request(SYMBOL_FIND);
	request.request.address[1] = request.request.address[0];
	assert_int_equal(symbol_request_check(&request.request, request_size(), false), -EBADMSG);
	make_request(0);
	assert_int_equal(symbol_request_check(&request.request, request_size(), false), -EBADMSG);
}

#define WRONG(type, change)                                                                   \
	do {                                                                                  \
		size_t size = make_reply(type);                                               \
		test_row("%s", #change);                                                      \
		assert_row(!symbol_reply_check(&request.request, &reply_packet.reply, size)); \
		change;                                                                       \
		assert_row(symbol_reply_check(&request.request, &reply_packet.reply, size) == \
			   -EBADMSG);                                                         \
	} while (0)

static void test_wrong_replies_are_refused(void **state)
{
	(void)state;
	for (u32 type = SYMBOL_OPEN; type <= SYMBOL_FRAMES; type++) {
		WRONG(type, reply_packet.reply.type++);
		WRONG(type, reply_packet.reply.serial++);
		WRONG(type, reply_packet.reply.error = 1);
		WRONG(type, reply_packet.reply.error = -ENOENT);
		WRONG(type, reply_packet.reply.done += 1);
		WRONG(type, reply_packet.reply.count += 1);
		WRONG(type, reply_packet.reply.count = UINT32_MAX);
		WRONG(type, reply_packet.reply.text += 1);
		WRONG(type, reply_packet.reply.text = UINT32_MAX);
		WRONG(type, size--);
		WRONG(type, size++);
		WRONG(type, size = 3);
	}
	WRONG(SYMBOL_OPEN, make_object_reply()->build_id_size = BUILD_ID_MAX + 1);
	WRONG(SYMBOL_OPEN, make_object_reply()->alt_size = BUILD_ID_MAX + 1);
	WRONG(SYMBOL_OPEN, make_object_reply()->has = 4);
	WRONG(SYMBOL_OPEN, strcpy(make_object_reply()->link, "a/b"));
	WRONG(SYMBOL_OPEN, strcpy(make_object_reply()->link, ".."));
	WRONG(SYMBOL_OPEN,
	      memset(make_object_reply()->link, 'x', sizeof(make_object_reply()->link)));
	WRONG(SYMBOL_FIND, reply_packet.reply.done = 0);
	WRONG(SYMBOL_FIND, reply_packet.reply.done = 2);
	WRONG(SYMBOL_FIND, make_names_reply()[0].size = 0);
	WRONG(SYMBOL_FIND, make_names_reply()[0].size = 8);
	WRONG(SYMBOL_FIND, make_names_reply()[0].size = UINT64_MAX);
	WRONG(SYMBOL_FIND, make_names_reply()[0].start = 0x101);
	WRONG(SYMBOL_FIND, make_names_reply()[0].reserved = 1);
	WRONG(SYMBOL_FIND, make_names_reply()[0].text = sizeof(texts));
	WRONG(SYMBOL_FIND, make_names_reply()[1].start = 0x10f);
	WRONG(SYMBOL_FIND, make_names_reply()[1].start = 0x201);
	WRONG(SYMBOL_FIND, make_names_reply()[1].size = UINT64_MAX);
	WRONG(SYMBOL_FIND, ((char *)&reply_packet)[size - 1] = 'x');
	WRONG(SYMBOL_FIND, ((char *)&reply_packet)[size - sizeof(texts)] = 'x');
	WRONG(SYMBOL_LINES, reply_packet.reply.done = 2);
	WRONG(SYMBOL_LINES, make_lines()[1].address++);
	WRONG(SYMBOL_LINES, make_lines()[1].file = UINT32_MAX);
	WRONG(SYMBOL_LINES, make_lines()[2].inlines = sizeof(texts));
	WRONG(SYMBOL_LINES, make_lines()[2].reserved = 1);
	WRONG(SYMBOL_CODE, reply_packet.reply.done = 0);
	WRONG(SYMBOL_CODE, reply_packet.reply.done = 1);
	WRONG(SYMBOL_CODE, make_names_reply()[0].start = 0xff);
	WRONG(SYMBOL_CODE, make_names_reply()[0].size = 0);
	WRONG(SYMBOL_CODE, make_names_reply()[0].size = UINT64_MAX);
	WRONG(SYMBOL_CODE, make_names_reply()[0].text = sizeof(texts));
	WRONG(SYMBOL_CODE, make_names_reply()[1].start = 0x105);
	WRONG(SYMBOL_CODE, make_names_reply()[1].size = 3);
	WRONG(SYMBOL_CODE, make_names_reply()[1].size = 5);
	WRONG(SYMBOL_CODE, make_names_reply()[1].reserved = 1);
	WRONG(SYMBOL_LINKAGE, reply_packet.reply.done = 2);
	WRONG(SYMBOL_LINKAGE, make_linkage()[1].offset++);
	WRONG(SYMBOL_LINKAGE, make_linkage()[1].function = 0x1102);
	WRONG(SYMBOL_LINKAGE, make_linkage()[2].text = sizeof(texts));
	WRONG(SYMBOL_FRAMES, reply_packet.reply.done = 2);
	WRONG(SYMBOL_FRAMES, make_frames()[0].address++);
	WRONG(SYMBOL_FRAMES, make_frames()[0].depth = 1);
	WRONG(SYMBOL_FRAMES, make_frames()[0].entry = 2);
	WRONG(SYMBOL_FRAMES, make_frames()[2].depth = 0);
	WRONG(SYMBOL_FRAMES, make_frames()[2].depth = 2);
	WRONG(SYMBOL_FRAMES, make_frames()[2].entry = 1);
	WRONG(SYMBOL_FRAMES, make_frames()[2].address = make_frames()[3].address);
	WRONG(SYMBOL_FRAMES, make_frames()[3].depth = 2);
	WRONG(SYMBOL_FRAMES, make_frames()[3].name = sizeof(texts));
}

/* Names are found by their ranges, each text is stored once, and the oldest text is evicted. */
static void test_name_cache(void **state)
{
	struct name_cache cache;
	struct name_file_ref refs[20];

	(void)state;
	assert_int_equal(name_cache_init(&cache, 16, 16 * sizeof(struct name_file) + 40000), 0);
	for (u32 i = 0; i < 20; i++) {
		const struct name_file_key key = { .ino = i + 1, .dev = 3 };
		const struct name_range *range;
		const struct name_line *line;
		struct name_file *f;

		refs[i] = name_cache_find_or_add(&cache, &key);
		f = name_cache_get_file(&cache, refs[i]);
		assert_non_null(f);
		for (u32 n = 0; n < 3; n++) {
			make_reply(SYMBOL_FIND);
			name_cache_add_reply(&cache, f, &request.request, &reply_packet.reply);
			make_reply(SYMBOL_LINES);
			name_cache_add_reply(&cache, f, &request.request, &reply_packet.reply);
		}
		assert_int_equal(f->ranges, 2);
		assert_int_equal(f->lines, 3);
		assert_int_equal(f->texts, 2);
		range = name_file_find_range(f, 0x10f);
		assert_true(range && !strcmp(f->text + range->text, "name"));
		assert_null(name_file_find_range(f, 0x110));
		range = name_file_find_range(f, 0x200);
		assert_true(range && !range->text);
		line = name_file_find_line(f, 0x200);
		assert_true(line && line->line == 2 && !strcmp(f->text + line->inlines, "other"));
		assert_null(name_file_find_line(f, 0x201));
		assert_true(cache.memory <= cache.budget);
	}
	assert_true(cache.evicted >= 4);
	assert_null(name_cache_get_file(&cache, refs[0]));
	assert_non_null(name_cache_get_file(&cache, refs[19]));
	name_cache_deinit(&cache);
}

static void test_names_are_demangled(void **state)
{
	static const struct {
		const char *from;
		const char *to;
	} rows[] = {
		{ "main", "main" },
		{ "", "" },
		{ "_Z3fooi", "foo" },
		{ "_ZNSt6vectorIiSaIiEE9push_backEOi",
		  "std::vector<int, std::allocator<int> >::push_back" },
		{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_Z", "_Z" },
		{ "_ZNSt", "_ZNSt" },
		{ "_R", "_R" },
		{ "main.(*T).f", "main.(*T).f" },
	};
	char name[600], to[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].from);
		demangle(rows[i].from, to, sizeof(to));
		assert_row(!strcmp(to, rows[i].to));
	}
	/* A name that is demangled to an endless text is truncated. */
	strcpy(name, "_Z1fI");
	for (u32 i = 0; i < 100; i++)
		strcat(name, "1AIS");
	assert_true(demangle(name, to, sizeof(to)) < sizeof(to));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_requests_are_refused),
		cmocka_unit_test(test_wrong_replies_are_refused),
		cmocka_unit_test(test_name_cache),
		cmocka_unit_test(test_names_are_demangled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
