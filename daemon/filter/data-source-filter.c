// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which data sources an expression may want: what PMSDSFR_EL1 (FEAT_SPE_FDS) is to let through.
 *
 * The register judges loads by bits 5:0 of their Data Source packet and nothing else. So each
 * value that the packet can have is tried on the whole expression, with all that is not known
 * of such a record left open: what cannot match then, whatever the rest is, is left out. Of cores
 * in the tables all values are taken to be below 64, of others they may have 16 bits (D18.2.4).
 */
#include "filter-internal.h"

#include <stdlib.h>

#define PAYLOADS 65536U
#define TABLED	 64U

/* Three values: the lesser of two is "&&", the greater "||". */
enum truth { NO, MAYBE, YES };

/* What a node is about. */
enum about { ABOUT_OTHER, ABOUT_OP, ABOUT_SOURCE, ABOUT_LEVEL, ABOUT_FLAG };

/**
 * struct query - an expression on records of which the data source is known
 * @open: a node of which nothing shall be known, FILTER_NODES for none
 * @about: by node, &enum about
 * @encoding: of the core, NULL if its values are not known
 * @source: the packet's
 * @kind: &enum spe_op_kind by the Operation Type packet. An SPU takes loads for it, atomics that
 *	the packet calls stores, and branches that load
 */
struct query {
	const struct filter *filter;
	u8 open;
	u8 about[FILTER_NODES];
	const struct spe_data_sources *encoding;
	u32 source;
	u64 kind;
};

static u8 about(const struct filter_node *node)
{
	static const struct {
		const char *name;
		enum about about;
	} fields[] = {
		{ "op", ABOUT_OP },	   { "source", ABOUT_SOURCE },	{ "level", ABOUT_LEVEL },
		{ "remote", ABOUT_FLAG },  { "snooped", ABOUT_FLAG },	{ "peer", ABOUT_FLAG },
		{ "modified", ABOUT_FLAG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields) && node->type == FILTER_COMPARE; i++)
		if (!strcmp(node->field->name ?: "", fields[i].name))
			return (u8)fields[i].about;
	return ABOUT_OTHER;
}

static enum truth is(bool yes)
{
	return yes ? YES : NO;
}

static enum truth negate(enum truth truth)
{
	return (enum truth)(YES - truth);
}

/* What the core's table says of the packet of a load; NULL if events speak (spe_sample_origin()). */
static const struct spe_origin *by_source(const struct query *q)
{
	const struct spe_data_sources *encoding = q->encoding;

	if (q->kind != SPE_KIND_LOAD || !encoding || q->source >= encoding->count ||
	    encoding->origins[q->source].level == SPE_LEVEL_UNKNOWN)
		return NULL;
	return &encoding->origins[q->source];
}

/* What events alone can say, too. */
static bool events_say(u64 level)
{
	return level == SPE_LEVEL_UNKNOWN || level == SPE_LEVEL_L1 || level == SPE_LEVEL_L2 ||
	       level >= SPE_LEVEL_RECENT;
}

static enum truth has_level(const struct query *q, u64 level)
{
	const struct spe_origin *origin = by_source(q);

	if (origin)
		return is(origin->level == level);
	if (q->kind == SPE_KIND_LOAD && !q->encoding)
		return MAYBE;
	return events_say(level) ? MAYBE : NO;
}

/* Events add to what the table says; of another core's cache they say nothing. */
static enum truth has_flag(const struct query *q, u8 flag)
{
	const struct spe_origin *origin = by_source(q);

	if (origin && origin->flags & flag)
		return YES;
	if (q->kind == SPE_KIND_LOAD && !q->encoding)
		return MAYBE;
	return flag == SPE_ORIGIN_PEER ? NO : MAYBE;
}

static enum truth compare_source(u64 source, const struct filter_node *node)
{
	switch (node->op) {
	case FILTER_EQ:
		return is(source == node->number);
	case FILTER_NE:
		return is(source != node->number);
	case FILTER_LT:
		return is(source < node->number);
	case FILTER_LE:
		return is(source <= node->number);
	case FILTER_GT:
		return is(source > node->number);
	case FILTER_GE:
		return is(source >= node->number);
	default:
		return MAYBE;
	}
}

static enum truth compare(const struct query *q, u8 index)
{
	const struct filter_node *node = &q->filter->nodes[index];
	bool memory = q->kind == SPE_KIND_LOAD || q->kind == SPE_KIND_STORE;
	enum truth truth;

	switch (q->about[index]) {
	case ABOUT_SOURCE:
		return compare_source(q->source, node);
	case ABOUT_OP:
		return is((q->kind == node->number) == (node->op == FILTER_EQ));
	case ABOUT_LEVEL:
		truth = has_level(q, node->number);
		break;
	case ABOUT_FLAG:
		truth = has_flag(q, node->parameter);
		if (!node->number)
			truth = negate(truth);
		break;
	default:
		return MAYBE;
	}
	/* What is not there compares as nothing. */
	if (!memory)
		return NO;
	return node->op == FILTER_EQ ? truth : negate(truth);
}

