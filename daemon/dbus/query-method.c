// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implement the method Query: rows by any keys. Members of the group speprof may query everything
 * but addresses. Other users may query totals of their own containers, as in GetContainer.
 */
#include "objects.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cgroup-owner.h"
#include "output/query-json.h"
#include "util/escape.h"
#include "util/time.h"
#include "view/view-bus.h"

/* Maximum length of a text in a query, in bytes. */
#define QUERY_TEXT 255

/* Default limit of rows. */
#define QUERY_ROWS 40

/**
 * struct query_request - argument of run_query()
 * @session: name of the session
 * @query: the query; its strings point into the message
 * @restricted: return only containers that @uid owns
 * @mount: mount point of cgroups, to look up owners
 * @searched: number of cgroups for which the owner was looked up
 * @header: the ledgers. The caller adds the state of the configuration files
 * @error: the reason, if the query selects nothing
 * @text, @size: the rows as JSON; allocated
 */
struct query_request {
	char session[SESSION_NAME_SIZE];
	struct query query;
	bool restricted;
	uid_t uid;
	int mount;
	u32 searched;
	struct view_header header;
	struct query_error error;
	char *text;
	size_t size;
};

/* ---- On the worker's thread ------------------------------------------------- */

static bool is_container_of_caller(void *ctx, const struct attribute_container *container)
{
	struct query_request *request = ctx;

	request->searched++;
	return container->cgroup &&
	       cgroup_is_owned_by(request->mount, container->cgroup, request->uid);
}

/*
 * Clear the ledgers of the machine, which a user with access only to its own containers must not
 * read.
 */
static void header_restrict(struct view_header *header)
{
	struct view_header own = {
		.backend = header->backend,
		.running = header->running,
		.duration_ns = header->duration_ns,
		.interval_ns = header->interval_ns,
		.unweighed = header->unweighed,
		.written = WINDOW_WRITTEN_UNKNOWN,
	};

	memcpy(own.source, header->source, sizeof(own.source));
	*header = own;
}

/* Get the ledgers, and count what was sampled until now. */
static int read_header(struct worker_state *state, struct query_request *request)
{
	struct worker_view_request view = {
		.session = request->session,
		.span = request->query.period,
		.group = VIEW_CONTAINER,
		.limit = 1,
	};
	int r = worker_make_view(state, &view);

	if (r < 0)
		return r;
	memcpy(view.view.header.config_refused, request->header.config_refused,
	       sizeof(request->header.config_refused));
	memcpy(view.view.header.config_waiting, request->header.config_waiting,
	       sizeof(request->header.config_waiting));
	request->header = view.view.header;
	view_clear(&view.view);
	if (request->restricted)
		header_restrict(&request->header);
	return 0;
}

static int write_rows(struct query_request *request, const struct query_result *result)
{
	const struct query_rows rows = query_rows_get(result);
	const struct profile_counters *own = query_result_get_admitted(result);
	FILE *out = open_memstream(&request->text, &request->size);
	int r;

	if (!out)
		return -ENOMEM;
	if (own) {
		request->header.records = own->samples;
		memcpy(request->header.weight, own->weight, sizeof(own->weight));
	}
	r = query_json_write(out, &request->header, &request->query, &rows);
	return fclose(out) ? -ENOMEM : r;
}

/* Return: 0; -ENXIO if the session does not exist; -ENOENT if the query selects nothing. */
static int run_query(struct worker_state *state, void *arg)
{
	struct query_request *request = arg;
	const struct session *session = worker_find_session(state, request->session);
	struct query_source source = {
		.symbols = state->symbols,
		.live = true,
		.raw = query_groups_by(&request->query, QUERY_INSTRUCTION),
		.admits = request->restricted ? is_container_of_caller : NULL,
		.ctx = request,
	};
	struct query_result *result = NULL;
	struct symbols_stats stats;
	int r;

	if (!session)
		return -ENXIO;
	r = read_header(state, request);
	if (r < 0)
		return r;
	source.profile = session->profile;
	source.now_ns = session->running ? time_now_ns() : 0;
	r = query_run(&source, &request->query, &result, &request->error);
	symbols_get_stats(state->symbols, &stats);
	request->header.names_pending = stats.pending;
	if (r >= 0)
		r = write_rows(request, result);
	query_result_free(result);
	return r;
}

/* ---- Arguments ---------------------------------------------------------------- */

/** struct query_texts - the texts of a message that the query refers to after parsing */
struct query_texts {
	const char *period;
	const char *group;
	const char *sort;
};

static int read_text(sd_bus_message *m, const char *key, const char **to, sd_bus_error *error)
{
	int r;

	if (*to)
		return bus_set_invalid_argument(error, "option", key, "given once");
	r = sd_bus_message_read(m, "v", "s", to);
	if (r == -ENXIO)
		return bus_set_invalid_argument(error, "option", key, "a string");
	if (r < 0)
		return r;
	if (!**to || strlen(*to) > QUERY_TEXT)
		return bus_set_invalid_argument(error, key, *to, "a text of 1 to 255 bytes");
	return 0;
}

static int read_limit(sd_bus_message *m, struct query *query, sd_bus_error *error)
{
	int r;

	if (query->limit)
		return bus_set_invalid_argument(error, "option", "Limit", "given once");
	r = sd_bus_message_read(m, "v", "u", &query->limit);
	if (r == -ENXIO)
		return bus_set_invalid_argument(error, "option", "Limit", "a uint32");
	return r < 0 ? r : bus_check_limit(query->limit, error);
}

