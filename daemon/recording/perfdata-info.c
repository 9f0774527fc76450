// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads the attributes, features, SPE metadata and clock parameters of a perf.data. */
#include "perfdata.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/escape.h"

#define AUXTRACE_ARM_SPE 4 /* enum auxtrace_type of tools/perf/util/auxtrace.h */

#define ATTR_MIN	   64 /* PERF_ATTR_SIZE_VER0 */
#define ATTR_CONFIG	   8
#define ATTR_SAMPLE_PERIOD 16
#define ATTR_SAMPLE_TYPE   24
#define ATTR_FLAGS	   40
#define ATTR_FLAG_FREQ	   10
#define ATTR_FLAG_ID_ALL   18
#define ATTR_FLAG_CLOCKID  25
#define ATTR_CONFIG_JITTER SPE_BIT(16) /* config bit of arm_spe_pmu for PMSIRR_EL1.RND */

/* SPE metadata of the AUXTRACE_INFO record, in words of 8 bytes (tools/perf/util/arm-spe.h). */
#define INFO_PRIV     16
#define INFO_V1_WORDS 2
#define INFO_V2_WORDS 4
#define CPU_MAGIC     0x1010101010101010ULL
#define CPU_COMMON    3 /* words before the parameters: magic, CPU number, number of parameters */

/*
 * Maximum number of bytes of a feature that are read. The memory of 16 TiB in blocks of 128 MiB
 * needs 16 KiB for each node.
 */
#define FEATURE_SIZE_MAX (64U << 10)

#define FEATURE_BUILD_ID 2
#define FEATURE_HOSTNAME 3
#define FEATURE_RELEASE	 4
#define FEATURE_VERSION	 5
#define FEATURE_ARCH	 6
#define FEATURE_NRCPUS	 7
#define FEATURE_CPUID	 9
#define FEATURE_CMDLINE	 11
#define FEATURE_NUMA	 14
#define FEATURE_CACHE	 20
#define FEATURE_MEMORY	 22

/*
 * Get a bit field of &struct perf_event_attr. Big-endian writers allocate bit fields from the
 * highest bit.
 */
static bool attr_get_flag(const struct perfdata_reader *perf, const u8 *attr, unsigned int bit)
{
	bool big = perf->swap != (__BYTE_ORDER == __BIG_ENDIAN);

	return perfdata_get64(perf, attr + ATTR_FLAGS) >> (big ? 63 - bit : bit) & 1;
}

/*
 * Returns the mean interval (D17.3.4). arm_spe_pmu writes period / 256 to PMSIRR_EL1.INTERVAL.
 */
static u32 attr_get_mean_interval(const struct perfdata_reader *perf, const u8 *attr)
{
	u64 period = perfdata_get64(perf, attr + ATTR_SAMPLE_PERIOD) & ~0xffULL;
	bool jitter = perfdata_get64(perf, attr + ATTR_CONFIG) & ATTR_CONFIG_JITTER;

	if (attr_get_flag(perf, attr, ATTR_FLAG_FREQ) || !period || period > 0xffffff00)
		return 0;
	return (u32)period + (jitter ? 128 : 1);
}

static void parse_attr(struct perfdata_reader *perf, const u8 *attr)
{
	bool trailers = attr_get_flag(perf, attr, ATTR_FLAG_ID_ALL);

	perfdata_add_attr(perf, trailers ? perfdata_get64(perf, attr + ATTR_SAMPLE_TYPE) : 0);
	/*
	 * TIME_CONV records describe perf's default clock, even if the events use another clock
	 * (perf record -k).
	 */
	perf->other_clock |= attr_get_flag(perf, attr, ATTR_FLAG_CLOCKID);
	if (!perf->interval && perfdata_get32(perf, attr) >= PERF_TYPE_MAX)
		perf->interval = attr_get_mean_interval(perf, attr);
}

/* Read the event ids of an attribute: @size bytes at @offset of the file. */
static void read_ids(struct perfdata_reader *perf, u64 offset, u64 size)
{
	u64 at, n = size / 8 < PERFDATA_MAX_EVENTS ? size / 8 : PERFDATA_MAX_EVENTS;
	size_t len;
	const u8 *p;

	for (at = offset; n; at += 8, n--) {
		p = recording_peek(perf->recording, at, 8, &len);
		if (len < 8) {
			recording_set_damage(
				perf->recording, offset,
				"perf.data: the ids of an attribute, %llu bytes, extend beyond "
				"the end of the file",
				(unsigned long long)size);
			return;
		}
		if (!perfdata_add_id(perf, perfdata_get64(perf, p)))
			return;
	}
}

