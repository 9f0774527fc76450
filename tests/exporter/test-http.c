// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Test the HTTP server with real sockets, one thread and a fake clock: which requests it rejects,
 * and that idle connections do not block clients.
 */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "http-connections.h"
#include "http.h"

#define TOKEN	  "very-secret"
#define AUTHORIZE "Authorization: Bearer " TOKEN "\r\n"
#define LOCAL	  "Host: localhost\r\n"

static time_t played_s = 1000;
static sd_event *event;
static char folder[32];

/* The server reads the fake clock, but libraries read the real clock. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time);
int __wrap_clock_gettime(clockid_t clock __attribute__((unused)), struct timespec *ret_time)
{
	*ret_time = (struct timespec){ .tv_sec = played_s };
	return 0;
}

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/test-http.XXXXXX");
	assert_non_null(mkdtemp(folder));
	return sd_event_new(&event);
}

static int teardown(void **state)
{
	(void)state;
	event = sd_event_unref(event);
	return rmdir(folder);
}

/* number of bytes of the rendered answer */
static size_t rendered_size = 8;

static int render_metrics(void *ctx, enum expose_format format, char **ret_data, size_t *ret_size)
{
	(void)ctx;
	(void)format;
	*ret_data = malloc(rendered_size);
	*ret_size = rendered_size;
	if (!*ret_data)
		return -ENOMEM;
	memset(*ret_data, '\n', rendered_size);
	return 0;
}

static struct http_server *start_server(int fd, const char *token)
{
	struct http_config config = {
		.fd = fd,
		.reach = listener_get_reach(fd),
		.token = token,
		.render = render_metrics,
	};
	struct http_server *http;
	const char *why;

	assert_return_code(fd, -fd);
	assert_return_code(http_new(&config, event, &http, &why), 0);
	assert_return_code(http_start(http), 0);
	return http;
}

static in_port_t get_port(int fd)
{
	struct sockaddr_in a;
	socklen_t size = sizeof(a);

	assert_return_code(getsockname(fd, (struct sockaddr *)&a, &size), errno);
	return a.sin_port;
}

/* Handle all pending events. */
static void run_loop(void)
{
	while (sd_event_run(event, 0) > 0)
		;
}

static int connect_tcp(in_port_t port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = port,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_return_code(fd, errno);
	assert_return_code(connect(fd, (struct sockaddr *)&a, sizeof(a)), errno);
	assert_return_code(fcntl(fd, F_SETFL, O_NONBLOCK), errno);
	run_loop();
	return fd;
}

static int connect_unix(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_return_code(fd, errno);
	assert_true(strlen(path) < sizeof(a.sun_path));
	strcpy(a.sun_path, path);
	assert_return_code(connect(fd, (struct sockaddr *)&a, sizeof(a)), errno);
	assert_return_code(fcntl(fd, F_SETFL, O_NONBLOCK), errno);
	run_loop();
	return fd;
}

/* Read the next answer. Return: its status; 0 if the connection was closed. */
static int read_answer_status(int fd)
{
	char answer[4096] = "";
	size_t size = 0;
	ssize_t n;

	for (;;) {
		n = recv(fd, answer + size, sizeof(answer) - 1 - size, 0);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return 0;
		if (n > 0) {
			size += (size_t)n;
			answer[size] = 0;
			/*
			 * Each body ends with a line feed, and no header line consists only of a
			 * line feed.
			 */
			if (answer[size - 1] == '\n' && strstr(answer, "\r\n\r\n") &&
			    strcmp(answer + size - 4, "\r\n\r\n") != 0)
				return atoi(answer + strlen("HTTP/1.1 "));
			continue;
		}
		sd_event_run(event, 1000);
	}
}

/* Send a request. @headers: complete lines. Return: the status; 0 if there is no answer. */
static int send_request(int fd, const char *headers)
{
	/*
	 * HTTP/1.1 requires a Host header. libmicrohttpd 1.0 enforces this before it calls the
	 * exporter.
	 */
	const char *version = strstr(headers, "Host:") ? "1.1" : "1.0";
	char text[512];
	int n = snprintf(text, sizeof(text), "GET /metrics HTTP/%s\r\n%s\r\n", version, headers);

	if (send(fd, text, (size_t)n, MSG_NOSIGNAL) != n)
		return 0;
	return read_answer_status(fd);
}

static int request_once(in_port_t port, const char *headers)
{
	int fd = connect_tcp(port), status = send_request(fd, headers);

	close(fd);
	return status;
}

