// SPDX-License-Identifier: LGPL-2.1-or-later
#include "http.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http-connections.h"
#include "http-page.h"

/*
 * Milliseconds for which http_finish() answers requests, and its minimum number of iterations: on a
 * slow machine one iteration may take longer than FINISH_MS
 */
#define FINISH_MS    1000
#define FINISH_TURNS 20

/*
 * Maximum bytes of outdated answers that clients still read. An answer is outdated if the metrics
 * have changed twice since it was rendered. MemoryMax= of the unit includes the outdated answers,
 * the current ones, and those from before the last change.
 */
#define OUTDATED (32U << 20)

/*
 * slots for connections that were closed to accept newer ones, until libmicrohttpd removes them in
 * its next iteration
 */
#define CLOSING 32

struct http_server {
	struct http_config config;
	char *token;
	char *page_token;
	struct MHD_Daemon *daemon;
	sd_event_source *io;
	sd_event_source *timer;
	struct MHD_Response *rendered[EXPOSE_FORMATS];
	/* whether the output was too large; until the next change it is not rendered again */
	bool too_large[EXPOSE_FORMATS];
	/* bytes of the current answers, and of older ones that clients still read */
	size_t rendered_bytes;
	size_t current_bytes; /* bytes of the current answers */
	u64 changes; /* number of calls of http_drop_answers() */
	struct http_connections connections;
	struct http_server_stats stats;
	unsigned int queries; /* number of requests for rows that have not ended */
};

/* Answers other than metrics, one for each status */
static const struct http_error {
	unsigned int status;
	const char *text;
} plains[] = {
	{ MHD_HTTP_OK,
	  "speprof-exporter: /metrics has this machine's metrics, /page/ shows rows\n" },
	{ MHD_HTTP_BAD_REQUEST, "exactly one Host header is required\n" },
	{ MHD_HTTP_UNAUTHORIZED, "a bearer token is required\n" },
	{ MHD_HTTP_FORBIDDEN,
	  "All requests for metrics are refused: every user of this machine can connect to this "
	  "socket. "
	  "Scrape the Unix socket, or set the credential \"token\" and send it: "
	  "see speprof-exporter(8), SCRAPING.\n" },
	{ MHD_HTTP_NOT_FOUND, "the paths are /metrics and /page/\n" },
	{ MHD_HTTP_METHOD_NOT_ALLOWED, "the only methods are GET and HEAD\n" },
	{ MHD_HTTP_CONTENT_TOO_LARGE, "a request body is not allowed\n" },
	{ MHD_HTTP_MISDIRECTED_REQUEST, "the Host header should name the loopback\n" },
	{ MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n" },
	{ MHD_HTTP_INSUFFICIENT_STORAGE,
	  "too large in this format: MaxSeries= should be smaller\n" },
};

static u64 get_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000 + (u64)ts.tv_nsec / 1000000;
}

static u64 get_now_s(void)
{
	return get_now_ms() / 1000;
}

static const char *plain_text(unsigned int status)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(plains); i++)
		if (plains[i].status == status)
			return plains[i].text;
	return "";
}

static enum MHD_Result queue_text_reply(struct http_server *http, struct MHD_Connection *mhd,
					unsigned int status)
{
	const char *text = plain_text(status);
	struct MHD_Response *response;
	enum MHD_Result r;

	if (status != MHD_HTTP_OK)
		http->stats.refused++;
	response =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				"text/plain; charset=utf-8");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	r = MHD_queue_response(mhd, status, response);
	MHD_destroy_response(response);
	return r;
}

struct rendered_text {
	struct http_server *http;
	char *data;
	size_t size;
};

static void rendered_text_free(void *userdata)
{
	struct rendered_text *text = userdata;

	text->http->rendered_bytes -= text->size;
	free(text->data);
	free(text);
}

/*
 * Create a response, which owns @data. Return: NULL if memory cannot be allocated; @data is then
 * freed.
 */
static struct MHD_Response *create_response(struct http_server *http, char *data, size_t size)
{
	struct rendered_text *text = malloc(sizeof(*text));
	struct MHD_Response *response = NULL;

