/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A bounded table of the edges of control flow: pairs of locations, with the number of times that
 * the program went from one to the other.
 */
#ifndef SPEPROF_EDGE_TABLE_H
#define SPEPROF_EDGE_TABLE_H

#include "codec/env.h"

/* Maximum number of edges of a recording: 64 MiB */
#define EDGES_MAX (1U << 20)

/* The number of the file of a location that is in no known file */
#define EDGE_NO_FILE UINT32_MAX

/** enum edge_kind - kinds of edges */
enum edge_kind {
	EDGE_TAKEN, /* from a branch to its target */
	EDGE_NOT_TAKEN, /* from a conditional branch to the instruction after it */
	EDGE_RUN, /* from the target of a taken branch to the next taken branch, without a branch */
	EDGE_EXECUTED, /* an instruction; the edge has no target: 0 in EDGE_NO_FILE */
};

/**
 * struct edge_key - what an edge is; all bytes are compared
 * @from, @to: offsets in their files; 0 in EDGE_NO_FILE
 * @from_file, @to_file: numbers of the files; EDGE_NO_FILE: none is known
 * @kind: &enum edge_kind
 * @reserved: 0
 */
struct edge_key {
	u64 from;
	u64 to;
	u32 from_file;
	u32 to_file;
	u32 kind;
	u32 reserved;
};

/**
 * struct counted_edge - an edge with its counts
 * @count: estimated number of executions: samples, weighted by their interval
 * @mispredicted: those that were mispredicted
 * @samples: number of samples
 */
struct counted_edge {
	struct edge_key key;
	u64 count;
	u64 mispredicted;
	u64 samples;
};

/**
 * struct edge_table - the edges; all zeros, but for @max: none
 * @edge: @count edges, with memory for @capacity; in the order of their first samples before
 *	edge_table_sort()
 * @slot: hash table of indices of @edge plus 1, @slots of them; NULL after edge_table_sort()
 * @max: maximum number of edges
 * @dropped: sum of the counts that were not added because the table was full
 */
struct edge_table {
	struct counted_edge *edge;
	u32 count;
	u32 capacity;
	u32 *slot;
	u32 slots;
	u32 max;
	u64 dropped;
};

/**
 * edge_table_add() - add a sample to the counts of an edge
 * @table: a table that is not sorted
 * @key: the edge
 * @count: what to add to &counted_edge.count
 * @mispredicted: what to add to &counted_edge.mispredicted
 *
 * A new edge in a full table adds @count to &edge_table.dropped instead.
 *
 * Return: 0; -ENOMEM if memory cannot be allocated.
 */
int edge_table_add(struct edge_table *table, const struct edge_key *key, u64 count,
		   u64 mispredicted);

/** edge_table_sort() - sort the edges by file, kind and locations; then none can be added */
void edge_table_sort(struct edge_table *table);

/** edge_table_clear() - free the memory */
void edge_table_clear(struct edge_table *table);

#endif
