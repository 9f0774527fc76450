/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An SPU simulated by an array of registers, and a ring for it, for tests on the stand-in kernel */
#ifndef SPEPROF_FAKE_SPU_H
#define SPEPROF_FAKE_SPU_H

#include "test.h"

#include "kmod/kernel/stand-in.h"
#include "kmod/ring.h"

#define SLOTS  16
#define RING   65536
#define WINDOW 4096
#define STRAY  4096 /* an address outside every ring */
#define MS     NSEC_PER_MSEC
#define FULL   (SPE_PMBSR_S | SPE_FIELD_PREP(SPE_PMBSR_BSC, SPE_PMBSR_BSC_FULL))
#define ABORTED                                                                           \
	(SPE_PMBSR_S | SPE_PMBSR_EA | SPE_FIELD_PREP(SPE_PMBSR_EC, SPE_PMBSR_EC_STAGE1) | \
	 SPE_FSC_EXTERNAL_SYNC)

/* ---- The SPU ------------------------------------------------------------------- */

static u64 spu[SPE_REG_COUNT];
static u64 spu_records;
static u64 spu_isb_ns;
static u64 spu_drain_ns;
static unsigned int spu_drains;
static u64 spu_enabled_at;
static u64 spu_enabled_ns;
static bool spu_ends;

static inline u64 spu_read(enum spe_reg reg)
{
	return spu[reg];
}

static inline void spu_write(enum spe_reg reg, u64 value)
{
	if (reg == SPE_REG_PMSCR && value)
		spu_enabled_at = stand_in_now;
	if (reg == SPE_REG_PMSCR && !value && spu[reg])
		spu_ends = true;
	spu[reg] = value;
}

/* PMSCR = 0 takes effect with the ISB after it. Until then the SPU continues to sample. */
static inline void spu_isb(void)
{
	stand_in_now += spu_isb_ns;
	if (spu_ends)
		spu_enabled_ns += stand_in_now - spu_enabled_at;
	spu_ends = false;
}

/* A drain takes time, and has no effect while profiling is enabled. */
static inline void spu_drain(void)
{
	assert_false(spu_ends);
	assert_int_equal(spu[SPE_REG_PMSCR], 0);
	stand_in_now += spu_drain_ns;
	spu_drains++;
}

static inline u64 spu_read_ticks(void)
{
	return stand_in_now;
}

static inline u64 spu_read_records(void)
{
	return spu_records;
}

static struct speprof_backend backend = {
	.name = "fake",
	.id = SPEPROF_BACKEND_HARDWARE,
	.read = spu_read,
	.write = spu_write,
	.synchronize = spu_isb,
	.drain = spu_drain,
	.ticks = spu_read_ticks,
	.records = spu_read_records,
	.tick_hz = 1000000000,
};

/*
 * The SPU may also write ahead of PMBPTR, because it may use the memory up to the limit (RTHGCR).
 */
static inline void spu_write_bytes(u64 bytes)
{
	u64 limit = spu[SPE_REG_PMBLIMITR] & SPE_PMBLIMITR_LIMIT;

	memset((void *)(uintptr_t)spu[SPE_REG_PMBPTR], 0xa5, limit - spu[SPE_REG_PMBPTR]);
	spu[SPE_REG_PMBPTR] += bytes;
	spu_records += bytes / 64;
	assert_true(spu[SPE_REG_PMBPTR] <= limit);
}

/* Make the SPU write @bytes and stop with @pmbsr, and run the interrupt handler. */
static inline void spu_write_and_stop(struct speprof_ring *ring, u64 bytes, u64 pmbsr)
{
	assert_int_equal(ring->state, SPEPROF_RING_ARMED);
	spu_write_bytes(bytes);
	spu[SPE_REG_PMBSR] = pmbsr;
	assert_true(speprof_ring_handle_interrupt(ring));
}

/* ---- A ring --------------------------------------------------------------------- */

static inline struct speprof_ring *fake_ring_new_as(u32 latency_ms, bool for_cgroups, bool flight)
{
	const struct speprof_ring_config config = {
		.backend = &backend,
		.spu = { .record_align = 64, .record_max = 64, .backend = backend.id },
		.size = RING,
		.event_slots = SLOTS,
		.max_window = WINDOW,
		.latency_ms = latency_ms,
		.for_cgroups = for_cgroups,
		.flight = flight,
	};
	const struct speprof_sampling_program program = { .pmscr = SPE_PMSCR_E0SPE,
							  .interval = 1,
							  .generation = 1 };
	struct speprof_ring *ring;

	memset(spu, 0, sizeof(spu));
	/* Start each ring in a new period of the throttle. */
	stand_in_now += NSEC_PER_SEC;
	ring = speprof_ring_new(&config);
	speprof_ring_start(ring, &program, true);
	return ring;
}

static inline struct speprof_ring *fake_ring_new(u32 latency_ms, bool for_cgroups)
{
	return fake_ring_new_as(latency_ms, for_cgroups, false);
}

static inline void fake_ring_free(struct speprof_ring *ring)
{
	speprof_ring_stop(ring);
	assert_int_equal(stand_in_warnings, 0);
	speprof_ring_free(ring);
}

static inline void ring_expire_timer(struct speprof_ring *ring, u64 ms)
{
	stand_in_now += ms * MS;
	ring->timer.function(&ring->timer);
}

/* Read all windows, but no events. */
static inline void ring_consume_all(struct speprof_ring *ring)
{
	ring->control->tail = ring->published;
	speprof_ring_read_tails(ring);
}

/* Check that each event was written to a free slot. */
static inline void check_slots(const struct speprof_ring *ring)
{
	assert_in_range(ring->event_seq - ring->event_tail, 0, SLOTS);
	for (u64 seq = ring->event_tail; seq != ring->event_published; seq++)
		assert_int_equal(ring->events[seq % SLOTS].seq, seq);
}

#endif
