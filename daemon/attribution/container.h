/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the container or unit of a cgroup path. All functions are pure, and their input is
 * untrusted.
 */
#ifndef SPEPROF_CONTAINER_H
#define SPEPROF_CONTAINER_H

#include "attributor.h"

/*
 * Maximum size of a path with its NUL. BPF truncates a longer one to this size, possibly within
 * a name.
 */
#define CONTAINER_PATH_SIZE 1023

/**
 * container_path_within() - return the length of @path to use, at most CONTAINER_PATH_SIZE - 1
 *
 * A longer path is cut between two components. Deeper cgroups belong to the same container.
 */
size_t container_path_within(const char *path, size_t len);

/**
 * struct container_match - the result of parsing a cgroup path
 * @length: bytes of the path up to the container's own cgroup; cgroups below it are inside the
 *	container
 * @uid: uid of the pod as Kubernetes writes it; "" outside of a pod
 * @id: complete id of the container, hexadecimal; "" if it has none
 * @entry: name, runtime and path, escaped; without &attribute_container.cgroup
 */
struct container_match {
	size_t length;
	char uid[40];
	char id[72];
	struct attribute_container entry;
};

/**
 * container_identify() - find the container of the cgroup @path
 * @path: as in /proc/PID/cgroup, without a newline; @len bytes
 * @ret_match: the container
 *
 * The outermost container wins: the runtime named its cgroup, and processes inside may have
 * named those below. Without a container it is the innermost systemd unit, else the last
 * component.
 *
 * Return: true if there is one; false for the root.
 */
bool container_identify(const char *path, size_t len, struct container_match *ret_match);

/**
 * container_cgroup() - choose the most useful hierarchy in the text of a /proc/PID/cgroup
 * @text: the whole file, @len bytes
 * @ret_path: points into @text; @ret_len bytes
 *
 * It prefers version 2, unless that is "/"; then systemd's hierarchy; then any other whose path
 * belongs to a container runtime.
 *
 * Return: whether one of them is not the root.
 */
bool container_cgroup(const char *text, size_t len, const char **ret_path, size_t *ret_len);

#endif
