/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the daemon says of itself: to the journal with an id and fields, to a terminal as
 * a line. speprof.catalog explains each id.
 */
#ifndef SPEPROF_LOG_H
#define SPEPROF_LOG_H

#include <syslog.h>

#include "codec/env.h"

/* MESSAGE_ID=, for what a program may wait for. */
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

/**
 * log_write() - one line
 * @level: LOG_ERR and so on; what is below log_set_level()'s is not said
 * @id: LOG_ID_*, NULL for none
 * @fields: "SPEPROF_CPU=3" and so on, NULL-terminated; NULL for none
 */
void __attribute__((format(printf, 4, 5)))
log_write(int level, const char *id, const char *const *fields, const char *format, ...);

/** log_line() - without id and fields */
#define log_line(level, ...) log_write(level, LOG_ID_NONE, NULL, __VA_ARGS__)

/** enum log_target - where it goes */
enum log_target {
	LOG_TARGET_AUTO, /* the journal, where standard error is its stream; else that */
	LOG_TARGET_JOURNAL,
	LOG_TARGET_CONSOLE, /* standard error */
	LOG_TARGET_NULL,
	LOG_TARGETS,
};

void log_set_target(enum log_target target);
enum log_target log_target(void);

/** log_set_level(), log_level() - LOG_ERR to LOG_DEBUG; at first LOG_INFO */
void log_set_level(int level);
int log_level(void);

/** log_level_name(), log_level_parse() - "emerg" to "debug"; -EINVAL if there is none such */
const char *log_level_name(int level);
int log_level_parse(const char *name);

/** log_init() - the level that SYSTEMD_LOG_LEVEL names, if it does */
void log_init(void);

#endif
