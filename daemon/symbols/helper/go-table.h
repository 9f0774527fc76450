/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads .gopclntab, the table of functions and lines of Go programs. The Go runtime needs it, so
 * stripped programs have it, too. The supported layouts are those of Go 1.2, 1.16, 1.18 and 1.20,
 * little-endian, with pointers of 4 or 8 bytes. The table may be hostile: each offset is checked
 * when it is used.
 */
#ifndef SPEPROF_GO_TABLE_H
#define SPEPROF_GO_TABLE_H

#include "util/symtab.h"

enum go_version {
	GO_1_2,
	GO_1_16,
	GO_1_18, /* also 1.20, with the same layout */
};

/**
 * struct go_table - a table
 * @data, @size: its bytes, which must stay valid
 * @version: layout
 * @pointer: size of a pointer, bytes
 * @quantum: unit of the instruction addresses in tables of values, bytes
 * @count: number of functions
 * @text: address of the text section; function addresses in GO_1_18 are relative to it
 * @names, @units, @files, @values, @functions: offsets of the subtables
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
 * go_table_init() - read the header of a table
 * @table: receives the header
 * @data, @size: bytes of the section
 * @text: address of the section .text, which position-independent programs do not store in the
 * table
 *
 * Return: 0; -EBADMSG if it is not such a table.
 */
int go_table_init(struct go_table *table, const u8 *data, size_t size, u64 text);

/** go_table_add_symbols() - add all functions to @symbols */
void go_table_add_symbols(const struct go_table *table, struct symtab *symbols);

/**
 * go_table_find_line() - get the source line of an address
 * @pc: virtual address
 * @ret_file, @ret_len: path of the source file, a part of the table that is not NUL-terminated
 * @ret_line: line number, from 1
 *
 * Return: true if the line was found.
 */
bool go_table_find_line(const struct go_table *table, u64 pc, const char **ret_file,
			size_t *ret_len, u32 *ret_line);

#endif
