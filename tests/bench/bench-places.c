// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Measure how many of the most frequent locations a table finds that has fewer entries than there
 * are locations, compared with a table that admits every location (space-saving). The frequency of
 * locations follows Zipf's law. Later, the locations of another program follow. usage: bench-places
 * [SAMPLES [PLACES [CAPACITY]]]
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "profile/location-table.h"

#define SAMPLES	 20000000
#define PLACES	 1000000
#define CAPACITY 32768
#define TOP	 100
#define BLOCK	 1024
#define CELLS	 (1U << 20)
#define PROGRAMS 2
#define TABLES	 2

/**
 * struct zipf - a distribution from which locations are drawn
 * @upto: for each location, its share plus the shares of all locations before it
 * @cell: an index that shortens the search: the first location that may be in each of CELLS equal
 * parts of the shares
 */
struct zipf {
	u32 places;
	double *upto;
	u32 *cell;
};

/**
 * struct contest - two tables that count the same samples
 * @counted: the true count of each location of each program
 */
struct contest {
	struct zipf zipf;
	u32 *counted[PROGRAMS];
	struct sample_class_catalog catalog;
	struct sample_facts facts;
	struct location_table *table[TABLES];
	u64 evicted[TABLES];
	double seconds[TABLES];
	struct location_key key[BLOCK];
};

static u64 random_state = 0x9e3779b97f4a7c15ULL;

static u64 random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void *allocate_array(size_t count, size_t size)
{
	void *at = calloc(count, size);

	if (!at)
		exit(EXIT_FAILURE);
	return at;
}

static void zipf_init(struct zipf *z, u32 places, double exponent)
{
	double sum = 0;
	u32 at = 0;

	*z = (struct zipf){
		.places = places,
		.upto = allocate_array(places, sizeof(*z->upto)),
		.cell = allocate_array(CELLS, sizeof(*z->cell)),
	};
	for (u32 i = 0; i < places; i++)
		z->upto[i] = sum += pow(i + 1, -exponent);
	for (u32 i = 0; i < places; i++)
		z->upto[i] /= sum;
	for (u32 i = 0; i < CELLS; i++) {
		while (at < places - 1 && z->upto[at] <= (double)i / CELLS)
			at++;
		z->cell[i] = at;
	}
}

static void zipf_deinit(struct zipf *z)
{
	free(z->upto);
	free(z->cell);
}

static u32 zipf_draw(const struct zipf *z)
{
	double share = (double)(random_next() >> 11) * 0x1p-53;
	u32 at = z->cell[(u32)(share * CELLS)];

	while (at < z->places - 1 && z->upto[at] <= share)
		at++;
	return at;
}

static u64 place_of(const struct contest *c, u32 program, u32 rank)
{
	return 0x400000 + 4 * ((u64)program * c->zipf.places + rank);
}

static void key_prepare(const struct contest *c, u32 table, u64 place, struct location_key *ret_key)
{
	const u64 owner = location_owner(1, 1);

	location_prepare(c->table[table], place, owner, location_salt(c->table[table], owner),
			 ret_key);
}

/* Compare the tables. The first one admits all locations. */
static void shared_source(struct contest *c, u32 table, const u64 *places)
{
	double began = cpu_seconds();
	struct location *entry;

	for (u32 i = 0; i < BLOCK; i++)
		key_prepare(c, table, places[i], &c->key[i]);
	for (u32 i = 0; i < BLOCK; i++) {
		if (table)
			entry = location_get_admitted(c->table[table], &c->key[i], 1,
						      &c->evicted[table]);
		else
			entry = location_get(c->table[table], &c->key[i], &c->evicted[table]);
		if (entry)
			location_add(c->table[table], entry, &c->facts);
		else
			c->evicted[table]++;
	}
	c->seconds[table] += cpu_seconds() - began;
}

static void program_run(struct contest *c, u32 program, u64 samples)
{
	u64 places[BLOCK];

	for (u64 n = 0; n < samples; n += BLOCK) {
		for (u32 i = 0; i < BLOCK; i++) {
			u32 rank = zipf_draw(&c->zipf);

			c->counted[program][rank]++;
			places[i] = place_of(c, program, rank);
		}
		for (u32 t = 0; t < TABLES; t++)
			shared_source(c, t, places);
	}
}

