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

/* How long those that are asking are answered at the end. */
#define FINISH_MS 1000

/* @asking: what it asked was not answered, or it did not ask yet */
struct connection {
	struct MHD_Connection *mhd;
	u64 deadline;
	bool asking;
};

struct http {
	struct http_config config;
	char *token;
	struct MHD_Daemon *daemon;
	sd_event_source *io;
	sd_event_source *timer;
	struct MHD_Response *rendered[EXPOSE_FORMATS];
	bool too_large[EXPOSE_FORMATS]; /* what is to be rendered: it costs as much to find out */
	struct connection connections[HTTP_CONNECTIONS];
	struct http_stats stats;
};

/* What is said to those who get nothing else; one for each status. */
static const struct plain {
	unsigned int status;
	const char *text;
} plains[] = {
	{ MHD_HTTP_OK, "speprof-exporter: /metrics has this machine's metrics\n" },
	{ MHD_HTTP_UNAUTHORIZED, "a bearer token is needed\n" },
	{ MHD_HTTP_NOT_FOUND, "there is only /metrics\n" },
	{ MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n" },
	{ MHD_HTTP_CONTENT_TOO_LARGE, "a body is not expected\n" },
	{ MHD_HTTP_INTERNAL_SERVER_ERROR, "no memory\n" },
	{ MHD_HTTP_INSUFFICIENT_STORAGE, "too large in this format: MaxSeries= should be smaller\n" },
};

static u64 now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec;
}

static enum MHD_Result reply(struct http *http, struct MHD_Connection *mhd, unsigned int status)
{
	const char *text = "";
	struct MHD_Response *response;
	enum MHD_Result r;

	for (unsigned int i = 0; i < ARRAY_SIZE(plains); i++)
		if (plains[i].status == status)
			text = plains[i].text;
	if (status != MHD_HTTP_OK)
		http->stats.refused++;
	response = MHD_create_response_from_buffer(strlen(text), (void *)text,
						   MHD_RESPMEM_PERSISTENT);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	r = MHD_queue_response(mhd, status, response);
	MHD_destroy_response(response);
	return r;
}

/* Rendered once for all who ask before the next change: a slow reader holds no copy of its own. */
static struct MHD_Response *rendered(struct http *http, enum expose_format format,
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
	response = MHD_create_response_from_buffer(size, data, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(data);
		return NULL;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, expose_type(format));
	http->rendered[format] = response;
	return response;
}

/* In the same time whatever differs, for what has the same length. */
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

static bool is_authorized(const struct http *http, struct MHD_Connection *mhd)
{
	const char *shown;

	if (!http->token)
		return true;
	shown = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
	if (!shown || strncasecmp(shown, "Bearer ", 7))
		return false;
	return token_matches(http->token, shown + 7);
}

static enum MHD_Result answer_metrics(struct http *http, struct MHD_Connection *mhd)
{
	const char *accept =
		MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	unsigned int status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	struct MHD_Response *response =
		rendered(http, expose_negotiate(accept, http->config.native), &status);

	if (!response)
		return reply(http, mhd, status);
	http->stats.answered++;
	return MHD_queue_response(mhd, MHD_HTTP_OK, response);
}

static struct connection *connection_of(struct http *http, const struct MHD_Connection *mhd)
{
	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++)
		if (http->connections[i].mhd == mhd)
			return &http->connections[i];
	return NULL;
}

static enum MHD_Result answer(void *cls, struct MHD_Connection *mhd, const char *url,
			      const char *method, const char *version __attribute__((unused)),
			      const char *upload __attribute__((unused)), size_t *upload_size,
			      void **request)
{
	static char begun;
	struct http *http = cls;
	struct connection *c;

	/* The first call has the headers only. A body is refused before any of it is read. */
	if (!*request) {
		*request = &begun;
		c = connection_of(http, mhd);
		if (c)
			c->asking = true;
		if (!MHD_lookup_connection_value(mhd, MHD_HEADER_KIND,
						 MHD_HTTP_HEADER_TRANSFER_ENCODING) &&
		    !MHD_lookup_connection_value(mhd, MHD_HEADER_KIND,
						 MHD_HTTP_HEADER_CONTENT_LENGTH))
			return MHD_YES;
		return reply(http, mhd, MHD_HTTP_CONTENT_TOO_LARGE);
	}
	*upload_size = 0;
	if (!is_authorized(http, mhd))
		return reply(http, mhd, MHD_HTTP_UNAUTHORIZED);
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return reply(http, mhd, MHD_HTTP_METHOD_NOT_ALLOWED);
	if (!strcmp(url, "/metrics"))
		return answer_metrics(http, mhd);
	return reply(http, mhd, strcmp(url, "/") ? MHD_HTTP_NOT_FOUND : MHD_HTTP_OK);
}

static void connected(void *cls, struct MHD_Connection *mhd, void **ret_place,
		      enum MHD_ConnectionNotificationCode code)
{
	struct http *http = cls;
	struct connection *c = *ret_place;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (c)
			*c = (struct connection){ 0 };
		return;
	}
	c = connection_of(http, NULL);
	if (!c)
		return;
	*c = (struct connection){
		.mhd = mhd,
		.deadline = now_s() + HTTP_SECONDS,
		.asking = true,
	};
	*ret_place = c;
}

