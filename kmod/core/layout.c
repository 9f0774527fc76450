// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Layouts: learned from what the general path read, matched eight bytes at a time. */
#include "layout.h"
#include "zeros.h"

/* A field is read as eight bytes wherever it is, so some must follow the record. */
#define READ_BYTES (SPE_LAYOUT_BYTES + sizeof(u64))

static u64 size_mask(u8 size)
{
	return size ? ~0ULL >> (64 - 8 * size) : 0;
}

/* Note the packet at @offset; returns whether a layout can hold it. */
static bool layout_add(struct spe_layout *l, const struct spe_packet *packet, u8 offset)
{
	u8 payload = (u8)(offset + packet->header_size);

	switch (packet->type) {
	case SPE_PACKET_ADDRESS:
		if (packet->index >= ARRAY_SIZE(l->address))
			return false;
		l->address[packet->index] = payload;
		l->address_mask[packet->index] = ~0ULL;
		return true;
	case SPE_PACKET_COUNTER:
		if (packet->index >= ARRAY_SIZE(l->counter))
			return false;
		l->counter[packet->index] = payload;
		l->counter_mask[packet->index] = U16_MAX;
		return true;
	case SPE_PACKET_CONTEXT:
		l->context[packet->index] = payload;
		l->context_mask[packet->index] = U32_MAX;
		return true;
	case SPE_PACKET_EVENTS:
		l->events = payload;
		l->events_size = packet->payload_size;
		l->events_mask = size_mask(packet->payload_size);
		return true;
	case SPE_PACKET_DATA_SOURCE:
		l->source = payload;
		l->source_size = packet->payload_size;
		l->source_mask = (u16)size_mask(packet->payload_size);
		return true;
	case SPE_PACKET_OP_TYPE:
		l->subclass = payload;
		l->subclass_mask = U8_MAX;
		l->op_class = packet->index;
		return true;
	case SPE_PACKET_TIMESTAMP:
		l->timestamp = payload;
		l->timestamp_mask = ~0ULL;
		return true;
	default:
		return packet->type != SPE_PACKET_UNKNOWN;
	}
}

static void layout_init(struct spe_layout *l, const struct spe_sample *sample)
{
	memset(l, 0, sizeof(*l));
	l->present = sample->present;
	l->size = (u8)sample->size;
}

/* The layout of a record that the general path read; false if it has none. */
static bool layout_learn(struct spe_layout *l, const struct spe_sample *sample)
{
	u8 match[SPE_LAYOUT_BYTES] = { 0 }, mask[SPE_LAYOUT_BYTES] = { 0 };
	struct spe_packet packet;
	size_t pos = 0;
	int r;

	if (sample->size > SPE_LAYOUT_BYTES)
		return false;
	layout_init(l, sample);
	while (pos < sample->size) {
		r = spe_packet_decode(sample->raw + pos, sample->size - pos, &packet);
		if (r < 0 || !layout_add(l, &packet, (u8)pos))
			return false;
		memcpy(match + pos, sample->raw + pos, packet.header_size);
		memset(mask + pos, 0xff, packet.header_size);
		pos += (size_t)r;
	}
	memcpy(l->match, match, sizeof(match));
	memcpy(l->mask, mask, sizeof(mask));
	return true;
}

static bool layout_matches(const struct spe_layout *l, const u8 *raw)
{
	u64 differ = 0, word;
	unsigned int i;

	for (i = 0; i < SPE_LAYOUT_WORDS; i++) {
		memcpy(&word, raw + 8 * i, sizeof(word));
		differ |= (word ^ l->match[i]) & l->mask[i];
	}
	return !differ;
}

/* What no core is known to write: indices that are IMPLEMENTATION DEFINED or reserved. */
#define RARE                                                                                       \
	(SPE_HAS_ADDRESS(5) | SPE_HAS_ADDRESS(6) | SPE_HAS_ADDRESS(7) | SPE_HAS_COUNTER(3) |       \
	 SPE_HAS_COUNTER(4) | SPE_HAS_COUNTER(5) | SPE_HAS_COUNTER(6) | SPE_HAS_COUNTER(7) |       \
	 SPE_HAS_CONTEXT(2) | SPE_HAS_CONTEXT(3))

