/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The settings of the daemon, from speprofd.conf, its drop-ins and the command line */
#ifndef SPEPROF_CONFIG_H
#define SPEPROF_CONFIG_H

#include "filter/filter.h"
#include "source/source.h"
#include "tasks/task-events.h"

/* MemoryBudget= if it is not configured, in bytes */
#define CONFIG_MEMORY_BUDGET (64ULL << 20)

/* History= if it is not configured, and the minimum of History=, in bytes */
#define CONFIG_HISTORY	   (256ULL << 20)
#define CONFIG_HISTORY_MIN (16ULL << 20)

/** enum config_source - the value of Source= */
enum config_source {
	CONFIG_SOURCE_AUTO,
	CONFIG_SOURCE_MODULE,
	CONFIG_SOURCE_PERF,
	CONFIG_SOURCE_EMULATED,
};

/**
 * struct config - all settings with their defaults
 * @source: Source=
 * @emulate: Emulate=: true if an emulated SPU may be used
 * @io_uring: IOUring=: read rings by io_uring; otherwise by epoll
 * @contexts: Contexts=: use the thread ID in records if the kernel writes it (CONTEXTIDR),
 * otherwise context switches; false: always use context switches
 * @physical: PhysicalAddresses=: records contain physical addresses, from which hot pages and nodes
 * are determined
 * @task_events: TaskEvents=: the origin of task events that is tried first
 * @samples_per_second: SamplesPerSecond=, 1 to 100000, for each busy CPU
 * @overhead: Overhead=: allowed cost of sampling, in 1/1000 percent of the machine's CPU time; 0:
 * no limit
 * @memory_budget: MemoryBudget=, bytes
 * @history: History=: limit of the history on disk, bytes; 0: no history
 * @workers: Workers=, 1 to 16; 0: as many as the machine may need
 * @jitter: Jitter=: perturb the interval at random
 * @kernel: Kernel=: sample the kernel
 * @user: User=: sample user space
 * @containers: Containers=: patterns separated by blanks; "": all
 * @excluded: ExcludeContainers=: patterns separated by blanks; "": none
 * @filter: Filter=, an expression (Documentation/reference/filters.md); "": all
 * @models: Models=, for emulation: "COMM=PROFILE ..."
 */
struct config {
	enum config_source source;
	bool emulate;
	bool io_uring;
	bool contexts;
	bool physical;
	enum task_events_kind task_events;
	u32 samples_per_second;
	u32 overhead;
	u64 memory_budget;
	u64 history;
	u32 workers;
	bool jitter;
	bool kernel;
	bool user;
	char containers[1024];
	char excluded[1024];
	char filter[1024];
	char models[256];
};

#define CONFIG_DEFAULT                                                                             \
	{                                                                                          \
		.source = CONFIG_SOURCE_AUTO, .io_uring = true, .samples_per_second = 1000,        \
		.overhead = 1000, .memory_budget = CONFIG_MEMORY_BUDGET,                           \
		.history = CONFIG_HISTORY, .jitter = true, .kernel = true, .user = true, .contexts = true,                    \
		.task_events = TASK_EVENTS_BPF,                                                    \
	}

/* maximum number of patterns of Containers=, and of ExcludeContainers= */
#define CONFIG_WORDS 64

/**
 * struct config_container_lists - the lists of containers in a configuration
 * @lists: the lists; only the members for containers are set; they point into @words
 * @words: the patterns, NULL-terminated; they point into @text
 * @text: copies of both settings
 */
struct config_container_lists {
	struct filter_lists lists;
	char *words[2][CONFIG_WORDS + 1];
	char *text[2];
};

/**
 * config_split_lists() - split Containers= and ExcludeContainers= into lists; returns 0 or -ENOMEM
 */
int config_split_lists(const struct config *config, struct config_container_lists *ret_lists);

/** config_container_lists_clear() - free the memory that config_split_lists() allocated */
void config_container_lists_clear(struct config_container_lists *lists);

/* bytes of &config_error.file, including its NUL */
#define CONFIG_LOCATION 512

/**
 * struct config_error - the location and the reason of an error in a configuration
 * @file: name of the file; set by config_read_files()
 * @line: line number, from 1; 0: the error is about the whole file
 * @text: what is wrong, and which values are accepted
 */
struct config_error {
	char file[CONFIG_LOCATION];
	unsigned int line;
	char text[320];
};

/**
 * config_set_setting() - set one setting by its name
 * @config: changed on success only
 * @key: name of the setting, without "="
 * @value: text of the value, as in a file
 * @ret_error: on -EINVAL, which values are accepted
 *
 * Return: 0; -ENOENT if there is no setting @key; -EINVAL if the value is not accepted.
 */
int config_set_setting(struct config *config, const char *key, const char *value,
		       struct config_error *ret_error);

/**
 * config_read_file() - override settings with those of a file
 * @config: changed on success only
 * @path: a file with "[Sampling]" and "Key=value" lines
 * @ret_error: on -EINVAL, the line, and which values are accepted
 *
 * Return: 0; -ENOENT if the file does not exist; -EINVAL if a line is invalid; another negative
 * errno if the file cannot be read.
 */
int config_read_file(struct config *config, const char *path, struct config_error *ret_error);

/**
 * config_read_files() - read all files of a configuration, each of which overrides earlier ones
 * @config: changed on success only
 * @path: the first file. Files *.conf in the folder "@path.d" follow, sorted by name, and then the
 * credential speprofd.conf
 * @must: true if a missing @path is an error
 * @ret_error: on -EINVAL, file, line, and which values are accepted
 *
 * Return: as config_read_file().
 */
int config_read_files(struct config *config, const char *path, bool must,
		      struct config_error *ret_error);

#endif
