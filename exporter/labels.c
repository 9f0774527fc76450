// SPDX-License-Identifier: LGPL-2.1-or-later
#include "labels.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>

#include "util/escape.h"

#define OTHER "other"

static const char *const fact_names[] = {
	[LABEL_CONTAINER] = "container",
	[LABEL_RUNTIME] = "runtime",
	[LABEL_CGROUP] = "cgroup",
	[LABEL_UNIT] = "unit",
	[LABEL_SLICE] = "slice",
	[LABEL_NAMESPACE] = "namespace",
	[LABEL_POD] = "pod",
	[LABEL_POD_CONTAINER] = "pod_container",
};

/* Names of labels that the metrics or Prometheus use themselves */
static const char *const reserved_names[] = { "le",	  "kind",	 "source", "ledger",
					      "cause",	  "table",	 "job",	   "instance",
					      "quantile", "destination", "state",  "version",
					      "operation" };

void labels_set_defaults(struct label_config *labels)
{
	*labels = (struct label_config){
		.rules = {
			{ .name = "container", .fact = LABEL_CONTAINER },
			{ .name = "runtime", .fact = LABEL_RUNTIME },
		},
		.count = 2,
	};
}

static bool is_valid_label_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	if (!n || n >= LABEL_SIZE || name[n] || isdigit((unsigned char)*name))
		return false;
	if (!strncmp(name, "__", 2))
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(reserved_names); i++)
		if (!strcmp(name, reserved_names[i]))
			return false;
	return true;
}

static int set_rule_value(struct label_rule *rule, const char *value)
{
	size_t n = strlen(value);

	if (n >= 2 && *value == '"' && value[n - 1] == '"') {
		if (n - 2 >= sizeof(rule->constant))
			return -EINVAL;
		rule->fact = LABEL_CONSTANT;
		escape_text(rule->constant, sizeof(rule->constant), value + 1, n - 2);
		return 0;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(fact_names); i++) {
		if (strcmp(fact_names[i], value))
			continue;
		rule->fact = i;
		return 0;
	}
	return -EINVAL;
}

int labels_set_label(struct label_config *labels, const char *name, const char *value,
		     const char **ret_right)
{
	struct label_rule rule = { 0 };
	unsigned int at = 0;

	if (!is_valid_label_name(name)) {
		*ret_right =
			"a label's name, of letters, digits and \"_\", that the metrics do not use";
		return -EINVAL;
	}
	if (set_rule_value(&rule, value) < 0) {
		*ret_right =
			"container, runtime, cgroup, unit, slice, namespace, pod, pod_container or "
			"\"TEXT\" of at most 383 bytes";
		return -EINVAL;
	}
	snprintf(rule.name, sizeof(rule.name), "%s", name);
	while (at < labels->count && strcmp(labels->rules[at].name, name))
		at++;
	if (at == LABELS_MAX) {
		*ret_right = "one of at most 8 labels";
		return -ENOSPC;
	}
	labels->rules[at] = rule;
	if (at == labels->count)
		labels->count++;
	return 0;
}

int labels_set_patterns(struct label_config *labels, bool allow, const char *patterns)
{
	char(*list)[LABEL_PATTERN_SIZE] = allow ? labels->allow : labels->deny;
	unsigned int *count = allow ? &labels->allows : &labels->denies;
	char text[4 * LABEL_PATTERN_SIZE];
	size_t n;

	*count = 0;
	for (;; patterns += n) {
		patterns += strspn(patterns, " \t");
		n = strcspn(patterns, " \t");
		if (!n)
			return 0;
		if (*count == LABELS_PATTERNS || n >= LABEL_PATTERN_SIZE)
			return -ENOSPC;
		/*
		 * Refuse a pattern with characters that escape_text() would escape: it could match
		 * no name, because names are escaped, and the daemon would refuse it.
		 */
		if (escape_text(text, sizeof(text), patterns, n) != n)
			return -EINVAL;
		memcpy(list[*count], patterns, n);
		list[(*count)++][n] = 0;
	}
}

