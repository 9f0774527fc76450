// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tables of cells with samples, merges and checkpoints of any bytes: no sample is lost or counted
 * twice, whatever is evicted.
 */
#include "fuzz.h"

#include "profile/cell-table.h"

#include <string.h>

#define CLASSES 8
#define TABLES	3
#define ROOM	(1U << 20)

/**
 * struct fuzz_tables - the tables: two shards with a budget, and one that grows
 * @table: the tables
 * @count: how many samples are in each
 */
struct fuzz_tables {
	struct sample_class_catalog catalog[TABLES];
	struct cell_table *table[TABLES];
	u64 count[TABLES];
};

static void tables_init(struct fuzz_tables *f)
{
	memset(f, 0, sizeof(*f));
	for (u32 i = 0; i < TABLES; i++) {
		const struct cell_table_config config = {
			.bytes = i < 2 ? CELL_BYTES_MIN : 0,
			.sample_class = &f->catalog[i],
			.seed = 1,
		};

		fuzz_assert(!sample_class_init(&f->catalog[i]));
		fuzz_assert(!cell_table_new(&config, &f->table[i]));
		for (u64 k = 1; k <= CLASSES; k++)
			sample_class_find(&f->catalog[i], k << (i + 1),
					  sample_class_key(SPE_HAS_EVENTS | SPE_HAS_OP | k << 8, 0, 0,
							   0, 0),
					  NULL);
	}
}

static void tables_deinit(struct fuzz_tables *f)
{
	for (u32 i = 0; i < TABLES; i++) {
		cell_table_free(f->table[i]);
		sample_class_deinit(&f->catalog[i]);
	}
}

/* Count a run of samples: each byte chooses a location, a class and latencies. */
static void count_samples(struct fuzz_tables *f, u32 i, const uint8_t *data, size_t size)
{
	struct cell_table *t = f->table[i];
	u8 interval = cell_table_interval(t, size ? 1U << data[0] % 20 : 1, data[0] % UNITS);

	for (size_t n = 0; n < size; n++) {
		struct cell_batch *b = cell_table_batch(t);
		u32 at = b->count++;
		u64 owner = cell_owner(data[n] % 3, data[n] % 5), offset = data[n] * (n + 1) % 4096;

		b->owner[at] = owner;
		b->offset[at] = offset;
		b->hash[at] = cell_hash(cell_salt(t, owner), offset);
		b->sample[at] = cell_sample(1 + data[n] % CLASSES, data[n] * data[n],
					    (u16)(n * data[n]), data[n]);
		b->interval[at] = interval;
		b->sessions[at] = 1 + data[n] % 3;
		f->count[i]++;
		if (b->count == CELL_BATCH)
			cell_table_add(t);
	}
	cell_table_add(t);
	cell_table_flush(t);
}

static u64 rows_samples(const struct cell_table *t)
{
	struct cell_cursor cursor = { 0 };
	struct counters sum = { 0 };
	struct cell_row row;
	u64 samples = 0;

	while (cell_table_next(t, &cursor, &row)) {
		samples += cell_row_samples(t, &row, UINT8_MAX);
		cell_row_add(t, &row, UINT8_MAX, &sum);
	}
	fuzz_assert(sum.samples == samples);
	return samples;
}

static void check(const struct fuzz_tables *f, u32 i)
{
	struct cell_table_stats stats;

	cell_table_stats(f->table[i], &stats);
	fuzz_assert(rows_samples(f->table[i]) + stats.uncounted == f->count[i]);
}

/* Save a table and load it into another one. */
static void transfer(struct fuzz_tables *f, u32 to, u32 from)
{
	static u8 bytes[ROOM];
	struct serializer s = { .at = bytes, .capacity = sizeof(bytes) };
	struct deserializer d = { .at = bytes };

	cell_table_save(f->table[from], &s);
	if (s.full)
		return;
	d.len = s.len;
	fuzz_assert(!cell_table_load(f->table[to], &d, NULL));
	fuzz_assert(d.pos == d.len);
	f->count[to] += f->count[from];
}

/* Load bytes of any kind. The table is cleared afterwards, as the daemon does after an error. */
static void load_any(struct fuzz_tables *f, u32 i, const uint8_t *data, size_t size)
{
	struct deserializer d = { .at = data, .len = size };

	if (!cell_table_load(f->table[i], &d, NULL))
		(void)rows_samples(f->table[i]);
	cell_table_clear(f->table[i]);
	f->count[i] = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_tables f;

	tables_init(&f);
	while (size > 2) {
		u32 i = data[0] % TABLES, other = (i + 1 + data[0] / 64 % 2) % TABLES;
		size_t len = data[1] < size - 2 ? data[1] : size - 2;

		switch (data[0] / TABLES % 5) {
		case 0:
		case 1:
			count_samples(&f, i, data + 2, len);
			break;
		case 2:
			cell_table_merge(f.table[i], f.table[other]);
			f.count[i] += f.count[other];
			break;
		case 3:
			if (data[1] & 1) {
				transfer(&f, i, other);
			} else {
				cell_table_forget_session(f.table[i], data[1] % 3);
				f.count[i] = rows_samples(f.table[i]);
			}
			break;
		case 4:
			load_any(&f, i, data + 2, len);
			break;
		}
		check(&f, i);
		data += 2 + len;
		size -= 2 + len;
	}
	tables_deinit(&f);
	return 0;
}
