/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a process that wants names and its helper, speprof-symbols, say to each other:
 * one request, one reply, each a packet of a SOCK_SEQPACKET pair. Neither side trusts the
 * other: the helper reads hostile files, and may have been taken over by one.
 */
#ifndef SPEPROF_SYMBOL_MESSAGE_H
#define SPEPROF_SYMBOL_MESSAGE_H

#include "attribution/maps.h"

#define SYMBOL_VERSION	   2
#define SYMBOL_MESSAGE_MAX 65536
#define SYMBOL_SLOTS	   8 /* files that a helper keeps open */
#define SYMBOL_ADDRESSES   1024 /* of one request */
#define SYMBOL_NAME_MAX	   511 /* bytes of a function's name */
#define SYMBOL_FILE_MAX	   1023 /* of a source file's path */
#define SYMBOL_INLINES_MAX 2047 /* of the functions that are inlined at a place */
#define SYMBOL_LINK_MAX	   128 /* .gnu_debuglink, with its end */

enum symbol_request_type {
	SYMBOL_OPEN = 1, /* a file, by descriptor, into a slot */
	SYMBOL_ATTACH, /* more of the file of a slot, by descriptor: &enum symbol_part */
	SYMBOL_FIND, /* names of addresses */
	SYMBOL_LINES, /* source lines of addresses */
};

enum symbol_kind {
	SYMBOL_ELF, /* addresses are offsets in the file */
	SYMBOL_KALLSYMS, /* addresses are the kernel's */
	SYMBOL_PERF_MAP, /* addresses are the process's */
	SYMBOL_KINDS,
};

enum symbol_part {
	SYMBOL_DEBUG, /* separate debug information, of the same build id or checksum */
	SYMBOL_ALT, /* what that shares with others (dwz) */
	SYMBOL_PARTS,
};

/**
 * struct symbol_request
 * @serial: is in the reply
 * @slot: below SYMBOL_SLOTS
 * @what: &enum symbol_kind or &enum symbol_part, else 0
 * @count: of @address, ascending; 0 for what has a descriptor
 * @handed: 1: the descriptor comes from the opener, and not with the request
 */
struct symbol_request {
	u32 type;
	u32 serial;
	u32 slot;
	u32 what;
	u32 count;
	u32 handed;
	u64 address[];
};

/* What is known of an opened file. */
#define SYMBOL_HAS_NAMES 1U /* all of its functions: a debug file tells no more of them */
#define SYMBOL_HAS_LINES 2U /* source lines */

/**
 * struct symbol_object - the reply to SYMBOL_OPEN and SYMBOL_ATTACH
 * @has: SYMBOL_HAS_*
 * @link: name of the separate debug file, without a slash, NUL-terminated; "" for none
 * @alt: build id of the file that the debug information shares, by @alt_size
 */
struct symbol_object {
	u32 has;
	u8 build_id_size;
	u8 alt_size;
	u8 build_id[BUILD_ID_MAX];
	u8 alt[BUILD_ID_MAX];
	char link[SYMBOL_LINK_MAX];
	u8 reserved[2];
};

/**
 * struct symbol_name - the reply to SYMBOL_FIND has some: [@start, @start + @size) has one name
 * @text: offset of the name in the text; 0 for none: text[0] is a NUL
 */
struct symbol_name {
	u64 start;
	u64 size;
	u32 text;
	u32 reserved;
};

/**
 * struct symbol_line - the reply to SYMBOL_LINES has one for each address, in order
 * @file: offset in the text of the source file's path, 0 if not known
 * @line: 0 if not known
 * @inlines: offset of the names of functions that are inlined there, innermost first, parted
 *	by newlines; 0 for none
 */
struct symbol_line {
	u64 address;
	u32 file;
	u32 line;
	u32 inlines;
	u32 reserved;
};

/**
 * struct symbol_reply - followed by &struct symbol_object, or @count entries and @text bytes
 * @error: 0 or a negative errno: of the file, not of the helper
 * @done: addresses of the request that are answered; at least 1, the others are to be asked
 *	for again
 */
struct symbol_reply {
	u32 type;
	u32 serial;
	s32 error;
	u32 done;
	u32 count;
	u32 text;
};

/**
 * struct symbol_hello - the first packet of a helper
 * @version: SYMBOL_VERSION once it is locked up
 * @error: with a @version of 0: the errno for which it could not be, and ended
 */
struct symbol_hello {
	u32 version;
	u32 error;
};

/** symbol_request_check() - whether @size bytes at @request are one; -EBADMSG if not */
int symbol_request_check(const struct symbol_request *request, size_t size, bool has_fd);

/**
 * symbol_reply_check() - whether @size bytes at @reply answer @request
 *
 * After it, each text offset has a NUL-terminated string within its limit, entries of
 * SYMBOL_FIND are in order, do not overlap, and all @done addresses lie in one.
 */
int symbol_reply_check(const struct symbol_request *request, const struct symbol_reply *reply,
		       size_t size);

static inline const struct symbol_object *symbol_reply_object(const struct symbol_reply *reply)
{
	return (const void *)(reply + 1);
}

static inline const struct symbol_name *symbol_reply_names(const struct symbol_reply *reply)
{
	return (const void *)(reply + 1);
}

static inline const struct symbol_line *symbol_reply_lines(const struct symbol_reply *reply)
{
	return (const void *)(reply + 1);
}

/** symbol_reply_text() - of a checked reply */
const char *symbol_reply_text(const struct symbol_reply *reply);

#endif