	if (text) {
		*text = (struct rendered_text){ .http = http, .data = data, .size = size };
		response = MHD_create_response_from_buffer_with_free_callback_cls(
			size, data, rendered_text_free, text);
	}
	if (response) {
		http->rendered_bytes += size;
	} else {
		free(text);
		free(data);
	}
	return response;
}

/* Render the series once for all clients, so that slow clients share one copy. */
static struct MHD_Response *render_response(struct http_server *http, enum expose_format format,
					    unsigned int *ret_status)
{
	struct MHD_Response *response;
	char *data = NULL;
	size_t size;
	int r;

	if (http->rendered[format])
		return http->rendered[format];
	r = http->too_large[format] ? -E2BIG :
				      http->config.render(http->config.ctx, format, &data, &size);
	if (r == -E2BIG) {
		http->too_large[format] = true;
		*ret_status = MHD_HTTP_INSUFFICIENT_STORAGE;
	}
	if (r < 0)
		return NULL;
	response = create_response(http, data, size);
	if (!response)
		return NULL;
	http->current_bytes += size;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				expose_get_content_type(format));
	http->rendered[format] = response;
	return response;
}

/* Compare in constant time, so that the duration does not depend on where the tokens differ. */
static bool token_matches(const char *token, const char *shown)
{
	size_t n = strlen(token);
	unsigned int differ = 0;

	if (strlen(shown) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		differ |= (unsigned char)token[i] ^ (unsigned char)shown[i];
	return !differ;
}

static enum MHD_Result count_host_headers(void *cls,
					  enum MHD_ValueKind kind __attribute__((unused)),
					  const char *name,
					  const char *value __attribute__((unused)))
{
	unsigned int *count = cls;

	*count += !strcasecmp(name, MHD_HTTP_HEADER_HOST);
	return MHD_YES;
}

/*
 * Check the Host header (RFC 9110, 7.2). With TLS no check is needed, because the browser compares
 * the name with the certificate.
 */
static unsigned int check_host_header(const struct http_server *http, struct MHD_Connection *mhd)
{
	unsigned int count = 0;
	const char *host;

	if (http->config.reach == LISTENER_PERMITTED || http->config.certificate)
		return MHD_HTTP_OK;
	MHD_get_connection_values(mhd, MHD_HEADER_KIND, count_host_headers, &count);
	host = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	if (count != 1 || !host)
		return MHD_HTTP_BAD_REQUEST;
	return listener_is_loopback_host(host) ? MHD_HTTP_OK : MHD_HTTP_MISDIRECTED_REQUEST;
}

/*
 * Check that the client has sent @token or, if it is NULL, that it needs none. Return MHD_HTTP_OK,
 * or the status with which the request is refused.
 */
static unsigned int check_token(const struct http_server *http, struct MHD_Connection *mhd,
				const char *token)
{
	const char *shown;

	if (!token)
		return http->config.reach == LISTENER_PERMITTED ? MHD_HTTP_OK : MHD_HTTP_FORBIDDEN;
	shown = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
	if (!shown || strncasecmp(shown, "Bearer ", 7) || !token_matches(token, shown + 7))
		return MHD_HTTP_UNAUTHORIZED;
	return MHD_HTTP_OK;
}

/* What a request points to before it becomes a &struct http_query */
static char request_begun;

static enum MHD_Result answer_metrics(struct http_server *http, struct MHD_Connection *mhd,
				      struct http_connection *c)
{
	const char *accept =
		MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	unsigned int status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	struct MHD_Response *response = render_response(
		http, expose_negotiate_format(accept, http->config.native), &status);

	if (!response)
		return queue_text_reply(http, mhd, status);
	http->stats.answered++;
	c->changes = http->changes;
	return MHD_queue_response(mhd, MHD_HTTP_OK, response);
}

static bool is_get(const char *method)
{
	return !strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD);
}

