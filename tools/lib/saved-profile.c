// SPDX-License-Identifier: LGPL-2.1-or-later
#include "saved-profile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bus-json.h"
#include "message.h"
#include "output/query-json.h"
#include "text.h"
#include "util/escape.h"

/* The first bytes of each file. */
#define MAGIC "{\"speprof_profile\":"

#define VERSION 1

/* Maximum size of a saved profile in bytes; a file of this size is refused. */
#define FILE_MAX (64 << 20)

/* Open a regular file. Opening a pipe or a device could block or have side effects. */
static int open_regular(const char *path, struct stat *ret_st)
{
	int fd;

	if (!strcmp(path, "-") || stat(path, ret_st) < 0 || !S_ISREG(ret_st->st_mode))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

bool saved_profile_is(const char *path)
{
	char start[sizeof(MAGIC)] = "";
	struct stat st;
	int fd = open_regular(path, &st);
	bool is;

	if (fd < 0)
		return false;
	is = read(fd, start, sizeof(MAGIC) - 1) == sizeof(MAGIC) - 1 && !strcmp(start, MAGIC);
	close(fd);
	return is;
}

/* Read the whole file. Return an &enum verb_exit_status. */
static int file_read(const char *path, char **ret_text, size_t *ret_size)
{
	struct stat st;
	int fd = open_regular(path, &st);
	char *text;
	ssize_t n = 0;
	size_t size = 0;

	if (fd < 0)
		return message_fail(STATUS_UNREADABLE, "%s: %s", path, strerror(-fd));
	text = malloc(FILE_MAX);
	while (text && size < FILE_MAX && (n = read(fd, text + size, FILE_MAX - size)) > 0)
		size += (size_t)n;
	close(fd);
	if (text && n >= 0 && size < FILE_MAX) {
		*ret_text = text;
		*ret_size = size;
		return STATUS_OK;
	}
	free(text);
	if (!text)
		return message_fail(STATUS_FAILED, "%s: %s", path, strerror(ENOMEM));
	if (n < 0)
		return message_fail(STATUS_UNREADABLE, "%s: %s", path, strerror(errno));
	return message_fail(STATUS_UNREADABLE, "%s: a saved profile should have less than 64 MiB",
			    path);
}

static json_object *text_parse(const char *path, const char *text, size_t size)
{
	json_tokener *tokener = json_tokener_new();
	json_object *json;

	if (!tokener) {
		message_print("%s: %s", path, strerror(ENOMEM));
		return NULL;
	}
	json = json_tokener_parse_ex(tokener, text, (int)size);
	if (!json || !json_object_is_type(json, json_type_object)) {
		message_print(
			"%s: byte %zu: %s; the file should be as \"speprof save\" wrote it", path,
			json_tokener_get_parse_end(tokener),
			json_tokener_get_error(tokener) == json_tokener_continue ?
				"the file ends too early" :
				"no valid JSON");
		json_object_put(json);
		json = NULL;
	}
	json_tokener_free(tokener);
	return json;
}

static void write_time(u64 us, char *to, size_t size)
{
	time_t seconds = (time_t)(us / 1000000);
	struct tm tm;

	*to = 0;
	if (localtime_r(&seconds, &tm))
		strftime(to, size, "%Y-%m-%d %H:%M", &tm);
}

/* Describe where the profile comes from. The texts of the file are escaped. */
static void making_write(json_object *json, char *to, size_t size)
{
	json_object *profile = json_get(json, "profile");
	const char *window = json_text(profile, "window");
	char saved[40], since[40], until[40], line[512];

	write_time(json_number(json, "saved_usec"), saved, sizeof(saved));
	write_time(json_number(profile, "since_usec"), since, sizeof(since));
	write_time(json_number(profile, "until_usec"), until, sizeof(until));
	if (!strcmp(window, "history"))
		snprintf(line, sizeof(line), "%.64s, Linux %.64s, saved %s: history from %s to %s",
			 json_text(json, "host"), json_text(json, "kernel"), saved, since, until);
	else
		snprintf(line, sizeof(line), "%.64s, Linux %.64s, saved %s: session %.64s, %s%.16s",
			 json_text(json, "host"), json_text(json, "kernel"), saved,
			 json_get(profile, "session") ? json_text(profile, "session") : "machine",
			 strcmp(window, "start") ? "the last " : "since its ", window);
	escape_string(to, size, line);
}

static int profile_read(const char *path, json_object *json, struct row_set *ret_set)
{
	struct row_set_error error = { "" };
	struct row_set set;
	int r;

	if (json_number(json, "speprof_profile") != VERSION)
		return message_fail(STATUS_UNREADABLE,
				    "%s: speprof_profile: should be %d, the version of the format "
				    "that this speprof reads",
				    path, VERSION);
	r = row_set_read(json_get(json, "profile"), &set, &error);
	if (r == -EBADMSG)
		return message_fail(STATUS_UNREADABLE, "%s: profile: %s", path, error.text);
	if (r < 0)
		return message_fail(STATUS_FAILED, "%s: %s", path, strerror(-r));
	snprintf(set.header.source, sizeof(set.header.source), "saved");
	set.header.ledgers_unknown = true;
	set.header.written = WINDOW_WRITTEN_UNKNOWN;
	*ret_set = set;
	return STATUS_OK;
}

int saved_profile_read(const char *path, struct row_set *ret_set, char *ret_making, size_t size)
{
	json_object *json;
	char *text = NULL;
	size_t length = 0;
	int status = file_read(path, &text, &length);

	if (status)
		return status;
	json = text_parse(path, text, length);
	free(text);
	if (!json)
		return STATUS_UNREADABLE;
	status = profile_read(path, json, ret_set);
	if (!status)
		making_write(json, ret_making, size);
	json_object_put(json);
	return status;
}

int saved_profile_write(FILE *out, const struct view_header *header, const struct query *query,
			const struct query_rows *rows)
{
	json_object *json = json_object_new_object();
	struct utsname machine = { 0 };
	struct timespec now;
	const char *text;
	int r;

	if (!json)
		return -ENOMEM;
	uname(&machine);
	clock_gettime(CLOCK_REALTIME, &now);
	json_object_object_add(json, "speprof_profile", json_object_new_int(VERSION));
	json_object_object_add(json, "host", json_object_new_string(machine.nodename));
	json_object_object_add(json, "kernel", json_object_new_string(machine.release));
	json_object_object_add(
		json, "saved_usec",
		json_object_new_uint64((u64)now.tv_sec * 1000000 + (u64)now.tv_nsec / 1000));
	text = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN);
	/* The rows follow within the same object. */
	fprintf(out, "%.*s,\"profile\":", (int)strlen(text) - 1, text);
	json_object_put(json);
	r = query_json_write(out, header, query, rows);
	fputs("}\n", out);
	return r;
}
