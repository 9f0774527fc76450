// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pods.h"

#include "util/escape.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define ENTRIES_MAX 16384 /* kubelet's limit is some hundred pods */
#define ID_SHORT    12
#define WAIT_MOST   300 /* refreshes */

/* The first entry of log/@folder of which @match takes the name, into @found. */
static bool entry_find(int log, const char *folder,
		       bool (*match)(const char *name, const char *key), const char *key,
		       char *found, size_t size)
{
	int fd = openat(log, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool hit = false;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	for (u32 i = 0; !hit && i < ENTRIES_MAX && (entry = readdir(d)); i++) {
		hit = match(entry->d_name, key);
		if (hit)
			snprintf(found, size, "%s", entry->d_name);
	}
	closedir(d);
	return hit;
}

/* "POD_NAMESPACE_CONTAINER-ID.log" */
static bool is_container(const char *name, const char *id)
{
	size_t n = strlen(name), k = strlen(id);

	return n > k + 5 && !strcmp(name + n - 4, ".log") && name[n - k - 5] == '-' &&
	       !memcmp(name + n - k - 4, id, k);
}

/* "NAMESPACE_POD_UID" */
static bool is_pod(const char *name, const char *uid)
{
	size_t n = strlen(name), k = strlen(uid);

	return n > k + 1 && name[n - k - 1] == '_' && !strcmp(name + n - k, uid);
}

/* Kubernetes' names are DNS labels: an underscore only ever stands between them. */
static bool split(char *text, char **ret_second, char **ret_rest)
{
	char *second = strchr(text, '_'), *rest = second ? strchr(second + 1, '_') : NULL;

	if (!rest)
		return false;
	*second = '\0';
	*rest = '\0';
	*ret_second = second + 1;
	*ret_rest = rest + 1;
	return true;
}

static void names_fill(struct pods_names *n, const char *name_space, const char *pod,
		       const char *container)
{
	escape_string(n->name_space, sizeof(n->name_space), name_space);
	escape_string(n->pod, sizeof(n->pod), pod);
	escape_string(n->container, sizeof(n->container), container);
}

enum pods_source pods_name(int log, const char *uid, const char *id, char *name, size_t size,
			   struct pods_names *ret_names)
{
	char found[NAME_MAX + 1], text[2 * NAME_MAX + 8], part[ID_SHORT + 1], *second, *rest;
	enum pods_source source = PODS_LINK;

	if (*id && entry_find(log, "containers", is_container, id, found, sizeof(found)) &&
	    split(found, &second, &rest)) {
		rest[strlen(rest) - strlen(id) - 5] = '\0';
		names_fill(ret_names, second, found, rest);
		snprintf(text, sizeof(text), "%s/%s/%s", second, found, rest);
	} else if (*uid && entry_find(log, "pods", is_pod, uid, found, sizeof(found)) &&
		   split(found, &second, &rest)) {
		snprintf(part, sizeof(part), "%.*s", ID_SHORT, id);
		names_fill(ret_names, found, second, part);
		snprintf(text, sizeof(text), "%s/%s/%s", found, second, part);
		source = PODS_FOLDER;
	} else {
		return PODS_NOTHING;
	}
	escape_string(name, size, text);
	return source;
}

void pods_lookup_run(struct pods_lookup *lookup, const char *path)
{
	int log = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	lookup->source = PODS_NOTHING;
	if (log < 0)
		return;
	lookup->source = pods_name(log, lookup->uid, lookup->id, lookup->name, sizeof(lookup->name),
				   &lookup->names);
	close(log);
}

void pods_whole(const struct pods_names *names, const char *name, char ret_name[PODS_WHOLE])
{
	if (*names->pod)
		snprintf(ret_name, PODS_WHOLE, "%s/%s/%s", names->name_space, names->pod,
			 names->container);
	else
		snprintf(ret_name, PODS_WHOLE, "%s", name);
}

void pods_schedule(struct pods_wait *wait, enum pods_source source)
{
	bool over = source == PODS_LINK || wait->age >= WAIT_MOST;

	wait->next = over ? 0 : (u16)(wait->age + 1 + wait->age / 4);
}

bool pods_due(struct pods_wait *wait)
{
	if (!wait->next)
		return false;
	wait->age += wait->age < UINT16_MAX;
	return wait->age >= wait->next;
}
