// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Merges old periods, and removes the oldest periods. The age of a period is the number of later
 * periods with the same length. This age does not depend on the clock, so a wrong clock cannot
 * cause the removal of periods.
 */
#include "store-internal.h"

#include <inttypes.h>
#include <stdio.h>

/* Maximum number of periods that one transaction removes to free space. */
#define TRIM_PERIODS 32

/* The database is trimmed to this percentage of its limit, to leave space for the next minute. */
#define TRIM_PERCENT 90

/**
 * struct period_rule - rules for periods of one length
 * @seconds: nominal length
 * @into: nominal length of the longer periods into which the oldest ones are merged; 0: the oldest
 *	ones are removed
 */
struct period_rule {
	u32 seconds;
	u32 into;
};

static const struct period_rule ages[STORE_AGES] = {
	[STORE_MINUTES] = { 60, 600 },
	[STORE_TENS] = { 600, 3600 },
	[STORE_HOURS] = { 3600, 0 },
};

/* A group of consecutive periods of one length, with ids from @first to @last. */
struct period_group {
	u32 seconds;
	s64 first;
	s64 last;
};

static int delete_group(struct history_store *store, const struct period_group *g)
{
	char sql[1024];

	snprintf(sql, sizeof(sql),
		 "CREATE TEMP TABLE IF NOT EXISTS removed(id INTEGER PRIMARY KEY);"
		 "DELETE FROM removed;"
		 "INSERT INTO removed SELECT id FROM period WHERE seconds=%u AND id BETWEEN "
		 "%" PRId64 " AND %" PRId64 ";"
		 "DELETE FROM location_row WHERE period IN (SELECT id FROM removed);"
		 "DELETE FROM program_row WHERE period IN (SELECT id FROM removed);"
		 "DELETE FROM container_row WHERE period IN (SELECT id FROM removed);"
		 "DELETE FROM period WHERE id IN (SELECT id FROM removed)",
		 g->seconds, g->first, g->last);
	return store_run(store, sql);
}

int store_remove_unused_names(struct history_store *store)
{
	/* Remove programs before containers, because programs refer to containers. */
	return store_run(store, "DELETE FROM location WHERE uses=0;"
				"DELETE FROM program WHERE uses=0;"
				"DELETE FROM container WHERE uses=0;"
				"DELETE FROM boot WHERE id NOT IN (SELECT boot FROM period) AND "
				"id NOT IN (SELECT boot FROM container)");
}

/* Run a statement with five parameters: length, first id and last id of a group, and two more. */
static int run_for_group(struct history_store *store, const struct period_group *g, s64 fourth,
			 s64 fifth, const char *sql)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	const s64 values[] = { g->seconds, g->first, g->last, fourth, fifth };
	int r = store_prepare(store, sql, &statement);

	for (int i = 0; i < (int)ARRAY_SIZE(values) && r >= 0; i++)
		if (i < sqlite3_bind_parameter_count(statement))
			r = store_result_to_errno(sqlite3_bind_int64(statement, i + 1, values[i]));
	return r < 0 ? r : store_step(statement);
}

#define OF_GROUP "(SELECT id FROM period WHERE seconds=?1 AND id BETWEEN ?2 AND ?3)"

/*
 * Insert the period that replaces a group. If the units of the periods differ, the number of
 * operations is unknown. If an emulated SPU took samples of one of the periods, the new period is
 * marked as emulated.
 */
static int merge_periods(struct history_store *store, const struct period_group *g, u32 into,
			 s64 *ret_id)
{
	int r = run_for_group(
		store, g, into, 0,
		"INSERT INTO "
		"period(seconds,start_us,end_us,length_us,boot,backend,"
		"unit," SUM_COLUMNS
		",unattributed,unattributed_operations,evicted,evicted_operations,"
		"enabled_ns,blind_ns,details) "
		"SELECT "
		"?4,min(start_us),max(end_us),sum(length_us),max(boot),min(backend),"
		"CASE WHEN min(unit)=max(unit) THEN min(unit) ELSE 'samples' "
		"END," SUM_TOTALS ","
		"sum(unattributed),sum(unattributed_operations),sum(evicted),"
		"sum(evicted_operations),sum(enabled_ns),sum(blind_ns)"
		"," SUM_OF_DETAILS("period,json_each(period.details) WHERE period.id "
				   "IN " OF_GROUP) " FROM period WHERE id IN " OF_GROUP);

	*ret_id = sqlite3_last_insert_rowid(store->db);
	return r;
}

static int merge_rows(struct history_store *store, const struct period_group *g, s64 id)
{
	int r = run_for_group(
		store, g, id, 0,
		"INSERT INTO container_row(period,container," SUM_COLUMNS ",details) "
		"SELECT ?4,container," SUM_TOTALS "," SUM_OF_DETAILS(
			"container_row AS r,json_each(r.details) WHERE r.period IN " OF_GROUP
			" AND r.container=c.container") " FROM container_row AS c WHERE period "
							"IN " OF_GROUP " GROUP BY container");
	if (r >= 0)
		r = run_for_group(store, g, id, 0,
				  "INSERT INTO program_row(period,program," SUM_COLUMNS ") "
				  "SELECT ?4,program," SUM_TOTALS
				  " FROM program_row WHERE period IN " OF_GROUP
				  " GROUP BY program");
	return r;
}

/*
 * Copy the heaviest locations until they have 99 % of the samples of the period, but at most
 * MINUTE_ROWS.
 */
