// SPDX-License-Identifier: LGPL-2.1-or-later
/* Containers: a paged list, and what was counted of one. */
#include "bus-internal.h"

#include <errno.h>
#include <stdlib.h>

struct containers_request {
	u32 offset;
	u32 limit;
	u32 total;
	u32 count;
	struct container_row {
		struct attribute_container container;
		u64 samples;
	} * rows;
};

static int read_containers(struct worker_state *state, void *arg)
{
	struct profile *profile = worker_session(state, NULL)->profile;
	struct containers_request *request = arg;
	u32 left;

	request->total = profile_containers(profile);
	left = request->offset < request->total ? request->total - request->offset : 0;
	if (left > request->limit)
		left = request->limit;
	request->rows = calloc(left + 1, sizeof(*request->rows));
	if (!request->rows)
		return -ENOMEM;
	for (; request->count < left; request->count++) {
		u32 index = request->offset + request->count;
		struct container_row *row = &request->rows[request->count];
		const struct attribute_container *c =
			attributor_container(state->attributor, index);

		/* The entry of one that was evicted, and is free: an empty row keeps the pages. */
		if (c)
			row->container = *c;
		row->samples = profile_container_samples(profile, index);
	}
	return 0;
}

static int append_containers(sd_bus_message *reply, const struct containers_request *request)
{
	int r;

	r = sd_bus_message_append(reply, "u", request->total);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "(ssst)");
	for (u32 i = 0; i < request->count && r >= 0; i++) {
		const struct container_row *row = &request->rows[i];

		r = sd_bus_message_append(reply, "(ssst)", row->container.name,
					  row->container.runtime, row->container.path,
					  row->samples);
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

int bus_get_containers(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct containers_request request = { 0 };
	sd_bus_message *reply = NULL;
	struct bus *bus = userdata;
	int r;

	r = sd_bus_message_read(m, "uu", &request.offset, &request.limit);
	if (r < 0)
		return r;
	r = bus_check_limit(request.limit, error);
	if (r < 0)
		return r;
	r = worker_call(bus->worker, read_containers, &request);
	if (r >= 0)
		r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0)
		r = append_containers(reply, &request);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	free(request.rows);
	return r;
}