/* Open more connections than allowed from one address, and send no request on any of them. */
static void test_idle_connections_are_closed(void **state)
{
	int idle[3 * HTTP_CONNECTIONS], scraper, listening = listener_open("127.0.0.1:0");
	struct http_server *http = start_server(listening, TOKEN);
	in_port_t port = get_port(listening);

	(void)state;
	scraper = connect_tcp(port);
	assert_int_equal(send_request(scraper, LOCAL AUTHORIZE), 200);
	for (unsigned int i = 0; i < ARRAY_SIZE(idle); i++)
		idle[i] = connect_tcp(port);
	/* A request without the right token does not protect connections from being closed. */
	for (unsigned int i = ARRAY_SIZE(idle) - HTTP_PER_PEER + 1; i < ARRAY_SIZE(idle); i++)
		assert_int_equal(send_request(idle[i], LOCAL), 401);
	assert_int_equal(request_once(port, LOCAL AUTHORIZE), 200);
	/*
	 * The connection of a scraper with a token stays open. The oldest idle connections are
	 * closed.
	 */
	assert_int_equal(send_request(scraper, LOCAL AUTHORIZE), 200);
	assert_int_equal(send_request(idle[0], LOCAL AUTHORIZE), 0);
	assert_int_equal(send_request(idle[ARRAY_SIZE(idle) - 1], LOCAL AUTHORIZE), 200);
	for (unsigned int i = 0; i < ARRAY_SIZE(idle); i++)
		close(idle[i]);
	close(scraper);
	run_loop();
	http_free(http);
}

/*
 * Single bytes do not extend the deadline. A request that was complete before the deadline is
 * answered.
 */
static void test_single_bytes_extend_no_deadline(void **state)
{
	int slow, late, listening = listener_open("127.0.0.1:0");
	struct http_server *http = start_server(listening, TOKEN);
	in_port_t port = get_port(listening);

	(void)state;
	slow = connect_tcp(port);
	for (unsigned int i = 0; i < HTTP_SECONDS; i++) {
		assert_int_equal(send(slow, "G", 1, MSG_NOSIGNAL), 1);
		run_loop();
		played_s++;
	}
	assert_int_equal(read_answer_status(slow), 0);
	late = connect_tcp(port);
	played_s += 100;
	assert_int_equal(send_request(late, LOCAL AUTHORIZE), 200);
	close(slow);
	close(late);
	run_loop();
	http_free(http);
}

