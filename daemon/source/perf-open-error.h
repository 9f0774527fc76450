/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SPEPROF_PERF_OPEN_ERROR_H
#define SPEPROF_PERF_OPEN_ERROR_H

/** perf_open_error_reason() - why perf_event_open(2) said EACCES or EPERM: one static sentence */
const char *perf_open_error_reason(void);

/** perf_open_error_physical() - likewise of an event with physical addresses; NULL: not for those */
const char *perf_open_error_physical(void);

#endif