void perfdata_read_attrs(struct perfdata_reader *perf)
{
	struct recording *recording = perf->recording;
	u64 size = perf->attr_size, left = perf->attr_bytes, ids, ids_size;
	size_t len;
	const u8 *attr;

	if (size < ATTR_MIN + 16 || size > RECORDING_PEEK_MAX || left % size) {
		recording_set_damage(
			recording, 16,
			"perf.data header: size of attributes is %llu in a section of %llu "
			"bytes, want a divisor of it from %u on",
			(unsigned long long)size, (unsigned long long)left, ATTR_MIN + 16);
		return;
	}
	if (perf->attr_offset > recording->size || left > recording->size - perf->attr_offset) {
		recording_set_damage(
			recording, 24,
			"perf.data header: attributes at %#llx, %llu bytes, extend beyond "
			"the end of the file, %#llx",
			(unsigned long long)perf->attr_offset, (unsigned long long)left,
			(unsigned long long)recording->size);
		return;
	}
	for (u64 at = perf->attr_offset; left; at += size, left -= size) {
		attr = recording_peek(recording, at, (size_t)size, &len);
		if (len < size)
			return;
		ids = perfdata_get64(perf, attr + size - 16);
		ids_size = perfdata_get64(perf, attr + size - 8);
		parse_attr(perf, attr);
		read_ids(perf, ids, ids_size);
	}
}

void perfdata_parse_attr(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	u32 size;

	if (!perfdata_check_size(perf, record, PERFDATA_HEADER_SIZE + ATTR_MIN, "ATTR"))
		return;
	parse_attr(perf, record->data + PERFDATA_HEADER_SIZE);
	size = perfdata_get32(perf, record->data + PERFDATA_HEADER_SIZE + 4);
	if (size < ATTR_MIN || size > record->size - PERFDATA_HEADER_SIZE) {
		recording_set_damage(perf->recording, record->offset + PERFDATA_HEADER_SIZE + 4,
				     "ATTR record: size of the attribute is %u, want %u to %u",
				     size, ATTR_MIN, record->size - PERFDATA_HEADER_SIZE);
		return;
	}
	for (u32 at = PERFDATA_HEADER_SIZE + size; record->size - at >= 8; at += 8)
		if (!perfdata_add_id(perf, perfdata_get64(perf, record->data + at)))
			break;
}

/*
 * Get a feature that is a string: a 32-bit length, then the string, padded with NULs to 64 bytes.
 */
static bool feature_get_string(const struct perfdata_reader *perf, const u8 *p, size_t len,
			       char *ret_text, size_t text_size)
{
	u32 size;

	if (len < 4)
		return false;
	size = perfdata_get32(perf, p);
	if (size > len - 4 || size >= text_size)
		return false;
	memcpy(ret_text, p + 4, size);
	ret_text[size] = 0;
	return true;
}

/*
 * Parse the feature CPUID. On arm64 it is MIDR_EL1, such as "0x00000000410fd0c0"; elsewhere it has
 * another form.
 */
static void parse_cpuid(struct perfdata_reader *perf, const u8 *p, size_t len)
{
	char text[128 + 1], *end;
	u64 midr;

	if (!feature_get_string(perf, p, len, text, sizeof(text)) || strncmp(text, "0x", 2))
		return;
	midr = strtoull(text, &end, 16);
	if (!*end)
		perf->midr = midr;
}

/*
 * Get the backend from the feature VERSION, in which only speprof record writes it. The backend of
 * a recording of perf is unknown: its SPU may be simulated.
 */
static void parse_backend(struct perfdata_reader *perf, const u8 *p, size_t len)
{
	char text[128 + 1];

	if (!feature_get_string(perf, p, len, text, sizeof(text)) || strncmp(text, "speprof ", 8))
		return;
	perf->backend = strstr(text, " (emulated SPU)") ? BACKEND_EMULATED : BACKEND_HARDWARE;
}

static void fact_set(const struct perfdata_reader *perf, const u8 *p, size_t len, char *to,
		     size_t size)
{
	char text[128 + 1];

	if (feature_get_string(perf, p, len, text, sizeof(text)))
		escape_string(to, size, text);
}

