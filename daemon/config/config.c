// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config.h"
#include "filter/filter.h"
#include "util/escape.h"
#include "util/ini.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const source_names[] = {
	[CONFIG_SOURCE_AUTO] = "auto",
	[CONFIG_SOURCE_MODULE] = "module",
	[CONFIG_SOURCE_PERF] = "perf",
	[CONFIG_SOURCE_EMULATED] = "emulated",
};

static int parse_source(struct config *c, const char *value)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(source_names); i++) {
		if (strcmp(source_names[i], value))
			continue;
		c->source = i;
		return 0;
	}
	return -EINVAL;
}

static int parse_task_events(struct config *c, const char *value)
{
	static const struct {
		const char *name;
		enum task_events_kind kind;
	} names[] = {
		{ "auto", TASK_EVENTS_BPF },
		{ "perf", TASK_EVENTS_PERF },
		{ "proc", TASK_EVENTS_PROC },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i].name, value))
			continue;
		c->task_events = names[i].kind;
		return 0;
	}
	return -EINVAL;
}

/* Parse a number with an optional suffix K, M or G (powers of 1024), as in systemd units. */
static int parse_size(u64 *ret, const char *value)
{
	static const char units[] = "KMG";
	const char *unit;
	u64 n;
	char *end;

	if (!isdigit((unsigned char)*value))
		return -EINVAL;
	errno = 0;
	n = strtoull(value, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (errno || (*end && (!unit || end[1])) || n >> 30)
		return -EINVAL;
	*ret = n << (unit ? 10 * (unit - units + 1) : 0);
	return 0;
}

static int parse_history(struct config *c, const char *value)
{
	u64 bytes = 0;

	if (strcmp(value, "no") != 0 &&
	    (parse_size(&bytes, value) < 0 || bytes < CONFIG_HISTORY_MIN))
		return -EINVAL;
	c->history = bytes;
	return 0;
}

static int parse_rate(struct config *c, const char *value)
{
	unsigned long n;
	char *end;

	if (!isdigit((unsigned char)*value))
		return -EINVAL;
	errno = 0;
	n = strtoul(value, &end, 10);
	if (errno || *end || n < 1 || n > 100000)
		return -EINVAL;
	c->samples_per_second = (u32)n;
	return 0;
}

static int parse_workers(struct config *c, const char *value)
{
	unsigned long n;
	char *end;

	if (!strcmp(value, "auto")) {
		c->workers = 0;
		return 0;
	}
	if (!isdigit((unsigned char)*value))
		return -EINVAL;
	errno = 0;
	n = strtoul(value, &end, 10);
	if (errno || *end || n < 1 || n > 16)
		return -EINVAL;
	c->workers = (u32)n;
	return 0;
}

/*
 * Parse a percentage such as "1%" or "0.25%", with at most three digits after the point; or "no",
 * which means no limit.
 */
static int parse_overhead(struct config *c, const char *value)
{
	u32 parts = 0, scale = 1000;
	bool point = false;

	if (!strcmp(value, "no")) {
		c->overhead = 0;
		return 0;
	}
	if (!isdigit((unsigned char)*value))
		return -EINVAL;
	for (; isdigit((unsigned char)*value) || (*value == '.' && !point); value++) {
		if (*value == '.') {
			point = true;
			continue;
		}
		if (parts > 100000 || scale == 1)
			return -EINVAL;
		if (point)
			scale /= 10;
		parts = parts * 10 + (u32)(*value - '0');
	}
	if (strcmp(value, "%") != 0 || !parts || (u64)parts * scale > 50000)
		return -EINVAL;
	c->overhead = parts * scale;
	return 0;
}

static int parse_models(struct config *c, const char *value)
{
	if (strlen(value) >= sizeof(c->models))
		return -EINVAL;
	strcpy(c->models, value);
	return 0;
}

/* Parse the expression only to report errors; the session that uses it parses it again. */
static int parse_filter(struct config *c, const char *value, struct config_error *ret_error)
{
	struct filter_error error = { 0 };
	struct filter *filter = NULL;

	if (strlen(value) >= sizeof(c->filter)) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			 "Filter=: should be at most %zu bytes", sizeof(c->filter) - 1);
		return -EINVAL;
	}
	if (*value && filter_new(value, &filter, &error) < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text), "Filter=, column %u: %s",
			 error.column, error.text);
		return -EINVAL;
	}
	filter_free(filter);
	strcpy(c->filter, value);
	return 0;
}

