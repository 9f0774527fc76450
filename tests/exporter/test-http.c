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
#include <sys/mman.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "http-connections.h"
#include "http.h"

#define TOKEN	       "very-secret"
#define AUTHORIZE      "Authorization: Bearer " TOKEN "\r\n"
#define LOCAL	       "Host: localhost\r\n"
#define PAGE_TOKEN     "another-secret-of-the-page"
#define PAGE_AUTHORIZE "Authorization: Bearer " PAGE_TOKEN "\r\n"

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

/* queries that the server has started, and the last one's rows */
static struct http_query *asked[8];
static unsigned int asked_count;
static struct page_query last_wanted;

/* What start_query() returns; 1: it ends the query before it returns 0 */
static int query_outcome;

static int start_query(void *ctx, const struct page_query *wanted, struct http_query *query,
		       const char **ret_why)
{
	(void)ctx;
	*ret_why = "a reason";
	if (query_outcome < 0)
		return query_outcome;
	assert_true(asked_count < ARRAY_SIZE(asked));
	asked[asked_count++] = query;
	last_wanted = *wanted;
	if (query_outcome == 1)
		http_query_finish(query, HTTP_QUERY_AWAY, -1, 0, "no daemon");
	return 0;
}

static struct http_server *start_server_with(int fd, const char *token, const char *page_token)
{
	struct http_config config = {
		.fd = fd,
		.reach = listener_get_reach(fd),
		.token = token,
		.page_token = page_token,
		.render = render_metrics,
		.query = start_query,
	};
	struct http_server *http;
	const char *why;

	assert_return_code(fd, -fd);
	assert_return_code(http_new(&config, event, &http, &why), 0);
	assert_return_code(http_start(http), 0);
	return http;
}

