/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels: which facts of a container become which labels, and which containers are shown
 * by name at all. Facts are what the cgroup's path and the container runtime's name say;
 * command lines, environments, PIDs and functions are none.
 */
#ifndef SPEPROF_LABELS_H
#define SPEPROF_LABELS_H

#include "output/metrics.h"

/* Rules of the configuration; each is a label of every container's series. */
#define LABELS_MAX 8
#define LABELS_PATTERNS 32
/* A pod's name may be of 253 bytes, beside two of 63; a cgroup's path of 255. */
#define LABEL_SIZE 384
/* The daemon takes no longer one. */
#define LABEL_PATTERN_SIZE 128

enum label_fact {
	LABEL_CONTAINER,	/* its name */
	LABEL_RUNTIME,
	LABEL_CGROUP,		/* the path */
	LABEL_UNIT,		/* the innermost systemd unit of the path that is no slice */
	LABEL_SLICE,		/* the innermost slice */
	LABEL_NAMESPACE,	/* of a Kubernetes pod */
	LABEL_POD,
	LABEL_POD_CONTAINER,
	LABEL_CONSTANT,		/* of all series, not just of containers */
	LABEL_FACTS,
};

/** struct label_rule - the label @name has @fact, or @constant */
struct label_rule {
	char name[LABEL_SIZE];
	enum label_fact fact;
	char constant[LABEL_SIZE];
};

/**
 * struct labels - the table, and who is admitted
 * @allow, @deny: globs on what LABEL_CONTAINER shows; none of @allow is all, @deny goes first
 */
struct labels {
	struct label_rule rules[LABELS_MAX];
	unsigned int count;
	char allow[LABELS_PATTERNS][LABEL_PATTERN_SIZE];
	unsigned int allows;
	char deny[LABELS_PATTERNS][LABEL_PATTERN_SIZE];
	unsigned int denies;
};

/** struct label_set - values by rule; "" is a label that is not there */
struct label_set {
	char value[LABELS_MAX][LABEL_SIZE];
};

/** labels_default() - container and runtime */
void labels_default(struct labels *labels);

/**
 * labels_add() - a line of the table
 * @name: [a-zA-Z_][a-zA-Z0-9_]*, not one that series have already
 * @value: a fact's name, or text in double quotes
 * @ret_right: what would be right
 *
 * A name that is there already is changed. Return: 0, -EINVAL, or -ENOSPC.
 */
int labels_add(struct labels *labels, const char *name, const char *value, const char **ret_right);

/** labels_pattern() - patterns of Allow= or Deny=, parted by spaces; -ENOSPC, -EINVAL: unprintable */
int labels_pattern(struct labels *labels, bool allow, const char *patterns);

/** labels_admit() - whether the container may be shown by its labels */
bool labels_admit(const struct labels *labels, const struct metrics_container *container);

/** labels_of() - its labels: valid UTF-8 without control characters, whatever it is called */
void labels_of(const struct labels *labels, const struct metrics_container *container,
	       struct label_set *ret_set);

/** labels_other() - those of what is summed: "other" where a container's name would be */
void labels_other(const struct labels *labels, struct label_set *ret_set);

#endif
