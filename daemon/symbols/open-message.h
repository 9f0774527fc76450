/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests to the opener, the helper process that opens files, and its replies. Each is one packet;
 * each request gets one reply. A file system may block open(), read() and close() forever, so only
 * the two helper processes hold descriptors of such files: the opener, and the reader, which gets
 * them from the opener.
 */
#ifndef SPEPROF_OPEN_MESSAGE_H
#define SPEPROF_OPEN_MESSAGE_H

#include "symbol-message.h"

enum open_request_type {
	OPEN_FILE =
		/* open a mapped file, and keep it open until the next OPEN_FILE or OPEN_JIT_NAMES */
		1,
	/* open a file with the symbols of JIT-compiled code, and keep it open */
	OPEN_JIT_NAMES,
	OPEN_PASS, /* pass the open file to the reader */
	OPEN_DEBUG, /* open a file with separate debug information, and pass it to the reader */
	OPEN_ALT, /* open the file with shared debug information (dwz), and pass it to the reader */
	OPEN_TYPES,
};

/**
 * struct open_request - a request to the opener
 * @type: &enum open_request_type
 * @serial: number that the reply repeats
 * @pid, @inode, @live, @has_id, @path: the file, as in &struct file_request
 * @candidate: OPEN_DEBUG, OPEN_JIT_NAMES: the first candidate to try (file_open_debug(),
 *	file_open_jit_names())
 * @id, @id_size: OPEN_DEBUG: build id of the file; OPEN_ALT: build id of the shared file
 * @link: OPEN_DEBUG: name in the file's .gnu_debuglink; "": none
 */
struct open_request {
	u32 type;
	u32 serial;
	s32 pid;
	u32 candidate;
	u64 inode;
	u8 live;
	u8 has_id;
	u8 id_size;
	u8 id[BUILD_ID_MAX];
	char link[SYMBOL_LINK_MAX];
	char path[PATH_MAX];
};

/**
 * struct open_reply - a reply of the opener
 * @serial: serial of the request
 * @error: 0; negative errno if the file cannot be opened
 * @candidate: OPEN_DEBUG, OPEN_JIT_NAMES: the candidate after the one that was opened
 * @dev, @ino, @size, @mtime_s, @mtime_ns, @ctime_s, @ctime_ns: OPEN_FILE, OPEN_JIT_NAMES: from
 *	fstat()
 */
struct open_reply {
	u32 serial;
	s32 error;
	u32 candidate;
	u32 reserved;
	u64 dev;
	u64 ino;
	s64 size;
	s64 mtime_s;
	s64 mtime_ns;
	s64 ctime_s;
	s64 ctime_ns;
};

#endif
