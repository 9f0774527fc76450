// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfgen.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#define FILE_HEADER 104
#define PIPE_HEADER 16
#define ATTR_SIZE   128
#define PMU_TYPE    11

#define FEATURE_BUILD_ID 2

#define SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static void write_le(struct perfgen *gen, u64 v, unsigned int size)
{
	if (size > sizeof(gen->buf) - gen->len)
		abort();
	for (unsigned int i = 0; i < size; i++)
		gen->buf[gen->len++] = (u8)(v >> 8 * (gen->big ? size - 1 - i : i));
}

static void overwrite_value(struct perfgen *gen, size_t at, u64 v, unsigned int size)
{
	size_t len = gen->len;

	gen->len = at;
	write_le(gen, v, size);
	gen->len = len;
}

void perfgen_put_u16(struct perfgen *gen, u16 v)
{
	write_le(gen, v, 2);
}

void perfgen_put_u32(struct perfgen *gen, u32 v)
{
	write_le(gen, v, 4);
}

void perfgen_put_u64(struct perfgen *gen, u64 v)
{
	write_le(gen, v, 8);
}

void perfgen_put_bytes(struct perfgen *gen, const void *bytes, size_t len)
{
	if (len > sizeof(gen->buf) - gen->len)
		abort();
	memcpy(gen->buf + gen->len, bytes, len);
	gen->len += len;
}

void perfgen_put_string(struct perfgen *gen, const char *s)
{
	size_t len = strlen(s) + 1;

	perfgen_put_bytes(gen, s, len);
	while (len++ % 8)
		write_le(gen, 0, 1);
}

static void put_attr(struct perfgen *gen, u64 period, u64 sample_type)
{
	const u64 id_all = 1ULL << (gen->big ? 63 - 18 : 18);
	size_t start = gen->len;

	perfgen_put_u32(gen, PMU_TYPE);
	perfgen_put_u32(gen, ATTR_SIZE);
	perfgen_put_u64(gen, 0);
	perfgen_put_u64(gen, period);
	perfgen_put_u64(gen, sample_type);
	perfgen_put_u64(gen, 0);
	perfgen_put_u64(gen, id_all);
	while (gen->len - start < ATTR_SIZE)
		perfgen_put_u64(gen, 0);
}

void perfgen_put_attr(struct perfgen *gen, u64 period, u64 sample_type, u64 id)
{
	perfgen_begin_record(gen, 64, 0);
	put_attr(gen, period, sample_type);
	perfgen_put_u64(gen, id);
	perfgen_end_record(gen);
}

void perfgen_begin(struct perfgen *gen, bool big, bool pipe, u64 period)
{
	gen->len = 0;
	gen->n_build_ids = 0;
	gen->big = big;
	gen->pipe = pipe;
	perfgen_put_bytes(gen, big ? "2ELIFREP" : "PERFILE2", 8);
	perfgen_put_u64(gen, pipe ? PIPE_HEADER : FILE_HEADER);
	if (pipe) {
		perfgen_put_attr(gen, period, SAMPLE_TYPE, 1);
		return;
	}
	perfgen_put_u64(gen, ATTR_SIZE + 16);
	perfgen_put_u64(gen, FILE_HEADER);
	perfgen_put_u64(gen, ATTR_SIZE + 16);
	perfgen_put_u64(gen, FILE_HEADER + ATTR_SIZE + 16);
	while (gen->len < FILE_HEADER)
		perfgen_put_u64(gen, 0);
	put_attr(gen, period, SAMPLE_TYPE);
	perfgen_put_u64(gen, 0);
	perfgen_put_u64(gen, 0);
}

void perfgen_begin_record(struct perfgen *gen, u32 type, u16 misc)
{
	gen->record = gen->len;
	perfgen_put_u32(gen, type);
	perfgen_put_u16(gen, misc);
	perfgen_put_u16(gen, 0);
}

void perfgen_end_record(struct perfgen *gen)
{
	overwrite_value(gen, gen->record + 6, gen->len - gen->record, 2);
}

void perfgen_put_trailer(struct perfgen *gen, s32 tid, u64 time, s32 cpu)
{
	perfgen_put_u32(gen, (u32)tid);
	perfgen_put_u32(gen, (u32)tid);
	perfgen_put_u64(gen, time);
	perfgen_put_u32(gen, (u32)cpu);
	perfgen_put_u32(gen, 0);
	perfgen_put_u64(gen, 1);
}

