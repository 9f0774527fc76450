// SPDX-License-Identifier: LGPL-2.1-or-later
/* ReleaseModule and TakeModule: between them, the module may be unloaded. */
#include "bus-internal.h"

#include "exchange.h"
#include "log.h"

static int take_up(struct bus *bus, struct exchange *exchange, u64 *ret_usec)
{
	int r;

	bus_peer_forget(&bus->exchanger);
	*exchange = (struct exchange){ .config = bus->config };
	r = worker_call(bus->worker, exchange_take_up, exchange);
	*ret_usec = (exchange->at_ns - bus->exchanged_ns) / 1000;
	if (r < 0)
		log_tell(LOG_ERR, LOG_ID_SOURCE, NULL,
			 "the module is not there again, nothing is sampled: %s; load it "
			 "(\"modprobe speprof\") and restart this service",
			 exchange->reason);
	else
		log_tell(LOG_NOTICE, LOG_ID_SOURCE, NULL,
			 "the module is there again; nothing was sampled for %llu ms",
			 (unsigned long long)*ret_usec / 1000);
	/* Another version may filter more, or less. */
	bus_forget(bus);
	bus_parts_changed(bus);
	return r;
}

/* Who wanted to exchange it is gone without a word: nobody else would take it up. */
static void on_gone(void *ctx)
{
	struct exchange exchange;
	u64 usec;

	take_up(ctx, &exchange, &usec);
}

int bus_release_module(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus *bus = userdata;
	struct exchange exchange = { .config = bus->config };
	u64 usec;
	int r;

	if (bus->exchanger.match)
		return sd_bus_error_set(error, BUS_NAME ".Busy",
					"Somebody else is exchanging the module.");
	r = worker_call(bus->worker, exchange_let_go, &exchange);
	bus->exchanged_ns = exchange.at_ns;
	if (r >= 0 && exchange.sources)
		r = bus_peer_follow(&bus->exchanger, bus->bus, sd_bus_message_get_sender(message),
				    on_gone, bus);
	if (r < 0) {
		sd_bus_error_set_errnof(error, r, "The module is not let go: %s.",
					*exchange.reason ? exchange.reason : strerror(-r));
		take_up(bus, &exchange, &usec);
		return r;
	}
	if (exchange.sources)
		log_tell(LOG_NOTICE, LOG_ID_SOURCE, NULL,
			 "the module is let go, so that another can be loaded: nothing is sampled "
			 "until then");
	return sd_bus_reply_method_return(message, "b", exchange.sources > 0);
}

int bus_take_module(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct bus *bus = userdata;
	struct exchange exchange;
	u64 usec;

	if (!bus->exchanger.match)
		return sd_bus_error_set(error, BUS_NAME ".AlreadyDone",
					"The module was not let go.");
	if (take_up(bus, &exchange, &usec) < 0)
		return sd_bus_error_setf(error, BUS_NAME ".NoModule", "%s", exchange.reason);
	return sd_bus_reply_method_return(message, "t", usec);
}

void bus_follow_spus(struct bus *bus)
{
	struct exchange exchange = { .config = bus->config };
	int r;

	/* Whoever exchanges the module has another session made. */
	if (bus->exchanger.match)
		return;
	r = worker_call(bus->worker, exchange_renew, &exchange);
	if (r >= 0 && exchange.away)
		log_tell(LOG_NOTICE, LOG_ID_SOURCE, NULL, "the module is there again");
	else if (r >= 0 && exchange.sources)
		log_tell(LOG_NOTICE, LOG_ID_SOURCE, NULL,
			 "%u more CPU%s with an SPU: in another session of the module, for which "
			 "nothing was sampled for %llu ms",
			 exchange.cpus, exchange.cpus == 1 ? "" : "s",
			 (unsigned long long)exchange.gone_ns / 1000000);
	else if (r < 0 && exchange.away && !bus->unsampled_told)
		log_tell(LOG_ERR, LOG_ID_SOURCE, NULL,
			 "the module is not there again, nothing is sampled: %s", exchange.reason);
	else if (r < 0 && !bus->unsampled_told)
		log_tell(LOG_WARNING, LOG_ID_SOURCE, NULL,
			 "%u more CPU%s with an SPU that %s not sampled: %s", exchange.cpus,
			 exchange.cpus == 1 ? "" : "s", exchange.cpus == 1 ? "is" : "are",
			 exchange.reason);
	bus->unsampled_told = r < 0;
}
