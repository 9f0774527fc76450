/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The daemon's configuration: speprofd.conf, and what the command line overrides. */
#ifndef SPEPROF_CONFIG_H
#define SPEPROF_CONFIG_H

#include "filter/filter.h"
#include "source/source.h"
#include "tasks/task-events.h"

/* MemoryBudget= where nothing is configured, in bytes. */
#define CONFIG_MEMORY_BUDGET (64ULL << 20)

enum config_source {
	CONFIG_SOURCE_AUTO,
	CONFIG_SOURCE_MODULE,
	CONFIG_SOURCE_PERF,
	CONFIG_SOURCE_EMULATED,
};

/**
 * struct config - all settings with their defaults
 * @source: Source=
 * @emulate: Emulate=: whether an emulated SPU may be used at all
 * @io_uring: IOUring=: otherwise epoll
 * @contexts: Contexts=: records say whose they are; otherwise context switches do
 * @physical: PhysicalAddresses=: records have them, and so hot pages and nodes are known
 * @task_events: TaskEvents=: the best that is tried
 * @samples_per_second: SamplesPerSecond=, 1 to 100000, for each busy CPU
 * @overhead: Overhead=, what sampling may cost of the machine's CPU time, in thousandths of a
 *	percent; 0 for no bound
 * @memory_budget: MemoryBudget=, bytes
 * @workers: Workers=, 1 to 16; 0: as many as the machine may need
 * @jitter: Jitter=
 * @kernel, @user: Kernel=, User=
 * @containers, @excluded: Containers=, ExcludeContainers=: patterns that blanks part
 * @filter: Filter=, an expression (Documentation/reference/filters.md), "" for everything
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
		.jitter = true, .kernel = true, .user = true, .contexts = true,                    \
		.task_events = TASK_EVENTS_BPF,                                                    \
	}

/* Words of a list at the most. */
#define CONFIG_WORDS 64

/**
 * struct config_lists - whom to count
 * @lists: containers alone; points into the rest
 */
struct config_lists {
	struct filter_lists lists;
	char *words[2][CONFIG_WORDS + 1];
	char *text[2];
};

/** config_lists() - Containers= and ExcludeContainers= as lists; -ENOMEM */
int config_lists(const struct config *config, struct config_lists *ret_lists);
void config_lists_clear(struct config_lists *lists);

/* Of a file's name. */
#define CONFIG_PLACE 512

/**
 * struct config_error - where and why a configuration is wrong
 * @file: by config_read_all()
 * @line: 1 and up; 0 if it is the file itself
 */
struct config_error {
	char file[CONFIG_PLACE];
	unsigned int line;
	char text[320];
};

/**
 * config_set() - one setting by name, as a line of the file or an option has it
 *
 * Return: 0; -ENOENT if there is no such setting; -EINVAL if the value is
 * wrong, then @ret_error says what would be right.
 */
int config_set(struct config *config, const char *key, const char *value,
	       struct config_error *ret_error);

/**
 * config_read() - a file of "[Sampling]" and "Key=value" lines over @config
 *
 * Return: 0; -ENOENT if there is no file; -EINVAL for a wrong line, which leaves
 * @config as it was; other negative errno.
 */
int config_read(struct config *config, const char *path, struct config_error *ret_error);

/**
 * config_read_all() - @path, then "@path.d" / "*.conf" by name, then the credential
 * speprofd.conf, each over those before
 * @must: whether @path must be there
 *
 * Return: as config_read(); all of it or nothing.
 */
int config_read_all(struct config *config, const char *path, bool must,
		    struct config_error *ret_error);

#endif
