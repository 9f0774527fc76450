/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The signal FalseSharing: a cache line of the session "machine" has false sharing. The line is
 * found on the worker's thread. The signal is sent in a later period, when the helper that reads
 * symbols has named the functions.
 */
#ifndef SPEPROF_SHARING_SIGNALS_H
#define SPEPROF_SHARING_SIGNALS_H

#include "bus-core.h"
#include "profile/cache-lines.h"

/* Maximum number of signals FalseSharing in one period. */
#define SHARING_SIGNALS_MAX 10U

/**
 * struct waiting_line - a line that waits for its signal
 * @key: the line
 * @periods: number of periods in which names of its functions were missing
 */
struct waiting_line {
	struct line_key key;
	u32 periods;
};

/**
 * struct sharing_signals - state of the signal
 * @seen: as in hot_lines_get_raised()
 * @left: number of signals that were left out since the last one was sent
 * @count: used entries of @waiting
 */
struct sharing_signals {
	u64 seen;
	u64 left;
	u32 count;
	struct waiting_line waiting[SHARING_SIGNALS_MAX];
};

/**
 * sharing_signals_scan() - find further lines; call it once in each period
 * @signals: the state; all zeros at first
 * @machine: the session "machine"
 *
 * Context: the worker's thread, while the thread that owns @signals waits.
 */
void sharing_signals_scan(struct sharing_signals *signals, const struct session *machine);

/**
 * sharing_signals_send() - send the signals of lines for which all names are known
 * @signals: the state, which sharing_signals_scan() has updated
 * @bus: connected
 *
 * A line that was evicted, or that has no false sharing any more, is dropped.
 *
 * Context: the main thread.
 */
void sharing_signals_send(struct sharing_signals *signals, struct bus_service *bus);

#endif
