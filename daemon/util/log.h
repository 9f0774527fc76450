/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's log: lines with a MESSAGE_ID and fields in the journal, or plain lines on a
 * terminal. speprof.catalog explains each id.
 */
#ifndef SPEPROF_LOG_H
#define SPEPROF_LOG_H

#include <syslog.h>

#include "codec/env.h"

/*
 * Values of MESSAGE_ID=, by which programs recognize a message; the text of a message may change.
 */
#define LOG_ID_NONE	NULL
#define LOG_ID_STARTED	"f3fa945b02a8d193840481cb8dffe163"
#define LOG_ID_TASKS	"3b96cb9e9125cfc912ba552ba366d357"
#define LOG_ID_RESUMED	"dd8d86b87406c75ede6ca376e4c57c67"
#define LOG_ID_REFUSED	"e4855f3aad5d9ab81469ad6b25f9a759"
#define LOG_ID_RELOADED "1b472fdb6c50836e07111d084a98b576"
#define LOG_ID_CONFIG	"b92af5deceeb75af5d8453bb2a9f3fbb"
#define LOG_ID_FAULT	"20d2ccb81aaf194e4f167b5e10506f72"
#define LOG_ID_THROTTLE "0c9db95691ab436e5303109747eeab02"
#define LOG_ID_STUCK	"a4b819cdfc988ab63eda5884c4600d26"
#define LOG_ID_INTERVAL "b522deef73d9cfa613519fc6e77f5290"
#define LOG_ID_BUS	"c950909ff1c832cb7764d5e007a4ddec"
#define LOG_ID_UNSAVED	"4cf05dc8a09167fcd550976967272cfe"
#define LOG_ID_SOURCE	"f3fa9b9a04d4028d437c02e71cc0be88"
#define LOG_ID_HISTORY	"d2a7c6b8f0c94e7f9d3d5a1b6e28f743"

/**
 * log_write() - write one line to the log
 * @level: LOG_ERR to LOG_DEBUG; lines less urgent than log_get_level() are dropped
 * @id: LOG_ID_*, or NULL for none
 * @fields: journal fields such as "SPEPROF_CPU=3", terminated by NULL; NULL for none
 * @format: as for printf(3); bytes that are not printable UTF-8 become "\\xNN"
 *
 * Context: any thread.
 */
void __attribute__((format(printf, 4, 5)))
log_write(int level, const char *id, const char *const *fields, const char *format, ...);

/** log_line() - write a line without id and fields */
#define log_line(level, ...) log_write(level, LOG_ID_NONE, NULL, __VA_ARGS__)

/** enum log_target - where lines are written */
enum log_target {
	LOG_TARGET_AUTO, /* the journal if standard error is connected to it, else standard error */
	LOG_TARGET_JOURNAL,
	LOG_TARGET_CONSOLE, /* standard error */
	LOG_TARGET_NULL,
	LOG_TARGETS,
};

/**
 * log_set_target(), log_get_target() - set or return where lines are written; initially
 * LOG_TARGET_AUTO
 */
void log_set_target(enum log_target target);
enum log_target log_get_target(void);

/**
 * log_set_level(), log_get_level() - set or return the level, LOG_ERR to LOG_DEBUG; initially
 * LOG_INFO
 */
void log_set_level(int level);
int log_get_level(void);

/** log_level_name() - return the name of a level, "emerg" to "debug" */
const char *log_level_name(int level);
/** log_level_parse() - return the level of that name, or -EINVAL */
int log_level_parse(const char *name);

/** log_init() - set the level from the environment variable SYSTEMD_LOG_LEVEL, if it is set */
void log_init(void);

#endif
