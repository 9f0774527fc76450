/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The result of the last reload, for the log, the unit's status and the bus. */
#ifndef SPEPROF_RELOAD_STATUS_H
#define SPEPROF_RELOAD_STATUS_H

/* Bytes of a sentence that says what is wrong with a configuration and where, with its NUL. */
#define RELOAD_REASON 896

/**
 * struct reload_status - what became of the configuration's files when they were read the last time
 * @refused: why the previous configuration stays in force; "" if the new one is in force
 * @waiting: names of settings that change at the next restart only; "": none
 */
struct reload_status {
	char refused[RELOAD_REASON];
	char waiting[160];
};

#endif
