/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of Kubernetes' containers, from the links to their logs that kubelet
 * keeps: no network, no credentials.
 */
#ifndef SPEPROF_PODS_H
#define SPEPROF_PODS_H

#include "env.h"

/**
 * enum pods_told - who named a container
 * @PODS_NOTHING: nobody
 * @PODS_FOLDER: the folder of the pod's logs, which is there before the container
 * @PODS_LINK: kubelet's link, which comes when the container runs
 */
enum pods_told { PODS_NOTHING, PODS_FOLDER, PODS_LINK };

/**
 * pods_name() - what Kubernetes calls a container
 * @log: descriptor of /var/log
 * @uid: of its pod, as kubelet writes it; "" if unknown
 * @id: of the container, whole
 * @name: receives "namespace/pod/container", or "namespace/pod/ID" where only the pod's
 *	folder is there; escaped; untouched if neither is
 *
 * Return: what it was told by. Only the link is the last word.
 */
enum pods_told pods_name(int log, const char *uid, const char *id, char *name, size_t size);

#endif
