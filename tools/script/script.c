// SPDX-License-Identifier: LGPL-2.1-or-later
#include "script.h"

#include <stdarg.h>

#include "codec/payload.h"

#define PAGE_BYTES 4096

struct script_word {
	const char *at;
	size_t len;
};

/* The position in a line that is being parsed */
struct line_cursor {
	const char *line;
	size_t len;
	size_t pos;
	struct script_error *error;
};

enum value_type {
	VALUE_NUMBER, /* a number from 0 to @max; K, M and G multiply by powers of 1024 */
	VALUE_NAME, /* one of @names; stored as its index */
	VALUE_BITS, /* names separated by commas, each the bit of its index; or a number */
	VALUE_EVENTS, /* like VALUE_BITS, with the names of payload.h */
	VALUE_CHOICES, /* like VALUE_BITS, with the names of impdef.h */
};

/* A key: the field of a structure that it sets, and its bit in @keys_given, if any */
struct key_definition {
	const char *name;
	u8 type;
	u8 size;
	u16 offset;
	u32 keys_given;
	u64 max;
	const char *const *names;
	u32 count; /* number of @names */
};

#define NUMBER_KEY(key, of, field, limit)                                              \
	{                                                                              \
		.name = (key), .type = VALUE_NUMBER, .size = sizeof(((of *)0)->field), \
		.offset = offsetof(of, field), .max = (limit)                          \
	}
#define NAME_KEY(key, of, field, list)                                                    \
	{                                                                                 \
		.name = (key), .type = VALUE_NAME, .size = sizeof(((of *)0)->field),      \
		.offset = offsetof(of, field), .names = (list), .count = ARRAY_SIZE(list) \
	}
#define BITS_KEY(key, of, field, list)                                               \
	{                                                                            \
		.name = (key), .type = VALUE_BITS, .size = sizeof(((of *)0)->field), \
		.offset = offsetof(of, field), .max = UINT64_MAX, .names = (list),   \
		.count = ARRAY_SIZE(list)                                            \
	}
#define EVENTS_KEY(key, of, field)                                                     \
	{                                                                              \
		.name = (key), .type = VALUE_EVENTS, .size = sizeof(((of *)0)->field), \
		.offset = offsetof(of, field), .max = UINT64_MAX                       \
	}
#define OPERATION_KEY(key, field, limit, bit)                                    \
	{                                                                        \
		.name = (key), .type = VALUE_NUMBER,                             \
		.size = sizeof(((struct spe_operation *)0)->field),              \
		.offset = offsetof(struct spe_operation, field), .max = (limit), \
		.keys_given = (bit)                                              \
	}

static const char *const feature_names[] = {
	[0] = "fe",  [1] = "ft",  [2] = "fl",	[3] = "archinst", [4] = "lds",	[5] = "ernd",
	[6] = "fne", [7] = "fds", [24] = "pbt", [25] = "crr",	  [26] = "eft", [27] = "fpf",
};

static const char *const layout_names[SPE_SPU_LAYOUTS] = { "slots", "packed" };
static const char *const zero_filter_names[SPE_SPU_ZERO_FILTERS] = { "off", "all" };
static const char *const misaligned_names[SPE_SPU_MISALIGNEDS] = { "fault", "res0" };
static const char *const fault_dl_names[SPE_SPU_FAULT_DLS] = { "unchanged", "clear", "set" };
static const char *const incomplete_names[SPE_SPU_INCOMPLETES] = { "all", "events", "some" };
static const char *const abort_names[SPE_SPU_ABORTS] = { "reported", "ignored", "serror" };
static const char *const not_allowed_names[SPE_SPU_NOT_ALLOWEDS] = { "reported", "full", "silent" };

/* Names of features of the PE, in the order of SPE_PE_*. */
static const char *const pe_names[] = { "sve", "sme", "mte2", "mops", "gcs",
					"nv2", "rme", "ecv",  "the",  "haft" };

