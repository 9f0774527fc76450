/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exit statuses that all verbs share. */
#ifndef SPEPROF_EXIT_STATUS_H
#define SPEPROF_EXIT_STATUS_H

/**
 * enum status - exit statuses; scripts rely on them, speprof(1) lists them
 */
enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1, /* out of memory, an output that cannot be written, ... */
	STATUS_USAGE = 2, /* unknown verb, option or value */
	STATUS_NO_FILE = 3, /* the recording does not exist */
	STATUS_UNREADABLE = 4, /* it exists and cannot be read */
	STATUS_EMPTY = 5, /* it has no byte */
	STATUS_NO_RECORDING = 6, /* it is something else */
	STATUS_DAMAGED = 7, /* what was readable has been printed */
	STATUS_NO_BUS = 8, /* no bus to reach */
	STATUS_NO_DAEMON = 9, /* a bus, and no speprofd on it */
	STATUS_NO_RIGHT = 10, /* refused */
	STATUS_NO_MODULE = 11, /* speprof.ko is not loaded */
	STATUS_NO_SPE = 12, /* the machine has no SPU that can be used */
	STATUS_STATE = 13, /* the daemon is in another state: it runs already */
	STATUS_SETTING = 14, /* a setting of the kernel stands in the way */
};

#endif
