/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sorted table of functions by address, in bounded memory. */
#ifndef SPEPROF_SYMTAB_H
#define SPEPROF_SYMTAB_H

#include "codec/env.h"

#define SYMTAB_NAME_MAX 511

/* Which name stands where several have one address: the highest. */
enum symbol_rank {
	SYMBOL_BOUNDARY, /* no function: ends the one before it */
	SYMBOL_LOCAL,
	SYMBOL_WEAK,
	SYMBOL_GLOBAL,
};

struct symbol {
	u64 start;
	u32 size;
	u32 name : 29; /* offset in the names */
	u32 rank : 3; /* &enum symbol_rank */
};

/**
 * struct symtab
 * @limit: of bytes, set before the first symtab_add()
 * @dropped: symbols for which there was no room
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
 * symtab_add() - a function at [@start, @start + @size)
 * @size: 0 if unknown
 * @name: raw bytes, not NUL-terminated; copied, at most SYMTAB_NAME_MAX
 */
void symtab_add(struct symtab *table, u64 start, u64 size, const char *name, size_t len,
		enum symbol_rank rank);

/** symtab_finish() - sort, settle sizes and aliases; before symtab_find(), once */
void symtab_finish(struct symtab *table);

/** symtab_find() - the raw name of the function at @addr, or NULL */
const char *symtab_find(const struct symtab *table, u64 addr);

/**
 * symtab_find_range() - the same, and for which addresses that holds
 * @ret_start, @ret_size: all in it, @addr among them, have the name that is returned, or none
 */
const char *symtab_find_range(const struct symtab *table, u64 addr, u64 *ret_start, u64 *ret_size);

u64 symtab_memory(const struct symtab *table);
void symtab_clear(struct symtab *table);

#endif
