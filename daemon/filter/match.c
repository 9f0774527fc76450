// SPDX-License-Identifier: LGPL-2.1-or-later
/* Evaluates expressions, and derives the SPU's filters from them. */
#include "task-filter.h"

#include "filter-internal.h"
#include "codec/registers.h"

#include <fnmatch.h>

/* The largest value of a 12-bit counter, such as the total latency (D18.2.3). */
#define LATENCY_MAX 4095

bool filter_compare_number(u64 a, enum filter_operator op, u64 b)
{
	switch (op) {
	case FILTER_EQ:
		return a == b;
	case FILTER_NE:
		return a != b;
	case FILTER_LT:
		return a < b;
	case FILTER_LE:
		return a <= b;
	case FILTER_GT:
		return a > b;
	case FILTER_GE:
		return a >= b;
	default:
		return false;
	}
}

static bool compare_string(const char *a, enum filter_operator op, const char *b)
{
	switch (op) {
	case FILTER_EQ:
		return !strcmp(a, b);
	case FILTER_NE:
		return strcmp(a, b) != 0;
	default:
		return !fnmatch(b, a, 0);
	}
}

static bool node_evaluate_compare(const struct filter *filter, const struct filter_node *node,
				  const struct filter_subject *subject)
{
	const char *string;
	u64 number;

	if (node->field->equals)
		return node->field->number(subject, node->parameter, &number) &&
		       node->field->equals(number, node->number) == (node->op == FILTER_EQ);
	if (node->field->type != FILTER_STRING)
		return node->field->number(subject, node->parameter, &number) &&
		       filter_compare_number(number, node->op, node->number);
	string = node->field->string(subject);
	return string && compare_string(string, node->op, filter->strings + node->string);
}

/* The parser limits the depth to FILTER_DEPTH. NOLINTNEXTLINE(misc-no-recursion) */
static bool node_match(const struct filter *filter, u8 index, const struct filter_subject *subject)
{
	const struct filter_node *node = &filter->nodes[index];

	switch (node->type) {
	case FILTER_AND:
		return node_match(filter, node->left, subject) &&
		       node_match(filter, node->right, subject);
	case FILTER_OR:
		return node_match(filter, node->left, subject) ||
		       node_match(filter, node->right, subject);
	case FILTER_NOT:
		return !node_match(filter, node->left, subject);
	default:
		return node_evaluate_compare(filter, node, subject);
	}
}

bool filter_compares_addresses(const struct filter *filter)
{
	for (u8 i = 0; i < filter->count; i++)
		if (filter->nodes[i].type == FILTER_COMPARE && filter->nodes[i].field->address)
			return true;
	return false;
}

bool filter_match(const struct filter *filter, const struct filter_subject *subject)
{
	return node_match(filter, filter->root, subject);
}

static enum filter_verdict verdict_invert(enum filter_verdict verdict)
{
	if (verdict == FILTER_DEPENDS)
		return verdict;
	return verdict == FILTER_REJECTS ? FILTER_ACCEPTS : FILTER_REJECTS;
}

/*
 * Combine the operands of "&&" and "||". @decisive: the verdict that decides the result if one
 * operand has it.
 */
static enum filter_verdict verdict_combine(enum filter_verdict a, enum filter_verdict b,
					   enum filter_verdict decisive)
{
	if (a == decisive || b == decisive)
		return decisive;
	return a == b ? a : FILTER_DEPENDS;
}

/*
 * Evaluate a node if only a part of @subject is known. @is_known: returns whether a comparison
 * needs only the known part.
 */
/* The parser limits the depth to FILTER_DEPTH. NOLINTNEXTLINE(misc-no-recursion) */
static enum filter_verdict node_match_known(const struct filter *filter, u8 index,
					    const struct filter_subject *subject,
					    bool (*is_known)(const struct filter_node *node))
{
	const struct filter_node *node = &filter->nodes[index];
	enum filter_verdict left, right;

	if (node->type == FILTER_COMPARE) {
		if (!is_known(node))
			return FILTER_DEPENDS;
		return node_evaluate_compare(filter, node, subject) ? FILTER_ACCEPTS :
								      FILTER_REJECTS;
	}
	left = node_match_known(filter, node->left, subject, is_known);
	if (node->type == FILTER_NOT)
		return verdict_invert(left);
	right = node_match_known(filter, node->right, subject, is_known);
	return verdict_combine(left, right,
			       node->type == FILTER_AND ? FILTER_REJECTS : FILTER_ACCEPTS);
}

