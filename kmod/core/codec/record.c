// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Encode and decode records, and decode windows (D18.1.2, D18.1.3). This is the reference for the
 * fast path in layout.c, and prefers clarity to speed.
 */
#include "record.h"
#include "registers.h"
#include "zeros.h"

/*
 * Maximum number of packets in a record. D18.2 permits 32 Address, 32 Counter and 4 Context
 * packets, and one of each other type; some unknown ones are added. More packets mean damage. The
 * limit keeps the cost linear for hostile bytes.
 */
#define MAX_PACKETS 96

/*
 * Return the bit of &spe_sample.present for a packet with an index; SPE_HAS_OTHERS for an index
 * above 7.
 */
static u64 present_bit_of_index(u8 index, u64 bit)
{
	return index < 8 ? bit << index : SPE_HAS_OTHERS;
}

/*
 * Return the bit of &spe_sample.present that @packet sets; 0 for packets without data, such as End.
 */
static u64 present_bit_of_packet(const struct spe_packet *packet)
{
	switch (packet->type) {
	case SPE_PACKET_ADDRESS:
		return present_bit_of_index(packet->index, SPE_HAS_ADDRESS(0));
	case SPE_PACKET_COUNTER:
		return present_bit_of_index(packet->index, SPE_HAS_COUNTER(0));
	case SPE_PACKET_CONTEXT:
		return SPE_HAS_CONTEXT(packet->index);
	case SPE_PACKET_EVENTS:
		return SPE_HAS_EVENTS;
	case SPE_PACKET_OP_TYPE:
		return SPE_HAS_OP;
	case SPE_PACKET_DATA_SOURCE:
		return SPE_HAS_SOURCE;
	case SPE_PACKET_TIMESTAMP:
		return SPE_HAS_TIMESTAMP;
	case SPE_PACKET_UNKNOWN:
		return SPE_HAS_OTHERS;
	default:
		return 0;
	}
}

static void sample_set_field(struct spe_sample *sample, const struct spe_packet *packet)
{
	switch (packet->type) {
	case SPE_PACKET_ADDRESS:
		if (packet->index < ARRAY_SIZE(sample->address))
			sample->address[packet->index] = packet->payload;
		break;
	case SPE_PACKET_COUNTER:
		if (packet->index < ARRAY_SIZE(sample->counter))
			sample->counter[packet->index] = (u16)packet->payload;
		break;
	case SPE_PACKET_CONTEXT:
		sample->context[packet->index] = (u32)packet->payload;
		break;
	case SPE_PACKET_EVENTS:
		sample->events = packet->payload;
		sample->events_size = packet->payload_size;
		break;
	case SPE_PACKET_OP_TYPE:
		sample->op_class = packet->index;
		sample->op_subclass = (u8)packet->payload;
		break;
	case SPE_PACKET_DATA_SOURCE:
		sample->source = (u16)packet->payload;
		sample->source_size = packet->payload_size;
		break;
	case SPE_PACKET_TIMESTAMP:
		sample->timestamp = packet->payload;
		break;
	default:
		break;
	}
}

int spe_record_decode(const u8 *buf, size_t len, u32 max_size, struct spe_sample *ret_sample)
{
	size_t pos = 0, limit = len < max_size ? len : max_size;
	struct spe_packet packet;
	unsigned int packets;
	u64 bit;
	int r;

	memset(ret_sample, 0, sizeof(*ret_sample));
	ret_sample->raw = buf;

	for (packets = 0; packets < MAX_PACKETS; packets++) {
		pos += spe_count_zeros(buf + pos, limit - pos);
		r = spe_packet_decode(buf + pos, limit - pos, &packet);
		if (r == -ENODATA)
			return limit == len ? -ENODATA : -EBADMSG;
		if (r < 0)
			return r;
		pos += (size_t)r;

		bit = present_bit_of_packet(&packet);
		if (ret_sample->present & bit & ~SPE_HAS_OTHERS)
			return -EBADMSG;
		ret_sample->present |= bit;
		sample_set_field(ret_sample, &packet);

		if (packet.type == SPE_PACKET_END || packet.type == SPE_PACKET_TIMESTAMP) {
			ret_sample->size = (u16)pos;
			return ret_sample->present & SPE_HAS_EVENTS ? (int)pos : -EBADMSG;
		}
	}
	return -EBADMSG;
}
SPE_EXPORT(spe_record_decode);

enum spe_op_kind spe_sample_kind(const struct spe_sample *sample)
{
	if (!spe_sample_has(sample, SPE_HAS_OP))
		return SPE_KIND_NONE;
	switch (sample->op_class) {
	case SPE_OP_OTHER:
		return SPE_KIND_OTHER;
	case SPE_OP_LOAD_STORE:
		return sample->op_subclass & SPE_OP_LDST ? SPE_KIND_STORE : SPE_KIND_LOAD;
	case SPE_OP_BRANCH:
		return SPE_KIND_BRANCH;
	default:
		return SPE_KIND_NONE;
	}
}
SPE_EXPORT(spe_sample_kind);