/* bit number of SPE_OPERATION_FP; SPE_OPERATION_SIMD is the next bit */
#define FLAG_SHIFT 7
static const char *const flag_names[] = { [FLAG_SHIFT] = "fp", [FLAG_SHIFT + 1] = "simd" };

static const char *const reg_names[SPE_REG_COUNT] = {
	[SPE_REG_PMSCR] = "pmscr",	 [SPE_REG_PMSIRR] = "pmsirr",
	[SPE_REG_PMSFCR] = "pmsfcr",	 [SPE_REG_PMSEVFR] = "pmsevfr",
	[SPE_REG_PMSNEVFR] = "pmsnevfr", [SPE_REG_PMSLATFR] = "pmslatfr",
	[SPE_REG_PMSDSFR] = "pmsdsfr",	 [SPE_REG_PMSICR] = "pmsicr",
};

#define CONFIG struct spe_spu_config
static const struct key_definition spu_keys[] = {
	NUMBER_KEY("pmsver", CONFIG, pmsver, UINT8_MAX),
	NUMBER_KEY("max_size", CONFIG, max_size, UINT8_MAX),
	NUMBER_KEY("align", CONFIG, align, UINT8_MAX),
	NUMBER_KEY("count_size", CONFIG, count_size, UINT8_MAX),
	NUMBER_KEY("events_size", CONFIG, events_size, UINT8_MAX),
	NUMBER_KEY("source_size", CONFIG, source_size, UINT8_MAX),
	NUMBER_KEY("write_granule", CONFIG, write_granule, UINT8_MAX),
	NUMBER_KEY("in_flight", CONFIG, in_flight, UINT8_MAX),
	NAME_KEY("layout", CONFIG, layout, layout_names),
	NAME_KEY("zero_filter", CONFIG, zero_filter, zero_filter_names),
	NAME_KEY("misaligned", CONFIG, misaligned, misaligned_names),
	NAME_KEY("fault_dl", CONFIG, fault_dl, fault_dl_names),
	NAME_KEY("incomplete", CONFIG, incomplete, incomplete_names),
	NAME_KEY("abort", CONFIG, abort, abort_names),
	NAME_KEY("not_allowed", CONFIG, not_allowed, not_allowed_names),
	NUMBER_KEY("fault_lag", CONFIG, fault_lag, UINT8_MAX),
	NUMBER_KEY("altclk", CONFIG, altclk, UINT8_MAX),
	NUMBER_KEY("impdef_address", CONFIG, impdef_address, UINT8_MAX),
	NUMBER_KEY("impdef_counter", CONFIG, impdef_counter, UINT8_MAX),
	NUMBER_KEY("va_tag", CONFIG, va_tag, 1),
	NUMBER_KEY("e2h", CONFIG, e2h, 1),
	NUMBER_KEY("el2", CONFIG, el2, 1),
	NUMBER_KEY("pbt_always", CONFIG, pbt_always, 1),
	BITS_KEY("pe", CONFIG, pe, pe_names),
	{ .name = "choices",
	  .type = VALUE_CHOICES,
	  .size = sizeof(u64),
	  .offset = offsetof(CONFIG, choices),
	  .max = UINT64_MAX },
	EVENTS_KEY("optional_events", CONFIG, optional_events),
	BITS_KEY("features", CONFIG, features, feature_names),
	EVENTS_KEY("sampled_events", CONFIG, sampled_events),
	NUMBER_KEY("seed", CONFIG, seed, UINT64_MAX),
};

/* The fields that a statement "program" sets, and its key "operations" */
struct program_line {
	struct spe_synthetic_config config;
	u64 operations;
};