static enum MHD_Result answer_metrics_path(struct http_server *http, struct MHD_Connection *mhd,
					   struct http_connection *c, const char *url,
					   const char *method)
{
	unsigned int status = check_token(http, mhd, http->token);

	if (status != MHD_HTTP_OK)
		return queue_text_reply(http, mhd, status);
	http_connection_authorize(c, get_now_s());
	if (!is_get(method))
		return queue_text_reply(http, mhd, MHD_HTTP_METHOD_NOT_ALLOWED);
	if (!strcmp(url, "/metrics"))
		return answer_metrics(http, mhd, c);
	return queue_text_reply(http, mhd, strcmp(url, "/") ? MHD_HTTP_NOT_FOUND : MHD_HTTP_OK);
}

/* Refuse a request for the page. */
static enum MHD_Result refuse_page(struct http_server *http, struct MHD_Connection *mhd,
				   unsigned int status)
{
	http->stats.refused++;
	return http_page_queue_text(
		mhd, status,
		status == MHD_HTTP_FORBIDDEN ?
			"The page is off: every user of this machine can connect to this socket. "
			"Set the "
			"credential \"page-token\": see speprof-exporter(8), PAGE.\n" :
			plain_text(status));
}

/*
 * Answer a request for data of the daemon. The connection is suspended until http_query_finish(),
 * and this function is then called again, with @request.
 */
static enum MHD_Result answer_query(struct http_server *http, struct MHD_Connection *mhd,
				    struct http_connection *c, enum page_answer answer,
				    void **request)
{
	unsigned int status = check_token(http, mhd, http->page_token);
	struct page_parameters parameters = { 0 };
	struct page_query wanted;
	struct http_query *query;
	const char *why;

	if (status != MHD_HTTP_OK)
		return refuse_page(http, mhd, status);
	http_connection_authorize(c, get_now_s());
	if (http_page_read_parameters(mhd, &parameters, &why) < 0 ||
	    page_query_init(&wanted, answer, &parameters, &why) < 0) {
		http->stats.refused++;
		return http_page_queue_text(mhd, MHD_HTTP_BAD_REQUEST, why);
	}
	if (http->queries >= HTTP_QUERIES)
		return http_page_queue_text(
			mhd, MHD_HTTP_SERVICE_UNAVAILABLE,
			"8 other requests for rows have not ended: retry later");
	/* The rows are no metrics: close_outdated_readers() never closes this connection. */
	c->changes = UINT64_MAX;
	query = http_query_new(mhd, http->timer);
	if (!query)
		return http_page_queue_text(mhd, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
	*request = query;
	http->queries++;
	if (http->config.query(http->config.ctx, &wanted, query, &why) < 0)
		return http_page_queue_text(mhd, MHD_HTTP_SERVICE_UNAVAILABLE, why);
	return http_query_suspend(query) ? MHD_YES : http_query_queue_answer(query);
}

static enum MHD_Result answer_page_path(struct http_server *http, struct MHD_Connection *mhd,
					struct http_connection *c, const char *url,
					const char *method, void **request)
{
	const struct page_file *file = page_find_file(url);
	enum page_answer answer;

	if (!is_get(method))
		return refuse_page(http, mhd, MHD_HTTP_METHOD_NOT_ALLOWED);
	if (page_find_answer(url, &answer))
		return answer_query(http, mhd, c, answer, request);
	/*
	 * The files have no data, so they need no token: a browser cannot send one before it has
	 * loaded the script.
	 */
	if (!http->page_token && http->config.reach != LISTENER_PERMITTED)
		return refuse_page(http, mhd, MHD_HTTP_FORBIDDEN);
	return file ? http_page_queue_file(mhd, file) : refuse_page(http, mhd, MHD_HTTP_NOT_FOUND);
}

static enum MHD_Result handle_request(void *cls, struct MHD_Connection *mhd, const char *url,
				      const char *method,
				      const char *version __attribute__((unused)),
				      const char *upload __attribute__((unused)),
				      size_t *upload_size, void **request)
{
	struct http_server *http = cls;
	struct http_connection *c = http_connections_find(&http->connections, mhd);
	unsigned int status;

	/* The connection was already closed for a newer one. */
	if (!c)
		return MHD_NO;
	/* In the first call only the headers have arrived. A body is refused before it is read. */
	if (!*request) {
		*request = &request_begun;
		c->awaits_response = true;
		if (!MHD_lookup_connection_value(mhd, MHD_HEADER_KIND,
						 MHD_HTTP_HEADER_TRANSFER_ENCODING) &&
		    !MHD_lookup_connection_value(mhd, MHD_HEADER_KIND,
						 MHD_HTTP_HEADER_CONTENT_LENGTH))
			return MHD_YES;
		return queue_text_reply(http, mhd, MHD_HTTP_CONTENT_TOO_LARGE);
	}
	*upload_size = 0;
	if (*request != &request_begun)
		return http_query_queue_answer(*request);
	status = check_host_header(http, mhd);
	if (status != MHD_HTTP_OK)
		return queue_text_reply(http, mhd, status);
	if (!strncmp(url, "/page/", strlen("/page/")))
		return answer_page_path(http, mhd, c, url, method, request);
	return answer_metrics_path(http, mhd, c, url, method);
}

static const union MHD_ConnectionInfo *get_connection_info(struct MHD_Connection *mhd,
							   enum MHD_ConnectionInfoType type)
{
	return mhd ? MHD_get_connection_info(mhd, type) : NULL;
}

/* Close a connection: libmicrohttpd handles this as if the client had closed it. */
static void shut_down_connection(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (info)
		shutdown(info->connect_fd, SHUT_RDWR);
}

/* Close the connections of clients that still read an answer from before the last change. */
static void close_outdated_readers(struct http_server *http)
{
	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++) {
		const struct http_connection *c = &http->connections.slots[i];

		if (c->handle && c->trusted && c->awaits_response && c->changes < http->changes)
			shut_down_connection(c->handle);
	}
}

