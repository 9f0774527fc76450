// SPDX-License-Identifier: LGPL-2.1-or-later
#include "http-page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct http_query {
	struct MHD_Connection *mhd;
	sd_event_source *timer;
	bool suspended;
	bool finished;
	enum http_query_result result;
	int fd;
	size_t size;
	char why[320];
};

/*
 * Queue @response and drop the reference to it. Each answer has these headers, so that no browser
 * runs a script that is not in a file of the page, stores rows, or shows the page within another
 * one.
 */
static enum MHD_Result queue_response(struct MHD_Connection *mhd, unsigned int status,
				      struct MHD_Response *response, const char *type)
{
	const struct {
		const char *name;
		const char *value;
	} headers[] = {
		{ MHD_HTTP_HEADER_CONTENT_TYPE, type },
		{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
		{ "Content-Security-Policy", PAGE_POLICY },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Referrer-Policy", "no-referrer" },
		{ "X-Content-Type-Options", "nosniff" },
	};
	enum MHD_Result r = MHD_YES;

	if (!response)
		return MHD_NO;
	for (size_t i = 0; i < ARRAY_SIZE(headers) && r == MHD_YES; i++)
		r = MHD_add_response_header(response, headers[i].name, headers[i].value);
	if (r == MHD_YES && status == MHD_HTTP_UNAUTHORIZED)
		r = MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (r == MHD_YES && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		r = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (r == MHD_YES)
		r = MHD_queue_response(mhd, status, response);
	MHD_destroy_response(response);
	return r;
}

enum MHD_Result http_page_queue_file(struct MHD_Connection *mhd, const struct page_file *file)
{
	return queue_response(mhd, MHD_HTTP_OK,
			      MHD_create_response_from_buffer(file->size, (void *)file->data,
							      MHD_RESPMEM_PERSISTENT),
			      file->type);
}

enum MHD_Result http_page_queue_text(struct MHD_Connection *mhd, unsigned int status,
				     const char *text)
{
	char line[360];
	int n = snprintf(line, sizeof(line), "%.350s", text);

	/* Add the line feed that each text of the server ends with; @text may be empty. */
	if (!n || line[n - 1] != '\n')
		line[n++] = '\n';
	return queue_response(
		mhd, status,
		MHD_create_response_from_buffer((size_t)n, line, MHD_RESPMEM_MUST_COPY),
		"text/plain; charset=utf-8");
}

struct parameter_reader {
	struct page_parameters parameters;
	const char *why;
};

static enum MHD_Result read_parameter(void *cls, enum MHD_ValueKind kind __attribute__((unused)),
				      const char *key, size_t key_size, const char *value,
				      size_t value_size)
{
	struct parameter_reader *reader = cls;

	return page_set_parameter(&reader->parameters, key, key_size, value, value_size,
				  &reader->why) < 0 ?
		       MHD_NO :
		       MHD_YES;
}

int http_page_read_parameters(struct MHD_Connection *mhd, struct page_parameters *ret_parameters,
			      const char **ret_why)
{
	struct parameter_reader reader = { 0 };

	MHD_get_connection_values_n(mhd, MHD_GET_ARGUMENT_KIND, read_parameter, &reader);
	if (reader.why) {
		*ret_why = reader.why;
		return -EINVAL;
	}
	*ret_parameters = reader.parameters;
	return 0;
}

struct http_query *http_query_new(struct MHD_Connection *mhd, sd_event_source *timer)
{
	struct http_query *query = calloc(1, sizeof(*query));

	if (query) {
		query->mhd = mhd;
		query->timer = sd_event_source_ref(timer);
		query->fd = -1;
	}
	return query;
}

bool http_query_suspend(struct http_query *query)
{
	query->suspended = !query->finished;
	if (query->suspended)
		MHD_suspend_connection(query->mhd);
	return query->suspended;
}

void http_query_finish(struct http_query *query, enum http_query_result result, int fd, size_t size,
		       const char *why)
{
	query->finished = true;
	query->result = result;
	query->fd = fd;
	query->size = size;
	snprintf(query->why, sizeof(query->why), "%s", why ?: "");
	if (!query->suspended)
		return;
	query->suspended = false;
	MHD_resume_connection(query->mhd);
	sd_event_source_set_time_relative(query->timer, 0);
	sd_event_source_set_enabled(query->timer, SD_EVENT_ONESHOT);
}

struct rows_mapping {
	void *data;
	size_t size;
};

static void rows_mapping_free(void *userdata)
{
	struct rows_mapping *mapping = userdata;

	munmap(mapping->data, mapping->size);
	free(mapping);
}

/*
 * Map the file of @query: its memory is that of the daemon, so rows that clients still read use
 * none of the exporter's. libmicrohttpd could send the descriptor, but with epoll it then sends
 * only 128 KiB a second. The file cannot become shorter, so reading the mapping cannot fail.
 */
static struct MHD_Response *create_rows_response(const struct http_query *query)
{
	struct rows_mapping *mapping = malloc(sizeof(*mapping));
	struct MHD_Response *response;

	if (!mapping)
		return NULL;
	mapping->size = query->size;
	mapping->data = mmap(NULL, query->size, PROT_READ, MAP_SHARED, query->fd, 0);
	if (mapping->data == MAP_FAILED) {
		free(mapping);
		return NULL;
	}
	response = MHD_create_response_from_buffer_with_free_callback_cls(
		mapping->size, mapping->data, rows_mapping_free, mapping);
	if (!response)
		rows_mapping_free(mapping);
	return response;
}

enum MHD_Result http_query_queue_answer(struct http_query *query)
{
	static const unsigned int statuses[] = {
		[HTTP_QUERY_FAILED] = MHD_HTTP_BAD_GATEWAY,
		[HTTP_QUERY_AWAY] = MHD_HTTP_SERVICE_UNAVAILABLE,
		[HTTP_QUERY_LATE] = MHD_HTTP_GATEWAY_TIMEOUT,
	};

	if (query->result != HTTP_QUERY_ROWS)
		return http_page_queue_text(query->mhd, statuses[query->result], query->why);
	return queue_response(query->mhd, MHD_HTTP_OK, create_rows_response(query),
			      "application/json");
}

void http_query_free(struct http_query *query)
{
	if (query->fd >= 0)
		close(query->fd);
	sd_event_source_unref(query->timer);
	free(query);
}
