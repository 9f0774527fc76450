/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the container or systemd unit of a cgroup path. The functions have no side effects. Their
 * input is untrusted: any user can create cgroups with any names.
 */
#ifndef SPEPROF_CONTAINER_H
#define SPEPROF_CONTAINER_H

#include "attributor.h"

/* Maximum size of a path with its NUL. BPF truncates longer ones, possibly within a name. */
#define CONTAINER_PATH_SIZE 1023

/**
 * container_path_get_clipped_length() - return the length of the part to use of @path, which has
 * @len bytes
 *
 * A path of CONTAINER_PATH_SIZE bytes or more is cut between two components: the deeper cgroups
 * belong to the same container.
 *
 * Return: bytes, at most CONTAINER_PATH_SIZE - 1.
 */
size_t container_path_get_clipped_length(const char *path, size_t len);

/**
 * struct container_match - the container of a cgroup path
 * @length: bytes of the path up to the container's own cgroup; cgroups below are inside the
 * container
 * @uid: uid of the pod as Kubernetes writes it; "" outside of a pod
 * @id: complete id of the container, hexadecimal; "" if it has none
 * @entry: name, runtime and path, escaped; &attribute_container.cgroup is not set
 */
struct container_match {
	size_t length;
	char uid[40];
	char id[72];
	struct attribute_container entry;
};

/**
 * container_identify() - find the container of a cgroup
 * @path: path as in /proc/PID/cgroup, without a newline; @len bytes
 * @ret_match: the container
 *
 * Of nested containers it returns the outermost one, because the runtime chose the name of its
 * cgroup. Processes in that container can choose the names of the cgroups below. If there is no
 * container, it returns the innermost systemd unit, else the last component.
 *
 * Return: false for the root cgroup; else true.
 */
bool container_identify(const char *path, size_t len, struct container_match *ret_match);

/**
 * container_choose_cgroup() - choose the path that identifies the container in /proc/PID/cgroup
 * @text: contents of the file, @len bytes
 * @ret_path: points into @text; @ret_len bytes
 *
 * It prefers the path in the cgroup v2 hierarchy, then the path in systemd's hierarchy of cgroup
 * v1. The last choice is a path in another hierarchy that matches a container. Paths that are "/"
 * do not count.
 *
 * Return: false if there is no such path.
 */
bool container_choose_cgroup(const char *text, size_t len, const char **ret_path, size_t *ret_len);

#endif
