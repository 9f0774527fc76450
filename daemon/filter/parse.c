// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parses expressions by recursive descent, at most FILTER_DEPTH levels deep:
 *
 *	or      = and { "||" and }
 *	and     = not { "&&" not }
 *	not     = "!" not | "(" or ")" | compare
 *	compare = flag | field operator value
 */
#include "filter-internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/**
 * struct filter_parser - the state of filter_new()
 * @filter: receives the nodes
 * @at: the next character, in &filter.text
 * @depth: levels of parentheses and "!" around @at
 * @error: set when parsing fails
 */
struct filter_parser {
	struct filter *filter;
	const char *at;
	u32 depth;
	struct filter_error *error;
};

/* Report an error at @at; always returns -EINVAL. */
static int __attribute__((format(printf, 3, 4)))
fail_at(struct filter_parser *p, const char *at, const char *format, ...)
{
	va_list ap;

	p->error->column = (u32)(at - p->filter->text) + 1;
	va_start(ap, format);
	vsnprintf(p->error->text, sizeof(p->error->text), format, ap);
	va_end(ap);
	return -EINVAL;
}

static void skip_space(struct filter_parser *p)
{
	while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')
		p->at++;
}

/* Skip blanks and @word; returns false without skipping @word if something else follows. */
static bool skip_word(struct filter_parser *p, const char *word)
{
	skip_space(p);
	if (strncmp(p->at, word, strlen(word)) != 0)
		return false;
	p->at += strlen(word);
	return true;
}

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '-';
}

static size_t get_word_length(const char *at)
{
	size_t len = 0;

	while (is_word_char(at[len]))
		len++;
	return len;
}

/*
 * Describe the text at @at for an error message: a word or a character. Unprintable bytes become
 * "?", because the message may be shown in a terminal. Returns the length of @ret_text.
 */
static int text_describe(const char *at, const char **ret_text)
{
	size_t len = get_word_length(at);

	if (!*at) {
		*ret_text = "the end";
		return 7;
	}
	*ret_text = len || (*at > ' ' && *at < 0x7f) ? at : "?";
	return len > 40 ? 40 : len ? (int)len : 1;
}

static int node_new(struct filter_parser *p, const struct filter_node *node, u8 *ret_index)
{
	if (p->filter->count == FILTER_NODES - 1)
		return fail_at(
			p, p->at,
			"too long: an expression has at most %u comparisons, flags and operators",
			FILTER_NODES - 1);
	p->filter->nodes[p->filter->count] = *node;
	*ret_index = p->filter->count++;
	return 0;
}

static int parse_or(struct filter_parser *p, u8 *ret_index);

static int parse_operator(struct filter_parser *p, const struct filter_field *field,
			  enum filter_operator *ret_op)
{
	static const struct {
		const char *text;
		enum filter_operator op;
	} operators[] = {
		{ "==", FILTER_EQ }, { "!=", FILTER_NE }, { "=~", FILTER_GLOB },
		{ "<=", FILTER_LE }, { ">=", FILTER_GE }, { "<", FILTER_LT },
		{ ">", FILTER_GT },
	};
	static const char *const right[] = {
		[FILTER_NUMBER] = "==, !=, <, <=, > or >=",
		[FILTER_FLAG] = "nothing, or == or != with true or false",
		[FILTER_NAME] = "== or !=",
		[FILTER_STRING] = "==, != or =~",
	};
	const char *start;
	const char *text;
	size_t i = 0;
	bool fits;
	int len;

	skip_space(p);
	start = p->at;
	while (i < ARRAY_SIZE(operators) && !skip_word(p, operators[i].text))
		i++;
	if (i < ARRAY_SIZE(operators)) {
		enum filter_operator op = operators[i].op;

		fits = op == FILTER_EQ || op == FILTER_NE ||
		       (op == FILTER_GLOB ? field->type == FILTER_STRING :
					    field->type == FILTER_NUMBER);
		if (fits) {
			*ret_op = op;
			return 0;
		}
	}
	len = text_describe(start, &text);
	return fail_at(p, start, "\"%.*s\": after this field should be %s",
		       i < ARRAY_SIZE(operators) ? (int)strlen(operators[i].text) : len,
		       i < ARRAY_SIZE(operators) ? operators[i].text : text, right[field->type]);
}

