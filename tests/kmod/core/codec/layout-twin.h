/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compare the codec's fast path and general path over the same bytes, for the unit test and the
 * fuzzer of layouts. Each function returns NULL if they agree in all records, suspect ranges and
 * counters, else the condition that is false.
 */
#ifndef SPEPROF_LAYOUT_TWIN_H
#define SPEPROF_LAYOUT_TWIN_H

#include "codec/layout.h"

const char *layout_twin_compare_samples(const struct spe_sample *want,
					const struct spe_sample *got);

/**
 * layout_twin_compare_records() - decode @len bytes at @buf by both paths, one record a call, and
 * compare; @ret_records: number of records; may be NULL
 */
const char *layout_twin_compare_records(const u8 *buf, size_t len, u32 align,
					struct spe_layouts *layouts, u64 *ret_records);

/** layout_twin_compare_runs() - as layout_twin_compare_records(), but many records a call */
const char *layout_twin_compare_runs(const u8 *buf, size_t len, u32 align,
				     struct spe_layouts *layouts);

/**
 * layout_twin_compare_ends() - compare the state of two decoders after they decoded the same bytes
 */
const char *layout_twin_compare_ends(const struct spe_decoder *want, const struct spe_decoder *got);

#endif
