/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exporter's configuration: speprof-exporter.conf, drop-ins, a credential, and --set */
#ifndef SPEPROF_EXPORTER_CONFIG_H
#define SPEPROF_EXPORTER_CONFIG_H

#include "labels.h"

#define EXPORTER_TEXT 256

/* the default socket, which speprof-exporter.socket uses, too */
#define EXPORTER_LISTEN "/run/speprof-exporter.socket"

/* maximum KiB in the queues of all receivers together; MemoryMax= of the unit includes them */
#define EXPORTER_QUEUES 65536

/* maximum number of series: a request of 16 MiB has space for this number, with 335 bytes each */
#define EXPORTER_SERIES 50000

/**
 * struct exporter_config - all settings
 * @labels: [Labels], and Allow= and Deny= of [Exporter]
 * @listen: a path or ADDRESS:PORT, used if systemd passes no socket; "": none
 * @interval: seconds between two queries of the daemon
 * @max_series: maximum number of series of this machine; each bucket counts as one
 * @latencies: latencies for which containers have histograms, as bits
 * @native: whether to offer native histograms to scrapers, in protobuf
 * @write_url: URL of remote write; "": none
 * @write_interval: seconds between two requests
 * @write_native: whether to send native histograms
 * @otlp_url: URL of OTLP; "": the environment sets it
 * @otlp_interval: seconds between two requests; 0: the environment sets it
 * @profile_url: URL for profiles; "": none
 * @profile_seconds: length of a profile
 * @queue: maximum KiB of requests that wait, for each receiver
 * @timeout: seconds after which a request fails
 * @certificates: path of a file with certificate authorities; "": those of the system
 * @host: value of the label "instance" in requests to receivers; "": the host name
 */
struct exporter_config {
	struct label_config labels;
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
 * exporter_config_set_defaults() - set all settings to their defaults
 * @config: overwritten
 */
void exporter_config_set_defaults(struct exporter_config *config);

/**
 * struct exporter_config_error - what is wrong with a configuration
 * @file: path of the file; set by exporter_config_read_all()
 * @line: number of the line; 0 if the file cannot be read
 * @text: what is wrong, and the accepted values
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
 * @ret_error: on failure, &exporter_config_error.text is set
 *
 * Return: 0; -EINVAL if section, key or value is wrong.
 */
int exporter_config_set(struct exporter_config *config, const char *section, const char *key,
			const char *value, struct exporter_config_error *ret_error);

/**
 * exporter_config_read() - change the settings that a file contains
 * @config: the configuration; untouched on failure
 * @path: of the file
 * @ret_error: on failure, all members are set
 *
 * Return: 0; -EINVAL for a wrong line; or the negative errno of opening or reading the file.
 */
int exporter_config_read(struct exporter_config *config, const char *path,
			 struct exporter_config_error *ret_error);

/**
 * exporter_config_read_all() - change the settings that any file of the configuration contains
 * @config: the configuration; untouched on failure
 * @path: of the main file. The drop-ins in the folder @path.d follow it, sorted by name, and then
 * the credential speprof-exporter.conf
 * @must: true: fail if @path does not exist
 * @ret_error: on failure, all its members are set
 *
 * Return: as exporter_config_read().
 */
int exporter_config_read_all(struct exporter_config *config, const char *path, bool must,
			     struct exporter_config_error *ret_error);

#endif
