// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The two text formats of metrics, Prometheus and OpenMetrics, and the choice between them for a
 * request.
 */
#include "expose.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "buffer.h"
#include "expose-proto.h"

/*
 * Maximum number of bytes in a text format. The line of each bucket repeats all labels, so text is
 * larger than protobuf. EXPORTER_SERIES series with labels of a kilobyte fit. MemoryMax= of the
 * unit includes it.
 */
#define BOUND (64U << 20)

static const char *const types[EXPOSE_FORMATS] = {
	[EXPOSE_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	[EXPOSE_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
	[EXPOSE_PROTOBUF] =
		"application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
		"encoding=delimited",
};

const char *expose_get_content_type(enum expose_format format)
{
	return types[format];
}

/* Return true if @range, @n bytes of an Accept header, contains @word. */
static bool media_range_has(const char *range, size_t n, const char *word)
{
	size_t w = strlen(word);

	for (size_t i = 0; w <= n && i <= n - w; i++)
		if (!strncasecmp(range + i, word, w))
			return true;
	return false;
}

static int media_range_format(const char *range, size_t n, bool native)
{
	if (native && media_range_has(range, n, "application/vnd.google.protobuf") &&
	    media_range_has(range, n, "io.prometheus.client.MetricFamily") &&
	    media_range_has(range, n, "delimited"))
		return EXPOSE_PROTOBUF;
	if (media_range_has(range, n, "application/openmetrics-text"))
		return EXPOSE_OPENMETRICS;
	if (media_range_has(range, n, "text/") || media_range_has(range, n, "*/*"))
		return EXPOSE_TEXT;
	return -1;
}

/* Returns the weight q of a range in thousandths, 1000 if it has none (RFC 9110, 12.4.2). */
static int parse_media_range_quality(const char *range, size_t n)
{
	int quality = 0, unit = 1000;

	for (size_t i = 0; i + 2 < n; i++) {
		if (range[i] != 'q' || range[i + 1] != '=' ||
		    isalnum((unsigned char)range[i ? i - 1 : 0]))
			continue;
		for (i += 2; i < n && (isdigit((unsigned char)range[i]) || range[i] == '.'); i++) {
			if (range[i] == '.')
				continue;
			quality += unit * (range[i] - '0');
			unit /= 10;
		}
		return quality;
	}
	return 1000;
}

enum expose_format expose_negotiate_format(const char *accept, bool native)
{
	int best = EXPOSE_TEXT, quality = 0, format, q;
	size_t n;

	for (; accept && *accept; accept += n) {
		accept += strspn(accept, ", \t");
		n = strcspn(accept, ",");
		format = media_range_format(accept, n, native);
		q = parse_media_range_quality(accept, n);
		if (format < 0 || q <= quality)
			continue;
		best = format;
		quality = q;
	}
	return best;
}

/*
 * Append the value of a label, in which both formats escape backslash, double quote and line feed.
 */
static void add_escaped(struct buffer *b, const char *value)
{
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			buffer_add(b, "\\", 1);
		if (*value == '\n')
			buffer_add(b, "\\n", 2);
		else
			buffer_add(b, value, 1);
	}
}

/* Append the labels. @le: value of the label "le"; NULL: none. */
static void add_labels(struct buffer *b, const struct metric_series *s, const char *le)
{
	if (!s->labels && !le)
		return;
	buffer_add(b, "{", 1);
	for (u32 i = 0; i < s->labels; i++) {
		buffer_printf(b, "%s%s=\"", i ? "," : "", s->label[i].name);
		add_escaped(b, s->label[i].value);
		buffer_add(b, "\"", 1);
	}
	if (le)
		buffer_printf(b, "%sle=\"%s\"", s->labels ? "," : "", le);
	buffer_add(b, "}", 1);
}

/* Append the shortest text that a parser converts back to @value. */
static void add_value(struct buffer *b, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	buffer_printf(b, " %s\n", text);
}

static void add_histogram(struct buffer *b, const struct metric_series *s)
{
	u64 counts[CLASSIC_BUCKETS];
	char le[16] = "+Inf";

	series_to_classic_buckets(s->histogram, counts);
	for (unsigned int i = 0; i < CLASSIC_BUCKETS; i++) {
		if (i < CLASSIC_BUCKETS - 1)
			snprintf(le, sizeof(le), "%" PRIu32 ".0", series_bounds[i]);
		else
			strcpy(le, "+Inf");
		buffer_printf(b, "%s_bucket", s->family->name);
		add_labels(b, s, le);
		buffer_printf(b, " %" PRIu64 "\n", counts[i]);
	}
	buffer_printf(b, "%s_sum", s->family->name);
	add_labels(b, s, NULL);
	buffer_printf(b, " %" PRIu64 "\n%s_count", s->histogram->sum, s->family->name);
	add_labels(b, s, NULL);
	buffer_printf(b, " %" PRIu64 "\n", counts[CLASSIC_BUCKETS - 1]);
}

static void add_family_header(struct buffer *b, const struct series_family *f,
			      enum expose_format format)
{
	static const char *const names[] = {
		[SERIES_COUNTER] = "counter",
		[SERIES_GAUGE] = "gauge",
		[SERIES_HISTOGRAM] = "histogram",
	};
	bool open = format == EXPOSE_OPENMETRICS;
	/* In text format 0.0.4 the suffix is a part of the family's name. */
	const char *suffix = !open && f->type == SERIES_COUNTER ? "_total" : "";

	buffer_printf(b, "# HELP %s%s ", f->name, suffix);
	/*
	 * OpenMetrics escapes quotes in HELP; a parser of text format 0.0.4 would keep the
	 * backslash.
	 */
	if (open)
		add_escaped(b, f->help);
	else
		buffer_add(b, f->help, strlen(f->help));
	buffer_printf(b, "\n# TYPE %s%s %s\n", f->name, suffix, names[f->type]);
	if (open && *f->unit)
		buffer_printf(b, "# UNIT %s %s\n", f->name, f->unit);
}

static int expose_text(const struct series_set *set, enum expose_format format, char **ret_data,
		       size_t *ret_size)
{
	const struct series_family *family = NULL;
	struct buffer b = { .bound = BOUND };
	int r;

	for (u32 i = 0; i < set->count && !b.error; i++) {
		const struct metric_series *s = &set->series[i];

		if (!family || s->family != family)
			add_family_header(&b, s->family, format);
		family = s->family;
		if (s->histogram) {
			add_histogram(&b, s);
			continue;
		}
		buffer_printf(&b, "%s%s", family->name,
			      family->type == SERIES_COUNTER ? "_total" : "");
		add_labels(&b, s, NULL);
		add_value(&b, s->value);
	}
	if (format == EXPOSE_OPENMETRICS)
		buffer_printf(&b, "# EOF\n");
	if (b.error < 0) {
		r = b.error;
		buffer_deinit(&b);
		return r;
	}
	*ret_data = b.data;
	*ret_size = b.size;
	return 0;
}

int expose_series(const struct series_set *set, enum expose_format format, char **ret_data,
		  size_t *ret_size)
{
	if (format == EXPOSE_PROTOBUF)
		return expose_protobuf(set, ret_data, ret_size);
	return expose_text(set, format, ret_data, ret_size);
}