static void parse_version_fact(struct perfdata_reader *perf, const u8 *p, size_t len)
{
	struct recording_facts *facts = &perf->recording->facts;

	parse_backend(perf, p, len);
	fact_set(perf, p, len, facts->version, sizeof(facts->version));
	/* perf writes only the number of its version, so add the name "perf". */
	if (facts->version[0] >= '0' && facts->version[0] <= '9') {
		char number[sizeof(facts->version)];

		memcpy(number, facts->version, sizeof(number));
		snprintf(facts->version, sizeof(facts->version), "perf %.70s", number);
	}
}

static void parse_host(struct perfdata_reader *perf, const u8 *p, size_t len)
{
	struct recording_facts *facts = &perf->recording->facts;

	fact_set(perf, p, len, facts->host, sizeof(facts->host));
}

static void parse_release(struct perfdata_reader *perf, const u8 *p, size_t len)
{
	struct recording_facts *facts = &perf->recording->facts;

	fact_set(perf, p, len, facts->kernel, sizeof(facts->kernel));
}

static void parse_arch(struct perfdata_reader *perf, const u8 *p, size_t len)
{
	struct recording_facts *facts = &perf->recording->facts;

	fact_set(perf, p, len, facts->machine, sizeof(facts->machine));
}

/* Parse two numbers: the available CPUs, and the CPUs that are online. */
static void parse_cpu_count(struct perfdata_reader *perf, const u8 *p, size_t len)
{
	if (len >= 8)
		perf->recording->facts.cpus = perfdata_get32(perf, p + 4);
}

/* Parse the arguments of the command line: their number, then each string with its size. */
static void parse_command(struct perfdata_reader *perf, const u8 *p, size_t len)
{
	struct recording_facts *facts = &perf->recording->facts;
	char line[sizeof(facts->command)] = "", word[256];
	u32 count = len >= 4 ? perfdata_get32(perf, p) : 0, size;
	size_t at = 4, end = 0;

	for (; count && len - at >= 4; count--, at += 4 + size) {
		size = perfdata_get32(perf, p + at);
		if (size > len - at - 4)
			break;
		snprintf(word, sizeof(word), "%.*s", (int)size, (const char *)p + at + 4);
		end += (size_t)snprintf(line + end, sizeof(line) - end, "%s%s", end ? " " : "",
					word);
		if (end >= sizeof(line))
			break;
	}
	escape_string(facts->command, sizeof(facts->command), line);
}

/*
 * Parse the caches: a version, the number of caches, then for each cache its level, line size, sets
 * and ways, and its type, size and CPUs as strings.
 */
static void parse_caches(struct perfdata_reader *perf, const u8 *p, size_t len)
{
	struct recording_facts *facts = &perf->recording->facts;
	u32 count = len >= 8 ? perfdata_get32(perf, p + 4) : 0, line, size;
	size_t at = 8;

	for (; count && len - at >= 16; count--) {
		line = perfdata_get32(perf, p + at + 4);
		facts->line_size = line > facts->line_size ? line : facts->line_size;
		at += 16;
		for (unsigned int i = 0; i < 3; i++, at += 4 + size) {
			if (len - at < 4)
				return;
			size = perfdata_get32(perf, p + at);
			if (size > len - at - 4)
				return;
		}
	}
}

/*
 * Parse the number of NUMA nodes; then for each node its number, two sizes of memory, and the list
 * of its CPUs with its size.
 */
static void parse_numa(struct perfdata_reader *perf, const u8 *p, size_t len)
{
	u32 count = len >= 4 ? perfdata_get32(perf, p) : 0, size;
	char cpus[128 + 1];
	size_t at = 4;

	for (; count && len - at >= 24; count--, at += 24 + size) {
		size = perfdata_get32(perf, p + at + 20);
		if (size > len - at - 24)
			break;
		if (feature_get_string(perf, p + at + 20, len - at - 20, cpus, sizeof(cpus)))
			recording_facts_add_node(&perf->recording->facts,
						 perfdata_get32(perf, p + at), cpus);
	}
}

/* Add the memory of a node: the blocks for which @p has a bit, @words words of 8 bytes. */
static void add_memory_blocks(struct perfdata_reader *perf, u32 node, u64 block, const u8 *p,
			      u64 words)
{
	for (u64 i = 0; i < 64 * words; i++) {
		u64 word = perfdata_get64(perf, p + 8 * (i / 64));

		if (word >> i % 64 & 1 && i < UINT64_MAX / block &&
		    !recording_facts_add_memory(&perf->recording->facts, node, i * block,
						(i + 1) * block))
			return;
	}
}

