// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of fields, and functions that get their values from a sample. */
#include "filter-internal.h"
#include "codec/payload.h"

static bool get_op(const struct filter_subject *s, u8 parameter, u64 *ret)
{
	(void)parameter;
	*ret = spe_sample_kind(s->sample);
	return *ret != SPE_KIND_NONE;
}

static const char *get_op_name(u8 i)
{
	static const char *const names[SPE_KINDS] = {
		[SPE_KIND_LOAD] = "load",
		[SPE_KIND_STORE] = "store",
		[SPE_KIND_BRANCH] = "branch",
		[SPE_KIND_OTHER] = "other",
	};

	return names[i];
}

static bool get_op_flag(const struct filter_subject *s, u8 bit, u64 *ret)
{
	if (!spe_sample_has(s->sample, SPE_HAS_OP))
		return false;
	*ret = spe_op_decode(s->sample->op_class, s->sample->op_subclass).flags >> bit & 1;
	return true;
}

static bool get_simd(const struct filter_subject *s, u8 parameter, u64 *ret)
{
	(void)parameter;
	*ret = spe_sample_is_simd(s->sample);
	return spe_sample_has(s->sample, SPE_HAS_OP);
}

static bool get_counter(const struct filter_subject *s, u8 index, u64 *ret)
{
	*ret = s->sample->counter[index];
	return spe_sample_has(s->sample, SPE_HAS_COUNTER(index));
}

static bool get_event(const struct filter_subject *s, u8 bit, u64 *ret)
{
	*ret = s->sample->events >> bit & 1;
	return spe_sample_has(s->sample, SPE_HAS_EVENTS) && bit < s->sample->events_size * 8U;
}

static bool subject_is_memory(const struct filter_subject *s)
{
	return spe_sample_has(s->sample, SPE_HAS_OP) && s->sample->op_class == SPE_OP_LOAD_STORE;
}

static bool get_level(const struct filter_subject *s, u8 parameter, u64 *ret)
{
	(void)parameter;
	*ret = s->origin.level;
	return subject_is_memory(s);
}

bool filter_level_equals(u64 level, u64 wanted)
{
	return level == wanted || (wanted == SPE_LEVEL_DRAM && spe_level_is_dram(level));
}

static const char *get_level_name(u8 i)
{
	return spe_level_name((enum spe_level)i);
}

static bool get_origin(const struct filter_subject *s, u8 flag, u64 *ret)
{
	*ret = !!(s->origin.flags & flag);
	return subject_is_memory(s);
}

static bool get_source(const struct filter_subject *s, u8 parameter, u64 *ret)
{
	(void)parameter;
	*ret = s->sample->source;
	return spe_sample_has(s->sample, SPE_HAS_SOURCE);
}

/* Returns a code address in canonical form, a data address without its tag (D18.2.1). */
static bool get_address(const struct filter_subject *s, u8 index, u64 *ret)
{
	u64 payload = s->sample->address[index];

	*ret = index == SPE_ADDRESS_PA ? payload & SPE_ADDRESS_BITS : spe_address_va(payload);
	return spe_sample_has(s->sample, SPE_HAS_ADDRESS(index));
}

static bool get_el(const struct filter_subject *s, u8 parameter, u64 *ret)
{
	(void)parameter;
	*ret = spe_address_el(s->sample->address[SPE_ADDRESS_PC]);
	return spe_sample_has(s->sample, SPE_HAS_ADDRESS(SPE_ADDRESS_PC));
}

static bool get_cpu(const struct filter_subject *s, u8 parameter, u64 *ret)
{
	(void)parameter;
	*ret = s->cpu;
	return true;
}

static bool get_pid(const struct filter_subject *s, u8 parameter, u64 *ret)
{
	(void)parameter;
	*ret = s->process && s->process->pid >= 0 ? (u64)s->process->pid : 0;
	return s->process && s->process->pid >= 0;
}

static const char *get_process(const struct filter_subject *s)
{
	return s->process ? s->process->comm : NULL;
}

static const char *get_container(const struct filter_subject *s)
{
	return s->container ? s->container->name : NULL;
}

static const char *get_runtime(const struct filter_subject *s)
{
	return s->container ? s->container->runtime : NULL;
}

static const char *get_cgroup(const struct filter_subject *s)
{
	return s->container ? s->container->cgroup : NULL;
}

#define NUMBER_FIELD(n, get, p)                                                       \
	{                                                                             \
		.name = (n), .type = FILTER_NUMBER, .number = (get), .parameter = (p) \
	}
#define ADDRESS_FIELD(n, i)                                                                  \
	{                                                                                    \
		.name = (n), .type = FILTER_NUMBER, .number = get_address, .parameter = (i), \
		.address = true                                                              \
	}
