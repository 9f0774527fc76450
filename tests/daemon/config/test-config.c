// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_text(struct config *config, const char *text, struct config_error *error)
{
	char path[] = "/tmp/speprof-config-XXXXXX";
	int fd = mkstemp(path), r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	r = config_read_file(config, path, error);
	unlink(path);
	return r;
}

static void test_all_settings(void **state)
{
	struct config c = CONFIG_DEFAULT;
	struct config_error error;

	(void)state;
	assert_int_equal(read_text(&c,
				   "# a comment\n\n[Sampling]\n Source = emulated \nEmulate=yes\n"
				   "SamplesPerSecond=997\nJitter=off\nKernel=0\nUser=true\nIOUring=no\n"
				   "Contexts=no\nPhysicalAddresses=yes\nTaskEvents=perf\nMemoryBudget=48M\nWorkers=16\n"
				   "Models=chase=pointer_chase stream=stream\n; end",
				   &error), 0);
	assert_int_equal(c.source, CONFIG_SOURCE_EMULATED);
	assert_true(c.emulate);
	assert_int_equal(c.samples_per_second, 997);
	assert_false(c.jitter);
	assert_false(c.kernel);
	assert_true(c.user);
	assert_false(c.io_uring);
	assert_false(c.contexts);
	assert_true(c.physical);
	assert_int_equal(c.task_events, TASK_EVENTS_PERF);
	assert_int_equal(c.memory_budget, 48 << 20);
	assert_int_equal(c.workers, 16);
	assert_int_equal(config_set_setting(&c, "Workers", "auto", &error), 0);
	assert_int_equal(c.workers, 0);
	assert_int_equal(config_set_setting(&c, "Workers", "17", &error), -EINVAL);
	assert_int_equal(config_set_setting(&c, "Workers", "0", &error), -EINVAL);
	assert_string_equal(c.models, "chase=pointer_chase stream=stream");
}

/*
 * Check that an error contains the number of the wrong line and the accepted values. No setting of
 * the file is applied.
 */
static void test_wrong_lines(void **state)
{
	static const struct {
		const char *text;
		unsigned int line;
		const char *says;
	} rows[] = {
		{ "[Sampling]\nEmulate=perhaps\n", 2, "Emulate=perhaps: should be yes or no" },
		{ "[Sampling]\nEmulate=yes\n\nSource=spe\n", 4, "Source=spe: should be auto, module, perf or emulated" },
		{ "[Sampling]\nTaskEvents=bpf\n", 2, "TaskEvents=bpf: should be auto, perf or proc" },
		{ "[Sampling]\nSamplesPerSecond=0\n", 2, "SamplesPerSecond=0: should be a number from 1 to 100000" },
		{ "[Sampling]\nSamplesPerSecond=-1\n", 2, "should be a number" },
		{ "[Sampling]\nSamplesPerSecond=99999999999999999999\n", 2, "should be a number" },
		{ "[Sampling]\nSamplesPerSecond=10k\n", 2, "should be a number" },
		{ "[Sampling]\nMemoryBudget=\n", 2, "should be a number of bytes, or one with K, M or G" },
		{ "[Sampling]\nMemoryBudget=64MB\n", 2, "should be a number of bytes" },
		{ "[Sampling]\nMemoryBudget=99999999999G\n", 2, "should be a number of bytes" },
		{ "[Sampling]\nEmulat=yes\n", 2, "there is no setting \"Emulat\"" },
		{ "Emulate=yes\n", 1, "below [Sampling]" },
		{ "[Sampling]\nEmulate\n", 2, "should be Key=value" },
		{ "[Smapling]\n", 1, "there is no section \"[Smapling]\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config c = CONFIG_DEFAULT;
		struct config_error error = { 0 };

		test_row("row %zu", i);
		assert_row(read_text(&c, rows[i].text, &error) == -EINVAL);
		assert_row(error.line == rows[i].line);
		assert_row(strstr(error.text, rows[i].says));
		assert_row(!c.emulate && c.samples_per_second == 1000);
	}
}

/* The bus reports the settings in use, in the syntax of the file. Other texts are rejected. */
static void test_settings_as_text(void **state)
{
	static const char *const wrong[] = {
		"\xff",	    "web-\xc3",     "\xc3(",	     "\x80",	       "\xc0\xaf",
		"\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80",
	};
	static const char *const right[] = { "", "web-*", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
					     "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf" };
	struct config c = CONFIG_DEFAULT;
	struct config_error error;
	char filter[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		test_row("wrong %zu", i);
		assert_row(config_set_setting(&c, "Containers", wrong[i], &error) == -EINVAL);
		assert_row(strstr(error.text, "UTF-8"));
		snprintf(filter, sizeof(filter), "process == \"%s\"", wrong[i]);
		assert_row(config_set_setting(&c, "Filter", filter, &error) == -EINVAL);
	}
	assert_true(!*c.containers && !*c.filter);
	for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
		test_row("right %zu", i);
		assert_row(config_set_setting(&c, "Containers", right[i], &error) == 0);
		snprintf(filter, sizeof(filter), "process == \"%s\"", right[i]);
		assert_row(config_set_setting(&c, "Filter", filter, &error) == 0);
	}
}