/*
 * Parse the version of the format, the size of a block of memory, and the number of NUMA nodes; then
 * for each node its number, twice its number of bits, and a bit for each block. All have 8 bytes.
 */
static void parse_memory(struct perfdata_reader *perf, const u8 *p, size_t len)
{
	u64 block = len >= 24 ? perfdata_get64(perf, p + 8) : 0, words;
	size_t at = 24;

	if (!block || perfdata_get64(perf, p) != 1)
		return;
	for (u64 count = perfdata_get64(perf, p + 16); count && len - at >= 24; count--) {
		words = perfdata_get64(perf, p + at + 16);
		words = words / 64 + !!(words % 64);
		if (words > (len - at - 24) / 8)
			break;
		if (perfdata_get64(perf, p + at) < NODES_MAX)
			add_memory_blocks(perf, (u32)perfdata_get64(perf, p + at), block,
					  p + at + 24, words);
		at += 24 + 8 * (size_t)words;
	}
}

/*
 * The features with the facts about the creation of a recording, and the feature with the type of
 * its cores.
 */
static const struct {
	unsigned int feature;
	const char *name;
	void (*parse)(struct perfdata_reader *perf, const u8 *p, size_t len);
} text_features[] = {
	{ FEATURE_HOSTNAME, "HOSTNAME", parse_host },
	{ FEATURE_RELEASE, "OSRELEASE", parse_release },
	{ FEATURE_VERSION, "VERSION", parse_version_fact },
	{ FEATURE_ARCH, "ARCH", parse_arch },
	{ FEATURE_NRCPUS, "NRCPUS", parse_cpu_count },
	{ FEATURE_CPUID, "CPUID", parse_cpuid },
	{ FEATURE_CMDLINE, "CMDLINE", parse_command },
	{ FEATURE_NUMA, "NUMA_TOPOLOGY", parse_numa },
	{ FEATURE_CACHE, "CACHE", parse_caches },
	{ FEATURE_MEMORY, "MEM_TOPOLOGY", parse_memory },
};

void perfdata_parse_feature(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	u64 feature;

	if (!perfdata_check_size(perf, record, 16, "FEATURE"))
		return;
	feature = perfdata_get64(perf, record->data + 8);
	for (size_t i = 0; i < ARRAY_SIZE(text_features); i++)
		if (text_features[i].feature == feature)
			text_features[i].parse(perf, record->data + 16, record->size - 16);
}

/*
 * Find a feature. The table has an offset and a size for each set bit of feature_bits, in ascending
 * order.
 */
static bool find_feature(struct perfdata_reader *perf, unsigned int feature, const char *name,
			 u64 *ret_offset, u64 *ret_size)
{
	struct recording *recording = perf->recording;
	u64 low = perf->feature_bits[0] & (SPE_BIT(feature) - 1);
	u64 entry, offset, size;
	size_t len;
	const u8 *p;

	if (!(perf->feature_bits[0] & SPE_BIT(feature)))
		return false;
	entry = perf->features + 16 * (u64)__builtin_popcountll(low);
	p = recording_peek(recording, entry, 16, &len);
	if (len < 16) {
		recording_set_damage(
			recording, entry,
			"perf.data: the table of features is truncated by the end of the file");
		return false;
	}
	offset = perfdata_get64(perf, p);
	size = perfdata_get64(perf, p + 8);
	if (offset > recording->size || size > recording->size - offset) {
		recording_set_damage(recording, entry,
				     "perf.data: feature %s at %#llx, %llu bytes, extends beyond "
				     "the end of the file, %#llx",
				     name, (unsigned long long)offset, (unsigned long long)size,
				     (unsigned long long)recording->size);
		return false;
	}
	*ret_offset = offset;
	*ret_size = size;
	return true;
}

static void read_feature(struct perfdata_reader *perf, unsigned int feature, const char *name,
			 void (*parse)(struct perfdata_reader *perf, const u8 *p, size_t len))
{
	u64 offset, size;
	size_t len;
	const u8 *p;

	if (!find_feature(perf, feature, name, &offset, &size))
		return;
	p = recording_peek(perf->recording, offset,
			   size < FEATURE_SIZE_MAX ? (size_t)size : FEATURE_SIZE_MAX, &len);
	parse(perf, p, len);
}

void perfdata_read_features(struct perfdata_reader *perf)
{
	u64 offset, size;

	for (size_t i = 0; i < ARRAY_SIZE(text_features); i++)
		read_feature(perf, text_features[i].feature, text_features[i].name,
			     text_features[i].parse);
	if (find_feature(perf, FEATURE_BUILD_ID, "BUILD_ID", &offset, &size))
		perfdata_read_build_ids(perf, offset, size);
}

