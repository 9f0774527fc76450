/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cgroup paths to containers and units: pure functions of hostile text. */
#ifndef SPEPROF_CONTAINER_H
#define SPEPROF_CONTAINER_H

#include "attributor.h"

/* Of a path with its NUL; what BPF tells of a longer one is cut to so many bytes, in a name. */
#define CONTAINER_PATH_SIZE 1023

/**
 * container_path_within() - bytes of @path that count: CONTAINER_PATH_SIZE - 1 at most
 *
 * Of a longer one as many whole components as fit; what is deeper is the same container.
 */
size_t container_path_within(const char *path, size_t len);

/**
 * struct container_match - what a cgroup path says
 * @length: bytes of the path up to the container's own cgroup; what lies below
 *	is inside of it, and the same container
 * @uid: of the pod as Kubernetes writes it, "" outside of it
 * @id: the container's whole id, "" if it has none: hexadecimal
 * @entry: name, runtime and path, escaped; no cgroup
 */
struct container_match {
	size_t length;
	char uid[40];
	char id[72];
	struct attribute_container entry;
};

/**
 * container_identify() - the container of the cgroup @path
 * @path: as in /proc/PID/cgroup, without a newline; @len bytes
 *
 * The outermost container wins: its cgroup was named by whoever started it,
 * what is below may be named by those inside. Without a container it is the
 * innermost systemd unit, else the last component.
 *
 * Return: whether there is any; false for the root.
 */
bool container_identify(const char *path, size_t len, struct container_match *ret_match);

/**
 * container_cgroup() - the hierarchy of a /proc/PID/cgroup text that tells most
 * @text: the whole file, @len bytes
 * @ret_path: points into @text
 *
 * That of version 2, unless it is "/"; then that of systemd; then any other, if
 * its path is one of a container runtime.
 *
 * Return: whether one of them is not the root.
 */
bool container_cgroup(const char *text, size_t len, const char **ret_path, size_t *ret_len);

#endif
