// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Methods that return a paged list of containers, and the counters of one container. Callers that
 * are neither root nor in the group speprof get only containers in cgroups that were delegated to
 * them.
 */
#include "objects.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cgroup-owner.h"
#include "profile/profile-read.h"

/* Sort keys of the list; the largest value comes first */
enum container_sort {
	BY_SAMPLES,
	BY_LATENCY,
	BY_MEMORY,
	BY_DRAM,
	BY_REMOTE,
	BY_BRANCHES,
	BY_MISPREDICTED,
	BY_P99,
	SORTS,
};

/**
 * struct container_row - a row of the list; @cgroup: the unescaped path, allocated; set only if the
 * owner has to be checked
 */
struct container_row {
	struct attribute_container container;
	char *cgroup;
	u64 key;
	u64 samples;
	u64 memory;
	u64 dram;
	u64 remote;
	u64 latency_sum;
	u32 p50;
	u32 p99;
};

struct container_list {
	enum container_sort sort;
	bool delegated;
	u8 backend;
	u32 count;
	struct container_row *rows;
};

static u64 get_sort_key(const struct profile_counters *f, enum container_sort sort)
{
	const struct histogram *total = &f->latency[PROFILE_TOTAL];

	switch (sort) {
	case BY_LATENCY:
		return total->sum;
	case BY_MEMORY:
		return counters_get_memory_accesses(f);
	case BY_DRAM:
		return counters_get_dram_accesses(f);
	case BY_REMOTE:
		return counters_get_origin_accesses(f, SPE_ORIGIN_REMOTE);
	case BY_BRANCHES:
		return f->counts.kind[SPE_KIND_BRANCH];
	case BY_MISPREDICTED:
		return f->counts.mispredicted;
	case BY_P99:
		return histogram_get_quantile(total, 990);
	default:
		return f->samples;
	}
}

static void fill_row(const struct profile_counters *f, enum container_sort sort,
		     struct container_row *row)
{
	const struct histogram *total = &f->latency[PROFILE_TOTAL];

	row->key = get_sort_key(f, sort);
	row->samples = f->samples;
	row->memory = counters_get_memory_accesses(f);
	row->dram = counters_get_dram_accesses(f);
	row->remote = counters_get_origin_accesses(f, SPE_ORIGIN_REMOTE);
	row->latency_sum = total->sum;
	row->p50 = histogram_get_quantile(total, 500);
	row->p99 = histogram_get_quantile(total, 990);
}

static int row_compare(const void *a, const void *b)
{
	const struct container_row *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	/*
	 * Compare the paths last: no two containers are equal then, so pages of an unchanged list
	 * do not overlap.
	 */
	return strcmp(x->container.path, y->container.path);
}

/* Collect and sort all containers with samples. "-" stands for samples outside of containers. */
static int read_rows(struct worker_state *state, void *arg)
{
	struct session *machine = worker_find_session(state, NULL);
	struct container_list *rows = arg;
	struct container_row *row;
	u32 capacity;

	worker_drain_session(state, machine);
	profile_flush(machine->profile);
	capacity = profile_get_container_bound(machine->profile);
	rows->backend = machine->shared_source->source->backend;
	rows->rows = calloc(capacity + 1, sizeof(*rows->rows));
	if (!rows->rows)
		return -ENOMEM;
	for (u32 i = 0; i < capacity; i++) {
		const struct attribute_container *c =
			attributor_get_container(state->attributor, i);
		const struct profile_counters *f =
			profile_get_container_counters(machine->profile, i);

		if (!c || !f)
			continue;
		row = &rows->rows[rows->count];
		row->container = *c;
		row->container.cgroup = NULL;
		if (!i)
			strcpy(row->container.name, "-");
		if (rows->delegated) {
			row->cgroup = strdup(c->cgroup);
			if (!row->cgroup)
				return -ENOMEM;
		}
		fill_row(f, rows->sort, row);
		rows->count++;
	}
	qsort(rows->rows, rows->count, sizeof(*rows->rows), row_compare);
	return 0;
}

static void container_list_clear(struct container_list *rows)
{
	for (u32 i = 0; i < rows->count; i++)
		free(rows->rows[i].cgroup);
	free(rows->rows);
}

/* Remove the rows of containers that do not belong to @uid. */
static void remove_unowned_rows(struct container_list *rows, uid_t uid)
{
	int mount = cgroup_owner_open_mount();
	u32 owned = 0;

	for (u32 i = 0; i < rows->count; i++) {
		if (mount >= 0 && cgroup_is_owned_by(mount, rows->rows[i].cgroup, uid))
			rows->rows[owned++] = rows->rows[i];
		else
			free(rows->rows[i].cgroup);
	}
	rows->count = owned;
	if (mount >= 0)
		close(mount);
}

static int append_row(sd_bus_message *reply, const struct container_row *row, u8 backend)
{
	return sd_bus_message_append(
		reply, "a{sv}", 11, "backend", "s", bus_backend_name(backend), "name", "s",
		row->container.name, "runtime", "s", row->container.runtime, "path", "s",
		row->container.path, "samples", "t", row->samples, "memory", "t", row->memory,
		"dram", "t", row->dram, "remote", "t", row->remote, "latency_sum", "t",
		row->latency_sum, "p50", "u", row->p50, "p99", "u", row->p99);
}

