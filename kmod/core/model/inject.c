// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fault injection: rules, their text, and what they do to a sample.
 */
#include "inject.h"

#include "spu-internal.h"

#define MILLION 1000000U

/* Compute spe_fault_make() as a constant, because static tables need constant initializers. */
#define FAULT(ec, mss) ((u32)(ec) << 26 | (u32)(mss) | 1U << 25)

struct fault_kind {
	const char *name;
	u32 fault;
};

static const struct fault_kind kinds[] = {
	{ "translation", FAULT(SPE_PMBSR_EC_STAGE1, SPE_FSC_TRANSLATION | 3) },
	{ "access-flag", FAULT(SPE_PMBSR_EC_STAGE1, SPE_FSC_ACCESS_FLAG | 3) },
	{ "permission", FAULT(SPE_PMBSR_EC_STAGE1, SPE_FSC_PERMISSION | 3) },
	{ "alignment", FAULT(SPE_PMBSR_EC_STAGE1, SPE_FSC_ALIGNMENT) },
	{ "stage2", FAULT(SPE_PMBSR_EC_STAGE2, SPE_FSC_TRANSLATION | 3) },
	{ "granule-protection", FAULT(SPE_PMBSR_EC_GPC, 0) },
	{ "abort-sync", FAULT(SPE_PMBSR_EC_STAGE1, SPE_FSC_EXTERNAL_SYNC) },
	{ "abort-async", FAULT(SPE_PMBSR_EC_STAGE1, SPE_FSC_EXTERNAL_ASYNC) },
	{ "not-allowed", FAULT(SPE_PMBSR_EC_BUFFER, SPE_PMBSR_BSC_NOT_ALLOWED) },
	{ "impdef", FAULT(SPE_PMBSR_EC_IMPDEF, 0) },
	{ "fill", FAULT(SPE_PMBSR_EC_BUFFER, SPE_PMBSR_BSC_FULL) },
	{ "collide", SPE_INJECT_COLLIDE },
	{ "off", 0 },
};

#define WANT_KIND                                                                       \
	"translation, access-flag, permission, alignment, stage2, granule-protection, " \
	"abort-sync, abort-async, not-allowed, impdef, fill, collide, EC:MSS or off"
#define WANT_SHARE "\"next\" or a share such as 5% or 0.01%, above 0 and up to 100%"

const char *spe_inject_fault_name(u32 fault)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].fault == fault)
			return kinds[i].name;
	return NULL;
}
SPE_EXPORT(spe_inject_fault_name);

/* ---- Text --------------------------------------------------------------------- */

struct rule_text_word {
	const char *at;
	size_t len;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/*
 * Read the word at *@pos, and set *@pos to the end of the word. At the end of the text the word is
 * empty.
 */
static struct rule_text_word word_read_next(const char *text, size_t len, size_t *pos)
{
	size_t start;

	while (*pos < len && is_blank(text[*pos]))
		++*pos;
	start = *pos;
	while (*pos < len && !is_blank(text[*pos]))
		++*pos;
	return (struct rule_text_word){ text + start, *pos - start };
}

static bool word_equals(struct rule_text_word word, const char *name)
{
	size_t i;

	for (i = 0; i < word.len; i++)
		if (!name[i] || name[i] != word.at[i])
			return false;
	return !name[i];
}

static int get_digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* Parse @word as a number, decimal or 0x..., of at most @max. */
static bool word_parse_number(struct rule_text_word word, u32 max, u32 *ret_number)
{
	int base = word.len > 2 && word.at[0] == '0' && (word.at[1] | 0x20) == 'x' ? 16 : 10;
	u64 number = 0;

	if (!word.len)
		return false;
	for (size_t i = base == 16 ? 2 : 0; i < word.len; i++) {
		int digit = get_digit_value(word.at[i]);

		if (digit >= base)
			return false;
		number = number * (u64)base + (u64)digit;
		if (number > max)
			return false;
	}
	*ret_number = (u32)number;
	return true;
}

static bool parse_fault_kind(struct rule_text_word word, u32 *ret_fault)
{
	struct rule_text_word ec = { word.at, 0 }, mss;
	u32 ec_value, mss_value;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!word_equals(word, kinds[i].name))
			continue;
		*ret_fault = kinds[i].fault;
		return true;
	}
	while (ec.len < word.len && word.at[ec.len] != ':')
		ec.len++;
	if (ec.len == word.len)
		return false;
	mss = (struct rule_text_word){ word.at + ec.len + 1, word.len - ec.len - 1 };
	if (!word_parse_number(ec, 0x3f, &ec_value) || !word_parse_number(mss, 0xffff, &mss_value))
		return false;
	*ret_fault = spe_fault_make(ec_value, mss_value);
	return true;
}

/*
 * Convert a probability such as "5%" or "0.0001%", with at most four decimals, to parts per
 * million.
 */
