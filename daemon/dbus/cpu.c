// SPDX-License-Identifier: LGPL-2.1-or-later
/* Implement org.speprof1.CPU: an object for each CPU that the session "machine" samples. */
#include "objects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/source-hotplug.h"
#include "util/log.h"

/*
 * Number of queries of the source after the kernel's list of CPUs has changed. A source adds or
 * drops a CPU within two seconds.
 */
#define SOURCE_RESCANS 6

/* Parse "/org/speprof1/cpu/12"; leading zeros and signs are refused. */
static int path_to_cpu(const char *path, u32 *ret_cpu)
{
	static const char prefix[] = BUS_CPUS "/";
	char canonical[sizeof(prefix) + 16];
	unsigned long cpu;

	if (strncmp(path, prefix, strlen(prefix)) != 0)
		return -ENOENT;
	cpu = strtoul(path + strlen(prefix), NULL, 10);
	snprintf(canonical, sizeof(canonical), "%s%lu", prefix, cpu);
	if (cpu >= SHARED_SOURCE_CPUS || strcmp(canonical, path) != 0)
		return -ENOENT;
	*ret_cpu = (u32)cpu;
	return 0;
}

static int find_cpu_properties(struct bus_service *bus, const char *path,
			       const struct cpu_properties **ret_properties)
{
	u32 cpu = 0;
	int r = path_to_cpu(path, &cpu);

	return r < 0 ? r :
		       property_cache_get_cpu(&bus->property_cache, bus->worker, cpu,
					      ret_properties);
}

/*
 * Get the properties of a CPU. If the source has dropped the CPU, return those of an offline CPU
 * until InterfacesRemoved is sent: GetManagedObjects still lists the object, and fails as a whole
 * if one property cannot be read.
 */
static int find_cpu_or_offline_properties(struct bus_service *bus, const char *path,
					  const struct cpu_properties **ret_properties)
{
	static struct cpu_properties offline = { .cpu.state = "offline" };
	int r = find_cpu_properties(bus, path, ret_properties);

	if (r >= 0 || path_to_cpu(path, &offline.cpu.cpu) < 0 ||
	    !cpu_list_has(&bus->cpus, offline.cpu.cpu))
		return r;
	*ret_properties = &offline;
	return 0;
}

static int set_unknown_cpu_error(sd_bus_error *error, const char *path)
{
	return sd_bus_error_setf(error, SD_BUS_ERROR_UNKNOWN_OBJECT, "There is no CPU at %s.",
				 path);
}

/* Append the names of the filters that the SPU has, in the order of SOURCE_FILTERS_*. */
static int append_filters(sd_bus_message *reply, u8 filters)
{
	static const char *const names[] = {
		"types", "latency", "events", "absent_events", "data_sources", "type_masks",
	};
	int r = sd_bus_message_open_container(reply, 'a', "s");

	for (u32 i = 0; i < ARRAY_SIZE(names) && r >= 0; i++)
		if (filters & 1U << i)
			r = sd_bus_message_append(reply, "s", names[i]);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int get_property(sd_bus *b __attribute__((unused)), const char *path,
			const char *interface __attribute__((unused)), const char *property,
			sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	const struct cpu_properties *properties;

	if (find_cpu_or_offline_properties(userdata, path, &properties) < 0)
		return set_unknown_cpu_error(error, path);
	if (!strcmp(property, "Number"))
		return sd_bus_message_append(reply, "u", properties->cpu.cpu);
	if (!strcmp(property, "MIDR"))
		return sd_bus_message_append(reply, "t", properties->cpu.midr);
	if (!strcmp(property, "PMSVer"))
		return sd_bus_message_append(reply, "y", properties->cpu.pmsver);
	if (!strcmp(property, "Backend"))
		return sd_bus_message_append(reply, "s", bus_backend_name(properties->backend));
	if (!strcmp(property, "IntervalNSec"))
		return sd_bus_message_append(reply, "t", properties->cpu.interval_ns);
	if (!strcmp(property, "ThrottleInterrupts"))
		return sd_bus_message_append(reply, "t", properties->cpu.throttle_interrupts);
	if (!strcmp(property, "ThrottleBytes"))
		return sd_bus_message_append(reply, "t", properties->cpu.throttle_bytes);
	if (!strcmp(property, "IntervalMin"))
		return sd_bus_message_append(reply, "t", properties->cpu.interval_min);
	if (!strcmp(property, "Filters"))
		return append_filters(reply, properties->cpu.filters);
	return sd_bus_message_append(reply, "s", properties->cpu.state);
}

static int append_blind_times(sd_bus_message *reply, const struct source_cpu *cpu)
{
	int r = sd_bus_message_open_container(reply, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append(reply, "s", "blind_ns");
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'v', "a{st}");
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "{st}");
	for (u32 i = 0; i < SOURCE_BLINDS && r >= 0; i++)
		if (cpu->blind_ns[i])
			r = sd_bus_message_append(reply, "{st}", view_blind_name(i),
						  cpu->blind_ns[i]);
	for (int i = 0; i < 3 && r >= 0; i++)
		r = sd_bus_message_close_container(reply);
	return r;
}