static int parse_number(struct filter_parser *p, u64 *ret_number)
{
	const char *start = p->at, *text;
	size_t len = get_word_length(start);
	char *end;
	int n;

	errno = 0;
	/* A leading 0 does not make the number octal. */
	*ret_number = strtoull(start, &end, *start == '0' && (start[1] | 0x20) == 'x' ? 16 : 10);
	if (!len || *start < '0' || *start > '9' || end != start + len || errno) {
		n = text_describe(start, &text);
		return fail_at(p, start,
			       "\"%.*s\": should be a number from 0 to 2^64 - 1, decimal or 0x...",
			       n, text);
	}
	p->at = end;
	return 0;
}

static int parse_name(struct filter_parser *p, const struct filter_field *field, u64 *ret_number)
{
	char names[128] = "";
	size_t len = get_word_length(p->at), used = 0;
	const char *name, *text;
	int n;

	for (u8 i = 0; i < field->values; i++) {
		name = field->value_name(i);
		if (!name)
			continue;
		if (len && !strncmp(name, p->at, len) && !name[len]) {
			*ret_number = i;
			p->at += len;
			return 0;
		}
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", name);
	}
	n = text_describe(p->at, &text);
	return fail_at(p, p->at, "\"%.*s\": should be one of %s", n, text, names);
}

static int parse_flag(struct filter_parser *p, u64 *ret_number)
{
	const char *text;
	int n;

	if (skip_word(p, "true")) {
		*ret_number = 1;
	} else if (skip_word(p, "false")) {
		*ret_number = 0;
	} else {
		n = text_describe(p->at, &text);
		return fail_at(p, p->at, "\"%.*s\": should be true or false", n, text);
	}
	return 0;
}

/* Parse a word, or text in quotes in which \" and \\ are escapes. */
static int parse_string(struct filter_parser *p, u16 *ret_string)
{
	struct filter *f = p->filter;
	size_t begin = f->strings_used, len = get_word_length(p->at);
	const char *start = p->at, *text;
	int n;

	if (*p->at != '"') {
		if (!len) {
			n = text_describe(start, &text);
			return fail_at(p, start, "\"%.*s\": should be a name, or text in quotes", n,
				       text);
		}
		memcpy(f->strings + begin, start, len);
		p->at += len;
		f->strings_used += len;
	} else {
		for (p->at++; *p->at != '"'; p->at++) {
			if (*p->at == '\\' && (p->at[1] == '"' || p->at[1] == '\\'))
				p->at++;
			if (!*p->at)
				return fail_at(p, start, "these quotes are not closed");
			f->strings[f->strings_used++] = *p->at;
		}
		p->at++;
	}
	f->strings[f->strings_used++] = '\0';
	*ret_string = (u16)begin;
	return 0;
}

/*
 * Reject a cgroup path that includes the mount point: the paths of cgroups are relative to the
 * mount point, so such a path never matches.
 */
static int check_cgroup(struct filter_parser *p, const char *at, const char *path)
{
	static const char *const mounts[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		size_t len = strlen(mounts[i]), shown = 0;

		if (strncmp(path, mounts[i], len) != 0 || (path[len] && path[len] != '/'))
			continue;
		path = path[len] ? path + len : "/";
		while (shown < 80 && path[shown] >= ' ' && path[shown] < 0x7f)
			shown++;
		return fail_at(
			p, at,
			"the path of a cgroup is relative to the mount %s: should be \"%.*s%s\"",
			mounts[i], (int)shown, path, path[shown] ? "..." : "");
	}
	return 0;
}

static int parse_value(struct filter_parser *p, struct filter_node *node)
{
	const char *start;
	int r;

	skip_space(p);
	start = p->at;
	switch (node->field->type) {
	case FILTER_NUMBER:
		return parse_number(p, &node->number);
	case FILTER_FLAG:
		return parse_flag(p, &node->number);
	case FILTER_NAME:
		return parse_name(p, node->field, &node->number);
	default:
		r = parse_string(p, &node->string);
		return r >= 0 && node->field->cgroup ?
			       check_cgroup(p, start, p->filter->strings + node->string) :
			       r;
	}
}

