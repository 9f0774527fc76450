// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config.h"
#include "util/ini.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void exporter_config_set_defaults(struct exporter_config *config)
{
	*config = (struct exporter_config){
		.listen = EXPORTER_LISTEN,
		.interval = 10,
		.max_series = 500,
		.latencies = 7,
		.native = true,
		.write_interval = 15,
		.profile_seconds = 60,
		.queue = 4096,
		.timeout = 10,
	};
	labels_set_defaults(&config->labels);
}

enum exporter_setting_type {
	TYPE_TEXT,
	TYPE_URL,
	TYPE_NUMBER,
	TYPE_BOOL,
	TYPE_LATENCIES,
	TYPE_ALLOW,
	TYPE_DENY,
};

static const struct exporter_setting {
	const char *section;
	const char *key;
	enum exporter_setting_type type;
	size_t offset;
	u32 min;
	u32 max;
	const char *right;
} settings[] = {
#define AT(member) offsetof(struct exporter_config, member)
	{ "Exporter", "Listen", TYPE_TEXT, AT(listen), 0, 0, "a path, or ADDRESS:PORT" },
	{ "Exporter", "IntervalSec", TYPE_NUMBER, AT(interval), 1, 3600, "1 to 3600" },
	{ "Exporter", "MaxSeries", TYPE_NUMBER, AT(max_series), 200, EXPORTER_SERIES,
	  "200 to 50000" },
	{ "Exporter", "ContainerLatencies", TYPE_LATENCIES, 0, 0, 0,
	  "some of total, issue and translation, or none" },
	{ "Exporter", "NativeHistograms", TYPE_BOOL, AT(native), 0, 0, "yes or no" },
	{ "Exporter", "Allow", TYPE_ALLOW, 0, 0, 0,
	  "at most 32 patterns of at most 127 bytes, printable" },
	{ "Exporter", "Deny", TYPE_DENY, 0, 0, 0,
	  "at most 32 patterns of at most 127 bytes, printable" },
	{ "Push", "Host", TYPE_TEXT, AT(host), 0, 0, "at most 255 bytes" },
	{ "Push", "QueueKiB", TYPE_NUMBER, AT(queue), 64, EXPORTER_QUEUES, "64 to 65536" },
	{ "Push", "TimeoutSec", TYPE_NUMBER, AT(timeout), 1, 300, "1 to 300" },
	{ "Push", "CACertificates", TYPE_TEXT, AT(certificates), 0, 0, "a file's path" },
	{ "RemoteWrite", "URL", TYPE_URL, AT(write_url), 0, 0, "http://... or https://..." },
	{ "RemoteWrite", "IntervalSec", TYPE_NUMBER, AT(write_interval), 1, 3600, "1 to 3600" },
	{ "RemoteWrite", "NativeHistograms", TYPE_BOOL, AT(write_native), 0, 0, "yes or no" },
	{ "OTLP", "URL", TYPE_URL, AT(otlp_url), 0, 0, "http://... or https://..." },
	{ "OTLP", "IntervalSec", TYPE_NUMBER, AT(otlp_interval), 1, 3600, "1 to 3600" },
	{ "Profiles", "URL", TYPE_URL, AT(profile_url), 0, 0, "http://... or https://..." },
	{ "Profiles", "Seconds", TYPE_NUMBER, AT(profile_seconds), 1, 600, "1 to 600" },
#undef AT
};

static int parse_number(const struct exporter_setting *s, u32 *ret, const char *value)
{
	unsigned long n;
	char *end;

	if (!isdigit((unsigned char)*value))
		return -EINVAL;
	errno = 0;
	n = strtoul(value, &end, 10);
	if (errno || *end || n < s->min || n > s->max)
		return -EINVAL;
	*ret = (u32)n;
	return 0;
}

static int parse_latencies(u32 *ret, const char *value)
{
	static const char *const names[] = { "total", "issue", "translation" };
	u32 bits = 0, bit;
	size_t n;

	if (!strcmp(value, "none")) {
		*ret = 0;
		return 0;
	}
	for (;; value += n) {
		value += strspn(value, " \t");
		n = strcspn(value, " \t");
		if (!n)
			break;
		for (bit = 0; bit < ARRAY_SIZE(names); bit++)
			if (n == strlen(names[bit]) && !strncmp(names[bit], value, n))
				break;
		if (bit == ARRAY_SIZE(names))
			return -EINVAL;
		bits |= 1U << bit;
	}
	if (!bits)
		return -EINVAL;
	*ret = bits;
	return 0;
}

