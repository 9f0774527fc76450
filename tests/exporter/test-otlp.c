// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the environment variables of OpenTelemetry, and the replies of a collector. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>

#include "otlp.h"

static int setup(void **state)
{
	(void)state;
	clearenv();
	return 0;
}

static const char *find_attribute(const struct otlp_config *c, const char *name)
{
	for (unsigned int i = 0; i < c->attribute_count; i++)
		if (!strcmp(c->attributes[i].name, name))
			return c->attributes[i].value;
	return NULL;
}

static void test_resource_attributes(void **state)
{
	struct otlp_config c;
	char why[160];

	(void)state;
	setenv("OTEL_RESOURCE_ATTRIBUTES", "a=1%2C%3D2, b = x%20y\t,,%63=%C3%A4%01f,a=last,empty=", 1);
	setenv("OTEL_SERVICE_NAME", "spe", 1);
	/* A control character could forge a line of the journal, so it is rejected. */
	assert_int_equal(otlp_config_read(&c, "", why, sizeof(why)), -EINVAL);
	setenv("OTEL_RESOURCE_ATTRIBUTES", "a=1%2C%3D2, b = x%20y\t,,%63=%C3%A4%ff,a=last,empty=", 1);
	assert_return_code(otlp_config_read(&c, "", why, sizeof(why)), 0);
	assert_int_equal(c.attribute_count, 4);
	assert_string_equal(find_attribute(&c, "a"), "last");
	assert_string_equal(find_attribute(&c, "b"), "x y");
	/*
	 * Bytes that are not UTF-8 are escaped, because a collector would reject the whole request
	 * for them.
	 */
	assert_string_equal(find_attribute(&c, "c"), "\xc3\xa4\\xff");
	assert_string_equal(find_attribute(&c, "empty"), "");
	assert_string_equal(c.service, "spe");
}

static void test_invalid_variables_are_refused(void **state)
{
	static char longest[300];
	static const struct {
		const char *name;
		const char *value;
		const char *says;
	} rows[] = {
		{ "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta", "cumulative" },
		{ "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "LowMemory", "cumulative" },
		{ "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "explicit_bucket_histogram",
		  "base2_exponential" },
		{ "OTEL_RESOURCE_ATTRIBUTES", "novalue", "NAME=VALUE" },
		{ "OTEL_RESOURCE_ATTRIBUTES", "=x", "NAME=VALUE" },
		{ "OTEL_RESOURCE_ATTRIBUTES", "a=50%", "NAME=VALUE" },
		{ "OTEL_RESOURCE_ATTRIBUTES", "a=%zz", "NAME=VALUE" },
		{ "OTEL_RESOURCE_ATTRIBUTES", longest, "NAME=VALUE" },
		{ "OTEL_SERVICE_NAME", longest, "127" },
		{ "OTEL_EXPORTER_OTLP_CERTIFICATE", longest, "255" },
	};
	struct otlp_config c;
	char why[200], many[400] = "";

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[1] = '=';
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s=%.40s", rows[i].name, rows[i].value);
		setenv(rows[i].name, rows[i].value, 1);
		assert_row(otlp_config_read(&c, "", why, sizeof(why)) == -EINVAL);
		assert_row(strstr(why, rows[i].says) && !strncmp(why, rows[i].name, 17));
		unsetenv(rows[i].name);
	}
	for (unsigned int i = 0; i < OTLP_ATTRIBUTES + 1; i++)
		sprintf(many + strlen(many), "k%u=v,", i);
	setenv("OTEL_RESOURCE_ATTRIBUTES", many, 1);
	assert_int_equal(otlp_config_read(&c, "", why, sizeof(why)), -EINVAL);
	*strstr(many, "k32") = 0;
	setenv("OTEL_RESOURCE_ATTRIBUTES", many, 1);
	setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "Cumulative", 1);
	setenv("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
	       "base2_exponential_bucket_histogram", 1);
	assert_return_code(otlp_config_read(&c, "", why, sizeof(why)), 0);
	assert_int_equal(c.attribute_count, OTLP_ATTRIBUTES);
}