bool spe_sample_is_simd(const struct spe_sample *sample)
{
	if (!spe_sample_has(sample, SPE_HAS_OP))
		return false;
	switch (spe_op_format(sample->op_class, sample->op_subclass)) {
	case SPE_OP_FORMAT_SVE:
	case SPE_OP_FORMAT_SME:
	case SPE_OP_FORMAT_LS_SVE:
		return true;
	default:
		return false;
	}
}
SPE_EXPORT(spe_sample_is_simd);

struct record_writer {
	u8 *buf;
	size_t len;
	size_t pos;
	int error;
};

static void writer_add_packet(struct record_writer *w, u8 type, u8 index, u8 size, u64 payload)
{
	const struct spe_packet packet = {
		.type = type, .index = index, .payload_size = size, .payload = payload,
	};
	int r;

	if (w->error)
		return;
	r = spe_packet_encode(&packet, w->buf + w->pos, w->len - w->pos);
	if (r < 0)
		w->error = r;
	else
		w->pos += (size_t)r;
}

/*
 * Write the packets in the order of Neoverse cores: PC, context, operation, events, counters, data,
 * time.
 */
int spe_record_encode(const struct spe_sample *sample, u8 *buf, size_t len)
{
	struct record_writer w = { .buf = buf, .len = len };
	unsigned int i;

	if (!spe_sample_has(sample, SPE_HAS_EVENTS))
		return -EINVAL;
	if (spe_sample_has(sample, SPE_HAS_ADDRESS(SPE_ADDRESS_PC)))
		writer_add_packet(&w, SPE_PACKET_ADDRESS, SPE_ADDRESS_PC, 8, sample->address[0]);
	for (i = 0; i < ARRAY_SIZE(sample->context); i++)
		if (spe_sample_has(sample, SPE_HAS_CONTEXT(i)))
			writer_add_packet(&w, SPE_PACKET_CONTEXT, (u8)i, 4, sample->context[i]);
	if (spe_sample_has(sample, SPE_HAS_OP))
		writer_add_packet(&w, SPE_PACKET_OP_TYPE, sample->op_class, 1, sample->op_subclass);
	writer_add_packet(&w, SPE_PACKET_EVENTS, 0, sample->events_size, sample->events);
	for (i = 0; i < ARRAY_SIZE(sample->counter); i++)
		if (spe_sample_has(sample, SPE_HAS_COUNTER(i)))
			writer_add_packet(&w, SPE_PACKET_COUNTER, (u8)i, 2, sample->counter[i]);
	for (i = 1; i < ARRAY_SIZE(sample->address); i++)
		if (spe_sample_has(sample, SPE_HAS_ADDRESS(i)))
			writer_add_packet(&w, SPE_PACKET_ADDRESS, (u8)i, 8, sample->address[i]);
	if (spe_sample_has(sample, SPE_HAS_SOURCE))
		writer_add_packet(&w, SPE_PACKET_DATA_SOURCE, 0, sample->source_size,
				  sample->source);
	if (spe_sample_has(sample, SPE_HAS_TIMESTAMP))
		writer_add_packet(&w, SPE_PACKET_TIMESTAMP, 0, 8, sample->timestamp);
	else
		writer_add_packet(&w, SPE_PACKET_END, 0, 0, 0);
	return w.error ? w.error : (int)w.pos;
}
SPE_EXPORT(spe_record_encode);

/*
 * Set the payload of @packet from its field in @sample. If there is no such field, the payload is
 * unchanged.
 */
static void sample_get_payload(const struct spe_sample *sample, struct spe_packet *packet)
{
	switch (packet->type) {
	case SPE_PACKET_ADDRESS:
		if (packet->index < ARRAY_SIZE(sample->address))
			packet->payload = sample->address[packet->index];
		break;
	case SPE_PACKET_COUNTER:
		if (packet->index < ARRAY_SIZE(sample->counter))
			packet->payload = sample->counter[packet->index];
		break;
	case SPE_PACKET_CONTEXT:
		packet->payload = sample->context[packet->index];
		break;
	case SPE_PACKET_EVENTS:
		packet->payload = sample->events;
		break;
	case SPE_PACKET_OP_TYPE:
		packet->payload = sample->op_subclass;
		break;
	case SPE_PACKET_DATA_SOURCE:
		packet->payload = sample->source;
		break;
	case SPE_PACKET_TIMESTAMP:
		packet->payload = sample->timestamp;
		break;
	default:
		break;
	}
}

