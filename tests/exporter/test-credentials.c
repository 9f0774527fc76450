// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test credentials for receivers: none may inject a header. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "credentials.h"

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void test_line_breaks_are_refused(void **state)
{
	static const struct {
		const char *token;
		const char *headers;
		int result;
	} rows[] = {
		{ "abc", "X-Scope-OrgID: team", 0 },
		{ "abc \n\n", "X-Scope-OrgID: team\r\nX-Other: 1\n", 0 },
		{ "abc\nX-Scope-OrgID: other", "X-Scope-OrgID: team", -EINVAL },
		{ "abc\rdef", "X-Scope-OrgID: team", -EINVAL },
		{ "abc\x7f", "X-Scope-OrgID: team", -EINVAL },
		{ "abc", "X-Scope-OrgID: te\x01m", -EINVAL },
		{ "abc", "X-Scope-OrgID:", -EINVAL },
		{ "abc", "Host: x", -EINVAL },
		{ "abc", "Authorization: x", -EINVAL },
	};
	char folder[] = "/tmp/test-secrets.XXXXXX", token[64], headers[64], why[200];
	struct receiver_credentials secrets;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", folder, 1), 0);
	snprintf(token, sizeof(token), "%s/speprof-exporter.otlp-token", folder);
	snprintf(headers, sizeof(headers), "%s/speprof-exporter.otlp-headers", folder);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		test_row("row %zu", i);
		write_text(token, rows[i].token);
		write_text(headers, rows[i].headers);
		assert_row(receiver_credentials_read(&secrets, "otlp", why, sizeof(why)) == rows[i].result);
		assert_row(rows[i].result < 0 || !strcmp(secrets.token, "abc"));
		assert_row(rows[i].result < 0 ||
			   !strcmp(secrets.headers[0], "X-Scope-OrgID: team"));
		receiver_credentials_clear(&secrets);
	}
	unsetenv("CREDENTIALS_DIRECTORY");
	unlink(token);
	unlink(headers);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_breaks_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
