/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Write a perf.data field by field, in either byte order, as a file or as written to a pipe, for
 * tests that damage it.
 */
#ifndef SPEPROF_PERFGEN_H
#define SPEPROF_PERFGEN_H

#include "codec/env.h"

/**
 * struct perfgen - a perf.data under construction
 * @big: whether it is big-endian
 * @pipe: whether it is as written to a pipe: without sections
 * @record: offset of the record that is being written
 */
struct perfgen {
	u8 buf[1 << 20];
	size_t len;
	size_t record;
	bool big;
	bool pipe;
	struct {
		const char *name;
		u8 id[20];
	} build_ids[4];
	unsigned int n_build_ids;
};

/**
 * perfgen_begin() - write the header and the attribute of arm_spe_0, with @period operations
 * between samples
 */
void perfgen_begin(struct perfgen *gen, bool big, bool pipe, u64 period);

/** perfgen_put_attr() - write the attribute of event @id as a record */
void perfgen_put_attr(struct perfgen *gen, u64 period, u64 sample_type, u64 id);

void perfgen_put_u16(struct perfgen *gen, u16 v);
void perfgen_put_u32(struct perfgen *gen, u32 v);
void perfgen_put_u64(struct perfgen *gen, u64 v);
void perfgen_put_bytes(struct perfgen *gen, const void *bytes, size_t len);
/** perfgen_put_string() - write a NUL-terminated string, padded to 8 bytes */
void perfgen_put_string(struct perfgen *gen, const char *s);

/**
 * perfgen_begin_record() - begin a record, which perfgen_end_record() ends
 *
 * perfgen_end_record() writes the size of the record.
 */
void perfgen_begin_record(struct perfgen *gen, u32 type, u16 misc);
void perfgen_end_record(struct perfgen *gen);
/** perfgen_put_trailer() - write the fields that sample_id_all adds to a kernel record */
void perfgen_put_trailer(struct perfgen *gen, s32 tid, u64 time, s32 cpu);

void perfgen_put_aux(struct perfgen *gen, u64 offset, u64 size, u64 flags, s32 tid, s32 cpu);
/** perfgen_put_auxtrace() - write an AUXTRACE record and the @len bytes after it, padded to 8 */
void perfgen_put_auxtrace(struct perfgen *gen, u64 offset, const void *bytes, size_t len, s32 tid,
			  s32 cpu);
/**
 * perfgen_put_auxtrace_info() - write SPE metadata of version 1, or of version 2 with a MIDR for
 * each of @cpus
 */
void perfgen_put_auxtrace_info(struct perfgen *gen, unsigned int version, const u64 *midr,
			       u32 cpus);
void perfgen_put_time_conv(struct perfgen *gen, u64 shift, u64 mult, u64 zero);

/**
 * perfgen_add_build_id() - add the build ID of the file @name: as a record in a pipe, else at the
 * end of the file
 */
void perfgen_add_build_id(struct perfgen *gen, const char *name, const u8 *id);

/** perfgen_end() - write the sizes of sections into the header */
void perfgen_end(struct perfgen *gen);

#endif