static void test_parse_overhead(void **state)
{
	static const struct {
		const char *value;
		s64 parts; /* -1: the value is refused */
	} rows[] = {
		{ "1%", 1000 },	    { "0.5%", 500 },	{ "0.125%", 125 }, { "50%", 50000 },
		{ "no", 0 },	    { "12.5%", 12500 }, { "0.001%", 1 },   { "0%", -1 },
		{ "0.0001%", -1 },  { "50.001%", -1 },	{ "1", -1 },	   { "%", -1 },
		{ "1.2.3%", -1 },   { "-1%", -1 },	{ "1 %", -1 },	   { "", -1 },
		{ "99999999999999%", -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config c = CONFIG_DEFAULT;
		struct config_error error = { 0 };
		int r = config_set_setting(&c, "Overhead", rows[i].value, &error);

		test_row("Overhead=%s", rows[i].value);
		assert_row(r == (rows[i].parts < 0 ? -EINVAL : 0));
		assert_row(c.overhead == (rows[i].parts < 0 ? 1000 : rows[i].parts));
		assert_row(!r || strstr(error.text, "should be a percentage"));
	}
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A later file overrides an earlier one. A wrong line in any file leaves all settings unchanged. */
static void test_later_file_overrides(void **state)
{
	char folder[] = "/tmp/speprof-config-XXXXXX", path[64], drop_ins[80], command[128];
	struct config c = CONFIG_DEFAULT;
	struct config_error error = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/speprofd.conf", folder);
	snprintf(drop_ins, sizeof(drop_ins), "%s.d", path);
	assert_int_equal(config_read_files(&c, path, true, &error), -ENOENT);
	assert_string_equal(error.file, path);
	assert_int_equal(config_read_files(&c, path, false, &error), 0);
	write_file(folder, "speprofd.conf", "[Sampling]\nSamplesPerSecond=10\nJitter=no\n");
	assert_int_equal(mkdir(drop_ins, 0700), 0);
	write_file(drop_ins, "b.conf", "[Sampling]\nSamplesPerSecond=30\n");
	write_file(drop_ins, "a.conf", "[Sampling]\nSamplesPerSecond=20\nKernel=no\n");
	write_file(drop_ins, "c.conf.bak", "[Sampling]\nSamplesPerSecond=40\n");
	assert_int_equal(config_read_files(&c, path, true, &error), 0);
	assert_int_equal(c.samples_per_second, 30);
	assert_false(c.jitter || c.kernel);
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", drop_ins, 1), 0);
	write_file(drop_ins, "speprofd.conf", "[Sampling]\nSamplesPerSecond=50\n");
	assert_int_equal(config_read_files(&c, path, true, &error), 0);
	assert_int_equal(c.samples_per_second, 50);
	write_file(drop_ins, "b.conf", "[Sampling]\nUser=no\nJitter=perhaps\n");
	assert_int_equal(config_read_files(&c, path, true, &error), -EINVAL);
	assert_int_equal(error.line, 3);
	assert_non_null(strstr(error.file, "/speprofd.conf.d/b.conf"));
	assert_true(c.user && c.samples_per_second == 50);
	unsetenv("CREDENTIALS_DIRECTORY");
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void test_missing_file(void **state)
{
	struct config c = CONFIG_DEFAULT;
	struct config_error error;

	(void)state;
	assert_int_equal(config_read_file(&c, "/nonexistent/speprofd.conf", &error), -ENOENT);
	assert_int_equal(error.line, 0);
	assert_non_null(strstr(error.text, "No such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_settings),	     cmocka_unit_test(test_wrong_lines),
		cmocka_unit_test(test_settings_as_text),     cmocka_unit_test(test_parse_overhead),
		cmocka_unit_test(test_later_file_overrides), cmocka_unit_test(test_missing_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