static int parse_text(char *ret, const char *value, bool url)
{
	if (strlen(value) >= EXPORTER_TEXT)
		return -EINVAL;
	if (url && *value && strncmp(value, "http://", 7) && strncmp(value, "https://", 8))
		return -EINVAL;
	strcpy(ret, value);
	return 0;
}

static int setting_parse(const struct exporter_setting *s, struct exporter_config *c,
			 const char *value)
{
	void *at = (char *)c + s->offset;

	switch (s->type) {
	case TYPE_TEXT:
	case TYPE_URL:
		return parse_text(at, value, s->type == TYPE_URL);
	case TYPE_NUMBER:
		return parse_number(s, at, value);
	case TYPE_BOOL:
		return ini_parse_bool(value, at);
	case TYPE_LATENCIES:
		return parse_latencies(&c->latencies, value);
	case TYPE_ALLOW:
	case TYPE_DENY:
		return labels_set_patterns(&c->labels, s->type == TYPE_ALLOW, value);
	}
	return -EINVAL;
}

static int set_error(struct exporter_config_error *error, const char *key, const char *value,
		     const char *right)
{
	snprintf(error->text, sizeof(error->text), "%.60s=%.60s: should be %s", key, value, right);
	return -EINVAL;
}

int exporter_config_set(struct exporter_config *config, const char *section, const char *key,
			const char *value, struct exporter_config_error *ret_error)
{
	const char *right = "";

	if (!strcmp(section, "Labels")) {
		if (labels_set_label(&config->labels, key, value, &right) < 0)
			return set_error(ret_error, key, value, right);
		return 0;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(settings); i++) {
		const struct exporter_setting *s = &settings[i];

		if (strcmp(s->section, section) || strcmp(s->key, key))
			continue;
		if (setting_parse(s, config, value) < 0)
			return set_error(ret_error, key, value, s->right);
		return 0;
	}
	snprintf(ret_error->text, sizeof(ret_error->text),
		 "there is no setting \"%.60s\" in [%.60s]", key, section);
	return -EINVAL;
}

struct config_reader {
	struct exporter_config *config;
	struct exporter_config_error error;
	char section[64];
	/* whether the file has a section [Labels], which replaces the default labels */
	bool labels;
};

static int select_section(struct config_reader *r, const char *line)
{
	static const char *const known[] = { "Exporter",    "Labels", "Push",
					     "RemoteWrite", "OTLP",   "Profiles" };
	size_t n = strlen(line);

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++) {
		if (strlen(known[i]) != n - 2 || strncmp(line + 1, known[i], n - 2) ||
		    line[n - 1] != ']')
			continue;
		strcpy(r->section, known[i]);
		if (!strcmp(known[i], "Labels") && !r->labels)
			r->config->labels.count = 0;
		r->labels |= !strcmp(known[i], "Labels");
		return 0;
	}
	snprintf(r->error.text, sizeof(r->error.text),
		 "there is no section \"%.60s\"; should be [Exporter], [Labels], [Push], "
		 "[RemoteWrite], "
		 "[OTLP] or [Profiles]",
		 line);
	return -EINVAL;
}

static int parse_line(void *ctx, char *line)
{
	struct config_reader *r = ctx;
	char *value;

	if (*line == '[')
		return select_section(r, line);
	if (!*r->section || !strchr(line, '=')) {
		snprintf(r->error.text, sizeof(r->error.text), "\"%.60s\" should be %s", line,
			 *r->section ? "Key=value" : "below [Exporter] or another section");
		return -EINVAL;
	}
	value = ini_split_line(line);
	return exporter_config_set(r->config, r->section, line, value, &r->error);
}

int exporter_config_read(struct exporter_config *config, const char *path,
			 struct exporter_config_error *ret_error)
{
	struct exporter_config read = *config;
	struct config_reader reader = { .config = &read };
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

struct config_files {
	struct exporter_config config;
	struct exporter_config_error *error;
};

static int read_config_file(void *ctx, const char *path)
{
	struct config_files *reading = ctx;

	return exporter_config_read(&reading->config, path, reading->error);
}

int exporter_config_read_all(struct exporter_config *config, const char *path, bool must,
			     struct exporter_config_error *ret_error)
{
	struct config_files reading = { .config = *config, .error = ret_error };
	int r = ini_read_files(path, must, "speprof-exporter.conf", read_config_file, &reading,
			       ret_error->file, sizeof(ret_error->file));

	if (r >= 0)
		*config = reading.config;
	return r;
}
