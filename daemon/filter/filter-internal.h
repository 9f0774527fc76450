/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SPEPROF_FILTER_INTERNAL_H
#define SPEPROF_FILTER_INTERNAL_H

#include "filter.h"

enum filter_type {
	FILTER_NUMBER,
	FILTER_FLAG,
	FILTER_NAME,	/* one of a field's names: a number to compare with == and != */
	FILTER_STRING,
};

/**
 * struct filter_field - something that a record, or its task, has
 * @number: of FILTER_NUMBER, FILTER_FLAG, FILTER_NAME; false if it is not there
 * @string: of FILTER_STRING; NULL if it is not there
 * @parameter: for @number; of events it is the bit, and the name has it
 * @value_name: of FILTER_NAME: the name of value @i, NULL for a gap
 * @values: how many values
 * @address: where something lies in memory, or its code
 * @cgroup: a path of a cgroup, below the mount
 */
struct filter_field {
	const char *name;
	enum filter_type type;
	u8 parameter;
	u8 values;
	bool address;
	bool cgroup;
	bool (*number)(const struct filter_subject *subject, u8 parameter, u64 *ret_number);
	const char *(*string)(const struct filter_subject *subject);
	const char *(*value_name)(u8 i);
};

/**
 * filter_field_find() - by @name of @len bytes; NULL if there is none such
 * @ret_parameter: for the field's number()
 */
const struct filter_field *filter_field_find(const char *name, size_t len, u8 *ret_parameter);

enum filter_operator {
	FILTER_EQ,
	FILTER_NE,
	FILTER_LT,
	FILTER_LE,
	FILTER_GT,
	FILTER_GE,
	FILTER_GLOB,	/* =~: fnmatch(3) */
};

enum filter_node_type {
	FILTER_AND,
	FILTER_OR,
	FILTER_NOT,
	FILTER_COMPARE,
};

/**
 * struct filter_node - of the tree
 * @parameter: of @field
 * @left, @right: indices of operands; FILTER_NOT has the left alone
 * @begin, @end: where it stands in the text, with its parentheses
 * @number: to compare with
 * @string: likewise, an offset into @strings
 */
struct filter_node {
	enum filter_node_type type;
	enum filter_operator op;
	const struct filter_field *field;
	u64 number;
	u16 string;
	u16 begin;
	u16 end;
	u8 parameter;
	u8 left;
	u8 right;
};

struct filter {
	char *text;
	char *strings;	/* of the length of @text at the most */
	size_t strings_used;
	u8 root;
	u8 count;
	struct filter_node nodes[FILTER_NODES];
};

/** filter_sources_not() - bits of &source_config.filter_sources_not that the expression allows */
u64 filter_sources_not(const struct filter *filter, const struct filter_cores *cores);

/** filter_sources_part() - whether what stands at node @index adds to them */
bool filter_sources_part(const struct filter *filter, const struct filter_cores *cores, u8 index);

#endif
