// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Write the record of an operation (D17.6, D17.6.9).
 */
#include "spu-internal.h"

/**
 * struct packet_kind - a packet as this SPU outputs it
 * @type: &enum spe_packet_type
 * @index: INDEX, unless the configuration specifies it; CLASS of the Operation Type packet is added
 * for each record
 * @size: size of the payload in bytes; 0: the configuration specifies it
 * @offset: offset of the packet in records of Neoverse cores, in bytes
 */
struct packet_kind {
	u8 type;
	u8 index;
	u8 size;
	u8 offset;
};

static const struct packet_kind kinds[SPE_SPU_KINDS] = {
	[SPE_SPU_KIND_PC] = { SPE_PACKET_ADDRESS, SPE_ADDRESS_PC, 8, 0 },
	[SPE_SPU_KIND_CONTEXT1] = { SPE_PACKET_CONTEXT, SPE_CONTEXT_EL1, 4, 9 },
	[SPE_SPU_KIND_CONTEXT2] = { SPE_PACKET_CONTEXT, SPE_CONTEXT_EL2, 4, 14 },
	[SPE_SPU_KIND_OP] = { SPE_PACKET_OP_TYPE, 0, 1, 19 },
	[SPE_SPU_KIND_EVENTS] = { SPE_PACKET_EVENTS, 0, 0, 21 },
	[SPE_SPU_KIND_ISSUE] = { SPE_PACKET_COUNTER, SPE_COUNTER_ISSUE, 2, 24 },
	[SPE_SPU_KIND_TOTAL] = { SPE_PACKET_COUNTER, SPE_COUNTER_TOTAL, 2, 27 },
	[SPE_SPU_KIND_TARGET] = { SPE_PACKET_ADDRESS, SPE_ADDRESS_TARGET, 8, 30 },
	[SPE_SPU_KIND_PREV_TARGET] = { SPE_PACKET_ADDRESS, SPE_ADDRESS_PREV_TARGET, 8, 39 },
	[SPE_SPU_KIND_VA] = { SPE_PACKET_ADDRESS, SPE_ADDRESS_VA, 8, 30 },
	[SPE_SPU_KIND_TRANSLATION] = { SPE_PACKET_COUNTER, SPE_COUNTER_TRANSLATION, 2, 39 },
	[SPE_SPU_KIND_PA] = { SPE_PACKET_ADDRESS, SPE_ADDRESS_PA, 8, 42 },
	[SPE_SPU_KIND_SOURCE] = { SPE_PACKET_DATA_SOURCE, 0, 0, 51 },
	/* Write the packet at the offset of the Issue latency, which it replaces. */
	[SPE_SPU_KIND_ALT_ISSUE] = { SPE_PACKET_COUNTER, SPE_COUNTER_ALT_ISSUE, 2, 24 },
	/* IMPDEF packets exist only in the packed layout, so their offset is not used. */
	[SPE_SPU_KIND_IMPDEF_ADDRESS] = { SPE_PACKET_ADDRESS, 0, 8, 0 },
	[SPE_SPU_KIND_IMPDEF_COUNTER] = { SPE_PACKET_COUNTER, 0, 2, 0 },
	[SPE_SPU_KIND_TIMESTAMP] = { SPE_PACKET_TIMESTAMP, 0, 8, 55 },
	[SPE_SPU_KIND_END] = { SPE_PACKET_END, 0, 0, 55 },
};

/* Size of a record in the fixed layout, with the offsets above. */
#define SLOTS_SIZE 64

static u8 get_payload_size(const struct spe_spu_config *config, enum spe_spu_packet_kind kind)
{
	switch (kind) {
	case SPE_SPU_KIND_EVENTS:
		return config->events_size;
	case SPE_SPU_KIND_SOURCE:
		return config->source_size;
	default:
		return kinds[kind].size;
	}
}

static u8 get_packet_index(const struct spe_spu_config *config, enum spe_spu_packet_kind kind)
{
	switch (kind) {
	case SPE_SPU_KIND_IMPDEF_ADDRESS:
		return config->impdef_address;
	case SPE_SPU_KIND_IMPDEF_COUNTER:
		return config->impdef_counter;
	default:
		return kinds[kind].index;
	}
}

