/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sorted table of functions by address, with a memory limit. */
#ifndef SPEPROF_SYMTAB_H
#define SPEPROF_SYMTAB_H

#include "codec/env.h"

/* Maximum length of a name, without its NUL; a longer name is truncated. */
#define SYMTAB_NAME_MAX 511

/* The rank of a function: of the functions at one address, the one with the highest rank is used */
enum symbol_rank {
	SYMBOL_BOUNDARY, /* not a function, but an address where the previous function ends */
	SYMBOL_LOCAL,
	SYMBOL_WEAK,
	SYMBOL_GLOBAL,
};

/* A function; before symtab_sort() a @size of 0 means that the size is unknown */
struct symbol {
	u64 start;
	u32 size;
	u32 name : 29; /* offset in &symtab.names */
	u32 rank : 3; /* &enum symbol_rank */
};

/**
 * struct symtab - a table of functions
 * @entry: @count functions, with memory for @capacity
 * @names: NUL-terminated names, @names_len bytes, with memory for @names_capacity
 * @limit: limit of memory, bytes; the caller sets it before the first symtab_add()
 * @dropped: number of functions that did not fit
 */
struct symtab {
	struct symbol *entry;
	char *names;
	u32 count;
	u32 capacity;
	u32 names_len;
	u32 names_capacity;
	u64 limit;
	u64 dropped;
};

/**
 * symtab_add() - add a function
 * @start: address of the function
 * @size: size of the function, bytes; 0 if unknown
 * @name, @len: name, not NUL-terminated; copied, at most SYMTAB_NAME_MAX bytes
 * @rank: priority among functions with the same address
 */
void symtab_add(struct symtab *table, u64 start, u64 size, const char *name, size_t len,
		enum symbol_rank rank);

/**
 * symtab_sort() - sort, remove aliases and set unknown sizes; call it once, before the first
 * symtab_find_range()
 */
void symtab_sort(struct symtab *table);

/**
 * symtab_find_range() - find the function that contains @addr
 * @ret_start, @ret_size: a range of addresses that contains @addr, for all of which the result is
 *	equal
 *
 * Return: the name; NULL if no function contains @addr.
 */
const char *symtab_find_range(const struct symtab *table, u64 addr, u64 *ret_start, u64 *ret_size);

/** symtab_find_symbol() - return the innermost function that contains @addr; NULL if there is none */
const struct symbol *symtab_find_symbol(const struct symtab *table, u64 addr);

/**
 * symtab_count_locals() - count the local functions with the name of @symbol, up to and including
 * @symbol, in the order of their addresses
 *
 * Return: the number; 0 if @symbol is global or weak.
 */
u32 symtab_count_locals(const struct symtab *table, const struct symbol *symbol);

/** symtab_clear() - free the memory of the table; afterwards it is empty and has no limit */
void symtab_clear(struct symtab *table);

#endif
