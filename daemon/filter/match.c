// SPDX-License-Identifier: LGPL-2.1-or-later
/* Evaluation, and what of it the SPU can do. */
#include "filter-internal.h"
#include "codec/registers.h"

#include <fnmatch.h>

/* A total latency above this no counter of 12 bits tells (D18.2.3). */
#define LATENCY_MAX 4095

static bool compare_number(u64 a, enum filter_operator op, u64 b)
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

static bool compare(const struct filter *filter, const struct filter_node *node,
		    const struct filter_subject *subject)
{
	const char *string;
	u64 number;

	if (node->field->type != FILTER_STRING)
		return node->field->number(subject, node->parameter, &number) &&
		       compare_number(number, node->op, node->number);
	string = node->field->string(subject);
	return string && compare_string(string, node->op, filter->strings + node->string);
}

/* As deep as the parser let it become. NOLINTNEXTLINE(misc-no-recursion) */
static bool match(const struct filter *filter, u8 index, const struct filter_subject *subject)
{
	const struct filter_node *node = &filter->nodes[index];

	switch (node->type) {
	case FILTER_AND:
		return match(filter, node->left, subject) && match(filter, node->right, subject);
	case FILTER_OR:
		return match(filter, node->left, subject) || match(filter, node->right, subject);
	case FILTER_NOT:
		return !match(filter, node->left, subject);
	default:
		return compare(filter, node, subject);
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
	return match(filter, filter->root, subject);
}

/* ---- In the SPU -------------------------------------------------------------- */

enum hardware_part { IN_TYPES = 1, IN_LATENCY = 2, IN_EVENTS = 4, IN_EVENTS_NOT = 8 };

/* PMSFCR's bits for "op == X", or such in "||"; 0 if it is something else. */
static u64 types_of(const struct filter *filter, u8 index)
{
	const struct filter_node *node = &filter->nodes[index];
	u64 left, right;

	if (node->type == FILTER_OR) {
		left = types_of(filter, node->left);
		right = types_of(filter, node->right);
		return left && right ? left | right : 0;
	}
	if (node->type != FILTER_COMPARE || node->op != FILTER_EQ ||
	    strcmp(node->field->name ?: "", "op") != 0)
		return 0;
	/* An atomic is a load to the filter and a store too (PMSFCR_EL1.{LD, ST}). */
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

/* The least total latency that it lets through; 0 if it does not bound that. */
static u64 latency_of(const struct filter_node *node)
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

/* The bit of an event that @node asks for, which every SPU filters, to be there or not. */
static u64 event_of(const struct filter_node *node, bool *ret_there)
{
	const u64 all = SPE_BIT(SPE_EVENT_RETIRED) | SPE_BIT(SPE_EVENT_L1D_REFILL) |
			SPE_BIT(SPE_EVENT_TLB_WALK) | SPE_BIT(SPE_EVENT_MISPREDICTED);

	/* The fields of events alone have no name of their own. */
	if (node->type != FILTER_COMPARE || node->field->name)
		return 0;
	*ret_there = node->number == (node->op == FILTER_EQ);
	return SPE_BIT(node->parameter) & all;
}

/*
 * PMSEVFR's or PMSNEVFR's (PMSFCR_EL1.FE and .FnE: all filters that are on must agree). "!" of a
 * record without events holds, and of one that asks for their absence that is more than PMSEVFR
 * lets through; but no sample is without events.
 */
static u32 push_event(const struct filter *filter, u8 index, struct source_config *config)
{
	const struct filter_node *node = &filter->nodes[index];
	bool negated = false, there = false;
	u64 event;

	if (node->type == FILTER_NOT) {
		node = &filter->nodes[node->left];
		negated = true;
	}
	event = event_of(node, &there);
	if (!event || (negated && !there))
		return 0;
	if (there && !negated) {
		config->filter_events |= event;
		/* One in both is CONSTRAINED UNPREDICTABLE (PMSFCR_EL1.FnE); who wants both has nothing anyway. */
		config->filter_events_not &= ~event;
		return IN_EVENTS;
	}
	config->filter_events_not |= event & ~config->filter_events;
	return IN_EVENTS_NOT;
}

static u32 push(const struct filter *filter, u8 index, struct source_config *config)
{
	const struct filter_node *node = &filter->nodes[index];
	u64 types, latency;
	u32 parts = 0;

	if (node->type == FILTER_AND)
		return push(filter, node->left, config) | push(filter, node->right, config);
	types = types_of(filter, index);
	latency = latency_of(node);
	if (types) {
		/* Two of them at once let through what both do; none is no filter. */
		config->filter_types = config->filter_types && (config->filter_types & types) ?
					       config->filter_types & types : types;
		parts |= IN_TYPES;
	}
	if (latency > config->filter_latency) {
		config->filter_latency = (u32)latency;
		parts |= IN_LATENCY;
	}
	return parts | push_event(filter, index, config);
}

/* What reads on to see whether there is an operator ends behind the blanks. */
static void part_trim(struct filter_part *part)
{
	while (part->len > 1 && strchr(" \t\n", part->text[part->len - 1]))
		part->len--;
}

/* Parentheses that change nothing are not shown. */
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

/* As deep as the parser let it become. NOLINTNEXTLINE(misc-no-recursion) */
static u32 parts(const struct filter *filter, const struct filter_cores *cores, u8 index,
		 struct filter_part *to, u32 room)
{
	const struct filter_node *node = &filter->nodes[index];
	struct source_config config = { 0 };
	u32 in, n;

	if (node->type == FILTER_AND) {
		n = parts(filter, cores, node->left, to, room);
		return n + parts(filter, cores, node->right, to + n, room - n);
	}
	in = push(filter, index, &config);
	if (room)
		*to = (struct filter_part){
			.text = filter->text + node->begin,
			.len = node->end - node->begin,
			.hardware = in & ~(u32)IN_EVENTS_NOT,
			.inverted = in == IN_EVENTS_NOT,
			.sources = filter_sources_part(filter, cores, index),
		};
	if (room)
		part_trim(to);
	if (room && node->type != FILTER_OR)
		part_strip(to);
	return room ? 1 : 0;
}

u32 filter_parts(const struct filter *filter, const struct filter_cores *cores,
		 struct filter_part *ret_parts, u32 room)
{
	return parts(filter, cores, filter->root, ret_parts, room);
}

const char *filter_hardware(const struct filter *filter, const struct filter_cores *cores,
			    struct source_config *config)
{
	static const char *const said[] = {
		[0] = "",
		[IN_TYPES] = "types",
		[IN_LATENCY] = "latency",
		[IN_TYPES | IN_LATENCY] = "types and latency",
		[IN_EVENTS] = "events",
		[IN_TYPES | IN_EVENTS] = "types and events",
		[IN_LATENCY | IN_EVENTS] = "latency and events",
		[IN_TYPES | IN_LATENCY | IN_EVENTS] = "types, latency and events",
	};

	config->filter_sources_not = filter_sources_not(filter, cores);
	return said[push(filter, filter->root, config) & ~(u32)IN_EVENTS_NOT];
}