static void parse_cpus(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	const u8 *p = record->data + INFO_PRIV;
	u64 words = (record->size - INFO_PRIV) / 8, header = perfdata_get64(perf, p + 8);
	u64 cpus = perfdata_get64(perf, p + 24), i, at, params;

	if (header < INFO_V2_WORDS || header > words || cpus > PERFDATA_MAX_CPUS) {
		recording_set_damage(
			perf->recording, record->offset + INFO_PRIV + 8,
			"AUXTRACE_INFO record: header of %llu words and %llu CPUs, want %u "
			"to %llu words and at most %u CPUs",
			(unsigned long long)header, (unsigned long long)cpus, INFO_V2_WORDS,
			(unsigned long long)words, PERFDATA_MAX_CPUS);
		return;
	}
	free(perf->cpus);
	perf->n_cpus = 0;
	perf->cpus = calloc(cpus ? cpus : 1, sizeof(*perf->cpus));
	if (!perf->cpus)
		return;
	for (i = 0, at = header; i < cpus; i++, at += CPU_COMMON + params) {
		params = words - at >= CPU_COMMON ? perfdata_get64(perf, p + 8 * at + 16) : 0;
		if (words - at < CPU_COMMON || perfdata_get64(perf, p + 8 * at) != CPU_MAGIC ||
		    params < 1 || params > words - at - CPU_COMMON) {
			recording_set_damage(
				perf->recording, record->offset + INFO_PRIV + 8 * at,
				"AUXTRACE_INFO record: CPU entry %llu is invalid, want the "
				"magic %#llx and 1 or more parameters",
				(unsigned long long)i, CPU_MAGIC);
			return;
		}
		perf->cpus[perf->n_cpus++] = (struct perfdata_cpu){
			.cpu = (u32)perfdata_get64(perf, p + 8 * at + 8),
			.midr = perfdata_get64(perf, p + 8 * at + 24),
		};
	}
}

void perfdata_parse_auxtrace_info(struct perfdata_reader *perf,
				  const struct perfdata_record *record)
{
	u32 kind, words;
	u64 version;

	if (!perfdata_check_size(perf, record, INFO_PRIV, "AUXTRACE_INFO"))
		return;
	kind = perfdata_get32(perf, record->data + 8);
	if (kind != AUXTRACE_ARM_SPE) {
		perf->foreign_trace = kind;
		return;
	}
	perf->is_spe = true;
	words = (record->size - INFO_PRIV) / 8;
	/* Metadata of version 1 has no version number, but its size of two words identifies it. */
	if (words <= INFO_V1_WORDS)
		return;
	version = perfdata_get64(perf, record->data + INFO_PRIV);
	if (version < 2 || words < INFO_V2_WORDS)
		recording_set_damage(
			perf->recording, record->offset + INFO_PRIV,
			"AUXTRACE_INFO record: metadata version %llu of %u words, want "
			"2 or later and %u words",
			(unsigned long long)version, words, INFO_V2_WORDS);
	else
		parse_cpus(perf, record);
}

/* Offset of cap_user_time_zero in a TIME_CONV record; records of old perf versions lack it. */
#define TIME_CONV_CAP 48

/*
 * Read the parameters of ns = zero + ((ticks * mult) >> shift), which are invalid without
 * cap_user_time_zero. The fields for counters that wrap are ignored: the Generic Timer has 56 bits
 * or more.
 */
void perfdata_parse_time_conv(struct perfdata_reader *perf, const struct perfdata_record *record)
{
	u64 shift, mult;

	if (!perfdata_check_size(perf, record, 32, "TIME_CONV"))
		return;
	shift = perfdata_get64(perf, record->data + 8);
	mult = perfdata_get64(perf, record->data + 16);
	if (shift > 63 || mult > UINT32_MAX) {
		recording_set_damage(
			perf->recording, record->offset + 8,
			"TIME_CONV record: shift is %llu and multiplier %llu, want below 64 "
			"and 2^32",
			(unsigned long long)shift, (unsigned long long)mult);
		return;
	}
	if (record->size > TIME_CONV_CAP && !record->data[TIME_CONV_CAP])
		return;
	perf->clock = (struct timestamp_clock){
		.zero = perfdata_get64(perf, record->data + 24),
		.mult = (u32)mult,
		.shift = (u32)shift,
	};
}