/* Headers in the format of W3C baggage: blanks around names and values are removed. */
static void test_header_variables(void **state)
{
	static const struct {
		const char *list;
		const char *first;
		unsigned int count;
	} rows[] = {
		{ "api-key = abc", "api-key: abc", 1 },
		{ " \ta\t=\t b%20c ,,\td=e", "a: b c", 2 },
		{ "a=%20b", "a:  b", 1 },
		{ "a=", "a: ", 1 },
		{ " = b", NULL, 0 },
		{ "a b=c", NULL, 0 },
		{ "a:=c", NULL, 0 },
		{ "a%0d=c", NULL, 0 },
		{ "a", NULL, 0 },
	};
	struct otlp_config c;
	char why[160];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].list);
		setenv("OTEL_EXPORTER_OTLP_HEADERS", rows[i].list, 1);
		if (!rows[i].first) {
			assert_row(otlp_config_read(&c, "", why, sizeof(why)) == -EINVAL);
			continue;
		}
		assert_return_code(otlp_config_read(&c, "", why, sizeof(why)), 0);
		assert_row(c.header_count == rows[i].count);
		assert_string_equal(c.headers[0], rows[i].first);
	}
}

/*
 * If no endpoint is set, OTLP is off. The configuration file takes precedence over the environment.
 */
static void test_endpoint_precedence(void **state)
{
	struct otlp_config c;
	char why[160];

	(void)state;
	assert_null(otlp_config_find_variable());
	setenv("OTEL_METRIC_EXPORT_INTERVAL", "", 1);
	setenv("OTELX", "1", 1);
	assert_null(otlp_config_find_variable());
	setenv("OTEL_METRIC_EXPORT_INTERVAL", "abc", 1);
	assert_string_equal(otlp_config_find_variable(), "OTEL_METRIC_EXPORT_INTERVAL=abc");
	assert_false(otlp_config_is_set());
	unsetenv("OTEL_METRIC_EXPORT_INTERVAL");
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://x", 1);
	assert_true(otlp_config_is_set());
	assert_int_equal(otlp_config_read(&c, "", why, sizeof(why)), -EINVAL);
	assert_return_code(otlp_config_read(&c, "http://y/z", why, sizeof(why)), 0);
	assert_string_equal(c.url, "http://y/z");
	setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://m/", 1);
	assert_return_code(otlp_config_read(&c, "", why, sizeof(why)), 0);
	assert_string_equal(c.url, "http://m/");
}

/* A collector would rename a gauge with the unit "1". */
static void test_gauge_has_no_unit_one(void **state)
{
	static const struct series_family families[] = {
		{ "a", "", "", SERIES_GAUGE }, { "b", "", "", SERIES_COUNTER },
		{ "c", "seconds", "", SERIES_COUNTER }, { "d", "bytes", "", SERIES_GAUGE },
		{ "e", "cycles", "", SERIES_GAUGE },
	};
	/* Field 3 of a metric follows its name and an empty description. */
	static const char *const units[] = { "\x1a\x00", "\x1a\x00", "\x1a\x01s", "\x1a\x02" "By",
					     "\x1a\x07{cycle}" };
	static const size_t sizes[] = { 2, 2, 3, 4, 9 };
	struct metric_series series[ARRAY_SIZE(families)];
	struct series_set set = { .series = series, .count = ARRAY_SIZE(series) };
	struct otlp_config c = { 0 };
	char metric[32], *data;
	size_t size;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(families); i++)
		series[i] = (struct metric_series){ .family = &families[i] };
	assert_return_code(otlp_encode(&set, &c, "HOST", 2, &data, &size), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(families); i++) {
		test_row("%s", families[i].name);
		/* Write a metric with the name "?", an empty description and a unit. */
		memcpy(metric, "\x0a\x01?\x12\x00", 5);
		metric[2] = families[i].name[0];
		memcpy(metric + 5, units[i], sizes[i]);
		assert_row(memmem(data, size, metric, 5 + sizes[i]));
	}
	free(data);
}