static int read_option(sd_bus_message *m, const char *key, struct query_texts *texts,
		       struct query *query, sd_bus_error *error)
{
	const struct {
		const char *key;
		const char **to;
	} options[] = {
		{ "Period", &texts->period },
		{ "Group", &texts->group },
		{ "Sort", &texts->sort },
		{ "Container", &query->select.container },
		{ "Program", &query->select.program },
		{ "Binary", &query->select.binary },
		{ "Function", &query->select.function },
	};

	if (!strcmp(key, "Limit"))
		return read_limit(m, query, error);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(options[i].key, key))
			return read_text(m, key, options[i].to, error);
	return bus_set_invalid_argument(
		error, "option", key,
		"Period, Group, Sort, Limit, Container, Program, Binary or Function");
}

static int set_invalid_query_error(const struct query_error *why, sd_bus_error *error)
{
	char shown[2 * QUERY_ERROR_SIZE];

	/*
	 * Escape the text: it may contain an argument that was truncated within a UTF-8 character.
	 */
	escape_string(shown, sizeof(shown), why->text);
	return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "%s.", shown);
}

static int parse_query(const struct query_texts *texts, struct query *query, sd_bus_error *error)
{
	struct query_error why;

	if (texts->period && view_span_parse(texts->period, &query->period) < 0)
		return bus_set_invalid_argument(error, "Period", texts->period,
						"start, 10s, 1m or 10m");
	if (texts->sort && measure_parse(texts->sort, &query->sort) < 0)
		return bus_set_invalid_argument(error, "Sort", texts->sort, MEASURE_LIST);
	if (query_parse_group(texts->group ?: "function", query, &why) < 0 ||
	    query_check(query, &why) < 0)
		return set_invalid_query_error(&why, error);
	if (!query->limit)
		query->limit = QUERY_ROWS;
	return 0;
}

static int read_arguments(sd_bus_message *m, struct query *ret_query, sd_bus_error *error)
{
	struct query_texts texts = { 0 };
	struct query query = { 0 };
	const char *key;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &key);
		if (r >= 0)
			r = read_option(m, key, &texts, &query, error);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r >= 0)
		r = parse_query(&texts, &query, error);
	if (r >= 0)
		*ret_query = query;
	return r < 0 ? r : 0;
}

/*
 * Return true if rows contain only data that GetContainer returns for a container. Rows with sums
 * only (query_has_sums_only()) contain other data than GetContainer.
 */
static bool shows_only_container_data(const struct query *query)
{
	const struct query_select *select = &query->select;

	if (select->program || select->binary || select->function || query_has_sums_only(query))
		return false;
	for (u32 i = 0; i < query->groups; i++) {
		switch (query->group[i]) {
		case QUERY_CONTAINER:
		case QUERY_MODE:
		case QUERY_OP:
		case QUERY_EVENT:
		case QUERY_LEVEL:
			break;
		default:
			return false;
		}
	}
	return true;
}

enum access_level bus_determine_query_access(sd_bus_message *message,
					     void *bus __attribute__((unused)))
{
	bool manager = !strcmp(sd_bus_message_get_path(message), BUS_PATH);
	sd_bus_error error = SD_BUS_ERROR_NULL;
	struct query query;
	int r;

	sd_bus_message_rewind(message, true);
	r = read_arguments(message, &query, &error);
	sd_bus_message_rewind(message, true);
	sd_bus_error_free(&error);
	/* The method reports the error. */
	if (r < 0)
		return ACCESS_READ;
	if (query_groups_by(&query, QUERY_INSTRUCTION))
		return ACCESS_RAW;
	return manager && shows_only_container_data(&query) ? ACCESS_ANYONE : ACCESS_READ;
}

/* ---- The answer --------------------------------------------------------------- */

static int set_query_error(const struct query_request *request, int r, sd_bus_error *error)
{
	char shown[2 * QUERY_ERROR_SIZE];

	if (r == -ENXIO)
		return bus_set_session_error(error, -ENOENT, request->session, NULL);
	if (r != -ENOENT)
		return bus_set_session_error(error, r, request->session, NULL);
	if (request->query.select.function && request->header.names_pending)
		return sd_bus_error_set(error, BUS_NAME ".NamesPending",
					"Names of functions are being resolved: retry later.");
	escape_string(shown, sizeof(shown), request->error.text);
	return sd_bus_error_setf(error, BUS_NAME ".NothingSelected", "%s.", shown);
}

static int reply_query(sd_bus_message *message, const struct query_request *request)
{
	int fd = bus_memfd_new("speprof-query", request->text, request->size), r;
	sd_bus_message *reply = NULL;

	if (fd < 0)
		return fd;
	r = sd_bus_message_new_method_return(message, &reply);
	if (r >= 0)
		r = view_bus_append_header(reply, &request->header);
	if (r >= 0)
		r = sd_bus_message_append(reply, "h", fd);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	close(fd);
	return r;
}

int bus_handle_query(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
	struct query_request request = { .mount = -1 };
	struct bus_service *bus = userdata;
	int r;

	r = read_arguments(message, &request.query, error);
	if (r < 0)
		return r;
	bus_path_to_session_name(sd_bus_message_get_path(message), request.session);
	if (strcmp(request.session, SESSION_MACHINE) != 0)
		request.query.session = request.session;
	if (!bus->caller.owner && !bus->caller.reads && shows_only_container_data(&request.query)) {
		request.restricted = true;
		request.uid = bus->caller.uid;
		request.mount = cgroup_owner_open_mount();
	} else {
		bus_fill_reload_status(bus, &request.header);
	}
	r = worker_call_readonly(bus->worker, run_query, &request);
	bus_add_answer_rows(bus, request.searched + request.size / 1024);
	if (request.mount >= 0)
		close(request.mount);
	r = r < 0 ? set_query_error(&request, r, error) : reply_query(message, &request);
	free(request.text);
	return r;
}