static struct http_server *start_server(int fd, const char *token)
{
	return start_server_with(fd, token, NULL);
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

/* the last answer, headers and body */
static char last_answer[65536];

/* Read the next answer. Return: its status; 0 if the connection was closed. */
static int read_answer_status(int fd)
{
	char *answer = last_answer;
	size_t size = 0;
	ssize_t n;

	*answer = 0;
	for (;;) {
		n = recv(fd, answer + size, sizeof(last_answer) - 1 - size, 0);
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

/* Send a request for @target without reading the answer. @headers: complete lines. */
static void send_only(int fd, const char *method, const char *target, const char *headers)
{
	char text[1024];
	int n = snprintf(text, sizeof(text), "%s %s HTTP/1.1\r\n%s\r\n", method, target, headers);

	assert_true(n > 0 && (size_t)n < sizeof(text));
	assert_int_equal(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
	run_loop();
}

static int get_once(in_port_t port, const char *target, const char *headers)
{
	int fd = connect_tcp(port), status;

	send_only(fd, "GET", target, headers);
	status = read_answer_status(fd);
	close(fd);
	return status;
}

static int request_once(in_port_t port, const char *headers)
{
	int fd = connect_tcp(port), status = send_request(fd, headers);

	close(fd);
	return status;
}

/* Handle the ends of connections, and free the server. */
static void end_server(struct http_server *http)
{
	run_loop();
	http_free(http);
}

/* Send a request for metrics of @size bytes, of which nothing is read. Return the connection. */
static int begin_large_answer(in_port_t port, size_t size)
{
	int fd = connect_tcp(port);

	rendered_size = size;
	send_only(fd, "GET", "/metrics", LOCAL AUTHORIZE);
	return fd;
}

/* Receive at least @wanted bytes. Return their number. */
static size_t receive_bytes(int fd, size_t wanted)
{
	static char part[65536];
	size_t size = 0;
	ssize_t n;

	while (size < wanted) {
		run_loop();
		n = recv(fd, part, sizeof(part), 0);
		assert_true(n > 0 || (n < 0 && errno == EAGAIN));
		size += n > 0 ? (size_t)n : 0;
	}
	return size;
}

/* Receive what the socket has. Return the number of bytes; @ret_open: the connection is open. */
static size_t receive_rest(int fd, bool *ret_open)
{
	static char part[65536];
	size_t size = 0;
	ssize_t n;

	while ((n = recv(fd, part, sizeof(part), 0)) > 0)
		size += (size_t)n;
	assert_true(n == 0 || errno == ECONNRESET || errno == EAGAIN);
	*ret_open = n < 0 && errno == EAGAIN;
	return size;
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
	end_server(http);
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
	end_server(http);
}

/* The server closes the connection of a client that takes too long to read its answer. */
static void test_slow_reader(void **state)
{
	int reader, listening = listener_open("127.0.0.1:0");
	struct http_server *http = start_server(listening, TOKEN);
	size_t size;
	bool open;

	(void)state;
	reader = begin_large_answer(get_port(listening), 64 << 20);
	/*
	 * Until the deadline the client can read the answer, also the part that the kernel had not
	 * buffered.
	 */
	played_s += HTTP_ANSWER_SECONDS - 1;
	size = receive_bytes(reader, rendered_size / 2);
	played_s++;
	/*
	 * In the first iteration of the event loop the server shuts the socket down, and in the
	 * next libmicrohttpd notices it.
	 */
	sd_event_run(event, UINT64_MAX);
	run_loop();
	size += receive_rest(reader, &open);
	assert_false(open);
	assert_in_range(size, 1, rendered_size - 1);
	close(reader);
	end_server(http);
	rendered_size = 8;
}

/*
 * Clients that do not read keep a bounded number of versions of the answer in memory, for any
 * number of clients.
 */
static void test_answer_versions_are_bounded(void **state)
{
	int readers[12], listening = listener_open("127.0.0.1:0");
	struct http_server *http = start_server(listening, TOKEN);
	unsigned int count = 0;
	bool open;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(readers); i++) {
		readers[i] = begin_large_answer(get_port(listening), 8 << 20);
		http_drop_answers(http);
		run_loop();
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(readers); i++) {
		receive_rest(readers[i], &open);
		count += open;
	}
	/* the current version, the previous one, and 32 MiB of older versions */
	assert_in_range(count, 1, 6);
	for (unsigned int i = 0; i < ARRAY_SIZE(readers); i++)
		close(readers[i]);
	end_server(http);
	rendered_size = 8;
}

/*
 * An answer that is larger than the limit for outdated answers arrives completely even if the
 * metrics change meanwhile.
 */
static void test_large_answer_arrives_completely(void **state)
{
	int reader, listening = listener_open("127.0.0.1:0");
	struct http_server *http = start_server(listening, TOKEN);

	(void)state;
	reader = begin_large_answer(get_port(listening), 64 << 20);
	http_drop_answers(http);
	receive_bytes(reader, rendered_size);
	close(reader);
	end_server(http);
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
	end_server(http);
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
	end_server(http);
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

/* Send a request for rows on a connection of its own, which is returned. */
static int begin_query(in_port_t port, const char *parameters)
{
	char target[256];
	int fd = connect_tcp(port);

	snprintf(target, sizeof(target), "/page/query%s", parameters);
	send_only(fd, "GET", target, LOCAL PAGE_AUTHORIZE);
	return fd;
}

/* Answer all queries that wait. */
static void finish_queries(enum http_query_result result, const char *why)
{
	while (asked_count)
		http_query_finish(asked[--asked_count], result, -1, 0, why);
}

/* Return a file with @text, as the daemon passes it. */
static int rows_file(const char *text)
{
	int fd = memfd_create("rows", MFD_CLOEXEC);

	assert_return_code(fd, errno);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

/* Send a request for rows, and answer it with rows. Return the status. */
static int get_rows(int fd, const char *headers)
{
	static const char rows[] = "{\"rows\":[]}\n";

	send_only(fd, "GET", "/page/query", headers);
	while (asked_count)
		http_query_finish(asked[--asked_count], HTTP_QUERY_ROWS, rows_file(rows),
				  strlen(rows), NULL);
	return read_answer_status(fd);
}

/* The files of the page have no data: they need no token, but a Host header of the loopback. */
static void test_page_files(void **state)
{
	static const char *const headers[] = {
		"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src "
		"'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
		"frame-ancestors 'none'\r\n",
		"X-Content-Type-Options: nosniff\r\n",
		"Referrer-Policy: no-referrer\r\n",
		"Cache-Control: no-store\r\n",
		"Cross-Origin-Resource-Policy: same-origin\r\n",
	};
	static const struct {
		const char *method;
		const char *target;
		const char *headers;
		int status;
		const char *text;
	} rows[] = {
		{ "GET", "/page/", LOCAL, 200, "src=\"live.js\"" },
		{ "GET", "/page/", LOCAL "Authorization: Bearer wrong\r\n", 200,
		  "<!DOCTYPE html>" },
		{ "GET", "/page/live.js", LOCAL, 200, "text/javascript; charset=utf-8" },
		{ "GET", "/page/style.css", LOCAL, 200, "text/css; charset=utf-8" },
		{ "GET", "/page/names.json", LOCAL, 200,
		  "\"other\",\"issue\",\"translation\"],\"dram_levels\":[\"" },
		{ "GET", "/page/", "Host: attacker.example\r\n", 421, "loopback" },
		{ "GET", "/page/query", "Host: attacker.example\r\n" PAGE_AUTHORIZE, 421,
		  "loopback" },
		{ "GET", "/page/main.js", LOCAL, 404, "the paths are" },
		{ "GET", "/page/../metrics", LOCAL, 404, "the paths are" },
		{ "GET", "/page/shell.html", LOCAL, 404, "the paths are" },
		{ "PUT", "/page/", LOCAL, 405, "GET and HEAD" },
	};
	int listening = listener_open("127.0.0.1:0"), fd;
	struct http_server *http = start_server_with(listening, TOKEN, PAGE_TOKEN);

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("row %u: %s", i, rows[i].target);
		fd = connect_tcp(get_port(listening));
		send_only(fd, rows[i].method, rows[i].target, rows[i].headers);
		assert_row(read_answer_status(fd) == rows[i].status);
		assert_row(strstr(last_answer, rows[i].text));
		for (unsigned int k = 0; k < ARRAY_SIZE(headers) && rows[i].status != 421; k++)
			assert_row(strstr(last_answer, headers[k]));
		close(fd);
	}
	end_server(http);
}

/* The token of the page gives no metrics, and the token of metrics gives no page. */
static void test_page_tokens(void **state)
{
	static const struct {
		const char *token;
		const char *page_token;
		const char *target;
		const char *headers;
		int status;
		const char *text;
	} rows[] = {
		{ TOKEN, PAGE_TOKEN, "/page/query", LOCAL, 401, "a bearer token is required" },
		{ TOKEN, PAGE_TOKEN, "/page/query", LOCAL AUTHORIZE, 401,
		  "WWW-Authenticate: Bearer" },
		{ TOKEN, PAGE_TOKEN, "/page/query",
		  LOCAL "Authorization: Bearer another-secret-of-the-pag\r\n", 401, "" },
		{ TOKEN, PAGE_TOKEN, "/page/query?token=" PAGE_TOKEN, LOCAL, 401, "" },
		{ TOKEN, PAGE_TOKEN, "/metrics", LOCAL PAGE_AUTHORIZE, 401, "" },
		{ TOKEN, PAGE_TOKEN, "/metrics", LOCAL AUTHORIZE, 200, "" },
		{ TOKEN, NULL, "/page/query", LOCAL AUTHORIZE, 403, "page-token" },
		{ TOKEN, NULL, "/page/", LOCAL AUTHORIZE, 403, "page-token" },
		{ NULL, PAGE_TOKEN, "/metrics", LOCAL PAGE_AUTHORIZE, 403,
		  "every user of this machine" },
		{ NULL, NULL, "/page/", LOCAL, 403, "The page is off" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		int listening = listener_open("127.0.0.1:0"), fd;
		struct http_server *http =
			start_server_with(listening, rows[i].token, rows[i].page_token);

		test_row("row %u", i);
		assert_row(get_once(get_port(listening), rows[i].target, rows[i].headers) ==
			   rows[i].status);
		assert_row(strstr(last_answer, rows[i].text));
		assert_row(!asked_count);
		if (rows[i].page_token) {
			fd = connect_tcp(get_port(listening));
			assert_row(get_rows(fd, LOCAL PAGE_AUTHORIZE) == 200);
			assert_row(strstr(last_answer, "application/json"));
			assert_row(strstr(last_answer, "\r\n\r\n{\"rows\":[]}\n"));
			assert_row(
				strstr(last_answer, "Content-Security-Policy: default-src 'none'"));
			/* The connection can be used again. */
			assert_row(get_rows(fd, LOCAL PAGE_AUTHORIZE) == 200);
			close(fd);
		}
		run_loop();
		http_free(http);
	}
}

/* The mode of a Unix socket decides which users get rows; a configured token is required, too. */
static void test_page_on_unix_socket(void **state)
{
	static const struct {
		mode_t mode;
		const char *page_token;
		const char *headers;
		int status;
	} rows[] = {
		{ 0660, NULL, "Host: anything\r\n", 200 },
		{ 0660, PAGE_TOKEN, "Host: anything\r\n", 401 },
		{ 0660, PAGE_TOKEN, "Host: anything\r\n" PAGE_AUTHORIZE, 200 },
		{ 0666, NULL, LOCAL, 403 },
		{ 0666, PAGE_TOKEN, LOCAL PAGE_AUTHORIZE, 200 },
	};
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/socket", folder);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		int listening = listener_open(path), client;
		struct http_server *http;

		assert_return_code(listening, -listening);
		assert_return_code(chmod(path, rows[i].mode), errno);
		http = start_server_with(listening, NULL, rows[i].page_token);
		client = connect_unix(path);
		test_row("row %u", i);
		assert_row(get_rows(client, rows[i].headers) == rows[i].status);
		close(client);
		run_loop();
		http_free(http);
	}
	unlink(path);
}

/* A query starts only for the parameters that exist, each given once with a value that exists. */
static void test_page_parameters(void **state)
{
	static const struct {
		const char *query;
		const char *period;
		u32 past_s;
		const char *group;
		const char *session;
		const char *container;
	} good[] = {
		{ "", "start", 0, "container,program,binary,function,level", "machine", "" },
		{ "?", "start", 0, "container,program,binary,function,level", "machine", "" },
		{ "?period=10s", "10s", 0, "container,program,binary,function", "machine", "" },
		{ "?rows=line&period=10m", "10m", 0, "container,program,binary,function,line",
		  "machine", "" },
		{ "?period=%73tart&rows=line", "start", 0,
		  "container,program,binary,function,line,level", "machine", "" },
		{ "?period=1h&session=machine&container=web-%5C*", "1h", 3600,
		  "container,program,binary,function", "machine", "web-\\*" },
		{ "?period=1d&rows=line", "1d", 86400, "container,program,binary,function,line",
		  "machine", "" },
		{ "?session=Slow_2&period=1m&container=%C3%A9%20%22", "1m", 0,
		  "container,program,binary,function", "Slow_2", "\u00e9 \"" },
	};
	static const struct {
		const char *query;
		const char *why;
	} bad[] = {
		{ "?period=", "period: should be start, 10s, 1m, 10m, 1h or 1d" },
		{ "?period", "period: should be start, 10s, 1m, 10m, 1h or 1d" },
		{ "?period=2h", "period: should be start, 10s, 1m, 10m, 1h or 1d" },
		{ "?period=10s%00", "period: should be start, 10s, 1m, 10m, 1h or 1d" },
		{ "?period=10s%0d%0aX:1", "period: should be start, 10s, 1m, 10m, 1h or 1d" },
		{ "?period=10s&period=10s", "period: should be given once" },
		{ "?rows=instruction", "rows: should be function or line" },
		{ "?rows=function,instruction", "rows: should be function or line" },
		{ "?rows=line&rows=function", "rows: should be given once" },
		{ "?limit=1000000", "the parameters are period, rows, session and container" },
		{ "?period%00=10s", "the parameters are period, rows, session and container" },
		{ "?=start", "the parameters are period, rows, session and container" },
		{ "?Period=start", "the parameters are period, rows, session and container" },
		{ "?group=%3Cscript%3Ealert(1)%3C/script%3E",
		  "the parameters are period, rows, session and container" },
		{ "?session=", "session: should be a letter, then" },
		{ "?session=2", "session: should be a letter, then" },
		{ "?session=a/b", "session: should be a letter, then" },
		{ "?session=a%00b", "session: should be a letter, then" },
		{ "?session=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		  "session: should be a letter, then" },
		{ "?session=a&session=b", "session: should be given once" },
		{ "?container=", "container: should be a glob of 1 to 255 bytes in UTF-8" },
		{ "?container=%C3", "container: should be a glob of 1 to 255 bytes in UTF-8" },
		{ "?container=a&container=a", "container: should be given once" },
		{ "?session=other&period=1h", "the periods 1h and 1d are those of the session" },
	};
	int listening = listener_open("127.0.0.1:0"), fd;
	struct http_server *http = start_server_with(listening, TOKEN, PAGE_TOKEN);
	char target[128];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(target, sizeof(target), "/page/query%s", bad[i].query);
		test_row("%s", target);
		assert_row(get_once(get_port(listening), target, LOCAL PAGE_AUTHORIZE) == 400);
		assert_row(strstr(last_answer, bad[i].why) && !asked_count &&
			   !strstr(last_answer, "script>"));
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(good); i++) {
		test_row("%s", good[i].query);
		fd = begin_query(get_port(listening), good[i].query);
		assert_row(asked_count == 1);
		assert_row(!strcmp(last_wanted.period, good[i].period));
		assert_row(!strcmp(last_wanted.group, good[i].group));
		assert_row(last_wanted.answer == PAGE_ANSWER_ROWS);
		assert_row(last_wanted.past_s == good[i].past_s);
		assert_row(!strcmp(last_wanted.session, good[i].session));
		assert_row(!strcmp(last_wanted.container, good[i].container));
		finish_queries(HTTP_QUERY_LATE, "late");
		assert_row(read_answer_status(fd) == 504);
		close(fd);
	}
	end_server(http);
}

/* A glob of the maximum length is accepted, and one more byte is not. */
static void test_page_long_container(void **state)
{
	struct page_parameters parameters = { 0 };
	char glob[PAGE_CONTAINER_SIZE + 1];
	struct page_query query;
	const char *why;

	(void)state;
	memset(glob, 'a', PAGE_CONTAINER_SIZE);
	glob[PAGE_CONTAINER_SIZE] = 0;
	assert_int_equal(page_set_parameter(&parameters, "container", strlen("container"), glob,
					    strlen(glob), &why),
			 -EINVAL);
	glob[PAGE_CONTAINER_SIZE - 1] = 0;
	assert_return_code(page_set_parameter(&parameters, "container", strlen("container"), glob,
					      strlen(glob), &why),
			   0);
	assert_return_code(page_query_init(&query, PAGE_ANSWER_ROWS, &parameters, &why), 0);
	assert_string_equal(query.container, glob);
}

/* Timelines and the list of sessions need the token of the page, too, and have other parameters. */
static void test_page_other_answers(void **state)
{
	static const struct {
		const char *target;
		enum page_answer answer;
		const char *why;
	} rows[] = {
		{ "/page/sessions", PAGE_ANSWER_SESSIONS, NULL },
		{ "/page/sessions?period=1h", 0, "the list of sessions has no parameters" },
		{ "/page/sessions?container=a", 0, "the list of sessions has no parameters" },
		{ "/page/timeline?period=1h", PAGE_ANSWER_TIMELINE, NULL },
		{ "/page/timeline?period=1d&container=web*&session=machine", PAGE_ANSWER_TIMELINE,
		  NULL },
		{ "/page/timeline", 0, "a timeline has the period 1h or 1d, and no rows" },
		{ "/page/timeline?period=10m", 0, "a timeline has the period 1h or 1d" },
		{ "/page/timeline?period=1h&rows=line", 0, "a timeline has the period" },
		{ "/page/timeline?period=1h&session=other", 0, "of the session machine" },
	};
	int listening = listener_open("127.0.0.1:0"), fd;
	struct http_server *http = start_server_with(listening, TOKEN, PAGE_TOKEN);

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].target);
		assert_row(get_once(get_port(listening), rows[i].target, LOCAL AUTHORIZE) == 401);
		fd = connect_tcp(get_port(listening));
		send_only(fd, "GET", rows[i].target, LOCAL PAGE_AUTHORIZE);
		assert_row(asked_count == !rows[i].why);
		assert_row(rows[i].why || last_wanted.answer == rows[i].answer);
		finish_queries(HTTP_QUERY_LATE, "late");
		assert_row(read_answer_status(fd) == (rows[i].why ? 400 : 504));
		assert_row(strstr(last_answer, rows[i].why ?: "late"));
		close(fd);
	}
	end_server(http);
}

/* Each failure has a status, and its reason as the text. None of them counts as a refusal. */
static void test_page_results(void **state)
{
	static const struct {
		int outcome;
		enum http_query_result result;
		int status;
		const char *why;
		const char *text;
	} rows[] = {
		{ 0, HTTP_QUERY_FAILED, 502, "the reason", "\r\n\r\nthe reason\n" },
		{ 0, HTTP_QUERY_FAILED, 502, "a line\n", "\r\n\r\na line\n" },
		{ 0, HTTP_QUERY_FAILED, 502, "", "\r\n\r\n\n" },
		{ 0, HTTP_QUERY_AWAY, 503, "the reason", "\r\n\r\nthe reason\n" },
		{ 0, HTTP_QUERY_LATE, 504, "the reason", "\r\n\r\nthe reason\n" },
		{ 1, HTTP_QUERY_AWAY, 503, "", "\r\n\r\nno daemon\n" },
		{ -EBUSY, HTTP_QUERY_AWAY, 503, "", "\r\n\r\na reason\n" },
	};
	int listening = listener_open("127.0.0.1:0"), fd;
	struct http_server *http = start_server_with(listening, TOKEN, PAGE_TOKEN);
	struct http_server_stats stats;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("row %u", i);
		query_outcome = rows[i].outcome;
		fd = begin_query(get_port(listening), "");
		if (query_outcome == 1)
			asked_count = 0;
		finish_queries(rows[i].result, rows[i].why);
		assert_row(read_answer_status(fd) == rows[i].status);
		assert_row(strstr(last_answer, rows[i].text));
		close(fd);
	}
	query_outcome = 0;
	http_get_stats(http, &stats);
	assert_int_equal(stats.refused, 0);
	assert_int_equal(stats.answered, 0);
	end_server(http);
}