static bool has_index(enum spe_spu_packet_kind kind)
{
	return kinds[kind].type == SPE_PACKET_ADDRESS || kinds[kind].type == SPE_PACKET_COUNTER;
}

/* Return the kinds of packets that this SPU ever writes. */
static u32 config_get_output_kinds(const struct spe_spu_config *config)
{
	u32 output = (1U << SPE_SPU_KINDS) - 1;

	if (!config->impdef_address)
		output &= ~(1U << SPE_SPU_KIND_IMPDEF_ADDRESS);
	if (!config->impdef_counter)
		output &= ~(1U << SPE_SPU_KIND_IMPDEF_COUNTER);
	if (config->omit_counters >> SPE_COUNTER_TOTAL & 1)
		output &= ~(1U << SPE_SPU_KIND_TOTAL);
	if (config->omit_counters >> SPE_COUNTER_ISSUE & 1)
		output &= ~(1U << SPE_SPU_KIND_ISSUE);
	if (config->omit_counters >> SPE_COUNTER_TRANSLATION & 1)
		output &= ~(1U << SPE_SPU_KIND_TRANSLATION);
	return output;
}

void spe_spu_prepare_headers(struct spe_spu *spu)
{
	for (unsigned int kind = 0; kind < SPE_SPU_KINDS; kind++) {
		struct spe_packet packet = {
			.type = kinds[kind].type,
			.index = get_packet_index(&spu->config, kind),
			.payload_size = get_payload_size(&spu->config, kind),
		};
		bool extended = has_index(kind) &&
				(packet.index > 7 || spu->config.choices & SPE_CHOICE_EXTENDED);

		/* In the extended format, a byte with INDEX[4:3] precedes the short header. */
		spu->extended[kind] = extended ? (u8)(0x20 | packet.index >> 3) : 0;
		packet.index &= has_index(kind) ? 7 : 0x1f;
		/* Cannot fail: spu-config.c refuses sizes that packets cannot have. */
		spe_packet_encode(&packet, spu->record, sizeof(spu->record));
		spu->headers[kind] = spu->record[0];
		spu->sizes[kind] = packet.payload_size;
	}
	spu->output = config_get_output_kinds(&spu->config);
	spu->gcs = spu->config.pe & SPE_PE_GCS && spu->config.pmsver >= SPE_PMSVER_V1P4;
}

/* The state of writing a record to spu->record */
struct packet_writer {
	struct spe_spu *spu;
	size_t size;
	u32 output; /* the kinds that are output */
	bool slots;
};

static void add_packet_with_header(struct packet_writer *w, enum spe_spu_packet_kind kind,
				   u8 header, u64 payload)
{
	u8 size = w->spu->sizes[kind];
	u8 *p;

	if (!(w->output >> kind & 1))
		return;
	if (w->slots)
		w->size = kinds[kind].offset;
	p = w->spu->record + w->size;
	w->size += 1 + (size_t)size;
	if (w->spu->extended[kind]) {
		*p++ = w->spu->extended[kind];
		w->size++;
	}
	*p++ = header;
	switch (size) {
	case 1:
		*p = (u8)payload;
		break;
	case 2:
		spe_put_le16(p, (u16)payload);
		break;
	case 4:
		spe_put_le32(p, (u32)payload);
		break;
	case 8:
		spe_put_le64(p, payload);
		break;
	}
}

static void add_packet(struct packet_writer *w, enum spe_spu_packet_kind kind, u64 payload)
{
	add_packet_with_header(w, kind, w->spu->headers[kind], payload);
}

/*
 * Return the payload of the Operation Type packet. A field that an optional feature adds is 0
 * without the feature (D18.2.7).
 */
