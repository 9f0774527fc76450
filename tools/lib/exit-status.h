/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exit statuses of all verbs */
#ifndef SPEPROF_EXIT_STATUS_H
#define SPEPROF_EXIT_STATUS_H

/** enum verb_exit_status - exit statuses, on which scripts rely; speprof(1) lists them */
enum verb_exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1, /* out of memory, or output was lost; doctor: sampling is limited */
	STATUS_USAGE = 2, /* unknown verb, option or value */
	STATUS_NO_FILE = 3, /* the recording does not exist */
	STATUS_UNREADABLE = 4, /* the recording exists, but cannot be read */
	STATUS_EMPTY = 5, /* the recording has no bytes */
	STATUS_NO_RECORDING = 6, /* the file is no recording */
	STATUS_DAMAGED = 7, /* the recording is damaged; its readable part was printed */
	STATUS_NO_BUS = 8, /* the bus cannot be reached */
	STATUS_NO_DAEMON = 9, /* speprofd is not on the bus, or does not reply */
	STATUS_NO_RIGHT = 10, /* the user does not have the permission */
	STATUS_NO_MODULE = 11, /* speprof.ko is not loaded, or not installed for this kernel */
	STATUS_NO_SPE = 12, /* the machine has no usable SPU; doctor: nothing can be sampled */
	STATUS_STATE = 13, /* the session already runs or is in use, or the name is unknown */
	STATUS_SETTING = 14, /* a setting of the kernel prevents the action */
};

#endif