#define FLAG_FIELD(n, get, p)                                                        \
	{                                                                            \
		.name = (n), .type = FILTER_FLAG, .number = (get), .parameter = (p), \
		.sample_class = true                                                 \
	}
#define STRING_FIELD(n, get)                                                      \
	{                                                                         \
		.name = (n), .type = FILTER_STRING, .string = (get), .task = true \
	}

static const struct filter_field fields[] = {
	{ .name = "op",
	  .type = FILTER_NAME,
	  .number = get_op,
	  .value_name = get_op_name,
	  .values = SPE_KINDS,
	  .sample_class = true },
	{ .name = "level",
	  .type = FILTER_NAME,
	  .number = get_level,
	  .value_name = get_level_name,
	  .equals = filter_level_equals,
	  .values = SPE_LEVELS,
	  .sample_class = true },
	NUMBER_FIELD("latency.total", get_counter, SPE_COUNTER_TOTAL),
	NUMBER_FIELD("latency.issue", get_counter, SPE_COUNTER_ISSUE),
	NUMBER_FIELD("latency.translation", get_counter, SPE_COUNTER_TRANSLATION),
	{ .name = "source", .type = FILTER_NUMBER, .number = get_source, .sample_class = true },
	ADDRESS_FIELD("pc", SPE_ADDRESS_PC),
	ADDRESS_FIELD("target", SPE_ADDRESS_TARGET),
	ADDRESS_FIELD("address", SPE_ADDRESS_VA),
	ADDRESS_FIELD("address.physical", SPE_ADDRESS_PA),
	NUMBER_FIELD("el", get_el, 0),
	NUMBER_FIELD("cpu", get_cpu, 0),
	{ .name = "pid", .type = FILTER_NUMBER, .number = get_pid, .task = true },
	FLAG_FIELD("remote", get_origin, SPE_ORIGIN_REMOTE),
	FLAG_FIELD("snooped", get_origin, SPE_ORIGIN_SNOOPED),
	FLAG_FIELD("peer", get_origin, SPE_ORIGIN_PEER),
	FLAG_FIELD("modified", get_origin, SPE_ORIGIN_MODIFIED),
	FLAG_FIELD("simd", get_simd, 0),
	FLAG_FIELD("conditional", get_op_flag, 2),
	FLAG_FIELD("fp", get_op_flag, 3),
	FLAG_FIELD("predicated", get_op_flag, 5),
	FLAG_FIELD("scattered", get_op_flag, 6),
	FLAG_FIELD("atomic", get_op_flag, 7),
	FLAG_FIELD("exclusive", get_op_flag, 8),
	FLAG_FIELD("ordered", get_op_flag, 9),
	FLAG_FIELD("indirect", get_op_flag, 11),
	FLAG_FIELD("call", get_op_flag, 13),
	FLAG_FIELD("return", get_op_flag, 14),
	STRING_FIELD("process", get_process),
	STRING_FIELD("container", get_container),
	STRING_FIELD("runtime", get_runtime),
	{ .name = "cgroup",
	  .type = FILTER_STRING,
	  .string = get_cgroup,
	  .cgroup = true,
	  .task = true },
};

/* The field of all events, by name ("mispredicted", "event.mispredicted") or number ("event.7"). */
static const struct filter_field event = FLAG_FIELD(NULL, get_event, 0);

static_assert(SPE_OP_IS_CONDITIONAL == SPE_BIT(2) && SPE_OP_IS_RETURN == SPE_BIT(14),
	      "the table passes these bits to get_op_flag()");

static bool name_equals(const char *name, const char *text, size_t len)
{
	return !strncmp(name, text, len) && !name[len];
}

/* The form "event.12" also finds events without a name, which are IMPLEMENTATION DEFINED. */
static const struct filter_field *event_find(const char *name, size_t len, u8 *ret_bit)
{
	static const char prefix[] = "event.";
	size_t skip =
		len > strlen(prefix) && !strncmp(name, prefix, strlen(prefix)) ? strlen(prefix) : 0;
	u32 bit = 0;

	for (u8 i = 0; i < 64; i++) {
		if (spe_event_name(i) && name_equals(spe_event_name(i), name + skip, len - skip)) {
			*ret_bit = i;
			return &event;
		}
	}
	if (!skip || len - skip > 2)
		return NULL;
	for (size_t i = skip; i < len; i++) {
		if (name[i] < '0' || name[i] > '9')
			return NULL;
		bit = bit * 10 + (u32)(name[i] - '0');
	}
	*ret_bit = (u8)bit;
	return bit < 64 ? &event : NULL;
}

const struct filter_field *filter_field_find(const char *name, size_t len, u8 *ret_parameter)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (name_equals(fields[i].name, name, len)) {
			*ret_parameter = fields[i].parameter;
			return &fields[i];
		}
	}
	return event_find(name, len, ret_parameter);
}