static int merge_locations(struct history_store *store, const struct period_group *g, s64 id)
{
	return run_for_group(
		store, g, id, MINUTE_ROWS,
		"INSERT INTO location_row(period,program,location," SUM_COLUMNS ",latencies) "
		"SELECT ?4,program,location," SUM_COLUMNS ",latencies FROM (SELECT *,sum(samples) OVER "
		"(ORDER BY samples DESC,program,location ROWS UNBOUNDED PRECEDING)-samples AS "
		"heavier "
		"FROM (SELECT program,location,sum(samples) AS samples,"
		"sum(operations) AS operations,sum(latency) AS latency,sum(memory) AS memory,"
		"sum(dram) AS dram,sum(remote) AS remote,sum(branches) AS branches,"
		"sum(mispredicted) AS mispredicted,sum_latencies(latencies) AS latencies "
		"FROM location_row "
		"WHERE period IN " OF_GROUP " GROUP BY program,location)) "
		"WHERE heavier*100<99*(SELECT samples FROM period WHERE id=?4) "
		"ORDER BY samples DESC,program,location LIMIT ?5");
}

static int merge_group(struct history_store *store, const struct period_group *g, u32 into)
{
	s64 id;
	int r = merge_periods(store, g, into, &id);

	if (r >= 0)
		r = merge_rows(store, g, id);
	if (r >= 0)
		r = merge_locations(store, g, id);
	return r < 0 ? r : delete_group(store, g);
}

/*
 * Maximum number of periods in a group. Only if the clock was set back repeatedly can more periods
 * have the same time.
 */
#define GROUP_MAX 60

/*
 * Find the oldest periods that become one period of length @into. They are consecutive, of the same
 * boot, and start in the same @into seconds of the wall clock. If the clock was set to other @into
 * seconds, the group ends. Return 1 if the group is complete, which means that a later period does
 * not belong to it; else 0.
 */
static int find_group(struct history_store *store, u32 seconds, u32 into,
		      struct period_group *ret_group)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	s64 boot = 0, slot = 0;
	u32 periods = 0;
	int r = store_prepare(store,
			      "SELECT id,boot,start_us/(?2*1000000) FROM period WHERE seconds=?1 "
			      "ORDER BY id",
			      &statement);

	if (r < 0)
		return r;
	sqlite3_bind_int64(statement, 1, seconds);
	sqlite3_bind_int64(statement, 2, into);
	*ret_group = (struct period_group){ .seconds = seconds };
	while ((r = store_step(statement)) > 0) {
		if (periods == GROUP_MAX ||
		    (periods && (sqlite3_column_int64(statement, 1) != boot ||
				 sqlite3_column_int64(statement, 2) != slot)))
			return 1;
		ret_group->last = sqlite3_column_int64(statement, 0);
		if (periods++)
			continue;
		ret_group->first = ret_group->last;
		boot = sqlite3_column_int64(statement, 1);
		slot = sqlite3_column_int64(statement, 2);
	}
	return r;
}

static int count_periods(struct history_store *store, u32 seconds, s64 *ret_count)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM period WHERE seconds=%u", seconds);
	return store_query_number(store, sql, ret_count);
}

/* Merge or remove the oldest periods of a length if their number exceeds the limit. */
static int merge_or_remove_oldest(struct history_store *store, enum store_period_length which)
{
	const struct period_rule *age = &ages[which];
	struct period_group group;
	s64 count;
	int r = count_periods(store, age->seconds, &count);

	if (r < 0 || count <= store->kept[which])
		return r;
	/* With @into 1, the group is a single hour. */
	r = find_group(store, age->seconds, age->into ? age->into : 1, &group);
	if (r <= 0)
		return r;
	return age->into ? merge_group(store, &group, age->into) : delete_group(store, &group);
}

int store_merge_old_periods(struct history_store *store)
{
	int r = 0;

	/*
	 * Merge at most one group of each length, so that the time for writing a minute is bounded.
	 */
	for (enum store_period_length i = 0; i < STORE_AGES && r >= 0; i++)
		r = merge_or_remove_oldest(store, i);
	return r;
}

static int count_used_pages(struct history_store *store, s64 *ret_used, s64 *ret_all)
{
	s64 free_pages;
	int r = store_query_number(store, "PRAGMA page_count", ret_all);

	if (r >= 0)
		r = store_query_number(store, "PRAGMA freelist_count", &free_pages);
	*ret_used = r < 0 ? 0 : *ret_all - free_pages;
	return r;
}

/* Remove the oldest period and all names that no other period uses. */
static int delete_oldest_period(struct history_store *store)
{
	struct period_group group = { 0 };
	s64 id, seconds;
	int r = store_query_number(store, "SELECT id FROM period ORDER BY seconds DESC,id LIMIT 1",
				   &id);

	if (r >= 0)
		r = store_query_number(
			store, "SELECT seconds FROM period ORDER BY seconds DESC,id LIMIT 1",
			&seconds);
	if (r < 0)
		return r;
	group = (struct period_group){ .seconds = (u32)seconds, .first = id, .last = id };
	r = delete_group(store, &group);
	return r < 0 ? r : store_remove_unused_names(store);
}

int store_trim(struct history_store *store)
{
	s64 used, all, periods = 0, limit = store->pages * TRIM_PERCENT / 100;
	char sql[96];
	int r = count_used_pages(store, &used, &all);

	for (u32 i = 0; r >= 0 && used > limit; i++) {
		if (i == TRIM_PERIODS)
			return 1;
		r = store_query_number(store, "SELECT count(*) FROM period", &periods);
		if (r >= 0 && periods < 2)
			return 0;
		if (r >= 0)
			r = delete_oldest_period(store);
		if (r >= 0)
			r = count_used_pages(store, &used, &all);
	}
	if (r < 0 || all <= store->pages)
		return r;
	snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum(256);PRAGMA max_page_count=%" PRId64,
		 store->pages);
	r = store_run(store, sql);
	return r < 0 ? r : 1;
}
