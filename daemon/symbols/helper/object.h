/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file of the helper: whatever has names, and what else belongs to it. All of it is
 * hostile, and the process that reads it is made for dying of that.
 */
#ifndef SPEPROF_OBJECT_H
#define SPEPROF_OBJECT_H

#include "debug-lines.h"
#include "elf-file.h"
#include "go-table.h"
#include "reply.h"

/**
 * struct object - zeroes, but for @fd of -1, are none
 * @kind: &enum symbol_kind
 * @elf: @file's segments and build id, and the functions of it and of what was attached
 * @file, @debug, @alt, @mini: their descriptors, and .gnu_debugdata's bytes, are behind them
 * @go: there if @has_go
 * @read: functions were; they are when first asked for
 */
struct object {
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
	u32 has;
	bool has_go;
	bool read;
	bool lines_tried;
};

/** object_open() - take over @fd, in any case */
int object_open(struct object *object, u32 kind, int fd, struct symbol_object *ret_known);

/** object_attach() - the same of a part; -ESTALE if it is another build's */
int object_attach(struct object *object, u32 part, int fd, struct symbol_object *ret_known);

/** object_find() - names of the addresses of a request, as many as fit */
void object_find(struct object *object, const u64 *address, u32 count,
		 struct reply_builder *builder);

/** object_lines() - source lines of them */
void object_lines(struct object *object, const u64 *address, u32 count,
		  struct reply_builder *builder);

void object_close(struct object *object);

#endif
