// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Wrap the codec of kmod/core. The names and types of this library remain stable when the codec
 * changes. Constants that both define must be equal, which is checked here at compile time.
 */
#include "speprof.h"

#include "codec/data-source.h"
#include "codec/layout.h"
#include "codec/payload.h"
#include "codec/record.h"
#include "speprof-version.h"

/* the content of &speprof_decoder.opaque */
struct decoder_state {
	struct spe_decoder decoder;
	struct spe_layouts layouts;
};

static_assert(sizeof(struct decoder_state) <= sizeof(struct speprof_decoder), "a decoder fits");
static_assert(_Alignof(struct decoder_state) <= _Alignof(struct speprof_decoder), "and is aligned");

#define SAME(ours, theirs) static_assert((ours) == (theirs), #ours)

SAME(SPEPROF_HAS_ADDRESS(7), SPE_HAS_ADDRESS(7));
SAME(SPEPROF_HAS_COUNTER(7), SPE_HAS_COUNTER(7));
SAME(SPEPROF_HAS_CONTEXT(3), SPE_HAS_CONTEXT(3));
SAME(SPEPROF_HAS_EVENTS, SPE_HAS_EVENTS);
SAME(SPEPROF_HAS_OP, SPE_HAS_OP);
SAME(SPEPROF_HAS_SOURCE, SPE_HAS_SOURCE);
SAME(SPEPROF_HAS_TIMESTAMP, SPE_HAS_TIMESTAMP);
SAME(SPEPROF_HAS_OTHERS, SPE_HAS_OTHERS);
SAME((int)SPEPROF_PACKET_OP_TYPE, (int)SPE_PACKET_OP_TYPE);
SAME((int)SPEPROF_PACKET_UNKNOWN, (int)SPE_PACKET_UNKNOWN);
SAME(SPEPROF_OP_STORE, SPE_OP_IS_STORE);
SAME(SPEPROF_OP_SCATTERED, SPE_OP_IS_SCATTERED);
SAME(SPEPROF_OP_COMMON, SPE_OP_IS_COMMON);
SAME(SPEPROF_OP_NEITHER, SPE_OP_IS_NEITHER);
SAME((int)SPEPROF_FORMAT_LS_TAG, (int)SPE_OP_FORMAT_LS_TAG);
SAME((int)SPEPROF_FORMAT_BRANCH, (int)SPE_OP_FORMAT_BRANCH);
SAME((int)SPEPROF_LENGTH_RESERVED, (int)SPE_LENGTH_RESERVED);
SAME((int)SPEPROF_LEVEL_DRAM, (int)SPE_LEVEL_DRAM);
SAME((int)SPEPROF_LEVEL_BEYOND_LLC, (int)SPE_LEVEL_BEYOND_LLC);
SAME(SPEPROF_ORIGIN_MODIFIED, SPE_ORIGIN_MODIFIED);
SAME(SPEPROF_ORIGIN_BY_SOURCE, SPE_ORIGIN_BY_SOURCE);

static void record_set(struct speprof_record *record, const struct spe_sample *s)
{
	*record = (struct speprof_record){
		.present = s->present,
		.events = s->events,
		.timestamp = s->timestamp,
		.raw = s->raw,
		.size = s->size,
		.source = s->source,
		.op_class = s->op_class,
		.op_subclass = s->op_subclass,
		.events_size = s->events_size,
		.source_size = s->source_size,
	};
	memcpy(record->address, s->address, sizeof(record->address));
	memcpy(record->context, s->context, sizeof(record->context));
	memcpy(record->counter, s->counter, sizeof(record->counter));
}

static struct spe_sample record_to_sample(const struct speprof_record *record)
{
	struct spe_sample s = {
		.present = record->present,
		.events = record->events,
		.timestamp = record->timestamp,
		.raw = record->raw,
		.size = (u16)record->size,
		.source = record->source,
		.op_class = record->op_class,
		.op_subclass = record->op_subclass,
		.events_size = record->events_size,
		.source_size = record->source_size,
	};

	memcpy(s.address, record->address, sizeof(s.address));
	memcpy(s.context, record->context, sizeof(s.context));
	memcpy(s.counter, record->counter, sizeof(s.counter));
	return s;
}

void speprof_decoder_init(struct speprof_decoder *decoder)
{
	memset(decoder, 0, sizeof(*decoder));
}

void speprof_decoder_window(struct speprof_decoder *decoder, const struct speprof_window *window)
{
	const struct spe_decoder_config config = {
		.max_size = window->max_record,
		.align = window->align,
	};
	struct decoder_state *state = (struct decoder_state *)decoder;

	spe_decoder_init(&state->decoder, &config, window->data, window->size);
}

enum speprof_result speprof_decoder_next(struct speprof_decoder *decoder,
					 struct speprof_record *ret_record)
{
	struct decoder_state *state = (struct decoder_state *)decoder;
	u64 partial = state->decoder.ledger.partial;
	struct spe_sample sample;
	struct spe_range range;

	switch (spe_decoder_next_fast(&state->decoder, &state->layouts, &sample, &range)) {
	case SPE_DECODE_SAMPLE:
		record_set(ret_record, &sample);
		return SPEPROF_RECORD;
	case SPE_DECODE_SUSPECT:
		*ret_record = (struct speprof_record){
			.raw = state->decoder.buf + range.offset, .size = range.size,
		};
		return state->decoder.ledger.partial > partial ? SPEPROF_SHORT : SPEPROF_MALFORMED;
	default:
		return SPEPROF_END;
	}
}

void speprof_decoder_ledger(const struct speprof_decoder *decoder,
			    struct speprof_ledger *ret_ledger)
{
	const struct spe_ledger *ledger = &((const struct decoder_state *)decoder)->decoder.ledger;

	*ret_ledger = (struct speprof_ledger){
		.records = ledger->records,
		.decoded = ledger->decoded,
		.padding = ledger->padding,
		.suspect = ledger->suspect,
		.partial = ledger->partial,
	};
}

int speprof_record_encode(const struct speprof_record *record, uint8_t *buf, size_t len)
{
	struct spe_sample sample = record_to_sample(record);

	if (!record->raw)
		return spe_record_encode(&sample, buf, len);
	if (record->size > U16_MAX)
		return -EINVAL;
	return spe_record_reencode(&sample, buf, len);
}

int speprof_packet_decode(const uint8_t *buf, size_t len, struct speprof_packet *ret_packet)
{
	struct spe_packet packet;
	int r = spe_packet_decode(buf, len, &packet);

	if (r >= 0)
		*ret_packet = (struct speprof_packet){
			.payload = packet.payload,
			.header = packet.header,
			.type = packet.type,
			.index = packet.index,
			.header_size = packet.header_size,
			.payload_size = packet.payload_size,
		};
	return r;
}

struct speprof_op speprof_op_decode(uint8_t op_class, uint8_t op_subclass)
{
	struct spe_op_fields op = spe_op_decode(op_class, op_subclass);

	return (struct speprof_op){
		.length = op.length,
		.flags = op.flags,
		.format = op.format,
		.length_kind = op.length_kind,
	};
}

struct speprof_origin speprof_record_origin(const struct speprof_record *record, uint64_t midr)
{
	struct spe_sample sample = record_to_sample(record);
	struct spe_origin origin = spe_sample_origin(spe_data_sources_find(midr), &sample);

	return (struct speprof_origin){ .level = origin.level, .flags = origin.flags };
}

const char *speprof_level_name(enum speprof_level level)
{
	return spe_level_name((enum spe_level)level);
}

const char *speprof_version(void)
{
	return SPEPROF_VERSION;
}
