// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What sd-bus answers by itself out of our getters: properties, managed objects, introspection.
 * Who may, whose turn it is and what it cost whom is looked after here as bus_method() does it for
 * methods: what has waited is dispatched once more, and let through then.
 */
#include "bus-internal.h"

#include <errno.h>
#include <time.h>

#include "bus-read.h"

u64 bus_spent(const struct bus *bus)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec + worker_spent(bus->worker);
}

static void settle(struct bus *bus)
{
	if (!bus->metered)
		return;
	bus->metered = false;
	access_charge(&bus->access, &bus->meter_caller, bus_spent(bus) - bus->meter_ns);
}

/* Before anything else of the loop runs: that is not the caller's. */
static int on_answered(sd_event_source *source __attribute__((unused)), void *userdata)
{
	settle(userdata);
	return 0;
}

/* By now it is known whose it is: from the start, since the rest is of sd-bus. */
static int again(sd_bus_message *message, void *userdata __attribute__((unused)),
		 sd_bus_error *error __attribute__((unused)))
{
	return sd_bus_enqueue_for_read(sd_bus_message_get_bus(message), message);
}

/* Whether sd-bus answers @message, and who may have it do so. */
static bool answers(sd_bus_message *message, struct access_need *ret_need)
{
	static const struct {
		const char *interface;
		enum access_level level;
	} rows[] = {
		{ "org.freedesktop.DBus.Properties", ACCESS_READ },
		{ "org.freedesktop.DBus.ObjectManager", ACCESS_READ },
		/* What there is, and no figure. */
		{ "org.freedesktop.DBus.Introspectable", ACCESS_ANYONE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (sd_bus_message_is_method_call(message, rows[i].interface, NULL) <= 0)
			continue;
		*ret_need = (struct access_need){ rows[i].level };
		return true;
	}
	return false;
}

int bus_meter_admit(struct bus *bus, const struct bus_waiting *waiting)
{
	int r;

	if (bus->admitted_count == ARRAY_SIZE(bus->admitted))
		return -ENOBUFS;
	r = sd_bus_enqueue_for_read(bus->bus, waiting->message);
	if (r < 0)
		return r;
	bus->admitted[bus->admitted_count++] = (struct bus_admitted){
		.message = sd_bus_message_ref(waiting->message),
		.caller = waiting->caller,
	};
	return 0;
}

/* Whether @message has had its turn: it is this one's now. */
static bool take_admitted(struct bus *bus, const sd_bus_message *message)
{
	u32 i = 0;

	while (i < bus->admitted_count && bus->admitted[i].message != message)
		i++;
	if (i == bus->admitted_count)
		return false;
	bus->caller = bus->admitted[i].caller;
	sd_bus_message_unref(bus->admitted[i].message);
	bus->admitted[i] = bus->admitted[--bus->admitted_count];
	bus->metered = true;
	bus->meter_caller = bus->caller;
	bus->meter_ns = bus_spent(bus);
	sd_event_source_set_enabled(bus->meter, SD_EVENT_ONESHOT);
	return true;
}

/* Before it waits for anything: some hundred may, and what they bring is in memory meanwhile. */
static int check_length(sd_bus_message *message, sd_bus_error *error)
{
	int r = sd_bus_message_is_method_call(message, NULL, NULL) > 0 ?
			bus_call_within(message, BUS_CALL_MOST) : 0;

	return r != -E2BIG ? r :
			     sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					       "A call brings at most %lu KiB.", BUS_CALL_MOST >> 10);
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus *bus = userdata;
	struct access_need need;
	int r;

	settle(bus);
	/* Nothing but 0 has sd-bus answer. */
	if (take_admitted(bus, message))
		return 0;
	r = check_length(message, error);
	if (r < 0)
		return r;
	if (!answers(message, &need))
		return 0;
	r = access_check(&bus->access, message, &need, again, NULL, &bus->caller, error);
	if (r < 0)
		return r;
	if (!r)
		return 1;
	return bus->caller.owner ? 0 : bus_enqueue(bus, message, NULL, error);
}

int bus_meter_init(struct bus *bus, sd_event *event)
{
	int r = sd_event_add_defer(event, &bus->meter, on_answered, bus);

	if (r >= 0)
		r = sd_event_source_set_priority(bus->meter, SD_EVENT_PRIORITY_IMPORTANT);
	if (r >= 0)
		r = sd_event_source_set_enabled(bus->meter, SD_EVENT_OFF);
	return r < 0 ? r : sd_bus_add_filter(bus->bus, NULL, on_message, bus);
}

void bus_meter_deinit(struct bus *bus)
{
	bus->meter = sd_event_source_unref(bus->meter);
	while (bus->admitted_count)
		sd_bus_message_unref(bus->admitted[--bus->admitted_count].message);
}
