// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store-internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "details.h"
#include "schema.h"
#include "source/source.h"
#include "util/log.h"

/* Soft limit of the memory of SQLite in bytes, and size of its page cache in KiB. */
#define SQLITE_BYTES (2 << 20)
#define CACHE_KIB    512
#define PAGE_BYTES   4096

/*
 * The limit of the write-ahead log is an eighth of the limit of the database, but at least
 * LOG_BYTES_MIN and at most LOG_BYTES_MAX bytes.
 */
#define LOG_BYTES_MIN (2ULL << 20)
#define LOG_BYTES_MAX (16ULL << 20)

#define NUMBERS_8 "?,?,?,?,?,?,?,?"
#define ADD_SUMS                                                                      \
	"samples=samples+excluded.samples,operations=operations+excluded.operations," \
	"latency=latency+excluded.latency,memory=memory+excluded.memory,"             \
	"dram=dram+excluded.dram,remote=remote+excluded.remote,"                      \
	"branches=branches+excluded.branches,mispredicted=mispredicted+excluded.mispredicted"

static const char *const statements[STORE_STATEMENTS] = {
	[STORE_PUT_BOOT] = "INSERT OR IGNORE INTO boot(boot_id) VALUES(?)",
	[STORE_GET_BOOT] = "SELECT id FROM boot WHERE boot_id=?",
	[STORE_PUT_CONTAINER] = "INSERT OR IGNORE INTO container(name,runtime,path,inode,boot) "
				"VALUES(?,?,?,?,?)",
	[STORE_GET_CONTAINER] = "SELECT id FROM container WHERE name=? AND runtime=? AND path=? "
				"AND inode=? AND boot=?",
	[STORE_PUT_PROGRAM] = "INSERT OR IGNORE INTO program(container,executable) VALUES(?,?)",
	[STORE_GET_PROGRAM] = "SELECT id FROM program WHERE container=? AND executable=?",
	[STORE_PUT_LOCATION] = "INSERT OR IGNORE INTO "
			       "location(function,binary,file,line,build_id,kernel) "
			       "VALUES(?,?,?,?,?,?)",
	[STORE_GET_LOCATION] = "SELECT id FROM location WHERE function=? AND binary=? AND file=? "
			       "AND line=? AND build_id=? AND kernel=?",
	[STORE_PUT_PERIOD] = "INSERT INTO period(seconds,start_us,end_us,length_us,boot,backend,"
			     "unit,unattributed,unattributed_operations,evicted,"
			     "evicted_operations,enabled_ns,blind_ns,details," SUM_COLUMNS ") "
			     "VALUES(60,?,?,?,?,?,?,?,?,?,?,?,?,?," NUMBERS_8 ")",
	[STORE_PUT_CONTAINER_ROW] =
		"INSERT INTO container_row(period,container,details," SUM_COLUMNS
		") VALUES(?,?,?," NUMBERS_8 ")",
	[STORE_PUT_PROGRAM_ROW] =
		"INSERT INTO program_row(period,program," SUM_COLUMNS ") VALUES(?,?," NUMBERS_8
		") ON CONFLICT(period,program) DO UPDATE SET " ADD_SUMS,
	[STORE_PUT_LOCATION_ROW] =
		"INSERT INTO location_row(period,program,location,latencies," SUM_COLUMNS
		") VALUES(?,?,?,?," NUMBERS_8 ") ON CONFLICT(period,program,location) DO UPDATE "
		"SET latencies=" SUM_OF_DETAILS(
			"(SELECT key,value FROM json_each(location_row.latencies) UNION ALL "
			"SELECT key,value FROM json_each(excluded.latencies))") "," ADD_SUMS,
};

/* ---- SQLite ------------------------------------------------------------------ */

int store_result_to_errno(int result)
{
	switch (result & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EBADMSG;
	case SQLITE_INTERRUPT:
		return -ETIMEDOUT;
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
		return -EACCES;
	default:
		return -EIO;
	}
}

