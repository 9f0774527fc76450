// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fuzz the decoder: each byte of a window is in the ledger once, no record exceeds its bound, and
 * decoded samples can be encoded and decoded again. The first byte of an input decides what the
 * decoder has about the window.
 */
#include "fuzz.h"

#include "codec/record.h"
#include "codec/registers.h"
#include "dump/dump.h"

static void check_same_samples(const struct spe_sample *a, const struct spe_sample *b)
{
	fuzz_assert(a->present == b->present);
	fuzz_assert(!memcmp(a->address, b->address, sizeof(a->address)));
	fuzz_assert(a->events == b->events);
	fuzz_assert(a->timestamp == b->timestamp);
	fuzz_assert(!memcmp(a->context, b->context, sizeof(a->context)));
	fuzz_assert(!memcmp(a->counter, b->counter, sizeof(a->counter)));
	fuzz_assert(a->source == b->source);
	fuzz_assert(a->op_class == b->op_class && a->op_subclass == b->op_subclass);
	fuzz_assert(a->events_size == b->events_size && a->source_size == b->source_size);
}

/*
 * Check that @bytes is @raw without the zero bytes that stand where a header could be (D18.1.1,
 * D18.2.8).
 */
static void check_without_padding(const u8 *raw, size_t raw_len, const u8 *bytes, size_t len)
{
	size_t pos = 0, size, at;

	for (at = 0; at < raw_len; at += size) {
		size = raw[at] < 0x40 ? 1 : 1 + (1U << (raw[at] >> 4 & 3));
		if ((raw[at] & 0xe0) == 0x20)
			size = 2 + (raw[at + 1] < 0x40 ? 0 : 1U << (raw[at + 1] >> 4 & 3));
		if (!raw[at])
			continue;
		fuzz_assert(size <= len - pos && !memcmp(raw + at, bytes + pos, size));
		pos += size;
	}
	fuzz_assert(at == raw_len && pos == len);
}

static void check_round_trip(const struct spe_sample *sample)
{
	u8 bytes[SPE_MAX_RECORD], again[SPE_MAX_RECORD];
	struct spe_sample first = *sample, back;
	int n;

	first.present &= ~SPE_HAS_OTHERS;
	n = spe_record_encode(&first, bytes, sizeof(bytes));
	fuzz_assert(n > 0 && n <= sample->size);
	fuzz_assert(spe_record_decode(bytes, (size_t)n, SPE_MAX_RECORD, &back) == n);
	check_same_samples(&first, &back);
	fuzz_assert(spe_record_encode(&back, again, sizeof(again)) == n);
	fuzz_assert(!memcmp(bytes, again, (size_t)n));

	/* Encoding gives the same packets in the same order, so decoding loses nothing. */
	n = spe_record_reencode(sample, bytes, sample->size);
	fuzz_assert(n > 0);
	check_without_padding(sample->raw, sample->size, bytes, (size_t)n);
	fuzz_assert(spe_record_decode(bytes, (size_t)n, SPE_MAX_RECORD, &back) == n);
	check_same_samples(sample, &back);
	fuzz_assert(spe_record_reencode(&back, again, sizeof(again)) == n);
	fuzz_assert(!memcmp(bytes, again, (size_t)n));
	fuzz_assert(spe_sample_kind(sample) < SPE_KINDS);
	fuzz_assert(!spe_sample_is_simd(sample) || spe_sample_kind(sample) < SPE_KIND_NONE);
}

static void check_packets(const u8 *buf, size_t len)
{
	char meaning[DUMP_MEANING_MAX];
	struct spe_packet packet, back;
	u8 bytes[16];
	size_t pos = 0;
	int n, m;

	while (pos < len && (n = spe_packet_decode(buf + pos, len - pos, &packet)) > 0) {
		fuzz_assert((size_t)n <= len - pos);
		fuzz_assert(n == packet.header_size + packet.payload_size);
		fuzz_assert(packet.type < SPE_PACKET_TYPES);
		m = spe_packet_encode(&packet, bytes, sizeof(bytes));
		fuzz_assert(m > 0 && m <= n);
		fuzz_assert(spe_packet_decode(bytes, (size_t)m, &back) == m);
		fuzz_assert(back.type == packet.type && back.index == packet.index);
		fuzz_assert(back.payload == packet.payload);
		dump_format_packet(&packet, meaning);
		fuzz_assert(strlen(meaning) > 0 && strlen(meaning) < DUMP_MEANING_MAX);
		pos += (size_t)n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct spe_decoder_config config = {
		.max_size = size && data[0] & 0x0f ? 16U << (data[0] & 0x7) : 0,
		.align = size && data[0] & 0xf0 ? 1U << (data[0] >> 4 & 0xf) % 12 : 0,
	};
	u32 max_size = config.max_size ? config.max_size : SPE_MAX_RECORD;
	struct spe_range range;
	struct spe_decoder decoder;
	struct spe_sample sample;
	u64 decoded = 0, suspect = 0, records = 0, ranges = 0;
	enum spe_decode_result r;
	size_t before = 0;

	if (!size)
		return 0;
	data++;
	size--;
	check_packets(data, size);
	spe_decoder_init(&decoder, &config, data, size);
	while ((r = spe_decoder_next(&decoder, &sample, &range)) != SPE_DECODE_END) {
		fuzz_assert(decoder.pos > before && decoder.pos <= size);
		if (r == SPE_DECODE_SUSPECT) {
			fuzz_assert(range.offset >= before && range.size);
			fuzz_assert(range.offset + range.size == decoder.pos);
			suspect += range.size;
			ranges++;
		} else {
			fuzz_assert(sample.size && sample.size <= max_size);
			fuzz_assert(sample.raw + sample.size == data + decoder.pos);
			fuzz_assert(sample.raw >= data + before);
			fuzz_assert(!config.align || !((size_t)(sample.raw - data) % config.align));
			fuzz_assert(spe_sample_has(&sample, SPE_HAS_EVENTS));
			check_round_trip(&sample);
			decoded += sample.size;
			records++;
		}
		before = decoder.pos;
	}
	fuzz_assert(decoder.ledger.records == records && decoder.ledger.decoded == decoded);
	fuzz_assert(decoder.ledger.suspect == suspect && decoder.ledger.suspect_ranges == ranges);
	fuzz_assert(decoder.ledger.partial <= suspect);
	fuzz_assert(decoded + decoder.ledger.padding + suspect == size);
	return 0;
}