/* Parse patterns separated by blanks, at most CONFIG_WORDS of them. */
static int parse_patterns(char to[static 1024], const char *value)
{
	const char *at = value;
	unsigned int words = 0;

	if (strlen(value) >= 1024)
		return -EINVAL;
	for (; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		words += *at != 0;
	}
	if (words > CONFIG_WORDS)
		return -EINVAL;
	strcpy(to, value);
	return 0;
}

static int words_split(const char *value, char **words, char **ret_text)
{
	char *save = NULL, *text = strdup(value), *word;
	unsigned int n = 0;

	if (!text)
		return -ENOMEM;
	for (word = strtok_r(text, " ", &save); word && n < CONFIG_WORDS;
	     word = strtok_r(NULL, " ", &save))
		words[n++] = word;
	words[n] = NULL;
	*ret_text = text;
	return 0;
}

int config_split_lists(const struct config *config, struct config_container_lists *ret_lists)
{
	int r;

	*ret_lists = (struct config_container_lists){ 0 };
	r = words_split(config->containers, ret_lists->words[0], &ret_lists->text[0]);
	if (r >= 0)
		r = words_split(config->excluded, ret_lists->words[1], &ret_lists->text[1]);
	if (r < 0) {
		config_container_lists_clear(ret_lists);
		return r;
	}
	ret_lists->lists.containers = ret_lists->words[0];
	ret_lists->lists.excluded = ret_lists->words[1];
	return 0;
}

void config_container_lists_clear(struct config_container_lists *lists)
{
	free(lists->text[0]);
	free(lists->text[1]);
	lists->text[0] = NULL;
	lists->text[1] = NULL;
}

enum setting_type {
	SETTING_SOURCE,
	SETTING_BOOL,
	SETTING_RATE,
	SETTING_OVERHEAD,
	SETTING_SIZE,
	SETTING_HISTORY,
	SETTING_MODELS,
	SETTING_FILTER,
	SETTING_PATTERNS,
	SETTING_TASK_EVENTS,
	SETTING_WORKERS,
};

static const struct config_setting {
	const char *key;
	enum setting_type type;
	size_t offset;
	const char *right;
} settings[] = {
	{ "Source", SETTING_SOURCE, 0, "auto, module, perf or emulated" },
	{ "Emulate", SETTING_BOOL, offsetof(struct config, emulate), "yes or no" },
	{ "IOUring", SETTING_BOOL, offsetof(struct config, io_uring), "yes or no" },
	{ "Contexts", SETTING_BOOL, offsetof(struct config, contexts), "yes or no" },
	{ "PhysicalAddresses", SETTING_BOOL, offsetof(struct config, physical), "yes or no" },
	{ "TaskEvents", SETTING_TASK_EVENTS, 0, "auto, perf or proc" },
	{ "Jitter", SETTING_BOOL, offsetof(struct config, jitter), "yes or no" },
	{ "Kernel", SETTING_BOOL, offsetof(struct config, kernel), "yes or no" },
	{ "User", SETTING_BOOL, offsetof(struct config, user), "yes or no" },
	{ "SamplesPerSecond", SETTING_RATE, 0, "a number from 1 to 100000" },
	{ "Overhead", SETTING_OVERHEAD, 0,
	  "a percentage from 0.001% to 50%, such as 1% or 0.5%, or no" },
	{ "MemoryBudget", SETTING_SIZE, 0,
	  "a number of bytes, or one with K, M or G, such as 64M" },
	{ "History", SETTING_HISTORY, 0,
	  "a number of bytes, or one with K, M or G, of at least 16M, or no" },
	{ "Workers", SETTING_WORKERS, 0, "auto or a number from 1 to 16" },
	{ "Filter", SETTING_FILTER, 0, "" },
	{ "Containers", SETTING_PATTERNS, offsetof(struct config, containers),
	  "at most 64 patterns for names of containers, separated by blanks, in less than 1024 "
	  "bytes" },
	{ "ExcludeContainers", SETTING_PATTERNS, offsetof(struct config, excluded),
	  "at most 64 patterns for names of containers, separated by blanks, in less than 1024 "
	  "bytes" },
	{ "Models", SETTING_MODELS, 0, "\"COMM=PROFILE ...\", at most 255 bytes" },
};

