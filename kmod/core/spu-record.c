// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What of an operation is recorded (D17.6, D17.6.9), as bytes.
 */
#include "spu-internal.h"

/**
 * struct kind - a packet as this SPU outputs it
 * @type: &enum spe_packet_type
 * @index: INDEX; CLASS of the Operation Type packet is added for each record
 * @size: payload bytes; 0 where the configuration says
 * @offset: where it stands in records of Neoverse cores, in bytes
 */
struct kind {
	u8 type;
	u8 index;
	u8 size;
	u8 offset;
};

static const struct kind kinds[SPE_SPU_KINDS] = {
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
	[SPE_SPU_KIND_TIMESTAMP] = { SPE_PACKET_TIMESTAMP, 0, 8, 55 },
	[SPE_SPU_KIND_END] = { SPE_PACKET_END, 0, 0, 55 },
};

#define SLOTS_SIZE 64

static u8 payload_size(const struct spe_spu_config *config, enum spe_spu_kind kind)
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

void spe_spu_record_prepare(struct spe_spu *spu)
{
	for (unsigned int kind = 0; kind < SPE_SPU_KINDS; kind++) {
		struct spe_packet packet = {
			.type = kinds[kind].type,
			.index = kinds[kind].index,
			.payload_size = payload_size(&spu->config, kind),
		};

		/* Cannot fail: spu-config.c refuses sizes that packets cannot have. */
		spe_packet_encode(&packet, spu->record, sizeof(spu->record));
		spu->headers[kind] = spu->record[0];
	}
}

/* Where in spu->record the next packet goes. */
struct writer {
	struct spe_spu *spu;
	size_t size;
	bool slots;
};

static void put(struct writer *w, enum spe_spu_kind kind, u64 payload)
{
	u8 size = payload_size(&w->spu->config, kind);
	u8 *p;

	if (w->slots)
		w->size = kinds[kind].offset;
	p = w->spu->record + w->size;
	w->size += 1 + (size_t)size;
	*p++ = w->spu->headers[kind];
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

/* The fields that a feature gives are zero without it (D18.2.7). */
static u8 op_payload(const struct spe_spu *spu, const struct spe_operation *operation)
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
			/* 0b00 is not permitted: neither link nor return. */
			payload |= (u8)SPE_OP_BR_CR;
		break;
	default:
		break;
	}
	return payload;
}

static void put_op(struct writer *w, const struct spe_operation *operation)
{
	u8 *header = w->spu->record + (w->slots ? kinds[SPE_SPU_KIND_OP].offset : w->size);

	put(w, SPE_SPU_KIND_OP, op_payload(w->spu, operation));
	*header |= operation->op_class & 3;
}

/* A PC or branch target (D18.2.1). */
static u64 code_address(const struct spe_operation *operation, u64 address)
{
	return (address & SPE_ADDRESS_BITS) | SPE_FIELD_PREP(SPE_ADDRESS_EL, operation->el) |
	       (operation->ns ? SPE_ADDRESS_NS : 0);
}

static u64 data_address(const struct spe_spu *spu, u64 va)
{
	bool upper = va & SPE_BIT(55);

	return upper && !spu->config.va_tag ? va & SPE_ADDRESS_BITS : va;
}

/* No operation above EL2 is sampled; of one all the same, what holds at EL2. */
static const struct spe_collect *collect_of(const struct spe_spu *spu,
					    const struct spe_operation *operation)
{
	return &spu->collect[operation->el < 2 ? operation->el : 2];
}

static void put_context(struct writer *w, const struct spe_spu *spu,
			const struct spe_operation *operation)
{
	const struct spe_collect *collect = collect_of(spu, operation);

	if (collect->context1 && operation->has & SPE_OPERATION_CONTEXT1)
		put(w, SPE_SPU_KIND_CONTEXT1, operation->contextidr_el1);
	if (collect->context2 && operation->has & SPE_OPERATION_CONTEXT2)
		put(w, SPE_SPU_KIND_CONTEXT2, operation->contextidr_el2);
}

