/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All that was counted of something: as JSON, the same of the daemon and of a recording, and as text. */
#ifndef SPEPROF_STATISTICS_TEXT_H
#define SPEPROF_STATISTICS_TEXT_H

#include <json-c/json.h>

#include "profile/counters.h"

#define STATISTICS_MODELLED "An emulated SPU: all but the number of samples is modelled."

/** statistics_json() - as the daemon answers GetFigures; to be put */
json_object *statistics_json(const struct counters *figures, const char *backend);

/** statistics_print() - @object is as of statistics_json(): counts, and of latencies mean and percentiles */
void statistics_print(json_object *object);

/** statistics_print_histograms() - and how they are distributed */
void statistics_print_histograms(json_object *object);

#endif