/* The server closes the connection of a client that takes too long to read its answer. */
static void test_slow_reader(void **state)
{
	static const char text[] = "GET /metrics HTTP/1.1\r\n" LOCAL AUTHORIZE "\r\n";
	int reader, listening = listener_open("127.0.0.1:0");
	struct http_server *http = start_server(listening, TOKEN);
	static char answer[65536];
	size_t size = 0;
	ssize_t n;

	(void)state;
	rendered_size = 64 << 20;
	reader = connect_tcp(get_port(listening));
	assert_int_equal(send(reader, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	run_loop();
	/*
	 * Until the deadline the client can read the answer, also the part that the kernel had not
	 * buffered.
	 */
	played_s += HTTP_ANSWER_SECONDS - 1;
	while (size < rendered_size / 2) {
		run_loop();
		n = recv(reader, answer, sizeof(answer), 0);
		assert_true(n > 0 || (n < 0 && errno == EAGAIN));
		size += n > 0 ? (size_t)n : 0;
	}
	played_s++;
	/*
	 * In the first iteration of the event loop the server shuts the socket down, and in the
	 * next libmicrohttpd notices it.
	 */
	sd_event_run(event, UINT64_MAX);
	run_loop();
	while ((n = recv(reader, answer, sizeof(answer), 0)) > 0)
		size += (size_t)n;
	assert_true(n == 0 || errno == ECONNRESET);
	assert_in_range(size, 1, rendered_size - 1);
	close(reader);
	run_loop();
	http_free(http);
	rendered_size = 8;
}

/*
 * Clients that do not read keep a bounded number of versions of the answer in memory, for any
 * number of clients.
 */
static void test_answer_versions_are_bounded(void **state)
{
	static const char text[] = "GET /metrics HTTP/1.1\r\n" LOCAL AUTHORIZE "\r\n";
	int readers[12], listening = listener_open("127.0.0.1:0");
	struct http_server *http = start_server(listening, TOKEN);
	in_port_t port = get_port(listening);
	static char answer[65536];
	unsigned int open = 0;
	ssize_t n;

	(void)state;
	rendered_size = 8 << 20;
	for (unsigned int i = 0; i < ARRAY_SIZE(readers); i++) {
		readers[i] = connect_tcp(port);
		assert_int_equal(send(readers[i], text, strlen(text), MSG_NOSIGNAL), strlen(text));
		run_loop();
		http_drop_answers(http);
		run_loop();
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(readers); i++) {
		while ((n = recv(readers[i], answer, sizeof(answer), 0)) > 0)
			;
		open += n < 0 && errno == EAGAIN;
	}
	/* the current version, the previous one, and 32 MiB of older versions */
	assert_in_range(open, 1, 6);
	for (unsigned int i = 0; i < ARRAY_SIZE(readers); i++)
		close(readers[i]);
	run_loop();
	http_free(http);
	rendered_size = 8;
}

/*
 * An answer that is larger than the limit for outdated answers arrives completely even if the
 * metrics change meanwhile.
 */
static void test_large_answer_arrives_completely(void **state)
{
	static const char text[] = "GET /metrics HTTP/1.1\r\n" LOCAL AUTHORIZE "\r\n";
	int reader, listening = listener_open("127.0.0.1:0");
	struct http_server *http = start_server(listening, TOKEN);
	static char answer[65536];
	size_t size = 0;
	ssize_t n;

	(void)state;
	rendered_size = 64 << 20;
	reader = connect_tcp(get_port(listening));
	assert_int_equal(send(reader, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	run_loop();
	http_drop_answers(http);
	while (size < rendered_size) {
		run_loop();
		n = recv(reader, answer, sizeof(answer), 0);
		assert_true(n > 0 || (n < 0 && errno == EAGAIN));
		size += n > 0 ? (size_t)n : 0;
	}
	close(reader);
	run_loop();
	http_free(http);
	rendered_size = 8;
}

static void test_other_host_names_are_refused(void **state)
{
	static const struct {
		const char *headers;
		int status;
	} rows[] = {
		{ LOCAL AUTHORIZE, 200 },
		{ "Host: LOCALHOST:9763\r\n" AUTHORIZE, 200 },
		{ "Host: 127.0.0.1\r\n" AUTHORIZE, 200 },
		{ "Host: 127.1.2.3:80\r\n" AUTHORIZE, 200 },
		{ "Host: [::1]\r\n" AUTHORIZE, 200 },
		{ "Host: [::1]:9763\r\n" AUTHORIZE, 200 },
		{ LOCAL, 401 },
		{ LOCAL "Authorization: Bearer very-secre\r\n", 401 },
		{ LOCAL "Authorization: Bearer very-secret2\r\n", 401 },
		{ LOCAL "Authorization: Basic very-secret\r\n", 401 },
		/*
		 * A request of a web page with another host name is rejected before the token is
		 * checked.
		 */
		{ "Host: attacker.example:9763\r\n" AUTHORIZE, 421 },
		{ "Host: attacker.example:9763\r\n", 421 },
		{ "Host: localhost.attacker.example\r\n" AUTHORIZE, 421 },
		{ "Host: 127.0.0.1.attacker.example\r\n" AUTHORIZE, 421 },
		{ "Host: 192.0.2.1\r\n" AUTHORIZE, 421 },
		{ "Host: [::2]:9763\r\n" AUTHORIZE, 421 },
		{ "Host: 127.0.0.1:x\r\n" AUTHORIZE, 421 },
		{ "Host: localhost:9763@attacker.example\r\n" AUTHORIZE, 421 },
		{ "Host: localhost:\r\n" AUTHORIZE, 421 },
		{ "Host: \r\n" AUTHORIZE, 421 },
		{ AUTHORIZE, 400 },
		{ LOCAL "Host: attacker.example\r\n" AUTHORIZE, 400 },
	};
	int listening = listener_open("127.0.0.1:0");
	struct http_server *http = start_server(listening, TOKEN);
	struct http_server_stats stats;
	in_port_t port = get_port(listening);

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("row %u: %s", i, rows[i].headers);
		assert_row(request_once(port, rows[i].headers) == rows[i].status);
	}
	http_get_stats(http, &stats);
	assert_int_equal(stats.answered, 6);
	assert_int_equal(stats.refused, ARRAY_SIZE(rows) - 6);
	run_loop();
	http_free(http);
}

/*
 * All users of the machine can connect to the port: without a configured token all requests are
 * rejected.
 */
static void test_requests_without_token(void **state)
{
	int listening = listener_open("127.0.0.1:0");
	struct http_server *http = start_server(listening, NULL);

	(void)state;
	assert_int_equal(request_once(get_port(listening), LOCAL), 403);
	assert_int_equal(request_once(get_port(listening), LOCAL AUTHORIZE), 403);
	assert_int_equal(request_once(get_port(listening), "Host: attacker.example\r\n"), 421);
	run_loop();
	http_free(http);
}

/*
 * The mode of a Unix socket decides which users may connect. If a token is configured, it is
 * required there, too.
 */
static void test_unix_socket(void **state)
{
	static const struct {
		mode_t mode;
		const char *token;
		const char *headers;
		int status;
	} rows[] = {
		{ 0660, NULL, "Host: anything\r\n", 200 },
		{ 0600, NULL, "", 200 },
		{ 0660, TOKEN, "", 401 },
		{ 0660, TOKEN, AUTHORIZE, 200 },
		{ 0666, NULL, LOCAL, 403 },
		{ 0662, NULL, LOCAL, 403 },
		{ 0666, TOKEN, LOCAL AUTHORIZE, 200 },
		{ 0666, TOKEN, "Host: attacker.example\r\n" AUTHORIZE, 421 },
	};
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/socket", folder);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		int listening = listener_open(path), client;
		struct http_server *http;

		assert_return_code(listening, -listening);
		assert_return_code(chmod(path, rows[i].mode), errno);
		http = start_server(listening, rows[i].token);
		client = connect_unix(path);
		test_row("row %u", i);
		assert_row(send_request(client, rows[i].headers) == rows[i].status);
		close(client);
		run_loop();
		http_free(http);
		/* The next server replaces the file of the socket. */
	}
	unlink(path);
}

static void check_reach(const char *text, enum socket_reach reach, const char *name)
{
	char got[LISTENER_NAME];
	int fd = listener_open(text);

	test_row("%s", text);
	assert_row(fd >= 0 || fd == -EADDRNOTAVAIL || fd == -EAFNOSUPPORT);
	if (fd < 0)
		return;
	listener_get_name(fd, got, sizeof(got));
	assert_row(listener_get_reach(fd) == reach && !strncmp(got, name, strlen(name)));
	close(fd);
}

static void test_reach_of_addresses(void **state)
{
	static const char *const wrong[] = {
		"", "9763", ":9763", "localhost:9763", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
		"127.0.0.1: 1", "::1:9763", "run/socket",
	};
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char path[64], name[LISTENER_NAME];
	struct stat st;
	int fd;

	(void)state;
	check_reach("127.0.0.1:0", LISTENER_MACHINE, "127.0.0.1:");
	check_reach("127.9.9.9:0", LISTENER_MACHINE, "127.9.9.9:");
	check_reach("[::1]:0", LISTENER_MACHINE, "[::1]:");
	check_reach("0.0.0.0:0", LISTENER_NETWORK, "0.0.0.0:");
	check_reach("[::]:0", LISTENER_NETWORK, "[::]:");
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		test_row("\"%s\"", wrong[i]);
		assert_row(listener_open(wrong[i]) == -EINVAL);
	}
	/* An abstract socket has no mode, so all users could connect. */
	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "speprof-test-%d", getpid());
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_return_code(bind(fd, (struct sockaddr *)&a, sizeof(a)), errno);
	assert_int_equal(listener_get_reach(fd), LISTENER_MACHINE);
	listener_get_name(fd, name, sizeof(name));
	assert_true(*name == '@' && !strcmp(name + 1, a.sun_path + 1));
	close(fd);
	snprintf(path, sizeof(path), "%s/socket", folder);
	fd = listener_open(path);
	assert_return_code(fd, -fd);
	assert_int_equal(listener_get_reach(fd), LISTENER_PERMITTED);
	assert_return_code(stat(path, &st), errno);
	assert_int_equal(st.st_mode & 07117, 0);
	/* A socket that is in use is not replaced, and neither is a file that is no socket. */
	assert_int_equal(listener_open(path), -EADDRINUSE);
	assert_return_code(unlink(path), errno);
	assert_int_equal(listener_get_reach(fd), LISTENER_MACHINE);
	close(fd);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_return_code(fd, errno);
	close(fd);
	assert_int_equal(listener_open(path), -EADDRINUSE);
	assert_return_code(unlink(path), errno);
}

