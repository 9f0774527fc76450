/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests to the opener, the helper that opens files, and its replies: one reply for each request,
 * each a packet. A file system may let an open(), a read() or a close() wait for ever. So only the
 * opener and the reader, to which it hands descriptors, hold descriptors of such files.
 */
#ifndef SPEPROF_OPEN_MESSAGE_H
#define SPEPROF_OPEN_MESSAGE_H

#include "symbol-message.h"

enum open_request_type {
	OPEN_FILE = 1, /* a mapped file, kept until another request opens one */
	OPEN_PERF_MAP, /* likewise, what the runtime of @pid says of the code it made */
	OPEN_HAND, /* hand what is kept to the reader */
	OPEN_DEBUG, /* separate debug information from @next on, handed to the reader */
	OPEN_ALT, /* likewise, what that shares with others, by @id */
	OPEN_TYPES,
};

/**
 * struct open_request
 * @serial: is in the reply
 * @pid, @inode, @live, @has_id, @path: &struct file_request
 * @next: which place to try (file_open_debug())
 * @id, @link: OPEN_DEBUG: of the file (&struct symbol_object); OPEN_ALT: what is wanted
 */
struct open_request {
	u32 type;
	u32 serial;
	s32 pid;
	u32 next;
	u64 inode;
	u8 live;
	u8 has_id;
	u8 id_size;
	u8 id[BUILD_ID_MAX];
	char link[SYMBOL_LINK_MAX];
	char path[PATH_MAX];
};

/**
 * struct open_reply
 * @error: 0 or a negative errno: of the file, not of the opener
 * @next: of OPEN_DEBUG: the place after the one that was opened
 * @dev: and what follows: of OPEN_FILE and OPEN_PERF_MAP, as fstat() has it
 */
struct open_reply {
	u32 serial;
	s32 error;
	u32 next;
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
