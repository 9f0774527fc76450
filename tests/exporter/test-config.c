// SPDX-License-Identifier: LGPL-2.1-or-later
/* Test the exporter's configuration: files, drop-ins and the credential. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"

static void test_config_files(void **state)
{
	struct exporter_config_error error = { 0 };
	struct exporter_config config;
	char path[] = "/tmp/speprof-exporter-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	(void)state;
	assert_non_null(f);
	fputs("# c\n[Exporter]\nMaxSeries = 900\n[Labels]\npod=pod\nenv=\"x\"\n[RemoteWrite]\nURL=https://a/b\n", f);
	fflush(f);
	exporter_config_set_defaults(&config);
	assert_return_code(exporter_config_read(&config, path, &error), 0);
	assert_int_equal(config.max_series, 900);
	assert_int_equal(config.labels.count, 2);
	assert_string_equal(config.write_url, "https://a/b");
	fputs("IntervalSec=0\n", f);
	fclose(f);
	assert_int_equal(exporter_config_read(&config, path, &error), -EINVAL);
	assert_int_equal(error.line, 9);
	assert_string_equal(error.text, "IntervalSec=0: should be 1 to 3600");
	assert_int_equal(exporter_config_set(&config, "RemoteWrite", "URL", "ftp://x", &error), -EINVAL);
	assert_return_code(exporter_config_set(&config, "Exporter", "MaxSeries", "50000", &error), 0);
	assert_int_equal(exporter_config_set(&config, "Exporter", "MaxSeries", "50001", &error), -EINVAL);
	assert_string_equal(error.text, "MaxSeries=50001: should be 200 to 50000");
	assert_int_equal(exporter_config_set(&config, "Exporter", "Nothing", "1", &error), -EINVAL);
	assert_int_equal(exporter_config_read(&config, "/nonexistent", &error), -ENOENT);
	unlink(path);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/*
 * A drop-in configures a fleet in addition to the file of the package. The credential takes
 * precedence over both.
 */
static void test_drop_ins(void **state)
{
	char folder[] = "/tmp/speprof-exporter-XXXXXX", path[64], drop_ins[80], command[128];
	struct exporter_config_error error = { 0 };
	struct exporter_config config;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.conf", folder);
	snprintf(drop_ins, sizeof(drop_ins), "%s.d", path);
	exporter_config_set_defaults(&config);
	assert_int_equal(exporter_config_read_all(&config, path, true, &error), -ENOENT);
	assert_string_equal(error.file, path);
	assert_int_equal(mkdir(drop_ins, 0700), 0);
	write_file(drop_ins, "b.conf", "[RemoteWrite]\nURL=https://b/\n[Labels]\npod=pod\n");
	write_file(drop_ins, "a.conf", "[RemoteWrite]\nURL=https://a/\nIntervalSec=30\n");
	write_file(drop_ins, "c.conf.bak", "[RemoteWrite]\nURL=https://c/\n");
	/* The drop-in also applies without the file of the package. */
	assert_return_code(exporter_config_read_all(&config, path, false, &error), 0);
	write_file(folder, "x.conf", "[RemoteWrite]\nIntervalSec=20\n[Labels]\nunit=unit\nslice=slice\n");
	assert_return_code(exporter_config_read_all(&config, path, true, &error), 0);
	assert_string_equal(config.write_url, "https://b/");
	assert_int_equal(config.write_interval, 30);
	assert_int_equal(config.labels.count, 1);
	assert_string_equal(config.labels.rules[0].name, "pod");
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", folder, 1), 0);
	write_file(folder, "speprof-exporter.conf", "[RemoteWrite]\nURL=https://secret/\n");
	assert_return_code(exporter_config_read_all(&config, path, true, &error), 0);
	assert_string_equal(config.write_url, "https://secret/");
	write_file(drop_ins, "b.conf", "[RemoteWrite]\nIntervalSec=50\nURL=ftp://b/\n");
	assert_int_equal(exporter_config_read_all(&config, path, true, &error), -EINVAL);
	assert_int_equal(error.line, 3);
	assert_non_null(strstr(error.file, "/x.conf.d/b.conf"));
	assert_int_equal(config.write_interval, 30);
	unsetenv("CREDENTIALS_DIRECTORY");
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config_files),
		cmocka_unit_test(test_drop_ins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
