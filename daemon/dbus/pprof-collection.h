/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Implement the methods DumpProfile and DumpProfileWithOptions: sample for some time, then answer
 * in pprof format.
 */
#ifndef SPEPROF_PPROF_COLLECTION_H
#define SPEPROF_PPROF_COLLECTION_H

#include <systemd/sd-bus.h>

struct bus;

/** bus_dump_profile() - handle the method DumpProfile; @userdata is the struct bus */
int bus_dump_profile(sd_bus_message *message, void *userdata, sd_bus_error *error);

/** bus_dump_profile_with_options() - handle DumpProfileWithOptions; @userdata is the struct bus */
int bus_dump_profile_with_options(sd_bus_message *message, void *userdata, sd_bus_error *error);

/** bus_profiles_end() - drop all profiles that are being collected; their callers get no answer */
void bus_profiles_end(struct bus *bus);

#endif