static int parse_compare(struct filter_parser *p, u8 *ret_index)
{
	struct filter_node node = { .type = FILTER_COMPARE, .op = FILTER_NE };
	size_t len = get_word_length(p->at);
	const char *text;
	int r, n;

	node.field = len ? filter_field_find(p->at, len, &node.parameter) : NULL;
	if (!node.field) {
		n = text_describe(p->at, &text);
		return fail_at(p, p->at,
			       "\"%.*s\": should be a field, such as op, latency.total, level, "
			       "container or mispredicted (Documentation/reference/filters.md)",
			       n, text);
	}
	p->at += len;
	skip_space(p);
	/* A flag without an operator means "flag != 0", which is the initial value of @node. */
	if (node.field->type != FILTER_FLAG || *p->at == '=' ||
	    (*p->at == '!' && p->at[1] == '=')) {
		r = parse_operator(p, node.field, &node.op);
		if (r >= 0)
			r = parse_value(p, &node);
		if (r < 0)
			return r;
	}
	return node_new(p, &node, ret_index);
}

static int parse_parentheses(struct filter_parser *p, u8 *ret_index)
{
	const char *open = p->at;
	int r;

	p->at++;
	r = parse_or(p, ret_index);
	if (r >= 0 && !skip_word(p, ")"))
		return fail_at(p, open, "this parenthesis is not closed");
	return r;
}

static int parse_not(struct filter_parser *p, u8 *ret_index)
{
	struct filter_node node = { .type = FILTER_NOT };
	const char *begin;
	int r;

	skip_space(p);
	begin = p->at;
	if (p->depth == FILTER_DEPTH)
		return fail_at(p, p->at, "too deep: at most %u levels", FILTER_DEPTH);
	p->depth++;
	if (*p->at == '(') {
		r = parse_parentheses(p, ret_index);
	} else if (*p->at == '!') {
		p->at++;
		r = parse_not(p, &node.left);
		if (r >= 0)
			r = node_new(p, &node, ret_index);
	} else {
		r = parse_compare(p, ret_index);
	}
	p->depth--;
	if (r >= 0) {
		p->filter->nodes[*ret_index].begin = (u16)(begin - p->filter->text);
		p->filter->nodes[*ret_index].end = (u16)(p->at - p->filter->text);
	}
	return r;
}

static int parse_and(struct filter_parser *p, u8 *ret_index)
{
	struct filter_node node = { .type = FILTER_AND };
	int r = parse_not(p, ret_index);

	while (r >= 0 && skip_word(p, "&&")) {
		node.left = *ret_index;
		r = parse_not(p, &node.right);
		if (r >= 0)
			r = node_new(p, &node, ret_index);
	}
	return r;
}

static int parse_or(struct filter_parser *p, u8 *ret_index)
{
	struct filter_node node = { .type = FILTER_OR };
	int r = parse_and(p, ret_index);

	while (r >= 0 && skip_word(p, "||")) {
		node.left = *ret_index;
		r = parse_and(p, &node.right);
		if (r >= 0)
			r = node_new(p, &node, ret_index);
	}
	return r;
}

/* Set the text of an outermost "&&" or "||", which parse_not() leaves unset. */
static void root_set_text(struct filter_parser *p)
{
	struct filter_node *root = &p->filter->nodes[p->filter->root];

	if (root->end)
		return;
	root->begin = (u16)strspn(p->filter->text, " \t\n");
	root->end = (u16)strlen(p->filter->text);
}

static int parse_expression(struct filter_parser *p)
{
	const char *text;
	int r, n;

	if (strlen(p->filter->text) > UINT16_MAX / 2)
		return fail_at(p, p->at, "longer than %u bytes", UINT16_MAX / 2);
	r = parse_or(p, &p->filter->root);
	if (r < 0)
		return r;
	skip_space(p);
	if (*p->at) {
		n = text_describe(p->at, &text);
		return fail_at(p, p->at, "\"%.*s\": should be &&, || or the end", n, text);
	}
	root_set_text(p);
	return 0;
}

int filter_new(const char *text, struct filter **ret_filter, struct filter_error *ret_error)
{
	struct filter_parser p = { .error = ret_error };
	int r = -ENOMEM;

	p.filter = calloc(1, sizeof(*p.filter));
	if (!p.filter)
		return -ENOMEM;
	p.filter->text = strdup(text);
	/*
	 * The texts of all strings fit: each needs a NUL in addition, but the operator before the
	 * string is not copied.
	 */
	p.filter->strings = calloc(1, strlen(text) + 1);
	if (p.filter->text && p.filter->strings) {
		p.at = p.filter->text;
		r = parse_expression(&p);
	}
	if (r < 0) {
		filter_free(p.filter);
		return r;
	}
	*ret_filter = p.filter;
	return 0;
}

struct filter *filter_free(struct filter *filter)
{
	if (!filter)
		return NULL;
	free(filter->text);
	free(filter->strings);
	free(filter);
	return NULL;
}