static u8 make_op_payload(const struct spe_spu *spu, const struct spe_operation *operation)
{
	u8 payload = operation->op_subclass;

	switch (spe_op_format(operation->op_class, payload)) {
	case SPE_OP_FORMAT_OTHER:
		if (!(spu->config.features & SPE_PMSIDR_FPF))
			payload &= (u8) ~(SPE_OP_ASE | SPE_OP_FP);
		break;
	case SPE_OP_FORMAT_BRANCH:
		if (!(spu->config.features & SPE_PMSIDR_CRR))
			payload &= (u8)~SPE_OP_BR_CR;
		else if (!(payload & SPE_OP_BR_CR))
			/*
			 * With FEAT_SPE_CRR the field CR must not be 0b00; 0b11 means neither link
			 * nor return.
			 */
			payload |= (u8)SPE_OP_BR_CR;
		if (!spu->gcs)
			payload &= (u8)~SPE_OP_BR_GCS;
		break;
	default:
		break;
	}
	return payload;
}

static void add_operation_type(struct packet_writer *w, const struct spe_operation *operation)
{
	add_packet_with_header(w, SPE_SPU_KIND_OP,
			       w->spu->headers[SPE_SPU_KIND_OP] | (operation->op_class & 3),
			       make_op_payload(w->spu, operation));
}

/* NS and NSE of the operation's Security state (D18.2.1). */
static u64 make_security_state_bits(const struct spe_operation *operation)
{
	return (operation->ns ? SPE_ADDRESS_NS : 0) | (operation->nse ? SPE_ADDRESS_NSE : 0);
}

/*
 * Return a PC or branch target (D18.2.1); @top has its Exception level and Security state if
 * @has_top is set.
 */
static u64 make_code_address(const struct spe_operation *operation, u64 address, bool has_top,
			     u8 top)
{
	if (has_top)
		return (address & SPE_ADDRESS_BITS) | SPE_FIELD_PREP(SPE_ADDRESS_TAG, top);
	return (address & SPE_ADDRESS_BITS) | SPE_FIELD_PREP(SPE_ADDRESS_EL, operation->el) |
	       make_security_state_bits(operation);
}

/*
 * Return the payload of a data virtual address. Its top byte is recorded if address tagging
 * applies; otherwise the configuration selects whether it is recorded. If the operation does not
 * specify whether tagging applies, it applies in the lower half of the address space, as on Linux.
 */
static u64 make_data_address(const struct spe_spu *spu, const struct spe_operation *operation)
{
	bool tagged = !(operation->va & SPE_BIT(55));

	if (operation->valid & (SPE_OPERATION_TBI | SPE_OPERATION_NO_TBI | SPE_OPERATION_TAGGED))
		tagged = operation->valid & (SPE_OPERATION_TBI | SPE_OPERATION_TAGGED);
	return tagged || spu->config.va_tag ? operation->va : operation->va & SPE_ADDRESS_BITS;
}

static u64 make_physical_address(const struct spe_spu *spu, const struct spe_operation *operation)
{
	u64 address = operation->pa & SPE_ADDRESS_BITS;

	address |= operation->valid & SPE_OPERATION_PA_NS ? SPE_ADDRESS_NS :
							    make_security_state_bits(operation);
	if (!(spu->config.pe & SPE_PE_MTE2))
		return address;
	if (operation->valid & SPE_OPERATION_CHECKED)
		address |= SPE_ADDRESS_PA_CH;
	else if (!(spu->config.choices & SPE_CHOICE_PAT_UNCHECKED))
		return address;
	return address | SPE_FIELD_PREP(SPE_ADDRESS_PA_PAT, operation->tag);
}

/* Operations above EL2 are never sampled. If a caller passes one, the rules of EL2 apply. */
static const struct spe_collection *select_collection(const struct spe_spu *spu,
						      const struct spe_operation *operation)
{
	return &spu->collect[operation->el < 2 ? operation->el : 2];
}