/* Requests for metrics and files are answered while queries wait, and each query gets its answer. */
static void test_page_queries_wait_alone(void **state)
{
	int listening = listener_open("127.0.0.1:0"), fd[3];
	struct http_server *http = start_server_with(listening, TOKEN, PAGE_TOKEN);
	static const char *const rows[] = { "[0]\n", "[1]\n", "[2]\n" };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fd); i++) {
		fd[i] = begin_query(get_port(listening), "");
	}
	assert_int_equal(asked_count, ARRAY_SIZE(fd));
	assert_int_equal(request_once(get_port(listening), LOCAL AUTHORIZE), 200);
	assert_int_equal(get_once(get_port(listening), "/page/", LOCAL), 200);
	/* A change of the metrics ends no query. */
	for (unsigned int i = 0; i < 3; i++)
		http_drop_answers(http);
	/* The last query is answered first. */
	for (unsigned int i = ARRAY_SIZE(fd); i-- > 0;) {
		http_query_finish(asked[i], HTTP_QUERY_ROWS, rows_file(rows[i]), 4, NULL);
		assert_int_equal(read_answer_status(fd[i]), 200);
		assert_non_null(strstr(last_answer, rows[i]));
		close(fd[i]);
	}
	asked_count = 0;
	end_server(http);
}