#define PROGRAM struct program_line
static const struct key_definition program_keys[] = {
	NUMBER_KEY("operations", PROGRAM, operations, SCRIPT_TIMES_MAX),
	NUMBER_KEY("working_set", PROGRAM, config.working_set, UINT64_MAX),
	NUMBER_KEY("mispredicted", PROGRAM, config.mispredicted, UINT8_MAX),
	NUMBER_KEY("pc", PROGRAM, config.pc, UINT64_MAX),
	NUMBER_KEY("va", PROGRAM, config.va, UINT64_MAX),
	NUMBER_KEY("el", PROGRAM, config.el, 2),
	NUMBER_KEY("cpu", PROGRAM, config.cpu, 1),
	NUMBER_KEY("context", PROGRAM, config.context, UINT32_MAX),
	NUMBER_KEY("seed", PROGRAM, config.seed, UINT64_MAX),
};

/* The fields that a statement of an operation sets, and its key "times" */
struct operation_line {
	struct spe_operation operation;
	u64 times;
};

#define OPERATION struct operation_line
static const struct key_definition operation_keys[] = {
	OPERATION_KEY("pc", pc, UINT64_MAX, 0),
	OPERATION_KEY("target", target, UINT64_MAX, SPE_OPERATION_TARGET),
	OPERATION_KEY("prev_target", prev_target, UINT64_MAX, SPE_OPERATION_PREV_TARGET),
	OPERATION_KEY("va", va, UINT64_MAX, SPE_OPERATION_VA),
	OPERATION_KEY("pa", pa, UINT64_MAX, SPE_OPERATION_PA),
	OPERATION_KEY("source", source, UINT16_MAX, SPE_OPERATION_SOURCE),
	OPERATION_KEY("context1", contextidr_el1, UINT32_MAX, SPE_OPERATION_CONTEXT1),
	OPERATION_KEY("context2", contextidr_el2, UINT32_MAX, SPE_OPERATION_CONTEXT2),
	OPERATION_KEY("time", timestamp, UINT64_MAX, 0),
	OPERATION_KEY("total", total, UINT32_MAX, 0),
	OPERATION_KEY("issue", issue, UINT32_MAX, 0),
	OPERATION_KEY("translation", translation, UINT32_MAX, 0),
	OPERATION_KEY("class", op_class, 3, 0),
	OPERATION_KEY("subclass", op_subclass, UINT8_MAX, 0),
	OPERATION_KEY("el", el, 2, 0),
	OPERATION_KEY("ns", ns, 1, 0),
	EVENTS_KEY("events", OPERATION, operation.events),
	BITS_KEY("flags", OPERATION, operation.valid, flag_names),
	NUMBER_KEY("times", OPERATION, times, SCRIPT_TIMES_MAX),
};
static_assert(offsetof(struct operation_line, operation) == 0, "WITH() is of the operation");

static const struct {
	const char *name;
	u8 op_class;
	u8 op_subclass;
} operations[] = {
	{ "load", SPE_OP_LOAD_STORE, 0 },
	{ "store", SPE_OP_LOAD_STORE, SPE_OP_LDST },
	{ "branch", SPE_OP_BRANCH, 0 },
	{ "other", SPE_OP_OTHER, 0 },
};

/* ---- Words -------------------------------------------------------------------- */

__attribute__((__format__(__printf__, 3, 4))) static int
set_error(struct line_cursor *c, struct script_word word, const char *want, ...)
{
	va_list args;

	c->error->column = (size_t)(word.at - c->line) + 1;
	c->error->length = word.len;
	va_start(args, want);
	vsnprintf(c->error->want, sizeof(c->error->want), want, args);
	va_end(args);
	return -EINVAL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Return the next word; an empty one at the end of the line or at a comment. */
static struct script_word next_word(struct line_cursor *c)
{
	size_t start;

	while (c->pos < c->len && is_blank(c->line[c->pos]))
		c->pos++;
	start = c->pos;
	if (c->pos < c->len && c->line[c->pos] == '#')
		return (struct script_word){ c->line + start, 0 };
	while (c->pos < c->len && !is_blank(c->line[c->pos]))
		c->pos++;
	return (struct script_word){ c->line + start, c->pos - start };
}

static bool word_equals(struct script_word word, const char *name)
{
	return name && strlen(name) == word.len && !memcmp(word.at, name, word.len);
}

static unsigned int parse_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (unsigned int)((c | 0x20) - 'a' + 10);
	return UINT_MAX;
}