static void add_context(struct packet_writer *w, const struct spe_spu *spu,
			const struct spe_operation *operation)
{
	const struct spe_collection *collect = select_collection(spu, operation);

	if (collect->context1 && operation->valid & SPE_OPERATION_CONTEXT1)
		add_packet(w, SPE_SPU_KIND_CONTEXT1, operation->contextidr_el1);
	if (collect->context2 && operation->valid & SPE_OPERATION_CONTEXT2)
		add_packet(w, SPE_SPU_KIND_CONTEXT2, operation->contextidr_el2);
}

static void add_translation_latency(struct packet_writer *w, const struct spe_spu *spu,
				    const struct spe_operation *operation)
{
	add_packet(w, SPE_SPU_KIND_TRANSLATION,
		   spe_spu_saturate_counter(spu, operation->translation));
}

static void add_memory_packets(struct packet_writer *w, const struct spe_spu *spu,
			       const struct spe_operation *operation)
{
	u32 valid = operation->valid;

	/*
	 * D17.6.4: if the access did not occur, the record has neither its address nor its
	 * translation latency.
	 */
	if (valid & SPE_OPERATION_VA) {
		add_packet(w, SPE_SPU_KIND_VA, make_data_address(spu, operation));
		if (!(valid & SPE_OPERATION_NO_TRANSLATION))
			add_translation_latency(w, spu, operation);
		if (valid & SPE_OPERATION_PA && select_collection(spu, operation)->pa)
			add_packet(w, SPE_SPU_KIND_PA, make_physical_address(spu, operation));
	} else if (valid & SPE_OPERATION_TRANSLATION) {
		add_translation_latency(w, spu, operation);
	}
	/* D18.2.4: the Data Source packet identifies the source of the data of a load. */
	if (valid & SPE_OPERATION_SOURCE && spu->config.features & SPE_PMSIDR_LDS &&
	    (spe_operation_is_load(operation) || valid & SPE_OPERATION_ANY_SOURCE))
		add_packet(w, SPE_SPU_KIND_SOURCE, operation->source);
}

/*
 * Add the target of the previous branch (D17.6.3.1). Records of taken branches have it; the
 * configuration selects whether records of other operations have it. Operations that did not retire
 * never have it.
 */
static void add_previous_target(struct packet_writer *w, const struct spe_spu *spu,
				const struct spe_operation *operation)
{
	bool taken = operation->op_class == SPE_OP_BRANCH &&
		     operation->valid & SPE_OPERATION_TARGET &&
		     !(operation->events & SPE_BIT(SPE_EVENT_NOT_TAKEN));

	if (spu->config.features & SPE_PMSIDR_PBT && operation->valid & SPE_OPERATION_PREV_TARGET &&
	    (taken || spu->config.pbt_always))
		add_packet(w, SPE_SPU_KIND_PREV_TARGET,
			   make_code_address(operation, operation->prev_target,
					     operation->valid & SPE_OPERATION_PREV_TOP,
					     operation->prev_top));
}

/* Write the Issue latency, or its count in another clock domain (D17.6.1). */
static void add_issue_latency(struct packet_writer *w, const struct spe_spu *spu,
			      const struct spe_operation *operation)
{
	if (operation->valid & SPE_OPERATION_ALT_CLOCK && spu->config.altclk)
		add_packet(w, SPE_SPU_KIND_ALT_ISSUE,
			   spe_spu_saturate_counter(spu, operation->alt_issue));
	else
		add_packet(w, SPE_SPU_KIND_ISSUE, spe_spu_saturate_counter(spu, operation->issue));
}

static void add_impdef_packets(struct packet_writer *w, const struct spe_spu *spu,
			       const struct spe_operation *operation)
{
	if (operation->valid & SPE_OPERATION_IMPDEF_COUNTER)
		add_packet(w, SPE_SPU_KIND_IMPDEF_COUNTER,
			   spe_spu_saturate_counter(spu, operation->impdef_counter));
	if (operation->valid & SPE_OPERATION_IMPDEF_ADDRESS)
		add_packet(w, SPE_SPU_KIND_IMPDEF_ADDRESS, operation->impdef_address);
}

static bool has_memory_access(const struct spe_spu *spu, const struct spe_operation *operation)
{
	return operation->op_class != SPE_OP_BRANCH ||
	       (spu->gcs && operation->op_subclass & SPE_OP_BR_GCS);
}

