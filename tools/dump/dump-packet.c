// SPDX-License-Identifier: LGPL-2.1-or-later
/* Describe a packet in words (D18.2). */
#include "dump.h"

#include <stdarg.h>

#include "codec/payload.h"

struct packet_text {
	char *buf;
	size_t len;
};

static void packet_text_append(struct packet_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void packet_text_append(struct packet_text *text, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text->buf + text->len, DUMP_MEANING_MAX - text->len, format, ap);
	va_end(ap);
	text->len += (size_t)n < DUMP_MEANING_MAX - text->len ? (size_t)n :
								DUMP_MEANING_MAX - 1 - text->len;
}

/* Names of event bits (D18.2.6); bits without a name are IMPLEMENTATION DEFINED or reserved */
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

static void put_events(struct packet_text *text, u64 events)
{
	packet_text_append(text, "EV");
	for (unsigned int i = 0; i < 64; i++) {
		if (!(events >> i & 1))
			continue;
		if (event_names[i])
			packet_text_append(text, " %s", event_names[i]);
		else
			packet_text_append(text, " E%u", i);
	}
}

/*
 * Print physical address spaces that FEAT_RME adds. Secure and Non-secure are printed as NS, in the
 * same way as perf.
 */
static void put_space(struct packet_text *text, u64 payload)
{
	enum spe_space space = spe_address_space(payload);

	if (space >= SPE_SPACE_REALM)
		packet_text_append(text, " nse=1 %s",
				   space == SPE_SPACE_REALM ? "realm" : "reserved");
}

static void put_instruction_address(struct packet_text *text, const char *name, u64 payload)
{
	packet_text_append(text, "%s 0x%llx el%llu ns=%llu", name,
			   (unsigned long long)(payload & SPE_ADDRESS_BITS),
			   (unsigned long long)SPE_FIELD_GET(SPE_ADDRESS_EL, payload),
			   (unsigned long long)SPE_FIELD_GET(SPE_ADDRESS_NS, payload));
	put_space(text, payload);
}

static void put_address(struct packet_text *text, u8 index, u64 payload)
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
		packet_text_append(text, "VA 0x%llx", (unsigned long long)payload);
		break;
	case SPE_ADDRESS_PA:
		packet_text_append(text, "PA 0x%llx ns=%llu ch=%llu pat=%llx",
				   (unsigned long long)(payload & SPE_ADDRESS_BITS),
				   (unsigned long long)SPE_FIELD_GET(SPE_ADDRESS_NS, payload),
				   (unsigned long long)SPE_FIELD_GET(SPE_ADDRESS_PA_CH, payload),
				   (unsigned long long)SPE_FIELD_GET(SPE_ADDRESS_PA_PAT, payload));
		put_space(text, payload);
		break;
	default:
		packet_text_append(text, "ADDRESS-%u 0x%llx %s", index, (unsigned long long)payload,
				   index == 6 || index == 7 || index >= 16 ?
					   "implementation defined" :
					   "reserved");
		break;
	}
}

static void put_counter(struct packet_text *text, u8 index, u64 payload)
{
	static const char *const names[] = {
		[SPE_COUNTER_TOTAL] = "TOT",
		[SPE_COUNTER_ISSUE] = "ISSUE",
		[SPE_COUNTER_TRANSLATION] = "XLAT",
		[SPE_COUNTER_ALT_ISSUE] = "ALT-ISSUE",
	};

	packet_text_append(text, "LAT %llu ", (unsigned long long)payload);
	if (index < ARRAY_SIZE(names) && names[index])
		packet_text_append(text, "%s", names[index]);
	else
		packet_text_append(text, "COUNTER-%u %s", index,
				   index == 6 || index == 7 || index >= 16 ?
					   "implementation defined" :
					   "reserved");
}

static void put_context(struct packet_text *text, u8 index, u64 payload)
{
	if (index <= SPE_CONTEXT_EL2)
		packet_text_append(text, "CONTEXT 0x%llx el%u", (unsigned long long)payload,
				   index + 1);
	else
		packet_text_append(text, "CONTEXT 0x%llx index %u reserved",
				   (unsigned long long)payload, index);
}

static void put_length(struct packet_text *text, const char *name, const struct spe_op_fields *op)
{
	switch ((enum spe_op_length)op->length_kind) {
	case SPE_LENGTH_NONE:
		break;
	case SPE_LENGTH_EXACT:
		packet_text_append(text, " %s %u", name, op->length);
		break;
	case SPE_LENGTH_ABOVE:
		packet_text_append(text, " %s >%u", name, op->length);
		break;
	case SPE_LENGTH_WHOLE_ZA:
		packet_text_append(text, " %s ZA", name);
		break;
	case SPE_LENGTH_RESERVED:
		packet_text_append(text, " %s reserved", name);
		break;
	}
}

