/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests to the reader, the helper process that reads files, and its replies. Each is one packet
 * of a SOCK_SEQPACKET socket; each request gets one reply. Both sides check what they receive: a
 * hostile file may have compromised the reader that parses it.
 */
#ifndef SPEPROF_SYMBOL_MESSAGE_H
#define SPEPROF_SYMBOL_MESSAGE_H

#include "attribution/maps.h"

#define SYMBOL_VERSION	   6
#define SYMBOL_MESSAGE_MAX 65536
#define SYMBOL_SLOTS	   8 /* files that a reader has open */
#define SYMBOL_ADDRESSES   1024 /* addresses in a request */
#define SYMBOL_NAME_MAX	   511 /* length of a function's name, bytes */
#define SYMBOL_FILE_MAX	   1023 /* length of a source file's path, bytes */
#define SYMBOL_INLINES_MAX 2047 /* total length of the names of inlined functions, bytes */
#define SYMBOL_FRAMES_MAX  17 /* nested functions at an address */
#define SYMBOL_LINK_MAX	   128 /* bytes of a name in .gnu_debuglink, including its NUL */

/*
 * True if AddressSanitizer is in use. Its runtime needs more system calls and memory than the
 * sandbox permits.
 */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum symbol_request_type {
	SYMBOL_OPEN = 1, /* open a file, which is passed as a descriptor, in a slot */
	SYMBOL_ATTACH, /* attach a file, which is passed as a descriptor, to the file in a slot */
	SYMBOL_FIND, /* find the functions of addresses */
	SYMBOL_LINES, /* find the source lines of addresses */
	SYMBOL_CODE, /* disassemble the instructions between two addresses */
	SYMBOL_LINKAGE, /* find the linker's names of functions, and virtual addresses */
	SYMBOL_FRAMES, /* find the nested functions of addresses, with lines and discriminators */
};

/* The kind of file that SYMBOL_OPEN opens. */
enum symbol_kind {
	SYMBOL_ELF, /* an ELF file; addresses are offsets in the file */
	SYMBOL_KALLSYMS, /* /proc/kallsyms; addresses are the kernel's */
	/* a perf map or a jitdump: names of JIT-compiled code; addresses are the process's */
	SYMBOL_JIT_NAMES,
	/*
	 * An ELF file. An address is that of a datum, minus the address at which the code of the
	 * file is mapped, plus the file offset of the code. SYMBOL_FIND finds the type and the
	 * field, with a line feed between them, or a reason in brackets. With SYMBOL_ACCESS, an
	 * address is the offset in the file of an instruction that accesses the datum.
	 */
	SYMBOL_DATA,
	SYMBOL_KINDS,
};

/* A bit of an address of SYMBOL_DATA, which addresses of data of programs do not have. */
#define SYMBOL_ACCESS (1ULL << 63)

/* The kind of file that SYMBOL_ATTACH attaches. */
enum symbol_attachment {
	SYMBOL_DEBUG, /* separate debug information; build id or checksum must match */
	SYMBOL_ALT, /* a file with debug information that several files share (dwz) */
	SYMBOL_ATTACHMENTS,
};

/**
 * struct symbol_request - a request to the reader
 * @type: &enum symbol_request_type
 * @serial: number that the reply repeats
 * @slot: the slot, below SYMBOL_SLOTS
 * @subtype: SYMBOL_OPEN: &enum symbol_kind; SYMBOL_ATTACH: &enum symbol_attachment; else 0
 * @count: number of addresses; 0 for SYMBOL_OPEN and SYMBOL_ATTACH
 * @from_opener: 1 if the opener has passed the descriptor, 0 if it comes with this request
 * @address: addresses in ascending order, without duplicates. SYMBOL_CODE: the first address, and
 *	the end of the range, exclusive
 */
struct symbol_request {
	u32 type;
	u32 serial;
	u32 slot;
	u32 subtype;
	u32 count;
	u32 from_opener;
	u64 address[];
};

/* The contents of a file and its attachments. */
#define SYMBOL_HAS_NAMES 1U /* all functions, so that a debug file has no further ones */
#define SYMBOL_HAS_LINES 2U /* source lines */

/**
 * struct symbol_file_content - the content of a file: the reply to SYMBOL_OPEN and SYMBOL_ATTACH
 * @has: SYMBOL_HAS_*
 * @build_id, @build_id_size: build id of the file; 0 bytes if it has none
 * @alt, @alt_size: build id of the file with shared debug information (dwz); 0 bytes for none
 * @link: name of the separate debug file, without a slash, NUL-terminated; "" for none
 * @machine: e_machine of the ELF file, such as EM_AARCH64; 0 for another file
 * @code_offset, @code_size, @code_address: bytes of the first executable segment in the file, and
 *	its virtual address; 0 if there is none
 */
struct symbol_file_content {
	u32 has;
	u8 build_id_size;
	u8 alt_size;
	u8 build_id[BUILD_ID_MAX];
	u8 alt[BUILD_ID_MAX];
	char link[SYMBOL_LINK_MAX];
	u16 machine;
	u64 code_offset;
	u64 code_size;
	u64 code_address;
};

/**
 * struct symbol_name - an entry of the reply to SYMBOL_FIND or SYMBOL_CODE
 * @start, @size: addresses from @start to @start + @size - 1 belong to one function, or to none;
 *	SYMBOL_CODE: they are one instruction
 * @text: offset of the name, or of the instruction, in the text of the reply; 0 for none. The text
 *	begins with ""
 */
struct symbol_name {
	u64 start;
	u64 size;
	u32 text;
	u32 reserved;
};