/* Parse all of @word: a decimal or 0x number, optionally followed by K, M or G, up to @max. */
static bool parse_word_number(struct script_word word, u64 max, u64 *ret_number)
{
	unsigned int base = 10, shift = 0;
	u64 number = 0;

	if (word.len > 2 && word.at[0] == '0' && (word.at[1] | 0x20) == 'x') {
		base = 16;
		word = (struct script_word){ word.at + 2, word.len - 2 };
	} else if (word.len > 1) {
		char unit = word.at[word.len - 1];

		shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
		word.len -= !!shift;
	}
	if (!word.len)
		return false;
	for (size_t i = 0; i < word.len; i++) {
		unsigned int digit = parse_digit(word.at[i]);

		if (digit >= base || number > (max - digit) / base || digit > max)
			return false;
		number = number * base + digit;
	}
	if (number > max >> shift)
		return false;
	*ret_number = number << shift;
	return true;
}

/* ---- Keys --------------------------------------------------------------------- */

/* Join the names of a list to "a, b or c". */
static void names_join(char *text, size_t size, const char *const *names, u32 count)
{
	u32 last = count - 1;
	size_t len = 0;

	text[0] = 0;
	while (last && !names[last])
		last--;
	for (u32 i = 0; i <= last; i++) {
		if (!names[i])
			continue;
		len += (size_t)snprintf(text + len, size - len, "%s%s",
					!len	  ? "" :
					i == last ? " or " :
						    ", ",
					names[i]);
		if (len >= size)
			return;
	}
}

static bool find_name(struct script_word word, const char *const *names, u32 count, u32 *ret_index)
{
	for (u32 i = 0; i < count; i++) {
		if (!word_equals(word, names[i]))
			continue;
		*ret_index = i;
		return true;
	}
	return false;
}

static int parse_name(struct line_cursor *c, const char *const *names, u32 count,
		      struct script_word name, u32 *ret_bit)
{
	char text[SCRIPT_WANT_MAX - 60];

	if (find_name(name, names, count, ret_bit))
		return 0;
	names_join(text, sizeof(text), names, count);
	return set_error(c, name, "a mask, or names separated by commas of %s", text);
}

/* Find the bit that @name represents, 0 to 63. Return -EINVAL if no bit has that name. */
static int parse_bit(struct line_cursor *c, const struct key_definition *key,
		     struct script_word name, u32 *ret_bit)
{
	const char *events[64];
	char text[32];
	int bit = -ENOENT;

	if (key->type == VALUE_BITS)
		return parse_name(c, key->names, key->count, name, ret_bit);
	if (key->type == VALUE_EVENTS) {
		for (size_t i = 0; i < ARRAY_SIZE(events); i++)
			events[i] = spe_event_name((u8)i);
		return parse_name(c, events, ARRAY_SIZE(events), name, ret_bit);
	}
	if (name.len < sizeof(text)) {
		memcpy(text, name.at, name.len);
		text[name.len] = 0;
		bit = spe_impdef_find(text);
	}
	if (bit < 0)
		return set_error(c, name,
				 "a mask, or names of choices separated by commas "
				 "(Documentation/reference/spu-choices.md)");
	*ret_bit = (u32)bit;
	return 0;
}

static int parse_bits(struct line_cursor *c, const struct key_definition *key,
		      struct script_word value, u64 *ret_bits)
{
	struct script_word rest = value, name;
	u64 bits = 0;
	u32 bit = 0;
	int r;

