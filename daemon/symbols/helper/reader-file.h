/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file in a slot of the reader, with its attachments, such as separate debug information. All
 * these files may be hostile. A crash of the libraries that parse them kills only the sandboxed
 * reader.
 */
#ifndef SPEPROF_READER_FILE_H
#define SPEPROF_READER_FILE_H

#include "debug-data.h"
#include "debug-lines.h"
#include "elf-file.h"
#include "go-table.h"
#include "reply.h"

/**
 * struct reader_file - a file and its attachments; if there is no file, all descriptors are -1, and
 * the other members 0
 * @kind: &enum symbol_kind of the file
 * @fd, @debug_fd, @alt_fd: descriptors of @file, @debug and @alt
 * @elf: segments and build id of @file, and functions of all files
 * @file: the file; NULL unless SYMBOL_ELF or SYMBOL_DATA
 * @debug: separate debug information; NULL for none
 * @alt: file with shared debug information (dwz); NULL for none
 * @mini: MiniDebugInfo, unpacked to @mini_bytes; NULL for none
 * @go: table of Go functions, if @has_go
 * @lines: source lines; NULL for none
 * @data: variables and functions; NULL for none, and unless SYMBOL_DATA
 * @outlines: as &struct values_source
 * @has: SYMBOL_HAS_*
 * @jit_dump: the file is a jitdump, and not a perf map; false unless SYMBOL_JIT_NAMES
 * @names_read, @lines_read: true after functions or lines were read, at the first request for them.
 * Then no file can be attached any more
 */
struct reader_file {
	u32 kind;
	int fd;
	int debug_fd;
	int alt_fd;
	struct elf_object elf;
	Elf *file;
	Elf *debug;
	Elf *alt;
	Elf *mini;
	void *mini_bytes;
	struct go_table go;
	struct debug_lines *lines;
	struct debug_data *data;
	u32 has;
	bool jit_dump;
	bool has_go;
	bool names_read;
	bool lines_read;
	bool outlines;
};

/**
 * reader_file_open() - open a file in a slot, and close the file that was in it
 * @object: the slot
 * @kind: &enum symbol_kind of the file
 * @fd: the file; owned by @object, and closed on failure
 * @ret_known: receives the content of the file
 *
 * Return: 0; -EBADMSG, -EFBIG or another negative errno as for elf_open().
 */
int reader_file_open(struct reader_file *object, u32 kind, int fd,
		     struct symbol_file_content *ret_known);

/**
 * reader_file_attach() - attach a file to an open file
 * @object: the slot
 * @attachment: &enum symbol_attachment
 * @fd: the file to attach; owned by @object, and closed on failure
 * @ret_known: receives the content of all files
 *
 * Return: 0; -ESTALE if it belongs to another build; -EEXIST if one is attached already; -EINVAL if
 * names or lines were read already, or if the open file is no ELF file; another negative errno as
 * for elf_open().
 */
int reader_file_attach(struct reader_file *object, u32 attachment, int fd,
		       struct symbol_file_content *ret_known);

/**
 * reader_file_add_functions() - add the functions of @count addresses to a reply, as many as fit
 */
void reader_file_add_functions(struct reader_file *object, const u64 *address, u32 count,
			       struct reply_builder *builder);

/**
 * reader_file_add_data() - add the data at @count addresses of a SYMBOL_DATA file to a reply, as many
 * as fit
 */
void reader_file_add_data(struct reader_file *object, const u64 *address, u32 count,
			  struct reply_builder *builder);

/** reader_file_add_lines() - add the source lines of @count addresses to a reply, as many as fit */
void reader_file_add_lines(struct reader_file *object, const u64 *address, u32 count,
			   struct reply_builder *builder);

/**
 * reader_file_add_linkage() - add the virtual addresses of @count addresses, and the linker's names
 * of their functions, to a reply, as many as fit
 */
void reader_file_add_linkage(struct reader_file *object, const u64 *address, u32 count,
			     struct reply_builder *builder);

/**
 * reader_file_add_frames() - add the nested functions of @count addresses to a reply, as many as fit
 */
void reader_file_add_frames(struct reader_file *object, const u64 *address, u32 count,
			    struct reply_builder *builder);

/**
 * reader_file_add_instructions() - add the instructions from @address to @end - 1 to a reply, as
 * many as fit
 *
 * If the file has no bytes at @address, nothing is added.
 */
void reader_file_add_instructions(struct reader_file *object, u64 address, u64 end,
				  struct reply_builder *builder);

/** reader_file_close() - close all files, and free their data */
void reader_file_close(struct reader_file *object);

#endif