/* The number of requests for rows is limited until their clients have read the answers. */
static void test_page_query_limit(void **state)
{
	int listening = listener_open("127.0.0.1:0"), fd[HTTP_QUERIES];
	struct http_server *http = start_server_with(listening, TOKEN, PAGE_TOKEN);

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fd); i++) {
		fd[i] = begin_query(get_port(listening), "");
	}
	assert_int_equal(asked_count, HTTP_QUERIES);
	assert_int_equal(get_once(get_port(listening), "/page/query", LOCAL PAGE_AUTHORIZE), 503);
	assert_non_null(strstr(last_answer, "8 other requests for rows have not ended"));
	assert_int_equal(get_once(get_port(listening), "/page/query", LOCAL), 401);
	finish_queries(HTTP_QUERY_LATE, "late");
	for (unsigned int i = 0; i < ARRAY_SIZE(fd); i++) {
		assert_int_equal(read_answer_status(fd[i]), 504);
		close(fd[i]);
	}
	fd[0] = connect_tcp(get_port(listening));
	assert_int_equal(get_rows(fd[0], LOCAL PAGE_AUTHORIZE), 200);
	close(fd[0]);
	end_server(http);
}

/* Rows that exceed the buffers of the socket arrive completely. */
static void test_page_many_rows(void **state)
{
	int listening = listener_open("127.0.0.1:0"), fd, rows;
	struct http_server *http = start_server_with(listening, TOKEN, PAGE_TOKEN);
	const size_t whole = 8 << 20;

	(void)state;
	fd = begin_query(get_port(listening), "");
	rows = rows_file("[");
	assert_return_code(ftruncate(rows, whole), errno);
	http_query_finish(asked[--asked_count], HTTP_QUERY_ROWS, rows, whole, NULL);
	receive_bytes(fd, whole);
	close(fd);
	end_server(http);
}

