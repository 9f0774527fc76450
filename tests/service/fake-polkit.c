// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Serve the D-Bus interface of polkit on a private bus. usage: fake-polkit ADDRESS MODE; MODE is
 * "grant", "deny", "challenge", "silent" or "nonsense". It prints each query.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

static int check_authorization(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const char *mode = userdata, *kind, *key, *name, *action;
	unsigned int flags;
	int r;

	(void)error;
	r = sd_bus_message_read(m, "(sa{sv})s", &kind, 1, &key, "s", &name, &action);
	if (r >= 0)
		r = sd_bus_message_skip(m, "a{ss}");
	if (r >= 0)
		r = sd_bus_message_read(m, "u", &flags);
	if (r < 0)
		return r;
	printf("%s %s=%s %s %u\n", kind, key, name, action, flags);
	fflush(stdout);
	if (!strcmp(mode, "silent"))
		return 1;
	if (!strcmp(mode, "nonsense"))
		return sd_bus_reply_method_return(m, "s", "perhaps");
	return sd_bus_reply_method_return(m, "(bba{ss})", !strcmp(mode, "grant"),
					  !strcmp(mode, "challenge"), 0);
}

static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("CheckAuthorization", "(sa{sv})sa{ss}us", "(bba{ss})", check_authorization,
		      SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

static const sd_bus_vtable nonsense[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("CheckAuthorization", "(sa{sv})sa{ss}us", "s", check_authorization,
		      SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

int main(int argc, char **argv)
{
	sd_bus *bus = NULL;
	int r;

	if (argc != 3)
		return 2;
	r = sd_bus_new(&bus);
	if (r >= 0)
		r = sd_bus_set_address(bus, argv[1]);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus, 1);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r >= 0)
		r = sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/PolicyKit1/Authority",
					     "org.freedesktop.PolicyKit1.Authority",
					     strcmp(argv[2], "nonsense") ? vtable : nonsense,
					     argv[2]);
	if (r >= 0)
		r = sd_bus_request_name(bus, "org.freedesktop.PolicyKit1", 0);
	while (r >= 0) {
		r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
	}
	fprintf(stderr, "fake-polkit: %s\n", strerror(-r));
	return 1;
}