int bus_handle_get_times(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	const char *path = sd_bus_message_get_path(message);
	sd_bus_message *reply = NULL;
	const struct cpu_properties *properties;
	struct bus_service *bus = userdata;
	int r;

	/*
	 * Read the times now and not from the cache, because callers add them up over several CPUs.
	 */
	property_cache_invalidate(&bus->property_cache);
	if (find_cpu_properties(userdata, path, &properties) < 0)
		return set_unknown_cpu_error(error, path);
	r = sd_bus_message_new_method_return(message, &reply);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "{sv}");
	if (r >= 0)
		r = sd_bus_message_append(
			reply, "{sv}{sv}{sv}{sv}{sv}", "armed_ns", "t", properties->cpu.armed_ns,
			"windows", "t", properties->counts.windows, "bytes", "t",
			properties->counts.bytes, "faulted", "t", properties->counts.faulted,
			"collided", "t", properties->counts.collided);
	if (r >= 0)
		r = append_blind_times(reply, &properties->cpu);
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return r;
}

/*
 * Find the object of a CPU in bus->cpus, not in the source: an object exists until
 * InterfacesRemoved is sent for it.
 */
static int find_cpu_object(sd_bus *b __attribute__((unused)), const char *path,
			   const char *interface __attribute__((unused)), void *userdata,
			   void **ret_found, sd_bus_error *error __attribute__((unused)))
{
	const struct bus_service *bus = userdata;
	u32 cpu;

	if (path_to_cpu(path, &cpu) < 0 || !cpu_list_has(&bus->cpus, cpu))
		return 0;
	*ret_found = userdata;
	return 1;
}

static int list_cpu_objects(sd_bus *b __attribute__((unused)),
			    const char *prefix __attribute__((unused)), void *userdata,
			    char ***ret_nodes, sd_bus_error *error __attribute__((unused)))
{
	const struct bus_service *bus = userdata;
	u32 end = cpu_list_get_end(&bus->cpus), count = 0;
	char **paths = calloc(end + 1, sizeof(*paths));
	int r = paths ? 0 : -ENOMEM;

	for (u32 cpu = 0; cpu < end && r >= 0; cpu++)
		if (cpu_list_has(&bus->cpus, cpu))
			r = asprintf(&paths[count++], BUS_CPUS "/%u", cpu) < 0 ? -ENOMEM : 0;
	if (r >= 0) {
		*ret_nodes = paths;
		return 0;
	}
	/* Free all paths except the last one: its allocation failed. */
	for (u32 i = 0; i + 1 < count; i++)
		free(paths[i]);
	free(paths);
	return r;
}

static int read_online_cpus(struct worker_state *state, void *arg)
{
	struct source *source = worker_find_session(state, NULL)->shared_source->source;
	struct cpu_list *online = arg;
	struct source_cpu cpu;

	for (u32 next = 0; source_next_cpu(source, next, &cpu); next = cpu.cpu + 1)
		cpu_list_set(online, cpu.cpu, strcmp(cpu.state, "offline") != 0);
	return 0;
}