/* Each key of the resource appears once, even if several sources set it. */
static void test_resource_keys_are_unique(void **state)
{
	static const struct {
		const char *attributes;
		const char *service;
		const char *has;
		const char *lacks;
	} rows[] = {
		{ "", "", "speprof", "mine" },
		{ "service.name=mine", "", "mine", "NONE" },
		{ "service.name=mine", "theirs", "theirs", "mine" },
		{ "host.name=mine", "", "mine", "NONE" },
	};
	const struct series_set none = { 0 };
	struct otlp_config c;
	char why[160], *data;
	const char *name;
	size_t size;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s, %s", rows[i].attributes, rows[i].service);
		setenv("OTEL_RESOURCE_ATTRIBUTES", rows[i].attributes, 1);
		setenv("OTEL_SERVICE_NAME", rows[i].service, 1);
		assert_return_code(otlp_config_read(&c, "", why, sizeof(why)), 0);
		assert_return_code(otlp_encode(&none, &c, "HOST", 2, &data, &size), 0);
		assert_row(memmem(data, size, rows[i].has, strlen(rows[i].has)));
		assert_row(!memmem(data, size, rows[i].lacks, strlen(rows[i].lacks)));
		name = memmem(data, size, "service.name", 12);
		assert_row(name && !memmem(name + 12, size - (size_t)(name + 12 - data), "service.name", 12));
		name = memmem(data, size, "host.name", 9);
		assert_row(name && !memmem(name + 9, size - (size_t)(name + 9 - data), "host.name", 9));
		free(data);
	}
}

static void test_collector_replies(void **state)
{
	static const u8 partial[] = "\x0a\x09\x08\x83\x02\x12\x04no\n!";
	u8 bytes[sizeof(partial)];
	unsigned int seed = 1;
	char why[8];

	(void)state;
	assert_int_equal(otlp_count_rejected(NULL, 0, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	assert_int_equal(otlp_count_rejected(partial, sizeof(partial) - 1, why, sizeof(why)), 259);
	assert_string_equal(why, "no\\x0a!");
	/* a negative number, a length beyond the end, a group, and an HTML page */
	assert_int_equal(otlp_count_rejected(
				 (const u8 *)"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
				 13, why, sizeof(why)),
			 0);
	/* The numbers in several replies cannot overflow the counter. */
	assert_int_equal(
		otlp_count_rejected((const u8 *)"\x0a\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
				    12, why, sizeof(why)),
		0);
	assert_int_equal(otlp_count_rejected((const u8 *)"\x0a\x7f\x08\x01", 4, why, sizeof(why)),
			 0);
	assert_int_equal(otlp_count_rejected((const u8 *)"\x0b\x08\x01", 3, why, sizeof(why)), 0);
	assert_int_equal(otlp_count_rejected((const u8 *)"<html>", 6, why, sizeof(why)), 0);
	for (unsigned int round = 0; round < 20000; round++) {
		memcpy(bytes, partial, sizeof(bytes));
		bytes[(size_t)rand_r(&seed) % sizeof(bytes)] = (u8)rand_r(&seed);
		otlp_count_rejected(bytes, (size_t)rand_r(&seed) % sizeof(bytes), why, sizeof(why));
		assert_true(strlen(why) < sizeof(why));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_resource_attributes, setup),
		cmocka_unit_test_setup(test_invalid_variables_are_refused, setup),
		cmocka_unit_test_setup(test_header_variables, setup),
		cmocka_unit_test_setup(test_endpoint_precedence, setup),
		cmocka_unit_test(test_gauge_has_no_unit_one),
		cmocka_unit_test_setup(test_resource_keys_are_unique, setup),
		cmocka_unit_test(test_collector_replies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
