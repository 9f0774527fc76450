/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of the history, version HISTORY_VERSION. Documentation/reference/history.md describes
 * the tables. Each name is stored once. Triggers count the rows that use a name. A name that no row
 * uses is removed.
 */
#ifndef SPEPROF_HISTORY_SCHEMA_H
#define SPEPROF_HISTORY_SCHEMA_H

#define SCHEMA_SUMS                                                                      \
	"samples INTEGER NOT NULL,operations INTEGER NOT NULL,latency INTEGER NOT NULL," \
	"memory INTEGER NOT NULL,dram INTEGER NOT NULL,remote INTEGER NOT NULL,"         \
	"branches INTEGER NOT NULL,mispredicted INTEGER NOT NULL,"

/*
 * Triggers that count the rows of table @user that use a name. Column @column of such a row is the
 * id of the name in table @name.
 */
#define SCHEMA_USES(user, name, column)                                          \
	"CREATE TRIGGER " user "_uses_" name " AFTER INSERT ON " user " BEGIN "  \
	"UPDATE " name " SET uses=uses+1 WHERE id=NEW." column "; END;"          \
	"CREATE TRIGGER " user "_drops_" name " AFTER DELETE ON " user " BEGIN " \
	"UPDATE " name " SET uses=uses-1 WHERE id=OLD." column "; END;"

static const char history_schema[] =
	"CREATE TABLE boot(id INTEGER PRIMARY KEY,boot_id TEXT NOT NULL UNIQUE);"
	"CREATE TABLE period(id INTEGER PRIMARY KEY AUTOINCREMENT,seconds INTEGER NOT NULL,"
	"start_us INTEGER NOT NULL,end_us INTEGER NOT NULL,length_us INTEGER NOT NULL,"
	"boot INTEGER NOT NULL REFERENCES boot,backend TEXT NOT NULL,unit TEXT NOT "
	"NULL," SCHEMA_SUMS
	"unattributed INTEGER NOT NULL,unattributed_operations INTEGER NOT NULL,"
	"evicted INTEGER NOT NULL,evicted_operations INTEGER NOT NULL,"
	"enabled_ns INTEGER NOT NULL,blind_ns INTEGER NOT NULL,details TEXT NOT NULL);"
	"CREATE INDEX period_order ON period(seconds,id);"
	"CREATE TABLE container(id INTEGER PRIMARY KEY,name TEXT NOT NULL,runtime TEXT NOT NULL,"
	"path TEXT NOT NULL,inode INTEGER NOT NULL,boot INTEGER NOT NULL REFERENCES boot,"
	"uses INTEGER NOT NULL DEFAULT 0,UNIQUE(path,name,inode,boot,runtime));"
	"CREATE INDEX container_unused ON container(id) WHERE uses=0;"
	"CREATE TABLE program(id INTEGER PRIMARY KEY,container INTEGER NOT NULL REFERENCES "
	"container,"
	"executable TEXT NOT NULL,uses INTEGER NOT NULL DEFAULT 0,UNIQUE(container,executable));"
	"CREATE INDEX program_unused ON program(id) WHERE uses=0;"
	"CREATE TABLE location(id INTEGER PRIMARY KEY,binary TEXT NOT NULL,build_id TEXT NOT NULL,"
	"function TEXT NOT NULL,file TEXT NOT NULL,line INTEGER NOT NULL,kernel INTEGER NOT NULL,"
	"uses INTEGER NOT NULL DEFAULT 0,UNIQUE(function,binary,file,line,build_id,kernel));"
	"CREATE INDEX location_unused ON location(id) WHERE uses=0;"
	"CREATE TABLE container_row(period INTEGER NOT NULL REFERENCES period,"
	"container INTEGER NOT NULL REFERENCES container," SCHEMA_SUMS
	"details TEXT NOT NULL,PRIMARY KEY(period,container)) WITHOUT ROWID;"
	"CREATE TABLE program_row(period INTEGER NOT NULL REFERENCES period,"
	"program INTEGER NOT NULL REFERENCES program," SCHEMA_SUMS
	"PRIMARY KEY(period,program)) WITHOUT ROWID;"
	"CREATE TABLE location_row(period INTEGER NOT NULL REFERENCES period,"
	"program INTEGER NOT NULL REFERENCES program,location INTEGER NOT NULL REFERENCES "
	"location," SCHEMA_SUMS "latencies TEXT NOT NULL DEFAULT '{}',"
	"PRIMARY KEY(period,program,location)) WITHOUT ROWID;" SCHEMA_USES(
		"container_row", "container", "container")
		SCHEMA_USES("program", "container", "container")
			SCHEMA_USES("program_row", "program", "program")
				SCHEMA_USES("location_row", "location", "location");

/* From version 1 to 2. */
static const char history_migration[] =
	"ALTER TABLE location_row ADD COLUMN latencies TEXT NOT NULL DEFAULT '{}';";

#endif