int store_run(struct history_store *store, const char *sql)
{
	return store_result_to_errno(sqlite3_exec(store->db, sql, NULL, NULL, NULL));
}

int store_prepare(struct history_store *store, const char *sql, sqlite3_stmt **ret_statement)
{
	return store_result_to_errno(sqlite3_prepare_v2(store->db, sql, -1, ret_statement, NULL));
}

int store_step(sqlite3_stmt *statement)
{
	int result = sqlite3_step(statement);

	return result == SQLITE_ROW ? 1 : store_result_to_errno(result);
}

int store_query_number(struct history_store *store, const char *sql, s64 *ret_number)
{
	_cleanup_statement_ sqlite3_stmt *statement = NULL;
	int r = store_prepare(store, sql, &statement);

	if (r >= 0)
		r = store_step(statement);
	if (r < 0)
		return r;
	*ret_number = r ? sqlite3_column_int64(statement, 0) : 0;
	return 0;
}

/* Bind @values to the parameters of @statement. @types: "s" for const char *, "i" for s64. */
static int bind_list(sqlite3_stmt *statement, const char *types, va_list values)
{
	int result = SQLITE_OK;

	for (int i = 1; *types && result == SQLITE_OK; i++) {
		if (*types++ == 's')
			result = sqlite3_bind_text(statement, i, va_arg(values, const char *), -1,
						   SQLITE_STATIC);
		else
			result = sqlite3_bind_int64(statement, i, va_arg(values, s64));
	}
	return store_result_to_errno(result);
}

static int bind_values(sqlite3_stmt *statement, const char *types, ...)
{
	va_list values;
	int r;

	va_start(values, types);
	r = bind_list(statement, types, values);
	va_end(values);
	return r;
}

static int bind_sums(sqlite3_stmt *statement, int first, const struct minute_sums *sums)
{
	u64 numbers[MINUTE_SUMS];
	int result = SQLITE_OK;

	memcpy(numbers, sums, sizeof(numbers));
	for (unsigned int i = 0; i < MINUTE_SUMS && result == SQLITE_OK; i++)
		result = sqlite3_bind_int64(statement, first + (int)i, (s64)numbers[i]);
	return store_result_to_errno(result);
}

/*
 * Run a statement. @ret_number: receives the number in the first row; NULL for a statement without
 * rows.
 */
static int run_bound_statement(sqlite3_stmt *statement, s64 *ret_number)
{
	int r = store_step(statement);

	if (r > 0 && ret_number)
		*ret_number = sqlite3_column_int64(statement, 0);
	sqlite3_reset(statement);
	return r < 0 ? r : r || !ret_number ? 0 : -EBADMSG;
}

/*
 * Add a name if it is new, and get its id. The statements @put and @get have the same parameters.
 */
static int get_or_add_name_id(struct history_store *store, enum store_statement put,
			      enum store_statement get, s64 *ret_id, const char *types, ...)
{
	sqlite3_stmt *both[] = { store->statement[put], store->statement[get] };
	va_list values;
	int r = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(both) && r >= 0; i++) {
		va_start(values, types);
		r = bind_list(both[i], types, values);
		va_end(values);
		if (r >= 0)
			r = run_bound_statement(both[i], i ? ret_id : NULL);
	}
	return r;
}

/* ---- Opening ------------------------------------------------------------------ */

/*
 * Rename a damaged database and its write-ahead log. This removes a database that was renamed
 * earlier.
 */