/* As deep as the parser let it become. NOLINTNEXTLINE(misc-no-recursion) */
static enum truth judge(const struct query *q, u8 index)
{
	const struct filter_node *node = &q->filter->nodes[index];
	enum truth left, right;

	if (index == q->open)
		return MAYBE;
	if (node->type == FILTER_COMPARE)
		return compare(q, index);
	left = judge(q, node->left);
	if (node->type == FILTER_NOT)
		return negate(left);
	if (left == (node->type == FILTER_AND ? NO : YES))
		return left;
	right = judge(q, node->right);
	if (node->type == FILTER_AND)
		return left < right ? left : right;
	return left > right ? left : right;
}

static bool are_known(const struct filter_cores *cores)
{
	return cores && cores->count && !cores->unknown;
}

static bool may_match(struct query *q, const struct filter_cores *cores, u8 root)
{
	for (q->kind = SPE_KIND_LOAD; q->kind < SPE_KIND_NONE; q->kind++) {
		q->encoding = NULL;
		if (!are_known(cores) && judge(q, root) != NO)
			return true;
		for (u32 i = 0; are_known(cores) && i < cores->count; i++) {
			q->encoding = cores->encodings[i];
			if (judge(q, root) != NO)
				return true;
		}
	}
	return false;
}

static void mark_from(u8 *marks, u32 begin)
{
	for (u32 value = begin; value <= begin + 64 && value < PAYLOADS; value++)
		marks[value] = 1;
}

/*
 * Of all values with the same bits 5:0 those that differ to the expression: the tables' own, and
 * the first from each number on that a source is compared with.
 */
static void mark_values(const struct query *q, const struct filter_cores *cores, u8 *marks)
{
	bool wide = !are_known(cores);

	for (u32 i = 0; i < q->filter->count; i++)
		wide |= q->about[i] == ABOUT_SOURCE && q->filter->nodes[i].number >= TABLED;
	memset(marks, 1, TABLED);
	if (!wide)
		return;
	mark_from(marks, TABLED);
	for (u32 i = 0; i < q->filter->count; i++)
		if (q->about[i] == ABOUT_SOURCE && q->filter->nodes[i].number < PAYLOADS)
			mark_from(marks, (u32)q->filter->nodes[i].number);
}

/* Those that nothing below @root can want. */
static u64 unwanted(struct query *q, const struct filter_cores *cores, u8 root)
{
	u8 *marks = calloc(PAYLOADS, 1);
	u64 wanted = 0;

	if (!marks)
		return 0;
	mark_values(q, cores, marks);
	for (q->source = 0; q->source < PAYLOADS && ~wanted; q->source++)
		if (marks[q->source] && !(wanted >> (q->source & 63) & 1) &&
		    may_match(q, cores, root))
			wanted |= SPE_BIT(q->source & 63);
	free(marks);
	return ~wanted;
}

/* As deep as the parser let it become. NOLINTNEXTLINE(misc-no-recursion) */
static bool mentions(const struct query *q, u8 index)
{
	const struct filter_node *node = &q->filter->nodes[index];

	if (node->type == FILTER_COMPARE)
		return q->about[index] > ABOUT_OP;
	return mentions(q, node->left) ||
	       (node->type != FILTER_NOT && mentions(q, node->right));
}

static struct query query_of(const struct filter *filter)
{
	struct query q = { .filter = filter, .open = FILTER_NODES };

	for (u32 i = 0; i < filter->count; i++)
		q.about[i] = about(&filter->nodes[i]);
	return q;
}

u64 filter_sources_not(const struct filter *filter, const struct filter_cores *cores)
{
	struct query q = query_of(filter);

	return mentions(&q, filter->root) ? unwanted(&q, cores, filter->root) : 0;
}

bool filter_sources_part(const struct filter *filter, const struct filter_cores *cores, u8 index)
{
	struct query q = query_of(filter);
	u64 all;

	if (!mentions(&q, index))
		return false;
	if (unwanted(&q, cores, index))
		return true;
	/* Only with what else must hold: "op == load" makes a level of the packet alone. */
	all = unwanted(&q, cores, filter->root);
	q.open = index;
	return unwanted(&q, cores, filter->root) != all;
}

void filter_cores_add(struct filter_cores *cores, u64 midr)
{
	const struct spe_data_sources *encoding = spe_data_sources_find(midr);

	if (!encoding || encoding->count > TABLED) {
		cores->unknown = true;
		return;
	}
	for (u32 i = 0; i < cores->count; i++)
		if (cores->encodings[i] == encoding)
			return;
	if (cores->count == FILTER_CORES)
		cores->unknown = true;
	else
		cores->encodings[cores->count++] = encoding;
}
