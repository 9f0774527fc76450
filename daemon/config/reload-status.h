/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The result of the last reload. The log, the status of the unit and the bus show it. */
#ifndef SPEPROF_RELOAD_STATUS_H
#define SPEPROF_RELOAD_STATUS_H

/* bytes of &reload_status.refused: a configuration error with its location, and a NUL */
#define RELOAD_REASON 896

/**
 * struct reload_status - the result of the last time that the configuration files were read
 * @refused: why the previous configuration is still in use; "" if the files are in use
 * @waiting: names of settings that change only at the next restart; "": none
 */
struct reload_status {
	char refused[RELOAD_REASON];
	char waiting[160];
};

#endif