static int rename_damaged_database(const char *path)
{
	static const char *const parts[] = { "", "-wal", "-shm" };
	char from[PATH_MAX], to[PATH_MAX];

	for (unsigned int i = 0; i < ARRAY_SIZE(parts); i++) {
		snprintf(from, sizeof(from), "%s%s", path, parts[i]);
		snprintf(to, sizeof(to), "%s.damaged%s", path, parts[i]);
		unlink(to);
		if (rename(from, to) < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

static int apply_limits(struct history_store *store)
{
	char sql[320];

	snprintf(sql, sizeof(sql),
		 "PRAGMA auto_vacuum=INCREMENTAL;PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
		 "PRAGMA mmap_size=0;PRAGMA cache_size=-%d;PRAGMA temp_store=MEMORY;"
		 "PRAGMA wal_autocheckpoint=0;PRAGMA max_page_count=%" PRId64,
		 CACHE_KIB, store->pages);
	return store_run(store, sql);
}

/* Run statements that make the tables those of HISTORY_VERSION, in one transaction. */
static int change_tables(struct history_store *store, const char *change)
{
	char sql[sizeof(history_schema) + 160];
	int r;

	snprintf(sql, sizeof(sql),
		 "BEGIN IMMEDIATE;%sPRAGMA application_id=%d;PRAGMA user_version=%d;COMMIT", change,
		 HISTORY_APPLICATION, HISTORY_VERSION);
	r = store_run(store, sql);
	if (r < 0)
		store_run(store, "ROLLBACK");
	return r;
}

/* Create the tables in an empty database, or migrate those of an earlier version. */
static int create_or_migrate_tables(struct history_store *store)
{
	s64 application, version, tables;
	int r = store_query_number(store, "PRAGMA application_id", &application);

	if (r >= 0)
		r = store_query_number(store, "PRAGMA user_version", &version);
	if (r >= 0)
		r = store_query_number(store, "SELECT count(*) FROM sqlite_schema", &tables);
	if (r < 0)
		return r;
	if (!tables)
		return change_tables(store, history_schema);
	if (application != HISTORY_APPLICATION || version > HISTORY_VERSION)
		return -ENOTSUP;
	if (version == HISTORY_VERSION)
		return 0;
	return version == 1 ? change_tables(store, history_migration) : -EBADMSG;
}

static int prepare_statements(struct history_store *store)
{
	int r = 0;

	for (unsigned int i = 0; i < STORE_STATEMENTS && r >= 0; i++)
		r = store_prepare(store, statements[i], &store->statement[i]);
	return r;
}

/*
 * Remove the oldest periods in small transactions until the database is below its limit, which may
 * be lower than in the previous run of the daemon.
 */
static int shrink_database(struct history_store *store)
{
	int more = 1, r = 0;

	while (r >= 0 && more > 0) {
		r = store_run(store, "BEGIN IMMEDIATE");
		more = r < 0 ? r : store_trim(store);
		if (more < 0) {
			store_run(store, "ROLLBACK");
			return more;
		}
		r = store_run(store, "COMMIT;PRAGMA wal_checkpoint(TRUNCATE)");
	}
	return r;
}

static int open_database(struct history_store *store, const char *vfs)
{
	int r = store_result_to_errno(sqlite3_open_v2(
		store->path, &store->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, vfs));

	if (r >= 0)
		r = apply_limits(store);
	if (r >= 0)
		r = create_or_migrate_tables(store);
	if (r >= 0)
		r = store_create_functions(store);
	if (r >= 0)
		r = prepare_statements(store);
	return r < 0 ? r : shrink_database(store);
}

static void close_database(struct history_store *store)
{
	for (unsigned int i = 0; i < STORE_STATEMENTS; i++) {
		sqlite3_finalize(store->statement[i]);
		store->statement[i] = NULL;
	}
	sqlite3_close_v2(store->db);
	store->db = NULL;
}

int history_store_open(const struct history_store_config *config, struct history_store **ret_store)
{
	struct history_store *store = calloc(1, sizeof(*store));
	int r;

	if (!store)
		return -ENOMEM;
	store->path = strdup(config->path);
	store->kept[STORE_MINUTES] = config->minutes ? config->minutes : HISTORY_MINUTES;
	store->kept[STORE_TENS] = config->tens ? config->tens : HISTORY_TENS;
	store->kept[STORE_HOURS] = config->hours ? config->hours : HISTORY_HOURS;
	store->log_bytes = config->bytes / 8;
	if (store->log_bytes < LOG_BYTES_MIN)
		store->log_bytes = LOG_BYTES_MIN;
	if (store->log_bytes > LOG_BYTES_MAX)
		store->log_bytes = LOG_BYTES_MAX;
	store->pages = (s64)((config->bytes - store->log_bytes) / PAGE_BYTES);
	sqlite3_soft_heap_limit64(SQLITE_BYTES);
	r = store->path ? open_database(store, config->vfs) : -ENOMEM;
	if (r == -EBADMSG) {
		log_line(LOG_WARNING,
			 "the history in %s is damaged; it is renamed to %s.damaged, and a new "
			 "one begins",
			 store->path, store->path);
		close_database(store);
		r = rename_damaged_database(store->path);
		if (r >= 0)
			r = open_database(store, config->vfs);
	}
	if (r < 0) {
		history_store_free(store);
		return r;
	}
	*ret_store = store;
	return 0;
}

struct history_store *history_store_free(struct history_store *store)
{
	if (!store)
		return NULL;
	close_database(store);
	free(store->path);
	free(store);
	return NULL;
}

static u64 get_file_bytes(const char *path, const char *part)
{
	char name[PATH_MAX];
	struct stat st;

	snprintf(name, sizeof(name), "%s%s", path, part);
	return stat(name, &st) < 0 ? 0 : (u64)st.st_size;
}

u64 history_store_get_bytes(const struct history_store *store)
{
	return get_file_bytes(store->path, "") + get_file_bytes(store->path, "-wal");
}

/* ---- Writing ------------------------------------------------------------------ */

static const char *get_backend_name(u8 backend)
{
	/*
	 * When periods are merged, the first name in alphabetical order remains, so "emulated" must
	 * come first.
	 */
	return backend == BACKEND_EMULATED ? "emulated" :
	       backend == BACKEND_HARDWARE ? "hardware" :
					     "unknown";
}

static int write_period(struct history_store *store, const struct minute_counters *m, s64 boot,
			s64 *ret_period)
{
	sqlite3_stmt *statement = store->statement[STORE_PUT_PERIOD];
	char details[DETAILS_SIZE];
	struct minute_sums sums;
	int r;

	details_write(&m->machine, details);
	minute_sums_compute(&m->machine, &sums);
	r = bind_values(statement, "iiiissiiiiiis", m->start_us, m->end_us, m->length_us, boot,
			get_backend_name(m->backend), m->unit, (s64)m->unattributed,
			(s64)m->unattributed_operations, (s64)m->evicted,
			(s64)m->evicted_operations, (s64)m->enabled_ns, (s64)m->blind_ns, details);
	if (r >= 0)
		r = bind_sums(statement, 14, &sums);
	if (r >= 0)
		r = run_bound_statement(statement, NULL);
	*ret_period = sqlite3_last_insert_rowid(store->db);
	return r;
}

static int write_container(struct history_store *store, const struct minute_container *c,
			   s64 period, s64 boot, s64 *ret_id)
{
	sqlite3_stmt *statement = store->statement[STORE_PUT_CONTAINER_ROW];
	char details[DETAILS_SIZE];
	struct minute_sums sums;
	int r = get_or_add_name_id(store, STORE_PUT_CONTAINER, STORE_GET_CONTAINER, ret_id, "sssii",
				   c->name, c->runtime, c->path, (s64)c->inode, boot);

	if (r < 0)
		return r;
	details_write(&c->counters, details);
	minute_sums_compute(&c->counters, &sums);
	r = bind_values(statement, "iis", period, *ret_id, details);
	if (r >= 0)
		r = bind_sums(statement, 4, &sums);
	return r < 0 ? r : run_bound_statement(statement, NULL);
}

static int write_program(struct history_store *store, const struct minute_program *p, s64 period,
			 s64 container, s64 *ret_id)
{
	sqlite3_stmt *statement = store->statement[STORE_PUT_PROGRAM_ROW];
	int r = get_or_add_name_id(store, STORE_PUT_PROGRAM, STORE_GET_PROGRAM, ret_id, "is",
				   container, p->executable);

	if (r >= 0)
		r = bind_values(statement, "ii", period, *ret_id);
	if (r >= 0)
		r = bind_sums(statement, 3, &p->sums);
	return r < 0 ? r : run_bound_statement(statement, NULL);
}

static int write_location(struct history_store *store, const struct minute_location *l, s64 period,
			  s64 program)
{
	sqlite3_stmt *statement = store->statement[STORE_PUT_LOCATION_ROW];
	char latencies[DETAILS_LATENCIES_SIZE];
	s64 id;
	int r = get_or_add_name_id(store, STORE_PUT_LOCATION, STORE_GET_LOCATION, &id, "sssisi",
				   l->function, l->binary, l->file, (s64)l->line, l->build_id,
				   (s64)l->kernel);

	details_write_latencies(l->latency, latencies);
	if (r >= 0)
		r = bind_values(statement, "iiis", period, program, id, latencies);
	if (r >= 0)
		r = bind_sums(statement, 5, &l->sums);
	return r < 0 ? r : run_bound_statement(statement, NULL);
}

/* Add the container without a name. It is the container of programs without a known container. */
static int write_unknown_container(struct history_store *store, s64 boot, s64 *ret_id)
{
	return get_or_add_name_id(store, STORE_PUT_CONTAINER, STORE_GET_CONTAINER, ret_id, "sssii",
				  "-", "", "", (s64)0, boot);
}

/* Write the rows of a minute. @ids: memory for the ids of containers and programs */
static int write_rows(struct history_store *store, const struct minute_counters *m, s64 period,
		      s64 boot, s64 *ids)
{
	s64 *programs = ids + m->containers, unknown = 0;
	int r = write_unknown_container(store, boot, &unknown);

	for (u32 i = 0; i < m->containers && r >= 0; i++)
		r = write_container(store, &m->container[i], period, boot, &ids[i]);
	for (u32 i = 0; i < m->programs && r >= 0; i++) {
		const struct minute_program *p = &m->program[i];

		r = write_program(store, p, period,
				  p->container == MINUTE_NONE ? unknown : ids[p->container],
				  &programs[i]);
	}
	for (u32 i = 0; i < m->locations && r >= 0; i++)
		r = write_location(store, &m->location[i], period,
				   programs[m->location[i].program]);
	return r;
}

static int insert_minute(struct history_store *store, const struct minute_counters *m)
{
	s64 *ids = calloc((size_t)m->containers + m->programs + 1, sizeof(*ids));
	s64 boot, period;
	int r;

	if (!ids)
		return -ENOMEM;
	r = get_or_add_name_id(store, STORE_PUT_BOOT, STORE_GET_BOOT, &boot, "s", m->boot_id);
	if (r >= 0)
		r = write_period(store, m, boot, &period);
	if (r >= 0)
		r = write_rows(store, m, period, boot, ids);
	free(ids);
	return r;
}

int history_store_write(struct history_store *store, const struct minute_counters *minute)
{
	int r;

	/*
	 * While another program reads the database, the log cannot be copied to the database and
	 * grows.
	 */
	if (get_file_bytes(store->path, "-wal") > store->log_bytes / 2) {
		store_run(store, "PRAGMA wal_checkpoint(TRUNCATE)");
		if (get_file_bytes(store->path, "-wal") > store->log_bytes / 2)
			return -EBUSY;
	}
	r = store_run(store, "BEGIN IMMEDIATE");
	if (r < 0)
		return r;
	r = insert_minute(store, minute);
	if (r >= 0)
		r = store_merge_old_periods(store);
	if (r >= 0)
		r = store_trim(store);
	if (r >= 0)
		r = store_remove_unused_names(store);
	if (r >= 0)
		r = store_run(store, "COMMIT");
	if (r < 0) {
		for (unsigned int i = 0; i < STORE_STATEMENTS; i++)
			sqlite3_reset(store->statement[i]);
		store_run(store, "ROLLBACK");
		return r;
	}
	/* If this fails, the minute is in the log, and the next write copies the log again. */
	store_run(store, "PRAGMA wal_checkpoint(TRUNCATE)");
	return 0;
}