static int setting_parse(const struct config_setting *s, struct config *c, const char *value)
{
	switch (s->type) {
	case SETTING_SOURCE:
		return parse_source(c, value);
	case SETTING_BOOL:
		return ini_parse_bool(value, (bool *)((char *)c + s->offset));
	case SETTING_RATE:
		return parse_rate(c, value);
	case SETTING_OVERHEAD:
		return parse_overhead(c, value);
	case SETTING_SIZE:
		return parse_size(&c->memory_budget, value);
	case SETTING_HISTORY:
		return parse_history(c, value);
	case SETTING_MODELS:
		return parse_models(c, value);
	case SETTING_PATTERNS:
		return parse_patterns((char *)c + s->offset, value);
	case SETTING_WORKERS:
		return parse_workers(c, value);
	case SETTING_FILTER:
		break;
	case SETTING_TASK_EVENTS:
		return parse_task_events(c, value);
	}
	return -EINVAL;
}

int config_set_setting(struct config *config, const char *key, const char *value,
		       struct config_error *ret_error)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(settings); i++) {
		const struct config_setting *s = &settings[i];

		if (strcmp(s->key, key))
			continue;
		/* The value becomes a string on D-Bus, which must be UTF-8. */
		if (!escape_is_utf8(value)) {
			snprintf(ret_error->text, sizeof(ret_error->text), "%s=: should be UTF-8", key);
			return -EINVAL;
		}
		if (s->type == SETTING_FILTER)
			return parse_filter(config, value, ret_error);
		if (!setting_parse(s, config, value))
			return 0;
		snprintf(ret_error->text, sizeof(ret_error->text), "%s=%.60s: should be %s", key,
			 value, s->right);
		return -EINVAL;
	}
	snprintf(ret_error->text, sizeof(ret_error->text), "there is no setting \"%.60s\"", key);
	return -ENOENT;
}

struct config_line_reader {
	struct config *config;
	struct config_error error;
	bool section;
};

static int parse_line(void *ctx, char *line)
{
	struct config_line_reader *r = ctx;
	char *value;

	if (*line == '[') {
		r->section = !strcmp(line, "[Sampling]");
		if (r->section)
			return 0;
		snprintf(r->error.text, sizeof(r->error.text),
			 "there is no section \"%.60s\", only [Sampling]", line);
		return -EINVAL;
	}
	if (!r->section || !strchr(line, '=')) {
		snprintf(r->error.text, sizeof(r->error.text), "\"%.60s\" should be %s", line,
			 r->section ? "Key=value" : "below [Sampling]");
		return -EINVAL;
	}
	value = ini_split_line(line);
	return config_set_setting(r->config, line, value, &r->error) < 0 ? -EINVAL : 0;
}

int config_read_file(struct config *config, const char *path, struct config_error *ret_error)
{
	struct config read = *config;
	struct config_line_reader reader = { .config = &read };
	unsigned int line;
	int r = ini_read(path, parse_line, &reader, &line);

	if (r < 0 && !line)
		snprintf(reader.error.text, sizeof(reader.error.text), "%s", strerror(-r));
	reader.error.line = line;
	if (r < 0)
		*ret_error = reader.error;
	else
		*config = read;
	return r;
}

/* Name of the systemd credential with further settings. */
#define CREDENTIAL "speprofd.conf"

struct config_read_state {
	struct config config;
	struct config_error *error;
};

static int read_config_file(void *ctx, const char *path)
{
	struct config_read_state *reading = ctx;

	return config_read_file(&reading->config, path, reading->error);
}

int config_read_files(struct config *config, const char *path, bool must,
		      struct config_error *ret_error)
{
	struct config_read_state reading = { .config = *config, .error = ret_error };
	int r = ini_read_files(path, must, CREDENTIAL, read_config_file, &reading, ret_error->file,
			       sizeof(ret_error->file));

	if (r >= 0)
		*config = reading.config;
	return r;
}