/* Print flags that the first word of the operation does not include. */
static void put_flags(struct packet_text *text, const struct spe_op_fields *op)
{
	static const struct {
		u16 flag;
		const char *name;
	} names[] = {
		{ SPE_OP_IS_ATOMIC, "AT" },	   { SPE_OP_IS_EXCLUSIVE, "EXCL" },
		{ SPE_OP_IS_ORDERED, "AR" },	   { SPE_OP_IS_COMMON, "COMM" },
		{ SPE_OP_IS_FP, "FP" },		   { SPE_OP_IS_ASE, "ASE" },
		{ SPE_OP_IS_PREDICATED, "PRED" },  { SPE_OP_IS_SCATTERED, "SG" },
		{ SPE_OP_IS_INDIRECT, "IND" },	   { SPE_OP_IS_GCS, "GCS" },
		{ SPE_OP_IS_CALL, "CR-BL" },	   { SPE_OP_IS_RETURN, "CR-RET" },
		{ SPE_OP_IS_NEITHER, "CR-NON-BL-RET" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (op->flags & names[i].flag)
			packet_text_append(text, " %s", names[i].name);
}

static void put_load_store(struct packet_text *text, const struct spe_op_fields *op)
{
	static const char *const targets[SPE_OP_FORMATS] = {
		[SPE_OP_FORMAT_LS_GP] = " GP-REG",
		[SPE_OP_FORMAT_LS_SIMD_FP] = " SIMD-FP",
		[SPE_OP_FORMAT_LS_UNSPECIFIED] = " UNSPEC-REG",
		[SPE_OP_FORMAT_LS_TAG] = " MTE-TAG",
		[SPE_OP_FORMAT_LS_SYSREG] = " NV-SYSREG",
		[SPE_OP_FORMAT_LS_MEMCPY] = " MEMCPY",
		[SPE_OP_FORMAT_LS_MEMSET] = " MEMSET",
		[SPE_OP_FORMAT_LS_GCS] = " GCS",
	};

	packet_text_append(text, "%s%s", op->flags & SPE_OP_IS_STORE ? "ST" : "LD",
			   targets[op->format] ? targets[op->format] : "");
	put_length(text, "EVLEN", op);
}

static void put_op(struct packet_text *text, u8 op_class, u8 subclass)
{
	struct spe_op_fields op = spe_op_decode(op_class, subclass);
	bool conditional = op.flags & SPE_OP_IS_CONDITIONAL;

	switch ((enum spe_op_format)op.format) {
	case SPE_OP_FORMAT_RESERVED:
		packet_text_append(text, "OP class %u subclass 0x%x reserved", op_class, subclass);
		return;
	case SPE_OP_FORMAT_OTHER:
		packet_text_append(text, conditional ? "OTHER COND-SELECT" : "OTHER INSN-OTHER");
		break;
	case SPE_OP_FORMAT_SVE:
		packet_text_append(text, "SVE-OTHER");
		put_length(text, "EVLEN", &op);
		break;
	case SPE_OP_FORMAT_SME:
		packet_text_append(text, "SME-OTHER");
		put_length(text, "ETS", &op);
		break;
	case SPE_OP_FORMAT_BRANCH:
		packet_text_append(text, conditional ? "B COND" : "B");
		break;
	default:
		put_load_store(text, &op);
		break;
	}
	put_flags(text, &op);
}

void dump_format_packet(const struct spe_packet *packet, char *ret_text)
{
	struct packet_text text = { .buf = ret_text };
	unsigned long long payload = packet->payload;

	switch ((enum spe_packet_type)packet->type) {
	case SPE_PACKET_PADDING:
		packet_text_append(&text, "PAD");
		break;
	case SPE_PACKET_END:
		packet_text_append(&text, "END");
		break;
	case SPE_PACKET_TIMESTAMP:
		packet_text_append(&text, "TS %llu", payload);
		break;
	case SPE_PACKET_EVENTS:
		put_events(&text, packet->payload);
		break;
	case SPE_PACKET_DATA_SOURCE:
		packet_text_append(&text, "DATA-SOURCE %llu", payload);
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
		packet_text_append(&text, "UNKNOWN header 0x%x payload 0x%llx", packet->header,
				   payload);
		break;
	}
}
