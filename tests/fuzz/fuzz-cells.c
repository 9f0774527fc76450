// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fuzz tables of cells with samples, merges and checkpoints of any bytes: no sample is lost or
 * counted twice, whatever is evicted. A checkpoint also has the ids of binaries and programs, which
 * are translated when it is loaded.
 */
#include "fuzz.h"

#include "attribution/binary-table.h"
#include "attribution/program-table.h"
#include "profile/cell-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES 8
#define TABLES	3
#define ROOM	(1U << 20)
#define IDS	40

/**
 * struct fuzz_tables - the tables: two shards with a budget, and one that grows
 * @table: the tables
 * @count: number of samples in each table
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
					  sample_class_make_key(
						  SPE_HAS_EVENTS | SPE_HAS_OP | k << 8, 0, 0, 0, 0),
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

/* Count samples: each byte of @data chooses a location, a class and latencies. */
static void count_samples(struct fuzz_tables *f, u32 i, const uint8_t *data, size_t size)
{
	struct cell_table *t = f->table[i];
	u8 interval = cell_table_get_interval(t, size ? 1U << data[0] % 20 : 1, data[0] % UNITS);

	for (size_t n = 0; n < size; n++) {
		struct cell_batch *b = cell_table_get_batch(t);
		u32 at = b->count++;
		u64 owner = cell_owner_make(data[n] % 3, data[n] % 5),
		    offset = data[n] * (n + 1) % 4096;

		b->owner[at] = owner;
		b->offset[at] = offset;
		b->hash[at] = cell_hash(cell_owner_hash(t, owner), offset);
		b->sample[at] = cell_sample_pack(1 + data[n] % CLASSES, data[n] * data[n],
						 (u16)(n * data[n]), data[n]);
		b->interval[at] = interval;
		f->count[i]++;
		if (b->count == CELL_BATCH)
			cell_table_add_batch(t);
	}
	cell_table_add_batch(t);
	cell_table_flush(t);
}

static u64 sum_row_samples(const struct cell_table *t)
{
	struct cell_cursor cursor = { 0 };
	struct profile_counters sum = { 0 };
	struct cell_row row;
	u64 samples = 0;

	while (cell_table_next(t, &cursor, &row)) {
		samples += cell_row_count_samples(t, &row);
		cell_row_add_counters(t, &row, &sum);
	}
	fuzz_assert(sum.samples == samples);
	return samples;
}

static void check_table(const struct fuzz_tables *f, u32 i)
{
	struct cell_table_stats stats;

	cell_table_get_stats(f->table[i], &stats);
	fuzz_assert(sum_row_samples(f->table[i]) + stats.uncounted == f->count[i]);
}

/* Save a table and load it into another one. */
static void save_and_load_cells(struct fuzz_tables *f, u32 to, u32 from)
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

/** struct saved_ids - the ids of a process, and what they are in the next one */
struct saved_ids {
	struct binary_table *binaries;
	struct program_table *programs;
	struct cell_translation now;
};

static void ids_init(struct saved_ids *ids)
{
	*ids = (struct saved_ids){ 0 };
	fuzz_assert(!binary_table_new(IDS, 8192, &ids->binaries));
	fuzz_assert(!program_table_new(IDS, 8192, &ids->programs));
}

static void ids_deinit(struct saved_ids *ids)
{
	binary_table_free(ids->binaries);
	program_table_free(ids->programs);
	free((void *)ids->now.binary);
	free((void *)ids->now.program);
}

static void ids_fill(const struct saved_ids *ids, const uint8_t *data, size_t size)
{
	for (size_t n = 0; n < size; n++) {
		char path[] = { (char)('a' + data[n] % 64), 0 };
		const u8 build_id[] = { data[n], 2, 3, 4, 5, 6, 7, 8 };

		binary_table_find_or_add(ids->binaries,
					 &(struct binary_identity){ .path = path,
								    .inode = data[n] / 64,
								    .build_id = build_id,
								    .build_id_size = data[n] % 9,
								    .process = data[n] % 5 / 4 });
		program_table_find_or_add(
			ids->programs,
			&(struct program_identity){ .container = data[n] % 3, .executable = path });
	}
}

/* Load ids of any bytes. Each saved id is translated to one in use. */
static int ids_load(struct saved_ids *ids, struct deserializer *from)
{
	static struct restored_entry_location containers[] = { { 0, 0, 0 }, { 4, 6, 9 } };
	const struct attribute_translation translation = { .container = containers,
							   .containers = ARRAY_SIZE(containers) };
	struct program_identity program;
	struct binary_identity binary;
	u32 *map;
	int r;

	r = binary_table_load(ids->binaries, from, &map, &ids->now.binaries);
	if (r < 0)
		return r;
	ids->now.binary = map;
	r = program_table_load(ids->programs, from, &translation, &map, &ids->now.programs);
	if (r < 0)
		return r;
	ids->now.program = map;
	for (u32 i = 0; i < ids->now.binaries; i++)
		fuzz_assert(binary_table_find_by_id(ids->binaries, ids->now.binary[i], &binary));
	for (u32 i = 0; i < ids->now.programs; i++)
		fuzz_assert(program_table_find_by_id(ids->programs, ids->now.program[i], &program));
	return 0;
}

/* Load a checkpoint of ids and cells, which may be any bytes. */
static int load_checkpoint(struct cell_table *t, struct deserializer *from)
{
	struct saved_ids ids;
	int r;

	ids_init(&ids);
	r = ids_load(&ids, from);
	if (!r)
		r = cell_table_load(t, from, &ids.now);
	fuzz_assert(!r || (r == -EBADMSG && from->bad));
	ids_deinit(&ids);
	return r;
}

/* Save a table with ids, and load both. */
static void save_and_load_with_ids(struct fuzz_tables *f, u32 to, u32 from, const uint8_t *data,
				   size_t size)
{
	static u8 bytes[ROOM];
	struct serializer s = { .at = bytes, .capacity = sizeof(bytes) };
	struct deserializer d = { .at = bytes };
	struct saved_ids ids;

	ids_init(&ids);
	ids_fill(&ids, data, size);
	binary_table_save(ids.binaries, &s);
	program_table_save(ids.programs, &s);
	cell_table_save(f->table[from], &s);
	ids_deinit(&ids);
	if (s.full)
		return;
	d.len = s.len;
	fuzz_assert(!load_checkpoint(f->table[to], &d));
	fuzz_assert(d.pos == d.len);
	f->count[to] += f->count[from];
}

/* Load bytes of any kind. The table is cleared afterwards, like in the daemon after an error. */
static void load_any_bytes(struct fuzz_tables *f, u32 i, bool ids, const uint8_t *data, size_t size)
{
	struct deserializer d = { .at = data, .len = size };
	int r = ids ? load_checkpoint(f->table[i], &d) : cell_table_load(f->table[i], &d, NULL);

	if (!r)
		(void)sum_row_samples(f->table[i]);
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

		switch (data[0] / TABLES % 6) {
		case 0:
		case 1:
			count_samples(&f, i, data + 2, len);
			break;
		case 2:
			cell_table_merge(f.table[i], f.table[other]);
			f.count[i] += f.count[other];
			break;
		case 3:
			save_and_load_cells(&f, i, other);
			break;
		case 4:
			load_any_bytes(&f, i, data[1] & 1, data + 2, len);
			break;
		case 5:
			save_and_load_with_ids(&f, i, other, data + 2, len);
			break;
		}
		check_table(&f, i);
		data += 2 + len;
		size -= 2 + len;
	}
	tables_deinit(&f);
	return 0;
}