	if (parse_word_number(value, key->size == 4 ? UINT32_MAX : key->max, ret_bits))
		return 0;
	do {
		name = rest;
		name.len = 0;
		while (name.len < rest.len && rest.at[name.len] != ',')
			name.len++;
		r = parse_bit(c, key, name, &bit);
		if (r < 0)
			return r;
		bits |= SPE_BIT(bit);
		if (name.len == rest.len)
			break;
		rest = (struct script_word){ rest.at + name.len + 1, rest.len - name.len - 1 };
	} while (true);
	*ret_bits = bits;
	return 0;
}

static int parse_value(struct line_cursor *c, const struct key_definition *key,
		       struct script_word value, u64 *ret_value)
{
	char names[SCRIPT_WANT_MAX - 60];
	u32 index;

	switch (key->type) {
	case VALUE_NUMBER:
		if (!parse_word_number(value, key->max, ret_value))
			return set_error(c, value, "a number from 0 to %llu",
					 (unsigned long long)key->max);
		return 0;
	case VALUE_NAME:
		if (!find_name(value, key->names, key->count, &index)) {
			names_join(names, sizeof(names), key->names, key->count);
			return set_error(c, value, "%s", names);
		}
		*ret_value = index;
		return 0;
	default:
		return parse_bits(c, key, value, ret_value);
	}
}

static void field_set(void *base, const struct key_definition *key, u64 value)
{
	u8 *field = (u8 *)base + key->offset;
	u8 v8 = (u8)value;
	u16 v16 = (u16)value;
	u32 v32 = (u32)value;

	switch (key->size) {
	case 1:
		memcpy(field, &v8, 1);
		break;
	case 2:
		memcpy(field, &v16, 2);
		break;
	case 4:
		memcpy(field, &v32, 4);
		break;
	default:
		memcpy(field, &value, 8);
		break;
	}
}

static int set_key_error(struct line_cursor *c, struct script_word word,
			 const struct key_definition *keys, size_t count)
{
	const char *names[40] = { 0 };
	char text[SCRIPT_WANT_MAX - 60];

	for (size_t i = 0; i < count && i < ARRAY_SIZE(names); i++)
		names[i] = keys[i].name;
	names_join(text, sizeof(text), names, ARRAY_SIZE(names));
	return set_error(c, word, "KEY=VALUE with a key of %s, each once", text);
}

/* Parse one KEY=VALUE; each key may be given only once. */
static int parse_pair(struct line_cursor *c, struct script_word word,
		      const struct key_definition *keys, size_t count, u64 *given, size_t *ret_key,
		      u64 *ret_value)
{
	struct script_word name = { word.at, 0 };
	struct script_word value;
	size_t i = 0;

	while (name.len < word.len && word.at[name.len] != '=')
		name.len++;
	while (i < count && !word_equals(name, keys[i].name))
		i++;
	if (name.len == word.len || i == count || *given & SPE_BIT(i))
		return set_key_error(c, name.len == word.len ? word : name, keys, count);
	*given |= SPE_BIT(i);
	value = (struct script_word){ word.at + name.len + 1, word.len - name.len - 1 };
	*ret_key = i;
	return parse_value(c, &keys[i], value, ret_value);
}

/*
 * Parse the KEY=VALUE pairs in the rest of the line, and set the fields of the structure at @base.
 * @given: receives a bit for each key, by its index in @keys; @keys_given: receives
 * &key_definition.keys_given of each key.
 */
static int parse_keys(struct line_cursor *c, const struct key_definition *keys, size_t count,
		      void *base, u64 *given, u32 *keys_given)
{
	struct script_word word;
	u64 value = 0;
	size_t i = 0;
	int r;

	while ((word = next_word(c)).len) {
		r = parse_pair(c, word, keys, count, given, &i, &value);
		if (r < 0)
			return r;
		field_set(base, &keys[i], value);
		*keys_given |= keys[i].keys_given;
	}
	return 0;
}

