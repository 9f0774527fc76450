// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a packet says, as words (D18.2). */
#include "dump.h"

#include <stdarg.h>

struct text {
	char *buf;
	size_t len;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text->buf + text->len, DUMP_MEANING_MAX - text->len, format, ap);
	va_end(ap);
	text->len += (size_t)n < DUMP_MEANING_MAX - text->len ? (size_t)n :
								DUMP_MEANING_MAX - 1 - text->len;
}

/* D18.2.6; bits without a name are IMPLEMENTATION DEFINED or reserved. */
static const char *const event_names[64] = {
	[SPE_EVENT_EXCEPTION] = "EXCEPTION-GEN",
	[SPE_EVENT_RETIRED] = "RETIRED",
	[SPE_EVENT_L1D_ACCESS] = "L1D-ACCESS",
	[SPE_EVENT_L1D_REFILL] = "L1D-REFILL",
	[SPE_EVENT_TLB_ACCESS] = "TLB-ACCESS",
	[SPE_EVENT_TLB_WALK] = "TLB-REFILL",
	[SPE_EVENT_NOT_TAKEN] = "NOT-TAKEN",
	[SPE_EVENT_MISPREDICTED] = "MISPRED",
	[SPE_EVENT_LLC_ACCESS] = "LLC-ACCESS",
	[SPE_EVENT_LLC_MISS] = "LLC-REFILL",
	[SPE_EVENT_REMOTE_ACCESS] = "REMOTE-ACCESS",
	[SPE_EVENT_MISALIGNED] = "ALIGNMENT",
	[SPE_EVENT_TRANSACTIONAL] = "TRANSACTIONAL",
	[SPE_EVENT_PARTIAL_PREDICATE] = "SVE-PARTIAL-PRED",
	[SPE_EVENT_EMPTY_PREDICATE] = "SVE-EMPTY-PRED",
	[SPE_EVENT_L2D_ACCESS] = "L2D-ACCESS",
	[SPE_EVENT_L2D_MISS] = "L2D-MISS",
	[SPE_EVENT_CACHE_DATA_MODIFIED] = "HITM",
	[SPE_EVENT_RECENTLY_FETCHED] = "LFB",
	[SPE_EVENT_DATA_SNOOPED] = "SNOOPED",
	[SPE_EVENT_STREAMING_SVE] = "STREAMING",
	[SPE_EVENT_SMCU] = "SMCU",
};

static void put_events(struct text *text, u64 events)
{
	put(text, "EV");
	for (unsigned int i = 0; i < 64; i++) {
		if (!(events >> i & 1))
			continue;
		if (event_names[i])
			put(text, " %s", event_names[i]);
		else
			put(text, " E%u", i);
	}
}

static void put_instruction_address(struct text *text, const char *name, u64 payload)
{
	put(text, "%s 0x%llx el%llu ns=%llu", name,
	    (unsigned long long)(payload & SPE_ADDRESS_BITS),
	    (unsigned long long)SPE_FIELD_GET(SPE_ADDRESS_EL, payload),
	    (unsigned long long)SPE_FIELD_GET(SPE_ADDRESS_NS, payload));
	if (payload & SPE_ADDRESS_NSE)
		put(text, " nse=1");
}

static void put_address(struct text *text, u8 index, u64 payload)
{
	switch (index) {
	case SPE_ADDRESS_PC:
		put_instruction_address(text, "PC", payload);
		break;
	case SPE_ADDRESS_TARGET:
		put_instruction_address(text, "TGT", payload);
		break;
	case SPE_ADDRESS_PREV_TARGET:
		put_instruction_address(text, "PBT", payload);
		break;
	case SPE_ADDRESS_VA:
		put(text, "VA 0x%llx", (unsigned long long)payload);
		break;
	case SPE_ADDRESS_PA:
		put(text, "PA 0x%llx ns=%llu ch=%llu pat=%llx",
		    (unsigned long long)(payload & SPE_ADDRESS_BITS),
		    (unsigned long long)SPE_FIELD_GET(SPE_ADDRESS_NS, payload),
		    (unsigned long long)SPE_FIELD_GET(SPE_ADDRESS_PA_CH, payload),
		    (unsigned long long)SPE_FIELD_GET(SPE_ADDRESS_PA_PAT, payload));
		if (payload & SPE_ADDRESS_NSE)
			put(text, " nse=1");
		break;
	default:
		put(text, "ADDRESS-%u 0x%llx %s", index, (unsigned long long)payload,
		    index == 6 || index == 7 || index >= 16 ? "implementation defined" :
							      "reserved");
		break;
	}
}

static void put_counter(struct text *text, u8 index, u64 payload)
{
	static const char *const names[] = {
		[SPE_COUNTER_TOTAL] = "TOT",
		[SPE_COUNTER_ISSUE] = "ISSUE",
		[SPE_COUNTER_TRANSLATION] = "XLAT",
		[SPE_COUNTER_ALT_ISSUE] = "ALT-ISSUE",
	};

	put(text, "LAT %llu ", (unsigned long long)payload);
	if (index < ARRAY_SIZE(names) && names[index])
		put(text, "%s", names[index]);
	else
		put(text, "COUNTER-%u %s", index,
		    index == 6 || index == 7 || index >= 16 ? "implementation defined" :
							      "reserved");
}

static void put_context(struct text *text, u8 index, u64 payload)
{
	if (index <= SPE_CONTEXT_EL2)
		put(text, "CONTEXT 0x%llx el%u", (unsigned long long)payload, index + 1);
	else
		put(text, "CONTEXT 0x%llx index %u reserved", (unsigned long long)payload, index);
}

