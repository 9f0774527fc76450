// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What decoding costs, beside a plain sum over the same bytes in the same run:
 * the general path, the fast path, and the whole way into the profile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layout.h"
#include "profile.h"
#include "record.h"

#define RECORDS (1U << 20)
#define STRIDE 64
#define PCS 100000
#define WINDOW (1U << 16)

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Loads and branches at random, laid out as a Neoverse core does: padding before the data source. */
static void make_record(u8 *buf, u64 *seed)
{
	u64 random = next_random(seed), place = random % PCS, pc = 0xffff800008000000ULL + place * 4;
	struct spe_sample s = {
		.present = SPE_HAS_ADDRESS(0) | SPE_HAS_CONTEXT(0) | SPE_HAS_COUNTER(0) |
			   SPE_HAS_COUNTER(1) | SPE_HAS_EVENTS | SPE_HAS_OP | SPE_HAS_TIMESTAMP,
		.events = 0x16, .events_size = 2, .timestamp = random,
		.context = { 1000 + (u32)place % 64 },
		.counter = { (u16)(random >> 40 & 0xff), 4, 1 },
	};

	s.address[0] = (pc & SPE_ADDRESS_BITS) | SPE_ADDRESS_NS;
	if (random >> 60 < 10) {
		s.op_class = SPE_OP_LOAD_STORE;
		s.present |= SPE_HAS_ADDRESS(2) | SPE_HAS_COUNTER(2) | SPE_HAS_SOURCE;
		s.address[2] = random & 0xffffffffffffULL;
		s.source = 0xe;
		s.source_size = 1;
	} else {
		s.op_class = SPE_OP_BRANCH;
		s.op_subclass = 1;
		s.present |= SPE_HAS_ADDRESS(1);
		s.address[1] = s.address[0] + 64;
	}
	memset(buf, 0, STRIDE);
	spe_record_encode(&s, buf, STRIDE);
}

static u64 plain_sum(const u8 *buf, size_t len)
{
	u64 sum = 0, word;

	for (size_t i = 0; i < len; i += sizeof(word)) {
		memcpy(&word, buf + i, sizeof(word));
		sum += word;
	}
	return sum;
}

static u64 decode(const u8 *buf, size_t len, struct spe_layouts *layouts)
{
	struct spe_decoder decoder;
	struct spe_sample sample;
	u64 sum = 0;

	for (size_t at = 0; at < len; at += WINDOW) {
		spe_decoder_init(&decoder, NULL, buf + at, WINDOW);
		while ((layouts ? spe_decoder_next_fast(&decoder, layouts, &sample, NULL) :
				  spe_decoder_next(&decoder, &sample, NULL)) == SPE_DECODE_SAMPLE)
			sum += sample.address[0] + sample.counter[0];
	}
	return sum;
}

static void aggregate(const u8 *buf, size_t len, struct profile *profile)
{
	struct source_window window = { .len = WINDOW, .tid = -1, .align = STRIDE };

	for (size_t at = 0; at < len; at += WINDOW) {
		window.data = buf + at;
		profile_window(profile, &window);
	}
}

static double best_of(int runs, const u8 *buf, size_t len, int what, struct profile *profile)
{
	static volatile u64 sink;
	struct spe_layouts layouts = { 0 };
	double best = 1e9, began;

	for (int i = 0; i < runs; i++) {
		began = now();
		if (what == 0)
			sink = plain_sum(buf, len);
		else if (what == 1)
			sink = decode(buf, len, NULL);
		else if (what == 2)
			sink = decode(buf, len, &layouts);
		else
			aggregate(buf, len, profile);
		if (now() - began < best)
			best = now() - began;
	}
	(void)sink;
	return best;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "plain sum", "general path", "fast path", "profile" };
	const struct attributor_config attribution = { .live = false };
	const struct profile_config config = { .locations = 1U << 18 };
	u32 records = argc > 1 ? (u32)strtoul(argv[1], NULL, 10) * (WINDOW / STRIDE) : RECORDS;
	size_t len = (size_t)records * STRIDE;
	struct attributor *attributor;
	struct profile *profile;
	u8 *buf = aligned_alloc(64, len);
	u64 seed = 42;
	double sum = 0, t;

	if (!buf || attributor_new(&attribution, &attributor) < 0 ||
	    profile_new(&config, attributor, &profile) < 0)
		return 1;
	for (s32 tid = 1000; tid < 1064; tid++)
		attributor_event(attributor, &(struct task_event){ .type = TASK_COMM, .pid = tid,
								    .tid = tid, .name = "bench" });
	for (u32 i = 0; i < records; i++)
		make_record(buf + (size_t)i * STRIDE, &seed);

	for (int what = 0; what < 4; what++) {
		t = best_of(5, buf, len, what, profile);
		sum = what ? sum : t;
		printf("%-14s %6.2f GB/s  %6.1f M records/s  %5.1f %% of the plain sum\n",
		       names[what], (double)len / t / 1e9, records / t / 1e6, 100 * sum / t);
	}
	profile_free(profile);
	attributor_free(attributor);
	free(buf);
	return 0;
}
