/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A parsed expression: a tree of nodes, and the table of fields that nodes compare */
#ifndef SPEPROF_FILTER_INTERNAL_H
#define SPEPROF_FILTER_INTERNAL_H

#include "filter.h"

enum filter_field_type {
	FILTER_NUMBER,
	FILTER_FLAG,
	FILTER_NAME, /* a number that is written as a name, such as "load"; only == and != */
	FILTER_STRING,
};

/**
 * struct filter_field - a field that an expression can compare
 * @name: the name in expressions; NULL for the field that stands for all events
 * @number: unless FILTER_STRING: gets the value of a sample; returns false if the sample lacks it
 * @string: FILTER_STRING: gets the value of a sample; returns NULL if the sample lacks it
 * @equals: FILTER_NAME: returns true if a sample's value has the name of @wanted; NULL: compare the
 * two numbers
 * @parameter: argument of @number, such as the index of a counter. For events it is the event's
 *	bit, which filter_field_find() derives from the name
 * @value_name: FILTER_NAME: returns the name of value @i; NULL if no value has this number
 * @values: FILTER_NAME: number of values
 * @address: the value is a code or data address
 * @cgroup: the value is the path of a cgroup, relative to the mount of cgroupfs
 * @task: the value depends only on the process or container, so all samples of a task have it
 * @sample_class: all samples of a class have this value, because it depends only on operation,
 *	events, data source and origin. Of events, only the presence depends on the class: the
 *	absence of an event depends on the size of the Events packet, too
 */
struct filter_field {
	const char *name;
	enum filter_field_type type;
	u8 parameter;
	u8 values;
	bool address;
	bool cgroup;
	bool task;
	bool sample_class;
	bool (*number)(const struct filter_subject *subject, u8 parameter, u64 *ret_number);
	const char *(*string)(const struct filter_subject *subject);
	const char *(*value_name)(u8 i);
	bool (*equals)(u64 value, u64 wanted);
};

/**
 * filter_field_find() - look up a field by name
 * @name: @len bytes, not NUL-terminated
 * @ret_parameter: receives the argument for the field's number()
 *
 * Return: the field, which is static; NULL if no field has this name.
 */
const struct filter_field *filter_field_find(const char *name, size_t len, u8 *ret_parameter);

enum filter_operator {
	FILTER_EQ,
	FILTER_NE,
	FILTER_LT,
	FILTER_LE,
	FILTER_GT,
	FILTER_GE,
	FILTER_GLOB, /* "=~": shell pattern, fnmatch(3) */
};

enum filter_node_type {
	FILTER_AND,
	FILTER_OR,
	FILTER_NOT,
	FILTER_COMPARE,
};

/**
 * struct filter_node - an operator or a comparison of the expression
 * @op, @field, @number, @string, @parameter: FILTER_COMPARE only
 * @number: the number that the field is compared with
 * @string: FILTER_STRING: the string that the field is compared with, as an offset in
 * &filter.strings
 * @begin, @end: offsets of the node in the text, including its parentheses. For an operator without
 * parentheses both are 0
 * @parameter: argument of @field->number()
 * @left, @right: indices of the operands; FILTER_NOT has only @left. Operands precede their
 * operator, so indices decrease on each path from the root
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

/**
 * struct filter - a parsed expression; read-only after filter_new()
 * @text: a copy of the text
 * @strings: NUL-terminated strings of the text, without quotes and escapes
 * @strings_used: bytes of @strings
 * @root: index of the outermost operator
 * @count: number of @nodes
 */
struct filter {
	char *text;
	char *strings;
	size_t strings_used;
	u8 root;
	u8 count;
	struct filter_node nodes[FILTER_NODES];
};

static_assert(FILTER_NODES <= UINT8_MAX, "the index of a node has 8 bits");

/**
 * filter_level_equals() - return true if @level has the name of @wanted in an expression
 *
 * "dram" includes all levels that the column DRAM counts, even if only events show the level.
 */
bool filter_level_equals(u64 level, u64 wanted);

/** filter_compare_number() - return the result of "@a @op @b"; false for FILTER_GLOB */
bool filter_compare_number(u64 a, enum filter_operator op, u64 b);

/**
 * filter_find_rejected_sources() - find the data sources of loads that the expression never accepts
 *
 * Return: &source_config.filter_sources_not: bit N is set if no load with N in bits 5:0 of its Data
 * Source packet can match; 0 if the expression does not depend on the data source.
 */
u64 filter_find_rejected_sources(const struct filter *filter, const struct filter_cores *cores);

/**
 * filter_node_rejects_sources() - return true if the node at @index contributes to
 * filter_find_rejected_sources()
 */
bool filter_node_rejects_sources(const struct filter *filter, const struct filter_cores *cores,
				 u8 index);

#endif