void perfgen_put_aux(struct perfgen *gen, u64 offset, u64 size, u64 flags, s32 tid, s32 cpu)
{
	perfgen_begin_record(gen, PERF_RECORD_AUX, 0);
	perfgen_put_u64(gen, offset);
	perfgen_put_u64(gen, size);
	perfgen_put_u64(gen, flags);
	perfgen_put_trailer(gen, tid, 1000 + offset, cpu);
	perfgen_end_record(gen);
}

void perfgen_put_auxtrace(struct perfgen *gen, u64 offset, const void *bytes, size_t len, s32 tid,
			  s32 cpu)
{
	size_t padded = (len + 7) & ~(size_t)7;

	perfgen_begin_record(gen, 71, 0);
	perfgen_put_u64(gen, padded);
	perfgen_put_u64(gen, offset);
	perfgen_put_u64(gen, 0);
	perfgen_put_u32(gen, 0);
	perfgen_put_u32(gen, (u32)tid);
	perfgen_put_u32(gen, (u32)cpu);
	perfgen_put_u32(gen, 0);
	perfgen_end_record(gen);
	perfgen_put_bytes(gen, bytes, len);
	while (len++ < padded)
		write_le(gen, 0, 1);
}

void perfgen_put_auxtrace_info(struct perfgen *gen, unsigned int version, const u64 *midr, u32 cpus)
{
	perfgen_begin_record(gen, 70, 0);
	perfgen_put_u32(gen, 4);
	perfgen_put_u32(gen, 0);
	if (version == 1) {
		perfgen_put_u64(gen, PMU_TYPE);
		perfgen_put_u64(gen, 1);
		perfgen_end_record(gen);
		return;
	}
	perfgen_put_u64(gen, version);
	perfgen_put_u64(gen, 4);
	perfgen_put_u64(gen, PMU_TYPE);
	perfgen_put_u64(gen, cpus);
	for (u32 i = 0; i < cpus; i++) {
		perfgen_put_u64(gen, 0x1010101010101010ULL);
		perfgen_put_u64(gen, i);
		perfgen_put_u64(gen, 3);
		perfgen_put_u64(gen, midr[i]);
		perfgen_put_u64(gen, PMU_TYPE);
		perfgen_put_u64(gen, 1024);
	}
	perfgen_end_record(gen);
}

void perfgen_put_time_conv(struct perfgen *gen, u64 shift, u64 mult, u64 zero)
{
	perfgen_begin_record(gen, 79, 0);
	perfgen_put_u64(gen, shift);
	perfgen_put_u64(gen, mult);
	perfgen_put_u64(gen, zero);
	perfgen_put_u64(gen, 0);
	perfgen_put_u64(gen, ~0ULL);
	/* The next field is two flags of one byte each, which do not depend on the byte order. */
	perfgen_put_bytes(gen, "\1\0\0\0\0\0\0", 8);
	perfgen_end_record(gen);
}

/* Write a build ID without its size, which bit 15 of misc would announce. */
static void put_build_id(struct perfgen *gen, const char *name, const u8 *id)
{
	perfgen_begin_record(gen, 67, PERF_RECORD_MISC_USER | 1U << 15);
	perfgen_put_u32(gen, UINT32_MAX);
	perfgen_put_bytes(gen, id, 20);
	perfgen_put_bytes(gen, "\24\0\0\0", 4);
	perfgen_put_string(gen, name);
	perfgen_end_record(gen);
}

void perfgen_add_build_id(struct perfgen *gen, const char *name, const u8 *id)
{
	if (gen->pipe) {
		put_build_id(gen, name, id);
		return;
	}
	if (gen->n_build_ids == ARRAY_SIZE(gen->build_ids))
		abort();
	gen->build_ids[gen->n_build_ids].name = name;
	memcpy(gen->build_ids[gen->n_build_ids++].id, id, 20);
}

void perfgen_end(struct perfgen *gen)
{
	size_t start = gen->len;

	if (gen->pipe)
		return;
	overwrite_value(gen, 48, gen->len - (FILE_HEADER + ATTR_SIZE + 16), 8);
	if (!gen->n_build_ids)
		return;
	overwrite_value(gen, 72, 1U << FEATURE_BUILD_ID, 8);
	perfgen_put_u64(gen, start + 16);
	perfgen_put_u64(gen, 0);
	for (unsigned int i = 0; i < gen->n_build_ids; i++)
		put_build_id(gen, gen->build_ids[i].name, gen->build_ids[i].id);
	overwrite_value(gen, start + 8, gen->len - start - 16, 8);
}