static bool is_of_task(const struct filter_node *node)
{
	return node->field->task;
}

enum filter_verdict filter_match_task(const struct filter *filter,
				      const struct attribute_process *process,
				      const struct attribute_container *container)
{
	const struct filter_subject subject = { .process = process, .container = container };

	return node_match_known(filter, filter->root, &subject, is_of_task);
}

static bool is_of_class(const struct filter_node *node)
{
	bool event = !node->field->name, present = node->number == (node->op == FILTER_EQ);

	return node->field->sample_class && (!event || present);
}

u8 filter_needs(const struct filter *filter)
{
	u8 needs = 0;

	for (u8 i = 0; i < filter->count; i++) {
		const struct filter_node *node = &filter->nodes[i];

		if (node->type != FILTER_COMPARE)
			continue;
		needs |= is_of_task(node) ? FILTER_NEEDS_TASK : 0;
		needs |= is_of_class(node) ? FILTER_NEEDS_CLASS : 0;
	}
	return needs;
}

enum filter_verdict filter_match_class(const struct filter *filter, const struct spe_sample *sample,
				       struct spe_origin origin)
{
	const struct filter_subject subject = { .sample = sample, .origin = origin };

	return node_match_known(filter, filter->root, &subject, is_of_class);
}

/* ---- Filters of the SPU ------------------------------------------------------- */

/* The SPU's filters that can evaluate a node, one bit each. */
enum spu_filter {
	SPU_TYPES = 1,
	SPU_LATENCY = 2,
	SPU_EVENTS = 4,
	SPU_EVENTS_NOT = 8,
	SPU_MASKED = 16,
};

/* The filters that not every SPU has: PMSNEVFR_EL1, and the mask bits of PMSFCR_EL1. */
#define SPU_OPTIONAL ((u32)SPU_EVENTS_NOT | (u32)SPU_MASKED)

/* Returns PMSFCR_EL1's bits for "op == X", and for "||" of such nodes; 0 for every other node. */
static u64 node_get_type_bits(const struct filter *filter, u8 index)
{
	const struct filter_node *node = &filter->nodes[index];
	u64 left, right;

	if (node->type == FILTER_OR) {
		left = node_get_type_bits(filter, node->left);
		right = node_get_type_bits(filter, node->right);
		return left && right ? left | right : 0;
	}
	if (node->type != FILTER_COMPARE || node->op != FILTER_EQ ||
	    strcmp(node->field->name ?: "", "op") != 0)
		return 0;
	/* The filter treats an atomic as both a load and a store (PMSFCR_EL1.{LD, ST}). */
	switch (node->number) {
	case SPE_KIND_LOAD:
		return SPE_PMSFCR_LD;
	case SPE_KIND_STORE:
		return SPE_PMSFCR_ST;
	case SPE_KIND_BRANCH:
		return SPE_PMSFCR_B;
	default:
		return 0;
	}
}

/*
 * Returns bits for &source_config.filter_masked: types that a record must have if the node is true,
 * or must not have. The filter of a type accepts more than the flag of the same name: an Advanced
 * SIMD operation is SIMD for the filter, and a packet does not always show it. So the absence of
 * these flags is not offloaded. "op == other" is not offloaded either, because such records include
 * operations that load.
 */
static u64 node_get_mask_bits(const struct filter_node *node)
{
	static const struct {
		const char *name;
		u64 masked;
	} flags[] = {
		{ "simd", SPE_PMSFCR_SIMD | SPE_PMSFCR_SIMDM },
		{ "fp", SPE_PMSFCR_FP | SPE_PMSFCR_FPM },
		/* Every atomic is also a store (PMSFCR_EL1.ST). */
		{ "atomic", SPE_PMSFCR_ST | SPE_PMSFCR_STM },
	};
	const char *name;

	if (node->type != FILTER_COMPARE)
		return 0;
	name = node->field->name ?: "";
	if (!strcmp(name, "op"))
		return node->op == FILTER_NE && node->number == SPE_KIND_BRANCH ? SPE_PMSFCR_BM : 0;
	if (node->number != (node->op == FILTER_EQ))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (!strcmp(name, flags[i].name))
			return flags[i].masked;
	return 0;
}

