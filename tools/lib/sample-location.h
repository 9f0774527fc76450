/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find the locations of addresses in the samples of a recording. */
#ifndef SPEPROF_SAMPLE_LOCATION_H
#define SPEPROF_SAMPLE_LOCATION_H

#include "attribution/attributor.h"
#include "profile/profile.h"

/**
 * sample_find_location() - find the location of an instruction address of a sample
 * @attributor: the attributor of the recording, to which all task events were applied
 * @sample: the sample
 * @payload: an Address payload of an instruction, such as &spe_sample.address[SPE_ADDRESS_PC]
 * @ret_location: the location; its pointers are valid as those of attributor_find_mapping()
 *
 * Return: whether the mapping of the address is known.
 */
bool sample_find_location(const struct attributor *attributor, const struct profile_sample *sample,
			  u64 payload, struct attribute_location *ret_location);

#endif
