// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the data sources that an expression never accepts, for PMSDSFR_EL1 (FEAT_SPE_FDS).
 *
 * The register filters loads by bits 5:0 of their Data Source packet. The code evaluates the whole
 * expression for each value that the packet can have. It uses three-valued logic, because all other
 * properties of the record are unknown. A value for which the expression is definitely false is
 * rejected. Cores with a table of data sources are assumed to use only values below 64; other cores
 * may use all 16 bits (D18.2.4).
 */
#include "filter-internal.h"

#include <stdlib.h>

#define SOURCE_VALUES	    65536U
#define TABLE_SOURCE_VALUES 64U

/* Three-valued logic: "&&" is the minimum of its operands, "||" the maximum. */
enum ternary_truth { NO, MAYBE, YES };

/* The property of a record that a node compares. */
enum node_topic { TOPIC_OTHER, TOPIC_OP, TOPIC_SOURCE, TOPIC_LEVEL, TOPIC_FLAG };

/**
 * struct source_query - evaluates an expression for records with a known data source
 * @unknown_node: a node that evaluates to MAYBE; FILTER_NODES for none
 * @topic: &enum node_topic of each node
 * @encoding: data sources of the core; NULL if their meaning is unknown
 * @source: value of the Data Source packet
 * @kind: &enum spe_op_kind, from the Operation Type packet. The SPU filters atomics, and branches
 * that load, as loads too. The packet of an atomic may be that of a store. So all kinds have to be
 * tried
 */
struct source_query {
	const struct filter *filter;
	u8 unknown_node;
	u8 topic[FILTER_NODES];
	const struct spe_data_sources *encoding;
	u32 source;
	u64 kind;
};

static u8 node_get_topic(const struct filter_node *node)
{
	static const struct {
		const char *name;
		enum node_topic topic;
	} fields[] = {
		{ "op", TOPIC_OP },	    { "source", TOPIC_SOURCE }, { "level", TOPIC_LEVEL },
		{ "remote", TOPIC_FLAG },   { "snooped", TOPIC_FLAG },	{ "peer", TOPIC_FLAG },
		{ "modified", TOPIC_FLAG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields) && node->type == FILTER_COMPARE; i++)
		if (!strcmp(node->field->name ?: "", fields[i].name))
			return (u8)fields[i].topic;
	return TOPIC_OTHER;
}

static enum ternary_truth truth_from_bool(bool condition)
{
	return condition ? YES : NO;
}

static enum ternary_truth truth_negate(enum ternary_truth truth)
{
	return (enum ternary_truth)(YES - truth);
}

/*
 * Return the origin that the core's table has for the load's Data Source packet; NULL if the origin
 * depends on events instead (spe_sample_origin()).
 */
static const struct spe_origin *query_find_origin(const struct source_query *q)
{
	const struct spe_data_sources *encoding = q->encoding;

	if (q->kind != SPE_KIND_LOAD || !encoding || q->source >= encoding->count ||
	    encoding->origins[q->source].level == SPE_LEVEL_UNKNOWN)
		return NULL;
	return &encoding->origins[q->source];
}

/*
 * Return true if spe_sample_origin() can derive this level from events, without a Data Source
 * packet.
 */
static bool events_show_level(u64 level)
{
	return level == SPE_LEVEL_UNKNOWN || level == SPE_LEVEL_L1 || level == SPE_LEVEL_L2 ||
	       level >= SPE_LEVEL_RECENT || filter_level_equals(SPE_LEVEL_BEYOND_LLC, level);
}

static enum ternary_truth query_evaluate_level(const struct source_query *q, u64 level)
{
	const struct spe_origin *origin = query_find_origin(q);

	if (origin)
		return truth_from_bool(filter_level_equals(origin->level, level));
	if (q->kind == SPE_KIND_LOAD && !q->encoding)
		return MAYBE;
	return events_show_level(level) ? MAYBE : NO;
}

/* Events can set the flag even if the table does not, except the flag for another core's cache. */
static enum ternary_truth query_evaluate_flag(const struct source_query *q, u8 flag)
{
	const struct spe_origin *origin = query_find_origin(q);

	if (origin && origin->flags & flag)
		return YES;
	if (q->kind == SPE_KIND_LOAD && !q->encoding)
		return MAYBE;
	return flag == SPE_ORIGIN_PEER ? NO : MAYBE;
}

static enum ternary_truth query_evaluate_compare(const struct source_query *q, u8 index)
{
	const struct filter_node *node = &q->filter->nodes[index];
	bool memory = q->kind == SPE_KIND_LOAD || q->kind == SPE_KIND_STORE;
	enum ternary_truth truth;

	switch (q->topic[index]) {
	case TOPIC_SOURCE:
		return truth_from_bool(filter_compare_number(q->source, node->op, node->number));
	case TOPIC_OP:
		return truth_from_bool((q->kind == node->number) == (node->op == FILTER_EQ));
	case TOPIC_LEVEL:
		truth = query_evaluate_level(q, node->number);
		break;
	case TOPIC_FLAG:
		truth = query_evaluate_flag(q, node->parameter);
		if (!node->number)
			truth = truth_negate(truth);
		break;
	default:
		return MAYBE;
	}
	/*
	 * Only loads and stores have a level and flags; a comparison with a missing field is false.
	 */
	if (!memory)
		return NO;
	return node->op == FILTER_EQ ? truth : truth_negate(truth);
}