static bool parse_probability(struct rule_text_word word, u32 *ret_ppm)
{
	u32 ppm = 0, scale = MILLION / 100;
	bool point = false, digits = false;

	if (word.at[word.len - 1] != '%')
		return false;
	for (size_t i = 0; i < word.len - 1; i++) {
		char c = word.at[i];

		if (c == '.' && !point) {
			point = true;
			continue;
		}
		if (c < '0' || c > '9')
			return false;
		digits = true;
		if (point) {
			scale /= 10;
			ppm += (u32)(c - '0') * scale;
			if (!scale)
				return false;
		} else {
			ppm = ppm * 10 + (u32)(c - '0') * scale;
		}
		if (ppm > MILLION)
			return false;
	}
	*ret_ppm = ppm;
	return digits && ppm;
}

static int set_parse_error(const char *text, struct rule_text_word word, const char *want,
			   struct spe_inject_error *ret_error)
{
	if (ret_error)
		*ret_error =
			(struct spe_inject_error){ (size_t)(word.at - text) + 1, word.len, want };
	return -EINVAL;
}

int spe_inject_parse_rule(const char *text, size_t len, struct spe_inject_rule *ret_rule,
			  struct spe_inject_error *ret_error)
{
	struct spe_inject_rule rule = { 0 };
	struct rule_text_word word;
	size_t pos = 0;

	word = word_read_next(text, len, &pos);
	if (!parse_fault_kind(word, &rule.fault))
		return set_parse_error(text, word, WANT_KIND, ret_error);
	word = word_read_next(text, len, &pos);
	if (rule.fault && word.len && !word_equals(word, "next")) {
		if (!parse_probability(word, &rule.ppm))
			return set_parse_error(text, word, WANT_SHARE, ret_error);
	}
	if (rule.fault)
		word = word_read_next(text, len, &pos);
	if (word.len)
		return set_parse_error(text, word, "the end of the line", ret_error);
	*ret_rule = rule;
	return 0;
}
SPE_EXPORT(spe_inject_parse_rule);

/* ---- Rules -------------------------------------------------------------------- */

void spe_inject_init(struct spe_injector *inject, u64 seed)
{
	memset(inject, 0, sizeof(*inject));
	inject->random = seed;
}
SPE_EXPORT(spe_inject_init);

static int rule_set_probability(struct spe_injector *inject, const struct spe_inject_rule *rule)
{
	u32 i = 0;

	if (rule->ppm > MILLION)
		return -EINVAL;
	while (i < inject->count && inject->rules[i].fault != rule->fault)
		i++;
	if (i == SPE_INJECT_RULES)
		return -ENOSPC;
	inject->rules[i] = *rule;
	if (i == inject->count)
		inject->count++;
	return 0;
}

static void inject_fault(struct spe_injector *inject, struct spe_spu *spu, u32 fault)
{
	inject->injected++;
	if (fault == SPE_INJECT_COLLIDE)
		inject->collide = true;
	else
		spe_spu_inject_fault(spu, fault);
}

int spe_inject_apply_rule(struct spe_injector *inject, struct spe_spu *spu,
			  const struct spe_inject_rule *rule)
{
	if (rule->ppm)
		return rule_set_probability(inject, rule);
	if (rule->fault) {
		inject_fault(inject, spu, rule->fault);
		return 0;
	}
	inject->count = 0;
	inject->collide = false;
	spe_spu_inject_fault(spu, 0);
	return 0;
}
SPE_EXPORT(spe_inject_apply_rule);

static u64 draw_random(struct spe_injector *inject)
{
	u64 z = inject->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/*
 * Draw a random number for each rule with a probability. Return the fault of the first rule that
 * applies, or 0. A rule for collisions that applies requests a collision instead.
 */
static u32 rules_draw_fault(struct spe_injector *inject)
{
	u32 fault = 0;

	for (u32 i = 0; i < inject->count; i++) {
		const struct spe_inject_rule *rule = &inject->rules[i];

		if ((u32)((draw_random(inject) >> 32) * MILLION >> 32) >= rule->ppm)
			continue;
		if (rule->fault == SPE_INJECT_COLLIDE)
			inject_fault(inject, NULL, SPE_INJECT_COLLIDE);
		else if (!fault)
			fault = rule->fault;
	}
	return fault;
}

/*
 * Cause a collision: select further operations before the sampled operation finishes, until one
 * more operation is selected than may be in flight. Return the number of operations that were
 * selected.
 */
static u32 inject_collision(struct spe_spu *spu)
{
	u64 before = spu->stats.collisions;
	u32 others = 0;

	while (spu->stats.collisions == before) {
		u64 until = spe_spu_operations_until_sample(spu);

		if (!until)
			break;
		others += spe_spu_count_operations(spu, until);
	}
	return others;
}

void spe_inject_and_sample(struct spe_injector *inject, struct spe_spu *spu,
			   const struct spe_operation *operation)
{
	u32 fault = spu->inject ? 0 : rules_draw_fault(inject), others = 0;

	if (inject->collide) {
		others = inject_collision(spu);
		inject->collide = false;
	}
	if (fault)
		inject_fault(inject, spu, fault);
	spe_spu_sample_operation(spu, operation);
	/*
	 * Probabilities refer to writes. If the record was filtered out, do not use its fault for
	 * the next record.
	 */
	if (fault && spu->inject)
		spe_spu_inject_fault(spu, 0);
	for (; others; others--)
		spe_spu_sample_operation(spu, operation);
}
SPE_EXPORT(spe_inject_and_sample);