static void put_memory(struct writer *w, const struct spe_spu *spu,
		       const struct spe_operation *operation)
{
	/* D17.6.4: without the access, neither its address nor its translation. */
	if (operation->has & SPE_OPERATION_VA) {
		put(w, SPE_SPU_KIND_VA, data_address(spu, operation->va));
		put(w, SPE_SPU_KIND_TRANSLATION, spe_spu_saturated(spu, operation->translation));
		if (operation->has & SPE_OPERATION_PA && collect_of(spu, operation)->pa)
			put(w, SPE_SPU_KIND_PA,
			    (operation->pa & SPE_ADDRESS_BITS) |
				    (operation->ns ? SPE_ADDRESS_NS : 0));
	}
	/* D18.2.4: where a load's data came from. */
	if (spe_operation_is_load(operation) && operation->has & SPE_OPERATION_SOURCE &&
	    spu->config.features & SPE_PMSIDR_LDS)
		put(w, SPE_SPU_KIND_SOURCE, operation->source);
}

/* D17.6.3.1: of what did not retire, nothing; of what is no taken branch, as one likes. */
static void put_previous(struct writer *w, const struct spe_spu *spu,
			 const struct spe_operation *operation)
{
	bool taken = operation->op_class == SPE_OP_BRANCH && operation->has & SPE_OPERATION_TARGET;

	if (spu->config.features & SPE_PMSIDR_PBT && operation->has & SPE_OPERATION_PREV_TARGET &&
	    (taken || spu->config.pbt_always))
		put(w, SPE_SPU_KIND_PREV_TARGET, code_address(operation, operation->prev_target));
}

static void put_packets(struct writer *w, const struct spe_spu *spu,
			const struct spe_operation *operation)
{
	bool excepted = operation->events & SPE_BIT(SPE_EVENT_EXCEPTION);
	bool complete = !excepted && operation->events & SPE_BIT(SPE_EVENT_RETIRED);
	bool all = complete || spu->config.incomplete == SPE_SPU_INCOMPLETE_ALL;

	if (all) {
		put(w, SPE_SPU_KIND_PC, code_address(operation, operation->pc));
		put_context(w, spu, operation);
		put_op(w, operation);
	}
	put(w, SPE_SPU_KIND_EVENTS, operation->events & spu->events);
	if (!all)
		return;
	put(w, SPE_SPU_KIND_ISSUE, spe_spu_saturated(spu, operation->issue));
	put(w, SPE_SPU_KIND_TOTAL, spe_spu_saturated(spu, operation->total));
	if (operation->op_class != SPE_OP_BRANCH)
		put_memory(w, spu, operation);
	/* D17.6: the target of what generates an exception is not collected. */
	else if (operation->has & SPE_OPERATION_TARGET && !excepted)
		put(w, SPE_SPU_KIND_TARGET, code_address(operation, operation->target));
	if (complete)
		put_previous(w, spu, operation);
}

size_t spe_spu_record(struct spe_spu *spu, const struct spe_operation *operation)
{
	struct writer w = {
		.spu = spu,
		.slots = spu->config.layout == SPE_SPU_LAYOUT_SLOTS,
	};
	const struct spe_collect *collect = collect_of(spu, operation);
	size_t align = (size_t)1 << spu->config.align;
	size_t size;

	if (w.slots)
		memset(spu->record, 0, SLOTS_SIZE);
	put_packets(&w, spu, operation);
	if (collect->time != SPE_COLLECT_TIME_NONE)
		put(&w, SPE_SPU_KIND_TIMESTAMP, operation->timestamp - collect->offset);
	else
		put(&w, SPE_SPU_KIND_END, 0);

	size = (w.size + align - 1) & ~(align - 1);
	if (size > w.size)
		memset(spu->record + w.size, 0, size - w.size);
	return size;
}
