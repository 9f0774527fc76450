// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Create layouts of records that record.c decoded, and compare records with layouts, eight bytes at
 * a time.
 */
#include "layout.h"
#include "zeros.h"

static u64 size_to_mask(u8 size)
{
	return size ? ~0ULL >> (64 - 8 * size) : 0;
}

/* Add the packet at @offset to the layout. Return true if a layout can represent the packet. */
static bool layout_add_packet(struct spe_layout *l, const struct spe_packet *packet, u8 offset)
{
	u8 payload = (u8)(offset + packet->header_size);

	switch (packet->type) {
	case SPE_PACKET_ADDRESS:
		if (packet->index >= ARRAY_SIZE(l->address))
			return false;
		l->address[packet->index] = payload;
		if (packet->index < SPE_LAYOUT_ADDRESSES)
			l->address_mask[packet->index] = ~0ULL;
		return true;
	case SPE_PACKET_COUNTER:
		if (packet->index >= ARRAY_SIZE(l->counter))
			return false;
		l->counter[packet->index] = payload;
		if (packet->index < SPE_LAYOUT_COUNTERS)
			l->counter_mask[packet->index] = U16_MAX;
		return true;
	case SPE_PACKET_CONTEXT:
		l->context[packet->index] = payload;
		if (packet->index < SPE_LAYOUT_CONTEXTS)
			l->context_mask[packet->index] = U32_MAX;
		return true;
	case SPE_PACKET_EVENTS:
		l->events = payload;
		l->events_size = packet->payload_size;
		l->events_mask = size_to_mask(packet->payload_size);
		/*
		 * Payloads of all sizes are read as eight bytes, all of which must be within
		 * SPE_LAYOUT_BYTES.
		 */
		return payload <= SPE_LAYOUT_BYTES - sizeof(u64);
	case SPE_PACKET_DATA_SOURCE:
		l->source = payload;
		l->source_size = packet->payload_size;
		l->source_mask = (u16)size_to_mask(packet->payload_size);
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

/*
 * Return the distance in bytes from @sample, which @d has just decoded, to the next record. Only
 * zeros may be between the two, and both must begin with the same type of packet. Return 0 if the
 * bytes after the zeros are not a record of this core.
 */
static u8 layout_find_stride(const struct spe_decoder *d, const struct spe_sample *sample)
{
	size_t space = d->len - (size_t)(sample->raw - d->buf), stride = sample->size;
	const u8 *raw = sample->raw;

	if (space > SPE_LAYOUT_BYTES)
		space = SPE_LAYOUT_BYTES;
	stride += spe_count_zeros(raw + stride, space - stride);
	return stride == space || spe_headers_alike(raw[0], raw[stride]) ? (u8)stride : 0;
}

/*
 * Return the distance in bytes to the offset at which the next record is expected, given the
 * alignment of the earlier records in this window.
 */
static u8 layout_predict_stride(const struct spe_decoder *d, u8 size)
{
	size_t step = d->align ? d->align : d->starts & -d->starts, slot;

	if (!step)
		return size;
	if (step > SPE_LAYOUT_BYTES)
		step = SPE_LAYOUT_BYTES;
	slot = (size + step - 1) / step * step;
	return slot <= SPE_LAYOUT_BYTES ? (u8)slot : size;
}

static void layout_mask_bytes(struct spe_layout *l, size_t from, size_t to, u8 mask)
{
	memset((u8 *)l->mask + from, mask, to - from);
}

/*
 * Create the layout of a record that record.c decoded. Return false if no layout can describe it.
 */
static bool layout_init_from_record(struct spe_layout *l, const struct spe_sample *sample)
{
	struct spe_packet packet;
	size_t pos = 0;
	int r;

	if (sample->size > SPE_LAYOUT_BYTES)
		return false;
	memset(l, 0, sizeof(*l));
	l->present = sample->present;
	l->size = (u8)sample->size;
	while (pos < sample->size) {
		r = spe_packet_decode(sample->raw + pos, sample->size - pos, &packet);
		if (r < 0 || !layout_add_packet(l, &packet, (u8)pos))
			return false;
		memcpy((u8 *)l->match + pos, sample->raw + pos, packet.header_size);
		layout_mask_bytes(l, pos, pos + packet.header_size, 0xff);
		pos += (size_t)r;
	}
	return true;
}

/* Two words, which are compared at once if the CPU has vector registers */
typedef u64 word_pair __attribute__((vector_size(16)));

static inline word_pair word_pair_read(const void *p)
{
	word_pair pair;

	memcpy(&pair, p, sizeof(pair));
	return pair;
}

static inline u64 layout_differs_from(const struct spe_layout *l, const u8 *raw)
{
	word_pair differ = { 0 };
	unsigned int i;

	for (i = 0; i < SPE_LAYOUT_WORDS; i += 2)
		differ |= (word_pair_read(raw + 8 * i) ^ word_pair_read(&l->match[i])) &
			  word_pair_read(&l->mask[i]);
	return differ[0] | differ[1];
}

void spe_layout_read_rare(const struct spe_layout *l, const u8 *raw, struct spe_sample *ret_sample)
{
	unsigned int i;

	for (i = SPE_LAYOUT_ADDRESSES; i < ARRAY_SIZE(l->address); i++)
		if (l->address[i])
			ret_sample->address[i] = spe_get_le64(raw + l->address[i]);
	for (i = SPE_LAYOUT_COUNTERS; i < ARRAY_SIZE(l->counter); i++)
		if (l->counter[i])
			ret_sample->counter[i] = spe_get_le16(raw + l->counter[i]);
	for (i = SPE_LAYOUT_CONTEXTS; i < ARRAY_SIZE(l->context); i++)
		if (l->context[i])
			ret_sample->context[i] = spe_get_le32(raw + l->context[i]);
}
SPE_EXPORT(spe_layout_read_rare);

/*
 * Return the entry of &spe_layouts.by_key for @raw: the index of the layout that @raw probably has.
 * The key consists of the class and payload of the Operation Type packet, and of one bit for each
 * header in &spe_layouts.hint, which shows whether @raw has that header.
 */
static inline u8 *layouts_get_predicted(struct spe_layouts *layouts, const u8 *raw)
{
	const u8 *op = raw + layouts->key;
	unsigned int key = (u8)(op[0] << 6 ^ op[1]), i;

	for (i = 0; i < SPE_LAYOUT_HINTS; i++)
		key |= (raw[layouts->hint[i].at] == layouts->hint[i].header) << (8 + i);
	return &layouts->by_key[key];
}

/*
 * Add to &spe_layouts.hint the header that distinguishes @raw from layout @l, which was the wrong
 * guess for @raw.
 */
static void layouts_add_hint(struct spe_layouts *layouts, const struct spe_layout *l, const u8 *raw)
{
	const u8 *match = (const u8 *)l->match, *mask = (const u8 *)l->mask;
	u8 at, header;

	/* If the class differs, layout @l was the initial value of the table and not a guess. */
	if (layouts->hints == SPE_LAYOUT_HINTS || match[layouts->key] != raw[layouts->key])
		return;
	for (at = 0; at < l->size; at++)
		if (mask[at] && raw[at] != match[at])
			break;
	if (at == l->size)
		return;
	header = match[at] ? match[at] : raw[at];
	if (layouts->hints && layouts->hint[0].at == at && layouts->hint[0].header == header)
		return;
	layouts->hint[layouts->hints].at = at;
	layouts->hint[layouts->hints++].header = header;
}

/* Search the layout of @raw after a wrong guess. Return -1 if there is none. */
static __attribute__((__noinline__)) int layouts_search_match(struct spe_layouts *layouts,
							      const u8 *raw)
{
	unsigned int guess = *layouts_get_predicted(layouts, raw);
	int i;

	for (i = 0; i < layouts->count; i++) {
		if (layout_differs_from(&layouts->layout[i], raw))
			continue;
		layouts_add_hint(layouts, &layouts->layout[guess], raw);
		*layouts_get_predicted(layouts, raw) = (u8)i;
		return i;
	}
	return -1;
}

static struct spe_layout *layouts_find_same(struct spe_layouts *layouts, const struct spe_layout *l)
{
	struct spe_layout *known;
	unsigned int i;

	for (i = 0; i < layouts->count; i++) {
		known = &layouts->layout[i];
		if (known->size == l->size && !memcmp(known->match, l->match, sizeof(l->match)) &&
		    !memcmp(known->mask, l->mask, l->size))
			return known;
	}
	return NULL;
}

static void layouts_add(struct spe_layouts *layouts, const struct spe_decoder *d,
			const struct spe_sample *sample)
{
	struct spe_layout layout, *known;

	if (!layout_init_from_record(&layout, sample))
		return;
	layout.stride = layout_find_stride(d, sample);
	known = layouts_find_same(layouts, &layout);
	if (known) {
		/*
		 * The known stride is too large, because a record was discarded between the two
		 * records from which it was computed.
		 */
		if (layout.stride && layout.stride < known->stride) {
			layout_mask_bytes(known, layout.stride, known->stride, 0);
			known->stride = layout.stride;
		}
		return;
	}
	if (!layout.stride)
		layout.stride = layout_predict_stride(d, layout.size);
	layout_mask_bytes(&layout, layout.size, layout.stride, 0xff);
	if (layout.subclass_mask)
		layouts->key = (u8)(layout.subclass - 1);
	layouts->layout[layouts->next] = layout;
	layouts->next = (u8)((layouts->next + 1) % SPE_LAYOUTS);
	if (layouts->count < SPE_LAYOUTS)
		layouts->count++;
}

static enum spe_decode_result decode_without_layout(struct spe_decoder *d,
						    struct spe_layouts *layouts,
						    struct spe_sample *ret_sample,
						    struct spe_range *ret_range)
{
	enum spe_decode_result r = spe_decoder_next(d, ret_sample, ret_range);

	/*
	 * At the end of the window, a record may have a layout but too few bytes after it to
	 * match.
	 */
	if (r == SPE_DECODE_SAMPLE &&
	    d->len - (size_t)(ret_sample->raw - d->buf) >= SPE_LAYOUT_BYTES)
		layouts_add(layouts, d, ret_sample);
	return r;
}

static void decoder_skip_zeros(struct spe_decoder *d)
{
	size_t zeros;

	/* Bytes of a suspect range are not a record. */
	if (d->pos == d->len || d->buf[d->pos] || d->broken)
		return;
	zeros = spe_count_zeros(d->buf + d->pos, d->len - d->pos);
	d->pos += zeros;
	d->ledger.padding += zeros;
}

/* Return whether there are enough bytes at the decoder's position to match any layout. */
static bool decoder_can_match(const struct spe_decoder *d, const struct spe_layouts *layouts)
{
	return layouts->count && d->len - d->pos >= SPE_LAYOUT_BYTES &&
	       d->max_size >= SPE_LAYOUT_BYTES && !d->broken &&
	       !(d->align && (d->base + d->pos) % d->align);
}

/*
 * Fill @run with records, beginning at the decoder's position. No branch depends on the kind of
 * record. As long as strides are equal, the position of the next record does not depend on a load,
 * so the CPU can process several records in parallel.
 */
static void run_fill_with_records(struct spe_decoder *d, struct spe_layouts *layouts,
				  struct spe_layout_run *run)
{
	size_t pos = d->base + d->pos, last = d->base + d->len - SPE_LAYOUT_BYTES;
	size_t decoded = 0, stride = 0;
	/* Alignments are powers of two (PMBIDR_EL1.Align); the caller handles others. */
	size_t misaligned = d->align ? d->align - 1 : 0;
	const u8 *raw = d->buf + d->pos;
	const struct spe_layout *l;
	unsigned int n = 0;
	u32 starts = 0;
	int i;

	do {
		i = *layouts_get_predicted(layouts, raw);
		l = &layouts->layout[i];
		if (layout_differs_from(l, raw)) {
			i = layouts_search_match(layouts, raw);
			if (i < 0)
				break;
			l = &layouts->layout[i];
		}
		run->raw[n] = raw;
		run->layout[n++] = (u8)i;
		decoded += l->size;
		starts |= (u32)pos;
		if (l->stride != stride) {
			stride = l->stride;
			/*
			 * Prevent the compiler from turning the branch into a conditional move,
			 * which would wait for the load of the stride.
			 */
			__asm__ volatile("" : "+r"(stride));
		}
		pos += stride;
		raw += stride;
	} while (n < SPE_RUN && pos <= last && !(pos & misaligned));

	run->count = n;
	if (!n)
		return;
	d->starts |= starts;
	d->first = run->raw[n - 1][0];
	d->ledger.records += n;
	d->ledger.decoded += decoded;
	d->ledger.padding += pos - d->base - d->pos - decoded;
	d->pos = pos - d->base;
}

enum spe_decode_result spe_decoder_next_run(struct spe_decoder *d, struct spe_layouts *layouts,
					    struct spe_layout_run *ret_run,
					    struct spe_sample *ret_sample,
					    struct spe_range *ret_range)
{
	decoder_skip_zeros(d);
	if (decoder_can_match(d, layouts) && !(d->align & (d->align - 1))) {
		run_fill_with_records(d, layouts, ret_run);
		if (ret_run->count)
			return SPE_DECODE_RUN;
	}
	return decode_without_layout(d, layouts, ret_sample, ret_range);
}
SPE_EXPORT(spe_decoder_next_run);

enum spe_decode_result spe_decoder_next_fast(struct spe_decoder *d, struct spe_layouts *layouts,
					     struct spe_sample *ret_sample,
					     struct spe_range *ret_range)
{
	const struct spe_layout *l;
	const u8 *raw;
	int i;

	decoder_skip_zeros(d);
	if (!decoder_can_match(d, layouts))
		return decode_without_layout(d, layouts, ret_sample, ret_range);

	raw = d->buf + d->pos;
	i = *layouts_get_predicted(layouts, raw);
	if (layout_differs_from(&layouts->layout[i], raw))
		i = layouts_search_match(layouts, raw);
	if (i < 0)
		return decode_without_layout(d, layouts, ret_sample, ret_range);

	l = &layouts->layout[i];
	spe_layout_read(l, raw, ret_sample);
	if (l->present & SPE_LAYOUT_RARE)
		spe_layout_read_rare(l, raw, ret_sample);
	d->starts |= (u32)(d->base + d->pos);
	d->first = raw[0];
	d->pos += l->size;
	d->ledger.records++;
	d->ledger.decoded += l->size;
	return SPE_DECODE_SAMPLE;
}
SPE_EXPORT(spe_decoder_next_fast);
