/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exporter's configuration: speprof-exporter.conf, drop-ins, a credential, and --set. */
#ifndef SPEPROF_EXPORTER_CONFIG_H
#define SPEPROF_EXPORTER_CONFIG_H

#include "labels.h"

#define EXPORTER_TEXT 256

/* The default socket, also that of speprof-exporter.socket. */
#define EXPORTER_LISTEN "/run/speprof-exporter.socket"

/* KiB that the queues of all receivers may have together: MemoryMax= of the unit allows for them. */
#define EXPORTER_QUEUES 65536

/* Series at most: a request of 16 MiB holds as many of 335 bytes each. */
#define EXPORTER_SERIES 50000

/**
 * struct exporter_config - all settings
 * @labels: [Labels], and Allow= and Deny= of [Exporter]
 * @listen: a path or ADDRESS:PORT, used if systemd passes no socket; "" for none
 * @interval: seconds between two queries of the daemon
 * @max_series: of this machine, each bucket counted
 * @latencies: latencies that containers have histograms of, as bits
 * @native: offer native histograms to scrapers, in protobuf
 * @write_url: of remote write; "" for none
 * @write_interval: seconds between two requests
 * @write_native: send native histograms
 * @otlp_url: of OTLP; "" for that of the environment
 * @otlp_interval: seconds between two requests; 0 for that of the environment
 * @profile_url: where profiles go; "" for nowhere
 * @profile_seconds: length of a profile
 * @queue: KiB of requests that may wait, for each receiver
 * @timeout: seconds of each request
 * @certificates: path of a file with certificate authorities; "" for the system's
 * @host: value of the label "instance" of what is pushed; "" for the host's name
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

/**
 * exporter_config_default() - set all defaults
 * @config: overwritten
 */
void exporter_config_default(struct exporter_config *config);

/**
 * struct exporter_config_error - what is wrong with a configuration
 * @file: path of the file; set by exporter_config_read_all()
 * @line: number of the line; 0 if the file cannot be read
 * @text: what is wrong, and what would be right
 */
struct exporter_config_error {
	char file[512];
	unsigned int line;
	char text[320];
};

/**
 * exporter_config_set() - change one setting
 * @config: the configuration
 * @section: name without brackets
 * @key: name of the setting, or of a label in [Labels]
 * @value: its text
 * @ret_error: on failure, @text
 *
 * Return: 0 or -EINVAL.
 */
int exporter_config_set(struct exporter_config *config, const char *section, const char *key,
			const char *value, struct exporter_config_error *ret_error);

/**
 * exporter_config_read() - change the settings that a file has
 * @config: the configuration; untouched on failure
 * @path: of the file
 * @ret_error: on failure, @line and @text
 *
 * Return: 0; -EINVAL for a wrong line; or the errno of opening and reading.
 */
int exporter_config_read(struct exporter_config *config, const char *path,
			 struct exporter_config_error *ret_error);

/**
 * exporter_config_read_all() - change the settings that any file of the configuration has
 * @config: the configuration; untouched on failure
 * @path: of the main file; drop-ins are those of the folder @path.d, sorted by name; the credential
 *	speprof-exporter.conf comes last
 * @must: fail if @path does not exist
 * @ret_error: on failure, all of it
 *
 * Return: as exporter_config_read().
 */
int exporter_config_read_all(struct exporter_config *config, const char *path, bool must,
			     struct exporter_config_error *ret_error);

#endif
