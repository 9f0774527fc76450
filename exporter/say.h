/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One line to the journal, or to a terminal; from any thread. */
#ifndef SPEPROF_EXPORTER_SAY_H
#define SPEPROF_EXPORTER_SAY_H

#include <systemd/sd-daemon.h>

/** say() - @level is SD_ERR and its like */
void say(const char *level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