static void check_peers(const char *a, const char *b, bool same)
{
	struct sockaddr_in6 address[2] = { { .sin6_family = AF_INET6 }, { .sin6_family = AF_INET6 } };
	u8 peer[2][HTTP_PEER_SIZE];

	assert_int_equal(inet_pton(AF_INET6, a, &address[0].sin6_addr), 1);
	assert_int_equal(inet_pton(AF_INET6, b, &address[1].sin6_addr), 1);
	for (unsigned int i = 0; i < 2; i++)
		http_peer_set(peer[i], (const struct sockaddr *)&address[i]);
	test_row("%s and %s", a, b);
	assert_row(!memcmp(peer[0], peer[1], HTTP_PEER_SIZE) == same);
}

static void test_addresses_of_same_client(void **state)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000201) };
	struct sockaddr_in6 mapped = { .sin6_family = AF_INET6 };
	u8 one[HTTP_PEER_SIZE], other[HTTP_PEER_SIZE];

	(void)state;
	/* Addresses of one /64 count as one client, because a host may use all of them. */
	check_peers("2001:db8:1:2::1", "2001:db8:1:2:ffff::1", true);
	check_peers("2001:db8:1:2::1", "2001:db8:1:3::1", false);
	check_peers("::ffff:192.0.2.1", "::ffff:192.0.2.2", false);
	http_peer_set(one, (const struct sockaddr *)&v4);
	assert_int_equal(inet_pton(AF_INET6, "::ffff:192.0.2.1", &mapped.sin6_addr), 1);
	http_peer_set(other, (const struct sockaddr *)&mapped);
	assert_memory_equal(one, other, HTTP_PEER_SIZE);
	http_peer_set(other, NULL);
	assert_memory_not_equal(one, other, HTTP_PEER_SIZE);
}

