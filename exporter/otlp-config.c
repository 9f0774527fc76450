// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read the environment variables of OpenTelemetry; those for metrics have precedence. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "otlp.h"
#include "util/escape.h"

/*
 * Return OTEL_EXPORTER_OTLP_METRICS_@name, else OTEL_EXPORTER_OTLP_@name; NULL if both are empty.
 */
static const char *find_variable(const char *name)
{
	char key[64];
	const char *value;

	snprintf(key, sizeof(key), "OTEL_EXPORTER_OTLP_METRICS_%s", name);
	value = getenv(key);
	if (value && *value)
		return value;
	snprintf(key, sizeof(key), "OTEL_EXPORTER_OTLP_%s", name);
	value = getenv(key);
	return value && *value ? value : NULL;
}

static int parse_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Decode percent-encoding. Return: 0; -EINVAL if the result does not fit, or has a control
 * character, which could begin another header.
 */
static int percent_decode(char *to, size_t size, const char *from, size_t n)
{
	size_t done = 0;
	int high, low;
	char c;

	for (size_t i = 0; i < n; i++) {
		c = from[i];
		high = c == '%' && n - i > 2 ? parse_hex_digit(from[i + 1]) : -1;
		low = high >= 0 ? parse_hex_digit(from[i + 2]) : -1;
		if (high >= 0 && low >= 0) {
			c = (char)(high * 16 + low);
			i += 2;
		}
		if ((unsigned char)c < ' ' || c == 0x7f || done + 1 >= size)
			return -EINVAL;
		to[done++] = c;
	}
	to[done] = 0;
	return 0;
}

/* Skip the blanks around @text, which W3C Baggage permits. */
static const char *trim_blanks(const char *text, size_t *n)
{
	while (*n && isblank((unsigned char)*text)) {
		text++;
		--*n;
	}
	while (*n && isblank((unsigned char)text[*n - 1]))
		--*n;
	return text;
}

static int decode_header_part(char *to, size_t size, const char *from, size_t n)
{
	from = trim_blanks(from, &n);
	return percent_decode(to, size, from, n);
}

/* Parse a list of the form name=value,name=value. */
static int read_headers(struct otlp_config *c, const char *list)
{
	char name[128], value[380];
	const char *equals;
	size_t n;

	for (; *list; list += n) {
		list += strspn(list, ", \t");
		n = strcspn(list, ",");
		if (!n)
			continue;
		equals = memchr(list, '=', n);
		if (!equals || c->header_count == OTLP_HEADERS)
			return -EINVAL;
		if (decode_header_part(name, sizeof(name), list, (size_t)(equals - list)) < 0 ||
		    decode_header_part(value, sizeof(value), equals + 1,
				       n - (size_t)(equals + 1 - list)) < 0 ||
		    !*name || strpbrk(name, ": "))
			return -EINVAL;
		snprintf(c->headers[c->header_count++], sizeof(c->headers[0]), "%s: %s", name,
			 value);
	}
	return 0;
}

/* Escape a text. Return: -EINVAL if it does not fit, because escape_string() would truncate it. */
static int escape_whole_text(char *to, size_t size, const char *from)
{
	char all[4 * 256];

	if (strlen(from) >= 256)
		return -EINVAL;
	escape_string(all, sizeof(all), from);
	return snprintf(to, size, "%s", all) >= (int)size ? -EINVAL : 0;
}

/* Return false for a percent sign without two hexadecimal digits. */
static bool is_valid_percent_encoding(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] == '%' && (n - i <= 2 || parse_hex_digit(text[i + 1]) < 0 ||
				       parse_hex_digit(text[i + 2]) < 0))
			return false;
	return true;
}

/* Decode a name or value of an attribute, and escape it. */
static int decode_attribute_part(char *to, size_t size, const char *from, size_t n)
{
	char raw[256];

	from = trim_blanks(from, &n);
	if (!is_valid_percent_encoding(from, n) || percent_decode(raw, sizeof(raw), from, n) < 0)
		return -EINVAL;
	return escape_whole_text(to, size, raw);
}

/* Add an attribute. Of two attributes with the same name, the last one is used. */
static int set_attribute(struct otlp_config *c, const struct otlp_attribute *attribute)
{
	unsigned int at = 0;

	while (at < c->attribute_count && strcmp(c->attributes[at].name, attribute->name))
		at++;
	if (at == OTLP_ATTRIBUTES)
		return -ENOSPC;
	c->attributes[at] = *attribute;
	if (at == c->attribute_count)
		c->attribute_count++;
	return 0;
}

/* Parse a list of the form name=value,name=value. */
static int read_attributes(struct otlp_config *c, const char *list)
{
	struct otlp_attribute a;
	const char *equals;
	size_t n;

	for (; *list; list += n) {
		list += strspn(list, ", \t");
		n = strcspn(list, ",");
		if (!n)
			continue;
		equals = memchr(list, '=', n);
		if (!equals ||
		    decode_attribute_part(a.name, sizeof(a.name), list, (size_t)(equals - list)) <
			    0 ||
		    !*a.name ||
		    decode_attribute_part(a.value, sizeof(a.value), equals + 1,
					  n - (size_t)(equals + 1 - list)) < 0 ||
		    set_attribute(c, &a) < 0)
			return -EINVAL;
	}
	return 0;
}

static int read_seconds(const char *value, u32 *ret)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(value, &end, 10);
	if (errno || end == value || *end || n > 86400000)
		return -EINVAL;
	/* Convert milliseconds to seconds, rounded up. */
	*ret = (u32)(n + 999) / 1000;
	return 0;
}