static void read_rare(const struct spe_layout *l, const u8 *raw, struct spe_sample *ret_sample)
{
	unsigned int i;

	for (i = 5; i < ARRAY_SIZE(l->address); i++)
		ret_sample->address[i] = spe_get_le64(raw + l->address[i]) & l->address_mask[i];
	for (i = 3; i < ARRAY_SIZE(l->counter); i++)
		ret_sample->counter[i] = spe_get_le16(raw + l->counter[i]) & l->counter_mask[i];
	for (i = 2; i < ARRAY_SIZE(l->context); i++)
		ret_sample->context[i] = spe_get_le32(raw + l->context[i]) & l->context_mask[i];
}

static void layout_read(const struct spe_layout *l, const u8 *raw, struct spe_sample *ret_sample)
{
	unsigned int i;

	for (i = 0; i < 5; i++)
		ret_sample->address[i] = spe_get_le64(raw + l->address[i]) & l->address_mask[i];
	for (i = 0; i < 3; i++)
		ret_sample->counter[i] = spe_get_le16(raw + l->counter[i]) & l->counter_mask[i];
	for (i = 0; i < 2; i++)
		ret_sample->context[i] = spe_get_le32(raw + l->context[i]) & l->context_mask[i];
	memset(&ret_sample->address[5], 0, 3 * sizeof(ret_sample->address[0]));
	memset(&ret_sample->counter[3], 0, 5 * sizeof(ret_sample->counter[0]));
	memset(&ret_sample->context[2], 0, 2 * sizeof(ret_sample->context[0]));
	if (l->present & RARE)
		read_rare(l, raw, ret_sample);
	ret_sample->present = l->present;
	ret_sample->events = spe_get_le64(raw + l->events) & l->events_mask;
	ret_sample->timestamp = spe_get_le64(raw + l->timestamp) & l->timestamp_mask;
	ret_sample->source = spe_get_le16(raw + l->source) & l->source_mask;
	ret_sample->op_class = l->op_class;
	ret_sample->op_subclass = raw[l->subclass] & l->subclass_mask;
	ret_sample->events_size = l->events_size;
	ret_sample->source_size = l->source_size;
	ret_sample->size = l->size;
	ret_sample->raw = raw;
}

/* The layout of @raw, first the one that had the same operation class the last time. */
static int layouts_find(const struct spe_layouts *layouts, const u8 *raw)
{
	unsigned int guess = layouts->by_key[raw[layouts->key]], i;

	if (guess < layouts->count && layout_matches(&layouts->layout[guess], raw))
		return (int)guess;
	for (i = 0; i < layouts->count; i++)
		if (layout_matches(&layouts->layout[i], raw))
			return (int)i;
	return -1;
}

static void layouts_add(struct spe_layouts *layouts, const struct spe_sample *sample)
{
	struct spe_layout layout;

	if (!layout_learn(&layout, sample))
		return;
	if (layout.subclass_mask)
		layouts->key = (u8)(layout.subclass - 1);
	layouts->layout[layouts->next] = layout;
	layouts->next = (u8)((layouts->next + 1) % SPE_LAYOUTS);
	if (layouts->count < SPE_LAYOUTS)
		layouts->count++;
}

static enum spe_decode next_general(struct spe_decoder *d, struct spe_layouts *layouts,
				    struct spe_sample *ret_sample, struct spe_range *ret_range)
{
	enum spe_decode r = spe_decoder_next(d, ret_sample, ret_range);

	if (r == SPE_DECODE_SAMPLE)
		layouts_add(layouts, ret_sample);
	return r;
}

enum spe_decode spe_decoder_next_fast(struct spe_decoder *d, struct spe_layouts *layouts,
				      struct spe_sample *ret_sample, struct spe_range *ret_range)
{
	const u8 *raw;
	size_t zeros;
	int i;

	if (d->pos < d->len && !d->buf[d->pos]) {
		zeros = spe_count_zeros(d->buf + d->pos, d->len - d->pos);
		d->pos += zeros;
		d->ledger.padding += zeros;
	}
	if (d->len - d->pos < READ_BYTES || (d->align && d->pos % d->align))
		return spe_decoder_next(d, ret_sample, ret_range);

	raw = d->buf + d->pos;
	i = layouts_find(layouts, raw);
	if (i < 0 || layouts->layout[i].size > d->max_size)
		return next_general(d, layouts, ret_sample, ret_range);

	layouts->by_key[raw[layouts->key]] = (u8)i;
	layout_read(&layouts->layout[i], raw, ret_sample);
	d->starts |= (u32)d->pos;
	d->first = raw[0];
	d->pos += ret_sample->size;
	d->ledger.records++;
	d->ledger.decoded += ret_sample->size;
	return SPE_DECODE_SAMPLE;
}
SPE_EXPORT(spe_decoder_next_fast);