static void *handle_request(unsigned int i)
{
	return (void *)(uintptr_t)(i + 1);
}

/*
 * One address cannot make the server close connections of another address until all slots are in
 * use.
 */
static void test_connections_of_one_address(void **state)
{
	u8 one[HTTP_PEER_SIZE] = { 1 }, other[HTTP_PEER_SIZE] = { 2 }, peer[HTTP_PEER_SIZE] = { 3 };
	struct http_connections c = { 0 };
	void *closed;

	(void)state;
	http_connections_add(&c, handle_request(0), other, 100, &closed);
	assert_null(closed);
	for (unsigned int i = 0; i < 100; i++) {
		http_connections_add(&c, handle_request(1000 + i), one, 101, &closed);
		assert_ptr_equal(closed, i < HTTP_PER_PEER ?
						 NULL :
						 handle_request(1000 + i - HTTP_PER_PEER));
	}
	/*
	 * If a connection has sent the token, the other connections of its address are trusted,
	 * too.
	 */
	http_connections_find(&c, handle_request(1099))->trusted = true;
	http_connections_add(&c, handle_request(1), one, 101, &closed);
	assert_ptr_equal(closed, handle_request(1084));
	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++)
		c.slots[i].trusted |= c.slots[i].handle && !memcmp(c.slots[i].peer, one, sizeof(one));
	http_connections_add(&c, handle_request(2), one, 101, &closed);
	assert_ptr_equal(closed, handle_request(2));
	assert_null(http_connections_find(&c, handle_request(2)));
	/* A connection stays open after its request only if slots are free. */
	http_connections_find(&c, handle_request(1090))->awaits_response = false;
	http_connections_find(&c, handle_request(1088))->awaits_response = false;
	http_connections_add(&c, handle_request(3), one, 101, &closed);
	assert_ptr_equal(closed, handle_request(1088));
	http_connections_find(&c, handle_request(3))->trusted = true;
	http_connections_find(&c, handle_request(1090))->awaits_response = true;
	/* All slots are in use, by connections of different addresses: the oldest one is closed. */
	for (unsigned int i = 0; i < HTTP_CONNECTIONS - HTTP_PER_PEER; i++) {
		peer[1] = (u8)i;
		http_connections_add(&c, handle_request(2000 + i), peer, 102, &closed);
		assert_ptr_equal(closed, i < HTTP_CONNECTIONS - HTTP_PER_PEER - 1 ?
						 NULL :
						 handle_request(0));
	}
	/* Each connection is reported as overdue once. */
	assert_null(http_connections_take_overdue(&c, 100 + HTTP_SECONDS));
	for (unsigned int i = 0; i < HTTP_PER_PEER; i++)
		assert_non_null(http_connections_take_overdue(&c, 101 + HTTP_SECONDS));
	assert_null(http_connections_take_overdue(&c, 101 + HTTP_SECONDS));
	assert_true(http_connections_has_unanswered(&c));
	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++)
		if (c.slots[i].handle)
			http_connections_remove(&c, c.slots[i].handle);
	assert_false(http_connections_has_unanswered(&c));
	http_connections_remove(&c, handle_request(5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_idle_connections_are_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_single_bytes_extend_no_deadline, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_slow_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answer_versions_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large_answer_arrives_completely, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_other_host_names_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_requests_without_token, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unix_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reach_of_addresses, setup, teardown),
		cmocka_unit_test(test_addresses_of_same_client),
		cmocka_unit_test(test_connections_of_one_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
