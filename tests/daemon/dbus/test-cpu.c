// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the D-Bus objects of CPUs, and the removal of a CPU from the source. */
#include "test.h"

#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "dbus/bus-core.h"
#include "dbus/objects.h"
#include "engine/source-hotplug.h"

#define CPUS 2

/* ---- Stubs of other files ----------------------------------------------------- */

int bus_dispatch_method(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	(void)userdata;
	return bus_handle_get_times(message, userdata, error);
}

const char *bus_backend_name(u8 backend)
{
	(void)backend;
	return "";
}

int source_sample_new_cpus(struct worker_state *state, void *arg)
{
	(void)state;
	(void)arg;
	return 0;
}

void bus_invalidate_properties(struct bus_service *bus)
{
	property_cache_invalidate(&bus->property_cache);
}

/* ---- A source with two CPUs ----------------------------------------------------- */

static bool left;

static int fake_describe_cpu(struct source *source, u32 cpu, struct source_cpu *ret_cpu)
{
	(void)source;
	if (cpu >= CPUS || (left && cpu == 1))
		return -ENOENT;
	*ret_cpu = (struct source_cpu){ .cpu = cpu, .state = "sampling", .has_time_ledger = true };
	return 0;
}

static int fake_get_fd(struct source *source)
{
	return *(int *)(source + 1);
}

static int fake_start(struct source *source)
{
	(void)source;
	return 0;
}

static int fake_drain(struct source *source, const struct source_sink *sink)
{
	(void)source;
	(void)sink;
	return 0;
}

static void fake_stop(struct source *source)
{
	(void)source;
}

static const struct source_ops fake_ops = {
	.name = "fake",
	.start = fake_start,
	.fd = fake_get_fd,
	.drain = fake_drain,
	.stop = fake_stop,
	.free = fake_stop,
	.cpu = fake_describe_cpu,
};

/* ---- Both ends of a bus connection ----------------------------------------------- */

static struct {
	struct {
		struct source source;
		int fd;
	} cpus;
	struct bus_service bus;
	sd_bus *client;
	sd_bus_message *reply;
} fake;

static void add_machine_session(void)
{
	const struct source_config sampling = { .interval_ns = 1000000 };
	struct session_config config = { .name = SESSION_MACHINE };
	struct filter_error error;

	fake.cpus.source = (struct source){ .ops = &fake_ops, .cpus = CPUS, .cpu_end = CPUS };
	fake.cpus.fd = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(shared_source_new(&fake.cpus.source, &sampling, &config.shared_source),
			 0);
	assert_int_equal(session_rule_new(NULL, NULL, NULL, &config.rule, &error), 0);
	assert_int_equal(worker_call(fake.bus.worker, worker_add_session, &config), 0);
}

static void open_bus_end(int fd, bool server, sd_bus **ret_bus)
{
	const sd_id128_t id = { .qwords = { 1, 2 } };

	assert_true(sd_bus_new(ret_bus) >= 0);
	assert_true(sd_bus_set_fd(*ret_bus, fd, fd) >= 0);
	if (server)
		assert_true(sd_bus_set_server(*ret_bus, 1, id) >= 0);
	assert_true(sd_bus_start(*ret_bus) >= 0);
}

static int set_up(void **state)
{
	const struct task_events_status has_time_ledger = { 0 };
	int fds[2];

	(void)state;
	left = false;
	assert_int_equal(worker_new(NULL, NULL, &has_time_ledger, &fake.bus.worker), 0);
	add_machine_session();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	open_bus_end(fds[0], true, &fake.bus.bus);
	open_bus_end(fds[1], false, &fake.client);
	assert_true(sd_bus_add_object_manager(fake.bus.bus, NULL, "/org/speprof1") >= 0);
	assert_true(bus_register_cpus(&fake.bus) >= 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sd_bus_close_unref(fake.client);
	sd_bus_close_unref(fake.bus.bus);
	worker_free(fake.bus.worker);
	return 0;
}

static int store_reply(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	(void)userdata;
	(void)error;
	fake.reply = sd_bus_message_ref(reply);
	return 1;
}

/* Return the reply to @method of the object at @path; NULL for the error UnknownObject. */
static sd_bus_message *get_reply(const char *path, const char *interface, const char *method)
{
	const sd_bus_error *error;

	fake.reply = NULL;
	assert_true(sd_bus_call_method_async(fake.client, NULL, NULL, path, interface, method,
					     store_reply, NULL, NULL) >= 0);
	while (!fake.reply) {
		assert_true(sd_bus_process(fake.bus.bus, NULL) >= 0);
		assert_true(sd_bus_process(fake.client, NULL) >= 0);
	}
	error = sd_bus_message_get_error(fake.reply);
	if (!error)
		return fake.reply;
	if (!sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_OBJECT))
		fail_msg("%s: %s", error->name, error->message);
	sd_bus_message_unref(fake.reply);
	return NULL;
}

/* Check that GetManagedObjects lists CPU 1, in state @state. */
static void check_cpu_is_listed(const char *state)
{
	sd_bus_message *reply = get_reply("/org/speprof1", "org.freedesktop.DBus.ObjectManager",
					  "GetManagedObjects");
	const char *path, *name, *text;
	unsigned int states = 0;

	assert_non_null(reply);
	assert_true(sd_bus_message_enter_container(reply, 'a', "{oa{sa{sv}}}") > 0);
	while (sd_bus_message_enter_container(reply, 'e', "oa{sa{sv}}") > 0) {
		assert_true(sd_bus_message_read(reply, "o", &path) > 0);
		assert_true(sd_bus_message_enter_container(reply, 'a', "{sa{sv}}") > 0);
		while (sd_bus_message_enter_container(reply, 'e', "sa{sv}") > 0) {
			assert_true(sd_bus_message_read(reply, "s", &name) > 0);
			assert_true(sd_bus_message_enter_container(reply, 'a', "{sv}") > 0);
			while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
				assert_true(sd_bus_message_read(reply, "s", &name) > 0);
				if (strcmp(name, "State") != 0) {
					assert_true(sd_bus_message_skip(reply, "v") > 0);
				} else {
					assert_true(sd_bus_message_read(reply, "v", "s", &text) >
						    0);
					assert_string_equal(
						text, strstr(path, "/cpu/1") ? state : "sampling");
					states++;
				}
				sd_bus_message_exit_container(reply);
			}
			sd_bus_message_exit_container(reply);
			sd_bus_message_exit_container(reply);
		}
		sd_bus_message_exit_container(reply);
		sd_bus_message_exit_container(reply);
	}
	assert_int_equal(states, CPUS);
	sd_bus_message_unref(reply);
}

/* A CPU that was removed from the source is listed as offline until its removal is signalled. */
static void test_removed_cpu_is_offline(void **state)
{
	sd_bus_message *reply = get_reply("/org/speprof1/cpu/1", "org.speprof1.CPU", "GetTimes");

	(void)state;
	assert_non_null(reply);
	sd_bus_message_unref(reply);
	check_cpu_is_listed("sampling");
	left = true;
	property_cache_invalidate(&fake.bus.property_cache);
	check_cpu_is_listed("offline");
	assert_null(get_reply("/org/speprof1/cpu/1", "org.speprof1.CPU", "GetTimes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_removed_cpu_is_offline, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