static void on_connection_change(void *cls, struct MHD_Connection *mhd,
				 void **context __attribute__((unused)),
				 enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info =
		get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct http_server *http = cls;
	u8 peer[HTTP_PEER_SIZE];
	void *closed;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		http_connections_remove(&http->connections, mhd);
		return;
	}
	http_peer_set(peer, info ? info->client_addr : NULL);
	http_connections_add(&http->connections, mhd, peer, get_now_s(), &closed);
	shut_down_connection(closed);
}

static void on_request_completed(void *cls, struct MHD_Connection *mhd, void **request,
				 enum MHD_RequestTerminationCode code __attribute__((unused)))
{
	struct http_server *http = cls;
	struct http_connection *c = http_connections_find(&http->connections, mhd);

	if (*request && *request != &request_begun) {
		http_query_free(*request);
		http->queries--;
	}
	*request = NULL;
	if (!c)
		return;
	c->deadline_s = get_now_s() + HTTP_SECONDS;
	c->awaits_response = false;
}

/*
 * Close connections after their deadline. libmicrohttpd has only an idle timeout, so a client that
 * sends single bytes could keep a connection open.
 */
static void close_overdue_connections(struct http_server *http)
{
	struct MHD_Connection *mhd;

	while ((mhd = http_connections_take_overdue(&http->connections, get_now_s())))
		shut_down_connection(mhd);
}

static void server_run_once(struct http_server *http)
{
	MHD_UNSIGNED_LONG_LONG ms = 1000;

	/*
	 * Read the bytes that have arrived, then close overdue connections: after a suspend of the
	 * process or the machine, a deadline may have passed although the client sent in time.
	 */
	MHD_run(http->daemon);
	/* Do this here, too, because each byte that arrives restarts the timer. */
	close_overdue_connections(http);
	if (MHD_get_timeout(http->daemon, &ms) != MHD_YES || ms > 1000)
		ms = 1000;
	sd_event_source_set_time_relative(http->timer, ms * 1000);
	sd_event_source_set_enabled(http->timer, SD_EVENT_ONESHOT);
}

static int on_io(sd_event_source *source __attribute__((unused)), int fd __attribute__((unused)),
		 uint32_t events __attribute__((unused)), void *userdata)
{
	server_run_once(userdata);
	return 0;
}

static int on_timer(sd_event_source *source __attribute__((unused)),
		    uint64_t now __attribute__((unused)), void *userdata)
{
	server_run_once(userdata);
	return 0;
}