static bool key_was_given(const struct key_definition *keys, size_t count, u64 given,
			  const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (given & SPE_BIT(i) && !strcmp(keys[i].name, name))
			return true;
	return false;
}

#define KEY_WAS_GIVEN(keys, given, name) key_was_given(keys, ARRAY_SIZE(keys), given, name)

/* ---- Statements --------------------------------------------------------------- */

static int set_too_late_error(struct line_cursor *c, struct script_word word)
{
	return set_error(c, word, "before the first statement of another kind");
}

static u32 discard_write(void *ctx, u64 addr, const u8 *data, size_t len)
{
	(void)ctx;
	(void)addr;
	(void)data;
	(void)len;
	return 0;
}

static int parse_spu(struct script_parser *script, struct line_cursor *c, struct script_word word,
		     struct script_step *step)
{
	const struct spe_spu_io io = { .write = discard_write };
	struct spe_spu_config config = script->config;
	const char *reason = NULL;
	struct spe_spu spu;
	u64 given = 0;
	u32 keys_given = 0;
	int r;

	(void)step;
	if (script->begun)
		return set_too_late_error(c, word);
	r = parse_keys(c, spu_keys, ARRAY_SIZE(spu_keys), &config, &given, &keys_given);
	if (r < 0)
		return r;
	word.len = c->pos - (size_t)(word.at - c->line);
	if (!given)
		return set_error(c, word, "\"spu\" followed by KEY=VALUE");
	if (spe_spu_init(&spu, &config, &io, &reason))
		return set_error(c, word, "a possible SPU: %s", reason);
	script->config = config;
	return 0;
}

static int parse_window(struct script_parser *script, struct line_cursor *c,
			struct script_word word, struct script_step *step)
{
	struct script_word value = next_word(c);

	if (script->begun)
		return set_too_late_error(c, word);
	if (!parse_word_number(value, 1 << 20, &step->count) || step->count < PAGE_BYTES ||
	    step->count % PAGE_BYTES)
		return set_error(c, value, "bytes, a multiple of 4K from 4K to 1M");
	return 0;
}

static int parse_reg(struct script_parser *script, struct line_cursor *c, struct script_word word,
		     struct script_step *step)
{
	struct key_definition keys[SPE_REG_COUNT] = { 0 };
	u64 given = 0, value = 0;
	struct script_word pair;
	size_t i = 0;
	int r;

	(void)script;
	for (i = 0; i < SPE_REG_COUNT; i++)
		keys[i] = (struct key_definition){ .name = reg_names[i], .max = UINT64_MAX };
	while ((pair = next_word(c)).len) {
		r = parse_pair(c, pair, keys, SPE_REG_COUNT, &given, &i, &value);
		if (r < 0)
			return r;
		step->regs[i] = value;
		step->regs_given |= 1U << i;
	}
	if (!given)
		return set_error(c, word, "\"reg\" followed by REGISTER=VALUE");
	return 0;
}

static int parse_sample(struct script_parser *script, struct line_cursor *c,
			struct script_word word, struct script_step *step)
{
	struct script_word what = next_word(c);

	(void)script;
	(void)word;
	step->each = word_equals(what, "each");
	if (!step->each && !word_equals(what, "interval"))
		return set_error(c, what, "each or interval");
	return 0;
}

static int parse_inject(struct script_parser *script, struct line_cursor *c,
			struct script_word word, struct script_step *step)
{
	struct spe_inject_error error;
	size_t start = c->pos, end = start;

	(void)script;
	(void)word;
	while (end < c->len && c->line[end] != '#')
		end++;
	c->pos = end;
	if (!spe_inject_parse_rule(c->line + start, end - start, &step->rule, &error))
		return 0;
	return set_error(c,
			 (struct script_word){ c->line + start + error.column - 1, error.length },
			 "%s", error.want);
}

