// SPDX-License-Identifier: LGPL-2.1-or-later
/* If the output is too large for a format, the result is an error and no part of the output. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>

#include "expose.h"

/* Fill @set with all possible labels at their maximum length, which gives lines of 3 KiB. */
static void add_long_labels(struct series_set *set, const char *value)
{
	static const struct series_family family = { "test", "", "Of a test.", SERIES_COUNTER };
	static char names[LABELS_MAX][8];

	for (u32 i = 0; i < set->count; i++) {
		struct metric_series *s = &set->series[i];

		*s = (struct metric_series){ .family = &family, .labels = LABELS_MAX };
		for (u32 k = 0; k < LABELS_MAX; k++) {
			snprintf(names[k], sizeof(names[k]), "label%u", k);
			s->label[k] = (struct series_label){ names[k], value };
		}
	}
}

static void test_too_large_output_is_refused(void **state)
{
	static const struct {
		enum expose_format format;
		u32 fits;
		u32 too_many;
	} rows[] = {
		{ EXPOSE_TEXT, 20000, 24000 },
		{ EXPOSE_OPENMETRICS, 20000, 24000 },
		{ EXPOSE_PROTOBUF, 5000, 6000 },
	};
	struct series_set set = { .series = calloc(24000, sizeof(*set.series)), .capacity = 24000 };
	char value[LABEL_SIZE], *data, none;
	size_t size;

	(void)state;
	assert_non_null(set.series);
	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("format %u", rows[i].format);
		set.count = rows[i].fits;
		add_long_labels(&set, value);
		assert_row(expose_series(&set, rows[i].format, &data, &size) == 0);
		assert_row(size > 5000 * 3000);
		free(data);
		set.count = rows[i].too_many;
		add_long_labels(&set, value);
		data = &none;
		size = 1;
		assert_row(expose_series(&set, rows[i].format, &data, &size) == -E2BIG);
		assert_row(data == &none && size == 1);
	}
	free(set.series);
}

static void test_format_negotiation(void **state)
{
	static const struct {
		const char *accept;
		bool native;
		enum expose_format format;
	} rows[] = {
		{ NULL, true, EXPOSE_TEXT },
		{ "", true, EXPOSE_TEXT },
		{ "*/*", true, EXPOSE_TEXT },
		{ "image/png", true, EXPOSE_TEXT },
		/* Accept headers of Prometheus 2.42, without and with native histograms. */
		{ "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
		  "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", true, EXPOSE_OPENMETRICS },
		{ "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
		  "encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5",
		  true, EXPOSE_PROTOBUF },
		{ "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
		  "encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,text/plain;q=0.5",
		  false, EXPOSE_OPENMETRICS },
		{ "text/plain, application/openmetrics-text;q=0.2", true, EXPOSE_TEXT },
		{ "text/plain;q=0, application/openmetrics-text;q=0.001", true, EXPOSE_OPENMETRICS },
		{ ",,,;q=,q", true, EXPOSE_TEXT },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("%s", rows[i].accept ? rows[i].accept : "none");
		assert_row(expose_negotiate_format(rows[i].accept, rows[i].native) ==
			   rows[i].format);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format_negotiation),
		cmocka_unit_test(test_too_large_output_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