static struct MHD_Daemon *start_mhd_daemon(struct http_server *http)
{
	const struct http_config *c = &http->config;
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)c->certificate },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)c->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
		  (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2" },
		{ MHD_OPTION_END, 0, NULL },
	};
	unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;

	if (c->certificate)
		flags |= MHD_USE_TLS;
	return MHD_start_daemon(
		flags, 0, NULL, NULL, handle_request, http, MHD_OPTION_LISTEN_SOCKET,
		(MHD_socket)c->fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)(HTTP_CONNECTIONS + CLOSING), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HTTP_REQUEST, MHD_OPTION_NOTIFY_CONNECTION, on_connection_change, http,
		MHD_OPTION_NOTIFY_COMPLETED, on_request_completed, http, MHD_OPTION_ARRAY,
		c->certificate ? tls : &tls[3], MHD_OPTION_END);
}

int http_new(const struct http_config *config, sd_event *event, struct http_server **ret_http,
	     const char **ret_why)
{
	struct http_server *http = calloc(1, sizeof(*http));
	const union MHD_DaemonInfo *info;
	int r;

	*ret_why = "out of memory";
	if (!http)
		return -ENOMEM;
	http->config = *config;
	http->token = config->token ? strdup(config->token) : NULL;
	http->page_token = config->page_token ? strdup(config->page_token) : NULL;
	if (!http->token != !config->token || !http->page_token != !config->page_token) {
		free(http->token);
		free(http->page_token);
		free(http);
		return -ENOMEM;
	}
	http->daemon = start_mhd_daemon(http);
	if (!http->daemon) {
		*ret_why = config->certificate ?
				   "the certificate or its key cannot be used for TLS" :
				   "the socket cannot be served";
		free(http->token);
		free(http->page_token);
		free(http);
		return -EINVAL;
	}
	info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	r = info ? sd_event_add_io(event, &http->io, info->epoll_fd, EPOLLIN, on_io, http) :
		   -EINVAL;
	if (r >= 0)
		r = sd_event_add_time_relative(event, &http->timer, CLOCK_MONOTONIC, 0, 0, on_timer,
					       http);
	if (r >= 0)
		r = sd_event_source_set_enabled(http->io, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_source_set_enabled(http->timer, SD_EVENT_OFF);
	if (r < 0) {
		http_free(http);
		return r;
	}
	*ret_http = http;
	return 0;
}

int http_start(struct http_server *http)
{
	int r = sd_event_source_set_enabled(http->io, SD_EVENT_ON);

	return r < 0 ? r : sd_event_source_set_enabled(http->timer, SD_EVENT_ONESHOT);
}

void http_finish(struct http_server *http)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd ready = { .fd = info ? info->epoll_fd : -1, .events = POLLIN };
	MHD_socket listening = MHD_quiesce_daemon(http->daemon);
	u64 end = get_now_ms() + FINISH_MS;

	for (unsigned int i = 0; http_connections_has_unanswered(&http->connections) &&
				 (i < FINISH_TURNS || get_now_ms() < end);
	     i++) {
		MHD_run(http->daemon);
		if (http_connections_has_unanswered(&http->connections))
			poll(&ready, 1, 10);
	}
	if (listening != MHD_INVALID_SOCKET)
		close(listening);
}

struct http_server *http_free(struct http_server *http)
{
	if (http) {
		sd_event_source_unref(http->io);
		sd_event_source_unref(http->timer);
		http_drop_answers(http);
		MHD_stop_daemon(http->daemon);
		free(http->token);
		free(http->page_token);
		free(http);
	}
	return NULL;
}

void http_drop_answers(struct http_server *http)
{
	/*
	 * Keep the answers from before this change, because a client needs time to read a large
	 * answer.
	 */
	if (http->rendered_bytes - http->current_bytes > OUTDATED)
		close_outdated_readers(http);
	http->current_bytes = 0;
	http->changes++;
	for (unsigned int i = 0; i < EXPOSE_FORMATS; i++) {
		if (http->rendered[i])
			MHD_destroy_response(http->rendered[i]);
		http->rendered[i] = NULL;
		http->too_large[i] = false;
	}
}

void http_get_stats(const struct http_server *http, struct http_server_stats *ret_stats)
{
	*ret_stats = http->stats;
}