/* Check a program by spe_synthetic_init(), which decides whether it is valid. */
static int program_check(struct line_cursor *c, struct script_word word,
			 const struct program_line *line)
{
	struct spe_synthetic_config config = line->config;
	struct spe_synthetic_program synthetic;
	const char *reason = NULL;
	u8 owner = 0;

	config.line_owner = &owner;
	word.len = c->pos - (size_t)(word.at - c->line);
	if (!line->operations)
		return set_error(c, word, "\"program\" with operations=N, N from 1 to %llu",
				 SCRIPT_TIMES_MAX);
	if (spe_synthetic_init(&synthetic, &config, &reason))
		return set_error(c, word, "a possible program: %s", reason);
	return 0;
}

static int parse_program(struct script_parser *script, struct line_cursor *c,
			 struct script_word word, struct script_step *step)
{
	struct program_line line = {
		.config = { .pc = 0x400000, .va = 0x10000000, .working_set = 1 << 20 }
	};
	const char *names[SPE_PROGRAMS];
	char text[SCRIPT_WANT_MAX - 60];
	struct script_word name = next_word(c);
	u32 program = 0, keys_given = 0;
	u64 given = 0;
	int r;

	(void)script;
	for (u32 i = 0; i < SPE_PROGRAMS; i++)
		names[i] = spe_program_name(i);
	if (!find_name(name, names, SPE_PROGRAMS, &program)) {
		names_join(text, sizeof(text), names, SPE_PROGRAMS);
		return set_error(c, name, "%s", text);
	}
	line.config.program = (u8)program;
	r = parse_keys(c, program_keys, ARRAY_SIZE(program_keys), &line, &given, &keys_given);
	if (!r)
		r = program_check(c, word, &line);
	if (r < 0)
		return r;
	step->program = line.config;
	step->count = line.operations;
	return 0;
}

static int parse_operation(struct script_parser *script, struct line_cursor *c,
			   struct script_word word, struct script_step *step)
{
	struct operation_line line = {
		.operation = { .pc = script->next_pc,
			       .timestamp = script->next_time,
			       .events = SPE_BIT(SPE_EVENT_RETIRED),
			       .total = 1,
			       .ns = true },
		.times = 1,
	};
	struct spe_operation *op = &line.operation;
	u64 given = 0;
	u32 keys_given = 0;
	size_t i = 0;
	int r;

	while (!word_equals(word, operations[i].name))
		i++;
	op->op_class = operations[i].op_class;
	op->op_subclass = operations[i].op_subclass;
	r = parse_keys(c, operation_keys, ARRAY_SIZE(operation_keys), &line, &given, &keys_given);
	if (r < 0)
		return r;
	if (!line.times)
		return set_error(c, word, "times=N from 1 to %llu", SCRIPT_TIMES_MAX);
	op->valid = (op->valid & (SPE_OPERATION_FP | SPE_OPERATION_SIMD)) | keys_given;
	if (op->op_class == SPE_OP_BRANCH && !(keys_given & SPE_OPERATION_TARGET) &&
	    !KEY_WAS_GIVEN(operation_keys, given, "events"))
		op->events |= SPE_BIT(SPE_EVENT_NOT_TAKEN);
	step->operation = *op;
	step->count = line.times;
	script->next_pc = op->pc + 4;
	script->next_time = op->timestamp + op->total * line.times;
	return 0;
}

static const struct statement {
	const char *name;
	enum script_kind kind;
	int (*parse)(struct script_parser *script, struct line_cursor *c, struct script_word word,
		     struct script_step *step);
} statements[] = {
	{ "spu", SCRIPT_SPU, parse_spu },
	{ "window", SCRIPT_WINDOW, parse_window },
	{ "reg", SCRIPT_REG, parse_reg },
	{ "sample", SCRIPT_SAMPLE, parse_sample },
	{ "inject", SCRIPT_INJECT, parse_inject },
	{ "program", SCRIPT_PROGRAM, parse_program },
	{ "load", SCRIPT_OPERATION, parse_operation },
	{ "store", SCRIPT_OPERATION, parse_operation },
	{ "branch", SCRIPT_OPERATION, parse_operation },
	{ "other", SCRIPT_OPERATION, parse_operation },
};