/* Returns the minimum total latency that the node requires, cycles; 0 if it requires none. */
static u64 node_get_min_latency(const struct filter_node *node)
{
	if (node->type != FILTER_COMPARE || strcmp(node->field->name ?: "", "latency.total") != 0)
		return 0;
	switch (node->op) {
	case FILTER_GT:
		return node->number < LATENCY_MAX ? node->number + 1 : 0;
	case FILTER_GE:
	case FILTER_EQ:
		return node->number <= LATENCY_MAX ? node->number : 0;
	default:
		return 0;
	}
}

/*
 * Returns the events that all SPUs can filter by. Every SPU has the events in "always". It has an
 * event of "later" if &filter_cores.events contains it. Other events depend on another feature or
 * on the implementation, and are not included, even if a driver accepts them. The register of an
 * SPU without the event has no such bit, and a filter that selects nothing is CONSTRAINED
 * UNPREDICTABLE.
 */
static u64 get_filterable_events(const struct filter_cores *cores)
{
	const u64 always = SPE_BIT(SPE_EVENT_RETIRED) | SPE_BIT(SPE_EVENT_L1D_REFILL) |
			   SPE_BIT(SPE_EVENT_TLB_WALK) | SPE_BIT(SPE_EVENT_MISPREDICTED);
	const u64 later = SPE_BIT(SPE_EVENT_L1D_ACCESS) | SPE_BIT(SPE_EVENT_TLB_ACCESS) |
			  SPE_BIT(SPE_EVENT_NOT_TAKEN) | SPE_BIT(SPE_EVENT_LLC_ACCESS) |
			  SPE_BIT(SPE_EVENT_LLC_MISS) | SPE_BIT(SPE_EVENT_REMOTE_ACCESS) |
			  SPE_BIT(SPE_EVENT_MISALIGNED) | SPE_BIT(SPE_EVENT_L2D_ACCESS) |
			  SPE_BIT(SPE_EVENT_L2D_MISS) | SPE_BIT(SPE_EVENT_CACHE_DATA_MODIFIED) |
			  SPE_BIT(SPE_EVENT_RECENTLY_FETCHED) | SPE_BIT(SPE_EVENT_DATA_SNOOPED);

	return always | (cores && cores->any ? cores->events & later : 0);
}

/*
 * Returns the bit of the event that the node compares, if it is one of @filterable, else 0.
 * @ret_present: true if the node requires the event, false if it requires its absence.
 */
static u64 node_get_event(const struct filter_node *node, u64 filterable, bool *ret_present)
{
	/* Only the field that stands for all events has no name. */
	if (node->type != FILTER_COMPARE || node->field->name)
		return 0;
	*ret_present = node->number == (node->op == FILTER_EQ);
	return SPE_BIT(node->parameter) & filterable;
}

/*
 * Set PMSEVFR_EL1 or PMSNEVFR_EL1 for an event or its negation. A record passes only if all enabled
 * filters accept it (PMSFCR_EL1.FE, PMSFCR_EL1.FnE).
 *
 * "!event" also accepts records without an Events packet, and so does PMSNEVFR_EL1. "!(event ==
 * false)" accepts such records, too, but PMSEVFR_EL1 would reject them, so this form is not
 * offloaded.
 */
static u32 offload_event(const struct filter *filter, const struct filter_cores *cores, u8 index,
			 struct source_config *config)
{
	const struct filter_node *node = &filter->nodes[index];
	bool negated = false, present = false;
	u64 event;

	if (node->type == FILTER_NOT) {
		node = &filter->nodes[node->left];
		negated = true;
	}
	event = node_get_event(node, get_filterable_events(cores), &present);
	if (!event || (negated && !present))
		return 0;
	if (present && !negated) {
		config->filter_events |= event;
		/*
		 * An event in both registers is CONSTRAINED UNPREDICTABLE (PMSFCR_EL1.FnE). An
		 * expression that requires both matches nothing, so one of the registers suffices.
		 */
		config->filter_events_not &= ~event;
		return SPU_EVENTS;
	}
	config->filter_events_not |= event & ~config->filter_events;
	return SPU_EVENTS_NOT;
}

