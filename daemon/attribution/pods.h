/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of Kubernetes containers, from kubelet's links to their logs. This needs no network and
 * no credentials.
 */
#ifndef SPEPROF_PODS_H
#define SPEPROF_PODS_H

#include "codec/env.h"

/**
 * enum pods_source - where a container's name was found
 * @PODS_NOTHING: nowhere
 * @PODS_FOLDER: directory of the pod's logs, which exists before the container
 * @PODS_LINK: kubelet's link, which exists once the container runs
 */
enum pods_source { PODS_NOTHING, PODS_FOLDER, PODS_LINK };

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
 * pods_name() - find the Kubernetes names of a container
 * @log: descriptor of /var/log
 * @uid: uid of its pod, as kubelet writes it; "" if unknown
 * @id: complete id of the container
 * @name: receives "namespace/pod/container", or "namespace/pod/ID" if only the pod's directory
 *	exists; escaped, truncated to @size; unchanged if neither exists
 * @ret_names: the same, as separate names
 *
 * Return: where the name was found. Only a name from the link is final.
 */
enum pods_source pods_name(int log, const char *uid, const char *id, char *name, size_t size,
			   struct pods_names *ret_names);

/**
 * struct pods_lookup - a container and its Kubernetes names
 * @uid, @id: as in pods_name()
 * @source: where @name and @names were found; PODS_NOTHING leaves them empty
 */
struct pods_lookup {
	char uid[40];
	char id[72];
	enum pods_source source;
	char name[128];
	struct pods_names names;
};

/**
 * pods_lookup_run() - fill @lookup by the directories of logs
 * @path: "/var/log", or what stands for it
 *
 * A file system that hangs delays it without limit, and a node with many pods for milliseconds.
 *
 * Locking: none; any thread.
 */
void pods_lookup_run(struct pods_lookup *lookup, const char *path);

/* Of three names with what parts them, and a NUL. */
#define PODS_WHOLE (sizeof(struct pods_names))

/** pods_whole() - write "namespace/pod/container", or @name if @names are empty */
void pods_whole(const struct pods_names *names, const char *name, char ret_name[PODS_WHOLE]);

/**
 * struct pods_wait - for a link that kubelet may still make, in refreshes. It does when the
 * runtime says that the container has started, on a busy node seconds after its first sample.
 * @age: for so long
 * @next: the age at which to look again; 0: no more
 */
struct pods_wait {
	u16 age;
	u16 next;
};

/**
 * pods_schedule() - schedule the next lookup after one that found @source
 *
 * Each interval is a quarter longer than the previous one.
 */
void pods_schedule(struct pods_wait *wait, enum pods_source source);

/**
 * pods_due() - a refresh has passed
 *
 * Return: whether to look now; each refresh says so until pods_schedule().
 */
bool pods_due(struct pods_wait *wait);

#endif