/* A client that closes its connection costs nothing; a query that ends late is answered at the end. */
static void test_page_client_leaves(void **state)
{
	int listening = listener_open("127.0.0.1:0"), fd, rows, late;
	struct http_server *http = start_server_with(listening, TOKEN, PAGE_TOKEN);

	(void)state;
	fd = begin_query(get_port(listening), "");
	close(fd);
	run_loop();
	rows = rows_file("[]\n");
	http_query_finish(asked[0], HTTP_QUERY_ROWS, rows, 3, NULL);
	asked_count = 0;
	run_loop();
	/* The server has closed the file. */
	assert_int_equal(fcntl(rows, F_GETFD), -1);
	late = begin_query(get_port(listening), "");
	finish_queries(HTTP_QUERY_AWAY, "the exporter is being stopped");
	http_finish(http);
	assert_int_equal(read_answer_status(late), 503);
	close(late);
	http_free(http);
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
		"",
		"9763",
		":9763",
		"localhost:9763",
		"127.0.0.1:",
		"127.0.0.1:65536",
		"127.0.0.1:-1",
		"127.0.0.1: 1",
		"::1:9763",
		"run/socket",
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
	struct sockaddr_in6 address[2] = { { .sin6_family = AF_INET6 },
					   { .sin6_family = AF_INET6 } };
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
		c.slots[i].trusted |=
			c.slots[i].handle && !memcmp(c.slots[i].peer, one, sizeof(one));
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
		cmocka_unit_test_setup_teardown(test_page_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_page_tokens, setup, teardown),
		cmocka_unit_test_setup_teardown(test_page_on_unix_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_page_parameters, setup, teardown),
		cmocka_unit_test(test_page_long_container),
		cmocka_unit_test_setup_teardown(test_page_other_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_page_results, setup, teardown),
		cmocka_unit_test_setup_teardown(test_page_queries_wait_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_page_query_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_page_many_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_page_client_leaves, setup, teardown),
		cmocka_unit_test(test_addresses_of_same_client),
		cmocka_unit_test(test_connections_of_one_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