/* The parser limits the depth to FILTER_DEPTH. NOLINTNEXTLINE(misc-no-recursion) */
static u32 offload_node(const struct filter *filter, const struct filter_cores *cores, u8 index,
			struct source_config *config)
{
	const struct filter_node *node = &filter->nodes[index];
	u64 types, latency, masked;
	u32 used = 0;

	if (node->type == FILTER_AND)
		return offload_node(filter, cores, node->left, config) |
		       offload_node(filter, cores, node->right, config);
	types = node_get_type_bits(filter, index);
	latency = node_get_min_latency(node);
	if (types) {
		/*
		 * Both operands of "&&" must be true, so intersect their types. An empty
		 * intersection would disable the filter; use the types of the second operand
		 * instead.
		 */
		config->filter_types = config->filter_types && (config->filter_types & types) ?
					       config->filter_types & types :
					       types;
		used |= SPU_TYPES;
	}
	if (latency > config->filter_latency) {
		config->filter_latency = (u32)latency;
		used |= SPU_LATENCY;
	}
	masked = node_get_mask_bits(node);
	if (masked) {
		config->filter_masked |= masked;
		used |= SPU_MASKED;
	}
	return used | offload_event(filter, cores, index, config);
}

/* Remove blanks at the end, which the parser skips when it looks for an operator. */
static void part_trim(struct filter_part *part)
{
	while (part->len > 1 && strchr(" \t\n", part->text[part->len - 1]))
		part->len--;
}

/* Remove parentheses around the whole operand. */
static void part_strip(struct filter_part *part)
{
	while (part->len > 2 && part->text[0] == '(') {
		part->text++;
		part->len -= 2;
		for (; strchr(" \t\n", part->text[0]); part->text++)
			part->len--;
		part_trim(part);
	}
}

/* The parser limits the depth to FILTER_DEPTH. NOLINTNEXTLINE(misc-no-recursion) */
static u32 node_split(const struct filter *filter, const struct filter_cores *cores, u8 index,
		      struct filter_part *ret_parts, u32 capacity)
{
	const struct filter_node *node = &filter->nodes[index];
	struct source_config config = { 0 };
	u32 used, n;

	if (node->type == FILTER_AND) {
		n = node_split(filter, cores, node->left, ret_parts, capacity);
		return n + node_split(filter, cores, node->right, ret_parts + n, capacity - n);
	}
	if (!capacity)
		return 0;
	used = offload_node(filter, cores, index, &config);
	*ret_parts = (struct filter_part){
		.text = filter->text + node->begin,
		.len = node->end - node->begin,
		.hardware = used & ~SPU_OPTIONAL,
		.inverted = used == SPU_EVENTS_NOT,
		.masked = used == SPU_MASKED,
		.sources = filter_node_rejects_sources(filter, cores, index),
	};
	part_trim(ret_parts);
	if (node->type != FILTER_OR)
		part_strip(ret_parts);
	return 1;
}

u32 filter_split(const struct filter *filter, const struct filter_cores *cores,
		 struct filter_part *ret_parts, u32 capacity)
{
	return node_split(filter, cores, filter->root, ret_parts, capacity);
}

u32 filter_get_min_latency(const struct filter *filter)
{
	struct source_config config = { 0 };

	/* The SPU would filter by this minimum, because every matching record reaches it. */
	(void)filter_offload(filter, NULL, &config);
	return config.filter_latency;
}

const char *filter_offload(const struct filter *filter, const struct filter_cores *cores,
			   struct source_config *config)
{
	static const char *const names[] = {
		[0] = "",
		[SPU_TYPES] = "types",
		[SPU_LATENCY] = "latency",
		[SPU_TYPES | SPU_LATENCY] = "types and latency",
		[SPU_EVENTS] = "events",
		[SPU_TYPES | SPU_EVENTS] = "types and events",
		[SPU_LATENCY | SPU_EVENTS] = "latency and events",
		[SPU_TYPES | SPU_LATENCY | SPU_EVENTS] = "types, latency and events",
	};

	config->filter_sources_not = filter_find_rejected_sources(filter, cores);
	return names[offload_node(filter, cores, filter->root, config) & ~SPU_OPTIONAL];
}
