/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Find the names of Kubernetes containers in kubelet's log directories, which needs no network and
 * no credentials.
 */
#ifndef SPEPROF_PODS_H
#define SPEPROF_PODS_H

#include "codec/env.h"

/**
 * enum pods_source - where the name of a container was found
 * @PODS_NOT_FOUND: there is no name
 * @PODS_DIRECTORY: in the name of the pod's directory, which exists before the container
 * @PODS_LINK: in the name of the link to the container's log, which exists while the container runs
 */
enum pods_source { PODS_NOT_FOUND, PODS_DIRECTORY, PODS_LINK };

/**
 * struct pods_names - the Kubernetes names of a container, each escaped
 *
 * Kubernetes limits them to 63, 253 and 63 bytes.
 */
struct pods_names {
	char name_space[64];
	char pod[256];
	char container[64];
};

/**
 * pods_find_names() - find the Kubernetes names of a container
 * @log: descriptor of /var/log
 * @uid: uid of its pod, as kubelet writes it; "" if unknown
 * @id: complete id of the container
 * @name: receives "namespace/pod/container", or "namespace/pod/ID" if only the pod's directory
 *	exists; escaped, truncated to @size; unchanged for PODS_NOT_FOUND
 * @ret_names: receives the same names separately; unchanged for PODS_NOT_FOUND
 *
 * Return: where the names were found. Only names from the link are final.
 */
enum pods_source pods_find_names(int log, const char *uid, const char *id, char *name, size_t size,
				 struct pods_names *ret_names);

/**
 * struct pods_lookup - a search for the Kubernetes names of a container
 * @uid, @id: input, as in pods_find_names()
 * @source: result, where the names were found
 * @name, @names: results, as in pods_find_names()
 */
struct pods_lookup {
	char uid[40];
	char id[72];
	enum pods_source source;
	char name[128];
	struct pods_names names;
};

/**
 * pods_lookup_run() - search for the names of @lookup in the directories of logs
 * @path: "/var/log", or another directory for tests
 *
 * The search takes milliseconds on a node with many pods, and blocks without a time limit if the
 * file system hangs.
 *
 * Locking: none; any thread.
 */
void pods_lookup_run(struct pods_lookup *lookup, const char *path);

/* Size of three names with separators and a NUL. */
#define PODS_NAME_SIZE (sizeof(struct pods_names))

/** pods_format_name() - write "namespace/pod/container" to @ret_name; @name if @names are empty */
void pods_format_name(const struct pods_names *names, const char *name,
		      char ret_name[PODS_NAME_SIZE]);

/**
 * struct pods_retry - the schedule of searches for a link that kubelet has not created yet
 * @age: number of refreshes since the container was first seen
 * @next: age of the next search; 0 if the search has ended
 *
 * Kubelet creates the link when the runtime reports that the container started. On a busy node this
 * can be seconds after the first sample.
 */
struct pods_retry {
	u16 age;
	u16 next;
};

/**
 * pods_retry_schedule() - schedule in @retry the next search after one that found @source
 *
 * Each interval is a quarter longer than the previous one. There is no further search after
 * PODS_LINK, or if the container is too old.
 */
void pods_retry_schedule(struct pods_retry *retry, enum pods_source source);

/**
 * pods_retry_tick() - count one refresh in @retry
 *
 * Return: whether a search is due. It stays due until pods_retry_schedule().
 */
bool pods_retry_tick(struct pods_retry *retry);

#endif