static void put_flags(struct text *text, u8 subclass, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (names[i] && subclass >> i & 1)
			put(text, " %s", names[i]);
}

/* EVL counts from 32 bits by powers of two; its last value is "more". */
static void put_vector(struct text *text, u8 subclass)
{
	unsigned int evl = (unsigned int)SPE_FIELD_GET(SPE_OP_EVL, subclass);

	put(text, evl == 7 ? " EVLEN >%u" : " EVLEN %u", evl == 7 ? 2048 : 32U << evl);
}

/* ETS: bits 6:4 and 2; from 128 bits by powers of two, the last is all of ZA. */
static void put_tile(struct text *text, u8 subclass)
{
	unsigned int ets = (subclass >> 4 & 7) << 1 | (subclass >> 2 & 1);

	if (ets <= 11)
		put(text, " ETS %u", 128U << ets);
	else
		put(text, ets == 15 ? " ETS ZA" : " ETS reserved");
}

static void put_load_store(struct text *text, enum spe_op_format format, u8 subclass)
{
	static const char *const targets[SPE_OP_FORMATS] = {
		[SPE_OP_FORMAT_LS_GP] = "GP-REG",
		[SPE_OP_FORMAT_LS_SIMD_FP] = "SIMD-FP",
		[SPE_OP_FORMAT_LS_UNSPECIFIED] = "UNSPEC-REG",
		[SPE_OP_FORMAT_LS_TAG] = "MTE-TAG",
		[SPE_OP_FORMAT_LS_SYSREG] = "NV-SYSREG",
		[SPE_OP_FORMAT_LS_MEMCPY] = "MEMCPY",
		[SPE_OP_FORMAT_LS_MEMSET] = "MEMSET",
	};
	static const char *const extended[] = { [2] = "AT", [3] = "EXCL", [4] = "AR" };
	static const char *const sve[] = { [2] = "PRED", [7] = "SG" };

	put(text, subclass & SPE_OP_LDST ? "ST" : "LD");
	if (targets[format])
		put(text, " %s", targets[format]);
	else if (format == SPE_OP_FORMAT_LS_EXTENDED)
		put_flags(text, subclass, extended, ARRAY_SIZE(extended));
	else if (format == SPE_OP_FORMAT_LS_GCS)
		put(text, subclass & SPE_OP_GCS_COMM ? " GCS COMM" : " GCS");
	else if (format == SPE_OP_FORMAT_LS_SVE) {
		put_vector(text, subclass);
		put_flags(text, subclass, sve, ARRAY_SIZE(sve));
	}
}

static void put_branch(struct text *text, u8 subclass)
{
	static const char *const flags[] = { "COND", "IND", "GCS" };
	static const char *const linked[] = { "", " CR-BL", " CR-RET", " CR-NON-BL-RET" };

	put(text, "B");
	put_flags(text, subclass, flags, ARRAY_SIZE(flags));
	put(text, "%s", linked[SPE_FIELD_GET(SPE_OP_BR_CR, subclass)]);
}

static void put_op(struct text *text, u8 op_class, u8 subclass)
{
	static const char *const other[] = { [1] = "FP", [2] = "ASE" };
	static const char *const vector[] = { [1] = "FP", [2] = "PRED" };
	static const char *const tile[] = { [1] = "FP" };
	enum spe_op_format format = spe_op_format(op_class, subclass);

	switch (format) {
	case SPE_OP_FORMAT_OTHER:
		put(text, subclass & SPE_OP_COND ? "OTHER COND-SELECT" : "OTHER INSN-OTHER");
		put_flags(text, subclass, other, ARRAY_SIZE(other));
		break;
	case SPE_OP_FORMAT_SVE:
		put(text, "SVE-OTHER");
		put_vector(text, subclass);
		put_flags(text, subclass, vector, ARRAY_SIZE(vector));
		break;
	case SPE_OP_FORMAT_SME:
		put(text, "SME-OTHER");
		put_tile(text, subclass);
		put_flags(text, subclass, tile, ARRAY_SIZE(tile));
		break;
	case SPE_OP_FORMAT_BRANCH:
		put_branch(text, subclass);
		break;
	case SPE_OP_FORMAT_RESERVED:
		put(text, "OP class %u subclass 0x%x reserved", op_class, subclass);
		break;
	default:
		put_load_store(text, format, subclass);
		break;
	}
}

void dump_packet_meaning(const struct spe_packet *packet, char *ret_text)
{
	struct text text = { .buf = ret_text };
	unsigned long long payload = packet->payload;

	switch ((enum spe_packet_type)packet->type) {
	case SPE_PACKET_PADDING:
		put(&text, "PAD");
		break;
	case SPE_PACKET_END:
		put(&text, "END");
		break;
	case SPE_PACKET_TIMESTAMP:
		put(&text, "TS %llu", payload);
		break;
	case SPE_PACKET_EVENTS:
		put_events(&text, packet->payload);
		break;
	case SPE_PACKET_DATA_SOURCE:
		put(&text, "DATA-SOURCE %llu", payload);
		break;
	case SPE_PACKET_CONTEXT:
		put_context(&text, packet->index, packet->payload);
		break;
	case SPE_PACKET_OP_TYPE:
		put_op(&text, packet->index, (u8)packet->payload);
		break;
	case SPE_PACKET_ADDRESS:
		put_address(&text, packet->index, packet->payload);
		break;
	case SPE_PACKET_COUNTER:
		put_counter(&text, packet->index, packet->payload);
		break;
	default:
		put(&text, "UNKNOWN header 0x%x payload 0x%llx", packet->header, payload);
		break;
	}
}
