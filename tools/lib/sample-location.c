// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sample-location.h"

/* Return the time of a sample on the clock of task events. */
static u64 sample_get_time(const struct profile_sample *sample)
{
	const struct timestamp_clock *clock = &sample->window->clock;

	if (!clock->mult || !spe_sample_has(sample->sample, SPE_HAS_TIMESTAMP))
		return sample->window->start_ns ?: ATTRIBUTE_AT_END;
	return clock->zero +
	       (u64)((unsigned __int128)sample->sample->timestamp * clock->mult >> clock->shift);
}

bool sample_find_location(const struct attributor *attributor, const struct profile_sample *sample,
			  u64 payload, struct attribute_location *ret_location)
{
	struct attribute_mapping mapping;
	u64 address = spe_address_va(payload);

	if (!attributor_find_mapping(attributor, sample->process, address,
				     spe_address_el(payload) > 0, sample_get_time(sample),
				     &mapping))
		return false;
	*ret_location = (struct attribute_location){
		.binary = mapping.binary,
		.offset = address - mapping.bias,
		.pc = address,
		.inode = mapping.inode,
		.device = mapping.device,
		.build_id = mapping.build_id,
		.build_id_size = mapping.build_id_size,
	};
	return true;
}
