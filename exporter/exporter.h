/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exporter as a whole: snapshots in, series out. */
#ifndef SPEPROF_EXPORTER_H
#define SPEPROF_EXPORTER_H

#include <systemd/sd-event.h>

#include "config.h"
#include "http.h"

/* Sockets that it may serve. */
#define EXPORTER_SERVERS 4

struct exporter;

/**
 * exporter_new()
 * @config: stays the caller's, until exporter_free()
 * @emulated: for tests: an emulated SPU's figures are exported, too
 */
int exporter_new(const struct exporter_config *config, bool emulated, sd_event *event,
		 struct exporter **ret_exporter);
struct exporter *exporter_free(struct exporter *exporter);

/** exporter_serve() - HTTP on a socket; as http_new(), whose @render it fills in */
int exporter_serve(struct exporter *exporter, const struct http_config *config,
		   const char **ret_why);

/** exporter_query() - begin to ask the daemon, or to read @snapshot where that is not NULL */
int exporter_query(struct exporter *exporter, const char *address, const char *snapshot);

/** exporter_push() - begin to push, as configured; what is wrong is said. As receivers_new() */
int exporter_push(struct exporter *exporter);

#endif