/* Querying a source interrupts each CPU, so query it only after the kernel's list has changed. */
static bool cpus_may_differ(struct bus_service *bus)
{
	struct cpu_list online = { 0 };

	if (cpu_list_read_online(&online) < 0)
		return false;
	if (memcmp(&online, &bus->online, sizeof(online)) != 0)
		bus->cpu_rescans = SOURCE_RESCANS;
	bus->online = online;
	if (!bus->cpu_rescans)
		return false;
	bus->cpu_rescans--;
	return true;
}

/* Start sampling on new CPUs with a new source, if the source cannot add CPUs itself. */
static void sample_new_cpus(struct bus_service *bus)
{
	struct source_new_cpus new_cpus = { .config = bus->config };
	int r = worker_call(bus->worker, source_sample_new_cpus, &new_cpus);
	const char *plural = new_cpus.ret_cpus == 1 ? "" : "s";
	const char *verb = new_cpus.ret_cpus == 1 ? "is" : "are";

	if (new_cpus.ret_replaced)
		log_write(LOG_NOTICE, LOG_ID_SOURCE, NULL,
			  "%u more CPU%s with an SPU %s sampled by a new session of the module; no "
			  "CPU was sampled for %llu ms during the change",
			  new_cpus.ret_cpus, plural, verb,
			  (unsigned long long)new_cpus.ret_blind_ns / 1000000);
	else if (r < 0 && !bus->unsampled_logged)
		log_write(LOG_WARNING, LOG_ID_SOURCE, NULL,
			  "%u more CPU%s with an SPU %s not sampled: %s", new_cpus.ret_cpus, plural,
			  verb, new_cpus.ret_reason);
	bus->unsampled_logged = r < 0;
}

void bus_update_cpu_objects(struct bus_service *bus)
{
	struct cpu_list online = { 0 };
	char path[sizeof(BUS_CPUS) + 16];

	if (!cpus_may_differ(bus))
		return;
	sample_new_cpus(bus);
	worker_call(bus->worker, read_online_cpus, &online);
	bus_invalidate_properties(bus);
	for (u32 cpu = 0; cpu < CPU_LIST_MAX; cpu++) {
		bool online_now = cpu_list_has(&online, cpu);

		if (online_now == cpu_list_has(&bus->cpus, cpu))
			continue;
		snprintf(path, sizeof(path), BUS_CPUS "/%u", cpu);
		/*
		 * Signal the removal before the CPU is cleared in bus->cpus: sd-bus looks up the
		 * interfaces of the object for the signal.
		 */
		if (!online_now)
			sd_bus_emit_object_removed(bus->bus, path);
		cpu_list_set(&bus->cpus, cpu, online_now);
		if (online_now)
			sd_bus_emit_object_added(bus->bus, path);
	}
}

static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD_WITH_ARGS("GetTimes", SD_BUS_NO_ARGS, SD_BUS_RESULT("a{sv}", times),
				bus_dispatch_method, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_PROPERTY("Number", "u", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	/*
	 * MIDR, PMSVer and the intervals have no flag CONST: they are unknown until the first
	 * window.
	 */
	SD_BUS_PROPERTY("MIDR", "t", get_property, 0, 0),
	SD_BUS_PROPERTY("PMSVer", "y", get_property, 0, 0),
	SD_BUS_PROPERTY("Backend", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("IntervalMin", "t", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Filters", "as", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("IntervalNSec", "t", get_property, 0, 0),
	SD_BUS_PROPERTY("ThrottleInterrupts", "t", get_property, 0, 0),
	SD_BUS_PROPERTY("ThrottleBytes", "t", get_property, 0, 0),
	SD_BUS_PROPERTY("State", "s", get_property, 0, 0),
	SD_BUS_VTABLE_END,
};

int bus_register_cpus(struct bus_service *bus)
{
	int r;

	worker_call(bus->worker, read_online_cpus, &bus->cpus);
	r = sd_bus_add_fallback_vtable(bus->bus, NULL, BUS_CPUS, BUS_CPU, vtable, find_cpu_object,
				       bus);
	if (r < 0)
		return r;
	return sd_bus_add_node_enumerator(bus->bus, NULL, BUS_CPUS, list_cpu_objects, bus);
}