static int read_url(struct otlp_config *c)
{
	const char *metrics = getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");
	const char *all = getenv("OTEL_EXPORTER_OTLP_ENDPOINT");
	size_t n;
	int r = 0;

	if (metrics && *metrics) {
		r = snprintf(c->url, sizeof(c->url), "%s", metrics);
	} else if (all && *all) {
		n = strlen(all);
		r = snprintf(c->url, sizeof(c->url), "%s%sv1/metrics", all,
			     all[n - 1] == '/' ? "" : "/");
	}
	if (r >= (int)sizeof(c->url))
		return -EINVAL;
	return !*c->url || !strncmp(c->url, "http://", 7) || !strncmp(c->url, "https://", 8) ?
		       0 :
		       -EINVAL;
}

static int set_error(char *why, size_t size, const char *text)
{
	snprintf(why, size, "%s", text);
	return -EINVAL;
}

static int copy_text(char *to, size_t size, const char *from)
{
	return snprintf(to, size, "%s", from ? from : "") >= (int)size ? -EINVAL : 0;
}

/* Refuse settings that this program does not support, instead of ignoring them. */
static int check_unsupported_settings(char *why, size_t size)
{
	const char *temporality = getenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE");
	const char *histogram = getenv("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION");

	if (temporality && *temporality && strcasecmp(temporality, "cumulative"))
		return set_error(
			why, size,
			"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: should be cumulative, "
			"the only one that is supported");
	if (histogram && *histogram && strcasecmp(histogram, "base2_exponential_bucket_histogram"))
		return set_error(
			why, size,
			"OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: should be "
			"base2_exponential_bucket_histogram, the only one that is supported");
	return 0;
}

/* Read the attributes of the resource. */
static int read_resource(struct otlp_config *c, char *why, size_t size)
{
	const char *attributes = getenv("OTEL_RESOURCE_ATTRIBUTES");
	const char *service = getenv("OTEL_SERVICE_NAME");

	if (attributes && read_attributes(c, attributes) < 0)
		return set_error(why, size,
				 "OTEL_RESOURCE_ATTRIBUTES: should be at most 32 of NAME=VALUE, "
				 "separated by "
				 "commas, of at most 127 and 255 bytes, with % as %25");
	if (service && escape_whole_text(c->service, sizeof(c->service), service) < 0)
		return set_error(why, size, "OTEL_SERVICE_NAME: should have at most 127 bytes");
	return 0;
}

static int read_certificate_paths(struct otlp_config *c, char *why, size_t size)
{
	if (copy_text(c->authorities, sizeof(c->authorities), find_variable("CERTIFICATE")) < 0 ||
	    copy_text(c->certificate, sizeof(c->certificate), find_variable("CLIENT_CERTIFICATE")) <
		    0 ||
	    copy_text(c->key, sizeof(c->key), find_variable("CLIENT_KEY")) < 0)
		return set_error(
			why, size,
			"OTEL_EXPORTER_OTLP_CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY: "
			"should "
			"be paths of at most 255 bytes");
	return 0;
}

bool otlp_config_is_set(void)
{
	return find_variable("ENDPOINT");
}

const char *otlp_config_find_variable(void)
{
	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, "OTEL_", 5) && strchr(*e, '=') && strchr(*e, '=')[1])
			return *e;
	return NULL;
}

int otlp_config_read(struct otlp_config *ret_config, const char *url, char *ret_why,
		     size_t why_size)
{
	const char *protocol = find_variable("PROTOCOL"),
		   *compression = find_variable("COMPRESSION");
	const char *headers = find_variable("HEADERS"), *timeout = find_variable("TIMEOUT");
	const char *interval = getenv("OTEL_METRIC_EXPORT_INTERVAL");
	struct otlp_config c = { 0 };
	int r;

	if (protocol && strcmp(protocol, "http/protobuf"))
		return set_error(
			ret_why, why_size,
			"OTEL_EXPORTER_OTLP_PROTOCOL: should be http/protobuf, the only one "
			"that is supported");
	if (compression && strcmp(compression, "gzip") && strcmp(compression, "none"))
		return set_error(ret_why, why_size,
				 "OTEL_EXPORTER_OTLP_COMPRESSION: should be gzip or none");
	c.gzip = compression && !strcmp(compression, "gzip");
	if (*url)
		snprintf(c.url, sizeof(c.url), "%s", url);
	else if (read_url(&c) < 0)
		return set_error(ret_why, why_size,
				 "OTEL_EXPORTER_OTLP_ENDPOINT: should be http://HOST:PORT or "
				 "https://HOST:PORT");
	if (headers && read_headers(&c, headers) < 0)
		return set_error(ret_why, why_size,
				 "OTEL_EXPORTER_OTLP_HEADERS: should be at most 16 of NAME=VALUE, "
				 "separated by commas");
	if (timeout && (read_seconds(timeout, &c.timeout) < 0 || !c.timeout || c.timeout > 300))
		return set_error(ret_why, why_size,
				 "OTEL_EXPORTER_OTLP_TIMEOUT: should be milliseconds, 1 to 300000");
	if (interval && *interval && (read_seconds(interval, &c.interval) < 0 || !c.interval))
		return set_error(ret_why, why_size,
				 "OTEL_METRIC_EXPORT_INTERVAL: should be milliseconds");
	r = check_unsupported_settings(ret_why, why_size);
	if (r >= 0)
		r = read_resource(&c, ret_why, why_size);
	if (r >= 0)
		r = read_certificate_paths(&c, ret_why, why_size);
	if (r >= 0)
		*ret_config = c;
	return r;
}