static u64 count_of_rank(const struct contest *c, u32 table, u32 program, u32 rank)
{
	const struct location *entry;
	struct location_key key;

	key_prepare(c, table, place_of(c, program, rank), &key);
	entry = location_find(c->table[table], &key);
	return entry ? location_samples(c->table[table], entry) : 0;
}

static int most_first(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x > y ? -1 : x < y;
}

/* Return the hundredth largest count among @program's locations in a table. */
static u64 find_hundredth_count(const struct contest *c, u32 table, u32 program)
{
	u64 *all = allocate_array(c->zipf.places, sizeof(*all)), least;

	for (u32 i = 0; i < c->zipf.places; i++)
		all[i] = count_of_rank(c, table, program, i);
	qsort(all, c->zipf.places, sizeof(*all), most_first);
	least = all[TOP - 1];
	free(all);
	return least;
}

/*
 * Print how many of the most frequent locations a table has, and which part of their samples it
 * counted.
 */
static void program_report(const struct contest *c, u32 program, const char *when)
{
	printf("  %-28s", when);
	for (u32 t = 0; t < TABLES; t++) {
		u64 least = find_hundredth_count(c, t, program), all = 0, have = 0;
		double worst = 1;
		u32 found = 0;

		for (u32 i = 0; i < TOP; i++) {
			u64 n = count_of_rank(c, t, program, i);

			found += n && n >= least;
			have += n;
			all += c->counted[program][i];
			if ((double)n < worst * c->counted[program][i])
				worst = (double)n / c->counted[program][i];
		}
		printf("%s %3u of %u, %5.1f %% of their samples, worst %5.1f %%", t ? " |" : "", found,
		       TOP, 100.0 * (double)have / (double)all, 100 * worst);
	}
	printf("\n");
}

static void contest_run(double exponent, u64 samples, u32 places, u32 capacity)
{
	u64 key = sample_class_key(SPE_HAS_EVENTS | SPE_HAS_OP, SPE_OP_LOAD_STORE, 0, 0, 0);
	struct contest c = { 0 };
	u64 total = 0;

	zipf_init(&c.zipf, places, exponent);
	for (u32 i = 0; i < PROGRAMS; i++)
		c.counted[i] = allocate_array(places, sizeof(*c.counted[i]));
	if (sample_class_init(&c.catalog) < 0)
		exit(EXIT_FAILURE);
	c.facts = (struct sample_facts){
		.sample_class = sample_class_find(&c.catalog, 2, key, NULL),
		.bucket = { HISTOGRAM_NONE, HISTOGRAM_NONE, HISTOGRAM_NONE },
	};
	for (u32 t = 0; t < TABLES; t++)
		if (location_table_new(capacity, &c.catalog, &c.table[t]) < 0)
			exit(EXIT_FAILURE);
	printf("Zipf(%.1f) of %u places, %u entries; each place let in | by a draw\n", exponent,
	       places, capacity);
	program_run(&c, 0, samples);
	program_report(&c, 0, "its heaviest");
	for (u32 i = 0; i < 3; i++) {
		static const char *const when[] = { "another, after a 20th", "after a 5th",
						    "after as many" };
		static const u32 parts[] = { 20, 5, 1 };

		program_run(&c, 1, samples / parts[i] - total);
		total = samples / parts[i];
		program_report(&c, 1, when[i]);
	}
	for (u32 t = 0; t < TABLES; t++) {
		printf("  %s: %.1f M samples/s, %.1f %% evicted\n", t ? "by a draw" : "each let in",
		       2 * (double)samples / c.seconds[t] / 1e6,
		       50 * (double)c.evicted[t] / (double)samples);
		location_table_free(c.table[t]);
	}
	sample_class_deinit(&c.catalog);
	for (u32 i = 0; i < PROGRAMS; i++)
		free(c.counted[i]);
	zipf_deinit(&c.zipf);
}

int main(int argc, char **argv)
{
	u64 samples = argc > 1 ? strtoull(argv[1], NULL, 10) : SAMPLES;
	u32 places = argc > 2 ? (u32)strtoul(argv[2], NULL, 10) : PLACES;
	u32 capacity = argc > 3 ? (u32)strtoul(argv[3], NULL, 10) : CAPACITY;

	if (samples < 1000 || places < TOP || !capacity)
		return EXIT_FAILURE;
	contest_run(1.0, samples, places, capacity);
	contest_run(0.8, samples, places, capacity);
	return EXIT_SUCCESS;
}