/* The parser limits the depth to FILTER_DEPTH. NOLINTNEXTLINE(misc-no-recursion) */
static enum ternary_truth query_evaluate(const struct source_query *q, u8 index)
{
	const struct filter_node *node = &q->filter->nodes[index];
	enum ternary_truth left, right;

	if (index == q->unknown_node)
		return MAYBE;
	if (node->type == FILTER_COMPARE)
		return query_evaluate_compare(q, index);
	left = query_evaluate(q, node->left);
	if (node->type == FILTER_NOT)
		return truth_negate(left);
	if (left == (node->type == FILTER_AND ? NO : YES))
		return left;
	right = query_evaluate(q, node->right);
	if (node->type == FILTER_AND)
		return left < right ? left : right;
	return left > right ? left : right;
}

static bool cores_are_known(const struct filter_cores *cores)
{
	return cores && cores->count && !cores->unknown;
}

static bool query_may_match(struct source_query *q, const struct filter_cores *cores, u8 root)
{
	for (q->kind = SPE_KIND_LOAD; q->kind < SPE_KIND_NONE; q->kind++) {
		q->encoding = NULL;
		if (!cores_are_known(cores) && query_evaluate(q, root) != NO)
			return true;
		for (u32 i = 0; cores_are_known(cores) && i < cores->count; i++) {
			q->encoding = cores->encodings[i];
			if (query_evaluate(q, root) != NO)
				return true;
		}
	}
	return false;
}

static void marks_set(u8 *marks, u32 begin)
{
	for (u32 value = begin; value <= begin + 64 && value < SOURCE_VALUES; value++)
		marks[value] = 1;
}

/*
 * Mark the values that have to be tried. Values with equal bits 5:0 that no comparison
 * distinguishes give the same result, so one of these values suffices. Always mark the values below
 * 64. Mark more values if the cores are unknown, or if the expression compares the source with 64
 * or more: 64 and each compared number, each with the 64 values that follow.
 */
static void query_mark_values(const struct source_query *q, const struct filter_cores *cores,
			      u8 *marks)
{
	bool wide = !cores_are_known(cores);

	for (u32 i = 0; i < q->filter->count; i++)
		wide |= q->topic[i] == TOPIC_SOURCE &&
			q->filter->nodes[i].number >= TABLE_SOURCE_VALUES;
	memset(marks, 1, TABLE_SOURCE_VALUES);
	if (!wide)
		return;
	marks_set(marks, TABLE_SOURCE_VALUES);
	for (u32 i = 0; i < q->filter->count; i++)
		if (q->topic[i] == TOPIC_SOURCE && q->filter->nodes[i].number < SOURCE_VALUES)
			marks_set(marks, (u32)q->filter->nodes[i].number);
}

/* Returns the values of bits 5:0 for which the node at @root is definitely false, as a bit mask. */
static u64 query_find_rejected(struct source_query *q, const struct filter_cores *cores, u8 root)
{
	u8 *marks = calloc(SOURCE_VALUES, 1);
	u64 accepted = 0;

	/* If memory cannot be allocated, reject nothing, which is always correct. */
	if (!marks)
		return 0;
	query_mark_values(q, cores, marks);
	for (q->source = 0; q->source < SOURCE_VALUES && ~accepted; q->source++)
		if (marks[q->source] && !(accepted >> (q->source & 63) & 1) &&
		    query_may_match(q, cores, root))
			accepted |= SPE_BIT(q->source & 63);
	free(marks);
	return ~accepted;
}

/* Return true if the node depends on the source. NOLINTNEXTLINE(misc-no-recursion) */
static bool query_uses_source(const struct source_query *q, u8 index)
{
	const struct filter_node *node = &q->filter->nodes[index];

	if (node->type == FILTER_COMPARE)
		return q->topic[index] > TOPIC_OP;
	return query_uses_source(q, node->left) ||
	       (node->type != FILTER_NOT && query_uses_source(q, node->right));
}

static struct source_query query_make(const struct filter *filter)
{
	struct source_query q = { .filter = filter, .unknown_node = FILTER_NODES };

	for (u32 i = 0; i < filter->count; i++)
		q.topic[i] = node_get_topic(&filter->nodes[i]);
	return q;
}

u64 filter_find_rejected_sources(const struct filter *filter, const struct filter_cores *cores)
{
	struct source_query q = query_make(filter);

	return query_uses_source(&q, filter->root) ? query_find_rejected(&q, cores, filter->root) :
						     0;
}

bool filter_node_rejects_sources(const struct filter *filter, const struct filter_cores *cores,
				 u8 index)
{
	struct source_query q = query_make(filter);
	u64 all;

	if (!query_uses_source(&q, index))
		return false;
	if (query_find_rejected(&q, cores, index))
		return true;
	/*
	 * The node may reject sources only in combination with others, such as a level together
	 * with "op == load". Then the result for the root changes if the node is unknown.
	 */
	all = query_find_rejected(&q, cores, filter->root);
	q.unknown_node = index;
	return query_find_rejected(&q, cores, filter->root) != all;
}

void filter_cores_add(struct filter_cores *cores, const struct source_cpu *cpu)
{
	const struct spe_data_sources *encoding = spe_data_sources_find(cpu->midr);

	cores->events = cores->any ? cores->events & cpu->filter_events : cpu->filter_events;
	cores->any = true;
	if (!encoding || encoding->count > TABLE_SOURCE_VALUES) {
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
