/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The labels of containers: which facts become which labels, and which containers have separate
 * series. Facts come from the path of the cgroup and the name that the container runtime gives.
 * Command lines, environments, PIDs and functions are not available as facts.
 */
#ifndef SPEPROF_LABELS_H
#define SPEPROF_LABELS_H

#include "output/metrics.h"

/* entries of &label_config.rules: labels in [Labels], which all series of containers have */
#define LABELS_MAX 8
/* entries of &label_config.allow and &label_config.deny: patterns of Allow= and of Deny= */
#define LABELS_PATTERNS 32
/*
 * Size of a label value. The longest is NAMESPACE/POD/CONTAINER with 63 + 1 + 253 + 1 + 63 bytes; a
 * cgroup path from the daemon has at most 255.
 */
#define LABEL_SIZE 384
/* Size of a pattern, which is also the daemon's limit */
#define LABEL_PATTERN_SIZE 128

/**
 * enum label_fact - the fact that is the value of a label
 * @LABEL_CONTAINER: name of the container
 * @LABEL_RUNTIME: container runtime
 * @LABEL_CGROUP: path of the cgroup
 * @LABEL_UNIT: innermost systemd unit of the path, except slices
 * @LABEL_SLICE: innermost slice of the path
 * @LABEL_NAMESPACE: namespace of a Kubernetes pod
 * @LABEL_POD: name of a Kubernetes pod
 * @LABEL_POD_CONTAINER: name of the container in its pod
 * @LABEL_CONSTANT: a text from the configuration; it is on all series, not only on those of
 * containers
 * @LABEL_FACTS: number of facts
 */
enum label_fact {
	LABEL_CONTAINER,
	LABEL_RUNTIME,
	LABEL_CGROUP,
	LABEL_UNIT,
	LABEL_SLICE,
	LABEL_NAMESPACE,
	LABEL_POD,
	LABEL_POD_CONTAINER,
	LABEL_CONSTANT,
	LABEL_FACTS,
};

/**
 * struct label_rule - the value of the label @name
 * @fact: the fact that is its value
 * @constant: its value if @fact is LABEL_CONSTANT
 */
struct label_rule {
	char name[LABEL_SIZE];
	enum label_fact fact;
	char constant[LABEL_SIZE];
};

/**
 * struct label_config - the section [Labels], and Allow= and Deny=
 * @rules: the labels
 * @count: number of @rules
 * @allow: patterns of fnmatch(3) for the fact LABEL_CONTAINER; if there are none, all are admitted
 * @allows: number of @allow
 * @deny: patterns that exclude containers, also those that @allow admits
 * @denies: number of @deny
 */
struct label_config {
	struct label_rule rules[LABELS_MAX];
	unsigned int count;
	char allow[LABELS_PATTERNS][LABEL_PATTERN_SIZE];
	unsigned int allows;
	char deny[LABELS_PATTERNS][LABEL_PATTERN_SIZE];
	unsigned int denies;
};

/**
 * struct label_set - values of all rules, without those of &label_rule.constant; "": the label is
 * absent
 */
struct label_set {
	char value[LABELS_MAX][LABEL_SIZE];
};

/**
 * labels_set_defaults() - set the labels container and runtime, and no patterns
 * @labels: overwritten
 */
void labels_set_defaults(struct label_config *labels);

/**
 * labels_set_label() - set a label
 * @labels: the labels
 * @name: [a-zA-Z_][a-zA-Z0-9_]*; not a label that the metrics or Prometheus use
 * @value: name of a fact, or text in double quotes
 * @ret_right: on failure, the accepted values; follows "should be" in the error
 *
 * A label that is set already is replaced.
 *
 * Return: 0; -EINVAL for a wrong name or value; -ENOSPC if there would be more than LABELS_MAX
 * labels.
 */
int labels_set_label(struct label_config *labels, const char *name, const char *value,
		     const char **ret_right);

/**
 * labels_set_patterns() - replace the patterns of Allow= or Deny=
 * @labels: the labels
 * @allow: whether to set Allow= or Deny=
 * @patterns: patterns separated by blanks; "": none
 *
 * Return: 0; -ENOSPC if there are too many patterns or one is too long; -EINVAL if one is not
 * printable.
 */
int labels_set_patterns(struct label_config *labels, bool allow, const char *patterns);

/**
 * labels_admit_container() - return whether Allow= and Deny= admit a container
 * @labels: the labels
 * @container: a container of a snapshot
 *
 * Return: true if the container may have separate series.
 */
bool labels_admit_container(const struct label_config *labels,
			    const struct metrics_container *container);

/**
 * labels_get_values() - determine the labels of a container
 * @labels: the labels
 * @container: a container of a snapshot; its texts may be any bytes
 * @ret_set: values in valid UTF-8 without control characters
 */
void labels_get_values(const struct label_config *labels, const struct metrics_container *container,
		       struct label_set *ret_set);

/**
 * labels_get_other_values() - determine the labels of the sum of all containers without series
 * @labels: the labels
 * @ret_set: the label that identifies a container has the value "other"
 */
void labels_get_other_values(const struct label_config *labels, struct label_set *ret_set);

#endif