void script_init(struct script_parser *script)
{
	*script = (struct script_parser){ .next_pc = 0x400000 };
	spe_spu_config_default(&script->config);
}

int script_parse_line(struct script_parser *script, const char *line, size_t len,
		      struct script_step *ret_step, struct script_error *ret_error)
{
	struct line_cursor c = { .line = line, .len = len, .error = ret_error };
	struct script_word word = next_word(&c), rest;
	struct script_step step = { .kind = SCRIPT_NOTHING };
	const struct statement *statement = NULL;
	int r;

	for (size_t i = 0; word.len && i < ARRAY_SIZE(statements); i++)
		if (word_equals(word, statements[i].name))
			statement = &statements[i];
	if (word.len && !statement)
		return set_error(&c, word,
				 "spu, window, reg, sample, inject, program, load, "
				 "store, branch or other");
	if (statement) {
		step.kind = statement->kind;
		r = statement->parse(script, &c, word, &step);
		if (r < 0)
			return r;
		rest = next_word(&c);
		if (rest.len)
			return set_error(&c, rest, "the end of the line");
		script->begun |= step.kind != SCRIPT_SPU && step.kind != SCRIPT_WINDOW;
	}
	*ret_step = step;
	return 0;
}

/* ---- Printing ----------------------------------------------------------------- */

static void print_bits(FILE *out, const char *name, u64 bits)
{
	char separator = '=';

	fprintf(out, " %s", name);
	for (u8 i = 0; i < 64; i++) {
		if (!(bits & SPE_BIT(i)))
			continue;
		fprintf(out, "%c%s", separator, spe_event_name(i));
		separator = ',';
	}
}

void script_print_operation(FILE *out, const struct spe_operation *op)
{
	u64 named = 0, flags = op->valid & (SPE_OPERATION_FP | SPE_OPERATION_SIMD);
	const char *name = "other";

	for (u8 i = 0; i < 64; i++)
		named |= spe_event_name(i) ? SPE_BIT(i) : 0;
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (operations[i].op_class == op->op_class &&
		    operations[i].op_subclass ==
			    (op->op_class == SPE_OP_LOAD_STORE ? op->op_subclass & SPE_OP_LDST : 0))
			name = operations[i].name;
	fprintf(out, "%s pc=%#llx", name, (unsigned long long)op->pc);
#define PRINT(bit, text, value)                                                                   \
	((op->valid & (bit)) ? (void)fprintf(out, " " text "=%#llx", (unsigned long long)(value)) : \
			     (void)0)
	PRINT(SPE_OPERATION_TARGET, "target", op->target);
	PRINT(SPE_OPERATION_PREV_TARGET, "prev_target", op->prev_target);
	PRINT(SPE_OPERATION_VA, "va", op->va);
	PRINT(SPE_OPERATION_PA, "pa", op->pa);
	PRINT(SPE_OPERATION_SOURCE, "source", op->source);
	PRINT(SPE_OPERATION_CONTEXT1, "context1", op->contextidr_el1);
	PRINT(SPE_OPERATION_CONTEXT2, "context2", op->contextidr_el2);
#undef PRINT
	fprintf(out,
		" time=%llu total=%u issue=%u translation=%u class=%u subclass=%#x el=%u ns=%u",
		(unsigned long long)op->timestamp, op->total, op->issue, op->translation,
		op->op_class, op->op_subclass, op->el, op->ns);
	if (op->events && !(op->events & ~named))
		print_bits(out, "events", op->events);
	else
		fprintf(out, " events=%#llx", (unsigned long long)op->events);
	if (flags)
		fprintf(out, " flags=%#llx", (unsigned long long)flags);
	fputc('\n', out);
}
