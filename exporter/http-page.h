/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Answers of the HTTP server about the page: its files, and rows of the daemon, for which a request
 * waits while its connection is suspended. Only http.c uses these functions.
 */
#ifndef SPEPROF_HTTP_PAGE_H
#define SPEPROF_HTTP_PAGE_H

#include <microhttpd.h>
#include <systemd/sd-event.h>

#include "http.h"

/** http_page_queue_file() - answer with a file of the page; returns MHD_NO if memory is exhausted */
enum MHD_Result http_page_queue_file(struct MHD_Connection *mhd, const struct page_file *file);

/**
 * http_page_queue_text() - answer with a status and one sentence
 * @text: copied
 *
 * Return: MHD_NO if memory cannot be allocated.
 */
enum MHD_Result http_page_queue_text(struct MHD_Connection *mhd, unsigned int status,
				     const char *text);

/**
 * http_page_read_parameters() - read the parameters of the URL
 * @ret_parameters: at first all NULL
 * @ret_why: on failure, a static sentence
 *
 * Return: 0; -EINVAL if a parameter is wrong.
 */
int http_page_read_parameters(struct MHD_Connection *mhd, struct page_parameters *ret_parameters,
			      const char **ret_why);

/**
 * http_query_new() - create a query of a connection
 * @timer: its expiration makes the server run
 *
 * Return: to be freed by http_query_free() when the request ends; NULL if memory cannot be
 * allocated.
 */
struct http_query *http_query_new(struct MHD_Connection *mhd, sd_event_source *timer);

/**
 * http_query_suspend() - suspend the connection until http_query_finish()
 *
 * Return: false, without an effect, if that was called before.
 */
bool http_query_suspend(struct http_query *query);

/** http_query_queue_answer() - answer with what http_query_finish() has set */
enum MHD_Result http_query_queue_answer(struct http_query *query);

/** http_query_free() - free a query; its request has ended */
void http_query_free(struct http_query *query);

#endif
