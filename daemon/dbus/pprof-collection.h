/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Implement the methods DumpProfile and DumpProfileWithOptions: sample for some time, then answer
 * in pprof format.
 */
#ifndef SPEPROF_PPROF_COLLECTION_H
#define SPEPROF_PPROF_COLLECTION_H

#include <systemd/sd-bus.h>

struct bus_service;

/**
 * bus_handle_dump_profile() - handle the method DumpProfile; @userdata is the struct bus_service
 */
int bus_handle_dump_profile(sd_bus_message *message, void *userdata, sd_bus_error *error);

/**
 * bus_handle_dump_profile_with_options() - handle DumpProfileWithOptions; @userdata is the struct
 * bus_service
 */
int bus_handle_dump_profile_with_options(sd_bus_message *message, void *userdata,
					 sd_bus_error *error);

/** bus_drop_profiles() - drop all profiles that are being collected; their callers get no answer */
void bus_drop_profiles(struct bus_service *bus);

#endif