/* Return true if the class and the payload size in @sample are equal to those of the packet. */
static bool header_matches_sample(const struct spe_sample *sample, const struct spe_packet *packet)
{
	switch (packet->type) {
	case SPE_PACKET_EVENTS:
		return sample->events_size == packet->payload_size;
	case SPE_PACKET_DATA_SOURCE:
		return sample->source_size == packet->payload_size;
	case SPE_PACKET_OP_TYPE:
		return sample->op_class == packet->index;
	default:
		return true;
	}
}

int spe_record_reencode(const struct spe_sample *sample, u8 *buf, size_t len)
{
	size_t pos = 0, out = 0, size;
	struct spe_packet packet;
	u64 seen = 0;
	int r;

	while (pos < sample->size) {
		r = spe_packet_decode(sample->raw + pos, sample->size - pos, &packet);
		if (r < 0 || !header_matches_sample(sample, &packet))
			return -EINVAL;
		pos += (size_t)r;
		if (packet.type == SPE_PACKET_PADDING)
			continue;
		seen |= present_bit_of_packet(&packet);
		sample_get_payload(sample, &packet);
		size = (size_t)packet.header_size + packet.payload_size;
		if (size > len - out)
			return -ENOSPC;
		spe_packet_write_same_header(&packet, buf + out);
		out += size;
	}
	return seen == sample->present ? (int)out : -EINVAL;
}
SPE_EXPORT(spe_record_reencode);

void spe_decoder_init(struct spe_decoder *decoder, const struct spe_decoder_config *config,
		      const u8 *buf, size_t len)
{
	*decoder = (struct spe_decoder){
		.buf = buf,
		.len = len,
		.max_size = config && config->max_size ? config->max_size : SPE_MAX_RECORD,
		.align = config ? config->align : 0,
		.first = -1,
	};
	if (decoder->max_size > SPE_MAX_RECORD)
		decoder->max_size = SPE_MAX_RECORD;
}
SPE_EXPORT(spe_decoder_init);

void spe_decoder_set_chunk(struct spe_decoder *decoder, const u8 *buf, size_t len, bool last)
{
	decoder->base += decoder->pos;
	decoder->pos = 0;
	decoder->buf = buf;
	decoder->len = len;
	decoder->open = !last;
}
SPE_EXPORT(spe_decoder_set_chunk);

/* Return the largest power of two that divides the offsets of all valid records. */
static size_t decoder_get_resync_step(const struct spe_decoder *d)
{
	if (d->align)
		return d->align;
	if (!d->starts)
		return 1;
	return d->starts & -d->starts;
}

/*
 * Return true if @sample may be the first record after damage. It must begin with the same type of
 * packet as the last valid record. It must not have unknown packets, because the tail of a damaged
 * record mostly has some.
 */
static bool record_may_follow_damage(const struct spe_decoder *d, const struct spe_sample *sample)
{
	u8 first = sample->raw[0];

	if (sample->present & SPE_HAS_OTHERS)
		return false;
	return d->first < 0 || spe_headers_alike((u8)d->first, first);
}

/*
 * The last run of records, which ended in bytes that are not a record. @at[i] is the offset of
 * record i, and @at[n] the offset of those bytes. A run from a nearby offset mostly continues with
 * the same records and ends at the same bytes. This cache prevents that hostile bytes make every
 * search long.
 */
struct record_run {
	size_t at[SPE_RESYNC_RECORDS + 1];
	unsigned int n;
};

/*
 * Return the number of records of the run, beginning at @pos; -1 if no record of the run begins at
 * @pos.
 */
static int run_count_records_from(const struct record_run *run, size_t pos)
{
	unsigned int i;

	for (i = 0; i <= run->n; i++)
		if (run->at[i] == pos)
			return (int)(run->n - i);
	return -1;
}

/* The result of parsing bytes as records; PARSES_UNKNOWN: it depends on bytes of a later chunk. */
enum parse_result {
	PARSES_NOT,
	PARSES,
	PARSES_UNKNOWN,
};

/*
 * Check whether the bytes from @pos on are valid records, up to the end of the window or for
 * SPE_RESYNC_RECORDS records. The byte at @pos must not be zero.
 */
static enum parse_result parse_records_from(const struct spe_decoder *d, size_t pos, bool strict,
					    struct record_run *failed)
{
	struct spe_sample sample;
	size_t zeros, space;
	struct record_run run;
	int r;