static bool matches_any_pattern(const char (*patterns)[LABEL_PATTERN_SIZE], unsigned int count,
				const char *name)
{
	for (unsigned int i = 0; i < count; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}

/* Write the fact LABEL_CONTAINER: namespace/pod/container for a pod; "none" for no container. */
static void format_container_label(char to[LABEL_SIZE], const struct metrics_container *c)
{
	char text[LABEL_SIZE];

	if (*c->pod)
		snprintf(text, sizeof(text), "%s/%s/%s", c->name_space, c->pod, c->pod_container);
	else
		snprintf(text, sizeof(text), "%s", *c->name ? c->name : "none");
	escape_string(to, LABEL_SIZE, text);
}

bool labels_admit_container(const struct label_config *labels,
			    const struct metrics_container *container)
{
	char name[LABEL_SIZE];

	format_container_label(name, container);
	if (matches_any_pattern(labels->deny, labels->denies, name))
		return false;
	return !labels->allows || matches_any_pattern(labels->allow, labels->allows, name);
}

static bool ends_with(const char *text, size_t n, const char *suffix)
{
	size_t s = strlen(suffix);

	return n > s && !memcmp(text + n - s, suffix, s);
}

/* Find the innermost component of @path that is a slice or, if @slice is false, another unit. */
static void find_path_unit(char *to, size_t size, const char *path, bool slice)
{
	static const char *const kinds[] = { ".service", ".scope", ".socket", ".mount", ".swap" };
	const char *found = path;
	size_t n, length = 0;
	bool wanted;

	for (const char *at = path; *at; at += n) {
		at += strspn(at, "/");
		n = strcspn(at, "/");
		wanted = slice && ends_with(at, n, ".slice");
		for (unsigned int i = 0; !slice && i < ARRAY_SIZE(kinds); i++)
			wanted |= ends_with(at, n, kinds[i]);
		if (wanted) {
			found = at;
			length = n;
		}
	}
	/*
	 * Escape only the component that was found: label sets are compared with all bytes, also
	 * those after the NUL.
	 */
	escape_text(to, size, found, length);
}

/*
 * Get a fact about a pod. Older daemons send these facts only in the name,
 * "namespace/pod/container".
 */
static void get_pod_fact(char *to, size_t size, const struct metrics_container *c,
			 unsigned int index)
{
	const char *const parts[] = { c->name_space, c->pod, c->pod_container };
	const char *at = c->name;
	size_t n;

	*to = 0;
	if (*c->pod) {
		escape_string(to, size, parts[index]);
		return;
	}
	if (!strstr(c->path, "kubepods") || !strchr(at, '/') || !strchr(strchr(at, '/') + 1, '/'))
		return;
	while (index--)
		at = strchr(at, '/') + 1;
	n = strcspn(at, "/");
	escape_text(to, size, at, n);
}

static void get_fact_value(char to[LABEL_SIZE], const struct label_rule *rule,
			   const struct metrics_container *c)
{
	switch (rule->fact) {
	case LABEL_CONTAINER:
		format_container_label(to, c);
		break;
	case LABEL_RUNTIME:
		escape_string(to, LABEL_SIZE, c->runtime);
		break;
	case LABEL_CGROUP:
		escape_string(to, LABEL_SIZE, c->path);
		break;
	case LABEL_UNIT:
	case LABEL_SLICE:
		find_path_unit(to, LABEL_SIZE, c->path, rule->fact == LABEL_SLICE);
		break;
	case LABEL_NAMESPACE:
	case LABEL_POD:
	case LABEL_POD_CONTAINER:
		get_pod_fact(to, LABEL_SIZE, c, rule->fact - LABEL_NAMESPACE);
		break;
	case LABEL_CONSTANT:
	case LABEL_FACTS:
		break;
	}
}

void labels_get_values(const struct label_config *labels, const struct metrics_container *container,
		       struct label_set *ret_set)
{
	*ret_set = (struct label_set){ 0 };
	for (unsigned int i = 0; i < labels->count; i++)
		get_fact_value(ret_set->value[i], &labels->rules[i], container);
}

void labels_get_other_values(const struct label_config *labels, struct label_set *ret_set)
{
	*ret_set = (struct label_set){ 0 };
	/*
	 * The first label that is not constant identifies the container. It gets the value "other".
	 */
	for (unsigned int i = 0; i < labels->count; i++) {
		if (labels->rules[i].fact == LABEL_CONSTANT)
			continue;
		strcpy(ret_set->value[i], OTHER);
		return;
	}
}