static void add_packets(struct packet_writer *w, const struct spe_spu *spu,
			const struct spe_operation *operation)
{
	bool excepted = operation->events & SPE_BIT(SPE_EVENT_EXCEPTION);
	bool complete = !excepted && operation->events & SPE_BIT(SPE_EVENT_RETIRED);
	bool all = complete || spu->config.incomplete != SPE_SPU_INCOMPLETE_EVENTS;

	if (all) {
		add_packet(w, SPE_SPU_KIND_PC,
			   make_code_address(operation, operation->pc, false, 0));
		add_context(w, spu, operation);
		add_operation_type(w, operation);
	}
	add_packet(w, SPE_SPU_KIND_EVENTS, operation->events & spu->events);
	if (!all)
		return;
	add_issue_latency(w, spu, operation);
	add_packet(w, SPE_SPU_KIND_TOTAL, spe_spu_saturate_counter(spu, operation->total));
	/* D17.6: the branch target is not recorded for an operation that generated an exception. */
	if (operation->op_class == SPE_OP_BRANCH && operation->valid & SPE_OPERATION_TARGET &&
	    !excepted)
		add_packet(w, SPE_SPU_KIND_TARGET,
			   make_code_address(operation, operation->target,
					     operation->valid & SPE_OPERATION_TARGET_TOP,
					     operation->target_top));
	if (has_memory_access(spu, operation))
		add_memory_packets(w, spu, operation);
	if (complete)
		add_previous_target(w, spu, operation);
	if (w->output & (1U << SPE_SPU_KIND_IMPDEF_ADDRESS | 1U << SPE_SPU_KIND_IMPDEF_COUNTER))
		add_impdef_packets(w, spu, operation);
}

/*
 * D17.6.10: an incomplete operation has Events and End or Timestamp packets. With
 * SPE_SPU_INCOMPLETE_SOME, the other packets are output at random.
 */
static u32 select_output_kinds(struct spe_spu *spu, const struct spe_operation *operation)
{
	const u64 complete = SPE_BIT(SPE_EVENT_EXCEPTION) | SPE_BIT(SPE_EVENT_RETIRED);

	if (spu->config.incomplete != SPE_SPU_INCOMPLETE_SOME ||
	    (operation->events & complete) == SPE_BIT(SPE_EVENT_RETIRED))
		return spu->output;
	return spu->output & ((u32)spe_spu_draw_random(spu) | 1U << SPE_SPU_KIND_EVENTS |
			      1U << SPE_SPU_KIND_TIMESTAMP | 1U << SPE_SPU_KIND_END);
}

static void add_end_or_timestamp(struct packet_writer *w, const struct spe_spu *spu,
				 const struct spe_operation *operation)
{
	const struct spe_collection *collect = select_collection(spu, operation);

	if (collect->time == SPE_COLLECTION_TIME_NONE)
		add_packet(w, SPE_SPU_KIND_END, 0);
	else if (collect->time == SPE_COLLECTION_TIME_UNKNOWN)
		add_packet(w, SPE_SPU_KIND_TIMESTAMP, spe_spu_draw_random(w->spu));
	else
		add_packet(w, SPE_SPU_KIND_TIMESTAMP, operation->timestamp - collect->offset);
}

size_t spe_spu_write_record(struct spe_spu *spu, const struct spe_operation *operation)
{
	struct packet_writer w = {
		.spu = spu,
		.output = select_output_kinds(spu, operation),
		.slots = spu->config.layout == SPE_SPU_LAYOUT_SLOTS,
	};
	size_t align = (size_t)1 << spu->config.align;
	size_t size;

	if (w.slots)
		memset(spu->record, 0, SLOTS_SIZE);
	add_packets(&w, spu, operation);
	add_end_or_timestamp(&w, spu, operation);

	size = (w.size + align - 1) & ~(align - 1);
	if (size > w.size)
		memset(spu->record + w.size, 0, size - w.size);
	return size;
}
