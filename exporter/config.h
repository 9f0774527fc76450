/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exporter's configuration: speprof-exporter.conf(5), and what options override. */
#ifndef SPEPROF_EXPORTER_CONFIG_H
#define SPEPROF_EXPORTER_CONFIG_H

#include "labels.h"

#define EXPORTER_TEXT 256

/* The default socket, also that of speprof-exporter.socket. */
#define EXPORTER_LISTEN "/run/speprof-exporter.socket"

/* KiB that the queues of all receivers may have: the unit's MemoryMax= has room for them. */
#define EXPORTER_QUEUES 65536

/* Series that a request of 16 MiB has room for, at 335 bytes each. */
#define EXPORTER_SERIES 50000

/**
 * struct exporter_config - all settings with their defaults
 * @listen: a path or ADDRESS:PORT, where systemd hands over no socket; "" for none
 * @interval: seconds between two looks at the daemon
 * @max_series: of this host, buckets included
 * @latencies: which of them containers have histograms of, as bits
 * @native: whether native histograms are offered to scrapers, in protobuf
 * @write_url, @otlp_url, @profile_url: "" for none
 * @write_interval, @otlp_interval: seconds, the latter 0 where it was not set; @profile_seconds: those that a profile lasts
 * @queue: bytes of requests that may wait, for each of these
 * @timeout: seconds, of each request
 * @certificates: of authorities, for these; "" for the system's
 * @host: the value of the label "instance" of what is pushed; "" for the host's name
 */
struct exporter_config {
	struct labels labels;
	char listen[EXPORTER_TEXT];
	u32 interval;
	u32 max_series;
	u32 latencies;
	bool native;
	char write_url[EXPORTER_TEXT];
	u32 write_interval;
	bool write_native;
	char otlp_url[EXPORTER_TEXT];
	u32 otlp_interval;
	char profile_url[EXPORTER_TEXT];
	u32 profile_seconds;
	u32 queue;
	u32 timeout;
	char certificates[EXPORTER_TEXT];
	char host[EXPORTER_TEXT];
};

void exporter_config_default(struct exporter_config *config);

/** struct exporter_config_error - @line is 0 if it is the file itself; @file by exporter_config_read_all() */
struct exporter_config_error {
	char file[512];
	unsigned int line;
	char text[320];
};

/**
 * exporter_config_set() - one setting, "Section.Key" as options have it
 *
 * Return: 0, or -EINVAL with what would be right in @ret_error.
 */
int exporter_config_set(struct exporter_config *config, const char *section, const char *key,
			const char *value, struct exporter_config_error *ret_error);

/**
 * exporter_config_read() - a file over @config
 *
 * Return: 0; -ENOENT; -EINVAL for a wrong line; other negative errno.
 */
int exporter_config_read(struct exporter_config *config, const char *path,
			 struct exporter_config_error *ret_error);

/**
 * exporter_config_read_all() - @path, "@path.d" / "*.conf" and the credential
 * speprof-exporter.conf, by ini_read_files()
 * @must: whether @path must be there
 *
 * Return: as exporter_config_read(); all of it or nothing.
 */
int exporter_config_read_all(struct exporter_config *config, const char *path, bool must,
			     struct exporter_config_error *ret_error);

#endif