/**
 * struct symbol_line - an entry of the reply to SYMBOL_LINES: one for each address, in order
 * @address: the address
 * @file: offset of the source file's path in the text of the reply; 0 if unknown
 * @line: line number; 0 if unknown
 * @inlines: offset of the names of functions that are inlined at the address, innermost first,
 *	separated by newlines; 0 for none
 */
struct symbol_line {
	u64 address;
	u32 file;
	u32 line;
	u32 inlines;
	u32 reserved;
};

/**
 * struct symbol_linkage - an entry of the reply to SYMBOL_LINKAGE: one for each address, in order
 * @offset: the address of the request, which is an offset in the file
 * @address: its virtual address in the ELF file; UINT64_MAX if no segment contains it
 * @function: virtual address of the function that contains it; 0 without a function
 * @text: offset of the function's name in the text of the reply, not demangled; 0 for none
 * @local: 0 for a global or weak function; else the number of the function among the local functions
 *	of the same name, in the order of their addresses, from 1
 */
struct symbol_linkage {
	u64 offset;
	u64 address;
	u64 function;
	u32 text;
	u32 local;
};

/**
 * struct symbol_frame - an entry of the reply to SYMBOL_FRAMES: one or more for each address, in
 * order; of one address, the outermost function first
 * @address: the address
 * @name: offset of the linkage name of the function in the text of the reply; 0 if it is unknown
 * @start_line: line at which the function is declared; 0 if unknown
 * @line: line of the code, or of the call of the next entry; 0 if unknown
 * @discriminator: DWARF discriminator of @line
 * @depth: 0 for the outermost function, 1 for the function that is inlined in it, and so on
 * @entry: 1 if the function begins at the address, only with @depth 0; else 0
 */
struct symbol_frame {
	u64 address;
	u32 name;
	u32 start_line;
	u32 line;
	u32 discriminator;
	u32 depth;
	u32 entry;
};

/**
 * struct symbol_reply - a reply of the reader; &struct symbol_file_content, or entries and the
 * text, follow
 * @type, @serial: type and serial of the request
 * @error: 0, or a negative errno if the file is invalid; nothing follows then
 * @done: number of addresses that were resolved, at least 1; the caller requests the rest again.
 *	SYMBOL_CODE: 2 if the entries reach the second address, else 1
 * @count: number of entries, such as &struct symbol_name
 * @text: size of the text after the entries, bytes: NUL-terminated strings, of which the first is
 * ""
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
 * @version: SYMBOL_VERSION if the helper is in its sandbox; 0 if it failed and exits
 * @error: errno of the failure to enter the sandbox, if @version is 0
 */
struct symbol_hello {
	u32 version;
	u32 error;
};

/**
 * symbol_request_check() - check a received request
 * @request: the packet
 * @size: size of the packet, bytes
 * @has_fd: true if a descriptor was received with it
 *
 * Return: 0; -EBADMSG if it is invalid.
 */
int symbol_request_check(const struct symbol_request *request, size_t size, bool has_fd);

/**
 * symbol_reply_check() - check a received reply
 * @request: the request
 * @reply: the packet
 * @size: size of the packet, bytes
 *
 * In an accepted reply, each text offset leads to a NUL-terminated string within its limit. Entries
 * of SYMBOL_FIND are sorted and do not overlap, and each of the first &symbol_reply.done addresses
 * lies in one entry. Entries of SYMBOL_CODE follow each other from the first address on, without a
 * gap.
 *
 * Return: 0; -EBADMSG if it is invalid.
 */
int symbol_reply_check(const struct symbol_request *request, const struct symbol_reply *reply,
		       size_t size);

/**
 * symbol_message_send() - send a packet, without SIGPIPE
 * @socket: a SOCK_SEQPACKET socket
 * @bytes, @size: the packet
 * @fd: descriptor to pass with it; -1 for none
 * @flags: further flags of sendmsg()
 *
 * Return: 0 or negative errno.
 */
int symbol_message_send(int socket, const void *bytes, size_t size, int fd, int flags);

/**
 * symbol_reply_get_content() - return the content of the file, from a checked reply to SYMBOL_OPEN
 * or SYMBOL_ATTACH
 */
static inline const struct symbol_file_content *
symbol_reply_get_content(const struct symbol_reply *reply)
{
	return (const void *)(reply + 1);
}

/**
 * symbol_reply_get_names() - return the entries of a checked reply to SYMBOL_FIND or SYMBOL_CODE
 */
static inline const struct symbol_name *symbol_reply_get_names(const struct symbol_reply *reply)
{
	return (const void *)(reply + 1);
}

/** symbol_reply_get_lines() - return the entries of a checked reply to SYMBOL_LINES */
static inline const struct symbol_line *symbol_reply_get_lines(const struct symbol_reply *reply)
{
	return (const void *)(reply + 1);
}

/** symbol_reply_get_linkage() - return the entries of a checked reply to SYMBOL_LINKAGE */
static inline const struct symbol_linkage *
symbol_reply_get_linkage(const struct symbol_reply *reply)
{
	return (const void *)(reply + 1);
}

/** symbol_reply_get_frames() - return the entries of a checked reply to SYMBOL_FRAMES */
static inline const struct symbol_frame *symbol_reply_get_frames(const struct symbol_reply *reply)
{
	return (const void *)(reply + 1);
}

/** symbol_entry_get_size() - return the size of an entry of a reply to @type, bytes */
static inline size_t symbol_entry_get_size(u32 type)
{
	return type == SYMBOL_LINES   ? sizeof(struct symbol_line) :
	       type == SYMBOL_LINKAGE ? sizeof(struct symbol_linkage) :
	       type == SYMBOL_FRAMES  ? sizeof(struct symbol_frame) :
					sizeof(struct symbol_name);
}

/** symbol_reply_get_text() - return the text of a checked reply with entries */
const char *symbol_reply_get_text(const struct symbol_reply *reply);

#endif
