/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * .gopclntab: what Go's runtime knows functions and lines by, so that it is in stripped
 * binaries too. Layouts of Go 1.2, 1.16, 1.18 and 1.20; little-endian, of 4 or 8 bytes a pointer.
 */
#ifndef SPEPROF_GO_TABLE_H
#define SPEPROF_GO_TABLE_H

#include "symtab.h"

enum go_version {
	GO_1_2,
	GO_1_16,
	GO_1_18, /* and 1.20, whose table is laid out alike */
};

/**
 * struct go_table - offsets are checked against @size at each use
 * @data: borrowed
 * @text: where the text begins, which entries of 1.18 are relative to
 * @names, @units, @files, @values, @functions: offsets of the parts
 */
struct go_table {
	const u8 *data;
	size_t size;
	enum go_version version;
	u32 pointer;
	u32 quantum;
	u64 count;
	u64 text;
	u64 names;
	u64 units;
	u64 files;
	u64 values;
	u64 functions;
};

/**
 * go_table_init() - read the head
 * @text: address of the section .text, for tables that leave it to the loader
 *
 * Return: 0; -EBADMSG if it is no such table.
 */
int go_table_init(struct go_table *table, const u8 *data, size_t size, u64 text);

/** go_table_symbols() - add all functions to @symbols */
void go_table_symbols(const struct go_table *table, struct symtab *symbols);

/**
 * go_table_line() - the source line of an address
 * @ret_file: in the table, at most @ret_len bytes
 *
 * Return: whether it is known.
 */
bool go_table_line(const struct go_table *table, u64 pc, const char **ret_file, size_t *ret_len,
		   u32 *ret_line);

#endif