static int parse_sort(const char *name, enum container_sort *ret_sort, sd_bus_error *error)
{
	static const char *const names[SORTS] = {
		[BY_SAMPLES] = "samples",
		[BY_LATENCY] = "latency",
		[BY_MEMORY] = "memory",
		[BY_DRAM] = "dram",
		[BY_REMOTE] = "remote",
		[BY_BRANCHES] = "branches",
		[BY_MISPREDICTED] = "mispredicted",
		[BY_P99] = "p99",
	};

	for (u32 i = 0; i < SORTS; i++) {
		if (!strcmp(names[i], name)) {
			*ret_sort = i;
			return 0;
		}
	}
	return bus_set_invalid_argument(
		error, "sort", name,
		"samples, latency, memory, dram, remote, branches, mispredicted or p99");
}

static int reply_page(sd_bus_message *message, const struct container_list *rows, u32 offset,
		      u32 limit)
{
	sd_bus_message *reply = NULL;
	int r;

	r = sd_bus_message_new_method_return(message, &reply);
	if (r >= 0)
		r = sd_bus_message_append(reply, "u", rows->count);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "a{sv}");
	for (u32 i = offset; i < rows->count && i - offset < limit && r >= 0; i++)
		r = append_row(reply, &rows->rows[i], rows->backend);
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return r;
}

int bus_handle_get_containers(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus_service *bus = userdata;
	struct container_list rows = { 0 };
	u32 offset, limit;
	const char *sort;
	int r;

	r = sd_bus_message_read(message, "suu", &sort, &offset, &limit);
	if (r >= 0)
		r = parse_sort(sort, &rows.sort, error);
	if (r >= 0)
		r = bus_check_limit(limit, error);
	if (r < 0)
		return r;
	rows.delegated = !bus->caller.owner && !bus->caller.reads;
	r = worker_call_readonly(bus->worker, read_rows, &rows);
	/*
	 * If the caller gets only its own containers, charge it for all rows, because the owner of
	 * each cgroup is looked up.
	 */
	bus_add_answer_rows(bus, rows.delegated || rows.count < limit ? rows.count : limit);
	if (r >= 0 && rows.delegated)
		remove_unowned_rows(&rows, bus->caller.uid);
	if (r >= 0)
		r = reply_page(message, &rows, offset, limit);
	container_list_clear(&rows);
	return r;
}

/* ---- One container --------------------------------------------------------- */

/**
 * struct container_lookup - the argument of find_container(), which finds one container
 * @wanted: path of the cgroup, escaped or not, or name of the container. If several containers have
 * that name, the one with the most samples is used
 * @uid: the user that must own the cgroup; (uid_t)-1: any user
 * @searched: number of cgroups for which the owner was looked up
 */
struct container_lookup {
	const char *wanted;
	uid_t uid;
	int mount;
	u32 searched;
	u8 backend;
	bool found;
	struct attribute_container container;
	struct profile_counters counters;
};

static bool container_matches(struct container_lookup *one, const struct attribute_container *c)
{
	if (*one->wanted == '/' ? !attribute_container_has_path(c, one->wanted) :
				  strcmp(c->name, one->wanted) != 0)
		return false;
	if (one->uid == (uid_t)-1)
		return true;
	one->searched++;
	return cgroup_is_owned_by(one->mount, c->cgroup, one->uid);
}

static int find_container(struct worker_state *state, void *arg)
{
	struct session *machine = worker_find_session(state, NULL);
	struct container_lookup *one = arg;
	u32 capacity;

	worker_drain_session(state, machine);
	profile_flush(machine->profile);
	capacity = profile_get_container_bound(machine->profile);
	one->backend = machine->shared_source->source->backend;
	for (u32 i = 1; i < capacity; i++) {
		const struct attribute_container *c =
			attributor_get_container(state->attributor, i);
		const struct profile_counters *f =
			profile_get_container_counters(machine->profile, i);

		if (!c || !f || !container_matches(one, c))
			continue;
		if (one->found && f->samples <= one->counters.samples)
			continue;
		one->found = true;
		one->container = *c;
		one->container.cgroup = NULL;
		one->counters = *f;
	}
	return 0;
}

static int append_container(sd_bus_message *reply, const struct container_lookup *one)
{
	int r = sd_bus_message_open_container(reply, 'a', "{sv}");

	if (r >= 0)
		r = sd_bus_message_append(reply, "{sv}{sv}{sv}", "name", "s", one->container.name,
					  "runtime", "s", one->container.runtime, "path", "s",
					  one->container.path);
	if (r >= 0)
		r = bus_append_counters(reply, one->backend, &one->counters);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

int bus_handle_get_container(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus_service *bus = userdata;
	struct container_lookup one = { .uid = (uid_t)-1, .mount = -1 };
	sd_bus_message *reply = NULL;
	int r;

	r = sd_bus_message_read(message, "s", &one.wanted);
	if (r < 0)
		return r;
	if (!bus->caller.owner && !bus->caller.reads) {
		one.uid = bus->caller.uid;
		one.mount = cgroup_owner_open_mount();
	}
	r = worker_call_readonly(bus->worker, find_container, &one);
	bus_add_answer_rows(bus, one.searched);
	if (one.mount >= 0)
		close(one.mount);
	if (r >= 0 && !one.found)
		return bus_set_no_such_container(error, one.wanted, one.uid != (uid_t)-1);
	if (r >= 0)
		r = sd_bus_message_new_method_return(message, &reply);
	if (r >= 0)
		r = append_container(reply, &one);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return r;
}