static void completed(void *cls, struct MHD_Connection *mhd, void **request,
		      enum MHD_RequestTerminationCode code __attribute__((unused)))
{
	struct connection *c = connection_of(cls, mhd);

	*request = NULL;
	if (!c)
		return;
	c->deadline = now_s() + HTTP_SECONDS;
	c->asking = false;
}

/* The library's own timeout is of silence: a byte now and then would hold a connection for ever. */
static void end_slow(struct http *http)
{
	const union MHD_ConnectionInfo *info;
	u64 now = now_s();

	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++) {
		struct connection *c = &http->connections[i];

		if (!c->mhd || now < c->deadline)
			continue;
		info = MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
		if (info)
			shutdown(info->connect_fd, SHUT_RDWR);
		/* Once is enough: it ends with the next look at the socket. */
		c->deadline = UINT64_MAX;
	}
}

static void run(struct http *http)
{
	MHD_UNSIGNED_LONG_LONG ms = 1000;

	/* Here, not by the timer alone: each byte that comes puts that off. */
	end_slow(http);
	MHD_run(http->daemon);
	if (MHD_get_timeout(http->daemon, &ms) != MHD_YES || ms > 1000)
		ms = 1000;
	sd_event_source_set_time_relative(http->timer, ms * 1000);
	sd_event_source_set_enabled(http->timer, SD_EVENT_ONESHOT);
}

static int on_io(sd_event_source *source __attribute__((unused)), int fd __attribute__((unused)),
		 uint32_t events __attribute__((unused)), void *userdata)
{
	run(userdata);
	return 0;
}

static int on_timer(sd_event_source *source __attribute__((unused)),
		    uint64_t now __attribute__((unused)), void *userdata)
{
	run(userdata);
	return 0;
}

static struct MHD_Daemon *start(struct http *http)
{
	const struct http_config *c = &http->config;
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)c->certificate },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)c->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
		  (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2" },
		{ MHD_OPTION_END, 0, NULL },
	};
	unsigned int flags = MHD_USE_EPOLL;

	if (c->certificate)
		flags |= MHD_USE_TLS;
	return MHD_start_daemon(flags, 0, NULL, NULL, answer, http,
				MHD_OPTION_LISTEN_SOCKET, (MHD_socket)c->fd,
				MHD_OPTION_CONNECTION_LIMIT, (unsigned int)HTTP_CONNECTIONS,
				MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned int)HTTP_PER_ADDRESS,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_REQUEST,
				MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)HTTP_SECONDS / 2,
				MHD_OPTION_NOTIFY_CONNECTION, connected, http,
				MHD_OPTION_NOTIFY_COMPLETED, completed, http,
				MHD_OPTION_ARRAY, c->certificate ? tls : &tls[3],
				MHD_OPTION_END);
}

int http_new(const struct http_config *config, sd_event *event, struct http **ret_http,
	     const char **ret_why)
{
	struct http *http = calloc(1, sizeof(*http));
	const union MHD_DaemonInfo *info;
	int r;

	*ret_why = "there is no memory";
	if (!http)
		return -ENOMEM;
	http->config = *config;
	if (config->token) {
		http->token = strdup(config->token);
		if (!http->token) {
			free(http);
			return -ENOMEM;
		}
	}
	http->daemon = start(http);
	if (!http->daemon) {
		*ret_why = config->certificate ? "certificate and key do not make a TLS server" :
						 "the socket cannot be served";
		free(http->token);
		free(http);
		return -EINVAL;
	}
	info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	r = info ? sd_event_add_io(event, &http->io, info->epoll_fd, EPOLLIN, on_io, http) : -EINVAL;
	if (r >= 0)
		r = sd_event_add_time_relative(event, &http->timer, CLOCK_MONOTONIC, 1000000, 0,
					       on_timer, http);
	if (r < 0) {
		http_free(http);
		return r;
	}
	*ret_http = http;
	return 0;
}

static bool is_asked(const struct http *http)
{
	for (unsigned int i = 0; i < HTTP_CONNECTIONS; i++)
		if (http->connections[i].mhd && http->connections[i].asking)
			return true;
	return false;
}

void http_finish(struct http *http)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd ready = { .fd = info ? info->epoll_fd : -1, .events = POLLIN };
	MHD_socket listening = MHD_quiesce_daemon(http->daemon);

	for (unsigned int ms = 0; ms < FINISH_MS && is_asked(http); ms += 10) {
		MHD_run(http->daemon);
		poll(&ready, 1, is_asked(http) ? 10 : 0);
	}
	if (listening != MHD_INVALID_SOCKET)
		close(listening);
}

struct http *http_free(struct http *http)
{
	if (http) {
		sd_event_source_unref(http->io);
		sd_event_source_unref(http->timer);
		http_changed(http);
		MHD_stop_daemon(http->daemon);
		free(http->token);
		free(http);
	}
	return NULL;
}

void http_changed(struct http *http)
{
	for (unsigned int i = 0; i < EXPOSE_FORMATS; i++) {
		if (http->rendered[i])
			MHD_destroy_response(http->rendered[i]);
		http->rendered[i] = NULL;
		http->too_large[i] = false;
	}
}

void http_stats(const struct http *http, struct http_stats *ret_stats)
{
	*ret_stats = http->stats;
}