	for (run.n = 0; run.n < SPE_RESYNC_RECORDS; run.n++) {
		space = d->len - pos < SPE_RESYNC_ZEROS ? d->len - pos : SPE_RESYNC_ZEROS;
		zeros = spe_count_zeros(d->buf + pos, space);
		if (zeros == SPE_RESYNC_ZEROS)
			return PARSES;
		pos += zeros;
		if (pos == d->len)
			return d->open ? PARSES_UNKNOWN : PARSES;
		if (run.n || !strict) {
			r = run_count_records_from(failed, pos);
			if (r >= 0)
				return run.n + (unsigned int)r >= SPE_RESYNC_RECORDS ? PARSES :
										       PARSES_NOT;
		}
		run.at[run.n] = pos;
		r = spe_record_decode(d->buf + pos, d->len - pos, d->max_size, &sample);
		if (r == -ENODATA)
			return d->open ? PARSES_UNKNOWN : run.n ? PARSES : PARSES_NOT;
		if (r < 0) {
			if (run.n)
				*failed = run;
			return PARSES_NOT;
		}
		if (strict && !run.n && !record_may_follow_damage(d, &sample))
			return PARSES_NOT;
		pos += (size_t)r;
	}
	return PARSES;
}

/*
 * Find the nearest offset between @from and @to at which decoding can resume; @to if there is none.
 * Return false if the result depends on bytes of a later chunk.
 */
static bool decoder_find_resync_within(const struct spe_decoder *d, size_t from, size_t to,
				       bool strict, size_t *ret_next)
{
	struct record_run failed = { .n = 0, .at = { d->len } };
	size_t step = decoder_get_resync_step(d), next;
	enum parse_result parses;

	for (next = from + step - (d->base + from) % step; next < to; next += step) {
		if (!d->buf[next])
			continue;
		parses = parse_records_from(d, next, strict, &failed);
		if (parses == PARSES_UNKNOWN)
			return false;
		if (parses == PARSES)
			break;
	}
	*ret_next = next < to ? next : to;
	return true;
}

/*
 * Move to the nearest offset at which decoding can resume, or to the end of the window. Within
 * SPE_RESYNC_SPAN a likely record is preferred to a nearer offset, because damage mostly affects
 * only the rest of one record and the next record. Return false if the result depends on bytes of a
 * later chunk; the decoder is then at the last offset before which there is certainly no record.
 */
static bool decoder_find_resync(struct spe_decoder *d)
{
	size_t to, next;

	for (;;) {
		if (d->open && d->len - d->pos <= SPE_RESYNC_SPAN)
			return false;
		to = d->len - d->pos > SPE_RESYNC_SPAN ? d->pos + SPE_RESYNC_SPAN : d->len;
		if (!decoder_find_resync_within(d, d->pos, to, true, &next) ||
		    (next == to && !decoder_find_resync_within(d, d->pos, to, false, &next)))
			return false;
		if (next < to || to == d->len) {
			d->pos = next;
			return true;
		}
		d->pos = to - 1;
	}
}

static enum spe_decode_result decode_suspect(struct spe_decoder *d, int error,
					     struct spe_range *ret_range)
{
	size_t size;

	if (!d->broken)
		d->suspect = d->base + d->pos;
	d->broken = !decoder_find_resync(d);
	if (d->broken)
		return SPE_DECODE_MORE;
	size = d->base + d->pos - d->suspect;
	if (d->pos == d->len && error == -ENODATA)
		d->ledger.partial += size;
	d->ledger.suspect += size;
	d->ledger.suspect_ranges++;
	if (ret_range)
		*ret_range = (struct spe_range){ .offset = d->suspect, .size = size };
	return SPE_DECODE_SUSPECT;
}

enum spe_decode_result spe_decoder_next(struct spe_decoder *d, struct spe_sample *ret_sample,
					struct spe_range *ret_range)
{
	size_t zeros;
	int r;

	/*
	 * A suspect range that began in an earlier chunk is not the partial record at the end of
	 * the window.
	 */
	if (d->broken)
		return decode_suspect(d, -EBADMSG, ret_range);
	zeros = spe_count_zeros(d->buf + d->pos, d->len - d->pos);
	d->pos += zeros;
	d->ledger.padding += zeros;
	if (d->pos == d->len)
		return d->open ? SPE_DECODE_MORE : SPE_DECODE_END;

	/* A record that is not aligned (PMBIDR_EL1.Align) is the tail of a damaged one. */
	if (d->align && (d->base + d->pos) % d->align)
		return decode_suspect(d, -EBADMSG, ret_range);
	r = spe_record_decode(d->buf + d->pos, d->len - d->pos, d->max_size, ret_sample);
	if (r == -ENODATA && d->open)
		return SPE_DECODE_MORE;
	if (r < 0)
		return decode_suspect(d, r, ret_range);

	d->starts |= (u32)(d->base + d->pos);
	d->first = d->buf[d->pos];
	d->pos += (size_t)r;
	d->ledger.records++;
	d->ledger.decoded += (u64)r;
	return SPE_DECODE_SAMPLE;
}
SPE_EXPORT(spe_decoder_next);
